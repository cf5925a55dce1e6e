#include "solver/solver.h"

#include <algorithm>
#include <set>

#include "solver/engine/engine.h"
#include "solver/limits.h"
#include "sym/print.h"

namespace proviso {
namespace {

constexpr std::string_view kTierNames[kTierCount] = {
    "structure", "ranges", "equalities", "linear",
    "cases",     "models", "z3",         "none"};

std::string described(Expr e) {
  return to_string(e) + " (" + std::string(name_of(e.type())) + ")";
}

void require_bool(Expr e, const char* call) {
  if (e.is_bool()) return;
  throw Error("Context::" + std::string(call) + ": expected a boolean, got " +
              described(e) +
              (std::string_view(call) == "assume"
                   ? "; compare it with something"
                   : "; use bounds() for a number"));
}

void require_int(Expr e, const char* call) {
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
Engine& usable(const std::shared_ptr<Engine>& engine) {
  if (engine == nullptr) {
    throw Error("Context: it was moved from; use the context it was moved to");
  }
  if (engine->has_lost_its_pool()) {
    throw Error(
        "Context: its ExprPool was destroyed; keep the pool for as "
        "long as its contexts");
  }
  return *engine;
}
}  // namespace

// --- versions

Context::Context(ExprPool& pool, SolverOptions options)
    : engine_(std::make_shared<Engine>(pool, options)),
      at_(std::make_shared<Version>()) {
  engine_->start_at(at_);
}

Context::~Context() = default;
Context::Context(Context&& other) noexcept
    : engine_(std::move(other.engine_)), at_(std::move(other.at_)) {}
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
      : engine(usable(context.engine_)), limits_(engine.options()) {
    engine.begin_call();
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
  return Context(engine_, at_);
}

void Context::push() {
  usable(engine_);
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
  if (std::ranges::count(of_scopes_, scope) != 0) {
    throw Error(
        "Context::pop: the innermost push() is a Scope's; end the Scope "
        "instead");
  }
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
  while (v != nullptr && v != version_.get()) v = v->parent.get();
  if (v != nullptr) context_.at_ = version_->parent;
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
  ExprPool& pool = here.pool();
  if (range.is_empty()) {
    return here.assume(pool.boolean(false), std::move(origin));
  }
  Expr low, high;
  if (range.lower()) low = ge(symbol, pool.integer(*range.lower()));
  if (range.upper()) high = le(symbol, pool.integer(*range.upper()));
  Expr condition = low && high ? logical_and(low, high)
                   : low       ? low
                   : high      ? high
                               : pool.boolean(true);
  return here.assume(condition, std::move(origin));
}

FactId Context::assume(Expr condition, Provenance origin) {
  const Call call(*this, true);
  Engine& here = call.engine;
  here.check(condition, "assume", "a boolean");
  require_bool(condition, "assume");
  return here.assume(condition, std::move(origin));
}

// --- asking

Answer Context::ask(Expr question) {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(question, "ask", "a boolean");
  require_bool(question, "ask");
  return here.ask(question);
}

Verdict Context::ask_quick(Expr question) {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(question, "ask_quick", "a boolean");
  require_bool(question, "ask_quick");
  return here.ask_quick(question);
}

Tier Context::tier_of(Expr question) const {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(question, "tier_of", "a boolean");
  const Remembered* m = here.remembered(question);
  return m == nullptr ? Tier::kNone : m->tier;
}

std::vector<FactId> Context::facts_used(Expr question) const {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(question, "facts_used", "a boolean");
  return here.facts_used(question);
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
  return here.ask_quick(eq(a, b));
}

Interval Context::bounds_quick(Expr e) {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(e, "bounds_quick", "an integer");
  require_int(e, "bounds_quick");
  return here.bounds_quick(e);
}

Interval Context::bounds(Expr e) {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(e, "bounds", "an integer");
  require_int(e, "bounds");
  return here.bounds(e);
}

Int Context::multiple_of(Expr e) {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(e, "multiple_of", "an integer");
  require_int(e, "multiple_of");
  return here.multiple_of(e);
}

std::optional<std::vector<Int>> Context::values(Expr e, size_t limit) {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(e, "values", "an integer");
  require_int(e, "values");
  return here.values(e, limit);
}

Expr Context::substitute(Expr e) {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(e, "substitute", "an expression");
  return here.substitute(e);
}

Expr Context::simplify(Expr e) {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(e, "simplify", "an expression");
  return here.simplify(e);
}

Expr Context::canonical(Expr e) {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(e, "canonical", "an expression");
  return here.canonical(e);
}

void Context::interrupt() const { engine_->interrupt(); }

std::vector<Fact> Context::facts() const {
  const Call call(*this);
  Engine& here = call.engine;
  std::vector<Fact> all;
  for (FactId id = 0; id < here.fact_count(); ++id) {
    all.push_back(here.fact(id));
  }
  return all;
}

Fact Context::fact(FactId id) const {
  const Call call(*this);
  Engine& here = call.engine;
  if (id >= here.fact_count()) {
    throw Error("Context::fact: no fact " + std::to_string(id) +
                "; there are " + std::to_string(here.fact_count()));
  }
  return here.fact(id);
}

std::optional<std::vector<FactId>> Context::contradiction() const {
  const Call call(*this);
  Engine& here = call.engine;
  return here.contradiction();
}

const Statistics& Context::statistics() const {
  usable(engine_);
  return engine_->statistics();
}

std::string Context::to_smtlib(Expr question) const {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(question, "to_smtlib", "a boolean");
  std::string out = "(set-logic ALL)\n";
  std::set<std::pair<uint32_t, std::string>> declared;
  auto declare_symbols = [&](Expr e) {
    for (Expr s : free_symbols(e)) {
      const char* sort = s.is_float() ? "Real" : s.is_bool() ? "Bool" : "Int";
      declared.emplace(
          s.symbol().index,
          "(declare-const " + proviso::to_smtlib(s) + " " + sort + ")\n");
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

}  // namespace proviso
