// cli/timer.h - microseconds, for reports alone: no answer depends on them.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

namespace proviso::cli {

class Timer {
 public:
  double us() const {
    std::chrono::duration<double, std::micro> passed =
        std::chrono::steady_clock::now() - start_;
    return passed.count();
  }

 private:
  std::chrono::steady_clock::time_point start_ =
      std::chrono::steady_clock::now();
};

inline std::string format_us(double us) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", us);
  return text;
}

}  // namespace proviso::cli
