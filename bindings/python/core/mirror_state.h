// bindings/python/core/mirror_state.h - what a Mirror holds, for its own files.
//
//   mirror.cc             what the ShapeEnv holds, seen by difference
//   mirror_questions.cc   a question, its axioms, and the answer
//   mirror_projection.cc  what was decided, as guards over some symbols
//   mirror_bindings.cc    the Python class
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "bindings/python/core/mirror.h"
#include "solver/solver.h"

namespace proviso::python {

// SymPy's true, false and Integer.  Never destroyed.
struct SymPyValues {
  py::object yes, no, integer;
};
SymPyValues& sympy_values();

py::object to_sympy(const Int& value);
// nullopt for a range of floats or truth values.
std::optional<Interval> interval_of(PyObject* value);
// For questions that a compiler asks by the thousand: no Z3, no search.
SolverOptions quick_options();

// A Context with more axioms or other ranges than the ShapeEnv's.  It holds the
// tuples, so that their addresses stay theirs.
struct Mirror::Variant {
  py::object axioms, ranges;
  bool size_oblivious;
  size_t size_like;
  Context context;
  std::set<FactId> guards;  // the facts that are the ShapeEnv's own conditions
  py::list own_axioms, own_ranges;  // those that are not the ShapeEnv's
};

// What was decided with the help of these axioms and ranges, a loop nest's, and
// of guards as well.
struct Mirror::LoopNest {
  py::tuple axioms, ranges;
  py::dict decided;  // {expr: value}
};

// A Context with symbols that are no inputs of a graph: those of a loop, and
// sizes from data.
struct Mirror::Within {
  Context context;
  std::set<uint32_t> symbols;
  std::set<uint32_t> loops;  // those of `symbols` that are a loop's
};

// A walk through what was decided.
struct Mirror::Projection {
  void learn(Expr condition) {
    known.assume(condition);
    data.context.assume(condition);
  }

  std::set<uint32_t> wanted;
  Context known;  // of `wanted`: ranges, guards that are kept, what was added
  Within data;    // the same, and sizes from data
  py::list result;
};

struct Mirror::State {
  State()
      : reader(pool),
        all(pool, quick_options()),
        ranges_alone(pool, quick_options()) {}

  ExprPool pool{FloatArithmetic::kDouble};
  SymPyReader reader;
  Context all;
  Context ranges_alone;

  using Entry = std::pair<py::object, py::object>;
  std::vector<Entry> ranges, replacements;  // as last seen, in their order
  std::vector<std::optional<Interval>> intervals;  // of `ranges`
  std::set<uint32_t> symbols;                      // of `ranges`
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

}  // namespace proviso::python
