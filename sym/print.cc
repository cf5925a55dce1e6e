#include "sym/print.h"

#include <algorithm>
#include <ostream>

namespace proviso {
namespace {

// How tightly a piece of text binds, in Python's order.
enum Level {
  kOrLevel, kAndLevel, kNotLevel, kCompareLevel, kBitOrLevel, kBitXorLevel,
  kBitAndLevel, kShiftLevel, kSumLevel, kProductLevel, kSignLevel, kPowerLevel,
  kAtomLevel
};

struct Text {
  std::string s;
  Level level = kAtomLevel;
};

std::string in_parentheses(const std::string& s) { return "(" + s + ")"; }

bool is_number(Expr e) { return e.is(Op::kInteger) || e.is(Op::kRational); }

bool is_negative(Expr e) {
  if (e.is(Op::kInteger)) return e.integer().sign() < 0;
  return e.is(Op::kRational) && e.rational().num().sign() < 0;
}

Rational magnitude(const Rational& r) { return {abs(r.num()), r.den()}; }

// A constant beside a value that is not: PyTorch writes the constant right.
bool flips(Expr e) { return e.arg(0).is_constant() && !e.arg(1).is_constant(); }

// Divides out `prime`, counting.
int take_factor(Int& n, const Int& prime) {
  int count = 0;
  while (floor_mod(n, prime).is_zero()) {
    n = floor_div(n, prime);
    ++count;
  }
  return count;
}

constexpr int kMaxPlaces = 128;  // beyond, a fraction reads better

// Every digit of r >= 0 ("0.25", "1.0e-12"), where they end.
std::optional<std::string> decimal(const Rational& r) {
  Int rest = r.den();
  int places = std::max(take_factor(rest, 2), take_factor(rest, 5));
  if (!rest.is_one() || places > kMaxPlaces) return std::nullopt;
  Int scaled =
      floor_div(r.num() * *pow(Int(10), static_cast<uint64_t>(places)),
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

std::string joined(const std::vector<std::string>& parts,
                   std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

// What PyTorch's form and Python share: sums, products, powers, comparisons.
class Infix {
 public:
  virtual ~Infix() = default;
  virtual Text text(Expr e) const = 0;

  std::string at_least(Expr e, Level level) const {
    Text t = text(e);
    return t.level < level ? in_parentheses(t.s) : t.s;
  }
  std::string loose(Expr e) const { return text(e).s; }

 protected:
  // The text of a positive float constant.
  virtual std::string fraction(const Rational& r) const = 0;

  Text number(Expr e) const {
    std::string s = unsigned_number(e);
    if (is_negative(e)) return {"-" + s, kSignLevel};
    return {s};
  }
  std::string unsigned_number(Expr e) const {
    if (e.is(Op::kInteger)) return abs(e.integer()).to_string();
    Rational r = magnitude(e.rational());
    std::optional<std::string> digits = decimal(r);
    return digits ? *digits : fraction(r);
  }

  Text sum(Expr e) const {
    std::string out = at_least(e.arg(0), kProductLevel);
    for (Expr term : e.args().subspan(1)) {
      std::optional<std::string> minus = subtracted(term);
      out += minus ? " - " + *minus : " + " + at_least(term, kProductLevel);
    }
    return {out, kSumLevel};
  }

  // The text after " - " when the sign of `term` can go there.
  std::optional<std::string> subtracted(Expr term) const {
    if (is_number(term) && is_negative(term)) return unsigned_number(term);
    if (!term.is(Op::kMul) || term.arity() < 2) return std::nullopt;
    Expr first = term.arg(0);
    if (!is_number(first) || !is_negative(first)) return std::nullopt;
    std::vector<std::string> parts = factors(term.args().subspan(1));
    if (!is_minus_one(first)) {
      parts.insert(parts.begin(), unsigned_number(first));
    } else if (is_number(term.arg(1))) {
      return std::nullopt;  // -1*2: a number would swallow the sign
    }
    return joined(parts, "*");
  }

  static bool is_minus_one(Expr e) {
    return e.is(Op::kInteger) && e.integer() == Int(-1);
  }

  Text product(Expr e) const {
    std::span<const Expr> args = e.args();
    bool minus = is_minus_one(args[0]) && !is_number(args[1]);
    std::vector<std::string> parts = factors(args.subspan(1));
    if (minus) return {"-" + joined(parts, "*"), kProductLevel};
    parts.insert(parts.begin(), at_least(args[0], kSignLevel));
    return {joined(parts, "*"), kProductLevel};
  }
  std::vector<std::string> factors(std::span<const Expr> args) const {
    std::vector<std::string> parts;
    for (Expr e : args) parts.push_back(at_least(e, kPowerLevel));
    return parts;
  }

  Text power(Expr base, Expr exponent) const {
    return {at_least(base, kAtomLevel) + "**" + at_least(exponent, kSignLevel),
            kPowerLevel};
  }

  Text compare(Expr a, std::string_view sign, Expr b) const {
    return {at_least(a, kBitOrLevel) + " " + std::string(sign) + " " +
                at_least(b, kBitOrLevel),
            kCompareLevel};
  }
  Text inequality(Expr e) const {
    bool strict = e.is(Op::kLt);
    if (flips(e)) return compare(e.arg(1), strict ? ">" : ">=", e.arg(0));
    return compare(e.arg(0), strict ? "<" : "<=", e.arg(1));
  }

  Text call(std::string_view name, Expr e) const {
    std::vector<std::string> parts;
    for (Expr arg : e.args()) parts.push_back(loose(arg));
    return {std::string(name) + in_parentheses(joined(parts, ", "))};
  }
};

// --- PyTorch's and SymPy's str()

class TorchText final : public Infix {
 public:
  Text text(Expr e) const override {
    switch (e.op()) {
      case Op::kInteger: case Op::kRational: return number(e);
      case Op::kBoolean: return {e.is_true() ? "True" : "False"};
      case Op::kSymbol: return {e.symbol().name};
      case Op::kLt: case Op::kLe: return inequality(e);
      case Op::kNot: return {"~" + in_parentheses(loose(e.arg(0))), kSignLevel};
      case Op::kFloorDiv:
        return {in_parentheses(at_least(e.arg(0), kSignLevel) + "//" +
                               at_least(e.arg(1), kSignLevel))};
      case Op::kPow:
        if (e.is_float()) break;  // ** of floats is FloatPow
        return power(e.arg(0), e.arg(1));
      case Op::kAdd: case Op::kMul: case Op::kAnd: case Op::kOr:
        if (e.arity() < 2) break;
        return chain(e);
      default: break;
    }
    return call(info(e.op()).name, e);
  }

 protected:
  std::string fraction(const Rational& r) const override {
    return "Rational(" + r.num().to_string() + ", " + r.den().to_string() + ")";
  }

 private:
  Text chain(Expr e) const {
    if (e.is(Op::kAdd)) return sum(e);
    if (e.is(Op::kMul)) return product(e);
    std::vector<std::string> parts;
    for (Expr arg : e.args()) parts.push_back(in_parentheses(loose(arg)));
    bool both = e.is(Op::kAnd);
    return {joined(parts, both ? " & " : " | "),
            both ? kBitAndLevel : kBitOrLevel};
  }
};

// --- Python

class PythonText final : public Infix {
 public:
  using Names = std::function<std::string(Expr)>;
  explicit PythonText(const Names& names) : names_(names) {}

  Text text(Expr e) const override {
    switch (e.op()) {
      case Op::kInteger: case Op::kRational: return number(e);
      case Op::kBoolean: return {e.is_true() ? "True" : "False"};
      case Op::kSymbol: return {names_ ? names_(e) : e.symbol().name};
      case Op::kEq: return compare(e.arg(0), "==", e.arg(1));
      case Op::kNe: return compare(e.arg(0), "!=", e.arg(1));
      case Op::kLt: case Op::kLe: return inequality(e);
      case Op::kAnd: return chain(e, " and ", kAndLevel);
      case Op::kOr: return chain(e, " or ", kOrLevel);
      case Op::kNot:
        return {"not " + at_least(e.arg(0), kAtomLevel), kNotLevel};
      case Op::kWhere:
        return {in_parentheses(at_least(e.arg(1), kOrLevel) + " if " +
                               loose(e.arg(0)) + " else " + loose(e.arg(2)))};
      default: return arithmetic(e);
    }
  }

 protected:
  std::string fraction(const Rational& r) const override {
    return in_parentheses(r.num().to_string() + "/" + r.den().to_string());
  }

 private:
  Text arithmetic(Expr e) const {
    switch (e.op()) {
      case Op::kAdd: return e.arity() > 1 ? sum(e) : text(e.arg(0));
      case Op::kMul: return e.arity() > 1 ? product(e) : text(e.arg(0));
      case Op::kPow: case Op::kPowByNatural: return power(e.arg(0), e.arg(1));
      case Op::kFloatPow:
        return {as_float(e.arg(0)) + "**" + as_float(e.arg(1)), kPowerLevel};
      case Op::kFloorDiv: case Op::kCleanDiv: return binary(e, "//");
      case Op::kMod: case Op::kPythonMod: return binary(e, " % ");
      case Op::kIntTrueDiv: case Op::kFloatTrueDiv: return binary(e, " / ");
      case Op::kCeilDiv: return ceil_div(e);
      case Op::kModularIndexing:
        return {quotient(e, "//") + " % " + at_least(e.arg(2), kSignLevel),
                kProductLevel};
      case Op::kMin: return e.arity() > 1 ? call("min", e) : text(e.arg(0));
      case Op::kMax: return e.arity() > 1 ? call("max", e) : text(e.arg(0));
      case Op::kIdentity: return text(e.arg(0));
      default: return bits(e);
    }
  }

  Text bits(Expr e) const {
    switch (e.op()) {
      case Op::kLShift: return binary(e, " << ", kShiftLevel);
      case Op::kRShift: return binary(e, " >> ", kShiftLevel);
      case Op::kBitAnd: return binary(e, " & ", kBitAndLevel);
      case Op::kBitOr: return binary(e, " | ", kBitOrLevel);
      case Op::kBitXor: return binary(e, " ^ ", kBitXorLevel);
      default: return function(e);
    }
  }

  Text function(Expr e) const {
    switch (e.op()) {
      case Op::kAbs: return call("abs", e);
      case Op::kToFloat: return call("float", e);
      case Op::kTruncToFloat: return {"float(" + call("math.trunc", e).s + ")"};
      case Op::kTruncToInt: return call("math.trunc", e);
      case Op::kCeilToInt: return call("math.ceil", e);
      case Op::kFloorToInt: return call("math.floor", e);
      case Op::kRoundToInt: case Op::kRoundDecimal: return call("round", e);
      case Op::kDenseIndicator: return dense_indicator(e);
      default: break;
    }
    // OpaqueUnaryFn_sqrt is math.sqrt.
    std::string_view name = info(e.op()).name;
    return call("math." + std::string(name.substr(name.find('_') + 1)), e);
  }

  std::string quotient(Expr e, std::string_view sign) const {
    return at_least(e.arg(0), kProductLevel) + std::string(sign) +
           at_least(e.arg(1), kSignLevel);
  }
  Text binary(Expr e, std::string_view sign,
              Level level = kProductLevel) const {
    auto tighter = static_cast<Level>(level + 1);
    return {at_least(e.arg(0), level) + std::string(sign) +
                at_least(e.arg(1), tighter),
            level};
  }
  Text chain(Expr e, std::string_view word, Level level) const {
    if (e.arity() < 2) return text(e.arg(0));
    std::vector<std::string> parts;
    for (Expr arg : e.args()) {
      parts.push_back(at_least(arg, static_cast<Level>(level + 1)));
    }
    return {joined(parts, word), level};
  }

  // Rounds up for divisors of either sign.
  Text ceil_div(Expr e) const {
    return {"-(-" + at_least(e.arg(0), kPowerLevel) + "//" +
                at_least(e.arg(1), kSignLevel) + ")",
            kProductLevel};
  }
  std::string as_float(Expr e) const {
    return e.is_float() ? at_least(e, kAtomLevel)
                        : "float" + in_parentheses(loose(e));
  }
  // The name that PyTorch's guard code has in scope.
  Text dense_indicator(Expr e) const {
    auto list = [&](std::span<const Expr> args) {
      std::vector<std::string> parts;
      for (Expr arg : args) parts.push_back(loose(arg));
      return "[" + joined(parts, ", ") + "]";
    };
    size_t rank = e.arity() / 2;
    return {"eval_is_non_overlapping_and_dense(" + list(e.args().first(rank)) +
            ", " + list(e.args().subspan(rank)) + ")"};
  }

  const Names& names_;
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

  std::string term(Expr e) {
    switch (e.op()) {
      case Op::kInteger: return number(e.integer());
      case Op::kRational: return real(e.rational());
      case Op::kBoolean: return e.is_true() ? "true" : "false";
      case Op::kSymbol: return symbol(e.symbol().name);
      case Op::kEq: case Op::kNe: case Op::kLt: case Op::kLe:
        return relation(e);
      case Op::kNot: return "(not " + term(e.arg(0)) + ")";
      case Op::kAnd: return chain("and", e);
      case Op::kOr: return chain("or", e);
      case Op::kAdd: return chain("+", e);
      case Op::kMul: return chain("*", e);
      case Op::kWhere:
        return "(ite " + term(e.arg(0)) + " " + typed(e.arg(1), e) + " " +
               typed(e.arg(2), e) + ")";
      case Op::kIdentity: return term(e.arg(0));
      default: return function(e);
    }
  }

 private:
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

  // e as a real when `wanted` is one.
  std::string as(Expr e, bool real_wanted) {
    if (!real_wanted || !e.is_int()) return term(e);
    if (e.is(Op::kInteger)) return real(Rational(e.integer()));
    return "(to_real " + term(e) + ")";
  }
  std::string typed(Expr e, Expr wanted) { return as(e, wanted.is_float()); }

  std::string chain(std::string_view word, Expr e) {
    if (e.arity() == 1) return typed(e.arg(0), e);
    std::string out = "(" + std::string(word);
    for (Expr arg : e.args()) out += " " + typed(arg, e);
    return out + ")";
  }

  std::string relation(Expr e) {
    bool reals = e.arg(0).is_float() || e.arg(1).is_float();
    std::string a = as(e.arg(0), reals), b = as(e.arg(1), reals);
    if (e.is(Op::kNe)) return "(not (= " + a + " " + b + "))";
    std::string word = e.is(Op::kEq) ? "=" : e.is(Op::kLt) ? "<" : "<=";
    return "(" + word + " " + a + " " + b + ")";
  }

  // A value that is used more than once gets a name, so that text grows with
  // the expression.
  class Let {
   public:
    Let(SmtText& smt, std::string value) {
      if (value.find(' ') == std::string::npos) {
        name_ = std::move(value);
        return;
      }
      name_ = smt.prefix_ + std::to_string(smt.next_++);
      binding_ = "(let ((" + name_ + " " + std::move(value) + ")) ";
    }
    const std::string& name() const { return name_; }
    std::string around(const std::string& body) const {
      return binding_.empty() ? body : binding_ + body + ")";
    }

   private:
    std::string name_, binding_;
  };

  std::string function(Expr e) {
    switch (e.op()) {
      case Op::kFloorDiv: case Op::kCleanDiv:
        return floor_div(term(e.arg(0)), e.arg(1));
      case Op::kMod: case Op::kPythonMod:
        return floor_mod(term(e.arg(0)), e.arg(1));
      case Op::kModularIndexing:
        return floor_mod(floor_div(term(e.arg(0)), e.arg(1)), e.arg(2));
      case Op::kCeilDiv:
        return "(- " + floor_div("(- " + term(e.arg(0)) + ")", e.arg(1)) + ")";
      case Op::kMin: case Op::kMax: return extreme(e);
      case Op::kAbs: return absolute(e);
      case Op::kPow: case Op::kPowByNatural: return power(e);
      case Op::kLShift: return "(* " + term(e.arg(0)) + " " + shift(e) + ")";
      case Op::kRShift: return "(div " + term(e.arg(0)) + " " + shift(e) + ")";
      default: return real_function(e);
    }
  }

  std::string real_function(Expr e) {
    switch (e.op()) {
      case Op::kToFloat: return as(e.arg(0), true);
      case Op::kIntTrueDiv: case Op::kFloatTrueDiv:
        return "(/ " + as(e.arg(0), true) + " " + as(e.arg(1), true) + ")";
      case Op::kFloorToInt: return to_int(as(e.arg(0), true));
      case Op::kCeilToInt:
        return "(- " + to_int("(- " + as(e.arg(0), true) + ")") + ")";
      case Op::kTruncToInt: return truncated(e);
      case Op::kTruncToFloat: return "(to_real " + truncated(e) + ")";
      case Op::kRoundToInt: return rounded(e);
      default: unsupported(e);
    }
  }

  [[noreturn]] static void unsupported(Expr e) {
    throw Error("to_smtlib: " + std::string(info(e.op()).name) +
                " has no SMT-LIB form, in " + to_string(e));
  }

  // SMT-LIB's div and mod leave a remainder >= 0; Python's quotient rounds
  // down.  They agree for positive divisors, and floor(a/b) = floor(-a/-b).
  std::string floor_div(const std::string& a, Expr b) {
    return by_sign(a, b, "(div ", ")", "(div (- ", ")");
  }
  std::string floor_mod(const std::string& a, Expr b) {
    return by_sign(a, b, "(mod ", ")", "(- (mod (- ", "))");
  }
  std::string by_sign(const std::string& a, Expr b, const std::string& head,
                      const std::string& tail, const std::string& minus_head,
                      const std::string& minus_tail) {
    if (b.is(Op::kInteger)) {
      std::string divisor = abs(b.integer()).to_string();
      if (b.integer().sign() >= 0) return head + a + " " + divisor + tail;
      return minus_head + a + ") " + divisor + minus_tail;
    }
    Let x(*this, a), y(*this, term(b));
    std::string ite = "(ite (> " + y.name() + " 0) " + head + x.name() + " " +
                      y.name() + tail + " " + minus_head + x.name() + ") (- " +
                      y.name() + ")" + minus_tail + ")";
    return x.around(y.around(ite));
  }

  std::string extreme(Expr e) {
    std::string sign = e.is(Op::kMin) ? "<=" : ">=";
    std::string out = typed(e.arg(0), e);
    for (Expr arg : e.args().subspan(1)) {
      Let a(*this, out), b(*this, typed(arg, e));
      out = a.around(b.around("(ite (" + sign + " " + a.name() + " " +
                              b.name() + ") " + a.name() + " " + b.name() +
                              ")"));
    }
    return out;
  }

  std::string absolute(Expr e) {
    Let x(*this, term(e.arg(0)));
    std::string zero = e.is_float() ? "0.0" : "0";
    return x.around("(ite (>= " + x.name() + " " + zero + ") " + x.name() +
                    " (- " + x.name() + "))");
  }

  std::string power(Expr e) {
    std::optional<int64_t> n = e.arg(1).maybe_int64();
    if (!n || *n < 0 || *n > 64) unsupported(e);
    if (*n == 0) return e.is_float() ? "1.0" : "1";
    if (*n == 1) return typed(e.arg(0), e);
    Let x(*this, typed(e.arg(0), e));
    std::string out = "(*";
    for (int64_t i = 0; i < *n; ++i) out += " " + x.name();
    return x.around(out + ")");
  }

  std::string shift(Expr e) {
    std::optional<int64_t> n = e.arg(1).maybe_int64();
    if (!n || *n < 0 || *n > 4096) unsupported(e);
    return pow(Int(2), static_cast<uint64_t>(*n))->to_string();
  }

  static std::string to_int(const std::string& x) {
    return "(to_int " + x + ")";
  }
  std::string truncated(Expr e) {
    Let x(*this, as(e.arg(0), true));
    return x.around("(ite (>= " + x.name() + " 0.0) " + to_int(x.name()) +
                    " (- " + to_int("(- " + x.name() + ")") + "))");
  }
  // To nearest, ties to even.
  std::string rounded(Expr e) {
    Let x(*this, as(e.arg(0), true));
    Let down(*this, to_int(x.name()));
    Let rest(*this, "(- " + x.name() + " (to_real " + down.name() + "))");
    std::string up = "(+ " + down.name() + " 1)";
    std::string tie = "(ite (= (mod " + down.name() + " 2) 0) " + down.name() +
                      " " + up + ")";
    std::string ite = "(ite (< " + rest.name() + " 0.5) " + down.name() +
                      " (ite (> " + rest.name() + " 0.5) " + up + " " + tie +
                      "))";
    return x.around(down.around(rest.around(ite)));
  }

  std::string prefix_ = "let!";
  int next_ = 0;
};

// --- SymPy's srepr()

std::string srepr_symbol(const Symbol& s) {
  std::string assumptions;
  switch (s.kind) {
    case SymbolKind::kBackedSize:
      assumptions = ", positive=True, integer=True";
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

std::string srepr_call(std::string_view name, std::span<const Expr> args) {
  std::string out(name);
  out += "(";
  for (size_t i = 0; i < args.size(); ++i) {
    if (i > 0) out += ", ";
    out += to_srepr(args[i]);
  }
  return out + ")";
}

std::string srepr_relation(Expr e) {
  std::string name = e.is(Op::kLt) ? "Strict" : "";
  if (!flips(e)) return srepr_call(name + "LessThan", e.args());
  Expr flipped[] = {e.arg(1), e.arg(0)};
  return srepr_call(name + "GreaterThan", flipped);
}

// PyTorch's sym_ite is SymPy's Piecewise, which takes no boolean arms.  Pairs
// are written as tuples: SymPy's own text names ExprCondPair, which its
// sympify(), and so torch.export.load, does not know.
std::string srepr_where(Expr e) {
  if (e.is_bool()) return srepr_call("ITE", e.args());
  return "Piecewise((" + to_srepr(e.arg(1)) + ", " + to_srepr(e.arg(0)) +
         "), (" + to_srepr(e.arg(2)) + ", true))";
}

// SymPy's Equality compares booleans as structures, not as values.
std::string srepr_equality(Expr e) {
  bool equal = e.is(Op::kEq);
  if (e.arg(0).is_bool()) {
    return srepr_call(equal ? "Equivalent" : "Xor", e.args());
  }
  return srepr_call(equal ? "Equality" : "Unequality", e.args());
}

// Not negative as far as the kinds of symbols and the signs of constants tell.
bool is_plainly_natural(Expr e) {
  switch (e.op()) {
    case Op::kInteger: return !is_negative(e);
    case Op::kSymbol: return e.symbol().kind == SymbolKind::kBackedSize;
    case Op::kAdd: case Op::kMul: case Op::kMin: case Op::kFloorDiv:
    case Op::kMod:
      return std::all_of(e.args().begin(), e.args().end(), is_plainly_natural);
    case Op::kMax:
      return std::any_of(e.args().begin(), e.args().end(), is_plainly_natural);
    default: return false;
  }
}

// PyTorch's Mod refuses negative operands; its PythonMod takes them.
std::string srepr_mod(Expr e) {
  return srepr_call(is_plainly_natural(e) ? "Mod" : "PythonMod", e.args());
}

// PyTorch's CeilDiv adds divisor - 1, which is no ceiling for divisors < 0.
std::string srepr_ceil_div(Expr e) {
  if (e.arg(1).is(Op::kInteger) && e.arg(1).integer().sign() > 0) {
    return srepr_call("CeilDiv", e.args());
  }
  return "Mul(Integer(-1), FloorDiv(Mul(Integer(-1), " + to_srepr(e.arg(0)) +
         "), " + to_srepr(e.arg(1)) + "))";
}

}  // namespace

std::string to_string(Expr e) { return e ? TorchText().loose(e) : "<null>"; }

std::ostream& operator<<(std::ostream& out, Expr e) {
  return out << to_string(e);
}

std::string to_python(Expr e,
                      const std::function<std::string(Expr)>& name_of) {
  return PythonText(name_of).loose(e);
}

std::string to_check(Expr condition,
                     const std::function<std::string(Expr)>& name_of) {
  if (!condition.is_bool()) {
    throw Error("to_check: expected a boolean, got " + to_string(condition) +
                " (" + std::string(proviso::name_of(condition.type())) + ")");
  }
  return "torch._check(" + to_python(condition, name_of) + ")";
}

std::string to_smtlib(Expr e) { return SmtText(e).term(e); }

std::string to_srepr(Expr e) {
  switch (e.op()) {
    case Op::kInteger: return "Integer(" + e.integer().to_string() + ")";
    case Op::kRational: return srepr_float(e.rational());
    case Op::kBoolean: return e.is_true() ? "true" : "false";
    case Op::kSymbol: return srepr_symbol(e.symbol());
    case Op::kEq: case Op::kNe: return srepr_equality(e);
    case Op::kLt: case Op::kLe: return srepr_relation(e);
    case Op::kWhere: return srepr_where(e);
    case Op::kMod: return srepr_mod(e);
    case Op::kCeilDiv: return srepr_ceil_div(e);
    default: return srepr_call(info(e.op()).name, e.args());
  }
}

}  // namespace proviso
