// tracer_adapter/pt2/attribute_names.h - whether the names of a program's
// tensors are such as a module's attributes can have.
//
// torch makes a module of a program: "layers.0.weight" is the weight of 0 of
// layers.  Two tensors of one name become one there, "linear" leaves no place
// for "linear.bias", and nothing takes the place of a method.
#pragma once

#include "tracer_adapter/pt2/json_reader.h"

namespace proviso::inline v0_2::pt2 {

// `signature`, `graph`: as in a model.json of the right form.  Throws
// FileError.
void check_attribute_names(const Json& signature, const Json& graph);

}  // namespace proviso::inline v0_2::pt2
