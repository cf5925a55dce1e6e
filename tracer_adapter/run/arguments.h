// tracer_adapter/run/arguments.h - the arguments of a graph's nodes as the
// values that operators take.
//
//   to_ivalue({std::string("mean")});            // a constant
//
//   // Of Tensor mul(Tensor self, Scalar other), say; decided once:
//   ArgumentPlan plan = plan_argument({ValueRef{3}}, *formal.type());
//   evaluate(plan, slots);                       // slots[3], or as a tensor or
//                                                // float where that is wanted
//
// Values may be symbolic numbers while a program is traced again.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <span>
#include <vector>

#include "tracer_adapter/ir/graph.h"

namespace proviso::inline v0_2 {

// A constant argument.
c10::IValue to_ivalue(const Argument& a);
// A number as the 0-dim tensor that eager makes of it.
at::Tensor number_tensor(const c10::IValue& value);
// The same of a symbolic number: a fake, whose value is nowhere read, and which
// an operator that is recorded takes as the number.
at::Tensor symbolic_number_tensor(const c10::IValue& value);
// Of an integer, a truth value or a float.
double to_double(const c10::IValue& value);

using Slots = std::vector<c10::IValue>;  // by ValueId

// How one argument is put on the stack.
struct ArgumentPlan {
  enum class Kind {
    kConstant,      // as it stands
    kValue,         // slots[value]
    kNumberTensor,  // a number where the schema wants a tensor
    kDouble,        // a number where the schema wants a float
    kTensors,
    kOptionalTensors,
    kInts,
    kDoubles,
    kBools,
    kMixed,
  };
  Kind kind = Kind::kConstant;
  c10::IValue constant;
  ValueId value = kNoOutput;
  std::vector<ArgumentPlan> items;
};

// For an argument of this type of the schema.
ArgumentPlan plan_argument(const Argument& a, const c10::Type& formal);
// A list of whatever its items are.
ArgumentPlan plan_list(std::span<const Argument> items);

c10::IValue evaluate(const ArgumentPlan& plan, const Slots& slots);
// One value an item of a list.
std::vector<c10::IValue> evaluate_items(const ArgumentPlan& plan,
                                        const Slots& slots);

}  // namespace proviso::inline v0_2
