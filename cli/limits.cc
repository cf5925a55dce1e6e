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

// A row of a table of limits.
struct LimitRow {
  std::string_view name;
  uint64_t value;
  std::string_view unit, why;
};

constexpr LimitRow kFixedLimits[] = {
#define PROVISO_FIXED_LIMIT(name, type, value, unit, why) \
  {#name, static_cast<uint64_t>(value), unit, why},
#include "sym/limits.def"
#define PROVISO_FIXED_LIMIT(name, type, value, unit, why) \
  {#name, static_cast<uint64_t>(value), unit, why},
#include "solver/limits.def"
#define PROVISO_FIXED_LIMIT(name, type, value, unit, why) \
  {#name, static_cast<uint64_t>(value), unit, why},
#include "guards/limits.def"
};

void print_limit(const LimitRow& row, std::string_view mark) {
  std::cout << std::left << std::setw(26) << row.name << std::right
            << std::setw(9) << row.value << ' ' << std::left << std::setw(13)
            << row.unit << row.why << mark << '\n';
}

void add_number(std::string& object, std::string_view name, uint64_t value) {
  object += (object.empty() ? "{\"" : ", \"") + std::string(name) +
            "\": " + std::to_string(value);
}

}  // namespace

int limits_command(const Arguments& arguments) {
  require_no_words("limits", arguments);
  std::string object;
  for (const LimitInfo& row : all_limits()) {
    print_limit({row.name, row.value, row.unit, row.why}, "");
    add_number(object, row.name, row.value);
  }
  std::string fixed;
  for (const LimitRow& row : kFixedLimits) {
    print_limit(row, " (fixed)");
    add_number(fixed, row.name, row.value);
  }
  std::cout
      << "What is fixed is no option: forms of expressions are remembered "
         "for all contexts of a pool, depths keep the stack small, and "
         "guards and reports are those of the program alone.\n";
  if (arguments.json) std::cout << object << ", \"fixed\": " << fixed << "}}\n";
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
    add_number(object, row.name, value);
  });
  if (arguments.json) std::cout << object << "}\n";
  return kYesOrGood;
}

}  // namespace proviso::cli
