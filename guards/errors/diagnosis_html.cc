// One page, from top to bottom: how many errors and which, as links; then each
// in a section of its own with the line, the checks, why, a picture of what
// implies what, and what the symbols are.  All is in the page: its policy
// forbids any request.
#include "guards/errors/diagnosis_html.h"

#include <algorithm>

#include "guards/fixed_limits.h"
#include "sym/excerpt.h"

namespace proviso::inline v0_2::internal {
namespace {

constexpr const char kHead[] = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>Shape errors</title>
<style>
:root { color-scheme: light dark;
  --ink: #1c2127; --soft: #59636e; --page: #f6f7f8; --card: #ffffff;
  --line: #d5dae0; --code: #f3f5f7; --good: #14663a; --good-back: #e9f6ee;
  --mark: #0b57a8; --implied: #14663a; --needed: #0b57a8; --branch: #8a4b00;
  --contradiction: #ab1f2b; --spec: #6b3fa0; --bug: #59636e; }
@media (prefers-color-scheme: dark) { :root {
  --ink: #e4e7eb; --soft: #9aa5b1; --page: #121519; --card: #1a1e24;
  --line: #343b45; --code: #22272f; --good: #7ed6a0; --good-back: #17291f;
  --mark: #84b9f5; --implied: #7ed6a0; --needed: #84b9f5; --branch: #f0b35f;
  --contradiction: #ff9097; --spec: #c9a7f5; --bug: #a9b3be; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink);
  background: var(--page); max-width: 62rem; margin: 0 auto;
  padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.5rem; margin: 0 0 .75rem; }
code, pre, svg text { font-family: ui-monospace, "SF Mono", Menlo, Consolas,
  "DejaVu Sans Mono", monospace; font-size: .875rem; }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
a { color: inherit; }
:focus-visible { outline: 2px solid var(--mark); outline-offset: 2px; }
.kind { display: inline-block; font-size: .8125rem; font-weight: 600;
  color: var(--hue); border: 1px solid currentColor; border-radius: 999px;
  padding: 0 .6rem; white-space: nowrap; }
.implied { --hue: var(--implied); } .needed_check { --hue: var(--needed); }
.real_branch { --hue: var(--branch); } .dim_spec { --hue: var(--spec); }
.contradiction { --hue: var(--contradiction); } .bug_in_op { --hue: var(--bug); }
nav ol { list-style: none; margin: 0 0 1.5rem; padding: 0; }
nav a { display: grid; grid-template-columns: 9rem minmax(0, 1fr) auto;
  gap: .75rem; align-items: baseline; padding: .3rem .5rem; border-radius: 6px;
  text-decoration: none; border-bottom: 1px solid var(--line); }
nav a:hover { background: var(--card); }
nav code { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
nav .place { color: var(--soft); font-size: .8125rem; }
details { background: var(--card); border: 1px solid var(--line);
  border-left: 4px solid var(--hue); border-radius: 8px; margin: 0 0 1.25rem; }
summary { cursor: pointer; padding: .75rem 1rem; display: flex; gap: .75rem;
  align-items: baseline; flex-wrap: wrap; }
summary::marker { content: ""; }
summary::before { content: "\25B8"; color: var(--soft); }
details[open] > summary::before { content: "\25BE"; }
summary .place { margin-left: auto; color: var(--soft); }
summary .place, summary code { overflow-wrap: anywhere; min-width: 0; }
.body { padding: 0 1rem 1rem; }
.row { display: grid; grid-template-columns: 9rem minmax(0, 1fr); gap: .75rem;
  padding: .35rem 0; }
.row > .term { color: var(--soft); font-size: .875rem; padding-top: .3rem; }
.row pre, .row code.block { display: block; background: var(--code);
  border-radius: 6px; padding: .3rem .6rem; }
.row pre.check { background: var(--good-back); color: var(--good); }
.check-box { display: flex; gap: .5rem; align-items: flex-start; }
.check-box pre { flex: 1; }
button { font: inherit; font-size: .8125rem; color: var(--ink);
  background: var(--card); border: 1px solid var(--line); border-radius: 6px;
  padding: .2rem .6rem; cursor: pointer; }
.number { color: var(--soft); user-select: none; padding-right: .75rem; }
.why { margin: .5rem 0 0; }
figure { margin: .75rem 0 0; overflow-x: auto; }
svg { display: block; }
svg text { fill: var(--ink); } svg .label { fill: var(--soft); }
svg rect { fill: var(--code); stroke: var(--line); }
svg .asked { stroke: var(--mark); stroke-width: 2; }
svg .check { stroke: var(--good); stroke-width: 2; fill: var(--good-back); }
svg .edge { fill: none; stroke: var(--soft); stroke-width: 1.5; }
svg .other { stroke-dasharray: 5 4; }
svg marker path { fill: var(--soft); }
footer { color: var(--soft); font-size: .875rem; }
kbd { font: inherit; border: 1px solid var(--line); border-bottom-width: 2px;
  border-radius: 4px; padding: 0 .35rem; background: var(--card); }
@media (max-width: 40rem) {
  .row { grid-template-columns: minmax(0, 1fr); gap: .1rem; }
  nav a { grid-template-columns: minmax(0, 1fr); gap: .1rem; }
  summary .place { margin-left: 0; } }
@media print { button, footer { display: none; } }
</style>
</head>
<body>
<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>
<marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7"
 markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs></svg>
<main>
)";

constexpr const char kFoot[] = R"(</main>
<footer><p><kbd>j</kbd> <kbd>k</kbd> or <kbd>&darr;</kbd> <kbd>&uarr;</kbd> next
and previous error, <kbd>Enter</kbd> fold, <kbd>c</kbd> copy its checks</p>
<p id="said" role="status"></p></footer>
<script>
const errors = [...document.querySelectorAll("details")];
const heads = errors.map(error => error.querySelector("summary"));
const said = document.getElementById("said");
function copy(within) {
  const checks = within && within.querySelector("pre.check");
  if (!checks) return;
  const text = checks.textContent.trim();
  getSelection().selectAllChildren(checks);
  said.textContent = "Selected: " + text;
  if (!navigator.clipboard) return;
  const done = () => { said.textContent = "Copied: " + text; };
  navigator.clipboard.writeText(text).then(done, () => {});
}
function current() {
  const at = document.activeElement.closest("details");
  return errors.indexOf(at);
}
for (const button of document.querySelectorAll("button")) {
  button.addEventListener("click", () => copy(button.parentElement));
}
for (const link of document.querySelectorAll("nav a")) {
  link.addEventListener("click", event => {
    const error = document.querySelector(link.getAttribute("href"));
    error.open = true;
    error.querySelector("summary").focus();
    error.scrollIntoView({block: "start"});
    event.preventDefault();
  });
}
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "c") return copy(errors[Math.max(current(), 0)]);
  const step = {j: 1, ArrowDown: 1, k: -1, ArrowUp: -1}[event.key];
  if (!step || errors.length === 0) return;
  const at = current();
  const next = at < 0 ? 0 : Math.min(Math.max(at + step, 0), heads.length - 1);
  heads[next].focus();
  heads[next].scrollIntoView({block: "nearest"});
  event.preventDefault();
});
</script>
</body>
</html>
)";

// Text as HTML shows it: nothing of it is markup, and control characters are
// gone.  Bytes that are no UTF-8 are the browser's to replace.
std::string escaped(const std::string& text, size_t most = kMessageLength) {
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

std::string code(const std::string& text, size_t most = kMessageLength) {
  return "<code>" + escaped(text, most) + "</code>";
}

// --- the picture: what is known or promised, what it decides, and how

class Picture {
 public:
  explicit Picture(const Diagnosis& d) : d_(d) {
    if (d.kind == DiagnosisKind::kImplied) {
      add_group("known", d.facts, "fact", d.answer);
    } else {
      add_group("with the check", d.conditions, "check", d.answer);
      if (d.answer) {
        add_group("or instead", d.excludes, "check other", !*d.answer);
      }
    }
  }

  bool is_empty() const { return d_.question.empty() || groups_.empty(); }

  std::string svg() {
    lay_out();
    std::string edges, boxes;
    const Box question{cut(d_.question), question_x_, middle_, question_wide_};
    for (const Group& group : groups_) {
      boxes += label(group.title, kLeft, group.y - 8);
      for (const Box& box : group.boxes) {
        edges +=
            edge(box.x + box.wide, box.y, question.x, question.y, group.style);
        boxes += drawn(box, group.style);
      }
      if (!group.answer) continue;
      const int y = groups_.size() == 1 ? middle_ : group.center();
      edges += edge(question.x + question.wide, question.y, answer_x_, y,
                    group.style);
      boxes += drawn({*group.answer ? "True" : "False", answer_x_, y, kAnswer},
                     group.style);
    }
    boxes += label("PyTorch asks", question.x, question.y - kHigh / 2 - 8);
    return "<figure><svg role=\"img\" width=\"" + number(width_) +
           "\" height=\"" + number(height_) + "\"><title>" + title() +
           "</title>" + edges + boxes + drawn(question, "asked") +
           "</svg></figure>\n";
  }

 private:
  struct Box {
    std::string text;
    int x, y, wide;  // y of its middle
  };
  struct Group {
    std::string title, style;
    std::vector<std::string> texts;
    std::optional<bool> answer;
    std::vector<Box> boxes;
    int y = 0;  // its upper end
    int center() const { return (boxes.front().y + boxes.back().y) / 2; }
  };
  static constexpr int kLeft = 2, kHigh = 30, kGap = 10, kTitle = 26,
                       kBetween = 64, kLetter = 9, kAnswer = 64;
  static constexpr size_t kLetters = 44;  // of a box

  void add_group(const char* title, const std::vector<std::string>& all,
                 const char* style, std::optional<bool> answer) {
    if (all.empty()) return;
    Group group{title, style, {}, answer, {}};
    for (const auto& text : all) {
      if (group.texts.size() == fixed::drawn_boxes) break;
      group.texts.push_back(text);
    }
    if (all.size() > fixed::drawn_boxes) {
      group.texts.push_back(
          "and " + std::to_string(all.size() - fixed::drawn_boxes) + " more");
    }
    groups_.push_back(std::move(group));
  }

  const char* title() const {
    return d_.kind == DiagnosisKind::kImplied
               ? "what is known decides the question"
               : "the checks decide the question";
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
  static int width_of(const std::string& text) {
    return static_cast<int>(text.size()) * kLetter + 20;
  }

  void lay_out() {
    int wide = 0, y = 0;
    for (const Group& group : groups_) {
      for (const std::string& t : group.texts) {
        wide = std::max(wide, width_of(cut(t)));
      }
    }
    for (Group& group : groups_) {
      y += kTitle;
      group.y = y;
      for (const std::string& t : group.texts) {
        group.boxes.push_back({cut(t), kLeft, y + kHigh / 2, wide});
        y += kHigh + kGap;
      }
    }
    middle_ = std::max(
        (groups_.front().boxes.front().y + groups_.back().boxes.back().y) / 2,
        kTitle + kHigh / 2);
    height_ = y + 2;
    question_x_ = kLeft + wide + kBetween;
    question_wide_ = std::max(width_of(cut(d_.question)), 110);
    answer_x_ = question_x_ + question_wide_ + kBetween;
    width_ = answer_x_ + kAnswer + 2;
  }

  static std::string edge(int x1, int y1, int x2, int y2,
                          const std::string& style) {
    const std::string middle = number((x1 + x2) / 2);
    const bool is_other = style.ends_with("other");
    return "<path class=\"" + std::string(is_other ? "edge other" : "edge") +
           "\" d=\"M" + number(x1) + " " + number(y1) + "C" + middle + " " +
           number(y1) + " " + middle + " " + number(y2) + " " + number(x2 - 2) +
           " " + number(y2) + "\" marker-end=\"url(#arrow)\"/>";
  }

  static std::string label(const std::string& text, int x, int y) {
    return "<text class=\"label\" x=\"" + number(x) + "\" y=\"" + number(y) +
           "\">" + text + "</text>";
  }

  static std::string drawn(const Box& box, const std::string& style) {
    return "<rect class=\"" + style + "\" x=\"" + number(box.x) + "\" y=\"" +
           number(box.y - kHigh / 2) + "\" width=\"" + number(box.wide) +
           "\" height=\"" + number(kHigh) + "\" rx=\"6\"/><text x=\"" +
           number(box.x + 10) + "\" y=\"" + number(box.y + 5) + "\">" +
           escaped(box.text) + "</text>";
  }

  const Diagnosis& d_;
  std::vector<Group> groups_;
  int middle_ = 0, width_ = 0, height_ = 0;
  int question_x_ = 0, question_wide_ = 0, answer_x_ = 0;
};

// --- the page

std::string kind_tag(DiagnosisKind kind) {
  std::string words(name_of(kind));
  std::replace(words.begin(), words.end(), '_', ' ');
  return "<span class=\"kind\">" + words + "</span>";
}

// The end of a path, with the line: app/cache.py:20.
std::string short_place(const Diagnosis& d) {
  if (d.file.empty()) return "";
  size_t slash = d.file.rfind('/');
  if (slash != d.file.npos && slash > 0) slash = d.file.rfind('/', slash - 1);
  std::string place = slash == d.file.npos ? d.file : d.file.substr(slash + 1);
  if (d.line > 0) place += ":" + std::to_string(d.line);
  return place;
}

// What stands for an error in a line.
std::string subject(const Diagnosis& d) {
  if (!d.question.empty()) return d.question;
  std::string all;
  for (const std::string& c : d.conditions) {
    all += (all.empty() ? "" : ", ") + c;
  }
  return all;
}

std::string row(const std::string& term, const std::string& content) {
  return "<div class=\"row\"><div class=\"term\">" + term + "</div><div>" +
         content + "</div></div>\n";
}

std::string block(const std::vector<std::string>& lines, const char* style) {
  std::string out = "<pre class=\"" + std::string(style) + "\">";
  for (const std::string& line : lines) out += escaped(line) + "\n";
  return out + "</pre>";
}

std::string checks(const std::string& term,
                   const std::vector<std::string>& code_lines,
                   const std::vector<std::string>& conditions) {
  const auto& chosen = code_lines.empty() ? conditions : code_lines;
  if (chosen.empty()) return "";
  return row(term, "<div class=\"check-box\">" + block(chosen, "check") +
                       "<button type=\"button\">Copy</button></div>");
}

std::string section(const Diagnosis& d, size_t number) {
  const std::string id = "e" + std::to_string(number);
  std::string out = "<details open id=\"" + id + "\" class=\"" +
                    std::string(name_of(d.kind)) + "\"><summary>" +
                    kind_tag(d.kind) + code(subject(d), kArgumentLength) +
                    "<span class=\"place\">" + escaped(short_place(d)) +
                    "</span></summary>\n<div class=\"body\">\n";
  if (!d.file.empty()) {
    std::string place = "<code>" + escaped(d.file);
    if (d.line > 0) place += ":" + std::to_string(d.line);
    place += "</code>";
    if (!d.source_line.empty()) {
      place += "<pre><span class=\"number\">" +
               (d.line > 0 ? std::to_string(d.line) : std::string()) +
               "</span>" + escaped(d.source_line) + "</pre>";
    }
    out += row("asked at", place);
  }
  const bool is_spec = d.kind == DiagnosisKind::kDimSpec ||
                       (d.question.empty() && !d.code.empty());
  out += checks(is_spec ? "spec" : "insert before it", d.code, d.conditions);
  if (is_spec && !d.conditions.empty()) {
    out += row("that is", block(d.conditions, ""));
  }
  out += checks("or instead", d.other_code, d.excludes);
  if (!d.counterexample.empty()) {
    out += row("it refuses", code(d.counterexample));
  }
  if (!d.facts.empty()) out += row("known", block(d.facts, ""));
  for (const auto& [symbol, words] : d.names) {
    if (!words.empty()) out += row(code(symbol) + " is", code(words));
  }
  for (const auto& [symbol, made] : d.made) {
    if (!d.names.contains(symbol)) {
      out += row(code(symbol) + " is from", code(made));
    }
  }
  if (!d.stream.empty()) out += row("said by", code(d.stream));
  out += "<p class=\"why\">" + escaped(d.why) + "</p>\n";
  Picture picture(d);
  if (!picture.is_empty()) out += picture.svg();
  return out + "</div></details>\n";
}

std::string contents(const std::vector<Diagnosis>& errors) {
  std::string out = "<nav aria-label=\"Errors\"><ol>\n";
  for (size_t i = 0; i < errors.size(); ++i) {
    const Diagnosis& d = errors[i];
    out += "<li><a class=\"" + std::string(name_of(d.kind)) + "\" href=\"#e" +
           std::to_string(i + 1) + "\"><span>" + kind_tag(d.kind) + "</span>" +
           code(subject(d), kArgumentLength) + "<span class=\"place\">" +
           escaped(short_place(d)) + "</span></a></li>\n";
  }
  return out + "</ol></nav>\n";
}

}  // namespace

std::string to_html(const std::vector<Diagnosis>& errors) {
  std::string out = kHead;
  out += "<h1>" + std::to_string(errors.size()) +
         (errors.size() == 1 ? " shape error" : " shape errors") + "</h1>\n";
  if (errors.size() > 1) out += contents(errors);
  for (size_t i = 0; i < errors.size(); ++i) out += section(errors[i], i + 1);
  return out + kFoot;
}

}  // namespace proviso::inline v0_2::internal
