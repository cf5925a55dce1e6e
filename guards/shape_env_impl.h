// guards/shape_env_impl.h - a ShapeEnv is made of parts, each of which is used
// by those below it and knows none of them.  Their headers say what they do;
// the files shape_env.cc and these are all that knows them together.
#pragma once

#include "guards/env/decider.h"
#include "guards/env/enforced_facts.h"
#include "guards/env/hints.h"
#include "guards/env/learning.h"
#include "guards/env/minimal_guards.h"
#include "guards/env/open_questions.h"
#include "guards/env/questions.h"
#include "guards/env/recorder.h"
#include "guards/env/replacements.h"
#include "guards/env/session_facts.h"
#include "guards/env/session_log.h"
#include "guards/env/symbols.h"
#include "guards/env/unguarded_answers.h"
#include "guards/shape_env.h"

namespace proviso::inline v0_2 {
namespace internal {

struct EnvParts {
  explicit EnvParts(ShapeEnvOptions o) : options(std::move(o)) {}

  const ShapeEnvOptions options;
  SessionLog log;
  SessionFacts facts{options.solver, log};
  Symbols symbols{options, facts, log};
  Replacements replacements{symbols};
  UnguardedAnswers unguarded_answers{symbols, facts};
  Decider decider{log, facts, symbols, replacements, unguarded_answers};
  Hints hints{facts, symbols, replacements, decider};
  Learning learning{options, log,          facts,
                    symbols, replacements, unguarded_answers};
  Recorder recorder{options,           log,     facts, replacements,
                    unguarded_answers, decider, hints, learning};
  OpenQuestions open_questions{facts, symbols, replacements};
  Questions questions{symbols, decider, hints, recorder, open_questions};
  EnforcedFacts enforced{facts, symbols, unguarded_answers, recorder};
};

}  // namespace internal

struct ShapeEnv::Impl : internal::EnvParts {
  using EnvParts::EnvParts;
};

}  // namespace proviso::inline v0_2
