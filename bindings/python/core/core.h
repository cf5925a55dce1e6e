// bindings/python/core/core.h - the parts of the extension proviso._core, which
// is sym and solver without torch.
//
//   expr.cc      Expr: operators, pickle, evaluation
//   context.cc   Context: facts and questions
//   mirror*.cc   what a PyTorch ShapeEnv knows, in a Context
//   joint_checks.cc  the checks that decide several questions at once
//   sympy_reader.cc  SymPy's objects as expressions
//   index_forms.cc   Inductor's index expressions, opened
//   module.cc    the module and its errors
//
// Threads.  An ExprPool and the contexts over it are one thread's at a time:
// each call that writes to a pool holds its lock.  A question lets other
// Python threads run while it waits and works, so that two threads with a
// context each do not wait for each other.  Nodes are never changed once they
// are made: reading them needs no lock.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "bindings/python/arguments.h"
#include "bindings/python/values.h"
#include "solver/solver.h"
#include "sym/pool_stores.h"

namespace proviso::python {

struct Pool {
  ExprPool pool;
  std::mutex lock;
  // Whether a name in a text must be a symbol's already; nullopt: in questions,
  // once a symbol was declared.
  std::optional<bool> is_strict = std::nullopt;
  std::atomic<bool> has_declared = false;
  uint64_t turns = 0;  // of calls that had the lock
  bool refuses_unknown_names(std::string_view call) const {
    const bool says_facts = call == "Context.assume" || call == "Context.expr";
    return is_strict.value_or(has_declared && !says_facts);
  }
  // What Context.set_log() was given, and lines that it has not got yet: they
  // are kept while the lock is held, for Python may not be called then.
  py::object log;
  std::vector<std::string> lines;
  std::atomic<bool> has_lines = false;
};
using PoolPtr = std::shared_ptr<Pool>;

inline py::object not_implemented() {
  return py::reinterpret_borrow<py::object>(Py_NotImplemented);
}

// work() with the pool to itself, for what takes microseconds.  Whoever has the
// lock lets go of it before it asks for the interpreter: waiting here ends.
template <typename Work>
auto briefly(Pool& pool, Work work) {
  const std::lock_guard<std::mutex> alone(pool.lock);
  ++pool.turns;
  return work();
}

// Gives the log its lines.
void deliver_log(Pool& pool);

// The same while other Python threads run.  work() must not touch Python.
template <typename Work>
auto at_length(Pool& pool, Work work) {
  const auto run = [&] {
    const py::gil_scoped_release others_run;
    const std::lock_guard<std::mutex> alone(pool.lock);
    ++pool.turns;
    return work();
  };
  if constexpr (std::is_void_v<decltype(work())>) {
    run();
    if (pool.has_lines) deliver_log(pool);
  } else {
    auto result = run();
    if (pool.has_lines) deliver_log(pool);
    return result;
  }
}

// work(), with the call in front of what its errors say.
template <typename Work>
auto on_behalf_of(const char* call, Work work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(std::string(call) + ": " + error.what());
  }
}

struct PyExpr {
  PoolPtr pool;  // owns the expression
  Expr e;
};

// What a call is given as expressions, in a pool: an Expr of any pool, text, a
// number, a truth value, or an object of SymPy.
//
//   Given given(pool, "Context.equivalent");
//   const Expr left = given(a), right = given(b);
//
// Where the call is refused before anything else has had the pool, what was
// made of what it was given is taken out again: a call that fails leaves no
// symbol behind.  A context that is asked about it has the pool, so that types
// are looked at before.
class Given {
 public:
  Given(const PoolPtr& pool, const char* call) : pool_(pool), call_(call) {}
  ~Given();
  Given(const Given&) = delete;
  Given& operator=(const Given&) = delete;

  Expr operator()(py::handle given);
  Expr condition(py::handle given);  // else an Error
  Expr integer(py::handle given);
  Expr make(Op op, std::span<const Expr> args);

 private:
  using Require = void (*)(Expr, const char* call);  // throws for another type
  Expr of_type(py::handle given, Require require);
  Expr parsed(const std::string& text);
  Expr of_sympy(py::handle given);
  // work() with the pool to itself.
  template <typename Work>
  Expr alone(Work work);

  const PoolPtr& pool_;
  const char* const call_;
  Require require_ = nullptr;
  const int errors_ = std::uncaught_exceptions();
  std::optional<internal::PoolStores::Mark> mark_;  // before the first
  uint64_t turn_ = 0;                               // of the last one
  bool is_lost_ = false;  // others had the pool in between
};

// The symbol of the pool that has this name, else a new one of the kind (the
// parser's for the name when there is none).
Expr symbol_of_name(Pool& pool, const std::string& name,
                    const std::optional<std::string>& kind, const char* call);
// The same by who has the lock.
Expr symbol_in(ExprPool& pool, const std::string& name,
               const std::optional<std::string>& kind, const char* call);

// For pickle; from_rows() throws Error where rows() has not written them.
py::list rows(const PyExpr& self);
PyExpr from_rows(const py::object& all);

void bind_expr(py::module_& m);
void bind_context(py::module_& m);
void bind_explain(py::module_& m);
void bind_joint_checks(py::module_& m);
void bind_mirror(py::module_& m);

}  // namespace proviso::python
