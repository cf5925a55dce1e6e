// tracer_adapter/pt2/guard_places.h - where a program asked for its guards, as
// extra/proviso_guards.json of a .pt2 archive.
//
//   {"guards": [{"guard": "L['x'].size()[0] % 2 == 0",
//                "places": [{"file": "model.py", "line": 4,
//                            "code": "if x.shape[0] % 2 == 0:"}]}]}
//
// The archive's guards_code has no room for it, and torch's loader leaves the
// record alone.  A place says of a guard that no operator needs whose it is: a
// branch of the model's own, a relation that a Dim promises.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tracer_adapter/exported_program.h"

namespace proviso::inline v0_2::pt2 {

inline constexpr const char* kGuardPlaces = "extra/proviso_guards.json";

using GuardPlaces = std::map<std::string, std::vector<SourceLocation>>;

// By the guard's text in the file.
GuardPlaces guard_places(const ExportedProgram& program);

std::string write_guard_places(const GuardPlaces& places);
// Throws FileError, which names the record.
GuardPlaces read_guard_places(std::string_view json);

}  // namespace proviso::inline v0_2::pt2
