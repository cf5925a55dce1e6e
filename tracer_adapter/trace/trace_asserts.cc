#include "tracer_adapter/trace/trace_asserts.h"

#include <utility>

namespace proviso::inline v0_2 {

void TraceAsserts::give(size_t first, const Graph* sub_graph) {
  owners_.resize(env_.runtime_asserts().size());
  for (size_t i = first; i < owners_.size(); ++i)
    if (owners_[i] == nullptr) owners_[i] = sub_graph;
}

const Graph* TraceAsserts::owner(size_t number) const {
  return number < owners_.size() ? owners_[number] : nullptr;
}

void TraceAsserts::add_check(RuntimeAssert check) {
  if (env_.statically_known_true(check.condition)) return;
  if (checked_.insert(check.condition).second)
    checks_.push_back(std::move(check));
}

std::vector<RuntimeAssert> TraceAsserts::of(const Graph* owner) const {
  std::vector<RuntimeAssert> result;
  const std::vector<RuntimeAssert>& all = env_.runtime_asserts();
  for (size_t i = 0; i < all.size(); ++i)
    if (this->owner(i) == owner) result.push_back(all[i]);
  if (owner == nullptr)
    result.insert(result.end(), checks_.begin(), checks_.end());
  return result;
}

}  // namespace proviso::inline v0_2
