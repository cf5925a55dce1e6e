// ExportedProgram and Module for proviso/_program.py, which adds pytrees.
#include <torch/csrc/autograd/python_variable.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <variant>

#include "bindings/python/bindings.h"
#include "guards/context_text.h"
#include "guards/explain.h"
#include "sym/print.h"
#include "tracer_adapter/decompositions.h"
#include "tracer_adapter/ir/sym_functions.h"
#include "tracer_adapter/pt2/guard_places.h"
#include "tracer_adapter/pt2/model_json.h"
#include "tracer_adapter/pt2/program_reader.h"
#include "tracer_adapter/pt2/quoted_texts.h"
#include "tracer_adapter/rerun/same_calls.h"
#include "tracer_adapter/run/arguments.h"
#include "tracer_adapter/run/checked_calls.h"
#include "tracer_adapter/trace/rule.h"

namespace proviso::python {
namespace {

py::list strings(const std::vector<Guard>& guards) {
  py::list result;
  for (const Guard& guard : guards) result.append(to_string(guard.condition));
  return result;
}

py::tuple location_tuple(const SourceLocation& where) {
  return py::make_tuple(where.file, where.line, where.code);
}

// {text: [(file, line, code)]}
py::dict place_dict(const pt2::GuardPlaces& places) {
  py::dict result;
  for (const auto& [text, origins] : places) {
    py::list locations;
    for (const SourceLocation& where : origins)
      locations.append(location_tuple(where));
    result[py::str(text)] = locations;
  }
  return result;
}

// [(condition, [(file, line, code)])]
py::list guard_list(const ExportedProgram& program) {
  py::list result;
  for (const Guard& guard : program.guards()) {
    py::list origins;
    for (const SourceLocation& where : guard.origins)
      origins.append(location_tuple(where));
    result.append(py::make_tuple(to_string(guard.condition), origins));
  }
  return result;
}

py::list assert_list(const ExportedProgram& program) {
  py::list result;
  for (const RuntimeAssert& a : program.runtime_asserts)
    result.append(py::make_tuple(to_string(a.condition), a.message,
                                 location_tuple(a.origin)));
  return result;
}

py::list event_list(const ExportedProgram& program) {
  py::list result;
  for (const ShapeEvent& event : program.env->events())
    result.append(py::make_tuple(
        event.kind, event.text, location_tuple(event.location), event.subject));
  return result;
}

py::list range_list(const ExportedProgram& program) {
  py::list result;
  for (const RangeConstraint& c : program.range_constraints)
    result.append(py::make_tuple(to_string(c.expr),
                                 to_python_int(c.range.lower()),
                                 to_python_int(c.range.upper())));
  return result;
}

// [(symbol, size, [source])]
py::list sizes_to_try(const ExportedProgram& program) {
  py::list result;
  for (const SizeToTry& one : proviso::sizes_to_try(program))
    result.append(
        py::make_tuple(one.symbol.symbol().name, one.size, one.sources));
  return result;
}

bool admit_size(ExportedProgram& program, const std::string& name, int size,
                const ExportedProgram& other) {
  for (const SizeToTry& one : proviso::sizes_to_try(program))
    if (one.symbol.symbol().name == name && one.size == size)
      return admit(program, one.symbol, size, other);
  return false;
}

py::list tensors(const std::vector<std::pair<std::string, at::Tensor>>& named) {
  py::list result;
  for (const auto& [name, tensor] : named)
    result.append(py::make_tuple(name, tensor));
  return result;
}

// The program with others in place of its tensors.
ExportedProgram with_tensors(const ExportedProgram& program,
                             NamedTensors state_dict, NamedTensors constants) {
  ExportedProgram result = program;
  result.state_dict = std::move(state_dict);
  result.constants = std::move(constants);
  return result;
}

std::string argument_name(const Graph& graph, const Argument& a) {
  if (const ValueRef* ref = a.get<ValueRef>()) return graph.value(ref->id).name;
  return graph.to_string(a);
}

// [(kind, name, target, persistent)]
py::list input_list(const ExportedProgram& program) {
  py::list result;
  for (const InputSpec& spec : program.graph.inputs)
    result.append(py::make_tuple(std::string(name_of(spec.kind)), spec.name,
                                 spec.target, spec.persistent));
  return result;
}

py::list output_list(const ExportedProgram& program) {
  py::list result;
  for (const OutputSpec& spec : program.graph.outputs)
    result.append(py::make_tuple(std::string(name_of(spec.kind)),
                                 argument_name(program.graph, spec.arg),
                                 spec.target));
  return result;
}

// (class of torch.export.graph_signature, name, value of a constant)
py::tuple describe(const Graph& graph, const Argument& a,
                   const std::string& name) {
  if (const ValueRef* ref = a.get<ValueRef>()) {
    const GraphValue& value = graph.value(ref->id);
    const char* kind = value.is_tensor()        ? "TensorArgument"
                       : value.expr().is_int()  ? "SymIntArgument"
                       : value.expr().is_bool() ? "SymBoolArgument"
                                                : "SymFloatArgument";
    return py::make_tuple(kind, value.name, py::none());
  }
  return py::make_tuple("ConstantArgument", name,
                        from_ivalue(proviso::to_ivalue(a)));
}

py::list input_arguments(const ExportedProgram& program) {
  py::list result;
  for (const InputSpec& spec : program.graph.inputs)
    result.append(describe(program.graph, spec.arg, spec.name));
  return result;
}

py::list output_arguments(const ExportedProgram& program) {
  py::list result;
  for (const OutputSpec& spec : program.graph.outputs)
    result.append(describe(program.graph, spec.arg, ""));
  return result;
}

// The targets in order, as in torch.export's graph: "aten.add.Tensor".  What
// runs in a no_grad or autocast block stands in the block's place.
void add_own_targets(const Graph& graph, py::list& result) {
  for (const Node& node : graph.nodes) {
    if (!is_mode_block(node)) {
      result.append(node.target);
      continue;
    }
    for (const Argument& a : node.args)
      if (const GraphArgument* body = a.get<GraphArgument>())
        add_own_targets(*body->graph, result);
  }
}

py::list node_targets(const ExportedProgram& program) {
  py::list result;
  add_own_targets(program.graph, result);
  return result;
}

// --- modules

py::list described(const Graph& graph, const std::vector<Argument>& values) {
  py::list result;
  for (const Argument& a : values) result.append(describe(graph, a, ""));
  return result;
}

// [(name, None or (inputs, outputs, in_spec, out_spec))]
py::list module_calls(const ExportedProgram& program) {
  py::list result;
  for (const ModuleCallEntry& entry : program.module_call_graph) {
    py::object signature = py::none();
    if (const auto& s = entry.signature)
      signature = py::make_tuple(described(program.graph, s->inputs),
                                 described(program.graph, s->outputs),
                                 s->in_spec, s->out_spec);
    result.append(py::make_tuple(entry.fqn, signature));
  }
  return result;
}

// The calls that were recorded, among all modules by name; then later calls.
void set_module_names(
    ExportedProgram& program, const std::vector<std::string>& names,
    const std::map<std::string, std::pair<std::string, std::string>>& specs) {
  std::vector<ModuleCallEntry> recorded =
      std::exchange(program.module_call_graph, {});
  for (ModuleCallEntry& entry : recorded)
    std::tie(entry.signature->in_spec, entry.signature->out_spec) =
        specs.at(entry.fqn);
  for (const std::string& name : names) {
    auto call = std::find_if(
        recorded.begin(), recorded.end(),
        [&](const ModuleCallEntry& entry) { return entry.fqn == name; });
    if (call == recorded.end()) {
      program.module_call_graph.push_back({name, std::nullopt});
      continue;
    }
    program.module_call_graph.push_back(std::move(*call));
    recorded.erase(call);
  }
  for (ModuleCallEntry& entry : recorded)
    program.module_call_graph.push_back(std::move(entry));
}

std::vector<c10::IValue> input_values(const py::sequence& inputs) {
  std::vector<c10::IValue> values;
  values.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    values.push_back(to_ivalue(inputs[i], "input " + std::to_string(i)));
  return values;
}

// nullopt when an input is something that pytree would open.
std::optional<std::vector<c10::IValue>> plain_values(const py::tuple& inputs) {
  std::vector<c10::IValue> values;
  values.reserve(inputs.size());
  for (const py::handle& input : inputs) {
    PyObject* object = input.ptr();
    if (THPVariable_Check(object))
      values.emplace_back(THPVariable_Unpack(object));
    else if (PyBool_Check(object))
      values.emplace_back(object == Py_True);
    else if (PyLong_CheckExact(object) || PyFloat_CheckExact(object) ||
             PyUnicode_CheckExact(object))
      values.push_back(to_ivalue(input, "an input"));
    else
      return std::nullopt;
  }
  return values;
}

// A module, and whether its calls are looked at: those of a program from a file
// that is not trusted are.
struct Callable {
  Module module;
  std::optional<pt2::AllowedOperators> looks_but_for;
};

// `but_for`: None where no call is looked at, or the names of operators at
// whose arguments nothing can look.
Callable callable_of(const ExportedProgram& program,
                     std::optional<std::vector<std::string>> but_for) {
  Callable result{program.module(), std::nullopt};
  if (but_for) result.looks_but_for.emplace(std::move(*but_for));
  return result;
}

py::list run_values(const Callable& callable, std::vector<c10::IValue> values,
                    bool checked) {
  const Module& module = callable.module;
  std::vector<c10::IValue> outputs;
  {
    const py::gil_scoped_release others_may_run;
    std::optional<CheckedCalls> looks;
    if (callable.looks_but_for) looks.emplace(*callable.looks_but_for);
    outputs = checked ? module.run(std::move(values))
                      : module.run_unchecked(std::move(values));
  }
  py::list result;
  for (const c10::IValue& value : outputs) result.append(from_ivalue(value));
  return result;
}

// Throws where what a node of this target computes of numbers does not fit in
// 64 bits, or is not defined; a target that is no function of numbers passes.
void check_numbers(const std::string& target, const py::sequence& numbers) {
  if (const SymFunction function = find_sym_function(target))
    function(input_values(numbers));
}

// Of a path, or of bytes that errors call `shown`.
pt2::ZipReader open_archive(const std::variant<py::bytes, std::string>& file,
                            const std::string& shown) {
  if (const auto* path = std::get_if<std::string>(&file))
    return pt2::ZipReader::open(*path);
  return {std::get<py::bytes>(file), shown};
}

py::list run(const Callable& callable, const py::sequence& inputs,
             bool checked) {
  return run_values(callable, input_values(inputs), checked);
}

}  // namespace

void bind_program(py::module_& m) {
  // [(operator, family)] of every shape rule.
  m.def("rules", [] {
    if (registered_rules().empty()) register_all_rules();
    py::list result;
    for (const RuleEntry& rule : registered_rules())
      result.append(py::make_tuple(rule.op, rule.family));
    return result;
  });
  m.def("check_numbers", &check_numbers);
  py::class_<pt2::ZipReader>(m, "Archive")
      .def(py::init(&open_archive))
      .def("names", &pt2::ZipReader::names)
      .def("record",
           [](const pt2::ZipReader& zip, const std::string& name) {
             const std::string_view bytes = zip.record(name);
             return py::bytes(bytes.data(), bytes.size());
           })
      .def("check_documents", &pt2::check_documents)
      // Throws what `proviso run` would say of it before it runs.
      .def("check_program", [](const pt2::ZipReader& zip,
                               const std::vector<std::string>& allowed) {
        const py::gil_scoped_release others_may_run;
        pt2::read_program(zip, pt2::AllowedOperators(allowed));
      });

  m.def("stands_in_quotes",
        [](const std::string& text) { return pt2::stands_in_quotes(text); });
  // Of the text of the record extra/proviso_guards.json.
  m.def("read_guard_places", [](const std::string& json) {
    return place_dict(pt2::read_guard_places(json));
  });

  py::class_<ExportedProgram>(m, "ExportedProgram")
      .def("__str__", &ExportedProgram::to_string)
      .def("signature_to_string", &ExportedProgram::signature_to_string)
      .def("signature_repr", &ExportedProgram::signature_repr)
      .def("range_constraints_to_string",
           &ExportedProgram::range_constraints_to_string)
      .def("guards_code", &ExportedProgram::guards_code)
      .def("conditions_code", &ExportedProgram::conditions_code)
      .def("specializes_zero_one",
           [](const ExportedProgram& p) {
             return p.env->options().specialize_zero_one;
           })
      .def("guards", &guard_list)
      .def("sizes_to_try", &sizes_to_try)
      .def("admit", &admit_size)
      .def("all_guards",
           [](const ExportedProgram& p) { return strings(p.env->guards()); })
      .def("explain_guard",
           [](const ExportedProgram& p, const std::string& condition) {
             for (const Guard& guard : p.guards())
               if (to_string(guard.condition) == condition)
                 return explain(*p.env, guard);
             TORCH_CHECK_VALUE(false,
                               "explain_guard: the program has no guard ",
                               condition, "; its guards are ep.guards");
           })
      .def("shapelog",
           [](const ExportedProgram& p) { return p.env->shapelog(); })
      .def("save_context",
           [](const ExportedProgram& p) {
             return save_context(p.env->context());
           })
      .def("runtime_asserts", &assert_list)
      .def("events", &event_list)
      .def("range_constraints", &range_list)
      .def("inputs", &input_list)
      .def("outputs", &output_list)
      .def("targets", &node_targets)
      .def("verify", &ExportedProgram::verify)
      .def("module_calls", &module_calls)
      .def("set_module_names", &set_module_names)
      .def("input_arguments", &input_arguments)
      .def("output_arguments", &output_arguments)
      .def("set_output",
           [](ExportedProgram& p, size_t i, int kind, std::string target) {
             OutputSpec& spec = p.graph.outputs.at(i);
             spec.kind = static_cast<OutputKind>(kind);
             spec.target = std::move(target);
           })
      .def("dialect", [](const ExportedProgram& p) { return p.dialect; })
      .def("name", [](const ExportedProgram& p) { return p.name; })
      .def("set_dialect",
           [](ExportedProgram& p, std::string dialect) {
             p.dialect = std::move(dialect);
           })
      .def("state_dict",
           [](const ExportedProgram& p) { return tensors(p.state_dict); })
      .def("constants",
           [](const ExportedProgram& p) { return tensors(p.constants); })
      .def("with_tensors", &with_tensors)
      .def("module", &callable_of, py::arg("looks_but_for") = py::none())
      .def("run_decompositions",
           [](const ExportedProgram& p) { return run_decompositions(p); })
      .def("set_name", [](ExportedProgram& p,
                          std::string name) { p.name = std::move(name); })
      .def("set_specs",
           [](ExportedProgram& p, std::string in_spec, std::string out_spec,
              std::vector<std::string> argument_names) {
             p.specs = {std::move(in_spec), std::move(out_spec),
                        std::move(argument_names)};
           })
      .def("set_sample_inputs",
           [](ExportedProgram& p, const py::bytes& bytes) {
             p.sample_inputs = bytes;
           })
      .def("guard_places",
           [](const ExportedProgram& p) {
             return place_dict(pt2::guard_places(p));
           })
      .def("symbolic_texts", &pt2::symbolic_texts)
      .def("save", [](const ExportedProgram& p, const std::string& path) {
        const py::gil_scoped_release others_may_run;
        p.save(path);
      });

  py::class_<Callable>(m, "Module")
      .def("check_plain",
           [](const Callable& callable, const py::tuple& inputs) {
             const auto values = plain_values(inputs);
             if (values) callable.module.check(*values);
             return values.has_value();
           })
      .def("run_plain",
           [](const Callable& callable, const py::tuple& inputs) -> py::object {
             auto values = plain_values(inputs);
             if (!values) return py::none();
             return run_values(callable, std::move(*values), true);
           })
      .def("check",
           [](const Callable& callable, const py::sequence& inputs) {
             callable.module.check(input_values(inputs));
           })
      .def("run", &run, py::arg("inputs"), py::arg("checked") = true);
}

}  // namespace proviso::python
