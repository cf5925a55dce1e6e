#include "tracer_adapter/trace/out_overloads.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/enum_tag.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <span>
#include <vector>

#include "tracer_adapter/run/known_operators.h"
#include "tracer_adapter/trace/tensors_in.h"

namespace proviso::inline v0_2 {
namespace {

// Of name and type; nothing of `b` is written to.
bool is_same(const c10::Argument& a, const c10::Argument& b) {
  const bool writes = b.alias_info() && b.alias_info()->isWrite();
  return !writes && a.name() == b.name() && *a.real_type() == *b.real_type();
}

bool takes_all_but_out(const c10::FunctionSchema& functional,
                       const std::vector<c10::Argument>& given) {
  const std::vector<c10::Argument>& arguments = functional.arguments();
  return std::equal(arguments.begin(), arguments.end(), given.begin(),
                    given.end(), is_same);
}

bool has_sizes_of(const at::Tensor& out, const at::Tensor& result) {
  if (out.dim() != result.dim()) return false;
  for (int64_t d = 0; d < out.dim(); ++d)
    if (!out.sym_size(d)
             .sym_eq(result.sym_size(d))
             .expect_true(__FILE__, __LINE__))
      return false;
  return true;
}

// Where the dtype of `out` changes nothing but the last cast.
bool only_casts(const c10::OperatorHandle& op) {
  const std::string& name = op.operator_name().name;
  return op.hasTag(at::Tag::pointwise) || name == "aten::cat" ||
         name == "aten::stack";
}

void write(const c10::OperatorHandle& op, const at::Tensor& result,
           const at::Tensor& out) {
  TORCH_CHECK(c10::canCast(result.scalar_type(), out.scalar_type()),
              "result type ", result.scalar_type(),
              " can't be cast to the desired output type ", out.scalar_type());
  TORCH_CHECK_NOT_IMPLEMENTED(
      only_casts(op) || result.scalar_type() == out.scalar_type(),
      "Proviso: ", toString(op.operator_name()), " would compute in ",
      out.scalar_type(), ", the dtype of out=. Give a tensor of ",
      result.scalar_type(), ", or leave out= out");
  TORCH_CHECK_NOT_IMPLEMENTED(
      has_sizes_of(out, result), "Proviso: ", toString(op.operator_name()),
      " would resize out= from ", out.sym_sizes(), " to ", result.sym_sizes(),
      ". Give a tensor of the result's sizes, or leave out= out");
  out.copy_(result);
}

bool requires_grad(std::span<const c10::IValue> values) {
  bool found = false;
  for (const c10::IValue& value : values)
    for_each_tensor(value,
                    [&](const at::Tensor& t) { found |= t.requires_grad(); });
  return found;
}

}  // namespace

std::optional<c10::OperatorHandle> functional_of(
    const c10::OperatorHandle& op) {
  std::vector<c10::Argument> given;
  for (const c10::Argument& a : op.schema().arguments()) {
    if (!a.is_out())
      given.push_back(a);
    else if (a.real_type()->kind() != c10::TypeKind::TensorType)
      return std::nullopt;
  }
  const size_t outs = op.schema().arguments().size() - given.size();
  // A random one draws other numbers than the overload that returns them.
  if (outs == 0 || op.hasTag(at::Tag::nondeterministic_seeded))
    return std::nullopt;
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    if (name.name != op.operator_name().name) continue;
    const auto found = dispatcher.findSchema(name);
    if (!found || found->schema().returns().size() != outs ||
        !takes_all_but_out(found->schema(), given))
      continue;
    // Without a rule it may be composed of the very overload that writes.
    if (has_rule(*found) || !is_composite(*found)) return found;
  }
  return std::nullopt;
}

void run_with_outs(const c10::OperatorHandle& op,
                   const c10::OperatorHandle& functional, c10::Stack& stack) {
  const size_t given = functional.schema().arguments().size();
  const size_t count = op.schema().arguments().size();
  const std::span<const c10::IValue> args{stack.end() - count, stack.end()};
  TORCH_CHECK(!at::GradMode::is_enabled() || !requires_grad(args),
              op.schema().name(),
              ": functions with out=... arguments don't support automatic "
              "differentiation, but one of the arguments requires grad.");
  c10::Stack results(args.begin(), args.begin() + given);
  functional.callBoxed(results);
  for (size_t i = given; i < count; ++i)
    write(op, results[i - given].toTensor(), args[i].toTensor());
  stack.erase(stack.end() - count, stack.end() - (count - given));
}

}  // namespace proviso::inline v0_2
