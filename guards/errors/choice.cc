// The side: what PyTorch advises; what the run on real tensors took; what the
// line says (assert, raise); what sizes of 2 and more decide; last the shape of
// the question - sizes that are equal or divide are meant to, upper ends are
// meant to hold, and what is compared with 0 or 1 is meant to be neither.
//
// The kind: an operator's question needs an answer that the program can
// promise; the program's own is a branch, but where it asks whether sizes fit,
// or whether there are none.  What the compiler asks later is its own fault.
#include "guards/errors/choice.h"

#include <algorithm>

#include "guards/errors/asker.h"
#include "guards/errors/text_parts.h"
#include "guards/open_question.h"
#include "guards/weakest_checks.h"
#include "sym/relations.h"

namespace proviso::inline v0_2::internal {
namespace {

bool is_number(Expr e, int64_t value) { return e.maybe_int64() == value; }

bool is_remainder(Expr e) { return e.is(Op::kMod) || e.is(Op::kPythonMod); }

bool depends_on_data(Expr e) {
  for (Expr s : free_symbols(e)) {
    if (is_unbacked(s.symbol().kind)) return true;
  }
  return false;
}

class Chooser {
 public:
  Chooser(KnownFacts& known, const TextError& e, Expr question,
          Context& context)
      : known_(known),
        e_(e),
        question_(question),
        simple_(as_divisibility(context.simplify(question))),
        context_(context),
        asker_(asker_of(e)),
        use_(use_of(place_of(e).code)) {}

  Choice choose() { return {side(), kind()}; }

 private:
  bool is_for_sizes() {
    if (!by_sizes_) by_sizes_ = side_of_sizes();
    return by_sizes_->has_value();
  }

  // --- the side

  bool side() {
    if (e_.advised) return *e_.advised;
    if (e_.example) return *e_.example;
    if (auto point = known_.example(question_)) {
      if (auto answer = answer_at(question_, *point)) return *answer != Int(0);
    }
    const bool is_of_program = asker_ == Asker::kProgram;
    if (is_of_program && use_ == Use::kAssertion) return true;
    if (is_of_program && use_ == Use::kRefusal) return false;
    if (is_for_sizes()) return **by_sizes_;
    if (auto side = side_of_one_or_none()) return *side;
    if (auto side = side_of_equality()) return *side;
    return side_of_order(simple_.is_constant() ? question_ : simple_);
  }

  // Where sizes of 2 and more decide the question, that side.
  std::optional<bool> side_of_sizes() {
    Context context = known_.before(e_, question_);
    for (Expr s : free_symbols(question_)) {
      if (s.is_int()) context.assume(ge(s, 2));
    }
    const Verdict verdict = context.ask_quick(question_);
    if (verdict == Verdict::kUnknown || context.contradiction()) {
      return std::nullopt;
    }
    return verdict == Verdict::kYes;
  }

  // A length that is 1 or 0 is meant to be 1: Min(4, u0 + 1) - Min(4, u0).
  std::optional<bool> side_of_one_or_none() {
    if (!question_.is(Op::kEq) && !question_.is(Op::kNe)) return std::nullopt;
    const bool is_left = question_.arg(0).is_constant();
    const Expr value = question_.arg(is_left ? 0 : 1);
    const Expr length = question_.arg(is_left ? 1 : 0);
    if (length.is_symbol() || !length.is_int()) return std::nullopt;
    if (!is_number(value, 0) && !is_number(value, 1)) return std::nullopt;
    if (context_.ask_quick(ge(length, 0)) != Verdict::kYes ||
        context_.ask_quick(le(length, 1)) != Verdict::kYes) {
      return std::nullopt;
    }
    return question_.is(Op::kEq) == is_number(value, 1);
  }

  // A comparison with 0 or 1, or of what must divide: an Eq that programs want
  // to be false, or true.
  std::optional<bool> side_of_equality() const {
    for (Expr q : {question_, simple_}) {
      if (!q.is(Op::kEq) && !q.is(Op::kNe)) continue;
      const bool equal_side = q.is(Op::kEq);
      if (is_remainder(q.arg(0)) || is_remainder(q.arg(1))) return equal_side;
      for (Expr side : q.args()) {
        if (is_number(side, 0) || is_number(side, 1)) return !equal_side;
      }
    }
    if (question_.is(Op::kEq)) return true;
    if (question_.is(Op::kNe)) return false;
    return std::nullopt;
  }

  // u > 20: below; u <= s0: so.  An upper end is what programs rely on.
  bool side_of_order(Expr q) const {
    if (!q.is(Op::kLt) && !q.is(Op::kLe)) return true;
    const bool bounds_data_above =
        depends_on_data(q.arg(0)) && !depends_on_data(q.arg(1));
    if (asker_ == Asker::kProgram && q.arg(0).is_constant()) return false;
    if (q.arg(0).is_constant() && !is_number(q.arg(0), 0)) {
      const auto value = q.arg(0).maybe_int64();
      return value && *value < 32;  // at least 4: so; more than 4000: not so
    }
    return bounds_data_above || !q.arg(0).is_constant();
  }

  // --- the kind

  DiagnosisKind kind() {
    if (asker_ == Asker::kCompiler) return DiagnosisKind::kBugInOp;
    if (use_ == Use::kAssertion || use_ == Use::kRefusal) {
      return DiagnosisKind::kNeededCheck;
    }
    if (is_truth_of_data()) return DiagnosisKind::kRealBranch;
    if (is_order() && is_asked_by_slice(e_)) return DiagnosisKind::kBugInOp;
    if (asker_ == Asker::kOperator) return DiagnosisKind::kNeededCheck;
    if (is_of_floats()) return DiagnosisKind::kRealBranch;
    if (is_equality_of_sizes(question_) || is_equality_of_sizes(simple_)) {
      return DiagnosisKind::kNeededCheck;
    }
    if (asker_ == Asker::kUnknown && use_ == Use::kUnknown) {
      return is_threshold() ? DiagnosisKind::kRealBranch
                            : DiagnosisKind::kNeededCheck;
    }
    const bool is_of_sizes = is_about_sizes() || is_of_counts();
    return is_of_sizes && is_for_sizes() ? DiagnosisKind::kNeededCheck
                                         : DiagnosisKind::kRealBranch;
  }

  bool is_order() const {
    return question_.is(Op::kLt) || question_.is(Op::kLe);
  }

  bool is_of_floats() const {
    for (Expr s : free_symbols(question_)) {
      if (s.is_float()) return true;
    }
    return false;
  }

  // Equal sizes, a size that divides, "the number is not the one expected".
  static bool is_equality_of_sizes(Expr q) {
    if (!q.is(Op::kEq) && !q.is(Op::kNe)) return false;
    if (is_remainder(q.arg(0)) || is_remainder(q.arg(1))) return true;
    if (!q.arg(0).is_constant() && !q.arg(1).is_constant()) return true;
    const Expr value = q.arg(0).is_constant() ? q.arg(0) : q.arg(1);
    return q.is(Op::kNe) && !is_number(value, 0) && !is_number(value, 1);
  }

  // Eq(u0, 1) of a number that is no size: bool() of a tensor is asked so.
  bool is_truth_of_data() const {
    if (!question_.is(Op::kEq) || !e_.says_size_like) return false;
    const bool is_left = question_.arg(0).is_symbol();
    const Expr symbol = question_.arg(is_left ? 0 : 1);
    const Expr value = question_.arg(is_left ? 1 : 0);
    return is_number(value, 1) && symbol.is_symbol() &&
           is_unbacked(symbol.symbol().kind) && !is_about_sizes();
  }

  // u0 > 5, as written: more than a number that is neither 0 nor 1.
  bool is_threshold() const {
    if (!is_order()) return false;
    const auto least = question_.arg(0).maybe_int64();
    return least && *least + relations::least_gap(question_.op()) > 2;
  }

  // Whether all data in it are sizes.
  bool is_about_sizes() const {
    for (Expr s : free_symbols(question_)) {
      if (!is_unbacked(s.symbol().kind)) continue;
      if (std::find(e_.size_like.begin(), e_.size_like.end(),
                    s.symbol().name) == e_.size_like.end()) {
        return false;
      }
    }
    return true;
  }

  // Whether all data in it are numbers that are known not to be negative.
  bool is_of_counts() {
    for (Expr s : free_symbols(question_)) {
      if (!is_unbacked(s.symbol().kind)) continue;
      if (!s.is_int()) return false;
      const Interval range = context_.bounds(s);
      const bool is_truth = range == Interval(0, 1);
      if (is_truth || !range.lower() || range.lower()->sign() < 0) return false;
    }
    return true;
  }

  KnownFacts& known_;
  const TextError& e_;
  const Expr question_, simple_;
  Context& context_;
  const Asker asker_;
  const Use use_;
  std::optional<std::optional<bool>> by_sizes_;
};

}  // namespace

Choice choose(KnownFacts& known, const TextError& e, Expr question,
              Context& context) {
  return Chooser(known, e, question, context).choose();
}

}  // namespace proviso::inline v0_2::internal
