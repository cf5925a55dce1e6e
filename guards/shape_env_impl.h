// guards/shape_env_impl.h - the state of a ShapeEnv, shared by the files that
// implement it.  Not installed and not for use outside guards/.
//
//   shape_env.cc     the public calls, symbols and events
//   questions.cc     decide -> hint -> guard, assertion or error
//   learning.cc      what a new fact teaches: replacements and ranges
//   enforced_facts.cc       which assumptions were needed; minimal guards
//   violations.cc    broken promises of Dims and how to mend them
//   size_set.cc      which sizes satisfy conditions on one symbol
//   messages.cc      the texts
//   open_question.cc what was refused last, and answers to assume
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "guards/env/free_answers.h"
#include "guards/env/replacements.h"
#include "guards/env/session_facts.h"
#include "guards/env/session_log.h"
#include "guards/env/symbols.h"
#include "guards/open_question.h"
#include "guards/shape_env.h"

namespace proviso::inline v0_2 {
namespace internal {

// What the enforced facts alone give: input ranges, guards and assertions, and
// the assumptions that some answer could not do without.
struct EnforcedFacts {
  uint64_t version = 0;               // of the facts
  size_t decisions = 0, answers = 0;  // that were examined
  std::unique_ptr<Context> context;
  std::set<Expr, ExprLess> used;      // symbols whose ">= 2" was needed
  std::set<Expr, ExprLess> used_one;  // for which ">= 1" was enough
  std::vector<Guard> guards;          // answers that need less than these
  // The answers behind an assumption that is kept.
  std::map<Expr, std::vector<SourceLocation>, ExprLess> places;
};

}  // namespace internal
using namespace internal;  // for the files of ShapeEnv, which include this

struct ShapeEnv::Impl {
  struct VerdictMemo {
    Verdict verdict = Verdict::kUnknown;
    AskEffort effort = AskEffort::kQuick;
    uint64_t version = 0;  // unknown is forgotten when facts come
    bool logged = false;
  };
  struct RangeMemo {
    Interval range;
    uint64_t version = 0;
  };
  explicit Impl(ShapeEnvOptions opts);
  ~Impl();

  // --- questions.cc
  const std::vector<Expr>& symbols_of(Expr e) { return symbols.in(e); }
  bool depends_on_data(Expr e) { return symbols.depends_on_data(e); }
  std::optional<Value> hint(Expr e);
  bool bool_hint(Expr c, const char* call);
  Expr replaced(Expr e) { return replacements.apply(e); }
  Expr simplify(Expr e);  // the same, with what the facts decide
  const Interval& bounds(Expr e);
  bool has_decidable_part(Expr e);
  Verdict decide(Expr c, AskEffort effort = AskEffort::kQuick);
  std::optional<Int> static_value(Expr e);
  bool guard_bool(Expr condition, const SourceLocation& where,
                  const char* call);
  std::optional<Int> proved_value(Expr e);
  std::optional<Int> found_value(Expr e);
  Value guard_value(Expr e, const SourceLocation& where, const char* call);
  bool guard_or(Expr condition, bool otherwise, const SourceLocation& where,
                const char* call);
  bool guard_size_oblivious(Expr condition, const SourceLocation& where);
  bool expect_true(Expr condition, const SourceLocation& where,
                   const std::string& message, const char* call);
  void record_guard(Expr condition, Expr asked, const SourceLocation& where);
  void add_guards(Expr condition, Expr asked, const SourceLocation& where,
                  bool promised);
  void require(Expr condition, const SourceLocation& where);
  bool follows_from_promises(Expr condition);
  void know(Expr condition, const std::string& why);
  void record_assert(Expr condition, const SourceLocation& where,
                     const std::string& message);
  void note_origin(Expr asked, Expr question, Verdict verdict,
                   const SourceLocation& where);
  Int optimization_hint(Expr e, const Int& fallback);

  // --- learning.cc
  void assume(Expr condition, const SourceLocation& where, const char* what);
  void refine_ranges(Expr condition);
  void solve_equality(Expr equality);
  void set_replacement(Expr symbol, Expr target, const char* reason);

  // --- enforced_facts.cc
  std::unique_ptr<Context> enforced_context(bool with_guards);
  const EnforcedFacts& enforced();
  void examine_new(EnforcedFacts& view);
  void keep_unexamined(EnforcedFacts& view);
  void examine(EnforcedFacts& view, const FreeAnswers::Decision& decision);
  void examine(EnforcedFacts& view, const FreeAnswers::Branch& branch,
               bool as_range);
  void keep_assumptions(EnforcedFacts& view, const std::vector<Expr>& symbols);
  void keep_not_zero(EnforcedFacts& view, const std::vector<Expr>& symbols);
  std::vector<Expr> open_assumptions(const EnforcedFacts& view,
                                     const std::vector<Expr>& symbols);
  std::vector<Expr> connected_symbols(Expr question);
  std::vector<bool> sole_equalities(const std::vector<Guard>& all,
                                    Context& given);
  std::vector<Guard> minimal_guards();
  void add_needs(std::vector<Guard>& kept, Context& base);

  // --- violations.cc
  void check_constraints();

  // --- open_question.cc
  void refuse(Expr question, const std::string& text);

  // --- messages.cc
  DataDependentError data_dependent(Expr c, const SourceLocation& where,
                                    bool integer);

  ShapeEnvOptions options;
  SessionLog log;
  SessionFacts facts;
  ExprPool& pool = facts.pool();
  Context& context = facts.context();

  Symbols symbols{options, facts, log};
  Replacements replacements{symbols};
  FreeAnswers free_answers{symbols, facts};
  const Assignment& hints = symbols.hints();

  // Recorded conditions.
  std::vector<Expr> promises;  // given to require()
  std::vector<Guard> guards;
  std::unordered_map<Expr, size_t, ExprHash> guard_index;
  std::vector<RuntimeAssert> asserts;
  std::set<Expr, ExprLess> asserted;
  bool frozen = false;
  int suppressed = 0;

  std::map<Expr, Interval, ExprLess> ranges;  // last logged

  // Memos, by node id.
  std::unordered_map<uint32_t, VerdictMemo> verdicts;
  ExprMemo simplified_memo;
  std::unordered_map<uint32_t, bool> decidable_memo;
  std::unordered_map<uint32_t, RangeMemo> range_memo;

  EnforcedFacts enforced_facts;
  std::optional<OpenQuestion> open_question;
};

namespace internal {

// Adds `where` unless it is known or there are too many.
void add_origin(Guard& guard, const SourceLocation& where);
// Throws Error naming the call unless `e` has the type.
// Of an argument of ShapeEnv's calls: an expression of its pool, of this type.
void require_own(const ExprPool& pool, Expr e, const char* call);
void require_type(const ExprPool& pool, Expr e, Type type, const char* call);

}  // namespace internal

}  // namespace proviso::inline v0_2
