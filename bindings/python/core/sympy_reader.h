// bindings/python/core/sympy_reader.h - SymPy's objects as expressions, read as
// they are: no text between.
//
//   SymPyReader reader(pool);
//   std::optional<Expr> e = reader.read(object);   // FloorDiv(s0, 2) < u0
//
// An object is read once: what it means is remembered by its address, and the
// reader holds a reference, so that no other object can take the address.
// nullopt for what has no exact meaning here: floats, infinities, fractions,
// functions that are not in the table, symbols that are not integers or were
// not admitted.  It knows pybind11 and not torch.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sym/expr.h"

namespace proviso::python {

namespace py = pybind11;

// Says what SymPy's and torch's classes stand for: {class: name of the operator
// (sym/op.h), or "Gt", "Ge", "Piecewise", "Pair", "true", "false"}.  Called
// once, before the first reader is made.
void set_sympy_classes(const py::dict& classes);
// The class that stands for this operator; torch's where SymPy has one too.
py::object sympy_class(const std::string& name);

class SymPyReader {
 public:
  explicit SymPyReader(ExprPool& pool) : pool_(pool) {}
  ~SymPyReader();
  SymPyReader(const SymPyReader&) = delete;
  SymPyReader& operator=(const SymPyReader&) = delete;

  // Lets this symbol into expressions; nullopt when it is no integer symbol, or
  // another symbol has its name.
  std::optional<Expr> admit(PyObject* symbol);
  std::optional<Expr> read(PyObject* object);
  // From here on integer symbols are admitted, and powers open as products.
  void admit_all() { admits_all_ = true; }
  // Whether read() gave nullopt for a symbol whose name another one has.
  bool has_other_symbol() const;
  // The first object that was read as `e`, or null.
  PyObject* object_of(Expr e) const;
  // The object that was admitted under this name; null when there is none.
  PyObject* symbol_named(const std::string& name) const;
  // The class that stood in the way when read() last gave nullopt.
  const std::string& refused() const { return refused_; }
  size_t size() const { return held_.size(); }  // objects held

 private:
  std::optional<Expr> leaf(PyObject* object, const std::string& name);
  std::optional<Expr> make(PyObject* object, const std::string& name,
                           const std::vector<PyObject*>& args);
  std::optional<Expr> pieces(const std::vector<PyObject*>& args);
  std::optional<Expr> refuse(std::string what);
  Expr remember(PyObject* object, Expr e);

  ExprPool& pool_;
  std::unordered_map<PyObject*, Expr> memo_;
  std::unordered_map<Expr, PyObject*, ExprHash> objects_;  // first of each
  std::unordered_map<std::string, PyObject*> symbols_;     // admitted, by name
  std::vector<PyObject*> held_;
  std::string refused_;
  bool admits_all_ = false;
};

}  // namespace proviso::python
