// solver/engine/memo.h - which answers still hold, as facts come and go.
//
//   names.push();                       // one more fact
//   memo.keep(question, {...});
//   memo.find(question);                // also after more facts: a yes stays
//
// A state is named by the facts that led to it: name n stands for the first n
// facts, in their order, for as long as none of them is taken back.
#pragma once

#include <optional>
#include <vector>

#include "solver/engine/search.h"
#include "solver/id_map.h"

namespace proviso::inline v0_2::internal {

// Names of the present state and of those before its last facts came.
class StateNames {
 public:
  void push() { names_.push_back(next_++); }
  void shrink(size_t facts) { names_.resize(facts); }

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

  std::vector<uint64_t> names_;  // after the first fact, the second, ...
  uint64_t next_ = 2;
};

// What is remembered of a native answer.
struct Remembered {
  uint64_t state = 0;  // 0: of no state
  uint32_t facts = 0;
  Verdict verdict = Verdict::kUnknown;
  Tier tier = Tier::kNone;
  uint8_t strategy = kNoStrategy;
  bool is_contradiction = false;  // of the facts near it; `why` says which
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
    const uint32_t i = place_of_.get(question.id());
    if (i == kNoId) return nullptr;
    const Remembered& m = all_[i];
    if (!names_.is_part(m.state, m.facts)) return nullptr;
    const bool holds =
        m.verdict != Verdict::kUnknown || names_.is_present(m.state, m.facts);
    return holds ? &m : nullptr;
  }
  // The reference holds until the next.  Past kMost all are forgotten, so that
  // a context that is asked for days stays small.
  const Remembered& keep(Expr question, const Remembered& answer) {
    if (all_.size() == kMost) {
      all_.clear();
      place_of_.clear();
    }
    uint32_t& i = place_of_.at(question.id());
    if (i == kNoId) {
      i = static_cast<uint32_t>(all_.size());
      all_.emplace_back();
    }
    return all_[i] = answer;
  }

 private:
  static constexpr size_t kMost = 32768;

  const StateNames& names_;
  std::vector<Remembered> all_;
  IdMap place_of_;  // from node ids
};

}  // namespace proviso::inline v0_2::internal
