// guards/env/replacements.h - the symbols that equal something simpler, and
// expressions without them.
//
//   Replacements replacements(symbols);
//   replacements.set(s3, s1 * 4);         // from the guard Eq(s3, 4*s1)
//   replacements.apply(s3 + s2);          // 4*s1 + s2
//
// Promise: targets are fully resolved, that is, no symbol that is replaced
// stands in a target.  apply() gives the canonical form.
//
// Equalities between data replace nothing, as each value is the program's own;
// they are kept for plausible values alone, which are to be equal.
//
//   replacements.set_equal_data(u1, u0 + 1);
//   replacements.apply(u1);               // u1
//   replacements.apply_equal_data(u1);    // u0 + 1
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "guards/env/symbols.h"

namespace proviso::inline v0_2::internal {

// What is remembered of expressions, by node id; each holds at one version of
// what it was made from.
class ExprMemo {
 public:
  struct Entry {
    Expr value;
    uint64_t version = 0;
  };
  Entry& operator[](Expr e) {
    if (entries_.size() <= e.id()) entries_.resize(2 * e.id() + 1);
    return entries_[e.id()];
  }

 private:
  std::vector<Entry> entries_;
};

class Replacements {
 public:
  explicit Replacements(Symbols& symbols) : symbols_(symbols) {}
  Replacements(const Replacements&) = delete;
  Replacements& operator=(const Replacements&) = delete;

  // `symbol` must not be replaced yet, and not stand in `target`, in which
  // apply() finds nothing to do.
  void set(Expr symbol, Expr target);
  bool has(Expr symbol) const { return map_.count(symbol) > 0; }
  const std::map<Expr, Expr, ExprLess>& all() const { return all_; }
  Expr apply(Expr e);

  // `target` has older symbols alone.  The first target of a symbol stays.
  void set_equal_data(Expr symbol, Expr target);
  // apply(e), with each data symbol replaced by the oldest that equals it.
  Expr apply_equal_data(Expr e);

 private:
  Symbols& symbols_;
  std::map<Expr, Expr, ExprLess> all_;
  std::unordered_map<Expr, Expr, ExprHash> map_;  // the same
  std::map<Expr, Expr, ExprLess> equal_data_;
  ExprMemo memo_;
  uint64_t version_ = 1;
};

}  // namespace proviso::inline v0_2::internal
