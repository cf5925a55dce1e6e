// tests/support/misuse.h - what a caller's mistake ends in.
//
//   EXPECT_EQ(outcome_of([] { Expr().op(); }), "signal 11");
//
// The mistake is made in a child process: a crash or a hang is an outcome too.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <stdexcept>
#include <string>

#include "sym/expr.h"

namespace proviso {

// "error: <text>" for an exception for which `is_ours`, "foreign: <text>" for
// another one, "nothing" for none, "signal <number>" for a crash.
inline std::string outcome_of(
    const std::function<void()>& body,
    const std::function<bool(const std::exception&)>& is_ours =
        [](const std::exception& e) {
          return dynamic_cast<const Error*>(&e) != nullptr;
        }) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    std::string text = "nothing";
    try {
      body();
    } catch (const std::exception& e) {
      text = (is_ours(e) ? "error: " : "foreign: ") + std::string(e.what());
    }
    const ssize_t written = write(ends[1], text.data(), text.size());
    _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return text;
}

struct Misuse {
  const char* name;
  std::function<void()> body;
  const char* text;  // that the error says
};

}  // namespace proviso
