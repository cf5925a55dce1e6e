// tracer_adapter/pt2/archive.h - the .pt2 file: a zip of models/model.json, the
// tensors' bytes and their index.
//
//   archive_format archive_version
//   models/model.json
//   data/weights/model_weights_config.json    data/weights/weight_0 ...
//   data/constants/model_constants_config.json data/constants/tensor_0 ...
//   data/sample_inputs/model.pt               torch.save((args, kwargs)), or ""
#pragma once

#include <string>

#include "tracer_adapter/exported_program.h"

namespace proviso::inline v0_2::pt2 {

// Writes a neighbour of `path` and renames it, so that a failure leaves what
// was there.  Throws c10::Error naming the path and the system's reason.
void write_archive(const ExportedProgram& program, const std::string& path);

}  // namespace proviso::inline v0_2::pt2
