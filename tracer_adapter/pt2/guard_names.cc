#include "tracer_adapter/pt2/guard_names.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "sym/traced_python.h"
#include "tracer_adapter/ir/printable.h"
#include "tracer_adapter/pt2/fail.h"
#include "tracer_adapter/pt2/quoted_texts.h"
#include "tracer_adapter/trace/sources.h"

namespace proviso::inline v0_2::pt2 {
namespace {

bool is_in_name(char c) {
  return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// What stands in the function that torch writes, and Python's own words.
bool is_known(std::string_view name) {
  static const std::set<std::string_view> kNames = {
      "L",   "math", "torch", "inf", "abs",  "bool",  "float", "int",
      "max", "min",  "round", "pow", "True", "False", "None",  "and",
      "or",  "not",  "is",    "in",  "if",   "else"};
  return kNames.contains(name);
}

// The end of the text between quotes that starts at `at`.
size_t end_of_text(std::string_view guard, size_t at) {
  const size_t end = std::min(guard.find(guard[at], at + 1), guard.size());
  check_quoted_key(guard.substr(at + 1, end - at - 1));
  return std::min(end + 1, guard.size());
}

}  // namespace

std::vector<std::string> guards_for_torch(const ExportedProgram& program) {
  std::vector<std::string> result;
  for (const Guard& guard : program.guards())
    result.push_back(
        internal::to_traced_python(guard.condition, source_or_name));
  return result;
}

void check_guard(const std::string& guard) {
  const std::string shown = "the guard " + shown_text(guard);
  if (escaped(guard) != guard)
    fail(shown, " is no line of text; torch writes it into one of Python's");
  char before = ' ';
  for (size_t at = 0; at < guard.size();) {
    const char c = guard[at];
    if (c == '\'' || c == '"') {
      at = end_of_text(guard, at);
    } else if (is_in_name(c)) {
      const size_t start = at;
      while (at < guard.size() && is_in_name(guard[at])) ++at;
      const std::string_view name =
          std::string_view(guard).substr(start, at - start);
      const bool is_number = std::isdigit(static_cast<unsigned char>(c)) != 0;
      if (before != '.' && !is_number && !is_known(name))
        fail(shown, " has the name ", shown_text(name),
             ", which torch does not know; there are L, math, torch, inf, and "
             "Python's abs, bool, float, int, max, min, pow and round");
    } else {
      ++at;
    }
    if (c != ' ') before = c;
  }
}

}  // namespace proviso::inline v0_2::pt2
