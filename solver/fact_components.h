// solver/fact_components.h - the facts, grouped by the symbols that they share.
//
//   FactComponents components(forms);
//   components.add_fact(x <= y), components.add_fact(z >= 4);
//   components.index_next(), components.index_next();
//   components.facts(components.root(components.node_of(x)))    // {x <= y}
//
// Union-find over symbols, undone as it was made.  A symbol that shares no fact
// with another has no node until something is asked about it: ranges of ten
// thousand sizes wait as a list each.
//
// A component also counts, for each of fixed::kept_points points, how many of
// its facts are known to hold there (solver/kept_models.h); the counts stay
// right as facts and components come and go.
//
// Protocol: add_fact() notes a fact, index_next() enters the next of them,
// whose symbols must have nodes where it has several.  Marks are numbers of
// facts.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "solver/fixed_limits.h"
#include "solver/forms/form_pool.h"
#include "solver/id_map.h"
#include "sym/stable_vector.h"

namespace proviso::inline v0_2::internal {

class FactComponents {
 public:
  explicit FactComponents(FormPool& forms) : forms_(forms) {}

  // --- facts
  void add_fact(FormulaId f) { facts_.push_back({f}); }
  size_t fact_count() const { return facts_.size(); }
  FormulaId fact(size_t i) const { return facts_[i].fact; }
  size_t indexed_count() const { return indexed_; }
  void index_next();
  void undo(size_t facts);

  // The symbols of a formula; until the next call.
  const std::vector<AtomId>& symbols_of(FormulaId f);

  // --- symbols
  // The symbol's place among those that facts mention, or that were asked for.
  uint32_t place_of(AtomId symbol);
  // kNoId where it has none.
  uint32_t node_of(AtomId symbol) const {
    const uint32_t known = place_of_.get(symbol);
    return known == kNoId ? kNoId : mentioned_[known].node;
  }
  uint32_t make_node(AtomId symbol);  // requires that it has none
  // The facts about a symbol without a node: what its kind says, then those
  // that were indexed.
  SmallVector<FormulaId, 4> facts_without_node(AtomId symbol);

  // --- nodes
  uint32_t root(uint32_t node) const {
    while (nodes_[node].parent != node) node = nodes_[node].parent;
    return node;
  }
  AtomId symbol(uint32_t node) const { return nodes_[node].symbol; }
  size_t place(uint32_t node) const { return nodes_[node].place; }
  // The facts that mention the node's symbol.
  const SmallVector<FormulaId, 4>& facts_about(uint32_t node) const {
    return nodes_[node].facts_here;
  }

  // --- components, by their roots
  const SmallVector<FormulaId, 8>& facts(uint32_t root) const {
    return nodes_[root].facts;
  }
  const SmallVector<uint32_t, 4>& members(uint32_t root) const {
    return nodes_[root].members;
  }
  // How many of its facts, from the first on, are known to hold at a point.
  uint32_t& holding(uint32_t root, size_t point) {
    return nodes_[root].holding[point];
  }
  // How many facts it had when no such point was found; 0 when it has changed.
  uint32_t& failed(uint32_t root, size_t point) {
    return nodes_[root].failed[point];
  }

 private:
  // A symbol that facts mention.
  struct Mentioned {
    uint32_t node = kNoId;   // made when it is asked about, or shares a fact
    uint32_t alone = kNoId;  // the last indexed fact that is about it alone
  };
  // A symbol; as the root of a component, the component.
  struct Node {
    AtomId symbol;
    uint32_t place;
    uint32_t parent;
    SmallVector<FormulaId, 4> facts_here;
    SmallVector<FormulaId, 8> facts;
    SmallVector<uint32_t, 4> members;
    std::array<uint32_t, fixed::kept_points> holding{}, failed{};
  };
  struct Union {
    uint32_t child, root, facts, members;
  };
  struct Step {
    enum Kind : uint8_t { kUnion, kFact } kind;
    uint32_t index;  // of the union, or the root that got the fact
  };
  struct Fact {
    FormulaId fact;
    uint32_t trail = 0;       // before it was indexed; kAlone: about one symbol
    uint32_t before = kNoId;  // the one about that symbol alone before
  };
  static constexpr uint32_t kAlone = ~0u;

  SmallVector<FormulaId, 2> facts_of_kind(AtomId symbol);
  void index_alone(AtomId symbol, uint32_t fact);
  void join(uint32_t a, uint32_t b);
  void undo_step();
  void undo_alone(const Fact& fact);
  void take_last_fact(uint32_t root);

  FormPool& forms_;
  StableVector<Node> nodes_;
  StableVector<Mentioned> mentioned_;
  IdMap place_of_;  // from symbols
  std::vector<Union> unions_;
  std::vector<Step> trail_;
  std::vector<Fact> facts_;
  uint32_t indexed_ = 0;  // of them
  std::vector<AtomId> symbols_;
};

}  // namespace proviso::inline v0_2::internal
