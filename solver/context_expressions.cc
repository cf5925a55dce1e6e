// Calls about an expression: bounds, values, simpler forms, with the facts that
// imply what they return (engine/expression_ranges.h, simplification.h).
#include <set>

#include "solver/context_call.h"

namespace proviso::inline v0_2 {
using namespace internal;
namespace {

void require_int(Engine& engine, Expr e, const char* call) {
  engine.check(e, call, "an integer");
  if (e.is_int()) return;
  throw Error("Context::" + std::string(call) + ": expected an integer, got " +
              described(e) + "; round it first, or ask() a comparison");
}

// Facts that imply a result, collected claim by claim; nothing is done where
// nobody asked for them.
class FactsBehind {
 public:
  FactsBehind(Engine& engine, std::vector<FactId>* wanted)
      : engine_(engine), wanted_(wanted) {}

  void add(Expr claim) {
    if (wanted_ == nullptr || claim.is_constant()) return;
    add_all(engine_.answers().facts_behind(claim));
  }
  void add_connected(Expr e) {
    if (wanted_ != nullptr) add_all(engine_.answers().connected_facts(e));
  }
  // Adds the facts behind the claim that e has these values at most.
  void add_range(Expr e, const Interval& range) {
    if (wanted_ == nullptr) return;
    if (range.is_empty()) return add_empty(e);
    if (range.lower()) add(ge(e, e.pool().integer(*range.lower())));
    if (range.upper()) add(le(e, e.pool().integer(*range.upper())));
  }
  // Adds the facts behind the claim that e has no value.
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
    if (wanted_ == nullptr) return;
    if (values.empty() || values.size() > limits().explained_values)
      return add_connected(e);
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
  FactsBehind behind(here, facts);
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
  FactsBehind behind(here, facts);
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
  FactsBehind behind(here, facts);
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
  FactsBehind behind(here, facts);
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
  FactsBehind behind(here, facts);
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

}  // namespace proviso::inline v0_2
