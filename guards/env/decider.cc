#include "guards/env/decider.h"

#include <algorithm>

#include "solver/interrupt_scope.h"
#include "sym/budget.h"

namespace proviso::inline v0_2::internal {

namespace {

bool is_decidable_op(Op op) {
  const OpKind kind = info(op).kind;
  return is_integer_division(op) || kind == OpKind::kExtremum ||
         kind == OpKind::kAbs || kind == OpKind::kWhere ||
         kind == OpKind::kRounding;
}

constexpr uint64_t kNeverAgain = ~uint64_t{0};  // no version of the facts

bool subset(const std::vector<Expr>& inner, const std::vector<Expr>& outer) {
  return std::all_of(inner.begin(), inner.end(), [&](Expr e) {
    return std::find(outer.begin(), outer.end(), e) != outer.end();
  });
}

}  // namespace

Decider::Answered Decider::answer(Expr condition, const char* kind) {
  const Expr question = replacements_.apply(condition);
  log_.set_query(kind);
  return {question, decide(question)};
}

Verdict Decider::decide_size_oblivious(Expr condition) {
  Context& context = facts_.context();
  const Scope scope(context);
  for (Expr s : symbols_.in(condition)) {
    if (!symbols_.is_size_like(s)) continue;
    context.assume(ge(s, 2),
                   {"size-oblivious: " + s.symbol().name + " >= 2", "", 0});
  }
  return for_questions_.within([&] { return context.ask_quick(condition); })
      .value_or(Verdict::kUnknown);
}

bool Decider::is_open(Expr condition) {
  return for_questions_
             .within([&] { return facts_.context().ask_quick(condition); })
             .value_or(Verdict::kUnknown) == Verdict::kUnknown;
}

// Yes and no hold for ever, as facts are only added; unknown is asked again
// when there are new ones.
Verdict Decider::decide(Expr condition, AskMode mode) {
  if (condition.is_true()) return Verdict::kYes;
  if (condition.is_false()) return Verdict::kNo;
  VerdictMemo& memo = verdicts_[condition.id()];
  const size_t line = log_.add_question(condition, memo.verdict);
  if (memo.verdict != Verdict::kUnknown) {
    add_to_unguarded_answers(condition, memo);
    return memo.verdict;
  }
  if (memo.version == facts_.version() && memo.mode >= mode)
    return memo.verdict;
  Context& context = facts_.context();
  const Verdict verdict = for_questions_
                              .within([&] {
                                return mode == AskMode::kFull
                                           ? context.ask(condition).verdict
                                           : context.ask_quick(condition);
                              })
                              .value_or(Verdict::kUnknown);
  log_.set_verdict(line, verdict);
  const bool is_cut =
      InterruptScope::is_interrupted() || Budget::units_left() == 0;
  if (verdict == Verdict::kUnknown && is_cut) return verdict;
  memo = {verdict, mode, facts_.version(), false};
  if (verdict != Verdict::kUnknown) add_to_unguarded_answers(condition, memo);
  return verdict;
}

// An answer that only chose strides is added when another question gets it, or
// the program looks at the strides.
void Decider::add_to_unguarded_answers(Expr condition, VerdictMemo& memo) {
  if (memo.is_added) return;
  if (unguarded_answers_.is_layout()) {
    unguarded_answers_.add_layout_decision(condition, memo.verdict, memo.mode);
    return;
  }
  memo.is_added = true;
  unguarded_answers_.add_decision(condition, memo.verdict, memo.mode);
}

bool Decider::is_known_without_assumptions(Expr condition) {
  if (facts_.leans_on_assumption(condition)) return false;
  return decide(condition) == Verdict::kYes;
}

bool Decider::has_decidable_part(Expr e) {
  if (is_leaf(e.op())) return false;
  visit_arguments_first(
      e,
      [&](Expr x) {
        return is_leaf(x.op()) || has_decidable_part_.contains(x.id());
      },
      [&](Expr x) {
        const auto args = x.args();
        has_decidable_part_[x.id()] =
            is_decidable_op(x.op()) ||
            std::any_of(args.begin(), args.end(), [&](Expr arg) {
              return !is_leaf(arg.op()) && has_decidable_part_.at(arg.id());
            });
      });
  return has_decidable_part_.at(e.id());
}

// A rewrite by facts is an answer like any other.  One that uses an assumption
// is not made: Max(0, s0 - 2) is right for every size, and s0 - 2 from two on.
// Nor is one that is not proved by itself, as of Max(1, s0)**0.5: what it uses
// is not known.
Expr Decider::simplify(Expr e) {
  const Expr r = replacements_.apply(e);
  if (r.is_bool() || !has_decidable_part(r)) return r;
  const ExprMemo::Entry memo = simplified_[r];
  if (memo.version == facts_.version()) return memo.value;
  const Expr s = for_sizes_.within([&] { return rewritten(r); }).value_or(r);
  if (!InterruptScope::is_interrupted()) simplified_[r] = {s, facts_.version()};
  return s;
}

Expr Decider::rewritten(Expr r) {
  const Expr s = facts_.context().canonical(r);
  if (s == r || s.type() != r.type() ||
      !subset(symbols_.in(s), symbols_.in(r)) ||
      (!facts_.assumed().empty() && !is_known_without_assumptions(eq(r, s))))
    return r;
  unguarded_answers_.add_decision(eq(r, s), Verdict::kYes, AskMode::kFull);
  return replacements_.apply(s);
}

const Interval& Decider::bounds(Expr e) {
  const Expr r = replacements_.apply(e);
  RangeMemo& memo = ranges_[r.id()];
  if (memo.version != facts_.version()) {
    memo = {without_machine_ends(facts_.context().bounds_quick(r)),
            facts_.version()};
    if (InterruptScope::is_interrupted()) memo.version = kNeverAgain;
  }
  return memo.range;
}

std::optional<Int> Decider::static_value(Expr e) {
  if (e.is(Op::kInteger)) return e.integer();
  const Interval range = facts_.context().bounds_quick(e);
  if (!range.is_point()) return std::nullopt;
  unguarded_answers_.add_decision(eq(e, facts_.pool().integer(*range.lower())),
                                  Verdict::kYes, AskMode::kFull);
  return range.lower();
}

std::optional<Int> Decider::proved_value(Expr e) {
  uint64_t units = fixed::value_units;
  const std::optional<Int> value = InterruptScope::within(units, [&] {
                                     return find_value(e);
                                   }).value_or(std::nullopt);
  if (!value) return std::nullopt;
  unguarded_answers_.add_decision(eq(e, facts_.pool().integer(*value)),
                                  Verdict::kYes, AskMode::kFull);
  return value;
}

std::optional<Int> Decider::find_value(Expr e) {
  Context& context = facts_.context();
  const Interval range = context.bounds(e);
  if (range.is_point()) return range.lower();
  const Int first =
      range.lower() && *range.lower() > Int(0) ? *range.lower() : Int(0);
  for (int i = 0; i < fixed::tried_values; ++i) {
    const Int candidate = first + Int(i);
    if (!range.contains(candidate)) break;
    const Answer answer = context.ask(eq(e, facts_.pool().integer(candidate)));
    if (answer.verdict == Verdict::kYes) return candidate;
    // A point with it and one without: there is no one value.
    if (answer.counterexample && answer.witness) break;
  }
  return std::nullopt;
}

}  // namespace proviso::inline v0_2::internal
