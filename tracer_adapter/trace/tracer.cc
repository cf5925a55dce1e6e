#include "tracer_adapter/trace/tracer.h"

#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include "tracer_adapter/export.h"
#include "tracer_adapter/finish/finish.h"
#include "tracer_adapter/trace/op_info.h"
#include "tracer_adapter/trace/plain_tensor.h"
#include "tracer_adapter/trace/program_stack.h"
#include "tracer_adapter/trace/sources.h"
#include "tracer_adapter/trace/sub_graph.h"

namespace proviso::inline v0_2 {
namespace {

thread_local Tracer* current_tracer = nullptr;

// Strides of an example in terms of its symbolic sizes where they fit: the
// stride of a dim is a product of an inner dim's size and stride.
std::vector<c10::SymInt> fitted_strides(const at::Tensor& example,
                                        const std::vector<c10::SymInt>& sizes) {
  const size_t rank = sizes.size();
  std::vector<size_t> order(rank);
  std::iota(order.rbegin(), order.rend(), 0);  // inner dims first
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return example.stride(a) < example.stride(b);
  });
  std::vector<c10::SymInt> strides(rank);
  // Products met so far, by their value in the example.
  std::vector<std::pair<int64_t, c10::SymInt>> products{{1, 1}};
  for (size_t d : order) {
    const int64_t stride = example.stride(d);
    strides[d] = stride;
    for (const auto& [value, product] : products)
      if (value == stride) strides[d] = product;
    products.emplace_back(stride * example.size(d), strides[d] * sizes[d]);
  }
  return strides;
}

// A contiguous tensor may have any stride where its size is 1: torch.rand(4, 1)
// transposed has (1, 1), and a program sees them.
std::vector<c10::SymInt> symbolic_strides(
    const at::Tensor& example, const std::vector<c10::SymInt>& sizes) {
  if (!example.is_contiguous()) return fitted_strides(example, sizes);
  std::vector<c10::SymInt> strides = contiguous_strides(sizes);
  std::vector<c10::SymInt> fitted;
  int64_t expected = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d].maybe_as_int() == 1 && example.stride(d) != expected) {
      if (fitted.empty()) fitted = fitted_strides(example, sizes);
      strides[d] = fitted[d];
    }
    expected *= std::max<int64_t>(example.size(d), 1);
  }
  return strides;
}

void check_example(const std::string& name, const at::Tensor& example,
                   const TensorDims& dims) {
  TORCH_CHECK_VALUE(example.defined(), "Proviso: example input ", name,
                    " is an undefined tensor; give a tensor of the right rank "
                    "and dtype");
  TORCH_CHECK_VALUE(!is_fake(example), "Proviso: example input ", name,
                    " is a traced tensor; examples are real tensors");
  require_plain("example input " + name, example);
  require_memory("example input " + name, example);
  TORCH_CHECK_VALUE(
      dims.empty() || static_cast<int64_t>(dims.size()) == example.dim(),
      "Expected dynamic shape spec of ", name,
      " to have the same length as the actual tensor shape ", example.sizes(),
      " (expected ", example.dim(), ", but got ", dims.size(), " instead)");
}

}  // namespace

uint64_t next_trace() {
  static std::atomic<uint64_t> count{0};
  return ++count;
}

TracerHooks& tracer_hooks() {
  static TracerHooks hooks;
  return hooks;
}

Tracer* Tracer::current() { return current_tracer; }

Tracer::Tracer(ShapeEnvOptions options)
    : env_(std::make_shared<ShapeEnv>(std::move(options))),
      outer_(std::exchange(current_tracer, this)),
      asserts_(*env_) {
  install_fallback();
  now_.trace = next_trace();
  outer_location_ = set_location_hook([this] { return location(); });
  c10::impl::tls_set_dispatch_key_included(kTraceKey, true);
}

// Tracers of a thread may end in any order: one inside this one goes on, with
// what was around this one around it.
Tracer::~Tracer() {
  if (current_tracer == this) {
    current_tracer = outer_;
    set_location_hook(std::move(outer_location_));
    c10::impl::tls_set_dispatch_key_included(kTraceKey, outer_ != nullptr);
    return;
  }
  Tracer* inner = current_tracer;
  while (inner && inner->outer_ != this) inner = inner->outer_;
  if (!inner) return;  // of another thread
  inner->outer_ = outer_;
  inner->outer_location_ = std::move(outer_location_);
}

void Tracer::require_open(const char* call) const {
  TORCH_CHECK(!is_finished_, "Proviso: ", call,
              ": the trace has ended with finish(); destroy this Tracer, and "
              "make a new one for another trace");
}

// --- inputs

InputSpec Tracer::user_input(const std::string& name,
                             const std::string& source) {
  require_open("an input");
  return inputs_.user_input(name, source);
}

void Tracer::own(InputKind kind, const std::string& target,
                 const at::Tensor& tensor, std::optional<bool> persistent) {
  require_open("an input");
  check_owned(kind, target, tensor);
  // Of a tensor with several names (tied weights) the program reads the last.
  const ValueId id = now_.graph.add_value(meta_of(tensor));
  now_.real_values[tensor.unsafeGetTensorImpl()] = id;
  inputs_.own(kind, target, tensor, persistent, id);
}

void Tracer::add_parameter(const std::string& name, const at::Tensor& tensor) {
  inputs_.claim_target(name);
  own(InputKind::kParameter, name, tensor, std::nullopt);
}

void Tracer::add_buffer(const std::string& name, const at::Tensor& tensor,
                        bool persistent) {
  inputs_.claim_target(name);
  own(InputKind::kBuffer, name, tensor, persistent);
}

void Tracer::add_constant(const std::string& name, const at::Tensor& tensor) {
  own(InputKind::kConstantTensor, name, tensor, std::nullopt);
}

void Tracer::name_constant(const std::string& name, const at::Tensor& tensor) {
  inputs_.name_constant(name, tensor);
}

at::Tensor Tracer::add_input(const std::string& name, const at::Tensor& example,
                             const TensorDims& dims,
                             const std::string& source) {
  check_example(name, example, dims);
  InputSpec spec = user_input(name, source);
  std::vector<c10::SymInt> sizes;
  for (int64_t d = 0; d < example.dim(); ++d) {
    const std::string size = size_source(spec.source, d);
    sizes.push_back(to_sym_int(
        *env_, env_->create_size(example.size(d), size,
                                 dims.empty() ? DimConstraint{} : dims[d])));
  }
  at::Tensor fake = make_fake(sizes, symbolic_strides(example, sizes),
                              example.scalar_type(), example.device());
  if (example.requires_grad())
    fake.unsafeGetTensorImpl()->set_requires_grad(true);
  spec.arg = {ValueRef{fresh(fake)}};
  inputs_.add(std::move(spec));
  return fake;
}

c10::SymInt Tracer::add_int_input(const std::string& name, int64_t example,
                                  const std::string& source,
                                  const DimConstraint& constraint) {
  InputSpec spec = user_input(name, source);
  const Expr e = env_->create_backed_int(example, spec.source, constraint);
  spec.arg = {ValueRef{now_.graph.add_value(e)}};
  inputs_.add(std::move(spec));
  return to_sym_int(*env_, e);
}

c10::SymFloat Tracer::add_float_input(const std::string& name, double example,
                                      const std::string& source) {
  InputSpec spec = user_input(name, source);
  const Expr e = env_->create_backed_float(example, spec.source);
  spec.arg = {ValueRef{now_.graph.add_value(e)}};
  inputs_.add(std::move(spec));
  return to_sym_float(*env_, e);
}

void Tracer::add_constant_input(const std::string& name, Argument value) {
  require_open("an input");
  InputSpec spec;
  spec.name = name;
  spec.source = "L['" + name + "']";
  spec.arg = std::move(value);
  inputs_.add(std::move(spec));
}

// --- what is around the operators

Nesting Tracer::nesting() const {
  return {modules_.depth(), modes_.autocast_depth(), modes_.held()};
}

TraceModes Tracer::trace_modes() {
  return {modes_, env_->runtime_asserts(), modules_};
}

void Tracer::note_module_call(const std::string& call, bool outputs,
                              const std::vector<c10::IValue>& values) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      !scope_ && modes_.now() == 0, "export: preserve_module_call_signature: '",
      call, "' is called inside ",
      scope_ ? scope_->what : "a no_grad or autocast block",
      ", whose values the program does not have; call it outside, or leave "
      "it out of preserve_module_call_signature");
  Node marker;
  marker.kind = Node::Kind::kModuleCall;
  marker.name = call;
  marker.target = outputs ? "outputs" : "inputs";
  for (const c10::IValue& value : values)
    marker.args.push_back(to_argument(value, IntMeaning::kNumber));
  append(std::move(marker));
}

HeldMode::HeldMode() : tracer_(Tracer::current()) {
  if (!tracer_) return;
  depth_ = tracer_->modes_.held();
  tracer_->modes_.hold();
}

HeldMode::~HeldMode() {
  if (tracer_) tracer_->modes_.release_to(depth_);
}

// --- sources

uint32_t Tracer::current_stack() {
  if (tracer_hooks().stack) return tracer_hooks().stack(*this);
  if (line_stack_ != 0) return line_stack_;
  std::vector<Frame> frames = internal::program_stack();
  return frames.empty() ? 0 : intern_stack(std::move(frames));
}

void Tracer::set_line(const char* file, int line, const char* function,
                      const char* code) {
  line_stack_ = intern_stack({{file, line, function, code}});
}

SourceLocation Tracer::location() {
  const std::vector<Frame>& frames = stacks_[current_stack()];
  if (!frames.empty())
    return {frames.back().file, frames.back().line, frames.back().code};
  return {"", 0, running_ ? "torch.ops." + running_->target : ""};
}

void mark_line(const char* file, int line, const char* function,
               const char* code) {
  if (Tracer* tracer = Tracer::current())
    tracer->set_line(file, line, function, code);
}

// --- the end

ExportedProgram Tracer::finish(const std::vector<c10::IValue>& outputs) {
  require_open("finish");
  TORCH_CHECK(!scope_, "Proviso: ", scope_->what, " is still being recorded");
  TORCH_CHECK_NOT_IMPLEMENTED(refusal_.empty(),
                              "Proviso: the program catches this error, which "
                              "eager does not raise, and "
                              "goes on: ",
                              refusal_);
  // A program may leave autocast on, as it may in eager.
  check_nesting(nesting(), {.autocast = modes_.autocast_depth()}, "finish");
  struct Spent {
    bool& flag;
    ~Spent() { flag = true; }
  } spent{is_finished_};  // also where the constraints are violated
  env_->check_constraints();
  for (const c10::IValue& value : outputs) {
    OutputSpec spec;
    spec.arg = to_argument(value, IntMeaning::kNumber);  // may lift a constant
    now_.graph.outputs.push_back(std::move(spec));
  }
  now_.graph.inputs = inputs_.specs();
  return finish_trace(
      {env_, now_.graph, inputs_, asserts_, modes_, modules_, stacks_});
}

}  // namespace proviso::inline v0_2
