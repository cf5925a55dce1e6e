// The boxed fallback: what happens when a traced program calls an operator.
#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/functorch/TensorWrapper.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include "tracer_adapter/export.h"
#include "tracer_adapter/fake/asked_layout.h"
#include "tracer_adapter/trace/interceptor.h"
#include "tracer_adapter/trace/op_info.h"
#include "tracer_adapter/trace/out_overloads.h"
#include "tracer_adapter/trace/plain_tensor.h"
#include "tracer_adapter/trace/tensors_in.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso::inline v0_2 {
namespace {

std::span<c10::IValue> top(c10::Stack& stack, size_t count) {
  return {stack.data() + (stack.size() - count), count};
}

// Whose kernel takes off what torch.func put around one of the tensors and
// calls us again: vmap's batching rule, or, of what the backward pass of a grad
// or vjp that has ended saved, the gradient's.
std::optional<c10::DispatchKey> unwrapping_key(
    std::span<const c10::IValue> args, bool is_composite) {
  bool is_batched = false, is_dead = false;
  for (const c10::IValue& arg : args)
    for_each_tensor(arg, [&](const at::Tensor& t) {
      is_batched |= t.key_set().has(c10::DispatchKey::FuncTorchBatched);
      const auto* wrapper = at::functorch::maybeGetTensorWrapper(t);
      is_dead |= wrapper != nullptr && !wrapper->is_alive();
    });
  if (is_batched) {
    return is_composite ? c10::DispatchKey::FuncTorchBatchedDecomposition
                        : c10::DispatchKey::FuncTorchBatched;
  }
  if (is_dead) return c10::DispatchKey::FuncTorchGradWrapper;
  return std::nullopt;
}

// A real tensor in a program becomes a constant of it; no rule knows another
// kind.
void require_plain_constants(const std::string& op,
                             std::span<const c10::IValue> args) {
  for (const c10::IValue& arg : args)
    for_each_tensor(arg, [&](const at::Tensor& t) {
      if (!is_fake(t)) require_plain("a constant that " + op + " reads", t);
    });
}

// A program draws from the default generator when it runs: it cannot hold the
// state of another.
void require_default_generator(const std::string& op,
                               const c10::IValue& argument) {
  if (!argument.isGenerator()) return;
  const at::Generator& generator = argument.toGenerator();
  if (!generator.defined() ||
      generator == at::globalContext().defaultGenerator(generator.device()))
    return;
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "Proviso: ", op,
      " draws from a torch.Generator of its own, whose state a program cannot "
      "hold. Leave generator= out and call torch.manual_seed() before the "
      "program runs, or draw the numbers outside and pass them as an input");
}

bool differentiable(c10::ScalarType dtype) {
  return c10::isFloatingType(dtype) || c10::isComplexType(dtype);
}

bool autocast_active() {
  return !c10::impl::tls_is_dispatch_key_excluded(
             c10::DispatchKey::AutocastCPU) &&
         at::autocast::is_autocast_enabled(c10::kCPU);
}

// "Tensor f32[s0, 3], 2, None", for messages.
std::string describe(const c10::IValue& value) {
  std::ostringstream out;
  if (value.isTensor() && value.toTensor().defined()) {
    const at::Tensor& t = value.toTensor();
    out << short_name(t.scalar_type()) << "[";
    const char* separator = "";
    for (const c10::SymInt& size : t.sym_sizes()) {
      out << std::exchange(separator, ", ") << size;
    }
    out << "]";
  } else if (value.isTensorList()) {
    out << value.toTensorList().size() << " tensors";
  } else if (value.isNone()) {
    out << "None";
  } else {
    out << value;
  }
  return out.str();
}

void fallback(const c10::OperatorHandle& op, c10::Stack* stack) {
  Tracer* tracer = Tracer::current();
  TORCH_CHECK(tracer != nullptr, "Proviso: ", toString(op.operator_name()),
              " was called on a traced tensor after its trace ended; a traced "
              "tensor has no data. Use the exported program's module() to "
              "compute");
  tracer->dispatch(op, stack);
}

// Restores on the way out, also when the kernel throws.
template <typename T>
class Restore {
 public:
  Restore(T& place, T value)
      : place_(place), before_(std::exchange(place, std::move(value))) {}
  ~Restore() { place_ = before_; }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

 private:
  T& place_;
  T before_;
};

// Largest constant whose value is followed through operators, and largest value
// that is computed for that.
constexpr int64_t kConstantLimit = 64;
constexpr int64_t kComputedLimit = kConstantLimit * kConstantLimit;

// Replaces each fake that is a known constant by its value; false when an
// argument is no constant.
bool to_constants(std::span<const c10::IValue> args, c10::Stack& values) {
  bool known = true, any = false;
  for (const c10::IValue& arg : args) {
    c10::IValue value = arg;
    for_each_tensor(arg, [&](const at::Tensor& t) {
      if (!is_fake(t) && t.unsafeGetTensorImpl()->is_wrapped_number()) return;
      at::Tensor constant = constant_of(t);
      if (!arg.isTensor() || !constant.defined() ||
          constant.numel() > kConstantLimit) {
        known = false;
        return;
      }
      any = true;
      value = constant;
    });
    values.push_back(std::move(value));
  }
  return known && any;
}

// torch.tensor(..) in a program: from here on a traced tensor, whose value is
// known until something writes to it.
at::Tensor lifted_constant(const at::Tensor& t) {
  at::Tensor fake = fake_like(t);
  set_constant(fake, t);
  return fake;
}

bool has_constant(std::span<const c10::IValue> args) {
  for (const c10::IValue& arg : args)
    if (arg.isTensor())
      if (FakeTensorImpl* impl = fake_impl(arg.toTensor()))
        if (impl->constant.defined()) return true;
  return false;
}

bool few_elements(const c10::IValue& value) {
  bool few = true;
  for_each_tensor(value, [&](const at::Tensor& t) {
    std::optional<int64_t> count = t.sym_numel().maybe_as_int();
    few = few && count && *count <= kComputedLimit;
  });
  return few;
}

// The value of an operator on constants, where it can be had: so that
// `torch.tensor(3).add(1).item()` is 4.
void follow_constants(const c10::OperatorHandle& op,
                      std::span<const c10::IValue> args,
                      const std::vector<c10::IValue>& out) {
  if (!std::all_of(out.begin(), out.end(), few_elements)) return;
  c10::Stack values;
  if (!to_constants(args, values)) return;
  const c10::impl::ExcludeDispatchKeyGuard no_trace(kTraceKey);
  const at::NoGradGuard no_grad;
  op.callBoxed(values);
  for (size_t i = 0; i < out.size() && i < values.size(); ++i)
    if (out[i].isTensor() && values[i].isTensor())
      set_constant(out[i].toTensor(), values[i].toTensor());
}

// Numbers that are known while tracing: nothing reads them from a node.
bool all_known_numbers(ShapeEnv& env, const std::vector<c10::IValue>& out) {
  const auto is_known = [&](const c10::IValue& value) {
    if (value.isSymInt()) return to_expr(env, value.toSymInt()).is_constant();
    if (value.isSymFloat())
      return to_expr(env, value.toSymFloat()).is_constant();
    if (value.isSymBool()) return to_expr(env, value.toSymBool()).is_constant();
    return value.isInt() || value.isDouble() || value.isBool();
  };
  return !out.empty() && std::all_of(out.begin(), out.end(), is_known);
}

// Outputs require a gradient when an argument does.  No graph is built: the
// trace key is above autograd.
void pass_on_grad(std::span<const c10::IValue> args,
                  const std::vector<c10::IValue>& out) {
  bool needed = false;
  for (const c10::IValue& arg : args)
    for_each_tensor(arg,
                    [&](const at::Tensor& t) { needed |= t.requires_grad(); });
  if (!needed) return;
  for (const c10::IValue& value : out)
    for_each_tensor(value, [](const at::Tensor& t) {
      if (is_fake(t) && differentiable(t.scalar_type()))
        t.unsafeGetTensorImpl()->set_requires_grad(true);
    });
}

}  // namespace

ShapeEnv& RuleCall::env() const { return tracer.env(); }

std::vector<c10::SymInt> RuleCall::sym_ints(size_t i) const {
  const c10::IValue& value = args[i];
  if (value.isNone()) return {};
  if (value.isInt() || value.isSymInt()) return {value.toSymInt()};
  if (value.isIntList()) {
    const std::vector<int64_t> ints = value.toIntVector();
    return {ints.begin(), ints.end()};
  }
  std::vector<c10::SymInt> result;
  for (const c10::IValue& item : value.toListRef())
    result.push_back(item.toSymInt());
  return result;
}

RecordingOff::RecordingOff(Tracer& tracer)
    : tracer_(tracer), before_(tracer.recording()) {
  tracer_.set_recording(false);
}
RecordingOff::~RecordingOff() { tracer_.set_recording(before_); }

void install_fallback() {
  // A function-local library: nothing happens before the first trace.
  static torch::Library library = [] {
    torch::Library lib(torch::Library::IMPL, "_", kTraceKey, __FILE__,
                       __LINE__);
    lib.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>());
    return lib;
  }();
}

namespace {
thread_local Interceptor* current_interceptor = nullptr;
}  // namespace

Interceptor::Interceptor() : outer_(std::exchange(current_interceptor, this)) {}
Interceptor::~Interceptor() { current_interceptor = outer_; }
Interceptor* Interceptor::current() { return current_interceptor; }

void Tracer::dispatch(const c10::OperatorHandle& op, c10::Stack* stack) try {
  const ProgramCode operator_runs(false);
  if (Interceptor* first = Interceptor::current())
    if (first->intercept(op, stack)) return;
  const OpInfo& oi = info(op);
  require_open(oi.name.c_str());
  if (oi.profiles) {
    const c10::impl::ExcludeDispatchKeyGuard no_trace(kTraceKey);
    return op.callBoxed(stack);
  }
  const std::span<c10::IValue> args = top(*stack, oi.argument_count);
  if (const auto key = unwrapping_key(
          args, oi.composite == c10::DispatchKey::CompositeImplicitAutograd)) {
    op.callBoxedForDispatchKey(*key, *stack);
    return;
  }
  if (recording_) {
    require_plain_constants(oi.name, args);
    for (size_t i : oi.generators) require_default_generator(oi.name, args[i]);
  }
  if (oi.autocast && autocast_active()) {
    // Our key is above autocast's, which would be skipped.
    return run_autocast(oi, stack);
  }
  if (oi.rule != nullptr && run_rule(oi, stack)) return;
  if (oi.composite) return decompose(oi, stack);
  if (oi.functional) return run_with_outs(oi.op, *oi.functional, *stack);
  if (run_custom(oi, stack)) return;
  no_rule(oi, *stack);
} catch (const c10::NotImplementedError& error) {
  const std::string text = error.what_without_backtrace();
  if (text.starts_with("Proviso:")) note_refusal(text);
  throw;
}

// In an autocast block of the program the operator is recorded as called, for
// the block casts when the program runs.  The casts are recorded instead where
// the operator is opened into others, and where autocast is on around the whole
// trace.
void Tracer::run_autocast(const OpInfo& oi, c10::Stack* stack) {
  const HeldMode held;  // the kernel that casts turns autocast off
  const auto cast_and_run = [&] {
    oi.op.callBoxedForDispatchKey(c10::DispatchKey::AutocastCPU, *stack);
  };
  if (modes_[modes_.now()].same_autocast(modes_[0]) || oi.rule == nullptr ||
      !recording_)
    return cast_and_run();
  const std::span<c10::IValue> called = top(*stack, oi.argument_count);
  const std::vector<c10::IValue> args(called.begin(), called.end());
  {
    const RecordingOff off(*this);
    cast_and_run();
  }
  at::autocast::clear_cache();  // it may hold casts that are not recorded
  const std::span<c10::IValue> given = top(*stack, oi.return_count);
  record_call(oi, args, {given.begin(), given.end()});
}

bool Tracer::run_rule(const OpInfo& oi, c10::Stack* stack) {
  const Restore running(running_, &oi);
  std::vector<c10::IValue> out;
  out.reserve(oi.return_count);
  const std::span<c10::IValue> args = top(*stack, oi.argument_count);
  // A gradient that nobody asked for is an undefined tensor.
  for (size_t i : oi.tensors)
    TORCH_CHECK(args[i].isTensor() && args[i].toTensor().defined(), oi.name,
                ": argument '", oi.op.schema().arguments()[i].name(),
                "' must be a tensor, found none");
  RuleCall call{*this, oi.op, args, out};
  try {
    if (!oi.rule(call)) return false;
  } catch (const c10::Error&) {
    if (recording_) exclude_small_sizes(args);
    throw;
  }
  TORCH_INTERNAL_ASSERT(out.size() == oi.return_count, "the shape rule of ",
                        oi.name, " gave ", out.size(), " results, not ",
                        oi.return_count);
  if (oi.lifts && !is_fake(args[0].toTensor()))
    out[0] = lifted_constant(args[0].toTensor());
  if (!call.in_parts) finish_call(oi, args, out);
  stack->erase(stack->end() - oi.argument_count, stack->end());
  for (c10::IValue& value : out) stack->push_back(std::move(value));
  return true;
}

// Eager broadcasts a size of 1, and often looks at nothing where a tensor has
// no elements.
void Tracer::exclude_small_sizes(std::span<const c10::IValue> args) {
  const auto exclude = [](const at::Tensor& t) {
    for (const c10::SymInt& size : t.sym_sizes()) {
      for (int small : {0, 1}) {
        const c10::SymBool is_small = size.sym_eq(small);
        if (!is_small.maybe_as_bool() && is_small.has_hint())
          (void)is_small.guard_bool(__FILE__, __LINE__);
      }
    }
  };
  for (const c10::IValue& arg : args) for_each_tensor(arg, exclude);
}

void Tracer::finish_call(const OpInfo& oi, std::span<const c10::IValue> args,
                         const std::vector<c10::IValue>& out) {
  if (oi.mutates && recording_)
    note_writes(oi, args);
  else if (!oi.mutates && !oi.random && has_constant(args) &&
           oi.rule != nullptr && oi.recorded_at_all && !oi.lifts)
    follow_constants(oi.op, args, out);
  if (at::GradMode::is_enabled() && !oi.detaches) pass_on_grad(args, out);
  if (recording_ && oi.recorded_at_all) record_call(oi, args, out);
}

void Tracer::record_call(const OpInfo& oi, std::span<const c10::IValue> args,
                         const std::vector<c10::IValue>& out) {
  // Another item() of a value that is known by now: no reader of files knows
  // a node without results.
  if (oi.aten && !oi.mutates && all_known_numbers(*env_, out)) return;
  Node node;
  node.op = oi.recorded;
  node.target = oi.target;
  node.args.reserve(args.size());
  // Arguments first: an in-place operator returns one of them as a new value.
  for (size_t i = 0; i < args.size(); ++i)
    node.args.push_back(to_argument(args[i], oi.meanings[i]));
  node.outputs.reserve(out.size());
  for (const c10::IValue& value : out) node.outputs.push_back(output_of(value));
  append(std::move(node));
}

void Tracer::note_writes(const OpInfo& oi, std::span<const c10::IValue> args) {
  for (size_t i : oi.written)
    for_each_tensor(args[i], [&](const at::Tensor& t) {
      refuse_write(oi, t);
      if (t.has_storage()) written_.insert(t.storage().unsafeGetStorageImpl());
    });
}

void Tracer::decompose(const OpInfo& oi, c10::Stack* stack) {
  struct Scope {
    std::vector<const OpInfo*>& stack;
    ~Scope() { stack.pop_back(); }
  };
  decomposing_.push_back(&oi);
  const Scope scope{decomposing_};
  oi.op.callBoxedForDispatchKey(*oi.composite, *stack);
}

bool Tracer::run_custom(const OpInfo& oi, c10::Stack* stack) {
  if (!tracer_hooks().custom_op) return false;
  const std::span<c10::IValue> args = top(*stack, oi.argument_count);
  std::optional<std::vector<c10::IValue>> out;
  {
    const RecordingOff off(*this);
    out = tracer_hooks().custom_op(oi.op, {args.begin(), args.end()});
  }
  if (!out) return false;
  TORCH_CHECK(out->size() == oi.return_count, "Proviso: the fake of ", oi.name,
              " gave ", out->size(), " results, its schema says ",
              oi.return_count);
  finish_call(oi, args, *out);
  stack->erase(stack->end() - oi.argument_count, stack->end());
  for (c10::IValue& value : *out) stack->push_back(std::move(value));
  return true;
}

void Tracer::no_rule(const OpInfo& oi, const c10::Stack& stack) const {
  TORCH_CHECK_NOT_IMPLEMENTED(
      !oi.name.starts_with("aten::set_"), "Proviso: ", oi.name,
      " gives a tensor the memory of another, which no operator of a program "
      "says. Write `with torch.no_grad(): t.copy_(other)`, or use the other "
      "tensor in its place");
  std::string called;
  for (size_t i = stack.size() - oi.argument_count; i < stack.size(); ++i)
    called += (called.empty() ? "" : ", ") + describe(stack[i]);
  const std::string inside = decomposing();
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "Proviso: no shape rule for ", oi.name, " (called with ", called,
      ")", inside.empty() ? "" : " inside ", inside,
      oi.aten ? ": it has no decomposition either; express the program with "
                "other operators, or call it in a custom operator whose fake "
                "implementation says the sizes of its results "
                "(torch.library.custom_op, register_fake)"
              : ": register a fake implementation for the custom operator "
                "(torch.library.register_fake)");
}

std::string Tracer::decomposing() const {
  std::string result;
  for (const OpInfo* oi : decomposing_)
    result += (result.empty() ? "" : " > ") + oi->name;
  return result;
}

}  // namespace proviso::inline v0_2
