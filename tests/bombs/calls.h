// tests/bombs/calls.h - every public call on a problem, each measured.
#pragma once

#include <string>

#include "tests/bombs/bombs.h"
#include "tests/bombs/measure.h"

namespace proviso::testing {

// A layer: what it offers, asked about one problem.
struct Layer {
  const char* name;
  void (*use)(const Problem&, Meter&);
};

void use_sym(const Problem&, Meter&);     // parse, print, simplify, evaluate
void use_solver(const Problem&, Meter&);  // Context, native
void use_z3(const Problem&, Meter&);      // Context::ask with Z3
void use_guards(const Problem&, Meter&);  // ShapeEnv, requirements, suggestions
void use_guards_first(const Problem&, Meter&);  // a call each, of a ShapeEnv
void use_guards_z3(const Problem&, Meter&);
void use_programs(const Problem&, Meter&);  // GuardProgram, sizes_where
void use_errors(const Problem&, Meter&);    // PyTorch's texts
void use_cli(const Problem&, Meter&);       // commands
void use_c(const Problem&, Meter&);         // bindings/c

}  // namespace proviso::testing
