// tracer_adapter/trace/rule.h - how an operator tells its results without
// running.
//
//   bool relu(RuleCall& call) {
//     at::Tensor self = call.tensor(0);
//     call.returns(make_contiguous(self.sym_sizes(), self.scalar_type(),
//                                  self.device()));
//     return true;
//   }
//   const RuleEntry kRules[] = {{"aten::relu", relu, "pointwise"}};
//   void register_pointwise_rules() { register_rules(kRules); }
//
// A rule reads its arguments, asks the ShapeEnv what it must know (that records
// guards), and appends one IValue a return of the schema.  It returns false,
// with nothing appended and nothing asked, for "not me": the operator then
// decomposes.  A wrong call throws as eager would (TORCH_CHECK with eager's
// text).  An in-place rule returns its own argument; the tracer gives that
// tensor a new value id.  A rule may call at:: operators to compose, with a
// RecordingOff guard so that only the operator itself is recorded.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/OperatorEntry.h>
#include <ATen/core/ivalue.h>

#include <span>
#include <vector>

#include "guards/shape_env.h"

namespace proviso::inline v0_2 {

class Tracer;

struct RuleCall {
  Tracer& tracer;
  const c10::OperatorHandle& op;
  std::span<c10::IValue> args;    // the schema's, defaults filled in
  std::vector<c10::IValue>& out;  // one a return
  // The rule called other operators, which are recorded in place of this one.
  bool in_parts = false;

  ShapeEnv& env() const;
  const at::Tensor& tensor(size_t i) const { return args[i].toTensor(); }
  // An undefined tensor when the argument is None.
  at::Tensor optional_tensor(size_t i) const {
    return args[i].isNone() ? at::Tensor() : args[i].toTensor();
  }
  bool is_none(size_t i) const { return args[i].isNone(); }
  c10::SymInt sym_int(size_t i) const { return args[i].toSymInt(); }
  // SymInt[] and int[] alike; a lone int is a list of one.
  std::vector<c10::SymInt> sym_ints(size_t i) const;
  void returns(c10::IValue value) { out.push_back(std::move(value)); }
};

using Rule = bool (*)(RuleCall&);

struct RuleEntry {
  const char* op;  // "aten::add.Tensor", or "aten::add" for all overloads
  Rule rule;
  const char* family;  // for listings: "pointwise", "view", ...
};

// Later entries of the same name replace earlier ones.  An entry with an
// overload wins over one without.
void register_rules(std::span<const RuleEntry> rules);
// Every registered rule, sorted by name.
std::vector<RuleEntry> registered_rules();
// Calls register_*_rules() of every family; written in
// shape_functions/register.cc.  Called once, before the first trace.
void register_all_rules();

// While it lives nothing is recorded (shapes are still computed).
class RecordingOff {
 public:
  explicit RecordingOff(Tracer& tracer);
  ~RecordingOff();
  RecordingOff(const RecordingOff&) = delete;
  RecordingOff& operator=(const RecordingOff&) = delete;

 private:
  Tracer& tracer_;
  bool before_;
};

}  // namespace proviso::inline v0_2
