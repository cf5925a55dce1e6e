// sym/intern_index.h - from a key to the ids of what has it.
//
//   auto same = [&](uint32_t id) { return table[id] == value; };
//   uint32_t id = index.find(key, same);           // kNoId when there is none
//   index.insert(key, new_id);
//
// Open addressing over (place, id) pairs; the values stay with the caller.
// Things alike but for one id (`x >= 0` of one symbol after another) tend to be
// used in the order of these ids: they lie in that order here too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace proviso {

inline constexpr uint32_t kNoId = ~0u;

class InternIndex {
 public:
  struct Key {
    uint64_t hash;      // of the rest
    uint32_t near = 0;  // the one id
  };

  template <typename Same>
  uint32_t find(const Key& key, const Same& same) const {
    if (slots_.empty()) return kNoId;
    const uint32_t wanted = place(key);
    const size_t mask = slots_.size() - 1;
    for (size_t i = wanted & mask;; i = (i + step(wanted)) & mask) {
      const Slot& s = slots_[i];
      if (s.id == kNoId) return kNoId;
      if (s.place == wanted && same(s.id)) return s.id;
    }
  }

  void insert(const Key& key, uint32_t id) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    ++count_;
    put({place(key), id});
  }

 private:
  struct Slot {
    uint32_t place = 0;
    uint32_t id = kNoId;
  };

  static uint32_t place(const Key& key) {
    const uint64_t h =
        (key.hash ^ (key.hash >> 32)) * 0x9e3779b97f4a7c15ull;
    return static_cast<uint32_t>(h >> 32) + key.near;
  }
  // Odd, and of each place its own: rows that overlap do not add up.
  static size_t step(uint32_t place) {
    return (place * 0x9e3779b1u) >> 16 | 1;
  }

  void put(const Slot& slot) {
    const size_t mask = slots_.size() - 1;
    size_t i = slot.place & mask;
    while (slots_[i].id != kNoId) i = (i + step(slot.place)) & mask;
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
