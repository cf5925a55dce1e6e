// guards/env/violations.h - promises of Dims that the trace broke, and how to
// mend the Dims.
//
//   check_constraints(options, facts, symbols, replacements, recorder);
//       // Constraints violated (d)! ...
//       //   - Not all values of d = L['x'].size()[0] ... satisfy the generated
//       //     guard L['x'].size()[0] <= 512.
//       // Suggested fixes:
//       //   d = Dim('d', max=512)
//
// A named Dim promises every size in its range; a DYNAMIC one promises more
// than one size.  Guards between several named Dims are allowed (checked at run
// time) unless they are equalities that could have been written as Dims.
#pragma once

#include "guards/env/recorder.h"

namespace proviso::inline v0_2::internal {

// Throws ConstraintViolationError, which names every violation.
void check_constraints(const ShapeEnvOptions& options, SessionFacts& facts,
                       Symbols& symbols, Replacements& replacements,
                       const Recorder& recorder);

}  // namespace proviso::inline v0_2::internal
