// solver/reason.h - why something is known: a set of facts, as a shared DAG.
//
//   Reason r = arena.join(arena.leaf(3), arena.leaf(7));
//   arena.facts(r);                                       // {3, 7}
//
// A node is a fact or the union of two nodes; 0 is the empty set (always true).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace proviso::inline v0_2::internal {

using Reason = uint32_t;

class ReasonArena {
 public:
  ReasonArena() {
    nodes_.reserve(64);  // those of a few facts and a question
    nodes_.emplace_back();
  }

  Reason leaf(uint32_t fact) { return push({fact, kLeaf}); }

  Reason join(Reason a, Reason b) {
    if (a == 0 || a == b) return b;
    if (b == 0) return a;
    if (a > b) std::swap(a, b);
    const Node& last = nodes_.back();
    if (last.left == a && last.right == b) return size() - 1;
    return size() < kFew ? push({a, b}) : join_again(a, b);
  }

  // The leaves below `reason`, sorted.
  std::vector<uint32_t> facts(Reason reason) const {
    std::vector<uint32_t> found;
    std::vector<Reason> stack = {reason};
    std::vector<bool> seen(reason + 1);
    while (!stack.empty()) {
      Reason r = stack.back();
      stack.pop_back();
      if (r == 0 || seen[r]) continue;
      seen[r] = true;
      if (nodes_[r].right == kLeaf) {
        found.push_back(nodes_[r].left);
      } else {
        stack.push_back(nodes_[r].left);
        stack.push_back(nodes_[r].right);
      }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  bool uses(Reason reason, uint32_t fact) const {
    const std::vector<uint32_t> all = facts(reason);
    return std::binary_search(all.begin(), all.end(), fact);
  }

  uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }
  void truncate(uint32_t size) { nodes_.resize(size); }

 private:
  static constexpr uint32_t kLeaf = ~0u;
  struct Node {
    uint32_t left = 0, right = 0;
  };

  static constexpr uint32_t kFew = 4096;       // nodes
  static constexpr size_t kRemembered = 4096;  // joins; a power of two

  Reason push(Node node) {
    nodes_.push_back(node);
    return size() - 1;
  }

  // The same ranges are looked at again and again: without this, a session of
  // 570 facts made eight million nodes.  What is remembered of a join is
  // where it was made; what stands there says whether it is still that one.
  Reason join_again(Reason a, Reason b) {
    if (joins_.empty()) joins_.resize(kRemembered);
    const uint32_t hash = a * 0x9e3779b1u ^ b * 0x85ebca6bu;
    Reason& known = joins_[(hash ^ hash >> 15) % kRemembered];
    const bool is_known =
        known < size() && nodes_[known].left == a && nodes_[known].right == b;
    return is_known ? known : known = push({a, b});
  }

  std::vector<Node> nodes_;
  std::vector<Reason> joins_;
};

}  // namespace proviso::inline v0_2::internal
