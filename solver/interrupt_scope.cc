#include "solver/interrupt_scope.h"

#include "solver/context_call.h"

namespace proviso::inline v0_2::internal {

void InterruptScope::begin(Context& context) {
  usable(context.engine_).facts().resume();
}

}  // namespace proviso::inline v0_2::internal
