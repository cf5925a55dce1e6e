#include "tracer_adapter/run/control_flow.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>

#include <optional>
#include <unordered_map>

#include "tracer_adapter/trace/autocast_scope.h"
#include "tracer_adapter/trace/open_control_flow.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso::inline v0_2 {
namespace {

using Values = std::vector<c10::IValue>;

bool truth(const c10::IValue& value) {
  if (value.isTensor()) return value.toTensor().item().toBool();
  if (value.isSymBool())
    return value.toSymBool().guard_bool(__FILE__, __LINE__);
  return value.isBool() ? value.toBool() : value.toInt() != 0;
}

// On fakes a step says nothing new: there, loops stay short.
void check_traced_steps(int64_t steps, const char* name) {
  constexpr int64_t kMost = 1000;
  TORCH_CHECK_NOT_IMPLEMENTED(steps < kMost || Tracer::current() == nullptr,
                              name, ": ", kMost,
                              " steps or more are not traced");
}

Values joined(Values a, const Values& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Of fakes and of sizes that may vary: no answer.
bool is_open(const c10::IValue& predicate) {
  if (predicate.isTensor()) return is_fake(predicate.toTensor());
  return predicate.isSymBool() &&
         !predicate.toSymBool().maybe_as_bool().has_value();
}

Values cond(const ControlFlowCall& call) {
  if (is_open(call.predicate)) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        runs_on_fakes(),
        "cond: a program that is recorded takes neither branch of another; "
        "export the program that holds the cond again, by replay()");
    return open_cond(call);
  }
  return call.graphs[truth(call.predicate) ? 0 : 1].run(call.lists.at(0));
}

Values while_loop(const ControlFlowCall& call) {
  if (runs_on_fakes()) return open_while_loop(call);
  std::optional<LoopSteps> own;
  if (LoopSteps::current() == nullptr) own.emplace();
  Values carried = call.lists.at(0);
  const Values& others = call.lists.at(1);
  for (int64_t step = 0;
       truth(call.graphs[0].run(joined(carried, others)).at(0)); ++step) {
    check_traced_steps(step, "while_loop");
    LoopSteps::current()->take();
    carried = call.graphs[1].run(joined(carried, others));
  }
  return carried;
}

int64_t steps_of(const Values& xs, const char* name) {
  const int64_t steps = xs.at(0).toTensor().size(0);
  for (const c10::IValue& x : xs)
    TORCH_CHECK(x.toTensor().size(0) == steps, name,
                ": leading dimensions of xs must be consistent, got ", steps,
                " and ", x.toTensor().size(0));
  TORCH_CHECK(steps > 0, name, ": leading dimensions of xs cannot be 0");
  check_traced_steps(steps, name);
  return steps;
}

Values row(const Values& xs, int64_t i) {
  Values result;
  for (const c10::IValue& x : xs)
    result.emplace_back(x.toTensor().select(0, i));
  return result;
}

// One list an output, to be stacked.
using Columns = std::vector<std::vector<at::Tensor>>;

void append_row(Columns& columns, const Values& values, size_t from) {
  columns.resize(values.size() - from);
  for (size_t i = from; i < values.size(); ++i)
    columns[i - from].push_back(values[i].toTensor());
}

Values stacked(const Columns& columns) {
  Values result;
  for (const auto& column : columns) result.emplace_back(at::stack(column));
  return result;
}

Values map(const ControlFlowCall& call) {
  if (runs_on_fakes()) return open_map(call);
  const Values& xs = call.lists.at(0);
  Columns columns;
  const int64_t steps = steps_of(xs, "map");
  for (int64_t i = 0; i < steps; ++i)
    append_row(columns,
               call.graphs[0].run(joined(row(xs, i), call.lists.at(1))), 0);
  return stacked(columns);
}

Values scan(const ControlFlowCall& call) {
  if (runs_on_fakes()) return open_scan(call);
  Values carry = call.lists.at(0);
  const size_t carried = carry.size();
  const Values& xs = call.lists.at(1);
  Columns columns;
  const int64_t steps = steps_of(xs, "scan");
  for (int64_t i = 0; i < steps; ++i) {
    Values out = call.graphs[0].run(
        joined(joined(std::move(carry), row(xs, i)), call.lists.at(2)));
    append_row(columns, out, carried);
    carry.assign(out.begin(), out.begin() + carried);
  }
  return joined(std::move(carry), stacked(columns));
}

// The combining graph takes batches of neighbours; a batch of one at a time.
Values associative_scan(const ControlFlowCall& call) {
  if (runs_on_fakes()) return open_associative_scan(call);
  const Values& xs = call.lists.at(0);
  const int64_t steps = steps_of(xs, "associative_scan");
  const auto rows = [&](int64_t i) {
    Values result;
    for (const c10::IValue& x : xs)
      result.emplace_back(x.toTensor().narrow(0, i, 1));
    return result;
  };
  Values so_far = rows(0);
  Columns columns;
  append_row(columns, so_far, 0);
  for (int64_t i = 1; i < steps; ++i) {
    so_far = call.graphs[0].run(
        joined(joined(std::move(so_far), rows(i)), call.lists.at(1)));
    append_row(columns, so_far, 0);
  }
  Values result;
  for (const auto& column : columns) result.emplace_back(at::cat(column));
  return result;
}

Values with_grad(const ControlFlowCall& call) {
  const at::AutoGradMode mode(call.lists.at(0).at(0).toBool());
  return call.graphs[0].run(call.lists.at(1));
}

// As torch.autocast, which warns and is off where it does not cast to the
// dtype.
Values with_autocast(const ControlFlowCall& call) {
  const Values& mode = call.lists.at(0);
  const std::string& device = mode.at(0).toStringRef();
  const at::DeviceType type = c10::Device(device).type();
  const at::ScalarType dtype = mode.at(1).isNone()
                                   ? at::autocast::get_autocast_dtype(type)
                                   : mode.at(1).toScalarType();
  const bool casts =
      type == at::kCUDA || dtype == at::kBFloat16 || dtype == at::kHalf;
  const AutocastScope scope(device, dtype, mode.at(2).toBool() && casts,
                            mode.at(3).toBool());
  return call.graphs[0].run(call.lists.at(1));
}

}  // namespace

namespace {
thread_local LoopSteps* current_steps = nullptr;
}

LoopSteps::LoopSteps(uint64_t most)
    : most_(most), left_(most), outer_(current_steps) {
  current_steps = this;
}
LoopSteps::~LoopSteps() { current_steps = outer_; }
LoopSteps* LoopSteps::current() { return current_steps; }

void LoopSteps::take() {
  TORCH_CHECK(left_ > 0, "while_loop: it has not ended after ", most_,
              " steps; allow more (proviso run --loop-steps=N, LoopSteps in "
              "C++) where it does end");
  --left_;
}

ControlFlow find_control_flow(const std::string& target) {
  static const std::unordered_map<std::string, ControlFlow> kOperators = {
      {"torch.ops.higher_order.cond", cond},
      {"torch.ops.higher_order.while_loop", while_loop},
      {"torch.ops.higher_order.map_impl", map},
      {"torch.ops.higher_order.scan", scan},
      {"torch.ops.higher_order.wrap_with_set_grad_enabled", with_grad},
      {"torch.ops.higher_order.wrap_with_autocast", with_autocast},
      {"torch.ops.higher_order.associative_scan", associative_scan}};
  auto found = kOperators.find(target);
  return found == kOperators.end() ? nullptr : found->second;
}

}  // namespace proviso::inline v0_2
