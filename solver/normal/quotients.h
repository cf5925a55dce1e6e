// solver/normal/quotients.h - floor(num/den) under what is known.
//
//   (8*t) // 4                        2*t: whole multiples come out
//   (m*i + j) // m, 0 <= j < m        i: what is left lies below the divisor
//   (a*c) // (b*c), c != 0            a // b
//   ((x // a) // b)                   x // (a*b), with a QuotientProver
//
// Rules that hold at every point stand in solver/forms/floors.h; here are those
// that need a fact, most often that the divisor is not 0, and its reason joins
// the caller's.  They are rows of one table, most of them those of any
// polynomials (sym/division.h), tried in its order; each shortens the quotient,
// so that all of it ends.  What is left is a floor, unless the ranges of its
// parts leave it one value (solver/state/range.h).
#pragma once

#include <optional>
#include <vector>

#include "solver/normal/literals.h"
#include "sym/rewrite_rule.h"

namespace proviso::inline v0_2::internal {

// What more than ranges implies of a quotient, in bounded work.
struct QuotientProver {
  virtual ~QuotientProver() = default;
  virtual bool is_nonnegative(const Poly& p, Reason& why) = 0;
  // floor(num / den), where equalities give the ratio.
  virtual std::optional<Int> known_quotient(const Poly& num, const Poly& den,
                                            Reason& why) = 0;
};

// The rules, with how often each was used.
std::vector<RewriteRuleCount> quotient_rule_counts();

class Quotients {
 public:
  Quotients(State& state, Ranges& ranges, Literals& literals)
      : state_(state),
        forms_(state.forms),
        reasons_(state.reasons),
        ranges_(ranges),
        literals_(literals) {}

  // floor(num / den); what was needed for it joins `why`.
  Poly quotient(Poly num, Poly den, Reason& why);

  // While a prover is set, nested floors by symbols are merged, and quotients
  // are taken out whose remainder it proves to lie below the divisor.
  void set_prover(QuotientProver* prover) { prover_ = prover; }
  bool has_prover() const { return prover_ != nullptr; }

 private:
  Reason join(Reason a, Reason b) { return reasons_.join(a, b); }
  bool is_nonzero(const Poly& p, Reason& why);

  struct Division;
  friend std::vector<RewriteRuleCount> quotient_rule_counts();

  std::optional<Poly> constant_value(const Poly& quotient, Reason& why);

  State& state_;
  FormPool& forms_;
  ReasonArena& reasons_;
  Ranges& ranges_;
  Literals& literals_;
  QuotientProver* prover_ = nullptr;
};

}  // namespace proviso::inline v0_2::internal
