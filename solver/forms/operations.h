// solver/forms/operations.h - what makes products and atoms of polynomials.
//
//   mul(forms, x + 1, y)                  x*y + y
//   floor_div(forms, 4*x + y, 4)          x + floor(y/4)        (floors.h)
//   mod(forms, x, y)                      x - y*floor(x/y)
//   max(forms, x, y)                      x + pos(y - x)
//
// Every operator that has a normal form is said by products, floors, pos and
// conditionals, so that D//k, D % k and Min/Max cancel against each other.
// Products of sums stay small: past 64 terms, or a degree of 64, their factors
// are folded into atoms.
#pragma once

#include <optional>

#include "solver/forms/term_pool.h"

namespace proviso::inline v0_2::internal {

struct FormPool;  // solver/forms/form_pool.h

// --- products
Poly variable(TermPool& terms, AtomId a);
Poly mul(TermPool& terms, const Poly& a, const Poly& b);
Poly pow(TermPool& terms, const Poly& p, unsigned n);
size_t degree(const TermPool& terms, const Poly& p);  // most factors of a term
// The first term in the order that products respect.  Requires one.
const Term& leading(const TermPool& terms, const Poly& p);
// The polynomial q with a == q*b, if there is one and it is soon found.  No b
// that is a number.
std::optional<Poly> exact_quotient(TermPool& terms, const Poly& a,
                                   const Poly& b);

// --- atoms
Poly named(TermPool& terms, const Poly& p);  // kept folded in products
Poly floor_div(TermPool& terms, const Poly& a, const Poly& b);
Poly floor_atom(TermPool& terms, const Poly& a, const Poly& b);  // as it stands
Poly mod(TermPool& terms, const Poly& a, const Poly& b);
Poly pos(TermPool& terms, const Poly& d);  // max(0, d)
Poly max(TermPool& terms, const Poly& a, const Poly& b);
Poly min(TermPool& terms, const Poly& a, const Poly& b);
Poly func(TermPool& terms, Op op, const Poly& a, const Poly& b);
Poly where(FormPool& forms, FormulaId condition, const Poly& a, const Poly& b);

// --- what a polynomial is
// Whether p is a multiple of an atom, shifted.
inline bool is_single(const TermPool& terms, const Poly& p) {
  return p.terms.size() == 1 &&
         terms.monomials.single(p.terms[0].mono) != kNoId;
}
// The single atom that p is, if it is one.
std::optional<AtomId> as_atom(const TermPool& terms, const Poly& p);

}  // namespace proviso::inline v0_2::internal
