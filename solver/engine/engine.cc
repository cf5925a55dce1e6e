#include "solver/engine/engine.h"

#include <algorithm>
#include <numeric>

#include "solver/engine/explanation.h"
#include "solver/limits.h"
#include "sym/print.h"
#include "sym/simplify.h"

namespace proviso {
namespace {

Remembered as_remembered(const Search& s) {
  Remembered m;
  m.verdict = !s.value   ? Verdict::kUnknown
              : *s.value ? Verdict::kYes
                         : Verdict::kNo;
  m.tier = s.value ? s.tier : Tier::kNone;
  m.strategy = s.value ? s.strategy : kNoStrategy;
  m.is_contradiction = s.is_contradiction;
  m.gave_up = s.gave_up;
  m.why = s.why;
  return m;
}

}  // namespace

Engine::Engine(ExprPool& pool, const SolverOptions& options)
    : reasoner_(pool, options),
      of_pool_(pool.companion()),
      simplification_(reasoner_, states_,
                      [this](Expr question) { return ask_quick(question); }) {}

const Statistics& Engine::statistics() {
  reasoner_.statistics().work = reasoner_.domain().work();
  return reasoner_.statistics();
}

void Engine::check(Expr e, const char* call, const char* expected) {
  if (!e) {
    throw Error("Context::" + std::string(call) + ": expected " + expected +
                ", got a null expression; build it with the context's pool");
  }
  if (&e.pool() != &pool()) {
    throw Error("Context::" + std::string(call) + ": " + to_string(e) +
                " belongs to another ExprPool; build it with Context::pool()");
  }
}

// --- versions

void Engine::move_to(const std::shared_ptr<Version>& target) {
  if (target->parent == path_.back()) return enter(target);
  if (path_.size() > 1 && path_[path_.size() - 2] == target) return leave();
  std::vector<std::shared_ptr<Version>> wanted;
  for (auto v = target; v != nullptr; v = v->parent) wanted.push_back(v);
  std::reverse(wanted.begin(), wanted.end());
  size_t shared = 0;
  while (shared < wanted.size() && shared < path_.size() &&
         wanted[shared] == path_[shared]) {
    ++shared;
  }
  while (path_.size() > shared) leave();
  for (size_t i = shared; i < wanted.size(); ++i) enter(wanted[i]);
}

void Engine::enter(const std::shared_ptr<Version>& version) {
  push();
  path_.push_back(version);
  for (Fact& fact : version->facts) {
    assume(fact.condition, std::move(fact.origin), fact.id);
  }
  version->facts.clear();
}

// The innermost version keeps its facts for when it is entered again.
void Engine::leave() {
  for (size_t i = scopes_.back().facts; i < ids_.size(); ++i) {
    path_.back()->facts.push_back(fact_at(i, 0));
  }
  path_.pop_back();
  pop();
}

void Engine::pop() {
  const Reasoner::Mark mark = scopes_.back();
  scopes_.pop_back();
  reasoner_.undo(mark);
  states_.shrink(mark.facts);
  ids_.resize(mark.facts);
}

FactId Engine::assume(Expr condition, Provenance&& origin, FactId id) {
  states_.push();
  ids_.push_back(id);
  reasoner_.assume(condition, std::move(origin));
  return id;
}

// --- facts

Fact Engine::fact_at(size_t number, uint32_t depth) const {
  Fact fact = reasoner_.facts().fact(static_cast<FactId>(number));
  fact.id = ids_[number];
  fact.depth = depth;
  return fact;
}

std::vector<Fact> Engine::facts() const {
  std::vector<Fact> all;
  uint32_t depth = 0;
  size_t scope = 0;
  for (size_t i = 0; i < ids_.size(); ++i) {
    for (; scope < scopes_.size() && scopes_[scope].facts <= i; ++scope) {
      depth += path_[scope + 1]->is_scope;
    }
    all.push_back(fact_at(i, depth));
  }
  return all;
}

// Ids count up along a path: a version that others build on gets no more facts.
std::optional<Fact> Engine::find_fact(FactId id) const {
  const auto at = std::lower_bound(ids_.begin(), ids_.end(), id);
  if (at == ids_.end() || *at != id) return std::nullopt;
  const auto number = static_cast<size_t>(at - ids_.begin());
  uint32_t depth = 0;
  for (size_t i = 0; i < scopes_.size() && scopes_[i].facts <= number; ++i) {
    depth += path_[i + 1]->is_scope;
  }
  return fact_at(number, depth);
}

std::vector<FactId> Engine::ids_of(std::vector<FactId> numbers) const {
  for (FactId& number : numbers) number = ids_[number];
  return numbers;
}

std::vector<FactId> Engine::facts_behind(Expr claim) {
  if (const auto which = contradiction()) return *which;
  const Remembered* known = memo_.find(claim);
  const bool reuse = known != nullptr && known->epoch == reasoner_.epoch();
  const Remembered m = reuse ? *known : native_answer(claim);
  if (m.verdict == Verdict::kUnknown) return connected_facts(claim);
  return fewest_facts(reasoner_, claim, m.verdict, reasoner_.facts_in(m.why));
}

// Where not all of them fit, all facts.
std::vector<FactId> Engine::connected_facts(Expr e) {
  std::vector<FactId> found = reasoner_.facts().connected_to(e).facts;
  if (found.size() < limits().relevant_facts) return found;
  found.resize(ids_.size());
  std::iota(found.begin(), found.end(), 0u);
  return found;
}

std::optional<std::vector<FactId>> Engine::contradiction() const {
  const std::optional<Reason>& why = reasoner_.domain().conflict();
  if (!why) return std::nullopt;
  return reasoner_.facts_in(*why);
}

// --- native answers

const Remembered& Engine::native_answer(Expr question) {
  const std::optional<Search> s = reasoner_.within(
      options().work_limit, [&] { return reasoner_.decide(question); });
  Remembered m;
  if (s) {
    m = as_remembered(*s);
  } else {
    m.gave_up = true;
  }
  m.epoch = reasoner_.epoch();
  m.facts = states_.facts();
  // What a caller's own budget or another thread ended is not the question's
  // doing: it is remembered of no state, and the next call tries again.
  if (reasoner_.is_undisturbed()) m.state = states_.present();
  ++reasoner_.statistics().decided[static_cast<size_t>(m.tier)];
  return memo_.keep(question, m);
}

Verdict Engine::ask_quick(Expr question) {
  ++reasoner_.statistics().questions;
  if (reasoner_.domain().conflict()) return Verdict::kUnknown;
  if (const Remembered* m = memo_.find(question)) {
    ++reasoner_.statistics().memo_hits;
    return m->verdict;
  }
  return native_answer(question).verdict;
}

std::vector<FactId> Engine::facts_used(Expr question) {
  const Remembered* m = memo_.find(question);
  if (m == nullptr || m->epoch != reasoner_.epoch()) return {};
  return complete_facts(reasoner_, question, m->verdict,
                        reasoner_.facts_in(m->why));
}

// --- expressions

Interval Engine::bounds_quick(Expr e) {
  if (reasoner_.domain().conflict()) return Interval::empty();
  return reasoner_
      .within(options().work_limit, [&] { return simplification_.range_of(e); })
      .value_or(Interval());
}

Interval Engine::bounds(Expr e) {
  if (reasoner_.domain().conflict()) return Interval::empty();
  Interval range;
  reasoner_.within(options().work_limit, [&] {
    range = simplification_.range_of(e);
    simplification_.sharpen(e, range);
    return true;
  });
  return range;
}

Strided Engine::strided(Expr e) {
  if (reasoner_.domain().conflict()) return Strided(Interval::empty());
  const Interval span = bounds(e);
  const Strided found =
      reasoner_
          .within(options().work_limit,
                  [&] { return simplification_.strided_of(e); })
          .value_or(Strided());
  return intersect(found, Strided(span));
}

Int Engine::multiple_of(Expr e) {
  if (reasoner_.domain().conflict()) return 0;
  return reasoner_
      .within(options().work_limit,
              [&] { return simplification_.divisor_of(e); })
      .value_or(1);
}

std::optional<std::vector<Int>> Engine::values(Expr e, size_t limit) {
  if (reasoner_.domain().conflict()) return std::vector<Int>();
  return reasoner_
      .within(options().work_limit,
              [&] { return simplification_.values(e, limit); })
      .value_or(std::nullopt);
}

Expr Engine::substitute(Expr e) {
  if (reasoner_.domain().conflict()) return e;
  return reasoner_
      .within(options().work_limit,
              [&] { return simplification_.substitute(e); })
      .value_or(e);
}

Expr Engine::simplify(Expr e) {
  if (reasoner_.domain().conflict()) return proviso::simplify(e);
  return reasoner_
      .within(options().work_limit, [&] { return simplification_.simplify(e); })
      .value_or(e);
}

Expr Engine::canonical(Expr e) {
  if (reasoner_.domain().conflict()) return proviso::simplify(e);
  return reasoner_
      .within(options().work_limit,
              [&] { return simplification_.canonical(e); })
      .value_or(e);
}

}  // namespace proviso
