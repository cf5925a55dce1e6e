// tracer_adapter/rerun/same_calls.h - whether a program that branched on a size
// makes the same calls for a size that went the other way.
//
//   if batch != positions.shape[0]:               # traced with batch == 3
//       positions = positions.expand(batch, -1)
//
//   // `other` was traced with batch == 1
//   admit(program, s0, 1, other);   // true: expand(1, -1) changes nothing
//
// Where a branch is taken because sizes are assumed to be 2 or more, the ranges
// leave 0 and 1 out.  A second trace with that size says what the program does
// there.  When each call is the same, with the same arguments and results, and
// the first program's conditions imply the second's, the first is right for
// both.
#pragma once

#include <string>
#include <vector>

#include "tracer_adapter/exported_program.h"

namespace proviso::inline v0_2 {

// A size 0 or 1 that only branches of the program leave out.
struct SizeToTry {
  Expr symbol;
  int size;
  std::vector<std::string> sources;  // the sizes of inputs that are the symbol
};
// Without those that the caller left out, and those on which the size of
// another input depends.
std::vector<SizeToTry> sizes_to_try(const ExportedProgram& program);

// `other`: the program traced again with inputs whose `symbol` is `size`, 0 or
// 1, a constant there.  Whether `program` is right for that size too; then its
// ranges and guards no longer leave it out.
bool admit(ExportedProgram& program, Expr symbol, int size,
           const ExportedProgram& other);

}  // namespace proviso::inline v0_2
