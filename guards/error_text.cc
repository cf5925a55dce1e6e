// Line by line, one process after the other.  A line is an event (a symbol
// made, a fact learnt), a frame of a stack, a heading that says whose the next
// frames are, or the message of an error.  What follows an error, up to the
// next, belongs to it.
#include "guards/error_text.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "guards/log_lines.h"
#include "sym/budget.h"
#include "sym/parse.h"

namespace proviso {
namespace {

using std::string_view;
constexpr size_t npos = string_view::npos;

constexpr size_t kMaxErrors = 500, kMaxFacts = 2000, kMaxFrames = 200,
                 kMaxSymbols = 5000, kMaxLine = 20000, kMaxJoined = 12;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         c == '_';
}

string_view trim(string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) {
    s.remove_prefix(1);
  }
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) {
    s.remove_suffix(1);
  }
  return s;
}

bool has(string_view text, string_view part) { return text.find(part) != npos; }

// What follows `before`; nullopt where it is not there.
std::optional<string_view> after(string_view text, string_view before) {
  const size_t at = text.find(before);
  if (at == npos) return std::nullopt;
  return text.substr(at + before.size());
}

// What is between the two; up to the end where the second is not there.
std::optional<string_view> between(string_view text, string_view before,
                                   string_view behind) {
  std::optional<string_view> rest = after(text, before);
  if (!rest) return std::nullopt;
  return rest->substr(0, rest->find(behind));
}

// The expression that a sentence begins with: up to the end of the sentence, a
// quotation mark, or a bracket that is closed and was not opened.
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
    const bool ends_word = end + 1 == text.size() || text[end + 1] == ' ';
    if ((c == '.' || c == ';' || c == ',') && depth == 0 && ends_word) break;
  }
  return trim(text.substr(0, end));
}

// Where the bracket that is open at the start is closed; npos where it is not.
size_t closing(string_view text) {
  int depth = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[') ++depth;
    if (text[i] == ')' || text[i] == ']') --depth;
    if (depth == 0) return i;
  }
  return npos;
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

// An end of a range; what is as far as integers of the machine go is open.
OptionalInt range_end(string_view text) {
  text = trim(text);
  if (has(text, "oo")) return std::nullopt;
  OptionalInt value = Int::parse(text);
  if (!value) return std::nullopt;
  static const Int most = Int(INT64_MAX) - Int(1), least = Int(INT64_MIN);
  if (*value >= most || *value <= least) return std::nullopt;
  return value;
}

// "[0, 9]" anywhere in the text, to the symbol.
void narrow(TextSymbol& symbol, string_view text) {
  const size_t open = text.find('[');
  if (open == npos) return;
  const size_t close = text.find(']', open);
  if (close == npos) return;
  const string_view inside = text.substr(open + 1, close - open - 1);
  const size_t comma = inside.find(',');
  if (comma == npos) return;
  if (OptionalInt low = range_end(inside.substr(0, comma))) {
    if (!symbol.lower || *symbol.lower < *low) symbol.lower = low;
  }
  if (OptionalInt high = range_end(inside.substr(comma + 1))) {
    if (!symbol.upper || *symbol.upper > *high) symbol.upper = high;
  }
}

// "dir/model.py:11 in forward"
std::optional<TextFrame> place(string_view text) {
  const size_t in = text.find(" in ");
  const string_view spot = text.substr(0, in);
  const size_t colon = spot.rfind(':');
  if (colon == npos || colon == 0 || colon + 1 >= spot.size()) {
    return std::nullopt;
  }
  if (!is_digit(spot[colon + 1])) return std::nullopt;
  TextFrame frame;
  frame.file = trim(spot.substr(0, colon));
  frame.line = number_of(spot.substr(colon + 1));
  if (in != npos) {
    const string_view name = text.substr(in + 4);
    size_t end = 0;
    while (end < name.size() && (is_name(name[end]) || name[end] == '<' ||
                                 name[end] == '>' || name[end] == '.')) {
      ++end;
    }
    frame.function = name.substr(0, end);
  }
  return frame;
}

//   File "x.py", line 3, in f         traceback
//   File x.py, lineno 3, in f         draft_export
//   File x.py:3, in f(a)              IPython
//   Cell In[3], line 10, in f(a)      a notebook
//   x.py:3: in f                      pytest
std::optional<TextFrame> frame_of(string_view text) {
  TextFrame frame;
  size_t end = npos;
  if (text.starts_with("File \"")) {
    text.remove_prefix(6);
    const size_t quote = text.find("\", line ");
    if (quote == npos) return std::nullopt;
    frame.file = text.substr(0, quote);
    text.remove_prefix(quote + 8);
    end = text.find(", in ");
  } else if (text.starts_with("File ") && has(text, ", lineno ")) {
    const size_t comma = text.find(", lineno ");
    frame.file = text.substr(5, comma - 5);
    text.remove_prefix(comma + 9);
    end = text.find(", in ");
  } else if (text.starts_with("File ") || text.starts_with("Cell In[") ||
             text.starts_with("Input In [")) {
    const bool is_cell = !text.starts_with("File ");
    if (!is_cell) text.remove_prefix(5);
    const string_view mark = is_cell ? ", line " : ":";
    const size_t at = is_cell ? text.find(mark)
                              : text.substr(0, text.find(", in ")).rfind(':');
    if (at == npos || at + mark.size() >= text.size()) return std::nullopt;
    frame.file = trim(text.substr(0, at));
    if (frame.file.starts_with('[') && has(frame.file, "](")) {
      frame.file = frame.file.substr(1, frame.file.find("](") - 1);
    }
    text.remove_prefix(at + mark.size());
    end = text.find(", in ");
  } else {
    const size_t at = text.find(".py:");
    if (at == npos || has(text.substr(0, at), " ")) return std::nullopt;
    frame.file = text.substr(0, at + 3);
    text.remove_prefix(at + 4);
    end = text.find(": in ");
    if (end == npos) return std::nullopt;
  }
  if (text.empty() || !is_digit(text[0])) return std::nullopt;
  frame.line = number_of(text);
  if (end != npos) {
    string_view name = text.substr(end + 5);
    frame.function = trim(name.substr(0, name.find('(')));
  }
  return frame;
}

// ^^^^ ~~~~ under a line of code
bool is_marker(string_view text) {
  return text.find_first_not_of("^~ |") == npos;
}

// IPython's "--> 12     y = x.item()", without the arrow and the number.
std::optional<string_view> arrow_code(string_view text) {
  size_t i = 0;
  while (i < text.size() && text[i] == '-') ++i;
  if (i == 0 || i >= text.size() || text[i] != '>') return std::nullopt;
  string_view rest = trim(text.substr(i + 1));
  size_t digits = 0;
  while (digits < rest.size() && is_digit(rest[digits])) ++digits;
  if (digits == 0) return std::nullopt;
  return trim(rest.substr(digits));
}

// The variable that a line of code makes: `n` of "n = m.sum().item()".
std::optional<string_view> target_of(string_view code) {
  const size_t at = code.find('=');
  if (at == npos || at == 0 || at + 1 >= code.size() || code[at + 1] == '=') {
    return std::nullopt;
  }
  const string_view name = trim(code.substr(0, at));
  if (name.empty() || is_digit(name[0]) ||
      !std::all_of(name.begin(), name.end(), is_name)) {
    return std::nullopt;
  }
  return name;
}

// A phrase that tells an error without an expression.
struct Phrase {
  string_view text;
  TextErrorKind kind;
};
constexpr Phrase kPhrases[] = {
    {"Constraints violated", TextErrorKind::kConstraint},
    {"Specializations unexpectedly required", TextErrorKind::kConstraint},
    {"Received user-specified dim hint", TextErrorKind::kConstraint},
    {"Received user-specified min/max range", TextErrorKind::kConstraint},
    {"as dynamic but your code specialized", TextErrorKind::kConstraint},
    {"as dynamic but your code specialised", TextErrorKind::kConstraint},
    {"Detected mismatch between the structure of", TextErrorKind::kConstraint},
    {"Constraint violation error", TextErrorKind::kConstraint},
    {"Expected cond to be True, but got False", TextErrorKind::kRefuted},
    {"Runtime assertion failed for expression", TextErrorKind::kRefuted},
    {"Invalid ranges [", TextErrorKind::kRefuted},
    {"Invalid value range for ", TextErrorKind::kRefuted},
    {"value to constrain_", TextErrorKind::kRefuted},
    {"Dynamic control flow is not supported", TextErrorKind::kTensor},
    {"Data-dependent branching", TextErrorKind::kTensor},
    {"data-dependent branching", TextErrorKind::kTensor},
    {"Data dependent control flow", TextErrorKind::kTensor},
    {"generic_jump TensorVariable", TextErrorKind::kTensor},
    {"Data-dependent assertion failed", TextErrorKind::kRefuted},
    {"is missing a fake kernel implementation", TextErrorKind::kOperator},
    {"has a fake kernel implementation, but it has incorrect behavior",
     TextErrorKind::kOperator},
    {"There was no fake impl registered for", TextErrorKind::kOperator},
    {"There was no meta impl registered for", TextErrorKind::kOperator},
    {"There was no abstract impl", TextErrorKind::kOperator},
    {"UnsupportedOperatorException", TextErrorKind::kOperator},
    {"UnsupportedFakeTensorException", TextErrorKind::kOperator},
    {"DynamicOutputShapeException", TextErrorKind::kOperator},
    {"DataDependentOutputException", TextErrorKind::kOperator},
    {"PendingUnbackedSymbolNotFound", TextErrorKind::kOperator},
    {"Pending unbacked symbols", TextErrorKind::kOperator},
    {"data dependent operator:", TextErrorKind::kOperator},
    {"dynamic shape operator:", TextErrorKind::kOperator},
    {"Data dependent operator", TextErrorKind::kOperator},
    {"Dynamic shape operator", TextErrorKind::kOperator},
    {"with tensors that have unbacked", TextErrorKind::kOperator},
    {"Cannot call numel() on tensor with symbolic sizes",
     TextErrorKind::kOperator},
    {"Cannot call sizes() on tensor with symbolic sizes",
     TextErrorKind::kOperator},
    {"cond must be a bool, but got", TextErrorKind::kOperator},
    {"TypeError: Cannot convert symbols to int", TextErrorKind::kOperator},
    {"TypeError: cannot determine truth value of Relational",
     TextErrorKind::kOperator},
    {"CantSplit", TextErrorKind::kOperator},
    {"LoweringException", TextErrorKind::kOperator},
    {"InductorError", TextErrorKind::kOperator},
    {"InternalTorchDynamoError", TextErrorKind::kOperator},
    {"BackendCompilerFailed", TextErrorKind::kOperator},
    {"expected to contain only concrete integers", TextErrorKind::kOperator},
    {"attempted to run this operator with Meta tensors",
     TextErrorKind::kOperator},
    {"Cannot cast FakeTensor(", TextErrorKind::kOperator},
    {"Trying to extract a concrete int out of a symbolic int",
     TextErrorKind::kOperator},
};

// A heading that says whose the next frames are.
enum class Section { kTraceback, kCulprit, kUser, kAllocation, kLines, kFixes };
struct Heading {
  string_view text;
  Section section;
};
constexpr Heading kHeadings[] = {
    {"Potential framework code culprit", Section::kCulprit},
    {"User Stack (most recent call last)", Section::kUser},
    {"from user code:", Section::kUser},
    {"at the following user stacktrace", Section::kUser},
    {"This occurred at the following stacktrace", Section::kUser},
    {"The following call raised this error", Section::kUser},
    {"And the following framework stacktrace", Section::kCulprit},
    {"Suggested fixes:", Section::kFixes},
};

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
  Reader(ErrorText& out, uint32_t stream) : out_(out), stream_(stream) {
    new_env();
  }

  void read(const std::vector<const LogLine*>& lines) {
    for (size_t i = 0; i < lines.size(); ++i) {
      number_ = lines[i]->number;
      string_view text = lines[i]->text.substr(0, kMaxLine);
      if (has(text, "data-dependent") && has(text, "\\n")) {
        for (string_view part : split(text, "\\n")) line(part, {});
        continue;
      }
      line(text, [&](size_t k) -> string_view {
        return i + k < lines.size() ? lines[i + k]->text.substr(0, kMaxLine)
                                    : string_view();
      });
    }
  }

 private:
  using Following = std::function<string_view(size_t)>;

  void new_env() {
    out_.envs.emplace_back();
    env_ = out_.envs.size() - 1;
    error_ = npos;
    told_.clear();
  }
  TextEnv& env() { return out_.envs[env_]; }
  TextError* error() { return error_ == npos ? nullptr : &out_.errors[error_]; }
  TextSymbol* symbol(string_view name) {
    if (!is_symbol_name(name)) return nullptr;
    auto& symbols = env().symbols;
    auto it = symbols.find(std::string(name));
    if (it != symbols.end()) return &it->second;
    if (symbols.size() >= kMaxSymbols) return nullptr;
    return &symbols[std::string(name)];
  }

  void line(string_view raw, const Following& following) {
    const string_view text = trim(raw);
    if (text.empty()) return blank();
    end_section(frame_of(text).has_value());
    if (frame(text) || code(text)) return;
    if (event(text) || graph(text) || heading(text)) return;
    if (message(text, following) || phrase(text)) return;
    detail(text);
  }

  void blank() {
    awaits_code_ = false;
    after_blank_ = true;
    graph_code_ = {};
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

  std::vector<TextFrame>* frames() {
    TextError* e = error();
    if (section_ == Section::kCulprit && e) return &e->culprit;
    if (section_ == Section::kUser && e) return &e->user;
    if (section_ == Section::kAllocation) return &allocation_;
    return &traceback_;
  }

  bool frame(string_view text) {
    if (text.starts_with("Traceback (most recent call last)")) {
      traceback_.clear();
      section_ = Section::kTraceback;
      awaits_code_ = false;
      return true;
    }
    std::optional<TextFrame> found = frame_of(text);
    if (!found) return false;
    std::vector<TextFrame>& to = *frames();
    if (to.size() >= kMaxFrames) to.erase(to.begin());
    to.push_back(*found);
    awaits_code_ = true;
    section_has_frames_ = true;
    if (section_ == Section::kLines || section_ == Section::kFixes) {
      section_ = Section::kTraceback;
    }
    return true;
  }

  bool code(string_view text) {
    std::vector<TextFrame>& of = *frames();
    if (of.empty()) return false;
    if (std::optional<string_view> arrow = arrow_code(text)) {
      of.back().code = *arrow;
      awaits_code_ = false;
      return true;
    }
    if (!awaits_code_) return false;
    if (is_marker(text)) return true;
    awaits_code_ = false;
    of.back().code = text.substr(0, 400);
    if (section_ == Section::kAllocation) allocated_at(of.back());
    return true;
  }

  // --- what the log tells

  bool event(string_view text) {
    text = without_env_number(text);
    if (text.starts_with("[proviso] ")) text.remove_prefix(10);
    if (text.starts_with("create_env")) {
      new_env();
      return true;
    }
    if (text.starts_with("create_symbol ")) return created(text.substr(14));
    if (text.starts_with("create_unbacked_")) {
      const size_t blank = text.find(' ');
      return blank != npos && made_from_data(text.substr(blank + 1));
    }
    for (string_view call : {"_update_var_to_range ", "update_range ",
                             "constrain_symbol_range "}) {
      if (text.starts_with(call)) return ranged(text.substr(call.size()));
    }
    for (string_view call : {"runtime_assert ", "eval "}) {
      if (text.starts_with(call)) return learnt(text.substr(call.size()));
    }
    if (text.starts_with("set_replacement ")) return replaced(text.substr(16));
    if (auto rest = after(text, "set_real_tensor_prop_unbacked_vals ")) {
      return example(*rest);
    }
    if (text.starts_with("names ")) return named(text.substr(6));
    if (auto name = between(text, "Data dependent variable '", "'")) {
      allocated_ = *name;
      allocation_.clear();
      if (TextSymbol* s = symbol(allocated_)) made_before_ = *s;
      section_ = Section::kAllocation;
      return true;
    }
    if (has(text, "propagate_real_tensors evaluate_expr(")) return taken(text);
    return false;
  }

  // "0.0: create_env" of PyTorch 2.1
  static string_view without_env_number(string_view text) {
    const size_t end = text.find(": ");
    if (end == npos || end > 9 || !is_digit(text[0])) return text;
    for (char c : text.substr(0, end)) {
      if (!is_digit(c) && c != '.') return text;
    }
    return text.substr(end + 2);
  }

  // s0 = 6 for L['x'].size()[0] [2, int_oo] (model.py:3 in f), for more ..
  bool created(string_view text) {
    const size_t equals = text.find(" = "), for_ = text.find(" for ");
    if (equals == npos || for_ == npos || for_ < equals) return false;
    TextSymbol* s = symbol(text.substr(0, equals));
    if (!s) return false;
    *s = {};
    s->example = Int::parse(trim(text.substr(equals + 3, for_ - equals - 3)));
    const string_view rest = text.substr(for_ + 5);
    s->source = trim(rest.substr(0, rest.find(' ')));
    narrow(*s, rest.substr(std::min(s->source.size(), rest.size())));
    return true;
  }

  // u0 [-int_oo, int_oo] (_subclasses/fake_impls.py:651 in f)
  bool made_from_data(string_view text) {
    TextSymbol* s = symbol(text.substr(0, text.find(' ')));
    if (!s) return false;
    *s = {};
    narrow(*s, text);
    if (auto where = after(text, "] (")) {
      if (auto found = place(*where)) s->made_at = *found;
    }
    return true;
  }

  // u0 = VR[0, 9] (update)     u0 [0, 9]
  bool ranged(string_view text) {
    const std::string name(text.substr(0, text.find(' ')));
    TextSymbol* s = symbol(name);
    if (!s) return false;
    TextSymbol found;
    narrow(found, text);
    if (found.lower && (!s->lower || *s->lower < *found.lower)) {
      add({name + " >= " + found.lower->to_string(), {}});
    }
    if (found.upper && (!s->upper || *s->upper > *found.upper)) {
      add({name + " <= " + found.upper->to_string(), {}});
    }
    return true;
  }

  // u0 >= 0 [guard added] (model.py:3 in f), for more ..
  bool learnt(string_view text) {
    const size_t mark = text.find(" [guard added]");
    if (mark == npos) return has(text, "[statically known]");
    TextFact fact;
    fact.text = trim(text.substr(0, mark));
    if (auto where = after(text.substr(mark), "] (")) {
      if (auto found = place(*where)) fact.where = *found;
    } else if (auto at = after(text.substr(mark), "] at ")) {
      if (auto found = place(*at)) fact.where = *found;
    }
    add(std::move(fact));
    return true;
  }

  // u0 = s0 + 3 (solve) VR[..]
  bool replaced(string_view text) {
    const size_t equals = text.find(" = ");
    if (equals == npos || !is_symbol_name(text.substr(0, equals))) return false;
    string_view value = text.substr(equals + 3);
    for (string_view end :
         {" (solve", " (range", " (trivial", " (find", " (", " VR["}) {
      const size_t at = value.find(end);
      if (at != npos && at > 0) {
        value = value.substr(0, at);
        break;
      }
    }
    TextFact fact;
    fact.text = "Eq(" + std::string(text.substr(0, equals)) + ", " +
                std::string(trim(value)) + ")";
    add(std::move(fact));
    return true;
  }

  bool example(string_view text) {
    const size_t equals = text.find(" = ");
    if (equals == npos) return false;
    TextSymbol* s = symbol(text.substr(0, equals));
    if (s) s->example = Int::parse(trim(text.substr(equals + 3)));
    return s != nullptr;
  }

  // u0 = y.shape[0] at model.py:3 in f     of proviso.diagnose
  bool named(string_view text) {
    const size_t equals = text.find(" = "), at = text.find(" at ");
    if (equals == npos || at == npos || at < equals) return false;
    TextSymbol* s = symbol(text.substr(0, equals));
    std::optional<TextFrame> where = place(text.substr(at + 4));
    if (!s || !where || s->words.size() > 64) return false;
    s->words.push_back(
        {std::string(text.substr(equals + 3, at - equals - 3)), *where});
    return true;
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

  void add(TextFact fact) {
    auto& facts = env().facts;
    if (facts.size() >= kMaxFacts || !told_.insert(fact.text).second) return;
    facts.push_back(std::move(fact));
  }

  // The program's own frame where a symbol was made.  What calls the compiler
  // is not it.
  void allocated_at(const TextFrame& frame) {
    TextSymbol* s = symbol(allocated_);
    if (!s) return;
    if (is_of_torch(frame.file)) {
      const bool is_entry =
          has(frame.file, "_dynamo/") || has(frame.file, "export/");
      if (is_entry) *s = made_before_;
      return;
    }
    made_before_.example = s->example;
    s->made_at = frame;
    const string_view code = frame.code;
    std::optional<string_view> name = target_of(code);
    if (!name || !code.ends_with(".item()")) return;
    if (code.find(".item()") != code.size() - 7) return;
    s->words.push_back({std::string(*name), frame});
  }

  // --- the graph so far, which newer errors print
  //   # File: model.py:10 in forward, code: n = m.sum().item()
  //   item: "Sym(u0)" = torch.ops.aten.item.default(sum_1)
  // What a line makes last is what it assigns.

  bool graph(string_view text) {
    if (text.starts_with("# File: ")) {
      finish_graph_line();
      graph_code_ = text.substr(8);
      graph_type_ = {};
      return true;
    }
    if (graph_code_.empty()) return false;
    const size_t colon = text.find(": \"");
    if (colon == npos) return false;
    const string_view type = text.substr(colon + 3);
    const size_t quote = type.find("\" = ");
    if (quote == npos) return false;
    graph_type_ = type.substr(0, quote);
    name_by_graph();
    return true;
  }
  void finish_graph_line() { graph_named_.clear(); }

  void name_by_graph() {
    const size_t mark = graph_code_.find(", code: ");
    if (mark == npos) return;
    std::optional<TextFrame> where =
        place(string_view(graph_code_).substr(0, mark));
    if (!where) return;
    where->code = graph_code_.substr(mark + 8);
    std::optional<string_view> name = target_of(where->code);
    for (const auto& [owner, words] : graph_named_) {
      if (TextSymbol* s = symbol(owner)) {
        std::erase_if(s->words, [&, w = words](const WordsFor& has) {
          return has.words == w && has.where.line == where->line;
        });
      }
    }
    graph_named_.clear();
    if (!name) return;
    if (auto inside = between(graph_type_, "Sym(", ")")) {
      name_symbol(*inside, std::string(*name), *where);
      return;
    }
    const size_t open = graph_type_.find('[');
    if (open == npos || graph_type_.back() != ']') return;
    const std::string dims(
        graph_type_.substr(open + 1, graph_type_.size() - open - 2));
    const std::vector<string_view> sizes = split(dims, ",");
    for (size_t d = 0; d < sizes.size(); ++d) {
      name_symbol(sizes[d],
                  std::string(*name) + ".shape[" + std::to_string(d) + "]",
                  *where);
    }
  }

  void name_symbol(string_view symbol_name, std::string words,
                   const TextFrame& where) {
    TextSymbol* s = symbol(symbol_name);
    if (!s || s->words.size() > 16) return;
    for (const WordsFor& known : s->words) {
      if (known.words == words) return;
    }
    graph_named_.push_back({std::string(symbol_name), words});
    s->words.push_back({std::move(words), where});
  }

  // --- errors

  bool heading(string_view text) {
    if (section_ == Section::kFixes && text.starts_with("torch.")) return false;
    for (const Heading& h : kHeadings) {
      if (!has(text, h.text)) continue;
      section_ = h.section;
      section_has_frames_ = false;
      awaits_code_ = false;
      return true;
    }
    return false;
  }

  // The message and what of it stands on the next lines.
  std::string whole_message(string_view text, const Following& following) {
    std::string all(text);
    if (!following) return all;
    for (size_t k = 1; k <= kMaxJoined && all.size() < kMaxLine; ++k) {
      if (is_whole(all)) break;
      const string_view next = trim(following(k));
      if (next.empty() || frame_of(next) || !goes_on(all, next)) break;
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
    TextErrorKind kind = TextErrorKind::kQuestion;
    size_t at = npos;
    for (string_view words : {"Could not guard on data-dependent expression",
                              "Could not extract specialized integer from "
                              "data-dependent expression",
                              "Could not extract specialized float from "
                              "data-dependent expression",
                              "The expression we were trying to evaluate is",
                              "unable to evaluate the value of `"}) {
      const size_t found = text.find(words);
      if (found == npos) continue;
      at = found + words.size();
      if (has(words, "extract")) kind = TextErrorKind::kValue;
      break;
    }
    if (at == npos) return false;
    if (text[at - 1] == '`') return draft_report(text.substr(at));
    const std::string all = whole_message(text.substr(at), following);
    std::string_view first = trim(all);
    std::string_view expression;
    std::optional<string_view> rest = after(first, "(unhinted: ");
    if (rest && closing(*rest) != npos) {
      expression = rest->substr(0, closing(*rest));
    } else {
      expression = expression_in(first);
    }
    if (!is_readable(expression)) return unread();
    TextError& e = add_error(kind, expression, text);
    if (auto sizes = between(all, "Size-like symbols: ", ")")) {
      e.says_size_like = true;
      for (string_view name : split(*sizes, ",")) {
        if (is_symbol_name(name)) e.size_like.emplace_back(name);
      }
    }
    return true;
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
    const std::string wanted(trim(expression));
    for (size_t i = out_.errors.size(); i-- > 0;) {
      TextError& old = out_.errors[i];
      if (old.env != env_ || old.stream != stream_) break;
      if (old.kind != kind || old.expression != wanted) continue;
      if (kind != TextErrorKind::kQuestion && kind != TextErrorKind::kValue) {
        break;
      }
      ++old.times;
      if (old.traceback.empty()) old.traceback = traceback_;
      begin(i);
      return old;
    }
    if (out_.errors.size() >= kMaxErrors) {
      unread();
      begin(out_.errors.size() - 1);
      return out_.errors.back();
    }
    TextError e;
    e.kind = kind;
    e.expression = wanted;
    e.message = text.substr(0, 2000);
    e.line = number_;
    e.env = env_;
    e.facts_before = env().facts.size();
    e.stream = stream_;
    e.traceback = traceback_;
    out_.errors.push_back(std::move(e));
    begin(out_.errors.size() - 1);
    return out_.errors.back();
  }
  void begin(size_t index) {
    error_ = index;
    section_ = Section::kTraceback;
    section_has_frames_ = false;
    awaits_code_ = false;
    traceback_.clear();
  }

  bool phrase(string_view text) {
    for (const Phrase& p : kPhrases) {
      if (!has(text, p.text)) continue;
      // What a question led to is no second error.
      if (p.kind == TextErrorKind::kOperator && error() &&
          is_question(error()->kind)) {
        return true;
      }
      if (is_quoted_code(text)) return false;
      if (same_again(p.kind, text)) return true;
      std::string_view expression;
      if (auto rest = after(text, "assertion failed for expression ")) {
        expression = rest->substr(0, rest->find(" on node"));
      }
      add_error(p.kind, expression, text);
      if (p.kind == TextErrorKind::kConstraint) {
        section_ = Section::kLines;
        detail(text);
      }
      return true;
    }
    return internal_fault(text);
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
  // The same error, once more by the exception that wraps it; what belongs to
  // a list of violations is part of it.
  bool same_again(TextErrorKind kind, string_view text) {
    TextError* e = error();
    if (!e || e->kind != kind) return false;
    if (kind == TextErrorKind::kConstraint && section_ == Section::kLines) {
      if (!text.starts_with("- ")) return false;
      detail(text);
      return true;
    }
    if (kind == TextErrorKind::kConstraint) {
      if (!has(text, "Constraints violated")) return false;
      ++e->times;
      section_ = Section::kLines;
      e->violations.clear();
      e->suggestions.clear();
      return true;
    }
    ++e->times;
    return true;
  }

  // What else belongs to the error before.
  void detail(string_view text) {
    TextError* e = error();
    if (!e) return;
    if (section_ == Section::kFixes) {
      if (has(text, "=") && e->suggestions.size() < 200) {
        e->suggestions.emplace_back(text.substr(0, 400));
      } else {
        section_ = Section::kTraceback;
      }
      return;
    }
    if (section_ == Section::kLines && e->violations.size() < 200) {
      e->violations.emplace_back(text.substr(0, 2000));
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
    if (auto rest = after(text, "guard was added: ")) {
      e->violations.emplace_back(text.substr(0, 2000));
    }
  }

  // y: ['Tensor(shape: torch.Size([u0, 6]), ..']   n: ['u0']
  // s95: L['x'].size()[0]
  bool local(TextError& e, string_view text) {
    const size_t colon = text.find(": ");
    if (colon == npos || colon > 100) return false;
    const std::string name(text.substr(0, colon));
    if (!std::all_of(name.begin(), name.end(), is_name)) return false;
    const string_view value = text.substr(colon + 2);
    if (is_symbol_name(name) && value.starts_with("L['")) {
      if (TextSymbol* s = symbol(name)) s->source = value;
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
        if (auto asked = place(text.substr(open + 2))) e.asked_in = *asked;
      }
    } else if (text.starts_with("(")) {
      text.remove_prefix(1);
    }
    if (std::optional<TextFrame> found = place(text)) {
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
      size_t end = text.size();
      for (string_view stop : {" or ", ", `", " in "}) {
        end = std::min(end, text.find(stop));
      }
      if (is_symbol_name(name)) {
        e.words[std::string(name)] = trim(text.substr(0, end));
      }
    }
  }

  ErrorText& out_;
  const uint32_t stream_;
  size_t env_ = 0;
  std::unordered_set<std::string> told_;  // facts of the env
  size_t error_ = npos;
  uint32_t number_ = 0;
  Section section_ = Section::kTraceback;
  bool section_has_frames_ = false, awaits_code_ = false, after_blank_ = false;
  std::vector<TextFrame> traceback_, allocation_;
  std::string allocated_;   // the symbol whose making is told
  TextSymbol made_before_;  // what was known of it until then
  std::string graph_code_, graph_type_;
  std::vector<std::pair<std::string, std::string>> graph_named_;
};

}  // namespace

bool is_of_torch(string_view file) {
  for (string_view part : {"-packages/torch/", "/pytorch/torch/"}) {
    if (has(file, part)) return true;
  }
  size_t at = file.find("torch/");
  if (at == npos || (at > 0 && file[at - 1] != '/')) {
    at = file.find("/torch/");
    if (at == npos) {
      for (string_view own :
           {"_dynamo/", "_subclasses/", "_prims", "_refs/", "_export/",
            "_functorch/", "_inductor/", "_higher_order_ops/", "_library/",
            "_decomp/", "_ops.py", "fx/", "nn/modules/", "nn/functional.py",
            "ao/quantization/", "distributed/", "utils/_stats.py",
            "_meta_registrations.py", "_tensor.py"}) {
        if (file.starts_with(own)) return true;
      }
      return false;
    }
    ++at;
  }
  string_view rest = file.substr(at + 6);
  for (string_view own : {"_dynamo/",
                          "_subclasses/",
                          "_prims",
                          "_refs/",
                          "_export/",
                          "export/",
                          "_functorch/",
                          "_inductor/",
                          "_higher_order_ops/",
                          "_library/",
                          "_decomp/",
                          "_ops.py",
                          "fx/",
                          "nn/",
                          "utils/",
                          "_meta_registrations.py",
                          "_tensor.py",
                          "functional.py",
                          "__init__.py",
                          "_guards.py",
                          "_logging/",
                          "_compile.py",
                          "overrides.py",
                          "autograd/",
                          "amp/",
                          "distributed/",
                          "ao/",
                          "onnx/",
                          "library.py",
                          "_jit_internal.py",
                          "jit/",
                          "_C/",
                          "sparse/",
                          "nested/",
                          "masked/",
                          "_numpy/",
                          "_utils_internal.py",
                          "testing/",
                          "linalg/",
                          "special/"}) {
    if (rest.starts_with(own)) return true;
  }
  return false;
}

std::optional<Expr> read_expression(ExprPool& pool, const std::string& text) {
  static const ParseOptions& options = *new ParseOptions(as_in_logs());
  try {
    Budget budget(100'000);
    return parse(pool, text, options);
  } catch (const Error&) {
    return std::nullopt;
  } catch (const OutOfBudget&) {
    return std::nullopt;
  }
}

ErrorText read_errors(string_view text) {
  LogLines log(text);
  ErrorText out;
  out.streams = log.streams();
  out.lines = log.lines().size();
  out.was_cut = log.was_cut();
  std::vector<std::vector<const LogLine*>> by_stream(log.streams().size());
  // Where one process is named, what is not named is of it too.
  const bool is_one = log.streams().size() <= 2;
  for (const LogLine& line : log.lines()) {
    by_stream[is_one ? 0 : line.stream].push_back(&line);
  }
  for (uint32_t s = 0; s < by_stream.size(); ++s) {
    if (!by_stream[s].empty()) Reader(out, s).read(by_stream[s]);
  }
  return out;
}

}  // namespace proviso
