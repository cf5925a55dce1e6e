// solver/state/assertions.h - the formulas that were asserted, as they are, and
// the first conflict.
//
//   assertions.add(f, why);              // f holds
//   assertions.find(negate(f));    // false, because of `why`
//
// A formula and its negation share an entry.  After a conflict nothing more is
// asserted: everything follows.
#pragma once

#include <optional>

#include "solver/forms/form_pool.h"
#include "solver/id_map.h"
#include "solver/reason.h"
#include "solver/state/trail.h"

namespace proviso::inline v0_2::internal {

class Assertions final : private Trail::Part {
 public:
  struct Truth {
    bool value;
    Reason why;
  };

  Assertions(ReasonArena& reasons, Trail& trail)
      : Part(trail), reasons_(reasons), trail_(trail) {}

  // What was asserted of f or of its negation.  True and false are known.
  std::optional<Truth> find(FormulaId f) const {
    if (f <= kTrue) return Truth{f == kTrue, 0};
    const uint32_t known = known_.get(f >> 1);
    if (known == kNoId) return std::nullopt;
    return Truth{(known & 1) == (f & 1), known >> 1};
  }

  // False where f, or its negation, was asserted before; f is no constant.
  bool add(FormulaId f, Reason why) {
    uint32_t& known = known_.at(f >> 1);
    if (known != kNoId) return false;
    known = why << 1 | (f & 1);
    trail_.note(*this, kFormula, f);
    return true;
  }
  // As add(); raises a conflict where the negation was asserted before.
  bool add_or_conflict(FormulaId f, Reason why) {
    if (add(f, why)) return true;
    const Truth known = *find(f);
    if (!known.value) raise(reasons_.join(why, known.why));
    return false;
  }

  // Why the assertions cannot hold together.
  const std::optional<Reason>& conflict() const { return conflict_; }
  void raise(Reason why) {
    if (conflict_) return;
    conflict_ = why;
    trail_.note(*this, kConflict, 0);
  }

 private:
  enum What : uint8_t { kFormula, kConflict };

  void undo(uint8_t what, uint32_t index) override {
    if (what == kConflict) {
      conflict_.reset();
    } else {
      known_.set(index >> 1, kNoId);
    }
  }

  ReasonArena& reasons_;
  Trail& trail_;
  // The reason, and which of f and its negation was asserted, by formula ids
  // without the last bit.
  IdMap known_;
  std::optional<Reason> conflict_;
};

}  // namespace proviso::inline v0_2::internal
