// The way of a question: the table of strategies, and the loop over it.
//
//   Eq(Mod(s0, 4), 0) under Eq(Mod(s0, 8), 0)
//     defined?   ranges: yes, 4 is not 0
//     ranges     the congruence of s0 gives 0: yes
//
//   s0 <= s1*s2 under s0 <= s1, 1 <= s0, 1 <= s2
//     ranges                    undecided
//     nonnegative-combination   s1*s2 - s0 = s1*(s2 - 1) + (s1 - s0): yes
//
//   u1 > u2, proved from u0 + u1 > 2*u2, u0 <= u2, u0 + 3*u1 <= 4*u2
//     opposite-refutation       u1 <= u2 as well: these facts contradict
//
// Most questions end in the first row.  A row that is reached has the rows
// above it behind it: models that candidate-models found leave one answer to
// prove, or none.  The loop keeps the counts that `proviso decide --stats`
// prints; docs/solver.md has what each row alone decides, and what it costs.
#include "solver/engine/pipeline.h"

#include <algorithm>
#include <cassert>

#include "solver/engine/counted_try.h"
#include "solver/engine/reasoner.h"
#include "solver/limits_in_force.h"
#include "solver/strategies/enumeration.h"
#include "solver/strategies/min_max.h"
#include "solver/strategies/restarts.h"
#include "solver/strategies/witnesses.h"

namespace proviso::inline v0_2::internal {
namespace {

// One way down the rows of a stage: what they work on, and what some of them
// leave to those below.
struct Pass {
  Reasoner& r;
  Search& s;
  Answer* answer = nullptr;  // kPoints fills it in
  // kContradiction: the answer that was proved, or the facts that are looked at
  // where there is none.
  const ProvedAnswer* proved = nullptr;
  std::vector<FactId> group = {};
  uint64_t refuting_work = 0;    // spent where no contradiction was found
  Refutation::Tried tried = {};  // by linear-refutation, before case-split
};

// The most that one try may cost, in parts of SolverOptions.
struct Cost {
  // The budget is divided by this; 0: a try is not metered, for its work is
  // bounded by the size of the question.
  uint32_t budget = 0;
  // So much more where models leave one answer alone.
  uint32_t times_if_one = 1;
  uint32_t work_sixteenths = 0;  // of work_limit; 0: what the call has left
  // Not nullptr: so much of the budget, whatever `budget` says.
  uint64_t Limits::* thousandths = nullptr;
};

// The same in units.
struct Units {
  uint64_t budget, work;
};

struct Row {
  Strategy strategy;
  std::string_view name;
  std::string_view fragment;  // that it is complete for, or meant for
  Stage stage;
  Tier tier;  // that its answers count to; kNone where they bring their own
  Cost cost;
  bool (*applies)(const Pass&);  // nullptr: always
  // Decides, or notes in the search what it has found out.
  Decision (*decide)(Pass&, const Units&);
};

bool is_disabled(const Pass& p, Strategy strategy) {
  return p.r.options().disabled_strategies.contains(strategy);
}

Decision by_ranges(Pass& p, const Units&) {
  return p.r.domain().decide(p.s.goal());
}

Decision by_combination(Pass& p, const Units&) {
  return p.r.proofs().combination.decide(p.s.goal());
}

// Models of a disjunction are found by trying its cases, so these come first.
bool has_asserted_cases(const Pass& p) {
  return p.r.proofs().cases.has_asserted_clause(p.s.goal());
}

bool has_no_asserted_cases(const Pass& p) { return !has_asserted_cases(p); }

Decision by_cases(Pass& p, const Units& units) {
  return p.r.proofs().cases.decide(p.s.goal(), units.budget);
}

// A model of the facts at which the goal fails leaves "no" alone to prove.
template <bool (CandidateModels::*has_model)(FormulaId)>
Decision by_models(Pass& p, const Units&) {
  for (bool value : {true, false}) {
    const FormulaId opposite = p.s.opposite_of(value);
    if (p.s.may_be(value) && (p.r.candidates().*has_model)(opposite)) {
      p.s.rule_out(value);
    }
  }
  return {};
}

bool has_products(const Pass& p) {
  return p.r.proofs().ratios.applies(p.s.goal());
}

// What no order of the facts changes.
template <auto strategy>
Decision by_rewriting(Pass& p, const Units& units) {
  const uint64_t before = p.r.domain().work();
  const Decision d = (p.r.proofs().*strategy).decide(p.s.goal(), units.budget);
  p.s.note_rewriting(p.r.domain().work() - before);
  return d;
}

bool has_min_max(const Pass& p) {
  return MinMaxLattice(p.r.domain(), p.r.lower()).applies(p.s);
}

Decision by_min_max(Pass& p, const Units&) {
  return MinMaxLattice(p.r.domain(), p.r.lower()).decide(p.s);
}

bool has_symbolic_divisor(const Pass& p) {
  return p.r.proofs().deep_floors.applies(p.s.goal());
}

Decision by_reduction(Pass& p, const Units& units) {
  return p.r.proofs().reduction.decide(p.s.goal(), units.budget);
}

template <Tier tier>
Decision by_refutation(Pass& p, const Units& units) {
  const uint64_t before = p.r.domain().work();
  for (bool value : {true, false}) {
    if (!p.s.may_be(value)) continue;
    auto proof = p.r.proofs().refutation.refute(p.s.opposite_of(value), tier,
                                                units.budget, p.tried);
    if (proof) return {value, proof->why, false, proof->used_cases};
  }
  p.refuting_work += p.r.domain().work() - before;
  return {};
}

Decision by_enumeration(Pass& p, const Units&) {
  return enumerate(p.r, p.s, {limits().box_points, limits().box_visits});
}

// Neither answer is excluded, and to look for both took a while.  Restarts
// would find what was found before.
bool lacks_model(const Pass& p) {
  return p.s.may_be_either() && p.s.budgets() == 1 &&
         p.refuting_work >=
             thousandths(limits().few_models_budget, p.r.options().budget);
}

// A model by itself tells which of the two answers is left; where none is
// found, there may be few in all.
Decision by_few_models(Pass& p, const Units& units) {
  rule_out_by_small_points(p.r, p.s, limits().small_box_points);
  return p.s.may_be_either() && !is_disabled(p, Strategy::kEnumeration)
             ? by_enumeration(p, units)
             : Decision{};
}

// Floats are compared with what was assumed, in any order.
bool can_restart(const Pass& p) {
  if (!p.r.options().restart) return false;
  const std::vector<Expr> asked = free_symbols(p.s.question());
  if (std::none_of(asked.begin(), asked.end(),
                   [](Expr x) { return x.is_int(); })) {
    return false;
  }
  return p.r.facts().connected_to(p.s.question()).facts.size() <=
         limits().restart_facts;
}

Decision by_model_search(Pass& p, const Units& units) {
  p.r.within(units.work, [&] {
    rule_out_answers(p.r, p.s, units.budget);
    if (!p.s.is_open())
      rule_out_by_small_points(p.r, p.s, limits().small_box_points);
    return true;
  });
  return {};
}

// A share of its own: what came before depends on the order of the facts.
Decision by_restarts(Pass& p, const Units& units) {
  p.s.withdraw();
  p.s.finish();
  return p.r.within(units.work, [&] { return restart(p.r, p.s); })
      .value_or(Decision{});
}

bool wants_models(const Pass& p) { return p.r.options().search_models; }

Decision by_model_points(Pass& p, const Units& units) {
  p.r.within(units.work, [&] {
    find_witnesses(p.r, p.s.question(), units.budget, *p.answer);
    return true;
  });
  if (p.answer->tier == Tier::kModels) p.s.finish();
  return {};
}

bool wants_z3(const Pass& p) {
  return !p.r.work().is_interrupted() && p.r.options().use_z3 &&
         Z3Backend::is_built();
}

Decision by_z3(Pass& p, const Units& units) {
  const uint64_t own = Z3Backend::kUnits * p.r.options().z3_budget;
  p.r.within(units.work + own, [&] {
    ask_z3(p.r, p.s.question(), *p.answer);
    return true;
  });
  if (p.answer->verdict == Verdict::kUnknown) return {};
  return {p.answer->verdict == Verdict::kYes, 0};
}

bool has_answer(const Pass& p) { return p.proved != nullptr; }

// Known, or found in few steps.
Decision by_model_of_facts(Pass& p, const Units& units) {
  CandidateModels& candidates = p.r.candidates();
  if ((candidates.knows_model_of_facts(p.s.goal()) &&
       candidates.knows_model_of_facts(p.r.lower().defined(p.s.question()))) ||
      value_at_model(p.r, p.s.question(), units.budget)) {
    p.s.finish();
  }
  return {};
}

// A contradiction of the facts relevant to the goal's atoms.
std::optional<Proof> refuted_facts(Pass& p, const Units& units) {
  const Atoms atoms = p.r.forms().occurrences.of_formula(p.s.goal());
  return p.r.proofs().refutation.refute_facts({atoms.begin(), atoms.size()},
                                              units.budget);
}

Decision by_refutation_of_facts(Pass& p, const Units& units) {
  if (const auto proof = refuted_facts(p, units)) p.s.contradict(proof->why);
  return {};
}

// Its walk ends the search where all points were seen.
Decision by_enumeration_of_facts(Pass& p, const Units&) {
  enumerate(p.r, p.s, {limits().consistency_points});
  return {};
}

// Facts that prove an answer and its opposite; where they contradict each other
// without it, those are named that do.
Decision by_proof_of_opposite(Pass& p, const Units& units) {
  const Tier tier =
      p.proved->tier <= Tier::kLinear ? Tier::kLinear : Tier::kCases;
  const FormulaId answer = p.s.opposite_of(!p.proved->value);
  const auto proof =
      p.r.proofs().refutation.refute(answer, tier, units.budget, p.tried);
  if (!proof) return {};
  const auto alone = refuted_facts(p, units);
  p.s.contradict(alone ? alone->why
                       : p.r.reasons().join(p.proved->why, proof->why));
  return {};
}

bool may_reorder_facts(const Pass& p) {
  return !has_answer(p) && p.r.options().restart && p.group.size() >= 2 &&
         p.group.size() <= limits().restart_facts;
}

// A contradiction that the given order alone shows would be one of its order.
bool has_one_order_of_facts(const Pass& p) {
  return !has_answer(p) &&
         (!may_reorder_facts(p) || is_disabled(p, Strategy::kFactsReordering));
}

Decision by_orders_of_facts(Pass& p, const Units& units) {
  if (const auto why =
          contradiction_in_other_orders(p.r, p.group, units.budget)) {
    p.s.contradict(*why);
  }
  return {};
}

// clang-format off
constexpr Row kStrategies[] = {
    {Strategy::kRanges, "ranges",
     "normal forms, solved equalities, intervals and congruences",
     Stage::kProof, Tier::kRanges, {}, nullptr, by_ranges},
    {Strategy::kMonomialRatios, "monomial-ratios",
     "ratios of products that equalities between products determine",
     Stage::kProof, Tier::kEqualities, {.budget = 16}, has_products,
     by_rewriting<&ProofStrategies::ratios>},
    {Strategy::kAssertedCases, "asserted-cases",
     "each case of an assumed disjunction, by ranges",
     Stage::kProof, Tier::kCases, {.budget = 16}, has_asserted_cases, by_cases},
    {Strategy::kCandidateModels, "candidate-models",
     "kept models of the facts: which answers remain",
     Stage::kProof, Tier::kNone, {}, nullptr, by_models<&CandidateModels::finds_model>},
    {Strategy::kConditionCases, "condition-cases",
     "each case of a Min, Max or Where, by ranges",
     Stage::kProof, Tier::kCases, {.budget = 16}, has_no_asserted_cases, by_cases},
    {Strategy::kMinMaxLattice, "min-max-lattice",
     "relations between trees of Min and Max, whatever their leaves are",
     Stage::kProof, Tier::kCases, {}, has_min_max, by_min_max},
    {Strategy::kDeepFloors, "deep-floors",
     "nested floors by symbols; quotients by symbols in linearised indices",
     Stage::kProof, Tier::kLinear, {.budget = 8}, has_symbolic_divisor,
     by_rewriting<&ProofStrategies::deep_floors>},
    {Strategy::kNonnegativeCombination, "nonnegative-combination",
     "a sum of constraints times nonnegative factors: i*n + j < m*n",
     Stage::kProof, Tier::kLinear, {}, nullptr, by_combination},
    {Strategy::kPolynomialReduction, "polynomial-reduction",
     "pseudo-division by constraints: (a*b) % c == 0 and the like",
     Stage::kProof, Tier::kLinear, {.budget = 16}, nullptr, by_reduction},
    {Strategy::kLinearRefutation, "linear-refutation",
     "Fourier-Motzkin with integer tightening over monomials, with lemmas "
     "about their products",
     Stage::kProof, Tier::kLinear, {.budget = 3}, nullptr,
     by_refutation<Tier::kLinear>},
    {Strategy::kModelRepair, "model-repair",
     "models that local search mends: which answers remain",
     Stage::kProof, Tier::kNone, {}, nullptr,
     by_models<&CandidateModels::finds_model_by_search>},
    {Strategy::kFewModels, "few-models",
     "where neither answer is excluded: points of a small box, or all of few",
     Stage::kProof, Tier::kCases, {}, lacks_model, by_few_models},
    {Strategy::kCaseSplit, "case-split",
     "linear refutations below disjunctions, floors, residues, small ranges",
     Stage::kProof, Tier::kLinear, {.budget = 6, .times_if_one = 2}, nullptr,
     by_refutation<Tier::kCases>},
    {Strategy::kEnumeration, "enumeration",
     "every point of a small box, or of a period of one variable",
     Stage::kFallback, Tier::kCases, {}, nullptr, by_enumeration},
    {Strategy::kQuickModelSearch, "quick-model-search",
     "a witness and a counterexample, found in few steps",
     Stage::kFallback, Tier::kNone, {.budget = 8, .work_sixteenths = 1},
     can_restart, by_model_search},
    {Strategy::kRestarts, "restarts",
     "the proof strategies again, facts and symbols in canonical orders",
     Stage::kFallback, Tier::kNone, {.work_sixteenths = 6}, can_restart,
     by_restarts},
    {Strategy::kModelSearch, "model-search",
     "depth-first search for a witness and a counterexample",
     Stage::kPoints, Tier::kModels, {.budget = 1, .work_sixteenths = 4},
     wants_models, by_model_points},
    {Strategy::kZ3, "z3",
     "what Z3 decides within its resource limit",
     Stage::kPoints, Tier::kZ3, {.work_sixteenths = 4}, wants_z3, by_z3},
    {Strategy::kModelOfFacts, "model-of-facts",
     "a point at which the facts hold, which do not contradict each other then",
     Stage::kContradiction, Tier::kNone,
     {.thousandths = &Limits::consistency_model_budget}, has_answer, by_model_of_facts},
    {Strategy::kFactsEnumeration, "facts-enumeration",
     "boxes of few points, none of which meets the facts",
     Stage::kContradiction, Tier::kNone, {}, has_answer, by_enumeration_of_facts},
    {Strategy::kOppositeRefutation, "opposite-refutation",
     "facts that prove the opposite of an answer as well",
     Stage::kContradiction, Tier::kNone,
     {.thousandths = &Limits::consistency_budget}, has_answer,
     by_proof_of_opposite},
    {Strategy::kFactsReordering, "facts-reordering",
     "facts that contradict each other when they are assumed in canonical orders",
     Stage::kContradiction, Tier::kNone,
     {.thousandths = &Limits::consistency_budget}, may_reorder_facts,
     by_orders_of_facts},
    {Strategy::kFactsRefutation, "facts-refutation",
     "linear refutation of facts too many, or too few, to be reordered",
     Stage::kContradiction, Tier::kNone,
     {.thousandths = &Limits::consistency_budget}, has_one_order_of_facts, by_refutation_of_facts},
};
// clang-format on
static_assert(std::ranges::equal(kStrategies, all_strategies(), {},
                                 &Row::strategy));

const Row& row_of(Strategy strategy) {
  return kStrategies[static_cast<size_t>(strategy)];
}

Tier tier_of(const Row& row, const Search& s, const Decision& d) {
  switch (row.tier) {
    case Tier::kNone: return s.tier();
    case Tier::kRanges:
      return s.goal() <= kTrue   ? Tier::kStructure
             : d.used_equalities ? Tier::kEqualities
                                 : Tier::kRanges;
    case Tier::kStructure:
    case Tier::kEqualities:
    case Tier::kLinear:
    case Tier::kCases:
    case Tier::kModels:
    case Tier::kZ3: return d.used_cases ? Tier::kCases : row.tier;
  }
  assert(false);
  return Tier::kNone;
}

// Of the `budget` that a pass has.
Units units_of(const Cost& cost, uint64_t budget, const Pass& pass) {
  const uint64_t work = pass.r.options().work_limit / 16 * cost.work_sixteenths;
  if (cost.thousandths != nullptr) {
    return {thousandths(limits().*cost.thousandths, budget), work};
  }
  const uint64_t times = pass.s.may_be_either() ? 1 : cost.times_if_one;
  return {cost.budget == 0 ? 0 : budget / cost.budget * times, work};
}

void run_rows(Stage stage, Pass& pass) {
  const SolverOptions& options = pass.r.options();
  Search& s = pass.s;
  const uint64_t whole = std::min(options.budget, Budget::kUnlimited / 64);
  const auto budget =
      static_cast<uint64_t>(s.budgets() * static_cast<double>(whole));
  s.begin_stage();
  for (const Row& row : kStrategies) {
    if (s.is_finished()) break;
    if (row.stage != stage || is_disabled(pass, row.strategy) ||
        (row.applies != nullptr && !row.applies(pass))) {
      continue;
    }
    CountedTry a_try(pass.r.statistics().by_strategy[row.strategy]);
    const Decision d = row.decide(pass, units_of(row.cost, budget, pass));
    if (d.value || s.is_contradiction()) a_try.decided();
    if (!d.value) continue;
    s.decide(*d.value, pass.r.reasons().join(s.why(), d.why),
             tier_of(row, s, d), row.strategy);
  }
}

std::optional<Reason> contradiction(Pass& pass) {
  run_rows(Stage::kContradiction, pass);
  return pass.s.is_contradiction() ? std::optional(pass.s.why()) : std::nullopt;
}

}  // namespace

void run(Reasoner& reasoner, Stage stage, Search& search) {
  Pass pass{.r = reasoner, .s = search};
  run_rows(stage, pass);
}

std::optional<Reason> find_contradiction(Reasoner& reasoner,
                                         const ProvedAnswer& proved) {
  Search s(proved.question, reasoner.lower().condition(proved.question));
  Pass pass{.r = reasoner, .s = s, .proved = &proved};
  return contradiction(pass);
}

std::optional<Reason> find_contradiction(Reasoner& reasoner, FormulaId fact) {
  std::vector<Expr> symbols;
  for (AtomId a : reasoner.forms().occurrences.of_formula(fact)) {
    const Atom& atom = reasoner.forms().atoms[a];
    if (atom.kind == AtomKind::kSymbol) symbols.push_back(atom.expr);
  }
  Search s(Expr(), fact);
  Pass pass{.r = reasoner,
            .s = s,
            .group = reasoner.facts().connected_to(symbols).facts};
  return contradiction(pass);
}

Answer show_points(Reasoner& reasoner, Expr question) {
  Answer answer;
  const Budget counted(Budget::kUnlimited);
  Search points(question, kTrue);
  Pass pass{.r = reasoner, .s = points, .answer = &answer};
  run_rows(Stage::kPoints, pass);
  if (points.value()) answer.strategy = points.strategy();
  return answer;
}

}  // namespace proviso::inline v0_2::internal

namespace proviso::inline v0_2 {

std::string_view name_of(Strategy strategy) {
  return strategy == Strategy::kNone ? "" : internal::row_of(strategy).name;
}

std::string_view fragment_of(Strategy strategy) {
  return strategy == Strategy::kNone ? "" : internal::row_of(strategy).fragment;
}

std::optional<Strategy> strategy_named(std::string_view name) {
  for (const internal::Row& row : internal::kStrategies) {
    if (row.name == name) return row.strategy;
  }
  return std::nullopt;
}

}  // namespace proviso::inline v0_2
