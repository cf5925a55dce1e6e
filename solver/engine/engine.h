// solver/engine/engine.h - what a context and its clones do: versions of the
// facts, answers that are kept, whole answers with their facts.
//
//   Engine engine(pool, options);
//   engine.go_to(version);              // the facts of one context
//   engine.assume(fact, origin);
//   engine.ask(question);               // remembered for as long as it holds
//
// One engine serves a context and its clones: facts that differ between them
// are assumed and retracted on the way.  Every call works within
// SolverOptions::work_limit, and returns what it knows by then.
//
// A compiler makes contexts by the ten thousand and asks most of them little.
// While the facts are ranges of symbols, an engine is a list of them, and
// ask_quick() tries the box that they make (box.h); simplify() always does.
// What reasons is made for the first question that this does not settle, or for
// the first fact that is no range; from then on each fact is asserted when it
// is assumed.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "solver/engine/box.h"
#include "solver/engine/memo.h"
#include "solver/engine/reasoner.h"
#include "solver/engine/simplification.h"

namespace proviso::inline v0_2::internal {

// The facts assumed since the version before, when it is not the present one.
struct Version {
  std::shared_ptr<Version> parent;
  bool is_scope = false;   // made by push()
  bool is_frozen = false;  // a clone builds on it: facts go to a new version
  std::vector<Fact> facts = {};

  // A chain of any length goes without the machine's stack.
  ~Version() {
    while (parent != nullptr && parent.use_count() == 1) {
      parent = std::exchange(parent->parent, nullptr);
    }
  }
};

class Engine {
 public:
  Engine(ExprPool& pool, const SolverOptions& options);

  ExprPool& pool() { return pool_; }
  const SolverOptions& options() const { return options_; }
  const Limits& limits() const { return limits_; }
  const Statistics& statistics();
  // What the pool owns for all its contexts: gone when the pool is.
  bool has_lost_its_pool() const { return of_pool_.expired(); }
  // Throws Error where e is null or of another pool.
  void check(Expr e, const char* call, const char* expected) {
    if (!e || &e.pool() != &pool_) [[unlikely]]
      fail_check(e, call, expected);
  }

  // --- versions: a path, each but the first in a scope
  void start_at(const std::shared_ptr<Version>& version) {
    path_.push_back(version);
  }
  // Retracts the facts that are not shared and assumes those that are missing.
  void go_to(const std::shared_ptr<Version>& target) {
    if (path_.back() != target) move_to(target);
  }
  void push() { scopes_.push_back(ids_.size()); }
  void pop();

  // --- facts.  Inside they are numbered as they stand; what a caller gets are
  // ids that are never used twice.
  FactId assume(Expr condition, Provenance&& origin) {
    return assume(condition, std::move(origin), next_id_++);
  }
  size_t fact_count() const { return ids_.size(); }
  std::vector<Fact> facts() const;
  std::optional<Fact> find_fact(FactId id) const;
  std::vector<FactId> ids_of(std::vector<FactId> numbers) const;
  // Those that contradict each other, where ranges and equalities show it.
  std::optional<std::vector<FactId>> contradiction();

  // --- questions
  Answer ask(Expr question);
  Verdict ask_quick(Expr question);
  // Of the answer that still holds; nullptr where there is none.
  const Remembered* remembered(Expr question);
  // Facts that imply that answer alone; none where it is gone.
  std::vector<FactId> facts_used(Expr question);
  // Facts that imply the claim alone: few, where it is a yes or a no natively;
  // else all that are connected to it.
  std::vector<FactId> facts_behind(Expr claim);
  std::vector<FactId> connected_facts(Expr e);

  // --- expressions
  Interval bounds_quick(Expr e);
  Interval bounds(Expr e);
  Strided strided(Expr e);
  Int multiple_of(Expr e);
  std::optional<std::vector<Int>> values(Expr e, size_t limit);
  Expr substitute(Expr e);
  Expr simplify(Expr e);
  Expr canonical(Expr e);

  // Ends the call that another thread makes, until the next begins.
  void interrupt();
  void begin_call() {
    if (is_interrupted_.load(std::memory_order_relaxed)) resume();
  }

  std::shared_ptr<Trace> trace;  // of the calls; mostly there is none

 private:
  // The last full answers, by question id modulo their number: most programs
  // ask the same few questions over and over.
  struct Answered {
    Expr question;
    uint64_t state = 0;
    Answer answer;
  };
  static constexpr size_t kAnswered = 16;
  // The facts that contradict each other, and the state they were looked for
  // in.
  struct Consistency {
    uint64_t state = 0;
    uint32_t facts = 0;
    size_t formulas = 0;  // how many of theirs
    std::vector<FactId> contradiction;
  };
  // What reasons, with the facts that it has asserted, the first of all.
  struct Reasoning {
    explicit Reasoning(Engine& engine);

    Reasoner reasoner;
    Simplification simplification;
    std::vector<Reasoner::Mark> scopes;  // of the outermost
    std::vector<Answered> answered;      // made with the first
    Consistency consistency;
  };

  [[noreturn]] void fail_check(Expr e, const char* call, const char* expected);
  void move_to(const std::shared_ptr<Version>& target);
  void enter(const std::shared_ptr<Version>& version);
  void leave();
  FactId assume(Expr condition, Provenance&& origin, FactId id);
  Fact fact_at(size_t number, uint32_t depth) const;
  Expr condition_at(size_t number) const;

  void resume();
  size_t asserted() const { return ids_.size() - waiting_.size(); }
  // Made where it is not, and with all facts asserted.
  Reasoning& reasoning() {
    const bool is_ready = reasoning_ != nullptr && waiting_.empty() &&
                          reasoning_->scopes.size() == scopes_.size();
    if (!is_ready) [[unlikely]]
      catch_up();
    return *reasoning_;
  }
  Reasoner& reasoner() { return reasoning().reasoner; }
  void catch_up();
  // Where all facts are ranges of symbols, which do not contradict each other.
  const Box* box();

  Answer answer(Expr question);
  const Remembered& native_answer(Expr question);
  const Remembered& find_native_answer(Expr question);
  Verdict keep(Expr question, bool value);
  template <typename Find, typename Result>
  Result look(const Result& nowhere, const Result& otherwise, Find find,
              uint64_t spent = 0);
  Answer contradictory(const std::vector<FactId>& which);
  // Facts that contradict each other, wherever they are; looked for once in
  // each state.
  const std::vector<FactId>& contradiction_anywhere();
  std::optional<std::vector<FactId>> contradiction_of(Expr question,
                                                      const Remembered& m);

  ExprPool& pool_;
  const SolverOptions options_;
  const Limits& limits_;
  const std::weak_ptr<void> of_pool_;
  SmallVector<std::shared_ptr<Version>, 1> path_;
  std::vector<size_t> scopes_;  // facts before each
  SmallVector<FactId, 4> ids_;  // of the facts
  FactId next_id_ = 0;
  std::vector<Fact> waiting_;  // the last facts, to be asserted
  StateNames states_;
  Memo memo_{states_};
  Box box_;
  // Apart, so that an engine is no larger than what an allocator has at hand.
  const std::unique_ptr<Statistics> statistics_ =
      std::make_unique<Statistics>();
  std::unique_ptr<Reasoning> reasoning_;
  // The reasoner, for another thread that interrupts.
  std::atomic<Reasoner*> interruptible_{nullptr};
  std::atomic<bool> is_interrupted_{false};
};

}  // namespace proviso::inline v0_2::internal
