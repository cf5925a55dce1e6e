// tracer_adapter/pt2/model_json.h - an exported program as models/model.json of
// a .pt2 archive: PyTorch 2.13's export schema 8.20.
//
//   std::string json = model_json(ep);   // {"graph_module": {"graph": ...
//   write_tensor_meta(out, dtype, ...);  // also used by the weights' index
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>
#include <vector>

#include "tracer_adapter/exported_program.h"
#include "tracer_adapter/pt2/json_writer.h"

namespace proviso::inline v0_2::pt2 {

inline constexpr int kSchemaMajor = 8;
inline constexpr int kSchemaMinor = 20;

// Throws c10::Error naming what the format cannot hold.
std::string model_json(const ExportedProgram& program);

// What of it SymPy reads: each expression once, and the guards.
std::vector<std::string> symbolic_texts(const ExportedProgram& program);

// The metadata of a real tensor at this offset of its record.
void write_tensor_meta(JsonWriter& json, const at::Tensor& tensor,
                       int64_t offset, bool requires_grad);

}  // namespace proviso::inline v0_2::pt2
