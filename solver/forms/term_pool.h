// solver/forms/term_pool.h - all that an integer's normal form is made of.
//
//   Poly p = variable(terms, x) * 3;           operations.h
//   terms.depth(p)                             1: an atom within nothing
//
// Atoms have polynomials as parts, polynomials have monomials, and monomials
// have atoms: the three pools grow together, and each knows numbers of the
// others alone.
#pragma once

#include "solver/forms/atom_pool.h"
#include "solver/forms/monomial_pool.h"
#include "solver/forms/poly_pool.h"

namespace proviso::inline v0_2::internal {

struct TermPool {
  AtomPool atoms;
  MonomialPool monomials;
  PolyPool polys;

  // How deep the atoms of p nest: 0 for a constant, 1 for 2*s0.
  unsigned depth(const Poly& p) const {
    unsigned most = 0;
    for (const Term& t : p.terms) {
      for (AtomId a : monomials.factors(t.mono)) {
        most = std::max(most, atoms.depth(a));
      }
    }
    return most;
  }
};

}  // namespace proviso::inline v0_2::internal
