// The forms that a program may have, and the operators that each allows.
#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <array>

#include "tracer_adapter/exported_program.h"

namespace proviso::inline v0_2 {
namespace {

// What torch's own core-ATen form keeps beside the core.
constexpr std::array<std::string_view, 11> kBesideCore = {
    "aten.sym_size.int",
    "aten._assert_scalar.default",
    "aten.sym_stride.int",
    "aten.sym_numel.default",
    "aten.sym_storage_offset.default",
    "aten.lift_fresh_copy.default",
    "aten.item.default",
    "aten._assert_async.msg",
    "aten._assert_tensor_metadata.default",
    "aten.sym_constrain_range.default",
    "aten.sym_constrain_range_for_size.default"};

bool is_core(const Node& node) {
  return !node.target.starts_with("aten.") || node.op->hasTag(at::Tag::core) ||
         std::find(kBesideCore.begin(), kBesideCore.end(), node.target) !=
             kBesideCore.end();
}

void check(const Graph& graph, bool core) {
  for (const Node& node : graph.nodes) {
    for (const Argument& a : node.args)
      if (const GraphArgument* sub = a.get<GraphArgument>())
        check(*sub->graph, core);
    if (node.kind != Node::Kind::kOperator) continue;
    TORCH_CHECK_VALUE(!node.op->schema().is_mutable(), "verify: torch.ops.",
                      node.target,
                      " writes to its arguments; the functional form has no "
                      "such operator. run_decompositions() removes it");
    TORCH_CHECK_VALUE(!core || is_core(node), "verify: torch.ops.", node.target,
                      " is no core ATen operator; run_decompositions() "
                      "decomposes it");
  }
}

}  // namespace

void ExportedProgram::verify(const std::string& form) const {
  const std::string wanted = !form.empty()       ? form
                             : dialect == "ATEN" ? "functional"
                                                 : "training";
  TORCH_CHECK_VALUE(
      wanted == "training" || wanted == "functional" || wanted == "core",
      "verify: no form '", wanted,
      "'; it is one of training, functional, core");
  if (wanted != "training") check(graph, wanted == "core");
}

}  // namespace proviso::inline v0_2
