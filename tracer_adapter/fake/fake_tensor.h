// tracer_adapter/fake/fake_tensor.h - a tensor with symbolic sizes and no data.
//
//   at::Tensor t = make_contiguous({batch, 3}, at::kFloat, at::kCPU);
//   t.sym_size(0);      // s0
//   at::relu(t);        // reaches the tracer; outside tracing a clear error
//   t.sizes();          // throws, naming the operator that asked
//
// Questions about layout (contiguous, dense) are answered from what is known
// without a guard: "not known to be contiguous" is no.  The program itself gets
// a guard (asked_layout.h).
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/core/Storage.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/SmallVector.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "guards/shape_env.h"

namespace proviso::inline v0_2 {

// The one dispatch key that carries tracing: it sees every operator, composite
// ones too, and has no kernels of its own.
inline constexpr c10::DispatchKey kTraceKey = c10::DispatchKey::DeferredInit;

using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;

class FakeTensorImpl;

// A fake of these sizes and strides.  `share` makes it a view's: the storage of
// its base.
at::Tensor make_fake(c10::SymIntArrayRef sizes, c10::SymIntArrayRef strides,
                     at::ScalarType dtype, c10::Device device,
                     std::optional<c10::Storage> share = std::nullopt,
                     const c10::SymInt& offset = 0);
// The same, contiguous.
at::Tensor make_contiguous(c10::SymIntArrayRef sizes, at::ScalarType dtype,
                           c10::Device device);
std::vector<c10::SymInt> contiguous_strides(c10::SymIntArrayRef sizes);
// A fake of t's dtype, device, sizes and strides, with a storage of its own.
at::Tensor fake_like(const at::Tensor& t);
// A fake of t[0].
at::Tensor fake_row(const at::Tensor& t);
// t's strides where the tracer asks, not the program (asked_layout.h).
c10::SymIntArrayRef tracer_strides(const at::Tensor& t);

bool is_fake(const at::Tensor& t);
// Null when t is not a fake.
FakeTensorImpl* fake_impl(const at::Tensor& t);

// Sizes, strides and offset replaced in place (what unsqueeze_, t_, resize_ and
// set_ need).
void set_layout(const at::Tensor& fake, c10::SymIntArrayRef sizes,
                c10::SymIntArrayRef strides, const c10::SymInt& offset);
// The real value of a constant (torch.tensor(3)), kept while nothing writes to
// it.  Undefined when there is none.
at::Tensor constant_of(const at::Tensor& fake);
void set_constant(const at::Tensor& fake, at::Tensor value);
// The number of a known constant of one element.
std::optional<c10::Scalar> constant_number(const at::Tensor& fake);

// Known contiguous in this format, without a guard.
bool known_contiguous(c10::SymIntArrayRef sizes, c10::SymIntArrayRef strides,
                      at::MemoryFormat format = at::MemoryFormat::Contiguous);
// Contiguous in this format, as an expression: dimensions of size 1 lie
// anywhere, and a tensor without elements is contiguous.
c10::SymBool contiguity(c10::SymIntArrayRef sizes, c10::SymIntArrayRef strides,
                        at::MemoryFormat format);
// Known to cover a run of memory once: some permutation of it is contiguous.
bool known_dense(c10::SymIntArrayRef sizes, c10::SymIntArrayRef strides);

class FakeTensorImpl final : public c10::TensorImpl {
 public:
  FakeTensorImpl(c10::Storage storage, c10::DispatchKeySet keys,
                 caffe2::TypeMeta dtype);

  // The value of the recorded graph that this tensor now is.
  ValueId value = kNoValue;
  // The trace that `value` counts in.
  uint64_t trace = 0;
  // `value` was recorded with gradients off.
  bool without_grad = false;
  at::Tensor constant;
  // What a wrapped number of a program that is traced again is.
  c10::SymNode number;

  c10::IntArrayRef sizes_custom() const override;
  c10::IntArrayRef strides_custom() const override;
  int64_t numel_custom() const override;
  c10::SymIntArrayRef sym_strides_custom() const override;
  int64_t storage_offset_custom() const override;
  c10::SymInt sym_storage_offset_custom() const override;
  int64_t size_custom(int64_t dim) const override;
  c10::SymBool sym_is_contiguous_custom(at::MemoryFormat format) const override;
  c10::SymBool sym_is_non_overlapping_and_dense_custom() const override;
  bool is_strides_like_custom(at::MemoryFormat format) const override;
  c10::intrusive_ptr<c10::TensorImpl> shallow_copy_and_detach(
      const c10::VariableVersion& version,
      bool allow_metadata_change) const override;
  c10::intrusive_ptr<c10::TensorImpl> shallow_copy_and_detach(
      c10::VariableVersion&& version,
      bool allow_metadata_change) const override;
  const char* tensorimpl_type_name() const override;

 private:
  template <typename Version>
  c10::intrusive_ptr<c10::TensorImpl> copy(Version&& version,
                                           bool allow_change) const;

  // Concrete copies of sizes that turned out constant, for sizes().
  mutable c10::SmallVector<int64_t, 6> sizes_, strides_;
};

}  // namespace proviso::inline v0_2
