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

#include "guards/env/session_facts.h"
#include "guards/env/session_log.h"
#include "guards/open_question.h"
#include "guards/shape_env.h"

namespace proviso::inline v0_2 {
namespace internal {

// Quick: Context::ask_quick; full: Context::ask.
enum class AskEffort : uint8_t { kQuick, kFull };

// A place in the program whose question was answered without a guard.
struct Need {
  Expr question;
  SourceLocation where;
};

// An answer that cost no guard.
struct DecidedQuestion {
  Expr question;
  Verdict verdict;
  AskEffort effort;
};

// A branch or a check whose answer cost no guard: what held.
struct Answered {
  Expr condition;
  SourceLocation where;
};

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
  struct ExprMemo {
    Expr value;
    uint64_t version = 0;
  };
  struct RangeMemo {
    Interval range;
    uint64_t version = 0;
  };
  struct NamedDim {
    DimConstraint constraint;
    Expr expr;
    int64_t hint;
    std::string source;
  };

  explicit Impl(ShapeEnvOptions opts);
  ~Impl();

  // --- shape_env.cc
  Expr create_size(int64_t hint, const std::string& source,
                   const DimConstraint& constraint);
  Expr new_size_symbol(int64_t hint, const std::string& source,
                       const Interval& promised);
  Expr new_backed(SymbolKind kind, const std::string& prefix, int number,
                  const Value& hint, const std::string& source,
                  const Interval& range);
  Expr new_unbacked(SymbolKind kind, const Interval& range,
                    const std::string& source = "");
  Expr new_unbacked_size(const std::string& source, const Interval& range);
  std::optional<Expr> known_named_dim(int64_t hint, const std::string& source,
                                      const DimConstraint& constraint);
  void declare(Expr symbol, const Interval& range, const std::string& text);

  // --- questions.cc
  const std::vector<Expr>& symbols_of(Expr e);
  bool depends_on_data(Expr e);
  std::optional<Value> hint(Expr e);
  bool bool_hint(Expr c, const char* call);
  static ExprMemo& memo_of(std::vector<ExprMemo>& memos, Expr e);
  Expr replaced(Expr e);  // replacements applied, canonical
  Expr simplify(Expr e);  // the same, with what the facts decide
  const Interval& bounds(Expr e);
  bool has_decidable_part(Expr e);
  Expr negate(Expr condition);
  Verdict decide(Expr c, AskEffort effort = AskEffort::kQuick);
  void log_decision(Expr question, Verdict verdict, AskEffort effort);
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
  void note_answer(Expr question, Verdict verdict, const SourceLocation& where);
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
  void examine(EnforcedFacts& view, const DecidedQuestion& decision);
  void examine(EnforcedFacts& view, const Answered& answer, bool as_range);
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
  std::string source_name(Expr symbol) const;

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

  // Symbols.
  int backed_count = 0, float_count = 0;
  int unbacked_count = 0, unbacked_float_count = 0;
  Assignment hints;
  std::vector<InputDim> dims;
  std::map<std::string, NamedDim> named;
  std::map<int64_t, Expr> duck_sizes;
  std::set<Expr, ExprLess> size_like;

  // Recorded conditions.
  std::vector<Expr> promises;  // given to require()
  std::vector<Guard> guards;
  std::unordered_map<Expr, size_t, ExprHash> guard_index;
  std::vector<RuntimeAssert> asserts;
  std::set<Expr, ExprLess> asserted;
  bool frozen = false;
  int suppressed = 0;
  int layout_depth = 0;  // LayoutQuestions alive

  // What was learnt.  Targets are fully resolved: no key occurs in a target.
  std::map<Expr, Expr, ExprLess> replacements;
  std::unordered_map<Expr, Expr, ExprHash> replacement_map;
  // Equalities between data: only to choose consistent optimization hints.
  std::map<Expr, Expr, ExprLess> data_equalities;
  std::map<Expr, Interval, ExprLess> ranges;  // last logged
  uint64_t replacement_version = 1;

  // Memos, by node id.
  std::unordered_map<uint32_t, VerdictMemo> verdicts;
  std::vector<ExprMemo> replaced_memo, simplified_memo;
  std::unordered_map<uint32_t, std::vector<Expr>> symbols_memo;
  std::unordered_map<uint32_t, bool> decidable_memo;
  std::unordered_map<uint32_t, RangeMemo> range_memo;

  std::vector<Need> needs;
  std::set<std::tuple<uint32_t, int, std::string>> noted_needs;

  std::vector<DecidedQuestion> decisions;
  std::set<uint32_t> decided_ids;
  std::vector<Answered> answers;
  std::set<uint32_t> answered_ids;  // of their questions
  bool too_many_decisions = false;
  EnforcedFacts enforced_facts;
  std::optional<OpenQuestion> open_question;
};

namespace internal {

// Adds `where` unless it is known or there are too many.
void add_origin(Guard& guard, const SourceLocation& where);
// Eq(s0, s1)
bool equates_sizes(Expr condition);
// "L['x'].size()[0]" -> "x.size()[0]".
std::string display_name_of(const std::string& source);
// Throws Error naming the call unless `e` has the type.
// Of an argument of ShapeEnv's calls: an expression of its pool, of this type.
void require_own(const ExprPool& pool, Expr e, const char* call);
void require_type(const ExprPool& pool, Expr e, Type type, const char* call);

}  // namespace internal

}  // namespace proviso::inline v0_2
