// Line by line, one process after the other.  A line is an event (a symbol
// made, a fact learnt), a frame of a stack, a heading that says whose the next
// frames are, or the message of an error.  What follows an error, up to the
// next, belongs to it:
//
//   GuardOnDataDependentSymNode: Could not guard on .. Eq(u0, 0) ..   message
//   ATTENTION: .. evaluating expression to False.                     detail
//   User Stack (most recent call last):                               heading
//     File "model.py", line 9, in forward                             frame
//       y = x.view(-1)                                                code
#include "guards/errors/error_text.h"

#include <algorithm>
#include <functional>

#include "guards/errors/log_lines.h"
#include "guards/errors/source_code.h"
#include "guards/errors/text_parts.h"
#include "guards/fixed_limits.h"
#include "sym/excerpt.h"
#include "sym/parse.h"
#include "sym/within.h"

namespace proviso::inline v0_2::internal {
namespace {

using std::string_view;

ParseOptions as_in_logs() {
  ParseOptions options;
  options.make_symbol = [](ExprPool& pool, string_view name) -> Expr {
    const auto numbered = [&](string_view prefix) {
      return name.size() > prefix.size() && name.starts_with(prefix) &&
             name.find_first_not_of("0123456789", prefix.size()) == npos;
    };
    if (numbered("s")) return pool.symbol(name, SymbolKind::kBackedSize);
    if (numbered("u") || numbered("i")) {
      return pool.symbol(name, SymbolKind::kUnbackedInt);
    }
    if (numbered("zuf") || numbered("f")) {
      return pool.symbol(name, SymbolKind::kUnbackedFloat);
    }
    if (numbered("zf")) return pool.symbol(name, SymbolKind::kBackedFloat);
    return {};
  };
  return options;
}

class Reader {
 public:
  Reader(ErrorText& out, uint32_t stream)
      : out_(out), stream_(stream), source_(out.functions, stream) {
    new_env();
  }

  void read(const std::vector<const LogLine*>& lines) {
    for (size_t i = 0; i < lines.size(); ++i) {
      number_ = lines[i]->number;
      const string_view text = lines[i]->text.substr(0, fixed::read_line);
      // A message that was printed as a string of Python.
      if (has(text, "data-dependent") && has(text, "\\n")) {
        for (string_view part : split(text, "\\n")) line(part, {});
        continue;
      }
      line(text, [&](size_t k) -> string_view {
        return i + k < lines.size()
                   ? lines[i + k]->text.substr(0, fixed::read_line)
                   : string_view();
      });
    }
    if (!was_answered_) report_announced();
  }

 private:
  using Following = std::function<string_view(size_t)>;

  void new_env() {
    out_.envs.emplace_back();
    env_ = out_.envs.size() - 1;
    env_reader_.emplace(out_.envs.back());
    error_ = npos;
  }
  TextEnv& env() { return out_.envs[env_]; }
  TextError* error() { return error_ == npos ? nullptr : &out_.errors[error_]; }

  void line(string_view raw, const Following& following) {
    source_.line(raw, number_);
    const string_view text = trim(raw);
    if (text.empty()) return blank();
    end_section(frame_in(text).has_value());
    if (frame(text) || code(text)) return;
    if (event(text) || env_reader_->graph(text) || heading(text)) return;
    if (message(text, following) || phrase(text)) return;
    detail(text);
  }

  void blank() {
    awaits_code_ = false;
    after_blank_ = true;
    env_reader_->blank_line();
  }

  // A blank line ends a section, but where frames stand apart.
  void end_section(bool is_frame) {
    if (!after_blank_) return;
    after_blank_ = false;
    if (is_frame || !section_has_frames_) return;
    section_ = Section::kTraceback;
    section_has_frames_ = false;
  }

  // --- frames

  std::vector<TextFrame>& frames() {
    TextError* e = error();
    if (section_ == Section::kCulprit && e) return e->culprit;
    if (section_ == Section::kUser && e) return e->user;
    if (section_ == Section::kAllocation) return allocation_;
    return traceback_;
  }

  bool frame(string_view text) {
    if (text.starts_with("Traceback (most recent call last)")) {
      traceback_.clear();
      section_ = Section::kTraceback;
      awaits_code_ = false;
      return true;
    }
    std::optional<TextFrame> found = frame_in(text);
    if (!found) return false;
    source_.frame(found->function);
    std::vector<TextFrame>& to = frames();
    if (to.size() >= fixed::read_frames) to.erase(to.begin());
    to.push_back(*found);
    awaits_code_ = true;
    section_has_frames_ = true;
    if (section_ == Section::kLines || section_ == Section::kFixes) {
      section_ = Section::kTraceback;
    }
    return true;
  }

  bool code(string_view text) {
    std::vector<TextFrame>& of = frames();
    if (of.empty()) return false;
    if (std::optional<string_view> arrow = code_at_arrow(text)) {
      of.back().code = *arrow;
      awaits_code_ = false;
      return true;
    }
    if (!awaits_code_) return false;
    if (is_underline(text)) return true;
    awaits_code_ = false;
    of.back().code = text.substr(0, kSentenceLength);
    if (section_ == Section::kAllocation) {
      env_reader_->allocated_at(of.back());
    }
    return true;
  }

  // --- what the log says

  bool event(string_view text) {
    if (text.ends_with("create_env")) {
      new_env();
      return true;
    }
    if (env_reader_->allocation(text)) {
      allocation_.clear();
      section_ = Section::kAllocation;
      return true;
    }
    if (env_reader_->event(text)) return true;
    if (has(text, "propagate_real_tensors evaluate_expr(")) return taken(text);
    return announced(text);
  }

  // propagate_real_tensors evaluate_expr(u0 > 2) -> False
  bool taken(string_view text) {
    const string_view rest = *after(text, "evaluate_expr(");
    const size_t close = closing(rest);
    if (close == npos) return false;
    const string_view side = rest.substr(close);
    if (!is_readable(rest.substr(0, close))) return unread();
    TextError& e =
        add_error(TextErrorKind::kQuestion, rest.substr(0, close), text);
    if (has(side, "-> True")) e.example = true;
    if (has(side, "-> False")) e.example = false;
    return true;
  }

  // failed during evaluate_expr(u0 > 2, hint=None, ..: the message comes when
  // the exception is printed.  Where the text ends before, this is the error.
  bool announced(string_view text) {
    for (string_view before : {"failed during evaluate_expr(",
                               "failed while running evaluate_expr(*("}) {
      auto rest = after(text, before);
      if (!rest) continue;
      for (string_view behind : {", hint=", ", None)", ", None,"}) {
        const size_t end = rest->find(behind);
        if (end == npos) continue;
        announced_ = rest->substr(0, end);
        announced_at_ = number_;
        announced_env_ = env_;
        return true;
      }
    }
    return false;
  }
  void report_announced() {
    if (announced_.empty() || !is_readable(announced_)) return;
    ExprPool pool;
    const bool is_bool = read_expression(pool, announced_)->is_bool();
    number_ = announced_at_;
    env_ = announced_env_;
    add_error(is_bool ? TextErrorKind::kQuestion : TextErrorKind::kValue,
              announced_, announced_);
  }

  // --- errors

  bool heading(string_view text) {
    if (section_ == Section::kFixes && text.starts_with("torch.")) return false;
    const std::optional<Section> section = section_after(text);
    if (!section) return false;
    section_ = *section;
    section_has_frames_ = false;
    awaits_code_ = false;
    return true;
  }

  // The message and what of it stands on the next lines.
  std::string whole_message(string_view text, const Following& following) {
    std::string all(text);
    if (!following) return all;
    for (size_t k = 1;
         k <= fixed::joined_lines && all.size() < fixed::read_line; ++k) {
      if (is_whole(all)) break;
      const string_view next = trim(following(k));
      if (next.empty() || frame_in(next) || !goes_on(all, next)) break;
      all += ' ';
      all += next;
    }
    return all;
  }
  // Whether a message that was broken between lines goes on with `next`.
  static bool goes_on(string_view text, string_view next) {
    if (trim(text).empty() || has(text, "(unhinted")) return true;
    if (next.starts_with("(unhinted")) return true;
    return std::count(text.begin(), text.end(), '(') >
           std::count(text.begin(), text.end(), ')');
  }
  static bool is_whole(string_view text) {
    std::optional<string_view> rest = after(text, "(unhinted: ");
    if (!rest) return false;
    const size_t close = closing(*rest);
    if (close == npos) return false;
    const string_view tail = rest->substr(close);
    if (has(tail, "Scroll up") || has(tail, "Caused by")) return true;
    std::optional<string_view> sizes = after(tail, "Size-like symbols: ");
    return sizes && has(*sizes, ")");
  }

  bool message(string_view text, const Following& following) {
    const std::optional<QuestionWording> wording = question_in(text);
    if (!wording || wording->is_quoted) {
      if (broken_message(text, following)) return true;
      if (!wording || !is_readable(expression_in(text.substr(wording->at))))
        return false;
    }
    if (wording->is_draft_report) return draft_report(text.substr(wording->at));
    const std::string all = whole_message(text.substr(wording->at), following);
    const string_view first = trim(all);
    string_view expression = expression_in(first);
    const string_view hinted = expression;
    std::optional<string_view> rest = after(first, "(unhinted: ");
    if (rest && closing(*rest) != npos) {
      expression = rest->substr(0, closing(*rest));
    }
    // A value is wanted, whatever it is of.
    const bool is_value = wording->kind == TextErrorKind::kValue;
    if (!is_readable(expression) && (!is_value || expression.empty()))
      return unread();
    TextError& e = add_error(wording->kind, expression, text);
    // The sizes of the example decide it: "expression False (unhinted: ..".
    if (hinted == "True" && expression != hinted) e.example = true;
    if (hinted == "False" && expression != hinted) e.example = false;
    if (auto sizes = between(all, "Size-like symbols: ", ")")) {
      e.says_size_like = true;
      for (string_view name : split(*sizes, ",")) {
        if (is_symbol_name(name)) e.size_like.emplace_back(name);
      }
      // What a line break should follow may stand in the same line.
      if (auto more = after(text, "Size-like symbols: ")) {
        if (auto behind = after(*more, ")")) detail(*behind);
      }
    }
    return true;
  }

  // Could not guard on
  // data-dependent expression ..      also as strings of Python, each in quotes
  bool broken_message(string_view text, const Following& following) {
    if (!following) return false;
    string_view next = trim(following(1));
    if (text.ends_with('"') && next.starts_with('"')) {
      text = trim(text.substr(0, text.size() - 1));
      next.remove_prefix(1);
    }
    if (!is_broken_question(text, next)) return false;
    return message(std::string(text) + " " + std::string(next),
                   [&](size_t k) { return following(k + 1); });
  }

  // unable to evaluate the value of `u0 > 20`. This was encountered 2 times
  bool draft_report(string_view text) {
    const string_view expression = text.substr(0, text.find('`'));
    if (!is_readable(expression)) return unread();
    TextError& e = add_error(TextErrorKind::kQuestion, expression, text);
    e.user.clear();
    return true;
  }

  static bool is_readable(string_view expression) {
    ExprPool pool;
    return read_expression(pool, std::string(trim(expression))).has_value();
  }

  bool unread() {
    if (out_.unread++ == 0) out_.unread_at = number_;
    return true;
  }

  TextError& add_error(TextErrorKind kind, string_view expression,
                       string_view text) {
    was_answered_ = true;
    const std::string wanted(trim(expression));
    if (TextError* old = said_before(kind, wanted)) {
      if (old->expression.empty()) {  // the beginning of the same message
        old->kind = kind;
        old->expression = wanted;
        (old->message += ' ') += text.substr(0, kMessageLength);
        old->line = number_;
      } else {
        ++old->times;
      }
      if (old->traceback.empty()) old->traceback = traceback_;
      begin(static_cast<size_t>(old - out_.errors.data()));
      return *old;
    }
    if (out_.errors.size() >= fixed::read_errors) {
      unread();
      begin(out_.errors.size() - 1);
      return out_.errors.back();
    }
    TextError e;
    e.kind = kind;
    e.expression = wanted;
    e.message = text.substr(0, kMessageLength);
    e.line = static_cast<uint32_t>(number_);
    e.env = static_cast<uint32_t>(env_);
    e.facts_before = static_cast<uint32_t>(env().facts.size());
    e.stream = stream_;
    e.traceback = traceback_;
    out_.errors.push_back(std::move(e));
    begin(out_.errors.size() - 1);
    return out_.errors.back();
  }
  // The error of this env that asks the same; null where there is none.
  TextError* said_before(TextErrorKind kind, const std::string& expression) {
    if (!is_question(kind)) return nullptr;
    for (size_t i = out_.errors.size(); i-- > 0;) {
      TextError& old = out_.errors[i];
      if (old.env != env_ || old.stream != stream_) return nullptr;
      // "BackendCompilerFailed: .. raised:" stands on a line before.
      const bool is_beginning =
          old.expression.empty() && &old == error() &&
          (is_question(old.kind) ||
           (old.kind == TextErrorKind::kOperator && old.line + 3 > number_));
      if (is_beginning) return &old;
      if (!is_question(old.kind)) continue;
      if (old.kind == kind && old.expression == expression) return &old;
    }
    return nullptr;
  }
  void begin(size_t index) {
    error_ = index;
    section_ = Section::kTraceback;
    section_has_frames_ = false;
    awaits_code_ = false;
    traceback_.clear();
  }

  bool phrase(string_view text) {
    const std::optional<TextErrorKind> kind = kind_of_phrase(text);
    if (!kind) return internal_fault(text);
    // What a question led to is no second error.
    const bool has_question = error() && is_question(error()->kind);
    if (has_question && *kind == TextErrorKind::kOperator) return true;
    if (has_question && is_question(*kind)) return true;
    if (is_quoted_code(text)) return false;
    if (same_again(*kind, text)) return true;
    string_view expression;
    if (auto rest = after(text, "assertion failed for expression ")) {
      expression = rest->substr(0, rest->find(" on node"));
    }
    add_error(*kind, expression, text);
    if (*kind == TextErrorKind::kConstraint) {
      section_ = Section::kLines;
      detail(text);
    }
    return true;
  }

  // An assertion, or a name or key that is missing, inside PyTorch.
  bool internal_fault(string_view text) {
    if (traceback_.empty() || !is_of_torch(traceback_.back().file)) {
      return false;
    }
    for (string_view type :
         {"AssertionError", "KeyError: ", "RecursionError",
          "NameError: name 'u", "NameError: name 's", "ZeroDivisionError"}) {
      if (!text.starts_with(type)) continue;
      if (error() && is_question(error()->kind)) return true;
      add_error(TextErrorKind::kOperator, "", text);
      return true;
    }
    return false;
  }
  static bool is_question(TextErrorKind kind) {
    return kind == TextErrorKind::kQuestion || kind == TextErrorKind::kValue;
  }
  static bool is_quoted_code(string_view text) {
    return text.starts_with("raise ") || text.starts_with("except ") ||
           text.starts_with("class ") || text.starts_with("import ") ||
           text.starts_with("from ");
  }
  // Whether the text repeats the error before it, as an exception that wraps it
  // does, or is part of its list of violations.
  bool same_again(TextErrorKind kind, string_view text) {
    TextError* e = error();
    if (!e || e->kind != kind) return false;
    if (kind != TextErrorKind::kConstraint) {
      ++e->times;
      return true;
    }
    if (has(text, "Constraints violated")) {
      ++e->times;
      section_ = Section::kLines;
      e->violations.clear();
      e->suggestions.clear();
      return true;
    }
    if (section_ != Section::kLines) return false;
    detail(text);
    return true;
  }

  // What else belongs to the error before.
  void detail(string_view text) {
    TextError* e = error();
    if (!e) return;
    const bool is_list =
        section_ == Section::kFixes || section_ == Section::kLines;
    // A list within a comment.
    if (is_list && text.starts_with('#')) text = trim(text.substr(1));
    if (section_ == Section::kFixes) {
      if (has(text, "=") && e->suggestions.size() < fixed::read_suggestions) {
        e->suggestions.emplace_back(text.substr(0, kSentenceLength));
      } else {
        section_ = Section::kTraceback;
      }
      return;
    }
    if (section_ == Section::kLines &&
        e->violations.size() < fixed::read_suggestions) {
      // A line that was broken goes on in the next.
      const bool goes_on = !e->violations.empty() && !text.starts_with("- ") &&
                           e->violations.back().starts_with("- ") &&
                           !e->violations.back().ends_with('.') &&
                           e->violations.back().size() < kMessageLength;
      if (goes_on) {
        (e->violations.back() += ' ') += text.substr(0, kMessageLength);
      } else {
        e->violations.emplace_back(text.substr(0, kMessageLength));
      }
      return;
    }
    if (auto rest = after(text, "Caused by: ")) return caused_by(*e, *rest);
    if (auto rest = after(text, "evaluating expression to ")) {
      if (rest->starts_with("True")) e->advised = true;
      if (rest->starts_with("False")) e->advised = false;
      return;
    }
    if (auto rest = after(text, "derived by replacing ")) {
      return replaced_words(*e, *rest);
    }
    if (auto value = between(text, "specialized to a constant (e.g. `", "`")) {
      if (*value == "True") e->example = true;
      if (*value == "False") e->example = false;
      e->example_value = Int::parse(*value);
      return;
    }
    if (local(*e, text)) return;
    if (has(text, "guard was added: ")) {
      e->violations.emplace_back(text.substr(0, kMessageLength));
    }
  }

  // y: ['Tensor(shape: torch.Size([u0, 6]), ..']   n: ['u0']
  // s95: L['x'].size()[0]
  bool local(TextError& e, string_view text) {
    const size_t colon = text.find(": ");
    if (colon == npos || colon > fixed::read_local) return false;
    const std::string name(text.substr(0, colon));
    if (!std::all_of(name.begin(), name.end(), is_name)) return false;
    const string_view value = text.substr(colon + 2);
    if (is_symbol_name(name) && value.starts_with("L['")) {
      if (TextSymbol* s = env_reader_->symbol(name)) s->source = value;
      return true;
    }
    if (auto sizes = between(value, "Tensor(shape: torch.Size([", "]")) {
      const std::vector<string_view> dims = split(*sizes, ", ");
      for (size_t d = 0; d < dims.size(); ++d) {
        if (!is_symbol_name(dims[d])) continue;
        e.words.emplace(dims[d], name + ".shape[" + std::to_string(d) + "]");
      }
      return true;
    }
    std::optional<string_view> number = between(value, "['", "']");
    if (!number || !is_symbol_name(*number)) return false;
    e.words[std::string(*number)] = name;
    return true;
  }

  // (dir/model.py:11 in forward)      if n > 2:  # model.py:11 in forward (..)
  void caused_by(TextError& e, string_view text) {
    std::string code;
    if (auto rest = after(text, "  # ")) {
      code = trim(text.substr(0, text.find("  # ")));
      text = *rest;
      const size_t open = text.rfind(" (");
      if (open != npos) {
        if (auto asked = place_in(text.substr(open + 2))) e.asked_in = *asked;
      }
    } else if (text.starts_with("(")) {
      text.remove_prefix(1);
    }
    if (std::optional<TextFrame> found = place_in(text)) {
      e.caused_by = *found;
      e.caused_by.code = code;
    }
  }

  // `u0` with n or y.shape[0], `u1` with k in Eq(u0, 1) and its negation.)
  void replaced_words(TextError& e, string_view text) {
    while (true) {
      const size_t open = text.find('`');
      if (open == npos) return;
      text.remove_prefix(open + 1);
      const size_t close = text.find("` with ");
      if (close == npos) return;
      const string_view name = text.substr(0, close);
      text.remove_prefix(close + 7);
      // Up to the next symbol, which "`" begins.
      const string_view own = text.substr(0, text.find('`'));
      const bool is_last = own.size() == text.size();
      size_t end = !is_last && own.ends_with(", ") ? own.size() - 2 : npos;
      for (string_view stop : {" or ", " in "}) {
        end = std::min(end, own.find(stop));
      }
      if ((is_last || end != npos) && is_symbol_name(name)) {
        e.words[std::string(name)] = trim(own.substr(0, end));
      }
    }
  }

  ErrorText& out_;
  const uint32_t stream_;
  SourceReader source_;
  size_t env_ = 0;
  std::optional<EnvReader> env_reader_;
  size_t error_ = npos;
  uint32_t number_ = 0;  // of the line
  Section section_ = Section::kTraceback;
  bool section_has_frames_ = false, awaits_code_ = false, after_blank_ = false;
  std::vector<TextFrame> traceback_, allocation_;
  bool was_answered_ = false;  // an error was found in this process's lines
  std::string announced_;      // the expression of one that may come
  uint32_t announced_at_ = 0;
  size_t announced_env_ = 0;
};

}  // namespace

std::optional<Expr> read_expression(ExprPool& pool, const std::string& text) {
  static const ParseOptions& options = *new ParseOptions(as_in_logs());
  return read_expression(pool, text, options, 100'000);
}

std::optional<Expr> read_expression(ExprPool& pool, const std::string& text,
                                    const ParseOptions& options,
                                    uint64_t units) {
  try {
    return within(units, [&] { return parse(pool, text, options); });
  } catch (const Error&) {
    return std::nullopt;
  }
}

namespace {

// Grows with the text, and not with lines that say nothing.
uint64_t units_of(string_view text) {
  return std::min<uint64_t>(
      fixed::most_explain_units,
      fixed::explain_units + fixed::explain_units_of_byte * text.size());
}

void read_lines(const LogLines& log, ErrorText& out) {
  std::vector<std::vector<const LogLine*>> by_stream(log.streams().size());
  // Where one process is named, what is not named is of it too.
  const bool is_one = log.streams().size() <= 2;
  for (const LogLine& line : log.lines()) {
    by_stream[is_one ? 0 : line.stream].push_back(&line);
  }
  for (uint32_t s = 0; s < by_stream.size(); ++s) {
    if (!by_stream[s].empty()) Reader(out, s).read(by_stream[s]);
  }
}

}  // namespace

ErrorText read_errors(string_view text) {
  const LogLines log(text);
  ErrorText out;
  out.streams = log.streams();
  out.lines = log.lines().size();
  out.units = units_of(text);
  const auto read = within(out.units, [&] {
    read_lines(log, out);
    return true;
  });
  out.was_cut = log.was_cut() || !read;
  return out;
}

}  // namespace proviso::inline v0_2::internal
