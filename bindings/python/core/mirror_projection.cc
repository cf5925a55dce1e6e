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
// form, nor has one about a size from data, which a graph asserts itself:
//
//   guards        s0 < s2, s2 < s1      asserted in the graph: u0 <= s0
//   decided       u0 <= s1
//   project       s0 <= s1
//
// There the order of the sizes is kept, or else the sizes themselves.
//
// The smallest set of guards is the same walk: what the rest implies is left
// out.
#include <algorithm>

#include "bindings/python/core/core.h"
#include "bindings/python/core/mirror.h"
#include "bindings/python/core/mirror_state.h"
#include "sym/evaluate.h"
#include "sym/find_node.h"

namespace proviso::python {

namespace {

// Above this number of conditions, only one pass looks for implied ones.
constexpr size_t kMaxExactMinimum = 64;

std::vector<Expr> divisors_of(Expr e) {
  std::vector<Expr> result;
  internal::find_node(e, [&](Expr x) {
    const int divisors = info(x.op()).divisors;
    for (int i = 1; i <= divisors; ++i)
      result.push_back(x.arg(static_cast<size_t>(i)));
    return false;
  });
  return result;
}

}  // namespace

// A guard that divides is an error where the divisor is 0, and not false: what
// keeps it from 0 is another guard, asked before it.  To assume `x % k == 0`
// would say k != 0, and that guard would go.
bool Mirror::divides_by_zero_somewhere(Expr e) {
  const std::vector<Expr> divisors = divisors_of(e);
  return std::any_of(divisors.begin(), divisors.end(), [&](const Expr& d) {
    return state_->ranges_alone.ask_quick(ne(d, state_->pool.integer(0))) !=
           Verdict::kYes;
  });
}

py::list Mirror::decided() const {
  py::list result;
  for (const auto& [expr, value] : decided_)
    result.append(py::make_tuple(expr, value));
  return result;
}

py::list Mirror::decided_by_loops() const {
  py::list result;
  for (const LoopNest& nest : nests_)
    for (const auto& [expr, value] : nest.decided)
      result.append(py::make_tuple(nest.axioms, nest.ranges, expr, value));
  return result;
}

Mirror::LoopNest& Mirror::nest_of(const py::object& axioms,
                                  const py::object& ranges) {
  const py::tuple of_axioms(axioms), of_ranges(ranges);
  const py::tuple key = py::make_tuple(of_axioms, of_ranges);
  if (nest_at_.contains(key))
    return nests_[py::cast<size_t>(py::object(nest_at_[key]))];
  nest_at_[key] = nests_.size();
  nests_.push_back(LoopNest{of_axioms, of_ranges, py::dict()});
  return nests_.back();
}

void Mirror::remember_by_loop(const py::object& axioms,
                              const py::object& ranges, const py::object& expr,
                              const py::object& value) {
  nest_of(axioms, ranges).decided[expr] = value;
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
    return eq(
        e, state_->pool.integer(int_of(value.attr("p"), "Mirror", "a value")));
  const auto ends = py::cast<py::tuple>(value);
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
  if (!turn.mine()) return py::list();
  look(env);
  State& state = *state_;
  Context known(state.pool, quick_options());
  std::set<uint32_t> wanted;
  const auto names = py::cast<py::set>(symbols);
  for (size_t i = 0; i < state.ranges.size(); ++i) {
    const auto& symbol = state.ranges[i].first;
    if (!state.intervals[i] || !names.contains(symbol)) continue;
    const auto s = state.reader.admit(symbol.ptr());
    if (!s) continue;
    known.declare(*s, *state.intervals[i]);
    wanted.insert(s->id());
  }
  for (const py::handle& guard : py::cast<py::list>(kept)) {
    const auto e = state.reader.read(guard.ptr());
    if (e && e->is_bool() && !divides_by_zero_somewhere(*e)) known.assume(*e);
  }
  Context with_data = known.clone();
  Projection projection{std::move(wanted),
                        std::move(known),
                        {std::move(with_data), {}, {}},
                        py::list()};
  add_unbacked(env, projection.wanted, projection.data);
  const auto offer = [&](const py::object& expr, const py::object& value) {
    const auto e = state.reader.read(expr.ptr());
    if (!e) return;
    const Expr fact = meaning(resolve(*e), value);
    bool is_about_data = false;
    for (const Expr& s : free_symbols(fact)) {
      if (projection.wanted.contains(s.id())) continue;
      if (!projection.data.symbols.contains(s.id())) return;
      is_about_data = true;
    }
    // Decided while a size was specialised for a while.
    if (evaluate(fact, hints_of(env, fact)).is_false()) return;
    if (is_about_data)
      return project_within(env, fact, projection.data, projection);
    if (projection.known.ask_quick(fact) == Verdict::kYes) return;
    if (!divides_by_zero_somewhere(fact)) projection.learn(fact);
    projection.result.append(py::make_tuple(expr, value));
  };
  for (const py::handle& guard : py::cast<py::list>(others))
    offer(py::reinterpret_borrow<py::object>(guard), sympy_values().yes);
  for (size_t i = 0; i < decided_.size(); ++i) {
    const auto entry = decided_[i];
    offer(entry.first, entry.second);
  }
  for (size_t i = 0; i < nests_.size(); ++i) {
    const LoopNest nest = nests_[i];
    Within within = with_loop(nest, projection.data);
    for (const auto& [expr, value] : nest.decided)
      if (const auto e = read_with(nest.ranges, expr))
        project_within(env, meaning(resolve(*e), value), within, projection);
  }
  return projection.result;
}

// The sets of sizes that what was decided is about, each once.
py::list Mirror::scopes(py::handle env) {
  const Turn turn(*this);
  py::list result;
  if (!turn.mine()) return result;
  look(env);
  std::set<std::set<uint32_t>> seen;
  const auto add = [&](const std::vector<Expr>& symbols) {
    std::set<uint32_t> ids;
    for (const Expr& s : symbols) ids.insert(s.id());
    if (ids.empty() || !seen.insert(ids).second) return;
    py::set objects;
    for (const Expr& s : symbols)
      objects.add(py::handle(state_->reader.symbol_named(s.symbol().name)));
    result.append(objects);
  };
  Within data{state_->ranges_alone.clone(), {}, {}};
  add_unbacked(env, std::nullopt, data);
  for (size_t i = 0; i < decided_.size(); ++i) {
    const auto entry = decided_[i];
    const auto e = state_->reader.read(entry.first.ptr());
    if (e) add(sizes_of(meaning(resolve(*e), entry.second), data));
  }
  for (size_t i = 0; i < nests_.size(); ++i) {
    const LoopNest nest = nests_[i];
    Within within = with_loop(nest, data);
    for (const auto& [expr, value] : nest.decided)
      if (const auto e = read_with(nest.ranges, expr))
        add(sizes_of(meaning(resolve(*e), value), within));
  }
  return result;
}

// `outside`, and what a loop nest adds to it: its own ranges and axioms.
Mirror::Within Mirror::with_loop(const LoopNest& nest, Within& outside) {
  State& state = *state_;
  Within result{outside.context.clone(), outside.symbols, {}};
  for (const py::handle& pair : nest.ranges) {
    const auto entry = py::cast<py::tuple>(pair);
    const auto range = interval_of(py::object(entry[1]).ptr());
    const auto s =
        range ? state.reader.admit(py::object(entry[0]).ptr()) : std::nullopt;
    if (!s || state.symbols.contains(s->id())) continue;
    result.context.declare(*s, *range);
    result.symbols.insert(s->id());
    result.loops.insert(s->id());
  }
  for (const py::handle& axiom : nest.axioms) {
    const auto e = state.reader.read(axiom.ptr());
    if (e && e->is_bool() && !state.conditions.contains(*e))
      result.context.assume(resolve(*e));
  }
  return result;
}

// Sizes from data, and what a graph of the `wanted` symbols (nullopt: all)
// asserts of them at run time: the graph goes with that, wherever it is used.
void Mirror::add_unbacked(py::handle env,
                          const std::optional<std::set<uint32_t>>& wanted,
                          Within& within) {
  State& state = *state_;
  const py::dict hints = env.attr("backed_var_to_val");
  std::set<uint32_t> of_data;
  for (size_t i = 0; i < state.ranges.size(); ++i) {
    const auto& symbol = state.ranges[i].first;
    if (!state.intervals[i] || hints.contains(symbol)) continue;
    const auto s = state.reader.admit(symbol.ptr());
    if (!s) continue;
    within.context.declare(*s, *state.intervals[i]);
    within.symbols.insert(s->id());
    of_data.insert(s->id());
  }
  const py::dict asserts = env.attr("deferred_runtime_asserts");
  for (const auto& [symbol, list] : asserts) {
    for (const py::handle& one : py::cast<py::list>(list)) {
      const auto e = state.reader.read(py::object(one.attr("expr")).ptr());
      if (!e || !e->is_bool()) continue;
      const Expr fact = resolve(*e);
      bool is_of_graph = true;
      for (const Expr& s : free_symbols(fact))
        is_of_graph = is_of_graph && (!wanted || wanted->contains(s.id()) ||
                                      of_data.contains(s.id()));
      if (is_of_graph) within.context.assume(fact);
    }
  }
}

// The sizes that `fact` is about: its own, those of the loops, and those that
// what is asserted of its sizes from data is about, and so on.
std::vector<Expr> Mirror::sizes_of(Expr fact, const Within& within) {
  std::vector<Expr> sizes;
  std::set<uint32_t> seen, inner = within.loops;
  const auto collect = [&](Expr part) {
    for (const Expr& s : free_symbols(part)) {
      if (within.symbols.contains(s.id())) {
        inner.insert(s.id());
      } else if (seen.insert(s.id()).second) {
        sizes.push_back(s);
      }
    }
  };
  collect(fact);
  for (size_t before = 0; before != inner.size();) {
    before = inner.size();
    for (const Fact& f : within.context.facts()) {
      const auto symbols = free_symbols(f.condition);
      if (std::any_of(symbols.begin(), symbols.end(),
                      [&](const Expr& s) { return inner.contains(s.id()); }))
        collect(f.condition);
    }
  }
  return sizes;
}

// Which guards over other symbols said it of every iteration of a loop, and of
// every size from data, cannot be written down.  The order of the sizes often
// can; else they are pinned.
void Mirror::project_within(py::handle env, Expr fact, Within& within,
                            Projection& projection) {
  State& state = *state_;
  const auto follows = [&] {
    return within.context.ask_quick(fact) == Verdict::kYes;
  };
  if (follows()) return;
  const std::vector<Expr> sizes = sizes_of(fact, within);
  for (const Expr& s : sizes)
    if (!projection.wanted.contains(s.id())) return;
  if (sizes.empty()) return;
  const auto object = [&](Expr s) {
    return py::reinterpret_borrow<py::object>(
        state.reader.symbol_named(s.symbol().name));
  };
  const auto add = [&](Expr condition, const py::object& of,
                       const py::object& value) {
    if (projection.known.ask_quick(condition) == Verdict::kYes) return;
    projection.learn(condition);
    if (&within != &projection.data) within.context.assume(condition);
    projection.result.append(py::make_tuple(of, value));
  };
  const auto add_order = [&](const char* relation, auto make) {
    for (const Expr& a : sizes) {
      for (const Expr& b : sizes) {
        const Expr order = make(a, b);
        if (a == b || state.all.ask_quick(order) != Verdict::kYes) continue;
        add(order, sympy_class(relation)(object(a), object(b)),
            sympy_values().yes);
      }
    }
  };
  add_order("Le", [](Expr a, Expr b) { return le(a, b); });
  if (follows()) return;
  add_order("Lt", [](Expr a, Expr b) { return lt(a, b); });
  if (follows()) return;
  for (const auto& [symbol, value] :
       hints_of(env, state.pool.make(Op::kAdd, sizes)).entries()) {
    if (const Int* hint = std::get_if<Int>(&value))
      add(eq(symbol, state.pool.integer(*hint)), object(symbol),
          to_sympy(*hint));
  }
}

// First each condition after those before it, equalities first; then, while
// that is not too much, each beside all others.  What may divide by 0 stays.
py::list Mirror::minimal(py::handle env, py::handle conditions) {
  const Turn turn(*this);
  const auto list = py::cast<py::list>(conditions);
  std::vector<std::optional<Expr>> facts(list.size());
  if (turn.mine()) {
    look(env);
    for (size_t i = 0; i < list.size(); ++i) {
      const auto e = state_->reader.read(py::object(list[i]).ptr());
      if (!e || !e->is_bool()) continue;
      const Expr fact = resolve(*e);
      if (!divides_by_zero_somewhere(fact)) facts[i] = fact;
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
