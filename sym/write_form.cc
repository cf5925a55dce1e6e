// Forms are compared by cost after their parts are in their cheapest forms: a
// sum by SumWriter, a relation with each atom's terms on one side, a remainder
// with coefficients c or c - m.
#include "sym/write_form.h"

#include <algorithm>

#include "sym/rule_parts.h"
#include "sym/write_sum.h"

namespace proviso::inline v0_2::internal {
namespace {

// With a % 8 a coefficient 7 is as good as -1.
Expr write_mod(FormSearch& search, Expr e) {
  const Expr divisor = search.best(e.arg(1)).written;
  Expr numerator = search.best(e.arg(0)).written;
  auto whole = [&](Expr a) {
    return search.pool().make(Op::kMod, {a, divisor});
  };
  if (!e.arg(1).is(Op::kInteger)) return whole(numerator);
  const Int& m = e.arg(1).integer();
  const Polynomial original = to_polynomial(e.arg(0));
  Polynomial p = original;
  for (const auto& [monomial, c] : original.terms()) {
    if (c * Int(2) <= m || c >= m || monomial.empty()) continue;
    const Polynomial lowered = p - Polynomial::term(monomial, m);
    const Expr now = search.best(search.canonical(lowered)).written;
    if (search.cost(now) >= search.cost(numerator)) continue;
    numerator = now;
    p = lowered;
  }
  return whole(numerator);
}

// The atoms that are a factor of two terms or more.
std::vector<Expr> atoms_of_products(const Polynomial& p) {
  std::vector<Expr> once, found;
  for (const auto& [monomial, c] : p.terms()) {
    for (size_t i = 0; i < monomial.size(); ++i) {
      const Expr a = monomial[i];
      if (i > 0 && monomial[i - 1] == a) continue;
      const bool is_new = std::find(once.begin(), once.end(), a) == once.end();
      if (is_new) {
        once.push_back(a);
      } else if (std::find(found.begin(), found.end(), a) == found.end()) {
        found.push_back(a);
      }
    }
  }
  return found;
}

// Sides as they are, all on one side but the constant, or what has a common
// factor on one side.
Expr write_relation(FormSearch& search, Expr e) {
  Expr result = search.pool().make(
      e.op(), {search.best(e.arg(0)).written, search.best(e.arg(1)).written});
  const std::optional<Sign> s = sign_of(e);
  if (!s) return result;
  const Int c = s->p.constant();
  const Polynomial terms = s->p - Polynomial(c);
  if (terms.terms().size() < 2) return result;
  if (terms.degree() < 2) return result;  // it has no common factors
  auto consider = [&](Op op, Expr a, Expr b) {
    Expr other = search.pool().make(op, {a, b});
    if (search.cost(other) < search.cost(result)) result = other;
  };
  // What an atom is a factor of on one side: Eq(x*(y - z), w).
  for (Expr atom : atoms_of_products(terms)) {
    const auto split = split_off(terms, atom);
    if (!split || split->factor.terms().size() < 2) continue;
    const Polynomial with = terms - split->rest;
    const Polynomial rest = split->rest + Polynomial(c);
    const Expr product = search.best(search.canonical(with)).written;
    const Expr opposite = search.best(search.canonical(with * Int(-1))).written;
    const Expr other = search.best(search.canonical(rest)).written;
    const Expr minus = search.best(search.canonical(rest * Int(-1))).written;
    if (s->op == Op::kLe) {
      consider(Op::kLe, minus, product);
      consider(Op::kLe, opposite, other);
    } else {
      consider(s->op, product, minus);
      consider(s->op, opposite, other);
    }
  }
  const Expr up = search.best(search.canonical(terms)).written;
  const Expr down = search.best(search.canonical(terms * Int(-1))).written;
  if (s->op == Op::kLe) {
    consider(Op::kLe, search.integer(-c), up);
    consider(Op::kLe, down, search.integer(c));
  } else {
    consider(s->op, up, search.integer(-c));
    consider(s->op, down, search.integer(c));
  }
  return result;
}

}  // namespace

Expr write_form(FormSearch& search, Expr canonical) {
  const Expr e = canonical;
  if (is_sum(e) || (e.is(Op::kFloorDiv) && e.is_int())) {
    return SumWriter(search).write(search.polynomial(e));
  }
  if (is_relation(e.op()) && e.arg(0).is_int() && e.arg(1).is_int()) {
    return write_relation(search, e);
  }
  if (e.is(Op::kMod)) return write_mod(search, e);
  std::vector<Expr> args;
  for (Expr arg : e.args()) args.push_back(search.best(arg).written);
  return search.pool().make(e.op(), args);
}

}  // namespace proviso::inline v0_2::internal
