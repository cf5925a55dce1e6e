#include "tracer_adapter/fake/fake_tensor.h"

#include <c10/core/Allocator.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/TensorOptions.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>

#include <optional>
#include <typeinfo>
#include <utility>
#include <vector>

#include "tracer_adapter/fake/asked_layout.h"
#include "tracer_adapter/fake/living_fakes.h"
#include "tracer_adapter/fake/sym_node.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso::inline v0_2 {
namespace {

// An empty storage on `device` whose data cannot be reached: null-storage
// tensors without this gave garbage to .numpy().
c10::Storage make_storage(c10::Device device) {
  auto storage = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), 0, at::DataPtr(nullptr, device),
      c10::GetAllocator(c10::kMeta), /*resizable=*/false);
  storage->release_data_and_set_meta_custom_data_ptr_error_msg_(
      std::string("Proviso: a tensor that is being traced has no data; this "
                  "operation would read it (use tensor operators, or .item() "
                  "for one number)"));
  return c10::Storage(std::move(storage));
}

// c10 takes any held node for symbolic: keep constants as plain integers.
c10::SymInt plain(const c10::SymInt& value) {
  if (std::optional<int64_t> constant = value.maybe_as_int()) return *constant;
  return value;
}

c10::SmallVector<c10::SymInt, 6> plain(c10::SymIntArrayRef values) {
  c10::SmallVector<c10::SymInt, 6> result;
  result.reserve(values.size());
  for (const c10::SymInt& value : values) result.push_back(plain(value));
  return result;
}

bool is_one(const c10::SymInt& a) { return a.maybe_as_int() == 1; }

bool has_zero(c10::SymIntArrayRef sizes) {
  for (const c10::SymInt& size : sizes)
    if (size.maybe_as_int() == 0) return true;
  return false;
}

// Some permutation is contiguous but for dimensions that may lie anywhere.
template <typename LiesAnywhere, typename Is>
bool covers_once(c10::SymIntArrayRef sizes, c10::SymIntArrayRef strides,
                 const LiesAnywhere& lies_anywhere, const Is& is) {
  c10::SmallVector<size_t, 6> left;
  for (size_t d = sizes.size(); d-- > 0;)
    if (!lies_anywhere(sizes[d])) left.push_back(d);
  SizeProduct run;
  while (!left.empty()) {
    auto next = left.begin();
    while (next != left.end() && !is(run, strides[*next])) ++next;
    if (next == left.end()) return false;
    run *= sizes[*next];
    left.erase(next);
  }
  return true;
}

bool is_channels_last(at::MemoryFormat format) {
  return format == at::MemoryFormat::ChannelsLast ||
         format == at::MemoryFormat::ChannelsLast3d;
}

// Whether the format is one of tensors of this rank.
bool stores(at::MemoryFormat format, size_t rank) {
  return !is_channels_last(format) ||
         rank == (format == at::MemoryFormat::ChannelsLast ? 4 : 5);
}

// The dims from the innermost outwards.
c10::SmallVector<size_t, 6> inner_first(size_t rank, at::MemoryFormat format) {
  c10::SmallVector<size_t, 6> order;
  const bool last = is_channels_last(format);
  if (last) order.push_back(1);
  for (size_t d = rank; d-- > 0;)
    if (!last || d != 1) order.push_back(d);
  return order;
}

[[noreturn]] void refuse(const char* question) {
  Tracer* tracer = Tracer::current();
  const std::string who = tracer ? tracer->decomposing() : "";
  TORCH_CHECK(false, "Proviso: ", who.empty() ? "C++ code" : who, " called ",
              question, " on a tensor with symbolic sizes. ",
              who.empty() ? "Call sym_sizes() instead, or make the dimension "
                            "static."
                          : "The operator needs a shape rule of its own, or "
                            "static dimensions.");
}

int64_t concrete(const c10::SymInt& value, const char* question) {
  std::optional<int64_t> constant = value.maybe_as_int();
  if (!constant) refuse(question);
  return *constant;
}

c10::IntArrayRef concrete(c10::SymIntArrayRef values, const char* question,
                          c10::SmallVector<int64_t, 6>& cache) {
  cache.clear();
  for (const c10::SymInt& value : values)
    cache.push_back(concrete(value, question));
  return cache;
}

}  // namespace

FakeTensorImpl::FakeTensorImpl(c10::Storage storage, c10::DispatchKeySet keys,
                               caffe2::TypeMeta dtype)
    : TensorImpl(std::move(storage), keys, dtype) {}

c10::IntArrayRef FakeTensorImpl::sizes_custom() const {
  if (!has_symbolic_sizes_strides_) return sizes_default();
  return concrete(sym_sizes_default(), "sizes()", sizes_);
}

c10::IntArrayRef FakeTensorImpl::strides_custom() const {
  if (!has_symbolic_sizes_strides_) return strides_default();
  keep_asked_layouts();
  return concrete(sym_strides_default(), "strides()", strides_);
}

c10::SymIntArrayRef FakeTensorImpl::sym_strides_custom() const {
  keep_asked_layouts();
  return sym_strides_default();
}

int64_t FakeTensorImpl::numel_custom() const {
  if (!has_symbolic_sizes_strides_) return numel_default();
  return concrete(sym_numel_default(), "numel()");
}

int64_t FakeTensorImpl::storage_offset_custom() const {
  if (!has_symbolic_sizes_strides_) return storage_offset_default();
  keep_asked_layouts();
  return concrete(sym_storage_offset_default(), "storage_offset()");
}

c10::SymInt FakeTensorImpl::sym_storage_offset_custom() const {
  keep_asked_layouts();
  return sym_storage_offset_default();
}

int64_t FakeTensorImpl::size_custom(int64_t d) const {
  d = c10::maybe_wrap_dim(d, dim(), /*wrap_scalar=*/false);
  if (!has_symbolic_sizes_strides_) return sizes_default()[d];
  return concrete(sym_sizes_default()[d], "size()");
}

c10::SymBool FakeTensorImpl::sym_is_contiguous_custom(
    at::MemoryFormat format) const {
  if (!has_symbolic_sizes_strides_)
    return TensorImpl::sym_is_contiguous_custom(format);
  const auto sizes = sym_sizes_default(), strides = sym_strides_default();
  if (ProgramCode::runs()) return asked_contiguity(sizes, strides, format);
  return known_contiguous(sizes, strides, format);
}

c10::SymBool FakeTensorImpl::sym_is_non_overlapping_and_dense_custom() const {
  if (!has_symbolic_sizes_strides_)
    return TensorImpl::sym_is_non_overlapping_and_dense_custom();
  const auto sizes = sym_sizes_default(), strides = sym_strides_default();
  if (ProgramCode::runs()) {
    keep_asked_layouts();
    return covers_once(
        sizes, strides, [](const c10::SymInt& size) { return size < 2; },
        [](const SizeProduct& run, const c10::SymInt& stride) {
          return run.value() == stride;
        });
  }
  return known_dense(sizes, strides);
}

bool FakeTensorImpl::is_strides_like_custom(at::MemoryFormat format) const {
  if (!has_symbolic_sizes_strides_)
    return TensorImpl::is_strides_like_custom(format);
  const auto sizes = sym_sizes_default(), strides = sym_strides_default();
  if (ProgramCode::runs()) {
    keep_asked_layouts();
    return format == at::MemoryFormat::ChannelsLast
               ? c10::is_channels_last_strides_2d<c10::SymInt>(sizes, strides)
           : format == at::MemoryFormat::ChannelsLast3d
               ? c10::is_channels_last_strides_3d<c10::SymInt>(sizes, strides)
               : false;
  }
  return is_channels_last(format) && known_contiguous(sizes, strides, format);
}

namespace {
using WeakFake =
    c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
thread_local std::optional<std::vector<WeakFake>> new_fakes;

// Remembers it, if fakes are to be remembered.
c10::intrusive_ptr<FakeTensorImpl> new_fake(c10::Storage storage,
                                            c10::DispatchKeySet keys,
                                            caffe2::TypeMeta dtype) {
  auto impl =
      c10::make_intrusive<FakeTensorImpl>(std::move(storage), keys, dtype);
  if (new_fakes)
    new_fakes->emplace_back(
        c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>(impl));
  return impl;
}
}  // namespace

void note_new_fakes() { new_fakes.emplace(); }

std::vector<at::Tensor> take_living_fakes() {
  std::vector<at::Tensor> living;
  const auto noted = std::exchange(new_fakes, std::nullopt);
  if (noted)
    for (const WeakFake& fake : *noted)
      if (auto impl = fake.lock()) living.emplace_back(std::move(impl));
  return living;
}

template <typename Version>
c10::intrusive_ptr<c10::TensorImpl> FakeTensorImpl::copy(
    Version&& version, bool allow_change) const {
  auto result = new_fake(c10::Storage(storage_), key_set_, data_type_);
  copy_tensor_metadata(this, result.get(), std::forward<Version>(version),
                       allow_change);
  result->value = value;
  result->trace = trace;
  result->without_grad = without_grad;
  result->constant = constant;
  return result;
}

c10::intrusive_ptr<c10::TensorImpl> FakeTensorImpl::shallow_copy_and_detach(
    const c10::VariableVersion& version, bool allow_metadata_change) const {
  return copy(version, allow_metadata_change);
}

c10::intrusive_ptr<c10::TensorImpl> FakeTensorImpl::shallow_copy_and_detach(
    c10::VariableVersion&& version, bool allow_metadata_change) const {
  return copy(std::move(version), allow_metadata_change);
}

const char* FakeTensorImpl::tensorimpl_type_name() const {
  return "proviso::FakeTensorImpl";
}

at::Tensor make_fake(c10::SymIntArrayRef sizes, c10::SymIntArrayRef strides,
                     at::ScalarType dtype, c10::Device device,
                     std::optional<c10::Storage> share,
                     const c10::SymInt& offset) {
  TORCH_CHECK(sizes.size() == strides.size(),
              "Proviso: make_fake: ", sizes.size(), " sizes but ",
              strides.size(), " strides");
  const c10::DispatchKeySet keys =
      c10::DispatchKeySet(c10::computeDispatchKey(dtype, c10::kStrided, device))
          .add(kTraceKey);
  auto impl = new_fake(share ? std::move(*share) : make_storage(device), keys,
                       at::scalarTypeToTypeMeta(dtype));
  impl->set_sizes_and_strides(plain(sizes), plain(strides), plain(offset));
  return at::Tensor(std::move(impl));
}

std::vector<c10::SymInt> contiguous_strides(c10::SymIntArrayRef sizes) {
  std::vector<c10::SymInt> strides(sizes.size());
  SizeProduct stride;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride.value();
    // Eager takes max(size, 1): an empty dimension does not stop its strides.
    if (d > 0 && sizes[d].maybe_as_int() != 0) stride *= sizes[d];
  }
  return strides;
}

at::Tensor make_contiguous(c10::SymIntArrayRef sizes, at::ScalarType dtype,
                           c10::Device device) {
  return make_fake(sizes, contiguous_strides(sizes), dtype, device);
}

at::Tensor fake_like(const at::Tensor& t) {
  return make_fake(t.sym_sizes(), tracer_strides(t), t.scalar_type(),
                   t.device());
}

at::Tensor fake_row(const at::Tensor& t) {
  return make_fake(t.sym_sizes().slice(1), tracer_strides(t).slice(1),
                   t.scalar_type(), t.device());
}

c10::SymIntArrayRef tracer_strides(const at::Tensor& t) {
  const FakeTensorImpl* fake = fake_impl(t);
  return fake ? fake->sym_strides_default() : t.sym_strides();
}

FakeTensorImpl* fake_impl(const at::Tensor& t) {
  if (!t.defined() || !t.key_set().has(kTraceKey)) return nullptr;
  c10::TensorImpl* impl = t.unsafeGetTensorImpl();
  if (typeid(*impl) != typeid(FakeTensorImpl)) return nullptr;
  return static_cast<FakeTensorImpl*>(impl);
}

bool is_fake(const at::Tensor& t) { return fake_impl(t) != nullptr; }

namespace {
// An integer that c10 takes for symbolic: once a TensorImpl is symbolic it
// takes no plain sizes any more.
c10::SymInt held(int64_t value) {
  ShapeEnv& env = Tracer::current()->env();
  return c10::SymInt(make_sym_node(env, env.pool().integer(value)));
}
}  // namespace

void set_layout(const at::Tensor& fake, c10::SymIntArrayRef sizes,
                c10::SymIntArrayRef strides, const c10::SymInt& offset) {
  FakeTensorImpl* impl = fake_impl(fake);
  TORCH_CHECK(impl != nullptr,
              "Proviso: the layout of a tensor that the "
              "program owns (a parameter, buffer or constant) cannot be "
              "changed in place while tracing; copy it first");
  c10::SymInt start = plain(offset);
  if (impl->has_symbolic_sizes_strides() && !start.is_heap_allocated())
    start = held(start.as_int_unchecked());
  impl->set_sizes_and_strides(plain(sizes), plain(strides), start);
}

at::Tensor constant_of(const at::Tensor& fake) {
  FakeTensorImpl* impl = fake_impl(fake);
  if (impl == nullptr || !impl->constant.defined()) return {};
  Tracer* tracer = Tracer::current();
  if (tracer != nullptr && tracer->written(fake)) return {};
  return impl->constant;
}

void set_constant(const at::Tensor& fake, at::Tensor value) {
  if (FakeTensorImpl* impl = fake_impl(fake)) impl->constant = std::move(value);
}

std::optional<c10::Scalar> constant_number(const at::Tensor& fake) {
  const at::Tensor value = constant_of(fake);
  if (!value.defined() || value.numel() != 1) return std::nullopt;
  const c10::impl::ExcludeDispatchKeyGuard execute(kTraceKey);
  return value.item();
}

bool known_contiguous(c10::SymIntArrayRef sizes, c10::SymIntArrayRef strides,
                      at::MemoryFormat format) {
  if (!stores(format, sizes.size())) return false;
  if (has_zero(sizes)) return true;
  SizeProduct expected;
  const auto order = inner_first(sizes.size(), format);
  for (size_t d : order) {
    if (is_one(sizes[d])) continue;
    if (!expected.is(strides[d])) return false;
    if (d != order.back()) expected *= sizes[d];
  }
  return true;
}

c10::SymBool contiguity(c10::SymIntArrayRef sizes, c10::SymIntArrayRef strides,
                        at::MemoryFormat format) {
  if (!stores(format, sizes.size())) return false;
  c10::SymBool result = true;
  c10::SymInt expected = 1;
  for (size_t d : inner_first(sizes.size(), format)) {
    result =
        result.sym_and(sizes[d].sym_eq(1).sym_or(strides[d].sym_eq(expected)));
    expected = expected * sizes[d];
  }
  if (!is_channels_last(format))
    for (const c10::SymInt& size : sizes)
      result = result.sym_or(size.sym_eq(0));
  return result;
}

bool known_dense(c10::SymIntArrayRef sizes, c10::SymIntArrayRef strides) {
  return has_zero(sizes) ||
         covers_once(sizes, strides, is_one,
                     [](const SizeProduct& run, const c10::SymInt& stride) {
                       return run.is(stride);
                     });
}

}  // namespace proviso::inline v0_2
