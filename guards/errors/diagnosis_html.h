// guards/errors/diagnosis_html.h - diagnoses as a page to mail to a colleague.
//
//   std::ofstream("report.html") << to_html(diagnose(read_errors(text)));
//
// One file that loads nothing: the errors with their lines, checks and facts,
// and a picture (SVG) of what is known, what is asked and what ends it.  Light
// and dark as the reader's system is; j and k, or the arrow keys, go from error
// to error, Enter folds one.
#pragma once

#include <string>
#include <vector>

#include "guards/errors/diagnosis.h"

namespace proviso::inline v0_2::internal {

std::string to_html(const std::vector<Diagnosis>& errors);

}  // namespace proviso::inline v0_2::internal
