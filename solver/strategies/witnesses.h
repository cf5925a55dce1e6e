// solver/strategies/witnesses.h - points at which the facts hold and a question
// is true, false or undefined.
//
//   find_witnesses(reasoner, question, units, answer);
//   answer.witness, answer.counterexample       // each confirmed by evaluate()
//
// A search in depth (solver/models.h), else a candidate model.
#pragma once

#include <optional>
#include <vector>

#include "solver/engine/search.h"
#include "solver/solver.h"

namespace proviso::inline v0_2::internal {

class AssumedFacts;
class Reasoner;

// Unknown, for these facts contradict each other.
Answer contradiction(const AssumedFacts& facts, std::vector<FactId> which);
// Spends `units` on each of the points, and half as much on missing one.  With
// both, or an undefined point, the answer's tier is kModels.
void find_witnesses(Reasoner& reasoner, Expr question, uint64_t units,
                    Answer& answer);
// Looks for points that rule out answers which the search has left open, and
// for fewer of them.  A point where the question is undefined rules out both.
void rule_out_answers(Reasoner& reasoner, Search& s, uint64_t units);
// What the question is at some point where the facts about its symbols, and
// about theirs, hold and it is defined; none where no point is found.
std::optional<bool> value_at_model(Reasoner& reasoner, Expr question,
                                   uint64_t units);
// What Z3 decides within SolverOptions::z3_budget, or its points.
void ask_z3(Reasoner& reasoner, Expr question, Answer& answer);

}  // namespace proviso::inline v0_2::internal
