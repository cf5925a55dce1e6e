// tracer_adapter/ir/schema_types.h - what the types of an operator's schema
// say.
#pragma once

#include <ATen/core/jit_type.h>

namespace proviso::inline v0_2 {

// Tensor of Tensor?; a type that is not optional is itself.
inline const c10::Type& without_optional(const c10::Type& type) {
  const c10::Type* t = &type;
  while (t->kind() == c10::TypeKind::OptionalType)
    t = t->containedTypes()[0].get();
  return *t;
}

}  // namespace proviso::inline v0_2
