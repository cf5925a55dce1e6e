// solver/normal/quotients.h - floor(num/den) under what is known.
//
//   (8*t) // 4                        2*t: whole multiples come out
//   (m*i + j) // m, 0 <= j < m        i: what is left lies below the divisor
//   (a*c) // (b*c), c != 0            a // b
//   ((x // a) // b)                   x // (a*b), with a QuotientProver
//
// Rules that hold at every point are FormPool::floor_div's; here are those that
// need a fact, most often that the divisor is not 0, and its reason joins the
// caller's.  They are tried in the order of quotient() and each shortens the
// quotient, so that all of it ends.
#pragma once

#include <optional>

#include "solver/normal/literals.h"

namespace proviso {

// What more than ranges implies of a quotient, in bounded work.
struct QuotientProver {
  virtual ~QuotientProver() = default;
  virtual bool is_nonnegative(const Poly& p, Reason& why) = 0;
  // floor(num / den), where equalities give the ratio.
  virtual std::optional<Int> known_quotient(const Poly& num, const Poly& den,
                                            Reason& why) = 0;
};

class Quotients {
 public:
  Quotients(State& state, Ranges& ranges, Literals& literals)
      : state_(state),
        forms_(state.forms),
        reasons_(state.reasons),
        ranges_(ranges),
        literals_(literals) {}

  Poly quotient(Poly num, Poly den, Reason& why);

  // While a prover is set, nested floors by symbols are merged, and quotients
  // are taken out whose remainder it proves to lie below the divisor.
  void set_prover(QuotientProver* prover) { prover_ = prover; }
  bool has_prover() const { return prover_ != nullptr; }

 private:
  Reason join(Reason a, Reason b) { return reasons_.join(a, b); }
  bool is_nonzero(const Poly& p, Reason& why);

  bool cancel_common(Poly& num, Poly& den, Reason& why);
  void cancel_content(Poly& num, Poly& den);
  std::optional<Poly> exact(const Poly& num, const Poly& den, Reason& why);
  void cancel_numerator(Poly& num, Poly& den, Reason& why);
  Poly pull_out(Poly& num, const Poly& den, Reason& why);
  Poly multiples_in(Poly& num, const Poly& den);
  std::optional<Int> by_range(const Poly& num, const Poly& den, Reason& why);
  bool is_remainder(const Poly& num, const Poly& den, Reason& why);
  bool merge_nested(Poly& num, Poly& den, Reason& why);
  std::optional<Poly> constant_value(const Poly& quotient, Reason& why);

  State& state_;
  FormPool& forms_;
  ReasonArena& reasons_;
  Ranges& ranges_;
  Literals& literals_;
  QuotientProver* prover_ = nullptr;
};

}  // namespace proviso
