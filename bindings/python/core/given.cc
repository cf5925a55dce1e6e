// Given: what calls of Python are given, in the pool of what was called.
#include <cstring>
#include <exception>

#include "bindings/python/core/core.h"
#include "solver/argument_types.h"
#include "sym/excerpt.h"
#include "sym/parse.h"
#include "sym/translate.h"

namespace proviso::python {

template <typename Work>
Expr Given::alone(Work work) {
  const std::lock_guard<std::mutex> lock(pool_->lock);
  if (!mark_)
    mark_ = internal::PoolStores::mark(pool_->pool);
  else if (turn_ != pool_->turns)
    is_lost_ = true;
  turn_ = ++pool_->turns;
  if (require_ == nullptr) return work(pool_->pool);
  // Before another thread has the pool.
  internal::PoolUndo undo(pool_->pool);
  const Expr e = work(pool_->pool);
  require_(e, call_);
  undo.keep();
  return e;
}

Expr Given::of_type(py::handle given, Require require) {
  require_ = require;
  const Expr e = (*this)(given);
  require_ = nullptr;
  require(e, call_);
  return e;
}

Given::~Given() {
  if (!mark_ || is_lost_ || std::uncaught_exceptions() == errors_) return;
  const std::lock_guard<std::mutex> lock(pool_->lock);
  if (turn_ == pool_->turns) internal::PoolStores::undo(pool_->pool, *mark_);
}

Expr Given::operator()(py::handle given) {
  if (py::isinstance<PyExpr>(given)) {
    const PyExpr& other = given.cast<PyExpr&>();
    if (other.pool == pool_) return other.e;
    return alone([&](ExprPool& pool) { return translate(other.e, pool); });
  }
  if (PyUnicode_Check(given.ptr()))
    return parsed(text_of(given, call_, "the text"));
  if (PyBool_Check(given.ptr())) {
    return alone(
        [&](ExprPool& pool) { return pool.boolean(given.ptr() == Py_True); });
  }
  if (const std::optional<Int> value = to_bound(given))
    return alone([&](ExprPool& pool) { return pool.integer(*value); });
  if (PyFloat_Check(given.ptr())) {
    if (const auto value = Rational::from_double(given.cast<double>()))
      return alone([&](ExprPool& pool) { return pool.rational(*value); });
  }
  return of_sympy(given);
}

Expr Given::parsed(const std::string& text) {
  ParseOptions options;
  if (pool_->refuses_unknown_names(call_))
    options.make_symbol = [](ExprPool&, std::string_view) { return Expr(); };
  const py::gil_scoped_release others_run;
  return alone([&](ExprPool& pool) {
    return on_behalf_of(call_, [&] { return parse(pool, text, options); });
  });
}

// Read in a pool of its own: the reader's objects outlive its errors.
Expr Given::of_sympy(py::handle given) {
  static auto* read =
      new py::object(py::module_::import("proviso._sympy").attr("expr_of"));
  const auto own = std::make_shared<Pool>();
  const py::object converted =
      (*read)(given, call_, symbol_maker(pool_, own, call_));
  if (!py::isinstance<PyExpr>(converted)) return (*this)(converted);
  const Expr e = converted.cast<PyExpr&>().e;
  return alone([&](ExprPool& pool) {
    internal::PoolUndo undo(pool);
    // In the order in which the reader met them.
    for (Expr s : own->pool.symbols()) internal::PoolStores::leaf_in(pool, s);
    const Expr here = translate(e, pool);
    undo.keep();
    return here;
  });
}

Expr Given::condition(py::handle given) {
  return of_type(given, [](Expr e, const char* called) {
    const char* const dot = std::strchr(called, '.');  // "Context.ask"
    internal::require_bool(e, dot == nullptr ? called : dot + 1);
  });
}

Expr Given::integer(py::handle given) {
  return of_type(given, [](Expr e, const char* call) {
    if (e.is_int()) return;
    throw Error(std::string(call) + ": expected an integer expression, got " +
                internal::described(e));
  });
}

Expr Given::make(Op op, std::span<const Expr> args) {
  return alone([&](ExprPool& pool) { return pool.make(op, args); });
}

}  // namespace proviso::python
