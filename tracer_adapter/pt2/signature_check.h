// tracer_adapter/pt2/signature_check.h - whether a program's signature and its
// graph speak of the same inputs and outputs.
#pragma once

#include "tracer_adapter/pt2/json_reader.h"

namespace proviso::inline v0_2::pt2 {

// `signature`, `graph`: as in a model.json.  Throws FileError unless both have
// the same inputs and outputs, of the same names and kinds, in the same order.
void check_signature(const Json& signature, const Json& graph);

}  // namespace proviso::inline v0_2::pt2
