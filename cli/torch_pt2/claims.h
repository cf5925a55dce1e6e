// cli/torch_pt2/claims.h - what a file claims of its inputs, judged by the
// solver against what the program's operators need.
//
//   for (const Finding& f : judge(claims, needs, trial))
//     std::cout << f.kind << "  " << f.text << "\n";
//
//   needed    an operator needs it: the place, or sizes that one refuses
//   implied   it follows from the ranges and the guards before it: which
//   promised  no operator needs it: the sizes shown run.  An end of a range or
//             an equation of sizes, as a Dim promises; stated by a guard, or by
//             how the inputs' sizes are written (one name twice; 2*s0 is even)
//   asked     no operator needs it: the model's own code asks for it, or a Dim
//             promises it, at the place that the file names
//   wrong     not understood; false for every input that passes the others; or
//             no operator needs it, no Dim promises such a thing, and the file
//             names no place
//   missing   an operator needs it, and nothing in the file implies it: no
//             guard, range or assertion of the program, no equation of sizes
//   open      needed by a shape function's reckoning, yet no sizes are found
//             that an operator refuses; or kept though nothing shows its need
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "solver/solver.h"
#include "tracer_adapter/pt2/program_reader.h"
#include "tracer_adapter/rerun/retrace.h"

namespace proviso::cli {

struct ClaimText {
  std::string text;
  Expr condition;
  std::string place;  // where its program asked for it; "": not known
};

// What a file says of its inputs.
struct Claims {
  ExprPool& pool;
  std::vector<std::pair<Expr, Int>> example;      // every symbol of the inputs
  std::vector<std::pair<Expr, Interval>> ranges;  // that are checked
  std::vector<std::pair<Expr, Interval>> stated;  // as they stand there
  std::vector<ClaimText> guards;
  std::vector<Expr> equations;  // by the inputs' sizes having one name
  std::vector<Expr> asserted;   // by the program, when it runs
};

struct Finding {
  std::string kind, text, because;
  bool is_defect() const { return kind == "wrong" || kind == "missing"; }
};

// `loaded` must outlive it.
Claims claims_of(const pt2::LoadedProgram& loaded, const Retrace& traced);

std::vector<Finding> judge(
    const Claims& claims, const std::vector<NeededCondition>& needs,
    const std::function<Trial(const Assignment&)>& trial);

// L['x'].size()[0] == 2*L['y'].size()[0]
std::string with_sources(Expr e);

}  // namespace proviso::cli
