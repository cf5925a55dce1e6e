// solver/id_map.h - a map from ids to 32-bit values, open addressing.
//
//   IdMap map;
//   map.set(7, 3);
//   map.get(7);      // 3; kNoId when there is none
//
// Meant for sparse ids of large shared pools: its cost is its content's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sym/intern_index.h"

namespace proviso {

class IdMap {
 public:
  // Room for half as many entries; a power of 2.
  explicit IdMap(size_t slots = 32) : slots_(slots), mask_(slots - 1) {}

  uint32_t get(uint32_t key) const { return slots_[find(key)].value; }

  // kNoId takes the entry away.
  void set(uint32_t key, uint32_t value) { at(key) = value; }

  // The value, kNoId where there was none, to be set.
  uint32_t& at(uint32_t key) {
    size_t i = find(key);
    if (slots_[i].key == kNoId) {
      if (2 * (used_ + 1) > slots_.size()) {
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

  void grow() {
    std::vector<Slot> old = std::move(slots_);
    slots_.assign(2 * old.size(), Slot{});
    mask_ = slots_.size() - 1;
    for (const Slot& s : old) {
      if (s.key != kNoId) slots_[find(s.key)] = s;
    }
  }

  std::vector<Slot> slots_;
  size_t used_ = 0;
  size_t mask_;  // slots_.size() - 1
};

}  // namespace proviso
