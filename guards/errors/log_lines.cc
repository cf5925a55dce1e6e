// A prefix is what one of the table's functions takes from the front of a line.
// They are tried in turn until none takes anything: launchers put prefixes in
// front of loggers' prefixes, in any order.
#include "guards/errors/log_lines.h"

#include <algorithm>

#include "guards/errors/text_parts.h"
#include "guards/fixed_limits.h"

namespace proviso::inline v0_2::internal {
namespace {

// Reads a line from the left; each member takes what it names or nothing.
class Front {
 public:
  explicit Front(std::string_view text) : text_(text) {}

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  bool take_any(std::string_view of) {
    if (at_ >= text_.size() || of.find(text_[at_]) == of.npos) return false;
    ++at_;
    return true;
  }
  bool digits(size_t least, size_t most) { return run(is_digit, least, most); }
  bool words(size_t most = 64) { return run(is_name, 1, most); }
  bool blanks() {
    return run([](char c) { return c == ' '; }, 1, 64);
  }
  // Everything up to and with `end`; not farther than `most`.
  bool through(std::string_view end, size_t most) {
    const size_t found = text_.substr(at_, most).find(end);
    if (found == std::string_view::npos) return false;
    at_ += found + end.size();
    return true;
  }
  // 12:35:11 and what fraction follows.
  bool time() {
    if (!digits(2, 2) || !take(':') || !digits(2, 2) || !take(':') ||
        !digits(2, 2)) {
      return false;
    }
    if (take_any(".,")) digits(1, 9);
    return true;
  }
  size_t at() const { return at_; }
  std::string_view rest() const { return text_.substr(at_); }
  std::string_view taken() const { return text_.substr(0, at_); }

 private:
  template <typename Is>
  bool run(Is is, size_t least, size_t most) {
    size_t end = at_;
    while (end < text_.size() && end - at_ < most && is(text_[end])) ++end;
    if (end - at_ < least) return false;
    at_ = end;
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

struct Prefix {
  std::string_view stream;  // who wrote it, where the prefix says
  bool is_record = false;
};

// [rank0]:  [default3]:  [0]:  [1,0]<stderr>:
bool rank_in_brackets(Front& f, Prefix& p) {
  if (!f.take('[')) return false;
  const bool named = f.take("rank") || f.take("default");
  if (!f.digits(1, 5)) return false;
  if (!named && f.take(',') && !f.digits(1, 5)) return false;
  if (!f.take(']')) return false;
  p.stream = f.taken();
  const bool has_file = f.take("<stderr>") || f.take("<stdout>");
  if (!f.take(':') && !named && !has_file) return false;
  f.take(' ');
  return true;
}

// (EngineCore_DP0 pid=3112)   (VllmWorker rank=1 pid=9)
bool process_in_parentheses(Front& f, Prefix& p) {
  if (!f.take('(') || !f.words()) return false;
  const size_t from = f.at();
  if (!f.through(")", 120)) return false;
  const std::string_view inside = f.taken().substr(from);
  if (inside.find("pid=") == inside.npos && inside.find("rank=") == inside.npos)
    return false;
  p.stream = f.taken();
  f.take(' ');
  return true;
}

// V1213 16:58:36.371000 1650887 torch/fx/x.py:57] [0/0]
bool glog(Front& f, Prefix& p) {
  if (!f.take_any("VIWEFD") || !f.digits(4, 4) || !f.blanks() || !f.time() ||
      !f.blanks()) {
    return false;
  }
  if (!f.through("] ", 400) && !f.through("]", 400)) return false;
  p.is_record = true;
  return true;
}

// [0/0_1]   of torch.compile: frame and attempt
bool compile_id(Front& f, Prefix&) {
  if (!f.take('[')) return false;
  if (f.take('!') && !f.digits(1, 4)) return false;
  if (f.rest().starts_with('/') && !f.take('/')) return false;
  if (!f.digits(1, 6) || !f.take('/') || !f.digits(1, 6)) return false;
  if (f.take('_') && !f.digits(1, 6)) return false;
  if (!f.take(']')) return false;
  f.take(' ');
  return true;
}

// torch._guards: [ERROR]   after the older stamp in brackets
bool module_and_level(Front& f, Prefix& p) {
  if (!f.take("torch.") || !f.through(": [", 120)) return false;
  for (std::string_view level :
       {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}) {
    if (!f.take(level)) continue;
    p.is_record = true;
    return f.take(']') && (f.take(' ') || true);
  }
  return false;
}

// 2025-01-02T03:04:05.6Z   [2023-12-09 15:28:05,619]
bool stamp(Front& f, Prefix&) {
  const bool bracket = f.take('[');
  if (!f.digits(4, 4) || !f.take_any("-/") || !f.digits(2, 2) ||
      !f.take_any("-/") || !f.digits(2, 2) || !f.take_any("T _") || !f.time()) {
    return false;
  }
  if (!f.take('Z') && f.take_any("+-")) f.through(" ", 8);
  if (bracket && !f.take(']')) return false;
  f.take(' ');
  return true;
}

// ERROR 12-15 12:35:11 [core.py:866]   and without the brackets
bool level_and_place(Front& f, Prefix&) {
  bool found = false;
  for (std::string_view level :
       {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}) {
    if (f.take(level)) {
      found = true;
      break;
    }
  }
  if (!found || !f.blanks() || !f.digits(2, 2) || !f.take('-') ||
      !f.digits(2, 2) || !f.blanks() || !f.time() || !f.blanks()) {
    return false;
  }
  return f.through("] ", 200) || f.through("]", 200);
}

// - module.name - ERROR -   of Python's logging
bool dashes_and_level(Front& f, Prefix&) {
  if (!f.take("- ")) return false;
  if (!f.through(" - ", 80)) return false;
  for (std::string_view level :
       {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}) {
    if (f.take(level)) return f.take(" - ");
  }
  return false;
}

// Aug 19 18:34:27 host unit[8727]:
bool syslog(Front& f, Prefix& p) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const size_t month = kMonths.find(f.rest().substr(0, 3));
  if (f.rest().size() < 4 || month == kMonths.npos || month % 3 != 0 ||
      !f.take(f.rest().substr(0, 3)) || !f.blanks() || !f.digits(1, 2) ||
      !f.blanks() || !f.time() || !f.blanks()) {
    return false;
  }
  const size_t from = f.at();
  if (!f.through("]: ", 120)) return false;
  p.stream = f.taken().substr(from);
  return true;
}

// vllm-1  |    of docker compose
bool container(Front& f, Prefix& p) {
  if (!f.words()) return false;
  bool numbered = false;
  while (f.take('-')) {
    numbered = !f.rest().empty() && is_digit(f.rest()[0]);
    if (!f.words()) return false;
  }
  if (!numbered) return false;
  p.stream = f.taken();
  if (!f.blanks() || !f.take('|')) return false;
  f.take(' ');
  return true;
}

// rank0: of launchers without brackets
bool rank_and_colon(Front& f, Prefix& p) {
  if (!(f.take("rank") || f.take("Rank ")) || !f.digits(1, 5)) return false;
  p.stream = f.taken();
  return f.take(": ");
}

// E   of pytest, > of a quotation
bool margin(Front& f, Prefix&) {
  if (f.take("E   ")) return true;
  return f.take("> ");
}

using Take = bool (*)(Front&, Prefix&);
constexpr Take kPrefixes[] = {rank_in_brackets, process_in_parentheses, glog,
                              compile_id,       module_and_level,       stamp,
                              level_and_place,  dashes_and_level,       syslog,
                              container,        rank_and_colon,         margin};

// Launchers name a process in every way: [rank0] and rank0 are one.
std::string stream_name(std::string_view prefix) {
  std::string name;
  for (char c : prefix) {
    if (is_name(c) || c == '=' || c == ' ' || c == '-') name += c;
  }
  return name;
}

// How long "[0;31m" at `i` is, which is left of a colour where the escape
// character was lost; 0 for anything else.
size_t colour_length(std::string_view text, size_t i) {
  size_t end = i + 1;
  while (end < text.size() && end - i < 12 &&
         (is_digit(text[end]) || text[end] == ';')) {
    ++end;
  }
  const bool is_colour = end > i + 1 && end < text.size() && text[end] == 'm';
  return is_colour ? end + 1 - i : 0;
}

// What pages and mails make of characters.  Longer names stand before shorter
// ones that they begin with.
struct Spelling {
  std::string_view there, here;
};
constexpr Spelling kEntities[] = {
    {"&lt;", "<"},    {"&gt;", ">"},     {"&amp;", "&"},    {"&quot;", "\""},
    {"&apos;", "'"},  {"&nbsp;", " "},   {"&#39;", "'"},    {"&#039;", "'"},
    {"&#x27;", "'"},  {"&#34;", "\""},   {"&#x22;", "\""},  {"&#60;", "<"},
    {"&#62;", ">"},   {"&#x3c;", "<"},   {"&#x3e;", ">"},   {"&#160;", " "},
    {"&#xa0;", " "},  {"&ldquo;", "\""}, {"&rdquo;", "\""}, {"&lsquo;", "'"},
    {"&rsquo;", "'"}, {"&le;", "<="},    {"&ge;", ">="},
};
constexpr Spelling kTypeset[] = {
    {"\u2018", "'"},  {"\u2019", "'"},  {"\u201a", "'"},   {"\u201b", "'"},
    {"\u201c", "\""}, {"\u201d", "\""}, {"\u201e", "\""},  {"\u201f", "\""},
    {"\u00a0", " "},  {"\u2002", " "},  {"\u2003", " "},   {"\u2009", " "},
    {"\u202f", " "},  {"\u3000", " "},  {"\u200b", ""},    {"\u200c", ""},
    {"\u200d", ""},   {"\u2060", ""},   {"\ufeff", ""},    {"\u2212", "-"},
    {"\u2264", "<="}, {"\u2265", ">="}, {"\u2026", "..."},
};
// The tags of a page.  There are no others: <module> and <lambda> are
// functions.
constexpr std::string_view kTags[] = {"pre", "code", "span", "div", "br", "p"};

// A row that the text goes on with at `i`; null where there is none.
template <size_t N>
const Spelling* spelling_at(const Spelling (&rows)[N], std::string_view text,
                            size_t i) {
  for (const Spelling& row : rows) {
    if (text.substr(i, row.there.size()) == row.there) return &row;
  }
  return nullptr;
}

// How long <pre class="x"> or </pre> at `i` is, where a line begins or ends
// with it; 0 for anything else.
size_t tag_length(std::string_view text, size_t i) {
  const size_t close = text.substr(i, fixed::log_tag).find('>');
  if (close == text.npos) return 0;
  const size_t end = i + close + 1;
  const bool begins_line = i == 0 || text[i - 1] == '\n' || text[i - 1] == '>';
  const bool ends_line = end == text.size() || text[end] == '\n' ||
                         text[end] == '\r' || text[end] == '<';
  if (!begins_line && !ends_line) return 0;
  std::string_view inside = text.substr(i + 1, close - 1);
  if (inside.starts_with('/')) inside.remove_prefix(1);
  for (std::string_view tag : kTags) {
    if (!inside.starts_with(tag)) continue;
    const std::string_view rest = inside.substr(tag.size());
    if (rest.empty() || rest[0] == ' ' || rest[0] == '/') return close + 1;
  }
  return 0;
}

// The text as it was printed: without escape sequences of terminals, and
// without what a page makes of quotation marks, blanks and < >; \r\n and \r
// end lines too.
std::string as_printed(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  const auto respell = [&](const Spelling* row, size_t& i) {
    if (row == nullptr) {
      out += text[i];
      return;
    }
    out += row->here;
    i += row->there.size() - 1;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    switch (c) {
      case '\r':
        if (i + 1 == text.size() || text[i + 1] != '\n') out += '\n';
        break;
      case '[':
        if (const size_t length = colour_length(text, i)) {
          i += length - 1;
        } else {
          out += c;
        }
        break;
      case '<':
        if (const size_t length = tag_length(text, i)) {
          i += length - 1;
        } else {
          out += c;
        }
        break;
      case '&': respell(spelling_at(kEntities, text, i), i); break;
      case '\xc2':
      case '\xe2':
      case '\xe3':
      case '\xef': respell(spelling_at(kTypeset, text, i), i); break;
      case '\x1b':
        if (i + 1 == text.size() || text[i + 1] != '[') break;
        ++i;
        while (i + 1 < text.size() && (text[i + 1] < '@' || text[i + 1] > '~'))
          ++i;
        ++i;
        break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace

uint32_t LogLines::stream_number(const std::string& name) {
  if (streams_.size() >= fixed::log_streams && !number_of_.count(name))
    return 0;
  auto [it, is_new] = number_of_.emplace(name, streams_.size());
  if (is_new) streams_.push_back(name);
  return it->second;
}

LogLines::LogLines(std::string_view text) : streams_{""}, number_of_{{"", 0}} {
  was_cut_ = text.size() > fixed::log_text;
  text_ = as_printed(text.substr(0, fixed::log_text));
  for (size_t from = 0, number = 1; from < text_.size(); ++number) {
    const size_t end = std::min(text_.find('\n', from), text_.size());
    LogLine line;
    line.text = std::string_view(text_).substr(from, end - from);
    line.number = static_cast<uint32_t>(number);
    from = end + 1;
    std::string name;
    Prefix prefix;
    for (bool again = true; again;) {
      again = false;
      for (Take take : kPrefixes) {
        Front front(line.text);
        prefix.stream = {};
        if (!take(front, prefix)) continue;
        line.text = front.rest();
        if (!prefix.stream.empty()) {
          if (!name.empty()) name += ' ';
          name += stream_name(prefix.stream);
        }
        again = true;
        break;
      }
    }
    line.is_record = prefix.is_record;
    line.stream = stream_number(name);
    lines_.push_back(line);
  }
}

}  // namespace proviso::inline v0_2::internal
