// A condition is said as relations over the terms that a program has words for
// (guards/relation_guess.h).  What none of these says is taken apart - a
// conjunction, a product that is not 0 - and each part is said by itself; parts
// over the same symbols are said together where that is shorter, and what
// others imply goes.
//
//   Ne(u6, 1) & Ne(96*u6, 0), u6 >= 0 known
//     Ne(u6, 1), u6 >= 1     by itself each
//     u6 >= 2                together
#include "guards/weakest_checks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "guards/conjuncts.h"
#include "guards/fixed_limits.h"
#include "guards/relation_guess.h"
#include "solver/interrupt_scope.h"
#include "sym/canonical.h"
#include "sym/print.h"

namespace proviso::inline v0_2::internal {
namespace {

bool is_literal_zero(Expr e) { return e.maybe_int64() == 0; }

bool is_remainder(Expr e) {
  return e.is(Op::kMod) && e.arg(1).is(Op::kInteger) &&
         e.arg(1).integer().sign() > 0;
}

// x % k or -x % k, which are 0 together: the one with the shorter text.
Expr shorter_remainder(Expr remainder) {
  const Expr other = canonical(mod(-remainder.arg(0), remainder.arg(1)));
  if (!is_remainder(other)) return remainder;
  const bool is_shorter = to_string(other).size() < to_string(remainder).size();
  return is_shorter ? other : remainder;
}

// --- a condition in parts

class Checks {
 public:
  Checks(Context& context, const std::vector<Expr>& terms)
      : context_(context), pool_(context.pool()), terms_(terms) {}

  std::vector<Expr> of(Expr condition) {
    if (auto found = relations_over(context_, condition, terms_)) return *found;
    Expr simple = as_divisibility(context_.simplify(condition));
    // u0//4 != 1 is not said better by u0 <= 3 or u0 >= 8.
    if (simple.is(Op::kOr)) {
      const Expr as_asked = as_divisibility(canonical(condition));
      if (is_relation(as_asked.op())) simple = as_asked;
    }
    if (simple.is_constant()) return {condition};
    take_apart(simple, 0);
    if (parts_.size() > fixed::weakest_checks) return {simple};
    if (parts_.size() > 1) say_each();
    move_ends();
    drop_implied();
    const Expr all = conjunction(pool_, parts_);
    const bool is_same =
        all == simple || context_.equivalent(all, simple) == Verdict::kYes;
    return is_same ? parts_ : std::vector<Expr>{simple};
  }

 private:
  // Each by itself, but what speaks of one symbol alone together.
  void say_each() {
    std::vector<std::vector<Expr>> groups;
    std::map<Expr, size_t, ExprLess> of_one;  // a symbol's group
    for (Expr part : parts_) {
      const std::vector<Expr> symbols = free_symbols(part);
      if (symbols.size() != 1) {
        groups.push_back({part});
        continue;
      }
      const auto [at, is_new] = of_one.emplace(symbols[0], groups.size());
      if (is_new) groups.emplace_back();
      groups[at->second].push_back(part);
    }
    parts_.clear();
    for (const std::vector<Expr>& group : groups) {
      const auto found =
          relations_over(context_, canonical_conjunction(pool_, group), terms_);
      if (found && found->size() <= group.size()) {
        add_parts(*found);
        continue;
      }
      for (Expr part : group) {
        const auto alone = relations_over(context_, part, terms_);
        add_parts(alone ? *alone : std::vector<Expr>{part});
      }
    }
  }
  void add_parts(const std::vector<Expr>& more) {
    for (Expr e : more) {
      if (std::find(parts_.begin(), parts_.end(), e) == parts_.end()) {
        parts_.push_back(e);
      }
    }
  }

  void take_apart(Expr e, int depth) {
    if (e.is_true()) return;
    if (e.is(Op::kAnd)) {
      for (Expr part : conjuncts(e)) take_apart(part, depth);
      return;
    }
    const std::vector<Expr> factors = factors_that_decide(e);
    if (factors.empty() || depth == fixed::factor_depth) {
      parts_.push_back(end_of_range(e));
      return;
    }
    for (Expr f : factors) take_apart(context_.simplify(f), depth + 1);
  }

  // f*g != 0: neither is 0.  f*g >= 1 where neither is negative: both >= 1.
  std::vector<Expr> factors_that_decide(Expr e) {
    std::vector<Expr> result;
    Expr product, bound;
    if (e.is(Op::kNe)) {
      product = is_literal_zero(e.arg(0)) ? e.arg(1) : e.arg(0);
      bound = is_literal_zero(e.arg(0)) ? e.arg(0) : e.arg(1);
      if (!is_literal_zero(bound)) return {};
    } else if (e.is(Op::kLe) && e.arg(0).maybe_int64() == 1) {
      product = e.arg(1);
    } else if (e.is(Op::kLt) && is_literal_zero(e.arg(0))) {
      product = e.arg(1);
    } else {
      return {};
    }
    if (!product.is(Op::kMul)) return {};
    for (Expr f : product.args()) {
      if (!f.is_int()) return {};
      if (f.is_constant()) {
        if (f.integer() < Int(0) && !e.is(Op::kNe)) return {};
        continue;
      }
      if (!e.is(Op::kNe) && !is_at_least(f, 0)) return {};
      result.push_back(is_at_least(f, 0) ? ge(f, 1) : ne(f, 0));
    }
    return result;
  }

  bool is_at_least(Expr e, int64_t value) {
    const Interval range = context_.bounds(e);
    return range.lower() && *range.lower() >= Int(value);
  }

  // u0 != 0 is u0 >= 1 where u0 >= 0 is known.
  Expr end_of_range(Expr e) {
    if (!e.is(Op::kNe)) return e;
    for (const size_t i : {size_t{0}, size_t{1}}) {
      const Expr x = e.arg(i), value = e.arg(1 - i);
      if (!x.is_int() || x.is_constant() || !value.is(Op::kInteger)) continue;
      const Interval range = context_.bounds(x);
      if (range.lower() && *range.lower() == value.integer()) {
        return ge(x, pool_.integer(value.integer() + Int(1)));
      }
      if (range.upper() && *range.upper() == value.integer()) {
        return le(x, pool_.integer(value.integer() - Int(1)));
      }
    }
    return e;
  }

  // u >= 1 and u != 1 is u >= 2: ends are looked at again under the others.
  void move_ends() {
    for (size_t round = 0; round < parts_.size(); ++round) {
      bool moved = false;
      for (size_t i = 0; i < parts_.size(); ++i) {
        if (!parts_[i].is(Op::kNe)) continue;
        Scope scope(context_);
        assume_others(i);
        const Expr end = end_of_range(parts_[i]);
        moved |= end != parts_[i];
        parts_[i] = end;
      }
      if (!moved) return;
    }
  }

  void drop_implied() {
    for (size_t i = 0; i < parts_.size();) {
      Scope scope(context_);
      assume_others(i);
      const bool follows = context_.ask_quick(parts_[i]) == Verdict::kYes;
      if (follows) {
        parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  }

  void assume_others(size_t left_out) {
    for (size_t k = 0; k < parts_.size(); ++k) {
      if (k != left_out) context_.assume(parts_[k]);
    }
  }

  Context& context_;
  ExprPool& pool_;
  const std::vector<Expr>& terms_;
  std::vector<Expr> parts_;
};

}  // namespace

namespace {

Expr relation_as_divisibility(Expr e) {
  const bool is_order = e.is(Op::kLe);
  if (!is_order && !e.is(Op::kEq) && !e.is(Op::kNe)) return e;
  const Expr left = e.arg(0), right = e.arg(1);
  if (is_remainder(left) && is_literal_zero(right)) {
    const Expr remainder = shorter_remainder(left);
    return e.is(Op::kNe) ? ne(remainder, 0) : eq(remainder, 0);
  }
  if (is_order && left.maybe_int64() == 1 && is_remainder(right)) {
    return ne(shorter_remainder(right), 0);
  }
  return e;
}

}  // namespace

Expr as_divisibility(Expr e) {
  std::unordered_map<Expr, Expr, ExprHash> made;
  const auto is_joined = [](Expr x) { return x.is(Op::kAnd) || x.is(Op::kOr); };
  const auto of = [&](Expr x) {
    return is_joined(x) ? made.at(x) : relation_as_divisibility(x);
  };
  visit_arguments_first(
      e, [&](Expr x) { return !is_joined(x) || made.contains(x); },
      [&](Expr x) {
        std::vector<Expr> parts;
        for (Expr part : x.args()) parts.push_back(of(part));
        made.emplace(x, x.pool().make(x.op(), parts));
      });
  return of(e);
}

std::vector<Expr> weakest_checks(Context& context, Expr condition,
                                 const std::vector<Expr>& terms) {
  const InterruptScope scope(context);
  uint64_t units = fixed::weakest_check_units;
  return InterruptScope::within(
             units, [&] { return Checks(context, terms).of(condition); })
      .value_or(std::vector{condition});
}

std::vector<Expr> said_together(Context& context,
                                const std::vector<Expr>& conditions,
                                const std::vector<Expr>& terms) {
  std::vector<std::vector<Expr>> groups;
  for (Expr c : conditions) {
    const auto group = std::find_if(
        groups.begin(), groups.end(),
        [&](const auto& g) { return free_symbols(g[0]) == free_symbols(c); });
    if (group == groups.end())
      groups.push_back({c});
    else
      add_once(*group, c);
  }
  std::vector<Expr> result;
  for (const std::vector<Expr>& group : groups) {
    std::vector<Expr> best = group;
    if (group.size() > 1) {
      const std::vector<Expr> together = weakest_checks(
          context, canonical_conjunction(context.pool(), group), terms);
      const bool is_one_line_each =
          std::none_of(together.begin(), together.end(),
                       [](Expr e) { return e.is(Op::kAnd); });
      if (together.size() < group.size() && is_one_line_each) best = together;
    }
    result.insert(result.end(), best.begin(), best.end());
  }
  return result;
}

std::vector<Expr> weakest_checks(Context& context, Expr condition) {
  const InterruptScope scope(context);
  return weakest_checks(context, condition, free_symbols(condition));
}

}  // namespace proviso::inline v0_2::internal
