// tracer_adapter/sources.h - where a size comes from, as torch writes it.
#pragma once

#include <string>

namespace proviso {

// L['x'].size()[0] for the input L['x'].
inline std::string size_source(const std::string& input, size_t dim) {
  return input + ".size()[" + std::to_string(dim) + "]";
}

}  // namespace proviso
