// Sub-graphs of cond, map, while_loop and scan, driven by
// proviso/_control_flow.py.
#include "bindings/python/bindings.h"
#include "tracer_adapter/trace/sub_graph.h"

namespace proviso::python {
namespace {

Tracer& tracer() {
  Tracer* current = Tracer::current();
  TORCH_CHECK(current, "proviso: no trace is under way");
  return *current;
}

std::vector<c10::IValue> values_of(const py::sequence& items,
                                   const std::string& what) {
  std::vector<c10::IValue> result;
  for (size_t i = 0; i < items.size(); ++i)
    result.push_back(to_ivalue(items[i], what));
  return result;
}

HigherOrderArgument argument_of(const py::handle& item) {
  if (py::isinstance<SubGraph>(item)) return item.cast<SubGraph>();
  if (py::isinstance<py::list>(item))
    return values_of(item.cast<py::list>(), "an operand");
  return to_ivalue(item, "an operand");
}

void record(const std::string& name,
            const std::vector<std::string>& graph_names, const py::list& items,
            const py::sequence& outputs) {
  std::vector<HigherOrderArgument> args;
  for (const py::handle& item : items) args.push_back(argument_of(item));
  record_higher_order(tracer(), name, graph_names, args,
                      values_of(outputs, "an output"));
}

// Known to be the same number, without asking for a guard.
bool known_same(const c10::SymInt& a, const c10::SymInt& b) {
  ShapeEnv& env = tracer().env();
  return env.statically_known_true(eq(to_expr(env, a), to_expr(env, b)));
}

// True, False, or None where a run decides.
py::object known_bool(const c10::SymBool& value) {
  if (auto known = value.maybe_as_bool()) return py::bool_(*known);
  ShapeEnv& env = tracer().env();
  const Expr e = to_expr(env, value);
  if (env.statically_known_true(e)) return py::bool_(true);
  if (env.statically_known_false(e)) return py::bool_(false);
  return py::none();
}

}  // namespace

void bind_control_flow(py::module_& m) {
  py::class_<SubGraph>(m, "SubGraph")
      .def_property_readonly("outputs", [](const SubGraph& sub) {
        py::list result;
        for (const c10::IValue& value : sub.outputs)
          result.append(from_ivalue(value));
        return result;
      });
  m.def("begin_sub_graph",
        [](const std::string& what) { tracer().begin_sub_graph(what); });
  m.def("add_operand", [](const std::string& name, const at::Tensor& like) {
    return tracer().add_operand(name, like);
  });
  m.def("add_int_operand",
        [](const std::string& name) { return tracer().add_int_operand(name); });
  m.def("end_sub_graph", [](const py::sequence& outputs) {
    return tracer().end_sub_graph(values_of(outputs, "an output"));
  });
  m.def("abandon_sub_graph", [] { tracer().abandon_sub_graph(); });
  m.def("join_captures", [](const py::sequence& subs) {
    std::vector<SubGraph*> all;
    for (const py::handle& sub : subs) all.push_back(sub.cast<SubGraph*>());
    return join_captures(tracer(), all);
  });
  m.def("record_higher_order", &record);
  m.def("known_same", &known_same);
  m.def("known_bool", &known_bool);
  // A size that is known to be at least `min`: nothing has to check it.
  m.def("new_size", [](int64_t min) {
    ShapeEnv& env = tracer().env();
    const Expr u = env.create_unbacked_int(Interval::at_least(min));
    env.mark_size_like(u);
    return to_sym_int(env, u);
  });
  m.def("new_int", [] {
    ShapeEnv& env = tracer().env();
    return to_sym_int(env, env.create_unbacked_int());
  });
  m.def("new_fake",
        [](const at::Tensor& like, const std::vector<c10::SymInt>& sizes,
           const std::vector<c10::SymInt>& strides) {
          return make_fake(sizes, strides, like.scalar_type(), like.device());
        });
  m.def("new_contiguous_fake",
        [](const at::Tensor& like, const std::vector<c10::SymInt>& sizes) {
          return make_contiguous(sizes, like.scalar_type(), like.device());
        });
}

}  // namespace proviso::python
