// tracer_adapter/pt2/allowed_operators.h - which operators a file may call.
//
//   AllowedOperators allowed({"aten.set_"});   // asked for by the user
//   allowed.check(op);                         // throws FileError
//
// ATen's operators on tensors and those that the user's own code registered.
// Not, unless they are asked for: operators that read or write files, reach for
// processes, streams or other machines, swap a tensor's memory, or build
// tensors of parts that they do not look at; and those that the tracer does not
// know, of which nothing looks at the arguments before a kernel that may trust
// them.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <string>
#include <vector>

namespace proviso::inline v0_2::pt2 {

class AllowedOperators {
 public:
  // `asked`: names as nodes have them, whole or up to a dot: "aten.set_",
  // "quantized".
  explicit AllowedOperators(std::vector<std::string> asked = {})
      : asked_(std::move(asked)) {}

  void check(const c10::OperatorHandle& op) const;
  // By its name.
  bool is_asked(const c10::OperatorHandle& op) const;

 private:
  std::vector<std::string> asked_;
};

}  // namespace proviso::inline v0_2::pt2
