// A fact is lowered, asserted in the domain with a share of work of its own,
// and given to the candidate models; undo() takes all three back.
#include "solver/engine/reasoner.h"

#include <algorithm>
#include <cstdint>

#include "solver/fixed_limits.h"
#include "solver/limits_in_force.h"

namespace proviso::inline v0_2::internal {

Interval symbols_of(const SolverOptions& options) {
  if (!options.machine_int64) return {};
  return Interval(INT64_MIN, INT64_MAX);
}

Reasoner::Reasoner(ExprPool& pool, const SolverOptions& options,
                   Statistics& statistics)
    : pool_(pool),
      options_(options),
      forms_(Forms::of(pool).pool),
      lower_(Forms::of(pool).lower),
      domain_(forms_, reasons_, symbols_of(options)),
      proofs_(domain_),
      candidates_(domain_),
      facts_(lower_),
      statistics_(statistics) {}

// --- facts

FactId Reasoner::assume(Expr condition, const Provenance& origin) {
  const FactId id = facts_.add(condition, origin);
  // Lowering does not end the call, but who interrupts it does.
  const Budget interruptible(Budget::kUnlimited, work_.interruption());
  // An assumed fact holds, so it is defined.
  const FormulaId f = lower_.condition(condition);
  const FormulaId defined = lower_.defined(condition);
  const Reason why = reasons_.leaf(id);
  const Budget counted(Budget::kUnlimited);
  const uint64_t before = Budget::units_left();
  const bool is_derived = within(units_for_fact(), [&] {
                            domain_.assume(defined, why);
                            domain_.assume(f, why);
                            return true;
                          }).has_value();
  assuming_work_ += before - Budget::units_left();
  // Nothing else follows from what takes too much work.
  if (!is_derived) domain_.assume_alone(f, why);
  candidates_.add_fact(defined);
  candidates_.add_fact(f);
  return id;
}

// All facts together have a limit, too, and a little more for each: many are
// asserted in one call.
uint64_t Reasoner::units_for_fact() const {
  const uint64_t limit = options_.work_limit;
  const uint64_t one = thousandths(limits().fact_work, limit);
  const uint64_t all =
      thousandths(limits().facts_work, limit) +
      thousandths(limits().further_fact_work, one) * facts_.size();
  return std::min(one, all - std::min(all, assuming_work_));
}

void Reasoner::undo(const Mark& mark) {
  domain_.undo(mark.domain);
  candidates_.undo(mark.candidates);
  facts_.shrink(mark.facts);
  assuming_work_ = mark.work;
  trim_reasons(mark.reasons);
}

std::vector<FactId> Reasoner::facts_in(Reason why) const {
  Budget::charge(1 + why / 64);
  std::vector<FactId> ids = reasons_.facts(why);
  std::erase(ids, kAssumptionLiteral);
  return ids;
}

void Reasoner::trim_reasons(uint32_t size) {
  if (reasons_.size() < size + fixed::spare_reasons) return;
  reasons_.truncate(size);
  ++epoch_;
  domain_.forget_cached();
}

Reason Reasoner::drop_reasons(uint32_t size, Reason why) {
  if (reasons_.size() < size + fixed::spare_reasons) return why;
  const std::vector<uint32_t> leaves = reasons_.facts(why);
  trim_reasons(size);
  Reason kept = 0;
  for (uint32_t leaf : leaves) kept = reasons_.join(kept, reasons_.leaf(leaf));
  return kept;
}

Range Reasoner::range_of(Expr e) {
  const Poly p = lower_.integer(e);
  Range r = domain_.range(p);
  narrow(reasons_, r, domain_.factored_range(p));
  const Normal n = domain_.normal(p);
  if (!n.changed) return r;
  Range s = domain_.range(n.poly);
  narrow(reasons_, s, domain_.factored_range(n.poly));
  return {intersect(r.span, s.span), 0, 0};
}

}  // namespace proviso::inline v0_2::internal
