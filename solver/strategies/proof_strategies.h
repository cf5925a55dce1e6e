// solver/strategies/proof_strategies.h - the strategies that prove from the
// domain alone, and what they share.
//
//   ProofStrategies by(domain);
//   by.reduction.decide(f, units);
//
// One set serves an engine: they keep no state between two questions.  In which
// order they are tried is solver/engine/pipeline.cc's.
#pragma once

#include "solver/strategies/case_analysis.h"
#include "solver/strategies/combination.h"
#include "solver/strategies/deep_floors.h"
#include "solver/strategies/ratios.h"
#include "solver/strategies/reduction.h"
#include "solver/strategies/refutation.h"

namespace proviso::inline v0_2::internal {

struct ProofStrategies {
  explicit ProofStrategies(Domain& domain)
      : combination(domain),
        deep_floors(domain, combination),
        ratios(domain, combination),
        cases(domain),
        reduction(domain),
        refutation(domain, reduction) {}

  Combination combination;
  DeepFloors deep_floors;
  MonomialRatios ratios;
  CaseAnalysis cases;
  PolynomialReduction reduction;
  Refutation refutation;
};

}  // namespace proviso::inline v0_2::internal
