#include "guards/input_check.h"

#include <algorithm>

#include "guards/fixed_limits.h"
#include "guards/refusal.h"
#include "solver/interrupt_scope.h"
#include "sym/excerpt.h"
#include "sym/pool_stores.h"
#include "sym/print.h"

namespace proviso::inline v0_2 {
using namespace internal;
namespace {

std::optional<Expr> range_condition(Expr size, const Interval& range) {
  ExprPool& pool = size.pool();
  std::optional<Expr> lower, upper;
  if (range.lower()) lower = le(pool.integer(*range.lower()), size);
  if (range.upper()) upper = le(size, pool.integer(*range.upper()));
  return lower && upper ? logical_and(*lower, *upper) : lower ? lower : upper;
}

}  // namespace

InputCheck::InputCheck(ShapeEnv& env) {
  const internal::InterruptScope scope(env.context());
  for (const InputDim& dim : env.input_dims()) add_dim(env, dim);
  // Past it guards are asked beside the ranges.
  uint64_t units = fixed::input_range_units;
  for (const Guard& guard : env.minimal_guards()) add_guard(env, guard, units);
  for (size_t i = 0; i < dims_.size(); ++i) {
    // A dim without a symbol of its own is called by its place.
    const std::string name = "input:" + std::to_string(i);
    symbols_.push_back(dims_[i].symbol
                           ? dims_[i].symbol
                           : PoolStores::symbol_of_any_name(
                                 env.pool(), name, SymbolKind::kBackedInt));
  }
  program_ = {symbols_, all_conditions()};
}

std::vector<Expr> InputCheck::all_conditions() const {
  std::vector<Expr> conditions;
  for (size_t i = 0; i < dims_.size(); ++i) {
    const Dim& d = dims_[i];
    const Expr size = symbols_[i];
    if (d.same_as) {
      conditions.push_back(eq(size, symbols_[*d.same_as]));
    } else if (!d.input.expr.is_symbol()) {
      conditions.push_back(eq(size, d.input.expr));
    } else if (auto in_range = range_condition(size, d.range)) {
      conditions.push_back(*in_range);
    }
  }
  for (const Condition& c : conditions_) {
    conditions.push_back(c.guard.condition);
  }
  return conditions;
}

void InputCheck::add_dim(ShapeEnv& env, const InputDim& dim) {
  Dim d{dim, {}, {}, {}, {}};
  if (dim.expr.is(Op::kInteger)) {
    d.range = Interval::point(dim.expr.integer());
  } else if (dim.expr.is_symbol()) {
    for (size_t i = 0; i < dims_.size() && !d.same_as; ++i) {
      if (dims_[i].symbol == dim.expr) d.same_as = i;
    }
    if (!d.same_as) d.symbol = dim.expr;
    d.range = env.enforced_range(dim.expr);
    d.origins = env.assumption_origins(dim.expr);
  }
  dims_.push_back(std::move(d));
}

void InputCheck::add_guard(ShapeEnv& env, const Guard& guard, uint64_t& units) {
  auto dim_of = [&](Expr symbol) -> size_t {
    for (size_t i = 0; i < dims_.size(); ++i) {
      if (dims_[i].symbol == symbol) return i;
    }
    throw Error("InputCheck: the guard " + excerpt(guard.condition) +
                " is on " + excerpt(symbol) +
                ", which is not a size or an integer input; make that input a "
                "constant");
  };
  Condition c{guard, "", {}};
  for (Expr s : free_symbols(guard.condition)) c.dims.push_back(dim_of(s));
  c.text = to_python(guard.condition, [&](Expr s) {
    return dims_[dim_of(s)].input.display_name;
  });
  // What the range says already is not asked twice.
  if (c.dims.size() == 1) {
    Dim& only = dims_[c.dims[0]];
    Context context(env.pool(), env.options().solver);
    context.declare(only.symbol, only.range);
    const auto verdict = InterruptScope::within(
        units, [&] { return context.ask_quick(guard.condition); });
    if (verdict == Verdict::kYes) {
      only.origins.insert(only.origins.end(), guard.origins.begin(),
                          guard.origins.end());
      return;
    }
  }
  std::sort(c.dims.begin(), c.dims.end());
  conditions_.push_back(std::move(c));
}

namespace {

std::string relation(const std::string& name, const char* op, const Int& end) {
  return name + " " + op + " " + end.to_string();
}

}  // namespace

std::optional<std::string> InputCheck::range_text(const Dim& d,
                                                  const Int& value) const {
  if (d.range.contains(value)) return std::nullopt;
  const std::string& name = d.input.display_name;
  if (d.range.is_point()) return relation(name, "==", *d.range.lower());
  if (d.range.lower() && value < *d.range.lower()) {
    return relation(name, ">=", *d.range.lower());
  }
  if (d.range.upper()) return relation(name, "<=", *d.range.upper());
  return name + " in " + d.range.to_string();
}

std::string InputCheck::failed(const std::string& text,
                               std::span<const size_t> dims,
                               std::span<const int64_t> values,
                               const std::string& remedy) const {
  std::string actual;
  for (size_t i : dims) {
    actual += (actual.empty() ? "" : ", ") + dims_[i].input.display_name +
              " is " + std::to_string(values[i]);
  }
  return "Guard failed: " + text + " (" + actual + ")" + remedy;
}

std::optional<std::string> InputCheck::problem(
    std::span<const int64_t> values) const {
  if (values.size() != dims_.size()) {
    throw Error("InputCheck::problem: expected " +
                std::to_string(dims_.size()) + " values, got " +
                std::to_string(values.size()) +
                "; give one for each of input_dims()");
  }
  if (fits(values.data())) return std::nullopt;
  Assignment point;
  for (size_t i = 0; i < dims_.size(); ++i) {
    const Dim& d = dims_[i];
    if (d.same_as && values[i] != values[*d.same_as]) {
      const size_t pair[] = {*d.same_as, i};
      const InputDim& first = dims_[*d.same_as].input;
      return failed(first.display_name + " == " + d.input.display_name, pair,
                    values, equal_sizes_remedy(first, d.input));
    }
    if (auto text = range_text(d, Int(values[i]))) {
      return failed(*text, {&i, 1}, values,
                    size_remedy(d.input, Int(values[i]), d.origins));
    }
    if (d.symbol) point.set(d.symbol, Int(values[i]));
  }
  for (size_t i = 0; i < dims_.size(); ++i) {  // dims that follow from others
    const Dim& d = dims_[i];
    const Expr expr = d.input.expr;
    if (expr.is_symbol() || expr.is_constant()) continue;
    Evaluation r = evaluate(expr, point);
    if (r.defined() && std::get<Int>(*r.value) == Int(values[i])) continue;
    return failed(d.input.display_name + " == " + to_python(expr), {&i, 1},
                  values, size_remedy(d.input, Int(values[i]), d.origins));
  }
  for (const Condition& c : conditions_) {
    if (evaluate(c.guard.condition, point).is_true()) continue;
    return failed(c.text, c.dims, values, guard_remedy(c.guard));
  }
  return std::nullopt;
}

std::optional<std::string> InputCheck::problem(
    const std::function<int64_t(const std::string& source)>& value_of) const {
  std::vector<int64_t> values;
  values.reserve(dims_.size());
  for (const Dim& d : dims_) values.push_back(value_of(d.input.source));
  return problem(values);
}

std::vector<std::string> InputCheck::conditions() const {
  std::vector<std::string> texts;
  for (const Dim& d : dims_) {
    const std::string& name = d.input.display_name;
    if (d.same_as) {
      texts.push_back(dims_[*d.same_as].input.display_name +
                      " == " + d.input.display_name);
      continue;
    }
    if (d.range.is_point()) {
      texts.push_back(relation(name, "==", *d.range.lower()));
      continue;
    }
    const auto& [lower, upper] = std::pair(d.range.lower(), d.range.upper());
    if (lower && *lower > Int(0)) {
      texts.push_back(relation(name, ">=", *lower));
    }
    if (upper) texts.push_back(relation(name, "<=", *upper));
  }
  for (const Condition& c : conditions_) texts.push_back(c.text);
  return texts;
}

}  // namespace proviso::inline v0_2
