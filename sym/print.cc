// The texts that people and programs read: PyTorch's form, Python, and Python
// that a tracer runs.  An operator that others define is written by its
// definition in Python, and by its name in PyTorch's form, which is what
// parse() reads.
#include "sym/print.h"

#include <algorithm>
#include <ostream>
#include <span>

#include "sym/definition.h"
#include "sym/excerpt.h"
#include "sym/not_null.h"
#include "sym/text_writer.h"
#include "sym/traced_python.h"

namespace proviso::inline v0_2 {
using namespace internal;
namespace {

bool is_number(Expr e) { return e.is(Op::kInteger) || e.is(Op::kRational); }

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

}  // namespace

std::optional<std::string> internal::decimal(const Rational& r) {
  // No power of ten of so few places has more bits.
  if (r.den().bit_length() > 4 * kMaxPlaces) return std::nullopt;
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

namespace {

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
  virtual ~PythonText() = default;

  virtual Level write(Expr e, Line& line) const {
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
    if (const Expr meaning = definition(e); meaning != e) {
      return write(meaning, line);
    }
    return call(info(e.op()).python, e, line);
  }

  static Level binary(Expr e, std::string_view sign, Line& line,
                      Level level = kProductLevel) {
    auto tighter = static_cast<Level>(level + 1);
    line << at_least(e.arg(0), level) << std::string(sign)
         << at_least(e.arg(1), tighter);
    return level;
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

  Level write(Expr e, Line& line) const override {
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

}  // namespace

std::string to_string(Expr e, size_t max_length) {
  if (!e) return "<null>";
  TorchText style;
  style.set_most_digits(2 * max_length);
  bool is_cut = false;
  return write_text(style, e, is_cut, max_length);
}

std::string to_torch(Expr e) {
  TorchText style;
  return whole_text("to_torch", style, e);
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
    throw Error("to_check: expected a boolean, got " + described(condition));
  }
  return "torch._check(" + to_traced_python(condition, name_of) + ")";
}

}  // namespace proviso::inline v0_2
