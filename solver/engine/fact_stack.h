// solver/engine/fact_stack.h - the facts in force, in scopes, and the reasoner
// to which they are asserted.
//
//   FactStack facts(pool, options, statistics);
//   facts.assume(1 <= n & n <= 64, origin);   // a range: noted alone
//   facts.box()->decide(n <= 100);            // yes, nothing is asserted
//   facts.push(true);
//   facts.assume(Eq(m, 2*n), origin);         // no range: both are asserted
//   decide(facts.reasoner(), m <= 200);
//   facts.pop();                              // n alone again
//
// A compiler makes contexts by the ten thousand and asks most of them little.
// While the facts are ranges of symbols they are a list, from which a box is
// made when something is asked (box.h).  The reasoner is made for the first
// fact that is no range, or for the first question that the box does not
// decide; from then on each fact is asserted when it is assumed.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "solver/engine/box.h"
#include "solver/engine/memo.h"
#include "solver/engine/reasoner.h"
#include "solver/interrupt_scope.h"

namespace proviso::inline v0_2::internal {

class FactStack {
 public:
  // The options and the statistics outlive it.
  FactStack(ExprPool& pool, const SolverOptions& options,
            Statistics& statistics);

  ExprPool& pool() const { return pool_; }
  const SolverOptions& options() const { return options_; }
  Statistics& statistics() const { return statistics_; }
  void count(Tier decided_by) { ++statistics_.decided[decided_by]; }

  // --- the stack.  Inside, facts are numbered as they stand; what a caller
  // gets are ids, which count up and are never used twice.
  FactId assume(Expr condition, Provenance&& origin) {
    return assume(condition, std::move(origin), next_id_++);
  }
  void assume_again(Fact&& fact) {  // with the id that it had
    assume(fact.condition, std::move(fact.origin), fact.id);
  }
  void push(bool is_callers);  // a caller's scope counts for Fact::depth
  void pop();

  size_t size() const { return ids_.size(); }
  std::vector<Fact> all() const;
  std::vector<Fact> of_innermost_scope() const;
  std::optional<Fact> find(FactId id) const;
  std::vector<FactId> ids_of(std::vector<FactId> numbers) const;
  const StateNames& states() const { return states_; }

  // --- what they say
  // Where all facts are ranges of symbols, which do not contradict each other.
  const Box* box();
  bool has_reasoner() const { return asserted_ != nullptr; }
  // Made where it is not, and with all facts asserted.
  Reasoner& reasoner() {
    const bool is_ready = has_reasoner() && waiting_.empty() &&
                          asserted_->scopes.size() == scopes_.size();
    if (!is_ready) [[unlikely]]
      assert_waiting();
    return asserted_->reasoner;
  }
  uint64_t work() const {
    return has_reasoner() ? asserted_->reasoner.domain().work() : 0;
  }
  // The facts that contradict each other, where ranges and equalities showed it
  // when they were asserted.
  std::optional<std::vector<FactId>> conflict();

  // --- another thread ends the call under way, until resume()
  void interrupt();
  void resume() {
    if (InterruptScope::goes_on(is_interrupted_)) return;
    if (is_interrupted_.load(std::memory_order_relaxed)) end_interruption();
  }

 private:
  struct Scope {
    size_t first_fact;
    uint32_t depth;  // callers' scopes down to here
  };
  // The first of all facts, asserted.
  struct Asserted {
    explicit Asserted(const FactStack& facts)
        : reasoner(facts.pool(), facts.options(), facts.statistics()) {}

    Reasoner reasoner;
    std::vector<Reasoner::Mark> scopes;  // of the outermost
  };

  FactId assume(Expr condition, Provenance&& origin, FactId id);
  void assert_waiting();
  void end_interruption();
  size_t asserted() const { return ids_.size() - waiting_.size(); }
  Expr condition(size_t number) const;
  Fact fact(size_t number) const;

  ExprPool& pool_;
  const SolverOptions& options_;
  Statistics& statistics_;
  std::vector<Scope> scopes_;
  SmallVector<FactId, 4> ids_;  // by number
  FactId next_id_ = 0;
  std::vector<Fact> waiting_;  // the last facts, to be asserted
  StateNames states_;
  Box box_;  // of the first facts
  std::unique_ptr<Asserted> asserted_;
  // The reasoner, for another thread that interrupts.
  std::atomic<Reasoner*> interruptible_{nullptr};
  std::atomic<bool> is_interrupted_{false};
};

}  // namespace proviso::inline v0_2::internal
