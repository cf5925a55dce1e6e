#include "guards/env/recorder.h"

#include "guards/conjuncts.h"
#include "guards/fixed_limits.h"
#include "solver/interrupt_scope.h"
#include "sym/excerpt.h"
#include "sym/print.h"

namespace proviso::inline v0_2::internal {

namespace {

bool is_same_place(const SourceLocation& a, const SourceLocation& b) {
  return a.line == b.line && a.file == b.file && a.code == b.code;
}

}  // namespace

void add_origin(Guard& guard, const SourceLocation& where) {
  if (guard.origins.size() >= fixed::guard_origins) return;
  for (const SourceLocation& known : guard.origins) {
    if (is_same_place(known, where)) return;
  }
  guard.origins.push_back(where);
}

void Recorder::record_guard(Expr condition, Expr asked,
                            const SourceLocation& where) {
  if (options_.prefer_deferred_runtime_asserts_over_guards) {
    return record_assert(condition, where, "");
  }
  add_guards(condition, asked, where, false);
}

// A promise that follows by an assumption is no promise yet: `s != 1` would be
// promised as s >= 2, and refuse 0.
void Recorder::add_guards(Expr condition, Expr asked,
                          const SourceLocation& where, bool is_promised) {
  uint64_t units = fixed::recorded_part_units;
  const auto is_known = [&](Expr part) {
    return is_promised
               ? decider_.is_known_without_assumptions(part)
               : decider_.decide(part) == Verdict::kYes && !equates_sizes(part);
  };
  for (Expr part : conjuncts(condition)) {
    part = replacements_.apply(part);
    if (InterruptScope::within(units, [&] { return is_known(part); }) == true)
      continue;
    const size_t index = guards_.size();
    guards_.push_back({part, {where}, is_promised});
    guard_index_.try_emplace(part, index);
    guard_index_.try_emplace(asked, index);
    const std::string text = to_string(part, fixed::logged_text);
    log_.emit(
        "eval", text,
        "eval " + text +
            (is_frozen_ ? " [guard added after freeze]" : " [guard added]"),
        where);
    learning_.assume(part, where, "guard ");
  }
}

void Recorder::record_assert(Expr condition, const SourceLocation& where,
                             const std::string& message) {
  uint64_t units = fixed::recorded_part_units;
  for (Expr part : conjuncts(condition)) {
    const auto known = InterruptScope::within(
        units, [&] { return decider_.decide(replacements_.apply(part)); });
    if (known == Verdict::kYes) continue;
    if (!asserted_.insert(part).second) continue;
    const std::string text = to_string(part, kMessageLength);
    asserts_.push_back({part, where,
                        message.empty()
                            ? "Runtime assertion failed for expression " + text
                            : message});
    log_.emit("runtime_assert", text,
              "runtime_assert " + text + " [guard added]", where);
    learning_.assume(part, where, "assert ");
  }
}

void Recorder::require(Expr condition, const SourceLocation& where) {
  const std::optional<Value> sample = hints_.value(condition);
  if (!sample || !std::get<bool>(*sample)) {
    throw ConstraintViolationError(
        (where.code.empty() ? excerpt(condition, kMessageLength) : where.code) +
        " does not hold for the example sizes");
  }
  const Expr asked = simplified(condition);
  promises_.push_back(asked);
  add_guards(replacements_.apply(condition), asked, where, true);
}

void Recorder::note_answer(Expr asked, Expr question, Verdict verdict,
                           const SourceLocation& where) {
  if (where.line == 0 || guards_.empty()) return;
  unguarded_answers_.add_place(question, where);
  const auto it =
      guard_index_.find(side_that_holds(simplified(asked), verdict));
  if (it != guard_index_.end()) add_origin(guards_[it->second], where);
}

void Recorder::note_branch(Expr asked, Expr question, Verdict verdict,
                           const SourceLocation& where) {
  note_answer(asked, question, verdict, where);
  unguarded_answers_.add_branch(question, verdict, where);
}

void Recorder::note_layout_condition(Expr condition, bool side) {
  if (unguarded_answers_.is_layout())
    unguarded_answers_.add_layout_condition(condition, side);
}

const Guard* Recorder::guard_of(Expr condition) const {
  const auto it = guard_index_.find(condition);
  return it == guard_index_.end() ? nullptr : &guards_[it->second];
}

std::unique_ptr<Context> Recorder::enforced_context() {
  std::unique_ptr<Context> result = facts_.without_assumptions();
  for (const Guard& g : guards_) {
    result->assume(g.condition, provenance_of(g.origins[0], "guard"));
  }
  for (const RuntimeAssert& a : asserts_) {
    result->assume(a.condition, provenance_of(a.origin, "assertion"));
  }
  return result;
}

}  // namespace proviso::inline v0_2::internal
