// solver/engine/reasoner.h - facts, and the native answer to a question.
//
//   Reasoner reasoner(pool, options, statistics);
//   reasoner.assume(fact, {});
//   const Search s = reasoner.decide(question);
//   s.value, reasoner.facts_in(s.why)
//
// It holds what strategies work on: the domain, the strategies that prove from
// it, candidate models, the facts as they were assumed.  It keeps no answers:
// those who ask it do (native_answers.h, answers.h).  Restarts make further
// ones, in pools of their own.
#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <vector>

#include "solver/candidate_models.h"
#include "solver/domain.h"
#include "solver/engine/assumed_facts.h"
#include "solver/engine/pipeline.h"
#include "solver/lower.h"
#include "solver/strategies/proof_strategies.h"
#include "solver/whole_call.h"
#include "solver/z3_backend.h"

namespace proviso::inline v0_2::internal {

// Where integers lie without a fact.
Interval symbols_of(const SolverOptions& options);

class Reasoner {
 public:
  // It counts what it does in `statistics`.
  Reasoner(ExprPool& pool, const SolverOptions& options,
           Statistics& statistics);

  // --- facts
  FactId assume(Expr condition, const Provenance& origin);
  // Facts since a mark are taken back by undo().
  struct Mark {
    Domain::Mark domain;
    size_t candidates;
    size_t facts;
    uint32_t reasons;
    uint64_t work;
  };
  Mark mark() const {
    return {domain_.mark(), candidates_.mark(), facts_.size(), reasons_.size(),
            assuming_work_};
  }
  void undo(const Mark& mark);

  // --- a question
  // Unknown, with the facts that contradict each other in `why`, where those
  // relevant to the question do.
  Search decide(Expr question);
  // By the strategies of Stage::kProof alone, in this order of the facts; where
  // models rule out an answer, `s` says so.  Within the caller's budget.
  Search prove(Search s);
  // Of an integer expression, as a polynomial.
  Range range_of(Expr e);

  // The facts among a reason's leaves.
  std::vector<FactId> facts_in(Reason why) const;
  // How often reasons have been dropped: older ones are gone.
  uint32_t epoch() const { return epoch_; }

  // --- work
  // What `work` returns; nothing when it takes more than so many units of the
  // call's budget, and the domain is then as before.
  template <typename Work>
  auto within(uint64_t units, Work work) -> std::optional<decltype(work())>;
  // What `find` returns within the limit of a call, of which so many units are
  // spent; `otherwise` where that ends it, `nowhere` where the facts contradict
  // each other.
  template <typename Result, typename Find>
  Result within_call(const Result& nowhere, const Result& otherwise, Find find,
                     uint64_t spent = 0) {
    if (domain_.conflict()) return nowhere;
    return within(options_.work_limit - spent, find).value_or(otherwise);
  }
  // By another thread, until the next call resumes.
  void interrupt() {
    is_interrupted_ = true;
    z3_.interrupt();
  }
  void resume() { is_interrupted_ = false; }
  bool is_interrupted() const {
    return is_interrupted_ || WholeCall::is_interrupted();
  }
  // Whether the present call has come to its end by itself.
  bool is_undisturbed() const {
    return !is_interrupted() && Budget::units_left() != 0;
  }

  // --- what strategies work on
  ExprPool& pool() { return pool_; }
  const SolverOptions& options() const { return options_; }
  FormPool& forms() const { return forms_; }
  Lowering& lower() { return lower_; }
  ReasonArena& reasons() { return reasons_; }
  Domain& domain() { return domain_; }
  const Domain& domain() const { return domain_; }
  ProofStrategies& proofs() { return proofs_; }
  CandidateModels& candidates() { return candidates_; }
  AssumedFacts& facts() { return facts_; }
  const AssumedFacts& facts() const { return facts_; }
  Z3Backend& z3() { return z3_; }
  Statistics& statistics() { return statistics_; }

 private:
  uint64_t units_for_fact() const;
  const std::atomic<bool>* interruption() const {
    const std::atomic<bool>* whole = WholeCall::interruption();
    return whole != nullptr ? whole : &is_interrupted_;
  }
  void trim_reasons(uint32_t size);
  void keep_reason(uint32_t size, Reason& why);

  ExprPool& pool_;
  const SolverOptions options_;
  FormPool& forms_;
  Lowering& lower_;
  ReasonArena reasons_;
  Domain domain_;
  ProofStrategies proofs_;
  CandidateModels candidates_;
  AssumedFacts facts_;
  Z3Backend z3_;
  Statistics& statistics_;
  uint32_t epoch_ = 0;
  uint64_t assuming_work_ = 0;  // of all facts
  std::atomic<bool> is_interrupted_{false};
};

template <typename Work>
auto Reasoner::within(uint64_t units, Work work)
    -> std::optional<decltype(work())> {
  if (!is_undisturbed()) return std::nullopt;  // by a caller, or a thread
  const Domain::Mark before = domain_.mark();
  try {
    const Budget budget(units, interruption());
    return work();
  } catch (const OutOfBudget&) {
    domain_.undo(before);
    return std::nullopt;
  }
}

}  // namespace proviso::inline v0_2::internal
