// bindings/python/core/mirror.h - what a PyTorch ShapeEnv knows, in a Context.
//
//   m = Mirror()
//   m.ask(env, expr)          # true, false, Integer, None or NotImplemented
//   m.bounds(env, expr)       # (2, None)
//
// The mirror lives beside the ShapeEnv, never in it, and holds no reference to
// it.  Each question first looks at what the ShapeEnv holds now and tells the
// Context what is new: ranges, replacements, guards, deferred runtime asserts.
// It looks at the objects themselves, for some code writes them directly.  What
// went away or grew wider starts the mirror afresh.
//
// There are two Contexts.  One knows everything.  The other knows ranges alone,
// and is asked about expressions with replacements applied: what follows from
// it, follows from what every guard set states anyway.
//
// A question is asked while Python may run another thread (SymPy computes some
// attributes in Python).  Whoever comes second gets NotImplemented.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "bindings/python/core/sympy_reader.h"
#include "solver/solver.h"
#include "sym/evaluate.h"

namespace proviso::python {

// Of all mirrors together, for the report.
struct MirrorCounts {
  uint64_t questions = 0;  // asked of any mirror
  uint64_t decided = 0;
  uint64_t unknown = 0;
  uint64_t facts = 0;      // assumed
  uint64_t unassumed = 0;  // guards and asserts that have no meaning here
  uint64_t restarts = 0;   // something went away, or there was too much
  std::map<std::string, uint64_t> refused;  // by class
};
MirrorCounts& mirror_counts();

class Mirror {
 public:
  Mirror() = default;
  ~Mirror();
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  // What `expr` is wherever the facts hold: SymPy's true or false, an Integer,
  // None when that does not follow.  NotImplemented when the question has no
  // meaning here.  `keep`: the answer is used, and remembered.  `axioms` None:
  // all facts; else ranges, replacements and these.  `ranges` ((symbol,
  // ValueRanges), ...) None: the ShapeEnv's.
  py::object ask(py::handle env, py::handle expr, py::handle axioms,
                 py::handle ranges, bool size_oblivious, bool keep);
  // (lower, upper), None for no end; NotImplemented when `expr` is no integer.
  py::object bounds(py::handle env, py::handle expr, bool ranges_alone);
  // The value of `expr` at the hints; NotImplemented when some symbol has none
  // or the value is undefined.
  py::object hint(py::handle env, py::handle expr);
  // Whether replacements and normal forms leave only symbols with hints in it.
  // None when the question has no meaning here.
  py::object is_backed(py::handle env, py::handle expr);
  // What was decided (and bounded) so far: [(expr, value or (lower, upper))].
  py::list decided() const;
  void remember(py::handle expr, py::handle value);
  // The same of questions about loops: [(axioms, ranges, expr, value)].
  py::list decided_by_loops() const;
  void remember_by_loop(const py::object& axioms, const py::object& ranges,
                        const py::object& expr, const py::object& value);
  // The sets of symbols that all of this is about.
  py::list scopes(py::handle env);
  // Of what was decided and of `others` (conditions that hold), what concerns
  // `symbols` alone and does not follow from their ranges and `kept`.
  py::list project(py::handle env, py::handle symbols, py::handle kept,
                   py::handle others);
  // Positions of `conditions` that do not follow from the ranges and the rest.
  py::list minimal(py::handle env, py::handle conditions);
  // The one value that the facts leave to a symbol, or None.
  py::object only_value(py::handle env, py::handle symbol);
  bool contradiction(py::handle env);

 private:
  class Turn;
  struct State;
  struct Variant;
  struct LoopNest;
  struct Within;
  struct Projection;

  void restart();
  void look(py::handle env);
  bool look_at_ranges(PyObject* ranges);
  bool look_at_replacements(PyObject* replacements);
  bool look_at_guards(PyObject* guards);
  void look_at_asserts(PyObject* asserts);
  void assume(PyObject* condition);
  Expr resolve(Expr e);
  Assignment hints_of(py::handle env, Expr e);
  Variant& variant(py::handle axioms, py::handle ranges, py::handle env,
                   bool size_oblivious);
  bool uses_guards(Variant& variant, Expr e);
  std::optional<Expr> read_with(py::handle ranges, py::handle expr);
  void fill(Variant& variant, py::handle axioms, py::handle ranges);
  py::object answer(Context& context, Expr e);
  Expr meaning(Expr e, py::handle value);
  bool divides_by_zero_somewhere(Expr e);
  std::vector<Expr> sizes_of(Expr fact, const Within& within);
  LoopNest& nest_of(const py::object& axioms, const py::object& ranges);
  Within with_loop(const LoopNest& nest, Within& outside);
  void add_unbacked(py::handle env,
                    const std::optional<std::set<uint32_t>>& wanted,
                    Within& within);
  void project_within(py::handle env, Expr fact, Within& within,
                      Projection& projection);
  void drop_implied(const std::vector<std::optional<Expr>>& facts,
                    std::vector<bool>& kept);

  std::unique_ptr<State> state_;
  bool busy_ = false;
  std::vector<LoopNest> nests_;
  py::dict nest_at_;  // {(axioms, ranges): position}
  std::vector<std::pair<py::object, py::object>> decided_;
  std::unordered_map<PyObject*, size_t> decided_at_, bounded_at_;
};

}  // namespace proviso::python
