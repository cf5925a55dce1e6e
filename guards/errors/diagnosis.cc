// An error is one question.  Its context holds what the text says was known
// before.  If that decides the question, PyTorch's own reasoning fell short; if
// not, a side is chosen (guards/errors/choice.h) and the weakest checks for it
// are the answer (guards/weakest_checks.h):
//
//   runtime_assert u0 >= 0 ..                     what was known
//   Could not guard on .. Eq(256*u0, 256)         unknown: a size, wanted False
//     -> Ne(256*u0, 256)  ->  Ne(u0, 1)           the weakest check
#include "guards/errors/diagnosis.h"

#include <algorithm>

#include "guards/errors/asked_alike.h"
#include "guards/errors/asker.h"
#include "guards/errors/choice.h"
#include "guards/errors/dim_specs.h"
#include "guards/errors/known_facts.h"
#include "guards/errors/symbol_names.h"
#include "guards/errors/text_parts.h"
#include "guards/errors/user_checks.h"
#include "guards/fixed_limits.h"
#include "guards/open_question.h"
#include "guards/weakest_checks.h"
#include "sym/budget.h"
#include "sym/canonical.h"
#include "sym/print.h"
#include "sym/within.h"

namespace proviso::inline v0_2::internal {
namespace {

class Answerer {
 public:
  Answerer(QuotedCode& code, KnownFacts& known, const TextError& e)
      : code_(code),
        known_(known),
        e_(e),
        place_(place_of(e)),
        names_(known.env(), e, place_) {
    d_.question = e.expression;
    d_.file = place_.file;
    d_.line = place_.line;
    d_.source_line = place_.code;
    d_.text_line = e.line;
    d_.times = e.times;
  }

  Diagnosis answer() {
    switch (e_.kind) {
      case TextErrorKind::kQuestion: question(); break;
      case TextErrorKind::kValue: value(); break;
      case TextErrorKind::kTensor: tensor(); break;
      case TextErrorKind::kConstraint: constraint(); break;
      case TextErrorKind::kRefuted: refuted(); break;
      case TextErrorKind::kOperator: fault(); break;
    }
    return std::move(d_);
  }

 private:
  // --- a side is wanted

  void question() {
    std::optional<Expr> q = read_expression(known_.pool(), e_.expression);
    if (!q) return unreadable();
    if (!q->is_bool()) return value();
    Context context = known_.before(e_, *q);
    if (contradicts(context)) return;
    const Answer answer = context.ask(*q);
    if (answer.verdict != Verdict::kUnknown) {
      return implied(context, *q, answer);
    }
    if (implied_by_program(context, *q)) return;
    const Choice choice = choose(known_, e_, *q, context);
    d_.kind = choice.kind;
    d_.answer = choice.side;
    const Expr wanted = choice.side ? *q : logical_not(*q);
    say(context, wanted, d_.conditions, d_.code);
    if (d_.kind == DiagnosisKind::kRealBranch) {
      say(context, logical_not(wanted), d_.excludes, d_.other_code);
    }
    show_excluded(*q, choice.side ? answer.counterexample : answer.witness);
    explain_kind();
    move_to_entry(*q);
  }

  bool contradicts(Context& context) {
    std::optional<std::vector<FactId>> facts = context.contradiction();
    if (!facts) return false;
    d_.kind = DiagnosisKind::kContradiction;
    name_facts(context, *facts);
    d_.why =
        "What is known cannot hold together: no check helps before one "
        "of these goes.";
    return true;
  }

  void implied(Context& context, Expr q, const Answer& answer) {
    d_.kind = DiagnosisKind::kImplied;
    const bool yes = answer.verdict == Verdict::kYes;
    if (e_.kind == TextErrorKind::kQuestion) d_.answer = yes;
    const Expr side = yes ? q : logical_not(q), simple = canonical(side);
    // What is so for every value is said as it was asked.
    const Expr said = simple.is_constant() ? side : simple;
    const bool is_plain = said == simple || is_relation(said.op());
    if (is_plain && !free_symbols(said).empty())
      add_line(said, d_.conditions, d_.code);
    name_facts(context, answer.facts);
    d_.why = std::string("It is always ") + (yes ? "true" : "false") +
             " under what is known, and PyTorch did not see it.  The check "
             "excludes nothing; it tells PyTorch.";
  }

  // Whether checks of the code that the text quotes imply it.
  bool implied_by_program(Context& known, Expr q) {
    if (code_.functions_of(e_.stream).empty()) return false;
    Context context = known.clone();
    if (!assume_user_checks(code_, e_, q, place_, names_, context) ||
        context.contradiction()) {
      return false;
    }
    const Answer answer = context.ask(q);
    if (answer.verdict == Verdict::kUnknown) return false;
    implied(context, q, answer);
    return true;
  }

  void name_facts(Context& context, const std::vector<FactId>& facts) {
    for (FactId id : facts) {
      d_.facts.push_back(context.fact(id).origin.to_string());
    }
  }

  // A point that was possible and that the check rules out.
  void show_excluded(Expr q, const std::optional<Assignment>& point) {
    if (!point) return;
    for (Expr s : free_symbols(q)) {
      const Value* v = point->find(s);
      if (v == nullptr) continue;
      d_.counterexample += (d_.counterexample.empty() ? "" : ", ") +
                           s.symbol().name + " = " + to_string(*v);
    }
  }

  void explain_kind() {
    switch (d_.kind) {
      case DiagnosisKind::kRealBranch:
        d_.why =
            "Both sides are programs that somebody may want, and only "
            "the data chooses.  torch.cond keeps both; a check keeps one "
            "and refuses the inputs of the other; guard_or_false takes "
            "the False side wherever it is not decided.";
        return;
      case DiagnosisKind::kBugInOp:
        d_.why = asker_of(e_) == Asker::kCompiler
                     ? "The compiler asks it after the program was traced: a "
                       "fault to report.  The check is the weakest way around "
                       "it."
                     : "The operator can go on with the smaller of the two "
                       "ends and need not ask: a fault to report.  The check "
                       "is a way around it that restricts the inputs.";
        return;
      case DiagnosisKind::kImplied:
      case DiagnosisKind::kNeededCheck:
      case DiagnosisKind::kContradiction:
      case DiagnosisKind::kDimSpec:
        d_.why = asker_of(e_) == Asker::kOperator
                     ? "An operator must know it to go on, and nothing known "
                       "decides it."
                     : "Nothing known decides it, and the program goes on "
                       "with one side only.";
    }
  }

  // A check in words of the arguments alone stands where they are known.
  void move_to_entry(Expr q) {
    const TextFrame* entry = entry_of(e_);
    if (d_.code.empty() || entry == nullptr) return;
    for (Expr s : free_symbols(q)) {
      if (!names_.is_argument(s.symbol().name)) return;
    }
    d_.file = entry->file;
    d_.line = entry->line;
    d_.source_line = entry->code;
  }

  // The weakest checks for `wanted`, as conditions and as lines.
  void say(Context& context, Expr wanted, std::vector<std::string>& conditions,
           std::vector<std::string>& code) {
    for (Expr check : weakest_checks(context, wanted)) {
      add_line(check, conditions, code);
    }
  }

  void add_line(Expr check, std::vector<std::string>& conditions,
                std::vector<std::string>& code) {
    conditions.push_back(to_string(check));
    bool all_named = conditions.size() == code.size() + 1;
    for (Expr s : free_symbols(check)) {
      all_named &= !name(s.symbol().name).empty();
    }
    if (!all_named) {
      code.clear();
      return;
    }
    code.push_back(
        to_check(check, [&](Expr s) { return names_.of(s.symbol().name); }));
  }

  std::string name(const std::string& symbol) {
    const std::string words = names_.of(symbol);
    if (!words.empty()) d_.names[symbol] = words;
    const std::string made = names_.made(symbol);
    if (!made.empty()) d_.made[symbol] = made;
    return words;
  }

  void unreadable() {
    d_.kind = DiagnosisKind::kNeededCheck;
    d_.why = e_.expression.empty() ? "The text does not show what PyTorch asks."
                                   : "The expression could not be read.";
  }

  // --- a value is wanted

  void value() {
    std::optional<Expr> e = read_expression(known_.pool(), e_.expression);
    if (!e) return value_of_place();  // it may be cut off
    for (Expr s : free_symbols(*e)) name(s.symbol().name);
    if (e->is_int()) {
      Context context = known_.before(e_, *e);
      if (contradicts(context)) return;
      const Interval range = context.bounds(*e);
      if (range.is_point()) {
        const Expr side = eq(*e, known_.pool().integer(*range.lower()));
        return implied(context, side, context.ask(side));
      }
    }
    if (std::optional<Int> number = example_of(*e)) {
      const Expr same = side_with_answer(*e, *number);
      add_line(same, d_.conditions, d_.code);
    }
    value_of_place();
  }

  // What follows from the place that wants a value.
  void value_of_place() {
    const Use use = use_of(place_.code);
    const bool is_branch = use == Use::kLoop || use == Use::kBranch;
    if (asker_of(e_) != Asker::kOperator && is_branch) {
      d_.kind = DiagnosisKind::kRealBranch;
      d_.why =
          "Each value is a program of its own: the line needs the number "
          "while it is traced.  Write the loop as a tensor operation or "
          "with torch's while_loop, or, when it is always the same, check "
          "that it is.";
      return;
    }
    d_.kind = DiagnosisKind::kBugInOp;
    d_.why =
        "The operator cannot work with a size that only the data decides: "
        "it needs the number itself.  Where it is always the same, check "
        "that it is; else say it with slices or masks.";
  }

  // The value that the run on real tensors had.
  std::optional<Int> example_of(Expr e) const {
    if (!e.is_int()) return std::nullopt;
    if (e_.example_value) return *e_.example_value;
    const std::optional<Assignment> point = known_.example(e);
    return point ? answer_at(e, *point) : std::nullopt;
  }

  // --- the others

  void tensor() {
    d_.kind = DiagnosisKind::kRealBranch;
    d_.why =
        "The program branches on what a tensor holds.  torch.cond keeps "
        "both sides; torch.where computes both.";
  }

  void refuted() {
    d_.kind = DiagnosisKind::kContradiction;
    if (std::optional<Expr> q = read_expression(known_.pool(), e_.expression);
        q && q->is_bool()) {
      for (Expr s : free_symbols(*q)) name(s.symbol().name);
      Context context = known_.before(e_, *q);
      const Answer answer = context.ask(*q);
      if (answer.verdict == Verdict::kNo) name_facts(context, answer.facts);
    }
    d_.why =
        "A check is false: it contradicts what is known, or these inputs "
        "break what was promised.";
  }

  void fault() {
    const std::string& m = e_.message;
    // bool() and if on a tensor, before PyTorch asked of a symbol.
    const bool is_of_data = has(m, "DataDependentOutput") ||
                            has(m, "data dependent operator") ||
                            has(m, "Data dependent operator");
    if (is_of_data && use_of(place_.code) == Use::kBranch) return tensor();
    d_.kind = DiagnosisKind::kBugInOp;
    d_.why =
        "An operator has no implementation for sizes that only the data "
        "decides, or the compiler lost one: no check ends it.";
    if (has(m, "to enable, set") || has(m, "capture_scalar_outputs") ||
        has(m, "Dynamic shape operator") || has(m, "dynamic shape operator")) {
      d_.why =
          "torch.compile breaks the graph here unless it is told to "
          "capture such values: set torch._dynamo.config."
          "capture_scalar_outputs or capture_dynamic_output_shape_ops.";
    } else if (has(m, "fake kernel") || has(m, "fake impl")) {
      d_.why =
          "The operator has no (right) fake kernel: register one with "
          "torch.library.register_fake.";
    }
  }

  void constraint() {
    DimNeeds needs = dim_needs(e_);
    d_.conditions = std::move(needs.conditions);
    d_.code = std::move(needs.specs);
    d_.names = std::move(needs.names);
    if (needs.always_held) {
      d_.kind = DiagnosisKind::kImplied;
      d_.why =
          "Every size in the range that the spec promises keeps what the "
          "guard asks, and PyTorch did not see it.  The suggested spec would "
          "exclude sizes without need; rewrite the line, or take it.";
      return;
    }
    d_.kind = DiagnosisKind::kDimSpec;
    d_.why =
        "The program needs more of these dims than their specs promise.  "
        "Either the spec says it, or the line that needs it changes.";
  }

  QuotedCode& code_;
  KnownFacts& known_;
  const TextError& e_;
  const TextFrame place_;
  const SymbolNames names_;
  Diagnosis d_;
};

// The answers of one text.
class Answers {
 public:
  explicit Answers(const ErrorText& text) : text_(text), code_(text) {}

  // What all errors of a text may take is bounded, and so is each.
  Diagnosis of(const TextError& e) {
    if (KnownFacts* known = facts_of(e.env)) {
      auto answered = try_within(fixed::error_units, nullptr, [&] {
        return Diagnosis(Answerer(code_, *known, e).answer());
      });
      if (answered) return *std::move(answered);
    }
    Diagnosis d;
    d.question = e.expression;
    d.text_line = e.line;
    d.times = e.times;
    d.why = "The question takes more work than one may.";
    return d;
  }

 private:
  // Null where what is left is too little to read them.
  KnownFacts* facts_of(uint32_t env) {
    const auto read = try_within(Budget::units_left(), nullptr, [&] {
      return &known_.try_emplace(env, text_.envs[env]).first->second;
    });
    return read.value_or(nullptr);
  }

  const ErrorText& text_;
  QuotedCode code_;
  std::map<uint32_t, KnownFacts> known_;
};

// What several processes say alike.
bool is_same(const Diagnosis& a, const Diagnosis& b) {
  return a.kind == b.kind && a.question == b.question && a.file == b.file &&
         a.line == b.line && a.conditions == b.conditions && a.why == b.why;
}

}  // namespace

std::string_view name_of(DiagnosisKind kind) {
  switch (kind) {
    case DiagnosisKind::kImplied: return "implied";
    case DiagnosisKind::kNeededCheck: return "needed_check";
    case DiagnosisKind::kRealBranch: return "real_branch";
    case DiagnosisKind::kContradiction: return "contradiction";
    case DiagnosisKind::kDimSpec: return "dim_spec";
    case DiagnosisKind::kBugInOp: return "bug_in_op";
  }
  return "";
}

std::vector<Diagnosis> diagnose(const ErrorText& text) {
  const Budget all(text.units);
  Answers answers(text);
  AskedAlike alike(text);
  std::vector<Diagnosis> result;
  std::vector<size_t> place;  // in it, of the answer to each question
  for (const TextError& e : text.errors) {
    const size_t question = alike.number_of(e);
    if (question < place.size()) {
      result[place[question]].times += e.times;
      continue;
    }
    Diagnosis d = answers.of(e);
    if (e.stream < text.streams.size()) d.stream = text.streams[e.stream];
    const auto same =
        std::find_if(result.begin(), result.end(),
                     [&](const Diagnosis& other) { return is_same(other, d); });
    place.push_back(static_cast<size_t>(same - result.begin()));
    if (same == result.end()) {
      result.push_back(std::move(d));
    } else {
      same->times += d.times;
    }
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Diagnosis& a, const Diagnosis& b) {
                     return a.text_line < b.text_line;
                   });
  return result;
}

std::string unread_note(const ErrorText& text) {
  std::string note;
  if (text.unread > 0) {
    note = std::to_string(text.unread) +
           (text.unread == 1 ? " error" : " errors") +
           " could not be read, the first at line " +
           std::to_string(text.unread_at);
  }
  if (text.was_cut) {
    note += std::string(note.empty() ? "" : "; ") +
            "the text is longer than is read";
  }
  return note;
}

}  // namespace proviso::inline v0_2::internal
