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
#include <algorithm>

#include "solver/engine.h"
#include "solver/limits.h"

namespace proviso {
namespace {

// Of the budget: an answer that took more may rest on the order of the facts.
constexpr double kConfident = 0.45;
// Which variables equalities leave free depends on the order of the facts: few
// points are counted at once, more after the restarts.
constexpr int64_t kFewPoints = 256, kManyPoints = 16384;

Decision by_ranges(Engine& e, Search& s, uint64_t) {
  return e.domain.decide(s.goal);
}

Decision by_combination(Engine& e, Search& s, uint64_t) {
  return e.prover.decide_by_rows(s.goal);
}

Decision by_wide_combination(Engine& e, Search& s, uint64_t) {
  return e.prover.decide_by_rows(s.goal, limits().side_steps);
}

bool has_asserted_cases(Engine& e, const Search& s) {
  return e.prover.has_assumed_clause(s.goal);
}

Decision by_cases(Engine& e, Search& s, uint64_t units) {
  s.cases_tried = true;
  return e.prover.decide_in_cases(s.goal, units);
}

bool cases_untried(Engine&, const Search& s) { return !s.cases_tried; }

// A model of the facts at which the goal fails leaves "no" alone to prove.
template <bool (CandidateModels::*has_model)(FormulaId)>
Decision by_models(Engine& e, Search& s, uint64_t) {
  s.may_hold = s.may_hold && !(e.candidates.*has_model)(s.opposite);
  s.may_fail = s.may_fail && !(e.candidates.*has_model)(s.goal);
  s.is_open = s.is_finished = !s.may_hold && !s.may_fail;
  return {};
}

bool has_products(Engine& e, const Search& s) {
  return e.prover.has_products(s.goal);
}

// What no order of the facts changes.
template <Decision (Prover::*decide)(FormulaId, uint64_t)>
Decision by_rewriting(Engine& e, Search& s, uint64_t units) {
  const uint64_t before = e.domain.work();
  const Decision d = (e.prover.*decide)(s.goal, units);
  s.rewriting_work += e.domain.work() - before;
  return d;
}

bool has_min_max(Engine& e, const Search& s) { return e.has_min_max(s); }

Decision by_min_max(Engine& e, Search& s, uint64_t) {
  return e.decide_min_max(s);
}

bool has_symbolic_divisor(Engine& e, const Search& s) {
  return e.prover.has_symbolic_divisor(s.goal);
}

Decision by_division(Engine& e, Search& s, uint64_t units) {
  return e.prover.decide_by_division(s.goal, units);
}

template <Effort effort>
Decision by_refutation(Engine& e, Search& s, uint64_t units) {
  for (bool value : {true, false}) {
    if (!(value ? s.may_hold : s.may_fail)) continue;
    const FormulaId refuted = value ? s.opposite : s.goal;
    auto proof = e.prover.refute(refuted, effort, units, s.tried);
    if (proof) return {value, proof->why, false, proof->used_cases};
  }
  return {};
}

Decision by_values(Engine& e, Search& s, uint64_t units) {
  return e.prover.decide_by_values(s.goal, s.may_hold, s.may_fail, units);
}

template <int64_t most>
Decision by_enumeration(Engine& e, Search& s, uint64_t) {
  return e.enumerate(s, most);
}

// Floats are compared with what was assumed, in any order.
bool can_restart(Engine& e, const Search& s) {
  if (!e.options.restart) return false;
  const std::vector<Expr> asked = free_symbols(s.question);
  if (std::none_of(asked.begin(), asked.end(),
                   [](Expr x) { return x.is_int(); })) {
    return false;
  }
  std::vector<Expr> symbols;
  return e.relevant_facts(s.question, symbols).size() <= limits().restart_facts;
}

Decision by_model_search(Engine& e, Search& s, uint64_t units) {
  Answer found;
  e.within(e.options.work_limit / 16, [&] {
    e.find_models(s.question, units, found);
    return true;
  });
  if (found.tier != Tier::kModels) return {};
  s.value.reset();
  s.is_open = s.is_finished = true;
  return {};
}

// A share of its own: what came before depends on the order of the facts.
Decision by_restarts(Engine& e, Search& s, uint64_t) {
  s.reset();
  s.is_finished = true;
  return e.within(e.options.work_limit / 4, [&] { return e.restart(s); })
      .value_or(Decision{});
}

bool wants_models(Engine& e, const Search&) { return e.options.search_models; }

Decision by_shown_models(Engine& e, Search& s, uint64_t units) {
  e.within(e.options.work_limit / 4, [&] {
    e.find_models(s.question, units, *s.answer);
    return true;
  });
  s.is_finished = s.answer->tier == Tier::kModels;
  return {};
}

bool wants_z3(Engine& e, const Search&) {
  return !e.interrupted && e.options.use_z3 && Z3Backend::is_built();
}

Decision by_z3(Engine& e, Search& s, uint64_t) {
  e.within(e.options.work_limit / 4, [&] {
    e.ask_z3(s.question, *s.answer);
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
    {{"nonnegative-combination",
      "a product of constraints and nonnegative factors: i*n + j < m*n"},
     Stage::kProof, Tier::kLinear, 0, nullptr, by_combination},
    {{"monomial-ratios",
      "ratios of products that equalities between products determine"},
     Stage::kProof, Tier::kEqualities, 16, has_products,
     by_rewriting<&Prover::decide_by_ratios>},
    {{"asserted-cases", "each case of an assumed disjunction, by ranges"},
     Stage::kProof, Tier::kCases, 16, has_asserted_cases, by_cases},
    {{"candidate-models", "kept models of the facts: which answers remain"},
     Stage::kProof, Tier::kNone, 0, nullptr, by_models<&CandidateModels::satisfiable>},
    {{"condition-cases", "each case of a Min, Max or Where, by ranges"},
     Stage::kProof, Tier::kCases, 16, cases_untried, by_cases},
    {{"min-max-lattice",
      "relations between trees of Min and Max, whatever their leaves are"},
     Stage::kProof, Tier::kCases, 0, has_min_max, by_min_max},
    {{"deep-floors",
      "nested floors by symbols; quotients by symbols in linearised indices"},
     Stage::kProof, Tier::kLinear, 8, has_symbolic_divisor,
     by_rewriting<&Prover::decide_by_floors>},
    {{"polynomial-reduction",
      "pseudo-division by constraints: (a*b) % c == 0 and the like"},
     Stage::kProof, Tier::kLinear, 16, nullptr, by_division},
    {{"wide-combination",
      "nonnegative combinations through steps that shorten nothing"},
     Stage::kProof, Tier::kLinear, 0, nullptr, by_wide_combination},
    {{"linear-refutation",
      "Fourier-Motzkin with integer tightening over monomials, with lemmas "
      "about their products"},
     Stage::kProof, Tier::kLinear, 3, nullptr, by_refutation<Effort::kLinear>},
    {{"model-repair", "models that local search mends: which answers remain"},
     Stage::kProof, Tier::kNone, 0, nullptr,
     by_models<&CandidateModels::satisfiable_by_search>},
    {{"case-split",
      "linear refutations below disjunctions, floors, residues, small ranges"},
     Stage::kProof, Tier::kLinear, 6, nullptr, by_refutation<Effort::kCases>},
    {{"value-split", "every value of bounded variables near the question"},
     Stage::kProof, Tier::kCases, 2, nullptr, by_values},
    {{"small-enumeration", "boxes of at most 256 points, each evaluated"},
     Stage::kWhole, Tier::kCases, 0, nullptr, by_enumeration<kFewPoints>},
    {{"quick-model-search", "a witness and a counterexample, found in few steps"},
     Stage::kWhole, Tier::kNone, 4, can_restart, by_model_search},
    {{"restarts",
      "the proof strategies again, facts and symbols in canonical orders"},
     Stage::kWhole, Tier::kNone, 0, can_restart, by_restarts},
    {{"enumeration", "boxes of at most 16,384 points, each evaluated"},
     Stage::kWhole, Tier::kCases, 0, nullptr, by_enumeration<kManyPoints>},
    {{"model-search", "depth-first search for a witness and a counterexample"},
     Stage::kPoints, Tier::kModels, 1, wants_models, by_shown_models},
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

const StrategyInfo& strategy(size_t index) { return kStrategies[index].info; }

void Engine::run(Stage stage, Search& s) {
  for (size_t i = 0; i < kStrategyCount; ++i) {
    const Strategy& row = kStrategies[i];
    const bool is_off = options.disabled_strategies >> i & 1;
    if (row.stage != stage || is_off ||
        (row.applies != nullptr && !row.applies(*this, s)))
      continue;
    const uint64_t before = Budget::units_left();
    const uint64_t units = row.share == 0 ? 0 : options.budget / row.share;
    const Decision d = row.decide(*this, s, units);
    StrategyCount& count = statistics.by_strategy[i];
    ++count.tried;
    count.work += before - Budget::units_left();
    if (d.value) {
      ++count.decided;
      s.value = d.value;
      s.why = reasons.join(s.why, d.why);
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

// Each point at which the facts hold must define the question; then it is
// decided with that known.
Search Engine::prove(Expr question) {
  const FormulaId defined = lower.defined(question);
  Search s(question, lower.condition(question));
  if (defined == kTrue) {
    run(Stage::kProof, s);
    return s;
  }
  Search definedness(question, defined);
  definedness.may_fail = false;
  run(Stage::kProof, definedness);
  s.is_open = definedness.is_open;
  if (definedness.value != true) return s;
  s.why = definedness.why;
  s.tier = definedness.tier;
  const Domain::Mark before = domain.mark();
  // What took a proof would take it again.
  if (s.tier >= Tier::kLinear) domain.assume(defined, s.why);
  run(Stage::kProof, s);
  domain.undo(before);
  return s;
}

// Unknown, with the facts that contradict each other in `why`, where those near
// the question do.
Search Engine::decide_natively(Expr question) {
  const uint32_t arena = reasons.size();
  const uint64_t before = domain.work();
  std::optional<Search> proved =
      within(options.work_limit / 8, [&] { return prove(question); });
  Search s =
      proved ? *std::move(proved) : Search(question, lower.condition(question));
  const auto spent =
      static_cast<double>(domain.work() - before - s.rewriting_work);
  const bool is_confident =
      spent < kConfident * static_cast<double>(options.budget);
  s.is_finished = s.value ? is_confident : s.is_open;
  if (!s.is_finished) run(Stage::kWhole, s);
  keep_reason(arena, s.why);
  if (s.value && s.tier >= Tier::kLinear) {
    if (auto why = contradiction_near(question, *s.value, s.tier, s.why)) {
      s.reset();
      s.is_contradiction = true;
      s.why = *why;
    }
  }
  return s;
}

}  // namespace proviso
