// solver/forms/form_pool.h - the solver's normal forms: what all of it computes
// with.
//
//   Poly p = variable(forms, a) - Poly::number(3);      // a - 3
//   FormulaId f = forms.formulas.ge(p);                 // a >= 3
//
// An integer is a polynomial with integer coefficients, whose monomials are
// products of atoms; a condition compares one with 0, under And and Or.  The
// parts, each in a header of its own, and who knows whom:
//
//   poly.h           a polynomial as a value: sums
//   monomial_pool.h  products of atoms, as numbers
//   poly_pool.h      polynomials, as numbers, and their primitive parts
//   atom_pool.h      symbols, floors, maxima, ..., as numbers
//   term_pool.h      these three together
//   operations.h     products, floors, maxima, ...: what makes atoms
//   floors.h         floors by numbers, and sums of remainders
//   formula_pool.h   conditions, as numbers                  <- TermPool
//   occurrences.h    the atoms that occur in something       <- FormulaPool
//   form_text.h      all of it as text
//
// Rewrites made here hold at every point, with x//0 read as some fixed function
// of x: that divisors are not zero is a condition of its own (solver/lower.h).
// Pools only grow: all contexts of an ExprPool share one.
#pragma once

#include "solver/forms/formula_pool.h"
#include "solver/forms/occurrences.h"
#include "solver/forms/operations.h"
#include "solver/forms/term_pool.h"

namespace proviso::inline v0_2::internal {

struct FormPool : TermPool {
  FormulaPool formulas{*this};
  Occurrences occurrences{*this, formulas};
};

}  // namespace proviso::inline v0_2::internal
