// Context: questions are asked, facts are assumed.  Scopes and clones are in
// context_versions.cc, bounds and simpler forms in context_expressions.cc.
#include "solver/solver.h"

#include "solver/context_call.h"

namespace proviso::inline v0_2 {
using namespace internal;

// --- asking

Answer Context::ask(Expr question) {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(question, "ask", "a boolean");
  require_bool(question, "ask");
  Answer answer = here.answers().ask(question);
  answer.facts = here.facts().ids_of(std::move(answer.facts));
  log([&](Trace& t) {
    t.asked(number_, "prove", question, answer.verdict,
            answer.counterexample && answer.witness, answer.is_contradiction);
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
  require_bool(question, "tier_of");
  const Remembered* m = here.native().remembered(question);
  return m == nullptr ? Tier::kNone : m->tier;
}

std::vector<FactId> Context::facts_used(Expr question) const {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(question, "facts_used", "a boolean");
  require_bool(question, "facts_used");
  return here.facts().ids_of(here.answers().facts_used(question));
}

Verdict Context::equivalent(Expr a, Expr b) {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(a, "equivalent", "an expression");
  here.check(b, "equivalent", "an expression");
  require_alike(a, b);
  const Expr question = eq(a, b);
  const Verdict verdict = here.native().ask(question);
  log([&](Trace& t) {
    t.asked(number_, "quick", question, verdict, false,
            here.facts().conflict().has_value());
  });
  return verdict;
}

void Context::interrupt() const {
  usable(engine_);
  engine_->facts().interrupt();
}

// --- facts

namespace {

Expr lies_in(Expr symbol, const Interval& range) {
  ExprPool& pool = symbol.pool();
  if (range.is_empty()) return pool.boolean(false);
  Expr low, high;
  if (range.lower()) low = ge(symbol, pool.integer(*range.lower()));
  if (range.upper()) high = le(symbol, pool.integer(*range.upper()));
  if (low && high) return logical_and(low, high);
  return low ? low : high ? high : pool.boolean(true);
}

}  // namespace

FactId Context::declare(Expr symbol, const Interval& range, Provenance origin) {
  const Call call(*this, true);
  Engine& here = call.engine;
  here.check(symbol, "declare", "a symbol");
  require_declarable(symbol, false);
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
  require_declarable(symbol, true);
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
  if (here.facts().box() != nullptr) return std::nullopt;
  std::vector<FactId> found = here.answers().contradiction();
  if (found.empty()) return std::nullopt;
  return here.facts().ids_of(std::move(found));
}

// --- what they are asked with

ExprPool& Context::pool() const {
  usable(engine_);
  return engine_->pool();
}
const SolverOptions& Context::options() const {
  usable(engine_);
  return engine_->options();
}

const Statistics& Context::statistics() const {
  usable(engine_);
  return engine_->statistics();
}

// --- mistakes of a caller

void internal::fail_bool(Expr e, const char* call) {
  throw Error("Context::" + std::string(call) + ": expected a boolean, got " +
              described(e) +
              (std::string_view(call) == "assume"
                   ? "; compare it with something"
                   : "; use bounds() for a number"));
}

void internal::require_alike(Expr a, Expr b) {
  if (a.is_bool() == b.is_bool()) return;
  throw Error("Context::equivalent: " + described(a) + " and " + described(b) +
              " are of different types; compare like with like");
}

void internal::require_declarable(Expr symbol, bool is_strided) {
  if (symbol.is_symbol() && (symbol.is_int() || !is_strided)) return;
  throw Error("Context::declare: expected " +
              std::string(is_strided ? "an integer symbol" : "a symbol") +
              ", got " + described(symbol) + "; use assume() for a condition");
}

void internal::fail_usable(const std::shared_ptr<Engine>& engine) {
  if (engine == nullptr) {
    throw Error("Context: it was moved from; use the context it was moved to");
  }
  throw Error(
      "Context: its ExprPool was destroyed; keep the pool for as "
      "long as its contexts");
}

}  // namespace proviso::inline v0_2
