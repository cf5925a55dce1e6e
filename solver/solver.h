// solver/solver.h - what is known about symbols, and what follows from it.
//
//   ExprPool pool;
//   Context context(pool);
//   Expr s0 = pool.symbol("s0", SymbolKind::kBackedSize);
//   context.declare(s0, Interval::at_least(2), {"assumed: s0 >= 2"});
//   context.assume(parse(pool, "Eq(Mod(s0, 8), 0)"), {"model.py:12"});
//   Answer a = context.ask(parse(pool, "Eq(Mod(s0, 4), 0)"));
//   a.verdict;   // Verdict::kYes
//   a.facts;     // the facts used: they alone imply the answer
//
// yes (no): the question is defined and true (false) at every point that
// satisfies the facts.  Else unknown, with a counterexample (a point where the
// facts hold and the question is false or undefined) and a witness (a point
// where it is true) where the search found them, both confirmed by evaluate().
//
// A question goes from strategy to strategy (solver/strategy.h) until one
// decides it.  Contradictory facts are never used: ask() then answers
// unknown and says which facts contradict each other. Answers depend on the
// facts and the question alone.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "solver/interval.h"
#include "solver/strategy.h"
#include "solver/strided.h"
#include "sym/api.h"
#include "sym/evaluate.h"
#include "sym/expr.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

enum class [[nodiscard]] Verdict { kYes, kNo, kUnknown };
// "yes", "no", "unknown"
[[nodiscard]] std::string_view name_of(Verdict verdict);

// No two facts of a context and its clones have the same id, even where one is
// forgotten before the other comes.  Ids count up in the order assumed.
using FactId = uint32_t;

// Where a fact comes from, for people: a source line, or the text it was
// assumed in.
struct Provenance {
  std::string text;       // "torch._check(u0 >= 0)" or "assumed: sizes >= 2"
  std::string file = {};  // empty when unknown
  int line = 0;
  bool is_empty() const { return text.empty() && file.empty() && line == 0; }
  // "torch._check(u0 >= 0)  # model.py:12"
  [[nodiscard]] std::string to_string() const;
};

struct Fact {
  FactId id;
  Expr condition;  // as assumed (a range is two relations joined by &)
  Provenance origin;
  uint32_t depth = 0;  // how many push() were open
};

struct [[nodiscard]] Answer {
  Verdict verdict = Verdict::kUnknown;
  Tier tier = Tier::kNone;
  Strategy strategy = Strategy::kNone;  // that decided; kNone for unknown
  // For yes and no: the facts that imply it, sorted.  Facts that contradict
  // each other answer unknown, and these are which.
  std::vector<FactId> facts;
  bool is_contradiction = false;
  std::optional<Assignment> counterexample;  // for unknown, where found
  std::optional<Assignment> witness;         // for unknown, where found
  std::string reason;                        // one sentence
};

struct Limits;  // solver/limits.h

struct SolverOptions {
  bool use_z3 = true;          // when built with Z3
  bool machine_int64 = false;  // integer symbols lie in [-2**63, 2**63 - 1]
  uint64_t budget = 10000;     // native work units a question
  // What a call may do in all, Z3 apart: units of about 50 ns or 64 bytes
  // (sym/budget.h).  Past it the answer is unknown, a bound infinite, an
  // expression unsimplified; what is assumed holds, and less follows from it.
  uint64_t work_limit = 400'000;
  uint32_t z3_budget = 200000;  // Z3 resource units (rlimit) a question
  bool search_models = true;    // look for a counterexample when unknown
  // Decide with the facts in other orders, too, where theirs leaves a question
  // open or takes most of the budget.
  bool restart = true;
  StrategySet disabled_strategies = {};            // to see what they earn
  std::shared_ptr<const Limits> limits = nullptr;  // null: the defaults
};

// Of a strategy, or of another part that decides.
struct StrategyCount {
  uint64_t tried = 0;    // times it was applied
  uint64_t decided = 0;  // times it gave a yes or a no
  uint64_t work = 0;     // native units spent
};

struct Statistics {
  uint64_t questions = 0;
  // By tier, each question that no memo answered once: with memo_hits, the
  // questions.
  PerEnumerator<Tier, uint64_t, kTierCount> decided;
  PerEnumerator<Strategy, StrategyCount, kStrategyCount> by_strategy;
  // Before the strategies: questions and expressions read where the facts are
  // ranges of symbols, and those that this decided.
  StrategyCount box;
  // After them: looks for facts that contradict each other, and those that
  // found some.
  StrategyCount consistency;
  uint64_t memo_hits = 0;
  uint64_t z3_calls = 0;
  uint64_t work = 0;  // native units spent, on facts and questions
  [[nodiscard]] std::string to_string() const;
  // A line for each strategy that was tried, "box" and "consistency" around
  // them: name, tried, decided, work.
  [[nodiscard]] std::string strategies_to_string() const;
};

// Takes one line of text, without its end.
using LogSink = std::function<void(std::string_view line)>;

namespace internal {
class PROVISO_HIDDEN Engine;
struct PROVISO_HIDDEN Version;  // what was assumed since another version
class PROVISO_HIDDEN Trace;
class PROVISO_HIDDEN InterruptScope;
}  // namespace internal

// Throughout: an expression of another pool or of the wrong type, a null one,
// and a pool that is gone are an Error that names the call, in every build.
class Context {
 public:
  explicit Context(ExprPool& pool, SolverOptions options = {});
  ~Context();
  Context(Context&&) noexcept;
  // A Scope of the context that is given up does nothing at its end.
  Context& operator=(Context&&) noexcept;

  ExprPool& pool() const;
  const SolverOptions& options() const;

  // The symbol lies in `range` from here on.  Throws Error when `symbol` is not
  // a symbol.  Unbounded ranges may be declared too.
  FactId declare(Expr symbol, const Interval& range, Provenance origin = {});
  // The symbol has one of the values of `range`, which lie at equal distances.
  template <std::same_as<Strided> Range>  // so that {} is an Interval
  FactId declare(Expr symbol, const Range& range, Provenance origin = {}) {
    return declare_strided(symbol, range, std::move(origin));
  }
  // The condition holds (and is defined) from here on.  Throws Error when it is
  // not boolean.
  FactId assume(Expr condition, Provenance origin = {});

  Answer ask(Expr question);
  // The verdict of the native tiers alone, in the least time: no search for
  // counterexamples, no text.  Its tier and the facts it used are remembered.
  Verdict ask_quick(Expr question);
  // The tier (the facts) of the last answer to this question, while the facts
  // are the same; else kNone (none).  The facts alone imply a yes or a no.
  [[nodiscard]] Tier tier_of(Expr question) const;
  [[nodiscard]] std::vector<FactId> facts_used(Expr question) const;

  // Whether two expressions of one type have the same value wherever the facts
  // hold.
  Verdict equivalent(Expr a, Expr b);

  // Where `facts` is given below, it is set to facts that alone imply the
  // result, sorted: few where ask() proves it, else all that are connected to
  // the expression.

  // A superset of the values of an integer expression under the facts, with
  // ends moved in as far as ask() proves.
  Interval bounds(Expr e, std::vector<FactId>* facts = nullptr);
  // A range as wide or wider, by ranges and normal forms alone, in less time.
  Interval bounds_quick(Expr e);
  // bounds() with the distance between the values: start, stop and step.
  Strided strided(Expr e, std::vector<FactId>* facts = nullptr);
  // A number that divides every value of an integer expression: 8 for 8*u0, 0
  // for what is always 0.  As large as equalities and congruences imply.
  [[nodiscard]] Int multiple_of(Expr e, std::vector<FactId>* facts = nullptr);
  // The values that an integer expression can take, ascending; none that the
  // facts allow is missing.  nullopt when they may be more than `limit`.
  [[nodiscard]] std::optional<std::vector<Int>> values(
      Expr e, size_t limit = 64, std::vector<FactId>* facts = nullptr);
  // e with the equalities among the facts substituted: symbols that they
  // determine are replaced.
  [[nodiscard]] Expr substitute(Expr e, std::vector<FactId>* facts = nullptr);
  // The cheapest form found (sym/simplify.h) of what e is under the facts:
  // never costlier than e (sym/cost.h), a constant where ask() says that it is
  // one, with symbols that equalities determine substituted.
  [[nodiscard]] Expr simplify(Expr e, std::vector<FactId>* facts = nullptr);
  // The canonical form (sym/canonical.h), with divisions, Min/Max and relations
  // decided where the facts decide them at once.  Equal things are more often
  // the same than short; it takes a fraction of simplify()'s time.
  [[nodiscard]] Expr canonical(Expr e, std::vector<FactId>* facts = nullptr);

  // A context with the same facts; each goes its own way from here.  Taken in
  // constant time; going from one to the other costs what differs between them.
  // A clone shares the engine: use both on one thread.
  [[nodiscard]] Context clone();

  // Facts assumed after push() are forgotten by the matching pop().  Throws
  // Error when no push() is open, or when the innermost is a Scope's, which
  // pops it.
  void push();
  void pop();
  size_t depth() const;

  [[nodiscard]] std::vector<Fact> facts() const;  // in the order assumed
  [[nodiscard]] Fact fact(FactId id) const;
  // When the facts are known to contradict each other: which.
  [[nodiscard]] std::optional<std::vector<FactId>> contradiction() const;

  // Ends the call that runs on another thread, of this context or a clone,
  // within 1 ms of work and of writing what it returns, as if its limit were
  // reached; what it was asked is not remembered as unknown.  Does nothing when
  // no call runs.  The only member that another thread may call.
  void interrupt() const;

  // The counts of this context and its clones together.
  const Statistics& statistics() const;
  // The question and facts as an SMT-LIB script (a comment names each fact).
  [[nodiscard]] std::string to_smtlib(Expr question) const;

  // Each call from here on, of this context and its clones, as a line of text
  // from which it can be made again; an empty sink ends it.  Called on the
  // thread of the call, when it is done.  Without it, PROVISO_TRACE=FILE in the
  // environment writes the lines of every context to FILE.
  void set_log(LogSink sink);

 private:
  Context(std::shared_ptr<internal::Engine> engine,
          std::shared_ptr<internal::Version> at);
  class Call;
  FactId declare_strided(Expr symbol, const Strided& range, Provenance origin);
  std::shared_ptr<internal::Version> own_version();
  const internal::Version* innermost_scope() const;
  // nullptr where nothing is logged.
  internal::Trace* trace() const;
  void end_trace() noexcept;
  template <typename Write>
  void log(Write write) const;
  Expr rewritten(const char* name, Expr e, std::vector<FactId>* facts,
                 Expr (internal::Engine::*rewrite)(Expr));

  friend class Scope;
  friend class internal::InterruptScope;
  std::shared_ptr<internal::Engine> engine_;
  std::shared_ptr<internal::Version> at_;
  std::vector<const internal::Version*> of_scopes_;  // pushed by living Scopes
  // The trace that this context has a number in.
  mutable std::shared_ptr<internal::Trace> numbered_by_;
  mutable uint64_t number_ = 0;
};

// RAII push/pop.  What was pushed inside and not popped goes too; a Scope that
// an outer one has taken with it does nothing at its end.
class [[nodiscard]] Scope {
 public:
  explicit Scope(Context& context);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Context& context_;
  const std::shared_ptr<internal::Version> version_;
};

}  // namespace proviso::inline v0_2
PROVISO_API_END
