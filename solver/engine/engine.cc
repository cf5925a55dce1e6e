#include "solver/engine/engine.h"

#include <algorithm>
#include <numeric>

#include "solver/engine/explanation.h"
#include "solver/limits_in_force.h"
#include "sym/pool_stores.h"
#include "sym/print.h"
#include "sym/simplify.h"

namespace proviso::inline v0_2::internal {
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

// What there is of it for as long as the pool is there.
std::weak_ptr<void> companion_of(ExprPool& pool) {
  Forms::of(pool);
  return PoolStores::companion(pool);
}

}  // namespace

Engine::Engine(ExprPool& pool, const SolverOptions& options)
    : pool_(pool),
      options_(options),
      limits_(limits_of(options_)),
      of_pool_(companion_of(pool)),
      box_(symbols_of(options)) {}

Engine::Reasoning::Reasoning(Engine& engine)
    : reasoner(engine.pool_, engine.options_, *engine.statistics_),
      simplification(reasoner, engine.states_, [&engine](Expr question) {
        return engine.ask_quick(question);
      }) {}

// Scopes are entered where they were, between the facts.
void Engine::catch_up() {
  if (reasoning_ == nullptr) {
    reasoning_ = std::make_unique<Reasoning>(*this);
    interruptible_ = &reasoning_->reasoner;
    // By who came between.
    if (is_interrupted_) reasoning_->reasoner.interrupt();
  }
  Reasoner& reasoner = reasoning_->reasoner;
  std::vector<Reasoner::Mark>& marks = reasoning_->scopes;
  const size_t first = asserted();
  size_t next = first;
  while (next < ids_.size() || marks.size() < scopes_.size()) {
    const Reasoner::Mark before = reasoner.mark();
    if (marks.size() < scopes_.size() && scopes_[marks.size()] == next) {
      marks.push_back(before);
      continue;
    }
    const Fact& fact = waiting_[next - first];
    try {
      reasoner.assume(fact.condition, fact.origin);
    } catch (const OutOfBudget&) {  // the caller's
    }
    // What ends a question does not leave a fact of which less follows.
    if (!reasoner.is_undisturbed()) {
      reasoner.undo(before);
      break;
    }
    ++next;
  }
  waiting_.erase(waiting_.begin(),
                 waiting_.begin() + static_cast<std::ptrdiff_t>(next - first));
  // Not `= {}`, which keeps the room of what there was.
  if (waiting_.empty() && waiting_.capacity() > 64) {
    waiting_ = std::vector<Fact>();
  }
}

const Box* Engine::box() {
  if (ids_.size() > Box::kMostFacts || options_.disabled_strategies != 0) {
    return nullptr;  // it stands for a strategy
  }
  for (size_t i = box_.fact_count(); i < ids_.size() && box_.is_exact(); ++i) {
    box_.add(condition_at(i));
  }
  return box_.is_exact() ? &box_ : nullptr;
}

void Engine::interrupt() {
  is_interrupted_ = true;
  if (Reasoner* reasoner = interruptible_) reasoner->interrupt();
}

void Engine::resume() {
  is_interrupted_ = false;
  if (reasoning_ != nullptr) reasoning_->reasoner.resume();
}

const Statistics& Engine::statistics() {
  if (reasoning_ != nullptr) {
    statistics_->work = reasoning_->reasoner.domain().work();
  }
  return *statistics_;
}

void Engine::fail_check(Expr e, const char* call, const char* expected) {
  if (!e) {
    throw Error("Context::" + std::string(call) + ": expected " + expected +
                ", got a null expression; build it with the context's pool");
  }
  throw Error("Context::" + std::string(call) + ": " + to_string(e, 200) +
              " belongs to another ExprPool; build it with Context::pool()");
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
  for (size_t i = scopes_.back(); i < ids_.size(); ++i) {
    path_.back()->facts.push_back(fact_at(i, 0));
  }
  path_.pop_back();
  pop();
}

void Engine::pop() {
  const size_t facts = scopes_.back();
  if (reasoning_ != nullptr && reasoning_->scopes.size() == scopes_.size()) {
    reasoning_->reasoner.undo(reasoning_->scopes.back());
    reasoning_->scopes.pop_back();
    waiting_.clear();
  } else {
    waiting_.resize(waiting_.size() - (ids_.size() - facts));
  }
  scopes_.pop_back();
  states_.shrink(facts);
  ids_.shrink(facts);
  if (box_.fact_count() > facts) box_.clear();
}

FactId Engine::assume(Expr condition, Provenance&& origin, FactId id) {
  states_.push();
  ids_.push_back(id);
  if (waiting_.empty()) waiting_.reserve(4);
  waiting_.push_back({id, condition, std::move(origin)});
  if (reasoning_ != nullptr || !Box::is_range(condition)) catch_up();
  return id;
}

// --- facts

Expr Engine::condition_at(size_t number) const {
  const size_t first = asserted();
  if (number >= first) return waiting_[number - first].condition;
  return reasoning_->reasoner.facts().condition(static_cast<FactId>(number));
}

Fact Engine::fact_at(size_t number, uint32_t depth) const {
  const size_t first = asserted();
  Fact fact =
      number >= first
          ? waiting_[number - first]
          : reasoning_->reasoner.facts().fact(static_cast<FactId>(number));
  fact.id = ids_[number];
  fact.depth = depth;
  return fact;
}

std::vector<Fact> Engine::facts() const {
  std::vector<Fact> all;
  uint32_t depth = 0;
  size_t scope = 0;
  for (size_t i = 0; i < ids_.size(); ++i) {
    for (; scope < scopes_.size() && scopes_[scope] <= i; ++scope) {
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
  for (size_t i = 0; i < scopes_.size() && scopes_[i] <= number; ++i) {
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
  const Remembered m = native_answer(claim);
  if (m.verdict == Verdict::kUnknown) return connected_facts(claim);
  return fewest_facts(reasoner(), claim, m.verdict, reasoner().facts_in(m.why));
}

// Where not all of them fit, all facts.
std::vector<FactId> Engine::connected_facts(Expr e) {
  std::vector<FactId> found = reasoner().facts().connected_to(e).facts;
  if (found.size() < limits().relevant_facts) return found;
  found.resize(ids_.size());
  std::iota(found.begin(), found.end(), 0u);
  return found;
}

std::optional<std::vector<FactId>> Engine::contradiction() {
  if (box() != nullptr) return std::nullopt;
  const std::optional<Reason>& why = reasoner().domain().conflict();
  if (!why) return std::nullopt;
  return reasoner().facts_in(*why);
}

// --- native answers

// The one that is remembered, where its reason is, too.
const Remembered& Engine::native_answer(Expr question) {
  Reasoner& reasoner = this->reasoner();
  const Remembered* known = memo_.find(question);
  if (known != nullptr && known->epoch == reasoner.epoch()) return *known;
  return find_native_answer(question);
}

const Remembered& Engine::find_native_answer(Expr question) {
  Reasoner& reasoner = this->reasoner();
  const std::optional<Search> s = reasoner.within(
      options().work_limit, [&] { return reasoner.decide(question); });
  Remembered m;
  if (s) {
    m = as_remembered(*s);
  } else {
    m.gave_up = true;
  }
  m.epoch = reasoner.epoch();
  m.facts = states_.facts();
  // What a caller's own budget or another thread ended is not the question's
  // doing: it is remembered of no state, and the next call tries again.
  if (reasoner.is_undisturbed()) m.state = states_.present();
  ++statistics_->decided[static_cast<size_t>(m.tier)];
  return memo_.keep(question, m);
}

Verdict Engine::ask_quick(Expr question) {
  ++statistics_->questions;
  const Box* facts = reasoning_ == nullptr ? box() : nullptr;
  if (facts == nullptr && reasoner().domain().conflict()) {
    return Verdict::kUnknown;
  }
  if (const Remembered* m = memo_.find(question)) {
    ++statistics_->memo_hits;
    return m->verdict;
  }
  if (facts != nullptr) {
    if (const std::optional<bool> value = facts->decide(question)) {
      return keep(question, *value);
    }
  }
  return find_native_answer(question).verdict;
}

// What the box decides the first strategy does, with the same ranges.
Verdict Engine::keep(Expr question, bool value) {
  Remembered m;
  m.verdict = value ? Verdict::kYes : Verdict::kNo;
  m.tier = Tier::kRanges;
  m.epoch = Remembered::kNoReason;
  m.facts = states_.facts();
  m.state = states_.present();
  ++statistics_->decided[static_cast<size_t>(m.tier)];
  return memo_.keep(question, m).verdict;
}

const Remembered* Engine::remembered(Expr question) {
  const Remembered* m = memo_.find(question);
  const bool has_reason = m == nullptr || m->epoch != Remembered::kNoReason;
  return has_reason ? m : &native_answer(question);
}

std::vector<FactId> Engine::facts_used(Expr question) {
  const Remembered* m = remembered(question);
  if (m == nullptr || m->epoch != reasoner().epoch()) return {};
  return complete_facts(reasoner(), question, m->verdict,
                        reasoner().facts_in(m->why));
}

// --- expressions

// What `find` finds; `otherwise` where that takes too much, `nowhere` where the
// facts contradict each other.
template <typename Find, typename Result>
Result Engine::look(const Result& nowhere, const Result& otherwise, Find find,
                    uint64_t spent) {
  Reasoning& here = reasoning();
  if (here.reasoner.domain().conflict()) return nowhere;
  return here.reasoner
      .within(options().work_limit - spent,
              [&] { return find(here.simplification); })
      .value_or(otherwise);
}

Interval Engine::bounds_quick(Expr e) {
  return look(Interval::empty(), Interval(),
              [&](Simplification& by) { return by.range_of(e); });
}

Interval Engine::bounds(Expr e) {
  Interval range;
  const bool has_points = look(false, true, [&](Simplification& by) {
    range = by.range_of(e);
    by.sharpen(e, range);
    return true;
  });
  return has_points ? range : Interval::empty();
}

Strided Engine::strided(Expr e) {
  const Strided nowhere(Interval::empty());
  const Strided span(bounds(e));
  return intersect(span, look(nowhere, Strided(), [&](Simplification& by) {
                     return by.strided_of(e);
                   }));
}

Int Engine::multiple_of(Expr e) {
  return look(Int(0), Int(1),
              [&](Simplification& by) { return by.divisor_of(e); });
}

std::optional<std::vector<Int>> Engine::values(Expr e, size_t limit) {
  using Values = std::optional<std::vector<Int>>;
  return look(Values(std::in_place), Values(),
              [&](Simplification& by) { return by.values(e, limit); });
}

Expr Engine::substitute(Expr e) {
  return look(e, e, [&](Simplification& by) { return by.substitute(e); });
}

Expr Engine::simplify(Expr e) {
  uint64_t units = 0;  // for the box
  if (const Box* facts = box()) {
    units = std::min<uint64_t>(2000, options().work_limit / 2);
    try {
      const Budget budget(units);
      if (const std::optional<Expr> form = facts->simplify(e)) return *form;
    } catch (const OutOfBudget&) {
    }
  }
  if (reasoner().domain().conflict()) return proviso::simplify(e);
  return look(e, e, [&](Simplification& by) { return by.simplify(e); }, units);
}

Expr Engine::canonical(Expr e) {
  if (reasoner().domain().conflict()) return proviso::simplify(e);
  return look(e, e, [&](Simplification& by) { return by.canonical(e); });
}

}  // namespace proviso::inline v0_2::internal
