#include "tests/bombs/measure.h"

#include <malloc.h>
#include <signal.h>
#include <sys/time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <new>
#include <optional>

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

namespace proviso::inline v0_2 {

// What this thread has spent in all its budgets, as a signal finds it.
class BudgetProbe {
 public:
  static uint64_t spent() {
    int64_t sum = 0, left = Budget::slice_left_;
    for (const Budget* b = Budget::innermost_; b != nullptr; b = b->outer_) {
      sum += b->total_ - b->reserve_ - left;
      left = b->outer_slice_;
    }
    return sum > 0 ? static_cast<uint64_t>(sum) : 0;
  }
};

}  // namespace proviso::inline v0_2

namespace proviso::testing {
namespace {

// Interrupts the thread's call once, after some microseconds.
class Alarm {
 public:
  static constexpr uint64_t kNever = ~uint64_t{0};

  Alarm(const Context& context, long microseconds) {
    context_ = &context;
    at_ = kNever;
    struct sigaction interrupt = {};
    interrupt.sa_handler = [](int) {
      if (context_ == nullptr || at_ != kNever) return;
      at_ = BudgetProbe::spent();
      context_->interrupt();
    };
    sigaction(SIGALRM, &interrupt, nullptr);
    mask(SIG_UNBLOCK);
    set(microseconds);
  }
  ~Alarm() {
    context_ = nullptr;
    set(0);
  }
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  // Of this thread and of those that it starts: an alarm opens its own thread.
  static void mask(int how) {
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(how, &alarm, nullptr);
  }
  // What was spent then; kNever before.
  static uint64_t units_at() { return at_; }

 private:
  static void set(long microseconds) {
    const timeval once{.tv_sec = 0,
                       .tv_usec = static_cast<suseconds_t>(microseconds)};
    const itimerval timer{.it_interval = {}, .it_value = once};
    setitimer(ITIMER_REAL, &timer, nullptr);
  }
  static inline const Context* volatile context_ = nullptr;
  static inline volatile uint64_t at_ = kNever;
};

// A call that has done less has not yet begun.
constexpr uint64_t kBegun = 100;

}  // namespace

std::FILE* Meter::report = stdout;

const char* Meter::doing() { return doing_now; }

void Meter::run(const std::string& family, int n, size_t bytes,
                const std::function<void()>& work) {
  where_ =
      family + " n=" + std::to_string(n) + " (" + std::to_string(bytes) + " B)";
  Alarm::mask(SIG_BLOCK);
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
  const bool is_cut = end_ == End::kBudget;
  const uint64_t most =
      is_cut ? (uint64_t{1} << (random_() % 20)) : Budget::kUnlimited;
  const Budget all(Budget::kUnlimited);
  const uint64_t units_before = Budget::units_left();
  const double start = cpu_ms();
  std::string problem, text;
  bool is_done = false;
  std::optional<Alarm> alarm;
  try {
    const Budget cut(most);
    if (end_ == End::kInterrupt && interruptible != nullptr)
      alarm.emplace(
          *interruptible,
          20 + static_cast<long>(random_() % (1u << (random_() % 16))));
    work();
    is_done = true;
  } catch (const Error& error) {
    text = error.what();
    if (text.size() > kMostText) {
      problem = "an error of " + std::to_string(text.size()) + " characters";
    }
  } catch (const OutOfBudget&) {
    if (!is_cut) problem = "OutOfBudget left the call";
  } catch (const std::exception& error) {
    text = error.what();
    problem = "a foreign error";
  }
  const double ms = cpu_ms() - start;
  const uint64_t units = units_before - Budget::units_left();
  if (alarm) {
    const uint64_t at = Alarm::units_at();
    alarm.reset();
    if (at != Alarm::kNever && at > kBegun) {
      ++interrupted_;
      most_after_ = std::max(most_after_, units - at);
    }
    if (at != Alarm::kNever && at > kBegun && units > at + kMillisecond) {
      problem = std::to_string((units - at) / 1000) +
                "k units after an interrupt at " + std::to_string(at);
    }
  }
  const size_t bytes = peak - before;
  if (is_cut && units > most + kMillisecond) {
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
