#include "guards/errors/diagnosis_text.h"

#include <cstdio>

#include "sym/excerpt.h"

namespace proviso::inline v0_2::internal {
namespace {

// The length of the UTF-8 character that begins at `i`; 0 where none does.
size_t utf8_length(const std::string& s, size_t i) {
  const auto byte = [&](size_t k) -> unsigned {
    return k < s.size() ? static_cast<unsigned char>(s[k]) : 0;
  };
  const unsigned first = byte(i);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 && first <= 0xF4   ? 4
                        : first >= 0xE0 && first <= 0xEF ? 3
                        : first >= 0xC2 && first <= 0xDF ? 2
                                                         : 0;
  for (size_t k = 1; k < length; ++k) {
    if ((byte(i + k) & 0xC0) != 0x80) return 0;
  }
  const unsigned second = byte(i + 1);
  const bool is_bad =
      (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
      (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return is_bad ? 0 : length;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(text, i);
    const char c = text[i];
    if (length == 0) {
      out += "\\ufffd";
      ++i;
    } else if (length > 1) {
      out += text.substr(i, length);
      i += length;
    } else {
      ++i;
      if (c == '"' || c == '\\') {
        out += '\\';
        out += c;
      } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
        char escaped[8];
        std::snprintf(escaped, sizeof(escaped), "\\u%04x", c);
        out += escaped;
      } else {
        out += c;
      }
    }
  }
  return out + '"';
}

std::string list(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) {
    out += (out.size() > 1 ? ", " : "") + quoted(text);
  }
  return out + "]";
}

std::string object(const std::map<std::string, std::string>& members) {
  std::string out = "{";
  for (const auto& [name, value] : members) {
    out += (out.size() > 1 ? ", " : "") + quoted(name) + ": " + quoted(value);
  }
  return out + "}";
}

std::string to_json(const Diagnosis& d, bool all) {
  std::string out = "{\"kind\": " + quoted(std::string(name_of(d.kind)));
  const auto member = [&](const char* name, const std::string& value) {
    out += ", \"" + std::string(name) + "\": " + value;
  };
  member("conditions", list(d.conditions));
  member("code", list(d.code));
  member("file", d.file.empty() ? "null" : quoted(d.file));
  member("line", d.line > 0 ? std::to_string(d.line) : "null");
  member("names", object(d.names));
  if (!all) return out + "}";
  member("question", quoted(d.question));
  member("answer", !d.answer ? "null" : *d.answer ? "true" : "false");
  member("excludes", list(d.excludes));
  member("other_code", list(d.other_code));
  member("facts", list(d.facts));
  member("made", object(d.made));
  member("source_line", quoted(d.source_line));
  member("why", quoted(d.why));
  member("counterexample", quoted(d.counterexample));
  member("stream", quoted(d.stream));
  member("text_line", std::to_string(d.text_line));
  member("times", std::to_string(d.times));
  return out + "}";
}

// --- for people

// The text, cut after about `most` bytes at a whole character of UTF-8.
// Control characters of other people's texts do nothing to a terminal.
std::string shown(const std::string& text, size_t most = kSentenceLength) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (out.size() >= most) return out + "...";
    const size_t length = utf8_length(text, i);
    const auto byte = static_cast<unsigned char>(text[i]);
    if (length > 1) {
      out += text.substr(i, length);
    } else {
      out += length == 0 || byte == 0x7f ? '?' : byte < 0x20 ? ' ' : text[i];
    }
    i += length == 0 ? 1 : length;
  }
  return out;
}

class Page {
 public:
  explicit Page(bool colour) : colour_(colour) {}

  void write(const Diagnosis& d) {
    if (!text_.empty()) text_ += '\n';
    text_ += paint(std::string(name_of(d.kind)), "1");
    if (!d.file.empty()) {
      text_ += " at " + shown(d.file);
      if (d.line > 0) text_ += ":" + std::to_string(d.line);
    }
    if (!d.stream.empty()) text_ += " (" + shown(d.stream) + ")";
    if (d.times > 1) text_ += ", said " + std::to_string(d.times) + " times";
    text_ += '\n';
    if (!d.source_line.empty()) text_ += "    " + shown(d.source_line) + '\n';
    if (!d.question.empty()) row("PyTorch asks", shown(d.question));
    for (const std::string& fact : d.facts) row("known", shown(fact));
    checks(d);
    if (!d.counterexample.empty()) {
      row("it refuses", shown(d.counterexample));
    }
    for (const auto& [symbol, made] : d.made) {
      if (!d.names.count(symbol)) row(symbol + " is from", shown(made));
    }
    if (!d.why.empty()) text_ += "  " + d.why + '\n';
  }

  std::string take() { return std::move(text_); }

 private:
  // The lines to insert, or the conditions where names are not known.
  void checks(const Diagnosis& d) {
    const bool is_spec = d.kind == DiagnosisKind::kDimSpec;
    const char* label = is_spec ? "spec" : "insert before it";
    lines(label, d.code, d.conditions);
    lines("or instead", d.other_code, d.excludes);
  }

  void lines(const char* label, const std::vector<std::string>& code,
             const std::vector<std::string>& conditions) {
    for (const std::string& line : code) {
      row(label, paint(shown(line), "32"));
      label = "";
    }
    if (!code.empty()) return;
    for (const std::string& condition : conditions) {
      row(label, paint(shown(condition), "32"));
      label = "";
    }
  }

  void row(std::string label, const std::string& value) {
    constexpr size_t kWidth = 18;
    if (label.size() < kWidth) label.resize(kWidth, ' ');
    text_ += "  " + label + value + '\n';
  }

  std::string paint(const std::string& text, const char* code) const {
    if (!colour_) return text;
    return "\033[" + std::string(code) + "m" + text + "\033[0m";
  }

  const bool colour_;
  std::string text_;
};

}  // namespace

std::string to_text(const std::vector<Diagnosis>& errors, bool colour) {
  Page page(colour);
  for (const Diagnosis& d : errors) page.write(d);
  return page.take();
}

std::string to_json(const std::vector<Diagnosis>& errors, bool all) {
  std::string out;
  for (const Diagnosis& d : errors) {
    out += (out.empty() ? "" : ", ") + to_json(d, all);
  }
  return "{\"errors\": [" + out + "]}";
}

}  // namespace proviso::inline v0_2::internal
