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
// Most questions end in the first row.  A row that is reached has the rows
// above it behind it: models that candidate-models found leave one answer to
// prove, or none.  The loop keeps the counts that `proviso decide --stats`
// prints; docs/solver.md has what each row alone decides, and what it costs.
#include "solver/engine/pipeline.h"

#include <algorithm>

#include "solver/engine/reasoner.h"
#include "solver/limits_in_force.h"
#include "solver/strategies/enumeration.h"
#include "solver/strategies/min_max.h"
#include "solver/strategies/restarts.h"
#include "solver/strategies/witnesses.h"

namespace proviso::inline v0_2::internal {
namespace {

// Points of a box, and values given one after another until they are found.
constexpr int64_t kBoxPoints = 16384, kVisits = 1024;
// Of a small box: nine values of two variables, four of three.
constexpr int64_t kSmallPoints = 81;

Decision by_ranges(Reasoner& r, Search& s, uint64_t) {
  return r.domain().decide(s.goal);
}

Decision by_combination(Reasoner& r, Search& s, uint64_t) {
  return r.proofs().combination.decide(s.goal);
}

bool has_asserted_cases(Reasoner& r, const Search& s) {
  return r.proofs().cases.has_asserted_clause(s.goal);
}

Decision by_cases(Reasoner& r, Search& s, uint64_t units) {
  s.cases_tried = true;
  return r.proofs().cases.decide(s.goal, units);
}

bool cases_untried(Reasoner&, const Search& s) { return !s.cases_tried; }

// A model of the facts at which the goal fails leaves "no" alone to prove.
template <bool (CandidateModels::*has_model)(FormulaId)>
Decision by_models(Reasoner& r, Search& s, uint64_t) {
  s.may_hold = s.may_hold && !(r.candidates().*has_model)(s.negation);
  s.may_fail = s.may_fail && !(r.candidates().*has_model)(s.goal);
  s.is_open = s.is_finished = !s.may_hold && !s.may_fail;
  return {};
}

bool has_products(Reasoner& r, const Search& s) {
  return r.proofs().ratios.applies(s.goal);
}

// What no order of the facts changes.
template <auto strategy>
Decision by_rewriting(Reasoner& r, Search& s, uint64_t units) {
  const uint64_t before = r.domain().work();
  const Decision d = (r.proofs().*strategy).decide(s.goal, units);
  s.rewriting_work += r.domain().work() - before;
  return d;
}

bool has_min_max(Reasoner& r, const Search& s) {
  return MinMaxLattice(r.domain(), r.lower()).applies(s);
}

Decision by_min_max(Reasoner& r, Search& s, uint64_t) {
  return MinMaxLattice(r.domain(), r.lower()).decide(s);
}

bool has_symbolic_divisor(Reasoner& r, const Search& s) {
  return r.proofs().deep_floors.applies(s.goal);
}

Decision by_reduction(Reasoner& r, Search& s, uint64_t units) {
  return r.proofs().reduction.decide(s.goal, units);
}

// Where models leave one answer alone, a case split has the other's share, too.
template <Tier tier>
Decision by_refutation(Reasoner& r, Search& s, uint64_t units) {
  if (tier == Tier::kCases && s.may_hold != s.may_fail) units *= 2;
  const uint64_t before = r.domain().work();
  for (bool value : {true, false}) {
    if (!(value ? s.may_hold : s.may_fail)) continue;
    const FormulaId refuted = value ? s.negation : s.goal;
    auto proof = r.proofs().refutation.refute(refuted, tier, units, s.tried);
    if (proof) return {value, proof->why, false, proof->used_cases};
  }
  s.refuting_work += r.domain().work() - before;
  return {};
}

Decision by_enumeration(Reasoner& r, Search& s, uint64_t) {
  return enumerate(r, s, {kBoxPoints, kVisits});
}

// Neither answer is excluded, and to look for both took a while.  Restarts
// would find what was found before.
bool lacks_model(Reasoner& r, const Search& s) {
  constexpr uint64_t kShare = 20;
  return s.may_hold && s.may_fail && s.budgets == 1 &&
         s.refuting_work >= r.options().budget / kShare;
}

// A model by itself tells which of the two answers is left; where none is
// found, there may be few in all.
Decision by_few_models(Reasoner& r, Search& s, uint64_t units) {
  rule_out_by_small_points(r, s, kSmallPoints);
  if (s.may_hold && s.may_fail) return by_enumeration(r, s, units);
  s.is_open = s.is_finished = !s.may_hold && !s.may_fail;
  return {};
}

// Floats are compared with what was assumed, in any order.
bool can_restart(Reasoner& r, const Search& s) {
  if (!r.options().restart) return false;
  const std::vector<Expr> asked = free_symbols(s.question);
  if (std::none_of(asked.begin(), asked.end(),
                   [](Expr x) { return x.is_int(); })) {
    return false;
  }
  return r.facts().connected_to(s.question).facts.size() <=
         limits().restart_facts;
}

Decision by_model_search(Reasoner& r, Search& s, uint64_t units) {
  r.within(r.options().work_limit / 16, [&] {
    rule_out_answers(r, s, units);
    if (s.may_hold || s.may_fail) rule_out_by_small_points(r, s, kSmallPoints);
    return true;
  });
  if (s.may_hold || s.may_fail) return {};
  s.value.reset();
  s.is_open = s.is_finished = true;
  return {};
}

// A share of its own: what came before depends on the order of the facts.
Decision by_restarts(Reasoner& r, Search& s, uint64_t) {
  s.reset();
  s.is_finished = true;
  return r.within(r.options().work_limit / 8 * 3, [&] { return restart(r, s); })
      .value_or(Decision{});
}

bool wants_models(Reasoner& r, const Search&) {
  return r.options().search_models;
}

Decision by_model_points(Reasoner& r, Search& s, uint64_t units) {
  r.within(r.options().work_limit / 4, [&] {
    find_witnesses(r, s.question, units, *s.answer);
    return true;
  });
  s.is_finished = s.answer->tier == Tier::kModels;
  return {};
}

bool wants_z3(Reasoner& r, const Search&) {
  return !r.work().is_interrupted() && r.options().use_z3 &&
         Z3Backend::is_built();
}

Decision by_z3(Reasoner& r, Search& s, uint64_t) {
  const uint64_t own = Z3Backend::kUnits * r.options().z3_budget;
  r.within(r.options().work_limit / 4 + own, [&] {
    ask_z3(r, s.question, *s.answer);
    return true;
  });
  if (s.answer->verdict == Verdict::kUnknown) return {};
  return {s.answer->verdict == Verdict::kYes, 0};
}

// The fragment is what the row is complete for, or what it is meant for.
// clang-format off
constexpr Strategy kStrategies[] = {
    {{"ranges", "normal forms, solved equalities, intervals and congruences"},
     Stage::kProof, Tier::kRanges, 0, nullptr, by_ranges},
    {{"monomial-ratios",
      "ratios of products that equalities between products determine"},
     Stage::kProof, Tier::kEqualities, 16, has_products,
     by_rewriting<&ProofStrategies::ratios>},
    {{"asserted-cases", "each case of an assumed disjunction, by ranges"},
     Stage::kProof, Tier::kCases, 16, has_asserted_cases, by_cases},
    {{"candidate-models", "kept models of the facts: which answers remain"},
     Stage::kProof, Tier::kNone, 0, nullptr, by_models<&CandidateModels::finds_model>},
    {{"condition-cases", "each case of a Min, Max or Where, by ranges"},
     Stage::kProof, Tier::kCases, 16, cases_untried, by_cases},
    {{"min-max-lattice",
      "relations between trees of Min and Max, whatever their leaves are"},
     Stage::kProof, Tier::kCases, 0, has_min_max, by_min_max},
    {{"deep-floors",
      "nested floors by symbols; quotients by symbols in linearised indices"},
     Stage::kProof, Tier::kLinear, 8, has_symbolic_divisor,
     by_rewriting<&ProofStrategies::deep_floors>},
    {{"nonnegative-combination",
      "a sum of constraints times nonnegative factors: i*n + j < m*n"},
     Stage::kProof, Tier::kLinear, 0, nullptr, by_combination},
    {{"polynomial-reduction",
      "pseudo-division by constraints: (a*b) % c == 0 and the like"},
     Stage::kProof, Tier::kLinear, 16, nullptr, by_reduction},
    {{"linear-refutation",
      "Fourier-Motzkin with integer tightening over monomials, with lemmas "
      "about their products"},
     Stage::kProof, Tier::kLinear, 3, nullptr, by_refutation<Tier::kLinear>},
    {{"model-repair", "models that local search mends: which answers remain"},
     Stage::kProof, Tier::kNone, 0, nullptr,
     by_models<&CandidateModels::finds_model_by_search>},
    {{"few-models",
      "where neither answer is excluded: points of a small box, or all of few"},
     Stage::kProof, Tier::kCases, 0, lacks_model, by_few_models},
    {{"case-split",
      "linear refutations below disjunctions, floors, residues, small ranges"},
     Stage::kProof, Tier::kLinear, 6, nullptr, by_refutation<Tier::kCases>},
    {{"enumeration",
      "boxes, or periods of one variable, by at most 1,024 values given"},
     Stage::kFallback, Tier::kCases, 0, nullptr, by_enumeration},
    {{"quick-model-search", "a witness and a counterexample, found in few steps"},
     Stage::kFallback, Tier::kNone, 8, can_restart, by_model_search},
    {{"restarts",
      "the proof strategies again, facts and symbols in canonical orders"},
     Stage::kFallback, Tier::kNone, 0, can_restart, by_restarts},
    {{"model-search", "depth-first search for a witness and a counterexample"},
     Stage::kPoints, Tier::kModels, 1, wants_models, by_model_points},
    {{"z3", "what Z3 decides within its resource limit"},
     Stage::kPoints, Tier::kZ3, 0, wants_z3, by_z3},
};
// clang-format on
static_assert(std::size(kStrategies) == kStrategyCount);

Tier tier_of(const Strategy& row, const Search& s, const Decision& d) {
  if (row.tier != Tier::kRanges) {
    return d.used_cases ? Tier::kCases : row.tier;
  }
  return s.goal <= kTrue     ? Tier::kStructure
         : d.used_equalities ? Tier::kEqualities
                             : Tier::kRanges;
}

}  // namespace

void run(Reasoner& r, Stage stage, Search& s) {
  const SolverOptions& options = r.options();
  const uint64_t whole = std::min(options.budget, Budget::kUnlimited / 16);
  const auto budget =
      static_cast<uint64_t>(s.budgets * static_cast<double>(whole));
  for (size_t i = 0; i < kStrategyCount; ++i) {
    const Strategy& row = kStrategies[i];
    const bool is_off = options.disabled_strategies >> i & 1;
    if (row.stage != stage || is_off ||
        (row.applies != nullptr && !row.applies(r, s))) {
      continue;
    }
    const uint64_t before = Budget::units_left();
    const uint64_t units = row.share == 0 ? 0 : budget / row.share;
    const Decision d = row.decide(r, s, units);
    StrategyCount& count = r.statistics().by_strategy[i];
    ++count.tried;
    count.work += before - Budget::units_left();
    if (d.value) {
      ++count.decided;
      s.value = d.value;
      s.why = r.reasons().join(s.why, d.why);
      if (row.tier != Tier::kNone) {
        const Tier tier = tier_of(row, s, d);
        s.tier = s.tier == Tier::kNone ? tier : std::max(s.tier, tier);
      }
      s.strategy = static_cast<uint8_t>(i);
      s.is_finished = true;
    }
    if (s.is_finished) return;
  }
}

}  // namespace proviso::inline v0_2::internal

namespace proviso::inline v0_2 {

const StrategyInfo& strategy(size_t index) {
  return internal::kStrategies[index].info;
}

}  // namespace proviso::inline v0_2
