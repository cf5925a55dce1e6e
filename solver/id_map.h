// solver/id_map.h - a map from ids to 32-bit values, open addressing.
//
//   IdMap map;
//   map.set(7, 3);
//   map.get(7);      // 3; kNoId when there is none
//
// Meant for sparse ids of large shared pools: its cost is its content's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "sym/intern_index.h"

namespace proviso::inline v0_2::internal {

class IdMap {
 public:
  IdMap() = default;  // takes no memory
  // Room for half as many entries; a power of 2.
  explicit IdMap(size_t slots) { make(slots); }
  IdMap(const IdMap&) = delete;
  IdMap& operator=(const IdMap&) = delete;

  uint32_t get(uint32_t key) const { return slots_[find(key)].value; }

  // kNoId takes the entry away.
  void set(uint32_t key, uint32_t value) { at(key) = value; }

  void clear() {
    std::fill_n(made_.get(), size_, Slot{});
    used_ = 0;
  }

  // The value, kNoId where there was none, to be set.
  uint32_t& at(uint32_t key) {
    size_t i = find(key);
    if (slots_[i].key == kNoId) {
      if (2 * (used_ + 1) > size_) {
        grow();
        i = find(key);
      }
      slots_[i].key = key;
      ++used_;
    }
    return slots_[i].value;
  }

 private:
  struct Slot {
    uint32_t key = kNoId, value = kNoId;
  };

  // Ids that are made together are used together: neighbours share a line.
  // Those that fall on one slot go on by steps of their own, of odd length.
  size_t find(uint32_t key) const {
    size_t i = key & mask_;
    if (slots_[i].key == key || slots_[i].key == kNoId) return i;
    const size_t step = (key * 0x9e3779b1u) >> 16 | 1;
    do {
      i = (i + step) & mask_;
    } while (slots_[i].key != key && slots_[i].key != kNoId);
    return i;
  }

  void make(size_t size) {
    size_ = size;
    made_ = std::make_unique<Slot[]>(size_);
    slots_ = made_.get();
    mask_ = size_ - 1;
  }

  void grow() {
    const std::unique_ptr<Slot[]> old = std::move(made_);
    const size_t old_size = size_;
    make(std::max<size_t>(32, 2 * old_size));
    for (size_t i = 0; i < old_size; ++i) {
      if (old[i].key != kNoId) slots_[find(old[i].key)] = old[i];
    }
  }

  // What a map is found to be before its first entry; never written to.
  static Slot none_;

  std::unique_ptr<Slot[]> made_;
  Slot* slots_ = &none_;
  size_t size_ = 0, used_ = 0;
  size_t mask_ = 0;  // size_ - 1, from the first entry on
};

inline constinit IdMap::Slot IdMap::none_ = {};

}  // namespace proviso::inline v0_2::internal
