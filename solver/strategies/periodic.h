// solver/strategies/periodic.h - formulas over one variable that repeat
// themselves beyond some point.
//
//   (x//20 if x >= 0 else -(-x//20)) over all x
//     at x >= 0   slope 1/20, period 20, from 0 on
//     at x <= 0   the same of -x
//   x % 4 != 3 or x >= 100
//     at x >= 0   true from 100 on
//     at x <= 0   period 4, from 0 on:    what holds in [-4, 100] holds
//     everywhere
//
// In one direction a sum of floors by numbers, of Min, Max and Where of such is
// eventually g(w + p) == g(w) + a*p for a slope a and a period p, since the
// sign of a term with a slope changes no more and what has none repeats.  So
// does the truth of a relation, with a slope 0.  Past both ends of the window
// every point has one inside of it at which all formulas are as true as at
// itself.
//
// Complete for Presburger formulas with one variable and without quantifiers
// (Presburger, 1929; the periods are those of Cooper's divisors, 1972) as long
// as the window is small; where the arms of a Where have different slopes and
// its condition repeats, there is none.  The cost is that of one walk over the
// formulas, and of a point for each value in the window.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "solver/forms/form_pool.h"
#include "solver/interval.h"

namespace proviso::inline v0_2::internal {

// The values of `variable` in `range` that stand for all of them; `solved`
// atoms are what they are said to be.  Nullopt where a formula is of another
// kind.
std::optional<Interval> representative_window(
    FormPool& forms, std::span<const FormulaId> formulas, AtomId variable,
    std::span<const std::pair<AtomId, Poly>> solved, const Interval& range);

}  // namespace proviso::inline v0_2::internal
