#include "tests/fuzz/texts/mutate.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace proviso::fuzz {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}
bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool is_number(const std::string& token) { return is_digit(token[0]); }
bool is_word(const std::string& token) {
  return in_word(token[0]) && !is_number(token);
}

// The length of the token that `text` begins with.
size_t token_length(std::string_view text) {
  const auto while_ = [&](auto holds, size_t from = 0) {
    while (from < text.size() && holds(text[from])) ++from;
    return from;
  };
  const char c = text[0];
  if (is_digit(c))
    return while_([](char d) { return is_digit(d) || d == '.'; });
  if (in_word(c)) return while_(in_word);
  if (is_blank(c)) return while_(is_blank);
  if (c == '"' || c == '\'') {
    const size_t end = text.find(c, 1);
    return end == std::string_view::npos ? 1 : end + 1;
  }
  static constexpr std::string_view kPairs[] = {
      "**", "//", "<=", ">=", "==", "!=", "<<", ">>", "&&"};
  return std::ranges::count(kPairs, text.substr(0, 2)) != 0 ? 2 : 1;
}

// Where the command has ends of its own: of machine words, of exact doubles,
// of limits on exponents.
const Tokens kNumbers = {"0",
                         "1",
                         "2",
                         "3",
                         "64",
                         "256",
                         "65536",
                         "2147483648",
                         "9007199254740993",
                         "9223372036854775807",
                         "9223372036854775808",
                         "18446744073709551616",
                         "340282366920938463463374607431768211457",
                         "0.5",
                         "1e-12",
                         "1e400",
                         "2.00000000000000",
                         "00",
                         "1.2.3"};

const Tokens kOperators = {"+", "-",  "*",  "/",  "//", "%", "**", "<",
                           ">", "<=", ">=", "==", "!=", "&", "|",  "~",
                           "^", "<<", ">>", "(",  ")",  "[", "]",  "{",
                           "}", ",",  ";",  ":",  "|",  ".", "\"", "\\"};

const Tokens kCalls = {"Mod(%, s0)",
                       "PythonMod(%, -3)",
                       "Min(%, s1, 7)",
                       "Max(%, u0)",
                       "Abs(%)",
                       "Where(% > 0, s0, 1)",
                       "((%))",
                       "-(%)",
                       "~(%)",
                       "(%)//(u0 - 1)",
                       "(%)**3",
                       "2**(%)",
                       "Eq(%, s0)",
                       "Ne(%, 0)",
                       "ModularIndexing(%, 4, 8)",
                       "CeilDiv(%, s1)",
                       "FloorDiv(%, 4)",
                       "IntTrueDiv(%, 2)",
                       "TruncToInt(zf0)",
                       "Not(%)",
                       "And(% > 1, s0 < 9)",
                       "ToFloat(%)",
                       "FloatPow(zf0, %)",
                       "LShift(%, 3)",
                       "(%)*(%)",
                       "(% + %//(s0 + 1))*2",
                       "RoundDecimal(zf0, %)",
                       "sqrt(%)",
                       "Piecewise((%, true))"};

const Tokens kWords = {
    "s0",   "s1",      "u0",     "u1",      "zf0",    "int_oo", "oo",   "nan",
    "True", "False",   "None",   "not",     "and",    "if",     "else", "valid",
    "open", "refuted", "value",  "vacuous", "symbol", "assume", "ask",  "range",
    "end",  "declare", "option", "null",    "true"};

const Tokens kJoins = {"+", "-", "*", "//", "%", "<", "<=", "==", "&", "|"};

// The end of the part of an expression that begins with token i.
size_t part_end(const Tokens& tokens, size_t i) {
  size_t at = i;
  if (in_word(tokens[at][0])) {
    if (at + 1 >= tokens.size() || tokens[at + 1] != "(") return at + 1;
    ++at;  // a call
  }
  if (tokens[at] != "(") return i;
  size_t open = 0;
  for (; at < tokens.size() && tokens[at] != "\n"; ++at) {
    open += tokens[at] == "(";
    if (tokens[at] == ")" && --open == 0) return at + 1;
  }
  return i;
}

std::string text_of(const Tokens& tokens, size_t from, size_t to) {
  std::string text;
  for (; from < to; ++from) text += tokens[from];
  return text;
}

}  // namespace

Tokens split_tokens(std::string_view text) {
  Tokens tokens;
  while (!text.empty()) {
    const size_t length = token_length(text);
    tokens.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return tokens;
}

Mutator::Mutator(unsigned seed, const std::vector<std::string>& texts)
    : random_(seed),
      numbers_(kNumbers),
      words_(kWords),
      operators_(kOperators) {
  constexpr size_t kMostParts = 4000, kLongest = 60;  // tokens
  for (const std::string& text : texts) {
    const Tokens tokens = split_tokens(text.substr(0, kMost));
    for (size_t i = 0; i < tokens.size() && parts_.size() < kMostParts; ++i) {
      const size_t end = part_end(tokens, i);
      if (end > i && end - i < kLongest)
        parts_.push_back(text_of(tokens, i, end));
    }
    for (const std::string& token : split_tokens(text)) {
      if (is_number(token)) numbers_.push_back(token);
      if (is_word(token)) words_.push_back(token);
    }
    for (size_t from = 0; from < text.size();) {
      const size_t end = std::min(text.find('\n', from), text.size());
      lines_.push_back(text.substr(from, end - from) + "\n");
      from = end + 1;
    }
  }
}

std::string Mutator::wrapped(const std::string& token) {
  std::string out;
  for (char c : pick(kCalls)) out += c == '%' ? token : std::string(1, c);
  return out;
}

std::string Mutator::other(const std::string& token) {
  if (is_number(token)) return pick(numbers_);
  if (is_word(token)) return pick(words_);
  if (token == "\n") return pick(2) == 0 ? "\n\n" : " ";
  return pick(operators_);
}

void Mutator::change_lines(Tokens& tokens) {
  std::vector<size_t> starts{0};
  for (size_t i = 0; i + 1 < tokens.size(); ++i)
    if (tokens[i] == "\n") starts.push_back(i + 1);
  const auto at =
      tokens.begin() + static_cast<std::ptrdiff_t>(starts[pick(starts.size())]);
  switch (pick(3)) {
    case 0: {  // a line of another text
      const Tokens line = split_tokens(pick(lines_));
      tokens.insert(at, line.begin(), line.end());
      return;
    }
    case 1: {  // a line goes
      const auto end = std::find(at, tokens.end(), "\n");
      tokens.erase(at, end);
      return;
    }
    default: tokens.erase(at, tokens.end());  // the rest is missing
  }
}

void Mutator::change(Tokens& tokens) {
  if (tokens.empty()) return;
  const size_t kind = pick(12);
  if (kind == 0) return change_lines(tokens);
  if (kind <= 3 || parts_.empty()) return change_token(tokens);
  change_part(tokens);
}

void Mutator::change_part(Tokens& tokens) {
  size_t from = 0, to = 0;
  for (int tries = 0; tries < 50 && to <= from; ++tries) {
    from = pick(tokens.size());
    to = part_end(tokens, from);
  }
  if (to <= from) return;
  std::string part = text_of(tokens, from, to);
  const auto operand = [&] { return pick(3) == 0 ? pick(parts_) : part; };
  switch (pick(4)) {
    case 0: part = pick(parts_); break;
    case 1: part = wrapped(part); break;
    case 2:
      part = "(" + operand() + " " + pick(kJoins) + " " + pick(parts_) + ")";
      break;
    default:  // one of the same kind
      part = is_number(part) && tokens[from] == part ? pick(numbers_)
             : is_word(part) && tokens[from] == part ? pick(words_)
                                                     : pick(parts_);
  }
  const auto at = tokens.begin() + static_cast<std::ptrdiff_t>(from);
  tokens.erase(at, at + static_cast<std::ptrdiff_t>(to - from));
  const Tokens made = split_tokens(part);
  tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(from),
                made.begin(), made.end());
}

void Mutator::change_token(Tokens& tokens) {
  const size_t i = pick(tokens.size());
  const size_t j = std::min(tokens.size() - 1, i + pick(6));
  const auto at = tokens.begin() + static_cast<std::ptrdiff_t>(i);
  switch (pick(6)) {
    case 0: tokens.erase(at); return;
    case 1: tokens.insert(at, pick(tokens)); return;
    case 2: std::swap(tokens[i], tokens[j]); return;
    case 3:
      for (size_t k = 1 + pick(4); k > 0; --k) tokens[i] = wrapped(tokens[i]);
      return;
    default: tokens[i] = other(tokens[i]);
  }
}

std::string Mutator::operator()(std::string_view text) {
  const size_t header = std::min(text.find('\n') + 1, text.size());
  Tokens tokens = split_tokens(text.substr(0, header));
  if (const std::string_view rest = text.substr(header); !rest.empty()) {
    size_t from = 0, length = rest.size();
    if (rest.size() > kMost || pick(12) == 0) {
      from = rest.find('\n', pick(rest.size()));
      from = from == std::string_view::npos ? 0 : from + 1;
      length = 200 + pick(1500);
    }
    const Tokens body = split_tokens(rest.substr(from, length));
    tokens.insert(tokens.end(), body.begin(), body.end());
  }
  do change(tokens);
  while (pick(2) == 0 && !tokens.empty());
  std::string out;
  for (const std::string& token : tokens) out += token;
  if (out.size() > kMost) out.resize(kMost);
  return out;
}

}  // namespace proviso::fuzz
