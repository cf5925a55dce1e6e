// solver/options.h - the solver's options, one table for text forms and
// bindings.
//
//   SolverOptions options;
//   set_option(options, "budget", 20000);
//   set_option(options, "limit.split_depth", 4);    // a row of limits.def
//   set_option(options, "without.case-split", 1);   // a strategy is off
//   each_option(options, [](const OptionInfo& row, auto& field) { .. });
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "solver/solver.h"
#include "sym/api.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

struct OptionInfo {
  std::string_view name;
  std::string_view help;
};

// Calls visit(row, field) for each option, in the order of the table.
template <typename Options, typename Visit>
void each_option(Options& o, Visit visit) {
  visit(OptionInfo{"use_z3", "ask Z3 last, where it was built in (0 or 1)"},
        o.use_z3);
  visit(OptionInfo{"machine_int64",
                   "integer symbols lie in [-2**63, 2**63 - 1] (0 or 1)"},
        o.machine_int64);
  visit(OptionInfo{"budget",
                   "native work units for the strategies of a "
                   "question"},
        o.budget);
  visit(OptionInfo{"work_limit",
                   "units of about 50 ns or 64 bytes that a call "
                   "may spend in all, Z3 apart"},
        o.work_limit);
  visit(OptionInfo{"z3_budget", "Z3's resource units (rlimit) a question"},
        o.z3_budget);
  visit(OptionInfo{"search_models",
                   "look for a counterexample when unknown "
                   "(0 or 1)"},
        o.search_models);
  visit(OptionInfo{"restart",
                   "decide with the facts in other orders too, where theirs "
                   "does not or takes long (0 or 1)"},
        o.restart);
}

// Below, "limit.NAME" and "without.NAME" are options too: a limit of
// solver/limits.def, and 1 where the strategy of that name is off.

// What is wrong, in words, when there is no such option or the value does not
// fit it.
[[nodiscard]] std::optional<std::string> try_set_option(SolverOptions& options,
                                                        std::string_view name,
                                                        uint64_t value);
// Throws Error with the same words.
void set_option(SolverOptions& options, std::string_view name, uint64_t value);
// Throws Error when there is no such option.
[[nodiscard]] uint64_t get_option(const SolverOptions& options,
                                  std::string_view name);

// The options that say how much a call may spend: whoever reads options from a
// text decides how far it may raise these.  All others are bounded by them.
[[nodiscard]] std::span<const std::string_view> cost_options();
// Each of those at the most that set_option() takes.
[[nodiscard]] SolverOptions highest_costs();

struct OptionValue {
  std::string name;  // as set_option() takes it
  uint64_t value;
};
// The limits and strategies that are not as in SolverOptions(), each in the
// order of its table.
[[nodiscard]] std::vector<OptionValue> changed_limits_and_strategies(
    const SolverOptions& options);

}  // namespace proviso::inline v0_2
PROVISO_API_END
