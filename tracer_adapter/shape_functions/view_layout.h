// tracer_adapter/shape_functions/view_layout.h - strides and sizes of views.
#pragma once

#include "tracer_adapter/shape_functions/common.h"

namespace proviso::inline v0_2::shapes {

// Each answer gives another program: a guard; false where data decides.
bool branches_on(const c10::SymBool& condition);
// true or false where proved, or by a guard; nullopt when it depends on data.
// Asked as a branch is, so that no more is kept of an answer than it needs.
std::optional<bool> less(const SymInt& a, const SymInt& b);
// `wanted` with its -1 replaced by an exact quotient.  Throws eager's "shape
// '[..]' is invalid for input of size n"; guards or asserts where undecided.
Dims infer_size(const Dims& wanted, const SymInt& numel);
// The strides of `t` seen as `sizes` (of as many elements), when it is viewable
// so; guards where that is undecided.
std::optional<Dims> view_strides(const Tensor& t, const Dims& sizes);
// A view where possible, else a contiguous copy.
Tensor reshape_to(const Tensor& t, const Dims& sizes);
Tensor expand_to(const Tensor& t, const Dims& wanted);
Tensor select_at(const Tensor& t, int64_t dim, const SymInt& index);
// t[begin:end:step] along dim, with Python's clamping.
Tensor slice_of(const Tensor& t, int64_t dim,
                const std::optional<SymInt>& begin,
                const std::optional<SymInt>& end, const SymInt& step);

// Two elements are not 2^63 apart: of a stride that does not fit there is one
// step at most, and any stride will do.
SymInt stride_of_steps(const SymInt& stride, const SymInt& step);

}  // namespace proviso::inline v0_2::shapes
