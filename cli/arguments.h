// cli/arguments.h - the command line as a table: what is accepted, and the help
// text that says so, come from the same rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "solver/solver.h"

namespace proviso::cli {

struct Arguments {
  std::vector<std::string> symbols;      // --symbol
  std::vector<std::string> assumptions;  // --assume
  std::string context;                   // --context
  std::string form = "torch";            // --as
  bool native = false;                   // --tiers native
  bool stats = false;                    // --stats
  SolverOptions solver;                  // --option, --limit, --without
  bool sets_options = false;             // --option, --limit
  bool int64 = false;                    // --int64
  bool json = false;                     // --json
  bool reasons = false;                  // --reasons
  bool pairs = false;                    // --pairs
  std::string list;                      // --list
  std::string tag;                       // --tag
  std::vector<std::string> allowed;      // --allow
  std::string loop_steps;                // --loop-steps
  std::string html;                      // --html
  std::vector<std::string> positional;
};

// Exit codes: an answer, or trouble.
enum ExitCode {
  kYesOrGood = 0,
  kNoOrWrong = 1,
  kUnknownAnswer = 2,
  kTrouble = 3
};

// The solver's options as the command line has them: --tiers, --int64 and those
// of the solver's own table.
SolverOptions solver_options(const Arguments& arguments);

// One row of the table of options.
struct Option {
  const char* name;   // "--tiers"
  const char* value;  // nullptr: a flag
  const char* help;
  void (*set)(Arguments&, const std::string& value);
  // The words that may follow, for completion; nullptr: any.
  std::vector<std::string> (*words)() = nullptr;
};

struct Command {
  const char* name;
  const char* operands;  // as in the usage line
  const char* summary;
  const char* options;  // names of the options it takes, by blanks
  int (*run)(const Arguments&);
};

int facts(const Arguments&);
int prove(const Arguments&);
int bounds(const Arguments&);
int simplify_command(const Arguments&);
int simplify_pairs(const Arguments&);  // simplify --pairs
int replay(const Arguments&);
int decide(const Arguments&);
int limits_command(const Arguments&);
int options_command(const Arguments&);
int doctor(const Arguments&);
int completion(const Arguments&);
int db(const Arguments&);
int explain(const Arguments&);
int show(const Arguments&);
int check(const Arguments&);
int run_program(const Arguments&);

extern const std::vector<Command> kCommands;

std::span<const Option> all_options();
bool takes(const Command& command, std::string_view option);

// `words` follow the command's name.  Throws Error on an option that the
// command does not have, or one without its value.
Arguments read_arguments(const Command& command,
                         const std::vector<std::string>& words);
std::string help();
std::string help(const Command& command);

}  // namespace proviso::cli
