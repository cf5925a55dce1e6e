// A verdict is looked for in the memo, then in the box of ranges, and then it
// is decided by the reasoner and remembered for the state in which it holds.
#include "solver/engine/native_answers.h"

#include "solver/engine/counted_try.h"
#include "solver/engine/decide.h"

namespace proviso::inline v0_2::internal {
namespace {

Remembered as_remembered(const Search& s) {
  Remembered m;
  if (s.value()) {
    m.verdict = *s.value() ? Verdict::kYes : Verdict::kNo;
    m.tier = s.tier();
    m.strategy = s.strategy();
  }
  m.is_contradiction = s.is_contradiction();
  m.why = s.why();
  return m;
}

}  // namespace

Verdict NativeAnswers::ask(Expr question) {
  Statistics& statistics = facts_.statistics();
  ++statistics.questions;
  const Box* box = facts_.has_reasoner() ? nullptr : facts_.box();
  if (box == nullptr && facts_.reasoner().domain().conflict()) {
    facts_.count(Tier::kNone);
    return Verdict::kUnknown;
  }
  if (const Remembered* m = memo_.find(question)) {
    ++statistics.memo_hits;
    return m->verdict;
  }
  if (box != nullptr) {
    const Budget counted(Budget::kUnlimited);
    CountedTry a_try(statistics.box);
    if (const std::optional<bool> value = box->decide(question)) {
      a_try.decided();
      return keep_of_box(question, *value);
    }
  }
  const Remembered& m = decide(question);
  facts_.count(m.tier);
  return m.verdict;
}

// What the box decides the first strategy does, with the same ranges.
Verdict NativeAnswers::keep_of_box(Expr question, bool value) {
  Remembered m;
  m.verdict = value ? Verdict::kYes : Verdict::kNo;
  m.tier = Tier::kRanges;
  m.epoch = Remembered::kNoReason;
  m.facts = facts_.states().facts();
  m.state = facts_.states().present();
  facts_.count(m.tier);
  return memo_.keep(question, m).verdict;
}

const Remembered& NativeAnswers::with_reason(Expr question) {
  const Reasoner& reasoner = facts_.reasoner();
  const Remembered* known = memo_.find(question);
  if (known != nullptr && known->epoch == reasoner.epoch()) return *known;
  return decide(question);
}

const Remembered* NativeAnswers::remembered(Expr question) {
  const Remembered* m = memo_.find(question);
  const bool has_reason = m == nullptr || m->epoch != Remembered::kNoReason;
  return has_reason ? m : &with_reason(question);
}

const Remembered& NativeAnswers::decide(Expr question) {
  Reasoner& reasoner = facts_.reasoner();
  const std::optional<Remembered> found = reasoner.within(
      facts_.options().work_limit,
      [&] { return as_remembered(internal::decide(reasoner, question)); });
  Remembered m = found.value_or(Remembered());
  if (!found) m.gave_up = true;
  m.epoch = reasoner.epoch();
  m.facts = facts_.states().facts();
  // What a caller's own budget or another thread ended is not the question's
  // doing: it is remembered of no state, and the next call tries again.
  if (reasoner.work().is_undisturbed()) m.state = facts_.states().present();
  return memo_.keep(question, m);
}

}  // namespace proviso::inline v0_2::internal
