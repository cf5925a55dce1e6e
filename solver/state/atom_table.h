// solver/state/atom_table.h - what a state holds of each atom, in one place.
//
//   const AtomRecord& r = atoms.of(a);      // made when first asked for
//   if (r.solved == kNoId) use(r.own);
//
// The record of an atom lies on one line of the cache, which ranges and values
// are read from; what else mentions it lies apart, as nothing does of most.
// Each field is written by the part that it is listed under, and by no other;
// everybody reads.
#pragma once

#include <cstdint>
#include <utility>

#include "solver/forms/form_pool.h"
#include "solver/id_map.h"
#include "solver/state/range.h"
#include "sym/small_vector.h"
#include "sym/stable_vector.h"

namespace proviso::inline v0_2::internal {

using Ids = SmallVector<uint32_t, 4>;

// The numbers of what mentions an atom.
struct Mentions {
  Ids constraints;  // Constraints: that mention it
  Ids dependents;   // Substitution: atoms whose solved form mentions it
};

struct AtomRecord {
  AtomKind kind = AtomKind::kSymbol;
  bool is_in_use = false;   // Substitution: a fresh variable that it has made
  bool is_visited = false;  // NormalForm: its representative is being made
  mutable uint32_t cache = kNoId;  // AtomTable: its place in caches, once asked
  uint32_t mentions = kNoId;  // AtomTable: where they are, once there are any
  uint32_t solved = kNoId;    // Substitution: where its value is, once known
  Range own;                  // Bounds: what was asserted of it; never empty
};
static_assert(sizeof(AtomRecord) == 64);

class AtomTable {
 public:
  // `symbols` is where every symbol lies without a reason.
  AtomTable(FormPool& forms, Interval symbols)
      : forms_(forms), symbols_(std::move(symbols)) {}

  const AtomRecord& of(AtomId a) { return records_[slot(a)]; }
  // nullptr of an atom that nothing was asked of.
  const AtomRecord* find(AtomId a) const {
    const uint32_t known = slot_of_.get(a);
    return known == kNoId ? nullptr : &records_[known];
  }

  // What mentions the atom; references stay as atoms and mentions come.
  const Mentions& mentions(const AtomRecord& r) const {
    return r.mentions == kNoId ? nowhere_ : mentions_[r.mentions];
  }

  // The atom's place among those met so far.
  uint32_t slot(AtomId a) {
    const uint32_t known = slot_of_.get(a);
    return known != kNoId ? known : new_slot(a);
  }
  uint32_t find_slot(AtomId a) const { return slot_of_.get(a); }

  // The atom's place in caches, given when first asked for: most need none.
  uint32_t cache_of(const AtomRecord& r) {
    if (r.cache == kNoId) r.cache = caches_++;
    return r.cache;
  }

 private:
  friend class Bounds;
  friend class Constraints;
  friend class NormalForm;
  friend class Substitution;

  AtomRecord& record(AtomId a) { return records_[slot(a)]; }
  uint32_t new_slot(AtomId a);
  Mentions& mentions_of(AtomId a) {
    AtomRecord& r = record(a);
    if (r.mentions == kNoId) {
      r.mentions = static_cast<uint32_t>(mentions_.size());
      mentions_.emplace_back();
    }
    return mentions_[r.mentions];
  }

  FormPool& forms_;
  const Interval symbols_;
  StableVector<AtomRecord> records_;
  StableVector<Mentions> mentions_;
  const Mentions nowhere_;
  IdMap slot_of_;  // from atoms
  uint32_t caches_ = 0;
};

}  // namespace proviso::inline v0_2::internal
