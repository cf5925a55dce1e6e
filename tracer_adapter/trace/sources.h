// tracer_adapter/trace/sources.h - where a size comes from, as torch writes it.
#pragma once

#include <string>
#include <vector>

#include "guards/shape_env.h"

namespace proviso::inline v0_2 {

// L['x'].size()[0] for the input L['x'].
inline std::string size_source(const std::string& input, size_t dim) {
  return input + ".size()[" + std::to_string(dim) + "]";
}

// L['x'].size()[0] of a symbol that comes from an input, else its name: u0.
inline std::string source_or_name(Expr symbol) {
  const Symbol& s = symbol.symbol();
  return s.source.empty() ? s.name : s.source;
}

// "L['x'].size()[0] >= 3" and "... <= 16"; no size is less than 0 anyway.
inline void add_range_code(const InputDim& dim, const Interval& range,
                           std::vector<std::string>* out) {
  const bool is_int = dim.expr.symbol().kind == SymbolKind::kBackedInt;
  if (range.lower() && (is_int || *range.lower() > Int(0)))
    out->push_back(dim.source + " >= " + range.lower()->to_string());
  if (range.upper())
    out->push_back(dim.source + " <= " + range.upper()->to_string());
}

}  // namespace proviso::inline v0_2
