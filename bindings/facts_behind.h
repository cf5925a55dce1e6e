// bindings/facts_behind.h - the facts behind a result, by the call's name.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "solver/solver.h"

namespace proviso {

inline constexpr std::string_view kCallsWithFacts =
    "bounds, strided, multiple_of, values, simplify, canonical, substitute";

// Whether the call takes integers alone; nullopt for another name.
inline std::optional<bool> takes_integers(std::string_view call) {
  for (std::string_view name : {"bounds", "strided", "multiple_of", "values"})
    if (call == name) return true;
  for (std::string_view name : {"simplify", "canonical", "substitute"})
    if (call == name) return false;
  return std::nullopt;
}

// The facts that imply what this call gives for e; nullopt for another name.
inline std::optional<std::vector<FactId>> facts_behind(Context& context,
                                                       std::string_view call,
                                                       Expr e) {
  constexpr size_t kMostValues = 64;
  std::vector<FactId> facts;
  if (call == "bounds")
    std::ignore = context.bounds(e, &facts);
  else if (call == "strided")
    std::ignore = context.strided(e, &facts);
  else if (call == "multiple_of")
    std::ignore = context.multiple_of(e, &facts);
  else if (call == "values")
    std::ignore = context.values(e, kMostValues, &facts);
  else if (call == "simplify")
    std::ignore = context.simplify(e, &facts);
  else if (call == "canonical")
    std::ignore = context.canonical(e, &facts);
  else if (call == "substitute")
    std::ignore = context.substitute(e, &facts);
  else
    return std::nullopt;
  return facts;
}

}  // namespace proviso
