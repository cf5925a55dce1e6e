// An error is one question.  Its context holds what the text says was known
// before.  If that decides the question, PyTorch's own reasoning fell short; if
// not, a side is chosen - by what was advised, by the example, by the line of
// code, by the shape of the question - and the weakest checks for it are the
// answer.  Whether it is a missing promise or a real branch is told by who asks
// and how.
#include "guards/diagnosis.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <set>

#include "guards/source_text.h"
#include "guards/weakest_checks.h"
#include "sym/budget.h"
#include "sym/parse.h"
#include "sym/print.h"
#include "sym/simplify.h"

namespace proviso {
namespace {

using std::string_view;
constexpr size_t npos = string_view::npos;

bool has(string_view text, string_view part) { return text.find(part) != npos; }

// --- frames

// Between what asks and what answers there are frames that only pass on.
bool passes_on(const TextFrame& frame) {
  for (string_view part : {"fx/experimental/",
                           "_dynamo/",
                           "utils/_stats.py",
                           "torch/_ops.py",
                           "_subclasses/fake_tensor.py",
                           "_library/",
                           "_logging/",
                           "_compile.py",
                           "overrides.py",
                           "_export/",
                           "torch/export/",
                           "_functorch/",
                           "nn/modules/module.py",
                           "torch/fx/",
                           "_utils_internal.py",
                           "torch/__init__.py",
                           "torch/_guards.py",
                           "torch/_tensor.py",
                           "_prims_common/wrappers.py",
                           "_higher_order_ops/utils.py"}) {
    if (has(frame.file, part)) return true;
  }
  if (frame.file == "_ops.py" || frame.file == "_tensor.py") return true;
  return frame.file.starts_with("<") || frame.file.starts_with("fx/");
}

// Neither PyTorch's nor generated code.
bool is_of_program(const TextFrame& frame) {
  return frame.is_known() && !frame.file.starts_with("<") &&
         !is_of_torch(frame.file);
}

const TextFrame* last_of_user(const std::vector<TextFrame>& frames) {
  for (auto it = frames.rbegin(); it != frames.rend(); ++it) {
    if (is_of_program(*it)) return &*it;
  }
  return nullptr;
}

bool same_file(string_view a, string_view b) {
  if (a.size() < b.size()) std::swap(a, b);
  return !b.empty() && a.ends_with(b);
}

// Where in the program the error is; newer texts cut the path of "Caused by".
TextFrame place_of(const TextError& e) {
  if (const TextFrame* f = last_of_user(e.user)) return *f;
  const TextFrame* f = last_of_user(e.traceback);
  const TextFrame& cause = e.caused_by;
  const bool is_same = f && same_file(f->file, cause.file);
  if (is_of_program(cause) && !is_same) return cause;
  return f ? *f : TextFrame{};
}

// The frame of the program that was traced or compiled: no other frame of it
// lies between this and the compiler.
const TextFrame* entry_of(const TextError& e) {
  const auto& frames = e.user.empty() ? e.traceback : e.user;
  const TextFrame* entry = nullptr;
  for (const TextFrame& f : frames) {
    const bool is_compiler = has(f.file, "torch/export/") ||
                             has(f.file, "_export/") || has(f.file, "_dynamo/");
    if (is_compiler) entry = nullptr;
    if (is_of_program(f) && entry == nullptr) entry = &f;
  }
  return entry;
}

enum class Asker { kUnknown, kProgram, kOperator, kCompiler };

// How a line of the program uses the answer.
enum class Use { kUnknown, kAssertion, kRefusal, kBranch, kLoop, kCall };

Use use_of(string_view code) {
  if (code.empty()) return Use::kUnknown;
  if (code.starts_with("assert ") || code.starts_with("assert(")) {
    return Use::kAssertion;
  }
  if (has(code, "torch._check") || has(code, "_check_is_size")) {
    return Use::kAssertion;
  }
  if (has(code, "raise ")) return Use::kRefusal;
  if (code.starts_with("for ") || has(code, "range(") || has(code, " for ")) {
    return Use::kLoop;
  }
  if (code.starts_with("if ") || code.starts_with("elif ") ||
      code.starts_with("while ") || code.starts_with("if(") ||
      has(code, " if ")) {
    return Use::kBranch;
  }
  for (string_view word : {" and ", " or ", "not "}) {
    if (has(code, word)) return Use::kBranch;
  }
  return Use::kCall;
}

// Frames in which an operator is called, from Python or by Dynamo.
bool calls_operator(const TextFrame& frame) {
  const string_view file = frame.file;
  for (string_view own : {"_ops.py", "_subclasses/", "_tensor.py", "_refs/",
                          "_decomp/", "_meta_registrations.py", "nn/functional",
                          "_prims_common/", "functional.py"}) {
    if (has(file, own) && is_of_torch(file)) return true;
  }
  return frame.function == "run_node" || frame.function == "__torch_function__";
}

// Nearest the question first: what of the program or of PyTorch asks it.
Asker asker_in(const std::vector<TextFrame>& frames) {
  bool operator_between = false;
  for (auto it = frames.rbegin(); it != frames.rend(); ++it) {
    if (has(it->file, "_inductor/")) return Asker::kCompiler;
    if (is_of_program(*it)) {
      return operator_between ? Asker::kOperator : Asker::kProgram;
    }
    operator_between |= calls_operator(*it);
    if (!operator_between && !passes_on(*it)) return Asker::kOperator;
  }
  return operator_between ? Asker::kOperator : Asker::kUnknown;
}

Asker asker_of(const TextError& e) {
  for (string_view word : {"LoweringException", "InductorError"}) {
    if (has(e.message, word)) return Asker::kCompiler;
  }
  const Asker culprit = asker_in(e.culprit);
  if (culprit == Asker::kCompiler || culprit == Asker::kOperator) {
    return culprit;
  }
  const Asker direct = asker_in(e.traceback);
  if (direct == Asker::kCompiler || direct == Asker::kOperator) return direct;
  if (e.asked_in.is_known() && asker_in({e.asked_in}) == Asker::kOperator) {
    return Asker::kOperator;
  }
  const Use use = use_of(place_of(e).code);
  if (use == Use::kCall) return Asker::kOperator;
  const bool has_line = use != Use::kUnknown || !e.user.empty() ||
                        direct == Asker::kProgram || is_of_program(e.caused_by);
  return has_line ? Asker::kProgram : Asker::kUnknown;
}

// --- what was known

// One env's facts, read once.
class Known {
 public:
  explicit Known(const TextEnv& env) : env_(env) {
    for (const TextFact& fact : env.facts) {
      facts_.push_back(read_expression(pool_, fact.text));
      if (facts_.back() && !facts_.back()->is_bool()) facts_.back().reset();
      if (!facts_.back()) continue;
      for (Expr s : free_symbols(*facts_.back())) {
        facts_of_[s].push_back(facts_.size() - 1);
      }
    }
  }

  ExprPool& pool() { return pool_; }
  const TextEnv& env() const { return env_; }

  // What was known before the error of the symbols that matter to `about`.
  Context context(const TextError& e, Expr about) {
    SolverOptions options;
    options.use_z3 = false;
    options.work_limit = 200'000;
    Context context(pool_, options);
    const std::vector<size_t> chosen = relevant(e, about);
    for (Expr s : symbols_) {
      if (s.is_int()) declare(context, e, s);
    }
    for (size_t i : chosen) {
      const TextFact& fact = env_.facts[i];
      context.assume(*facts_[i], {fact.text, fact.where.file, fact.where.line});
    }
    return context;
  }

 private:
  // Facts that share symbols with `about`, directly or through others; the
  // latest where there are many.
  std::vector<size_t> relevant(const TextError& e, Expr about) {
    constexpr size_t kMost = 200;
    symbols_ = free_symbols(about);
    std::set<Expr, ExprLess> seen(symbols_.begin(), symbols_.end());
    std::set<size_t> chosen;
    for (size_t next = 0; next < symbols_.size(); ++next) {
      const std::vector<size_t>& of = facts_of_[symbols_[next]];
      for (auto it = of.rbegin(); it != of.rend(); ++it) {
        if (*it >= e.facts_before || chosen.size() >= kMost) continue;
        if (!chosen.insert(*it).second) continue;
        for (Expr s : free_symbols(*facts_[*it])) {
          if (seen.insert(s).second) symbols_.push_back(s);
        }
      }
    }
    return {chosen.begin(), chosen.end()};
  }

  void declare(Context& context, const TextError& e, Expr s) {
    const std::string& name = s.symbol().name;
    const bool is_size = std::find(e.size_like.begin(), e.size_like.end(),
                                   name) != e.size_like.end();
    auto it = env_.symbols.find(name);
    Interval range;
    if (it != env_.symbols.end()) {
      range = Interval::of(it->second.lower, it->second.upper);
      const bool is_dim = has(it->second.source, ".size()");
      if (is_dim) range = intersect(range, Interval::at_least(0));
    }
    if (is_size) range = intersect(range, Interval::at_least(0));
    if (range == Interval::all()) return;
    context.declare(s, range, {name + " in " + range.to_string()});
  }

  ExprPool pool_;
  const TextEnv& env_;
  std::vector<std::optional<Expr>> facts_;
  std::map<Expr, std::vector<size_t>, ExprLess> facts_of_;  // a symbol
  std::vector<Expr> symbols_;  // of the last context
};

// --- which side

bool is_number(Expr e, int64_t value) { return e.maybe_int64() == value; }

// A comparison with 0 or 1, or of what must divide: an Eq that programs want
// to be false, or true.
std::optional<bool> side_of_equality(Expr question, Expr simple) {
  for (Expr q : {question, simple}) {
    if (!q.is(Op::kEq) && !q.is(Op::kNe)) continue;
    const bool equal_side = q.is(Op::kEq);
    const auto is_remainder = [](Expr e) {
      return e.is(Op::kMod) || e.is(Op::kPythonMod);
    };
    if (is_remainder(q.arg(0)) || is_remainder(q.arg(1))) return equal_side;
    for (Expr side : q.args()) {
      if (is_number(side, 0) || is_number(side, 1)) return !equal_side;
    }
  }
  if (question.is(Op::kEq)) return true;
  if (question.is(Op::kNe)) return false;
  return std::nullopt;
}

// Where sizes of 2 and more decide the question, that side.
std::optional<bool> side_of_sizes(Known& known, const TextError& e, Expr q) {
  Context context = known.context(e, q);
  for (Expr s : free_symbols(q)) {
    if (s.is_int()) context.assume(ge(s, 2));
  }
  const Verdict verdict = context.ask_quick(q);
  if (verdict == Verdict::kUnknown || context.contradiction()) {
    return std::nullopt;
  }
  return verdict == Verdict::kYes;
}

// The sizes of the run on real tensors, where all of e's are known.
std::optional<Assignment> example_point(const Known& known, Expr e) {
  Assignment point;
  for (Expr s : free_symbols(e)) {
    auto it = known.env().symbols.find(s.symbol().name);
    if (it == known.env().symbols.end() || !it->second.example) {
      return std::nullopt;
    }
    point.set(s, *it->second.example);
  }
  return point;
}

std::optional<bool> side_of_example(const Known& known, Expr q) {
  const std::optional<Assignment> point = example_point(known, q);
  if (!point) return std::nullopt;
  const Evaluation value = evaluate(q, *point);
  if (!value.defined() || !std::holds_alternative<bool>(*value.value)) {
    return std::nullopt;
  }
  return std::get<bool>(*value.value);
}

bool depends_on_data(Expr e) {
  for (Expr s : free_symbols(e)) {
    if (is_unbacked(s.symbol().kind)) return true;
  }
  return false;
}

// u > 20: below; u <= s0: so.  An upper end is what programs rely on.
bool side_of_order(Expr q, Asker asker) {
  if (!q.is(Op::kLt) && !q.is(Op::kLe)) return true;
  const bool bounds_data_above =
      depends_on_data(q.arg(0)) && !depends_on_data(q.arg(1));
  if (asker == Asker::kProgram && q.arg(0).is_constant()) return false;
  if (q.arg(0).is_constant() && !is_number(q.arg(0), 0)) {
    const auto value = q.arg(0).maybe_int64();
    return value && *value < 32;  // at least 4: so; more than 4000: not so
  }
  return bounds_data_above || !q.arg(0).is_constant();
}

// --- names

// x.shape[0] of L['x'].size()[0]; empty for what is no argument of the program
// (torch.export has names of its own for flattened inputs).
std::string words_of_source(const std::string& source) {
  if (!source.starts_with("L['")) return "";
  for (string_view own :
       {"L['self']", "L['flat_args']", "L['args']", "L['kwargs']", "L['fn']"}) {
    if (source.starts_with(own)) return "";
  }
  const size_t end = source.find("']", 3);
  if (end == npos) return "";
  std::string rest = source.substr(end + 2);
  const size_t size = rest.find(".size()");
  if (size != npos) rest.replace(size, 7, ".shape");
  return source.substr(3, end - 3) + rest;
}

class Names {
 public:
  Names(const TextEnv& env, const TextError& e, const TextFrame& place)
      : env_(env), error_(e), place_(place) {}

  // What the program calls the symbol at the place; empty where not known.
  std::string of(const std::string& symbol) const {
    if (auto it = error_.words.find(symbol); it != error_.words.end()) {
      return it->second;
    }
    auto it = env_.symbols.find(symbol);
    if (it == env_.symbols.end()) return "";
    for (const WordsFor& known : it->second.words) {
      if (is_in_scope(known.where)) return known.words;
    }
    return words_of_source(it->second.source);
  }
  bool is_argument(const std::string& symbol) const {
    auto it = env_.symbols.find(symbol);
    return it != env_.symbols.end() && !it->second.source.empty();
  }
  std::string made(const std::string& symbol) const {
    auto it = env_.symbols.find(symbol);
    if (it == env_.symbols.end()) return "";
    const TextSymbol& s = it->second;
    if (!s.source.empty()) return s.source;
    if (!s.made_at.is_known()) return "";
    std::string text = s.made_at.file + ":" + std::to_string(s.made_at.line);
    if (!s.made_at.code.empty()) text += " in `" + s.made_at.code + "`";
    return text;
  }

 private:
  bool is_in_scope(const TextFrame& where) const {
    if (!where.is_known()) return true;
    return same_file(where.file, place_.file) &&
           where.function == place_.function && where.line <= place_.line;
  }

  const TextEnv& env_;
  const TextError& error_;
  const TextFrame& place_;
};

// --- one error

class Answerer {
 public:
  Answerer(Known& known, const TextError& e)
      : known_(known),
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
  void question() {
    std::optional<Expr> q = read_expression(known_.pool(), e_.expression);
    if (!q) return unreadable();
    if (!q->is_bool()) return value();
    Context context = known_.context(e_, *q);
    if (contradicts(context)) return;
    const Answer answer = context.ask(*q);
    const Asker asker = asker_of(e_);
    if (answer.verdict != Verdict::kUnknown) {
      return implied(context, *q, answer);
    }
    const bool side = side_of(*q, context, asker);
    const Expr wanted = side ? *q : logical_not(*q);
    say(context, wanted, d_.conditions, d_.code);
    d_.kind = kind_of(*q, context, asker);
    counterexample(context, *q, side, answer);
    if (d_.kind == DiagnosisKind::kRealBranch) {
      say(context, side ? logical_not(*q) : *q, d_.excludes, d_.other_code);
    }
    explain_kind(asker);
    move_to_entry(*q);
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

  bool contradicts(Context& context) {
    std::optional<std::vector<FactId>> facts = context.contradiction();
    if (!facts) return false;
    d_.kind = DiagnosisKind::kContradiction;
    for (FactId id : *facts) {
      d_.facts.push_back(context.fact(id).origin.to_string());
    }
    d_.why =
        "What is known cannot hold together: no check helps before one "
        "of these goes.";
    return true;
  }

  void implied(Context& context, Expr q, const Answer& answer) {
    d_.kind = DiagnosisKind::kImplied;
    const bool yes = answer.verdict == Verdict::kYes;
    const Expr side = simplify(yes ? q : logical_not(q));
    add_line(side, d_.conditions, d_.code);
    for (FactId id : answer.facts) {
      d_.facts.push_back(context.fact(id).origin.to_string());
    }
    d_.why = std::string("It is always ") + (yes ? "true" : "false") +
             " under what is known, and PyTorch did not see it.  The check "
             "excludes nothing; it tells PyTorch.";
  }

  bool side_of(Expr q, Context& context, Asker asker) {
    if (e_.advised) return *e_.advised;
    if (e_.example) return *e_.example;
    if (auto side = side_of_example(known_, q)) return *side;
    const Use use = use_of(place_.code);
    if (asker == Asker::kProgram && use == Use::kAssertion) return true;
    if (asker == Asker::kProgram && use == Use::kRefusal) return false;
    const Expr simple = as_divisibility(context.simplify(q));
    if (auto side = side_of_sizes(known_, e_, q)) return *side;
    if (auto side = side_of_equality(q, simple)) return *side;
    return side_of_order(simple.is_constant() ? q : simple, asker);
  }

  DiagnosisKind kind_of(Expr q, Context& context, Asker asker) {
    if (asker == Asker::kCompiler) return DiagnosisKind::kBugInOp;
    const Use use = use_of(place_.code);
    if (use == Use::kAssertion || use == Use::kRefusal) {
      return DiagnosisKind::kNeededCheck;
    }
    if (is_truth_of_data(q)) return DiagnosisKind::kRealBranch;
    if (asker == Asker::kOperator) return DiagnosisKind::kNeededCheck;
    const Expr simple = as_divisibility(context.simplify(q));
    if (is_equality_of_sizes(q) || is_equality_of_sizes(simple)) {
      return DiagnosisKind::kNeededCheck;
    }
    if (asker == Asker::kUnknown && use == Use::kUnknown) {
      return is_threshold(q) ? DiagnosisKind::kRealBranch
                             : DiagnosisKind::kNeededCheck;
    }
    const bool is_of_sizes = is_about_sizes(q) || is_of_counts(q, context);
    if (is_of_sizes && side_of_sizes(known_, e_, q)) {
      return DiagnosisKind::kNeededCheck;
    }
    return DiagnosisKind::kRealBranch;
  }

  // Equal sizes, a size that divides, "the number is not the one expected".
  static bool is_equality_of_sizes(Expr q) {
    if (!q.is(Op::kEq) && !q.is(Op::kNe)) return false;
    for (Expr side : q.args()) {
      if (side.is(Op::kMod) || side.is(Op::kPythonMod)) return true;
    }
    if (!q.arg(0).is_constant() && !q.arg(1).is_constant()) return true;
    const Expr value = q.arg(0).is_constant() ? q.arg(0) : q.arg(1);
    return q.is(Op::kNe) && !is_number(value, 0) && !is_number(value, 1);
  }

  // Eq(u0, 1) of a number that is no size: bool() of a tensor is asked so.
  bool is_truth_of_data(Expr q) const {
    if (!q.is(Op::kEq) || !e_.says_size_like) return false;
    const Expr value = q.arg(0).is_symbol() ? q.arg(1) : q.arg(0);
    const Expr symbol = q.arg(0).is_symbol() ? q.arg(0) : q.arg(1);
    return is_number(value, 1) && symbol.is_symbol() &&
           is_unbacked(symbol.symbol().kind) && !is_about_sizes(q);
  }

  // u0 > 5, as written: more than a number that is neither 0 nor 1.
  static bool is_threshold(Expr q) {
    if (!q.is(Op::kLt) && !q.is(Op::kLe)) return false;
    const auto least = q.arg(0).maybe_int64();
    return least && *least + (q.is(Op::kLt) ? 1 : 0) > 2;
  }

  bool is_about_sizes(Expr q) const {
    for (Expr s : free_symbols(q)) {
      const Symbol& symbol = s.symbol();
      if (!is_unbacked(symbol.kind)) continue;
      if (std::find(e_.size_like.begin(), e_.size_like.end(), symbol.name) ==
          e_.size_like.end()) {
        return false;
      }
    }
    return true;
  }

  // Of numbers from data that are known not to be negative.
  static bool is_of_counts(Expr q, Context& context) {
    for (Expr s : free_symbols(q)) {
      if (!is_unbacked(s.symbol().kind)) continue;
      if (!s.is_int()) return false;
      const Interval range = context.bounds(s);
      const bool is_truth = range == Interval(0, 1);
      if (is_truth || !range.lower() || range.lower()->sign() < 0) return false;
    }
    return true;
  }

  void counterexample(Context& context, Expr q, bool side,
                      const Answer& answer) {
    (void)context;
    const auto& point = side ? answer.counterexample : answer.witness;
    if (!point) return;
    const std::vector<Expr> symbols = free_symbols(q);
    for (Expr s : symbols) {
      if (const Value* v = point->find(s)) {
        d_.counterexample += (d_.counterexample.empty() ? "" : ", ") +
                             s.symbol().name + " = " + to_string(*v);
      }
    }
  }

  void explain_kind(Asker asker) {
    switch (d_.kind) {
      case DiagnosisKind::kRealBranch:
        d_.why =
            "Both sides are programs that somebody may want, and only "
            "the data chooses.  torch.cond keeps both; a check keeps one "
            "and refuses the inputs of the other; guard_or_false takes "
            "the False side wherever it is not decided.";
        return;
      case DiagnosisKind::kBugInOp:
        d_.why =
            "The compiler asks it after the program was traced: a fault "
            "to report.  The check is the weakest way around it.";
        return;
      default:
        d_.why = asker == Asker::kOperator
                     ? "An operator must know it to go on, and nothing known "
                       "decides it."
                     : "Nothing known decides it, and the program goes on "
                       "with one side only.";
    }
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
    d_.why = "The expression could not be read.";
  }

  // --- a value is wanted

  void value() {
    std::optional<Expr> e = read_expression(known_.pool(), e_.expression);
    if (!e) return unreadable();
    for (Expr s : free_symbols(*e)) name(s.symbol().name);
    if (e->is_int()) {
      Context context = known_.context(e_, *e);
      if (contradicts(context)) return;
      const Interval range = context.bounds(*e);
      if (range.is_point()) {
        const Expr side = eq(*e, known_.pool().integer(*range.lower()));
        return implied(context, side, context.ask(side));
      }
    }
    if (std::optional<Int> number = example_of(*e)) {
      const Expr same = eq(*e, known_.pool().integer(*number));
      add_line(same, d_.conditions, d_.code);
    }
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
    const std::optional<Assignment> point = example_point(known_, e);
    if (!point) return std::nullopt;
    const Evaluation value = evaluate(e, *point);
    if (!value.defined()) return std::nullopt;
    const Int* number = std::get_if<Int>(&*value.value);
    return number ? std::optional(*number) : std::nullopt;
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
      Context context = known_.context(e_, *q);
      const Answer answer = context.ask(*q);
      if (answer.verdict == Verdict::kNo) {
        for (FactId id : answer.facts) {
          d_.facts.push_back(context.fact(id).origin.to_string());
        }
      }
    }
    d_.why =
        "A check is false: it contradicts what is known, or these inputs "
        "break what was promised.";
  }

  void fault() {
    d_.kind = DiagnosisKind::kBugInOp;
    d_.why =
        "An operator has no implementation for sizes that only the data "
        "decides, or the compiler lost one: no check ends it.";
    const std::string& m = e_.message;
    if (has(m, "to enable, set")) {
      d_.why =
          "torch.compile breaks the graph here unless it is told to "
          "capture such values: set the option that the message names.";
    } else if (has(m, "fake kernel") || has(m, "fake impl")) {
      d_.why =
          "The operator has no (right) fake kernel: register one with "
          "torch.library.register_fake.";
    }
  }

  // --- dims

  void constraint();
  void add_condition(const std::string& text);
  void read_violation(const std::string& line);
  void read_suggestion(const std::string& line);
  void add_range_of(const std::string& name, const std::string& value,
                    const std::string& rest);

  Known& known_;
  const TextError& e_;
  const TextFrame place_;
  const Names names_;
  Diagnosis d_;
  std::map<std::string, std::string> dim_of_source_;
  std::map<std::string, std::pair<std::string, std::string>> root_range_;
};

// --- Constraints violated

std::string replace_all(std::string text, string_view what, string_view by) {
  for (size_t at = 0; !what.empty() && (at = text.find(what, at)) != npos;
       at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

std::string_view trimmed(string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) {
    s.remove_prefix(1);
  }
  while (!s.empty() && (s.back() == ' ' || s.back() == '.')) s.remove_suffix(1);
  return s;
}

// Names of dims and of inputs' sizes as symbols of their own.
ParseOptions with_any_name() {
  ParseOptions options;
  options.make_symbol = [](ExprPool& pool, string_view name) -> Expr {
    return pool.symbol(name, SymbolKind::kBackedSize);
  };
  return options;
}

void Answerer::add_condition(const std::string& text) {
  if (d_.conditions.size() >= 64) return;
  static const ParseOptions& options = *new ParseOptions(with_any_name());
  ExprPool pool;
  std::string shown = text;
  for (const auto& [source, dim] : dim_of_source_) {
    shown = replace_all(shown, source, dim);
  }
  try {
    const Expr e = parse(pool, shown, options);
    if (!e.is_bool()) return;
    shown = to_string(simplify(e));
  } catch (const Error&) {
    if (!has(text, "L['")) return;
  }
  if (shown == "True") return;
  if (std::find(d_.conditions.begin(), d_.conditions.end(), shown) ==
      d_.conditions.end()) {
    d_.conditions.push_back(shown);
  }
}

std::optional<std::string> part(string_view line, string_view before,
                                string_view behind) {
  size_t from = line.find(before);
  if (from == npos) return std::nullopt;
  from += before.size();
  const size_t to = behind.empty() ? npos : line.find(behind, from);
  return std::string(trimmed(line.substr(from, to == npos ? npos : to - from)));
}

void Answerer::read_violation(const std::string& line) {
  // "of batch = L['x'].size()[0] in the specified range"
  std::string dim;
  for (string_view before : {"Not all values of ", "You marked ",
                             "The values of ", "guards generated for "}) {
    std::optional<std::string> who = part(line, before, "");
    if (!who) continue;
    const size_t equals = who->find(" = L[");
    const size_t end = who->find(' ');
    dim = who->substr(0, std::min(equals, end));
    if (dim.starts_with("RelaxedUnspecConstraint(")) {
      dim = dim.substr(24, dim.rfind(')') - 24);
    }
    if (equals != npos) {
      const std::string source = who->substr(equals + 3);
      dim_of_source_[source.substr(0, source.find(' '))] = dim;
      d_.names[dim] = words_of_source(source.substr(0, source.find(' ')));
    } else if (dim.starts_with("L['")) {
      d_.names[dim] = words_of_source(dim);
    }
    break;
  }
  if (auto guard = part(line, "satisfy the generated guard ", "")) {
    return add_condition(*guard);
  }
  if (auto guard = part(line, "guard was added: ", ", where {")) {
    return add_condition(*guard);
  }
  for (string_view before :
       {"inferred to be a constant (", "specialized it to be a constant (",
        "resulted in a specialized value of "}) {
    if (auto value = part(line, before, before.back() == '(' ? ")" : "")) {
      if (!dim.empty()) add_condition(dim + " == " + *value);
      return;
    }
  }
  if (auto other = part(line, "inferred to be equal to ", "")) {
    if (!dim.empty()) add_condition(dim + " == " + *other);
    return;
  }
  if (has(line, "must always be equal")) {
    if (auto other = part(line, " and ", " = ")) {
      add_condition(dim + " == " + *other);
    }
    return;
  }
  if (auto relation = part(line, " by ", "")) {
    const size_t equals = relation->find(" = ");
    if (has(line, "must always be related") && equals != npos) {
      add_condition(relation->replace(equals, 3, " == "));
    }
  }
}

// `value`, 2*_dx + 1, at the ends of the range of _dx, which `rest` begins
// with.
void Answerer::add_range_of(const std::string& name, const std::string& value,
                            const std::string& rest) {
  const std::string root = rest.substr(0, rest.find(' '));
  const auto& [low, high] = root_range_[root];
  if (!low.empty()) {
    add_condition(name + " >= " + replace_all(value, root, low));
  }
  if (!high.empty() && !has(high, "oo")) {
    add_condition(name + " <= " + replace_all(value, root, high));
  }
}

// dx = Dim('dx', min=6, max=99)    dy = dx + 1    dx = 4    dx = None  # 4
void Answerer::read_suggestion(const std::string& line) {
  const size_t equals = line.find(" = ");
  if (equals == npos) return;
  const std::string name(trimmed(string_view(line).substr(0, equals)));
  const std::string value(trimmed(string_view(line).substr(equals + 3)));
  d_.code.push_back(name + " = " + value);
  if (value.starts_with("None")) {
    if (auto constant = part(value, "# ", "")) {
      add_condition(name + " == " + *constant);
    }
    return;
  }
  if (value.starts_with("Dim(")) {
    std::string low, high;
    for (auto [key, end, to] :
         {std::tuple{"min=", ",", &low}, std::tuple{"max=", ",", &high}}) {
      if (auto found = part(value, key, end)) {
        *to = found->substr(0, found->find(')'));
      }
    }
    root_range_[name] = {low, high};
    if (name.starts_with("_")) return;
    if (!low.empty()) add_condition(name + " >= " + low);
    if (!high.empty() && !has(high, "oo")) add_condition(name + " <= " + high);
    return;
  }
  // 2*_dx + 1: a congruence, and the range of _dx.
  const size_t times = value.find("*_");
  if (times != npos) {
    const std::string factor = value.substr(0, times);
    add_range_of(name, value, value.substr(times + 1));
    const size_t plus = value.find(" + ", times), minus = value.find(" - ");
    std::string offset = "0";
    if (plus != npos) offset = value.substr(plus + 3);
    if (minus != npos) offset = "-" + value.substr(minus + 3);
    add_condition("Eq(Mod(" + name + " - (" + offset + "), " + factor +
                  "), 0)");
    return;
  }
  add_condition(name + " == " + value);
}

void Answerer::constraint() {
  d_.kind = DiagnosisKind::kDimSpec;
  if (e_.violations.empty()) read_violation(e_.message);
  for (const std::string& line : e_.violations) read_violation(line);
  const std::vector<std::string> by_guards = d_.conditions;
  for (const std::string& line : e_.suggestions) read_suggestion(line);
  if (!by_guards.empty()) d_.conditions = by_guards;
  d_.why =
      "The program needs more of these dims than their specs promise.  "
      "Either the spec says it, or the line that needs it changes.";
}

Diagnosis answer_within(Known& known, const TextError& e) {
  // What all errors of a text may take is bounded, and so is each.
  constexpr uint64_t kUnits = 3'000'000;
  try {
    Budget budget(kUnits);
    return Answerer(known, e).answer();
  } catch (const OutOfBudget&) {
    Diagnosis d;
    d.question = e.expression;
    d.text_line = e.line;
    d.why = "The question takes more work than one may.";
    return d;
  }
}

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
  std::vector<Diagnosis> result;
  std::map<uint32_t, Known> known;
  Budget all(20'000'000);
  for (const TextError& e : text.errors) {
    auto of_env = known.try_emplace(e.env, text.envs[e.env]).first;
    Diagnosis d = answer_within(of_env->second, e);
    if (e.stream < text.streams.size()) d.stream = text.streams[e.stream];
    const auto same =
        std::find_if(result.begin(), result.end(),
                     [&](const Diagnosis& other) { return is_same(other, d); });
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

}  // namespace proviso
