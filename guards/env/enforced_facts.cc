// Each answer is asked again without assumptions; where it falls, the least
// that brings it back is kept.
//
//   s0 <= 0 was False         unknown without; False with s0 >= 1: it is kept
//   s0*s1 == 0 was False      neither can be left out: s0 >= 1 and s1 >= 1
//
// The symbols of the answer come first, then all that guards and assertions tie
// to them, then all.
#include "guards/env/enforced_facts.h"

#include <algorithm>

#include "guards/conjuncts.h"
#include "guards/fixed_limits.h"
#include "solver/interrupt_scope.h"

namespace proviso::inline v0_2::internal {

namespace {

bool is_of_sizes(const std::vector<Expr>& symbols) {
  return std::all_of(symbols.begin(), symbols.end(), [](Expr s) {
    return s.is_int() && !is_unbacked(s.symbol().kind);
  });
}

bool is_of_one_size(const std::vector<Expr>& symbols) {
  return symbols.size() == 1 && is_of_sizes(symbols);
}

bool decides(Context& context, const UnguardedAnswers::Decision& d) {
  if (context.ask_quick(d.question) == d.verdict) return true;
  return d.mode == AskMode::kFull &&
         context.ask(d.question).verdict == d.verdict;
}

}  // namespace

const EnforcedFacts::View& EnforcedFacts::view() {
  bring_up_to_date();
  if (admitted_.empty()) return view_;
  weaken();
  return weakened_;
}

std::vector<EnforcedFacts::SmallSize> EnforcedFacts::left_out_by_branches() {
  const View& enforced = view();
  const auto is_left_out = [&](Expr s, int size) {
    const auto& kept =
        size == 1 ? enforced.at_least_two : enforced.at_least_one;
    return (enforced.places.count(s) && kept.count(s)) ||
           std::any_of(enforced.guards.begin(), enforced.guards.end(),
                       [&](const Guard& guard) {
                         return guard.origins[0].line > 0 &&
                                leaves_out(guard.condition, s, size);
                       });
  };
  std::vector<SmallSize> result;
  for (Expr s : facts_.assumed()) {
    if (is_left_out(s, 1)) result.emplace_back(s, 1);
    if (is_left_out(s, 0) && !is_decided_otherwise_at_zero(s))
      result.emplace_back(s, 0);
  }
  return result;
}

// Whether something that is no branch has another answer there: mostly that a
// shape function counts no element, which is an error.
bool EnforcedFacts::is_decided_otherwise_at_zero(Expr symbol) {
  uint64_t units = fixed::enforced_units;
  const auto found = InterruptScope::within(units, [&] {
    const std::unique_ptr<Context> there = recorder_.enforced_context();
    there->assume(eq(symbol, 0));
    const auto& all = unguarded_answers_.decisions();
    return std::any_of(all.begin(), all.end(), [&](const auto& decision) {
      const auto& [question, verdict, mode] = decision;
      if (unguarded_answers_.is_branch(question)) return false;
      const std::vector<Expr>& of = symbols_.in(question);
      if (std::find(of.begin(), of.end(), symbol) == of.end()) return false;
      const Verdict other = there->ask_quick(question);
      return other != Verdict::kUnknown && other != verdict;
    });
  });
  return found.value_or(true);
}

void EnforcedFacts::admit(Expr symbol, int size) {
  admitted_[symbol].insert(size);
  weakened_ = View();
}

void EnforcedFacts::weaken() {
  View& w = weakened_;
  if (w.context && w.version == view_.version &&
      w.decisions == view_.decisions && w.branches == view_.branches)
    return;
  w = View();
  w.version = view_.version;
  w.decisions = view_.decisions;
  w.branches = view_.branches;
  w.places = view_.places;
  w.context = recorder_.enforced_context();
  const auto keep = [&](Expr s, int least) {
    const auto admitted = admitted_.find(s);
    if (admitted != admitted_.end())
      while (admitted->second.count(least - 1)) --least;
    if (least == 0) return;
    (least == 2 ? w.at_least_two : w.at_least_one).insert(s);
    w.context->assume(ge(s, least), provenance_of_assumption(s, least));
  };
  for (Expr s : view_.at_least_one)
    if (!view_.at_least_two.count(s)) keep(s, 1);
  for (Expr s : view_.at_least_two) keep(s, 2);
  // What else a guard leaves out stays out: t >= 3 becomes t >= 3 | t == 1.
  for (Guard guard : view_.guards) {
    const Expr before = guard.condition;
    for (const auto& [symbol, sizes] : admitted_)
      for (int size : sizes)
        if (leaves_out(before, symbol, size))
          guard.condition = logical_or(guard.condition, eq(symbol, size));
    if (guard.condition != before)
      guard.condition = simplified(guard.condition);
    if (w.context->ask_quick(guard.condition) == Verdict::kYes) continue;
    w.guards.push_back(guard);
    w.context->assume(guard.condition);
  }
}

void EnforcedFacts::bring_up_to_date() {
  // A later answer may keep a range that makes an earlier guard superfluous.
  const bool starts_over =
      !view_.context ||
      (view_.is_interrupted && !InterruptScope::is_interrupted()) ||
      view_.version != facts_.version() ||
      (!view_.guards.empty() &&
       view_.branches < unguarded_answers_.branches().size());
  uint64_t units = fixed::enforced_units +
                   fixed::units_of_guard *
                       (recorder_.guards().size() + recorder_.asserts().size());
  const bool is_examined = InterruptScope::within(units, [&] {
                             if (starts_over) {
                               view_ = View();
                               view_.version = facts_.version();
                               view_.context = recorder_.enforced_context();
                             }
                             examine_new();
                             return true;
                           }).has_value();
  if (!view_.context) view_.context = recorder_.enforced_context();
  if (!is_examined) keep_unexamined();
  view_.decisions = unguarded_answers_.decisions().size();
  view_.branches = unguarded_answers_.branches().size();
  view_.is_interrupted = InterruptScope::is_interrupted();
}

void EnforcedFacts::examine_new() {
  const auto& decisions = unguarded_answers_.decisions();
  const auto& branches = unguarded_answers_.branches();
  if (unguarded_answers_.is_full()) keep_at_least_two(facts_.assumed());
  // Questions about one symbol decide most cases, and leave no choice of whose
  // assumption to keep; so they go first.
  for (bool alone : {true, false}) {
    for (size_t i = view_.decisions; i < decisions.size(); ++i) {
      const Expr question = decisions[i].question;
      const bool is_alone = symbols_.in(question).size() <= 1;
      if (is_alone == alone && !unguarded_answers_.is_branch(question))
        examine(decisions[i]);
    }
  }
  // Ranges first: with them, some guards are not needed.
  for (bool as_range : {true, false}) {
    for (size_t i = view_.branches; i < branches.size(); ++i)
      examine(branches[i], as_range);
  }
}

// All that may have been needed, and the answers themselves.
void EnforcedFacts::keep_unexamined() {
  const auto& decisions = unguarded_answers_.decisions();
  const auto& branches = unguarded_answers_.branches();
  keep_at_least_two(facts_.assumed());
  ExprSet held;
  for (size_t i = view_.decisions; i < decisions.size(); ++i) {
    const UnguardedAnswers::Decision& d = decisions[i];
    if (is_of_one_size(symbols_.in(d.question)))
      held.insert(side_that_holds(d.question, d.verdict));
  }
  for (size_t i = view_.branches; i < branches.size(); ++i)
    held.insert(branches[i].condition);
  for (Expr condition : held) keep_as_guard(condition);
}

void EnforcedFacts::keep_at_least_two(const std::vector<Expr>& symbols) {
  for (Expr s : symbols) {
    if (!view_.at_least_two.insert(s).second) continue;
    view_.context->assume(ge(s, 2), provenance_of_assumption(s));
  }
}

void EnforcedFacts::keep_at_least_one(const std::vector<Expr>& symbols) {
  for (Expr s : symbols) {
    if (!view_.at_least_one.insert(s).second) continue;
    view_.context->assume(ge(s, 1), provenance_of_assumption(s, 1));
  }
}

void EnforcedFacts::keep_as_guard(Expr condition) {
  view_.guards.push_back({condition, {SourceLocation{}}});
  view_.context->assume(condition);
}

// The symbols among these that are assumed to be 2 or more, where the view does
// not assume it yet.
std::vector<Expr> EnforcedFacts::open_assumptions(
    const std::vector<Expr>& symbols) const {
  const std::vector<Expr>& assumed = facts_.assumed();
  std::vector<Expr> open;
  for (Expr s : symbols) {
    const bool is_assumed =
        std::find(assumed.begin(), assumed.end(), s) != assumed.end();
    if (is_assumed && !view_.at_least_two.count(s)) open.push_back(s);
  }
  return open;
}

bool EnforcedFacts::is_decided_with(const UnguardedAnswers::Decision& decision,
                                    const std::vector<Expr>& symbols,
                                    int least) {
  Context& enforced = *view_.context;
  Scope scope(enforced);
  for (Expr s : symbols) {
    enforced.assume(ge(s, least), provenance_of_assumption(s, least));
  }
  return decides(enforced, decision);
}

// Whether the condition says as much as the assumptions on these.
bool EnforcedFacts::implies_at_least(Expr condition,
                                     const std::vector<Expr>& symbols,
                                     int least) {
  Context& enforced = *view_.context;
  Scope held_here(enforced);
  enforced.assume(condition);
  return std::all_of(symbols.begin(), symbols.end(), [&](Expr s) {
    return enforced.ask_quick(ge(s, least)) == Verdict::kYes;
  });
}

// While they are few, each is tried without.
std::vector<Expr> EnforcedFacts::without_needless(
    const UnguardedAnswers::Decision& decision, std::vector<Expr> symbols) {
  if (symbols.size() > fixed::dropped_ranges) return symbols;
  for (size_t i = 0; symbols.size() > 1 && i < symbols.size();) {
    std::vector<Expr> rest = symbols;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    if (is_decided_with(decision, rest)) {
      symbols = rest;
    } else {
      ++i;
    }
  }
  return symbols;
}

// Keeps the assumptions that this answer needs: its own symbols'; else what it
// says of one size, or that two are equal; else those of every connected
// symbol; else all.
void EnforcedFacts::examine(const UnguardedAnswers::Decision& d) {
  if (decides(*view_.context, d)) return;
  std::vector<Expr> own = open_assumptions(symbols_.in(d.question));
  if (!own.empty() && is_decided_with(d, own)) {
    own = without_needless(d, own);
    const int least = is_decided_with(d, own, 1) ? 1 : 2;
    const Expr held = side_that_holds(d.question, d.verdict);
    // Such as s0 + s1 > 0, or where the assumption chose among the cases of a
    // guard: the answer is the weaker condition.
    if (is_of_sizes(symbols_.in(held)) && !implies_at_least(held, own, least))
      return keep_as_guard(held);
    return least == 1 ? keep_at_least_one(own) : keep_at_least_two(own);
  }
  if (is_of_one_size(symbols_.in(d.question)))
    return keep_as_guard(side_that_holds(d.question, d.verdict));
  const std::vector<Expr> connected =
      open_assumptions(connected_symbols(d.question));
  keep_at_least_two(is_decided_with(d, connected) ? connected
                                                  : facts_.assumed());
}

// Where an assumption says no more than the answer it is kept: a range reads
// better.  Else the answer is a guard, the weakest that there is.
void EnforcedFacts::examine(const UnguardedAnswers::Branch& branch,
                            bool as_range) {
  Context& enforced = *view_.context;
  const Expr held = branch.condition;
  if (enforced.ask_quick(held) == Verdict::kYes) return;
  const std::vector<Expr> own = open_assumptions(symbols_.in(held));
  const auto says_the_same = [&](int least) {
    {
      Scope assumed_here(enforced);
      for (Expr s : own)
        enforced.assume(ge(s, least), provenance_of_assumption(s, least));
      if (enforced.ask_quick(held) != Verdict::kYes) return false;
    }
    return implies_at_least(held, own, least);
  };
  const bool is_one = !own.empty() && says_the_same(1);
  if (is_one || (!own.empty() && says_the_same(2))) {
    for (Expr s : own) view_.places[s].push_back(branch.where);
    return is_one ? keep_at_least_one(own) : keep_at_least_two(own);
  }
  if (as_range) return;
  view_.guards.push_back({held, {branch.where}});
  enforced.assume(held, provenance_of(branch.where, "guard"));
}

// The question's symbols and all that guards and assertions tie to them.
std::vector<Expr> EnforcedFacts::connected_symbols(Expr question) {
  const std::vector<Expr>& own = symbols_.in(question);
  ExprSet seen(own.begin(), own.end());
  std::vector<std::vector<Expr>> links;
  for (const Guard& g : recorder_.guards())
    links.push_back(symbols_.in(g.condition));
  for (const RuntimeAssert& a : recorder_.asserts())
    links.push_back(symbols_.in(a.condition));
  for (bool has_grown = true; has_grown;) {
    has_grown = false;
    for (std::vector<Expr>& link : links) {
      const bool touches = std::any_of(
          link.begin(), link.end(), [&](Expr s) { return seen.count(s) > 0; });
      if (!touches) continue;
      for (Expr s : link) has_grown |= seen.insert(s).second;
      link.clear();
    }
  }
  return {seen.begin(), seen.end()};
}

}  // namespace proviso::inline v0_2::internal
