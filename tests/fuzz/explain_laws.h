// tests/fuzz/explain_laws.h - what holds of the answers to any text.
//
//   if (auto broken = broken_law(text)) fail(*broken);
//
// The answer is the same each time; its symbols, and the words of its code,
// stand in the text; conditions are expressions; JSON is UTF-8 without control
// characters, and a page has one script.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "guards/errors/diagnosis_html.h"
#include "guards/errors/diagnosis_text.h"
#include "guards/errors/log_lines.h"
#include "guards/errors/text_parts.h"

namespace proviso::fuzz {
using namespace internal;

// What the code says by itself.
inline bool is_own_word(const std::string& word) {
  for (const char* own :
       {"torch",   "_check",  "sym_min", "sym_max", "sym_not", "sym_float",
        "sym_int", "sym_ite", "Dim",     "None",    "True",    "False",
        "math",    "floor",   "ceil",    "trunc",   "round",   "int",
        "float",   "abs",     "and",     "or",      "not",     "min",
        "max",     "if",      "else"}) {
    if (word == own) return true;
  }
  return !word.empty() && is_digit(word[0]);
}

// Each name in it is a word of the text, or one of the language's.
inline bool words_stand_in(const std::string& code, const std::string& text) {
  for (size_t i = 0; i < code.size();) {
    size_t end = i;
    while (end < code.size() && is_name(code[end])) ++end;
    const std::string word = code.substr(i, end - i);
    const bool is_call = end < code.size() && code[end] == '(';
    const bool is_known = end == i || is_call || is_own_word(word) ||
                          text.find(word) != text.npos || word == "shape";
    if (!is_known) return false;
    i = end == i ? i + 1 : end;
  }
  return true;
}

// Brackets are closed, outside of strings, which end.
inline bool is_balanced(const std::string& code) {
  std::string open;
  char quote = 0;
  for (char c : code) {
    if (quote != 0) {
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '\'' || c == '"') quote = c;
    if (c == '#') break;
    if (c == '(' || c == '[') open += c;
    if (c != ')' && c != ']') continue;
    if (open.empty() || open.back() != (c == ')' ? '(' : '[')) return false;
    open.pop_back();
  }
  return open.empty() && quote == 0;
}

inline std::optional<std::string> broken_law(const Diagnosis& d,
                                             const std::string& text) {
  const bool is_of_dims = d.kind == DiagnosisKind::kDimSpec ||
                          (!d.code.empty() && d.question.empty());
  for (const std::string& condition : d.conditions) {
    if (!words_stand_in(condition, text))
      return "the symbols of " + condition + " stand in the text";
    ExprPool pool;
    if (!is_of_dims && condition.find("L['") == condition.npos &&
        !read_expression(pool, condition)) {
      return condition + " is an expression";
    }
  }
  for (const auto* lines : {&d.code, &d.other_code}) {
    for (const std::string& line : *lines) {
      if (!words_stand_in(line, text)) return "the words of " + line;
      if (!is_balanced(line)) return "the brackets of " + line;
    }
  }
  if (!is_of_dims && !d.code.empty() && d.code.size() != d.conditions.size())
    return "a line a condition";
  return std::nullopt;
}

inline std::optional<std::string> broken_law(const std::string& text) {
  const std::vector<Diagnosis> errors = diagnose(read_errors(text));
  const std::string json = to_json(errors, true);
  if (json != to_json(diagnose(read_errors(text)), true)) return "same again";
  for (char c : json)
    if (static_cast<unsigned char>(c) < 0x20) return "JSON has no controls";
  const std::string page = to_html(errors);
  const size_t script = page.find("<script");
  if (page.find("<script", script + 1) != page.npos) return "one script";
  std::string printed;  // as it stood before it was typeset
  const LogLines log(text);
  for (const LogLine& line : log.lines()) {
    printed += line.text;
    printed += '\n';
  }
  for (const Diagnosis& d : errors)
    if (auto broken = broken_law(d, text + printed)) return broken;
  return std::nullopt;
}

}  // namespace proviso::fuzz
