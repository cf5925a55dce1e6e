// sym/junctions.h - the rules of And and Or, whatever their parts are.  Not for
// callers of the library.
//
//   And(x < y, And(z < 3, True), x < y)
//     flatten_parts       And(x < y, z < 3, True, x < y)
//     idle_constant       And(x < y, z < 3, x < y)
//     repeated_part       And(x < y, z < 3)
//   Or(x < y, y <= x)
//     opposite_parts      True
//
// Two tables are made of the rules: the canonical form's, whose parts are
// expressions (sym/canonical_logic.cc), and the solver's, whose parts are
// numbers of a pool (solver/forms/formula_pool.cc).  Min and Max flatten, and
// drop what is repeated, by the same functions (sym/canonical_extrema.cc).  A
// rule costs a pass over the parts, or a sort of them.
//
// The rules look at a State, And or Or of some parts:
//
//   Part, parts             a std::vector of them
//   nested(part)            the parts of one that is And (Or) too, else none
//   truth(part)             a constant's
//   absorbing()             the constant that decides the whole: True of Or
//   sort()                  puts equal parts side by side
//   has_opposites()         whether a part is the opposite of another
//   is(value)               the answer; true
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "sym/rewrite_rule.h"

namespace proviso::inline v0_2::internal::junctions {

inline constexpr RewriteRule kFlattenParts{"flatten_parts",
                                           "And(a < b, And(b < c, c < d))",
                                           "And(a < b, b < c, c < d)",
                                           "",
                                           "And(x < y, And(y < z, z < 3))",
                                           "And(x < y, Or(y < z, z < 3))"};
template <typename State>
bool flatten_parts(State& d) {
  const auto is_nested = [&](const auto& part) {
    return !d.nested(part).empty();
  };
  if (std::none_of(d.parts.begin(), d.parts.end(), is_nested)) return false;
  std::vector<typename State::Part> flat;
  for (const auto& part : d.parts) {
    const auto& inner = d.nested(part);
    flat.insert(flat.end(), inner.begin(), inner.end());
    if (inner.empty()) flat.push_back(part);
  }
  d.parts = std::move(flat);
  return true;
}

inline constexpr RewriteRule kAbsorbingConstant{
    "absorbing_constant", "Or(a < b, True)", "True", "",
    "Or(x < y, True)",    "Or(x < y, False)"};
template <typename State>
bool absorbing_constant(State& d) {
  return std::any_of(d.parts.begin(), d.parts.end(),
                     [&](const auto& part) {
                       return d.truth(part) == d.absorbing();
                     }) &&
         d.is(d.absorbing());
}

inline constexpr RewriteRule kIdleConstant{
    "idle_constant",    "And(a < b, True)", "a < b", "",
    "And(x < y, True)", "And(x < y, False)"};
template <typename State>
bool idle_constant(State& d) {
  return std::erase_if(d.parts, [&](const auto& part) {
           return d.truth(part) == !d.absorbing();
         }) > 0;
}

inline constexpr RewriteRule kRepeatedPart{"repeated_part",
                                           "And(a < b, b < c, a < b)",
                                           "And(a < b, b < c)",
                                           "",
                                           "And(x < y, y < z, x < y)",
                                           "And(x < y, y < z)"};
template <typename State>
bool repeated_part(State& d) {
  d.sort();
  const auto end = std::unique(d.parts.begin(), d.parts.end());
  if (end == d.parts.end()) return false;
  d.parts.erase(end, d.parts.end());
  return true;
}

// After repeated_part.
inline constexpr RewriteRule kOppositeParts{"opposite_parts",
                                            "And(a < b, b <= a)",
                                            "False",
                                            "",
                                            "And(x < y, z < 3, y <= x)",
                                            "And(x < y, z < 3, y <= z)"};
template <typename State>
bool opposite_parts(State& d) {
  return d.has_opposites() && d.is(d.absorbing());
}

}  // namespace proviso::inline v0_2::internal::junctions
