// What the checks of a file throw, and how they show its texts.
#pragma once

#include <c10/util/StringUtil.h>

#include "tracer_adapter/pt2/zip_reader.h"

namespace proviso::inline v0_2::pt2 {

// FileError of the text that the parts make one after the other.
template <typename... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw FileError(c10::str(parts...));
}

// 'text', cut, and without what a terminal would take for an order.
std::string shown_text(std::string_view text);

}  // namespace proviso::inline v0_2::pt2
