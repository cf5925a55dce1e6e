// Rules on Min, Max and Where.
//
//   Min(x + y, x + z)                x + Min(y, z)
//   Max(y, Min(z, Max(x, y)))        Max(y, Min(x, z)): the inner y is useless
//   Max((x//4) + 2, (y//4))          Max(y, x + 8)//4
//   Where(x < 0, Min(y, z), Min(x, z))
//                                    Min(z, Where(x < 0, y, x))
//
// Min and Max are a distributive lattice (Birkhoff, Lattice Theory) in which
// adding a number and floors by a positive number keep the order: absorption,
// distribution and monotone functions taken out are the rules, as in max-plus
// algebra (Baccelli and others, Synchronization and Linearity, 1992).  A Where
// is taken apart by what its arms share, and is a Min or Max where its
// condition compares them.
//
// A rule looks at pairs of at most fixed::rule_arguments arguments, each by the
// sign of a difference.  Complete for nothing: which of two forms is cheaper,
// and whether a further rule shortens it, is the search's (sym/form_search.h);
// relations of trees of Min and Max are decided by solver/strategies/min_max.h.
#include <algorithm>

#include "sym/budget.h"
#include "sym/canonical.h"
#include "sym/find_node.h"
#include "sym/fixed_limits.h"
#include "sym/form_search.h"
#include "sym/rule_parts.h"

namespace proviso::inline v0_2::internal {
namespace {

// Whether a <= b everywhere (for Min the other way round), as seen at once.
bool is_dominated(FormSearch& s, Op op, Expr a, Expr b) {
  const Polynomial gap = as_sum(b) - as_sum(a);
  return s.is_nonneg(op == Op::kMax ? gap : gap * Int(-1));
}

// ---- Min and Max

// Max(x, Max(x, y) - 1) -> Max(x, x - 1, y - 1).
void add_into_arguments(FormSearch& s, Expr e, Found& found) {
  std::vector<Expr> args;
  bool changed = false;
  for (Expr arg : e.args()) {
    const Polynomial p = as_sum(arg);
    Expr inner;
    for (Op op : {Op::kMin, Op::kMax}) {
      for (Expr a : atoms_of(p, op)) inner = a;
    }
    const std::optional<Linear> split =
        inner ? split_off(p, inner) : std::nullopt;
    if (!split || inner == arg || !split->factor.is_constant() ||
        inner.arity() > fixed::rule_arguments) {
      args.push_back(arg);
      continue;
    }
    const Int c = split->factor.constant();
    std::vector<Expr> parts;
    for (Expr a : inner.args()) {
      parts.push_back(s.canonical(as_sum(a) * c + split->rest));
    }
    args.push_back(
        s.pool().make(c.sign() > 0 ? inner.op() : dual(inner.op()), parts));
    changed = true;
  }
  if (changed) found.push_back(s.pool().make(e.op(), args));
}

// Min(Max(a, b), Max(a, c)) -> Max(a, Min(b, c)), and Min(a, Max(a, b)) -> a.
void common_element(FormSearch& s, Expr e, Found& found) {
  if (e.arity() > fixed::rule_arguments) return;
  const Op op = e.op(), other = dual(op);
  for (size_t i = 0; i < e.arity(); ++i) {
    for (size_t j = i + 1; j < e.arity(); ++j) {
      std::vector<Expr> x = operands(e.arg(i), other), common;
      std::vector<Expr> y = operands(e.arg(j), other);
      for (Expr a : x) {
        if (std::find(y.begin(), y.end(), a) != y.end()) common.push_back(a);
      }
      if (common.empty()) continue;
      auto is_common = [&](Expr a) {
        return std::find(common.begin(), common.end(), a) != common.end();
      };
      std::erase_if(x, is_common);
      std::erase_if(y, is_common);
      if (!x.empty() && !y.empty()) {
        common.push_back(
            s.pool().make(op, {joined(s, other, x), joined(s, other, y)}));
      }
      std::vector<Expr> args = {joined(s, other, common)};
      for (size_t k = 0; k < e.arity(); ++k) {
        if (k != i && k != j) args.push_back(e.arg(k));
      }
      found.push_back(joined(s, op, args));
    }
  }
}

// In Max(y, Min(z, Max(x, y))) the inner y says nothing, and Max(y, Min(z, w))
// is y where z or w is no larger.
void dominated_inside(FormSearch& s, Expr e, Found& found) {
  if (e.arity() > fixed::rule_arguments) return;
  const Op op = e.op(), other = dual(op);
  for (size_t i = 0; i < e.arity(); ++i) {
    if (!e.arg(i).is(other)) continue;
    for (size_t j = 0; j < e.arity(); ++j) {
      if (j == i) continue;
      const Expr outer = e.arg(j);
      std::vector<Expr> args(e.args().begin(), e.args().end());
      bool drops = false, changed = false;
      std::vector<Expr> inner;
      for (Expr a : e.arg(i).args()) {
        if (is_dominated(s, op, a, outer)) drops = true;
        if (!a.is(op)) {
          inner.push_back(a);
          continue;
        }
        std::vector<Expr> kept;
        for (Expr b : a.args()) {
          if (!is_dominated(s, op, b, outer)) kept.push_back(b);
        }
        if (kept.empty()) drops = true;
        changed = changed || kept.size() < a.arity();
        if (!kept.empty()) inner.push_back(joined(s, op, kept));
      }
      if (drops) {
        args.erase(args.begin() + static_cast<std::ptrdiff_t>(i));
      } else if (changed) {
        args[i] = joined(s, other, inner);
      } else {
        continue;
      }
      found.push_back(joined(s, op, args));
    }
  }
}

// What is left of a part where an outer Min or Max has `outer` too: Max(y, z)
// beside y is z, in each arm of a Where.
Expr without_dominated(FormSearch& s, Op op, Expr e, Expr outer, int depth) {
  if (e.is(op)) {
    std::vector<Expr> kept;
    for (Expr a : e.args()) {
      if (!is_dominated(s, op, a, outer)) kept.push_back(a);
    }
    return kept.empty() || kept.size() == e.arity() ? e : joined(s, op, kept);
  }
  if (!e.is(Op::kWhere) || depth == fixed::where_depth) return e;
  const Expr yes = without_dominated(s, op, e.arg(1), outer, depth + 1);
  const Expr no = without_dominated(s, op, e.arg(2), outer, depth + 1);
  if (yes == e.arg(1) && no == e.arg(2)) return e;
  return where(e.arg(0), yes, no);
}

// Max(y, Where(c, Max(y, z), w)) -> Max(y, Where(c, z, w)).
void dominated_in_arms(FormSearch& s, Expr e, Found& found) {
  if (e.arity() > fixed::rule_arguments) return;
  for (size_t i = 0; i < e.arity(); ++i) {
    if (!e.arg(i).is(Op::kWhere)) continue;
    for (size_t j = 0; j < e.arity(); ++j) {
      if (j == i) continue;
      const Expr less = without_dominated(s, e.op(), e.arg(i), e.arg(j), 0);
      if (less == e.arg(i)) continue;
      std::vector<Expr> args(e.args().begin(), e.args().end());
      args[i] = less;
      found.push_back(s.pool().make(e.op(), args));
    }
  }
}

// Max(x + y, x + z, w) -> Max(x + Max(y, z), w): terms of some arguments.
void take_out_of_some(FormSearch& s, Expr e, Found& found) {
  if (e.arity() < 3 || e.arity() > fixed::rule_arguments) return;
  std::vector<Polynomial> all;
  for (Expr arg : e.args()) all.push_back(as_sum(arg));
  for (size_t i = 0; i < all.size(); ++i) {
    for (const auto& [monomial, c] : all[i].terms()) {
      if (monomial.empty()) continue;
      Polynomial common = all[i];
      std::vector<size_t> group = {i};
      std::vector<Expr> args;
      for (size_t j = 0; j < all.size(); ++j) {
        if (j == i) continue;
        auto at = all[j].terms().find(monomial);
        if (at == all[j].terms().end() || at->second != c) {
          args.push_back(e.arg(j));
          continue;
        }
        if (j < i) break;  // the group has been seen
        common = equal_terms(common, all[j]);
        group.push_back(j);
      }
      if (group.size() < 2 || group.size() + args.size() < all.size()) continue;
      std::vector<Expr> inner;
      for (size_t j : group) inner.push_back(s.canonical(all[j] - common));
      args.push_back(to_expr(s.pool(), common) +
                     s.canonical(s.pool().make(e.op(), inner)));
      found.push_back(joined(s, e.op(), args));
    }
  }
}

// The terms that all have, with the coefficient nearest to 0.
Polynomial common_terms(const std::vector<Polynomial>& all) {
  Polynomial common;
  for (const auto& [monomial, first] : all[0].terms()) {
    Int least = first;
    bool in_all = true;
    for (const Polynomial& p : all) {
      auto at = p.terms().find(monomial);
      in_all =
          in_all && at != p.terms().end() && at->second.sign() == first.sign();
      if (in_all && abs(at->second) < abs(least)) least = at->second;
    }
    if (in_all) common.add(monomial, least);
  }
  return common;
}

// Min(r + g*a, r + g*b) -> r + g*Min(a, b); also with g < 0, and with one
// argument's constant for r: Min(8 - x, 2) -> 8 - Max(x, 6).
void take_out_of_extremum(FormSearch& s, Expr e, Found& found) {
  if (e.arity() > fixed::rule_arguments) return;
  std::vector<Polynomial> all;
  for (Expr arg : e.args()) all.push_back(as_sum(arg));
  auto take = [&](const Polynomial& r, int sign) {
    Int g = 0;
    bool all_negative = true;
    for (const Polynomial& p : all) {
      const Polynomial rest = p - r;
      g = gcd(g, full_content(rest));
      all_negative = all_negative && (rest.is_zero() ||
                                      rest.terms().begin()->second.sign() < 0);
    }
    if (g.is_zero() || (r.is_zero() && g.is_one() && sign > 0)) return;
    if (sign < 0 && !all_negative) return;
    g *= Int(sign);
    std::vector<Expr> args;
    for (const Polynomial& p : all) args.push_back(s.canonical(over(p - r, g)));
    const Expr inner = s.pool().make(sign > 0 ? e.op() : dual(e.op()), args);
    found.push_back(to_expr(s.pool(), r) +
                    s.pool().integer(g) * s.canonical(inner));
  };
  const Polynomial common = common_terms(all);
  const Polynomial symbols = common - Polynomial(common.constant());
  for (int sign : {1, -1}) {
    take({}, sign);
    if (!symbols.is_zero()) take(symbols, sign);
    if (common != symbols) take(common, sign);
  }
  for (const Polynomial& p : all) {
    const Polynomial constant(p.constant());
    if (!constant.is_zero()) take(constant, -1);
  }
}

// Max(a//m + r, b//m) -> Max(a + m*r, b)//m; what is no quotient may stay
// outside.
void quotient_of_extremum(FormSearch& s, Expr e, Found& found) {
  if (e.arity() > fixed::rule_arguments) return;
  Expr divisor;
  for (Expr arg : e.args()) {
    for (Expr floor : atoms_of(as_sum(arg), Op::kFloorDiv)) {
      if (!divisor) divisor = floor.arg(1);
    }
  }
  if (!divisor || !s.is_positive(as_sum(divisor))) return;
  const Polynomial m = as_sum(divisor);
  size_t floors = 0;
  std::vector<Expr> numerators, quotients, others;
  for (Expr arg : e.args()) {
    const Polynomial p = as_sum(arg);
    Polynomial numerator = p * m;
    const size_t before = floors;
    for (Expr floor : atoms_of(p, Op::kFloorDiv)) {
      const std::optional<Linear> split = split_off(p, floor);
      if (floor.arg(1) != divisor || !split ||
          split->factor != Polynomial(Int(1))) {
        continue;
      }
      numerator = split->rest * m + as_sum(floor.arg(0));
      ++floors;
      break;
    }
    numerators.push_back(s.canonical(numerator));
    if (floors == before) {
      others.push_back(arg);
    } else {
      quotients.push_back(numerators.back());
    }
  }
  if (floors < 2) return;
  auto whole = [&](const std::vector<Expr>& args) {
    const Expr inner = s.canonical(s.pool().make(e.op(), args));
    return s.canonicalizer().floor_div(as_sum(s.best(inner).canonical), m);
  };
  found.push_back(whole(numerators));
  if (others.empty()) return;
  others.push_back(whole(quotients));
  found.push_back(s.pool().make(e.op(), others));
}

// Max(s + d, s - d) -> s + Abs(d), and Min -> s - Abs(d).
void absolute_difference(FormSearch& s, Expr e, Found& found) {
  if (e.arity() > fixed::rule_arguments) return;
  const Int two(2);
  for (size_t i = 0; i < e.arity(); ++i) {
    for (size_t j = i + 1; j < e.arity(); ++j) {
      const Polynomial a = as_sum(e.arg(i)), b = as_sum(e.arg(j));
      const Polynomial sum = a + b;
      if (!floor_mod(full_content(sum), two).is_zero()) continue;
      const Expr d = to_expr(s.pool(), over(a - b, two));
      const Int sign = e.is(Op::kMax) ? 1 : -1;
      std::vector<Expr> args = {
          to_expr(s.pool(),
                  over(sum, two) + as_sum(s.canonical(Op::kAbs, {d})) * sign)};
      for (size_t k = 0; k < e.arity(); ++k) {
        if (k != i && k != j) args.push_back(e.arg(k));
      }
      found.push_back(joined(s, e.op(), args));
    }
  }
}

// Arguments that the facts order, as far as can be proved.
void ordered_arguments(FormSearch& s, Expr e, Found& found) {
  if (e.arity() != 2 || s.facts() == nullptr) return;
  const bool is_max = e.is(Op::kMax);
  const Expr order = s.canonical(le(e.arg(0), e.arg(1)));
  if (auto known = s.proved(order)) {
    found.push_back(e.arg(*known == is_max ? 1 : 0));
  } else if (auto back = s.proved(s.canonical(le(e.arg(1), e.arg(0))))) {
    found.push_back(e.arg(*back == is_max ? 0 : 1));
  }
}

// ---- Where

// Where(c, a, Where(d, a, b)) -> Where(c | d, a, b), and with b instead.
void nested_choice(FormSearch& s, Expr e, Found& found) {
  const Expr c = e.arg(0), opposite = s.canonicalizer().negate(c);
  const Expr yes = e.arg(1), no = e.arg(2);
  if (no.is(Op::kWhere) && is_total(s, no.arg(0))) {
    const Expr d = no.arg(0);
    if (no.arg(1) == yes) {
      found.push_back(where(logical_or(c, d), yes, no.arg(2)));
    }
    if (no.arg(2) == yes) {
      found.push_back(where(logical_and(opposite, d), no.arg(1), yes));
    }
  }
  if (yes.is(Op::kWhere) && is_total(s, yes.arg(0))) {
    const Expr d = yes.arg(0);
    if (yes.arg(2) == no) {
      found.push_back(where(logical_and(c, d), yes.arg(1), no));
    }
    if (yes.arg(1) == no) {
      found.push_back(
          where(logical_and(c, s.canonicalizer().negate(d)), yes.arg(2), no));
    }
  }
}

// Where(c, f(a), f(b)) -> f(Where(c, a, b)), and so with common terms.
void common_context(FormSearch& s, Expr e, Found& found) {
  const Expr c = e.arg(0), yes = e.arg(1), no = e.arg(2);
  if (yes.is_int() && no.is_int()) {
    const std::vector<Polynomial> arms = {as_sum(yes), as_sum(no)};
    const Polynomial common = equal_terms(arms[0], arms[1]);
    Int g = gcd(full_content(arms[0] - common), full_content(arms[1] - common));
    auto take = [&](const Int& scale) {
      const Expr inner =
          where(c, to_expr(s.pool(), over(arms[0] - common, scale)),
                to_expr(s.pool(), over(arms[1] - common, scale)));
      found.push_back(to_expr(s.pool(), common) +
                      s.pool().integer(scale) * s.canonical(inner));
    };
    if (!g.is_zero() && (!g.is_one() || !common.is_zero())) take(g);
    const auto leads_negative = [&](const Polynomial& p) {
      const Polynomial rest = p - common;
      return rest.is_zero() || rest.terms().begin()->second.sign() < 0;
    };
    if (!g.is_zero() && leads_negative(arms[0]) && leads_negative(arms[1])) {
      take(-g);
    }
    const Polynomial& some = arms[0].is_zero() ? arms[1] : arms[0];
    if (common.is_zero() && !some.is_zero()) {
      for (Expr atom : some.terms().begin()->first) {
        const Polynomial x = Polynomial::atom(atom);
        const auto a = exact_quotient(arms[0], x);
        const auto b = exact_quotient(arms[1], x);
        if (!a || !b || !is_total(s, atom)) continue;
        found.push_back(atom * s.canonical(where(c, to_expr(s.pool(), *a),
                                                 to_expr(s.pool(), *b))));
      }
    }
  }
  if (yes.op() != no.op() || is_leaf(yes.op()) || yes.is(Op::kAdd) ||
      yes.is(Op::kMul) || yes.arity() != no.arity()) {
    return;
  }
  // One argument differs.
  std::vector<Expr> args(yes.args().begin(), yes.args().end());
  size_t at = args.size();
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i] == no.arg(i)) continue;
    if (at != args.size()) return;
    at = i;
  }
  if (at == args.size() || args[at].type() != no.arg(at).type()) return;
  if (args[at].is_bool()) return;
  args[at] = s.canonical(where(c, args[at], no.arg(at)));
  found.push_back(s.pool().make(yes.op(), args));
}

// What is left of e where e is op(x, what is left); x itself is op(x, x).
std::optional<Expr> without_element(FormSearch& s, Op op, Expr e, Expr x,
                                    int depth) {
  if (e == x) return x;
  if (e.is(op)) {
    std::vector<Expr> kept(e.args().begin(), e.args().end());
    if (std::erase(kept, x) == 0) return std::nullopt;
    return joined(s, op, kept);
  }
  if (!e.is(Op::kWhere) || depth == fixed::where_depth) return std::nullopt;
  const auto yes = without_element(s, op, e.arg(1), x, depth + 1);
  if (!yes) return std::nullopt;
  const auto no = without_element(s, op, e.arg(2), x, depth + 1);
  if (!no) return std::nullopt;
  return where(e.arg(0), *yes, *no);
}

// Where(c, Min(x, y), Min(x, z)) -> Min(x, Where(c, y, z)); an arm x is
// Min(x, x).
void common_element_of_arms(FormSearch& s, Expr e, Found& found) {
  if (!e.is_int()) return;
  for (Op op : {Op::kMin, Op::kMax}) {
    const Expr first =
        find_node(e, [op](Expr x) { return x.is(op) && x.is_int(); });
    if (!first || first.arity() > fixed::rule_arguments) continue;
    for (Expr x : first.args()) {
      if (const auto rest = without_element(s, op, e, x, 0)) {
        found.push_back(s.pool().make(op, {x, *rest}));
      }
    }
  }
}

// p is k*q + t for a number k > 0 and t in [0, k]: not negative where q is not,
// and not positive where q < 0.
bool has_sign_of(const Polynomial& p, const Polynomial& q) {
  if (p.is_constant() || q.is_constant()) return false;
  const auto& [monomial, c] = *q.terms().begin();
  const auto at = p.terms().find(monomial);
  if (at == p.terms().end()) return false;
  const Int k = floor_div(at->second, c);
  const Polynomial t = p - q * k;
  return k.sign() > 0 && t.is_constant() && t.constant().sign() >= 0 &&
         t.constant() <= k;
}

// Where(a <= b, b, a) -> Max(a, b), and where the condition is another one with
// the sign of the arms' difference: Where(x > 0, x, -x) -> Max(x, -x).
void choice_of_larger(FormSearch& s, Expr e, Found& found) {
  const std::optional<Sign> sign = sign_of(e.arg(0));
  if (!sign || !e.arg(1).is_int() || !e.arg(2).is_int()) return;
  if (!is_total(s, e.arg(1)) || !is_total(s, e.arg(2))) return;
  const Polynomial gap = as_sum(e.arg(1)) - as_sum(e.arg(2));
  if (sign->op == Op::kLe) {
    if (has_sign_of(gap, sign->p)) found.push_back(max(e.arg(1), e.arg(2)));
    if (has_sign_of(gap * Int(-1), sign->p)) {
      found.push_back(min(e.arg(1), e.arg(2)));
    }
    return;
  }
  // Where(a == b, .., ..) with arms that are equal there.
  if (gap.is_zero() || sign->p.is_zero()) return;
  const auto k = exact_quotient(gap, sign->p);
  if (!k) return;
  found.push_back(sign->op == Op::kEq ? e.arg(2) : e.arg(1));
}

// Where(c, True, b) -> c | b, and so on.
void choice_of_truth(FormSearch& s, Expr e, Found& found) {
  if (!e.is_bool()) return;
  const Expr c = e.arg(0), opposite = s.canonicalizer().negate(c);
  const Expr yes = e.arg(1), no = e.arg(2);
  if (yes.is_constant() && is_total(s, no)) {
    found.push_back(yes.is_true() ? logical_or(c, no)
                                  : logical_and(opposite, no));
  }
  if (no.is_constant() && is_total(s, yes)) {
    found.push_back(no.is_true() ? logical_or(opposite, yes)
                                 : logical_and(c, yes));
  }
}

// a//m rounded towards 0: Where(a >= 0, a//m, -((-a)//m)), m > 0.
struct Truncated {
  Polynomial a;
  Int m;
};
std::optional<Truncated> truncated(FormSearch& s, Expr e) {
  if (!e.is(Op::kWhere) || !e.is_int()) return std::nullopt;
  const std::optional<Sign> sign = sign_of(e.arg(0));
  if (!sign || sign->op != Op::kLe) return std::nullopt;
  for (Expr floor : atoms_of(as_sum(e.arg(1)), Op::kFloorDiv)) {
    if (!floor.arg(1).is(Op::kInteger)) continue;
    const Int& m = floor.arg(1).integer();
    const std::optional<Linear> split = split_off(as_sum(e.arg(1)), floor);
    if (m.sign() <= 0 || !split || split->factor != Polynomial(Int(1))) {
      continue;
    }
    const Polynomial a = split->rest * m + as_sum(floor.arg(0));
    const Expr up = s.canonical(
        as_sum(s.canonicalizer().floor_div(a * Int(-1), Polynomial(m))) *
        Int(-1));
    if (up != e.arg(2)) continue;
    const Expr is_nonneg = s.canonicalizer().nonneg(a);
    if (is_nonneg == e.arg(0)) return Truncated{a, m};
  }
  return std::nullopt;
}
Expr truncated_form(FormSearch& s, const Truncated& t) {
  const Polynomial m(t.m);
  return where(s.canonicalizer().nonneg(t.a),
               s.canonicalizer().floor_div(t.a, m),
               -s.canonicalizer().floor_div(t.a * Int(-1), m));
}

// -Where(c, a, b), said by the arms.
Expr opposite_arms(FormSearch& s, Expr e) {
  if (!e.is(Op::kWhere)) return s.canonical(-e);
  return s.canonical(where(e.arg(0), -e.arg(1), -e.arg(2)));
}

// Max(trunc(a/m), trunc(b/m)) -> trunc(Max(a, b)/m).
void extremum_of_truncated(FormSearch& s, Expr e, Found& found) {
  if (e.arity() > fixed::rule_arguments) return;
  for (int sign : {1, -1}) {
    std::vector<Expr> args;
    Int m = 0;
    for (Expr arg : e.args()) {
      const auto t = truncated(s, sign > 0 ? arg : opposite_arms(s, arg));
      if (!t || (!m.is_zero() && m != t->m)) break;
      m = t->m;
      args.push_back(to_expr(s.pool(), t->a));
    }
    if (args.size() < e.arity()) continue;
    const Op op = sign > 0 ? e.op() : dual(e.op());
    const Expr a = s.canonical(s.pool().make(op, args));
    const Expr whole = truncated_form(s, {as_sum(s.best(a).canonical), m});
    found.push_back(sign > 0 ? whole : -whole);
  }
}

constexpr Rule kExtremumRules[] = {
    {{"add_into_arguments", "Max(a, r + c*Max(b, d))",
      "Where(c < 0, Max(a, Min(r + c*b, r + c*d)), Max(a, r + c*b, r + c*d))",
      "", "Max(x, Max(y, z) - 1)", "Max(x, y - 1)"},
     On::kExtremum,
     add_into_arguments},
    {{"common_element", "Min(Max(a, b), Max(a, c))", "Max(a, Min(b, c))", "",
      "Min(Max(x, y), Max(x, z))", "Min(Max(x, y), z)"},
     On::kExtremum,
     common_element},
    {{"dominated_inside", "Max(a, Min(d, Max(b, c)))", "Max(a, Min(d, c))",
      "b <= a", "Max(y, Min(z, Max(x, y)))", "Max(y, Min(z, x))"},
     On::kExtremum,
     dominated_inside},
    {{"take_out_of_extremum", "Min(r + g*a, r + g*b)",
      "r + g*Where(g < 0, Max(a, b), Min(a, b))", "", "Min(x + y, x + z)",
      "Min(x*y, x*x)"},
     On::kExtremum,
     take_out_of_extremum},
    {{"dominated_in_arms", "Max(a, Where(c < 0, Max(b, d), e))",
      "Max(a, Where(c < 0, d, e))", "b <= a",
      "Max(y, Where(x < 0, Max(y, z), x))", "Max(y, Where(x < 0, z, x))"},
     On::kExtremum,
     dominated_in_arms},
    {{"take_out_of_some", "Max(a + b, a + c, d)", "Max(a + Max(b, c), d)", "",
      "Max(x + y, x + z, 2*y)", "Max(x + y, 2*x + z, 2*y)"},
     On::kExtremum,
     take_out_of_some},
    {{"common_element_of_arms", "Where(c < 0, Min(a, b), Min(a, d))",
      "Min(a, Where(c < 0, b, d))", "", "Where(x < 0, Min(y, z), Min(x, z))",
      "Where(x < 0, Min(y, z), x)"},
     On::kWhere,
     common_element_of_arms},
    {{"quotient_of_extremum", "Max((a//m) + r, b//m)", "Max(a + m*r, b)//m",
      "m > 0", "Max((x//4) + 2, (y//4))", "Max((x//4), (y//3))"},
     On::kExtremum,
     quotient_of_extremum},
    {{"nested_choice", "Where(c < 0, a, Where(d < 0, a, b))",
      "Where((c < 0) | (d < 0), a, b)", "",
      "Where(x < 0, z, Where(y < 0, z, x))",
      "Where(x < 0, z, Where(y < 0, y, x))"},
     On::kWhere,
     nested_choice},
    {{"common_context", "Where(c < 0, r + g*a, r + g*b)",
      "r + g*Where(c < 0, a, b)", "", "Where(x < 0, y + x, z + x)",
      "Where(Eq(x, 2), Abs(y), Max(x, z))"},
     On::kWhere,
     common_context},
    {{"choice_of_larger", "Where(q >= 0, b + k*q + t, b)",
      "Max(b + k*q + t, b)", "(0 < k) & (0 <= t) & (t <= k)",
      "Where(x > 0, x, -x)", "Where(x > 1, x, -x)"},
     On::kWhere,
     choice_of_larger},
    {{"choice_of_truth", "Where(a < b, True, c < d)", "(a < b) | (c < d)", "",
      "Where(x < y, True, x < z)", "Where(x < y, z < 1, x < z)"},
     On::kWhere,
     choice_of_truth},
    {{"extremum_of_truncated",
      "Max(Where(a >= 0, a//m, -((-a)//m)), Where(b >= 0, b//m, -((-b)//m)))",
      "Where(Max(a, b) >= 0, Max(a, b)//m, -((-Max(a, b))//m))", "m > 0",
      "Max(Where(x >= 0, x//3, -((-x)//3)), Where(y >= 0, y//3, -((-y)//3)))",
      "Max(Where(x >= 0, x//3, -((-x)//3)), y)"},
     On::kExtremum,
     extremum_of_truncated},
    {{"absolute_difference", "Max(a + d, a - d)", "a + Abs(d)", "",
      "Max(y + x, y - x, z)", "Max(x, y - x)"},
     On::kExtremum,
     absolute_difference},
    {{"ordered_arguments", "Max(k*a + r, k*b)", "k*b",
      "(0 <= a) & (a < b) & (0 <= r) & (r <= k)", "Max(32*x + y, 32*z)",
      "Max(32*x + y, 16*z)", "x in [0, 99]; y in [0, 31]; x < z"},
     On::kExtremum,
     ordered_arguments},
};

}  // namespace

RuleRows extremum_rules() { return kExtremumRules; }

}  // namespace proviso::inline v0_2::internal
