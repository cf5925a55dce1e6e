// tests/guards/env/parts.h - the parts of a ShapeEnv without a ShapeEnv, so
// that a test can use one and look at what it did to those above it.
#pragma once

#include <string>
#include <vector>

#include "guards/env/questions.h"
#include "tests/guards/support.h"

namespace proviso {

struct Parts {
  explicit Parts(ShapeEnvOptions o = {}) : options(o) {}

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

  ShapeEnvOptions options;
  internal::SessionLog log;
  internal::SessionFacts facts{options.solver, log};
  internal::Symbols symbols{options, facts, log};
  internal::Replacements replacements{symbols};
  internal::UnguardedAnswers unguarded_answers{symbols, facts};
  internal::Decider decider{log, facts, symbols, replacements,
                            unguarded_answers};
  internal::Hints hints{facts, symbols, replacements, decider};
  internal::Learning learning{options, log,          facts,
                              symbols, replacements, unguarded_answers};
  internal::Recorder recorder{options,           log,     facts, replacements,
                              unguarded_answers, decider, hints, learning};
  internal::OpenQuestions open_questions{facts, symbols};
  internal::Questions questions{
      options,           log,     facts, symbols,  replacements,
      unguarded_answers, decider, hints, recorder, open_questions};
};

}  // namespace proviso
