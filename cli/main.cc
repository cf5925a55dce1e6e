// The command `proviso`.  See help() for its language.
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <exception>
#include <iostream>

#include "cli/arguments.h"
#include "sym/budget.h"
#include "sym/excerpt.h"

namespace proviso::cli {
namespace {

const Command* find_command(const std::string& name) {
  for (const Command& command : kCommands) {
    if (name == command.name) return &command;
  }
  return nullptr;
}

bool asks_help(const std::string& word) {
  return word == "--help" || word == "-h" || word == "help";
}

int run(const std::vector<std::string>& words) {
  if (words.empty()) {
    std::cerr << help();
    return kTrouble;
  }
  if (asks_help(words[0])) {
    std::cout << help();
    return kYesOrGood;
  }
  if (words[0] == "--version") {
    std::cout << "proviso " PROVISO_VERSION "\n";
    return kYesOrGood;
  }
  const Command* command = find_command(words[0]);
  if (command == nullptr) {
    std::cerr << "proviso: unknown command '"
              << internal::excerpt(words[0], internal::kArgumentLength)
              << "'; 'proviso --help' lists them\n";
    return kTrouble;
  }
  for (const std::string& word : words) {
    if (word == "--help" || word == "-h") {
      std::cout << help(*command);
      return kYesOrGood;
    }
  }
  std::vector<std::string> rest(words.begin() + 1, words.end());
  return command->run(read_arguments(*command, rest));
}

// The command makes one context after another.  glibc gives large blocks back
// to the system as each ends, which clears their pages for the next: 9,300 page
// faults in place of 4,100, and 6 % of the time, for `decide` over problems
// with thousands of facts.  What is freed stays here; a program that links the
// library decides that for itself.
void keep_freed_memory() {
#ifdef M_TRIM_THRESHOLD
  constexpr int kBytes = 32 << 20;  // the most that the first one takes
  mallopt(M_MMAP_THRESHOLD, kBytes);
  mallopt(M_TRIM_THRESHOLD, kBytes);
#endif
}

}  // namespace
}  // namespace proviso::cli

int main(int argc, char** argv) {
  proviso::cli::keep_freed_memory();
  try {
    int code = proviso::cli::run({argv + 1, argv + argc});
    std::cout.flush();
    return code;
  } catch (const proviso::OutOfBudget&) {
    std::cout.flush();
    std::cerr << "proviso: this input takes more work than a command may do; "
                 "ask about a part of it\n";
    return proviso::cli::kTrouble;
  } catch (const std::exception& error) {
    std::cout.flush();
    std::cerr << "proviso: " << error.what() << "\n";
    return proviso::cli::kTrouble;
  }
}
