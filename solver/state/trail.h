// solver/state/trail.h - the history of a state: marks to go back to, and a
// stamp that names what holds now.
//
//   const Trail::Mark before = trail.mark();
//   bounds.set(x, End::kLower, 3, why);      // notes what it replaces
//   trail.undo(before);                      // x is bounded as it was
//
// A part of the state notes each of its changes under a number of its own, and
// is called with that number, the last change first, to take it back.  What a
// part does not note stays: a cache holds stamps instead.  What was found at
// stamp() holds whenever that is the stamp again, also after an undo().
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sym/small_vector.h"

namespace proviso::inline v0_2::internal {

class Trail {
 public:
  // What changes, and takes its changes back.  It stays where it is made, and
  // for as long as the trail.
  class Part {
   public:
    virtual void undo(uint8_t what, uint32_t index) = 0;

   protected:
    explicit Part(Trail& trail)
        : number_(static_cast<uint8_t>(trail.parts_.size())) {
      trail.parts_.push_back(this);
    }
    ~Part() = default;

   private:
    friend class Trail;
    const uint8_t number_;
  };

  Trail() { changes_.reserve(32); }  // what a few facts change
  Trail(const Trail&) = delete;
  Trail& operator=(const Trail&) = delete;

  // `part` has changed; it will be called to undo(what, index).
  void note(const Part& part, uint8_t what, uint32_t index) {
    changes_.push_back({index, part.number_, what});
  }

  struct Mark {
    size_t size;
    uint64_t stamp;
  };
  Mark mark() const { return {changes_.size(), stamp_}; }
  // Marks are undone in the reverse of their order; some may be left out.
  void undo(const Mark& mark) {
    while (changes_.size() > mark.size) {
      const Change last = changes_.back();
      changes_.pop_back();
      parts_[last.part]->undo(last.what, last.index);
    }
    if (mark.stamp > forgotten_) {
      stamp_ = mark.stamp;
    } else {
      advance();
    }
  }

  uint64_t stamp() const { return stamp_; }
  // Another state than any before: nothing that was cached holds in it.
  void advance() { stamp_ = ++last_; }
  // As advance(), and outer states get new stamps when undone to.
  void forget() {
    forgotten_ = last_;
    advance();
  }

 private:
  struct Change {
    uint32_t index;
    uint8_t part, what;
  };
  static_assert(sizeof(Change) == 8);

  SmallVector<Part*, 5> parts_;
  std::vector<Change> changes_;
  uint64_t stamp_ = 1, last_ = 1, forgotten_ = 0;
};

}  // namespace proviso::inline v0_2::internal
