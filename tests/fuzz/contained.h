// tests/fuzz/contained.h - trials in processes of their own, so that one that
// ends its process, or hangs, is a finding and not the end.
//
//   auto& progress = shared<Progress>();      // of both processes
//   run_contained(progress, first, count, [&](uint64_t seed) { .. });
#pragma once

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <new>
#include <string>

namespace proviso::fuzz {

// What the trials have done; a derived struct counts more.
struct Progress {
  std::atomic<uint64_t> seed{0}, findings{0};
  std::atomic<const char*> stage{""};  // a literal
};

inline void report_finding(Progress& progress, const std::string& what) {
  ++progress.findings;
  std::printf("finding: seed %lu, %s: %s\n", progress.seed.load(),
              progress.stage.load(), what.substr(0, 600).c_str());
  std::fflush(stdout);
}

template <typename T>
T& shared() {
  return *new (mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0)) T{};
}

inline void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__)
  constexpr rlim_t kBytes = rlim_t{1} << 30;
  const rlimit limit{kBytes, kBytes};
  setrlimit(RLIMIT_DATA, &limit);
#endif
}

inline void limit_time() {  // of one trial; then SIGVTALRM
  constexpr int kSeconds = 10;
  const itimerval timer{{0, 0}, {kSeconds, 0}};
  setitimer(ITIMER_VIRTUAL, &timer, nullptr);
}

// One process for as many as it lives through.
inline void run_contained(Progress& progress, uint64_t first, uint64_t count,
                          const std::function<void(uint64_t)>& trial) {
  const uint64_t end = first + count;
  for (uint64_t next = first; next < end; next = progress.seed + 1) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      limit_memory();
      for (uint64_t seed = next; seed < end; ++seed) {
        limit_time();
        progress.seed = seed;
        trial(seed);
      }
      std::fflush(stdout);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    ++progress.findings;
    std::printf("finding: seed %lu, %s: the process ended with %s %d\n",
                progress.seed.load(), progress.stage.load(),
                WIFSIGNALED(status) ? "signal" : "status",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  }
}

}  // namespace proviso::fuzz
