#include "guards/explain.h"

#include <algorithm>

#include "guards/refusal.h"
#include "solver/interrupt_scope.h"
#include "sym/print.h"

namespace proviso::inline v0_2 {

namespace {

std::string name_of(const ShapeEnv& env, Expr symbol) {
  for (const InputDim& d : env.input_dims()) {
    if (d.expr == symbol) return d.display_name;
  }
  return symbol.symbol().name;
}

std::string values_of(const ShapeEnv& env, const std::vector<Expr>& symbols,
                      const std::function<std::optional<Value>(Expr)>& value) {
  std::string text;
  for (Expr s : symbols) {
    const std::optional<Value> v = value(s);
    if (!v) continue;
    text += (text.empty() ? "" : ", ") + name_of(env, s) + " = " +
            proviso::to_string(*v);
  }
  return text;
}

// A point where everything else that is promised holds and the guard does not.
std::optional<Assignment> breaking_point(ShapeEnv& env, const Guard& guard) {
  Context context(env.pool(), env.options().solver);
  for (Expr s : free_symbols(guard.condition)) {
    if (s.is_int()) context.declare(s, Interval::at_least(0));
  }
  for (const InputDim& d : env.input_dims()) {
    if (!d.expr.is_symbol()) continue;
    Interval range = Interval::of(d.constraint.min, d.constraint.max);
    if (d.expr.symbol().kind == SymbolKind::kBackedSize) {
      range = intersect(range, Interval::at_least(0));
    }
    context.declare(d.expr, range);
  }
  for (const Guard& other : env.minimal_guards()) {
    if (other.condition != guard.condition) context.assume(other.condition);
  }
  return context.ask(guard.condition).counterexample;
}

}  // namespace

std::string explain(ShapeEnv& env, const Guard& guard) {
  const internal::InterruptScope scope(env.context());
  const std::vector<Expr> symbols = free_symbols(guard.condition);
  std::string text =
      to_string(guard.condition) + ", that is " +
      to_python(guard.condition, [&](Expr s) { return name_of(env, s); });
  text += needed_at(guard.origins);
  text += "\n  holds for the example: " +
          values_of(env, symbols, [&](Expr s) { return env.hint(s); });
  if (auto point = breaking_point(env, guard)) {
    text += "\n  fails for instance for: " +
            values_of(env, symbols, [&](Expr s) -> std::optional<Value> {
              const Value* v = point->find(s);
              return v ? std::optional(*v) : std::nullopt;
            });
  }
  return text;
}

}  // namespace proviso::inline v0_2
