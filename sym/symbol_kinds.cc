#include "sym/symbol_kinds.h"

#include <array>

namespace proviso::inline v0_2 {
namespace {

// The order is that of SymbolKind.
constexpr std::array<std::string_view, 6> kNames = {
    "backed_size",  "backed_int",     "backed_float",
    "unbacked_int", "unbacked_float", "unbacked_bool"};

}  // namespace

std::string_view name_of(SymbolKind kind) {
  return kNames[static_cast<size_t>(kind)];
}

std::optional<SymbolKind> find_symbol_kind(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<SymbolKind>(i);
  return std::nullopt;
}

std::string symbol_kind_names() {
  std::string all;
  for (std::string_view name : kNames)
    all += (all.empty() ? "" : ", ") + std::string(name);
  return all;
}

}  // namespace proviso::inline v0_2
