// guards/errors/env_text.h - what a ShapeEnv knew, out of its log and out of
// the graph that newer errors print.
//
//   TextEnv env;
//   EnvReader reader(env);
//   reader.event("create_unbacked_symint u0 [0, 9] (m.py:3 in f)");
//   reader.event("runtime_assert u0 > 1 [guard added] (m.py:4 in f)");
//   env.symbols["u0"].upper;  // 9
//   env.facts[0].text;        // u0 > 1
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "guards/errors/frames.h"
#include "sym/expr.h"

namespace proviso::inline v0_2::internal {

// A name that the program has for a symbol, and the frame where it has it.
struct WordsFor {
  std::string words;  // n, y.shape[0]
  TextFrame where;    // not known: where the error is
};

struct TextSymbol {
  std::string source;           // of an input: L['x'].size()[0]
  std::vector<WordsFor> words;  // first the surest
  OptionalInt lower, upper;     // when it was made; later ones are facts
  OptionalInt example;          // its value in the run on real tensors
  TextFrame made_at;
};

struct TextFact {
  std::string text;  // u0 >= 0
  TextFrame where;
};

// What one ShapeEnv was seen to know.  Symbols of two are never the same,
// whatever their numbers.
struct TextEnv {
  std::map<std::string, TextSymbol> symbols;
  std::vector<TextFact> facts;
};

// Reads the lines that speak of one ShapeEnv.
class EnvReader {
 public:
  // The env outlives the reader, and is not moved.
  explicit EnvReader(TextEnv& env) : env_(env) {}

  // A symbol made, a fact learnt, a value seen; false for any other line.
  bool event(std::string_view line);
  // A line of a printed graph: "# File: m.py:9 in f, code: n = x.item()" and
  // the operations below it; false for any other line.
  bool graph(std::string_view line);
  void blank_line() { graph_code_.clear(); }

  // "Data dependent variable 'u0' allocated at:": the frames that follow, with
  // their code, are the allocation's.
  bool allocation(std::string_view line);
  void allocated_at(const TextFrame& frame);

  // Null for what is no symbol's name, and where there are too many.
  TextSymbol* symbol(std::string_view name);

 private:
  bool created(std::string_view text);
  bool made_from_data(std::string_view text);
  bool ranged(std::string_view text);
  bool learnt(std::string_view text);
  bool replaced(std::string_view text);
  bool example(std::string_view text);
  bool named(std::string_view text);
  bool asserted_in_graph(std::string_view text);
  void add(TextFact fact);
  void name_by_graph();
  void name_symbol(std::string_view name, std::string words,
                   const TextFrame& where);

  TextEnv& env_;
  std::unordered_set<std::string> seen_;  // the texts of the facts
  std::string allocated_;                 // the symbol whose creation is logged
  TextSymbol made_before_;                // what was known of it until then
  std::string graph_code_, graph_type_;
  std::vector<std::pair<std::string, std::string>> graph_named_;
  bool graph_checked_ = false;  // the last fact is of this line so far
};

}  // namespace proviso::inline v0_2::internal
