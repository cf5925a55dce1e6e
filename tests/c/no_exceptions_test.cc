// The C API from C++ without exceptions and RTTI, on several threads: each with
// a pool of its own, all over one pool, and one that interrupts.
#include <proviso/proviso.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<int> failures = 0;

void check(bool ok, const char* what, int line) {
  if (ok) return;
  std::printf("no_exceptions_test.cc:%d: %s: %s\n", line, what,
              proviso_error_text());
  ++failures;
}
#define CHECK(condition) check((condition), #condition, __LINE__)
#define OK(call) CHECK((call) == PROVISO_OK)

proviso_expr parsed(proviso_pool pool, const std::string& text) {
  proviso_expr e = {};
  OK(proviso_parse(pool, text.c_str(), PROVISO_NEW_NAMES, &e));
  return e;
}

void ask_about(proviso_pool pool, proviso_context context, int rounds) {
  for (int k = 1; k <= rounds; ++k) {
    proviso_verdict verdict = PROVISO_UNKNOWN;
    const std::string n = "n + " + std::to_string(k);
    OK(proviso_ask_quick(context, parsed(pool, n + " > 0"), &verdict));
    CHECK(verdict == PROVISO_YES);
    OK(proviso_ask_quick(context, parsed(pool, n + " < 0"), &verdict));
    CHECK(verdict == PROVISO_NO);
  }
}

proviso_context context_over(proviso_pool pool) {
  proviso_context context = {};
  OK(proviso_context_new(pool, nullptr, 0, &context));
  OK(proviso_assume(context, parsed(pool, "n >= 1"), nullptr, nullptr));
  return context;
}

void work_alone() {
  proviso_pool pool = {};
  OK(proviso_pool_new(&pool));
  ask_about(pool, context_over(pool), 100);
  proviso_expr wrong = {};
  CHECK(proviso_parse(pool, "n +", PROVISO_NEW_NAMES, &wrong) ==
        PROVISO_ERROR_PARSE);
  CHECK(std::string(proviso_error_text()).find("proviso_parse") == 0);
  OK(proviso_pool_free(pool));
}

}  // namespace

int main() {
  proviso_pool shared = {};
  OK(proviso_pool_new(&shared));
  const proviso_context context = context_over(shared);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back(work_alone);
    threads.emplace_back([&] { ask_about(shared, context, 30); });
  }
  threads.emplace_back([&] {
    // Ends calls early: they may answer unknown, and never wrongly.
    proviso_pool pool = {};
    OK(proviso_pool_new(&pool));
    const proviso_context mine = context_over(pool);
    std::thread other([&] {
      for (int k = 0; k < 50; ++k) OK(proviso_interrupt(mine));
    });
    for (int k = 1; k <= 50; ++k) {
      proviso_verdict verdict = PROVISO_NO;
      OK(proviso_ask_quick(mine, parsed(pool, "n*n + 1 > 0"), &verdict));
      CHECK(verdict != PROVISO_NO);
    }
    other.join();
    OK(proviso_pool_free(pool));
  });
  for (std::thread& thread : threads) thread.join();
  // A pool is freed while another thread asks: an answer or a status.
  std::thread late([&] {
    for (int k = 0; k < 200; ++k) {
      size_t count = 0;
      const proviso_status status = proviso_fact_count(context, &count);
      CHECK(status == PROVISO_OK || status == PROVISO_ERROR_HANDLE);
    }
  });
  OK(proviso_pool_free(shared));
  late.join();
  return failures != 0;
}
