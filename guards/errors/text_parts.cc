#include "guards/errors/text_parts.h"

#include <algorithm>

#include "guards/fixed_limits.h"

namespace proviso::inline v0_2::internal {

using std::string_view;

namespace {

bool is_keyword(string_view name) {
  for (string_view word :
       {"False", "None",   "True",    "and",      "as",    "assert", "async",
        "await", "break",  "class",   "continue", "def",   "del",    "elif",
        "else",  "except", "finally", "for",      "from",  "global", "if",
        "in",    "import", "is",      "lambda",   "not",   "or",     "pass",
        "raise", "return", "try",     "nonlocal", "while", "with",   "yield"}) {
    if (name == word) return true;
  }
  return false;
}

// place: name, then any of .name  [item]  (item, item)
// item:  place, a number, a string
class Place {
 public:
  explicit Place(string_view text) : text_(text) {}
  bool is_all() { return place(0) && at_ == text_.size(); }

 private:
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void blanks() {
    while (take(' ')) {
    }
  }
  bool name() {
    const size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    const string_view found = text_.substr(begin, at_ - begin);
    return is_identifier(found) && !is_keyword(found);
  }
  bool number() {
    take('-');
    const size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    const string_view found = text_.substr(begin, at_ - begin);
    return found == "0" || (!found.empty() && found[0] != '0');
  }
  bool quoted() {
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' || static_cast<unsigned char>(text_[at_]) < ' ')
        return false;
      ++at_;
    }
    return take(quote);
  }
  bool item(int depth) {
    if (at_ == text_.size()) return false;
    const char c = text_[at_];
    if (c == '\'' || c == '"') return quoted();
    if (is_digit(c) || c == '-') return number();
    return place(depth);
  }
  bool items(int depth, char close) {
    do {
      blanks();
      if (!item(depth)) return false;
      blanks();
    } while (take(','));
    return take(close);
  }
  bool place(int depth) {
    if (depth > fixed::place_depth || !name()) return false;
    while (true) {
      if (take('.')) {
        if (!name()) return false;
      } else if (take('[')) {
        if (!items(depth + 1, ']')) return false;
      } else if (take('(')) {
        if (!take(')') && !items(depth + 1, ')')) return false;
      } else {
        return true;
      }
    }
  }

  string_view text_;
  size_t at_ = 0;
};

}  // namespace

string_view trim(string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) {
    s.remove_prefix(1);
  }
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) {
    s.remove_suffix(1);
  }
  return s;
}

std::optional<string_view> after(string_view text, string_view before) {
  const size_t at = text.find(before);
  if (at == npos) return std::nullopt;
  return text.substr(at + before.size());
}

std::optional<string_view> between(string_view text, string_view before,
                                   string_view behind) {
  std::optional<string_view> rest = after(text, before);
  if (!rest) return std::nullopt;
  return rest->substr(0, rest->find(behind));
}

std::vector<string_view> split(string_view text, string_view separator) {
  std::vector<string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.push_back(trim(text.substr(0, at)));
    if (at == npos) return parts;
    text.remove_prefix(at + separator.size());
  }
}

size_t closing(string_view text) {
  int depth = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[') ++depth;
    if (text[i] == ')' || text[i] == ']') --depth;
    if (depth == 0) return i;
  }
  return npos;
}

string_view expression_in(string_view text) {
  text = trim(text);
  while (!text.empty() && (text[0] == '`' || text[0] == '"')) {
    text.remove_prefix(1);
  }
  int depth = 0;
  size_t end = 0;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (c == '`' || c == '"' || static_cast<unsigned char>(c) >= 0x80) break;
    if (c == '(' || c == '[') ++depth;
    if ((c == ')' || c == ']') && --depth < 0) break;
    if (c == ' ' && text.substr(end).starts_with(" (unh")) break;
    if (c == '.' && text.substr(end).starts_with("..")) break;  // cut off
    const bool ends_word = end + 1 == text.size() || text[end + 1] == ' ';
    if ((c == '.' || c == ';' || c == ',') && depth == 0 && ends_word) break;
  }
  return trim(text.substr(0, end));
}

int number_of(string_view digits) {
  int value = 0;
  for (char c : digits.substr(0, 9)) {
    if (!is_digit(c)) break;
    value = value * 10 + (c - '0');
  }
  return value;
}

bool is_symbol_name(string_view name) {
  for (string_view prefix : {"zuf", "zf", "s", "u", "i", "f"}) {
    if (!name.starts_with(prefix)) continue;
    const string_view rest = name.substr(prefix.size());
    return !rest.empty() && rest.size() < 10 &&
           std::all_of(rest.begin(), rest.end(), is_digit);
  }
  return false;
}

bool is_place(string_view text) { return Place(text).is_all(); }

bool is_identifier(string_view text) {
  return !text.empty() && !is_digit(text[0]) &&
         std::all_of(text.begin(), text.end(), is_name);
}

}  // namespace proviso::inline v0_2::internal
