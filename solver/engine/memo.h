// solver/engine/memo.h - which answers still hold, as facts come and go.
//
//   names.push();                       // one more fact
//   memo.keep(question, {...});
//   memo.find(question);                // also after more facts: a yes stays
//
// A state is named by the facts that led to it: name n stands for the first n
// facts, in their order, for as long as none of them is taken back.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "solver/engine/search.h"
#include "solver/id_map.h"
#include "solver/limits_in_force.h"
#include "sym/small_vector.h"

namespace proviso::inline v0_2::internal {

// Names of the present state and of those before its last facts came.
class StateNames {
 public:
  void push() { names_.push_back(next_++); }
  void shrink(size_t facts) { names_.shrink(facts); }

  uint64_t present() const { return names_.empty() ? kNoFacts : names_.back(); }
  uint32_t facts() const { return static_cast<uint32_t>(names_.size()); }
  // Whether the state `name`, after so many facts, is part of the present one.
  bool is_part(uint64_t name, uint32_t facts) const {
    if (facts == 0) return name == kNoFacts;
    return facts <= names_.size() && names_[facts - 1] == name;
  }
  bool is_present(uint64_t name, uint32_t facts) const {
    return is_part(name, facts) && facts == names_.size();
  }

 private:
  static constexpr uint64_t kNoFacts = 1;

  // After the first fact, the second, ...
  SmallVector<uint64_t, 4> names_;
  uint64_t next_ = 2;
};

// What is remembered of a native answer.
struct Remembered {
  uint64_t state = 0;  // 0: of no state
  uint32_t facts = 0;
  Verdict verdict = Verdict::kUnknown;
  Tier tier = Tier::kNone;
  Strategy strategy = Strategy::kNone;
  bool is_contradiction = false;  // of relevant facts; `why` says which
  bool gave_up = false;           // at the limit of work
  Reason why = 0;
  // `why` is gone when the arena has been cut since, and never was where the
  // box decided (box.h).
  uint32_t epoch = 0;
  static constexpr uint32_t kNoReason = ~0u;
};

class Memo {
 public:
  explicit Memo(const StateNames& names) : names_(names) {}

  // nullptr where no answer holds: more facts keep a yes and a no; they may
  // decide an unknown.
  const Remembered* find(Expr question) const {
    const uint32_t i = place_of(question.id());
    if (i == kNoId) return nullptr;
    const Remembered& m = i < kFew ? first_[i] : others_[i - kFew];
    if (!names_.is_part(m.state, m.facts)) return nullptr;
    const bool holds =
        m.verdict != Verdict::kUnknown || names_.is_present(m.state, m.facts);
    return holds ? &m : nullptr;
  }
  // The reference holds until the next.  Past limits().remembered_answers all
  // but the first few are forgotten, so that a context that is asked for days
  // stays small.
  const Remembered& keep(Expr question, const Remembered& answer) {
    const uint32_t id = question.id(), i = place_of(id);
    if (i != kNoId) {
      return (i < kFew ? first_[i] : others_[i - kFew]) = answer;
    }
    if (few_ < kFew) {
      ids_of_first_[few_] = id;
      return first_[few_++] = answer;
    }
    if (others_.size() >= limits().remembered_answers) {
      others_.clear();
      place_of_other_.clear();
    }
    place_of_other_.set(id, static_cast<uint32_t>(kFew + others_.size()));
    return others_.emplace_back(answer);
  }

 private:
  static constexpr size_t kFew = 4;

  uint32_t place_of(uint32_t id) const {
    for (uint32_t i = 0; i < few_; ++i) {
      if (ids_of_first_[i] == id) return i;
    }
    return place_of_other_.get(id);
  }

  const StateNames& names_;
  // The first few, which is all that most contexts are asked, have their place
  // here: nothing is allocated for them.
  uint32_t few_ = 0;
  std::array<uint32_t, kFew> ids_of_first_;
  std::array<Remembered, kFew> first_;
  std::vector<Remembered> others_;
  IdMap place_of_other_;  // from node ids
};

}  // namespace proviso::inline v0_2::internal
