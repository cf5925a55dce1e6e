// tests/support/small_stack.h - how much of the machine's stack a call uses.
//
//   size_t bytes = stack_used_by([&] { canonical(deep); });
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>

namespace proviso::testing {

// Runs `call` on a thread with 512 KiB of stack, which are painted before and
// looked at after.  Throws what it throws.
inline size_t stack_used_by(const std::function<void()>& call) {
  constexpr size_t kBytes = size_t{512} << 10;
  constexpr unsigned char kPaint = 0xA7;
  struct Job {
    const std::function<void()>& call;
    std::exception_ptr error;
  } job{call, nullptr};
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> stack(std::aligned_alloc(4096, kBytes));
  std::memset(stack.get(), kPaint, kBytes);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack.get(), kBytes);
  pthread_t thread;
  auto run = [](void* argument) -> void* {
    auto* job = static_cast<Job*>(argument);
    try {
      job->call();
    } catch (...) {
      job->error = std::current_exception();
    }
    return nullptr;
  };
  const int failed = pthread_create(&thread, &attributes, run, &job);
  pthread_attr_destroy(&attributes);
  if (failed) throw std::runtime_error("stack_used_by: no thread");
  pthread_join(thread, nullptr);
  if (job.error) std::rethrow_exception(job.error);
  const auto* bytes = static_cast<const unsigned char*>(stack.get());
  size_t untouched = 0;  // from the end that the stack grows to
  while (untouched < kBytes && bytes[untouched] == kPaint) ++untouched;
  return kBytes - untouched;
}

}  // namespace proviso::testing
