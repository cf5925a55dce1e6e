// solver/candidate_models.h - a few points at which the facts hold, kept as
// facts come.
//
//   CandidateModels candidates(domain);
//   candidates.add_fact(f);
//   candidates.satisfiable(q)      // true: a point was found; false: none was
//
// A point where a question is true leaves only "yes" to be proved, and points
// both ways leave nothing: most questions without an answer end here.  Facts
// are grouped into components by the symbols that they share, and a component's
// part of a point is mended when a new fact breaks it.  What is found only ever
// saves work: no answer rests on it.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "solver/domain.h"
#include "solver/monomials.h"
#include "solver/point.h"
#include "sym/stable_vector.h"

namespace proviso {

class CandidateModels {
 public:
  explicit CandidateModels(Domain& domain)
      : domain_(domain),
        forms_(domain.forms()),
        models_{Point(forms_), Point(forms_), Point(forms_)} {
    assumed_.reserve(16);
  }

  // The domain assumes the fact.  It is looked at when a point is needed.
  void add_fact(FormulaId f) {
    if (f != kTrue) assumed_.push_back({f, 0});
  }
  size_t mark() const { return assumed_.size(); }
  void undo(size_t mark);

  // Whether a point was found at which the facts near `goal` and `goal` hold:
  // among those at hand and one step from them; or by a search around them too.
  bool satisfiable(FormulaId goal);
  bool satisfiable_by_search(FormulaId goal);
  // Whether a point was found at which the facts near `goal` hold.
  bool consistent(FormulaId goal);
  // Facts, one of each group that shares symbols, for which no point is known
  // at which the group holds; of the groups with facts after the first `from`.
  std::vector<FormulaId> groups_without_model(size_t from);
  // The values of some symbols at a point as those two find; empty where they
  // find none.
  std::vector<int64_t> find(FormulaId goal, const std::vector<AtomId>& symbols);

 private:
  static constexpr size_t kModels = 3;
  // A symbol; as the root of a component, the component.
  struct Node {
    AtomId atom;
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
    size_t trail;  // before it was filed
  };

  void file_facts();
  void file(FormulaId f);
  void undo_step();
  uint32_t node(AtomId symbol);
  SmallVector<FormulaId, 2> facts_of_kind(AtomId symbol);
  uint32_t root(uint32_t n) const;
  void join(uint32_t a, uint32_t b);
  const std::vector<AtomId>& symbols_of(FormulaId f);
  bool ready(uint32_t root, size_t w);
  bool holds(uint32_t root, size_t w);
  void fill(uint32_t root, size_t w, int attempt);
  int64_t choose(AtomId a, size_t w, int attempt, size_t place);
  bool is_free(AtomId a) const;  // a symbol that no equality determines
  void ground(const Poly& p, size_t w);
  void settle(uint32_t n, size_t w);

  void note_values(size_t w);
  bool usable(const std::vector<AtomId>& symbols, size_t w);
  bool reach(FormulaId goal, size_t w, bool search);
  bool step_to(FormulaId goal, FormulaKind kind, const Poly& p, size_t w);
  bool search_for(FormulaId goal, const Poly& p, size_t w);
  struct Scalings {
    std::vector<AtomId> factors;
    std::vector<Exponents> exponents;  // by the factors' places
    bool is_homogeneous = true;        // all factors may be scaled together
  };
  Scalings product_scalings(const std::vector<AtomId>& symbols);
  bool scale_products(FormulaId goal, const std::vector<AtomId>& symbols);
  bool try_scaling(FormulaId goal, size_t w, const std::vector<AtomId>& factors,
                   const Exponents& by, int64_t least, int64_t base);
  struct Move {
    AtomId x;
    int64_t value;
  };
  bool try_values(FormulaId goal, size_t w, std::span<const Move> moves);
  bool try_value(FormulaId goal, size_t w, AtomId x, int64_t value) {
    const Move move{x, value};
    return try_values(goal, w, {&move, 1});
  }
  using Nodes = SmallVector<uint32_t, 8>;
  void collect_affected(AtomId x, Nodes& out);

  Domain& domain_;
  FormPool& forms_;
  StableVector<Node> nodes_;
  IdMap node_of_;  // from symbols
  std::array<Point, kModels> models_;
  std::vector<Union> unions_;
  std::vector<Step> trail_;
  std::vector<Assumed> assumed_;
  size_t filed_ = 0;  // of them
  std::vector<AtomId> symbols_;
  const std::vector<AtomId>* wanted_ = nullptr;  // by find()
  std::vector<int64_t> values_;
};

}  // namespace proviso
