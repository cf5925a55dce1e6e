// The programs of PyTorch's ExportDB, said in C++ over LibTorch.
//
//   example_exportdb                   every case, beside eager
//   example_exportdb scalar_output --json
//
// A case that C++ cannot say tells why.  `proviso db run` shows these results
// beside those of the Python programs.
#include <torch/torch.h>

#include <iostream>
#include <map>
#include <set>

#include "tracer_adapter/control_flow_ops.h"
#include "tracer_adapter/decompositions.h"
#include "tracer_adapter/export.h"

using at::Tensor;
using c10::SymInt;
using proviso::cond;
using proviso::Dim;
using proviso::TensorDims;
using proviso::Tensors;

namespace {

struct Case {
  const char* name;
  std::function<Tensors(Tensors)> program;
  std::vector<Tensors> inputs;  // the example first
  std::vector<TensorDims> dims = {};
  std::vector<proviso::OwnedTensor> parameters = {};
  std::vector<Tensors> refused = {};
};

Tensor f(std::initializer_list<int64_t> sizes) {
  return torch::randn(at::IntArrayRef(sizes));
}
Tensor i(int64_t value) { return torch::tensor(value); }

TensorDims all_static(size_t rank) { return TensorDims(rank, Dim::fixed()); }
TensorDims first_auto(size_t rank) {
  TensorDims dims = all_static(rank);
  dims[0] = Dim::automatic();
  return dims;
}

void check(const c10::SymBool& condition, const char* what) {
  TORCH_CHECK(condition.expect_true(__FILE__, __LINE__), what);
}

SymInt read(const Tensor& t) { return t.item().toSymInt(); }

// --- functions and classes

struct Copy : torch::autograd::Function<Copy> {
  static Tensor forward(torch::autograd::AutogradContext*, const Tensor& x) {
    return x.clone();
  }
  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext*, torch::autograd::variable_list grad) {
    return {grad[0] + 1};
  }
};

struct Cosine {
  Tensor compute(const Tensor& x) const { return x.cos(); }
  Tensors operator()(const Tensors& in) const { return {compute(in[0])}; }
};

struct Linear {
  static Tensor method(const Tensor& x) { return x + 1; }
  Tensor weight = torch::randn({2, 4}), bias = torch::randn({2});
  Tensors operator()(const Tensors& in) const {
    const Tensor x = at::linear(in[0], weight, bias);
    return {method(x) * Linear::method(x) * this->method(x)};
  }
};

struct AttributeMutation {
  Tensors list{torch::randn({3, 2}), torch::randn({3, 2})};
  Tensors operator()(const Tensors& in) {
    list = {torch::zeros({3, 2}), torch::zeros({3, 2})};
    return {in[0].sum() + list[0].sum()};
  }
};

template <typename Function>
auto plus_one(Function function) {
  return [function](Tensors in) { return Tensors{function(in)[0] + 1}; };
}

enum class Animal { kCow, kPig };

Tensors constrain_as_size(Tensors in) {
  const SymInt a = read(in[0]);
  check(a.sym_ge(0), "a >= 0");
  check(a.sym_le(5), "a <= 5");
  return {at::zeros_symint({a, SymInt(5)}, at::kFloat)};
}

Tensors constrain_as_value(Tensors in) {
  const SymInt a = read(in[0]);
  check(a.sym_ge(0), "a >= 0");
  check(a.sym_le(5), "a <= 5");
  if (a < 6) return {in[1].sin()};
  return {in[1].cos()};
}

Tensors shape_assert(Tensors in) {
  TORCH_CHECK(in[0].sym_size(0) > 2, in[0].sym_size(0), " is greater than 2");
  TORCH_CHECK(in[0].sym_size(0) > 1);
  return in;
}

// round() to even of half a size, in integers.
SymInt rounded_half(const SymInt& n) {
  const SymInt half = n / 2;
  return half + (n % 2) * (half % 2);
}

Tensors static_for(Tensors in) {
  Tensors out;
  for (int k = 0; k < 10; ++k) out.push_back(in[0] + k);
  return out;
}

std::vector<Case> cases() {
  const Tensor three = f({3, 2});
  const auto linear = std::make_shared<Linear>();
  const auto attribute = std::make_shared<AttributeMutation>();
  const Tensor fallback = torch::linspace(-1, 1, 6).reshape({2, 3});
  const auto optional_input = [fallback](Tensors in,
                                         std::optional<Tensor> y) -> Tensors {
    return {y ? in[0] + *y : in[0]};
  };
  return {
      {"assume_constant_result",
       [](Tensors in) -> Tensors {
         return {in[0].slice_symint(0, 0, read(in[1].to(at::kInt)))};
       },
       {{three, i(4)}, {three, i(1)}, {three, i(0)}},
       {all_static(2), {}}},
      {"autograd_function",
       [](Tensors in) -> Tensors { return {Copy::apply(in[0])}; },
       {{three}},
       {all_static(2)}},
      {"class_method",
       [linear](Tensors in) { return (*linear)(in); },
       {{f({3, 4})}},
       {all_static(2)},
       {{"linear.weight", linear->weight}, {"linear.bias", linear->bias}}},
      {"cond_branch_class_method",
       [](Tensors in) {
         return cond(
             in[0].sym_size(0).sym_le(2), Cosine(),
             [](Tensors x) -> Tensors { return {x[0].sin()}; }, in);
       },
       {{f({3})}, {f({2})}, {f({1})}},
       {first_auto(1)}},
      {"cond_branch_nested_function",
       [](Tensors in) {
         return cond(
             in[0].sym_size(0).sym_lt(10),
             [](Tensors x) -> Tensors {
               const auto doubled = [&](Tensor y) { return x[0] + y; };
               return {doubled(x[0])};
             },
             [](Tensors x) -> Tensors {
               const auto nothing = [&](Tensor y) { return x[0] - y; };
               return {nothing(x[0])};
             },
             in);
       },
       {{f({3})}, {f({12})}},
       {first_auto(1)}},
      {"cond_branch_nonlocal_variables",
       [](Tensors in) {
         const Tensor shifted = in[0] + 100;
         return cond(
             in[0].sym_size(0).sym_gt(5),
             [](Tensors x) -> Tensors { return {x[0] + x[1] + x[2]}; },
             [](Tensors x) -> Tensors { return {x[0] - x[1] - x[2]}; },
             {in[0], shifted, at::scalar_tensor(3.14, at::kFloat)});
       },
       {{f({6})}, {f({4})}},
       {first_auto(1)}},
      {"cond_closed_over_variable",
       [](Tensors in) {
         const Tensor x = in[1];
         return cond(
             in[0], [x](Tensors) -> Tensors { return {x * 2}; },
             [x](Tensors) -> Tensors { return {x - 2}; }, {x + 1});
       },
       {{torch::tensor(true), three}, {torch::tensor(false), three}},
       {{}, all_static(2)}},
      {"cond_operands",
       [](Tensors in) {
         return cond(
             in[0].sym_size(0).sym_gt(2),
             [](Tensors x) -> Tensors { return {x[0] + x[1]}; },
             [](Tensors x) -> Tensors { return {x[0] - x[1]}; }, in);
       },
       {{three, f({2})}, {f({2, 2}), f({2})}, {f({0, 2}), f({2})}},
       {{Dim::named("dim0_x"), Dim::fixed()}, all_static(1)}},
      {"cond_predicate",
       [](Tensors in) {
         const c10::SymBool deep = in[0].dim() > 2;
         return cond(
             deep.sym_and(in[0].sym_size(2).sym_gt(10)),
             [](Tensors x) -> Tensors { return {x[0].cos()}; },
             [](Tensors x) -> Tensors { return {x[0].sin()}; }, in);
       },
       {{f({6, 4, 3})}},
       {all_static(3)}},
      {"constrain_as_size_example",
       constrain_as_size,
       {{i(4)}, {i(5)}, {i(0)}},
       {},
       {},
       {{i(6)}, {i(-1)}}},
      {"constrain_as_value_example",
       constrain_as_value,
       {{i(4), f({5, 5})}, {i(0), f({5, 5})}},
       {{}, all_static(2)},
       {},
       {{i(6), f({5, 5})}}},
      {"decorator",
       plus_one([](Tensors in) -> Tensors { return {in[0] + in[1]}; }),
       {{three, f({3, 2})}},
       {all_static(2), all_static(2)}},
      {"dictionary",
       [](Tensors in) -> Tensors {
         std::map<std::string, Tensor> elements;
         elements["x2"] = in[0] * in[0];
         return {in[1] * elements["x2"]};
       },
       {{three, i(4)}, {three, i(-7)}},
       {all_static(2), {}}},
      {"dynamic_shape_assert", shape_assert, {{three}}, {all_static(2)}},
      {"dynamic_shape_constructor",
       [](Tensors in) -> Tensors {
         return {at::zeros_symint({in[0].sym_size(0) * 2}, at::kFloat)};
       },
       {{three}, {f({5, 2})}, {f({1, 2})}, {f({0, 2})}},
       {first_auto(2)}},
      {"dynamic_shape_if_guard",
       [](Tensors in) -> Tensors {
         if (in[0].sym_size(0) == 3) return {in[0].cos()};
         return {in[0].sin()};
       },
       {{f({3, 2, 2})}},
       {first_auto(3)},
       {},
       {{f({4, 2, 2})}}},
      {"dynamic_shape_map",
       [](Tensors in) {
         return proviso::map([](Tensors x) -> Tensors { return {x[0] + x[1]}; },
                             {in[0]}, {in[1]});
       },
       {{three, f({2})}, {f({5, 2}), f({2})}},
       {first_auto(2), all_static(1)}},
      {"dynamic_shape_round",
       [](Tensors in) -> Tensors {
         return {in[0].slice_symint(0, 0, rounded_half(in[0].sym_size(0)))};
       },
       {{three}, {f({2, 2})}, {f({5, 2})}, {f({7, 2})}, {f({9, 2})}},
       {{Dim::named("dim0_x"), Dim::fixed()}}},
      {"dynamic_shape_slicing",
       [](Tensors in) -> Tensors {
         const Tensor& x = in[0];
         return {x.slice_symint(0, 0, x.sym_size(0) - 2)
                     .slice_symint(1, x.sym_size(1) - 1, std::nullopt, 2)};
       },
       {{three}, {f({5, 4})}},
       {{Dim::automatic(), Dim::automatic()}}},
      {"dynamic_shape_view",
       [](Tensors in) -> Tensors {
         std::vector<SymInt> shape{in[0].sym_size(0), 2, 5};
         return {in[0].view_symint(shape).permute({0, 2, 1})};
       },
       {{f({10, 10})}, {f({4, 10})}, {f({1, 10})}},
       {first_auto(2)}},
      {"list_contains",
       [](Tensors in) -> Tensors {
         const std::set<int64_t> last{6, 2}, first{4, 5, 6};
         TORCH_CHECK(
             last.contains(in[0].sym_size(-1).guard_int(__FILE__, __LINE__)));
         TORCH_CHECK(
             !first.contains(in[0].sym_size(0).guard_int(__FILE__, __LINE__)));
         return {in[0] + in[0]};
       },
       {{three}},
       {all_static(2)}},
      {"list_unpack",
       [](Tensors in) -> Tensors {
         const Tensor x = in.front();
         const Tensors rest(in.begin() + 1, in.end());
         return {x + rest[0]};
       },
       {{three, i(4), i(5)}},
       {all_static(2), {}, {}}},
      {"model_attr_mutation",
       [attribute](Tensors in) { return (*attribute)(in); },
       {{three}},
       {all_static(2)}},
      {"nested_function",
       [](Tensors in) -> Tensors {
         Tensor x = in[0] + in[1];
         const Tensor z = in[0] - in[1];
         const auto closure = [&](Tensor y) {
           x += 1;
           return x * y + z;
         };
         return {closure(x)};
       },
       {{three, f({2})}},
       {all_static(2), all_static(1)}},
      {"null_context_manager",
       [](Tensors in) -> Tensors {
         const struct Nothing {
         } guard;
         (void)guard;
         return {in[0].sin() + in[0].cos()};
       },
       {{three}},
       {all_static(2)}},
      {"optional_input",
       [optional_input, fallback](Tensors in) {
         return optional_input(in, fallback);
       },
       {{f({2, 3})}},
       {all_static(2)}},
      {"scalar_output",
       [](Tensors in) -> Tensors {
         // A list of tensors comes back: the number as a tensor.
         return {
             at::scalar_tensor(at::Scalar(in[0].sym_size(1) + 1), at::kLong)};
       },
       {{three}, {f({3, 5})}, {f({3, 0})}},
       {{Dim::fixed(), Dim::named("dim1_x")}}},
      {"specialized_attribute",
       [animal = Animal::kCow, b = 4](Tensors in) -> Tensors {
         TORCH_CHECK(animal == Animal::kCow, "bad");
         return {in[0] * in[0] + b};
       },
       {{three}},
       {all_static(2)}},
      {"static_for_loop", static_for, {{three}}, {all_static(2)}},
      {"static_if",
       [](Tensors in) -> Tensors {
         if (in[0].dim() == 3) return {in[0] + torch::ones({1, 1, 1})};
         return in;
       },
       {{f({3, 2, 2})}},
       {all_static(3)}},
      {"unsupported_operator",
       [](Tensors in) -> Tensors {
         return {in[0].sum() + at::Scalar(in[0].sym_size(0).min(100))};
       },
       {{three}, {f({99, 2})}, {f({101, 2})}, {f({1, 2})}},
       {first_auto(2)}},
      {"user_input_mutation",
       [](Tensors in) -> Tensors {
         in[0].mul_(2);
         return {in[0].cos()};
       },
       {{three}},
       {all_static(2)}},
  };
}

const std::map<std::string, std::string> kNotInCpp = {
    {"fn_with_kwargs", "C++ has no keyword arguments and no **kwargs"},
    {"pytree_flatten",
     "pytrees are Python objects; a C++ program takes a list of tensors"},
    {"tensor_setattr", "a C++ tensor takes no new attributes"},
    {"type_reflection_method",
     "C++ has no type() that calls methods of a class found at run time"}};

Tensors copies(const Tensors& tensors) {
  Tensors result;
  for (const Tensor& t : tensors) result.push_back(t.clone());
  return result;
}

bool same(const Tensors& a, const Tensors& b) {
  if (a.size() != b.size()) return false;
  for (size_t k = 0; k < a.size(); ++k)
    if (a[k].sizes() != b[k].sizes() || a[k].dtype() != b[k].dtype() ||
        !torch::allclose(a[k], b[k]))
      return false;
  return true;
}

// Empty when all is well.
std::string difference(const Case& c, const proviso::Module& run) {
  for (const Tensors& input : c.inputs) {
    Tensors ours = copies(input), theirs = copies(input);
    const Tensors actual = run(ours), expected = c.program(theirs);
    if (!same(actual, expected) || !same(ours, theirs))
      return "differs from eager";
  }
  for (const Tensors& bad : c.refused) {
    bool refused = false;
    try {
      run(copies(bad));
    } catch (const c10::Error&) {
      refused = true;
    }
    if (!refused) return "accepts an input that it must refuse";
  }
  return "";
}

// The program as it was traced, and decomposed.
std::string difference(const Case& c, bool print) {
  try {
    proviso::ExportOptions options;
    options.dynamic_shapes = c.dims;
    const auto program = proviso::export_program(c.program, c.parameters, {},
                                                 copies(c.inputs[0]), options);
    if (print) std::cout << program.to_string();
    if (std::string found = difference(c, program.module()); !found.empty())
      return found;
    const auto core = proviso::run_decompositions(program);
    core.verify("functional");
    if (std::string found = difference(c, core.module()); !found.empty())
      return "decomposed, it " + found;
  } catch (const std::exception& error) {
    return std::string(error.what()).substr(0, 400);
  }
  return "";
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out + "\"";
}

std::string entry(const std::string& name, const std::string& rest) {
  return quoted(name) + ": {" + rest + "}";
}

}  // namespace

int main(int argc, char** argv) {
  std::set<std::string> wanted(argv + 1, argv + argc);
  const bool json = wanted.erase("--json") > 0;
  const auto is_wanted = [&](const std::string& name) {
    return wanted.empty() || wanted.contains(name);
  };
  torch::manual_seed(0);
  std::string object;
  int failed = 0;
  const auto add = [&](const std::string& text) {
    object += (object.empty() ? "" : ", ") + text;
  };
  for (const Case& c : cases()) {
    if (!is_wanted(c.name)) continue;
    std::cout << "=== " << c.name << "\n";
    const std::string problem = difference(c, true);
    failed += !problem.empty();
    std::cout << (problem.empty() ? "equal to eager" : problem) << "\n\n";
    add(entry(c.name, std::string("\"ok\": ") +
                          (problem.empty() ? "true" : "false") +
                          ", \"error\": " + quoted(problem)));
  }
  for (const auto& [name, why] : kNotInCpp) {
    if (!is_wanted(name)) continue;
    std::cout << "=== " << name << "\nnot in C++: " << why << "\n\n";
    add(entry(name, "\"why_not\": " + quoted(why)));
  }
  if (json) std::cout << "{" << object << "}\n";
  return failed ? 1 : 0;
}
