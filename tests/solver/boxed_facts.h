// tests/solver/boxed_facts.h - facts in a reasoner, each a leaf of its own, and
// what a part of the solver says of them beside evaluate() at every point of a
// box.
//
//   BoxedFacts facts({"x <= y", "y <= 3"});
//   facts.failure("x <= 3", true, why);
//     // "" where x <= 3 is true wherever the facts that `why` names hold
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "solver/engine/reasoner.h"
#include "solver/forms/form_text.h"
#include "solver/point.h"
#include "sym/evaluate.h"
#include "tests/solver/support.h"
#include "tests/support/random_expr.h"

namespace proviso::testing {
using namespace internal;

class BoxedFacts {
 public:
  static constexpr int kLow = -4, kHigh = 7;  // of each of x, y and z

  explicit BoxedFacts(const std::vector<std::string>& facts)
      : reasoner_(pool_, options_, statistics_) {
    for (const char* name : {"x", "y", "z"}) {
      symbols_.push_back(pool_.symbol(name, SymbolKind::kUnbackedInt));
    }
    for (int x = kLow; x <= kHigh; ++x) {
      for (int y = kLow; y <= kHigh; ++y) {
        for (int z = kLow; z <= kHigh; ++z) {
          Assignment point;
          point.set(symbols_[0], Int(x));
          point.set(symbols_[1], Int(y));
          point.set(symbols_[2], Int(z));
          points_.push_back(std::move(point));
        }
      }
    }
    for (const std::string& fact : facts) assume(fact);
  }

  void assume(const std::string& text) {
    const Expr fact = expr(text);
    std::vector<bool> holds;
    for (const Assignment& point : points_) {
      holds.push_back(evaluate(fact, point).is_true());
    }
    holds_.push_back(std::move(holds));
    reasoner_.assume(fact, {});
  }

  Reasoner& reasoner() { return reasoner_; }
  Domain& domain() { return reasoner_.domain(); }
  FormPool& forms() { return reasoner_.forms(); }
  ProofStrategies& proofs() { return reasoner_.proofs(); }
  const std::vector<Expr>& symbols() const { return symbols_; }
  Expr expr(const std::string& text) { return parse(pool_, text); }
  FormulaId formula(const std::string& text) {
    return reasoner_.lower().condition(expr(text));
  }
  Poly poly(const std::string& text) {
    return reasoner_.lower().integer(expr(text));
  }
  AtomId atom(const std::string& text) { return *as_atom(forms(), poly(text)); }
  std::vector<FactId> facts_in(Reason why) const {
    return reasoner_.facts_in(why);
  }

  // Calls look(point) where the facts that the reason names hold, until it
  // returns false.
  void where_hold(Reason why,
                  const std::function<bool(const Assignment&)>& look) {
    const std::vector<FactId> facts = facts_in(why);
    for (size_t i = 0; i < points_.size(); ++i) {
      bool all = true;
      for (FactId f : facts) all = all && holds_[f][i];
      if (all && !look(points_[i])) return;
    }
  }
  void where_all_hold(const std::function<bool(const Assignment&)>& look) {
    for (size_t i = 0; i < points_.size(); ++i) {
      bool all = true;
      for (const auto& fact : holds_) all = all && fact[i];
      if (all && !look(points_[i])) return;
    }
  }

  // A point at which the facts of the reason hold, and the question is defined
  // and not `value`; "" where there is none.
  std::string failure(const std::string& question, bool value, Reason why) {
    const Expr asked = expr(question);
    std::string found;
    where_hold(why, [&](const Assignment& point) {
      const Evaluation e = evaluate(asked, point);
      if (!e.defined() || e.is_true() == value) return true;
      found = question + (value ? " fails at " : " holds at ") +
              point.to_string() + in_words(why);
      return false;
    });
    return found;
  }
  // The same of a formula, which may be about variables that have no values
  // here.
  std::string failure(FormulaId f, bool value, Reason why) {
    std::string found;
    Point point(forms());
    where_hold(why, [&](const Assignment& at) {
      move(point, at);
      const std::optional<bool> truth = point.truth(f);
      if (!truth || *truth == value) return true;
      found = formula_to_string(forms(), f) +
              (value ? " fails at " : " holds at ") + at.to_string() +
              in_words(why);
      return false;
    });
    return found;
  }
  // At some point all facts hold and the question is `value`.
  bool is_possible(const std::string& question, bool value) {
    const Expr asked = expr(question);
    bool found = false;
    where_all_hold([&](const Assignment& point) {
      const Evaluation e = evaluate(asked, point);
      found = e.defined() && e.is_true() == value;
      return !found;
    });
    return found;
  }
  // The point takes the values of the symbols.
  void move(Point& point, const Assignment& at) {
    for (Expr s : symbols_) {
      point.set(forms().atoms.symbol(s),
                *std::get<Int>(*at.find(s)).to_int64());
    }
  }
  std::string in_words(Reason why) const {
    std::string text = " by {";
    for (FactId f : facts_in(why)) {
      text += to_python(reasoner_.facts().condition(f)) + "; ";
    }
    return text + "}";
  }

 private:
  ExprPool pool_;
  SolverOptions options_ = native_only();
  Statistics statistics_;
  Reasoner reasoner_;
  std::vector<Expr> symbols_;
  std::vector<Assignment> points_;
  std::vector<std::vector<bool>> holds_;  // by fact and point
};

// Numbers and choices of one seed.
class Choices {
 public:
  explicit Choices(uint32_t seed) : random_(seed) {}

  int between(int low, int high) {
    return low + static_cast<int>(random_() % unsigned(high - low + 1));
  }
  bool one_in(int n) { return between(1, n) == 1; }
  const std::string& of(const std::vector<std::string>& all) {
    return all[random_() % all.size()];
  }
  // Some of them, in their order.
  std::vector<std::string> some(const std::vector<std::string>& all, int out_of,
                                int among) {
    std::vector<std::string> chosen;
    for (const std::string& one : all) {
      if (between(1, among) <= out_of) chosen.push_back(one);
    }
    return chosen;
  }
  std::string number(int low, int high) {
    return "(" + std::to_string(between(low, high)) + ")";
  }
  // "(3)*x*y + (-1)*z + (2)"
  std::string sum(const std::vector<std::string>& terms, int most, int coef) {
    std::string text = number(-coef, coef);
    for (int n = between(1, most); n > 0; --n) {
      text += " + " + number(-coef, coef) + "*" + of(terms);
    }
    return text;
  }

 private:
  std::mt19937 random_;
};

}  // namespace proviso::testing
