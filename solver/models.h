// solver/models.h - points at which the facts hold and a condition too.
//
//   ModelSearch search(domain, lowering);
//   auto point = search.find(goal, symbols, [&](const Assignment& p) {
//     return evaluate(question, p).is_false();      // what counts as a model
//   }, units, units / 2);
//
// Values are assumed one symbol at a time, so that what they imply
// is known before the next is chosen; everything is taken back.  A search in
// depth spends at most `units`; where it fails, random probes spend at most
// `probe_units`.  A point is returned only when `accept` says so.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "solver/domain.h"
#include "solver/lower.h"
#include "sym/evaluate.h"

namespace proviso::inline v0_2::internal {

class ModelSearch {
 public:
  using Accept = std::function<bool(const Assignment&)>;

  ModelSearch(Domain& domain, Lowering& lower)
      : domain_(domain), forms_(domain.forms()), lower_(lower) {}

  std::optional<Assignment> find(FormulaId goal,
                                 const std::vector<Expr>& symbols,
                                 const Accept& accept, uint64_t units,
                                 uint64_t probe_units);

 private:
  template <typename Next>
  bool with_value(AtomId a, const Int& value, Next next);
  std::optional<Assignment> depth_first();
  std::optional<Assignment> probe_at_random();
  std::optional<Assignment> probe_at_random(uint32_t choice);
  std::optional<Assignment> finish();
  std::optional<AtomId> next_unknown();
  std::vector<Int> candidates(AtomId a);
  std::vector<Int> roots(AtomId a, const Range& r);
  void collect_constants(FormulaId f);

  Domain& domain_;
  FormPool& forms_;
  Lowering& lower_;
  std::vector<Expr> symbols_;
  std::vector<Int> constants_;  // of the goal: likely values
  std::vector<PolyId> zeros_;   // what the goal wants to be 0
  const Accept* accept_ = nullptr;
  bool is_exhaustive_ = false;  // values one by one: likely ones have failed
  int points_left_ = 0;
};

}  // namespace proviso::inline v0_2::internal
