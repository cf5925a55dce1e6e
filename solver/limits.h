// solver/limits.h - where the solver's reasoning gives up: a number a limit.
//
//   Limits limits;
//   set_limit(limits, "split_depth", 4);
//   options.limits = std::make_shared<const Limits>(limits);
//
// solver/limits.def is the table.  No limit makes an answer wrong; a lower one
// leaves more answers unknown, a higher one costs time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "solver/solver.h"
#include "sym/api.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

struct Limits {
#define PROVISO_LIMIT(name, type, value, unit, why) type name = value;
#include "solver/limits.def"
};

struct LimitInfo {
  std::string_view name;
  uint64_t value;  // the default
  std::string_view unit;
  std::string_view why;
  uint64_t (*get)(const Limits& limits);
  void (*set)(Limits& limits, uint64_t value);
};

[[nodiscard]] std::span<const LimitInfo> all_limits();  // in the table's order
// nullptr where no limit has that name.
[[nodiscard]] const LimitInfo* limit_named(std::string_view name);

// Throws Error where no limit has that name, or the value is more than
// times_default (a row of the table) times the default: depth takes stack, and
// size memory.
void set_limit(Limits& limits, std::string_view name, uint64_t value);

}  // namespace proviso::inline v0_2
PROVISO_API_END
