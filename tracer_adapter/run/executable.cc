#include "tracer_adapter/run/executable.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "tracer_adapter/run/constants.h"
#include "tracer_adapter/run/step.h"

namespace proviso::inline v0_2 {

struct Executable::Constants {
  std::vector<bool> nodes;  // those that run once
  std::once_flag computed;
  // False when computing them failed: they run every time, and say why.
  bool usable = false;
  caffe2::TypeMeta default_dtype;
  // What other nodes read of their results.
  std::vector<std::pair<ValueId, at::Tensor>> values;
};

Executable::Executable(const Graph& graph) {
  for (const InputSpec& input : graph.inputs) {
    const ValueRef* ref = input.arg.get<ValueRef>();
    inputs_.push_back(ref ? ref->id : kNoOutput);
  }
  for (const Node& node : graph.nodes) steps_.push_back(plan_step(graph, node));
  for (const OutputSpec& output : graph.outputs) outputs_.push_back(output.arg);
  value_count_ = graph.values.size();
  find_uses(graph);
  std::vector<bool> constant = constant_nodes(graph);
  if (std::find(constant.begin(), constant.end(), true) != constant.end()) {
    constants_ = std::make_unique<Constants>();
    constants_->nodes = std::move(constant);
  }
}

Executable::Executable(Executable&&) noexcept = default;
Executable::~Executable() = default;

void Executable::find_uses(const Graph& graph) {
  std::vector<bool> read(graph.values.size(), false);
  for (const OutputSpec& output : graph.outputs)
    for_each_reference(output.arg, [&](ValueId id) { read[id] = true; });
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const auto note = [&](ValueId id) {
      if (!read[id]) steps_[i].dead.push_back(id);
      read[id] = true;
    };
    for_each_output(graph.nodes[i], note);
    for (const Argument& a : graph.nodes[i].args) {
      for_each_reference(a, note);
      for_each_reference(a, [&](ValueId id) { steps_[i].reads.push_back(id); });
    }
  }
}

void Executable::compute_constants() const {
  const c10::InferenceMode no_inference(false);  // its tensors stay in it
  const at::NoGradGuard no_grad;
  Constants& constants = *constants_;
  constants.default_dtype = c10::get_default_dtype();
  Slots slots(value_count_);
  std::vector<bool> made(value_count_, false);
  c10::Stack stack;
  try {
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (!constants.nodes[i]) {
        // Its arguments that were made here are read when it runs.
        for (ValueId id : steps_[i].reads) {
          if (!made[id]) continue;
          constants.values.emplace_back(id, slots[id].toTensor());
          made[id] = false;  // once is enough
        }
        continue;
      }
      run_step(steps_[i], slots, stack, Keep::kAll);
      for (const Node::Output& output : steps_[i].outputs)
        for (ValueId id : output.values)
          if (id != kNoOutput) made[id] = true;
    }
  } catch (const std::exception&) {
    constants.values.clear();
    return;
  }
  constants.usable = true;
}

// Null where they may not be used.
const Executable::Constants* Executable::constants() const {
  if (constants_ == nullptr || !runs_plainly()) return nullptr;
  std::call_once(constants_->computed, [this] { compute_constants(); });
  return constants_->usable &&
                 constants_->default_dtype == c10::get_default_dtype()
             ? constants_.get()
             : nullptr;
}

std::vector<c10::IValue> Executable::run(std::vector<c10::IValue> inputs,
                                         const StepHook& before) const {
  TORCH_INTERNAL_ASSERT(inputs.size() == inputs_.size(), "a graph of ",
                        inputs_.size(), " inputs got ", inputs.size());
  Slots slots(value_count_);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs_[i] != kNoOutput) slots[inputs_[i]] = std::move(inputs[i]);
  const Constants* known = constants();
  if (known != nullptr)
    for (const auto& [id, value] : known->values) slots[id] = value;
  c10::Stack stack;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (known != nullptr && known->nodes[i]) continue;
    if (before) {
      before(i);
      run_step(steps_[i], slots, stack);
      continue;
    }
    try {
      run_step(steps_[i], slots, stack);
    } catch (c10::Error& error) {
      error.add_context("in node " + std::to_string(i) + ", " +
                        steps_[i].target);
      throw;
    }
  }
  std::vector<c10::IValue> outputs;
  for (const Argument& output : outputs_) {
    const ValueRef* ref = output.get<ValueRef>();
    outputs.push_back(ref ? slots[ref->id] : to_ivalue(output));
  }
  return outputs;
}

}  // namespace proviso::inline v0_2
