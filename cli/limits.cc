// `proviso limits`: solver/limits.def as text, or as JSON.
#include <iomanip>
#include <iostream>

#include "cli/arguments.h"

namespace proviso::cli {

int limits_command(const Arguments& arguments) {
  if (!arguments.positional.empty()) {
    throw Error("limits: expected no words, got '" + arguments.positional[0] +
                "'");
  }
  for (const LimitInfo& row : all_limits()) {
    std::cout << std::left << std::setw(24) << row.name << std::right
              << std::setw(6) << row.value << ' ' << std::left << std::setw(12)
              << row.unit << row.why << '\n';
  }
  if (!arguments.json) return kYesOrGood;
  std::string object;
  for (const LimitInfo& row : all_limits()) {
    object += (object.empty() ? "{\"" : ", \"") + std::string(row.name) +
              "\": " + std::to_string(row.value);
  }
  std::cout << object << "}\n";
  return kYesOrGood;
}

}  // namespace proviso::cli
