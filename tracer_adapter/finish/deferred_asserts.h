// tracer_adapter/finish/deferred_asserts.h - the runtime assertions of a graph,
// each as soon as the values that it speaks of are there.
//
//   u0 = item(x)                    # torch._check(u0 >= 2)
//   ge = u0 >= 2
//   _assert_scalar(ge, "Runtime assertion failed for expression 2 <= u0 on
//                       node 'ge'")
//
// A condition that torch.export.load cannot read as one on numbers is asserted
// of a scalar tensor:
//
//   ite = sym_ite(gt, 1, 0)         # gt = _sym_sqrt(u0) > 2
//   _assert_async.msg(scalar_tensor(ite, dtype=torch.bool), "..")
//
// Protocol: place() after the inputs are bound and after each node;
// require_placed() after the last; name_conditions() when values have names.
#pragma once

#include <utility>
#include <vector>

#include "guards/shape_env.h"
#include "tracer_adapter/finish/expr_expander.h"
#include "tracer_adapter/finish/expr_set.h"

namespace proviso::inline v0_2 {

class DeferredAsserts {
 public:
  // Builder and expander outlive it.
  DeferredAsserts(std::vector<RuntimeAssert> asserts, NodeBuilder& builder,
                  ExprExpander& expander)
      : pending_(std::move(asserts)), builder_(builder), expander_(expander) {}
  DeferredAsserts(const DeferredAsserts&) = delete;
  DeferredAsserts& operator=(const DeferredAsserts&) = delete;

  // Those that are not placed, in order.
  const std::vector<RuntimeAssert>& pending() const { return pending_; }
  void place();
  // Throws an error naming one whose symbols no operator gives.
  void require_placed() const;
  // The equalities among those that were placed.
  const ExprSet& equalities() const { return equalities_; }
  // Messages quote the name of the condition's node.
  void name_conditions(Graph& graph) const;

 private:
  bool place(const RuntimeAssert& assertion);
  void assert_that(Expr condition);

  std::vector<RuntimeAssert> pending_;
  NodeBuilder& builder_;
  ExprExpander& expander_;
  ExprSet equalities_;
  std::vector<std::pair<size_t, ValueId>> placed_;  // node, its condition
};

}  // namespace proviso::inline v0_2
