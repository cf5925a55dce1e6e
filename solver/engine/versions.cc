#include "solver/engine/versions.h"

#include <algorithm>

namespace proviso::inline v0_2::internal {

void VersionPath::move_to(const VersionPtr& target, FactStack& facts) {
  if (target->parent == path_.back()) return enter(target, facts);
  if (path_.size() > 1 && path_[path_.size() - 2] == target) {
    return leave(facts);
  }
  std::vector<VersionPtr> wanted;
  for (auto v = target; v != nullptr; v = v->parent) wanted.push_back(v);
  std::reverse(wanted.begin(), wanted.end());
  size_t shared = 0;
  while (shared < wanted.size() && shared < path_.size() &&
         wanted[shared] == path_[shared]) {
    ++shared;
  }
  while (path_.size() > shared) leave(facts);
  for (size_t i = shared; i < wanted.size(); ++i) enter(wanted[i], facts);
}

void VersionPath::enter(const VersionPtr& version, FactStack& facts) {
  facts.push(version->is_scope);
  path_.push_back(version);
  for (Fact& fact : version->facts) facts.assume_again(std::move(fact));
  version->facts.clear();
}

void VersionPath::leave(FactStack& facts) {
  path_.back()->facts = facts.of_innermost_scope();
  path_.pop_back();
  facts.pop();
}

}  // namespace proviso::inline v0_2::internal
