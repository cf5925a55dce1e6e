// tests/support/agreement_laws.h - ask, bounds and simplify know the same: what
// ask() proves, the other two say.
//
//   AgreementLaws laws(context);
//   laws.broken_by_bounds(e);      // "", or how bounds(e) is too wide
//
// bounds() and simplify() ask many questions within the limit of one call: the
// context needs a limit that does not end them.
#pragma once

#include <string>
#include <vector>

#include "solver/solver.h"
#include "sym/cost.h"
#include "sym/print.h"

namespace proviso::testing {

class AgreementLaws {
 public:
  struct Tally {
    int bounds = 0, ends = 0, equalities = 0, relations = 0, simplified = 0;
  };

  explicit AgreementLaws(Context& context) : context_(context) {}

  static SolverOptions unhurried(SolverOptions options) {
    options.work_limit *= 100;
    return options;
  }
  const Tally& tally() const { return tally_; }

  // bounds() is never wider than what ask() proves about its ends.
  std::string broken_by_bounds(Expr e) {
    const Interval range = context_.bounds(e);
    ++tally_.bounds;
    if (range.is_empty()) return "";
    std::vector<Int> above, below;
    for (int k : {-64, -9, -1, 0, 1, 7, 63}) {
      if (!range.upper() || Int(k) < *range.upper()) above.push_back(Int(k));
      if (!range.lower() || Int(k) > *range.lower()) below.push_back(Int(k));
    }
    if (range.upper()) above.push_back(*range.upper() - Int(1));
    if (range.lower()) below.push_back(*range.lower() + Int(1));
    const auto too_wide = [&](const char* relation, const Int& k) {
      return "bounds(" + to_string(e) + ") is " + range.to_string() +
             ", ask() proves it " + relation + " " + k.to_string();
    };
    for (const Int& k : above) {
      ++tally_.ends;
      if (proves(le(e, context_.pool().integer(k))))
        return too_wide("at most", k);
    }
    for (const Int& k : below) {
      ++tally_.ends;
      if (proves(ge(e, context_.pool().integer(k))))
        return too_wide("at least", k);
    }
    return "";
  }

  // What ask() proves equal differs by 0, and by nothing that simplify() shows.
  std::string broken_by_difference(Expr e) {
    const Expr form = context_.simplify(e);
    const std::string broken = broken_by_cost(e, form);
    if (!broken.empty()) return broken;
    for (Expr other :
         {form, context_.canonical(e), context_.pool().integer(0)}) {
      if (!proves(eq(e, other))) continue;
      ++tally_.equalities;
      const Expr difference = context_.simplify(e - other);
      if (to_string(difference) == "0") continue;
      return "ask() proves " + to_string(e) + " == " + to_string(other) +
             ", simplify() makes " + to_string(difference) +
             " of the difference";
    }
    return "";
  }

  // What ask() decides is True or False.
  std::string broken_by_relation(Expr e) {
    const Verdict verdict = context_.ask(e).verdict;
    const Expr form = context_.simplify(e);
    const std::string broken = broken_by_cost(e, form);
    if (!broken.empty() || verdict == Verdict::kUnknown) return broken;
    ++tally_.relations;
    const std::string wanted = verdict == Verdict::kYes ? "True" : "False";
    if (to_string(form) == wanted) return "";
    return "ask(" + to_string(e) + ") is " + std::string(name_of(verdict)) +
           ", simplify() makes it " + to_string(form);
  }

 private:
  bool proves(Expr question) {
    return context_.ask_quick(question) == Verdict::kYes;
  }

  // A form costs no more than what it is of, and is its own.
  std::string broken_by_cost(Expr e, Expr form) {
    ++tally_.simplified;
    if (cost(form) > cost(e))
      return to_string(e) + " is simplified to the costlier " + to_string(form);
    const Expr again = context_.simplify(form);
    if (again == form) return "";
    return to_string(e) + " is simplified to " + to_string(form) +
           ", and that to " + to_string(again);
  }

  Context& context_;
  Tally tally_;
};

}  // namespace proviso::testing
