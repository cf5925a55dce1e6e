#include "bindings/python/core/mirror.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "bindings/python/core/core.h"
#include "sym/evaluate.h"
#include "sym/print.h"
#include "sym/simplify.h"

namespace proviso::python {

namespace {

// A reader that holds more objects than this is dropped, and what is known is
// read again.
constexpr size_t kMaxObjects = 400'000;
// Contexts with further axioms that are kept: Inductor asks many questions
// about one loop nest, then goes on to the next.
constexpr size_t kMaxVariants = 8;
// Above this number of conditions, only one pass looks for implied ones.
constexpr size_t kMaxExactMinimum = 64;

// SymPy's true, false and Integer.  Never destroyed.
struct SymPyValues {
  py::object yes, no, integer;
};
SymPyValues& sympy_values() {
  static auto* values = new SymPyValues;
  return *values;
}

py::object not_implemented() {
  return py::reinterpret_borrow<py::object>(Py_NotImplemented);
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

// The end of a ValueRanges: an Integer's number, else no end.
OptionalInt end_of(const py::object& range, const char* name) {
  const py::object end = range.attr(name);
  if (!py::isinstance(end, sympy_values().integer)) return std::nullopt;
  return to_bound(end.attr("p"));
}

// nullopt for a range of floats or truth values.
std::optional<Interval> interval_of(PyObject* value) {
  const auto range = py::reinterpret_borrow<py::object>(value);
  if (range.is_none() || !py::cast<bool>(range.attr("is_int")))
    return std::nullopt;
  return Interval::of(end_of(range, "lower"), end_of(range, "upper"));
}

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

MirrorCounts& mirror_counts() {
  static auto* counts = new MirrorCounts;
  return *counts;
}

// A Context with more axioms or other ranges than the ShapeEnv's.  It holds the
// tuples, so that their addresses stay theirs.
struct Mirror::Variant {
  py::object axioms, ranges;
  bool size_oblivious;
  size_t size_like;
  Context context;
  std::set<FactId> guards;  // the facts that are the ShapeEnv's own conditions
};

// A question that was decided with a Variant's help, by guards as well.
struct Mirror::LoopDecision {
  py::object axioms, ranges, expr, value;
};

struct Mirror::State {
  State()
      : reader(pool),
        all(pool, quick_options()),
        ranges_alone(pool, quick_options()) {}

  ExprPool pool;
  SymPyReader reader;
  Context all;
  Context ranges_alone;

  using Entry = std::pair<py::object, py::object>;
  std::vector<Entry> ranges, replacements;  // as last seen, in their order
  std::vector<std::optional<Interval>> intervals;  // of `ranges`
  std::unordered_map<Expr, Expr, ExprHash> resolved;
  size_t guards = 0;
  py::object last_guard;
  std::unordered_map<PyObject*, py::object> asserts;
  std::unordered_set<Expr, ExprHash> conditions;  // of guards and asserts
  std::set<FactId> guard_facts;  // of `all`: conditions and replacements
  int64_t assert_count = 0;
  std::vector<std::unique_ptr<Variant>> variants;  // the last used at the end
};

// Marks the mirror as in use.  false when it already is.
class Mirror::Turn {
 public:
  explicit Turn(Mirror& mirror) : mirror_(mirror), mine_(!mirror.busy_) {
    mirror_.busy_ = true;
  }
  ~Turn() {
    if (mine_) mirror_.busy_ = false;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  bool mine() const { return mine_; }

 private:
  Mirror& mirror_;
  const bool mine_;
};

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
  for (const auto& [symbol, list] : py::reinterpret_borrow<py::dict>(asserts)) {
    for (const py::handle& one : py::reinterpret_borrow<py::list>(list)) {
      const auto object = py::reinterpret_borrow<py::object>(one);
      if (!state.asserts.emplace(one.ptr(), object).second) continue;
      assume(py::object(object.attr("expr")).ptr());
    }
  }
  state.variants.clear();
}

void Mirror::look(py::handle env) {
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

// With replacements put in, again and again: they do not form circles, and
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

void Mirror::fill(Variant& variant, py::handle axioms, py::handle ranges) {
  State& state = *state_;
  if (!ranges.is_none()) {
    for (const py::handle& pair : py::reinterpret_borrow<py::tuple>(ranges)) {
      const auto entry = py::reinterpret_borrow<py::tuple>(pair);
      const auto range = interval_of(py::object(entry[1]).ptr());
      const auto symbol =
          range ? state.reader.admit(py::object(entry[0]).ptr()) : std::nullopt;
      if (symbol) variant.context.declare(*symbol, *range);
    }
  }
  if (axioms.is_none()) return;
  for (const py::handle& axiom : py::reinterpret_borrow<py::tuple>(axioms)) {
    const auto e = state.reader.read(axiom.ptr());
    if (!e || !e->is_bool()) continue;
    const FactId id = variant.context.assume(resolve(*e));
    if (state.conditions.contains(*e)) variant.guards.insert(id);
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
      has_guards ? state.guard_facts : std::set<FactId>()}));
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
  if (keep && !result.is_none() && uses_guards(v, asked)) {
    by_loops_.push_back(LoopDecision{
        v.axioms, v.ranges, py::reinterpret_borrow<py::object>(expr), result});
  }
  return result;
}

// The symbols of `ranges` may be no others' yet.
std::optional<Expr> Mirror::read_with(py::handle ranges, py::handle expr) {
  SymPyReader& reader = state_->reader;
  const std::optional<Expr> e = reader.read(expr.ptr());
  if (e || ranges.is_none()) return e;
  for (const py::handle& pair : py::reinterpret_borrow<py::tuple>(ranges))
    reader.admit(py::object(py::reinterpret_borrow<py::tuple>(pair)[0]).ptr());
  return reader.read(expr.ptr());
}

// Whether the last answer to `e` may depend on the ShapeEnv's conditions.
bool Mirror::uses_guards(Variant& v, Expr e) {
  if (v.guards.empty()) return false;
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
  for (const Expr& s : free_symbols(simplify(resolve(*e)))) {
    PyObject* symbol = state.reader.symbol_named(s.symbol().name);
    if (!symbol || !hints.contains(py::handle(symbol))) return py::bool_(false);
  }
  return py::bool_(true);
}

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

namespace {

py::dict counts() {
  const MirrorCounts& c = mirror_counts();
  py::dict result;
  result["questions"] = c.questions;
  result["decided"] = c.decided;
  result["unknown"] = c.unknown;
  result["facts"] = c.facts;
  result["facts without a meaning here"] = c.unassumed;
  result["restarts"] = c.restarts;
  py::dict refused;
  for (const auto& [name, count] : c.refused) refused[name.c_str()] = count;
  result["refused"] = refused;
  return result;
}

}  // namespace

void bind_mirror(py::module_& m) {
  m.def("set_sympy", [](const py::dict& classes, py::object yes, py::object no,
                        py::object integer) {
    set_sympy_classes(classes);
    sympy_values() = {std::move(yes), std::move(no), std::move(integer)};
  });
  m.def("mirror_counts", &counts);
  m.def("reset_mirror_counts", [] { mirror_counts() = {}; });
  py::class_<Mirror>(m, "Mirror")
      .def(py::init<>())
      .def("ask", &Mirror::ask, py::arg("env"), py::arg("expr"),
           py::arg("axioms") = py::none(), py::arg("ranges") = py::none(),
           py::arg("size_oblivious") = false, py::arg("keep") = true)
      .def("bounds", &Mirror::bounds, py::arg("env"), py::arg("expr"),
           py::arg("ranges_alone") = false)
      .def("hint", &Mirror::hint)
      .def("is_backed", &Mirror::is_backed)
      .def("decided", &Mirror::decided)
      .def("remember", &Mirror::remember)
      .def("project", &Mirror::project)
      .def("minimal", &Mirror::minimal)
      .def("only_value", &Mirror::only_value)
      .def("contradiction", &Mirror::contradiction);
}

}  // namespace proviso::python
