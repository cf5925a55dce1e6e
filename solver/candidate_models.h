// solver/candidate_models.h - is there a point at which the facts hold and a
// condition does?  Among the kept ones, one step from them, or by local search.
//
//   CandidateModels candidates(domain);
//   candidates.add_fact(f);
//   candidates.finds_model(q)      // true: a point was found; false: none was
//
// A point where a question is true leaves only "yes" to be proved, and points
// both ways leave nothing: most questions without an answer end here.  Points
// that meet the facts are kept (solver/kept_models.h); from one of them a
// variable moves to where the condition holds, or a floor has the value that it
// needs, or a few likely values of each are tried, or the factors of assumed
// products are scaled together.  What is
// found only ever saves work: no answer rests on it.
#pragma once

#include <span>
#include <vector>

#include "solver/kept_models.h"
#include "solver/monomials.h"

namespace proviso::inline v0_2::internal {

class CandidateModels {
 public:
  explicit CandidateModels(Domain& domain)
      : domain_(domain), forms_(domain.forms()), kept_(domain) {}

  // The domain assumes the fact.  It is looked at when a point is needed.
  void add_fact(FormulaId f) { kept_.add_fact(f); }
  size_t mark() const { return kept_.mark(); }
  void undo(size_t mark) { kept_.undo(mark); }

  // Whether a point was found at which the relevant facts and `goal` hold:
  // among those at hand and one step from them; or by a search around them too.
  bool finds_model(FormulaId goal);
  bool finds_model_by_search(FormulaId goal);
  // Whether a point was found at which the facts relevant to `goal` hold.
  bool knows_model_of_facts(FormulaId goal);
  // Facts, one of each group that shares symbols, for which no point is known
  // at which the group holds; of the groups with facts after the first `from`.
  std::vector<FormulaId> groups_without_model(size_t from) {
    return kept_.groups_without_model(from);
  }
  // The values of some symbols at a point as those two find; empty where they
  // find none.
  std::vector<int64_t> find(FormulaId goal, const std::vector<AtomId>& symbols);

 private:
  void note_values(size_t w);
  bool repair(FormulaId goal, size_t w, bool search);
  bool repair_by_step(FormulaId goal, FormulaKind kind, const Poly& p,
                      size_t w);
  bool try_floor(FormulaId goal, size_t w, AtomId floor, int64_t target);
  bool repair_by_search(FormulaId goal, const Poly& p, size_t w);
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
  using Symbols = SmallVector<AtomId, 8>;
  void collect_affected(AtomId x, Symbols& out);

  Domain& domain_;
  FormPool& forms_;
  KeptModels kept_;
  const std::vector<AtomId>* wanted_ = nullptr;  // by find()
  std::vector<int64_t> values_;
};

}  // namespace proviso::inline v0_2::internal
