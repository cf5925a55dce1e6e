// tests/guards/env/parts.h - the parts of a ShapeEnv without a ShapeEnv, so
// that a test can use one and look at what it did to those above it.
#pragma once

#include <string>
#include <vector>

#include "guards/shape_env_impl.h"
#include "tests/guards/support.h"

namespace proviso {

struct Parts : internal::EnvParts {
  explicit Parts(const ShapeEnvOptions& o = {}) : EnvParts(o) {}

  // A size with that example; s0, s1, ...
  Expr size(int64_t hint) { return symbols.create_size(hint, "x", {}); }
  Expr data(const Interval& range = {}) {
    return symbols.create_unbacked(SymbolKind::kUnbackedInt, range);
  }
  Expr integer(int value) { return facts.pool().integer(value); }
  Expr parsed(const std::string& text) { return parse(facts.pool(), text); }
  // As a guard, without a record of it.
  void assume(Expr condition) { learning.assume(condition, {}, "guard "); }
  void record(Expr condition, int line = 0) {
    recorder.record_guard(condition, condition, {"m.py", line});
  }
  void branch(Expr condition, int line = 3) {
    questions.guard_bool(condition, {"m.py", line}, "guard_bool");
  }
};

}  // namespace proviso
