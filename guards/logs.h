// guards/logs.h - what a ShapeEnv does, said while it happens.
//
//   PROVISO_LOGS=dynamic program                 events on stderr
//   PROVISO_LOGS_GUARD='Eq(s2, s4)' program      the stack where that guard
//                                                arises
//   set_logs({.dynamic = true});                 the same from inside
//   set_log_callback([](const ShapeEvent& e) { file << to_json(e) << '\n'; });
//
// One setting a process, read from the environment at first use.
#pragma once

#include <functional>
#include <string>

#include "guards/shape_env.h"
#include "sym/api.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

struct LogSettings {
  bool dynamic = false;  // print events
  std::string guard{};   // print the stack where this condition is recorded
};

[[nodiscard]] LogSettings logs();
void set_logs(const LogSettings& settings);
// Called for each event of each ShapeEnv, whatever the settings; {} for none.
void set_log_callback(std::function<void(const ShapeEvent&)> callback);
// The program's stack, for LogSettings::guard.  A front end knows it.
void set_log_stack(std::function<std::string()> stack);

// {"event": "eval", "subject": "Eq(s2, s4)", "text": .., "file": .., "line": 7,
//  "code": ..}
[[nodiscard]] std::string to_json(const ShapeEvent& event);

}  // namespace proviso::inline v0_2
PROVISO_API_END
