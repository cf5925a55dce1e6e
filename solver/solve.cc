#include "solver/solve.h"

#include <algorithm>

#include "solver/argument_types.h"
#include "solver/interrupt_scope.h"
#include "solver/limits_in_force.h"
#include "sym/canonical.h"
#include "sym/definition.h"
#include "sym/excerpt.h"
#include "sym/not_null.h"
#include "sym/operators.h"
#include "sym/polynomial.h"
#include "sym/print.h"
#include "sym/simplify.h"

namespace proviso::inline v0_2 {
using namespace internal;
namespace {

using Side = Solution::Side;

// term side value, where condition holds.
struct State {
  Expr term;
  Side side;
  Expr value;
  Expr condition;
};

Side opposite(Side side) {
  switch (side) {
    case Side::kAtMost: return Side::kAtLeast;
    case Side::kAtLeast: return Side::kAtMost;
    case Side::kEqual: break;
  }
  return side;
}

// Of a relation without what is defined by others.
void require_plain(Expr relation) {
  bool negated = false;
  for (; relation.is(Op::kNot); relation = relation.arg(0)) negated = !negated;
  const bool fits = relation.is(Op::kLe) || relation.is(Op::kLt) ||
                    (relation.is(Op::kEq) && !negated);
  if (fits && relation.arg(0).is_int() && relation.arg(1).is_int()) return;
  throw Error("solve: expected Eq, Le or Lt of integers, got " +
              excerpt(relation));
}

class Solver {
 public:
  Solver(Context& context, Expr symbol)
      : context_(context), pool_(context.pool()), symbol_(symbol) {}

  std::optional<Solution> solve(Expr relation) {
    State state = start(rewrite(relation, [this](Expr e) { return plain(e); }));
    // Each round takes one operator off the term.
    while (state.term != symbol_) {
      const Expr before = state.term;
      const bool goes_on = state.term.is(Op::kAdd) || state.term.is(Op::kMul)
                               ? isolate(state)
                               : peel(state);
      if (!goes_on || state.term == before) return std::nullopt;
    }
    state.value = simplify(state.value);
    state.condition = is_known(state.condition) ? pool_.boolean(true)
                                                : simplify(state.condition);
    if (has_symbol(state.value) || has_symbol(state.condition))
      return std::nullopt;
    return Solution{state.side, state.value, state.condition};
  }

 private:
  // left - right <= 0, or == 0.
  State start(Expr relation) {
    require_plain(relation);
    bool negated = false;
    while (relation.is(Op::kNot)) {
      negated = !negated;
      relation = relation.arg(0);
    }
    Expr left = relation.arg(0), right = relation.arg(1);
    bool is_strict = relation.is(Op::kLt);
    if (negated) {
      std::swap(left, right);
      is_strict = !is_strict;
    }
    const Expr gap =
        proviso::canonical(is_strict ? left - right + 1 : left - right);
    // The sum of one term is that term; it is not taken apart before.
    return {gap, relation.is(Op::kEq) ? Side::kEqual : Side::kAtMost,
            pool_.integer(0), pool_.boolean(true)};
  }

  // e with quotients said by floors.  The definition of one that is rounded up,
  // -(-a//d), would be written with a twice.
  Expr plain(Expr e) {
    const Expr defined = definition(e);
    const bool is_quotient = defined != e && e.arity() == 2 &&
                             e.arg(0).is_int() && e.arg(1).is_int() &&
                             ceil_div(e.arg(0), e.arg(1)) == e;
    if (!is_quotient || !is_known(e.arg(1) > 0)) return defined;
    return floor_div(e.arg(0) + e.arg(1) - 1, e.arg(1));
  }

  bool has_symbol(Expr e) const {
    const std::vector<Expr> symbols = free_symbols(e);
    return std::find(symbols.begin(), symbols.end(), symbol_) != symbols.end();
  }
  bool is_known(Expr condition) {
    return context_.ask_quick(condition) == Verdict::kYes;
  }

  // factor * term + rest: term is then what the symbol is in.
  bool isolate(State& state) {
    const Polynomial p = to_polynomial(proviso::canonical(state.term));
    Polynomial factor, rest;
    Expr term;
    for (const auto& [monomial, coefficient] : p.terms()) {
      Monomial others;
      size_t found = 0;
      for (Expr atom : monomial) {
        if (!has_symbol(atom)) {
          others.push_back(atom);
          continue;
        }
        ++found;
        if (term && term != atom) return false;
        term = atom;
      }
      if (found > 1) return false;
      (found == 1 ? factor : rest).add(std::move(others), coefficient);
    }
    if (!term) return false;
    const Expr by = to_expr(pool_, factor);
    const Expr right = state.value - to_expr(pool_, rest);
    state.term = term;
    return divide(state, by, right);
  }

  // by * term side right.
  bool divide(State& state, Expr by, Expr right) {
    const bool is_positive = is_known(by > 0);
    if (!is_positive && !is_known(by < 0)) return false;
    const Expr size = is_positive ? by : -by;
    const Expr value = is_positive ? right : -right;
    if (!is_positive) state.side = opposite(state.side);
    switch (state.side) {
      case Side::kEqual:
        state.condition = logical_and(state.condition, value % size == 0);
        state.value = floor_div(value, size);
        break;
      case Side::kAtMost: state.value = floor_div(value, size); break;
      case Side::kAtLeast: state.value = ceil_div(value, size); break;
    }
    return true;
  }

  bool peel(State& state) {
    const OpKind kind = info(state.term.op()).kind;
    if (kind == OpKind::kFloorDiv) return peel_quotient(state);
    return kind == OpKind::kExtremum && peel_extremum(state);
  }

  bool peel_quotient(State& state) {
    const Expr x = state.term.arg(0), d = state.term.arg(1);
    if (has_symbol(d) || !is_known(d > 0)) return false;
    state.term = x;
    switch (state.side) {
      case Side::kEqual: {
        // What is left of a multiple, or of one less 1, is known to be.
        const Expr rest = is_known(x % d == 0) ? pool_.integer(0) : d - 1;
        if (!is_known(eq(x % d, rest))) return false;
        state.value = d * state.value + rest;
        break;
      }
      case Side::kAtMost: state.value = d * state.value + d - 1; break;
      case Side::kAtLeast: state.value = d * state.value; break;
    }
    return true;
  }

  // Max(a, b) <= v where both are; Min(a, b) >= v where both are.
  bool peel_extremum(State& state) {
    const bool fits = state.term.is(Op::kMax) ? state.side == Side::kAtMost
                                              : state.side == Side::kAtLeast;
    if (!fits) return false;
    Expr with;
    for (Expr arg : state.term.args()) {
      if (has_symbol(arg)) {
        if (with) return false;
        with = arg;
      } else {
        state.condition = logical_and(
            state.condition, state.side == Side::kAtMost ? arg <= state.value
                                                         : arg >= state.value);
      }
    }
    if (!with) return false;
    state.term = with;
    return true;
  }

  Context& context_;
  ExprPool& pool_;
  const Expr symbol_;
};

// What every term has as a factor.
Monomial shared_factors(const Polynomial& a, const Polynomial& b) {
  std::optional<Monomial> shared;
  const auto look_at = [&](const Polynomial& p) {
    for (const auto& [monomial, coefficient] : p.terms()) {
      if (!shared) {
        shared = monomial;
        continue;
      }
      Monomial kept, left = monomial;
      for (Expr atom : *shared) {
        const auto at = std::find(left.begin(), left.end(), atom);
        if (at == left.end()) continue;
        kept.push_back(atom);
        left.erase(at);
      }
      shared = std::move(kept);
    }
  };
  look_at(a);
  look_at(b);
  return shared.value_or(Monomial());
}

Expr without(ExprPool& pool, const Polynomial& p, const Monomial& factors) {
  Polynomial rest;
  for (const auto& [monomial, coefficient] : p.terms()) {
    Monomial left = monomial;
    for (Expr atom : factors)
      left.erase(std::find(left.begin(), left.end(), atom));
    rest.add(std::move(left), coefficient);
  }
  return to_expr(pool, rest);
}

}  // namespace

std::string_view name_of(Solution::Side side) {
  switch (side) {
    case Side::kAtMost: return "<=";
    case Side::kAtLeast: return ">=";
    case Side::kEqual: break;
  }
  return "==";
}

void internal::require_unknown(Expr symbol) {
  if (symbol.is_symbol() && symbol.is_int()) return;
  throw Error("solve: expected an integer symbol, got " + excerpt(symbol));
}

void internal::require_solvable(Expr relation) {
  Expr bare = relation;
  while (bare.is(Op::kNot)) bare = bare.arg(0);
  if (info(bare.op()).kind != OpKind::kDefined) require_plain(relation);
}

std::optional<Solution> solve(Context& context, Expr relation, Expr symbol) {
  not_null(relation, "solve");
  require_unknown(not_null(symbol, "solve"));
  for (Expr e : {relation, symbol}) {
    if (&e.pool() == &context.pool()) continue;
    throw Error("solve: " + excerpt(e) +
                " belongs to another ExprPool; build it with Context::pool()");
  }
  const InterruptScope scope(context);
  const LimitsInForce in_force(limits_of(context.options()));
  uint64_t units = limits().compound_work;
  return InterruptScope::within(
             units, [&] { return Solver(context, symbol).solve(relation); })
      .value_or(std::nullopt);
}

Expr common_divisor(Context& context, Expr a, Expr b) {
  const InterruptScope scope(context);
  ExprPool& pool = context.pool();
  a = context.canonical(a);
  b = context.canonical(b);
  const LimitsInForce in_force(limits_of(context.options()));
  uint64_t units = limits().compound_work / 2;
  const auto found = InterruptScope::within(units, [&] {
    const Polynomial p = to_polynomial(a);
    const Polynomial q = to_polynomial(b);
    const Monomial shared = shared_factors(p, q);
    const Int number = gcd(context.multiple_of(without(pool, p, shared)),
                           context.multiple_of(without(pool, q, shared)));
    return to_expr(pool, Polynomial::term(shared, number));
  });
  return found.value_or(pool.integer(1));
}

}  // namespace proviso::inline v0_2
