// The program runs again on fake tensors, under the Functionalize key of
// LibTorch: each tensor is a FunctionalTensorWrapper around a fake of ours, so
// that writes become values.  Decompositions run on the wrappers.
#include "tracer_adapter/decompositions.h"

#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/core/List.h>
#include <ATen/core/enum_tag.h>
#include <ATen/ops/_native_batch_norm_legit.h>
#include <ATen/ops/_native_batch_norm_legit_no_training.h>
#include <ATen/ops/alias.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/permute.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/where.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "tracer_adapter/rerun/replay.h"
#include "tracer_adapter/trace/interceptor.h"
#include "tracer_adapter/trace/tensors_in.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso::inline v0_2 {
namespace {

namespace functional = at::functionalization::impl;

bool functionalizing() {
  return !c10::impl::tls_is_dispatch_key_excluded(
      c10::DispatchKey::Functionalize);
}

template <typename Holds>
bool any_tensor(std::span<const c10::IValue> values, const Holds& holds) {
  bool found = false;
  for (const c10::IValue& value : values)
    for_each_tensor(value, [&](const at::Tensor& t) { found |= holds(t); });
  return found;
}

c10::IValue wrapped(const c10::IValue& value) {
  if (value.isTensor() && value.toTensor().defined() &&
      !functional::isFunctionalTensor(value.toTensor()))
    return functional::to_functional_tensor(value.toTensor());
  if (!value.isTensorList()) return value;
  c10::List<at::Tensor> list;
  for (const at::Tensor& t : value.toTensorList())
    list.push_back(functional::isFunctionalTensor(t)
                       ? t
                       : functional::to_functional_tensor(t));
  return list;
}

c10::IValue unwrapped(const c10::IValue& value) {
  if (!value.isTensor() || !value.toTensor().defined() ||
      !functional::isFunctionalTensor(value.toTensor()))
    return value;
  functional::sync(value.toTensor());
  return functional::from_functional_tensor(value.toTensor());
}

class Decomposer final : public Interceptor {
 public:
  Decomposer(Tracer& tracer, const DecompositionTable& table)
      : tracer_(tracer), table_(table) {}

  Wrapping wrapping() {
    const auto quietly = [this](auto change) {
      return [this, change](const c10::IValue& value) {
        const Layout layout(*this, true);
        return change(value);
      };
    };
    return {quietly(wrapped), quietly(unwrapped)};
  }

  bool intercept(const c10::OperatorHandle& op, c10::Stack* stack) override {
    if (std::exchange(pass_, false)) return false;
    const std::span<c10::IValue> args = arguments(op, stack);
    if (functionalizing()) {
      if (!decompose(op, stack)) functionalize(op, stack, args);
    } else if (any_tensor(args, is_meta_copy)) {
      const RecordingOff off(tracer_);
      pass(op, stack);
    } else if (!decompose(op, stack)) {
      const Layout layout(*this, false);
      pass(op, stack);
    }
    return true;
  }

 private:
  // What Functionalize asks of sizes is about the storage of wrappers, of which
  // the program knows nothing (see LayoutQuestions).
  class Layout {
   public:
    Layout(Decomposer& owner, bool on)
        : owner_(owner), before_(std::exchange(owner.layout_, on)) {
      owner_.tracer_.env().layout_questions(on);
    }
    ~Layout() {
      owner_.layout_ = before_;
      owner_.tracer_.env().layout_questions(before_);
    }
    Layout(const Layout&) = delete;
    Layout& operator=(const Layout&) = delete;

   private:
    Decomposer& owner_;
    const bool before_;
  };

  static std::span<c10::IValue> arguments(const c10::OperatorHandle& op,
                                          c10::Stack* stack) {
    return std::span(*stack).last(op.schema().arguments().size());
  }

  // Functionalize asks copies on meta whether sizes go together.
  static bool is_meta_copy(const at::Tensor& t) {
    return t.is_meta() && !is_fake(t);
  }

  // To the tracer.
  void pass(const c10::OperatorHandle& op, c10::Stack* stack) {
    pass_ = true;
    op.callBoxed(*stack);
  }

  void functionalize(const c10::OperatorHandle& op, c10::Stack* stack,
                     std::span<const c10::IValue> args) {
    const bool wrapped_inside = any_tensor(args, [](const at::Tensor& t) {
      return functional::isFunctionalTensor(t);
    });
    if (wrapped_inside) {
      const Layout layout(*this, true);
      op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::Functionalize),
                         stack);
      return;
    }
    // What makes a tensor: its result is wrapped from here on.
    {
      const c10::impl::ExcludeDispatchKeyGuard skip(
          c10::DispatchKey::Functionalize);
      pass(op, stack);
    }
    const Layout layout(*this, true);
    for (c10::IValue& value :
         std::span(*stack).last(op.schema().returns().size()))
      value = wrapped(value);
  }

  bool decompose(const c10::OperatorHandle& op, c10::Stack* stack) {
    auto row = table_.find(target_name(op));
    if (row != table_.end()) {
      const size_t count = op.schema().arguments().size();
      const DecompositionArgs args(stack->end() - count, stack->end());
      DecompositionArgs results = row->second(args);
      TORCH_CHECK_VALUE(results.size() == op.schema().returns().size(),
                        "run_decompositions: the decomposition of ", row->first,
                        " gives ", results.size(),
                        " results; the operator has ",
                        op.schema().returns().size());
      stack->erase(stack->end() - count, stack->end());
      stack->insert(stack->end(), results.begin(), results.end());
      return true;
    }
    if (op.hasTag(at::Tag::core) || is_query(op) || is_recurrent(op) ||
        !op.hasKernelForDispatchKey(
            c10::DispatchKey::CompositeImplicitAutograd))
      return false;
    op.callBoxedForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd,
                               *stack);
    return true;
  }

  // Their kernels loop over sizes as numbers; the operators stay as they are.
  static bool is_recurrent(const c10::OperatorHandle& op) {
    static constexpr std::array<std::string_view, 4> kLoops = {
        "aten::gru", "aten::lstm", "aten::rnn_relu", "aten::rnn_tanh"};
    return std::find(kLoops.begin(), kLoops.end(), op.schema().name()) !=
           kLoops.end();
  }

  static bool is_query(const c10::OperatorHandle& op) {
    return op.schema().name().starts_with("aten::sym_");
  }

  Tracer& tracer_;
  const DecompositionTable& table_;
  bool pass_ = false;  // the next call is our own
  bool layout_ = false;
};

// --- what nothing reads

bool has_effect(const Graph& graph, const Node& node) {
  if (node.kind != Node::Kind::kOperator) return true;
  if (node.op->schema().is_mutable() || node.outputs.empty() ||
      node.op->hasTag(at::Tag::nondeterministic_seeded))
    return true;
  bool reads = false;  // a symbol that other nodes may speak of
  for_each_output(node, [&](ValueId id) {
    const GraphValue& value = graph.value(id);
    if (!value.is_tensor()) return void(reads = true);
    for (Expr size : value.tensor().sizes)
      for (Expr symbol : free_symbols(size))
        reads |= is_unbacked(symbol.symbol().kind);
  });
  return reads;
}

// Functionalizing leaves views that nothing reads.
void drop_unread(Graph& graph, const std::vector<ValueId>& results) {
  std::vector<bool> read(graph.values.size(), false);
  for (ValueId id : results)
    if (id != kNoValue) read[id] = true;
  std::vector<Node> kept;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    bool wanted = has_effect(graph, *node);
    for_each_output(*node, [&](ValueId id) { wanted |= read[id]; });
    if (!wanted) continue;
    for (const Argument& a : node->args)
      for_each_reference(a, [&](ValueId id) { read[id] = true; });
    kept.push_back(std::move(*node));
  }
  graph.nodes.assign(std::make_move_iterator(kept.rbegin()),
                     std::make_move_iterator(kept.rend()));
}

// --- outputs

struct Mutation {
  OutputKind kind;
  size_t input;
};

// Buffers first, then inputs, as torch.export has them.
std::vector<Mutation> mutations(const ExportedProgram& program,
                                const std::vector<c10::IValue>& before,
                                const std::vector<c10::IValue>& after) {
  std::vector<Mutation> result;
  for (size_t i = 0; i < before.size(); ++i) {
    if (!before[i].isTensor() ||
        before[i].toTensor().is_same(after[i].toTensor()))
      continue;
    const InputSpec& input = program.graph.inputs[i];
    TORCH_CHECK(input.kind != InputKind::kConstantTensor,
                "run_decompositions: the program writes to its constant '",
                input.target,
                "', which has no place for a new value; register it as a "
                "buffer, or clone() it first");
    result.push_back(
        {input.kind == InputKind::kBuffer      ? OutputKind::kBufferMutation
         : input.kind == InputKind::kParameter ? OutputKind::kParameterMutation
                                               : OutputKind::kUserInputMutation,
         i});
  }
  std::stable_partition(result.begin(), result.end(), [](const Mutation& m) {
    return m.kind == OutputKind::kBufferMutation;
  });
  return result;
}

void name_mutations(ExportedProgram& program,
                    const std::vector<Mutation>& changed) {
  for (size_t i = 0; i < changed.size(); ++i) {
    const InputSpec& input = program.graph.inputs[changed[i].input];
    OutputSpec& output = program.graph.outputs[i];
    output.kind = changed[i].kind;
    output.target =
        input.kind == InputKind::kUserInput ? input.name : input.target;
  }
}

// What the program is called and how it nests; signatures of module calls name
// values that are no more.
void copy_around(const ExportedProgram& from, ExportedProgram& to) {
  to.name = from.name;
  to.specs = from.specs;
  to.sample_inputs = from.sample_inputs;
  to.dialect = "ATEN";
  for (const ModuleCallEntry& entry : from.module_call_graph)
    if (entry.fqn.find('@') == std::string::npos)
      to.module_call_graph.push_back({entry.fqn, std::nullopt});
}

}  // namespace

ExportedProgram run_decompositions(const ExportedProgram& program,
                                   const DecompositionTable& table) {
  const std::vector<at::Tensor> examples = blank_examples(program);
  Tracer tracer(program.env->options());
  tracer.hold_mode();  // no blocks: casts are operators
  std::vector<c10::IValue> before, inputs, outputs;
  {
    const functional::FunctionalizationReapplyViewsGuard views(true);
    Decomposer decomposer(tracer, table);
    const Wrapping wrapping = decomposer.wrapping();
    Replay replay(tracer, program, wrapping);
    before = replay.add_inputs(examples);
    for (const c10::IValue& value : before)
      inputs.push_back(wrapping.wrap(value));
    outputs = replay.run(inputs);
    for (c10::IValue& value : inputs) value = wrapping.unwrap(value);
    for (c10::IValue& value : outputs) value = wrapping.unwrap(value);
  }
  const std::vector<Mutation> changed = mutations(program, before, inputs);
  std::vector<c10::IValue> results;
  for (const Mutation& m : changed) results.push_back(inputs[m.input]);
  results.insert(results.end(), outputs.begin(), outputs.end());
  std::vector<ValueId> read;
  for (const c10::IValue& value : results)
    if (value.isTensor()) read.push_back(tracer.value_of(value.toTensor()));
  drop_unread(tracer.graph(), read);
  tracer.release_mode();
  ExportedProgram result = tracer.finish(results);
  name_mutations(result, changed);
  copy_around(program, result);
  return result;
}

// --- the table

namespace {

const at::Tensor& tensor(const DecompositionArgs& args, size_t i) {
  return args[i].toTensor();
}

// Of t() and its like: the dims in their new order.
at::Tensor swapped(const at::Tensor& t, int64_t a, int64_t b) {
  if (t.dim() == 0) return at::alias(t);
  std::vector<int64_t> order(t.dim());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[c10::maybe_wrap_dim(a, t.dim())],
            order[c10::maybe_wrap_dim(b, t.dim())]);
  return at::permute(t, order);
}

DecompositionArgs t(const DecompositionArgs& args) {
  const at::Tensor& x = tensor(args, 0);
  if (x.dim() < 2) return {at::alias(x)};
  return {swapped(x, 0, 1)};
}

DecompositionArgs transpose(const DecompositionArgs& args) {
  return {swapped(tensor(args, 0), args[1].toInt(), args[2].toInt())};
}

DecompositionArgs silu(const DecompositionArgs& args) {
  const at::Tensor& x = tensor(args, 0);
  return {at::mul(x, at::sigmoid(x))};
}

DecompositionArgs square(const DecompositionArgs& args) {
  return {at::pow(tensor(args, 0), 2)};
}

std::vector<c10::SymInt> sizes(const c10::IValue& value) {
  std::vector<c10::SymInt> result;
  for (const c10::IValue& size : value.toListRef())
    result.push_back(size.toSymInt());
  return result;
}

// dtype, layout, device and pin_memory, from argument `first` on.
at::TensorOptions options(const DecompositionArgs& args, size_t first) {
  return at::TensorOptions()
      .dtype(args[first].toOptional<at::ScalarType>())
      .layout(args[first + 1].toOptional<at::Layout>())
      .device(args[first + 2].toOptional<at::Device>())
      .pinned_memory(args[first + 3].toOptional<bool>());
}

// zeros and ones: the dtype is the default one, not the number's.
template <int number>
DecompositionArgs filled(const DecompositionArgs& args) {
  at::TensorOptions wanted = options(args, 1);
  if (!wanted.has_dtype()) wanted = wanted.dtype(at::get_default_dtype());
  return {at::full_symint(sizes(args[0]), number, wanted)};
}

template <int number>
DecompositionArgs filled_like(const DecompositionArgs& args) {
  return {at::full_like(tensor(args, 0), number, options(args, 1),
                        args[5].toOptional<at::MemoryFormat>())};
}

DecompositionArgs unsafe_view(const DecompositionArgs& args) {
  return {tensor(args, 0).view_symint(sizes(args[1]))};
}

// (input, weight, bias, running_mean, running_var, training, momentum, eps):
// the schema does not say that training writes to the running statistics.
DecompositionArgs native_batch_norm(const DecompositionArgs& args) {
  const auto optional = [&](size_t i) {
    return args[i].toOptional<at::Tensor>();
  };
  const at::Tensor& x = tensor(args, 0);
  const double momentum = args[6].toDouble(), eps = args[7].toDouble();
  const bool has_statistics = optional(3) && optional(3)->defined();
  if (!args[5].toBool()) {
    auto [y, mean, deviation] = at::_native_batch_norm_legit_no_training(
        x, optional(1), optional(2), tensor(args, 3), tensor(args, 4), momentum,
        eps);
    return {y, mean, deviation};
  }
  if (!has_statistics) {
    auto [y, mean, deviation] = at::_native_batch_norm_legit(
        x, optional(1), optional(2), true, momentum, eps);
    return {y, mean, deviation};
  }
  // LibTorch has no C++ function of it.
  static const c10::OperatorHandle op =
      c10::Dispatcher::singleton().findSchemaOrThrow(
          "aten::_native_batch_norm_legit_functional", "");
  c10::Stack results(args.begin(), args.end());
  op.callBoxed(results);
  tensor(args, 3).copy_(results[3].toTensor());
  tensor(args, 4).copy_(results[4].toTensor());
  results.resize(3);
  return results;
}

DecompositionArgs zero(const DecompositionArgs& args) {
  return {at::full_like(tensor(args, 0), 0)};
}

DecompositionArgs masked_fill(const DecompositionArgs& args) {
  const at::Tensor& x = tensor(args, 0);
  const at::Tensor value =
      at::full({}, args[2].toScalar(),
               at::TensorOptions(x.scalar_type()).device(x.device()));
  return {at::where(tensor(args, 1), value, x)};
}

DecompositionArgs sum(const DecompositionArgs& args) {
  return {at::sum(tensor(args, 0), at::IntArrayRef(), false,
                  args[1].toOptional<at::ScalarType>())};
}

DecompositionArgs detach(const DecompositionArgs& args) {
  return {at::alias(tensor(args, 0))};
}

}  // namespace

DecompositionTable default_decompositions() {
  return {{"aten._unsafe_view.default", unsafe_view},
          {"aten.detach.default", detach},
          {"aten.masked_fill.Scalar", masked_fill},
          {"aten.native_batch_norm.default", native_batch_norm},
          {"aten.ones.default", filled<1>},
          {"aten.ones_like.default", filled_like<1>},
          {"aten.silu.default", silu},
          {"aten.square.default", square},
          {"aten.sum.default", sum},
          {"aten.t.default", t},
          {"aten.transpose.int", transpose},
          {"aten.zero.default", zero},
          {"aten.zeros.default", filled<0>},
          {"aten.zeros_like.default", filled_like<0>}};
}

}  // namespace proviso::inline v0_2
