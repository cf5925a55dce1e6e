// Restarts: the proof strategies again, on an engine of its own that assumes
// the facts near the question in an order that depends on them as a set.
//
// Heuristics depend on the order in which facts came: the last one is derived
// from most, and what was made first comes first where choices are alike.  So
// what one order does not decide, or decides with much work, is decided by
// canonical orders (solver/canonical_order.h) or not at all, and the order of
// the caller does not matter.
#include <algorithm>

#include "solver/canonical_order.h"
#include "solver/engine.h"

namespace proviso {
namespace {

// How the facts are assumed again, restart by restart.  With all equalities
// solved, of any two facts each comes first once: an equality before the bound
// that lets it be divided has constraints of its own.  Case analyses that one
// budget does not end have more in the last.
struct Restart {
  Domain::Solving solving;
  FactOrder order;
  double budgets = 1.5;
};
constexpr Restart kRestarts[] = {
    {Domain::Solving::kWithoutFloors, {0}},
    {Domain::Solving::kAll, {1}},
    {Domain::Solving::kNone, {2}},
    {Domain::Solving::kAll, {.number = 4, .bounds_last = true}},
    {Domain::Solving::kAll, {0}},
    {Domain::Solving::kWithoutFloors, {0}, 4}};

}  // namespace

Decision Engine::restart(Search& s) {
  std::vector<Expr> symbols, conditions;
  std::vector<uint32_t> ids = relevant_facts(s.question, symbols);
  std::sort(ids.begin(), ids.end());
  for (uint32_t id : ids) conditions.push_back(facts[id].condition);
  SolverOptions plain = options;
  plain.use_z3 = plain.search_models = plain.restart = false;
  for (const Restart& turn : kRestarts) {
    plain.budget = static_cast<uint64_t>(turn.budgets *
                                         static_cast<double>(options.budget));
    ExprPool own;
    Reordered reordered = reorder(conditions, s.question, turn.order, own);
    Engine fresh(own, plain);
    fresh.domain.set_solving(turn.solving);
    for (Expr condition : reordered.conditions) fresh.assume(condition, {});
    const Memo& m = fresh.native_answer(reordered.question);
    if (fresh.domain.conflict() || m.verdict == Verdict::kUnknown) continue;
    s.tier = m.tier;
    Decision d{m.verdict == Verdict::kYes};
    for (uint32_t i : fresh.used_facts(m.why)) {
      d.why = reasons.join(d.why, reasons.leaf(ids[reordered.from[i]]));
    }
    return d;
  }
  return {};
}

}  // namespace proviso
