#include "sym/budget.h"

namespace proviso::inline v0_2 {

bool Budget::is_interrupted() const {
  for (const Budget* b = this; b != nullptr; b = b->outer_) {
    if (b->interrupted_ && b->interrupted_->load(std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void Budget::next_slice() {
  Budget* budget = innermost_;
  if (budget == nullptr) {
    slice_left_ = std::numeric_limits<int64_t>::max();
    return;
  }
  budget->reserve_ += slice_left_;  // which is what was spent too much
  slice_left_ = 0;
  if (budget->reserve_ >= 0 && budget->is_interrupted()) {
    // What is left is given up, and was not spent.
    budget->total_ -= budget->reserve_ + 1;
    budget->reserve_ = -1;
  }
  if (budget->reserve_ < 0) {
    slice_left_ = -1;  // each further check() throws too
    budget->reserve_ += 1;
    throw OutOfBudget();
  }
  budget->open_slice();
}

}  // namespace proviso::inline v0_2
