// tracer_adapter/control_flow_ops.h - branches and loops for programs in C++.
//
//   auto y = proviso::cond(x.sum().gt(0),
//                          [](Tensors in) { return Tensors{in[0].sin()}; },
//                          [](Tensors in) { return Tensors{in[0].cos()}; },
//                          {x});
//
// While tracing, both branches are recorded as sub-graphs; outside, one runs.
// A branch may read tensors around it; it writes to none of them.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/SymBool.h>

#include <functional>
#include <vector>

namespace proviso::inline v0_2 {

using Tensors = std::vector<at::Tensor>;
using SubProgram = std::function<Tensors(const Tensors&)>;

// The branches give tensors of the same dtypes, sizes and strides.
Tensors cond(const at::Tensor& predicate, const SubProgram& true_fn,
             const SubProgram& false_fn, const Tensors& operands);
// On a size: a predicate that is known takes its branch and records nothing.
Tensors cond(const c10::SymBool& predicate, const SubProgram& true_fn,
             const SubProgram& false_fn, const Tensors& operands);
// f(rows of xs, args) for each row; the results stacked.  f gets one list: the
// rows, then the args.
Tensors map(const SubProgram& f, const Tensors& xs, const Tensors& args);

}  // namespace proviso::inline v0_2
