#include "sym/rule_parts.h"

#include <algorithm>
#include <cassert>
#include <unordered_set>
#include <utility>

#include "sym/budget.h"
#include "sym/find_node.h"
#include "sym/fixed_limits.h"
#include "sym/form_search.h"
#include "sym/relations.h"

namespace proviso::inline v0_2::internal {
namespace {

// Whether e is defined wherever its arguments are.
bool is_total_node(FormSearch& search, Expr e) {
  Budget::spend(1);
  const bool is_division = is_integer_division(e.op());
  const auto divisors = static_cast<size_t>(info(e.op()).divisors);
  for (size_t i = 1; is_division && i <= divisors; ++i) {
    const Polynomial d = to_polynomial(e.arg(i));
    if (d.is_zero()) return false;
    if (!d.is_constant() && !search.is_positive(d) &&
        !search.is_positive(d * Int(-1))) {
      return false;
    }
  }
  switch (info(e.op()).kind) {
    case OpKind::kPower:
      return e.arg(1).is(Op::kInteger) && e.arg(1).integer().sign() >= 0;
    case OpKind::kSum:
    case OpKind::kProduct:
    case OpKind::kFloorDiv:
    case OpKind::kMod:
    case OpKind::kExtremum:
    case OpKind::kAbs:
    case OpKind::kIdentity:
    case OpKind::kRelation:
    case OpKind::kJunction:
    case OpKind::kNot:
    case OpKind::kWhere:
    case OpKind::kConstant:
    case OpKind::kSymbol: return true;
    case OpKind::kDefined: return is_division;
    case OpKind::kShift:
    case OpKind::kBitwise:
    case OpKind::kToFloat:
    case OpKind::kTrueDiv:
    case OpKind::kRounding:
    case OpKind::kReal:
    case OpKind::kIndicator: break;  // or it is not known
  }
  return false;
}

}  // namespace

bool is_total(FormSearch& search, Expr e) {
  std::unordered_set<uint32_t> seen;
  std::vector<Expr> waiting{e};
  while (!waiting.empty()) {
    const Expr x = waiting.back();
    waiting.pop_back();
    if (is_leaf(x.op()) || !seen.insert(x.id()).second) continue;
    if (!is_total_node(search, x)) return false;
    for (size_t i = x.arity(); i-- > 0;) waiting.push_back(x.arg(i));
  }
  return true;
}

bool is_sum(Expr e) {
  return e.is_int() && (e.is(Op::kAdd) || e.is(Op::kMul) || e.is(Op::kPow));
}

bool is_linear_sum(Expr e) {
  if (!e.is_int()) return false;
  auto is_term = [](Expr x) {
    return is_leaf(x.op()) ||
           (x.is(Op::kMul) && x.arity() == 2 && x.arg(0).is(Op::kInteger) &&
            x.arg(1).is_symbol());
  };
  if (!e.is(Op::kAdd)) return is_term(e);
  return std::all_of(e.args().begin(), e.args().end(), is_term);
}

const Polynomial* small_sum(FormSearch& search, Expr e) {
  const Polynomial& p = search.polynomial(e);
  return p.terms().size() > fixed::rule_terms ? nullptr : &p;
}

std::optional<Linear> split_off(const Polynomial& p, Expr atom) {
  Linear result;
  for (const auto& [monomial, c] : p.terms()) {
    const auto uses = std::count(monomial.begin(), monomial.end(), atom);
    if (uses > 1) return std::nullopt;
    if (uses == 0) {
      result.rest.add(monomial, c);
      continue;
    }
    Monomial others;
    for (Expr a : monomial) {
      if (a != atom) others.push_back(a);
    }
    result.factor.add(others, c);
  }
  return result;
}

std::optional<ConstantTimes> constant_times(const Polynomial& p, Expr a) {
  const std::optional<Linear> split = split_off(p, a);
  if (!split || !split->factor.is_constant()) return std::nullopt;
  return ConstantTimes{split->factor.constant(), split->rest};
}

std::vector<Expr> atoms_of(const Polynomial& p, Op op) {
  std::vector<Expr> atoms;
  for (const auto& [monomial, c] : p.terms()) {
    for (Expr atom : monomial) {
      if (atom.is(op) &&
          std::find(atoms.begin(), atoms.end(), atom) == atoms.end()) {
        atoms.push_back(atom);
      }
    }
  }
  return atoms;
}

std::vector<Expr> few_atoms(const Polynomial& p, Op op) {
  std::vector<Expr> atoms = atoms_of(p, op);
  if (atoms.size() > fixed::rule_atoms) atoms.clear();
  return atoms;
}

bool contains(Expr e, Op op) {
  return static_cast<bool>(find_node(e, [op](Expr x) { return x.is(op); }));
}

Polynomial equal_terms(const Polynomial& p, const Polynomial& q) {
  Polynomial common;
  for (const auto& [monomial, c] : p.terms()) {
    auto at = q.terms().find(monomial);
    if (at != q.terms().end() && at->second == c) common.add(monomial, c);
  }
  return common;
}

std::optional<Block> block_of(FormSearch& search, const Polynomial& p,
                              const Int& g) {
  Polynomial high, low;
  for (const auto& [monomial, c] : p.terms()) {
    const bool is_high = !monomial.empty() && floor_mod(c, g).is_zero();
    (is_high ? high : low).add(monomial, c);
  }
  if (high.is_zero() || low.is_constant()) return std::nullopt;
  const auto least = search.lower(low), most = search.upper(low);
  if (!least || !most) return std::nullopt;
  const Int block = floor_div(*least, g);
  if (block != floor_div(*most, g)) return std::nullopt;
  return Block{over(high, g), std::move(low), block};
}

std::optional<Sign> sign_of(Expr e) {
  if (!is_relation(e.op()) || !e.arg(0).is_int() || !e.arg(1).is_int()) {
    return std::nullopt;
  }
  Polynomial gap = to_polynomial(e.arg(1)) - to_polynomial(e.arg(0));
  gap.add({}, -relations::least_gap(e.op()));
  return Sign{e.is(Op::kLt) ? Op::kLe : e.op(), std::move(gap)};
}

Expr relation_of(FormSearch& search, Op op, const Polynomial& p) {
  Canonicalizer& s = search.canonicalizer();
  if (op == Op::kLe) return s.nonneg(p);
  const Expr zero = s.is_zero(p);
  return op == Op::kEq ? zero : s.negate(zero);
}

Expr joined(FormSearch& search, Op op, const std::vector<Expr>& args) {
  return args.size() == 1 ? args[0] : search.pool().make(op, args);
}

Op dual(Op op) {
  if (op == Op::kMin) return Op::kMax;
  if (op == Op::kMax) return Op::kMin;
  assert((op == Op::kAnd || op == Op::kOr) && "Min, Max, And or Or");
  return op == Op::kAnd ? Op::kOr : Op::kAnd;
}

}  // namespace proviso::inline v0_2::internal
