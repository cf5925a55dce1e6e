// tracer_adapter/pt2/loader_check.h - whether torch's loader would take a
// model.
//
// The reader of this folder needs less of a file than torch's does: names that
// torch makes up must not be names of values, sub-graphs become attributes of a
// module, an output is of a few kinds, metadata is split at its commas, a
// program of core ATen writes into no tensor.  A file that one of the two takes
// and the other does not is a file that was checked as one program and runs as
// none, or as another: so what torch refuses for its structure is refused.
//
// Follows GraphModuleDeserializer (torch/_export/serde/serialize.py),
// Graph.lint (torch/fx/graph.py) and Verifier (torch/_export/verifier.py) of
// PyTorch 2.13.
#pragma once

#include "tracer_adapter/pt2/json_reader.h"

namespace proviso::inline v0_2::pt2 {

// `model`: a model.json of the right form (model_schema.h).  Throws FileError.
void check_for_loader(const Json& model);

}  // namespace proviso::inline v0_2::pt2
