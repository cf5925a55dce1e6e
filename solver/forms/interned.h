// solver/forms/interned.h - values of which equal ones are one number.
//
//   Interned<Factors, Keys> all;
//   all.id_of({1, 1, 4});      // 0
//   all.id_of({1, 1, 4});      // 0 again
//   all[0];                    // {1, 1, 4}
//
// Numbers count in order of creation and are never reused; references to values
// stay valid.  Keys says what a value is looked up by, and how much memory it
// takes beside its own: Keys::of(value) and Keys::heap_units(value).  What is
// new is charged (sym/budget.h), as it takes memory for good.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sym/budget.h"
#include "sym/intern_index.h"
#include "sym/stable_vector.h"

namespace proviso::inline v0_2::internal {

// What a new T costs, in units of a Budget.
template <typename T>
constexpr uint64_t kNewUnits = 1 + (sizeof(T) + 128) / 64;

template <typename T, typename Keys>
class Interned {
 public:
  uint32_t id_of(const T& value) {
    Budget::charge(1 + Keys::heap_units(value) / 2);
    const InternIndex::Key key = Keys::of(value);
    const uint32_t known =
        index_.find(key, [&](uint32_t i) { return values_[i] == value; });
    if (known != kNoId) return known;
    Budget::charge(kNewUnits<T> + Keys::heap_units(value));
    const auto id = static_cast<uint32_t>(values_.size());
    values_.push_back(value);
    index_.insert(key, id);
    return id;
  }
  // The number of a value with this key for which `same` holds; else kNoId.
  template <typename Same>
  uint32_t find(const InternIndex::Key& key, const Same& same) const {
    return index_.find(key, [&](uint32_t i) { return same(values_[i]); });
  }
  const T& operator[](uint32_t id) const { return values_[id]; }
  size_t size() const { return values_.size(); }

 private:
  StableVector<T> values_;
  InternIndex index_;
};

}  // namespace proviso::inline v0_2::internal
