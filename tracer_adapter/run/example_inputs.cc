#include "tracer_adapter/run/example_inputs.h"

#include <ATen/ops/zeros.h>

#include "tracer_adapter/run/arguments.h"

namespace proviso::inline v0_2 {
namespace {

int64_t size_at_export(const ExportedProgram& program, Expr e) {
  const auto hint = program.env->hint(e);
  const Int* value = hint ? std::get_if<Int>(&*hint) : nullptr;
  return value ? value->to_int64().value_or(2) : 2;
}

at::Tensor example_tensor(const ExportedProgram& program,
                          const InputSpec& input, const TensorMeta& meta,
                          int64_t most) {
  std::vector<int64_t> sizes;
  for (Expr e : meta.sizes) sizes.push_back(size_at_export(program, e));
  int64_t count = 1;
  for (int64_t size : sizes)
    TORCH_CHECK(!__builtin_mul_overflow(count, size, &count) && count <= most,
                "run: the example of ", input.name, " has the sizes ",
                c10::IntArrayRef(sizes),
                ", too many to make up; give inputs: run FILE.pt2 INPUTS.pt");
  if (!c10::isFloatingType(meta.dtype)) return at::zeros(sizes, meta.dtype);
  // None are drawn of the dtypes of one byte.
  const bool narrow = c10::elementSize(meta.dtype) == 1;
  return at::rand(sizes, narrow ? at::kFloat : meta.dtype).to(meta.dtype);
}

}  // namespace

std::vector<c10::IValue> example_inputs(const ExportedProgram& program,
                                        int64_t most) {
  std::vector<c10::IValue> inputs;
  for (const InputSpec& input : program.graph.inputs) {
    if (input.kind != InputKind::kUserInput) continue;
    const ValueRef* ref = input.arg.get<ValueRef>();
    if (ref == nullptr) {
      inputs.push_back(to_ivalue(input.arg));
      continue;
    }
    const GraphValue& value = program.graph.value(ref->id);
    if (value.is_tensor())
      inputs.emplace_back(example_tensor(program, input, value.tensor(), most));
    else
      inputs.emplace_back(size_at_export(program, value.expr()));
  }
  return inputs;
}

}  // namespace proviso::inline v0_2
