// `proviso limits` and `proviso options`: the solver's tables as text, or as
// JSON.
#include "solver/limits.h"

#include <iomanip>
#include <iostream>

#include "cli/arguments.h"
#include "solver/options.h"

namespace proviso::cli {
namespace {

void require_no_words(const char* command, const Arguments& arguments) {
  if (arguments.positional.empty()) return;
  throw Error(std::string(command) + ": expected no words, got '" +
              arguments.positional[0] + "'");
}

}  // namespace

int limits_command(const Arguments& arguments) {
  require_no_words("limits", arguments);
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

int options_command(const Arguments& arguments) {
  require_no_words("options", arguments);
  std::string object;
  const SolverOptions defaults;
  each_option(defaults, [&](const OptionInfo& row, const auto& field) {
    const auto value = static_cast<uint64_t>(field);
    std::cout << std::left << std::setw(22) << row.name << std::right
              << std::setw(8) << value << "  " << row.help << '\n';
    object += (object.empty() ? "{\"" : ", \"") + std::string(row.name) +
              "\": " + std::to_string(value);
  });
  if (arguments.json) std::cout << object << "}\n";
  return kYesOrGood;
}

}  // namespace proviso::cli
