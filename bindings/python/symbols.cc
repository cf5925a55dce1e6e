// SymNode as Python's torch.SymInt, SymFloat and SymBool know it, and the two
// objects that torch.fx.experimental.symbolic_shapes reaches through it.
#include <torch/csrc/utils/python_symnode.h>

#include "bindings/python/arguments.h"
#include "bindings/python/bindings.h"
#include "sym/print.h"
#include "tracer_adapter/fake/float_ratio.h"

namespace proviso::python {
namespace {

using torch::impl::PythonSymNodeImpl;
using NodePtr = c10::intrusive_ptr<SymNode>;

// --- in and out of torch's wrapper

c10::SymNode wrap_for_python(c10::SymNode node) {
  const py::gil_scoped_acquire gil;
  return c10::make_intrusive<PythonSymNodeImpl>(py::cast(std::move(node)));
}

// The wrapper holds the Python object, which holds the node.
SymNode* unwrap_from_python(c10::SymNodeImpl* node) {
  auto* wrapper = dynamic_cast<PythonSymNodeImpl*>(node);
  if (wrapper == nullptr) return nullptr;
  const py::gil_scoped_acquire gil;
  const py::handle inner = wrapper->getPyObj();
  return py::isinstance<SymNode>(inner) ? inner.cast<SymNode*>() : nullptr;
}

// --- expressions

struct PyExpr {
  std::shared_ptr<ShapeEnv> env;  // owns the expression
  Expr e;
};

py::object value_to_python(const std::optional<Value>& value) {
  return value ? to_python(*value) : py::none();
}

py::set free_symbol_set(const PyExpr& self) {
  py::set result;
  for (Expr symbol : free_symbols(self.e))
    result.add(py::cast(PyExpr{self.env, symbol}));
  return result;
}

py::tuple argument_tuple(const PyExpr& self) {
  py::tuple result(self.e.arity());
  for (size_t i = 0; i < self.e.arity(); ++i)
    result[i] = PyExpr{self.env, self.e.arg(i)};
  return result;
}

void bind_expr(py::module_& m) {
  py::class_<PyExpr>(m, "Expr", "A symbolic expression: str() prints it.")
      .def("__str__", [](const PyExpr& s) { return to_string(s.e); })
      .def("__repr__", [](const PyExpr& s) { return to_string(s.e); })
      .def("__hash__", [](const PyExpr& s) { return s.e.id(); })
      .def("__eq__",
           [](const PyExpr& a, const py::object& b) {
             return py::isinstance<PyExpr>(b) && a.e == b.cast<PyExpr&>().e;
           })
      .def_property_readonly("free_symbols", &free_symbol_set)
      .def_property_readonly("args", &argument_tuple)
      .def_property_readonly("name",
                             [](const PyExpr& s) {
                               return s.e.is_symbol() ? s.e.symbol().name
                                                      : to_string(s.e);
                             })
      .def_property_readonly(
          "is_number",
          [](const PyExpr& s) { return s.e.is_constant() && !s.e.is_bool(); })
      .def_property_readonly(
          "is_Boolean",
          [](const PyExpr& s) { return s.e.is_constant() && s.e.is_bool(); })
      .def_property_readonly("is_Symbol",
                             [](const PyExpr& s) { return s.e.is_symbol(); });
}

// --- the environment

struct PyBounds {
  Interval interval;
};

py::object evaluate_static(const std::shared_ptr<ShapeEnv>& env, Expr e) {
  if (e.is_bool()) {
    if (env->statically_known_true(e)) return py::bool_(true);
    if (env->statically_known_false(e)) return py::bool_(false);
    return py::none();
  }
  return e.is_int() ? to_python_int(env->maybe_static_int(e)) : py::none();
}

py::object evaluate_node(const std::shared_ptr<ShapeEnv>& env, SymNode& node,
                         bool size_oblivious, const py::object& fallback) {
  const SourceLocation here = current_location();
  const Expr e = node.expr();
  if (e.is_int()) return to_python_int(env->guard_int(e, here));
  if (e.is_float()) return py::float_(env->guard_float(e, here));
  if (!fallback.is_none())
    return py::bool_(fallback.cast<bool>() ? env->guard_or_true(e, here)
                                           : env->guard_or_false(e, here));
  return py::bool_(size_oblivious ? env->guard_size_oblivious(e, here)
                                  : env->guard_bool(e, here));
}

void bind_env(py::module_& m) {
  py::class_<PyBounds>(m, "Bounds")
      .def_property_readonly(
          "lower",
          [](const PyBounds& b) { return to_python_int(b.interval.lower()); })
      .def_property_readonly(
          "upper",
          [](const PyBounds& b) { return to_python_int(b.interval.upper()); })
      .def("is_singleton",
           [](const PyBounds& b) { return b.interval.is_point(); })
      .def("__repr__",
           [](const PyBounds& b) { return "VR" + b.interval.to_string(); });

  using Env = std::shared_ptr<ShapeEnv>;
  py::class_<ShapeEnv, Env>(
      m, "ShapeEnv",
      "The symbols and facts of a trace, as torch's helpers ask them.")
      .def("evaluate_sym_node", &evaluate_node, py::arg("sym_node"),
           py::arg("size_oblivious") = false,
           py::arg("fallback_value") = py::none())
      .def(
          "_maybe_evaluate_static",
          [](const Env& env, const PyExpr& e, const py::kwargs&) {
            return evaluate_static(env, e.e);
          },
          py::arg("expr"))
      .def("bound_sympy",
           [](const Env& env, const PyExpr& e) {
             return PyBounds{env->bounds(e.e)};
           })
      .def("simplify",
           [](const Env& env, const PyExpr& e) {
             return PyExpr{env, env->simplify(e.e)};
           })
      .def("is_unbacked_symint",
           [](const Env&, const PyExpr& e) {
             return e.e.is_symbol() && is_unbacked(e.e.symbol().kind);
           })
      .def(
          "optimization_hint",
          [](const Env& env, const PyExpr& e, const py::object& fallback) {
            return to_python_int(
                fallback.is_none()
                    ? env->optimization_hint(e.e)
                    : env->optimization_hint(
                          e.e, int_of(fallback, "ShapeEnv.optimization_hint",
                                      "fallback")));
          },
          py::arg("expr"), py::arg("fallback") = py::none())
      .def("_constrain_range",
           [](const Env& env, const PyExpr& e, const py::object& min,
              const py::object& max) {
             env->constrain_range(e.e, to_bound(min), to_bound(max),
                                  current_location());
           })
      .def("_constrain_range_for_size",
           [](const Env& env, const PyExpr& e, const py::object& min,
              const py::object& max) {
             const Int lower = to_bound(min).value_or(Int(0));
             env->constrain_range(e.e, lower, to_bound(max),
                                  current_location());
             if (e.e.is_symbol()) env->mark_size_like(e.e);
           })
      .def("_constrain_is_bounded",
           [](const Env& env, const PyExpr& e, const py::object& max) {
             env->constrain_range(e.e, std::nullopt, to_bound(max),
                                  current_location());
           });
}

// --- nodes

std::string_view python_type(const SymNode& node) {
  const Expr e = node.expr();
  return e.is_int() ? "int" : e.is_bool() ? "bool" : "float";
}

c10::SymNode round_node(SymNode& self, const std::optional<int64_t>& digits) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      digits.value_or(0) >= 0, "Proviso: round(", self.str(), ", ", *digits,
      ") of a symbolic number is not supported; divide by a power of ten and "
      "round");
  if (self.is_int()) return self.clone();
  if (!digits) return self.apply(Op::kRoundToInt, {self.expr()});
  return self.apply(Op::kRoundDecimal,
                    {self.expr(), self.env().pool().integer(*digits)});
}

c10::SymNode sum_nodes(SymNode& self, const std::vector<c10::SymNode>& terms) {
  std::vector<Expr> values;
  for (const c10::SymNode& term : terms) values.push_back(self.operand(term));
  if (values.empty()) return self.wrap_int(0);
  return self.wrap(self.env().pool().make(Op::kAdd, values));
}

// x == floor(x)
c10::SymNode is_integer(SymNode& self) {
  ExprPool& pool = self.env().pool();
  const Expr e = self.expr();
  if (e.is_int()) return self.wrap_bool(true);
  const Expr floor = pool.make(Op::kFloorToInt, {e});
  return self.wrap(eq(pool.make(Op::kToFloat, {floor}), e));
}

// An integer of Python (or True), which may be more than 64 bits, or what int()
// of a condition of data stays, of which torch's (c > 3) + 1 makes an integer.
c10::SymNode wrap_integer(SymNode& self, const py::object& number) {
  if (torch::is_symint(number)) {
    const auto value = number.cast<c10::SymInt>();
    return self.wrap(to_expr(self.env(), value));
  }
  const auto value = number.cast<py::int_>();
  return self.wrap(self.env().pool().integer(
      int_of(value + py::int_(0), "SymNode.wrap_int", "value")));
}

template <Op op>
c10::SymNode binary(SymNode& self, const c10::SymNode& other) {
  return self.apply(op, {self.expr(), self.operand(other)});
}

template <Op op>
c10::SymNode unary_float(SymNode& self) {
  const c10::SymNode as_float =
      self.is_float() ? self.clone() : self.sym_float();
  return self.apply(op, {self.operand(as_float)});
}

// Whether a // b and a % b of floats are those of integers.
bool divides_in_parts(SymNode& a, const c10::SymNode& b) {
  return in_parts(a.expr(), a.operand(b)).has_value();
}

template <typename Class>
void bind_arithmetic(Class& c) {
  // torch binds these for every node; here their errors are ours.
  c.def("wrap_int", &wrap_integer)
      .def("truediv", &SymNode::truediv)
      .def("float_truediv", &SymNode::float_truediv)
      .def("int_truediv", &SymNode::int_truediv)
      .def("floordiv", &SymNode::floordiv)
      .def("int_floordiv", &SymNode::int_floordiv)
      .def("mod", &SymNode::mod)
      .def("divides_in_parts", &divides_in_parts)
      .def("pow", &SymNode::pow)
      .def("float_pow", &SymNode::float_pow);
  c.def("pos", &SymNode::clone)
      .def("abs", [](SymNode& s) { return s.apply(Op::kAbs, {s.expr()}); })
      .def("trunc",
           [](SymNode& s) {
             return s.is_int() ? s.clone()
                               : s.apply(Op::kTruncToInt, {s.expr()});
           })
      .def("round", &round_node, py::arg("ndigits") = py::none())
      .def("is_integer", &is_integer)
      .def("sym_sum", &sum_nodes)
      .def("sym_ite", &SymNode::sym_ite)
      .def("and_", &SymNode::sym_and)
      .def("or_", &SymNode::sym_or)
      .def("lshift", &binary<Op::kLShift>)
      .def("rshift", &binary<Op::kRShift>)
      .def("bitwise_and", &binary<Op::kBitAnd>)
      .def("bitwise_or", &binary<Op::kBitOr>)
      .def("bitwise_xor", &binary<Op::kBitXor>)
      .def("sym_sqrt", &unary_float<Op::kSqrt>)
      .def("sym_cos", &unary_float<Op::kCos>)
      .def("sym_cosh", &unary_float<Op::kCosh>)
      .def("sym_sin", &unary_float<Op::kSin>)
      .def("sym_sinh", &unary_float<Op::kSinh>)
      .def("sym_tan", &unary_float<Op::kTan>)
      .def("sym_tanh", &unary_float<Op::kTanh>)
      .def("sym_asin", &unary_float<Op::kAsin>)
      .def("sym_acos", &unary_float<Op::kAcos>)
      .def("sym_atan", &unary_float<Op::kAtan>)
      .def("sym_log2", &unary_float<Op::kLog2>);
}

template <typename Class>
void bind_questions(Class& c) {
  c.def("statically_known_true",
        [](SymNode& s, const std::string& file, int64_t line) {
          return s.statically_known_true(file.c_str(), line);
        })
      .def("statically_known_false",
           [](SymNode& s, const std::string&, int64_t) {
             return s.env().statically_known_false(s.expr());
           })
      .def("maybe_as_int", &SymNode::maybe_as_int)
      .def("maybe_as_bool", &SymNode::constant_bool)
      .def("maybe_as_float",
           [](SymNode& s) -> std::optional<double> {
             if (!s.expr().is(Op::kRational)) return std::nullopt;
             return s.expr().rational().to_double();
           })
      // torch's Python asks constants for their value and has no way to ask a
      // float for it.
      .def("is_constant",
           [](SymNode& s) { return !s.is_float() && s.is_constant(); })
      .def(
          "require_hint",
          [](SymNode& s, const py::object& fallback) {
            const auto hint = s.env().hint(s.expr());
            return hint || fallback.is_none() ? value_to_python(hint)
                                              : fallback;
          },
          py::arg("fallback") = py::none());
}

template <typename Class>
void bind_properties(Class& c) {
  const auto hint = [](SymNode& s) {
    return value_to_python(s.env().hint(s.expr()));
  };
  const auto expr = [](SymNode& s) { return PyExpr{s.shared_env(), s.expr()}; };
  c.def_property_readonly("expr", expr)
      .def_property_readonly("_expr", expr)
      .def_property_readonly("hint", hint)
      .def_property_readonly("_hint", hint)
      .def_property_readonly("constant", [](SymNode&) { return py::none(); })
      .def_property_readonly("shape_env",
                             [](SymNode& s) { return s.shared_env(); })
      .def_property_readonly("pytype", [](SymNode& s) -> py::object {
        return py::module_::import("builtins")
            .attr(std::string(python_type(s)).c_str());
      });
}

}  // namespace

// setattr would change the class of the class where `name` is __class__.
void set_in_class(const py::handle& cls, const char* name,
                  const py::object& value) {
  auto* type = reinterpret_cast<PyTypeObject*>(cls.ptr());
  const int status =
      value.is_none() ? PyDict_DelItemString(type->tp_dict, name)
                      : PyDict_SetItemString(type->tp_dict, name, value.ptr());
  PyType_Modified(type);
  if (status != 0) throw py::error_already_set();
}

void bind_symbols(py::module_& m) {
  // What instances of a class find under a name; None takes it out again.
  m.def("set_in_class", &set_in_class);
  bind_expr(m);
  bind_env(m);
  py::class_<SymNode, c10::SymNodeImpl, NodePtr> node(
      m, "SymNode", "What a torch.SymInt of a proviso trace holds.");
  bind_arithmetic(node);
  bind_questions(node);
  bind_properties(node);
  sym_node_hooks() = {&wrap_for_python, &unwrap_from_python};
}

}  // namespace proviso::python
