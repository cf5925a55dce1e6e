// tracer_adapter/pt2/guard_names.h - guards as torch evaluates them.
//
//   guards_for_torch(program);                  // L['x'].size()[0] % 4 == 0
//   check_guard("L['x'].size()[0] % 4 == 0");   // good
//   check_guard("Mod(L['x'].size()[0], 4) == 0");  // throws: torch has no Mod
#pragma once

#include <string>
#include <vector>

#include "tracer_adapter/exported_program.h"

namespace proviso::inline v0_2::pt2 {

// A program's guards as its file has them.  torch's run_decompositions() traces
// them: `float(n)` or `max(n, 8)` would fix a size there, or its order.
std::vector<std::string> guards_for_torch(const ExportedProgram& program);

// `guard`: a line of a file's guards_code, which torch writes into a function.
// Throws FileError unless it is one line, whose names are those of the inputs
// (L), of Python's functions of numbers, and of math and torch.
void check_guard(const std::string& guard);

}  // namespace proviso::inline v0_2::pt2
