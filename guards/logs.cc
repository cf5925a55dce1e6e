#include "guards/logs.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "guards/env/session_log.h"

namespace proviso::inline v0_2 {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// PROVISO_LOGS is a list; "+dynamic" is the same.
bool names_dynamic(const std::string& list) {
  for (size_t from = 0; from <= list.size();) {
    size_t to = std::min(list.find(',', from), list.size());
    std::string word = list.substr(from, to - from);
    if (word == "dynamic" || word == "+dynamic") return true;
    from = to + 1;
  }
  return false;
}

// Never destroyed: events may come while a process ends.
struct State {
  std::mutex mutex;
  LogSettings settings{names_dynamic(environment("PROVISO_LOGS")),
                       environment("PROVISO_LOGS_GUARD")};
  std::function<void(const ShapeEvent&)> callback;
  std::function<std::string()> stack;
};
State& state() {
  static auto* state = new State;
  return *state;
}

const char* colour_of(const std::string& kind) {
  if (kind == "eval") return "\033[33m";
  if (kind == "runtime_assert") return "\033[35m";
  return kind.starts_with("create") ? "\033[32m" : "\033[36m";
}

// On a terminal, unless NO_COLOR (no-color.org) says anything.
bool wants_colour() {
  static const bool wants =
      isatty(fileno(stderr)) && environment("NO_COLOR").empty();
  return wants;
}

void print(const ShapeEvent& event) {
  std::string line = "[proviso] ";
  if (wants_colour()) {
    line += colour_of(event.kind) + event.kind + "\033[0m" +
            event.text.substr(event.kind.size());
  } else {
    line += event.text;
  }
  if (event.location.line > 0) line += " at " + event.location.to_string();
  std::fprintf(stderr, "%s\n", line.c_str());
}

void append_quoted(std::string& out, const std::string& text) {
  out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", c);
      out += escaped;
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace

LogSettings logs() {
  std::lock_guard lock(state().mutex);
  return state().settings;
}
void set_logs(const LogSettings& settings) {
  std::lock_guard lock(state().mutex);
  state().settings = settings;
}
void set_log_callback(std::function<void(const ShapeEvent&)> callback) {
  std::lock_guard lock(state().mutex);
  state().callback = std::move(callback);
}
void set_log_stack(std::function<std::string()> stack) {
  std::lock_guard lock(state().mutex);
  state().stack = std::move(stack);
}

std::string to_json(const ShapeEvent& event) {
  std::string out = "{";
  const auto field = [&](const char* name, const std::string& value) {
    out += out.size() > 1 ? ", \"" : "\"";
    out += std::string(name) + "\": ";
    append_quoted(out, value);
  };
  field("event", event.kind);
  field("subject", event.subject);
  field("text", event.text);
  field("file", event.location.file);
  out += ", \"line\": " + std::to_string(event.location.line);
  field("code", event.location.code);
  return out + "}";
}

void internal::log_event(const ShapeEvent& event) {
  std::function<void(const ShapeEvent&)> callback;
  std::function<std::string()> stack;
  bool is_watched = false;
  {
    std::lock_guard lock(state().mutex);
    const LogSettings& settings = state().settings;
    is_watched = !settings.guard.empty() && settings.guard == event.subject &&
                 (event.kind == "eval" || event.kind == "runtime_assert");
    if (settings.dynamic || is_watched) print(event);
    if (is_watched) stack = state().stack;
    callback = state().callback;
  }
  if (stack) std::fprintf(stderr, "%s\n", stack().c_str());
  if (callback) callback(event);
}

}  // namespace proviso::inline v0_2
