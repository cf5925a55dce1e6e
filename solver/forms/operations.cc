#include "solver/forms/operations.h"

#include <algorithm>

#include "solver/fixed_limits.h"
#include "solver/forms/floors.h"
#include "solver/forms/form_pool.h"
#include "solver/forms/form_ring.h"

namespace proviso::inline v0_2::internal {
namespace {

// An atom over polynomials.
AtomId atom_of(TermPool& terms, AtomKind kind, const Poly& a, const Poly* b,
               Op op = Op::kAdd) {
  Atom atom{.kind = kind, .a = terms.polys.id_of(a), .op = op};
  unsigned below = terms.depth(a);
  if (b != nullptr) {
    atom.b = terms.polys.id_of(*b);
    below = std::max(below, terms.depth(*b));
  }
  return terms.atoms.id_of(atom, below);
}

}  // namespace

// --- products

Poly variable(TermPool& terms, AtomId a) {
  return Poly::term(terms.monomials.of(a), 1);
}

size_t degree(const TermPool& terms, const Poly& p) {
  size_t most = 0;
  for (const Term& t : p.terms) {
    most = std::max(most, terms.monomials.factors(t.mono).size());
  }
  return most;
}

const Term& leading(const TermPool& terms, const Poly& p) {
  return *std::min_element(p.terms.begin(), p.terms.end(),
                           [&](const Term& a, const Term& b) {
                             return terms.monomials.leads(a.mono, b.mono);
                           });
}

Poly mul(TermPool& terms, const Poly& a, const Poly& b) {
  if (a.is_constant()) return b * a.constant;
  if (b.is_constant()) return a * b.constant;
  const size_t width = (a.terms.size() + 1) * (b.terms.size() + 1);
  Budget::charge(std::min(width, fixed::product_terms));
  const bool is_high = degree(terms, a) + degree(terms, b) > fixed::form_degree;
  if (width <= fixed::product_terms && !is_high) {
    return product_of(FormRing{terms}, a, b);
  }
  auto folded = [&](const Poly& p) {
    const bool stays =
        p.terms.size() <= 1 && (!is_high || degree(terms, p) == 1);
    return stays ? p : named(terms, p);
  };
  return mul(terms, folded(a), folded(b));
}

Poly pow(TermPool& terms, const Poly& p, unsigned n) {
  Poly result = Poly::number(1);
  for (unsigned i = 0; i < n; ++i) result = mul(terms, result, p);
  return result;
}

std::optional<Poly> exact_quotient(TermPool& terms, const Poly& a,
                                   const Poly& b) {
  if (b.is_constant()) return std::nullopt;
  return exact_quotient_of(FormRing{terms}, a, b);
}

// --- atoms

Poly named(TermPool& terms, const Poly& p) {
  return variable(terms, atom_of(terms, AtomKind::kNamed, p, nullptr));
}

Poly floor_div(TermPool& terms, const Poly& a, const Poly& b) {
  if (b.is_constant() && !b.constant.is_zero()) {
    return floor_by_number(terms, a, b.constant);
  }
  if (!b.leads_negative()) return floor_atom(terms, a, b);
  return floor_atom(terms, -a, -b);
}

Poly floor_atom(TermPool& terms, const Poly& a, const Poly& b) {
  return variable(terms, atom_of(terms, AtomKind::kFloor, a, &b));
}

Poly mod(TermPool& terms, const Poly& a, const Poly& b) {
  return a - mul(terms, b, floor_div(terms, a, b));
}

Poly pos(TermPool& terms, const Poly& d) {
  if (d.is_constant()) return d.constant.sign() > 0 ? d : Poly{};
  if (d.leads_negative()) {  // pos(-e) == pos(e) - e
    const Poly e = -d;
    return pos(terms, e) - e;
  }
  const Int g = gcd(d.content(), d.constant);
  const AtomId a =
      atom_of(terms, AtomKind::kPos, g.is_one() ? d : over(d, g), nullptr);
  return Poly::term(terms.monomials.of(a), g);
}

Poly max(TermPool& terms, const Poly& a, const Poly& b) {
  return a + pos(terms, b - a);
}

Poly min(TermPool& terms, const Poly& a, const Poly& b) {
  return a - pos(terms, a - b);
}

Poly func(TermPool& terms, Op op, const Poly& a, const Poly& b) {
  return variable(terms, atom_of(terms, AtomKind::kFunc, a, &b, op));
}

Poly where(FormPool& forms, FormulaId condition, const Poly& a, const Poly& b) {
  if (condition == kTrue || a == b) return a;
  if (condition == kFalse) return b;
  const unsigned below = std::max(
      {forms.depth(a), forms.depth(b), forms.formulas.depth(condition)});
  const Atom atom{.kind = AtomKind::kIte,
                  .a = forms.polys.id_of(a),
                  .b = forms.polys.id_of(b),
                  .condition = condition};
  return variable(forms, forms.atoms.id_of(atom, below));
}

// --- what a polynomial is

std::optional<AtomId> as_atom(const TermPool& terms, const Poly& p) {
  if (!is_single(terms, p) || !p.constant.is_zero()) return std::nullopt;
  if (!p.terms[0].coef.is_one()) return std::nullopt;
  return terms.monomials.single(p.terms[0].mono);
}

}  // namespace proviso::inline v0_2::internal
