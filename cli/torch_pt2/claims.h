// cli/torch_pt2/claims.h - what a file claims of its inputs, judged by the
// solver.
//
//   for (const Finding& f : judge(pool, loaded.ranges, claims, equations))
//     std::cout << f.kind << "  " << f.text << "\n";
//
//   needed   a guard that neither the ranges nor the guards before it imply
//   implied  one that they do, and by which of them
//   wrong    not understood, or false for every input that passes the others
//   missing  taken for granted by the program, implied by nothing in the file
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "solver/solver.h"

namespace proviso::cli {

struct ClaimText {
  std::string text;
  Expr condition;       // null: not understood
  std::string problem;  // why
};

struct Finding {
  std::string kind, text, because;
  bool is_defect() const { return kind == "wrong" || kind == "missing"; }
};

std::vector<Finding> judge(ExprPool& pool,
                           const std::vector<std::pair<Expr, Interval>>& ranges,
                           const std::vector<ClaimText>& claims,
                           const std::vector<ClaimText>& taken_for_granted);

}  // namespace proviso::cli
