// guards/env/session_facts.h - what is known while a program is traced, by
// where it comes from; the context that answers, and the facts' version.
//
//   SessionLog log;
//   SessionFacts facts(options, log);
//   facts.declare(s0, Interval::at_least(0), "size s0 of x.size()[0]");
//   facts.assume_at_least_two(s0);           // its example is 8
//   facts.assume(eq(mod(s0, four), 0), provenance_of(where, "guard ..."));
//
//   facts.leans_on_assumption(ge(s0, 1));    // true: without s0 >= 2, unknown
//   facts.without_assumptions();             // a context that knows s0 >= 0
//
// There are three kinds of facts:
//   preconditions  hold by what a symbol means or what the caller promises of
//                  its range: declare(), know();
//   assumptions    s0 >= 2, because the example is: taken back afterwards where
//                  no answer needed them (enforced_facts.h);
//   learnt facts   guards and assertions: assume(); each is checked, by whoever
//                  records it.
//
// Protocol: facts are only added, so yes and no hold for ever; what is
// remembered of an unknown, or of bounds, holds while version() is the same.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "guards/env/session_log.h"

namespace proviso::inline v0_2::internal {

class SessionFacts {
 public:
  // Both outlive it.
  SessionFacts(const SolverOptions& options, SessionLog& log);
  SessionFacts(const SessionFacts&) = delete;
  SessionFacts& operator=(const SessionFacts&) = delete;

  ExprPool& pool() { return pool_; }
  Context& context() { return context_; }
  uint64_t version() const { return version_; }

  // The log has the range with the symbol, so no line is added for it.
  void declare(Expr symbol, const Interval& range, const std::string& why);
  void know(Expr condition, const std::string& why);
  void assume_at_least_two(Expr symbol);
  void assume(Expr condition, const Provenance& why);

  // Symbols with their declared ranges, in order of creation.
  const std::vector<std::pair<Expr, Interval>>& declared() const {
    return declared_;
  }
  // Symbols assumed to be >= 2, in order of creation.
  const std::vector<Expr>& assumed() const { return assumed_; }

  // Whether what the facts say of `question` was found by an assumption.
  bool leans_on_assumption(Expr question);

  // A new context with the preconditions alone.
  [[nodiscard]] std::unique_ptr<Context> without_assumptions();

 private:
  const SolverOptions& options_;
  ExprPool pool_{FloatArithmetic::kDouble};  // programs compute in doubles
  Context context_;
  SessionLog& log_;
  std::vector<std::pair<Expr, Interval>> declared_;
  std::vector<std::pair<Expr, std::string>> known_;
  std::vector<Expr> assumed_;
  std::set<FactId> assumptions_;  // the facts of assumed_
  uint64_t version_ = 1;
};

// "assumed: s0 >= 2"
Provenance provenance_of_assumption(Expr symbol, int least = 2);
// The line of the program, or `text` where it is not known.
Provenance provenance_of(const SourceLocation& where, const std::string& text);
// Ends at or beyond the machine's are no ends: the symbols are int64.
Interval without_machine_ends(const Interval& range);

}  // namespace proviso::inline v0_2::internal
