// tracer_adapter/trace/error_text.h - what an error says to a user.
//
//   catch (const std::exception& e) { std::cerr << error_text(e); }
//
// Of PyTorch's errors: no backtrace, no list of backends, and of its failed
// assertions the sentence without the place in its sources.  A file's own texts
// may be long: they are cut, and printable.
#pragma once

#include <exception>
#include <string>

namespace proviso::inline v0_2 {

std::string error_text(const std::exception& error);

}  // namespace proviso::inline v0_2
