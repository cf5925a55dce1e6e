// The parts of a state under random changes: what is undone is as it was, down
// to the lists, and a stamp comes back with its state.
#include "solver/state/trail.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <vector>

#include "solver/forms/form_text.h"
#include "solver/lower.h"
#include "solver/state/state.h"
#include "sym/parse.h"

namespace proviso {
namespace {
using namespace internal;

constexpr int kSymbols = 5;

class Changes {
 public:
  explicit Changes(uint32_t seed) : random_(seed), forms_(Forms::of(pool_)) {
    for (int i = 0; i < kSymbols; ++i) {
      const Expr s = parse(pool_, "s" + std::to_string(i));
      atoms_.push_back(forms_.pool.atoms.symbol(s));
    }
  }

  // All that is known of the symbols, as text.
  std::string picture() {
    std::ostringstream out;
    for (AtomId a : atoms_) {
      const AtomRecord& r = state_.atoms.of(a);
      out << a << " in " << r.own.span.to_string() << " " << r.own.lower << " "
          << r.own.upper << " is "
          << (state_.substitution.is_solved(a)
                  ? to_string(
                        forms_.pool,
                        forms_.pool.polys[state_.substitution.value_of(a)])
                  : "itself");
      for (uint32_t i : state_.constraints.of(a)) out << " c" << i;
      for (uint32_t i : state_.substitution.dependents_of(a)) out << " d" << i;
      out << "\n";
    }
    for (uint32_t i = 0; i < state_.constraints.size(); ++i) {
      const Constraint& c = state_.constraints[i];
      out << c.formula << (c.is_active ? " active " : " inactive ") << c.why;
    }
    for (AtomId a : atoms_) {
      for (AtomId b : atoms_) {
        if (a == b) continue;
        const Poly p = difference(a, b, 0);
        const Range form = state_.bounds.of_form(
            forms_.pool.polys.primitive_part(p), 0, reasons_);
        const Range potentials = state_.differences.by_potentials(p);
        out << "\n" << form.span.to_string() << potentials.span.to_string();
        const auto known = state_.assertions.find(forms_.pool.formulas.ge(p));
        if (known) out << (known->value ? " holds " : " fails ") << known->why;
      }
    }
    out << (state_.assertions.conflict() ? " conflict" : "");
    return out.str();
  }

  void change() {
    const AtomId a = any(), b = any();
    const Reason why = reasons_.leaf(below(100));
    const int64_t k = static_cast<int64_t>(below(20)) - 10;
    switch (below(7)) {
      case 0: return bound(a, k, why);
      case 1:
        if (a != b) {
          const Poly p = difference(a, b, k);
          state_.bounds.set_form(forms_.pool.polys.primitive_part(p),
                                 p.constant, why, kNoId);
        }
        return;
      case 2:
        if (a != b) {
          state_.constraints.add(forms_.pool.formulas.ge(difference(a, b, k)),
                                 why);
        }
        return;
      case 3:
        if (state_.constraints.size() > 0) {
          state_.constraints.deactivate(
              below(static_cast<uint32_t>(state_.constraints.size())));
        }
        return;
      case 4:
        if (a < b && !state_.substitution.is_solved(a)) {
          state_.substitution.set(
              a, forms_.pool.polys.id_of(variable(forms_.pool, b)), why);
        }
        return;
      case 5:
        if (a != b) state_.differences.add(difference(a, b, k), why);
        return;
      default:
        if (a == b && k > 8) return state_.assertions.raise(why);
        if (a != b) {
          state_.assertions.add_or_conflict(
              forms_.pool.formulas.ge(difference(a, b, 0)), why);
        }
    }
  }

  State& state() { return state_; }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

 private:
  AtomId any() { return atoms_[below(kSymbols)]; }
  Poly difference(AtomId a, AtomId b, int64_t k) {
    Poly p = variable(forms_.pool, a) - variable(forms_.pool, b);
    p.constant = k;
    return p;
  }
  void bound(AtomId a, int64_t k, Reason why) {
    const Interval& span = state_.bounds.own(a).span;
    const bool lower = below(2) == 0;
    const Interval other = lower ? Interval::at_least(k) : Interval::at_most(k);
    const Interval both = intersect(span, other);
    if (both.is_empty() || both == span) return;
    state_.bounds.set(a, lower, k, why);
  }

  std::mt19937 random_;
  ExprPool pool_;
  Forms& forms_;
  ReasonArena reasons_;
  State state_{forms_.pool, reasons_, Interval::all()};
  std::vector<AtomId> atoms_;
};

TEST(Trail, TakesBackWhateverCameSince) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Changes changes(seed);
    struct Before {
      Trail::Mark mark;
      std::string picture;
    };
    std::vector<Before> marks;
    for (int step = 0; step < 60; ++step) {
      if (changes.below(4) == 0) {
        marks.push_back({changes.state().trail.mark(), changes.picture()});
      } else if (changes.below(6) == 0 && !marks.empty()) {
        // Some marks may be left out.
        marks.resize(1 + changes.below(static_cast<uint32_t>(marks.size())));
        changes.state().trail.undo(marks.back().mark);
        ASSERT_EQ(changes.picture(), marks.back().picture) << seed;
        ASSERT_EQ(changes.state().trail.stamp(), marks.back().mark.stamp);
        marks.pop_back();
      } else {
        changes.change();
      }
    }
    while (!marks.empty()) {
      changes.state().trail.undo(marks.back().mark);
      ASSERT_EQ(changes.picture(), marks.back().picture) << seed;
      marks.pop_back();
    }
  }
}

TEST(Trail, AStampNamesOneState) {
  Trail trail;
  const Trail::Mark outer = trail.mark();
  trail.advance();
  const uint64_t inner = trail.stamp();
  EXPECT_NE(inner, outer.stamp);
  trail.undo(outer);
  EXPECT_EQ(trail.stamp(), outer.stamp);
  trail.advance();
  EXPECT_NE(trail.stamp(), inner);  // another state than the one undone
}

TEST(Trail, WhatIsForgottenIsNotCameBackTo) {
  Trail trail;
  const Trail::Mark mark = trail.mark();
  trail.forget();
  trail.undo(mark);
  EXPECT_GT(trail.stamp(), mark.stamp);
}

TEST(Meter, LimitsNest) {
  Meter meter;
  const Meter::Limit outer(meter, 10);
  {
    const Meter::Limit inner(meter, 100);  // no more than is left
    EXPECT_EQ(meter.units_left(), 10u);
    meter.spend(4);
  }
  EXPECT_EQ(meter.units_left(), 6u);
  {
    const Meter::Limit inner(meter, 2);
    EXPECT_THROW(meter.spend(3), OutOfBudget);
  }
  EXPECT_EQ(meter.units_left(), 3u);
}

}  // namespace
}  // namespace proviso
