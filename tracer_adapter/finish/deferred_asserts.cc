#include "tracer_adapter/finish/deferred_asserts.h"

#include <c10/util/Exception.h>

#include <string>
#include <variant>

#include "sym/canonical.h"
#include "sym/print.h"

namespace proviso::inline v0_2 {

bool DeferredAsserts::place(const RuntimeAssert& assertion) {
  const Expr condition = canonical(assertion.condition);
  if (condition.is_true()) return true;
  if (!expander_.can_expand(condition)) return false;
  const Argument value = expander_.expand(condition);
  if (condition.is(Op::kEq)) equalities_.insert(condition);
  const size_t node = builder_.assert_scalar(
      value, "Runtime assertion failed for expression " + to_string(condition));
  if (const ValueRef* ref = value.get<ValueRef>())
    placed_.emplace_back(node, ref->id);
  return true;
}

void DeferredAsserts::place() {
  std::erase_if(pending_, [&](const RuntimeAssert& a) { return place(a); });
}

void DeferredAsserts::require_placed() const {
  if (pending_.empty()) return;
  TORCH_CHECK(false, "Proviso: the condition ",
              to_string(pending_[0].condition),
              " must be checked when the program runs, but no recorded "
              "operator defines its symbols; return or use the tensor whose "
              "size it speaks of");
}

void DeferredAsserts::name_conditions(Graph& graph) const {
  for (const auto& [node, condition] : placed_) {
    auto& text = std::get<std::string>(graph.nodes[node].args[1].value);
    text += " on node '" + graph.value(condition).name + "'";
  }
}

}  // namespace proviso::inline v0_2
