// Forms are guessed and then proved.  To say Ne(8*u0*u1, 0) over u0 and u1,
// which are known to be >= 0:
//   1. Suppose it: the solver's bounds of u0 and u1 move from 0 to 1.
//   2. Guess "u0 >= 1 and u1 >= 1": it follows, as bounds are supersets.
//   3. Ask whether the guess implies the condition: yes, so they are the same.
// Remainders and borders are guessed from the truth at small sizes, relations
// of two terms from a few points, and both are proved both ways.  A condition
// that no guess says is taken apart - a conjunction, a product that is not 0 -
// and each part is said by itself.
#include "guards/weakest_checks.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>

#include "guards/conjuncts.h"
#include "guards/env/session_facts.h"
#include "solver/interrupt_scope.h"
#include "sym/canonical.h"
#include "sym/print.h"

namespace proviso::inline v0_2::internal {
namespace {

constexpr size_t kMaxChecks = 32;
// What may be done for a condition (sym/budget.h); past it, it is said as it
// is.
constexpr uint64_t kCheckUnits = 700'000;
constexpr size_t kMostTerms = 6;
constexpr int kSamples = 160;
constexpr int kMostModulus = 64;
constexpr int kMostPoints = 24;  // at which a guess of two terms is tried

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

bool subset(const std::vector<Expr>& inner, const std::vector<Expr>& outer) {
  return std::all_of(inner.begin(), inner.end(), [&](Expr e) {
    return std::find(outer.begin(), outer.end(), e) != outer.end();
  });
}

Expr all_of(ExprPool& pool, const std::vector<Expr>& parts) {
  return canonical(conjunction(pool, parts));
}

// --- one condition, as few relations over given terms

class Search {
 public:
  using Found = std::optional<std::vector<Expr>>;

  Search(Context& context, Expr condition)
      : pool_(context.pool()),
        facts_(context),
        condition_(condition),
        holds_(context.clone()),
        fails_(context.clone()) {
    holds_.assume(condition);
    fails_.assume(canonical(logical_not(condition)));
  }

  // nullopt where no guess is the same.
  Found over(const std::vector<Expr>& all_terms) {
    const std::vector<Expr> symbols = free_symbols(condition_);
    std::vector<Expr> terms;
    for (Expr t : all_terms) {
      if (terms.size() < kMostTerms && t.is_int() && !t.is_constant() &&
          subset(free_symbols(t), symbols)) {
        terms.push_back(t);
      }
    }
    for (Expr t : terms) {
      if (auto found = over_one(t)) return found;
    }
    if (auto found = by_ends(terms)) return found;
    for (size_t i = 0; i < terms.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (auto found = over_two(terms[j], terms[i])) return found;
      }
    }
    return std::nullopt;
  }

 private:
  bool suffices(Expr guess) {
    Context with = facts_.clone();
    with.assume(guess);
    return with.ask(condition_).verdict == Verdict::kYes;
  }
  bool is_same(Expr guess) {
    return holds_.ask(guess).verdict == Verdict::kYes && suffices(guess);
  }

  // What the condition adds to the ends of a term.
  std::vector<Expr> moved_ends(Expr t) {
    const Interval before = without_machine_ends(facts_.bounds(t));
    const Interval now = without_machine_ends(holds_.bounds(t));
    if (now.is_empty()) return {};
    if (now.is_point() && !before.is_point())
      return {eq(t, pool_.integer(*now.lower()))};
    std::vector<Expr> ends;
    if (now.lower() && now.lower() != before.lower())
      ends.push_back(ge(t, pool_.integer(*now.lower())));
    if (now.upper() && now.upper() != before.upper())
      ends.push_back(le(t, pool_.integer(*now.upper())));
    return ends;
  }

  Found over_one(Expr t) {
    const std::vector<Expr> ends = moved_ends(t);
    for (Expr end : ends)
      if (suffices(end)) return {{end}};
    if (ends.size() == 2 && suffices(all_of(pool_, ends))) return ends;
    // The range is that of the points where it fails: it may hold at some of
    // these values too.
    const Interval hole = fails_.bounds(t);
    if (hole.is_point()) {
      const Expr apart = ne(t, pool_.integer(*hole.lower()));
      if (is_same(apart)) return {{apart}};
    }
    const Int step = holds_.multiple_of(t), gap = fails_.multiple_of(t);
    if (step > Int(1)) {
      const Expr divides = eq(mod(t, pool_.integer(step)), 0);
      if (suffices(divides)) return {{divides}};
      const Expr positive = ge(t, 1);
      if (is_same(logical_and(divides, positive))) return {{divides, positive}};
      std::vector<Expr> both = ends;
      both.push_back(divides);
      if (suffices(all_of(pool_, both))) return both;
    }
    if (gap > Int(1)) {
      const Expr apart = ne(mod(t, pool_.integer(gap)), 0);
      if (is_same(apart)) return {{apart}};
    }
    return by_samples(t);
  }

  Found by_ends(const std::vector<Expr>& terms) {
    if (terms.size() < 2) return std::nullopt;
    std::vector<Expr> all;
    for (Expr t : terms) {
      if (!t.is_symbol()) continue;
      for (Expr end : moved_ends(t)) all.push_back(end);
    }
    if (all.empty() || !suffices(all_of(pool_, all))) return std::nullopt;
    for (size_t i = 0; i < all.size() && all.size() > 1;) {
      std::vector<Expr> rest = all;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      if (suffices(all_of(pool_, rest)))
        all = rest;
      else
        ++i;
    }
    return all;
  }

  Found over_two(Expr a, Expr b) {
    for (Expr guess :
         {eq(a, b), ne(a, b), le(a, b), ge(a, b), lt(a, b), gt(a, b)}) {
      if (!differs_at_a_point(guess) && is_same(guess)) return {{guess}};
    }
    return std::nullopt;
  }

  // Points at which all facts that speak of the condition's symbols hold.
  const std::vector<Assignment>& points() {
    if (points_) return *points_;
    points_.emplace();
    const std::vector<Expr> symbols = free_symbols(condition_);
    std::vector<Expr> known;
    for (const Fact& fact : facts_.facts()) {
      const std::vector<Expr> of = free_symbols(fact.condition);
      if (subset(of, symbols)) {
        known.push_back(fact.condition);
      } else if (std::any_of(of.begin(), of.end(),
                             [&](Expr s) { return subset({s}, symbols); })) {
        return *points_;  // a point may break it
      }
    }
    for (Expr s : symbols) {
      if (!s.is_int()) return *points_;
    }
    // Small values in an order that mixes them: k*(i+1)^2 mod 7, and near ends.
    for (int i = 0; i < 4 * kMostPoints; ++i) {
      Assignment point;
      for (size_t k = 0; k < symbols.size(); ++k) {
        const int step = static_cast<int>(k) + 1;
        const Interval range = facts_.bounds_quick(symbols[k]);
        const Int low = range.lower().value_or(Int(-2));
        point.set(symbols[k], low + Int((step * (i + 1) * (i + step)) % 7));
      }
      if (std::all_of(known.begin(), known.end(), [&](Expr fact) {
            return evaluate(fact, point).is_true();
          })) {
        points_->push_back(point);
      }
      if (points_->size() == kMostPoints) break;
    }
    return *points_;
  }

  bool differs_at_a_point(Expr guess) {
    return std::any_of(
        points().begin(), points().end(), [&](const Assignment& point) {
          const Evaluation wanted = evaluate(condition_, point);
          return wanted.defined() &&
                 wanted.is_true() != evaluate(guess, point).is_true();
        });
  }

  // The truth at small values of the only symbol.
  Found by_samples(Expr t) {
    const std::vector<Expr> symbols = free_symbols(condition_);
    if (symbols.size() != 1 || !symbols[0].is_int()) return std::nullopt;
    const std::vector<Sample> samples = take(symbols[0], t);
    if (samples.size() < kSamples / 4) return std::nullopt;
    if (auto ends = borders(t, samples)) {
      const Expr both = all_of(pool_, *ends);
      if (is_same(both)) return ends;
    }
    for (int m = 2; m <= kMostModulus; ++m) {
      for (Expr guess : guesses(t, m, samples))
        if (is_same(guess)) return {{guess}};
    }
    return std::nullopt;
  }

  struct Sample {
    Int value;
    bool holds;
  };

  std::vector<Sample> take(Expr symbol, Expr t) {
    std::vector<Expr> known;
    for (const Fact& fact : facts_.facts())
      if (free_symbols(fact.condition) == std::vector<Expr>{symbol})
        known.push_back(fact.condition);
    const Interval range = facts_.bounds_quick(symbol);
    // Around 0 where it has no end below.
    Int first(-kSamples / 2);
    if (range.lower() && *range.lower() > first) first = *range.lower();
    std::vector<Sample> samples;
    for (int i = 0; i < kSamples; ++i) {
      Assignment point;
      point.set(symbol, first + Int(i));
      const bool allowed = std::all_of(known.begin(), known.end(), [&](Expr k) {
        return evaluate(k, point).is_true();
      });
      const Evaluation value = evaluate(t, point);
      if (!allowed || !value.defined()) continue;
      samples.push_back(
          {std::get<Int>(*value.value), evaluate(condition_, point).is_true()});
    }
    return samples;
  }

  // The ends of the values at which the samples hold, where they hold at all
  // between: t >= k, t <= k, or both.
  Found borders(Expr t, const std::vector<Sample>& samples) {
    std::optional<Int> least, greatest;  // where it holds
    for (const Sample& s : samples) {
      if (!s.holds) continue;
      if (!least || s.value < *least) least = s.value;
      if (!greatest || s.value > *greatest) greatest = s.value;
    }
    if (!least) return std::nullopt;
    bool is_bounded_below = false, is_bounded_above = false;
    for (const Sample& s : samples) {
      if (s.holds) continue;
      if (s.value >= *least && s.value <= *greatest) return std::nullopt;
      (s.value < *least ? is_bounded_below : is_bounded_above) = true;
    }
    std::vector<Expr> ends;
    if (is_bounded_below) ends.push_back(ge(t, pool_.integer(*least)));
    if (is_bounded_above) ends.push_back(le(t, pool_.integer(*greatest)));
    if (ends.empty()) return std::nullopt;
    return ends;
  }

  // t % m == r, and t % m != r, where the samples do not refute them.
  std::vector<Expr> guesses(Expr t, int m, const std::vector<Sample>& samples) {
    std::vector<bool> with(static_cast<size_t>(m)), without(with);
    for (const Sample& s : samples) {
      const auto r =
          static_cast<size_t>(*floor_mod(s.value, Int(m)).to_int64());
      (s.holds ? with : without)[r] = true;
    }
    for (size_t r = 0; r < with.size(); ++r)
      if (with[r] == without[r]) return {};
    const Expr remainder = mod(t, pool_.integer(m));
    std::vector<Expr> found;
    for (const auto& [side, equal] :
         std::array{std::pair(&with, true), std::pair(&without, false)}) {
      if (std::count(side->begin(), side->end(), true) != 1) continue;
      const auto r = std::find(side->begin(), side->end(), true);
      const Expr at = pool_.integer(Int(int64_t{r - side->begin()}));
      found.push_back(equal ? eq(remainder, at) : ne(remainder, at));
    }
    return found;
  }

  ExprPool& pool_;
  Context& facts_;
  Expr condition_;
  Context holds_, fails_;
  std::optional<std::vector<Assignment>> points_;
};

// --- a condition in parts

class Checks {
 public:
  Checks(Context& context, const std::vector<Expr>& terms)
      : context_(context), pool_(context.pool()), terms_(terms) {}

  std::vector<Expr> of(Expr condition) {
    if (auto found = Search(context_, condition).over(terms_)) return *found;
    Expr simple = as_divisibility(context_.simplify(condition));
    // u0//4 != 1 is not said better by u0 <= 3 or u0 >= 8.
    if (simple.is(Op::kOr)) {
      const Expr as_asked = as_divisibility(canonical(condition));
      if (is_relation(as_asked.op())) simple = as_asked;
    }
    if (simple.is_constant()) return {condition};
    take_apart(simple, 0);
    if (parts_.size() > kMaxChecks) return {simple};
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
      const auto found = Search(context_, all_of(pool_, group)).over(terms_);
      if (found && found->size() <= group.size()) {
        add_parts(*found);
        continue;
      }
      for (Expr part : group) {
        const auto alone = Search(context_, part).over(terms_);
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
  uint64_t units = kCheckUnits;
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
      const std::vector<Expr> together =
          weakest_checks(context, all_of(context.pool(), group), terms);
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
  return weakest_checks(context, condition, free_symbols(condition));
}

}  // namespace proviso::inline v0_2::internal
