// solver/forms/form_text.h - forms as text, for people who debug.
//
//   to_string(forms, p)                    1*s0 + -2*pos(1*s0 + -3) + 1
//   formula_to_string(forms, f)            (1*s0 >= 0) & (1*s1 == 0)
#pragma once

#include <string>

#include "solver/forms/form_pool.h"

namespace proviso::inline v0_2::internal {

std::string to_string(FormPool& forms, const Poly& p);
std::string formula_to_string(FormPool& forms, FormulaId f);

}  // namespace proviso::inline v0_2::internal
