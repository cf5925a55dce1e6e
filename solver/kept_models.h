// solver/kept_models.h - a few points at which the facts hold, kept as facts
// come and go.
//
//   KeptModels kept(domain);
//   kept.add_fact(f);
//   kept.file_facts();
//   kept.is_usable(symbols, 0)     // point 0 meets the facts about these
//   symbols kept.point(0).at(x)
//
// Facts are grouped into components by the symbols that they share (union-find,
// undone as it was made), and each component knows how many of its facts hold
// at each point.  A symbol that shares no fact with another is a node of none
// until something is asked about it: ranges of ten thousand sizes wait as a
// list each.  A new fact that a component's part of a point does not meet makes
// that part again, with other small values, a few times; what it costs is that
// component's, however many facts there are elsewhere.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "solver/domain.h"
#include "solver/point.h"
#include "sym/stable_vector.h"

namespace proviso::inline v0_2::internal {

class KeptModels {
 public:
  static constexpr size_t kModels = 3;
  // Values are looked for within; ends of ranges beyond are no ends.
  static constexpr int64_t kFar = int64_t{1} << 40;
  static std::optional<int64_t> near_end(const OptionalInt& end);

  explicit KeptModels(Domain& domain)
      : domain_(domain),
        forms_(domain.forms()),
        models_{Point(forms_), Point(forms_), Point(forms_)} {}

  // The domain assumes the fact.  It is looked at when a point is needed.
  void add_fact(FormulaId f) {
    if (f != kTrue) assumed_.push_back({f});
  }
  size_t mark() const { return assumed_.size(); }
  void undo(size_t mark);
  // Puts the facts that came since into their components.
  void file_facts();

  // The symbols of a formula; until the next call.
  const std::vector<AtomId>& symbols_of(FormulaId f);
  // Whether the point meets the facts of the components of these symbols, by
  // now.
  bool is_usable(const std::vector<AtomId>& symbols, size_t w);
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
  std::span<const FormulaId> facts_about(AtomId symbol);
  std::span<const FormulaId> facts_near(AtomId symbol);
  // Every variable of p has a value.
  void complete(const Poly& p, size_t w);
  // The symbol takes the value that equalities give it.
  void settle(AtomId symbol, size_t w) { settle_node(node(symbol), w); }

 private:
  // A symbol that facts mention.
  struct Met {
    uint32_t node = kNoId;   // made when it is asked about, or shares a fact
    uint32_t alone = kNoId;  // the last filed fact that is about it alone
  };
  // A symbol; as the root of a component, the component.
  struct Node {
    AtomId atom;
    uint32_t place;  // among those met
    uint32_t parent;
    SmallVector<FormulaId, 4> facts_here;  // that mention the symbol
    SmallVector<FormulaId, 8> facts;       // of the component
    SmallVector<uint32_t, 4> members;
    // How many of `facts` are known to hold in each model, and how many there
    // were when no point was found.
    std::array<uint32_t, kModels> holding{}, failed{};
  };
  struct Union {
    uint32_t child, root, facts, members;
  };
  struct Step {
    enum Kind : uint8_t { kUnion, kFact } kind;
    uint32_t index;  // of the union, or the root that got the fact
  };
  struct Assumed {
    FormulaId fact;
    uint32_t trail = 0;  // before it was filed; kAlone of one about one symbol
    uint32_t before = kNoId;  // the one about that symbol alone before
  };
  static constexpr uint32_t kAlone = ~0u;

  void file(uint32_t assumed);
  void file_alone(AtomId symbol, uint32_t assumed);
  void undo_step();
  void undo_alone(const Assumed& fact);
  void take_last_fact(uint32_t root);
  uint32_t place(AtomId symbol);
  uint32_t node(AtomId symbol) {
    const uint32_t known = place_of_.get(symbol);
    const uint32_t n = known == kNoId ? kNoId : met_[known].node;
    return n != kNoId ? n : make_node(symbol);
  }
  uint32_t make_node(AtomId symbol);
  SmallVector<FormulaId, 4> facts_alone(AtomId symbol, const Met& met);
  bool has_model_alone(AtomId symbol, Point& trial);
  SmallVector<FormulaId, 2> facts_of_kind(AtomId symbol);
  uint32_t root(uint32_t n) const;
  void join(uint32_t a, uint32_t b);
  bool is_ready(uint32_t root, size_t w);
  bool holds(uint32_t root, size_t w);
  void fill(uint32_t root, size_t w, int attempt);
  int64_t choose(AtomId a, size_t w, int attempt, size_t place);
  void settle_node(uint32_t n, size_t w);

  Domain& domain_;
  FormPool& forms_;
  StableVector<Node> nodes_;
  StableVector<Met> met_;
  IdMap place_of_;  // from symbols to those met
  std::array<Point, kModels> models_;
  std::vector<Union> unions_;
  std::vector<Step> trail_;
  std::vector<Assumed> assumed_;
  uint32_t filed_ = 0;  // of them
  std::vector<AtomId> symbols_;
};

}  // namespace proviso::inline v0_2::internal
