// SMT-LIB 2.  Its division and remainder differ from Python's in sign, and
// floats are reals, so that much is said by what it has; a part that is written
// twice is bound by a let.
#include <algorithm>

#include "sym/definition.h"
#include "sym/excerpt.h"
#include "sym/fixed_limits.h"
#include "sym/not_null.h"
#include "sym/text_writer.h"

namespace proviso::inline v0_2 {
using namespace internal;
namespace {

class SmtText {
 public:
  explicit SmtText(Expr root) {
    // Bound names must not capture a symbol.
    for (Expr s : free_symbols(root)) {
      while (s.symbol().name.starts_with(prefix_)) prefix_ += "_";
    }
  }

  Precedence write(Expr e, Line& line) {
    line << form(e);
    return Precedence::kAtom;
  }

 private:
  Line form(Expr e) {
    auto as_real = [&](size_t i) { return as(e.arg(i), true); };
    switch (info(e.op()).kind) {
      case OpKind::kConstant: return text(constant(e));
      case OpKind::kSymbol: return text(symbol(e.symbol().name));
      case OpKind::kSum: return chain("+", e);
      case OpKind::kProduct: return chain("*", e);
      case OpKind::kPower: return power(e);
      case OpKind::kFloorDiv: return floor_div(term(e.arg(0)), e.arg(1));
      case OpKind::kMod: return floor_mod(term(e.arg(0)), e.arg(1));
      case OpKind::kExtremum: return extreme(e);
      case OpKind::kAbs: return absolute(e);
      case OpKind::kIdentity: return term(e.arg(0));
      case OpKind::kShift:
        return list(e.is(Op::kLShift) ? "*" : "div",
                    {term(e.arg(0)), text(shift(e))});
      case OpKind::kRelation: return relation(e);
      case OpKind::kJunction: return chain(e.is(Op::kAnd) ? "and" : "or", e);
      case OpKind::kNot: return list("not", {term(e.arg(0))});
      case OpKind::kWhere:
        return list("ite",
                    {term(e.arg(0)), typed(e.arg(1), e), typed(e.arg(2), e)});
      case OpKind::kToFloat: return as_real(0);
      case OpKind::kTrueDiv: return list("/", {as_real(0), as_real(1)});
      case OpKind::kRounding: return rounded(e);
      case OpKind::kDefined: return term(definition(e));
      case OpKind::kReal:
        if (e.is(Op::kTruncToFloat)) return list("to_real", {truncated(e)});
        break;
      case OpKind::kBitwise:
      case OpKind::kIndicator: break;
    }
    unsupported(e);
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

  static std::string constant(Expr e) {
    if (e.is(Op::kRational)) return real(e.rational());
    if (e.is_bool()) return e.is_true() ? "true" : "false";
    const Int& n = e.integer();
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
      throw Error("to_smtlib: symbol '" + excerpt(name, kArgumentLength) +
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
      name_ = smt.new_name();
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

  [[noreturn]] static void unsupported(Expr e) {
    throw Error("to_smtlib: " + std::string(info(e.op()).name) +
                " has no SMT-LIB form, in " + excerpt(e));
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

  // Max(x, y, z) is (let ((m Max(x, y))) (ite (>= m z) m z)): each step stands
  // in the let of the next one, whose beginning so comes before it.
  Line extreme(Expr e) {
    const std::string sign = e.is(Op::kMin) ? "(<= " : "(>= ";
    Let first(*this, typed(e.arg(0), e));
    if (e.arity() == 1) return first.around(text(first.name()));
    auto step = [&](const std::string& a, Expr arg) {
      Let b(*this, typed(arg, e));
      const std::string both = a + " " + b.name();
      return b.around(text("(ite " + sign + both + ") " + both + ")"));
    };
    Line steps = first.around(step(first.name(), e.arg(1)));
    std::vector<std::string> names;
    for (Expr arg : e.args().subspan(2)) {
      names.push_back(new_name());
      steps << ")) " << step(names.back(), arg) << ")";
    }
    Line out;
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
      out << "(let ((" + *name + " ";
    }
    return std::move(out << std::move(steps));
  }

  Line absolute(Expr e) {
    Let x(*this, term(e.arg(0)));
    std::string zero = e.is_float() ? "0.0" : "0";
    return x.around(text("(ite (>= " + x.name() + " " + zero + ") " + x.name() +
                         " (- " + x.name() + "))"));
  }

  Line power(Expr e) {
    std::optional<int64_t> n = e.arg(1).maybe_int64();
    if (!n || *n < 0 || *n > fixed::power_exponent) unsupported(e);
    if (*n == 0) return text(e.is_float() ? "1.0" : "1");
    if (*n == 1) return typed(e.arg(0), e);
    Let x(*this, typed(e.arg(0), e));
    std::string out = "(*";
    for (int64_t i = 0; i < *n; ++i) out += " " + x.name();
    return x.around(text(out + ")"));
  }

  std::string shift(Expr e) {
    std::optional<int64_t> n = e.arg(1).maybe_int64();
    if (!n || *n < 0 || *n > fixed::shift) unsupported(e);
    return pow(Int(2), static_cast<uint64_t>(*n))->to_string();
  }

  static Line to_int(Line x) { return list("to_int", {std::move(x)}); }
  Line rounded(Expr e) {
    if (e.is(Op::kTruncToInt)) return truncated(e);
    if (e.is(Op::kRoundToInt)) return round_half_even(e);
    Line x = as(e.arg(0), true);
    return e.is(Op::kFloorToInt) ? to_int(std::move(x))
                                 : minus(to_int(minus(std::move(x))));
  }
  Line truncated(Expr e) {
    Let x(*this, as(e.arg(0), true));
    return x.around(text("(ite (>= " + x.name() + " 0.0) (to_int " + x.name() +
                         ") (- (to_int (- " + x.name() + "))))"));
  }
  // The nearest integer; a tie goes to the even one.
  Line round_half_even(Expr e) {
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

  std::string new_name() { return prefix_ + std::to_string(next_++); }

  std::string prefix_ = "let!";
  int next_ = 0;
};

}  // namespace

std::string to_smtlib(Expr e) {
  SmtText style(not_null(e, "to_smtlib"));
  return whole_text("to_smtlib", style, e);
}

}  // namespace proviso::inline v0_2
