#include "solver/strategies/restarts.h"

#include <algorithm>
#include <memory>

#include "solver/canonical_order.h"
#include "solver/engine/reasoner.h"

namespace proviso::inline v0_2::internal {
namespace {

// How the facts are assumed again.  With all equalities solved, of any two
// facts each comes first once: an equality before the bound that lets it be
// divided has constraints of its own.
struct Restart {
  Solving solving;
  FactOrder order;
};
constexpr Restart kRestarts[] = {
    {Solving::kWithoutFloors, {0}},
    {Solving::kAll, {1}},
    {Solving::kNone, {2}},
    {Solving::kAll, {.number = 4, .bounds_last = true}},
    {Solving::kAll, {0}}};
constexpr double kBudgets = 1.5;
// Case analyses that one budget does not end have more in the last.
constexpr double kLastBudgets = 4;
// Of the limit of work, for each and for the last.
constexpr uint64_t kShare = 8, kLastShare = 4;

// The facts and the question in one order, in a pool of their own.
class Run {
 public:
  Run(std::span<const Expr> conditions, Expr question, const Restart& how,
      const SolverOptions& options, uint64_t units)
      : reordered_(reorder(conditions, question, how.order, pool_)),
        units_(units),
        reasoner_(pool_, options, uncounted_) {
    reasoner_.domain().set_solving(how.solving);
    for (Expr c : reordered_.conditions) reasoner_.assume(c, {});
    const uint64_t before = domain().work();
    const FormulaId goal = reasoner_.lower().condition(reordered_.question);
    reasoner_.within(units_, [&] {
      is_decided_ = domain().decide(goal).value.has_value();
      return true;
    });
    deciding_work_ = domain().work() - before;
  }

  // Whether the question follows from the facts at once.
  bool is_decided() const { return is_decided_; }
  // Whether the facts have the same first consequences in another order, as far
  // as numbers tell: then it proves nothing else.
  bool is_like(const Run& other) const {
    return deciding_work_ == other.deciding_work_ &&
           reasoner_.domain().constraints().size() ==
               other.reasoner_.domain().constraints().size() &&
           atom_count() == other.atom_count();
  }
  // Whether an answer is possible is what `known` says of it.
  std::optional<Search> prove(const Search& known) {
    const auto found = reasoner_.within(units_, [&] {
      Search s(reordered_.question,
               reasoner_.lower().condition(reordered_.question));
      s.may_hold = known.may_hold;
      s.may_fail = known.may_fail;
      return reasoner_.prove(std::move(s));
    });
    if (!found || !found->value || domain().conflict()) return std::nullopt;
    return found;
  }
  // Whether a strategy ended for want of work that it was allowed.
  bool has_run_out() const { return reasoner_.domain().has_run_out(); }
  // The places of the facts behind a proof, as they were given.
  std::vector<uint32_t> facts_in(Reason why) const {
    std::vector<uint32_t> places = reasoner_.facts_in(why);
    for (uint32_t& place : places) place = reordered_.from[place];
    return places;
  }

 private:
  Domain& domain() { return reasoner_.domain(); }
  size_t atom_count() const { return reasoner_.forms().atoms.size(); }

  ExprPool pool_;
  const Reordered reordered_;
  const uint64_t units_;
  Statistics uncounted_;
  Reasoner reasoner_;
  bool is_decided_ = false;
  uint64_t deciding_work_ = 0;
};

SolverOptions natively(const SolverOptions& options, double budgets) {
  SolverOptions plain = options;
  plain.use_z3 = plain.search_models = plain.restart = false;
  plain.budget =
      static_cast<uint64_t>(budgets * static_cast<double>(options.budget));
  return plain;
}

}  // namespace

Decision restart(Reasoner& reasoner, Search& s) {
  const SolverOptions& options = reasoner.options();
  std::vector<FactId> ids = reasoner.facts().connected_to(s.question).facts;
  std::sort(ids.begin(), ids.end());
  std::vector<Expr> conditions;
  for (FactId id : ids) conditions.push_back(reasoner.facts().condition(id));
  auto prove = [&](Run& run) -> Decision {
    const std::optional<Search> found = run.prove(s);
    if (!found) return {};
    s.tier = found->tier;
    Decision d{found->value};
    for (uint32_t place : run.facts_in(found->why)) {
      const Reason leaf = reasoner.reasons().leaf(ids[place]);
      d.why = reasoner.reasons().join(d.why, leaf);
    }
    return d;
  };
  const SolverOptions plain = natively(options, kBudgets);
  std::vector<std::unique_ptr<Run>> runs;
  for (const Restart& how : kRestarts) {
    auto run = std::make_unique<Run>(conditions, s.question, how, plain,
                                     options.work_limit / kShare);
    if (run->is_decided()) {
      if (const Decision d = prove(*run); d.value) return d;
    }
    const bool is_new =
        std::none_of(runs.begin(), runs.end(),
                     [&](const auto& other) { return run->is_like(*other); });
    if (is_new) runs.push_back(std::move(run));
  }
  // Where no order is another, this one was tried before the restarts.
  if (runs.size() > 1) {
    for (const auto& run : runs) {
      if (const Decision d = prove(*run); d.value) return d;
    }
    if (!runs[0]->has_run_out()) return {};
  }
  Run last(conditions, s.question, kRestarts[0],
           natively(options, kLastBudgets), options.work_limit / kLastShare);
  return prove(last);
}

}  // namespace proviso::inline v0_2::internal
