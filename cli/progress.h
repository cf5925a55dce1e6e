// cli/progress.h - how far long work has come: one line on a terminal, which
// goes when the work is done.  Nothing where standard error is no terminal.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

#include "cli/timer.h"

namespace proviso::cli {

class Progress {
 public:
  Progress(std::string what, std::string unit, size_t total)
      : what_(std::move(what)),
        unit_(std::move(unit)),
        total_(total),
        is_shown_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() { end(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step() {
    ++done_;
    if (!is_shown_ || timer_.us() - shown_us_ < kBetweenUs) return;
    shown_us_ = timer_.us();
    std::fprintf(stderr, "\r\033[K%s: %zu of %zu %s, %.0f s", what_.c_str(),
                 done_, total_, unit_.c_str(), shown_us_ / 1e6);
    std::fflush(stderr);
  }
  // Takes the line away; what is printed next begins on an empty one.
  void end() {
    if (shown_us_ > 0) std::fputs("\r\033[K", stderr);
    shown_us_ = 0;
  }

 private:
  static constexpr double kBetweenUs = 2e5;

  const std::string what_, unit_;
  const size_t total_;
  const bool is_shown_;
  size_t done_ = 0;
  double shown_us_ = 0;
  Timer timer_;
};

}  // namespace proviso::cli
