// tests/bombs/texts.h - texts that grow.
//
//   nested(3, "s0", [](auto x, int i) { return "(" + x + ")**2"; })
//   joined(3, " + ", [](int i) { return sym('s', i); })    // s0 + s1 + s2
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace proviso::testing {

inline std::string digits(char digit, int count) {
  return std::string(static_cast<size_t>(count), digit);
}

// step applied n times, from the inside out.
inline std::string nested(
    int n, std::string text,
    const std::function<std::string(std::string, int)>& step) {
  for (int i = 0; i < n; ++i) text = step(std::move(text), i);
  return text;
}

inline std::string joined(int n, const std::string& separator,
                          const std::function<std::string(int)>& part) {
  std::string out;
  for (int i = 0; i < n; ++i) out += (i > 0 ? separator : "") + part(i);
  return out;
}

// What save_context() would write of facts that say themselves which symbols
// they have.
inline std::string context_of(const std::vector<std::string>& facts) {
  std::string text = "proviso context 1\n";
  for (const std::string& fact : facts)
    text += "assume " + fact + " ; \"\" \"\" 0\n";
  return text + "end\n";
}

inline std::vector<std::string> list(
    int n, const std::function<std::string(int)>& part) {
  std::vector<std::string> out;
  for (int i = 0; i < n; ++i) out.push_back(part(i));
  return out;
}

}  // namespace proviso::testing
