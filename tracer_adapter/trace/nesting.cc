#include "tracer_adapter/trace/nesting.h"

#include <c10/util/Exception.h>

namespace proviso::inline v0_2 {

void check_is_open(bool is_open, const char* exit, const char* enter) {
  TORCH_CHECK(is_open, "Proviso: ", exit, ": nothing is open; call ", enter,
              " first");
}

void check_nesting(const Nesting& now, const Nesting& begun,
                   const std::string& end) {
  const auto check = [&](auto here, auto before, const char* enter,
                         const char* exit) {
    TORCH_CHECK(here == before, "Proviso: ", end, ": ", enter, " and ", exit,
                " do not balance; call each as often as the other");
  };
  check(now.modules, begun.modules, "enter_module", "exit_module");
  check(now.autocast, begun.autocast, "enter_autocast_block",
        "exit_autocast_block");
  check(now.held, begun.held, "hold_mode", "release_mode");
}

}  // namespace proviso::inline v0_2
