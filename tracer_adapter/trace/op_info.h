// tracer_adapter/trace/op_info.h - what dispatch needs of an operator, found
// once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tracer_adapter/trace/tracer.h"

namespace proviso::inline v0_2 {

IntMeaning meaning_of(const c10::Type& type);

struct Tracer::OpInfo {
  explicit OpInfo(const c10::OperatorHandle& op) : op(op), recorded(op) {}

  c10::OperatorHandle op;
  c10::OperatorHandle recorded;  // lift_fresh is recorded as lift_fresh_copy
  // Of an overload that writes to `out`, where it is recorded as this one.
  std::optional<c10::OperatorHandle> functional;
  std::string name;    // aten::add.Tensor
  std::string target;  // aten.add.Tensor
  Rule rule = nullptr;
  // Of the kernel that calls other operators, where it has one and they are
  // recorded in its place.
  std::optional<c10::DispatchKey> composite;
  bool profiles = false;  // names a range of a profile: no part of a program
  bool autocast = false;
  bool aten = false;
  bool recorded_at_all = true;  // not so for queries of shapes
  bool mutates = false;
  bool random = false;
  bool lifts = false;  // turns a real tensor into a traced constant
  bool detaches = false;
  size_t argument_count = 0;
  size_t return_count = 0;
  std::vector<IntMeaning> meanings;  // by argument
  std::vector<size_t> written;       // arguments written to
  std::vector<size_t> tensors;       // arguments that must be a tensor
  std::vector<size_t> generators;    // arguments that may be a generator
};

// The number of a GraphRecording.
uint64_t next_trace();

// The boxed fallback of kTraceKey, registered once a process.
void install_fallback();

}  // namespace proviso::inline v0_2
