#include "solver/limits.h"

#include <string>

#include "solver/fixed_limits.h"
#include "solver/limits_in_force.h"
#include "sym/excerpt.h"

namespace proviso::inline v0_2 {
namespace {

constexpr Limits kDefaults{};

constexpr LimitInfo kLimits[] = {
#define PROVISO_LIMIT(name, type, value, unit, why)               \
  {#name,                                                         \
   value,                                                         \
   unit,                                                          \
   why,                                                           \
   [](const Limits& l) { return static_cast<uint64_t>(l.name); }, \
   [](Limits& l, uint64_t v) { l.name = static_cast<type>(v); }},
#include "solver/limits.def"
};

}  // namespace

namespace internal {

constinit thread_local const Limits* current_limits = &kDefaults;

const Limits& limits_of(const SolverOptions& options) {
  return options.limits ? *options.limits : kDefaults;
}

std::string no_limit(std::string_view name) {
  return "no limit is called '" + excerpt(name, kArgumentLength) +
         "'; `proviso limits` lists them";
}

}  // namespace internal

std::span<const LimitInfo> all_limits() { return kLimits; }

void set_limit(Limits& limits, std::string_view name, uint64_t value) {
  const LimitInfo* const row = limit_named(name);
  if (row == nullptr) throw Error("set_limit: " + internal::no_limit(name));
  if (value > internal::fixed::times_default * row->value) {
    throw Error("set_limit: " + std::string(name) + " is at most " +
                std::to_string(internal::fixed::times_default * row->value) +
                " (" + std::to_string(internal::fixed::times_default) +
                " times its default), got " + std::to_string(value));
  }
  row->set(limits, value);
}

const LimitInfo* limit_named(std::string_view name) {
  for (const LimitInfo& row : kLimits) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace proviso::inline v0_2
