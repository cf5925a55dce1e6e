// What was decided, as guards over some of the symbols.
//
//   guards        s0 < s2, s2 < s1
//   decided       s0 <= s1, with the guards' help, so that no guard says it
//   a graph of s0 and s1 alone goes into a cache
//   project       s0 <= s1
//
// Each answer is remembered.  The projection on a set of symbols goes through
// them and keeps those about these symbols alone that do not follow from what
// is kept already.  A question about every iteration of a loop has no such
// form; there the order of the sizes is kept, or else the sizes themselves.
//
// The smallest set of guards is the same walk: what the rest implies is left
// out.
#include <algorithm>

#include "bindings/python/core/core.h"
#include "bindings/python/core/mirror.h"
#include "bindings/python/core/mirror_state.h"
#include "sym/evaluate.h"

namespace proviso::python {

namespace {

// Above this number of conditions, only one pass looks for implied ones.
constexpr size_t kMaxExactMinimum = 64;

}  // namespace

py::list Mirror::decided() const {
  py::list result;
  for (const auto& [expr, value] : decided_)
    result.append(py::make_tuple(expr, value));
  return result;
}

void Mirror::remember(py::handle expr, py::handle value) {
  auto& places = py::isinstance<py::tuple>(value) ? bounded_at_ : decided_at_;
  const auto [it, is_new] = places.emplace(expr.ptr(), decided_.size());
  const auto object = py::reinterpret_borrow<py::object>(value);
  if (is_new) {
    decided_.emplace_back(py::reinterpret_borrow<py::object>(expr), object);
  } else {
    decided_[it->second].second = object;  // bounds only get tighter
  }
}

// What remembering (e, value) says of e.
Expr Mirror::meaning(Expr e, py::handle value) {
  if (value.ptr() == sympy_values().yes.ptr()) return e;
  if (value.ptr() == sympy_values().no.ptr()) return logical_not(e);
  if (!py::isinstance<py::tuple>(value))
    return eq(e, state_->pool.integer(*to_bound(value.attr("p"))));
  const auto ends = py::reinterpret_borrow<py::tuple>(value);
  Expr result = state_->pool.boolean(true);
  if (const auto lower = to_bound(ends[0]))
    result = logical_and(result, ge(e, state_->pool.integer(*lower)));
  if (const auto upper = to_bound(ends[1]))
    result = logical_and(result, le(e, state_->pool.integer(*upper)));
  return result;
}

py::list Mirror::project(py::handle env, py::handle symbols, py::handle kept,
                         py::handle others) {
  const Turn turn(*this);
  py::list result;
  if (!turn.mine()) return result;
  look(env);
  State& state = *state_;
  Context known(state.pool, quick_options());
  std::set<uint32_t> wanted;
  const auto names = py::reinterpret_borrow<py::set>(symbols);
  for (size_t i = 0; i < state.ranges.size(); ++i) {
    const auto& symbol = state.ranges[i].first;
    if (!state.intervals[i] || !names.contains(symbol)) continue;
    const auto s = state.reader.admit(symbol.ptr());
    if (!s) continue;
    known.declare(*s, *state.intervals[i]);
    wanted.insert(s->id());
  }
  for (const py::handle& guard : py::reinterpret_borrow<py::list>(kept)) {
    const auto e = state.reader.read(guard.ptr());
    if (e && e->is_bool()) known.assume(*e);
  }
  const auto offer = [&](const py::object& expr, const py::object& value) {
    const auto e = state.reader.read(expr.ptr());
    if (!e) return;
    const Expr fact = meaning(resolve(*e), value);
    for (const Expr& s : free_symbols(fact))
      if (!wanted.contains(s.id())) return;
    // Decided while a size was specialised for a while.
    if (evaluate(fact, hints_of(env, fact)).is_false()) return;
    if (known.ask_quick(fact) == Verdict::kYes) return;
    known.assume(fact);
    result.append(py::make_tuple(expr, value));
  };
  for (const py::handle& guard : py::reinterpret_borrow<py::list>(others))
    offer(py::reinterpret_borrow<py::object>(guard), sympy_values().yes);
  for (size_t i = 0; i < decided_.size(); ++i) {
    const auto entry = decided_[i];
    offer(entry.first, entry.second);
  }
  for (size_t i = 0; i < by_loops_.size(); ++i) {
    const LoopDecision one = by_loops_[i];
    project_loop(env, one, wanted, known, result);
  }
  return result;
}

// What a loop nest adds to `known`: its own ranges and axioms.
Context Mirror::with_loop(const LoopDecision& one, Context& known,
                          std::set<uint32_t>& symbols) {
  State& state = *state_;
  Context inside = known.clone();
  std::set<PyObject*> of_env;
  for (const auto& [symbol, range] : state.ranges) of_env.insert(symbol.ptr());
  if (!one.ranges.is_none()) {
    for (const py::handle& pair :
         py::reinterpret_borrow<py::tuple>(one.ranges)) {
      const auto entry = py::reinterpret_borrow<py::tuple>(pair);
      const py::object symbol = entry[0];
      if (of_env.contains(symbol.ptr())) continue;
      const auto range = interval_of(py::object(entry[1]).ptr());
      const auto s =
          range ? state.reader.admit(symbol.ptr()) : std::optional<Expr>();
      if (!s) continue;
      inside.declare(*s, *range);
      symbols.insert(s->id());
    }
  }
  if (one.axioms.is_none()) return inside;
  for (const py::handle& axiom :
       py::reinterpret_borrow<py::tuple>(one.axioms)) {
    const auto e = state.reader.read(axiom.ptr());
    if (e && e->is_bool() && !state.conditions.contains(*e))
      inside.assume(resolve(*e));
  }
  return inside;
}

// Which guards over other symbols said it of every iteration of a loop cannot
// be written down.  The order of the sizes often can; else they are pinned.
void Mirror::project_loop(py::handle env, const LoopDecision& one,
                          const std::set<uint32_t>& wanted, Context& known,
                          py::list& result) {
  State& state = *state_;
  const auto e = state.reader.read(one.expr.ptr());
  if (!e) return;
  const Expr fact = meaning(resolve(*e), one.value);
  std::set<uint32_t> of_loop;
  Context inside = with_loop(one, known, of_loop);
  if (inside.ask_quick(fact) == Verdict::kYes) return;
  std::vector<Expr> sizes;
  std::set<uint32_t> seen;
  const auto collect = [&](Expr part) {
    for (const Expr& s : free_symbols(part)) {
      if (!of_loop.contains(s.id()) && seen.insert(s.id()).second)
        sizes.push_back(s);
    }
  };
  collect(fact);
  for (const Fact& f : inside.facts()) {
    bool is_of_loop = false;
    for (const Expr& s : free_symbols(f.condition))
      is_of_loop = is_of_loop || of_loop.contains(s.id());
    if (is_of_loop) collect(f.condition);
  }
  for (const Expr& s : sizes)
    if (!wanted.contains(s.id())) return;
  if (sizes.empty()) return;
  const auto object = [&](Expr s) {
    return py::reinterpret_borrow<py::object>(
        state.reader.symbol_named(s.symbol().name));
  };
  const auto add = [&](Expr condition, const py::object& of,
                       const py::object& value) {
    if (known.ask_quick(condition) == Verdict::kYes) return;
    known.assume(condition);
    inside.assume(condition);
    result.append(py::make_tuple(of, value));
  };
  for (const Expr& a : sizes) {
    for (const Expr& b : sizes) {
      if (a != b && state.all.ask_quick(le(a, b)) == Verdict::kYes)
        add(le(a, b), object(a), py::make_tuple(py::none(), object(b)));
    }
  }
  if (inside.ask_quick(fact) == Verdict::kYes) return;
  for (const auto& [symbol, value] :
       hints_of(env, state.pool.make(Op::kAdd, sizes)).entries()) {
    if (const Int* hint = std::get_if<Int>(&value))
      add(eq(symbol, state.pool.integer(*hint)), object(symbol),
          to_sympy(*hint));
  }
}

// First each condition after those before it, equalities first; then, while
// that is not too much, each beside all others.
py::list Mirror::minimal(py::handle env, py::handle conditions) {
  const Turn turn(*this);
  const auto list = py::reinterpret_borrow<py::list>(conditions);
  std::vector<std::optional<Expr>> facts(list.size());
  if (turn.mine()) {
    look(env);
    for (size_t i = 0; i < list.size(); ++i) {
      const auto e = state_->reader.read(py::object(list[i]).ptr());
      if (e && e->is_bool()) facts[i] = resolve(*e);
    }
  }
  std::vector<bool> kept(list.size(), true);
  if (turn.mine()) {
    Context known = state_->ranges_alone.clone();
    for (const bool equalities : {true, false}) {
      for (size_t i = 0; i < facts.size(); ++i) {
        if (!facts[i] || facts[i]->is(Op::kEq) != equalities) continue;
        kept[i] = known.ask_quick(*facts[i]) != Verdict::kYes;
        if (kept[i]) known.assume(*facts[i]);
      }
    }
    if (static_cast<size_t>(std::count(kept.begin(), kept.end(), true)) <=
        kMaxExactMinimum)
      drop_implied(facts, kept);
  }
  py::list result;
  for (size_t i = 0; i < kept.size(); ++i)
    if (kept[i]) result.append(i);
  return result;
}

void Mirror::drop_implied(const std::vector<std::optional<Expr>>& facts,
                          std::vector<bool>& kept) {
  for (size_t i = 0; i < facts.size(); ++i) {
    if (!facts[i] || !kept[i]) continue;
    Context rest = state_->ranges_alone.clone();
    for (size_t k = 0; k < facts.size(); ++k)
      if (k != i && kept[k] && facts[k]) rest.assume(*facts[k]);
    kept[i] = rest.ask_quick(*facts[i]) != Verdict::kYes;
  }
}

}  // namespace proviso::python
