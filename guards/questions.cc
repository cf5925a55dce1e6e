// Questions climb: constant -> decided by the facts -> the hint and a guard ->
// an assertion, the caller's default, or an error.

#include <algorithm>
#include <tuple>

#include "guards/conjuncts.h"
#include "guards/shape_env_impl.h"
#include "sym/print.h"
#include "sym/simplify.h"
#include "sym/within.h"

namespace proviso::inline v0_2 {
using namespace internal;

namespace {

constexpr uint64_t kProofUnits = 1'000'000;  // for the value of an expression

bool is_decidable_op(Op op) {
  if (is_integer_division(op)) return true;
  switch (op) {
    case Op::kMin:
    case Op::kMax:
    case Op::kAbs:
    case Op::kWhere:
    case Op::kTruncToInt:
    case Op::kCeilToInt:
    case Op::kFloorToInt:
    case Op::kRoundToInt: return true;
    default: return false;
  }
}

bool subset(const std::vector<Expr>& inner, const std::vector<Expr>& outer) {
  return std::all_of(inner.begin(), inner.end(), [&](Expr e) {
    return std::find(outer.begin(), outer.end(), e) != outer.end();
  });
}

}  // namespace

std::optional<Value> ShapeEnv::Impl::hint(Expr e) {
  if (depends_on_data(e)) {
    e = replaced(e);
    if (depends_on_data(e)) return std::nullopt;
  }
  return evaluate(e, hints).value;
}

// Requires that no symbol of `c` depends on data.
bool ShapeEnv::Impl::bool_hint(Expr c, const char* call) {
  Evaluation r = evaluate(c, hints);
  if (r.defined()) return std::get<bool>(*r.value);
  throw GuardError(std::string(call) + ": " + to_string(c, 200) +
                   " is undefined at the example inputs (" + r.why +
                   "); choose other example sizes");
}

bool ShapeEnv::Impl::has_decidable_part(Expr e) {
  if (is_leaf(e.op())) return false;
  visit_arguments_first(
      e,
      [&](Expr x) {
        return is_leaf(x.op()) || decidable_memo.contains(x.id());
      },
      [&](Expr x) {
        const auto args = x.args();
        decidable_memo[x.id()] =
            is_decidable_op(x.op()) ||
            std::any_of(args.begin(), args.end(), [&](Expr arg) {
              return !is_leaf(arg.op()) && decidable_memo.at(arg.id());
            });
      });
  return decidable_memo.at(e.id());
}

// A rewrite that leans on facts is an answer like any other, so it is logged.
// What leans on an assumption is not made: Max(0, s0 - 2) is right for every
// size, and s0 - 2 from two on.
Expr ShapeEnv::Impl::simplify(Expr e) {
  Expr r = replaced(e);
  if (r.is_bool() || !has_decidable_part(r)) return r;
  const ExprMemo::Entry memo = simplified_memo[r];
  if (memo.version == facts.version()) return memo.value;
  Expr s = context.canonical(r);
  if (s != r && s.type() == r.type() && subset(symbols_of(s), symbols_of(r)) &&
      !facts.leans_on_assumption(eq(r, s))) {
    free_answers.add_decision(eq(r, s), Verdict::kYes, AskEffort::kFull);
    s = replaced(s);
  } else {
    s = r;
  }
  simplified_memo[r] = {s, facts.version()};
  return s;
}

const Interval& ShapeEnv::Impl::bounds(Expr e) {
  const Expr r = replaced(e);
  RangeMemo& memo = range_memo[r.id()];
  if (memo.version != facts.version())
    memo = {without_machine_ends(context.bounds_quick(r)), facts.version()};
  return memo.range;
}

// Yes and no hold for ever, as facts are only added; unknown is asked again
// when there are new ones.
Verdict ShapeEnv::Impl::decide(Expr c, AskEffort effort) {
  if (c.is_true()) return Verdict::kYes;
  if (c.is_false()) return Verdict::kNo;
  VerdictMemo& memo = verdicts[c.id()];
  const size_t line = log.add_question(c, memo.verdict);
  const auto remember = [&] {
    if (memo.logged || free_answers.is_layout()) return;
    memo.logged = true;
    free_answers.add_decision(c, memo.verdict, memo.effort);
  };
  if (memo.verdict != Verdict::kUnknown) {
    remember();
    return memo.verdict;
  }
  if (memo.version == facts.version() && memo.effort >= effort)
    return memo.verdict;
  Verdict verdict = effort == AskEffort::kFull ? context.ask(c).verdict
                                               : context.ask_quick(c);
  memo = {verdict, effort, facts.version(), false};
  log.set_verdict(line, verdict);
  if (verdict != Verdict::kUnknown) remember();
  return verdict;
}

std::optional<Int> ShapeEnv::Impl::static_value(Expr e) {
  if (e.is(Op::kInteger)) return e.integer();
  Interval range = context.bounds_quick(e);
  if (!range.is_point()) return std::nullopt;
  free_answers.add_decision(eq(e, pool.integer(*range.lower())), Verdict::kYes,
                            AskEffort::kFull);
  return range.lower();
}

bool ShapeEnv::Impl::guard_bool(Expr condition, const SourceLocation& where,
                                const char* call) {
  require_type(pool, condition, Type::kBool, call);
  if (suppressed) {
    if (auto value = hint(condition)) return std::get<bool>(*value);
  }
  Expr c = replaced(condition);
  log.set_query("guard");
  Verdict verdict = decide(c);
  if (verdict == Verdict::kUnknown && depends_on_data(c)) {
    verdict = decide(c, AskEffort::kFull);
    if (verdict == Verdict::kUnknown) {
      const Int* answer = AssumedAnswers::of(c);
      if (answer == nullptr) throw data_dependent(c, where, false);
      const bool holds = *answer != Int(0);
      record_assert(holds ? c : negate(c), where, "");
      return holds;
    }
  }
  if (verdict != Verdict::kUnknown) {
    note_origin(condition, c, verdict, where);
    free_answers.add_branch(c, verdict, where);
    return verdict == Verdict::kYes;
  }
  bool value = bool_hint(c, call);
  Expr asked = proviso::simplify(condition);
  if (!suppressed) {
    record_guard(value ? c : negate(c), value ? asked : negate(asked), where);
  }
  return value;
}

// The one value that the facts allow: where its ends meet, or a small one that
// is proved, as counts of pieces are.
std::optional<Int> ShapeEnv::Impl::proved_value(Expr e) {
  uint64_t units = kProofUnits;
  const std::optional<Int> value =
      within(units, [&] { return found_value(e); }).value_or(std::nullopt);
  if (!value) return std::nullopt;
  free_answers.add_decision(eq(e, pool.integer(*value)), Verdict::kYes,
                            AskEffort::kFull);
  return value;
}

std::optional<Int> ShapeEnv::Impl::found_value(Expr e) {
  constexpr int kMostTried = 8;
  const Interval range = context.bounds(e);
  std::optional<Int> value;
  if (range.is_point()) value = range.lower();
  const Int first =
      range.lower() && *range.lower() > Int(0) ? *range.lower() : Int(0);
  for (int i = 0; !value && i < kMostTried; ++i) {
    const Int candidate = first + Int(i);
    if (!range.contains(candidate)) break;
    const Answer answer = context.ask(eq(e, pool.integer(candidate)));
    if (answer.verdict == Verdict::kYes) value = candidate;
    // A point with it and one without: there is no one value.
    if (answer.counterexample && answer.witness) break;
  }
  return value;
}

Value ShapeEnv::Impl::guard_value(Expr e, const SourceLocation& where,
                                  const char* call) {
  if (suppressed) {
    if (auto value = hint(e)) return *value;
  }
  Expr c = simplify(e);
  if (c.is(Op::kRational)) return c.rational();
  if (c.is_int()) {
    if (auto value = static_value(c)) return *value;
  }
  if (depends_on_data(c)) {
    if (c.is_int()) {
      if (auto value = proved_value(c)) return *value;
      if (const Int* value = AssumedAnswers::of(c)) {
        record_assert(eq(c, pool.integer(*value)), where, "");
        return *value;
      }
    }
    throw data_dependent(c, where, true);
  }
  Evaluation r = evaluate(c, hints);
  if (!r.defined()) {
    throw GuardError(std::string(call) + ": " + to_string(c, 200) +
                     " is undefined at the example inputs (" + r.why +
                     "); choose other example sizes");
  }
  if (suppressed) return *r.value;
  if (auto* i = std::get_if<Int>(&*r.value)) {
    Expr condition = proviso::simplify(eq(c, pool.integer(*i)));
    record_guard(condition, condition, where);
  } else {
    auto* exact = std::get_if<Rational>(&*r.value);
    if (!exact) {
      throw GuardError(std::string(call) + ": " + to_string(c, 200) +
                       " has no exact value at the example inputs; a guard on "
                       "it cannot be written");
    }
    Expr condition = proviso::simplify(eq(c, pool.rational(*exact)));
    record_guard(condition, condition, where);
  }
  return *r.value;
}

bool ShapeEnv::Impl::guard_or(Expr condition, bool otherwise,
                              const SourceLocation& where, const char* call) {
  require_type(pool, condition, Type::kBool, call);
  Expr c = replaced(condition);
  log.set_query(otherwise ? "guard_or_true" : "guard_or_false");
  Verdict verdict = decide(c);
  if (verdict != Verdict::kUnknown) {
    note_origin(condition, c, verdict, where);
    return verdict == Verdict::kYes;
  }
  if (depends_on_data(c) || options.backed_size_oblivious) return otherwise;
  return guard_bool(condition, where, call);
}

// As PyTorch defines it: undecided data sizes are taken to be >= 2.  The answer
// may differ from the program's at sizes 0 and 1, so it is not remembered.
bool ShapeEnv::Impl::guard_size_oblivious(Expr condition,
                                          const SourceLocation& where) {
  require_type(pool, condition, Type::kBool, "guard_size_oblivious");
  Expr c = replaced(condition);
  log.set_query("size_oblivious");
  if (decide(c) == Verdict::kUnknown && depends_on_data(c)) {
    Scope scope(context);
    for (Expr s : symbols_of(c)) {
      if (!symbols.is_size_like(s)) continue;
      context.assume(ge(s, 2),
                     {"size-oblivious: " + s.symbol().name + " >= 2", "", 0});
    }
    Verdict verdict = context.ask_quick(c);
    if (verdict != Verdict::kUnknown) return verdict == Verdict::kYes;
  }
  return guard_bool(condition, where, "guard_size_oblivious");
}

bool ShapeEnv::Impl::expect_true(Expr condition, const SourceLocation& where,
                                 const std::string& message, const char* call) {
  require_type(pool, condition, Type::kBool, call);
  if (suppressed) {
    std::optional<Value> value = hint(condition);
    return !value || std::get<bool>(*value);
  }
  Expr c = replaced(condition);
  log.set_query("assert");
  Verdict verdict = decide(c);
  const bool is_equality = verdict == Verdict::kYes && equates_sizes(c);
  if (verdict != Verdict::kUnknown && !is_equality) {
    note_origin(condition, c, verdict, where);
    free_answers.add_branch(c, verdict, where);
    return verdict == Verdict::kYes;
  }
  if (!depends_on_data(c)) {
    if (!bool_hint(c, call)) return false;
    // An equality that follows is a guard too: from here on they are one size,
    // and what it followed from may be needed no more.
    record_guard(c, proviso::simplify(condition), where);
    return true;
  }
  record_assert(proviso::simplify(condition), where, message);
  return true;
}

// Records the parts of `condition` that are not known yet.  `asked` is the same
// condition before replacements: a later equal question finds it by that form.
void ShapeEnv::Impl::record_guard(Expr condition, Expr asked,
                                  const SourceLocation& where) {
  if (options.prefer_deferred_runtime_asserts_over_guards) {
    return record_assert(condition, where, "");
  }
  add_guards(condition, asked, where, false);
}

void ShapeEnv::Impl::add_guards(Expr condition, Expr asked,
                                const SourceLocation& where, bool promised) {
  for (Expr part : conjuncts(condition)) {
    part = replaced(part);
    if (promised ? follows_from_promises(part)
                 : decide(part) == Verdict::kYes && !equates_sizes(part)) {
      continue;
    }
    const size_t index = guards.size();
    guards.push_back({part, {where}, promised});
    guard_index.try_emplace(part, index);
    guard_index.try_emplace(asked, index);
    log.emit("eval", to_string(part),
             "eval " + to_string(part) +
                 (frozen ? " [guard added after freeze]" : " [guard added]"),
             where);
    assume(part, where, "guard ");
  }
}

void ShapeEnv::Impl::require(Expr condition, const SourceLocation& where) {
  require_type(pool, condition, Type::kBool, "require");
  std::optional<Value> sample = hint(condition);
  if (!sample || !std::get<bool>(*sample)) {
    throw ConstraintViolationError(
        (where.code.empty() ? to_string(condition, 2000) : where.code) +
        " does not hold for the example sizes");
  }
  Expr asked = proviso::simplify(condition);
  promises.push_back(asked);
  Expr c = replaced(condition);
  add_guards(c, asked, where, true);
}

// Not where it leans on an assumption, which is no promise: `s != 1` would be
// promised as s >= 2, and refuse 0.
bool ShapeEnv::Impl::follows_from_promises(Expr condition) {
  if (facts.leans_on_assumption(condition)) return false;
  return decide(condition) == Verdict::kYes;
}

void ShapeEnv::Impl::know(Expr condition, const std::string& why) {
  require_type(pool, condition, Type::kBool, "know");
  facts.know(condition, why);
}

// The condition is kept as it was asked: an equality that becomes a replacement
// would otherwise assert that a value equals itself.
void ShapeEnv::Impl::record_assert(Expr condition, const SourceLocation& where,
                                   const std::string& message) {
  for (Expr part : conjuncts(condition)) {
    if (decide(replaced(part)) == Verdict::kYes) continue;
    if (!asserted.insert(part).second) continue;
    std::string text = to_string(part);
    asserts.push_back({part, where,
                       message.empty()
                           ? "Runtime assertion failed for expression " + text
                           : message});
    log.emit("runtime_assert", text,
             "runtime_assert " + text + " [guard added]", where);
    assume(part, where, "assert ");
  }
}

void ShapeEnv::Impl::note_origin(Expr asked, Expr question, Verdict verdict,
                                 const SourceLocation& where) {
  if (where.line == 0 || guards.empty()) return;
  free_answers.add_place(question, where);
  Expr c = proviso::simplify(asked);
  auto it = guard_index.find(verdict == Verdict::kYes ? c : negate(c));
  if (it != guard_index.end()) add_origin(guards[it->second], where);
}

// A plausible value for choosing between correct plans: data symbols take the
// fallback, cut to their ranges.  Equal data gets equal values.
Int ShapeEnv::Impl::optimization_hint(Expr e, const Int& fallback) {
  auto as_int = [&](const std::optional<Value>& v) -> Int {
    if (!v) return fallback;
    if (auto* truth = std::get_if<bool>(&*v)) return Int(*truth ? 1 : 0);
    if (auto* exact = std::get_if<Rational>(&*v)) return trunc(*exact);
    if (auto* integer = std::get_if<Int>(&*v)) return *integer;
    return fallback;
  };
  if (auto value = hint(e)) return as_int(value);
  const Expr r = replacements.apply_equal_data(simplify(e));
  Assignment point = hints;
  for (Expr s : symbols_of(r)) {
    if (point.find(s)) continue;
    Interval range = context.bounds_quick(s);
    Int value = fallback;
    if (range.lower() && value < *range.lower()) value = *range.lower();
    if (range.upper() && value > *range.upper()) value = *range.upper();
    point.set(s, value);
  }
  return as_int(evaluate(r, point).value);
}

}  // namespace proviso::inline v0_2
