// solver/engine/versions.h - the facts of a context and of its clones as a tree
// of versions, of which one path is in force.
//
//        v0: s0 >= 2                 a context, until it was cloned
//         |-- v1: s0 <= 8            what it learned since
//         `-- v2: s1 == 2*s0         and what its clone did
//
//   VersionPath path(v1);
//   path.go_to(v2, facts);           // pops s0 <= 8, assumes s1 == 2*s0
//
// A version begins with a push(), or with the first fact after a clone(); each
// but the first is a scope of the stack.  Its facts are on the stack while it
// is on the path, and in the version else, so that going from one version to
// another costs what differs between them.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "solver/engine/fact_stack.h"
#include "sym/small_vector.h"

namespace proviso::inline v0_2::internal {

struct Version {
  std::shared_ptr<Version> parent;
  bool is_scope = false;   // made by push()
  bool is_frozen = false;  // a clone builds on it: facts go to a new version
  std::vector<Fact> facts = {};  // while it is not on the path

  // A chain of any length goes without the machine's stack.
  ~Version() {
    while (parent != nullptr && parent.use_count() == 1) {
      parent = std::exchange(parent->parent, nullptr);
    }
  }
};

class PROVISO_HIDDEN VersionPath {
 public:
  using VersionPtr = std::shared_ptr<Version>;

  // Before any fact.
  void start_at(const VersionPtr& version) { path_.push_back(version); }
  // Retracts the facts that are not shared and assumes those that are missing.
  void go_to(const VersionPtr& target, FactStack& facts) {
    if (path_.back() != target) move_to(target, facts);
  }

 private:
  void move_to(const VersionPtr& target, FactStack& facts);
  void enter(const VersionPtr& version, FactStack& facts);
  void leave(FactStack& facts);

  SmallVector<VersionPtr, 1> path_;
};

}  // namespace proviso::inline v0_2::internal
