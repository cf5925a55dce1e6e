// Rules on relations of integers, And and Or.
//
//   x//8 >= n                        x >= 8*n
//   32*x + y >= 0, y in [0, 31]      x >= 0
//   (x >= 3) & (x <= 3)              Eq(x, 3)
//   (a & b) | (a & c)                a & (b | c)
//
// A relation is read as p >= 0, p == 0 or p != 0 (sign_of), an Or as the
// opposite of an And, so that a rule is said once.  Parts are compared in pairs
// where they are no more than fixed::rule_parts; what a part is where the
// others hold is asked in rules_cases.cc.  Complete for nothing.
#include <algorithm>

#include "sym/budget.h"
#include "sym/canonical.h"
#include "sym/find_node.h"
#include "sym/fixed_limits.h"
#include "sym/form_search.h"
#include "sym/rule_parts.h"

namespace proviso::inline v0_2::internal {
namespace {

Polynomial one() { return Polynomial(Int(1)); }

// p >= 0.
Expr nonneg(FormSearch& s, const Polynomial& p) {
  return s.canonicalizer().nonneg(p);
}

// What a rule says of Eq(p, 0), said of Ne too.
struct Relation {
  FormSearch& s;
  Op op;  // kLe, kEq or kNe
  Found& found;

  void add(Expr e) const {
    found.push_back(op == Op::kNe ? s.canonicalizer().negate(s.canonical(e))
                                  : e);
  }
};

// ---- relations

// Whatever the facts decide.
void proved_relation(FormSearch& s, Expr e, Found& found) {
  if (s.facts() == nullptr) return;
  if (auto truth = s.proved(e)) found.push_back(s.pool().boolean(*truth));
}

// p >= 0 -> q >= 0, q the cheapest form of p without its constant.
void cheapest_difference(FormSearch& s, Expr e, Found& found) {
  const std::optional<Sign> sign = sign_of(e);
  if (!sign) return;
  const Int c = sign->p.constant();
  const Expr terms = s.canonical(sign->p - Polynomial(c));
  const Expr state = s.best(terms).canonical;
  if (state != terms) {
    found.push_back(relation_of(s, sign->op, as_sum(state) + Polynomial(c)));
  }
}

// p >= 0 -> p - q*z >= 0, z known to be 0.
void relation_by_facts(FormSearch& s, Expr e, Found& found) {
  const std::optional<Sign> sign = sign_of(e);
  if (!sign) return;
  for (const Polynomial& other : without_zeros(s, sign->p)) {
    found.push_back(relation_of(s, sign->op, other));
  }
}

// a//m >= k -> a >= m*k, and a//m <= k -> a < m*(k + 1), m > 0; Eq(a//m, k) is
// both.
void relation_without_floor(FormSearch& s, Expr e, Found& found) {
  const std::optional<Sign> sign = sign_of(e);
  if (!sign) return;
  const std::vector<Expr> floors = atoms_of(sign->p, Op::kFloorDiv);
  if (floors.size() > fixed::rule_atoms) return;
  for (Expr floor : floors) {
    const std::optional<Linear> split = split_off(sign->p, floor);
    if (!split || !split->factor.is_constant()) continue;
    const Polynomial m = as_sum(floor.arg(1)), a = as_sum(floor.arg(0));
    if (m.is_zero() || !s.is_positive(m)) continue;
    const Int c = split->factor.constant();
    Polynomial k = split->rest * Int(-1);  // c*floor >= k
    if (!abs(c).is_one()) {
      if (!k.is_constant() || sign->op != Op::kLe) continue;
      k = Polynomial(c.sign() > 0 ? -floor_div(-k.constant(), c)
                                  : floor_div(-k.constant(), -c));
    } else if (c.sign() < 0) {
      k = k * Int(-1);
    }
    const Polynomial least = a - k * m;                   // floor >= k
    const Polynomial most = (k + one()) * m - one() - a;  // floor <= k
    if (sign->op == Op::kLe) {
      found.push_back(nonneg(s, c.sign() > 0 ? least : most));
    } else {
      const Relation r{s, sign->op, found};
      r.add(logical_and(nonneg(s, least), nonneg(s, most)));
    }
  }
}

// r - Max(a, b) >= 0 -> both r >= a and r >= b, and so on.
void relation_without_extremum(FormSearch& s, Expr e, Found& found) {
  const std::optional<Sign> sign = sign_of(e);
  if (!sign || sign->op != Op::kLe) return;
  for (Op op : {Op::kMin, Op::kMax}) {
    const std::vector<Expr> extrema = atoms_of(sign->p, op);
    if (extrema.size() > fixed::rule_atoms) return;
    for (Expr extremum : extrema) {
      const std::optional<Linear> split = split_off(sign->p, extremum);
      if (!split || !split->factor.is_constant()) continue;
      std::vector<Expr> parts;
      for (Expr arg : extremum.args()) {
        parts.push_back(nonneg(s, split->rest + split->factor * as_sum(arg)));
      }
      const bool is_least =
          (op == Op::kMin) == (split->factor.constant().sign() > 0);
      found.push_back(s.pool().make(is_least ? Op::kAnd : Op::kOr, parts));
    }
  }
}

// r + k*Where(c, a, b) >= 0 -> Where(c, r + k*a >= 0, r + k*b >= 0).
void relation_of_choice(FormSearch& s, Expr e, Found& found) {
  const std::optional<Sign> sign = sign_of(e);
  if (!sign) return;
  for (Expr choice : atoms_of(sign->p, Op::kWhere)) {
    const std::optional<Linear> split = split_off(sign->p, choice);
    if (!split) continue;
    auto arm = [&](size_t i) {
      return relation_of(s, sign->op,
                         split->rest + split->factor * as_sum(choice.arg(i)));
    };
    found.push_back(where(choice.arg(0), arm(1), arm(2)));
    return;
  }
}

// 3*x + 5*y >= 2 -> x + y >= 1 where neither x nor y is negative: a coefficient
// past what is asked for is as good as that.
void saturated_coefficients(FormSearch& s, Expr e, Found& found) {
  const std::optional<Sign> sign = sign_of(e);
  if (!sign || sign->op != Op::kLe) return;
  const Int least = -sign->p.constant();
  if (least.sign() <= 0) return;
  Polynomial now((-least));
  bool changed = false;
  for (const auto& [monomial, c] : sign->p.terms()) {
    if (monomial.empty()) continue;
    if (c.sign() < 0 || !s.is_nonneg(Polynomial::term(monomial, 1))) return;
    changed = changed || c > least;
    now.add(monomial, std::min(c, least));
  }
  if (changed) found.push_back(nonneg(s, now));
}

// Eq(Max(a, b), c): a alone where c > b, never where c < b, a <= b where c is
// b.
void equality_of_extremum(FormSearch& s, Expr e, Found& found) {
  const std::optional<Sign> sign = sign_of(e);
  if (!sign || sign->op == Op::kLe) return;
  const Relation r{s, sign->op, found};
  for (Op op : {Op::kMin, Op::kMax}) {
    for (Expr extremum : atoms_of(sign->p, op)) {
      const std::optional<Linear> split = split_off(sign->p, extremum);
      if (!split || !split->factor.is_constant()) continue;
      const Int f = split->factor.constant();
      if (!abs(f).is_one()) continue;
      const Polynomial c = split->rest * -f;
      const Int way = op == Op::kMax ? 1 : -1;
      for (size_t i = 0; i < extremum.arity(); ++i) {
        const Polynomial b = as_sum(extremum.arg(i));
        std::vector<Expr> others;
        for (size_t j = 0; j < extremum.arity(); ++j) {
          if (j != i) others.push_back(extremum.arg(j));
        }
        const Expr rest = joined(s, op, others);
        const Polynomial above = (c - b) * way;
        if (above.is_zero()) {
          r.add(nonneg(s, (b - as_sum(rest)) * way));
        } else if (s.is_positive(above)) {
          r.add(relation_of(s, Op::kEq, as_sum(rest) - c));
        } else if (s.is_positive(above * Int(-1))) {
          r.add(s.pool().boolean(false));
        }
      }
    }
  }
}

// Eq((a + c) % m, r) -> Eq(a % m, (r - c) % m), constants.
void equality_of_remainder(FormSearch& s, Expr e, Found& found) {
  const std::optional<Sign> sign = sign_of(e);
  if (!sign || sign->op == Op::kLe) return;
  const Relation r{s, sign->op, found};
  for (Expr remainder : atoms_of(sign->p, Op::kMod)) {
    const std::optional<Linear> split = split_off(sign->p, remainder);
    if (!split || !split->factor.is_constant() || !split->rest.is_constant() ||
        !remainder.arg(1).is(Op::kInteger)) {
      continue;
    }
    const Int& m = remainder.arg(1).integer();
    const Int f = split->factor.constant();
    if (m.sign() <= 0 || !abs(f).is_one()) continue;
    const Int value = split->rest.constant() * -f;
    const Polynomial a = as_sum(remainder.arg(0));
    if (value.sign() < 0 || value >= m) {
      r.add(s.pool().boolean(false));
      continue;
    }
    if (a.constant().is_zero()) continue;
    const Expr plain =
        s.canonicalizer().mod(a - Polynomial(a.constant()), Polynomial(m));
    r.add(eq(plain, s.pool().integer(floor_mod(value - a.constant(), m))));
  }
}

// g*h + l >= 0 -> h + t >= 0 where g*t <= l < g*t + g everywhere.
void relation_of_high_part(FormSearch& s, Expr e, Found& found) {
  const std::optional<Sign> sign = sign_of(e);
  if (!sign || sign->op != Op::kLe) return;
  std::vector<Int> moduli;
  for (const auto& [monomial, c] : sign->p.terms()) {
    const Int g = abs(c);
    if (monomial.empty() || g.is_one() ||
        moduli.size() == fixed::relation_moduli ||
        std::find(moduli.begin(), moduli.end(), g) != moduli.end()) {
      continue;
    }
    moduli.push_back(g);
  }
  if (moduli.size() > 1) {  // and what large ones have in common
    for (size_t i = moduli.size(); i-- > 1;) {
      const Int g = gcd(moduli[i], moduli[0]);
      if (!g.is_one() && moduli.size() < fixed::relation_divisors)
        moduli.push_back(g);
    }
  }
  for (const Int& g : moduli) {
    if (const auto b = block_of(s, sign->p, g)) {
      found.push_back(nonneg(s, b->high + Polynomial(b->block)));
    }
  }
}

// A relation of (g*h + l) % (g*k) -> of g*((h + t) % k) + l - t*g, in place of
// that remainder, where l lies in [t*g, t*g + g).
void relation_of_split_remainder(FormSearch& s, Expr e, Found& found) {
  const std::optional<Sign> sign = sign_of(e);
  if (!sign) return;
  const std::vector<Expr> remainders = atoms_of(sign->p, Op::kMod);
  if (remainders.size() > fixed::rule_atoms) return;
  for (Expr remainder : remainders) {
    const std::optional<Linear> split = split_off(sign->p, remainder);
    if (!split) continue;
    Found forms;
    split_remainders(s, remainder, forms);
    for (Expr form : forms) {
      found.push_back(
          relation_of(s, sign->op,
                      split->rest + split->factor * as_sum(s.canonical(form))));
    }
  }
}

// ---- And and Or; an Or is the opposite of the And of its parts' opposites

// The parts with `both` in the place of the i-th and the j-th.
Expr with_both(FormSearch& s, Op op, const std::vector<Expr>& parts, size_t i,
               size_t j, Expr both) {
  std::vector<Expr> all = {both};
  for (size_t k = 0; k < parts.size(); ++k) {
    if (k != i && k != j) all.push_back(parts[k]);
  }
  return conjunction(s, op, all);
}

// p >= 0 and -p >= 0 -> Eq(p, 0); p >= 0 and p != 0 -> p >= 1; p >= 0 and
// m - 1 - p >= 0 with p = a - m*q -> Eq(a//m, q).
void two_bounds(FormSearch& s, Expr e, Found& found) {
  if (e.arity() > fixed::rule_parts) return;
  const std::vector<Expr> parts = conjuncts(s, e);
  std::vector<std::optional<Sign>> signs;
  for (Expr part : parts) signs.push_back(sign_of(part));
  auto replace = [&](size_t i, size_t j, Expr both) {
    found.push_back(with_both(s, e.op(), parts, i, j, both));
  };
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!signs[i] || signs[i]->op != Op::kLe) continue;
    const Polynomial& p = signs[i]->p;
    for (size_t j = 0; j < parts.size(); ++j) {
      if (j == i || !signs[j]) continue;
      const Polynomial& q = signs[j]->p;
      if (signs[j]->op == Op::kNe && (q == p || q == p * Int(-1))) {
        replace(i, j, nonneg(s, p - one()));
      }
      const Polynomial width = p + q;
      if (signs[j]->op != Op::kLe || !width.is_constant()) continue;
      const Int m = width.constant() + Int(1);
      if (m.is_one()) {
        if (j > i) replace(i, j, relation_of(s, Op::kEq, p));
        continue;
      }
      if (m.sign() <= 0) continue;
      // p = a - m*k
      Polynomial a, k;
      for (const auto& [monomial, c] : p.terms()) {
        if (!monomial.empty() && floor_mod(c, m).is_zero()) {
          k.add(monomial, -floor_div(c, m));
        } else {
          a.add(monomial, c);
        }
      }
      if (k.is_zero() || a.is_constant()) continue;
      const Expr quotient = s.canonicalizer().floor_div(a, Polynomial(m));
      replace(i, j, eq(quotient, to_expr(s.pool(), k)));
    }
  }
}

// x <= a and x <= b -> x <= Min(a, b), for what both have on one side.
void bounds_of_one_side(FormSearch& s, Expr e, Found& found) {
  if (e.arity() > fixed::rule_parts) return;
  const std::vector<Expr> parts = conjuncts(s, e);
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::optional<Sign> x = sign_of(parts[i]);
    if (!x || x->op != Op::kLe) continue;
    for (size_t j = i + 1; j < parts.size(); ++j) {
      const std::optional<Sign> y = sign_of(parts[j]);
      if (!y || y->op != Op::kLe) continue;
      const Polynomial common = equal_terms(x->p, y->p);
      if (common.is_zero() || common.is_constant()) continue;
      // common + a >= 0 and common + b >= 0
      const Expr least = min(to_expr(s.pool(), x->p - common),
                             to_expr(s.pool(), y->p - common));
      const Expr both =
          nonneg(s, common + as_sum(s.best(s.canonical(least)).canonical));
      found.push_back(with_both(s, e.op(), parts, i, j, both));
    }
  }
}

// (a & b) | (a & c) -> a & (b | c), for any number of parts.
void common_part(FormSearch& s, Expr e, Found& found) {
  const Op op = e.op(), other = dual(op);
  std::vector<Expr> candidates;
  for (Expr arg : e.args()) {
    for (Expr part : operands(arg, other)) {
      if (std::find(candidates.begin(), candidates.end(), part) ==
          candidates.end()) {
        candidates.push_back(part);
      }
    }
  }
  if (candidates.size() > fixed::rule_shared_parts) return;
  for (Expr common : candidates) {
    std::vector<Expr> without, others;
    size_t uses = 0;
    bool alone = false;
    for (Expr arg : e.args()) {
      std::vector<Expr> parts = operands(arg, other);
      auto at = std::find(parts.begin(), parts.end(), common);
      if (at == parts.end()) {
        others.push_back(arg);
        continue;
      }
      ++uses;
      parts.erase(at);
      if (parts.empty()) {
        alone = true;
      } else {
        without.push_back(joined(s, other, parts));
      }
    }
    if (uses < 2) continue;
    Expr merged = common;
    if (!alone) {
      merged = s.pool().make(other, {common, s.pool().make(op, without)});
    }
    others.push_back(merged);
    found.push_back(joined(s, op, others));
  }
}

// a | (~a & b) -> a | b, at any depth: a part under the others needs the rules
// of its own, this one none.
void known_part_inside(FormSearch& s, Expr e, Found& found) {
  const bool is_and = e.is(Op::kAnd);
  std::vector<Expr> args(e.args().begin(), e.args().end());
  bool changed = false;
  for (size_t i = 0; i < args.size(); ++i) {
    const Expr part = args[i];
    if (part.is(Op::kAnd) || part.is(Op::kOr)) continue;
    std::unordered_map<Expr, Expr, ExprHash> known;
    known.emplace(part, s.pool().boolean(is_and));
    known.emplace(s.canonicalizer().negate(part), s.pool().boolean(!is_and));
    for (size_t j = 0; j < args.size(); ++j) {
      if (j == i || args[j] == part) continue;
      const Expr now = substitute(args[j], known);
      changed = changed || now != args[j];
      args[j] = now;
    }
  }
  if (changed) found.push_back(s.pool().make(e.op(), args));
}

constexpr Rule kLogicRules[] = {
    {{"proved_relation", "k*a + r <= k*b", "True",
      "(0 <= a) & (a < b) & (0 <= r) & (r <= k)", "32*x + y < 32*z",
      "32*x + y < 16*z", "x in [0, 99]; y in [0, 31]; x < z"},
     On::kRelation,
     proved_relation},
    {{"cheapest_difference", "0 <= a - k*(a//k) + c", "0 <= Mod(a, k) + c", "",
      "8*(x//8) < x + y", "x < y"},
     On::kRelation,
     cheapest_difference},
    {{"relation_by_facts", "0 <= q*a + p", "0 <= q*b + p", "Eq(a, b)",
      "x*y < z + 4", "x < 3", "Eq(x*y, 3*z)"},
     On::kRelation,
     relation_by_facts},
    {{"relation_without_floor", "k <= a//m", "k*m <= a", "m > 0", "(x//4) < 3",
      "Mod(x, 4) < 3"},
     On::kRelation,
     relation_without_floor},
    {{"relation_without_extremum", "0 <= r - Max(a, b)",
      "(0 <= r - a) & (0 <= r - b)", "", "Max(x, y) <= y", "Eq(Max(x, y), z)"},
     On::kRelation,
     relation_without_extremum},
    {{"relation_of_choice", "0 <= r + k*Where(c < 0, a, b)",
      "Where(c < 0, 0 <= r + k*a, 0 <= r + k*b)", "", "Where(x < 0, y, z) < 3",
      "Max(x, y) < 3"},
     On::kRelation,
     relation_of_choice},
    {{"saturated_coefficients", "k <= a*x + y", "k <= k*x + y",
      "(0 < k) & (k <= a) & (0 <= x) & (0 <= y)", "3*y + 5*z >= 2",
      "3*x + 5*y >= 2", "y in [0, 9]; z in [0, 9]"},
     On::kRelation,
     saturated_coefficients},
    {{"equality_of_extremum", "Eq(Max(a, b), c)",
      "Where(b < c, Eq(a, c), Eq(b, c) & (a <= b))", "", "Eq(Max(x, 1), 1)",
      "Eq(Max(x, y), z)"},
     On::kRelation,
     equality_of_extremum},
    {{"equality_of_remainder", "Eq(Mod(a + c, m), r)",
      "Eq(Mod(a, m), Mod(r - c, m))", "(0 <= r) & (r < m)",
      "Eq(Mod(x + 3, 4), 1)", "Eq(Mod(x, 4), 1)"},
     On::kRelation,
     equality_of_remainder},
    {{"relation_of_high_part", "0 <= g*h + l", "0 <= h + t",
      "(g*t <= l) & (l < g*t + g)", "4*x + y < 8*z", "4*x + 3*z < 8*y",
      "y in [0, 3]"},
     On::kRelation,
     relation_of_high_part},
    {{"relation_of_split_remainder", "Mod(g*h + l, g*k) <= r",
      "g*Mod(h, k) + l <= r", "(0 <= l) & (l < g) & (0 < k)",
      "Mod(4*x + y, 12) + 12*z < 8", "Mod(4*x + z, 12) + 12*z < 8",
      "y in [0, 3]"},
     On::kRelation,
     relation_of_split_remainder},
    {{"known_part_inside", "(a < b) & ((b <= a) | (c < d))",
      "(a < b) & (c < d)", "", "(x < y) & ((y <= x) | (z < 1))",
      "(x < y) & (z < 1)"},
     On::kJunction,
     known_part_inside},
    {{"two_bounds", "(m*q <= a) & (a < m*q + m)", "Eq(a//m, q)", "m > 0",
      "(x <= y) & (y <= x)", "(x <= y) & (y <= z)"},
     On::kJunction,
     two_bounds},
    {{"bounds_of_one_side", "(c <= a) & (c <= b)", "c <= Min(a, b)", "",
      "(x < y) & (x < z)", "(x < y) & (z < 2)"},
     On::kJunction,
     bounds_of_one_side},
    {{"common_part", "((a < 0) & (b < 0)) | ((a < 0) & (c < 0))",
      "(a < 0) & ((b < 0) | (c < 0))", "",
      "((x < 0) & (y < 0)) | ((x < 0) & (z < 0))", "(x < 0) | (y < 0)"},
     On::kJunction,
     common_part},
};

}  // namespace

RuleRows logic_rules() { return kLogicRules; }

}  // namespace proviso::inline v0_2::internal
