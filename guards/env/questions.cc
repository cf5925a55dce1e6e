#include "guards/env/questions.h"

#include "guards/conjuncts.h"
#include "sym/excerpt.h"
#include "sym/print.h"

namespace proviso::inline v0_2::internal {

namespace {

// An expression in an error.
std::string shown(Expr e) { return excerpt(e, kSentenceLength); }

}  // namespace

bool Questions::guard_bool(Expr condition, const SourceLocation& where,
                           const char* call) {
  if (suppressed_) {
    if (auto value = hints_.value(condition)) return std::get<bool>(*value);
  }
  auto [c, verdict] = decider_.answer(condition, "guard");
  if (verdict == Verdict::kUnknown && symbols_.depends_on_data(c)) {
    verdict = decider_.decide(c, AskMode::kFull);
    if (verdict == Verdict::kUnknown) return answer_open(c, where);
  }
  if (verdict != Verdict::kUnknown) {
    recorder_.note_branch(condition, c, verdict, where);
    return verdict == Verdict::kYes;
  }
  const bool holds = hints_.truth(c, call);
  const Expr asked = simplified(condition);
  if (!suppressed_) {
    recorder_.record_guard(holds ? c : negate(c), holds ? asked : negate(asked),
                           where);
  }
  return holds;
}

// Nothing decides the condition, which is on data.
bool Questions::answer_open(Expr condition, const SourceLocation& where) {
  const Int* answer = AssumedAnswers::of(condition);
  if (answer == nullptr) throw open_questions_.refuse(condition, where, false);
  const bool holds = *answer != Int(0);
  recorder_.record_assert(holds ? condition : negate(condition), where, "");
  return holds;
}

Value Questions::guard_value(Expr e, const SourceLocation& where,
                             const char* call) {
  if (suppressed_) {
    if (auto value = hints_.value(e)) return *value;
  }
  const Expr c = decider_.simplify(e);
  if (c.is(Op::kRational)) return c.rational();
  if (c.is_int()) {
    if (auto value = decider_.static_value(c)) return *value;
  }
  if (symbols_.depends_on_data(c)) return open_value(c, where);
  const Value value = hints_.defined_value(c, call);
  if (suppressed_) return value;
  if (std::holds_alternative<double>(value)) {
    // No guard says that a root is 2.23606..: what it is of is fixed.
    for (Expr symbol : free_symbols(c)) fix(symbol, c, where, call);
  } else {
    fix(c, c, where, call);
  }
  return value;
}

// `e`, which `asked` needs, is what it is for the example.
void Questions::fix(Expr e, Expr asked, const SourceLocation& where,
                    const char* call) {
  const Value value = hints_.defined_value(e, call);
  Expr exact;
  if (auto* i = std::get_if<Int>(&value)) {
    exact = e.pool().integer(*i);
  } else if (auto* r = std::get_if<Rational>(&value)) {
    exact = e.pool().rational(*r);
  } else {
    throw GuardError(std::string(call) + ": " + excerpt(asked) +
                     " has no exact value at the example inputs; a guard on "
                     "it cannot be written");
  }
  const Expr condition = simplified(eq(e, exact));
  recorder_.record_guard(condition, condition, where);
}

// The value of an expression of data, which nothing decides.
Value Questions::open_value(Expr e, const SourceLocation& where) {
  if (e.is_int()) {
    if (auto value = decider_.proved_value(e)) return *value;
    if (const Int* value = AssumedAnswers::of(e)) {
      recorder_.record_assert(eq(e, e.pool().integer(*value)), where, "");
      return *value;
    }
  }
  throw open_questions_.refuse(e, where, true);
}

bool Questions::guard_or(Expr condition, bool otherwise,
                         const SourceLocation& where, const char* call) {
  const auto [c, verdict] = decider_.answer(
      condition, otherwise ? "guard_or_true" : "guard_or_false");
  if (verdict != Verdict::kUnknown) {
    recorder_.note_answer(condition, c, verdict, where);
    return verdict == Verdict::kYes;
  }
  if (symbols_.may_stay_open(c)) return otherwise;
  return guard_bool(condition, where, call);
}

bool Questions::guard_size_oblivious(Expr condition,
                                     const SourceLocation& where) {
  const auto [c, known] = decider_.answer(condition, "size_oblivious");
  if (known == Verdict::kUnknown && symbols_.depends_on_data(c)) {
    const Verdict verdict = decider_.decide_size_oblivious(c);
    if (verdict != Verdict::kUnknown) return verdict == Verdict::kYes;
  }
  return guard_bool(condition, where, "guard_size_oblivious");
}

bool Questions::expect_true(Expr condition, const SourceLocation& where,
                            const std::string& message, const char* call) {
  if (suppressed_) {
    const std::optional<Value> value = hints_.value(condition);
    return !value || std::get<bool>(*value);
  }
  const auto [c, verdict] = decider_.answer(condition, "assert");
  // An equality of sizes that follows is recorded even so (recorder.h).
  const bool is_equality = verdict == Verdict::kYes && equates_sizes(c);
  if (verdict != Verdict::kUnknown && !is_equality) {
    recorder_.note_branch(condition, c, verdict, where);
    return verdict == Verdict::kYes;
  }
  if (symbols_.depends_on_data(c)) {
    recorder_.record_assert(simplified(condition), where, message);
    return true;
  }
  // Who calls raises, and may catch that: then the other side is a branch, too.
  const bool holds = hints_.truth(c, call);
  recorder_.record_guard(holds ? c : negate(c),
                         holds ? simplified(condition) : negate(condition),
                         where);
  return holds;
}

void Questions::constrain_range(Expr e, std::optional<Int> min,
                                std::optional<Int> max,
                                const SourceLocation& where) {
  ExprPool& pool = e.pool();
  if (min && max && *min > *max) {
    throw Error("constrain_range: min " + shown(pool.integer(*min)) +
                " is greater than max " + shown(pool.integer(*max)) + " for " +
                shown(e) + "; give min <= max");
  }
  const auto expect = [&](Expr condition) {
    if (expect_true(condition, where, "", "constrain_range")) return;
    throw GuardError("constrain_range: " + shown(e) + " is known to break " +
                     shown(condition) +
                     (where.line ? " at " + where.to_string() : ""));
  };
  if (min) expect(ge(e, pool.integer(*min)));
  if (max) expect(le(e, pool.integer(*max)));
}

void Questions::runtime_assert(Expr condition, const SourceLocation& where,
                               const std::string& message) {
  if (expect_true(condition, where, message, "runtime_assert")) return;
  throw GuardError("Runtime assertion failed for expression " +
                   excerpt(condition, kMessageLength) +
                   (message.empty() ? "" : ": " + message) +
                   (where.line ? "\nCaused by: " + where.to_string() : ""));
}

// An example on the other side shows that it is not known.  A layout that is
// chosen so is that of sizes on the example's side.
bool Questions::is_known(Expr condition, bool side) {
  const std::optional<Value> sample = hints_.value(condition);
  if (sample && std::get<bool>(*sample) != side) {
    recorder_.note_layout_condition(condition, !side);
    return false;
  }
  return decider_.answer(condition, "static").verdict ==
         (side ? Verdict::kYes : Verdict::kNo);
}

bool Questions::has_static_value(Expr e) {
  if (e.is_bool()) {
    return decider_.answer(e, "static").verdict != Verdict::kUnknown;
  }
  const Expr s = decider_.simplify(e);
  if (s.is_constant()) return true;
  return e.is_int() && decider_.static_value(s).has_value();
}

Int Questions::guarding_hint(Expr e) {
  const std::optional<Value> value = hints_.value(e);
  if (!value) {
    throw open_questions_.refuse(e, {}, !e.is_bool());
  }
  if (auto* truth = std::get_if<bool>(&*value)) return Int(*truth ? 1 : 0);
  if (auto* integer = std::get_if<Int>(&*value)) return *integer;
  throw Error("guarding_hint_or_throw: expected an integer or a boolean, got " +
              shown(e) + " (float)");
}

}  // namespace proviso::inline v0_2::internal
