#include "tracer_adapter/pt2/fail.h"

#include "tracer_adapter/ir/printable.h"

namespace proviso::inline v0_2::pt2 {

std::string shown_text(std::string_view text) {
  constexpr size_t kLongest = 100;
  return "'" + escaped(text.substr(0, kLongest)) + "'";
}

}  // namespace proviso::inline v0_2::pt2
