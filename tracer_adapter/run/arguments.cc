#include "tracer_adapter/run/arguments.h"

#include <ATen/core/List.h>
#include <ATen/ops/scalar_tensor.h>

#include "tracer_adapter/fake/fake_tensor.h"
#include "tracer_adapter/ir/schema_types.h"
#include "tracer_adapter/run/symbolic_functions.h"

namespace proviso::inline v0_2 {

c10::IValue to_ivalue(const Argument& a) {
  if (auto v = a.get<int64_t>()) return *v;
  if (auto v = a.get<double>()) return *v;
  if (auto v = a.get<bool>()) return *v;
  if (auto v = a.get<std::string>()) return *v;
  if (auto v = a.get<c10::ScalarType>()) return static_cast<int64_t>(*v);
  if (auto v = a.get<c10::Layout>()) return static_cast<int64_t>(*v);
  if (auto v = a.get<c10::MemoryFormat>()) return static_cast<int64_t>(*v);
  if (auto v = a.get<c10::Device>()) return *v;
  if (auto v = a.get<c10::complex<double>>()) return *v;
  if (auto v = a.get<ExprArgument>())
    if (auto number = v->expr.maybe_int64()) return *number;
  TORCH_CHECK(a.is_none(), "Proviso: an argument of this graph cannot be run");
  return {};
}

at::Tensor number_tensor(const c10::IValue& value) {
  const at::Scalar scalar = value.toScalar();
  at::Tensor t = at::scalar_tensor(
      scalar,
      at::TensorOptions().dtype(scalar.isFloatingPoint() ? at::kDouble
                                : scalar.isComplex()     ? at::kComplexDouble
                                : scalar.isBoolean()     ? at::kBool
                                                         : at::kLong));
  t.unsafeGetTensorImpl()->set_wrapped_number(true);
  return t;
}

at::Tensor symbolic_number_tensor(const c10::IValue& value) {
  const at::Tensor t = make_fake({}, {},
                                 value.isSymInt()     ? at::kLong
                                 : value.isSymFloat() ? at::kDouble
                                                      : at::kBool,
                                 c10::kCPU);
  FakeTensorImpl& impl = *fake_impl(t);
  impl.set_wrapped_number(true);
  impl.number = value.isSymInt()     ? value.toSymInt().toSymNode()
                : value.isSymFloat() ? value.toSymFloat().toSymNodeImpl()
                                     : value.toSymBool().toSymNodeImpl();
  return t;
}

double to_double(const c10::IValue& v) {
  if (v.isDouble()) return v.toDouble();
  if (v.isSymFloat()) return v.toSymFloat().guard_float(__FILE__, __LINE__);
  if (v.isBool()) return static_cast<double>(v.toBool());
  TORCH_CHECK_TYPE(v.isInt() || v.isSymInt(), "a real number is needed");
  return static_cast<double>(v.toInt());
}

// --- planned

namespace {

ArgumentPlan::Kind list_kind(const c10::Type& element) {
  switch (element.kind()) {
    case c10::TypeKind::TensorType: return ArgumentPlan::Kind::kTensors;
    case c10::TypeKind::OptionalType:
      return ArgumentPlan::Kind::kOptionalTensors;
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType: return ArgumentPlan::Kind::kInts;
    case c10::TypeKind::FloatType: return ArgumentPlan::Kind::kDoubles;
    case c10::TypeKind::BoolType: return ArgumentPlan::Kind::kBools;
    default: return ArgumentPlan::Kind::kMixed;
  }
}

}  // namespace

ArgumentPlan plan_argument(const Argument& a, const c10::Type& formal) {
  const c10::Type& type = without_optional(formal);
  ArgumentPlan plan;
  if (const ListArgument* list = a.get<ListArgument>()) {
    const c10::Type& element = *type.containedTypes().at(0);
    plan.kind = list_kind(element);
    bool fixed = plan.kind == ArgumentPlan::Kind::kInts;
    for (const Argument& item : list->items) {
      plan.items.push_back(plan_argument(item, element));
      fixed &= plan.items.back().kind == ArgumentPlan::Kind::kConstant;
    }
    if (fixed) {  // the common [0, 2, 1]: made once
      c10::List<int64_t> ints;
      for (const ArgumentPlan& item : plan.items)
        ints.push_back(item.constant.toInt());
      plan = {.kind = ArgumentPlan::Kind::kConstant,
              .constant = ints,
              .value = kNoOutput,
              .items = {}};
    }
    return plan;
  }
  const bool wants_tensor = type.kind() == c10::TypeKind::TensorType;
  if (const ValueRef* ref = a.get<ValueRef>()) {
    plan.value = ref->id;
    plan.kind = wants_tensor ? ArgumentPlan::Kind::kNumberTensor
                : type.kind() == c10::TypeKind::FloatType
                    ? ArgumentPlan::Kind::kDouble
                    : ArgumentPlan::Kind::kValue;
    return plan;
  }
  plan.constant = to_ivalue(a);
  if (wants_tensor && !plan.constant.isNone())
    plan.constant = number_tensor(plan.constant);
  if (type.kind() == c10::TypeKind::FloatType && plan.constant.isInt())
    plan.constant = static_cast<double>(plan.constant.toInt());
  return plan;
}

ArgumentPlan plan_list(std::span<const Argument> items) {
  ArgumentPlan plan;
  plan.kind = ArgumentPlan::Kind::kMixed;
  for (const Argument& item : items)
    plan.items.push_back(plan_argument(item, *c10::NumberType::get()));
  return plan;
}

// --- evaluated

namespace {

template <typename T, typename Convert>
c10::IValue evaluate_list(const ArgumentPlan& plan, const Slots& slots,
                          const Convert& convert) {
  c10::List<T> list;
  list.reserve(plan.items.size());
  for (const ArgumentPlan& item : plan.items)
    list.push_back(convert(evaluate(item, slots)));
  return list;
}

c10::IValue as_tensor(const c10::IValue& value) {
  if (value.isTensor()) return value;
  if (is_symbolic_number(value)) return symbolic_number_tensor(value);
  return number_tensor(value);
}

c10::IValue evaluate_sym_ints(const ArgumentPlan& plan, const Slots& slots) {
  c10::impl::GenericList list(c10::SymIntType::get());
  for (const ArgumentPlan& item : plan.items)
    list.push_back(evaluate(item, slots).toSymInt());
  return list;
}

c10::IValue evaluate_ints(const ArgumentPlan& plan, const Slots& slots) {
  c10::List<int64_t> ints;
  ints.reserve(plan.items.size());
  for (const ArgumentPlan& item : plan.items) {
    const c10::IValue value = evaluate(item, slots);
    if (value.isSymInt()) return evaluate_sym_ints(plan, slots);
    ints.push_back(value.toInt());
  }
  return ints;
}

}  // namespace

c10::IValue evaluate(const ArgumentPlan& plan, const Slots& slots) {
  using Kind = ArgumentPlan::Kind;
  switch (plan.kind) {
    case Kind::kConstant: return plan.constant;
    case Kind::kValue: return slots[plan.value];
    case Kind::kNumberTensor: return as_tensor(slots[plan.value]);
    case Kind::kDouble: return to_double(slots[plan.value]);
    case Kind::kTensors:
      return evaluate_list<at::Tensor>(
          plan, slots, [](const c10::IValue& v) { return v.toTensor(); });
    case Kind::kOptionalTensors:
      return evaluate_list<std::optional<at::Tensor>>(
          plan, slots, [](const c10::IValue& v) -> std::optional<at::Tensor> {
            if (v.isNone()) return std::nullopt;
            return v.toTensor();
          });
    case Kind::kInts: return evaluate_ints(plan, slots);
    case Kind::kDoubles: return evaluate_list<double>(plan, slots, to_double);
    case Kind::kBools:
      return evaluate_list<bool>(
          plan, slots, [](const c10::IValue& v) { return v.toBool(); });
    case Kind::kMixed: {
      c10::impl::GenericList list(c10::NumberType::get());
      for (const ArgumentPlan& item : plan.items)
        list.push_back(evaluate(item, slots));
      return list;
    }
  }
  return {};
}

std::vector<c10::IValue> evaluate_items(const ArgumentPlan& plan,
                                        const Slots& slots) {
  std::vector<c10::IValue> values;
  for (const ArgumentPlan& item : plan.items)
    values.push_back(evaluate(item, slots));
  return values;
}

}  // namespace proviso::inline v0_2
