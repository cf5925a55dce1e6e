#include "guards/diagnosis_html.h"

#include <algorithm>

namespace proviso {
namespace {

constexpr const char kHead[] = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Shape errors</title>
<style>
:root { color-scheme: light dark; --ink: #1d2129; --page: #fbfbfa;
  --card: #ffffff; --line: #cfd4dc; --soft: #5b6472; --good: #17663a;
  --mark: #1f5fae; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8ec; --page: #14161a;
  --card: #1c1f25; --line: #3b414c; --soft: #a3acba; --good: #7fd6a2;
  --mark: #8ab8f2; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink);
  background: var(--page); max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.3rem; }
details { background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; padding: .6rem 1rem; margin: 1rem 0; }
summary { cursor: pointer; font-weight: 600; overflow-wrap: anywhere; }
summary:focus-visible { outline: 2px solid var(--mark); outline-offset: 4px; }
.kind { border: 1px solid var(--line); border-radius: 4px; padding: 0 .4rem;
  margin-right: .5rem; }
pre, code { font: 14px/1.5 ui-monospace, monospace; }
pre { border-left: 3px solid var(--line); padding-left: .8rem; margin: .5rem 0;
  white-space: pre-wrap; overflow-wrap: anywhere; }
pre.check { border-color: var(--good); color: var(--good); }
dt { color: var(--soft); margin-top: .6rem; }
dd { margin: 0; }
figure { margin: 1rem 0; overflow-x: auto; }
svg text { font: 13px ui-monospace, monospace; fill: var(--ink); }
svg rect { fill: var(--page); stroke: var(--line); }
svg rect.asked { stroke: var(--mark); stroke-width: 2; }
svg rect.check { stroke: var(--good); stroke-width: 2; }
svg path { fill: none; stroke: var(--soft); }
svg marker path { fill: var(--soft); }
footer { color: var(--soft); font-size: .9rem; }
</style>
</head>
<body>
<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>
<marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8"
 markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs></svg>
<main>
)";

constexpr const char kFoot[] = R"(</main>
<footer>j, k or the arrow keys: next and previous error.  Enter: fold.</footer>
<script>
const errors = [...document.querySelectorAll("summary")];
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const step = {j: 1, ArrowDown: 1, k: -1, ArrowUp: -1}[event.key];
  if (!step || errors.length === 0) return;
  const at = errors.indexOf(document.activeElement);
  const next = at < 0 ? 0 :
      Math.min(Math.max(at + step, 0), errors.length - 1);
  errors[next].focus();
  errors[next].scrollIntoView({block: "nearest"});
  event.preventDefault();
});
</script>
</body>
</html>
)";

// Text as HTML shows it: nothing of it is markup, and control characters are
// gone.  Bytes that are no UTF-8 are the browser's to replace.
std::string escaped(const std::string& text, size_t most = 2000) {
  std::string out;
  for (char c : text.substr(0, most)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default:
        const auto byte = static_cast<unsigned char>(c);
        out += byte < 0x20 || byte == 0x7f ? ' ' : c;
    }
  }
  return text.size() > most ? out + "..." : out;
}

// --- the picture: facts on the left, the question, the checks on the right

class Picture {
 public:
  explicit Picture(const Diagnosis& d) {
    const bool is_implied = d.kind == DiagnosisKind::kImplied;
    columns_.push_back({first(d.facts), ""});
    columns_.push_back({{d.question}, "asked"});
    if (!d.conditions.empty()) {
      columns_.push_back({first(d.conditions), "check"});
    }
    label_ = is_implied ? "what is known decides the question"
                        : "the checks decide the question";
  }

  bool is_empty() const {
    return columns_[1].texts[0].empty() ||
           (columns_[0].texts.empty() && columns_.size() < 3);
  }

  std::string svg() {
    lay_out();
    std::string out = "<figure><svg role=\"img\" width=\"" + number(width_) +
                      "\" height=\"" + number(height_) + "\"><title>" + label_ +
                      "</title>";
    // Facts lead to the question, and so do checks.
    for (const Box& fact : boxes_[0]) out += arrow(fact, boxes_[1][0], true);
    if (boxes_.size() > 2) {
      for (const Box& check : boxes_[2]) {
        out += arrow(check, boxes_[1][0], false);
      }
    }
    for (size_t c = 0; c < boxes_.size(); ++c) {
      for (const Box& box : boxes_[c]) out += drawn(box, columns_[c].style);
    }
    return out + "</svg></figure>\n";
  }

 private:
  struct Column {
    std::vector<std::string> texts;
    std::string style;
  };
  struct Box {
    std::string text;
    int x, y, width;
  };
  static constexpr int kHigh = 30, kGap = 14, kBetween = 60, kLetter = 8;
  static constexpr size_t kMost = 8, kLetters = 46;

  static std::vector<std::string> first(const std::vector<std::string>& all) {
    std::vector<std::string> some(all.begin(),
                                  all.begin() + std::min(all.size(), kMost));
    if (all.size() > kMost) {
      some.push_back("and " + std::to_string(all.size() - kMost) + " more");
    }
    return some;
  }
  static std::string number(int n) { return std::to_string(n); }

  // Cut between characters of UTF-8.
  static std::string cut(const std::string& text) {
    if (text.size() <= kLetters) return text;
    size_t end = kLetters - 3;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
      --end;
    }
    return text.substr(0, end) + "...";
  }

  void lay_out() {
    size_t rows = 1;
    for (const Column& c : columns_) rows = std::max(rows, c.texts.size());
    height_ = static_cast<int>(rows) * (kHigh + kGap) + kGap;
    int x = 2;
    for (const Column& c : columns_) {
      size_t letters = 0;
      for (const std::string& t : c.texts) {
        letters = std::max(letters, cut(t).size());
      }
      const int wide = static_cast<int>(letters) * kLetter + 20;
      const int used = static_cast<int>(c.texts.size()) * (kHigh + kGap);
      int y = (height_ - used) / 2 + kGap / 2;
      boxes_.emplace_back();
      for (const std::string& t : c.texts) {
        boxes_.back().push_back({cut(t), x, y, wide});
        y += kHigh + kGap;
      }
      if (!c.texts.empty()) x += wide + kBetween;
    }
    width_ = x - kBetween + 2;
  }

  static std::string arrow(const Box& from, const Box& to, bool rightward) {
    const int x1 = rightward ? from.x + from.width : from.x;
    const int x2 = rightward ? to.x : to.x + to.width;
    const int y1 = from.y + kHigh / 2, y2 = to.y + kHigh / 2;
    const int middle = (x1 + x2) / 2;
    return "<path d=\"M" + number(x1) + " " + number(y1) + "C" +
           number(middle) + " " + number(y1) + " " + number(middle) + " " +
           number(y2) + " " + number(x2) + " " + number(y2) +
           "\" marker-end=\"url(#arrow)\"/>";
  }

  static std::string drawn(const Box& box, const std::string& style) {
    return "<rect class=\"" + style + "\" x=\"" + number(box.x) + "\" y=\"" +
           number(box.y) + "\" width=\"" + number(box.width) + "\" height=\"" +
           number(kHigh) + "\" rx=\"5\"/><text x=\"" + number(box.x + 10) +
           "\" y=\"" + number(box.y + 20) + "\">" + escaped(box.text) +
           "</text>";
  }

  std::vector<Column> columns_;
  std::vector<std::vector<Box>> boxes_;
  std::string label_;
  int width_ = 0, height_ = 0;
};

// --- the page

std::string words_of(DiagnosisKind kind) {
  std::string words(name_of(kind));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string lines(const char* term, const std::vector<std::string>& code,
                  const std::vector<std::string>& conditions,
                  const char* style) {
  const std::vector<std::string>& chosen = code.empty() ? conditions : code;
  if (chosen.empty()) return "";
  std::string out =
      "<dt>" + std::string(term) + "</dt><dd><pre class=\"" + style + "\">";
  for (const std::string& line : chosen) out += escaped(line) + "\n";
  return out + "</pre></dd>\n";
}

std::string section(const Diagnosis& d) {
  std::string out = "<details open><summary><span class=\"kind\">" +
                    words_of(d.kind) + "</span> <code>" +
                    escaped(d.question, 200) + "</code></summary>\n<dl>\n";
  if (!d.file.empty()) {
    out += "<dt>asked at</dt><dd><code>" + escaped(d.file);
    if (d.line > 0) out += ":" + std::to_string(d.line);
    out += "</code>";
    if (!d.source_line.empty()) {
      out += "<pre>" + escaped(d.source_line) + "</pre>";
    }
    out += "</dd>\n";
  }
  const bool is_spec = d.kind == DiagnosisKind::kDimSpec;
  out += lines(is_spec ? "spec" : "insert before it", d.code, d.conditions,
               "check");
  out += lines("or instead", d.other_code, d.excludes, "check");
  out += lines("known", d.facts, {}, "fact");
  if (!d.counterexample.empty()) {
    out += "<dt>the check refuses</dt><dd><code>" + escaped(d.counterexample) +
           "</code></dd>\n";
  }
  for (const auto& [symbol, words] : d.names) {
    out += "<dt><code>" + escaped(symbol) + "</code> is</dt><dd><code>" +
           escaped(words) + "</code></dd>\n";
  }
  for (const auto& [symbol, made] : d.made) {
    out += "<dt><code>" + escaped(symbol) + "</code> is from</dt><dd><code>" +
           escaped(made) + "</code></dd>\n";
  }
  out += "</dl>\n";
  Picture picture(d);
  if (!picture.is_empty()) out += picture.svg();
  return out + "<p>" + escaped(d.why) + "</p></details>\n";
}

}  // namespace

std::string to_html(const std::vector<Diagnosis>& errors) {
  std::string out = kHead;
  out += "<h1>" + std::to_string(errors.size()) +
         (errors.size() == 1 ? " shape error" : " shape errors") + "</h1>\n";
  for (const Diagnosis& d : errors) out += section(d);
  return out + kFoot;
}

}  // namespace proviso
