// A guard is asked about with all others assumed; halves share what they
// assume.
//
//   g0, g1, g2, g3
//     g2 and g3 assumed         g0, given g1; then g1, given g0 if that stays
//     what stays of g0 and g1   g2, given g3; then g3, given g2 if that stays
//
// So n guards take n questions and n*log(n) assumptions in place of n*n.  Of
// guards that imply each other the last one stays.
#include "guards/env/minimal_guards.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "guards/fixed_limits.h"
#include "solver/interrupt_scope.h"

namespace proviso::inline v0_2::internal {

namespace {

Provenance provenance_of_guard(const Guard& guard) {
  return provenance_of(guard.origins[0], "guard");
}

// Finds the conditions in `open` that the others do not imply, assuming them
// one by one in `context`; those in `kept` are assumed throughout.
class Minimizer {
 public:
  Minimizer(Context& context, const std::vector<Guard>& all,
            std::vector<size_t> kept)
      : context_(context), all_(all), kept_(std::move(kept)) {}

  // Their indices and the kept ones, in order.
  std::vector<size_t> run(const std::vector<size_t>& open) {
    {
      Scope scope(context_);
      for (size_t i : kept_) assume(i);
      visit(open, 0, open.size());
    }
    std::sort(kept_.begin(), kept_.end());
    return std::move(kept_);
  }

 private:
  void assume(size_t i) {
    context_.assume(all_[i].condition, provenance_of_guard(all_[i]));
  }

  // Assumed here: all that is kept, and all that is open outside [begin, end).
  void visit(const std::vector<size_t>& open, size_t begin, size_t end) {
    if (InterruptScope::is_interrupted()) {
      for (size_t i = begin; i < end; ++i) kept_.push_back(open[i]);
      return;
    }
    if (begin == end) return;
    if (end - begin == 1) {
      const size_t i = open[begin];
      if (context_.ask_quick(all_[i].condition) != Verdict::kYes)
        kept_.push_back(i);
      return;
    }
    const size_t middle = begin + (end - begin) / 2;
    const size_t kept_before = kept_.size();
    {
      Scope scope(context_);
      for (size_t i = middle; i < end; ++i) assume(open[i]);
      visit(open, begin, middle);
    }
    Scope scope(context_);
    for (size_t i = kept_before; i < kept_.size(); ++i) assume(kept_[i]);
    visit(open, middle, end);
  }

  Context& context_;
  const std::vector<Guard>& all_;
  std::vector<size_t> kept_;
};

// Each question with the guards in `kept` by which it is answered.
std::vector<std::pair<Expr, std::vector<Guard*>>> guards_that_answer(
    const MinimalGuards::Places& places, std::vector<Guard>& kept,
    Context& ranges) {
  Scope scope(ranges);
  std::map<FactId, Guard*> guard_of;
  for (Guard& g : kept)
    guard_of[ranges.assume(g.condition, provenance_of_guard(g))] = &g;
  std::vector<std::pair<Expr, std::vector<Guard*>>> result;
  for (const auto& [question, _] : places) {
    if (ranges.ask_quick(question) == Verdict::kUnknown) continue;
    auto& guards = result.emplace_back(question, std::vector<Guard*>()).second;
    for (FactId fact : ranges.facts_used(question)) {
      const auto it = guard_of.find(fact);
      if (it != guard_of.end()) guards.push_back(it->second);
    }
  }
  return result;
}

bool answers(const Guard& guard, Expr question, Context& ranges) {
  Scope scope(ranges);
  ranges.assume(guard.condition, provenance_of_guard(guard));
  return ranges.ask_quick(question) != Verdict::kUnknown;
}

}  // namespace

std::unique_ptr<Context> MinimalGuards::enforced_ranges() {
  const EnforcedFacts::View& view = enforced_.view();
  std::unique_ptr<Context> ranges = facts_.without_assumptions();
  for (Expr s : view.at_least_one)
    ranges->assume(ge(s, 1), provenance_of_assumption(s, 1));
  for (Expr s : view.at_least_two)
    ranges->assume(ge(s, 2), provenance_of_assumption(s));
  return ranges;
}

std::vector<Guard> MinimalGuards::find() {
  std::vector<Guard> all = recorder_.guards();
  const std::vector<Guard>& answers = enforced_.view().guards;
  all.insert(all.end(), answers.begin(), answers.end());
  if (all.size() > fixed::minimized_guards) return all;
  const std::unique_ptr<Context> ranges = enforced_ranges();
  const std::vector<bool> sole = sole_equalities(all, *ranges);
  // Where the budget ends, all guards stay.
  uint64_t units = fixed::enforced_units + fixed::units_of_guard * all.size();
  auto found = InterruptScope::within(
      units, [&] { return minimized(all, sole, *ranges); });
  return found ? *std::move(found) : all;
}

std::vector<Guard> MinimalGuards::minimized(const std::vector<Guard>& all,
                                            const std::vector<bool>& sole,
                                            Context& ranges) {
  std::vector<size_t> kept, open;
  for (size_t i = 0; i < all.size(); ++i) (sole[i] ? kept : open).push_back(i);
  std::vector<Guard> result;
  for (size_t i : Minimizer(ranges, all, std::move(kept)).run(open))
    result.push_back(all[i]);
  credit_places(result, ranges);
  return result;
}

// Which guards equate two symbols and are all that is said of one of them, but
// for other such equalities: while it has two values left in its range, nothing
// implies them.
std::vector<bool> MinimalGuards::sole_equalities(const std::vector<Guard>& all,
                                                 Context& ranges) {
  std::vector<bool> sole(all.size());
  std::unordered_map<Expr, int, ExprHash> uses;
  std::unordered_map<Expr, Interval, ExprHash> left;
  for (const Guard& g : all) {
    for (Expr s : symbols_.in(g.condition)) {
      ++uses[s];
      left.try_emplace(s, ranges.bounds_quick(s));
    }
  }
  const auto is_alone = [&](Expr symbol, Expr from) {
    if (uses[symbol] != 1) return false;
    const Interval both = intersect(left.at(symbol), left.at(from));
    if (both.is_empty() || both.is_point()) return false;
    left.at(from) = both;
    return true;
  };
  for (bool has_grown = true; has_grown;) {
    has_grown = false;
    for (size_t i = 0; i < all.size(); ++i) {
      const Expr c = all[i].condition;
      if (sole[i] || !c.is(Op::kEq) || !c.arg(0).is_symbol() ||
          !c.arg(1).is_symbol()) {
        continue;
      }
      if (!is_alone(c.arg(0), c.arg(1)) && !is_alone(c.arg(1), c.arg(0)))
        continue;
      sole[i] = has_grown = true;
      --uses[c.arg(0)];
      --uses[c.arg(1)];
    }
  }
  return sole;
}

// The places by question, without the questions that the ranges answer.
MinimalGuards::Places MinimalGuards::places_to_credit(Context& ranges) const {
  Places places;
  for (const Guard& g : recorder_.guards()) {
    for (const SourceLocation& where : g.origins)
      places[g.condition].push_back(&where);
  }
  for (const UnguardedAnswers::Place& place : unguarded_answers_.places())
    places[place.question].push_back(&place.where);
  std::erase_if(places, [&](const auto& entry) {
    return ranges.ask_quick(entry.first) != Verdict::kUnknown;
  });
  return places;
}

void MinimalGuards::credit_places(std::vector<Guard>& kept, Context& ranges) {
  if (kept.empty()) return;
  const Places places = places_to_credit(ranges);
  const auto credit = [&](Guard& guard, Expr question) {
    for (const SourceLocation* where : places.at(question))
      add_origin(guard, *where);
  };
  std::vector<std::pair<Expr, std::vector<Guard*>>> shared;
  for (auto& [question, guards] : guards_that_answer(places, kept, ranges)) {
    if (guards.size() == 1) credit(*guards[0], question);
    if (guards.size() > 1) shared.emplace_back(question, std::move(guards));
  }
  // A proof may have used more than it had to: one guard alone goes first.
  for (const auto& [question, guards] : shared) {
    const auto alone = std::find_if(
        guards.begin(), guards.end(),
        [&, asked = question](Guard* g) { return answers(*g, asked, ranges); });
    if (alone != guards.end()) {
      credit(**alone, question);
    } else {
      for (Guard* g : guards) credit(*g, question);
    }
  }
}

}  // namespace proviso::inline v0_2::internal
