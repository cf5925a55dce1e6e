// tracer_adapter/shape_functions/found_before.h - numbers that data decided
// once and decides again.
//
//   n = x[m].size(0)   // u0
//   k = y[m].size(0)   // u0 again: nothing wrote to m in between
//
// An operator that counts the elements of a tensor, or reads its number, gives
// the symbol that an earlier one of its kind gave for the same value.  So a
// check may say x[m].size(0) where the program has no name for it.
#pragma once

#include "tracer_adapter/shape_functions/common.h"

namespace proviso::inline v0_2::shapes {

// How many elements of `mask` are true (not zero); a fresh size in [0, at_most]
// where nobody counted before.
SymInt count_of_true(RuleCall& call, const Tensor& mask, const SymInt& at_most);

// The number that item() gives for `t`, where it is known: it was read before,
// or the tensor was made of known numbers, as torch.div(x.size(0), 4) is.  None
// elsewhere.
IValue known_item(RuleCall& call, const Tensor& t);

// How many different elements `t` has, as count_of_true().
SymInt count_of_unique(RuleCall& call, const Tensor& t, const SymInt& at_most);

}  // namespace proviso::inline v0_2::shapes
