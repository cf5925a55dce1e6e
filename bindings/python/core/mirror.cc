// What a ShapeEnv holds, seen by difference.
//
//   the mirror's last look     the ShapeEnv now         assumed in the Context
//   s0: [2, inf]               s0: [2, 9]               s0 in [2, 9]
//   replacements: none         s1 -> s0                 s1 == s0
//   guards: [s0 < s2]          [s0 < s2, s2 % 4 == 0]   s2 % 4 == 0
//
// torch adds to these dicts and lists, and makes ranges smaller: the new ones
// are found by walking along what was seen, object by object, which costs a
// comparison of pointers for each.  Where something went away or grew, the
// mirror forgets all and reads all.
#include "bindings/python/core/mirror.h"

#include <stdexcept>

#include "bindings/python/core/core.h"
#include "bindings/python/core/mirror_state.h"

namespace proviso::python {

namespace {

// A reader that holds more objects than this is dropped, and what is known is
// read again.
constexpr size_t kMaxObjects = 400'000;

// The end of a ValueRanges: an Integer's number, else no end.
OptionalInt end_of(const py::object& range, const char* name) {
  const py::object end = range.attr(name);
  if (!py::isinstance(end, sympy_values().integer)) return std::nullopt;
  return to_bound(end.attr("p"));
}

}  // namespace

SymPyValues& sympy_values() {
  static auto* values = new SymPyValues;
  return *values;
}

py::object to_sympy(const Int& value) {
  return sympy_values().integer(to_python_int(value));
}

SolverOptions quick_options() {
  SolverOptions options;
  options.use_z3 = false;
  options.search_models = false;
  options.restart = false;
  return options;
}

// nullopt for a range of floats or truth values.
std::optional<Interval> interval_of(PyObject* value) {
  const auto range = py::reinterpret_borrow<py::object>(value);
  if (range.is_none() || !py::cast<bool>(range.attr("is_int")))
    return std::nullopt;
  return Interval::of(end_of(range, "lower"), end_of(range, "upper"));
}

MirrorCounts& mirror_counts() {
  static auto* counts = new MirrorCounts;
  return *counts;
}

Mirror::~Mirror() = default;

void Mirror::restart() {
  if (state_) ++mirror_counts().restarts;
  state_ = std::make_unique<State>();
}

void Mirror::assume(PyObject* condition) {
  const std::optional<Expr> e = state_->reader.read(condition);
  if (!e || !e->is_bool()) {
    ++mirror_counts().unassumed;
    return;
  }
  state_->conditions.insert(*e);
  state_->guard_facts.insert(state_->all.assume(*e));
  ++mirror_counts().facts;
}

// false: a range went away or grew.
bool Mirror::look_at_ranges(PyObject* ranges) {
  State& state = *state_;
  if (static_cast<size_t>(PyDict_Size(ranges)) < state.ranges.size())
    return false;
  Py_ssize_t position = 0;
  PyObject *key, *value;
  std::vector<State::Entry> changed;
  std::vector<size_t> where_changed;
  for (size_t i = 0; PyDict_Next(ranges, &position, &key, &value); ++i) {
    if (i < state.ranges.size()) {
      if (state.ranges[i].first.ptr() != key) return false;
      if (state.ranges[i].second.ptr() == value) continue;
    }
    changed.emplace_back(py::reinterpret_borrow<py::object>(key),
                         py::reinterpret_borrow<py::object>(value));
    where_changed.push_back(i);
  }
  for (size_t k = 0; k < changed.size(); ++k) {
    const size_t i = where_changed[k];
    std::optional<Interval> range = interval_of(changed[k].second.ptr());
    if (i < state.ranges.size()) {
      const auto& before = state.intervals[i];
      if (before && (!range || !before->contains(*range))) return false;
      state.ranges[i] = changed[k];
      state.intervals[i] = range;
    } else {
      state.ranges.push_back(changed[k]);
      state.intervals.push_back(range);
    }
    const auto symbol =
        range ? state.reader.admit(changed[k].first.ptr()) : std::nullopt;
    if (!symbol) continue;
    state.symbols.insert(symbol->id());
    state.all.declare(*symbol, *range);
    state.ranges_alone.declare(*symbol, *range);
    state.variants.clear();
    ++mirror_counts().facts;
  }
  return true;
}

// A replacement may be written again with more of it replaced, which is true as
// well.  false: one went away.
bool Mirror::look_at_replacements(PyObject* replacements) {
  State& state = *state_;
  if (static_cast<size_t>(PyDict_Size(replacements)) <
      state.replacements.size())
    return false;
  Py_ssize_t position = 0;
  PyObject *key, *value;
  std::vector<std::pair<size_t, State::Entry>> changed;
  for (size_t i = 0; PyDict_Next(replacements, &position, &key, &value); ++i) {
    if (i < state.replacements.size()) {
      if (state.replacements[i].first.ptr() != key) return false;
      if (state.replacements[i].second.ptr() == value) continue;
    }
    changed.push_back({i,
                       {py::reinterpret_borrow<py::object>(key),
                        py::reinterpret_borrow<py::object>(value)}});
  }
  for (auto& [i, entry] : changed) {
    const auto symbol = state.reader.admit(entry.first.ptr());
    const auto target = state.reader.read(entry.second.ptr());
    if (i < state.replacements.size()) {
      state.replacements[i] = entry;
    } else {
      state.replacements.push_back(entry);
    }
    state.variants.clear();
    if (!symbol || !target || !target->is_int()) {
      ++mirror_counts().unassumed;
      continue;
    }
    state.resolved.insert_or_assign(*symbol, *target);
    state.guard_facts.insert(state.all.assume(eq(*symbol, *target)));
    ++mirror_counts().facts;
  }
  return true;
}

// false: the list is not the one that was seen, with more at its end.
bool Mirror::look_at_guards(PyObject* guards) {
  State& state = *state_;
  const auto size = static_cast<size_t>(PyList_GET_SIZE(guards));
  const auto at = [&](size_t i) {
    return PyList_GET_ITEM(guards, static_cast<Py_ssize_t>(i));
  };
  if (size < state.guards) return false;
  if (state.guards > 0 && at(state.guards - 1) != state.last_guard.ptr())
    return false;
  if (size == state.guards) return true;
  std::vector<py::object> fresh;
  for (size_t i = state.guards; i < size; ++i)
    fresh.push_back(py::reinterpret_borrow<py::object>(at(i)));
  state.guards = size;
  state.last_guard = fresh.back();
  state.variants.clear();
  for (const py::object& guard : fresh) {
    if (py::cast<bool>(guard.attr("size_oblivious"))) continue;
    assume(py::object(guard.attr("expr")).ptr());
  }
  return true;
}

void Mirror::look_at_asserts(PyObject* asserts) {
  State& state = *state_;
  for (const auto& [symbol, list] : py::cast<py::dict>(asserts)) {
    for (const py::handle& one : py::cast<py::list>(list)) {
      const auto object = py::reinterpret_borrow<py::object>(one);
      if (!state.asserts.emplace(one.ptr(), object).second) continue;
      assume(py::object(object.attr("expr")).ptr());
    }
  }
  state.variants.clear();
}

void Mirror::look(py::handle env) {
  if (!sympy_values().integer)
    throw std::logic_error("Mirror: set_sympy was not called");
  if (!state_ || state_->reader.size() > kMaxObjects) restart();
  const py::dict ranges = env.attr("var_to_range");
  const py::dict replacements = env.attr("replacements");
  const py::list guards = env.attr("guards");
  const auto see = [&] {
    return look_at_ranges(ranges.ptr()) &&
           look_at_replacements(replacements.ptr()) &&
           look_at_guards(guards.ptr());
  };
  if (!see()) {
    restart();
    see();
  }
  const auto count =
      py::cast<int64_t>(env.attr("num_deferred_runtime_asserts"));
  if (count != state_->assert_count) {
    state_->assert_count = count;
    look_at_asserts(py::object(env.attr("deferred_runtime_asserts")).ptr());
  }
}

// With replacements applied, again and again: they do not form circles, and
// each round replaces at least one symbol for good.
Expr Mirror::resolve(Expr e) {
  const auto& map = state_->resolved;
  for (size_t round = 0; round <= map.size(); ++round) {
    const Expr next = map.empty() ? e : substitute(e, map);
    if (next == e) break;
    e = next;
  }
  return e;
}

}  // namespace proviso::python
