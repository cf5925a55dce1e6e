// bench/require.h - answers are checked before they are timed.
#pragma once

#include <cstdlib>
#include <iostream>
#include <string>

namespace proviso::bench {

// A benchmark of wrong answers is worth nothing: stop.
inline void require(bool holds, const std::string& what) {
  if (holds) return;
  std::cerr << "benchmark refused, wrong answer: " << what << '\n';
  std::exit(1);
}

}  // namespace proviso::bench
