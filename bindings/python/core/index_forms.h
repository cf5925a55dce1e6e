// bindings/python/core/index_forms.h - Inductor's index expressions, opened.
//
//   forms = IndexForms()
//   forms.stride(64*x0 + x1, x0)               # 64
//   forms.exact_quotient(s0*s1 + s1, s0 + 1)   # s1
//
// Sums and products of integers are opened and collected; all else (FloorDiv,
// ModularIndexing, Identity, Min, ...) stands as it is, for Inductor matches
// these by their form.  What comes back is made of the objects that went in
// wherever they are there.
//
// NotImplemented for what is no integer, has no exact meaning here, or while
// another call is under way (SymPy's constructors may call back, and other
// threads may run in them).
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <vector>

#include "bindings/python/core/sympy_reader.h"
#include "sym/polynomial.h"

namespace proviso::python {

class IndexForms {
 public:
  IndexForms();
  ~IndexForms();

  // What `index` grows by when `variable` does by 1.
  py::object stride(py::handle index, py::handle variable);
  // base // divisor where the divisor divides the base as a polynomial, and
  // None where it does not.  The divisor is not 0.
  py::object exact_quotient(py::handle base, py::handle divisor);

 private:
  struct State;
  class Turn;

  std::optional<std::vector<Expr>> read(
      std::initializer_list<py::handle> objects);
  py::object write(const Polynomial& p);
  py::object write(Expr e);
  py::object compute(Expr e);

  std::unique_ptr<State> state_;
  bool busy_ = false;
};

void bind_index_forms(py::module_& m);

}  // namespace proviso::python
