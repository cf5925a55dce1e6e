// guards/env/enforced_facts.h - what holds of every input that passes: ranges,
// guards, assertions, and of the assumptions those that some answer needed.
//
//   EnforcedFacts enforced(facts, symbols, unguarded_answers, recorder);
//   // guard_bool(le(s0, 0)) was answered False, by s0 >= 2
//   enforced.view().at_least_one;    // {s0}: that s0 is not 0 was enough
//   enforced.view().context->bounds_quick(s0);    // [1, int_oo]
//
// While tracing, example sizes >= 2 are assumed to stay >= 2.  Afterwards each
// unguarded answer (unguarded_answers.h) is asked again of the enforced facts
// alone; an assumption is kept only where an answer falls without it.  So a
// printed range never admits a size for which an answer given while tracing
// would be wrong. Where not being 0 is enough, only that is kept; where the
// answer itself says less than the assumption, it is kept as a guard in its
// place.
//
// Past a budget the rest is not examined: all assumptions are kept, and all
// answers as guards, which is right and enforces more.
//
// Protocol: view() examines what came since the last call.  A new fact makes it
// start over; the reference is good until the next call.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "guards/env/recorder.h"

namespace proviso::inline v0_2::internal {

class EnforcedFacts {
 public:
  using ExprSet = std::set<Expr, ExprLess>;

  struct View {
    uint64_t version = 0;         // of the facts
    bool is_interrupted = false;  // and wants to be made again
    // Unguarded answers that were examined.
    size_t decisions = 0, branches = 0;
    std::unique_ptr<Context> context;
    ExprSet at_least_two, at_least_one;  // symbols of the kept assumptions
    std::vector<Guard> guards;  // answers that say less than the assumptions
    // The branches behind an assumption that is kept.
    std::map<Expr, std::vector<SourceLocation>, ExprLess> places;
  };

  // All outlive it.
  EnforcedFacts(SessionFacts& facts, Symbols& symbols,
                const UnguardedAnswers& unguarded_answers, Recorder& recorder)
      : facts_(facts),
        symbols_(symbols),
        unguarded_answers_(unguarded_answers),
        recorder_(recorder) {}
  EnforcedFacts(const EnforcedFacts&) = delete;
  EnforcedFacts& operator=(const EnforcedFacts&) = delete;

  const View& view();

  // The sizes 0 and 1 that branches of the program leave out, each next to what
  // is enforced; and no answer leaves this one out any more (ShapeEnv::admit).
  using SmallSize = std::pair<Expr, int>;
  std::vector<SmallSize> left_out_by_branches();
  void admit(Expr symbol, int size);

 private:
  bool is_decided_otherwise_at_zero(Expr symbol);
  void bring_up_to_date();
  void weaken();
  void examine_new();
  void keep_unexamined();
  void examine(const UnguardedAnswers::Decision& decision);
  void examine(const UnguardedAnswers::Branch& branch, bool as_range);
  void keep_at_least_two(const std::vector<Expr>& symbols);
  void keep_at_least_one(const std::vector<Expr>& symbols);
  void keep_as_guard(Expr condition);
  bool is_decided_with(const UnguardedAnswers::Decision& decision,
                       const std::vector<Expr>& symbols, int least = 2);
  bool implies_at_least(Expr condition, const std::vector<Expr>& symbols,
                        int least);
  std::vector<Expr> without_needless(const UnguardedAnswers::Decision& decision,
                                     std::vector<Expr> symbols);
  std::vector<Expr> open_assumptions(const std::vector<Expr>& symbols) const;
  std::vector<Expr> connected_symbols(Expr question);

  SessionFacts& facts_;
  Symbols& symbols_;
  const UnguardedAnswers& unguarded_answers_;
  Recorder& recorder_;
  View view_;
  std::map<Expr, std::set<int>, ExprLess> admitted_;
  View weakened_;  // view_ without what is admitted
};

}  // namespace proviso::inline v0_2::internal
