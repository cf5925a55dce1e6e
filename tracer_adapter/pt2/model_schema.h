// tracer_adapter/pt2/model_schema.h - the form of the JSON in a .pt2: which
// members an object has, of which types (torch/_export/serde/schema.py of
// PyTorch 2.13).
//
//   check_form(json, "ExportedProgram", "models/model.json");
//
// Throws FileError that names the place: models/model.json:
// graph_module.graph.nodes[3].inputs[0]: there is no 'arg'.  Members that the
// form does not know are let be, as torch lets them.  Knows no torch type.
#pragma once

#include <string>
#include <string_view>

#include "tracer_adapter/pt2/json_reader.h"

namespace proviso::inline v0_2::pt2 {

// `where` begins every error.
void check_form(const Json& json, std::string_view type,
                const std::string& where);

}  // namespace proviso::inline v0_2::pt2
