// bindings/python/bound_class.h - py::class_ for a class of ours.
//
//   bound_class<PyContext>(m, "Context").def(py::init<..>())..
//
// Two things that pybind11 leaves to memory are errors of Python here:
//   Context.__new__(Context).ask(..)   an object that no constructor made is a
//                                      null, or worse, to its methods
//   pickle.dumps(context, 0)           asks pybind11's base class for a copy,
//                                      which throws through C
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "sym/expr.h"

namespace proviso::python {

namespace py = pybind11;

template <typename T, typename... Extra>
py::class_<T> bound_class(py::handle scope, const char* name,
                          const Extra&... extra) {
  // With a __new__ of its own a class is its own base to copyreg, which then
  // says that it has no pickle.
  const auto own_new = [](PyHeapTypeObject* type) {
    type->ht_type.tp_new = [](PyTypeObject* of, PyObject*, PyObject*) {
      return py::detail::make_new_instance(of);
    };
  };
  py::class_<T> made(scope, name, py::custom_type_setup(own_new), extra...);
  static std::string called;
  called = name;
  // pybind11 calls this where a method finds no object.
  py::detail::get_type_info(typeid(T))->operator_new = [](size_t) -> void* {
    throw Error(called + ": made without its constructor; write " + called +
                "(..)");
  };
  return made;
}

}  // namespace proviso::python
