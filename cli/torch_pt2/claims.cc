#include "cli/torch_pt2/claims.h"

#include <algorithm>

#include "guards/refusal.h"
#include "sym/polynomial.h"
#include "sym/print.h"
#include "tracer_adapter/trace/sources.h"

namespace proviso::cli {
namespace {

using Kind = Trial::Kind;

// Facts, for the solver and to be checked at a point.
class Facts {
 public:
  enum class Wanted { kVerdicts, kPoints };

  // Points cost a search; verdicts alone are had without.
  Facts(const Claims& claims, Wanted wanted)
      : claims_(claims), context_(claims.pool, options(wanted)) {}

  void declare(Expr symbol, const Interval& range, std::string why) {
    for (Expr end : ends_of(symbol, range)) facts_.push_back(end);
    context_.declare(symbol, range, {std::move(why)});
  }
  void assume(Expr condition, std::string why) {
    facts_.push_back(condition);
    context_.assume(condition, {std::move(why)});
  }
  Answer ask(Expr question) { return context_.ask(question); }
  std::string because_of(const Answer& answer) const;
  // Sizes for which the facts hold and the question does not.
  std::optional<Assignment> against(Expr question);
  // The same, none of the question's sizes being 0 or 1: those often run by
  // broadcasting.
  std::optional<Assignment> against_large(Expr question);

  static std::vector<Expr> ends_of(Expr symbol, const Interval& range);

 private:
  static SolverOptions options(Wanted wanted);
  Int value_for(Expr symbol, const Int& example);

  const Claims& claims_;
  Context context_;
  std::vector<Expr> facts_;
};

// A file may have hundreds of guards, each of a page of arithmetic.
SolverOptions Facts::options(Wanted wanted) {
  SolverOptions options{.machine_int64 = true};
  options.use_z3 = options.search_models = wanted == Wanted::kPoints;
  options.z3_budget = 20000;
  return options;
}

std::vector<Expr> Facts::ends_of(Expr symbol, const Interval& range) {
  ExprPool& pool = symbol.pool();
  std::vector<Expr> ends;
  const bool is_size = symbol.symbol().kind == SymbolKind::kBackedSize;
  if (range.lower() && !(is_size && *range.lower() <= Int(0)))
    ends.push_back(ge(symbol, pool.integer(*range.lower())));
  if (range.upper()) ends.push_back(le(symbol, pool.integer(*range.upper())));
  return ends;
}

std::string Facts::because_of(const Answer& answer) const {
  std::string out;
  for (FactId id : answer.facts) {
    const std::string& text = context_.fact(id).origin.text;
    if (!text.empty()) out += (out.empty() ? "" : "; ") + text;
  }
  return out;
}

// A value that the facts allow, the example's if they do.
Int Facts::value_for(Expr symbol, const Int& example) {
  ExprPool& pool = claims_.pool;
  const Expr wanted = pool.integer(example);
  for (Expr question : {eq(symbol, wanted), lt(symbol, wanted)}) {
    const Answer answer = context_.ask(question);
    if (answer.verdict == Verdict::kYes && question.is(Op::kEq)) return example;
    for (const auto& point : {answer.witness, answer.counterexample}) {
      const Value* value = point ? point->find(symbol) : nullptr;
      if (value != nullptr) return std::get<Int>(*value);
    }
  }
  const Interval range = context_.bounds(symbol);
  return range.lower() ? *range.lower() : example;
}

std::optional<Assignment> Facts::against(Expr question) {
  std::optional<Assignment> point = ask(question).counterexample;
  if (!point) return std::nullopt;
  const Scope scope(context_);
  for (const auto& [symbol, value] : point->entries())
    if (const Int* number = std::get_if<Int>(&value))
      context_.assume(eq(symbol, claims_.pool.integer(*number)));
  for (const auto& [symbol, example] : claims_.example) {
    if (point->find(symbol) != nullptr) continue;
    const Int value = value_for(symbol, example);
    point->set(symbol, value);
    context_.assume(eq(symbol, claims_.pool.integer(value)));
  }
  const bool fits = std::all_of(facts_.begin(), facts_.end(), [&](Expr fact) {
    return evaluate(fact, *point).is_true();
  });
  if (!fits || evaluate(question, *point).is_true()) return std::nullopt;
  return point;
}

std::optional<Assignment> Facts::against_large(Expr question) {
  const Scope scope(context_);
  for (Expr symbol : free_symbols(question))
    if (symbol.is_int()) context_.assume(ge(symbol, 2));
  return against(question);
}

// --- one claim

// What a Dim can say: min and max, the same Dim twice, 2*d + 1.
bool is_promise(Expr condition) {
  const std::vector<Expr> symbols = free_symbols(condition);
  if (condition.is(Op::kEq)) {
    const Polynomial p = to_polynomial(condition.arg(0) - condition.arg(1));
    return std::all_of(p.terms().begin(), p.terms().end(), [](const auto& t) {
      return t.first.empty() || (t.first.size() == 1 && t.first[0].is_symbol());
    });
  }
  const bool ordered = condition.is(Op::kLe) || condition.is(Op::kLt);
  return ordered && symbols.size() == 1 &&
         (condition.arg(0) == symbols[0] || condition.arg(1) == symbols[0]);
}

std::string shown(const Assignment& point, Expr question) {
  std::string out;
  for (Expr symbol : free_symbols(question))
    if (const Value* value = point.find(symbol))
      out += (out.empty() ? "" : ", ") + with_sources(symbol) + " = " +
             to_string(*value);
  return out;
}

class Judge {
 public:
  Judge(const Claims& claims, const std::vector<NeededCondition>& needs,
        const std::function<Trial(const Assignment&)>& trial)
      : claims_(claims),
        needs_(needs),
        trial_(trial),
        passed_(claims, Facts::Wanted::kVerdicts),
        signature_(claims, Facts::Wanted::kVerdicts),
        needed_(claims, Facts::Wanted::kPoints) {}

  std::vector<Finding> run();

 private:
  void try_example();
  void judge_claim(const std::string& text, Expr condition, bool promise,
                   const std::string& place = "");
  void judge_unimplied(const std::string& text, Expr condition, bool promise,
                       const std::string& place);
  void find_missing(Facts& stated, const NeededCondition& need);
  void report(const char* kind, const std::string& text, std::string because) {
    findings_.push_back({kind, text, std::move(because)});
  }

  const Claims& claims_;
  const std::vector<NeededCondition>& needs_;
  const std::function<Trial(const Assignment&)>& trial_;
  Facts passed_;     // the claims judged so far
  Facts signature_;  // what the inputs' sizes are called: 2*s0 is even
  Facts needed_;     // by operators
  bool trials_decide_ = true;
  std::vector<Finding> findings_;
};

std::string place_of(const NeededCondition& need) {
  return need.origins.empty() ? "" : need.origins[0].to_string();
}

std::string at_place(const NeededCondition& need) {
  return need.origins.empty() ? "" : " at " + place_of(need);
}

// What does not run on its own example says nothing by not running elsewhere.
void Judge::try_example() {
  Assignment point;
  for (const auto& [symbol, value] : claims_.example) point.set(symbol, value);
  const Trial trial = trial_(point);
  trials_decide_ = trial.kind == Kind::kRuns;
  if (trial.kind == Kind::kRefused)
    report("wrong", "the example that the program was exported with",
           trial.why);
}

void Judge::judge_unimplied(const std::string& text, Expr condition,
                            bool promise, const std::string& place) {
  const Answer answer = needed_.ask(condition);
  if (answer.verdict == Verdict::kYes)
    return report("needed", text, needed_.because_of(answer));
  if (!promise && signature_.ask(condition).verdict == Verdict::kYes)
    return report("promised", text, "the inputs' sizes are written so");
  const auto point = needed_.against(condition);
  if (!point || !trials_decide_)
    return report("open", text, "no operator is known to need it");
  const Trial trial = trial_(*point);
  const std::string sizes = shown(*point, condition);
  if (trial.kind == Kind::kRefused)
    return report("needed", text, sizes + ": " + trial.why);
  if (trial.kind == Kind::kOpen)
    return report("open", text, sizes + ": " + trial.why);
  const bool asked = !place.empty();
  report(promise ? "promised"
         : asked ? "asked"
                 : "wrong",
         text,
         "no operator needs it: " + sizes + " runs" +
             (asked     ? "; asked for at " + place
              : promise ? ""
                        : "; right if the model's own code asks for it"));
}

// `promise`: a Dim can say such a thing.
void Judge::judge_claim(const std::string& text, Expr condition, bool promise,
                        const std::string& place) {
  const Answer answer = passed_.ask(condition);
  if (answer.verdict == Verdict::kNo)
    return report("wrong", text, "never so: " + passed_.because_of(answer));
  if (answer.verdict == Verdict::kYes)
    report("implied", text, passed_.because_of(answer));
  else
    judge_unimplied(text, condition, promise, place);
  passed_.assume(condition, text);
}

// `stated` is all that is checked before or while the program runs.
void Judge::find_missing(Facts& stated, const NeededCondition& need) {
  const Expr condition = need.condition;
  if (stated.ask(condition).verdict == Verdict::kYes) return;
  const std::string text = with_sources(condition);
  std::string because =
      need.origins.empty() ? "" : "needed at " + place_of(need);
  const std::string where = because.empty() ? "" : "; " + because;
  const char* kind = "open";
  for (const auto& point :
       {stated.against(condition), stated.against_large(condition)}) {
    if (!point) continue;
    const Trial trial = trials_decide_ ? trial_(*point) : Trial{};
    const std::string why =
        trial.kind == Kind::kRuns ? "runs all the same" : trial.why;
    because = "for instance " + shown(*point, condition) +
              (why.empty() ? "" : ": " + why) + where;
    if (trial.kind != Kind::kRefused) continue;
    kind = "missing";
    break;
  }
  report(kind, text, because);
  stated.assume(condition, text);
}

std::vector<Finding> Judge::run() {
  try_example();
  for (const auto& [symbol, value] : claims_.example)
    if (symbol.symbol().kind == SymbolKind::kBackedSize) {
      passed_.declare(symbol, Interval::at_least(0), "");
      signature_.declare(symbol, Interval::at_least(0), "");
      needed_.declare(symbol, Interval::at_least(0), "");
    }
  for (Expr equation : claims_.equations)
    signature_.assume(equation, with_sources(equation));
  for (const NeededCondition& need : needs_)
    needed_.assume(need.condition,
                   with_sources(need.condition) + at_place(need));
  for (const auto& [symbol, range] : claims_.ranges)
    for (Expr end : Facts::ends_of(symbol, range))
      judge_claim(with_sources(end), end, true);
  for (const ClaimText& guard : claims_.guards)
    judge_claim(guard.text, guard.condition, is_promise(guard.condition),
                guard.place);
  for (Expr equation : claims_.equations)
    if (passed_.ask(equation).verdict != Verdict::kYes)
      judge_claim(with_sources(equation), equation, true);
  Facts stated(claims_, Facts::Wanted::kPoints);
  for (const auto& [symbol, range] : claims_.stated)
    stated.declare(symbol, range,
                   with_sources(symbol) + " in " + range.to_string());
  for (const ClaimText& guard : claims_.guards)
    stated.assume(guard.condition, guard.text);
  for (Expr equation : claims_.equations)
    stated.assume(equation, with_sources(equation));
  for (Expr condition : claims_.asserted)
    stated.assume(condition, "asserted: " + with_sources(condition));
  for (const NeededCondition& need : needs_) find_missing(stated, need);
  return std::move(findings_);
}

}  // namespace

std::string with_sources(Expr e) { return to_python(e, source_or_name); }

Claims claims_of(const pt2::LoadedProgram& loaded, const Retrace& traced) {
  Claims claims{loaded.program.env->pool(),
                {},
                loaded.ranges,
                loaded.stated,
                {},
                loaded.equations,
                traced.asserted};
  for (const pt2::Claim& claim : loaded.claims)
    claims.guards.push_back(
        {claim.text, claim.condition,
         claim.places.empty() ? "" : shown_place(claim.places[0])});
  for (const InputDim& dim : loaded.program.env->input_dims())
    if (dim.expr.is_symbol()) claims.example.emplace_back(dim.expr, dim.hint);
  return claims;
}

std::vector<Finding> judge(
    const Claims& claims, const std::vector<NeededCondition>& needs,
    const std::function<Trial(const Assignment&)>& trial) {
  return Judge(claims, needs, trial).run();
}

}  // namespace proviso::cli
