// solver/strategies/witnesses.h - points at which the facts hold and a question
// is true, false or undefined.
//
//   find_witnesses(reasoner, question, units, answer);
//   answer.witness, answer.counterexample       // each confirmed by evaluate()
//
// A search in depth (solver/models.h), else a candidate model.
#pragma once

#include "solver/solver.h"

namespace proviso::inline v0_2::internal {

class Reasoner;

// Spends `units` on each of the points, and half as much on missing one.  With
// both, or an undefined point, the answer's tier is kModels.
void find_witnesses(Reasoner& reasoner, Expr question, uint64_t units,
                    Answer& answer);
// What Z3 decides within SolverOptions::z3_budget, or its points.
void ask_z3(Reasoner& reasoner, Expr question, Answer& answer);

}  // namespace proviso::inline v0_2::internal
