// The line that asks is found in the quoted functions: by its code where a
// frame shows it, else by its condition.  From there the lines are walked
// upwards; a line counts while it is in the block of the line that asks or in
// one around it, which is when its indentation is not deeper than any between.
#include "guards/errors/user_checks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "guards/errors/error_text.h"
#include "guards/errors/text_parts.h"
#include "guards/fixed_limits.h"
#include "sym/canonical.h"
#include "sym/parse.h"
#include "sym/pool_stores.h"

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

// The name that a word begins with: x of x.shape[0].
string_view root_of(string_view word) {
  size_t end = 0;
  while (end < word.size() && is_name(word[end])) ++end;
  return word.substr(0, end);
}

// --- conditions of Python over words

// A condition with each word (n, x.shape[0], self.size) as w0, w1, ..; nullopt
// where it is more than arithmetic and comparisons.
struct Worded {
  std::string text;
  std::vector<std::string> words;
};
std::optional<Worded> in_words(string_view code) {
  Worded result;
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
    auto known = std::find(result.words.begin(), result.words.end(), word);
    result.text += "w" + std::to_string(known - result.words.begin());
    if (known == result.words.end()) result.words.push_back(std::move(word));
  }
  return result;
}

bool is_size(string_view word) {
  return has(word, ".shape[") || word.ends_with(".numel()");
}

class Quoted {
 public:
  Quoted(const ErrorText& text, const TextError& e, Expr question,
         const TextFrame& place, const SymbolNames& names, Context& context)
      : text_(text),
        e_(e),
        question_(question),
        place_(place),
        context_(context),
        pool_(context.pool()) {
    for (Expr s : free_symbols(question)) {
      const std::string words = names.of(s.symbol().name);
      if (!words.empty()) by_text_.emplace(words, s);
    }
  }

  bool assume() {
    // The text may quote several functions of the name: what all of them check
    // before the line.
    std::optional<std::vector<Check>> common;
    for (const TextFunction& function : text_.functions) {
      const bool is_same =
          place_.function.empty() || function.name == place_.function;
      // What is quoted after the error may be the program mended.
      const bool is_before = function.line < e_.line;
      if (function.stream != e_.stream || !is_same || !is_before) continue;
      for (size_t i = 0; i < function.lines.size(); ++i) {
        named_ = by_text_;
        if (!asks(function.lines[i].code)) continue;
        function_ = &function;
        asking_ = i;
        const std::vector<Check> found = checks();
        if (!common) common = found;
        std::erase_if(*common, [&](const Check& c) {
          return std::none_of(found.begin(), found.end(), [&](const Check& d) {
            return c.condition == d.condition;
          });
        });
      }
    }
    if (!common) return false;
    for (const Check& c : *common) {
      for (Expr s : free_symbols(c.condition)) {
        const std::string& name = s.symbol().name;
        if (name.starts_with(kWordPrefix) && is_size(name)) {
          context_.declare(s, Interval::at_least(0));
        }
      }
      context_.assume(c.condition, {c.code, place_.file, 0});
    }
    return !common->empty();
  }

 private:
  struct Check {
    Expr condition;
    std::string code;
  };

  const std::vector<SourceLine>& lines() const { return function_->lines; }

  std::vector<Check> checks() {
    std::vector<Check> found;
    for (size_t i : before()) {
      const std::string check = checked_by(lines()[i].code);
      if (check.empty() || found.size() >= fixed::assumed_checks) continue;
      if (auto condition = read(check, i)) {
        found.push_back({*condition, lines()[i].code});
      }
    }
    return found;
  }

  // --- the line that asks

  bool asks(const std::string& code) {
    if (place_.code.empty()) return match(code);
    if (code != place_.code) return false;
    match(code);  // where it can be, words are known by it
    return true;
  }

  // The question's symbols for the words of the condition, where one way only
  // makes them the same.
  bool match(const std::string& code) {
    const std::optional<Worded> asked = in_words(asked_by(code));
    if (!asked || asked->words.empty()) return false;
    std::vector<Expr> symbols = free_symbols(question_);
    const size_t n = symbols.size();
    if (asked->words.size() != n || n > fixed::asked_words) return false;
    std::sort(symbols.begin(), symbols.end(), ExprLess());
    const Expr wanted = canonical(question_);
    std::optional<std::vector<Expr>> found;
    do {
      const auto one = parsed(asked->text, symbols);
      if (!one || !one->is_bool() || canonical(*one) != wanted) continue;
      if (found) return false;
      found = symbols;
    } while (std::next_permutation(symbols.begin(), symbols.end(), ExprLess()));
    if (!found) return false;
    for (size_t i = 0; i < n; ++i) {
      named_.insert_or_assign(asked->words[i], (*found)[i]);
    }
    return true;
  }

  std::optional<Expr> parsed(const std::string& text,
                             const std::vector<Expr>& values) {
    ParseOptions options;
    options.make_symbol = [&](ExprPool&, string_view name) -> Expr {
      if (name.size() < 2 || name[0] != 'w') return {};
      const auto at = static_cast<size_t>(number_of(name.substr(1)));
      return at < values.size() ? values[at] : Expr();
    };
    return read_expression(pool_, text, options, 50'000);
  }

  // --- what is before it

  // Lines that were run before the line that asks, on every way to it.
  std::vector<size_t> before() const {
    std::vector<size_t> found;
    size_t indent = lines()[asking_].indent;
    for (size_t i = asking_; i-- > 0;) {
      if (lines()[i].indent > indent) continue;
      indent = lines()[i].indent;
      found.push_back(i);
    }
    return found;
  }

  bool is_assigned_after(string_view root, size_t line) const {
    for (size_t i = line + 1; i < asking_; ++i) {
      for (string_view target : assigned_by(lines()[i].code)) {
        if (trim(target) == root) return true;
      }
    }
    return false;
  }

  // The last line before `line` that assigns the variable.
  const std::string* making(string_view variable, size_t line) const {
    for (size_t i = line; i-- > 0;) {
      for (string_view target : assigned_by(lines()[i].code)) {
        if (trim(target) == variable) return &lines()[i].code;
      }
    }
    return nullptr;
  }

  std::optional<Expr> read(const std::string& check, size_t line) {
    const std::optional<Worded> condition = in_words(check);
    if (!condition || condition->words.empty()) return std::nullopt;
    std::vector<Expr> values;
    for (const std::string& word : condition->words) {
      if (is_assigned_after(root_of(word), line)) return std::nullopt;
      const Expr value = value_of(word, line);
      if (!value) return std::nullopt;
      values.push_back(value);
    }
    const std::optional<Expr> result = parsed(condition->text, values);
    if (!result || !result->is_bool()) return std::nullopt;
    return result;
  }

  // Null for what may be no integer.
  Expr value_of(const std::string& word, size_t line) {
    if (auto known = named_.find(word); known != named_.end()) {
      return known->second;
    }
    if (!is_size(word) && !is_integer(word, line)) return {};
    const Expr value = PoolStores::symbol_of_any_name(
        pool_, std::string(kWordPrefix) + word, SymbolKind::kUnbackedInt);
    named_.emplace(word, value);
    return value;
  }

  // A variable that is a size, or of the same tensor as one that is a symbol
  // for an integer.
  bool is_integer(const std::string& variable, size_t line) const {
    const std::string* code = making(variable, line);
    if (code == nullptr) return false;
    const std::optional<string_view> made = after(*code, "=");
    const string_view value = trim(made.value_or(""));
    for (string_view sign : {".shape", ".size(", ".numel()", "len("}) {
      if (has(value, sign)) return true;
    }
    if (!has(value, ".item()") && !has(value, ".tolist()")) return false;
    for (const auto& [word, symbol] : named_) {
      if (!symbol.is_int() || !is_identifier(word)) continue;
      const std::string* other = making(word, line);
      if (other == nullptr) continue;
      const string_view theirs = trim(after(*other, "=").value_or(""));
      const bool is_same =
          other == code || (!root_of(value).empty() && has(theirs, ".item()") &&
                            root_of(value) == root_of(theirs));
      if (is_same) return true;
    }
    return false;
  }

  const ErrorText& text_;
  const TextError& e_;
  const Expr question_;
  const TextFrame& place_;
  Context& context_;
  ExprPool& pool_;
  std::map<std::string, Expr> by_text_;  // a word: what the text says of it
  std::map<std::string, Expr> named_;    // and what the line that asks shows
  const TextFunction* function_ = nullptr;
  size_t asking_ = 0;
};

}  // namespace

bool assume_user_checks(const ErrorText& text, const TextError& e,
                        Expr question, const TextFrame& place,
                        const SymbolNames& names, Context& context) {
  return Quoted(text, e, question, place, names, context).assume();
}

}  // namespace proviso::inline v0_2::internal
