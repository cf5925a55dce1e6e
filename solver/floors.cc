// Deep floor rules: quotients by symbols.
//
//   ((x//a)//b)//c == x//(a*b*c)            merged, for positive b and c
//   ((i*B + j)*C + k)//C % B == j           i*B + j is taken out: 0 <= k < C
//
// The rules need proofs that divisors are positive and that remainders lie
// below them, of each floor near the question, so that a question is normalised
// by them where the cheap strategies have not decided it.  Floors by constants
// need no proofs: their rules are always in force (form.cc).
#include <algorithm>

#include "solver/limits.h"
#include "solver/prover.h"

namespace proviso {

bool Prover::is_nonnegative(const Poly& p, Reason& why) {
  if (p.is_constant()) return p.constant.sign() >= 0;
  const Range r = domain_.range(p);
  if (r.span.is_empty()) return false;
  if (at_least(r, 0)) {
    why = reasons_.join(why, r.lower);
    return true;
  }
  if (p.terms.size() < 2 || p.terms.size() > limits().floor_terms) return false;
  return is_nonnegative(p, limits().floor_side_steps, why);
}

bool Prover::has_symbolic_divisor(FormulaId f) {
  const Atoms& atoms = forms_.atoms_of_formula(f);
  return std::any_of(atoms.begin(), atoms.end(), [this](AtomId a) {
    const Atom& atom = forms_.atom(a);
    return atom.kind == AtomKind::kFloor && !forms_.poly(atom.b).is_constant();
  });
}

Decision Prover::decide_by_floors(FormulaId f, uint64_t units) {
  return with_quotient_rules(units, [&] { return domain_.decide(f); });
}

}  // namespace proviso
