// Rules that look at a part where a condition holds: an arm of a Where, a part
// of an And beside the others.  Each such look is a search of its own, so these
// rules come last.
//
//   Max(Where(Eq(x, -1), 1, x), x)      Where(Eq(x, -1), 1, x), by both arms
//   (x < y) & (x < y + 2)               x < y: the other holds where it does
//   Where(Eq(x, 3), 3, x)               x: the arms are alike
//
// FormSearch::may_assume() bounds how many conditions are assumed within one
// another.
#include <algorithm>

#include "sym/budget.h"
#include "sym/find_node.h"
#include "sym/fixed_limits.h"
#include "sym/form_search.h"
#include "sym/rule_parts.h"

namespace proviso::inline v0_2::internal {
namespace {

// f(Where(c, a, b), d) -> Where(c, f(a, d), f(b, d)), each arm where c holds or
// fails.
void push_into_arms(FormSearch& s, Expr e, Found& found) {
  if (e.is(Op::kWhere) || !s.may_assume() || e.is(Op::kAnd) || e.is(Op::kOr)) {
    return;
  }
  Expr choice;
  auto look = [&](Expr arg) {
    if (choice) return;
    if (arg.is(Op::kWhere) && arg.is_int()) choice = arg;
    if (!arg.is_int()) return;
    for (Expr a : atoms_of(as_sum(arg), Op::kWhere)) {
      if (!choice) choice = a;
    }
  };
  for (Expr arg : e.args()) look(arg);
  if (!choice || e.is(Op::kAdd) || e.is(Op::kMul)) return;
  const Expr c = choice.arg(0);
  auto arm = [&](bool taken) {
    const Expr condition = taken ? c : s.canonicalizer().negate(c);
    std::unordered_map<Expr, Expr, ExprHash> map;
    for (Expr arg : e.args()) {
      if (!arg.is_int()) continue;
      std::vector<Expr> choices = atoms_of(as_sum(arg), Op::kWhere);
      if (arg.is(Op::kWhere)) choices.push_back(arg);
      for (Expr other : choices) {
        if (other.arg(0) == c) map.emplace(other, other.arg(taken ? 1 : 2));
      }
    }
    std::vector<Expr> args;
    for (Expr arg : e.args()) args.push_back(substitute(arg, map));
    return s.under({&condition, 1}, s.pool().make(e.op(), args));
  };
  // What stands beside the choice was needed in both arms: it may be copied.
  if (e.is_bool()) {
    const Expr yes = arm(true), no = arm(false);
    if (!is_total(s, yes) || !is_total(s, no)) return;
    const Expr opposite = s.canonicalizer().negate(c);
    found.push_back(logical_or(logical_and(c, yes), logical_and(opposite, no)));
    return;
  }
  found.push_back(where(c, arm(true), arm(false)));
}

// The condition of a Where within e that has no Where within itself.
Expr inner_condition(Expr e) {
  const Expr choice = find_node(e, [](Expr x) { return x.is(Op::kWhere); });
  return choice ? choice.arg(0) : Expr();
}

// Where(c, a, b) -> Where(c, a under c, b under ~c).
void arms_under_condition(FormSearch& s, Expr e, Found& found) {
  if (!s.may_assume()) return;
  const Expr c = e.arg(0), opposite = s.canonicalizer().negate(c);
  const Expr yes = s.under({&c, 1}, e.arg(1));
  const Expr no = s.under({&opposite, 1}, e.arg(2));
  if (yes == e.arg(1) && no == e.arg(2)) return;
  if (yes.type() != e.arg(1).type() || no.type() != e.arg(2).type()) return;
  found.push_back(s.pool().make(Op::kWhere, {c, yes, no}));
}

// Each part where the others hold.
void part_under_others(FormSearch& s, Expr e, Found& found) {
  if (!s.may_assume() || e.arity() > fixed::rule_parts) return;
  std::vector<Expr> parts = conjuncts(s, e);
  bool changed = false;
  for (size_t i = parts.size(); i-- > 0;) {
    std::vector<Expr> others;
    for (size_t j = 0; j < parts.size(); ++j) {
      if (j != i) others.push_back(parts[j]);
    }
    const Expr now = s.under(others, parts[i]);
    if (now == parts[i]) continue;
    changed = true;
    if (now.is_false()) {
      found.push_back(s.pool().boolean(e.is(Op::kOr)));
      return;
    }
    parts[i] = now;
    if (now.is_true()) {
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  if (changed) found.push_back(conjunction(s, e.op(), parts));
}

// e -> Where(c, e under c, e under ~c) for a condition c within e; e under c
// alone where both are the same.
void split_on_condition(FormSearch& s, Expr e, Found& found) {
  if (!s.may_assume() || !e.is_int()) return;
  const Expr c = inner_condition(e);
  if (!c || (e.is(Op::kWhere) && e.arg(0) == c) || !is_total(s, c)) return;
  const Expr opposite = s.canonicalizer().negate(c);
  const Expr yes = s.under({&c, 1}, e), no = s.under({&opposite, 1}, e);
  found.push_back(yes == no ? yes : where(c, yes, no));
}

// Where(c, a, b) -> b where b is a under c, and a where a is b under ~c.
void arms_alike(FormSearch& s, Expr e, Found& found) {
  if (!s.may_assume()) return;
  const Expr c = e.arg(0), opposite = s.canonicalizer().negate(c);
  if (is_total(s, e.arg(2)) && s.under({&c, 1}, e.arg(2)) == e.arg(1)) {
    found.push_back(e.arg(2));
  }
  if (is_total(s, e.arg(1)) && s.under({&opposite, 1}, e.arg(1)) == e.arg(2)) {
    found.push_back(e.arg(1));
  }
}

constexpr Rule kCaseRules[] = {
    {{"part_under_others", "(a < b) & (a < b + k)", "a < b", "0 <= k",
      "(x < y) & (x < y + 2)", "(x < y) & (x < z)"},
     On::kJunction,
     part_under_others},
    {{"arms_under_condition", "Where(c < d, Where(c < d, a, b), e)",
      "Where(c < d, a, e)", "", "Where(x < y, Where(x < y, x, z), z)",
      "Where(x < y, x, z)"},
     On::kWhere,
     arms_under_condition},
    {{"arms_alike", "Where(Eq(a, k), r + k, r + a)", "r + a", "",
      "Where(Eq(x, 3), 3, x)", "Where(x < 3, 3, x)"},
     On::kWhere,
     arms_alike},
    {{"push_into_arms", "Max(Where(c < 0, a, b), d)",
      "Where(c < 0, Max(a, d), Max(b, d))", "",
      "Max(Where(Eq(x, -1), 1, x), x)", "Max(x, y)"},
     On::kAny,
     push_into_arms},
    {{"split_on_condition", "Where(Where(c < 0, a, b) < d, a, b)",
      "Where(c < 0, Where(a < d, a, b), Where(b < d, a, b))", "",
      "Where(Where(x >= 0, x, -x) < 3, x, y)", "Where(x >= 0, x, -x)"},
     On::kInteger,
     split_on_condition},
};

}  // namespace

std::vector<Expr> conjuncts(FormSearch& s, Expr e) {
  std::vector<Expr> parts(e.args().begin(), e.args().end());
  if (e.is(Op::kOr)) {
    for (Expr& part : parts) part = s.canonicalizer().negate(part);
  }
  return parts;
}
Expr conjunction(FormSearch& s, Op op, std::vector<Expr> parts) {
  if (parts.empty()) return s.pool().boolean(op == Op::kAnd);
  if (op == Op::kOr) {
    for (Expr& part : parts) part = s.canonicalizer().negate(s.canonical(part));
  }
  return joined(s, op, parts);
}

RuleRows case_rules() { return kCaseRules; }

}  // namespace proviso::inline v0_2::internal
