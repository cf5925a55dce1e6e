// sym/intern_index.h - from a hash to the ids of what has it.
//
//   auto same = [&](uint32_t id) { return table[id] == value; };
//   uint32_t id = index.find(hash, same);          // kNoId when there is none
//   index.insert(hash, new_id);
//
// Open addressing over (hash, id) pairs; the values stay with the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace proviso {

inline constexpr uint32_t kNoId = ~0u;

class InternIndex {
 public:
  template <typename Same>
  uint32_t find(uint64_t hash, const Same& same) const {
    if (slots_.empty()) return kNoId;
    const uint32_t wanted = mixed(hash);
    const size_t mask = slots_.size() - 1;
    for (size_t i = wanted & mask;; i = (i + 1) & mask) {
      const Slot& s = slots_[i];
      if (s.id == kNoId) return kNoId;
      if (s.hash == wanted && same(s.id)) return s.id;
    }
  }

  void insert(uint64_t hash, uint32_t id) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    ++count_;
    put({mixed(hash), id});
  }

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t id = kNoId;
  };

  static uint32_t mixed(uint64_t h) {
    h = (h ^ (h >> 32)) * 0x9e3779b97f4a7c15ull;
    return static_cast<uint32_t>(h >> 32);
  }

  void put(const Slot& slot) {
    size_t i = slot.hash & (slots_.size() - 1);
    while (slots_[i].id != kNoId) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = slot;
  }

  void grow() {
    std::vector<Slot> old = std::move(slots_);
    slots_.assign(old.empty() ? 64 : 2 * old.size(), Slot{});
    for (const Slot& s : old) {
      if (s.id != kNoId) put(s);
    }
  }

  std::vector<Slot> slots_;
  size_t count_ = 0;
};

}  // namespace proviso
