// solver/normal/ranges.h - where atoms, monomials and polynomials lie, given
// what is asserted.
//
//   x in [2, 5], y in [1, 4]
//   ranges.plain(x*y - x)             [-3, 18]: the sum of what terms can be
//   ranges.of(x*y - x)                [0, 18]: x = 2 + s, y = 1 + t, s, t >= 0
//   ranges.factored(x*y - x)          [0, 15]: x*(y - 1)
//
// Each end comes with its reason (solver/state/range.h).  What costs more is
// tried by `of` and `factored`:
//   asserted     bounds of the linear form itself, as inequalities give them
//   by_shift     variables measured from their ends: products of nonnegatives
//   correlated   a floor and its numerator, a maximum and its argument, move
//                together: x - 8*(x//8) in [0, 7]
//   factored     a product that was multiplied out
// Ranges of atoms and of products are cached by Trail::stamp().  A range of a
// polynomial looks into atoms, whose parts are smaller, so that all of it ends.
// Of an atom more than fixed::nested_ranges deep in others the range is derived
// before theirs, so that the stack is not as deep as atoms are.
//
// Cost: `plain` is one pass over the terms; `of` and `factored` are such a pass
// for each term that they open, limits().correlation_depth and
// limits().factored_depth deep.  Each range is a superset of the values.  Tight
// for sums of different variables of which nothing is known together.
#pragma once

#include <optional>

#include "solver/state/state.h"

namespace proviso::inline v0_2::internal {

class Ranges {
 public:
  explicit Ranges(State& state)
      : state_(state), forms_(state.forms), reasons_(state.reasons) {}

  // References hold until the next change of the state.
  const Range& of_atom(AtomId a) { return of_atom(a, state_.atoms.of(a)); }
  const Range& of_atom(AtomId a, const AtomRecord& r) {
    const bool is_own = r.solved == kNoId && is_variable(r.kind);
    return is_own ? r.own : derived(a, r);
  }
  const Range& of_monomial(MonoId m) {
    const AtomId a = forms_.monomials.single(m);
    return a != kNoId ? of_atom(a) : of_product(m);
  }
  Range plain(const Poly& p);
  // `depth`: of floors and maxima that have been looked through already.
  Range of(const Poly& p, int depth = 0);
  Range asserted(const Poly& p) {
    return !state_.bounds.has_forms()
               ? Range{}
               : state_.bounds.of_form(forms_.polys.primitive_part(p),
                                       p.constant, reasons_);
  }
  Range asserted(PolyId p) {
    return !state_.bounds.has_forms()
               ? Range{}
               : state_.bounds.of_form(forms_.polys.primitive_part(p),
                                       forms_.polys[p].constant, reasons_);
  }
  Range by_shift(const Poly& p);
  // Given `enough`, the search ends at the first lower end that reaches it.
  Range correlated(const Poly& p, int depth, std::optional<int> enough = {});
  // The range of p, or of p less its constant, as a product; unbounded where it
  // is none.
  Range factored(const Poly& p, int depth = 0);

  // An inequality without the floor q, a factor of its term t: low <= scale*p
  // <= high.
  struct Unfloored {
    Poly low, high;
    Int scale;
    Reason why;
  };
  std::optional<Unfloored> without_floor(const Poly& p, const Term& t,
                                         AtomId q);

 private:
  struct Cached {
    uint64_t stamp = 0;
    Range range;
  };
  struct Product {
    Poly f, g;
  };

  Reason join(Reason a, Reason b) { return reasons_.join(a, b); }
  // Whether the present is worth remembering, and as what.
  uint64_t stamp_to_keep() const {
    const bool is_passing = state_.assertions.conflict() || cut_ != kNoId;
    return is_passing ? 0 : state_.trail.stamp();
  }

  const Range& derived(AtomId a, const AtomRecord& r);
  Cached& cached(const AtomRecord& r);
  void derive(AtomId a, const AtomRecord& r, Cached& known);
  void derive_from_within(AtomId a);
  const Range& of_product(MonoId m);
  Range of_value(const Poly& value);
  Range of_parts(const Atom& atom);
  Range of_function(const Atom& atom);
  Range of_bits(const Range& x, const Range& y);
  Range of_power(const Range& base, const Range& exponent);
  Range of_factors(const Factors& factors);

  bool may_shift(const Poly& p, size_t degree);
  Range clamped(const Poly& p, const Term& t, int depth);
  bool has_short_divisor(const Atom& atom) const;

  std::optional<Product> as_product(const Poly& p);
  std::optional<Product> split_by(const Poly& p, AtomId x);

  State& state_;
  FormPool& forms_;
  ReasonArena& reasons_;
  StableVector<Cached> of_atoms_;  // by AtomTable::cache_of
  StableVector<Cached> of_products_;
  // Atoms in atoms whose ranges are being derived, and one that was too deep in
  // them: what is found meanwhile holds, and is not kept.
  int nested_ = 0;
  AtomId cut_ = kNoId;
  IdMap product_slot_of_;  // from monomials
};

}  // namespace proviso::inline v0_2::internal
