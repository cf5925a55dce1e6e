// guards/env/minimal_guards.h - the guards that are left when those go which
// ranges and other guards imply.
//
//   // Recorded: s0 <= 100 at line 6, then s0 <= 50 at line 7.
//   MinimalGuards(facts, symbols, answers, recorder, enforced).find();
//       // {s0 <= 50, with the origins line 7 and line 6}
//
// A guard goes when the ranges, the guards kept before it and all guards after
// it imply it.  Halving shares the contexts: n log n facts are assumed in all.
// Equalities that nothing can imply are not asked about (sole_equalities).
// Past some hundred guards none goes, and past a budget no further one.
//
// The places of dropped guards, and of questions that were answered, go to the
// kept guards that answer them.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "guards/env/enforced_facts.h"

namespace proviso::inline v0_2::internal {

class MinimalGuards {
 public:
  // All outlive it.
  MinimalGuards(SessionFacts& facts, Symbols& symbols,
                const UnguardedAnswers& unguarded_answers,
                const Recorder& recorder, EnforcedFacts& enforced)
      : facts_(facts),
        symbols_(symbols),
        unguarded_answers_(unguarded_answers),
        recorder_(recorder),
        enforced_(enforced) {}
  MinimalGuards(const MinimalGuards&) = delete;
  MinimalGuards& operator=(const MinimalGuards&) = delete;

  [[nodiscard]] std::vector<Guard> find();

  // Where each question was asked.
  using Places = std::map<Expr, std::vector<const SourceLocation*>, ExprLess>;

 private:
  std::unique_ptr<Context> enforced_ranges();
  std::vector<bool> sole_equalities(const std::vector<Guard>& all,
                                    Context& ranges);
  Places places_to_credit(Context& ranges) const;
  std::vector<Guard> minimized(const std::vector<Guard>& all,
                               const std::vector<bool>& sole, Context& ranges);
  void credit_places(std::vector<Guard>& kept, Context& ranges);

  SessionFacts& facts_;
  Symbols& symbols_;
  const UnguardedAnswers& unguarded_answers_;
  const Recorder& recorder_;
  EnforcedFacts& enforced_;
};

}  // namespace proviso::inline v0_2::internal
