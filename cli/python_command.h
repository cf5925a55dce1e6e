// cli/python_command.h - commands that are written in Python.
//
//   run_python_module("proviso.db", {"list", "--json"});   // does not return
//
// The interpreter is .venv's, found from the command's own place, so that the
// command works from any folder; $PROVISO_PYTHON names another.
#pragma once

#include <string>
#include <vector>

namespace proviso::cli {

// Becomes `python -m module words`.  Throws Error, saying what is missing and
// how to get it, when there is no interpreter or no package.
[[noreturn]] void run_python_module(const std::string& module,
                                    const std::vector<std::string>& words);

// The folder of the running command.
std::string command_folder();

}  // namespace proviso::cli
