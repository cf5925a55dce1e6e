// solver/strategies/deep_floors.h - floors by symbols, within each other and in
// linearised indices.
//
//   ((x//a)//b)//c == x//(a*b*c)            merged, for positive b and c
//   ((i*B + j)*C + k)//C % B == j           i*B + j is taken out: 0 <= k < C
//
// The rules (solver/normal/quotients.h) need proofs that divisors are positive
// and that remainders lie below them, of each floor relevant to the question,
// so that the domain decides a second time, with them in force, where the cheap
// strategies have not decided.  Floors by constants need no proofs: their rules
// are always in force (solver/forms/floors.h).  Complete for nested floors by
// products of positive symbols.
#pragma once

#include "solver/strategies/combination.h"

namespace proviso::inline v0_2::internal {

// Proves 0 <= num < den, by ranges and by a nonnegative combination.
class RemainderProver : public QuotientProver {
 public:
  RemainderProver(Domain& domain, Combination& combination)
      : domain_(domain), combination_(combination) {}

  bool is_nonnegative(const Poly& p, Reason& why) override;
  std::optional<Int> known_quotient(const Poly&, const Poly&,
                                    Reason&) override {
    return std::nullopt;
  }

  // What `attempt` decides while normal forms ask this for quotients.
  template <typename Attempt>
  Decision within(uint64_t units, Attempt attempt) {
    const auto found = domain_.within(units, [&]() -> Decision {
      domain_.set_quotient_prover(this);
      return attempt();
    });
    domain_.set_quotient_prover(nullptr);
    return found.value_or(Decision{});
  }

 protected:
  Domain& domain_;

 private:
  Combination& combination_;
};

class DeepFloors {
 public:
  DeepFloors(Domain& domain, Combination& combination)
      : domain_(domain), remainders_(domain, combination) {}

  bool applies(FormulaId f) const;  // there is a divisor that is no number
  Decision decide(FormulaId f, uint64_t units) {
    return remainders_.within(units, [&] { return domain_.decide(f); });
  }

 private:
  Domain& domain_;
  RemainderProver remainders_;
};

}  // namespace proviso::inline v0_2::internal
