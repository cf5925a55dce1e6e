// Rules on sums with Min, Max and Where in them: what is added goes into the
// arguments, or comes out of them, where something cancels.
//
//   Min(x, y) + Max(x, y)        positive_parts       x + y
//   x + Max(y - x, z)            add_into_extremum    Max(y, x + z)
//   Max(x, y + 3) - Max(x, y)    clamp                Min(Max(y - x + 3, 0), 3)
//
// By Min(a, b) == a - Max(0, a - b) all extrema of a sum are positive parts, of
// which equal ones cancel: complete for sums of extrema of two arguments whose
// differences are equal up to sign.
#include <algorithm>

#include "sym/fixed_limits.h"
#include "sym/form_search.h"
#include "sym/rule_parts.h"

namespace proviso::inline v0_2::internal {
namespace {

// ---- extrema within a sum

// Max(a, b) -> b + Max(0, a - b), Min(a, b) -> a - Max(0, a - b), with one sign
// of the difference for all, so that equal ones cancel.
Polynomial positive_part_form(FormSearch& s, Expr extremum) {
  const bool is_max = extremum.is(Op::kMax);
  Polynomial so_far = as_sum(extremum.arg(0));
  for (Expr arg : extremum.args().subspan(1)) {
    const Polynomial other = as_sum(arg);
    Polynomial d = so_far - other;
    if (d.is_constant()) {
      const bool first = (d.constant().sign() >= 0) == is_max;
      if (!first) so_far = other;
      continue;
    }
    const bool flipped = d.terms().begin()->second.sign() < 0;
    if (flipped) d = d * Int(-1);
    const Expr zero = s.integer(0);
    const Expr part = s.canonical(Op::kMax, {zero, to_expr(s.pool(), d)});
    // max(x, y) = y + pos(x - y), min(x, y) = x - pos(x - y)
    const Polynomial& x = flipped ? other : so_far;
    const Polynomial& y = flipped ? so_far : other;
    so_far = is_max ? y + as_sum(part) : x - as_sum(part);
  }
  return so_far;
}

void positive_parts(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  std::vector<Expr> extrema = few_atoms(*p, Op::kMin);
  for (Expr extremum : few_atoms(*p, Op::kMax)) extrema.push_back(extremum);
  if (extrema.size() < 2) return;  // nothing to cancel with
  Polynomial sum = *p;
  for (Expr extremum : extrema) {
    if (extremum.arity() > fixed::opened_arguments) return;
    const std::optional<Linear> split = split_off(sum, extremum);
    if (!split) return;
    sum = split->rest + split->factor * positive_part_form(s, extremum);
  }
  found.push_back(to_expr(s.pool(), sum));
}

// r + c*Min(a, b) -> Min(r + c*a, r + c*b); for c < 0 a Max.
void add_into_extremum(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  for (Op op : {Op::kMin, Op::kMax}) {
    for (Expr extremum : few_atoms(*p, op)) {
      const auto term = constant_times(*p, extremum);
      if (!term) continue;
      const Int& c = term->coefficient;
      // what meets its opposite in an argument
      Polynomial meets;
      for (const auto& [monomial, k] : term->rest.terms()) {
        for (Expr arg : extremum.args()) {
          const Polynomial a = as_sum(arg) * c;
          auto at = a.terms().find(monomial);
          if (at != a.terms().end() && at->second.sign() != k.sign()) {
            meets.add(monomial, k);
            break;
          }
        }
      }
      const bool flips =
          c.sign() < 0 && std::all_of(
                              extremum.args().begin(), extremum.args().end(),
                              [&](Expr arg) {
                                const Polynomial a = as_sum(arg);
                                return a.is_constant() || arg.is(dual(op)) ||
                                       a.terms().begin()->second.sign() < 0;
                              });
      if (meets.is_zero() && !flips) continue;
      auto has_opposite = [&](Expr arg) {
        const Polynomial a = as_sum(arg) * c;
        return std::any_of(a.terms().begin(), a.terms().end(),
                           [&](const auto& t) {
                             auto at = meets.terms().find(t.first);
                             return at != meets.terms().end() &&
                                    at->second.sign() != t.second.sign();
                           });
      };
      auto moved = [&](const Polynomial& part) {
        std::vector<Expr> args, others;  // the others are added to as one
        for (Expr arg : extremum.args()) {
          if (extremum.arity() > 2 && !has_opposite(arg)) {
            others.push_back(arg);
          } else {
            args.push_back(s.canonical(part + as_sum(arg) * c));
          }
        }
        if (!others.empty()) {
          const Expr rest = others.size() == 1
                                ? others[0]
                                : s.canonical(s.pool().make(op, others));
          args.push_back(s.canonical(part + as_sum(rest) * c));
        }
        if (args.size() < 2) return;
        const Op now = c.sign() > 0 ? op : dual(op);
        const Expr merged = s.pool().make(now, args);
        found.push_back(to_expr(s.pool(), term->rest - part) +
                        s.canonical(merged));
      };
      moved(term->rest);
      if (!meets.is_zero() && meets != term->rest) moved(meets);
    }
  }
}

// c*Max(0, d + k) - c*Max(0, d) -> c*Min(Max(d + k, 0), k), k > 0.
void clamp(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  const std::vector<Expr> parts = few_atoms(*p, Op::kMax);
  for (Expr x : parts) {
    for (Expr y : parts) {
      if (x == y || x.arity() != 2 || y.arity() != 2) continue;
      const auto cx = constant_times(*p, x), cy = constant_times(*p, y);
      if (!cx || !cy || cx->coefficient != -cy->coefficient) continue;
      for (const auto& [i, j] : {std::pair{0, 0}, {0, 1}, {1, 0}, {1, 1}}) {
        // x = Max(u, v), y = Max(u', v'): u - u' and v - v' are constant
        const Polynomial u =
            as_sum(x.arg(size_t(i))) - as_sum(y.arg(size_t(j)));
        const Polynomial v =
            as_sum(x.arg(size_t(1 - i))) - as_sum(y.arg(size_t(1 - j)));
        if (!u.is_zero() || !v.is_constant()) continue;
        const Int k = v.constant();
        if (k.sign() <= 0) continue;
        // Max(u, w + k) - Max(u, w) = Min(Max(w + k - u, 0), k)
        const Polynomial d =
            as_sum(x.arg(size_t(1 - i))) - as_sum(x.arg(size_t(i)));
        const Expr zero = s.integer(0), most = s.integer(k);
        const Expr clamped = min(max(to_expr(s.pool(), d), zero), most);
        const Polynomial rest =
            cx->rest + Polynomial::term({y}, cx->coefficient);
        found.push_back(to_expr(s.pool(), rest) +
                        s.pool().integer(cx->coefficient) *
                            s.canonical(clamped));
      }
    }
  }
}

// r + Min(m, Max(l, d + k)) -> r + k + Min(m - k, Max(l - k, d)), constants.
void shift_clamp(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p || p->constant().is_zero()) return;
  for (Op op : {Op::kMin, Op::kMax}) {
    for (Expr outer : few_atoms(*p, op)) {
      const auto term = constant_times(*p, outer);
      if (!term || outer.arity() != 2) continue;
      for (size_t i = 0; i < 2; ++i) {
        const Expr inner = outer.arg(i), bound = outer.arg(1 - i);
        if (!bound.is(Op::kInteger) || !inner.is(dual(op)) ||
            inner.arity() != 2) {
          continue;
        }
        for (size_t j = 0; j < 2; ++j) {
          const Polynomial d = as_sum(inner.arg(j));
          const Polynomial k(d.constant());
          if (d.is_constant() || k.is_zero() ||
              !inner.arg(1 - j).is(Op::kInteger)) {
            continue;
          }
          auto shifted = [&](Expr x) { return s.canonical(as_sum(x) - k); };
          const Expr clamped = s.pool().make(
              op, {shifted(bound),
                   s.pool().make(inner.op(), {shifted(inner.arg(1 - j)),
                                              shifted(inner.arg(j))})});
          found.push_back(
              to_expr(s.pool(), term->rest + k * term->coefficient) +
              s.pool().integer(term->coefficient) * clamped);
        }
      }
    }
  }
}

// Min(a, b)*Max(a, b) -> a*b.
void product_of_extrema(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p || p->degree() < 2) return;
  Polynomial sum;
  bool changed = false;
  for (const auto& [monomial, c] : p->terms()) {
    Polynomial product = Polynomial::term(monomial, c);
    for (Expr x : monomial) {
      if (!x.is(Op::kMin) || x.arity() != 2) continue;
      for (Expr y : monomial) {
        const bool are_pair = y.is(Op::kMax) && y.arity() == 2 &&
                              ((x.arg(0) == y.arg(0) && x.arg(1) == y.arg(1)) ||
                               (x.arg(0) == y.arg(1) && x.arg(1) == y.arg(0)));
        if (!are_pair || product != Polynomial::term(monomial, c)) continue;
        Monomial rest = monomial;
        rest.erase(std::find(rest.begin(), rest.end(), x));
        rest.erase(std::find(rest.begin(), rest.end(), y));
        product =
            Polynomial::term(rest, c) * as_sum(x.arg(0)) * as_sum(x.arg(1));
        changed = true;
      }
    }
    sum = sum + product;
  }
  if (changed) found.push_back(to_expr(s.pool(), sum));
}

// ---- Where within a sum

bool is_single_atom(const Polynomial& p, Expr a) {
  return p.terms().size() == 1 && p == Polynomial::atom(a);
}

// k*Where(c, a, b) + j*Where(c, d, e) -> Where(c, k*a + j*d, k*b + j*e), and
// r + k*Where(c, a, b) -> Where(c, r + k*a, r + k*b).
void add_into_where(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  const std::vector<Expr> choices = few_atoms(*p, Op::kWhere);
  for (Expr choice : choices) {
    Polynomial rest = *p, yes, no;
    size_t merged = 0;
    for (Expr other : choices) {
      if (other.arg(0) != choice.arg(0)) continue;
      const std::optional<Linear> split = split_off(rest, other);
      if (!split) continue;
      rest = split->rest;
      yes = yes + split->factor * as_sum(other.arg(1));
      no = no + split->factor * as_sum(other.arg(2));
      ++merged;
    }
    auto whole = [&](const Polynomial& outside, const Polynomial& inside) {
      const Expr arms = where(choice.arg(0), to_expr(s.pool(), yes + inside),
                              to_expr(s.pool(), no + inside));
      found.push_back(to_expr(s.pool(), outside) + s.canonical(arms));
    };
    if (merged > 1) whole(rest, {});
    if (!is_single_atom(*p, choice)) whole({}, rest);
  }
}

constexpr Rule kSumOfExtremaRules[] = {
    {{"positive_parts", "Max(a, b) - Min(c, d)",
      "b + Max(0, a - b) - c + Max(0, c - d)", "", "Min(x, y) + Max(x, y)",
      "Min(x, y)"},
     On::kInteger,
     positive_parts},
    {{"add_into_extremum", "c*Min(a, b) - c*a + r", "Min(r, c*b - c*a + r)",
      "c > 0", "x + Max(y - x, z)", "x*Max(y, z)"},
     On::kInteger,
     add_into_extremum},
    {{"clamp", "Max(u, w + k) - Max(u, w)", "Min(Max(w + k - u, 0), k)",
      "k > 0", "Max(x, y + 3) - Max(x, y)", "Max(x, y + 3) - Max(z, y)"},
     On::kInteger,
     clamp},
    {{"shift_clamp", "c + Min(m, Max(l, d + k))",
      "c + k + Min(m - k, Max(l - k, d))", "", "Min(60, Max(0, x + 63)) + 3",
      "Min(60, Max(y, x + 63)) + 3"},
     On::kInteger,
     shift_clamp},
    {{"product_of_extrema", "Min(a, b)*Max(a, b)", "a*b", "",
      "Min(x, y)*Max(x, y)", "Min(x, y)*Max(x, z)"},
     On::kInteger,
     product_of_extrema},
    {{"add_into_where", "r + k*Where(c < 0, a, b)",
      "Where(c < 0, r + k*a, r + k*b)", "", "Where(x < 0, y, z) - y",
      "Where(x < 0, y, z)"},
     On::kInteger,
     add_into_where},
};

}  // namespace

RuleRows sum_of_extrema_rules() { return kSumOfExtremaRules; }

}  // namespace proviso::inline v0_2::internal
