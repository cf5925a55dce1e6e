// solver/engine/reasoner.h - the facts, asserted, and what strategies work on.
//
//   Reasoner reasoner(pool, options, statistics);
//   const Reasoner::Mark before = reasoner.mark();
//   reasoner.assume(fact, {});
//   const Search s = decide(reasoner, question);     // decide.h
//   s.value(), reasoner.facts_in(s.why())
//   reasoner.undo(before);
//
// A fact goes to three parts: as it was assumed (AssumedFacts), lowered into
// the domain, which derives what follows, and to the candidate models.  A
// strategy takes what it needs of these.  No answers are kept here:
// native_answers.h and answers.h keep them.  Restarts make further reasoners,
// in pools of their own.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "solver/candidate_models.h"
#include "solver/domain.h"
#include "solver/engine/assumed_facts.h"
#include "solver/engine/call_work.h"
#include "solver/engine/pipeline.h"
#include "solver/lower.h"
#include "solver/strategies/proof_strategies.h"
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

  // The range of an integer expression, read as a polynomial.
  Range range_of(Expr e);

  // --- reasons
  // The facts among a reason's leaves.
  std::vector<FactId> facts_in(Reason why) const;
  // How often reasons have been dropped: older ones are gone.
  uint32_t epoch() const { return epoch_; }
  // Drops the reasons after the first `size`, when they have become many: those
  // that were made while answering are garbage afterwards.  What `why` says is
  // kept: by the reason that is returned.
  Reason drop_reasons(uint32_t size, Reason why);

  // --- work
  CallWork& work() { return work_; }
  const CallWork& work() const { return work_; }
  template <typename Work>
  auto within(uint64_t units, Work work) {
    return work_.within(units, work);
  }
  // What `find` returns within the limit of a call, of which so many units are
  // spent; `otherwise` where that ends it, `nowhere` where the facts contradict
  // each other.
  template <typename Result, typename Find>
  Result within_call(const Result& nowhere, const Result& otherwise, Find find,
                     uint64_t spent = 0) {
    if (domain_.conflict()) return nowhere;
    return within(options_.work_limit - spent, find).value_or(otherwise);
  }
  // The only member that another thread may call.
  void interrupt() {
    work_.interrupt();
    z3_.interrupt();
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
  void trim_reasons(uint32_t size);

  ExprPool& pool_;
  const SolverOptions options_;
  FormPool& forms_;
  Lowering& lower_;
  ReasonArena reasons_;
  Domain domain_;
  CallWork work_{domain_};
  ProofStrategies proofs_;
  CandidateModels candidates_;
  AssumedFacts facts_;
  Z3Backend z3_;
  Statistics& statistics_;
  uint32_t epoch_ = 0;
  uint64_t assuming_work_ = 0;  // of all facts
};

}  // namespace proviso::inline v0_2::internal
