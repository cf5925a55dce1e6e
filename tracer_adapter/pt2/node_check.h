// tracer_adapter/pt2/node_check.h - whether a node that was read can run: it
// takes what its operator takes and gives what its operator gives.
//
//   check_argument(graph, node.args[0], *formal.real_type(), "self");
//   check_node(graph, node);
//
// Throw FileErrors that name the argument or output, what stands there and what
// would be right.
#pragma once

#include <string>
#include <string_view>

#include "tracer_adapter/ir/graph.h"
#include "tracer_adapter/ir/value_kind.h"

namespace proviso::inline v0_2::pt2 {

constexpr std::string_view kHigherOrderPrefix = "torch.ops.higher_order.";

// `type`: of an operator's schema, as it was written (ScalarType, not int).
void check_argument(const Graph& graph, const Argument& a,
                    const c10::Type& type, const std::string& name);

// The outputs of operators; the arguments too of arithmetic on sizes and of
// higher-order operators, whose sub-graphs must fit what they are given and
// what is made of their results.
void check_node(const Graph& graph, const Node& node);

}  // namespace proviso::inline v0_2::pt2
