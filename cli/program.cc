// proviso show, check, run: .pt2 files.  They become proviso-pt2, so that the
// command itself needs no torch.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "cli/arguments.h"
#include "cli/python_command.h"
#include "sym/expr.h"

namespace proviso::cli {
namespace {

[[noreturn]] void become_pt2(const char* command, const Arguments& arguments) {
  const std::string tool =
      (std::filesystem::path(command_folder()) / "proviso-pt2").string();
  if (access(tool.c_str(), X_OK) != 0)
    throw Error(std::string(command) + ": " + tool +
                " is not built; build with PROVISO_WITH_TORCH=ON "
                "(`./dev build`)");
  std::vector<std::string> words{tool, command};
  for (const std::string& name : arguments.allowed)
    words.push_back("--allow=" + name);
  if (!arguments.loop_steps.empty())
    words.push_back("--loop-steps=" + arguments.loop_steps);
  words.insert(words.end(), arguments.positional.begin(),
               arguments.positional.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::cout.flush();
  execv(tool.c_str(), argv.data());
  throw Error("could not start " + tool + ": " + std::strerror(errno));
}

}  // namespace

int show(const Arguments& arguments) { become_pt2("show", arguments); }
int check(const Arguments& arguments) { become_pt2("check", arguments); }
int run_program(const Arguments& arguments) { become_pt2("run", arguments); }

}  // namespace proviso::cli
