#include "tests/bombs/measure.h"

#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <new>

#include "sym/budget.h"
#include "sym/expr.h"
#include "tests/support/small_stack.h"

namespace {

thread_local size_t live, peak;  // bytes of this thread's operator new
char doing_now[300];

void* counted(size_t size) {
  void* p = std::malloc(size);
  if (p == nullptr) throw std::bad_alloc();
  live += malloc_usable_size(p);
  if (live > peak) peak = live;
  return p;
}

void uncounted(void* p) {
  if (p != nullptr) live -= malloc_usable_size(p);
  std::free(p);
}

constexpr uint64_t kMillisecond = 20'000;  // in units

double cpu_ms() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 +
         static_cast<double>(t.tv_nsec) / 1e6;
}

}  // namespace

void* operator new(size_t size) { return counted(size); }
void operator delete(void* p) noexcept { uncounted(p); }
void operator delete(void* p, size_t) noexcept { uncounted(p); }

namespace proviso::testing {

std::FILE* Meter::report = stdout;

const char* Meter::doing() { return doing_now; }

void Meter::run(const std::string& family, int n, size_t bytes,
                const std::function<void()>& work) {
  where_ =
      family + " n=" + std::to_string(n) + " (" + std::to_string(bytes) + " B)";
  const size_t stack = stack_used_by(work);
  if (stack > limits_.stack || is_verbose_) {
    std::fprintf(report, "%-60s %zu KiB of stack\n", where_.c_str(),
                 stack >> 10);
  }
  found_ += stack > limits_.stack;
}

bool Meter::call(const std::string& name, const std::function<void()>& work) {
  const std::string mine = where_ + " " + name;
  std::strncpy(doing_now, mine.c_str(), sizeof doing_now - 1);
  const size_t before = peak = live;
  const uint64_t most =
      is_cut_ ? (uint64_t{1} << (random_() % 20)) : Budget::kUnlimited;
  const Budget all(Budget::kUnlimited);
  const uint64_t units_before = Budget::units_left();
  const double start = cpu_ms();
  std::string problem, text;
  bool is_done = false;
  try {
    const Budget cut(most);
    work();
    is_done = true;
  } catch (const Error& error) {
    text = error.what();
    if (text.size() > kMostText) {
      problem = "an error of " + std::to_string(text.size()) + " characters";
    }
  } catch (const OutOfBudget&) {
    if (!is_cut_) problem = "OutOfBudget left the call";
  } catch (const std::exception& error) {
    text = error.what();
    problem = "a foreign error";
  }
  const double ms = cpu_ms() - start;
  const uint64_t units = units_before - Budget::units_left();
  const size_t bytes = peak - before;
  if (is_cut_ && units > most + kMillisecond) {
    problem = "a budget of " + std::to_string(most) + " ended before";
  }
  const bool is_bad = !problem.empty() || units > limits_.units ||
                      ms > limits_.milliseconds || bytes > limits_.bytes;
  if (is_bad || is_verbose_) {
    std::fprintf(report, "%-60s %7.1f ms %6.1f MiB %6.0fk units  %s %s\n",
                 mine.c_str(), ms, static_cast<double>(bytes) / (1 << 20),
                 static_cast<double>(units) / 1e3, problem.c_str(),
                 text.substr(0, 100).c_str());
    std::fflush(report);
  }
  found_ += is_bad;
  return is_done;
}

}  // namespace proviso::testing
