#include "solver/solver.h"

#include <algorithm>
#include <set>

#include "solver/engine/engine.h"
#include "solver/kind_range.h"
#include "solver/limits_in_force.h"
#include "solver/trace.h"
#include "sym/print.h"

namespace proviso::inline v0_2 {
using namespace internal;
namespace {

constexpr std::string_view kTierNames[kTierCount] = {
    "structure", "ranges", "equalities", "linear",
    "cases",     "models", "z3",         "none"};

std::string described(Expr e) {
  return to_string(e, 200) + " (" + std::string(name_of(e.type())) + ")";
}

// What the symbol's kind says, as assertions.
std::string range_in_smtlib(Expr s) {
  if (!s.is_int()) return "";
  const Interval& range = range_of_kind(s.symbol().kind);
  ExprPool& pool = s.pool();
  std::string out;
  auto assert_that = [&](Expr condition) {
    out += "(assert " + to_smtlib(condition) + ")\n";
  };
  if (range.lower()) assert_that(ge(s, pool.integer(*range.lower())));
  if (range.upper()) assert_that(le(s, pool.integer(*range.upper())));
  return out;
}

[[noreturn]] void fail_bool(Expr e, const char* call) {
  throw Error("Context::" + std::string(call) + ": expected a boolean, got " +
              described(e) +
              (std::string_view(call) == "assume"
                   ? "; compare it with something"
                   : "; use bounds() for a number"));
}

void require_bool(Expr e, const char* call) {
  if (!e.is_bool()) [[unlikely]]
    fail_bool(e, call);
}

Expr lies_in(Expr symbol, const Interval& range) {
  ExprPool& pool = symbol.pool();
  if (range.is_empty()) return pool.boolean(false);
  Expr low, high;
  if (range.lower()) low = ge(symbol, pool.integer(*range.lower()));
  if (range.upper()) high = le(symbol, pool.integer(*range.upper()));
  if (low && high) return logical_and(low, high);
  return low ? low : high ? high : pool.boolean(true);
}

void require_int(Engine& engine, Expr e, const char* call) {
  engine.check(e, call, "an integer");
  if (e.is_int()) return;
  throw Error("Context::" + std::string(call) + ": expected an integer, got " +
              described(e) + "; round it first, or ask() a comparison");
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kYes: return "yes";
    case Verdict::kNo: return "no";
    default: return "unknown";
  }
}

std::string_view name_of(Tier tier) {
  return kTierNames[static_cast<size_t>(tier)];
}

std::string Provenance::to_string() const {
  if (file.empty()) return text;
  return (text.empty() ? "" : text + "  ") + "# " + file + ":" +
         std::to_string(line);
}

std::string Statistics::to_string() const {
  std::string out = std::to_string(questions) + " questions:";
  for (size_t i = 0; i < kTierCount; ++i) {
    out += (i == 0 ? " " : ", ") + std::string(kTierNames[i]) + " " +
           std::to_string(decided[i]);
  }
  out += "; memo hits " + std::to_string(memo_hits);
  return out + ", Z3 calls " + std::to_string(z3_calls);
}

std::string Statistics::strategies_to_string() const {
  std::string out;
  for (size_t i = 0; i < kStrategyCount; ++i) {
    const StrategyCount& c = by_strategy[i];
    if (c.tried == 0) continue;
    std::string line(strategy(i).name);
    line.resize(28, ' ');
    for (uint64_t n : {c.tried, c.decided, c.work}) {
      const std::string digits = std::to_string(n);
      line += std::string(digits.size() < 12 ? 12 - digits.size() : 1, ' ');
      line += digits;
    }
    out += line + "\n";
  }
  return out;
}

// Checked before the pool's memory is touched.
namespace {
[[noreturn]] void fail_usable(const std::shared_ptr<Engine>& engine) {
  if (engine == nullptr) {
    throw Error("Context: it was moved from; use the context it was moved to");
  }
  throw Error(
      "Context: its ExprPool was destroyed; keep the pool for as "
      "long as its contexts");
}
Engine& usable(const std::shared_ptr<Engine>& engine) {
  if (engine == nullptr || engine->has_lost_its_pool()) [[unlikely]]
    fail_usable(engine);
  return *engine;
}
}  // namespace

// --- the trace of the calls

// A context gets its number in a trace with its first line there.
Trace* Context::trace() const {
  const std::shared_ptr<Trace>& here = engine_->trace;
  if (here == nullptr || Trace::is_in_sink()) return nullptr;
  if (numbered_by_ == here) return here.get();
  numbered_by_ = here;
  number_ = here->begin(engine_->pool(), engine_->options());
  uint32_t depth = 0;
  const auto push_to = [&](size_t wanted) {
    for (; depth < wanted; ++depth) here->line(number_, "push");
  };
  for (const Fact& fact : facts()) {
    push_to(fact.depth);
    here->line(number_, "assume", fact.condition);
  }
  push_to(this->depth());
  return here.get();
}

// Whoever adds a fact or a scope writes before that: what a context has when it
// is first seen is written then.
template <typename Write>
void Context::log(Write write) const {
  if (engine_->trace == nullptr) [[likely]]
    return;
  if (Trace* trace = this->trace()) write(*trace);
}

void Context::end_trace() noexcept {
  if (numbered_by_ == nullptr || Trace::is_in_sink()) return;
  try {
    numbered_by_->line(number_, "end");
  } catch (...) {  // the sink's
  }
  numbered_by_.reset();
}

void Context::set_log(LogSink sink) {
  usable(engine_).trace =
      sink ? std::make_shared<Trace>(std::move(sink)) : nullptr;
}

// --- versions

Context::Context(ExprPool& pool, SolverOptions options)
    : engine_(std::make_shared<Engine>(pool, options)),
      at_(std::make_shared<Version>()) {
  engine_->start_at(at_);
  engine_->trace = Trace::of_environment();
}

Context::~Context() { end_trace(); }
Context::Context(Context&& other) noexcept { *this = std::move(other); }
Context& Context::operator=(Context&& other) noexcept {
  if (this == &other) return *this;
  end_trace();
  engine_ = std::move(other.engine_);
  at_ = std::move(other.at_);
  numbered_by_ = std::move(other.numbered_by_);
  number_ = other.number_;
  return *this;
}
Context::Context(std::shared_ptr<Engine> engine, std::shared_ptr<Version> at)
    : engine_(std::move(engine)), at_(std::move(at)) {}

// The engine while a call is under way: brought to this context's version, with
// its limits in force.  A version that facts are added to is the context's own.
class Context::Call {
 public:
  explicit Call(const Context& context) : Call(context, context.at_) {}
  explicit Call(Context& context, bool extends)
      : Call(context, extends ? context.own_version() : context.at_) {}

  Engine& engine;

 private:
  Call(const Context& context, const std::shared_ptr<Version>& at)
      : engine(usable(context.engine_)), limits_(engine.limits()) {
    engine.facts().resume();
    engine.go_to(at);
  }

  const LimitsInForce limits_;
};

std::shared_ptr<Version> Context::own_version() {
  usable(engine_);
  if (at_->is_frozen) {
    at_ = std::make_shared<Version>(Version{.parent = at_});
  }
  return at_;
}

Context Context::clone() {
  usable(engine_);
  for (Version* v = at_.get(); v != nullptr && !v->is_frozen;
       v = v->parent.get()) {
    v->is_frozen = true;
  }
  Context result(engine_, at_);
  if (Trace* trace = this->trace()) {
    result.number_ = trace->clone(number_);
    result.numbered_by_ = engine_->trace;
  }
  return result;
}

void Context::push() {
  usable(engine_);
  log([&](Trace& t) { t.line(number_, "push"); });
  at_ = std::make_shared<Version>(Version{.parent = at_, .is_scope = true});
  const Call call(*this);
}

const Version* Context::innermost_scope() const {
  const Version* scope = at_.get();
  while (scope != nullptr && !scope->is_scope) scope = scope->parent.get();
  return scope;
}

void Context::pop() {
  usable(engine_);
  const Version* scope = innermost_scope();
  if (scope == nullptr) {
    throw Error("Context::pop: no push() is open; call push() first");
  }
  if (std::count(of_scopes_.begin(), of_scopes_.end(), scope) != 0) {
    throw Error(
        "Context::pop: the innermost push() is a Scope's; end the Scope "
        "instead");
  }
  log([&](Trace& t) { t.line(number_, "pop"); });
  at_ = scope->parent;
  const Call call(*this);
}

Scope::Scope(Context& context)
    : context_(context), version_((context.push(), context.at_)) {
  context_.of_scopes_.push_back(version_.get());
}

// Nothing here throws: the engine goes back when it is next asked.
Scope::~Scope() {
  std::erase(context_.of_scopes_, version_.get());
  const Version* v = context_.at_.get();
  size_t pushed = 0;
  for (; v != nullptr && v != version_.get(); v = v->parent.get()) {
    pushed += v->is_scope;
  }
  if (v == nullptr) return;
  try {
    context_.log([&](Trace& t) {
      for (size_t i = 0; i <= pushed; ++i) t.line(context_.number_, "pop");
    });
  } catch (...) {  // the sink's
  }
  context_.at_ = version_->parent;
}

size_t Context::depth() const {
  size_t n = 0;
  for (const Version* v = at_.get(); v != nullptr; v = v->parent.get()) {
    n += v->is_scope;
  }
  return n;
}

// --- assumptions

ExprPool& Context::pool() const {
  usable(engine_);
  return engine_->pool();
}
const SolverOptions& Context::options() const {
  usable(engine_);
  return engine_->options();
}

FactId Context::declare(Expr symbol, const Interval& range, Provenance origin) {
  const Call call(*this, true);
  Engine& here = call.engine;
  here.check(symbol, "declare", "a symbol");
  if (!symbol.is_symbol()) {
    throw Error("Context::declare: expected a symbol, got " +
                described(symbol) + "; use assume() for a condition");
  }
  const Expr condition = lies_in(symbol, range);
  log([&](Trace& t) {
    if (range.is_empty()) return t.line(number_, "assume", condition);
    t.range(number_, symbol, range);
  });
  return here.facts().assume(condition, std::move(origin));
}

FactId Context::declare_strided(Expr symbol, const Strided& range,
                                Provenance origin) {
  const Call call(*this, true);
  Engine& here = call.engine;
  here.check(symbol, "declare", "a symbol");
  if (!symbol.is_symbol() || !symbol.is_int()) {
    throw Error("Context::declare: expected an integer symbol, got " +
                described(symbol) + "; use assume() for a condition");
  }
  Expr condition = lies_in(symbol, range.span());
  if (range.stride() > Int(1)) {
    ExprPool& pool = here.pool();
    condition =
        logical_and(condition, eq(mod(symbol, pool.integer(range.stride())),
                                  pool.integer(range.offset())));
  }
  log([&](Trace& t) { t.line(number_, "assume", condition); });
  return here.facts().assume(condition, std::move(origin));
}

FactId Context::assume(Expr condition, Provenance origin) {
  const Call call(*this, true);
  Engine& here = call.engine;
  here.check(condition, "assume", "a boolean");
  require_bool(condition, "assume");
  log([&](Trace& t) { t.line(number_, "assume", condition); });
  return here.facts().assume(condition, std::move(origin));
}

// --- asking

Answer Context::ask(Expr question) {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(question, "ask", "a boolean");
  require_bool(question, "ask");
  Answer answer = here.answers().ask(question);
  answer.facts = here.facts().ids_of(std::move(answer.facts));
  log([&](Trace& t) {
    const bool is_contradiction =
        answer.verdict == Verdict::kUnknown && !answer.facts.empty();
    t.asked(number_, "prove", question, answer.verdict,
            answer.counterexample && answer.witness, is_contradiction);
  });
  return answer;
}

Verdict Context::ask_quick(Expr question) {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(question, "ask_quick", "a boolean");
  require_bool(question, "ask_quick");
  const Verdict verdict = here.native().ask(question);
  log([&](Trace& t) {
    t.asked(number_, "quick", question, verdict, false,
            here.facts().conflict().has_value());
  });
  return verdict;
}

Tier Context::tier_of(Expr question) const {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(question, "tier_of", "a boolean");
  const Remembered* m = here.native().remembered(question);
  return m == nullptr ? Tier::kNone : m->tier;
}

std::vector<FactId> Context::facts_used(Expr question) const {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(question, "facts_used", "a boolean");
  return here.facts().ids_of(here.answers().facts_used(question));
}

Verdict Context::equivalent(Expr a, Expr b) {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(a, "equivalent", "an expression");
  here.check(b, "equivalent", "an expression");
  if (a.is_bool() != b.is_bool()) {
    throw Error("Context::equivalent: " + described(a) + " and " +
                described(b) +
                " are of different types; compare like with "
                "like");
  }
  const Expr question = eq(a, b);
  const Verdict verdict = here.native().ask(question);
  log([&](Trace& t) {
    t.asked(number_, "quick", question, verdict, false,
            here.facts().conflict().has_value());
  });
  return verdict;
}

namespace {

// Facts that imply a result, collected claim by claim; nothing is done where
// nobody asked for them.
class Behind {
 public:
  Behind(Engine& engine, std::vector<FactId>* wanted)
      : engine_(engine), wanted_(wanted) {}

  void add(Expr claim) {
    if (wanted_ == nullptr || claim.is_constant()) return;
    add_all(engine_.answers().facts_behind(claim));
  }
  void add_connected(Expr e) {
    if (wanted_ != nullptr) add_all(engine_.answers().connected_facts(e));
  }
  // That e has these values at most.
  void add_range(Expr e, const Interval& range) {
    if (wanted_ == nullptr) return;
    if (range.is_empty()) return add_empty(e);
    if (range.lower()) add(ge(e, e.pool().integer(*range.lower())));
    if (range.upper()) add(le(e, e.pool().integer(*range.upper())));
  }
  // That e has no value.
  void add_empty(Expr e) {
    if (const auto which = engine_.facts().conflict()) return add_all(*which);
    add_connected(e);
  }
  void add_congruence(Expr e, const Int& step, const Int& residue) {
    if (wanted_ == nullptr || step.is_one()) return;
    const Expr value = e.pool().integer(residue);
    add(step.is_zero() ? eq(e, value)
                       : eq(mod(e, e.pool().integer(step)), value));
  }
  void add_values(Expr e, const std::vector<Int>& values) {
    constexpr size_t kMostCases = 16;
    if (wanted_ == nullptr) return;
    if (values.empty() || values.size() > kMostCases) return add_connected(e);
    std::vector<Expr> cases;
    for (const Int& value : values)
      cases.push_back(eq(e, e.pool().integer(value)));
    add(e.pool().make(Op::kOr, cases));
  }
  void finish() {
    if (wanted_ != nullptr)
      *wanted_ = engine_.facts().ids_of({numbers_.begin(), numbers_.end()});
  }

 private:
  void add_all(const std::vector<FactId>& numbers) {
    numbers_.insert(numbers.begin(), numbers.end());
  }

  Engine& engine_;
  std::vector<FactId>* const wanted_;  // may be null
  std::set<FactId> numbers_;
};

}  // namespace

Interval Context::bounds_quick(Expr e) {
  const Call call(*this);
  Engine& here = call.engine;
  require_int(here, e, "bounds_quick");
  const Interval range = here.ranges().bounds_quick(e);
  log([&](Trace& t) {
    t.line(number_, "bounds_quick", e, " = " + range.to_string());
  });
  return range;
}

Interval Context::bounds(Expr e, std::vector<FactId>* facts) {
  const Call call(*this);
  Engine& here = call.engine;
  require_int(here, e, "bounds");
  Behind behind(here, facts);
  const Interval range = here.ranges().bounds(e);
  behind.add_range(e, range);
  behind.finish();
  log([&](Trace& t) {
    t.line(number_, "bounds", e, " = " + range.to_string());
  });
  return range;
}

Strided Context::strided(Expr e, std::vector<FactId>* facts) {
  const Call call(*this);
  Engine& here = call.engine;
  require_int(here, e, "strided");
  Behind behind(here, facts);
  const Strided range = here.ranges().strided(e);
  behind.add_range(e, range.span());
  if (!range.is_empty())
    behind.add_congruence(e, range.stride(), range.offset());
  behind.finish();
  log([&](Trace& t) {
    t.line(number_, "strided", e, " = " + range.to_string());
  });
  return range;
}

Int Context::multiple_of(Expr e, std::vector<FactId>* facts) {
  const Call call(*this);
  Engine& here = call.engine;
  require_int(here, e, "multiple_of");
  Behind behind(here, facts);
  const Int divisor = here.ranges().multiple_of(e);
  behind.add_congruence(e, divisor, 0);
  behind.finish();
  log([&](Trace& t) {
    t.line(number_, "multiple_of", e, " = " + divisor.to_string());
  });
  return divisor;
}

std::optional<std::vector<Int>> Context::values(Expr e, size_t limit,
                                                std::vector<FactId>* facts) {
  const Call call(*this);
  Engine& here = call.engine;
  require_int(here, e, "values");
  Behind behind(here, facts);
  auto found = here.ranges().values(e, limit);
  if (found) behind.add_values(e, *found);
  behind.finish();
  log([&](Trace& t) {
    std::string text = " =";
    for (const Int& value : found.value_or(std::vector<Int>()))
      text += " " + value.to_string();
    t.line(number_, "values " + std::to_string(limit), e,
           found ? text : " = many");
  });
  return found;
}

// What substitute(), simplify() and canonical() share.
Expr Context::rewritten(const char* name, Expr e, std::vector<FactId>* facts,
                        Expr (Engine::*rewrite)(Expr)) {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(e, name, "an expression");
  Behind behind(here, facts);
  const Expr result = (here.*rewrite)(e);
  if (result != e) behind.add(eq(e, result));
  behind.finish();
  log([&](Trace& t) {
    t.line(number_, name, e, " = " + proviso::to_string(result));
  });
  return result;
}

Expr Context::substitute(Expr e, std::vector<FactId>* facts) {
  return rewritten("substitute", e, facts, &Engine::substitute);
}
Expr Context::simplify(Expr e, std::vector<FactId>* facts) {
  return rewritten("simplify", e, facts, &Engine::simplify);
}
Expr Context::canonical(Expr e, std::vector<FactId>* facts) {
  return rewritten("canonical", e, facts, &Engine::canonical);
}

void Context::interrupt() const { engine_->facts().interrupt(); }

std::vector<Fact> Context::facts() const {
  const Call call(*this);
  return call.engine.facts().all();
}

Fact Context::fact(FactId id) const {
  const Call call(*this);
  Engine& here = call.engine;
  if (const auto fact = here.facts().find(id)) return *fact;
  throw Error("Context::fact: no fact " + std::to_string(id) +
              " holds here; facts() lists the " +
              std::to_string(here.facts().size()) + " that do");
}

std::optional<std::vector<FactId>> Context::contradiction() const {
  const Call call(*this);
  Engine& here = call.engine;
  auto found = here.facts().conflict();
  if (found) found = here.facts().ids_of(*std::move(found));
  return found;
}

const Statistics& Context::statistics() const {
  usable(engine_);
  return engine_->statistics();
}

std::string Context::to_smtlib(Expr question) const {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(question, "to_smtlib", "a boolean");
  require_bool(question, "to_smtlib");
  std::string out = "(set-logic ALL)\n";
  std::set<std::pair<uint32_t, std::string>> declared;
  auto declare_symbols = [&](Expr e) {
    for (Expr s : free_symbols(e)) {
      const char* sort = s.is_float() ? "Real" : s.is_bool() ? "Bool" : "Int";
      declared.emplace(s.symbol().index, "(declare-const " +
                                             proviso::to_smtlib(s) + " " +
                                             sort + ")\n" + range_in_smtlib(s));
    }
  };
  const std::vector<Fact> known = facts();
  for (const Fact& fact : known) declare_symbols(fact.condition);
  declare_symbols(question);
  for (const auto& [index, line] : declared) out += line;
  for (const Fact& fact : known) {
    std::string origin = fact.origin.to_string();
    std::replace(origin.begin(), origin.end(), '\n', ' ');
    out += "; fact " + std::to_string(fact.id) +
           (origin.empty() ? "" : ": " + origin) + "\n";
    out += "(assert " + proviso::to_smtlib(fact.condition) + ")\n";
  }
  out += "; the question is valid when its negation has no model\n";
  out += "(assert (not " + proviso::to_smtlib(question) + "))\n";
  return out + "(check-sat)\n";
}

}  // namespace proviso::inline v0_2
