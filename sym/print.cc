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

// What PyTorch's form and Python share: constants, sums, products, powers,
// comparisons.
class InfixText {
 public:
  // A number of more digits is not written: what makes them takes time as their
  // square.
  void set_most_digits(size_t digits) { most_digits_ = digits; }

 protected:
  ~InfixText() = default;

  // The text of a positive float constant.
  virtual std::string fraction(const Rational& r) const = 0;

  static std::string sign(Op op) { return std::string(info(op).infix.sign); }
  static std::string spaced(const Infix& infix) {
    return " " + std::string(infix.sign) + " ";
  }

  Precedence constant(Expr e, Line& line) const {
    if (e.is_bool()) {
      line << (e.is_true() ? "True" : "False");
      return Precedence::kAtom;
    }
    const bool minus = is_negative(e);
    line << (minus ? "-" : "") + unsigned_number(e);
    return minus ? Precedence::kSign : Precedence::kAtom;
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

  Precedence sum(Expr e, Line& line) const {
    const Infix& plus = info(Op::kAdd).infix;
    line << at_least(e.arg(0), tighter(plus.precedence));
    for (Expr term : e.args().subspan(1)) {
      std::optional<Line> minus = subtracted(term);
      if (minus) {
        line << " - " << *std::move(minus);
      } else {
        line << spaced(plus) << at_least(term, tighter(plus.precedence));
      }
    }
    return plus.precedence;
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
      line << unsigned_number(first) << sign(Op::kMul);
    } else if (is_number(term.arg(1))) {
      return std::nullopt;  // -1*2: a number would swallow the sign
    }
    return std::move(line << factors(term.args().subspan(1)));
  }

  static bool is_minus_one(Expr e) {
    return e.is(Op::kInteger) && e.integer() == Int(-1);
  }

  static Precedence product(Expr e, Line& line) {
    std::span<const Expr> args = e.args();
    if (is_minus_one(args[0]) && !is_number(args[1])) {
      line << "-";
    } else {
      line << at_least(args[0], Precedence::kSign) << sign(Op::kMul);
    }
    line << factors(args.subspan(1));
    return info(Op::kMul).infix.precedence;
  }
  static Line factors(std::span<const Expr> args) {
    return joined(args, sign(Op::kMul), Precedence::kPower);
  }

  // A sign may stand after **, but not before it.
  static Precedence power(Expr e, Line& line) {
    const auto& [sign, precedence] = info(e.op()).infix;
    line << at_least(e.arg(0), tighter(precedence)) << std::string(sign)
         << at_least(e.arg(1), Precedence::kSign);
    return precedence;
  }

  static Precedence relation(Expr e, Line& line) {
    const Infix& infix = info(e.op()).infix;
    std::string sign = spaced(infix);
    const bool is_flipped = (e.is(Op::kLt) || e.is(Op::kLe)) && flips(e);
    if (is_flipped) sign[1] = '>';
    line << at_least(e.arg(is_flipped), tighter(infix.precedence)) << sign
         << at_least(e.arg(!is_flipped), tighter(infix.precedence));
    return infix.precedence;
  }

  // PyTorch joins conditions by the signs of bits.
  static const Infix& sign_of_bits(Expr junction) {
    return info(junction.is(Op::kAnd) ? Op::kBitAnd : Op::kBitOr).infix;
  }

  static Precedence call(std::string_view name, Expr e, Line& line) {
    line << std::string(name) + "(" << joined(e.args(), ", ") << ")";
    return Precedence::kAtom;
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

class TorchText final : public InfixText {
 public:
  Precedence write(Expr e, Line& line) const {
    if (e.is_constant()) return constant(e, line);
    if (e.is_symbol()) {
      line << e.symbol().name;
      return Precedence::kAtom;
    }
    if (e.is(Op::kAdd) && e.arity() > 1) return sum(e, line);
    if (e.is(Op::kMul) && e.arity() > 1) return product(e, line);
    // ** of floats is FloatPow
    if (e.is(Op::kPow) && e.is_int()) return power(e, line);
    if (e.is(Op::kFloorDiv)) return quotient(e, line);
    if (e.is(Op::kLt) || e.is(Op::kLe)) return relation(e, line);
    if (e.is(Op::kNot)) {
      line << "~(" << loose(e.arg(0)) << ")";
      return Precedence::kSign;
    }
    if ((e.is(Op::kAnd) || e.is(Op::kOr)) && e.arity() > 1) {
      return junction(e, line);
    }
    return call(info(e.op()).name, e, line);
  }

 protected:
  std::string fraction(const Rational& r) const override {
    return "Rational(" + r.num().to_string() + ", " + r.den().to_string() + ")";
  }

 private:
  static Precedence quotient(Expr e, Line& line) {
    line << "(" << joined(e.args(), sign(e.op()), Precedence::kSign) << ")";
    return Precedence::kAtom;
  }
  static Precedence junction(Expr e, Line& line) {
    const Infix& infix = sign_of_bits(e);
    for (size_t i = 0; i < e.arity(); ++i) {
      if (i > 0) line << spaced(infix);
      line << "(" << loose(e.arg(i)) << ")";
    }
    return infix.precedence;
  }
};

// --- Python

class PythonText : public InfixText {
 public:
  using Names = std::function<std::string(Expr)>;
  explicit PythonText(const Names& names) : names_(names) {}
  virtual ~PythonText() = default;

  virtual Precedence write(Expr e, Line& line) const {
    switch (info(e.op()).kind) {
      case OpKind::kConstant: return constant(e, line);
      case OpKind::kSymbol:
        line << (names_ ? names_(e) : e.symbol().name);
        return Precedence::kAtom;
      case OpKind::kSum: return e.arity() > 1 ? sum(e, line) : same(e, line);
      case OpKind::kProduct:
        return e.arity() > 1 ? product(e, line) : same(e, line);
      case OpKind::kExtremum:
        return e.arity() > 1 ? function(e, line) : same(e, line);
      case OpKind::kIdentity: return same(e, line);
      case OpKind::kPower: return power(e, line);
      case OpKind::kFloorDiv: return binary(e, sign(e.op()), line);
      case OpKind::kMod:
      case OpKind::kTrueDiv:
      case OpKind::kShift:
      case OpKind::kBitwise: return binary(e, spaced(info(e.op()).infix), line);
      case OpKind::kRelation: return relation(e, line);
      case OpKind::kJunction: return junction(e, info(e.op()).infix, line);
      case OpKind::kNot:
        line << "not " << at_least(e.arg(0), Precedence::kAtom);
        return Precedence::kNot;
      case OpKind::kWhere:
        line << "(" << at_least(e.arg(1), Precedence::kOr) << " if "
             << loose(e.arg(0)) << " else " << loose(e.arg(2)) << ")";
        return Precedence::kAtom;
      case OpKind::kAbs:
      case OpKind::kToFloat:
      case OpKind::kRounding: return function(e, line);
      case OpKind::kReal: return real(e, "float", line);
      case OpKind::kIndicator: return dense_indicator(e, line);
      case OpKind::kDefined: break;
    }
    return write(definition(e), line);
  }

 protected:
  std::string fraction(const Rational& r) const override {
    return "(" + r.num().to_string() + "/" + r.den().to_string() + ")";
  }

  static Precedence junction(Expr e, const Infix& infix, Line& line) {
    if (e.arity() < 2) return same(e, line);
    line << joined(e.args(), spaced(infix), tighter(infix.precedence));
    return infix.precedence;
  }

  static Precedence real(Expr e, const std::string& to_float, Line& line) {
    if (e.is(Op::kFloatPow)) {
      const auto& [sign, precedence] = info(e.op()).infix;
      line << as_float(e.arg(0), to_float) << std::string(sign)
           << as_float(e.arg(1), to_float);
      return precedence;
    }
    if (!e.is(Op::kTruncToFloat)) return function(e, line);
    line << to_float << "(math.trunc(" << loose(e.arg(0)) << "))";
    return Precedence::kAtom;
  }

 private:
  // The only argument, which stands for the whole.
  static Precedence same(Expr e, Line& line) {
    line << at_least(e.arg(0), Precedence::kAtom);
    return Precedence::kAtom;
  }

  static Precedence function(Expr e, Line& line) {
    return call(info(e.op()).python, e, line);
  }

  static Precedence binary(Expr e, std::string sign, Line& line) {
    const Precedence level = info(e.op()).infix.precedence;
    line << at_least(e.arg(0), level) << std::move(sign)
         << at_least(e.arg(1), tighter(level));
    return level;
  }
  static Line as_float(Expr e, std::string to_float) {
    Line line;
    if (e.is_float()) return std::move(line << at_least(e, Precedence::kAtom));
    return std::move(line << std::move(to_float) << "(" << loose(e) << ")");
  }
  // The name that PyTorch's guard code has in scope.
  static Precedence dense_indicator(Expr e, Line& line) {
    size_t rank = e.arity() / 2;
    line << "eval_is_non_overlapping_and_dense(["
         << joined(e.args().first(rank), ", ") << "], ["
         << joined(e.args().subspan(rank), ", ") << "])";
    return Precedence::kAtom;
  }

  const Names& names_;
};

// --- Python that may be traced: what asks no symbolic number for its truth

class TracedText final : public PythonText {
 public:
  using PythonText::PythonText;

  Precedence write(Expr e, Line& line) const override {
    if (e.is(Op::kAnd) || e.is(Op::kOr)) {
      return junction(e, sign_of_bits(e), line);
    }
    if (e.is(Op::kMin) || e.is(Op::kMax)) return nested(e, line);
    if (e.is(Op::kTruncToInt)) return call("torch.sym_int", e, line);
    const OpInfo& op = info(e.op());
    if (e.is(Op::kNot) || e.is(Op::kToFloat) || is_torchs_choice(e) ||
        (op.kind == OpKind::kReal && op.target.starts_with("torch."))) {
      return call(op.target, e, line);
    }
    if (op.kind == OpKind::kReal) {
      return real(e, std::string(info(Op::kToFloat).target), line);
    }
    return PythonText::write(e, line);
  }

 private:
  // torch.sym_ite() takes two symbolic numbers or two of Python's.
  static bool is_torchs_choice(Expr e) {
    return e.is(Op::kWhere) && e.arg(1).is_constant() == e.arg(2).is_constant();
  }
  // f(a, f(b, c)): torch's take two.
  static Precedence nested(Expr e, Line& line) {
    for (size_t i = 0; i < e.arity(); ++i) {
      const bool is_last = i + 1 == e.arity();
      if (!is_last) line << std::string(info(e.op()).target) + "(";
      line << loose(e.arg(i));
      if (!is_last) line << ", ";
    }
    line << std::string(e.arity() - 1, ')');
    return Precedence::kAtom;
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
