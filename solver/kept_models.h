// solver/kept_models.h - a few points at which the facts hold, kept as facts
// come and go.
//
//   KeptModels kept(domain);
//   kept.add_fact(f);
//   kept.index_facts();
//   kept.meets_facts(symbols, 0)     // point 0 meets the facts about these
//   kept.point(0).at(x)
//
// A point is made component by component (solver/fact_components.h).  A new
// fact that a component's part of a point does not meet makes that part again,
// with other small values, a few times; what it costs is that component's,
// however many facts there are elsewhere.
//
// Protocol: a fact that is added is looked at by the next index_facts(), which
// stands before what is asked of points.  Points are called by their numbers,
// below fixed::kept_points.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "solver/domain.h"
#include "solver/fact_components.h"
#include "solver/point.h"

namespace proviso::inline v0_2::internal {

class KeptModels {
 public:
  // An end of a range, where values are looked for from it.
  static std::optional<int64_t> usable_end(const OptionalInt& end);

  explicit KeptModels(Domain& domain)
      : domain_(domain),
        forms_(domain.forms()),
        components_(forms_),
        models_{Point(forms_), Point(forms_), Point(forms_)} {}

  // The domain assumes the fact.
  void add_fact(FormulaId f) {
    if (f != kTrue) components_.add_fact(f);
  }
  size_t mark() const { return components_.fact_count(); }
  void undo(size_t mark) { components_.undo(mark); }
  void index_facts();

  // The symbols of a formula; until the next call.
  const std::vector<AtomId>& symbols_of(FormulaId f) {
    return components_.symbols_of(f);
  }
  // Whether the point meets the facts of the components of these symbols, once
  // it has been made again where it did not.
  bool meets_facts(const std::vector<AtomId>& symbols, size_t w);
  // Facts, one of each group that shares symbols, for which no point is known
  // at which the group holds; of the groups with facts after the first `from`.
  std::vector<FormulaId> groups_without_model(size_t from);

  // --- for a search around the points
  Point& point(size_t w) { return models_[w]; }
  // The symbol's value at the point, chosen where it has none yet.
  int64_t value_of(AtomId symbol, size_t w) {
    node(symbol);
    return models_[w].at(symbol);
  }
  bool is_free(AtomId a) const;  // a symbol that no equality determines
  // The facts that mention the symbol; those of its component.
  std::span<const FormulaId> facts_about(AtomId symbol) {
    return components_.facts_about(node(symbol));
  }
  std::span<const FormulaId> component_facts(AtomId symbol) {
    return components_.facts(components_.root(node(symbol)));
  }
  // Gives every variable of p a value.
  void complete(const Poly& p, size_t w);
  // The symbol takes the value that equalities give it.
  void substitute(AtomId symbol, size_t w) { substitute_at(node(symbol), w); }

 private:
  uint32_t node(AtomId symbol) {
    const uint32_t known = components_.node_of(symbol);
    return known != kNoId ? known : make_node(symbol);
  }
  uint32_t make_node(AtomId symbol);
  bool has_model_alone(AtomId symbol, Point& trial);
  bool ensure_holds(uint32_t root, size_t w);
  bool holds(uint32_t root, size_t w);
  void assign_values(uint32_t root, size_t w, int attempt);
  int64_t choose(AtomId a, size_t w, int attempt, size_t place);
  void substitute_at(uint32_t node, size_t w);

  Domain& domain_;
  FormPool& forms_;
  FactComponents components_;
  std::array<Point, fixed::kept_points> models_;
};

}  // namespace proviso::inline v0_2::internal
