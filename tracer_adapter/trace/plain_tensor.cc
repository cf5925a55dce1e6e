#include "tracer_adapter/trace/plain_tensor.h"

#include <c10/util/Exception.h>

#include "tracer_adapter/fake/fake_tensor.h"

namespace proviso::inline v0_2 {
namespace {

// A tensor of another kind, in words; "" for a plain one.
std::string kind_of(const at::Tensor& t) {
  using Key = c10::DispatchKey;
  const c10::DispatchKeySet keys = t.key_set();
  if (t.is_nested()) return "a nested tensor";
  if (t.is_quantized()) return "a quantized tensor";
  if (t.layout() != c10::kStrided)
    return c10::str("a tensor of layout ", t.layout());
  if (keys.has(Key::FuncTorchBatched) || keys.has(Key::FuncTorchGradWrapper))
    return "a tensor inside torch.func.vmap or grad";
  if (keys.has(Key::Functionalize)) return "a functional tensor";
  if (keys.has(Key::ZeroTensor)) return "a zero tensor without memory";
  if (keys.has(Key::Python))
    return "of a subclass with operators of its own (__torch_dispatch__)";
  return "";
}

// The bytes of storage up to its last element; none where they are too many to
// count.
std::optional<size_t> bytes_reached(const at::Tensor& t) {
  const c10::IntArrayRef sizes = t.sizes(), strides = t.strides();
  int64_t last = t.storage_offset();
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return 0;
    int64_t span = 0;
    if (__builtin_mul_overflow(sizes[d] - 1, strides[d], &span) ||
        __builtin_add_overflow(last, span, &last))
      return std::nullopt;
  }
  size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<size_t>(last) + 1, t.itemsize(),
                             &bytes))
    return std::nullopt;
  return bytes;
}

}  // namespace

void require_plain(const std::string& what, const at::Tensor& t) {
  const std::string kind = kind_of(t);
  TORCH_CHECK_VALUE(kind.empty(), "Proviso: ", what, " is ", kind,
                    "; only plain strided tensors can be traced");
}

bool has_memory(const at::Tensor& t) {
  if (!t.has_storage() || t.is_meta() || is_fake(t) ||
      t.unsafeGetTensorImpl()->has_symbolic_sizes_strides())
    return true;
  const std::optional<size_t> bytes = bytes_reached(t);
  return bytes && *bytes <= t.storage().nbytes();
}

void require_memory(const std::string& what, const at::Tensor& t) {
  TORCH_CHECK_VALUE(has_memory(t), "Proviso: ", what, " of sizes ", t.sizes(),
                    " and strides ", t.strides(), " has a storage of ",
                    t.storage().nbytes(),
                    " bytes, which does not hold its elements; it was resized "
                    "(untyped_storage().resize_). Give a tensor that has its "
                    "memory");
}

}  // namespace proviso::inline v0_2
