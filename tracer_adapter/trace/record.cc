// What a trace notes of its tensors and operators: which value a tensor is now,
// arguments, nodes.
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/function.h>

#include <utility>

#include "tracer_adapter/export.h"
#include "tracer_adapter/trace/op_info.h"
#include "tracer_adapter/trace/plain_tensor.h"
#include "tracer_adapter/trace/sub_graph.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso::inline v0_2 {

TensorMeta Tracer::meta_of(const at::Tensor& t) {
  TensorMeta meta;
  meta.dtype = t.scalar_type();
  meta.sizes = to_exprs(*env_, t.sym_sizes());
  meta.strides = to_exprs(*env_, tracer_strides(t));
  const FakeTensorImpl* fake = fake_impl(t);
  meta.offset = to_expr(*env_, fake ? fake->sym_storage_offset_default()
                                    : t.sym_storage_offset());
  meta.device = t.device();
  meta.requires_grad = t.requires_grad();
  return meta;
}

ValueId Tracer::fresh(const at::Tensor& t) {
  require_open("a new value");
  TORCH_CHECK_VALUE(t.defined(), "Proviso: an undefined tensor has no value");
  const ValueId id = now_.graph.add_value(meta_of(t));
  if (FakeTensorImpl* impl = fake_impl(t)) {
    impl->value = id;
    impl->trace = now_.trace;
    impl->without_grad = !modes_.records_grad();
  } else {
    now_.real_values[t.unsafeGetTensorImpl()] = id;
  }
  return id;
}

namespace {

// Traced tensors have no grad_fn but what an autograd::Function gave them,
// whose forward runs with gradients off: as recorded it would have none.
void check_keeps_grad(const at::Tensor& t, const FakeTensorImpl& impl) {
  if (!impl.without_grad || !t.grad_fn()) return;
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "Proviso: the gradient of ", t.grad_fn()->name(),
      " would be lost: the forward of a torch::autograd::Function runs without "
      "gradients, and its backward is no operator. Export under "
      "at::NoGradGuard for a program without gradients, or call the Function "
      "with a proviso::HeldMode alive: what its forward does is then "
      "differentiated as any operators are");
}

}  // namespace

ValueId Tracer::value_of(const at::Tensor& t) {
  if (!t.defined()) return kNoValue;
  if (FakeTensorImpl* impl = fake_impl(t)) {
    check_keeps_grad(t, *impl);
    if (impl->trace == now_.trace && impl->value != kNoValue)
      return impl->value;
    for (const SubGraphScope* s = scope_.get(); s; s = s->outer.get())
      if (s->around.trace == impl->trace) return capture(t);
    TORCH_CHECK(false, "Proviso: a traced tensor of ",
                impl->trace == 0 ? "no recorded operator"
                                 : "another trace or of a sub-graph",
                " reached this one; it has no data that could be kept. Return "
                "it from where it was made");
  }
  auto found = now_.real_values.find(t.unsafeGetTensorImpl());
  if (found != now_.real_values.end()) return found->second;
  return scope_ ? capture(t) : lift(t);
}

// A constant of the program, unless it is the memory of what the program owns.
ValueId Tracer::lift(const at::Tensor& t) {
  const at::Tensor* owned = inputs_.alias_of(t);
  if (owned == nullptr) {
    add_constant(inputs_.constant_name(t), t);
    owned = &t;
  }
  return now_.real_values.at(owned->unsafeGetTensorImpl());
}

bool Tracer::written(const at::Tensor& t) const {
  return t.has_storage() &&
         written_.contains(t.storage().unsafeGetStorageImpl());
}

// --- arguments and nodes

namespace {

Argument integer_argument(int64_t value, IntMeaning meaning) {
  switch (meaning) {
    case IntMeaning::kNumber: break;
    case IntMeaning::kDtype: return {static_cast<c10::ScalarType>(value)};
    case IntMeaning::kLayout: {
      const auto layout = static_cast<c10::Layout>(value);
      TORCH_CHECK_NOT_IMPLEMENTED(
          layout == c10::kStrided, "Proviso: a tensor of layout ", layout,
          " cannot be traced; leave layout= out, or give torch.strided");
      return {layout};
    }
    case IntMeaning::kMemoryFormat:
      return {static_cast<c10::MemoryFormat>(value)};
  }
  return {value};
}

template <typename T>
Argument list_argument(const T& values) {
  ListArgument list;
  list.items.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) list.items.push_back({values[i]});
  return {std::move(list)};
}

}  // namespace

// A Python number in a tensor argument: `x * 2` comes as a 0-dim tensor, which
// must not become a constant of the program.
std::optional<Argument> Tracer::wrapped_number(const at::Tensor& t) {
  if (!t.unsafeGetTensorImpl()->is_wrapped_number()) return std::nullopt;
  if (const FakeTensorImpl* impl = fake_impl(t)) {
    if (SymNode* ours = as_sym_node(impl->number.get()))
      return Argument{ExprArgument{ours->expr()}};
    return std::nullopt;
  }
  if (tracer_hooks().wrapped_number)
    if (c10::SymNode node = tracer_hooks().wrapped_number(t))
      if (SymNode* ours = as_sym_node(node.get()))
        return Argument{ExprArgument{ours->expr()}};
  if (!has_memory(t)) return std::nullopt;
  const void* data = t.storage().data();
  switch (t.scalar_type()) {
    case at::kDouble: return Argument{*static_cast<const double*>(data)};
    case at::kLong: return Argument{*static_cast<const int64_t*>(data)};
    case at::kBool: return Argument{*static_cast<const bool*>(data)};
    case at::kComplexDouble:
      return Argument{*static_cast<const c10::complex<double>*>(data)};
    default: return std::nullopt;
  }
}

Argument Tracer::to_argument(const c10::IValue& value, IntMeaning meaning) {
  if (value.isTensor()) {
    const at::Tensor& t = value.toTensor();
    if (!t.defined()) return {NoneArgument{}};
    if (std::optional<Argument> number = wrapped_number(t)) return *number;
    return {ValueRef{value_of(t)}};
  }
  if (value.isNone()) return {NoneArgument{}};
  if (value.isInt()) return integer_argument(value.toInt(), meaning);
  if (value.isBool()) return {value.toBool()};
  if (value.isDouble()) return {value.toDouble()};
  if (value.isSymInt()) return {ExprArgument{to_expr(*env_, value.toSymInt())}};
  if (value.isSymFloat())
    return {ExprArgument{to_expr(*env_, value.toSymFloat())}};
  if (value.isSymBool())
    return {ExprArgument{to_expr(*env_, value.toSymBool())}};
  if (value.isString()) return {std::string(value.toStringView())};
  if (value.isDevice()) return {value.toDevice()};
  if (value.isComplexDouble()) return {value.toComplexDouble()};
  if (value.isIntList()) return list_argument(value.toIntVector());
  if (value.isDoubleList()) return list_argument(value.toDoubleVector());
  if (value.isGenerator()) return {NoneArgument{}};
  if (value.isList()) {
    ListArgument list;
    for (const c10::IValue& item : value.toListRef())
      list.items.push_back(to_argument(item, meaning));
    return {std::move(list)};
  }
  TORCH_CHECK(false, "Proviso: an argument of type ", value.tagKind(),
              " cannot be recorded");
}

Argument Tracer::to_argument(const c10::IValue& value, const c10::Type* type) {
  return to_argument(value, type ? meaning_of(*type) : IntMeaning::kNumber);
}

Node::Output Tracer::output_of(const c10::IValue& value) {
  const auto id_of = [&](const at::Tensor& t) {
    return t.defined() ? fresh(t) : kNoOutput;
  };
  Node::Output output;
  if (value.isTensor()) {
    output.values.push_back(id_of(value.toTensor()));
  } else if (value.isTensorList()) {
    output.is_list = true;
    for (const at::Tensor& t : value.toTensorList())
      output.values.push_back(id_of(t));
  } else if (value.isSymInt()) {
    const Expr e = to_expr(*env_, value.toSymInt());
    if (!e.is_constant()) output.values.push_back(now_.graph.add_value(e));
  } else if (value.isSymFloat()) {
    const Expr e = to_expr(*env_, value.toSymFloat());
    if (!e.is_constant()) output.values.push_back(now_.graph.add_value(e));
  } else if (value.isSymBool()) {
    const Expr e = to_expr(*env_, value.toSymBool());
    if (!e.is_constant()) output.values.push_back(now_.graph.add_value(e));
  }
  return output;
}

void Tracer::record(const c10::OperatorHandle& op, std::vector<Argument> args,
                    const std::vector<c10::IValue>& outputs) {
  Node node;
  node.op = op;
  node.target = target_name(op);
  node.args = std::move(args);
  append(std::move(node), outputs);
}

Node& Tracer::append(Node node, const std::vector<c10::IValue>& outputs) {
  for (const c10::IValue& value : outputs)
    node.outputs.push_back(output_of(value));
  return append(std::move(node));
}

Node& Tracer::append(Node node) {
  require_open("an operator");
  if (node.location == 0) node.location = current_stack();
  node.modules = modules_.now();
  node.mode = modes_.now();
  now_.graph.nodes.push_back(std::move(node));
  return now_.graph.nodes.back();
}

}  // namespace proviso::inline v0_2
