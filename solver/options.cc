#include "solver/options.h"

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "solver/limits.h"

namespace proviso::inline v0_2 {
namespace {

std::string no_option(std::string_view name) {
  std::string known;
  const SolverOptions defaults;
  each_option(defaults, [&](const OptionInfo& row, const auto&) {
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  });
  return "no option '" + std::string(name) + "'; there are " + known;
}

std::optional<std::string> try_set_limit(SolverOptions& options,
                                         std::string_view name,
                                         uint64_t value) {
  Limits limits = options.limits ? *options.limits : Limits();
  try {
    set_limit(limits, name, value);
  } catch (const Error& e) {
    return e.what();
  }
  options.limits = std::make_shared<const Limits>(limits);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> try_set_option(SolverOptions& options,
                                          std::string_view name,
                                          uint64_t value) {
  constexpr std::string_view kLimit = "limit.";
  if (name.starts_with(kLimit)) {
    return try_set_limit(options, name.substr(kLimit.size()), value);
  }
  std::optional<std::string> problem = no_option(name);
  each_option(options, [&](const OptionInfo& row, auto& field) {
    if (row.name != name) return;
    using Field = std::decay_t<decltype(field)>;
    const uint64_t most = std::numeric_limits<Field>::max();
    if (value > most) {
      problem = "the number is too large for " + std::string(name) +
                ": it is " + std::to_string(value) + ", and at most " +
                std::to_string(most);
      return;
    }
    field = static_cast<Field>(value);
    problem.reset();
  });
  return problem;
}

void set_option(SolverOptions& options, std::string_view name, uint64_t value) {
  if (const auto problem = try_set_option(options, name, value))
    throw Error("set_option: " + *problem);
}

uint64_t get_option(const SolverOptions& options, std::string_view name) {
  std::optional<uint64_t> found;
  each_option(options, [&](const OptionInfo& row, const auto& field) {
    if (row.name == name) found = static_cast<uint64_t>(field);
  });
  if (!found) throw Error("get_option: " + no_option(name));
  return *found;
}

}  // namespace proviso::inline v0_2
