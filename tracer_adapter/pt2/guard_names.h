// tracer_adapter/pt2/guard_names.h - whether torch can evaluate a guard.
//
//   check_guard("L['x'].size()[0] % 4 == 0");   // good
//   check_guard("Mod(L['x'].size()[0], 4) == 0");  // throws: torch has no Mod
#pragma once

#include <string>

namespace proviso::inline v0_2::pt2 {

// `guard`: a line of a file's guards_code, which torch writes into a function.
// Throws FileError unless it is one line, whose names are those of the inputs
// (L), of Python's functions of numbers, and of math and torch.
void check_guard(const std::string& guard);

}  // namespace proviso::inline v0_2::pt2
