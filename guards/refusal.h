// guards/refusal.h - why a size is refused and what to change: the lines after
// "Guard failed: ...", each with its line break before it.
#pragma once

#include <string>
#include <vector>

#include "guards/shape_env.h"
#include "sym/api.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

// "model.py:7 in `if n > 3:`"; where no line is known, the code alone.
[[nodiscard]] std::string shown_place(const SourceLocation& where);

// "  needed at model.py:7 in `if n > 3:`", "        and ...".
[[nodiscard]] std::string needed_at(const std::vector<SourceLocation>& origins);

[[nodiscard]] std::string guard_remedy(const Guard& guard);

// `value` is no size of this dim.  `origins` are the places that narrowed its
// range.
[[nodiscard]] std::string size_remedy(
    const InputDim& dim, const Int& value,
    const std::vector<SourceLocation>& origins);

// Two dims of one symbol that differ.
[[nodiscard]] std::string equal_sizes_remedy(const InputDim& first,
                                             const InputDim& second);

}  // namespace proviso::inline v0_2
PROVISO_API_END
