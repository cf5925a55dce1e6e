// solver/engine/engine.h - what a context and its clones share.
//
//   Engine engine(pool, options);
//   engine.go_to(version);               // the facts of one context
//   engine.facts().assume(fact, origin);
//   engine.answers().ask(question);      // with facts, words and points
//
// One engine serves a context and its clones: facts that differ between them
// are assumed and retracted on the way.  It consists of
//
//   VersionPath     versions.h           which facts are in force
//   FactStack       fact_stack.h         these, in scopes, and the reasoner
//   NativeAnswers   native_answers.h     yes, no or unknown, remembered
//   Answers         answers.h            the same with facts, words and points
//   ExpressionRanges, Simplification     bounds(), values(); simplify()
//
// Every call works within SolverOptions::work_limit, and returns what it knows
// by then.
#pragma once

#include <memory>

#include "solver/engine/answers.h"
#include "solver/engine/fact_stack.h"
#include "solver/engine/native_answers.h"
#include "solver/engine/simplification.h"
#include "solver/engine/versions.h"

namespace proviso::inline v0_2::internal {

class Engine {
 public:
  Engine(ExprPool& pool, const SolverOptions& options);

  ExprPool& pool() { return pool_; }
  const SolverOptions& options() const { return options_; }
  const Limits& limits() const { return limits_; }
  const Statistics& statistics();
  // What the pool owns for all its contexts: gone when the pool is.
  bool has_lost_its_pool() const { return of_pool_.expired(); }
  // Throws Error where e is null or of another pool.
  void check(Expr e, const char* call, const char* expected) {
    if (!e || &e.pool() != &pool_) [[unlikely]]
      fail_check(e, call, expected);
  }

  void start_at(const std::shared_ptr<Version>& version) {
    path_.start_at(version);
  }
  void go_to(const std::shared_ptr<Version>& target) {
    path_.go_to(target, facts_);
  }

  FactStack& facts() { return facts_; }
  NativeAnswers& native() { return native_; }
  Answers& answers() {
    if (answers_ == nullptr) make_answers();
    return *answers_;
  }
  ExpressionRanges& ranges() { return expressions().ranges; }
  // Where all facts are ranges, their box is asked first (box.h).
  Expr simplify(Expr e);
  Expr canonical(Expr e) { return expressions().simplification.canonical(e); }
  Expr substitute(Expr e) { return expressions().simplification.substitute(e); }

  std::shared_ptr<Trace> trace;  // of the calls; mostly there is none

 private:
  struct Expressions {
    explicit Expressions(Engine& engine)
        : reading(engine.facts_.reasoner()),
          ranges(engine.facts_.reasoner(), engine.native_, reading),
          simplification(engine.facts_, engine.native_, reading, ranges) {}

    RangeReading reading;
    ExpressionRanges ranges;
    Simplification simplification;
  };

  [[noreturn]] void fail_check(Expr e, const char* call, const char* expected);
  void make_answers();
  Expressions& expressions();

  ExprPool& pool_;
  const SolverOptions options_;
  const Limits& limits_;
  const std::weak_ptr<void> of_pool_;
  // Apart, so that an engine is no larger than what an allocator has at hand.
  const std::unique_ptr<Statistics> statistics_ =
      std::make_unique<Statistics>();
  FactStack facts_{pool_, options_, *statistics_};
  VersionPath path_;
  NativeAnswers native_{facts_};
  // Made when first asked for.
  std::unique_ptr<Answers> answers_;
  std::unique_ptr<Expressions> expressions_;
};

}  // namespace proviso::inline v0_2::internal
