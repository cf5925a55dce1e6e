#include "cli/python_command.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>

#include "sym/expr.h"

namespace proviso::cli {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) {
  return access(path.c_str(), X_OK) == 0 && !fs::is_directory(path);
}

// .venv in a folder above the command, else where it was built.
std::optional<fs::path> venv_python() {
  for (fs::path folder = command_folder();; folder = folder.parent_path()) {
    const fs::path python = folder / ".venv/bin/python";
    if (is_program(python)) return python;
    if (folder == folder.parent_path()) break;
  }
  const fs::path built = fs::path(PROVISO_SOURCE_DIR) / ".venv/bin/python";
  if (is_program(built)) return built;
  return std::nullopt;
}

fs::path find_python() {
  if (const char* chosen = std::getenv("PROVISO_PYTHON")) {
    if (!is_program(chosen))
      throw Error(std::string("PROVISO_PYTHON is '") + chosen +
                  "', which is no program; set it to a Python with torch, or "
                  "unset it");
    return chosen;
  }
  if (std::optional<fs::path> python = venv_python()) return *python;
  throw Error("no .venv/bin/python above " + command_folder() +
              " nor in the source tree; `./dev setup` makes it, or set "
              "PROVISO_PYTHON to a Python with torch");
}

fs::path find_package() {
  const fs::path package = fs::path(command_folder()).parent_path() / "python";
  if (fs::exists(package / "proviso/__init__.py")) return package;
  throw Error("the Python package is not at " + package.string() +
              "; build with PROVISO_WITH_TORCH=ON (`./dev build`)");
}

}  // namespace

std::string command_folder() {
  return fs::read_symlink("/proc/self/exe").parent_path().string();
}

void run_python_module(const std::string& module,
                       const std::vector<std::string>& words) {
  const fs::path python = find_python();
  std::string path = find_package().string();
  if (const char* before = std::getenv("PYTHONPATH"))
    path += std::string(":") + before;
  setenv("PYTHONPATH", path.c_str(), 1);
  std::vector<std::string> all{python.string(), "-m", module};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::cout.flush();
  execv(python.c_str(), arguments.data());
  throw Error("could not start " + python.string() + ": " +
              std::strerror(errno));
}

}  // namespace proviso::cli
