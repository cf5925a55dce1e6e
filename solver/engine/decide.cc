// Three passes over the table of strategies, each on its own share of the work.
#include "solver/engine/decide.h"

#include "solver/engine/consistency.h"
#include "solver/limits_in_force.h"

namespace proviso::inline v0_2::internal {

// Each point at which the facts hold must define the question; then it is
// decided with that known.
void decide_by_proof(Reasoner& reasoner, Search& s) {
  const FormulaId defined = reasoner.lower().defined(s.question());
  if (defined == kTrue) return run(reasoner, Stage::kProof, s);
  Search definedness(s.question(), defined, s.budgets());
  definedness.rule_out(false);  // to prove it would not help
  run(reasoner, Stage::kProof, definedness);
  if (definedness.is_open()) s.leave_open();
  if (definedness.value() != true) return;
  s.rest_on(definedness.why(), definedness.tier());
  Domain& domain = reasoner.domain();
  const Domain::Mark before = domain.mark();
  // Where a proof showed that it is defined, that is a fact from here on, lest
  // the strategies prove it again.
  if (s.tier() >= Tier::kLinear) domain.assume(defined, s.why());
  run(reasoner, Stage::kProof, s);
  domain.undo(before);
}

Search decide(Reasoner& reasoner, Expr question) {
  const SolverOptions& options = reasoner.options();
  const uint32_t arena = reasoner.reasons().size();
  const uint64_t before = reasoner.domain().work();
  // The goal is found in this pass, as lowering is a part of its work.
  std::optional<Search> proved = reasoner.within(
      thousandths(limits().proof_work, options.work_limit), [&] {
        Search s(question, reasoner.lower().condition(question));
        decide_by_proof(reasoner, s);
        return s;
      });
  Search s =
      proved ? *proved : Search(question, reasoner.lower().condition(question));
  const uint64_t spent = reasoner.domain().work() - before - s.rewriting_work();
  const bool is_confident =
      spent < thousandths(limits().confident_budget, options.budget);
  const bool is_final =
      s.is_contradiction() || (s.value() ? is_confident : s.is_open());
  if (!is_final) run(reasoner, Stage::kFallback, s);
  s.renumber(reasoner.drop_reasons(arena, s.why()));
  if (!s.value() || s.has_model() || s.tier() < Tier::kLinear) return s;
  const auto why = relevant_contradiction(
      reasoner, {question, *s.value(), s.tier(), s.why()});
  if (why) s.contradict(*why);
  return s;
}

}  // namespace proviso::inline v0_2::internal
