// The facts after the last asserted one wait in a list, which goes to the
// reasoner when somebody asks for it.
#include "solver/engine/fact_stack.h"

#include <algorithm>
#include <tuple>

#include "solver/fixed_limits.h"
#include "sym/within.h"

namespace proviso::inline v0_2::internal {
namespace {

// What a fact takes beside what follows from it (sym/budget.h): its places in
// the stack and in what looks it up, until it is popped.
constexpr uint64_t kAssumingUnits = 6;

}  // namespace

FactStack::FactStack(ExprPool& pool, const SolverOptions& options,
                     Statistics& statistics)
    : pool_(pool),
      options_(options),
      statistics_(statistics),
      box_(symbols_of(options)) {}

// --- the stack

FactId FactStack::assume(Expr condition, Provenance&& origin, FactId id) {
  Budget::charge(kAssumingUnits);
  states_.push();
  ids_.push_back(id);
  if (waiting_.empty()) waiting_.reserve(4);
  waiting_.push_back({id, condition, std::move(origin)});
  if (has_reasoner() || !Box::is_range(condition)) assert_waiting();
  return id;
}

void FactStack::push(bool is_callers) {
  const uint32_t around = scopes_.empty() ? 0 : scopes_.back().depth;
  scopes_.push_back({ids_.size(), around + is_callers});
}

void FactStack::pop() {
  const size_t left = scopes_.back().first_fact;
  if (has_reasoner() && asserted_->scopes.size() == scopes_.size()) {
    asserted_->reasoner.undo(asserted_->scopes.back());
    asserted_->scopes.pop_back();
    waiting_.clear();
  } else {
    waiting_.resize(waiting_.size() - (ids_.size() - left));
  }
  scopes_.pop_back();
  states_.shrink(left);
  ids_.shrink(left);
  if (box_.fact_count() > left) box_.clear();
}

Expr FactStack::condition(size_t number) const {
  const size_t first = asserted();
  if (number >= first) return waiting_[number - first].condition;
  return asserted_->reasoner.facts().condition(static_cast<FactId>(number));
}

Fact FactStack::fact(size_t number) const {
  const size_t first = asserted();
  Fact fact =
      number >= first
          ? waiting_[number - first]
          : asserted_->reasoner.facts().fact(static_cast<FactId>(number));
  const auto inner = std::upper_bound(
      scopes_.begin(), scopes_.end(), number,
      [](size_t n, const Scope& scope) { return n < scope.first_fact; });
  fact.id = ids_[number];
  fact.depth = inner == scopes_.begin() ? 0 : std::prev(inner)->depth;
  return fact;
}

std::vector<Fact> FactStack::all() const {
  std::vector<Fact> facts;
  for (size_t i = 0; i < ids_.size(); ++i) facts.push_back(fact(i));
  return facts;
}

std::vector<Fact> FactStack::of_innermost_scope() const {
  std::vector<Fact> facts;
  for (size_t i = scopes_.back().first_fact; i < ids_.size(); ++i) {
    facts.push_back(fact(i));
  }
  return facts;
}

std::optional<Fact> FactStack::find(FactId id) const {
  const auto at = std::lower_bound(ids_.begin(), ids_.end(), id);
  if (at == ids_.end() || *at != id) return std::nullopt;
  return fact(static_cast<size_t>(at - ids_.begin()));
}

std::vector<FactId> FactStack::ids_of(std::vector<FactId> numbers) const {
  for (FactId& number : numbers) number = ids_[number];
  return numbers;
}

// --- what they say

const Box* FactStack::box() {
  if (ids_.size() > fixed::box_facts ||
      !options_.disabled_strategies.is_empty()) {
    return nullptr;  // it stands for a strategy
  }
  for (size_t i = box_.fact_count(); i < ids_.size() && box_.is_exact(); ++i) {
    box_.add(condition(i));
  }
  return box_.is_exact() ? &box_ : nullptr;
}

// Scopes are entered where they were, between the facts.
void FactStack::assert_waiting() {
  if (!has_reasoner()) {
    asserted_ = std::make_unique<Asserted>(*this);
    interruptible_ = &asserted_->reasoner;
    // Another thread may have interrupted before the reasoner was there.
    if (is_interrupted_) asserted_->reasoner.interrupt();
  }
  Reasoner& reasoner = asserted_->reasoner;
  std::vector<Reasoner::Mark>& marks = asserted_->scopes;
  const size_t first = asserted();
  size_t next = first;
  while (next < ids_.size() || marks.size() < scopes_.size()) {
    const Reasoner::Mark before = reasoner.mark();
    if (marks.size() < scopes_.size() &&
        scopes_[marks.size()].first_fact == next) {
      marks.push_back(before);
      continue;
    }
    if (!reasoner.work().is_undisturbed()) break;
    const Fact& fact = waiting_[next - first];
    std::ignore = try_within(Budget::kUnlimited, nullptr, [&] {
      return reasoner.assume(fact.condition, fact.origin);
    });
    // What ends a question does not leave a fact of which less follows.
    if (!reasoner.work().is_undisturbed()) {
      reasoner.undo(before);
      break;
    }
    ++next;
  }
  waiting_.erase(waiting_.begin(),
                 waiting_.begin() + static_cast<std::ptrdiff_t>(next - first));
  // Not `= {}`, which keeps the room of what there was.
  if (waiting_.empty() && waiting_.capacity() > 64) {
    waiting_ = std::vector<Fact>();
  }
}

std::optional<std::vector<FactId>> FactStack::conflict() {
  if (box() != nullptr) return std::nullopt;
  const std::optional<Reason>& why = reasoner().domain().conflict();
  if (!why) return std::nullopt;
  return reasoner().facts_in(*why);
}

// --- another thread

// First for a reasoner that is being made, and again for a call that began
// between: who resumes must see what is left to take back.
void FactStack::interrupt() {
  is_interrupted_ = true;
  if (Reasoner* reasoner = interruptible_) reasoner->interrupt();
  is_interrupted_ = true;
}

void FactStack::end_interruption() {
  is_interrupted_ = false;
  if (has_reasoner()) asserted_->reasoner.work().resume();
}

}  // namespace proviso::inline v0_2::internal
