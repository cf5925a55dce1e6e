// Session: a Tracer between its first input and finish(), driven by
// proviso/_trace.py; and the hooks by which the tracer asks Python.
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/jit/python/pybind_utils.h>
#include <torch/csrc/utils/python_symnode.h>

#include <map>

#include "bindings/python/arguments.h"
#include "bindings/python/bindings.h"
#include "guards/logs.h"
#include "guards/open_question.h"
#include "guards/source_text.h"
#include "tracer_adapter/fake/living_fakes.h"
#include "tracer_adapter/shape_functions/common.h"
#include "tracer_adapter/trace/torch_state.h"

namespace proviso::python {
namespace {

// --- hooks

// `x * s` arrives as a 0-dim tensor with the SymInt as a Python attribute.
c10::SymNode wrapped_number(const at::Tensor& t) {
  PyObject* object = t.unsafeGetTensorImpl()->pyobj_slot()->load_pyobj();
  if (object == nullptr) return {};
  const py::gil_scoped_acquire gil;
  const py::object number =
      py::getattr(py::handle(object), "_wrapped_number", py::none());
  const py::object node = py::getattr(number, "node", py::none());
  if (!py::isinstance<SymNode>(node)) return {};
  return c10::SymNode(node.cast<c10::intrusive_ptr<SymNode>>());
}

// (name, overload, args, kwargs) -> outputs, or NotImplemented.  Never
// destroyed: the interpreter may be gone first.
py::object& custom_op_function() {
  static auto* function = new py::object;
  return *function;
}

std::vector<c10::IValue> results_of(const c10::FunctionSchema& schema,
                                    const py::object& result) {
  const auto& returns = schema.returns();
  if (returns.empty()) return {};
  if (returns.size() == 1)
    return {torch::jit::toIValue(result, returns[0].type())};
  const py::tuple items = result;
  TORCH_CHECK(items.size() == returns.size(), "Proviso: the fake of ",
              schema.name(), " gave ", items.size(), " results, its schema ",
              "says ", returns.size());
  std::vector<c10::IValue> out;
  for (size_t i = 0; i < returns.size(); ++i)
    out.push_back(torch::jit::toIValue(items[i], returns[i].type()));
  return out;
}

std::optional<std::vector<c10::IValue>> custom_op(
    const c10::OperatorHandle& op, const std::vector<c10::IValue>& values) {
  const py::gil_scoped_acquire gil;
  if (!custom_op_function()) return std::nullopt;
  const c10::FunctionSchema& schema = op.schema();
  py::list args;
  py::dict kwargs;
  for (size_t i = 0; i < values.size(); ++i) {
    py::object value = torch::jit::toPyObject(values[i]);
    const c10::Argument& formal = schema.arguments()[i];
    if (formal.kwarg_only())
      kwargs[formal.name().c_str()] = value;
    else
      args.append(value);
  }
  const py::object result = custom_op_function()(
      schema.name(), schema.overload_name(), py::tuple(args), kwargs);
  if (result.ptr() == Py_NotImplemented) return std::nullopt;
  return results_of(schema, result);
}

Tracer& traced(const char* who) {
  Tracer* current = Tracer::current();
  TORCH_CHECK(current, who, ": no trace is under way on this thread");
  return *current;
}

// --- inputs

DimPolicy policy_of(const std::string& name) {
  if (name == "static") return DimPolicy::kStatic;
  if (name == "auto") return DimPolicy::kAuto;
  if (name == "dynamic") return DimPolicy::kDynamic;
  if (name == "unbacked") return DimPolicy::kUnbacked;
  TORCH_CHECK_VALUE(name == "named", "Session: unknown dim policy '", name,
                    "'; give static, auto, dynamic, unbacked or named");
  return DimPolicy::kNamed;
}

// (policy, name, min, max, None or (root, factor, offset))
DimConstraint constraint_of(const py::tuple& spec) {
  DimConstraint result{.policy = policy_of(spec[0].cast<std::string>()),
                       .name = spec[1].cast<std::string>(),
                       .min = to_bound(spec[2]),
                       .max = to_bound(spec[3])};
  if (!spec[4].is_none()) {
    const auto root = spec[4].cast<py::tuple>();
    result.root = RootDim{root[0].cast<std::string>(),
                          int_of(root[1], "Session", "a factor"),
                          int_of(root[2], "Session", "an offset")};
  }
  return result;
}

TensorDims dims_of(const py::sequence& specs) {
  TensorDims dims;
  for (const py::handle& item : specs)
    dims.push_back(constraint_of(item.cast<py::tuple>()));
  return dims;
}

c10::SymInt unbacked_size(Tracer& tracer, const py::object& min,
                          const py::object& max) {
  ShapeEnv& env = tracer.env();
  const Expr u = env.create_unbacked_int();
  env.constrain_range(u, to_bound(min).value_or(Int(0)), to_bound(max),
                      current_location());
  env.mark_size_like(u);
  return to_sym_int(env, u);
}

class Session {
 public:
  Session(bool prefer_deferred, bool specialize_zero_one, bool duck_shape,
          bool backed_size_oblivious, const py::dict& assumed_answers) {
    ShapeEnvOptions options;
    options.prefer_deferred_runtime_asserts_over_guards = prefer_deferred;
    options.specialize_zero_one = specialize_zero_one;
    options.duck_shape = duck_shape;
    options.backed_size_oblivious = backed_size_oblivious;
    std::map<std::string, Int> answers;
    for (const auto& [question, answer] : assumed_answers)
      answers.emplace(question.cast<std::string>(),
                      to_bound(answer).value_or(Int(0)));
    answers_ = std::make_unique<AssumedAnswers>(std::move(answers));
    state_ = std::make_unique<TorchState>();
    tracer_ = std::make_unique<Tracer>(options);
  }

  Tracer& tracer() {
    TORCH_CHECK_VALUE(tracer_, "Session: the trace has ended");
    return *tracer_;
  }
  void close() {
    tracer_.reset();
    state_.reset();
    answers_.reset();
  }

  at::Tensor add_input(const std::string& name, const at::Tensor& example,
                       const py::sequence& dims, const std::string& source) {
    return tracer().add_input(name, example, dims_of(dims), source);
  }
  // Text over sources and names: {"L['x'].size()[0]": size}.
  // place: (file, line, code) of the program that asked for it, or None.
  void require_code(const std::string& code, const py::dict& values,
                    const py::object& place) {
    const Expr condition = parsed(code, values);
    TORCH_CHECK_VALUE(condition.is_bool(), "'", code, "' is no condition");
    SourceLocation where;
    where.code = code;
    if (!place.is_none()) {
      const auto [file, line, text] =
          place.cast<std::tuple<std::string, int, std::string>>();
      where = {file, line, text};
    }
    ShapeEnv& env = tracer().env();
    if (env.hint(condition)) return env.require(condition, where);
    if (env.statically_known_true(condition)) return;
    TORCH_CHECK_VALUE(env.expect_true(condition, where, code), "'", code,
                      "' never holds");
  }
  c10::SymInt number_of_code(const std::string& code, const py::dict& values) {
    const Expr number = parsed(code, values);
    TORCH_CHECK_VALUE(number.is_int(), "'", code, "' is no integer");
    return to_sym_int(tracer().env(), number);
  }
  ExportedProgram finish(const py::sequence& outputs) {
    std::vector<c10::IValue> values;
    for (size_t i = 0; i < outputs.size(); ++i)
      values.push_back(to_ivalue(outputs[i], "output " + std::to_string(i)));
    return tracer().finish(values);
  }

 private:
  Expr parsed(const std::string& code, const py::dict& values) {
    ShapeEnv& env = tracer().env();
    SourceValues by_name;
    for (const auto& [name, value] : values)
      by_name.add(name.cast<std::string>(),
                  to_expr(env, value.cast<c10::SymInt>()));
    return parse_over(env.pool(), code, by_name);
  }

  std::unique_ptr<AssumedAnswers> answers_;
  std::unique_ptr<TorchState> state_;  // torch's modes before the trace
  std::unique_ptr<Tracer> tracer_;
};

}  // namespace

c10::IValue to_ivalue(py::handle value, const std::string& what) {
  PyObject* object = value.ptr();
  if (THPVariable_Check(object)) return THPVariable_Unpack(object);
  if (value.is_none()) return {};
  if (PyBool_Check(object)) return value.cast<bool>();
  if (PyLong_Check(object)) return value.cast<int64_t>();
  if (PyFloat_Check(object)) return value.cast<double>();
  if (PyUnicode_Check(object)) return value.cast<std::string>();
  if (torch::is_symint(value)) return value.cast<c10::SymInt>();
  if (torch::is_symfloat(value)) return value.cast<c10::SymFloat>();
  if (torch::is_symbool(value)) return value.cast<c10::SymBool>();
  TORCH_CHECK_TYPE(false, "proviso: ", what, " is of type ",
                   std::string(py::str(py::type::of(value))),
                   "; a program's inputs and outputs are tensors, ints, "
                   "floats, bools, strings, None and pytrees of them");
}

py::object from_ivalue(const c10::IValue& value) {
  return torch::jit::toPyObject(value);
}

Argument to_constant(py::handle value, const std::string& what) {
  const c10::IValue v = to_ivalue(value, what);
  if (v.isNone()) return {NoneArgument{}};
  if (v.isBool()) return {v.toBool()};
  if (v.isInt()) return {v.toInt()};
  if (v.isDouble()) return {v.toDouble()};
  TORCH_CHECK_TYPE(v.isString(), "proviso: ", what, " is no constant");
  return {v.toStringRef()};
}

// Logs are written under the GIL: the tracer runs under Python.
void bind_logs(py::module_& m) {
  m.def("set_logs", [](bool dynamic, std::string guard) {
    set_logs({.dynamic = dynamic, .guard = std::move(guard)});
  });
  m.def("logs", [] { return py::make_tuple(logs().dynamic, logs().guard); });
  // callback(kind, subject, text, (file, line, code)), or None
  m.def("set_log_callback", [](py::object callback) {
    if (callback.is_none()) return set_log_callback({});
    // Never destroyed: the interpreter may be gone first.
    auto* kept = new py::object(std::move(callback));
    set_log_callback([kept](const ShapeEvent& e) {
      const py::gil_scoped_acquire gil;
      (*kept)(
          e.kind, e.subject, e.text,
          py::make_tuple(e.location.file, e.location.line, e.location.code));
    });
  });
  m.def("set_log_stack", [](py::object stack) {
    auto* kept = new py::object(std::move(stack));
    set_log_stack([kept] {
      const py::gil_scoped_acquire gil;
      return (*kept)().cast<std::string>();
    });
  });
}

void bind_session(py::module_& m) {
  bind_logs(m);
  tracer_hooks() = {&custom_op, &wrapped_number, &current_python_stack};
  m.def("set_package_folders", &set_package_folders);
  m.def("set_custom_op_function", [](py::object function) {
    custom_op_function() = std::move(function);
  });
  m.def("enter_module", [](const std::string& name, const std::string& type) {
    traced("enter_module").enter_module(name, type);
  });
  m.def("exit_module", [] {
    if (Tracer* tracer = Tracer::current()) tracer->exit_module();
  });
  // [(name, type, number of the call)], outermost first; exit_module() ends it.
  using Frames = std::vector<std::tuple<std::string, std::string, int>>;
  m.def("set_modules", [](const Frames& frames) {
    std::vector<ModuleFrame> stack;
    for (const auto& [name, type, call] : frames)
      stack.push_back({name, type, call});
    traced("set_modules").set_modules(std::move(stack));
  });
  m.def("calls_of", [](const std::string& name) {
    return traced("calls_of").calls_of(name);
  });
  m.def("note_module_call",
        [](const std::string& call, bool outputs, const py::sequence& leaves) {
          std::vector<c10::IValue> values;
          for (const py::handle& leaf : leaves)
            values.push_back(to_ivalue(leaf, "a value of " + call));
          traced("note_module_call").note_module_call(call, outputs, values);
        });
  m.def("enter_autocast_block",
        [] { traced("enter_autocast_block").enter_autocast_block(); });
  m.def("exit_autocast_block", [] {
    if (Tracer* tracer = Tracer::current()) tracer->exit_autocast_block();
  });
  m.def("hold_mode", [] { traced("hold_mode").hold_mode(); });
  m.def("release_mode", [] {
    if (Tracer* tracer = Tracer::current()) tracer->release_mode();
  });
  m.def("same_value", [](const at::Tensor& a, const at::Tensor& b) {
    Tracer& tracer = traced("same_value");
    return a.is_same(b) || tracer.value_of(a) == tracer.value_of(b);
  });
  m.def("is_tracing", [] { return Tracer::current() != nullptr; });
  m.def("is_fake", [](const at::Tensor& t) { return is_fake(t); });
  m.def("is_written",
        [](const at::Tensor& t) { return traced("is_written").written(t); });
  m.def("share_memory", [](const at::Tensor& a, const at::Tensor& b) {
    return a.has_storage() && b.has_storage() &&
           a.storage().unsafeGetStorageImpl() ==
               b.storage().unsafeGetStorageImpl();
  });
  m.def("note_new_fakes", &note_new_fakes);
  m.def("take_living_fakes", &take_living_fakes);
  // A plain Python assert on data: the program checks it when it runs.
  m.def("assert_at_run_time", [](const c10::SymBool& condition,
                                 const std::string& message) {
    Tracer* tracer = Tracer::current();
    TORCH_CHECK(tracer, "assert_at_run_time: no trace is under way");
    ShapeEnv& env = tracer->env();
    env.runtime_assert(to_expr(env, condition), current_location(), message);
  });
  m.def("note_refusal", [](const std::string& error) {
    if (Tracer* tracer = Tracer::current()) tracer->note_refusal(error);
  });
  m.def("forget_refusal", [] {
    if (Tracer* tracer = Tracer::current()) tracer->forget_refusal();
  });
  m.def("keep_layout_answers", [] {
    Tracer* tracer = Tracer::current();
    if (tracer != nullptr)
      tracer->env().keep_layout_answers(current_location());
  });
  m.def("contiguity", [](const at::Tensor& t, at::MemoryFormat format) {
    const c10::SymBool found =
        contiguity(t.sym_sizes(), t.sym_strides(), format);
    const SymNode* node = as_sym_node(found.toSymNodeImplUnowned());
    return node ? to_sym_bool(node->env(), node->expr()) : found;
  });
  m.def("broadcast_sizes", [](const std::vector<c10::SymInt>& a,
                              const std::vector<c10::SymInt>& b) {
    traced("broadcast_sizes");
    return shapes::broadcast(a, b);
  });
  m.def("mark_size_like", [](const c10::SymInt& size) {
    Tracer* tracer = Tracer::current();
    if (!tracer || !size.is_heap_allocated()) return;
    const Expr e = to_expr(tracer->env(), size);
    if (e.is_symbol()) tracer->env().mark_size_like(e);
  });
  m.def(
      "new_dynamic_size",
      [](const py::object& min, const py::object& max) {
        Tracer* tracer = Tracer::current();
        TORCH_CHECK(tracer, "new_dynamic_size: no trace is under way");
        return unbacked_size(*tracer, min, max);
      },
      py::arg("min") = 0, py::arg("max") = py::none());

  py::class_<Session>(m, "Session",
                      "A trace under way.  Operators of this thread are "
                      "recorded, not executed, until close().")
      .def(py::init<bool, bool, bool, bool, const py::dict&>(),
           py::arg("prefer_deferred") = false,
           py::arg("specialize_zero_one") = true, py::arg("duck_shape") = false,
           py::arg("backed_size_oblivious") = false,
           py::arg("assumed_answers") = py::dict())
      .def("open_question",
           [](Session& s) { return open_question(s.tracer()); })
      .def("close", &Session::close)
      .def("shapelog", [](Session& s) { return s.tracer().env().shapelog(); })
      .def("finish", &Session::finish)
      .def("add_parameter",
           [](Session& s, const std::string& name, const at::Tensor& t) {
             s.tracer().add_parameter(name, t);
           })
      .def("add_buffer",
           [](Session& s, const std::string& name, const at::Tensor& t,
              bool persistent) { s.tracer().add_buffer(name, t, persistent); })
      .def("name_constant",
           [](Session& s, const std::string& name, const at::Tensor& t) {
             s.tracer().name_constant(name, t);
           })
      .def("add_input", &Session::add_input)
      .def("add_int_input",
           [](Session& s, const std::string& name, int64_t example,
              const std::string& source, const py::tuple& spec) {
             return s.tracer().add_int_input(name, example, source,
                                             constraint_of(spec));
           })
      .def("require",
           [](Session& s, const c10::SymBool& condition,
              const std::string& why) {
             ShapeEnv& env = s.tracer().env();
             SourceLocation where;
             where.code = why;
             env.require(to_expr(env, condition), where);
           })
      .def("require_code", &Session::require_code, py::arg("code"),
           py::arg("values"), py::arg("place") = py::none())
      .def("number_of_code", &Session::number_of_code)
      .def("add_constant_input",
           [](Session& s, const std::string& name, const py::object& value) {
             s.tracer().add_constant_input(name,
                                           to_constant(value, "input " + name));
           });
}

}  // namespace proviso::python
