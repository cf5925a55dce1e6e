// A question, its axioms, and the answer.
//
//   ask(s0 < 10)                           of the Context that knows everything
//   ask(s0 < 10, axioms=())                of the one that knows ranges alone
//   ask(i0 < s0, axioms=(0 <= i0, ...),    of a clone of that one with them: a
//       ranges=((i0, [0, inf]), ...))      Variant
//
// Inductor asks many questions about one loop nest before it goes on to the
// next, so that the last few Variants are kept.
#include <algorithm>

#include "bindings/python/core/core.h"
#include "bindings/python/core/mirror.h"
#include "bindings/python/core/mirror_state.h"
#include "sym/canonical.h"
#include "sym/evaluate.h"

namespace proviso::python {

namespace {

// Contexts with further axioms that are kept: Inductor asks many questions
// about one loop nest, then goes on to the next.
constexpr size_t kMaxVariants = 8;

// Values that size-oblivious questions give a size: never 0 or 1, and never
// the largest numbers, which stand for "no limit".
Interval without_zero_and_one(const Interval& range) {
  const Int top = Int(int64_t{1} << 48);
  Int lower = range.lower() ? *range.lower() : Int(2);
  if (lower < Int(2)) lower = 2;
  Int upper = range.upper() && *range.upper() < top ? *range.upper() : top;
  if (upper > lower) upper = upper - 1;
  return lower <= upper ? Interval(lower, upper) : range;
}

}  // namespace

void Mirror::fill(Variant& variant, py::handle axioms, py::handle ranges) {
  State& state = *state_;
  if (!ranges.is_none()) {
    for (const py::handle& pair : py::cast<py::tuple>(ranges)) {
      const auto entry = py::cast<py::tuple>(pair);
      const auto range = interval_of(py::object(entry[1]).ptr());
      const auto symbol =
          range ? state.reader.admit(py::object(entry[0]).ptr()) : std::nullopt;
      if (!symbol) continue;
      variant.context.declare(*symbol, *range);
      if (!state.symbols.contains(symbol->id()))
        variant.own_ranges.append(pair);
    }
  }
  if (axioms.is_none()) return;
  for (const py::handle& axiom : py::cast<py::tuple>(axioms)) {
    const auto e = state.reader.read(axiom.ptr());
    if (!e || !e->is_bool()) continue;
    const FactId id = variant.context.assume(resolve(*e));
    if (state.conditions.contains(*e)) {
      variant.guards.insert(id);
    } else {
      variant.own_axioms.append(axiom);
    }
  }
}

Mirror::Variant& Mirror::variant(py::handle axioms, py::handle ranges,
                                 py::handle env, bool size_oblivious) {
  State& state = *state_;
  const py::set size_like = env.attr("size_like");
  for (size_t i = 0; i < state.variants.size(); ++i) {
    const Variant& v = *state.variants[i];
    if (v.axioms.ptr() != axioms.ptr() || v.ranges.ptr() != ranges.ptr() ||
        v.size_oblivious != size_oblivious || v.size_like != size_like.size())
      continue;
    std::rotate(state.variants.begin() + static_cast<std::ptrdiff_t>(i),
                state.variants.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                state.variants.end());
    return *state.variants.back();
  }
  if (state.variants.size() == kMaxVariants)
    state.variants.erase(state.variants.begin());
  const bool has_guards = axioms.is_none() && !size_oblivious;
  state.variants.push_back(std::make_unique<Variant>(Variant{
      py::reinterpret_borrow<py::object>(axioms),
      py::reinterpret_borrow<py::object>(ranges), size_oblivious,
      size_like.size(), (has_guards ? state.all : state.ranges_alone).clone(),
      has_guards ? state.guard_facts : std::set<FactId>(), py::list(),
      py::list()}));
  Variant& made = *state.variants.back();
  fill(made, axioms, ranges);
  if (size_oblivious) {
    for (size_t i = 0; i < state.ranges.size(); ++i) {
      const auto& [symbol, range] = state.ranges[i];
      if (!state.intervals[i] || !size_like.contains(symbol)) continue;
      made.context.declare(*state.reader.admit(symbol.ptr()),
                           without_zero_and_one(*state.intervals[i]));
    }
  }
  return made;
}

py::object Mirror::answer(Context& context, Expr e) {
  py::object result = py::none();
  if (e.is_bool()) {
    const Verdict verdict = context.ask_quick(e);
    if (verdict == Verdict::kYes) result = sympy_values().yes;
    if (verdict == Verdict::kNo) result = sympy_values().no;
  } else {
    const Interval range = context.bounds(e);
    if (range.is_point()) result = to_sympy(*range.lower());
  }
  ++(result.is_none() ? mirror_counts().unknown : mirror_counts().decided);
  return result;
}

py::object Mirror::ask(py::handle env, py::handle expr, py::handle axioms,
                       py::handle ranges, bool size_oblivious, bool keep) {
  const Turn turn(*this);
  if (!turn.mine()) return not_implemented();
  look(env);
  State& state = *state_;
  ++mirror_counts().questions;
  const std::optional<Expr> e = read_with(ranges, expr);
  if (!e) {
    ++mirror_counts().refused[state.reader.refused()];
    return not_implemented();
  }
  if (axioms.is_none() && ranges.is_none() && !size_oblivious) {
    const py::object result = answer(state.all, *e);
    if (keep && !result.is_none()) remember(expr, result);
    return result;
  }
  Variant& v = variant(axioms, ranges, env, size_oblivious);
  const bool has_replacements = axioms.is_none() && !size_oblivious;
  const Expr asked = has_replacements ? *e : resolve(*e);
  const py::object result = answer(v.context, asked);
  // Ranges alone know less of it than torch's axioms.
  if (size_oblivious && result.is_none()) return not_implemented();
  if (keep && !result.is_none() && !v.guards.empty()) {
    py::dict& decided = nest_of(v.own_axioms, v.own_ranges).decided;
    if (!decided.contains(expr) && uses_guards(v, asked))
      decided[expr] = result;
  }
  return result;
}

// The symbols of `ranges` may be no others' yet.
std::optional<Expr> Mirror::read_with(py::handle ranges, py::handle expr) {
  SymPyReader& reader = state_->reader;
  const std::optional<Expr> e = reader.read(expr.ptr());
  if (e || ranges.is_none()) return e;
  for (const py::handle& pair : py::cast<py::tuple>(ranges))
    reader.admit(py::object(py::cast<py::tuple>(pair)[0]).ptr());
  return reader.read(expr.ptr());
}

// Whether the last answer to `e` may depend on the ShapeEnv's conditions.
bool Mirror::uses_guards(Variant& v, Expr e) {
  if (!e.is_bool()) return true;
  for (const FactId id : v.context.facts_used(e))
    if (v.guards.contains(id)) return true;
  return v.context.tier_of(e) == Tier::kNone;
}

py::object Mirror::bounds(py::handle env, py::handle expr, bool ranges_alone) {
  const Turn turn(*this);
  if (!turn.mine()) return not_implemented();
  look(env);
  State& state = *state_;
  const std::optional<Expr> e = state.reader.read(expr.ptr());
  if (!e || !e->is_int()) return not_implemented();
  const Interval range = ranges_alone ? state.ranges_alone.bounds(resolve(*e))
                                      : state.all.bounds(*e);
  if (range.is_empty()) return not_implemented();
  py::object result = py::make_tuple(to_python_int(range.lower()),
                                     to_python_int(range.upper()));
  if (!ranges_alone) remember(expr, result);
  return result;
}

// The hints of the symbols in `e` that have one.
Assignment Mirror::hints_of(py::handle env, Expr e) {
  const py::dict hints = env.attr("backed_var_to_val");
  Assignment point;
  for (const Expr& s : free_symbols(e)) {
    PyObject* symbol = state_->reader.symbol_named(s.symbol().name);
    if (!symbol || !hints.contains(py::handle(symbol))) continue;
    const py::object value = hints[py::handle(symbol)];
    if (!py::isinstance(value, sympy_values().integer)) continue;
    if (const auto number = to_bound(value.attr("p"))) point.set(s, *number);
  }
  return point;
}

py::object Mirror::hint(py::handle env, py::handle expr) {
  const Turn turn(*this);
  if (!turn.mine()) return not_implemented();
  look(env);
  State& state = *state_;
  const std::optional<Expr> e = state.reader.read(expr.ptr());
  if (!e) return not_implemented();
  const Assignment point = hints_of(env, *e);
  const Evaluation at = evaluate(*e, point);
  if (!at.defined()) return not_implemented();
  if (const Int* i = std::get_if<Int>(&*at.value)) return to_sympy(*i);
  if (at.is_true()) return sympy_values().yes;
  if (at.is_false()) return sympy_values().no;
  return not_implemented();
}

py::object Mirror::is_backed(py::handle env, py::handle expr) {
  const Turn turn(*this);
  if (!turn.mine()) return py::none();
  look(env);
  State& state = *state_;
  const std::optional<Expr> e = state.reader.read(expr.ptr());
  if (!e) return py::none();
  const py::dict hints = env.attr("backed_var_to_val");
  for (const Expr& s : free_symbols(canonical(resolve(*e)))) {
    PyObject* symbol = state.reader.symbol_named(s.symbol().name);
    if (!symbol || !hints.contains(py::handle(symbol))) return py::bool_(false);
  }
  return py::bool_(true);
}

py::object Mirror::only_value(py::handle env, py::handle symbol) {
  const Turn turn(*this);
  if (!turn.mine()) return py::none();
  look(env);
  const auto s = state_->reader.admit(symbol.ptr());
  if (!s) return py::none();
  const Interval range = state_->all.bounds(*s);
  return range.is_point() ? to_python_int(range.lower()) : py::none();
}

bool Mirror::contradiction(py::handle env) {
  const Turn turn(*this);
  if (!turn.mine()) return false;
  look(env);
  return state_->all.contradiction().has_value();
}

}  // namespace proviso::python
