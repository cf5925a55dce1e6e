// cli/arguments.h - the command line as a table: what is accepted, and the help
// text that says so, come from the same rows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "solver/limits.h"

namespace proviso::cli {

struct Arguments {
  std::vector<std::string> symbols;      // --symbol
  std::vector<std::string> assumptions;  // --assume
  std::string context;                   // --context
  std::string form = "torch";            // --as
  bool native = false;                   // --tiers native
  bool stats = false;                    // --stats
  uint64_t disabled_strategies = 0;      // --without; SolverOptions has it
  std::shared_ptr<Limits> limits;        // --limit; SolverOptions has it
  bool int64 = false;
  bool json = false;
  bool reasons = false;
  bool pairs = false;
  std::string list;                  // --list
  std::string tag;                   // --tag
  std::vector<std::string> allowed;  // --allow
  std::string loop_steps;            // --loop-steps
  std::string html;                  // --html
  std::vector<std::string> positional;
};

// Exit codes: an answer, or trouble.
enum ExitCode {
  kYesOrGood = 0,
  kNoOrWrong = 1,
  kUnknownAnswer = 2,
  kTrouble = 3
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
int db(const Arguments&);
int explain(const Arguments&);
int show(const Arguments&);
int check(const Arguments&);
int run_program(const Arguments&);

extern const std::vector<Command> kCommands;

// `words` follow the command's name.  Throws Error on an option that the
// command does not have, or one without its value.
Arguments read_arguments(const Command& command,
                         const std::vector<std::string>& words);
std::string help();
std::string help(const Command& command);

}  // namespace proviso::cli
