#include "solver/strategies/restarts.h"

#include <algorithm>

#include "solver/canonical_order.h"
#include "solver/engine/reasoner.h"

namespace proviso::inline v0_2::internal {
namespace {

// How the facts are assumed again, restart by restart.  With all equalities
// solved, of any two facts each comes first once: an equality before the bound
// that lets it be divided has constraints of its own.  Case analyses that one
// budget does not end have more in the last.
struct Restart {
  Solving solving;
  FactOrder order;
  double budgets = 1.5;
};
constexpr Restart kRestarts[] = {
    {Solving::kWithoutFloors, {0}},
    {Solving::kAll, {1}},
    {Solving::kNone, {2}},
    {Solving::kAll, {.number = 4, .bounds_last = true}},
    {Solving::kAll, {0}},
    {Solving::kWithoutFloors, {0}, 4}};
constexpr uint64_t kShare = 8;  // of the limit of work, for each

}  // namespace

Decision restart(Reasoner& reasoner, Search& s) {
  const SolverOptions& options = reasoner.options();
  std::vector<FactId> ids = reasoner.facts().connected_to(s.question).facts;
  std::sort(ids.begin(), ids.end());
  std::vector<Expr> conditions;
  for (FactId id : ids) conditions.push_back(reasoner.facts().condition(id));
  SolverOptions plain = options;
  plain.use_z3 = plain.search_models = plain.restart = false;
  for (const Restart& again : kRestarts) {
    plain.budget = static_cast<uint64_t>(again.budgets *
                                         static_cast<double>(options.budget));
    ExprPool own;
    const Reordered reordered =
        reorder(conditions, s.question, again.order, own);
    Statistics uncounted;
    Reasoner fresh(own, plain, uncounted);
    fresh.domain().set_solving(again.solving);
    for (Expr condition : reordered.conditions) fresh.assume(condition, {});
    const auto found = fresh.within(plain.work_limit / kShare, [&] {
      return fresh.prove(reordered.question);
    });
    if (!found || !found->value || fresh.domain().conflict()) continue;
    s.tier = found->tier;
    Decision d{found->value};
    for (FactId i : fresh.facts_in(found->why)) {
      const Reason leaf = reasoner.reasons().leaf(ids[reordered.from[i]]);
      d.why = reasoner.reasons().join(d.why, leaf);
    }
    return d;
  }
  return {};
}

}  // namespace proviso::inline v0_2::internal
