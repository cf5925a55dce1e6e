// sym/symbol_kinds.h - the names of symbol kinds, as files and bindings write
// them: backed_size, backed_int, backed_float, unbacked_int, unbacked_float,
// unbacked_bool.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sym/api.h"
#include "sym/expr.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

[[nodiscard]] std::string_view name_of(SymbolKind kind);
[[nodiscard]] std::optional<SymbolKind> find_symbol_kind(std::string_view name);
[[nodiscard]] std::string symbol_kind_names();  // all of them, for error texts

}  // namespace proviso::inline v0_2
PROVISO_API_END
