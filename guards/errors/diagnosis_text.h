// guards/errors/diagnosis_text.h - diagnoses as reports.
//
//   std::cout << to_text(diagnose(read_errors(text)));
//
//   needed_check at model.py:9
//       y = y.view(-1)
//     PyTorch asks      Eq(256*u0, 256)
//     insert before it  torch._check(y.shape[0] != 1)
//     else, for one     u0 = 1
//     ...
#pragma once

#include <string>
#include <vector>

#include "guards/errors/diagnosis.h"

namespace proviso::inline v0_2::internal {

// For people at a terminal; with `colour`, ANSI colours.
std::string to_text(const std::vector<Diagnosis>& errors, bool colour = false);

// {"errors": [{"kind": .., "conditions": [..], "code": [..], "file": ..,
//  "line": .., "names": {"u0": "y.shape[0]"}}]} in one line of valid UTF-8;
// file and line are null where the text does not say.  With `all`, what else
// a Diagnosis has is there too, by its member's name.
std::string to_json(const std::vector<Diagnosis>& errors, bool all = false);

}  // namespace proviso::inline v0_2::internal
