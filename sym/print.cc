#include "sym/print.h"

#include <algorithm>
#include <iterator>
#include <ostream>
#include <span>

#include "sym/budget.h"
#include "sym/definition.h"
#include "sym/not_null.h"
#include "sym/traced_python.h"

namespace proviso::inline v0_2 {
using namespace internal;
namespace {

// How tightly a piece of text binds, in Python's order.
enum Level {
  kOrLevel,
  kAndLevel,
  kNotLevel,
  kCompareLevel,
  kBitOrLevel,
  kBitXorLevel,
  kBitAndLevel,
  kShiftLevel,
  kSumLevel,
  kProductLevel,
  kSignLevel,
  kPowerLevel,
  kAtomLevel
};

// What is to be written, in order: text, and expressions in parentheses where
// they bind looser than `level`.
struct Piece {
  std::string text;
  Expr e = {};
  Level level = kOrLevel;
};
struct Line {
  std::vector<Piece> pieces;

  Line& operator<<(std::string text) {
    pieces.push_back({std::move(text)});
    return *this;
  }
  Line& operator<<(Piece piece) {
    pieces.push_back(std::move(piece));
    return *this;
  }
  Line& operator<<(Line line) {
    std::move(line.pieces.begin(), line.pieces.end(),
              std::back_inserter(pieces));
    return *this;
  }
};
Piece at_least(Expr e, Level level) { return {{}, e, level}; }
Piece loose(Expr e) { return {{}, e}; }

Line joined(std::span<const Expr> args, std::string_view separator,
            Level level = kOrLevel) {
  Line line;
  for (size_t i = 0; i < args.size(); ++i) {
    if (i > 0) line << std::string(separator);
    line << at_least(args[i], level);
  }
  return line;
}

// The text of an expression in a style, written from left to right; pieces that
// wait lie on a stack of its own.  style.write(e, line) appends what is written
// for e, and returns how tightly that binds.  Past the limit it ends in "...",
// and `is_cut` is set.
template <typename Style>
std::string write_text(Style& style, Expr root, bool& is_cut,
                       size_t max_length = kMaxTextLength) {
  std::string out;
  std::vector<Piece> waiting{loose(root)};
  while (!waiting.empty()) {
    const Piece piece = std::move(waiting.back());
    waiting.pop_back();
    Budget::charge(2);
    if (!piece.e) {
      out += piece.text;
      continue;
    }
    if (out.size() > max_length) break;
    Line line;
    const bool is_loose = style.write(piece.e, line) < piece.level;
    if (is_loose) waiting.push_back({")"});
    std::move(line.pieces.rbegin(), line.pieces.rend(),
              std::back_inserter(waiting));
    if (is_loose) out += "(";
  }
  is_cut = !waiting.empty() || out.size() > 2 * max_length;
  if (is_cut) out = out.substr(0, max_length) + "...";
  return out;
}

template <typename Style>
std::string whole_text(const char* call, Style& style, Expr e) {
  bool is_cut = false;
  std::string text = write_text(style, e, is_cut);
  if (!is_cut) return text;
  throw Error(std::string(call) + ": the text would have more than " +
              std::to_string(kMaxTextLength) +
              " characters; give parts that are used often a symbol of their "
              "own");
}

bool is_number(Expr e) { return e.is(Op::kInteger) || e.is(Op::kRational); }

bool is_negative(Expr e) {
  if (e.is(Op::kInteger)) return e.integer().sign() < 0;
  return e.is(Op::kRational) && e.rational().num().sign() < 0;
}

Rational magnitude(const Rational& r) { return {abs(r.num()), r.den()}; }

// A constant beside a value that is not: PyTorch writes the constant right.
bool flips(Expr e) { return e.arg(0).is_constant() && !e.arg(1).is_constant(); }

constexpr int kMaxPlaces = 128;  // beyond, a fraction reads better

// Divides out `prime`, counting; at most one more than kMaxPlaces times.
int take_factor(Int& n, const Int& prime) {
  int count = 0;
  while (count <= kMaxPlaces && floor_mod(n, prime).is_zero()) {
    n = floor_div(n, prime);
    ++count;
  }
  return count;
}

// Every digit of r >= 0 ("0.25", "1.0e-12"), where they end.
std::optional<std::string> decimal(const Rational& r) {
  Int rest = r.den();
  int places = std::max(take_factor(rest, 2), take_factor(rest, 5));
  if (!rest.is_one() || places > kMaxPlaces) return std::nullopt;
  Int scaled = floor_div(r.num() * *pow(Int(10), static_cast<uint64_t>(places)),
                         r.den());
  std::string digits = scaled.to_string();
  int size = static_cast<int>(digits.size());
  int exponent = size - places - 1;
  if (!scaled.is_zero() && (exponent < -4 || exponent > 15)) {
    digits.erase(digits.find_last_not_of('0') + 1);
    std::string tail = digits.size() > 1 ? digits.substr(1) : "0";
    return digits.substr(0, 1) + "." + tail + "e" + std::to_string(exponent);
  }
  if (places == 0) return digits + ".0";
  if (size <= places) {
    digits.insert(0, static_cast<size_t>(places - size + 1), '0');
  }
  digits.insert(digits.size() - static_cast<size_t>(places), ".");
  return digits;
}

// What PyTorch's form and Python share: sums, products, powers, comparisons.
class Infix {
 public:
  // A number of more digits is not written: what makes them takes time as their
  // square.
  void set_most_digits(size_t digits) { most_digits_ = digits; }

 protected:
  ~Infix() = default;

  // The text of a positive float constant.
  virtual std::string fraction(const Rational& r) const = 0;

  Level number(Expr e, Line& line) const {
    const bool minus = is_negative(e);
    line << (minus ? "-" : "") + unsigned_number(e);
    return minus ? kSignLevel : kAtomLevel;
  }
  std::string unsigned_number(Expr e) const {
    if (e.is(Op::kInteger)) {
      const Int n = abs(e.integer());
      return is_too_long(n) ? left_out("an integer", n) : n.to_string();
    }
    Rational r = magnitude(e.rational());
    if (is_too_long(r.num())) return left_out("a number", r.num());
    if (is_too_long(r.den())) return left_out("a number", r.den());
    std::optional<std::string> digits = decimal(r);
    return digits ? *digits : fraction(r);
  }

  Level sum(Expr e, Line& line) const {
    line << at_least(e.arg(0), kProductLevel);
    for (Expr term : e.args().subspan(1)) {
      std::optional<Line> minus = subtracted(term);
      if (minus) {
        line << " - " << *std::move(minus);
      } else {
        line << " + " << at_least(term, kProductLevel);
      }
    }
    return kSumLevel;
  }

  // What stands after " - " when the sign of `term` can go there.
  std::optional<Line> subtracted(Expr term) const {
    Line line;
    if (is_number(term) && is_negative(term)) {
      return std::move(line << unsigned_number(term));
    }
    if (!term.is(Op::kMul) || term.arity() < 2) return std::nullopt;
    Expr first = term.arg(0);
    if (!is_number(first) || !is_negative(first)) return std::nullopt;
    if (!is_minus_one(first)) {
      line << unsigned_number(first) << "*";
    } else if (is_number(term.arg(1))) {
      return std::nullopt;  // -1*2: a number would swallow the sign
    }
    return std::move(line << factors(term.args().subspan(1)));
  }

  static bool is_minus_one(Expr e) {
    return e.is(Op::kInteger) && e.integer() == Int(-1);
  }

  static Level product(Expr e, Line& line) {
    std::span<const Expr> args = e.args();
    if (is_minus_one(args[0]) && !is_number(args[1])) {
      line << "-" << factors(args.subspan(1));
    } else {
      line << at_least(args[0], kSignLevel) << "*" << factors(args.subspan(1));
    }
    return kProductLevel;
  }
  static Line factors(std::span<const Expr> args) {
    return joined(args, "*", kPowerLevel);
  }

  static Level power(Expr base, Expr exponent, Line& line) {
    line << at_least(base, kAtomLevel) << "**"
         << at_least(exponent, kSignLevel);
    return kPowerLevel;
  }

  static Level compare(Expr a, std::string_view sign, Expr b, Line& line) {
    line << at_least(a, kBitOrLevel) << " " + std::string(sign) + " "
         << at_least(b, kBitOrLevel);
    return kCompareLevel;
  }
  static Level inequality(Expr e, Line& line) {
    bool strict = e.is(Op::kLt);
    if (flips(e)) {
      return compare(e.arg(1), strict ? ">" : ">=", e.arg(0), line);
    }
    return compare(e.arg(0), strict ? "<" : "<=", e.arg(1), line);
  }

  static Level call(std::string_view name, Expr e, Line& line) {
    line << std::string(name) + "(" << joined(e.args(), ", ") << ")";
    return kAtomLevel;
  }

 private:
  bool is_too_long(const Int& n) const {
    return n.bit_length() / 4 > most_digits_;
  }
  static std::string left_out(const char* what, const Int& n) {
    return "(" + std::string(what) + " of " + std::to_string(n.bit_length()) +
           " bits...)";
  }

  size_t most_digits_ = 2 * kMaxTextLength;
};

// --- PyTorch's and SymPy's str()

class TorchText final : public Infix {
 public:
  Level write(Expr e, Line& line) const {
    switch (e.op()) {
      case Op::kInteger:
      case Op::kRational: return number(e, line);
      case Op::kBoolean:
        line << (e.is_true() ? "True" : "False");
        return kAtomLevel;
      case Op::kSymbol: line << e.symbol().name; return kAtomLevel;
      case Op::kLt:
      case Op::kLe: return inequality(e, line);
      case Op::kNot: line << "~(" << loose(e.arg(0)) << ")"; return kSignLevel;
      case Op::kFloorDiv:
        line << "(" << at_least(e.arg(0), kSignLevel) << "//"
             << at_least(e.arg(1), kSignLevel) << ")";
        return kAtomLevel;
      case Op::kPow:
        if (e.is_float()) break;  // ** of floats is FloatPow
        return power(e.arg(0), e.arg(1), line);
      case Op::kAdd:
      case Op::kMul:
      case Op::kAnd:
      case Op::kOr:
        if (e.arity() < 2) break;
        return chain(e, line);
      default: break;
    }
    return call(info(e.op()).name, e, line);
  }

 protected:
  std::string fraction(const Rational& r) const override {
    return "Rational(" + r.num().to_string() + ", " + r.den().to_string() + ")";
  }

 private:
  Level chain(Expr e, Line& line) const {
    if (e.is(Op::kAdd)) return sum(e, line);
    if (e.is(Op::kMul)) return product(e, line);
    const bool both = e.is(Op::kAnd);
    for (size_t i = 0; i < e.arity(); ++i) {
      if (i > 0) line << (both ? " & " : " | ");
      line << "(" << loose(e.arg(i)) << ")";
    }
    return both ? kBitAndLevel : kBitOrLevel;
  }
};

// --- Python

class PythonText : public Infix {
 public:
  using Names = std::function<std::string(Expr)>;
  explicit PythonText(const Names& names) : names_(names) {}

  Level write(Expr e, Line& line) const {
    switch (e.op()) {
      case Op::kInteger:
      case Op::kRational: return number(e, line);
      case Op::kBoolean:
        line << (e.is_true() ? "True" : "False");
        return kAtomLevel;
      case Op::kSymbol:
        line << (names_ ? names_(e) : e.symbol().name);
        return kAtomLevel;
      case Op::kEq: return compare(e.arg(0), "==", e.arg(1), line);
      case Op::kNe: return compare(e.arg(0), "!=", e.arg(1), line);
      case Op::kLt:
      case Op::kLe: return inequality(e, line);
      case Op::kAnd: return chain(e, " and ", kAndLevel, line);
      case Op::kOr: return chain(e, " or ", kOrLevel, line);
      case Op::kNot:
        line << "not " << at_least(e.arg(0), kAtomLevel);
        return kNotLevel;
      case Op::kWhere:
        line << "(" << at_least(e.arg(1), kOrLevel) << " if " << loose(e.arg(0))
             << " else " << loose(e.arg(2)) << ")";
        return kAtomLevel;
      default: return arithmetic(e, line);
    }
  }

 protected:
  std::string fraction(const Rational& r) const override {
    return "(" + r.num().to_string() + "/" + r.den().to_string() + ")";
  }

  static Level chain(Expr e, std::string_view word, Level level, Line& line) {
    if (e.arity() < 2) return same(e, line);
    line << joined(e.args(), word, static_cast<Level>(level + 1));
    return level;
  }

 private:
  // The only argument, which stands for the whole.
  static Level same(Expr e, Line& line) {
    line << at_least(e.arg(0), kAtomLevel);
    return kAtomLevel;
  }

  Level arithmetic(Expr e, Line& line) const {
    switch (e.op()) {
      case Op::kAdd: return e.arity() > 1 ? sum(e, line) : same(e, line);
      case Op::kMul: return e.arity() > 1 ? product(e, line) : same(e, line);
      case Op::kPow:
      case Op::kPowByNatural: return power(e.arg(0), e.arg(1), line);
      case Op::kFloatPow:
        line << as_float(e.arg(0)) << "**" << as_float(e.arg(1));
        return kPowerLevel;
      case Op::kFloorDiv:
      case Op::kCleanDiv: return binary(e, "//", line);
      case Op::kMod:
      case Op::kPythonMod: return binary(e, " % ", line);
      case Op::kIntTrueDiv:
      case Op::kFloatTrueDiv: return binary(e, " / ", line);
      case Op::kCeilDiv: return ceil_div(e, line);
      case Op::kModularIndexing:
        line << at_least(e.arg(0), kProductLevel) << "//"
             << at_least(e.arg(1), kSignLevel) << " % "
             << at_least(e.arg(2), kSignLevel);
        return kProductLevel;
      case Op::kMin:
        return e.arity() > 1 ? call("min", e, line) : same(e, line);
      case Op::kMax:
        return e.arity() > 1 ? call("max", e, line) : same(e, line);
      case Op::kIdentity: return same(e, line);
      default: return bits(e, line);
    }
  }

  Level bits(Expr e, Line& line) const {
    switch (e.op()) {
      case Op::kLShift: return binary(e, " << ", line, kShiftLevel);
      case Op::kRShift: return binary(e, " >> ", line, kShiftLevel);
      case Op::kBitAnd: return binary(e, " & ", line, kBitAndLevel);
      case Op::kBitOr: return binary(e, " | ", line, kBitOrLevel);
      case Op::kBitXor: return binary(e, " ^ ", line, kBitXorLevel);
      default: return function(e, line);
    }
  }

  Level function(Expr e, Line& line) const {
    if (e.is(Op::kTruncToFloat)) {
      line << "float(math.trunc(" << loose(e.arg(0)) << "))";
      return kAtomLevel;
    }
    if (e.is(Op::kDenseIndicator)) return dense_indicator(e, line);
    return call(info(e.op()).python, e, line);
  }

  static Level binary(Expr e, std::string_view sign, Line& line,
                      Level level = kProductLevel) {
    auto tighter = static_cast<Level>(level + 1);
    line << at_least(e.arg(0), level) << std::string(sign)
         << at_least(e.arg(1), tighter);
    return level;
  }
  // Rounds up for divisors of either sign.
  static Level ceil_div(Expr e, Line& line) {
    line << "-(-" << at_least(e.arg(0), kPowerLevel) << "//"
         << at_least(e.arg(1), kSignLevel) << ")";
    return kProductLevel;
  }
  static Line as_float(Expr e) {
    Line line;
    if (e.is_float()) return std::move(line << at_least(e, kAtomLevel));
    return std::move(line << "float(" << loose(e) << ")");
  }
  // The name that PyTorch's guard code has in scope.
  static Level dense_indicator(Expr e, Line& line) {
    size_t rank = e.arity() / 2;
    line << "eval_is_non_overlapping_and_dense(["
         << joined(e.args().first(rank), ", ") << "], ["
         << joined(e.args().subspan(rank), ", ") << "])";
    return kAtomLevel;
  }

  const Names& names_;
};

// --- Python that may be traced: what asks no symbolic number for its truth

class TracedText final : public PythonText {
 public:
  using PythonText::PythonText;

  Level write(Expr e, Line& line) const {
    switch (e.op()) {
      case Op::kAnd: return chain(e, " & ", kBitAndLevel, line);
      case Op::kOr: return chain(e, " | ", kBitOrLevel, line);
      case Op::kNot: return call("torch.sym_not", e, line);
      case Op::kWhere: return call("torch.sym_ite", e, line);
      case Op::kMin: return nested("torch.sym_min", e.args(), line);
      case Op::kMax: return nested("torch.sym_max", e.args(), line);
      case Op::kToFloat: return call("torch.sym_float", e, line);
      case Op::kTruncToInt: return call("torch.sym_int", e, line);
      default: return PythonText::write(e, line);
    }
  }

 private:
  // f(a, f(b, c)): torch's take two.
  static Level nested(std::string_view name, std::span<const Expr> args,
                      Line& line) {
    for (size_t i = 0; i < args.size(); ++i) {
      const bool is_last = i + 1 == args.size();
      if (!is_last) line << std::string(name) + "(";
      line << loose(args[i]);
      if (!is_last) line << ", ";
    }
    line << std::string(args.size() - 1, ')');
    return kAtomLevel;
  }
};

// --- SMT-LIB 2

class SmtText {
 public:
  explicit SmtText(Expr root) {
    // Bound names must not capture a symbol.
    for (Expr s : free_symbols(root)) {
      while (s.symbol().name.starts_with(prefix_)) prefix_ += "_";
    }
  }

  Level write(Expr e, Line& line) {
    line << form(e);
    return kAtomLevel;
  }

 private:
  Line form(Expr e) {
    switch (e.op()) {
      case Op::kInteger: return text(number(e.integer()));
      case Op::kRational: return text(real(e.rational()));
      case Op::kBoolean: return text(e.is_true() ? "true" : "false");
      case Op::kSymbol: return text(symbol(e.symbol().name));
      case Op::kEq:
      case Op::kNe:
      case Op::kLt:
      case Op::kLe: return relation(e);
      case Op::kNot: return list("not", {term(e.arg(0))});
      case Op::kAnd: return chain("and", e);
      case Op::kOr: return chain("or", e);
      case Op::kAdd: return chain("+", e);
      case Op::kMul: return chain("*", e);
      case Op::kWhere:
        return list("ite",
                    {term(e.arg(0)), typed(e.arg(1), e), typed(e.arg(2), e)});
      case Op::kIdentity: return term(e.arg(0));
      default: return function(e);
    }
  }

  static Line text(std::string s) { return std::move(Line() << std::move(s)); }
  // (head a b c)
  static Line list(std::string head, std::vector<Line> parts) {
    Line line;
    line << "(" + head;
    for (Line& part : parts) line << " " << std::move(part);
    return std::move(line << ")");
  }
  static Line minus(Line a) { return list("-", {std::move(a)}); }

  // e in place: leaves at once, so that names need not be made for them.
  Line term(Expr e) {
    return is_leaf(e.op()) ? form(e) : std::move(Line() << loose(e));
  }

  static std::string number(const Int& n) {
    if (n.sign() >= 0) return n.to_string();
    return "(- " + abs(n).to_string() + ")";
  }
  static std::string real(const Rational& r) {
    std::string s = abs(r.num()).to_string() + ".0";
    if (!r.is_integer()) s = "(/ " + s + " " + r.den().to_string() + ".0)";
    return r.num().sign() < 0 ? "(- " + s + ")" : s;
  }
  static std::string symbol(const std::string& name) {
    auto simple = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    bool quote = !std::all_of(name.begin(), name.end(), simple) ||
                 std::isdigit(static_cast<unsigned char>(name[0]));
    if (name.find_first_of("|\\") != std::string::npos) {
      throw Error("to_smtlib: symbol '" + name +
                  "' cannot be written; rename it without | and \\");
    }
    return quote ? "|" + name + "|" : name;
  }

  // e as a real when one is wanted.
  Line as(Expr e, bool real_wanted) {
    if (!real_wanted || !e.is_int()) return term(e);
    if (e.is(Op::kInteger)) return text(real(Rational(e.integer())));
    return list("to_real", {term(e)});
  }
  Line typed(Expr e, Expr wanted) { return as(e, wanted.is_float()); }

  Line chain(std::string_view word, Expr e) {
    if (e.arity() == 1) return typed(e.arg(0), e);
    std::vector<Line> parts;
    for (Expr arg : e.args()) parts.push_back(typed(arg, e));
    return list(std::string(word), std::move(parts));
  }

  Line relation(Expr e) {
    bool reals = e.arg(0).is_float() || e.arg(1).is_float();
    std::vector<Line> sides = {as(e.arg(0), reals), as(e.arg(1), reals)};
    if (e.is(Op::kNe)) return list("not", {list("=", std::move(sides))});
    return list(e.is(Op::kEq)   ? "="
                : e.is(Op::kLt) ? "<"
                                : "<=",
                std::move(sides));
  }

  // A value that is used more than once gets a name, so that text grows with
  // the expression.
  class Let {
   public:
    Let(SmtText& smt, Line value) {
      if (value.pieces.size() == 1 && !value.pieces[0].e &&
          value.pieces[0].text.find(' ') == std::string::npos) {
        name_ = std::move(value.pieces[0].text);
        return;
      }
      name_ = smt.prefix_ + std::to_string(smt.next_++);
      value_ = std::move(value);
    }
    const std::string& name() const { return name_; }
    Line around(Line body) {
      if (value_.pieces.empty()) return body;
      Line line;
      line << "(let ((" + name_ + " " << std::move(value_) << ")) "
           << std::move(body) << ")";
      return line;
    }

   private:
    std::string name_;
    Line value_;
  };

  Line function(Expr e) {
    switch (e.op()) {
      case Op::kFloorDiv:
      case Op::kCleanDiv: return floor_div(term(e.arg(0)), e.arg(1));
      case Op::kMod:
      case Op::kPythonMod: return floor_mod(term(e.arg(0)), e.arg(1));
      case Op::kMin:
      case Op::kMax: return extreme(e);
      case Op::kAbs: return absolute(e);
      case Op::kPow:
      case Op::kPowByNatural: return power(e);
      case Op::kLShift: return list("*", {term(e.arg(0)), text(shift(e))});
      case Op::kRShift: return list("div", {term(e.arg(0)), text(shift(e))});
      default: return real_function(e);
    }
  }

  Line real_function(Expr e) {
    auto argument = [&] { return as(e.arg(0), true); };
    switch (e.op()) {
      case Op::kToFloat: return argument();
      case Op::kIntTrueDiv:
      case Op::kFloatTrueDiv:
        return list("/", {argument(), as(e.arg(1), true)});
      case Op::kFloorToInt: return to_int(argument());
      case Op::kCeilToInt: return minus(to_int(minus(argument())));
      case Op::kTruncToInt: return truncated(e);
      case Op::kTruncToFloat: return list("to_real", {truncated(e)});
      case Op::kRoundToInt: return rounded(e);
      default: break;
    }
    const Expr meaning = definition(e);
    if (meaning == e) unsupported(e);
    return term(meaning);
  }

  [[noreturn]] static void unsupported(Expr e) {
    throw Error("to_smtlib: " + std::string(info(e.op()).name) +
                " has no SMT-LIB form, in " + to_string(e, 200));
  }

  // SMT-LIB's div and mod leave a remainder >= 0; Python's quotient rounds
  // down.  They agree for positive divisors, and floor(a/b) = floor(-a/-b).
  Line floor_div(Line a, Expr b) {
    return by_sign(std::move(a), b, [](Line x, Line y, bool) {
      return list("div", {std::move(x), std::move(y)});
    });
  }
  Line floor_mod(Line a, Expr b) {
    return by_sign(std::move(a), b, [](Line x, Line y, bool negated) {
      Line rest = list("mod", {std::move(x), std::move(y)});
      return negated ? minus(std::move(rest)) : rest;
    });
  }
  // `divide` gets a and b for positive b, else both negated.
  template <typename Divide>
  Line by_sign(Line a, Expr b, Divide divide) {
    if (b.is(Op::kInteger)) {
      Line divisor = text(abs(b.integer()).to_string());
      if (b.integer().sign() >= 0) {
        return divide(std::move(a), std::move(divisor), false);
      }
      return divide(minus(std::move(a)), std::move(divisor), true);
    }
    Let x(*this, std::move(a)), y(*this, term(b));
    Line ite = list(
        "ite", {text("(> " + y.name() + " 0)"),
                divide(text(x.name()), text(y.name()), false),
                divide(minus(text(x.name())), minus(text(y.name())), true)});
    return x.around(y.around(std::move(ite)));
  }

  Line extreme(Expr e) {
    std::string sign = e.is(Op::kMin) ? "<=" : ">=";
    Line out = typed(e.arg(0), e);
    for (Expr arg : e.args().subspan(1)) {
      Let a(*this, std::move(out)), b(*this, typed(arg, e));
      out = a.around(
          b.around(text("(ite (" + sign + " " + a.name() + " " + b.name() +
                        ") " + a.name() + " " + b.name() + ")")));
    }
    return out;
  }

  Line absolute(Expr e) {
    Let x(*this, term(e.arg(0)));
    std::string zero = e.is_float() ? "0.0" : "0";
    return x.around(text("(ite (>= " + x.name() + " " + zero + ") " + x.name() +
                         " (- " + x.name() + "))"));
  }

  Line power(Expr e) {
    std::optional<int64_t> n = e.arg(1).maybe_int64();
    if (!n || *n < 0 || *n > 64) unsupported(e);
    if (*n == 0) return text(e.is_float() ? "1.0" : "1");
    if (*n == 1) return typed(e.arg(0), e);
    Let x(*this, typed(e.arg(0), e));
    std::string out = "(*";
    for (int64_t i = 0; i < *n; ++i) out += " " + x.name();
    return x.around(text(out + ")"));
  }

  std::string shift(Expr e) {
    std::optional<int64_t> n = e.arg(1).maybe_int64();
    if (!n || *n < 0 || *n > 4096) unsupported(e);
    return pow(Int(2), static_cast<uint64_t>(*n))->to_string();
  }

  static Line to_int(Line x) { return list("to_int", {std::move(x)}); }
  Line truncated(Expr e) {
    Let x(*this, as(e.arg(0), true));
    return x.around(text("(ite (>= " + x.name() + " 0.0) (to_int " + x.name() +
                         ") (- (to_int (- " + x.name() + "))))"));
  }
  // To nearest, ties to even.
  Line rounded(Expr e) {
    Let x(*this, as(e.arg(0), true));
    Let down(*this, to_int(text(x.name())));
    Let rest(*this, text("(- " + x.name() + " (to_real " + down.name() + "))"));
    std::string up = "(+ " + down.name() + " 1)";
    std::string tie = "(ite (= (mod " + down.name() + " 2) 0) " + down.name() +
                      " " + up + ")";
    std::string ite = "(ite (< " + rest.name() + " 0.5) " + down.name() +
                      " (ite (> " + rest.name() + " 0.5) " + up + " " + tie +
                      "))";
    return x.around(down.around(rest.around(text(ite))));
  }

  std::string prefix_ = "let!";
  int next_ = 0;
};

// --- SymPy's srepr()

std::string srepr_symbol(const Symbol& s) {
  std::string assumptions;
  switch (s.kind) {
    case SymbolKind::kBackedSize:
      // PyTorch says positive=True, and makes Max(1, s0) s0: a size may be 0.
      assumptions = ", nonnegative=True, integer=True";
      break;
    case SymbolKind::kBackedFloat: assumptions = ", real=True"; break;
    case SymbolKind::kUnbackedFloat: break;
    default: assumptions = ", integer=True";
  }
  return "Symbol('" + s.name + "'" + assumptions + ")";
}

std::string srepr_float(const Rational& r) {
  std::optional<std::string> digits = decimal(magnitude(r));
  if (!digits) {
    return "Rational(" + r.num().to_string() + ", " + r.den().to_string() + ")";
  }
  std::string sign = r.num().sign() < 0 ? "-" : "";
  return "Float('" + sign + *digits + "', precision=53)";
}

// Not negative as far as the kinds of symbols and the signs of constants tell,
// with so many looks.
bool is_plainly_natural(Expr e, int& looks) {
  if (--looks < 0) return false;
  auto natural = [&](Expr x) { return is_plainly_natural(x, looks); };
  switch (e.op()) {
    case Op::kInteger: return !is_negative(e);
    case Op::kSymbol: return e.symbol().kind == SymbolKind::kBackedSize;
    case Op::kAdd:
    case Op::kMul:
    case Op::kMin:
    case Op::kFloorDiv:
    case Op::kMod:
      return std::all_of(e.args().begin(), e.args().end(), natural);
    case Op::kMax:
      return std::any_of(e.args().begin(), e.args().end(), natural);
    default: return false;
  }
}

class SreprText {
 public:
  Level write(Expr e, Line& line) const {
    line << form(e);
    return kAtomLevel;
  }

 private:
  static Line form(Expr e) {
    Line line;
    switch (e.op()) {
      case Op::kInteger:
        return std::move(line << "Integer(" + e.integer().to_string() + ")");
      case Op::kRational: return std::move(line << srepr_float(e.rational()));
      case Op::kBoolean:
        return std::move(line << (e.is_true() ? "true" : "false"));
      case Op::kSymbol: return std::move(line << srepr_symbol(e.symbol()));
      case Op::kEq:
      case Op::kNe: return equality(e);
      case Op::kLt:
      case Op::kLe: return relation(e);
      case Op::kWhere: return where(e);
      case Op::kMod: return mod(e);
      case Op::kCeilDiv: return ceil_div(e);
      default: return call(info(e.op()).name, e.args());
    }
  }

  static Line call(std::string_view name, std::span<const Expr> args) {
    Line line;
    line << std::string(name) + "(" << joined(args, ", ") << ")";
    return line;
  }

  static Line relation(Expr e) {
    std::string name = e.is(Op::kLt) ? "Strict" : "";
    if (!flips(e)) return call(name + "LessThan", e.args());
    const Expr flipped[] = {e.arg(1), e.arg(0)};
    return call(name + "GreaterThan", flipped);
  }

  // PyTorch's sym_ite is SymPy's Piecewise, which takes no boolean arms.  Pairs
  // are written as tuples: SymPy's own text names ExprCondPair, which its
  // sympify(), and so torch.export.load, does not know.
  static Line where(Expr e) {
    if (e.is_bool()) return call("ITE", e.args());
    Line line;
    line << "Piecewise((" << loose(e.arg(1)) << ", " << loose(e.arg(0))
         << "), (" << loose(e.arg(2)) << ", true))";
    return line;
  }

  // SymPy's Equality compares booleans as structures, not as values.
  static Line equality(Expr e) {
    bool equal = e.is(Op::kEq);
    if (e.arg(0).is_bool()) return call(equal ? "Equivalent" : "Xor", e.args());
    return call(equal ? "Equality" : "Unequality", e.args());
  }

  // PyTorch's Mod refuses negative operands; its PythonMod takes them.
  static Line mod(Expr e) {
    int looks = 256;
    return call(is_plainly_natural(e, looks) ? "Mod" : "PythonMod", e.args());
  }

  // PyTorch's CeilDiv adds divisor - 1, which is no ceiling for divisors < 0.
  static Line ceil_div(Expr e) {
    if (e.arg(1).is(Op::kInteger) && e.arg(1).integer().sign() > 0) {
      return call("CeilDiv", e.args());
    }
    Line line;
    line << "Mul(Integer(-1), FloorDiv(Mul(Integer(-1), " << loose(e.arg(0))
         << "), " << loose(e.arg(1)) << "))";
    return line;
  }
};

}  // namespace

std::string to_string(Expr e, size_t max_length) {
  if (!e) return "<null>";
  TorchText style;
  style.set_most_digits(2 * max_length);
  bool is_cut = false;
  return write_text(style, e, is_cut, max_length);
}

std::ostream& operator<<(std::ostream& out, Expr e) {
  return out << to_string(e);
}

std::string to_python(Expr e, const std::function<std::string(Expr)>& name_of) {
  PythonText style(name_of);
  return whole_text("to_python", style, not_null(e, "to_python"));
}

std::string internal::to_traced_python(
    Expr e, const std::function<std::string(Expr)>& name_of) {
  TracedText style(name_of);
  return whole_text("to_traced_python", style, not_null(e, "to_traced_python"));
}

std::string to_check(Expr condition,
                     const std::function<std::string(Expr)>& name_of) {
  if (!not_null(condition, "to_check").is_bool()) {
    throw Error("to_check: expected a boolean, got " +
                to_string(condition, 200) + " (" +
                std::string(proviso::name_of(condition.type())) + ")");
  }
  return "torch._check(" + to_traced_python(condition, name_of) + ")";
}

std::string to_smtlib(Expr e) {
  SmtText style(not_null(e, "to_smtlib"));
  return whole_text("to_smtlib", style, e);
}

std::string to_srepr(Expr e) {
  SreprText style;
  return whole_text("to_srepr", style, not_null(e, "to_srepr"));
}

}  // namespace proviso::inline v0_2
