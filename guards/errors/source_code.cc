#include "guards/errors/source_code.h"

#include <algorithm>

#include "guards/errors/text_parts.h"
#include "guards/fixed_limits.h"
#include "sym/excerpt.h"

namespace proviso::inline v0_2::internal {
namespace {

using std::string_view;

size_t indentation(string_view raw) {
  const size_t at = raw.find_first_not_of(" \t");
  return at == raw.npos ? raw.size() : at;
}

// How many brackets the code opens and does not close.
int open_brackets(string_view code) {
  int depth = 0;
  for (char c : code) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
  }
  return depth;
}

// Without a remark at its end.
string_view without_remark(string_view code) {
  return trim(code.substr(0, code.find("  #")));
}

}  // namespace

void SourceReader::line(string_view raw, uint32_t number) {
  number_ = number;
  if (listing(raw)) return;
  const string_view code = trim(raw);
  if (code.empty()) return;
  const size_t indent = indentation(raw);
  while (!open_.empty()) {
    Open& innermost = open_.back();
    if (innermost.depth > 0) {  // its head goes on
      innermost.depth += open_brackets(code);
      return;
    }
    if (indent > innermost.indent) break;
    open_.pop_back();
  }
  for (const Open& of : open_) {
    std::vector<SourceLine>& lines = functions_[of.function].lines;
    if (lines.size() >= fixed::source_lines) continue;
    lines.push_back(
        {indent, std::string(without_remark(code).substr(0, kSentenceLength))});
  }
  if (code.starts_with("def ")) {
    const string_view rest = code.substr(4);
    begin(trim(rest.substr(0, rest.find('('))), indent, code);
  }
}

void SourceReader::begin(string_view name, size_t indent, string_view code) {
  if (!is_identifier(name) || functions_.size() >= fixed::source_functions ||
      open_.size() >= fixed::source_depth) {
    return;
  }
  open_.push_back({functions_.size(), indent, open_brackets(code)});
  functions_.push_back({std::string(name), {}, number_, stream_});
}

// "      9 torch._check(n >= 2)" and "---> 10 if n > 5:"
bool SourceReader::listing(string_view raw) {
  if (listed_.empty()) return false;
  string_view text = trim(raw);
  const size_t dashes = std::min(text.find_first_not_of('-'), text.size());
  if (dashes > 0) {
    if (dashes == text.size() || text[dashes] != '>') return false;
    text = trim(text.substr(dashes + 1));
  }
  size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  if (digits == 0 || digits > 7) return false;
  if (digits < text.size() && text[digits] != ' ') return false;
  const int number = number_of(text);
  const bool goes_on = number == next_number_;
  if (!goes_on) {
    if (functions_.size() >= fixed::source_functions) return false;
    listing_ = functions_.size();
    functions_.push_back({listed_, {}, number_, stream_});
  }
  next_number_ = number + 1;
  const string_view code = text.substr(digits);
  if (trim(code).empty()) return true;
  std::vector<SourceLine>& lines = functions_[listing_].lines;
  if (lines.size() < fixed::source_lines) {
    lines.push_back(
        {indentation(code),
         std::string(without_remark(trim(code)).substr(0, kSentenceLength))});
  }
  return true;
}

}  // namespace proviso::inline v0_2::internal
