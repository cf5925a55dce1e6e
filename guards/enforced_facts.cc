// What the program may promise.  While tracing, example sizes >= 2 are assumed
// to stay >= 2.  Afterwards each answer that cost no guard is asked again of
// the enforced facts alone; an assumption is kept only where an answer falls
// without it.  So a printed range never admits a size for which an answer given
// while tracing would be wrong.  Where not being 0 is enough, only that is
// kept.

#include <algorithm>

#include "guards/shape_env_impl.h"
#include "sym/print.h"
#include "sym/within.h"

namespace proviso::inline v0_2 {

namespace {

constexpr size_t kMaxMinimizedGuards = 500;
constexpr size_t kMaxDroppedOneByOne = 6;
constexpr size_t kMaxOrigins = 16;

// What may be done at once (sym/budget.h), and for each guard besides.
constexpr uint64_t kUnits = 700'000, kUnitsOfGuard = 2'000;

bool is_of_one_size(const std::vector<Expr>& symbols) {
  return symbols.size() == 1 && symbols[0].is_int() &&
         !is_unbacked(symbols[0].symbol().kind);
}

bool decides(Context& context, const FreeAnswers::Decision& d) {
  if (context.ask_quick(d.question) == d.verdict) return true;
  return d.effort == AskEffort::kFull &&
         context.ask(d.question).verdict == d.verdict;
}

bool same_place(const SourceLocation& a, const SourceLocation& b) {
  return a.line == b.line && a.file == b.file && a.code == b.code;
}

}  // namespace

void internal::add_origin(Guard& guard, const SourceLocation& where) {
  if (guard.origins.size() >= kMaxOrigins) return;
  for (const SourceLocation& known : guard.origins) {
    if (same_place(known, where)) return;
  }
  guard.origins.push_back(where);
}

std::unique_ptr<Context> ShapeEnv::Impl::enforced_context(bool with_guards) {
  std::unique_ptr<Context> result = facts.without_assumptions();
  if (!with_guards) return result;
  for (const Guard& g : guards) {
    result->assume(g.condition, provenance_of(g.origins[0], "guard"));
  }
  for (const RuntimeAssert& a : asserts) {
    result->assume(a.condition, provenance_of(a.origin, "assertion"));
  }
  return result;
}

// New facts start over; new answers are examined on top.
const EnforcedFacts& ShapeEnv::Impl::enforced() {
  EnforcedFacts& view = enforced_facts;
  // A later answer may keep a range that makes an earlier guard superfluous.
  const bool has_new =
      !view.guards.empty() && view.answers < free_answers.branches().size();
  uint64_t units = kUnits + kUnitsOfGuard * (guards.size() + asserts.size());
  const bool is_examined =
      within(units, [&] {
        if (!view.context || view.version != facts.version() || has_new) {
          view = {facts.version(), 0, 0, nullptr, {}, {}, {}, {}};
          view.context = enforced_context(true);
        }
        examine_new(view);
        return true;
      }).has_value();
  if (!view.context) view.context = enforced_context(true);
  if (!is_examined) keep_unexamined(view);
  view.decisions = free_answers.decisions().size();
  view.answers = free_answers.branches().size();
  return view;
}

// All that may have been needed, and the answers themselves.
void ShapeEnv::Impl::keep_unexamined(EnforcedFacts& view) {
  keep_assumptions(view, facts.assumed());
  std::set<Expr, ExprLess> held;
  for (size_t i = view.decisions; i < free_answers.decisions().size(); ++i) {
    const FreeAnswers::Decision& d = free_answers.decisions()[i];
    if (is_of_one_size(symbols_of(d.question)))
      held.insert(side_that_holds(d.question, d.verdict));
  }
  for (size_t i = view.answers; i < free_answers.branches().size(); ++i)
    held.insert(free_answers.branches()[i].condition);
  for (Expr condition : held) {
    view.guards.push_back({condition, {SourceLocation{}}});
    view.context->assume(condition);
  }
}

void ShapeEnv::Impl::examine_new(EnforcedFacts& view) {
  if (free_answers.is_full()) keep_assumptions(view, facts.assumed());
  // Questions about one symbol settle most cases, and leave no choice of whose
  // assumption to keep; so they go first.
  for (bool alone : {true, false}) {
    for (size_t i = view.decisions; i < free_answers.decisions().size(); ++i) {
      const FreeAnswers::Decision& d = free_answers.decisions()[i];
      const bool is_alone = symbols_of(d.question).size() <= 1;
      if (is_alone == alone && !free_answers.is_branch(d.question)) {
        examine(view, d);
      }
    }
  }
  // Ranges first: with them, some guards are not needed.
  for (bool as_range : {true, false}) {
    for (size_t i = view.answers; i < free_answers.branches().size(); ++i) {
      examine(view, free_answers.branches()[i], as_range);
    }
  }
}

void ShapeEnv::Impl::keep_assumptions(EnforcedFacts& view,
                                      const std::vector<Expr>& symbols) {
  for (Expr s : symbols) {
    if (!view.used.insert(s).second) continue;
    view.context->assume(ge(s, 2), provenance_of_assumption(s));
  }
}

void ShapeEnv::Impl::keep_not_zero(EnforcedFacts& view,
                                   const std::vector<Expr>& symbols) {
  for (Expr s : symbols) {
    if (!view.used_one.insert(s).second) continue;
    view.context->assume(ge(s, 1), provenance_of_assumption(s, 1));
  }
}

// Those of `symbols` whose assumption exists and is not kept yet.
std::vector<Expr> ShapeEnv::Impl::open_assumptions(
    const EnforcedFacts& view, const std::vector<Expr>& symbols) {
  std::vector<Expr> open;
  for (Expr s : symbols) {
    bool is_assumed = std::find(facts.assumed().begin(), facts.assumed().end(),
                                s) != facts.assumed().end();
    if (is_assumed && !view.used.count(s)) open.push_back(s);
  }
  return open;
}

// Keeps the assumptions that this answer needs: its own symbols', reduced one
// by one while few; else what it says of one size, or that two are equal; else
// those of every connected symbol; else all.
void ShapeEnv::Impl::examine(EnforcedFacts& view,
                             const FreeAnswers::Decision& d) {
  Context& enforced = *view.context;
  auto decided_with = [&](const std::vector<Expr>& symbols, int least = 2) {
    Scope scope(enforced);
    for (Expr s : symbols) {
      enforced.assume(ge(s, least), provenance_of_assumption(s, least));
    }
    return decides(enforced, d);
  };
  const auto hold = [&] {
    const Expr held = side_that_holds(d.question, d.verdict);
    view.guards.push_back({held, {SourceLocation{}}});
    enforced.assume(held);
  };
  if (decides(enforced, d)) return;
  std::vector<Expr> own = open_assumptions(view, symbols_of(d.question));
  if (!own.empty() && decided_with(own)) {
    const bool few = own.size() <= kMaxDroppedOneByOne;
    for (size_t i = 0; few && own.size() > 1 && i < own.size();) {
      std::vector<Expr> without = own;
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
      if (decided_with(without)) {
        own = without;
      } else {
        ++i;
      }
    }
    // Where the assumption chose among the cases of a guard, the chosen case is
    // the weaker condition.
    if (d.verdict == Verdict::kYes && equates_sizes(d.question)) {
      return hold();
    }
    return decided_with(own, 1) ? keep_not_zero(view, own)
                                : keep_assumptions(view, own);
  }
  if (is_of_one_size(symbols_of(d.question))) return hold();
  std::vector<Expr> near =
      open_assumptions(view, connected_symbols(d.question));
  keep_assumptions(view, decided_with(near) ? near : facts.assumed());
}

// Where an assumption says no more than the answer it is kept: a range reads
// better.  Else the answer is a guard, the weakest that there is.
void ShapeEnv::Impl::examine(EnforcedFacts& view,
                             const FreeAnswers::Branch& answer, bool as_range) {
  Context& enforced = *view.context;
  const Expr held = answer.condition;
  if (enforced.ask_quick(held) == Verdict::kYes) return;
  const std::vector<Expr> own = open_assumptions(view, symbols_of(held));
  const auto says_the_same = [&](int least) {
    {
      Scope assumed_here(enforced);
      for (Expr s : own)
        enforced.assume(ge(s, least), provenance_of_assumption(s, least));
      if (enforced.ask_quick(held) != Verdict::kYes) return false;
    }
    Scope held_here(enforced);
    enforced.assume(held);
    return std::all_of(own.begin(), own.end(), [&](Expr s) {
      return enforced.ask_quick(ge(s, least)) == Verdict::kYes;
    });
  };
  const bool one = !own.empty() && says_the_same(1);
  if (one || (!own.empty() && says_the_same(2))) {
    for (Expr s : own) view.places[s].push_back(answer.where);
    return one ? keep_not_zero(view, own) : keep_assumptions(view, own);
  }
  if (as_range) return;
  view.guards.push_back({held, {answer.where}});
  enforced.assume(held, provenance_of(answer.where, "guard"));
}

// The question's symbols and all that guards and assertions tie to them.
std::vector<Expr> ShapeEnv::Impl::connected_symbols(Expr question) {
  std::vector<Expr> queue = symbols_of(question);
  std::set<Expr, ExprLess> seen(queue.begin(), queue.end());
  std::vector<std::vector<Expr>> links;
  for (const Guard& g : guards) links.push_back(symbols_of(g.condition));
  for (const RuntimeAssert& a : asserts) {
    links.push_back(symbols_of(a.condition));
  }
  for (bool grown = true; grown;) {
    grown = false;
    for (std::vector<Expr>& link : links) {
      bool touches = std::any_of(link.begin(), link.end(),
                                 [&](Expr s) { return seen.count(s) > 0; });
      if (!touches) continue;
      for (Expr s : link) grown |= seen.insert(s).second;
      link.clear();
    }
  }
  return {seen.begin(), seen.end()};
}

// Which guards equate two symbols and are all that is said of one of them, but
// for other such equalities: while it has two values left in its range, nothing
// implies them.
std::vector<bool> ShapeEnv::Impl::sole_equalities(const std::vector<Guard>& all,
                                                  Context& given) {
  std::vector<bool> sole(all.size());
  std::unordered_map<Expr, int, ExprHash> uses;
  std::unordered_map<Expr, Interval, ExprHash> left;
  for (const Guard& g : all) {
    for (Expr s : symbols_of(g.condition)) {
      ++uses[s];
      left.try_emplace(s, given.bounds_quick(s));
    }
  }
  const auto hangs = [&](Expr symbol, Expr from) {
    if (uses[symbol] != 1) return false;
    const Interval both = intersect(left.at(symbol), left.at(from));
    if (both.is_empty() || both.is_point()) return false;
    left.at(from) = both;
    return true;
  };
  for (bool grown = true; grown;) {
    grown = false;
    for (size_t i = 0; i < all.size(); ++i) {
      const Expr c = all[i].condition;
      if (sole[i] || !c.is(Op::kEq) || !c.arg(0).is_symbol() ||
          !c.arg(1).is_symbol()) {
        continue;
      }
      if (!hangs(c.arg(0), c.arg(1)) && !hangs(c.arg(1), c.arg(0))) continue;
      sole[i] = grown = true;
      --uses[c.arg(0)];
      --uses[c.arg(1)];
    }
  }
  return sole;
}

// A guard goes when the ranges, the guards kept before it and all guards after
// it imply it.  Halving shares the contexts: n log n facts are assumed in all.
// Sole equalities stay anyway; the others are asked about behind them.
std::vector<Guard> ShapeEnv::Impl::minimal_guards() {
  std::vector<Guard> all = guards;
  all.insert(all.end(), enforced().guards.begin(), enforced().guards.end());
  if (all.size() > kMaxMinimizedGuards) return all;
  std::unique_ptr<Context> base = enforced_context(false);
  for (Expr s : enforced().used_one)
    base->assume(ge(s, 1), provenance_of_assumption(s, 1));
  for (Expr s : enforced().used)
    base->assume(ge(s, 2), provenance_of_assumption(s));
  const std::vector<bool> sole = sole_equalities(all, *base);
  // Past the budget no guard goes.
  const Budget budget(kUnits + kUnitsOfGuard * all.size());
  auto assume = [&](size_t i) {
    base->assume(all[i].condition, provenance_of(all[i].origins[0], "guard"));
  };
  std::vector<size_t> kept, open;
  for (size_t i = 0; i < all.size(); ++i) {
    (sole[i] ? kept : open).push_back(i);
  }
  base->push();
  for (size_t i : kept) assume(i);
  auto visit = [&](auto&& self, size_t begin, size_t end) -> void {
    if (begin == end) return;
    if (end - begin == 1) {
      const size_t i = open[begin];
      const Verdict verdict = base->ask_quick(all[i].condition);
      if (verdict != Verdict::kYes) kept.push_back(i);
      return;
    }
    const size_t middle = begin + (end - begin) / 2;
    const size_t kept_before = kept.size();
    {
      Scope scope(*base);
      for (size_t i = middle; i < end; ++i) assume(open[i]);
      self(self, begin, middle);
    }
    Scope scope(*base);
    for (size_t i = kept_before; i < kept.size(); ++i) assume(kept[i]);
    self(self, middle, end);
  };
  visit(visit, 0, open.size());
  base->pop();
  std::sort(kept.begin(), kept.end());
  std::vector<Guard> result;
  for (size_t i : kept) result.push_back(all[i]);
  add_needs(result, *base);
  return result;
}

// The places of dropped guards, and of questions that were answered, go to the
// kept guards that answer them now.  `base` has the ranges alone.
void ShapeEnv::Impl::add_needs(std::vector<Guard>& kept, Context& base) {
  if (kept.empty()) return;
  std::map<Expr, std::vector<const SourceLocation*>, ExprLess> places;
  for (const Guard& g : guards) {
    for (const SourceLocation& where : g.origins) {
      places[g.condition].push_back(&where);
    }
  }
  for (const FreeAnswers::Place& place : free_answers.places())
    places[place.question].push_back(&place.where);
  std::set<Expr, ExprLess> settled;
  for (const auto& [question, _] : places) {
    if (base.ask_quick(question) != Verdict::kUnknown) settled.insert(question);
  }
  base.push();
  std::map<FactId, Guard*> guard_of;
  for (Guard& g : kept) {
    guard_of[base.assume(g.condition, provenance_of(g.origins[0], "guard"))] =
        &g;
  }
  const auto credit = [&](Guard* guard, Expr question) {
    for (const SourceLocation* where : places[question]) {
      add_origin(*guard, *where);
    }
  };
  std::map<Expr, std::vector<Guard*>, ExprLess> shared;
  for (const auto& [question, _] : places) {
    if (settled.count(question)) continue;
    if (base.ask_quick(question) == Verdict::kUnknown) continue;
    std::vector<Guard*> used;
    for (FactId fact : base.facts_used(question)) {
      auto it = guard_of.find(fact);
      if (it != guard_of.end()) used.push_back(it->second);
    }
    if (used.size() == 1) credit(used[0], question);
    if (used.size() > 1) shared[question] = used;
  }
  // A proof may have used more than it had to: one guard alone goes first.
  base.pop();
  for (const auto& entry : shared) {
    const Expr question = entry.first;
    const auto& used = entry.second;
    auto alone = std::find_if(used.begin(), used.end(), [&](Guard* g) {
      Scope only(base);
      base.assume(g->condition, provenance_of(g->origins[0], "guard"));
      return base.ask_quick(question) != Verdict::kUnknown;
    });
    if (alone != used.end()) {
      credit(*alone, question);
    } else {
      for (Guard* g : used) credit(g, question);
    }
  }
}

}  // namespace proviso::inline v0_2
