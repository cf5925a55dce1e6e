#include "tracer_adapter/ir/value_kind.h"

namespace proviso::inline v0_2 {

ValueKind kind_of(const GraphValue& value) {
  if (value.is_tensor()) return ValueKind::kTensor;
  return value.expr().is_int()    ? ValueKind::kInt
         : value.expr().is_bool() ? ValueKind::kBool
                                  : ValueKind::kFloat;
}

ValueKind kind_of(const Graph& graph, const Argument& a) {
  if (const ValueRef* ref = a.get<ValueRef>())
    return kind_of(graph.value(ref->id));
  if (a.get<int64_t>()) return ValueKind::kInt;
  if (a.get<double>()) return ValueKind::kFloat;
  if (a.get<bool>()) return ValueKind::kBool;
  return a.is_none() ? ValueKind::kNone : ValueKind::kOther;
}

std::string_view name_of(ValueKind kind) {
  static constexpr std::string_view kNames[] = {"a tensor", "an integer",
                                                "a float",  "a truth value",
                                                "None",     "a constant"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace proviso::inline v0_2
