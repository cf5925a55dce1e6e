// tracer_adapter/pt2/foreign_symbols.h - the symbols of a program that was
// read, as symbols of a ShapeEnv of our own.
//
//   ForeignSymbols symbols(env, ranges);
//   symbols.add_input("L['x'].size()[0]", "Symbol('s77', integer=True)", 8);
//   symbols.bind();                                  // s77 is our s0
//   Expr e = symbols.expression("Mul(Integer(2), Symbol('s77'))");  // 2*s0
//   Expr g = symbols.guard("L['x'].size()[0] <= 16");               // s0 <= 16
//
// Knows no torch type.  Every failure is a FileError that shows the text.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "guards/shape_env.h"
#include "guards/source_text.h"

namespace proviso::inline v0_2::pt2 {

struct ForeignRange {
  std::optional<int64_t> min, max;
};

class ForeignSymbols {
 public:
  ForeignSymbols(ShapeEnv& env, std::map<std::string, ForeignRange> ranges)
      : env_(env), ranges_(std::move(ranges)) {}

  // An input's size (or the input itself, an integer), in the order of inputs.
  void add_input(const std::string& source, const std::string& expression,
                 std::optional<int64_t> hint, bool is_size = true);
  void add_constant(const std::string& source, int64_t value,
                    bool is_size = true);
  // Makes the symbols: bare ones first, then those that derive from them,
  // whose equations become guards.  A symbol at several inputs is a symbol and
  // an equation for each further one.
  void bind();

  Expr expression(const std::string& text);
  // In the value of a node, which may be read from data: new u0, u1, ...
  Expr value_of_node(const std::string& text);
  // Throws unless the file has the range of each u0, u1, ... in the text.
  void require_ranges(const std::string& text) const;
  Expr guard(const std::string& python);

  // The symbols of inputs and the ranges that the file enforces for them.
  const std::vector<std::pair<Expr, Interval>>& declared() const {
    return declared_;
  }
  // The same as the file states them.
  const std::vector<std::pair<Expr, Interval>>& stated() const {
    return stated_;
  }
  // Equations between inputs that the program's metadata takes for granted.
  const std::vector<Expr>& equations() const { return equations_; }

 private:
  struct Input {
    std::string source, expression;
    std::optional<int64_t> hint;
    bool is_size;
  };
  Expr parsed(const std::string& text, const std::string& original);
  std::string renamed(const std::string& text, bool may_create);
  ForeignRange range_of(const std::string& name) const;  // of the file, or none
  Expr create(const Input& input, const ForeignRange& range,
              std::optional<RootDim> root = {});
  std::optional<std::string> root_of(const std::string& text) const;
  Expr create_of_root(const Input& input, const std::string& root);
  void create_unbacked(const std::string& name);
  static std::optional<std::string> lone_symbol(const std::string& text);

  ShapeEnv& env_;
  std::map<std::string, ForeignRange> ranges_;
  std::vector<Input> inputs_;
  std::map<std::string, std::string> ours_;  // s77 -> s0
  // Of Dims that stand at no input by themselves, as in 2*s39.
  std::map<std::string, Expr> roots_;  // root_s39 -> s0//2
  std::set<std::string> created_;      // our names
  SourceValues by_source_;
  std::vector<std::pair<Expr, Interval>> declared_, stated_;
  std::vector<Expr> equations_;
};

}  // namespace proviso::inline v0_2::pt2
