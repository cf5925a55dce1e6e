#include "solver/interrupt_scope.h"

#include <tuple>

namespace proviso::inline v0_2::internal {

// Any call of the context that costs nothing.
void InterruptScope::begin(Context& context) {
  std::ignore = context.tier_of(context.pool().boolean(true));
}

}  // namespace proviso::inline v0_2::internal
