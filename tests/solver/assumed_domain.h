// tests/solver/assumed_domain.h - a domain in which facts are assumed, and all
// points of a small box at which they hold: what a part of the solver says of
// the facts must hold at each of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "solver/domain.h"
#include "solver/forms/form_text.h"
#include "solver/linear.h"
#include "solver/lower.h"
#include "solver/point.h"
#include "tests/solver/support.h"

namespace proviso::testing {
using namespace internal;

class AssumedDomain {
 public:
  explicit AssumedDomain(const std::string& facts)
      : forms_(Forms::of(pool_)), domain_(forms_.pool, reasons_) {
    for (const std::string& fact : split(facts, ';')) assume(fact);
  }

  void assume(const std::string& fact) {
    facts_.push_back(formula(fact));
    domain_.assume(facts_.back(), reasons_.leaf(leaves_++));
  }

  Domain& domain() { return domain_; }
  const std::vector<FormulaId>& facts() const { return facts_; }
  FormPool& forms() { return forms_.pool; }
  FormulaId formula(const std::string& text) {
    return forms_.lower.condition(parse(pool_, text));
  }
  Poly poly(const std::string& text) {
    return forms_.lower.integer(parse(pool_, text));
  }
  AtomId atom(const std::string& text) { return *as_atom(forms(), poly(text)); }
  Atoms atoms_of(const std::string& condition) {
    return forms().occurrences.of_formula(formula(condition));
  }
  Poly poly_of(const LinearConstraint& row) {
    Poly p = Poly::number(row.constant);
    for (const LinearTerm& t : row.terms) {
      p.terms.push_back({t.unknown, t.coef});
    }
    return p;
  }
  std::string text_of(const LinearConstraint& row) {
    return to_string(forms(), poly_of(row)) +
           (row.equality ? " == 0" : " >= 0");
  }

  // Each point of [-3, 8]^2, of x and y, at which the facts hold.
  void at_each_point(const std::function<void(Point&)>& look) {
    for (int64_t x = -3; x <= 8; ++x) {
      for (int64_t y = -3; y <= 8; ++y) {
        Point point(forms());
        point.set(atom("x"), x);
        point.set(atom("y"), y);
        bool holds = true;
        for (FormulaId fact : facts_) {
          holds = holds && point.truth(fact) == true;
        }
        if (holds) look(point);
      }
    }
  }
  // The first row that fails at one of them; "" where none does.  Variables
  // that equalities introduced have no value: such rows are passed over.
  std::string broken(const std::vector<LinearConstraint>& rows) {
    std::string found;
    at_each_point([&](Point& point) {
      for (const LinearConstraint& row : rows) {
        const Point::Value v = point.value(poly_of(row));
        if (!found.empty() || !v) continue;
        if (row.equality ? *v != 0 : *v < 0) found = text_of(row);
      }
    });
    return found;
  }

 private:
  ExprPool pool_;
  Forms& forms_;
  ReasonArena reasons_;
  Domain domain_;
  std::vector<FormulaId> facts_;
  uint32_t leaves_ = 0;
};

}  // namespace proviso::testing
