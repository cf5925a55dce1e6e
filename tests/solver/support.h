// tests/solver/support.h - contexts from text: "s0:2.. u0:0..9", facts split
// by ';', a question.
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "solver/solver.h"
#include "sym/parse.h"
#include "sym/print.h"

namespace proviso::testing {

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) {
    if (part.find_first_not_of(' ') != std::string::npos) parts.push_back(part);
  }
  return parts;
}

inline SolverOptions native_only() {
  SolverOptions options;
  options.use_z3 = false;
  return options;
}

// Of all strategies the one; but divisors that are symbols need ranges to be
// known not to be 0.
inline SolverOptions only(Strategy strategy) {
  SolverOptions options = native_only();
  options.disabled_strategies = StrategySet::all();
  options.disabled_strategies.erase(strategy);
  if (strategy == Strategy::kDeepFloors)
    options.disabled_strategies.erase(Strategy::kRanges);
  return options;
}

// A pool and a context with the symbols' ranges and the facts assumed.
class Case {
 public:
  Case(const std::string& symbols, const std::string& facts,
       SolverOptions options = native_only())
      : context(pool, options) {
    for (const std::string& symbol : split(symbols, ' ')) {
      size_t colon = symbol.find(':'), dots = symbol.find("..");
      auto end = [](const std::string& digits) {
        return digits.empty() ? std::optional<Int>() : Int::parse(digits);
      };
      const RangeDeclaration range = {
          symbol.substr(0, colon),
          end(symbol.substr(colon + 1, dots - colon - 1)),
          end(symbol.substr(dots + 2))};
      context.declare(declared_symbol(pool, range),
                      Interval::of(range.lower, range.upper), {symbol});
    }
    for (const std::string& fact : split(facts, ';')) {
      context.assume(parse(pool, fact), {fact});
    }
  }

  Expr p(const std::string& text) { return parse(pool, text); }
  Answer ask(const std::string& question) { return context.ask(p(question)); }

  ExprPool pool;
  Context context;
};

// The question, under the facts of the context, as a line that `proviso decide`
// reads; appended to the file that PROVISO_TEST_WRITE names, if it does.
inline void write_question(Context& context, Expr question, bool may_hold,
                           bool may_fail) {
  static const char* const path = std::getenv("PROVISO_TEST_WRITE");
  if (path == nullptr || (!may_hold && !may_fail)) return;
  static std::ofstream out(path, std::ios::app);
  static size_t count = 0;
  const auto text = [](Expr e) {  // | parts the columns
    const std::string all = to_python(e);
    return all.find('|') == std::string::npos ? all : std::string();
  };
  std::string facts, symbols, asked = text(question);
  for (const Fact& fact : context.facts()) {
    const std::string condition = text(fact.condition);
    if (condition.empty()) return;
    facts += (facts.empty() ? "" : "; ") + condition;
    for (Expr s : free_symbols(fact.condition))
      symbols += s.symbol().name + " ";
  }
  for (Expr s : free_symbols(question)) symbols += s.symbol().name + " ";
  std::string declared;
  for (const std::string& name : split(symbols, ' ')) {
    const std::string one = name + ":..";
    if (declared.find(one) == std::string::npos) declared += one + " ";
  }
  if (asked.empty() || declared.empty()) return;
  declared.pop_back();
  out << 'w' << ++count << "|written|" << declared << '|' << facts << '|'
      << asked << '|'
      << (!may_hold   ? "refuted"
          : !may_fail ? "valid"
                      : "open")
      << "|brute\n"
      << std::flush;
}

// The facts that an answer names, assumed alone, give the same verdict.
inline bool reproduces(Context& context, Expr question, const Answer& answer) {
  Context fresh(context.pool(), context.options());
  for (FactId id : answer.facts) fresh.assume(context.fact(id).condition);
  return fresh.ask(question).verdict == answer.verdict;
}

// What an unknown answer shows is so.
inline std::string check_points(Context& context, Expr question,
                                const Answer& answer) {
  auto holds = [&](const Assignment& point) {
    for (const Fact& fact : context.facts()) {
      bool about = true;
      for (Expr s : free_symbols(fact.condition)) {
        about = about && point.find(s) != nullptr;
      }
      if (about && !evaluate(fact.condition, point).is_true()) return false;
    }
    return true;
  };
  if (answer.counterexample) {
    const Assignment& point = *answer.counterexample;
    if (!holds(point)) return "facts fail at " + point.to_string();
    if (evaluate(question, point).is_true()) {
      return "true at its counterexample " + point.to_string();
    }
  }
  if (answer.witness) {
    const Assignment& point = *answer.witness;
    if (!holds(point)) return "facts fail at " + point.to_string();
    if (!evaluate(question, point).is_true()) {
      return "not true at its witness " + point.to_string();
    }
  }
  return "";
}

}  // namespace proviso::testing
