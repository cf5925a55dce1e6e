// When a contradiction is looked for, and what is remembered of it.  How, say
// the rows of Stage::kContradiction (pipeline.cc).
//
//   u1 > u2 was proved from u0 + u1 > 2*u2, u0 <= u2, u0 + 3*u1 <= 4*u2
//     relevant_to()    no point is known at which these hold: the rows are
//                      tried, and opposite-refutation proves u1 <= u2
//   u9 > 3 has another answer, and none of these facts
//     elsewhere()      their group has no known model either; looked for once
//
// A search costs at most its share of one call's work.
#include "solver/engine/consistency.h"

#include "solver/engine/counted_try.h"
#include "solver/limits_in_force.h"

namespace proviso::inline v0_2::internal {
namespace {

// Of one search.  Where it does not end, the answer stays.
uint64_t work_of_search(const SolverOptions& options) {
  return thousandths(limits().consistency_work, options.work_limit);
}

}  // namespace

// Facts whose contradiction ranges and equalities show have ended the context's
// answers already; the rest is looked for where a proof was needed, for there
// the facts act together.
std::optional<Reason> relevant_contradiction(Reasoner& reasoner,
                                             const ProvedAnswer& proved) {
  if (proved.why == 0) return std::nullopt;
  const auto found = reasoner.within(work_of_search(reasoner.options()), [&] {
    CountedTry a_try(reasoner.statistics().consistency);
    const auto proof = find_contradiction(reasoner, proved);
    if (proof) a_try.decided();
    return proof;
  });
  return found.value_or(std::nullopt);
}

// Proofs are looked at when they are found, unless facts have come since.
std::optional<std::vector<FactId>> Consistency::relevant_to(
    Expr question, const Remembered& m) {
  Reasoner& reasoner = facts_.reasoner();
  if (m.is_contradiction) return reasoner.facts_in(m.why);
  const bool was_looked_at =
      m.tier >= Tier::kLinear && m.facts == facts_.states().facts();
  if (m.verdict == Verdict::kUnknown || was_looked_at) return std::nullopt;
  const auto why = relevant_contradiction(
      reasoner, {question, m.verdict == Verdict::kYes, m.tier, m.why});
  if (!why) return std::nullopt;
  return reasoner.facts_in(*why);
}

// Groups of facts that have a model need no proof; more facts keep a
// contradiction.
const std::vector<FactId>& Consistency::elsewhere() {
  Reasoner& reasoner = facts_.reasoner();
  const StateNames& states = facts_.states();
  const bool is_part = states.is_part(state_, fact_count_);
  if (states.is_present(state_, fact_count_) || (is_part && !found_.empty())) {
    return found_;
  }
  CandidateModels& candidates = reasoner.candidates();
  const size_t from = is_part ? formulas_ : 0;
  state_ = states.present();
  fact_count_ = states.facts();
  formulas_ = candidates.mark();
  found_.clear();
  reasoner.within(work_of_search(facts_.options()), [&] {
    CountedTry a_try(facts_.statistics().consistency);
    std::vector<FormulaId> groups = candidates.groups_without_model(from);
    if (groups.size() > limits().consistency_groups) {
      groups.resize(limits().consistency_groups);
    }
    for (FormulaId fact : groups) {
      if (const auto why = find_contradiction(reasoner, fact)) {
        found_ = reasoner.facts_in(*why);
        a_try.decided();
        break;
      }
    }
    return true;
  });
  // A search that was interrupted, or that the caller's budget ended, has not
  // seen every group: the next call searches again.
  if (!reasoner.work().is_undisturbed()) state_ = 0;
  return found_;
}

}  // namespace proviso::inline v0_2::internal
