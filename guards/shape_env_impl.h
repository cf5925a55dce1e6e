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

struct ShapeEnv::Impl {
  explicit Impl(ShapeEnvOptions o) : options(std::move(o)) {}

  const ShapeEnvOptions options;
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
  internal::EnforcedFacts enforced{facts, symbols, unguarded_answers, recorder};
};

}  // namespace proviso::inline v0_2
