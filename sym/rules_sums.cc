// Rules on any node, and on sums with floors and remainders in them.  A sum is
// read as a polynomial whose atoms are floors, remainders, extrema and the
// like.
//
//   x - 8*(x//8)                close_remainder                x % 8
//   (x//2) - 3*(x//6)           close_remainder_of_quotient    (x//2) % 3
//   (x//2) + ((x + 1)//2)       complete_halves                x
//
// Most rules take one floor or two out of the sum, and say what they are with
// the rest: a division of polynomials each.  They close and open remainders;
// the cost decides which stays.
#include <algorithm>

#include "sym/bits.h"
#include "sym/fixed_limits.h"
#include "sym/form_search.h"
#include "sym/polynomial_ring.h"
#include "sym/rule_parts.h"

namespace proviso::inline v0_2::internal {
namespace {

// ---- any node

// f(a) -> f(b), b the cheapest form of a.
void cheapest_arguments(FormSearch& s, Expr e, Found& found) {
  std::vector<Expr> args;
  bool changed = false;
  for (Expr arg : e.args()) {
    args.push_back(s.best(arg).canonical);
    changed = changed || args.back() != arg;
  }
  if (changed) found.push_back(s.pool().make(e.op(), args));
}

// a*b + c -> the sum with the cheapest form of each of its atoms a, b, c.
void cheapest_atoms(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  std::unordered_map<Expr, Polynomial, ExprHash> cheaper;
  const auto value_of = [&](Expr a) -> const Polynomial* {
    if (is_leaf(a.op()) || a == e) return nullptr;
    const Expr state = s.best(a).canonical;
    return state == a ? nullptr
                      : &cheaper.try_emplace(a, as_sum(state)).first->second;
  };
  Polynomial sum;
  if (substitute_atoms(ExprRing(), *p, value_of, sum)) {
    found.push_back(to_expr(s.pool(), sum));
  }
}

// p -> p - q*z, z known to be 0, where a term of z divides one of p.
void equal_by_facts(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  for (const Polynomial& other : without_zeros(s, *p)) {
    found.push_back(to_expr(s.pool(), other));
  }
}

// Abs(a)*Abs(a) -> a*a, and Abs(a)*Abs(b) -> Abs(a*b).
void product_of_absolutes(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p || p->degree() < 2) return;
  Polynomial sum;
  bool changed = false;
  for (const auto& [monomial, c] : p->terms()) {
    Monomial rest;
    std::vector<Expr> once;  // the arguments that are in no pair
    Polynomial product{c};
    for (size_t i = 0; i < monomial.size(); ++i) {
      const Expr x = monomial[i];
      if (!x.is(Op::kAbs) || !x.is_int()) {
        rest.push_back(x);
      } else if (i + 1 < monomial.size() && monomial[i + 1] == x) {
        product = product * as_sum(x.arg(0)) * as_sum(x.arg(0));
        changed = true;
        ++i;
      } else {
        once.push_back(x.arg(0));
      }
    }
    if (!once.empty()) {
      changed = changed || once.size() > 1;
      product =
          product * as_sum(s.canonical(Op::kAbs, {joined(s, Op::kMul, once)}));
    }
    sum = sum + product * Polynomial::term(rest, 1);
  }
  if (changed) found.push_back(to_expr(s.pool(), sum));
}

// ---- floors and remainders within a sum

// a % b -> a - b*(a//b), everywhere.
void open_remainders(FormSearch& s, Expr e, Found& found) {
  const bool is_alone = e.is(Op::kMod) && !contains(e.arg(0), Op::kMod) &&
                        !contains(e.arg(0), Op::kFloorDiv);
  if (!is_alone && contains(e, Op::kMod)) found.push_back(s.floor_form(e));
}

// a & -8 -> a - a % 8, and so on: bit operations with masks of which all low or
// all high bits are set.
void open_masks(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  for (const auto& [monomial, c] : p->terms()) {
    for (Expr operation : monomial) {
      if (!bits::is_bitwise(operation.op())) continue;
      const std::optional<Linear> split = split_off(*p, operation);
      const Expr sum = s.canonicalizer().open_bits(operation);
      if (!split || sum == operation) continue;
      found.push_back(
          to_expr(s.pool(), split->rest + split->factor * as_sum(sum)));
    }
  }
}

// q*b*(a//b) -> q*a - q*(a % b).
void close_remainder(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  for (Expr floor : few_atoms(*p, Op::kFloorDiv)) {
    const std::optional<Linear> split = split_off(*p, floor);
    if (!split) continue;
    const Polynomial a = as_sum(floor.arg(0)), b = as_sum(floor.arg(1));
    if (b.is_zero()) continue;
    const std::optional<Polynomial> q = exact_quotient(split->factor, b);
    if (!q) continue;
    const Expr remainder = s.canonicalizer().mod(a, b);
    found.push_back(
        to_expr(s.pool(), split->rest + *q * a - *q * as_sum(remainder)));
  }
}

// c*(a//k) - c*b*(a//(k*b)) -> c*((a//k) % b), b > 0; the numerators may differ
// by a multiple of k.
void close_remainder_of_quotient(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  const std::vector<Expr> floors = few_atoms(*p, Op::kFloorDiv);
  for (Expr outer : floors) {
    for (Expr inner : floors) {
      if (inner == outer) continue;
      const Polynomial k = as_sum(inner.arg(1));
      if (k.is_zero() || as_sum(outer.arg(1)).is_zero()) continue;
      const auto b = exact_quotient(as_sum(outer.arg(1)), k);
      if (!b || !s.is_positive(*b)) continue;
      const Polynomial gap = as_sum(outer.arg(0)) - as_sum(inner.arg(0));
      const auto shift = exact_quotient(gap, k);  // outer's is a + k*shift
      if (!shift) continue;
      const std::optional<Linear> split = split_off(*p, outer);
      if (!split) continue;
      const auto c = exact_quotient(split->factor * Int(-1), *b);
      if (!c) continue;
      const Polynomial quotient = Polynomial::atom(inner) + *shift;
      const Expr remainder = s.canonicalizer().mod(quotient, *b);
      found.push_back(
          to_expr(s.pool(), split->rest + *c * (as_sum(remainder) - quotient)));
    }
  }
}

// r - a % m -> r - (m - 1) + (-1 - a) % m, m > 0.
void complement_remainder(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p || p->constant().is_zero()) return;
  for (Expr remainder : few_atoms(*p, Op::kMod)) {
    const auto term = constant_times(*p, remainder);
    if (!term || term->coefficient.sign() > 0) continue;
    const Polynomial m = as_sum(remainder.arg(1));
    if (!m.is_constant() || m.constant().sign() <= 0) continue;
    const Expr other = s.canonicalizer().mod(
        Polynomial(Int(-1)) - as_sum(remainder.arg(0)), m);
    found.push_back(to_expr(
        s.pool(), term->rest + (m - Polynomial(Int(1)) - as_sum(other)) *
                                   term->coefficient));
  }
}

// a//2 + (a + 1)//2 -> a: either floor says the other.
void complete_halves(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  const Polynomial two(Int(2));
  std::vector<Expr> halves = few_atoms(*p, Op::kFloorDiv);
  std::erase_if(halves,
                [&](Expr floor) { return as_sum(floor.arg(1)) != two; });
  if (halves.size() < 2) return;
  for (Expr floor : halves) {
    const std::optional<Linear> split = split_off(*p, floor);
    if (!split) continue;
    // a//2 == a - (a + 1)//2
    const Polynomial a = as_sum(floor.arg(0));
    const Expr other = s.canonicalizer().floor_div(a + Polynomial(Int(1)), two);
    found.push_back(to_expr(s.pool(), split->rest + split->factor * a -
                                          split->factor * as_sum(other)));
  }
}

// a//m - b//m -> (a - b + b % m)//m.
void difference_of_quotients(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  const std::vector<Expr> floors = few_atoms(*p, Op::kFloorDiv);
  for (Expr x : floors) {
    for (Expr y : floors) {
      if (x == y || x.arg(1) != y.arg(1) || !x.arg(1).is(Op::kInteger)) {
        continue;
      }
      const auto cx = constant_times(*p, x), cy = constant_times(*p, y);
      if (!cx || !cy || cx->coefficient.sign() < 0) continue;
      if (cx->coefficient != -cy->coefficient) continue;
      const Polynomial a = as_sum(x.arg(0)), b = as_sum(y.arg(0));
      const Polynomial m = as_sum(x.arg(1));
      const Polynomial rest = cx->rest + Polynomial::term({y}, cx->coefficient);
      auto merged = [&](const Polynomial& up, const Polynomial& down) {
        const Polynomial r = as_sum(s.canonicalizer().mod(down, m));
        return as_sum(s.canonicalizer().floor_div(up - down + r, m));
      };
      const Int& c = cx->coefficient;
      found.push_back(to_expr(s.pool(), rest + merged(a, b) * c));
      found.push_back(to_expr(s.pool(), rest - merged(b, a) * c));
    }
  }
}

// r + c*(a//m) -> c*((a + m*(r/c))//m), with the numerator's cheapest form.
void gather_in_numerator(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  for (Expr floor : few_atoms(*p, Op::kFloorDiv)) {
    if (!floor.arg(1).is(Op::kInteger)) continue;
    const auto term = constant_times(*p, floor);
    if (!term || term->rest.is_zero()) continue;
    const Polynomial r = term->rest - Polynomial(term->rest.constant());
    if (r.is_zero() || full_content(r).is_zero() ||
        !floor_mod(full_content(r), term->coefficient).is_zero()) {
      continue;
    }
    const Polynomial a = as_sum(floor.arg(0)) +
                         over(r, term->coefficient) * floor.arg(1).integer();
    const Expr numerator = s.best(s.canonical(a)).canonical;
    const Expr gathered =
        s.canonicalizer().floor_div(as_sum(numerator), as_sum(floor.arg(1)));
    found.push_back(
        to_expr(s.pool(), Polynomial(term->rest.constant()) +
                              as_sum(gathered) * term->coefficient));
  }
}

constexpr Rule kSumRules[] = {
    {{"cheapest_arguments", "Abs(a - k*(a//k) - c)", "Abs(Mod(a, k) - c)", "",
      "Abs(x - 8*(x//8) - 4)", "Abs(x)"},
     On::kAny,
     cheapest_arguments},
    {{"cheapest_atoms", "Max(k*a, k*b) + c", "k*Max(a, b) + c", "k > 0",
      "2*Max(4*x, 4*y) + x", "2*Max(x, y) + x"},
     On::kInteger,
     cheapest_atoms},
    {{"equal_by_facts", "q*a + p", "q*b + p", "Eq(a, b)", "x*y + z", "x + 3",
      "Eq(x*y, 3*z)"},
     On::kInteger,
     equal_by_facts},
    {{"product_of_absolutes", "Abs(a)*Abs(a) + Abs(b)*Abs(c)", "a*a + Abs(b*c)",
      "", "Abs(x)*Abs(x)*y + Abs(y)*Abs(z)", "Abs(x)*y"},
     On::kInteger,
     product_of_absolutes},
    {{"open_remainders", "c + Mod(a, b)", "c + a - b*(a//b)", "",
      "x + Mod(x, 8)", "x + 8*(x//8)"},
     On::kInteger,
     open_remainders},
    {{"open_masks", bits::kHighBits.before, bits::kHighBits.after,
      bits::kHighBits.condition, "(x & -8) - x", "(x & -7) - x"},
     On::kInteger,
     open_masks},
    {{"close_remainder", "q*b*(a//b)", "q*a - q*Mod(a, b)", "", "x - 8*(x//8)",
      "x - 7*(x//8)"},
     On::kInteger,
     close_remainder},
    {{"close_remainder_of_quotient", "(a//k) - b*((a + k*t)//(k*b))",
      "Mod((a//k) + t, b) - t", "b > 0", "(x//2) - 3*(x//6)",
      "(x//2) - 3*(x//8)"},
     On::kInteger,
     close_remainder_of_quotient},
    {{"complement_remainder", "k - Mod(a, m)", "k - (m - 1) + Mod(-1 - a, m)",
      "m > 0", "2 - Mod(x, 3)", "Mod(x, 3) + 2"},
     On::kInteger,
     complement_remainder},
    {{"complete_halves", "(a//2) + ((a + 1)//2)", "a", "",
      "(x//2) + ((x + 1)//2)", "(x//3) + ((x + 1)//3)"},
     On::kInteger,
     complete_halves},
    {{"difference_of_quotients", "(a//m) - (b//m)", "(a - b + Mod(b, m))//m",
      "", "((x + 1)//3) - (x//3)", "((x + 1)//3) + (x//3)"},
     On::kInteger,
     difference_of_quotients},
    {{"gather_in_numerator", "(Min(a, m*b)//m) - b", "Min(a - m*b, 0)//m", "",
      "(Min(y, 4*x)//4) - x", "(Min(y, 4*x)//4)"},
     On::kInteger,
     gather_in_numerator},
};

}  // namespace

std::vector<Polynomial> without_zeros(FormSearch& s, const Polynomial& p) {
  std::vector<Polynomial> found;
  if (s.facts() == nullptr) return found;
  for (Expr zero : s.facts()->zeros()) {
    const Polynomial z = as_sum(zero);
    if (z.terms().size() > fixed::rule_terms || z.is_constant()) continue;
    for (const auto& [lead, k] : z.terms()) {
      if (lead.empty()) continue;
      for (const auto& [monomial, c] : p.terms()) {
        const auto q = exact_quotient(Polynomial::term(monomial, c),
                                      Polynomial::term(lead, k));
        if (!q || found.size() == fixed::zero_forms) continue;
        Polynomial other = p - *q * z;
        if (other.terms().size() <= p.terms().size() + 1) {
          found.push_back(std::move(other));
        }
      }
    }
  }
  return found;
}

RuleRows sum_rules() { return kSumRules; }

}  // namespace proviso::inline v0_2::internal
