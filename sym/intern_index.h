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

namespace proviso::inline v0_2::internal {

inline constexpr uint32_t kNoId = ~0u;

class InternIndex {
 public:
  struct Key {
    uint64_t hash;          // of the rest
    uint32_t locality = 0;  // the one id
  };
  // A hash with one more value in it.
  static uint64_t mix(uint64_t hash, uint64_t value) {
    const uint64_t mixed = (hash ^ value) * 0xff51afd7ed558ccdu;
    return mixed ^ (mixed >> 29);
  }

  template <typename Same>
  uint32_t find(const Key& key, const Same& same) const {
    if (slots_.empty()) return kNoId;
    for (Walk walk(place(key), slots_.size());; walk.next()) {
      const Slot& s = slots_[walk.at];
      if (s.id == kNoId) return kNoId;
      if (s.place == walk.place && same(s.id)) return s.id;
    }
  }

  void insert(const Key& key, uint32_t id) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    ++count_;
    put({place(key), id});
  }

  size_t slots() const { return slots_.size(); }
  // Takes out the newest id, where there are as many slots as it was put into:
  // no walk to another one has gone past it.
  void take_newest_out(const Key& key, uint32_t id) {
    if (slots_.empty()) return;
    for (Walk walk(place(key), slots_.size());; walk.next()) {
      Slot& s = slots_[walk.at];
      if (s.id == kNoId) return;
      if (s.id != id) continue;
      s = Slot{};
      --count_;
      return;
    }
  }
  // Takes out every id from this one on.
  void take_out_from(uint32_t first) {
    const std::vector<Slot> old = slots_;
    slots_.assign(old.size(), Slot{});
    count_ = 0;
    for (const Slot& s : old) {
      if (s.id == kNoId || s.id >= first) continue;
      put(s);
      ++count_;
    }
  }

 private:
  struct Slot {
    uint32_t place = 0;
    uint32_t id = kNoId;
  };

  static uint32_t place(const Key& key) {
    const uint64_t h = (key.hash ^ (key.hash >> 32)) * 0x9e3779b97f4a7c15ull;
    return static_cast<uint32_t>(h >> 32) + 2 * key.locality;
  }

  // The slot itself, its neighbour on the same line (two may share a key), then
  // odd steps of each place's own: runs that overlap do not add up.
  struct Walk {
    Walk(uint32_t from, size_t size) : place(from), mask(size - 1) {
      at = from & mask;
    }
    void next() {
      if (step == 0) {
        at ^= 1;
        step = (place * 0x9e3779b1u) >> 16 | 1;
      } else {
        at = (at + step) & mask;
      }
    }
    uint32_t place;
    size_t mask, at, step = 0;
  };

  void put(const Slot& slot) {
    Walk walk(slot.place, slots_.size());
    while (slots_[walk.at].id != kNoId) walk.next();
    slots_[walk.at] = slot;
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

}  // namespace proviso::inline v0_2::internal
