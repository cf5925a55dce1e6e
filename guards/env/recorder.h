// guards/env/recorder.h - the conditions that the trace is bound to: guards on
// inputs, assertions that the program makes, promises of the caller.
//
//   Recorder recorder(options, log, facts, replacements, ...);
//   recorder.record_guard(le(s0, 512), le(s0, 512), {"model.py", 9});
//   recorder.record_assert(ge(u0, 0), {"model.py", 7}, "");
//   recorder.guards()[0].condition;        // s0 <= 512
//   recorder.note_answer(le(s0, 512), le(s0, 512), Verdict::kYes,
//                        {"model.py", 12});
//   recorder.guards()[0].origins.size();   // 2
//
// Of a conjunction each part is recorded by itself, and a part that is known
// already is not; an equality of two sizes is a guard even so, because from
// here on they are one size, and what it followed from may be needed no more.
// What is recorded is a fact (learning.h) and an event.
//
// Protocol: conditions are given with replacements applied, but to require()
// and record_assert().  `asked` is the condition before that, canonical: by
// that form an equal question finds the guard later.
#pragma once

#include <set>
#include <unordered_map>
#include <vector>

#include "guards/env/hints.h"
#include "guards/env/learning.h"

namespace proviso::inline v0_2::internal {

class Recorder {
 public:
  // All outlive it.
  Recorder(const ShapeEnvOptions& options, SessionLog& log, SessionFacts& facts,
           Replacements& replacements, UnguardedAnswers& unguarded_answers,
           Decider& decider, Hints& hints, Learning& learning)
      : options_(options),
        log_(log),
        facts_(facts),
        replacements_(replacements),
        unguarded_answers_(unguarded_answers),
        decider_(decider),
        hints_(hints),
        learning_(learning) {}
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // An assertion where the options prefer those.
  void record_guard(Expr condition, Expr asked, const SourceLocation& where);
  // Kept as it was asked: with an equality that became a replacement applied,
  // it would say that a value equals itself.
  void record_assert(Expr condition, const SourceLocation& where,
                     const std::string& message);
  // A precondition that the caller promises.  Throws ConstraintViolationError
  // where the examples break it.
  void require(Expr condition, const SourceLocation& where);

  // `question` was answered by what is known: `where` is an origin of the guard
  // that says the same, and a place for those that turn out to imply it.
  void note_answer(Expr asked, Expr question, Verdict verdict,
                   const SourceLocation& where);
  // As note_answer(), where the program branches on it: it can become a guard.
  void note_branch(Expr asked, Expr question, Verdict verdict,
                   const SourceLocation& where);
  // A layout was chosen as this side of the condition holds at the example.
  void note_layout_condition(Expr condition, bool side);

  // Later guards are logged as late.
  void freeze() { is_frozen_ = true; }

  const std::vector<Guard>& guards() const { return guards_; }
  const std::vector<RuntimeAssert>& asserts() const { return asserts_; }
  // Given to require(), canonical.
  const std::vector<Expr>& promises() const { return promises_; }
  // The guard that was recorded or asked for as this condition, or null.
  const Guard* guard_of(Expr condition) const;

  // A new context of what holds by itself and all that is recorded: no
  // assumption.
  [[nodiscard]] std::unique_ptr<Context> enforced_context();

 private:
  void add_guards(Expr condition, Expr asked, const SourceLocation& where,
                  bool is_promised);

  const ShapeEnvOptions& options_;
  SessionLog& log_;
  SessionFacts& facts_;
  Replacements& replacements_;
  UnguardedAnswers& unguarded_answers_;
  Decider& decider_;
  Hints& hints_;
  Learning& learning_;

  std::vector<Guard> guards_;
  std::unordered_map<Expr, size_t, ExprHash> guard_index_;
  std::vector<RuntimeAssert> asserts_;
  std::set<Expr, ExprLess> asserted_;
  std::vector<Expr> promises_;
  bool is_frozen_ = false;
};

// Adds `where` unless it is known or there are too many.
void add_origin(Guard& guard, const SourceLocation& where);

}  // namespace proviso::inline v0_2::internal
