#include "tracer_adapter/finish/deferred_asserts.h"

#include <c10/util/Exception.h>

#include <string>
#include <variant>

#include "sym/canonical.h"
#include "sym/excerpt.h"
#include "sym/print.h"

namespace proviso::inline v0_2 {
namespace {

// Whether torch.export.load finds a range of what this gives: it computes that
// of each condition that _assert_scalar takes.
bool has_range_in_torch(Expr e) {
  switch (e.op()) {
    case Op::kLog2: return true;
    case Op::kLShift:
    case Op::kRShift: return false;
    case Op::kEq:
    case Op::kNe: return !e.arg(0).is_bool();
    case Op::kWhere: return !e.is_bool();
    default: return !is_opaque(e.op());
  }
}

bool is_read_by_torch(Expr condition) {
  bool is_read = true;
  ExprSet seen;
  visit_arguments_first(
      condition, [&](Expr x) { return !is_read || seen.contains(x); },
      [&](Expr x) {
        seen.insert(x);
        is_read = is_read && has_range_in_torch(x);
      });
  return is_read;
}

}  // namespace

// What torch cannot read as a condition on numbers is one on a tensor.
void DeferredAsserts::assert_that(Expr condition) {
  const std::string message = "Runtime assertion failed for expression " +
                              to_string(condition, internal::kMessageLength);
  Argument value = expander_.expand(condition);
  size_t node = 0;
  if (is_read_by_torch(condition)) {
    node = builder_.assert_scalar(value, message);
  } else {
    value = builder_.truth(expander_.one_if(std::move(value), condition),
                           condition.pool().integer(0));
    node = builder_.assert_tensor(value, message);
  }
  if (const ValueRef* ref = value.get<ValueRef>())
    placed_.emplace_back(node, ref->id);
}

bool DeferredAsserts::place(const RuntimeAssert& assertion) {
  const Expr condition = canonical(assertion.condition);
  if (condition.is_true()) return true;
  if (!expander_.can_expand(condition)) return false;
  assert_that(condition);
  if (condition.is(Op::kEq)) equalities_.insert(condition);
  return true;
}

void DeferredAsserts::place() {
  std::erase_if(pending_, [&](const RuntimeAssert& a) { return place(a); });
}

void DeferredAsserts::require_placed() const {
  if (pending_.empty()) return;
  TORCH_CHECK(false, "Proviso: the condition ",
              to_string(pending_[0].condition, internal::kMessageLength),
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
