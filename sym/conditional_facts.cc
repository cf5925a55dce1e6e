#include "sym/conditional_facts.h"

#include <algorithm>

#include "sym/canonical.h"
#include "sym/find_node.h"

namespace proviso::inline v0_2::internal {
namespace {

void take(std::optional<Int>& best, const std::optional<Int>& other) {
  if (other && (!best || *other > *best)) best = other;
}

// c*p is d*s.p and a number, for c > 0 and d > 0: 5*x >= -5 where x + 1 >= 0.
std::optional<Int> lower_by_multiple(const Polynomial& p, const Sign& s) {
  if (p.terms().size() > s.p.terms().size() + 1) return std::nullopt;
  for (const auto& [monomial, coefficient] : s.p.terms()) {
    if (monomial.empty()) continue;
    const auto at = p.terms().find(monomial);
    if (at == p.terms().end()) return std::nullopt;
    Int c = coefficient, d = at->second;
    if (c.sign() < 0) c = -c, d = -d;
    if (s.op != Op::kEq && d.sign() < 0) return std::nullopt;
    const Polynomial rest = p * c - s.p * d;
    if (!rest.is_constant()) return std::nullopt;
    return -floor_div(-rest.constant(), c);
  }
  return std::nullopt;
}

}  // namespace

ConditionalFacts::ConditionalFacts(const Facts* base,
                                   std::span<const Expr> conditions)
    : base_(base) {
  if (base != nullptr) {
    const std::span<const Expr> known = base->zeros();
    zeros_.assign(known.begin(), known.end());
  }
  for (Expr c : conditions) assume(c);
}

std::optional<Int> ConditionalFacts::lower(Expr e) const {
  std::optional<Int> best = base_lower(e);
  if (!e.is_int() || signs_.empty()) return best;
  const Polynomial p = to_polynomial(e);
  for (const Sign& s : signs_) {
    if (s.op == Op::kNe) continue;
    take(best, base_lower_of(e, p - s.p));
    if (s.op == Op::kEq) take(best, base_lower_of(e, p + s.p));
    take(best, lower_by_multiple(p, s));
  }
  if (best && best->is_zero() && is_known_nonzero(p)) best = Int(1);
  return best;
}

std::optional<Int> ConditionalFacts::upper(Expr e) const {
  if (!e.is_int()) return base_ ? base_->upper(e) : std::nullopt;
  const Polynomial p = to_polynomial(e) * Int(-1);
  std::optional<Int> best = lower(to_expr(e.pool(), p));
  std::optional<Int> own = base_ ? base_->upper(e) : std::nullopt;
  if (best) best = -*best;
  return !best || (own && *own < *best) ? own : best;
}

std::optional<bool> ConditionalFacts::truth(Expr e) const {
  for (Expr c : true_) {
    if (c == e) return true;
  }
  for (Expr c : false_) {
    if (c == e) return false;
  }
  return base_ ? base_->truth(e) : std::nullopt;
}

void ConditionalFacts::assume(Expr c) {
  visit_operands(c, Op::kAnd, [this](Expr part) {
    assume_part(part);
    return true;
  });
}

void ConditionalFacts::assume_part(Expr c) {
  true_.push_back(c);
  false_.push_back(canonical(logical_not(c)));
  auto s = sign_of(c);
  if (!s) return;
  if (s->op == Op::kEq) zeros_.push_back(to_expr(c.pool(), s->p));
  signs_.push_back(std::move(*s));
}

std::optional<Int> ConditionalFacts::base_lower(Expr e) const {
  if (e.is(Op::kInteger)) return e.integer();
  return base_ ? base_->lower(e) : std::nullopt;
}

std::optional<Int> ConditionalFacts::base_lower_of(Expr e,
                                                   const Polynomial& p) const {
  if (p.is_constant()) return p.constant();
  return base_ ? base_->lower(to_expr(e.pool(), p)) : std::nullopt;
}

bool ConditionalFacts::is_known_nonzero(const Polynomial& p) const {
  return std::any_of(signs_.begin(), signs_.end(), [&](const Sign& s) {
    return s.op == Op::kNe && (s.p == p || s.p == p * Int(-1));
  });
}
}  // namespace proviso::inline v0_2::internal
