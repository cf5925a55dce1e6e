#include "cli/torch_pt2/contained.h"

#include <ATen/record_function.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <exception>
#include <iostream>

#include "tracer_adapter/trace/error_text.h"

namespace proviso::cli {
namespace {

// Of the operator at work, in memory that both processes see.
constexpr size_t kLongestName = 200;
char* operator_name = nullptr;

std::unique_ptr<at::ObserverContext> note(const at::RecordFunction& call) {
  std::strncpy(operator_name, call.name(), kLongestName);
  return nullptr;
}

}  // namespace

int reported(const std::function<int()>& work) {
  int code = kTrouble;
  try {
    code = work();
    std::cout.flush();
  } catch (const std::exception& error) {
    std::cout.flush();
    std::cerr << "proviso: " << error_text(error) << "\n";
  }
  return code;
}

int contained(const std::string& path, const std::function<int()>& work) {
  void* shared = mmap(nullptr, kLongestName + 1, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  std::cout.flush();
  const pid_t child = shared == MAP_FAILED ? -1 : fork();
  if (child < 0) return work();
  operator_name = static_cast<char*>(shared);
  if (child == 0) {
    at::addGlobalCallback(at::RecordFunctionCallback(note));
    _exit(reported(work));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  std::cerr << "proviso: " << path << ": "
            << (*operator_name ? operator_name : "an operator")
            << " ended the process: " << strsignal(WTERMSIG(status))
            << "; its kernel trusts arguments that it should not\n";
  return kTrouble;
}

}  // namespace proviso::cli
