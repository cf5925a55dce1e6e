// The simplified condition is taken apart where a part by itself means the
// same: a conjunction, a product that is not 0.  Holes at the end of a range
// move the end.  The whole is compared with the condition before it is given.
#include "guards/weakest_checks.h"

#include <algorithm>

#include "guards/conjuncts.h"
#include "sym/print.h"
#include "sym/simplify.h"

namespace proviso {
namespace {

constexpr size_t kMaxChecks = 32;

bool is_zero(Expr e) { return e.maybe_int64() == 0; }

bool is_remainder(Expr e) {
  return e.is(Op::kMod) && e.arg(1).is(Op::kInteger) &&
         e.arg(1).integer().sign() > 0;
}

// Of x % k and -x % k, which are 0 together, the one that is shorter to say.
Expr shorter_remainder(Expr remainder) {
  const Expr other = simplify(mod(-remainder.arg(0), remainder.arg(1)));
  if (!is_remainder(other)) return remainder;
  const bool is_shorter = to_string(other).size() < to_string(remainder).size();
  return is_shorter ? other : remainder;
}

class Checks {
 public:
  explicit Checks(Context& context)
      : context_(context), pool_(context.pool()) {}

  std::vector<Expr> of(Expr condition) {
    const Expr simple = as_divisibility(context_.simplify(condition));
    take_apart(simple, 0);
    if (parts_.size() > kMaxChecks) return {simple};
    move_ends();
    drop_implied();
    const Expr all = conjunction(pool_, parts_);
    const bool is_same =
        all == simple || context_.equivalent(all, simple) == Verdict::kYes;
    return is_same ? parts_ : std::vector<Expr>{simple};
  }

 private:
  void take_apart(Expr e, int depth) {
    if (e.is_true()) return;
    if (e.is(Op::kAnd)) {
      for (Expr part : e.args()) take_apart(part, depth);
      return;
    }
    const std::vector<Expr> factors = factors_that_decide(e);
    if (factors.empty() || depth > 4) {
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
      product = is_zero(e.arg(0)) ? e.arg(1) : e.arg(0);
      bound = is_zero(e.arg(0)) ? e.arg(0) : e.arg(1);
      if (!is_zero(bound)) return {};
    } else if (e.is(Op::kLe) && e.arg(0).maybe_int64() == 1) {
      product = e.arg(1);
    } else if (e.is(Op::kLt) && is_zero(e.arg(0))) {
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
    for (size_t i : {0, 1}) {
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
        parts_.erase(parts_.begin() + i);
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
  std::vector<Expr> parts_;
};

}  // namespace

Expr as_divisibility(Expr e) {
  if (e.is(Op::kAnd) || e.is(Op::kOr)) {
    std::vector<Expr> parts;
    for (Expr part : e.args()) parts.push_back(as_divisibility(part));
    return e.pool().make(e.op(), parts);
  }
  const bool is_order = e.is(Op::kLe);
  if (!is_order && !e.is(Op::kEq) && !e.is(Op::kNe)) return e;
  const Expr left = e.arg(0), right = e.arg(1);
  if (is_remainder(left) && is_zero(right)) {
    const Expr remainder = shorter_remainder(left);
    return e.is(Op::kNe) ? ne(remainder, 0) : eq(remainder, 0);
  }
  if (is_order && left.maybe_int64() == 1 && is_remainder(right)) {
    return ne(shorter_remainder(right), 0);
  }
  return e;
}

std::vector<Expr> weakest_checks(Context& context, Expr condition) {
  return Checks(context).of(condition);
}

}  // namespace proviso
