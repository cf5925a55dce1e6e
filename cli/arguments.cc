#include "cli/arguments.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "solver/limits.h"
#include "solver/options.h"
#include "sym/expr.h"

namespace proviso::cli {
namespace {

using Words = std::vector<std::string>;

std::string one_of(const char* option, const std::string& value,
                   const std::vector<std::string>& accepted) {
  std::string listed;
  for (const std::string& a : accepted) {
    if (value == a) return value;
    listed += (listed.empty() ? "" : ", ") + a;
  }
  throw Error(std::string(option) + ": expected one of " + listed + "; got '" +
              value + "'");
}

Words strategies() {
  Words names;
  for (Strategy s : all_strategies()) names.emplace_back(name_of(s));
  return names;
}

Words limit_names() {
  Words names;
  for (const LimitInfo& row : all_limits())
    names.push_back(std::string(row.name) + "=");
  return names;
}

Words option_names() {
  Words names;
  const SolverOptions defaults;
  each_option(defaults, [&](const OptionInfo& row, const auto&) {
    names.push_back(std::string(row.name) + "=");
  });
  return names;
}

// NAME=NUMBER of an option of the solver, whose name begins with `prefix`.
void read_number(Arguments& a, const char* option, const std::string& prefix,
                 const std::string& text) {
  const size_t equals = text.find('=');
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto read =
      equals == std::string::npos
          ? std::from_chars_result{nullptr, std::errc::invalid_argument}
          : std::from_chars(text.data() + equals + 1, end, value);
  if (read.ec != std::errc() || read.ptr != end) {
    throw Error(std::string(option) + ": expected NAME=NUMBER, got '" + text +
                "'");
  }
  a.sets_options = true;
  const auto problem =
      try_set_option(a.solver, prefix + text.substr(0, equals), value);
  if (problem) throw Error(std::string(option) + ": " + *problem);
}

const Words kLists = {"wrong", "undecided", "slowest", "costlier", "rules"};

constexpr Option kOptions[] = {
    {"--symbol", "'NAME in [LO, HI]'",
     "a symbol and its range; int_oo and -int_oo are open ends (repeatable)",
     [](Arguments& a, const std::string& v) { a.symbols.push_back(v); }},
    {"--assume", "EXPR", "a fact (repeatable)",
     [](Arguments& a, const std::string& v) { a.assumptions.push_back(v); }},
    {"--context", "FILE", "start with the facts that `proviso facts` wrote",
     [](Arguments& a, const std::string& v) { a.context = v; }},
    {"--as", "FORM", "print as torch, python, smtlib or srepr",
     [](Arguments& a, const std::string& v) { a.form = v; },
     [] { return Words{"torch", "python", "smtlib", "srepr"}; }},
    {"--tiers", "native|all", "all: Z3 too, where the native tiers say unknown",
     [](Arguments& a, const std::string& v) {
       a.native = one_of("--tiers", v, {"native", "all"}) == "native";
     },
     [] { return Words{"native", "all"}; }},
    {"--int64", nullptr, "integers lie in [-2**63, 2**63 - 1]",
     [](Arguments& a, const std::string&) { a.int64 = true; }},
    {"--list", "WHICH",
     "also list the wrong, undecided or slowest questions; of simplify, "
     "costlier or slowest pairs, or rules",
     [](Arguments& a, const std::string& v) {
       a.list = one_of("--list", v, kLists);
     },
     [] { return kLists; }},
    {"--reasons", nullptr,
     "ask each yes and no again of the facts that it names, alone",
     [](Arguments& a, const std::string&) { a.reasons = true; }},
    {"--stats", nullptr,
     "for each strategy: how often it was tried, what it decided, its work",
     [](Arguments& a, const std::string&) { a.stats = true; }},
    {"--without", "STRATEGY", "switch a strategy off (repeatable)",
     [](Arguments& a, const std::string& v) {
       const std::string name = one_of("--without", v, strategies());
       a.solver.disabled_strategies.insert(*strategy_named(name));
     },
     strategies},
    {"--option", "NAME=NUMBER",
     "an option of the solver; `proviso options` lists them (repeatable)",
     [](Arguments& a, const std::string& v) {
       read_number(a, "--option", "", v);
     },
     option_names},
    {"--limit", "NAME=NUMBER",
     "where the reasoning gives up; `proviso limits` lists them (repeatable)",
     [](Arguments& a, const std::string& v) {
       read_number(a, "--limit", "limit.", v);
     },
     limit_names},
    {"--pairs", nullptr,
     "the words are files of simplifications that others made (*.jsonl): "
     "measure ours beside them",
     [](Arguments& a, const std::string&) { a.pairs = true; }},
    {"--allow", "OPERATOR",
     "let the file call it though it does more than compute: aten.set_ "
     "(repeatable)",
     [](Arguments& a, const std::string& v) { a.allowed.push_back(v); }},
    {"--loop-steps", "N",
     "what the file's while_loops may take together (100000)",
     [](Arguments& a, const std::string& v) { a.loop_steps = v; }},
    {"--tag", "TAG", "only programs with this tag",
     [](Arguments& a, const std::string& v) { a.tag = v; }},
    {"--html", "PAGE", "also write the report as one self-contained page",
     [](Arguments& a, const std::string& v) { a.html = v; }},
    {"--json", nullptr, "the last line is one JSON object",
     [](Arguments& a, const std::string&) { a.json = true; }},
};

const Option* find_option(const Command& command, std::string_view name) {
  for (const Option& option : kOptions) {
    if (name == option.name && takes(command, name)) return &option;
  }
  return nullptr;
}

std::string padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size() + 2), ' ');
  return text;
}

}  // namespace

std::span<const Option> all_options() { return kOptions; }

bool takes(const Command& command, std::string_view option) {
  std::istringstream names(command.options);
  for (std::string name; names >> name;) {
    if (name == option) return true;
  }
  return false;
}

SolverOptions solver_options(const Arguments& arguments) {
  SolverOptions options = arguments.solver;
  if (arguments.native) options.use_z3 = false;
  if (arguments.int64) options.machine_int64 = true;
  return options;
}

const std::vector<Command> kCommands = {
    {"prove", "QUESTION", "whether the facts imply the question",
     "--context --symbol --assume --tiers --int64 --option --limit --json",
     prove},
    {"bounds", "EXPR", "a range that holds the expression's values",
     "--context --symbol --assume --int64 --option --limit --json", bounds},
    {"simplify", "EXPR", "the expression's cheapest known form under the facts",
     "--context --symbol --assume --as --int64 --option --limit --json --pairs "
     "--list "
     "--tiers",
     simplify_command},
    {"facts", "", "the facts as text, to keep and to read with --context",
     "--context --symbol --assume --tiers --int64 --option --limit", facts},
    {"replay", "FILE...", "ask recorded sessions (*.shapelog) again",
     "--tiers --list --reasons --stats --without --option --limit --json",
     replay},
    {"decide", "FILE...", "decide files of facts (*.txt, *.jsonl)",
     "--tiers --list --reasons --stats --without --option --limit --json",
     decide},
    {"limits", "", "the numbers at which the solver's reasoning gives up",
     "--json", limits_command},
    {"options", "", "the solver's options, for --option", "--json",
     options_command},
    {"doctor", "", "versions, what was built in, and a self-test", "--json",
     doctor},
    {"completion", "bash|zsh", "a script that completes the command's words",
     "", completion},
    {"explain", "FILE|-",
     "what PyTorch's errors about shapes ask for, from a log or a traceback",
     "--json --html", explain},
    {"db", "list|run [NAME...]",
     "programs that must export: list them, or run them beside eager",
     "--tag --json", db},
    {"show", "FILE.pt2", "print an exported program, ours or torch's own",
     "--allow", show},
    {"check", "FILE.pt2",
     "verify it, and judge its guards: needed, implied, wrong, missing",
     "--allow", check},
    {"run", "FILE.pt2 [IN.pt [OUT.pt]]",
     "run it on torch.save([x, y], IN.pt), or on made-up inputs",
     "--allow --loop-steps", run_program},
};

Arguments read_arguments(const Command& command,
                         const std::vector<std::string>& words) {
  Arguments result;
  bool options = true;
  for (size_t i = 0; i < words.size(); ++i) {
    // -s0 < 3 is a question; two dashes make an option.
    if (!options || !words[i].starts_with("--")) {
      result.positional.push_back(words[i]);
      continue;
    }
    if (words[i] == "--") {
      options = false;
      continue;
    }
    size_t equals = words[i].find('=');
    std::string name = words[i].substr(0, equals);
    const Option* option = find_option(command, name);
    if (option == nullptr) {
      throw Error(std::string(command.name) + ": unknown option '" + name +
                  "'; it takes " + command.options);
    }
    std::string value;
    if (option->value != nullptr && equals != std::string::npos) {
      value = words[i].substr(equals + 1);
    } else if (option->value != nullptr) {
      if (++i == words.size()) {
        throw Error(std::string(command.name) + ": " + name +
                    " needs a value: " + name + " " + option->value);
      }
      value = words[i];
    } else if (equals != std::string::npos) {
      throw Error(std::string(command.name) + ": " + name + " takes no value");
    }
    option->set(result, value);
  }
  return result;
}

std::string help() {
  std::string out =
      "proviso - what follows from what is known about tensor shapes\n\n"
      "usage: proviso COMMAND [OPTION...] ...\n\ncommands:\n";
  for (const Command& c : kCommands) {
    out += "  " + padded(std::string(c.name) + " " + c.operands, 24) +
           c.summary + "\n";
  }
  out += "  " + padded("--help, --version", 24) +
         "also 'proviso COMMAND --help'\n\noptions:\n";
  for (const Option& o : kOptions) {
    std::string left = o.name;
    if (o.value != nullptr) left += std::string(" ") + o.value;
    out += "  " + padded(left, 28) + o.help + "\n";
  }
  return out +
         "\nEXPR is PyTorch's printed form or Python: Eq(s0 + 1, 2*u0), "
         "s0 % 4 == 0.\nexit status: 0 yes, 1 no (or a wrong answer), "
         "2 unknown, 3 an error or contradictory facts.\n\nexample:\n"
         "  proviso prove --symbol 's0 in [2, int_oo]' "
         "--assume 'Eq(Mod(s0, 8), 0)' \\\n      'Eq(Mod(s0, 4), 0)'\n";
}

std::string help(const Command& command) {
  std::string out = std::string("usage: proviso ") + command.name +
                    " [OPTION...] " + command.operands + "\n  " +
                    command.summary + "\n\noptions:\n";
  for (const Option& o : kOptions) {
    if (!takes(command, o.name)) continue;
    std::string left = o.name;
    if (o.value != nullptr) left += std::string(" ") + o.value;
    out += "  " + padded(left, 28) + o.help + "\n";
  }
  return out;
}

}  // namespace proviso::cli
