#include "solver/large_stack.h"

#ifdef PROVISO_WITH_Z3  // which alone wants it

#include <pthread.h>

#include <cstddef>
#include <exception>

#include "sym/budget.h"

namespace proviso::inline v0_2::internal {
namespace {

constexpr size_t kLargeStack = size_t{8} << 20, kEnoughStack = size_t{4} << 20;

bool has_room() {
#ifdef __GLIBC__
  // The ends of a thread's stack never change, and the first question costs.
  thread_local const std::byte* const end = [] {
    pthread_attr_t attributes;
    void* start = nullptr;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
      pthread_attr_getstack(&attributes, &start, &size);
      pthread_attr_destroy(&attributes);
    }
    return static_cast<const std::byte*>(start);
  }();
  const std::byte here{};
  return end != nullptr &&
         &here - end > static_cast<std::ptrdiff_t>(kEnoughStack);
#else
  return false;
#endif
}

struct Job {
  const std::function<void()>& work;
  uint64_t units;  // that it may spend, then what it left
  std::exception_ptr error = nullptr;
};

void* run(void* argument) {
  auto* job = static_cast<Job*>(argument);
  const Budget budget(job->units);
  try {
    job->work();
  } catch (...) {
    job->error = std::current_exception();
  }
  job->units = Budget::units_left();
  return nullptr;
}

}  // namespace

void on_large_stack(const std::function<void()>& work) {
  if (has_room()) return work();
  const uint64_t units = Budget::units_left();
  Job job{work, units};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kLargeStack);
  pthread_t thread;
  const bool is_made = pthread_create(&thread, &attributes, run, &job) == 0;
  pthread_attr_destroy(&attributes);
  if (!is_made) return work();
  pthread_join(thread, nullptr);
  Budget::charge(units - job.units);
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace proviso::inline v0_2::internal

#endif
