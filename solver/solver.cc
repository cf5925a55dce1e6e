#include "solver/solver.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "solver/engine.h"
#include "solver/limits.h"
#include "sym/cheapest.h"
#include "sym/cost.h"
#include "sym/facts.h"
#include "sym/print.h"
#include "sym/simplify.h"

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

namespace {

// What simplify() may ask: ranges and normal forms, and a few proofs.
class EngineFacts final : public Facts {
 public:
  explicit EngineFacts(Engine& engine)
      : engine_(engine), domain_(engine.domain), lower_(engine.lower) {}

  std::optional<Int> lower(Expr e) const override {
    return e.is_int() ? engine_.range_of(e).span.lower() : std::nullopt;
  }
  std::optional<Int> upper(Expr e) const override {
    return e.is_int() ? engine_.range_of(e).span.upper() : std::nullopt;
  }
  std::optional<bool> truth(Expr e) const override {
    if (!e.is_bool()) return std::nullopt;
    // What may be undefined is not decided away.
    if (domain_.decide(lower_.defined(e)).value != true) return std::nullopt;
    return domain_.decide(lower_.condition(e)).value;
  }
  std::optional<bool> proved(Expr e) const override {
    switch (engine_.ask_quick(e)) {
      case Verdict::kYes: return true;
      case Verdict::kNo: return false;
      default: return std::nullopt;
    }
  }
  std::span<const Expr> zeros() const override {
    if (!zeros_) {
      zeros_.emplace();
      for (const Engine::Assumed& assumed : engine_.facts)
        note_zeros(assumed.condition);
    }
    return *zeros_;
  }
  std::optional<Int> residue(Expr e, const Int& m) const override {
    if (!e.is_int() || m.sign() <= 0) return std::nullopt;
    Poly p = lower_.integer(e);
    Normal n = domain_.normal(p);
    if (n.changed) p = n.poly;
    for (const Term& t : p.terms) {
      if (!floor_mod(t.coef, m).is_zero()) return std::nullopt;
    }
    return floor_mod(p.constant, m);
  }

 private:
  void note_zeros(Expr condition) const {
    if (zeros_->size() == limits().zeros) return;
    if (condition.is(Op::kAnd)) {
      for (Expr part : condition.args()) note_zeros(part);
    } else if (condition.is(Op::kEq) && condition.arg(0).is_int() &&
               condition.arg(1).is_int()) {
      const Expr gap = proviso::simplify(condition.arg(0) - condition.arg(1));
      if (!gap.is_constant()) zeros_->push_back(gap);
    }
  }

  Engine& engine_;
  Domain& domain_;
  Lowering& lower_;
  mutable std::optional<std::vector<Expr>> zeros_;  // when asked for
};

}  // namespace

// --- what the members below do within a limit

std::optional<std::vector<Int>> Engine::values(Expr e, size_t limit) {
  constexpr int kMaxCandidates = 4096;
  std::vector<Int> found;
  if (domain.conflict()) return found;
  const Interval range = range_of(e).span;
  if (range.is_empty()) return found;
  if (!range.lower() || !range.upper()) return std::nullopt;
  Int step = divisor_of(domain.normal(lower.integer(e)).poly, 0);
  if (step.is_zero()) step = 1;  // it is 0 alone, which the range says
  Int first = -floor_div(-*range.lower(), step) * step;
  if (floor_div(*range.upper() - first, step) >= Int(kMaxCandidates)) {
    return std::nullopt;
  }
  for (Int v = first; v <= *range.upper(); v += step) {
    Budget::check();
    if (ask_quick(eq(e, pool.integer(v))) == Verdict::kNo) continue;
    if (found.size() == limit) return std::nullopt;
    found.push_back(v);
  }
  return found;
}

Expr Engine::substitute(Expr e) {
  std::unordered_map<Expr, Expr, ExprHash> map;
  for (Expr s : free_symbols(e)) {
    if (!s.is_int()) continue;
    Normal n = domain.normal(lower.integer(s));
    if (!n.changed) continue;
    if (auto value = to_expr(pool, forms, n.poly)) map[s] = *value;
  }
  return map.empty() ? e : proviso::substitute(e, map);
}

// e with the symbols that have one value put in.
Expr Engine::with_constants(Expr e) {
  std::unordered_map<Expr, Expr, ExprHash> constants;
  for (Expr s : free_symbols(e)) {
    if (!s.is_int()) continue;
    Interval range = range_of(s).span;
    if (range.is_point()) constants.emplace(s, pool.integer(*range.lower()));
  }
  return constants.empty() ? e : proviso::substitute(e, constants);
}

Expr Engine::canonical(Expr e) {
  return proviso::simplify(with_constants(e), EngineFacts(*this));
}

// The constant that e is known to be.
std::optional<Expr> Engine::decided(Expr e) {
  if (e.is_bool()) {
    const Verdict verdict = ask_quick(e);
    if (verdict == Verdict::kUnknown) return std::nullopt;
    return pool.boolean(verdict == Verdict::kYes);
  }
  if (!e.is_int()) return std::nullopt;
  const std::optional<Int> value = constant_of(e);
  return value ? std::optional(pool.integer(*value)) : std::nullopt;
}

Expr Engine::simplify(Expr e) {
  auto known = simplified.find(e.id());
  if (known != simplified.end() && known->second.version == versions.back()) {
    return known->second.form;
  }
  const Expr form = find_cheapest(e);
  for (Expr x : {e, form}) {
    simplified.insert_or_assign(x.id(), Simplified{versions.back(), form});
  }
  return form;
}

Expr Engine::find_cheapest(Expr e) {
  if (is_leaf(e.op()) && !e.is_symbol()) return e;
  if (std::optional<Expr> constant = decided(e)) return *constant;
  const EngineFacts known(*this);
  Expr best = cheapest(with_constants(e), known);
  if (best.type() != e.type() || cost(best) > cost(e)) best = e;
  const Expr solved = substitute(e);
  if (solved == e) return best;
  const Expr other = cheapest(solved, known);
  const bool is_better = other.type() == e.type() && cost(other) < cost(best);
  return is_better ? other : best;
}

// Checked before the pool's memory is touched.
namespace {
Engine& usable(const std::shared_ptr<Engine>& engine) {
  if (engine == nullptr) {
    throw Error("Context: it was moved from; use the context it was moved to");
  }
  if (engine->of_pool.expired()) {
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
  engine_->path.push_back(at_);
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
      : engine(usable(context.engine_)), limits_(engine.options) {
    engine.interrupted = false;
    if (engine.path.back() != at) engine.go_to(at);
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
  return engine_->pool;
}
const SolverOptions& Context::options() const {
  usable(engine_);
  return engine_->options;
}

FactId Context::declare(Expr symbol, const Interval& range, Provenance origin) {
  const Call call(*this, true);
  Engine& here = call.engine;
  here.check(symbol, "declare", "a symbol");
  if (!symbol.is_symbol()) {
    throw Error("Context::declare: expected a symbol, got " +
                described(symbol) + "; use assume() for a condition");
  }
  ExprPool& pool = here.pool;
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
  const Engine::Memo* m = here.remembered(question);
  return m == nullptr ? Tier::kNone : m->tier;
}

std::vector<FactId> Context::facts_used(Expr question) const {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(question, "facts_used", "a boolean");
  const Engine::Memo* m = here.remembered(question);
  if (m == nullptr || m->epoch != here.epoch) return {};
  return here.complete_facts(question, Engine::Memo(*m));
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
  if (here.domain.conflict()) return Interval::empty();
  return here
      .within(here.options.work_limit, [&] { return here.range_of(e).span; })
      .value_or(Interval());
}

Interval Context::bounds(Expr e) {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(e, "bounds", "an integer");
  require_int(e, "bounds");
  if (here.domain.conflict()) return Interval::empty();
  Interval range;
  here.within(here.options.work_limit, [&] {
    range = here.range_of(e).span;
    here.sharpen(e, range);
    return true;
  });
  return range;
}

Int Context::multiple_of(Expr e) {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(e, "multiple_of", "an integer");
  require_int(e, "multiple_of");
  if (here.domain.conflict()) return 0;
  return here
      .within(here.options.work_limit,
              [&] {
                const Poly p = here.domain.normal(here.lower.integer(e)).poly;
                return here.divisor_of(p, 0);
              })
      .value_or(1);
}

std::optional<std::vector<Int>> Context::values(Expr e, size_t limit) {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(e, "values", "an integer");
  require_int(e, "values");
  return here
      .within(here.options.work_limit, [&] { return here.values(e, limit); })
      .value_or(std::nullopt);
}

Expr Context::substitute(Expr e) {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(e, "substitute", "an expression");
  if (here.domain.conflict()) return e;
  return here
      .within(here.options.work_limit, [&] { return here.substitute(e); })
      .value_or(e);
}

Expr Context::simplify(Expr e) {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(e, "simplify", "an expression");
  if (here.domain.conflict()) return proviso::simplify(e);
  return here.within(here.options.work_limit, [&] { return here.simplify(e); })
      .value_or(e);
}

Expr Context::canonical(Expr e) {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(e, "canonical", "an expression");
  if (here.domain.conflict()) return proviso::simplify(e);
  return here.within(here.options.work_limit, [&] { return here.canonical(e); })
      .value_or(e);
}

void Context::interrupt() const {
  engine_->interrupted = true;
  engine_->z3.interrupt();
}

std::vector<Fact> Context::facts() const {
  const Call call(*this);
  Engine& here = call.engine;
  std::vector<Fact> all;
  for (FactId id = 0; id < here.facts.size(); ++id) {
    all.push_back(here.fact(id));
  }
  return all;
}

Fact Context::fact(FactId id) const {
  const Call call(*this);
  Engine& here = call.engine;
  if (id >= here.facts.size()) {
    throw Error("Context::fact: no fact " + std::to_string(id) +
                "; there are " + std::to_string(here.facts.size()));
  }
  return here.fact(id);
}

std::optional<std::vector<FactId>> Context::contradiction() const {
  const Call call(*this);
  Engine& here = call.engine;
  if (!here.domain.conflict()) return std::nullopt;
  return here.used_facts(*here.domain.conflict());
}

const Statistics& Context::statistics() const {
  usable(engine_);
  engine_->statistics.work = engine_->domain.work();
  return engine_->statistics;
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
  for (const Engine::Assumed& assumed : here.facts)
    declare_symbols(assumed.condition);
  declare_symbols(question);
  for (const auto& [index, line] : declared) out += line;
  for (const Fact& fact : facts()) {
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
