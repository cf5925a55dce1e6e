// tests/fuzz/models/pick.h - what the makers of mutants share.
#pragma once

#include <iterator>
#include <string>

#include "tests/fuzz/models/mutate.h"

namespace proviso::fuzz {

inline size_t below(Random& random, size_t end) { return random() % end; }

template <typename List>
auto& any_of(List& list, Random& random) {
  return list[below(random, std::size(list))];
}

// Null where a change before took it away.
inline Json* member(Json* object, const char* key) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto found = object->find(key);
  return found == object->end() ? nullptr : &*found;
}

// The list under a key of an object, unless it is none or empty.
inline Json* list_in(Json* object, const char* key) {
  Json* list = member(object, key);
  return list && list->is_array() && !list->empty() ? list : nullptr;
}

inline constexpr const char* kModelRecord = "models/model.json";

}  // namespace proviso::fuzz
