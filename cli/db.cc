// proviso db: the programs that must export, in Python and in C++.
#include <filesystem>

#include "cli/arguments.h"
#include "cli/python_command.h"
#include "sym/expr.h"

namespace proviso::cli {

int db(const Arguments& arguments) {
  std::vector<std::string> words = arguments.positional;
  if (words.empty() || (words[0] != "list" && words[0] != "run"))
    throw Error("db: say what to do: db list, or db run [NAME...]");
  if (!arguments.tag.empty()) {
    words.push_back("--tag");
    words.push_back(arguments.tag);
  }
  if (arguments.json) words.push_back("--json");
  const std::filesystem::path cpp =
      std::filesystem::path(command_folder()) / "example_exportdb";
  if (words[0] == "run" && std::filesystem::exists(cpp)) {
    words.push_back("--cpp");
    words.push_back(cpp.string());
  }
  run_python_module("proviso.db", words);
}

}  // namespace proviso::cli
