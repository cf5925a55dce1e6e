// Forms are guessed and then proved.  To say Ne(8*u0*u1, 0) over u0 and u1,
// which are known to be >= 0:
//   1. Suppose it: the solver's bounds of u0 and u1 move from 0 to 1.
//   2. Guess "u0 >= 1 and u1 >= 1": it follows, as bounds are supersets.
//   3. Ask whether the guess implies the condition: yes, so they are the same.
// Remainders and borders are guessed from the truth at small sizes, relations
// of two terms from a few points, and both are proved both ways.
#include "guards/relation_guess.h"

#include <algorithm>
#include <array>

#include "guards/conjuncts.h"
#include "guards/env/session_facts.h"
#include "guards/fixed_limits.h"
#include "sym/canonical.h"

namespace proviso::inline v0_2::internal {
namespace {

bool subset(const std::vector<Expr>& inner, const std::vector<Expr>& outer) {
  return std::all_of(inner.begin(), inner.end(), [&](Expr e) {
    return std::find(outer.begin(), outer.end(), e) != outer.end();
  });
}

class RelationGuess {
 public:
  using Found = std::optional<std::vector<Expr>>;

  RelationGuess(Context& context, Expr condition)
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
      if (terms.size() < fixed::guessed_terms && t.is_int() &&
          !t.is_constant() && subset(free_symbols(t), symbols)) {
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
    if (ends.size() == 2 && suffices(canonical_conjunction(pool_, ends)))
      return ends;
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
      if (suffices(canonical_conjunction(pool_, both))) return both;
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
    if (all.empty() || !suffices(canonical_conjunction(pool_, all)))
      return std::nullopt;
    for (size_t i = 0; i < all.size() && all.size() > 1;) {
      std::vector<Expr> rest = all;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      if (suffices(canonical_conjunction(pool_, rest)))
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
    for (int i = 0; i < fixed::guess_point_tries; ++i) {
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
      if (points_->size() == fixed::guess_points) break;
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
    if (samples.size() < fixed::guess_samples / 4) return std::nullopt;
    if (auto ends = borders(t, samples)) {
      const Expr both = canonical_conjunction(pool_, *ends);
      if (is_same(both)) return ends;
    }
    for (int m = 2; m <= fixed::guessed_modulus; ++m) {
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
    Int first(-fixed::guess_samples / 2);
    if (range.lower() && *range.lower() > first) first = *range.lower();
    std::vector<Sample> samples;
    for (int i = 0; i < fixed::guess_samples; ++i) {
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

}  // namespace

std::optional<std::vector<Expr>> relations_over(
    Context& context, Expr condition, const std::vector<Expr>& terms) {
  return RelationGuess(context, condition).over(terms);
}

}  // namespace proviso::inline v0_2::internal
