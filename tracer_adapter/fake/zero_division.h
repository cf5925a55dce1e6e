// tracer_adapter/fake/zero_division.h - Python's ZeroDivisionError, of symbolic
// numbers.
#pragma once

#include <c10/util/Exception.h>

namespace proviso::inline v0_2 {

class ZeroDivisionError : public c10::ValueError {
 public:
  using c10::ValueError::ValueError;
};

}  // namespace proviso::inline v0_2
