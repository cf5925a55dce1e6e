#include "solver/options.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "solver/fixed_limits.h"
#include "solver/limits.h"
#include "solver/limits_in_force.h"
#include "sym/excerpt.h"

namespace proviso::inline v0_2 {
namespace {

void add_name(std::string& names, std::string_view name) {
  names += (names.empty() ? "" : ", ") + std::string(name);
}

std::string no_option(std::string_view name) {
  std::string known;
  const SolverOptions defaults;
  each_option(defaults, [&](const OptionInfo& row, const auto&) {
    add_name(known, row.name);
  });
  return "no option '" + internal::excerpt(name, internal::kArgumentLength) +
         "'; there are " + known;
}

constexpr std::string_view kLimit = "limit.", kWithout = "without.";

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

std::string no_strategy(std::string_view name) {
  std::string known;
  for (Strategy s : all_strategies()) add_name(known, name_of(s));
  return "no strategy is called '" +
         internal::excerpt(name, internal::kArgumentLength) + "'; there are " +
         known;
}

std::string too_large(std::string_view name, uint64_t value, uint64_t most) {
  return "the number is too large for " + std::string(name) + ": it is " +
         std::to_string(value) + ", and at most " + std::to_string(most);
}

std::optional<std::string> try_set_strategy(SolverOptions& options,
                                            std::string_view name,
                                            uint64_t value) {
  const auto strategy = strategy_named(name);
  if (!strategy) return no_strategy(name);
  if (value > 1)
    return too_large(std::string(kWithout) + std::string(name), value, 1);
  if (value == 1) {
    options.disabled_strategies.insert(*strategy);
  } else {
    options.disabled_strategies.erase(*strategy);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> try_set_option(SolverOptions& options,
                                          std::string_view name,
                                          uint64_t value) {
  if (name.starts_with(kLimit))
    return try_set_limit(options, name.substr(kLimit.size()), value);
  if (name.starts_with(kWithout))
    return try_set_strategy(options, name.substr(kWithout.size()), value);
  std::optional<std::string> problem = no_option(name);
  each_option(options, [&](const OptionInfo& row, auto& field) {
    if (row.name != name) return;
    using Field = std::decay_t<decltype(field)>;
    const uint64_t most = std::numeric_limits<Field>::max();
    if (value > most) {
      problem = too_large(name, value, most);
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
  if (name.starts_with(kLimit)) {
    const std::string_view limit = name.substr(kLimit.size());
    const LimitInfo* const row = limit_named(limit);
    if (row == nullptr) throw Error("get_option: " + internal::no_limit(limit));
    return row->get(internal::limits_of(options));
  }
  if (name.starts_with(kWithout)) {
    const std::string_view of = name.substr(kWithout.size());
    const auto strategy = strategy_named(of);
    if (!strategy) throw Error("get_option: " + no_strategy(of));
    return options.disabled_strategies.contains(*strategy) ? 1 : 0;
  }
  std::optional<uint64_t> found;
  each_option(options, [&](const OptionInfo& row, const auto& field) {
    if (row.name == name) found = static_cast<uint64_t>(field);
  });
  if (!found) throw Error("get_option: " + no_option(name));
  return *found;
}

std::span<const std::string_view> cost_options() {
  // The facts' consequences and compound questions are beside work_limit.
  static constexpr std::string_view kCosts[] = {"budget",
                                                "work_limit",
                                                "z3_budget",
                                                "limit.fact_work",
                                                "limit.facts_work",
                                                "limit.further_fact_work",
                                                "limit.compound_work"};
  return kCosts;
}

SolverOptions highest_costs() {
  SolverOptions options;
  each_option(options, [](const OptionInfo& row, auto& field) {
    if (std::ranges::find(cost_options(), row.name) != cost_options().end())
      field = std::numeric_limits<std::decay_t<decltype(field)>>::max();
  });
  for (const LimitInfo& row : all_limits()) {
    const std::string name = std::string(kLimit) + std::string(row.name);
    if (std::ranges::find(cost_options(), name) != cost_options().end())
      set_option(options, name, internal::fixed::times_default * row.value);
  }
  return options;
}

std::vector<OptionValue> changed_limits_and_strategies(
    const SolverOptions& options) {
  std::vector<OptionValue> changed;
  for (const LimitInfo& row : all_limits()) {
    const uint64_t value = row.get(internal::limits_of(options));
    if (value != row.value)
      changed.push_back({std::string(kLimit) + std::string(row.name), value});
  }
  for (Strategy s : all_strategies()) {
    if (options.disabled_strategies.contains(s))
      changed.push_back({std::string(kWithout) + std::string(name_of(s)), 1});
  }
  return changed;
}

}  // namespace proviso::inline v0_2
