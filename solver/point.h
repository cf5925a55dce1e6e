// solver/point.h - forms evaluated at a point of 64-bit values.
//
//   Point point(forms);
//   point.set(s0, 4);
//   point.truth(f);     // nullopt: overflows, is undefined or not understood
//
// What compound atoms are is remembered until a value changes, so that a value
// or a truth costs one pass over what it is made of.  Where there is one it is
// exact; there is none where a part leaves 64 bits, divides by 0, is opaque or
// lies deeper than fixed::point_depth.
#pragma once

#include <cstdint>
#include <optional>

#include "solver/forms/form_pool.h"
#include "solver/id_map.h"
#include "sym/small_vector.h"

namespace proviso::inline v0_2::internal {

class Point {
 public:
  using Value = std::optional<int64_t>;

  explicit Point(FormPool& forms) : forms_(forms) {}

  // `variable` is a symbol or a fresh variable.
  void set(AtomId variable, int64_t value);
  bool has(AtomId variable) const { return slot_of_.get(variable) != kNoId; }
  // Requires has(variable).
  int64_t at(AtomId variable) const {
    return slots_[slot_of_.get(variable)].value;
  }

  Value value(const Poly& p);
  std::optional<bool> truth(FormulaId f);

 private:
  struct Slot {
    int64_t value = 0;
    uint32_t epoch = 0;  // kGiven: it was set
  };
  static constexpr uint32_t kGiven = ~0u;

  Value value(AtomId a);
  Value compute(const Atom& atom);

  FormPool& forms_;
  IdMap slot_of_;
  SmallVector<Slot, 16> slots_;
  uint32_t epoch_ = 1;
  int depth_ = 0;
};

}  // namespace proviso::inline v0_2::internal
