// A line counts while it is in the block of the line that asks or in one around
// it, which is when its indentation is not deeper than any between: each line
// knows the last one that is no deeper, so that the way up is a list.
#include "guards/errors/quoted_code.h"

#include <algorithm>

#include "guards/errors/text_parts.h"
#include "guards/fixed_limits.h"
#include "sym/budget.h"

namespace proviso::inline v0_2::internal {
namespace {

using std::string_view;

// The argument of a call that ends a line: up to its comma or bracket.
string_view first_argument(string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[') ++depth;
    if ((text[i] == ')' || text[i] == ']') && --depth < 0) {
      return text.substr(0, i);
    }
    if (text[i] == ',' && depth == 0) return text.substr(0, i);
  }
  return text;
}

// The condition that a line promises; empty for any other line.
std::string checked_by(string_view code) {
  if (code.starts_with("torch._check(")) {
    return std::string(first_argument(code.substr(13)));
  }
  if (code.starts_with("torch._check_is_size(")) {
    return std::string(first_argument(code.substr(21))) + " >= 0";
  }
  if (code.starts_with("assert ")) {
    return std::string(first_argument(code.substr(7)));
  }
  return "";
}

// What a line asks by itself: `a <= c` of "if a <= c:"; empty where none.
std::string asked_by(string_view code) {
  for (string_view word : {"if ", "elif ", "while ", "assert "}) {
    if (!code.starts_with(word)) continue;
    string_view rest = code.substr(word.size());
    if (word == "assert ") return std::string(first_argument(rest));
    const size_t colon = rest.rfind(':');
    return std::string(rest.substr(0, colon));
  }
  return "";
}

// The variables that a line assigns; all of "a, b = t.tolist()".
std::vector<string_view> assigned_by(string_view code) {
  if (code.starts_with("for ")) {
    code = code.substr(4, code.substr(4).find(" in "));
    return split(code, ",");
  }
  for (size_t at = code.find('='); at != npos; at = code.find('=', at + 1)) {
    const char before = at > 0 ? code[at - 1] : ' ';
    const bool is_compared = (at + 1 < code.size() && code[at + 1] == '=') ||
                             before == '=' || before == '!' || before == '<' ||
                             before == '>';
    if (is_compared) continue;
    string_view left = code.substr(0, at);
    while (!left.empty() && !is_name(left.back()) && left.back() != ' ' &&
           left.back() != ']') {
      left.remove_suffix(1);  // += and its like
    }
    std::vector<string_view> targets;
    for (string_view target : split(left, ",")) {
      targets.push_back(target.substr(0, target.find(':')));
    }
    const bool is_assignment = std::all_of(
        targets.begin(), targets.end(),
        [](string_view target) { return is_identifier(trim(target)); });
    return is_assignment ? targets : std::vector<string_view>{};
  }
  return {};
}

// --- conditions of Python over words

// nullopt where it is more than arithmetic and comparisons, or has no word.
std::optional<Worded> in_words(string_view code) {
  Worded result;
  std::map<std::string, size_t> numbers;  // of the words
  for (size_t i = 0; i < code.size();) {
    const char c = code[i];
    if (is_digit(c)) {
      while (i < code.size() && is_digit(code[i])) result.text += code[i++];
      if (i < code.size() && (is_name(code[i]) || code[i] == '.')) return {};
      continue;
    }
    if (!is_name(c)) {
      if (string_view("+-*/%<>=!()& |").find(c) == npos) return {};
      result.text += c;
      ++i;
      continue;
    }
    size_t end = i;
    while (end < code.size()) {
      if (is_name(code[end]) || code[end] == '.') {
        ++end;
      } else if (code[end] == '[' || code[end] == '(') {
        const size_t close = closing(code.substr(end + 1));
        if (close == npos) return {};
        const string_view inside = code.substr(end + 1, close);
        // x.shape[0], x.size(0), x.numel(); no other call is a value.
        const bool is_index =
            std::all_of(inside.begin(), inside.end(),
                        [](char d) { return is_digit(d) || d == '-'; });
        if (!is_index) return {};
        end += close + 2;
      } else {
        break;
      }
    }
    std::string word(code.substr(i, end - i));
    i = end;
    if (word == "and") {
      result.text += '&';
      continue;
    }
    if (word == "or" || word == "not" || word == "in" || word == "is" ||
        word == "if" || word == "else" || word == "lambda") {
      return {};
    }
    if (const size_t size = word.find(".size("); size != npos) {
      word = word.substr(0, size) + ".shape[" +
             word.substr(size + 6, word.size() - size - 7) + "]";
    }
    const auto [known, is_new] = numbers.emplace(word, numbers.size());
    result.text += "w" + std::to_string(known->second);
    if (is_new) result.words.push_back(std::move(word));
  }
  if (result.words.empty()) return {};
  return result;
}

}  // namespace

string_view root_of(string_view word) {
  size_t end = 0;
  while (end < word.size() && is_name(word[end])) ++end;
  return word.substr(0, end);
}

QuotedFunction::QuotedFunction(const TextFunction& text) : text_(text) {
  read_lines();
  find_checks_above();
  find_askers();
}

void QuotedFunction::read_lines() {
  size_t assigned = 0;
  for (size_t i = 0; i < text_.lines.size(); ++i) {
    const string_view code = text_.lines[i].code;
    Budget::spend(10 + code.size() / 4);
    QuotedLine line;
    line.check = in_words(checked_by(code));
    line.asked = in_words(asked_by(code));
    lines_.push_back(std::move(line));
    assigned_so_far_.push_back(assigned);
    const std::vector<string_view> targets = assigned_by(code);
    for (string_view target : targets) assigned_[trim(target)].push_back(i);
    if (!targets.empty()) ++assigned;
  }
}

void QuotedFunction::find_checks_above() {
  std::vector<size_t> open;  // lines whose block, or one around, goes on
  for (size_t i = 0; i < lines_.size(); ++i) {
    const size_t indent = text_.lines[i].indent;
    while (!open.empty() && text_.lines[open.back()].indent > indent) {
      open.pop_back();
    }
    lines_[i].check_above = kNoLine;
    if (!open.empty()) {
      const size_t above = open.back();
      lines_[i].check_above =
          lines_[above].check ? above : lines_[above].check_above;
    }
    open.push_back(i);
  }
}

void QuotedFunction::find_askers() {
  for (size_t i = 0; i < lines_.size(); ++i) {
    std::vector<size_t>& alike = askers_[code(i)];
    if (!alike.empty()) {
      const size_t last = alike.back();
      if (lines_[last].check_above == lines_[i].check_above &&
          assigned_so_far_[last] == assigned_so_far_[i]) {
        continue;
      }
    }
    alike.push_back(i);
    if (lines_[i].asked) all_askers_.push_back(i);
  }
}

const std::vector<size_t>& QuotedFunction::askers(
    const std::string& code) const {
  static const std::vector<size_t> kNone;
  if (code.empty()) return all_askers_;
  const auto found = askers_.find(code);
  return found == askers_.end() ? kNone : found->second;
}

size_t QuotedFunction::assigned_before(string_view variable,
                                       size_t line) const {
  const auto known = assigned_.find(variable);
  if (known == assigned_.end()) return kNoLine;
  const std::vector<size_t>& all = known->second;
  const auto next = std::lower_bound(all.begin(), all.end(), line);
  return next == all.begin() ? kNoLine : *(next - 1);
}

QuotedCode::QuotedCode(const ErrorText& text) : text_(text) {
  for (size_t i = 0; i < text.functions.size(); ++i) {
    of_stream_[text.functions[i].stream].push_back(i);
  }
}

const std::vector<size_t>& QuotedCode::functions_of(uint32_t stream) const {
  static const std::vector<size_t> kNone;
  const auto found = of_stream_.find(stream);
  return found == of_stream_.end() ? kNone : found->second;
}

const QuotedFunction& QuotedCode::function(size_t function) {
  return read_.try_emplace(function, text(function)).first->second;
}

}  // namespace proviso::inline v0_2::internal
