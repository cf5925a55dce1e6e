// cli/command_units.h - the work that a command may do on what it is given.
//
//   const Budget budget(command_units(text.size()));
#pragma once

#include <cstdint>

namespace proviso::cli {

constexpr uint64_t command_units(uint64_t bytes) {
  constexpr uint64_t kCommand = 600'000, kByte = 20;  // sym/budget.h
  return kCommand + kByte * bytes;
}

// For its facts, which are assumed one by one.
constexpr uint64_t fact_units(uint64_t bytes) {
  return 2 * command_units(bytes);
}

}  // namespace proviso::cli
