// solver/propagate/propagators.h - the ways in which constraints imply more,
// and which of them are called for what.
//
//   Propagators propagators(state, ranges, literals, to);
//   for (Propagator* p : propagators.for_equalities) p->on_equality(...);
//
// Each is in the file of its name, which opens with what it derives.  A new one
// is a class here, a member of Propagators, and an entry of each table of what
// it knows something about; nothing else names it.
#pragma once

#include "solver/normal/normal_form.h"
#include "solver/propagate/propagator.h"

namespace proviso::inline v0_2::internal {

// linear.cc: each term against the rest of its inequality.
class LinearPropagator final : public Propagator {
 public:
  using Propagator::Propagator;
  void on_inequality(const Poly& p, Reason why, When when) override;
};

// product.cc: factors of products.
class ProductPropagator final : public Propagator {
 public:
  ProductPropagator(State& state, Ranges& ranges, Literals& literals,
                    Consequences& to)
      : Propagator(state, ranges, to), literals_(literals) {}
  void on_inequality(const Poly& p, Reason why, When when) override;
  void on_equality(const Poly& p, Reason why, When when) override;
  // m >= value, or <= where not `lower`, for a product of several factors.
  void on_product_bound(MonoId m, bool lower, const Int& value, Reason why);
  // Divides p by factors known not to be 0.  False where there are none.
  bool cancel(Poly& p, Reason& why);

 private:
  void tighten_factor(AtomId x, unsigned k, const Range& rest, bool lower,
                      const Int& bound, Reason why);
  void tighten_power(AtomId x, unsigned k, bool lower, const Int& bound,
                     Reason why);

  Literals& literals_;
};

// root.cc: what an inequality is a polynomial in.
class RootPropagator final : public Propagator {
 public:
  using Propagator::Propagator;
  void on_inequality(const Poly& p, Reason why, When when) override;

 private:
  void tighten(const Poly& p, AtomId x, bool upper, Reason why);
};

// maximum.cc: max(0, x), and names of sums.
class MaximumPropagator final : public Propagator {
 public:
  using Propagator::Propagator;
  void on_inequality(const Poly& p, Reason why, When when) override;
  void on_atom_bound(const Atom& atom, bool lower, const Int& value,
                     Reason why) override;
};

// floor.cc: quotients and their remainders.
class FloorPropagator final : public Propagator {
 public:
  using Propagator::Propagator;
  void on_inequality(const Poly& p, Reason why, When when) override;
  void on_atom_bound(const Atom& atom, bool lower, const Int& value,
                     Reason why) override;
};

// divisor.cc: a product that is a number.
class DivisorPropagator final : public Propagator {
 public:
  using Propagator::Propagator;
  void on_equality(const Poly& p, Reason why, When when) override;

 private:
  void step_to_divisor(AtomId x, bool lower, const Int& n, Reason why);
};

// exponent.cc: powers of a number.
class ExponentPropagator final : public Propagator {
 public:
  using Propagator::Propagator;
  void on_equality(const Poly& p, Reason why, When when) override;
  void on_atom_bound(const Atom& atom, bool lower, const Int& value,
                     Reason why) override;
};

// power.cc: powers beside powers.
class PowerPropagator final : public Propagator {
 public:
  using Propagator::Propagator;
  void on_inequality(const Poly& p, Reason why, When when) override;
  void on_equality(const Poly& p, Reason why, When when) override;

 private:
  struct Bases {
    Poly a, b;
    unsigned k;
  };
  unsigned multiplicity(MonoId m) const;
  std::optional<Poly> root(const Term& t, unsigned k);
  std::optional<Bases> bases(const Poly& p);
};

// All of them.
struct Propagators {
  Propagators(State& state, Ranges& ranges, Literals& literals,
              Consequences& to)
      : linear(state, ranges, to),
        product(state, ranges, literals, to),
        root(state, ranges, to),
        maximum(state, ranges, to),
        floor(state, ranges, to),
        divisor(state, ranges, to),
        exponent(state, ranges, to),
        power(state, ranges, to) {}
  Propagators(const Propagators&) = delete;
  Propagators& operator=(const Propagators&) = delete;

  LinearPropagator linear;
  ProductPropagator product;
  RootPropagator root;
  MaximumPropagator maximum;
  FloorPropagator floor;
  DivisorPropagator divisor;
  ExponentPropagator exponent;
  PowerPropagator power;

  // The tables: which are called for what, in this order.
  Propagator* const for_inequalities[6] = {&linear,  &product, &root,
                                           &maximum, &floor,   &power};
  Propagator* const for_equalities[4] = {&divisor, &exponent, &product, &power};
  Propagator* const for_atom_bounds[3] = {&floor, &maximum, &exponent};
};

}  // namespace proviso::inline v0_2::internal
