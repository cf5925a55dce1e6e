// tracer_adapter/trace/trace_asserts.h - the conditions that are checked when
// the program runs, and which graph checks each.
//
//   TraceAsserts asserts(env);
//   asserts.give(first, branch);    // what was asserted since, in a branch
//   asserts.of(branch);             // these, in order
//   asserts.of(nullptr);            // the program's: all others
//   asserts.add_check({Eq(s0, 2*s1), ..});   // the ShapeEnv does not learn it
//
// An assertion of the ShapeEnv is known by its number in
// ShapeEnv::runtime_asserts().  What is asserted inside a sub-graph is the
// sub-graph's, which may not run at all.
#pragma once

#include <unordered_set>
#include <vector>

#include "guards/shape_env.h"
#include "tracer_adapter/ir/graph.h"

namespace proviso::inline v0_2 {

class TraceAsserts {
 public:
  explicit TraceAsserts(ShapeEnv& env) : env_(env) {}  // which outlives it
  TraceAsserts(const TraceAsserts&) = delete;
  TraceAsserts& operator=(const TraceAsserts&) = delete;

  // Assertions from number `first` on that are no sub-graph's yet become this
  // one's.
  void give(size_t first, const Graph* sub_graph);
  // Null: the program checks it.
  const Graph* owner(size_t number) const;

  // A condition on the inputs that the program checks when it runs and that
  // says nothing to the ShapeEnv.
  void add_check(RuntimeAssert check);
  const std::vector<RuntimeAssert>& checks() const { return checks_; }

  // What a sub-graph checks, or with null the program.
  std::vector<RuntimeAssert> of(const Graph* owner) const;

 private:
  ShapeEnv& env_;
  std::vector<const Graph*> owners_;  // by number; missing at the end: null
  std::vector<RuntimeAssert> checks_;
  std::unordered_set<Expr, ExprHash> checked_;  // their conditions
};

}  // namespace proviso::inline v0_2
