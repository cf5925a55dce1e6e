#include "solver/whole_call.h"

#include <tuple>

namespace proviso::inline v0_2::internal {

// Any call of the context that costs nothing.
void WholeCall::begin(Context& context) {
  std::ignore = context.tier_of(context.pool().boolean(true));
}

}  // namespace proviso::inline v0_2::internal
