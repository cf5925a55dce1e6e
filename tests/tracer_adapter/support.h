// tests/tracer_adapter/support.h - what tests of the tracer share.
#pragma once

#include <c10/util/Exception.h>

#include <exception>
#include <string>

namespace proviso {

// The message of what `call` throws, without C++ frames; "" when it does not.
template <typename Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const c10::Error& e) {
    return e.what_without_backtrace();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

}  // namespace proviso
