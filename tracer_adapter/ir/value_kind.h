// tracer_adapter/ir/value_kind.h - what a value is while the program runs.
#pragma once

#include <string_view>

#include "tracer_adapter/ir/graph.h"

namespace proviso::inline v0_2 {

enum class ValueKind : uint8_t { kTensor, kInt, kFloat, kBool, kNone, kOther };
ValueKind kind_of(const GraphValue& value);
// kOther: a list, a graph, or a constant that is no number.
ValueKind kind_of(const Graph& graph, const Argument& a);
std::string_view name_of(ValueKind kind);  // "a tensor"

}  // namespace proviso::inline v0_2
