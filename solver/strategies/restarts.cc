#include "solver/strategies/restarts.h"

#include <algorithm>
#include <memory>

#include "solver/canonical_order.h"
#include "solver/engine/decide.h"
#include "solver/limits_in_force.h"

namespace proviso::inline v0_2::internal {
namespace {

// How the facts are assumed again.  The first two have all equalities solved,
// and of any two facts each comes first once: an equality before the bound that
// lets it be divided has constraints of its own.
struct Restart {
  Solving solving;
  FactOrder order;
};
constexpr Restart kFirst[] = {{Solving::kAll, {1}}, {Solving::kAll, {0}}};
constexpr Restart kOthers[] = {
    {Solving::kWithoutFloors, {0}},
    {Solving::kNone, {2}},
    {Solving::kAll, {.number = 4, .bounds_last = true}}};

uint64_t work_of_a_run(const SolverOptions& options) {
  return thousandths(limits().restart_work, options.work_limit);
}

// The facts and the question in one order, in a pool of their own.
class Run {
 public:
  Run(const CanonicalOrders& orders, const Restart& how,
      const SolverOptions& options, FloatArithmetic floats)
      : pool_(floats),
        reordered_(orders.rebuild(how.order, pool_)),
        reasoner_(pool_, options, uncounted_) {
    reasoner_.domain().set_solving(how.solving);
    for (Expr c : reordered_.conditions) reasoner_.assume(c, {});
    const uint64_t before = domain().work();
    const FormulaId goal = reasoner_.lower().condition(reordered_.question);
    reasoner_.within(work_of_a_run(options), [&] {
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
           constraint_count() == other.constraint_count() &&
           atom_count() == other.atom_count();
  }
  size_t constraint_count() const {
    return reasoner_.domain().constraints().size();
  }
  // Proves with so many budgets and units of work.  Either answer is tried,
  // also where a model has ruled one out: in another order of the facts that
  // model may not be found.
  std::optional<Search> prove(double budgets, uint64_t units) {
    const auto found = reasoner_.within(units, [&] {
      Search s(reordered_.question,
               reasoner_.lower().condition(reordered_.question), budgets);
      decide_by_proof(reasoner_, s);
      return s;
    });
    if (!found || !found->value() || domain().conflict()) return std::nullopt;
    return found;
  }
  // Why the facts contradict each other: when they were assumed, or as the
  // atoms of all of them show by a refutation.
  std::optional<Reason> contradiction(uint64_t units) {
    if (domain().conflict()) return domain().conflict();
    Atoms seeds;
    for (Expr c : reordered_.conditions) {
      seeds.append(reasoner_.forms().occurrences.of_formula(
          reasoner_.lower().condition(c)));
    }
    const auto proof = reasoner_.proofs().refutation.refute_facts(seeds, units);
    return proof ? std::optional(proof->why) : std::nullopt;
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
  Statistics uncounted_;
  Reasoner reasoner_;
  bool is_decided_ = false;
  uint64_t deciding_work_ = 0;
};

SolverOptions natively(const SolverOptions& options) {
  SolverOptions plain = options;
  plain.use_z3 = plain.search_models = plain.restart = false;
  return plain;
}

// The facts that are assumed again, as they were assumed.
class Given {
 public:
  Given(Reasoner& reasoner, std::vector<FactId> ids)
      : reasoner_(reasoner), ids_(std::move(ids)) {
    std::sort(ids_.begin(), ids_.end());
    for (FactId id : ids_) {
      conditions_.push_back(reasoner_.facts().condition(id));
    }
  }

  const std::vector<Expr>& conditions() const { return conditions_; }
  // The facts behind a proof of a run, as a reason of theirs.
  Reason why(const Run& run, Reason proof) const {
    Reason why = 0;
    for (uint32_t place : run.facts_in(proof)) {
      const Reason leaf = reasoner_.reasons().leaf(ids_[place]);
      why = reasoner_.reasons().join(why, leaf);
    }
    return why;
  }

 private:
  Reasoner& reasoner_;
  std::vector<FactId> ids_;
  std::vector<Expr> conditions_;
};

}  // namespace

Decision restart(Reasoner& reasoner, Search& s) {
  const Given given(reasoner,
                    reasoner.facts().connected_to(s.question()).facts);
  const std::vector<Expr>& conditions = given.conditions();
  auto prove_with = [&](Run& run, uint64_t budget, uint64_t units) -> Decision {
    const std::optional<Search> found =
        run.prove(static_cast<double>(budget) / 1000, units);
    if (!found) return {};
    s.rest_on(given.why(run, found->why()), found->tier());
    return {found->value()};
  };
  const CanonicalOrders orders(conditions, s.question());
  const SolverOptions plain = natively(reasoner.options());
  auto prove = [&](Run& run) {
    return prove_with(run, limits().restart_budget, work_of_a_run(plain));
  };
  std::vector<std::unique_ptr<Run>> runs;
  // Makes a run in a further order, where its proofs are not those of another.
  auto prepare = [&](const Restart& how) -> Run* {
    auto run =
        std::make_unique<Run>(orders, how, plain, reasoner.pool().floats());
    const bool is_new =
        run->is_decided() ||
        std::none_of(runs.begin(), runs.end(),
                     [&](const auto& other) { return run->is_like(*other); });
    if (!is_new) return nullptr;
    return runs.emplace_back(std::move(run)).get();
  };
  for (const Restart& how : kFirst) {
    Run* run = prepare(how);
    if (run == nullptr || !run->is_decided()) continue;
    if (const Decision d = prove(*run); d.value) return d;
  }
  // What leaves less behind comes first.  Where the second is not another, the
  // first was most likely tried before.
  std::stable_sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
    return a->constraint_count() < b->constraint_count();
  });
  const bool is_alone = runs.size() == 1;
  for (size_t i = 0; i < runs.size() && !is_alone; ++i) {
    if (const Decision d = prove(*runs[i]); d.value) return d;
  }
  Run& first = *runs[0];
  for (const Restart& how : kOthers) {
    if (conditions.size() < 2) break;
    Run* run = prepare(how);
    if (run == nullptr) continue;
    if (const Decision d = prove(*run); d.value) return d;
  }
  if (!is_alone && !first.has_run_out()) return {};
  // Case analyses that one budget does not end have more here.
  return prove_with(first, limits().last_restart_budget,
                    thousandths(limits().last_restart_work, plain.work_limit));
}

std::optional<Reason> contradiction_in_other_orders(Reasoner& reasoner,
                                                    std::vector<FactId> facts,
                                                    uint64_t units) {
  const Given given(reasoner, std::move(facts));
  const CanonicalOrders orders(given.conditions(),
                               reasoner.pool().boolean(true));
  const SolverOptions plain = natively(reasoner.options());
  for (const Restart& how : kFirst) {
    Run run(orders, how, plain, reasoner.pool().floats());
    if (const auto proof = run.contradiction(units)) {
      return given.why(run, *proof);
    }
  }
  return std::nullopt;
}

}  // namespace proviso::inline v0_2::internal
