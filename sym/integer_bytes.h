// sym/integer_bytes.h - integers of any size to and from bytes, for those that
// keep theirs in another form (Python's).
//
//   magnitude_bytes(Int(-258));        // {2, 1}: of |x|, the least first
//   from_magnitude(bytes, true);       // -258
//
// Decimal digits take time as their square, and Python refuses many of them;
// bytes take time as their number.
#pragma once

#include <span>
#include <vector>

#include "sym/integer.h"

namespace proviso::inline v0_2::internal {

[[nodiscard]] std::vector<unsigned char> magnitude_bytes(const Int& x);
[[nodiscard]] Int from_magnitude(std::span<const unsigned char> bytes,
                                 bool is_negative);

}  // namespace proviso::inline v0_2::internal
