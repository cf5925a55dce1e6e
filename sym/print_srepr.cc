// SymPy's srepr(), which .pt2 files store: torch.export.load reads it with the
// functions of torch.utils._sympy.functions, and SymPy's own where it has none.
#include <algorithm>
#include <functional>

#include "sym/definition.h"
#include "sym/not_null.h"
#include "sym/text_writer.h"

namespace proviso::inline v0_2 {
using namespace internal;
namespace {

std::string srepr_symbol(const Symbol& s, bool is_positive) {
  std::string assumptions;
  switch (s.kind) {
    case SymbolKind::kBackedSize:
      // PyTorch says positive=True, and makes Max(1, s0) s0: a size may be 0.
      assumptions = is_positive ? ", positive=True, integer=True"
                                : ", nonnegative=True, integer=True";
      break;
    case SymbolKind::kBackedFloat: assumptions = ", real=True"; break;
    case SymbolKind::kUnbackedFloat: break;
    case SymbolKind::kBackedInt:
    case SymbolKind::kUnbackedInt:
    case SymbolKind::kUnbackedBool: assumptions = ", integer=True"; break;
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
  if (e.is(Op::kInteger)) return !is_negative(e);
  if (e.is_symbol()) return e.symbol().kind == SymbolKind::kBackedSize;
  if (e.is(Op::kAdd) || e.is(Op::kMul) || e.is(Op::kMin) ||
      e.is(Op::kFloorDiv) || e.is(Op::kMod)) {
    return std::all_of(e.args().begin(), e.args().end(), natural);
  }
  return e.is(Op::kMax) &&
         std::any_of(e.args().begin(), e.args().end(), natural);
}

class SreprText {
 public:
  explicit SreprText(const std::function<bool(Expr)>& is_positive)
      : is_positive_(is_positive) {}

  Precedence write(Expr e, Line& line) const {
    line << form(e);
    return Precedence::kAtom;
  }

 private:
  Line form(Expr e) const {
    if (is_leaf(e.op())) return std::move(Line() << leaf(e));
    if (e.is(Op::kEq) || e.is(Op::kNe)) return equality(e);
    if (is_relation(e.op())) return relation(e);
    if (e.is(Op::kWhere)) return where(e);
    if (e.is(Op::kMod)) return mod(e);
    if (e.is(Op::kCeilDiv)) return ceil_div(e);
    // PyTorch has a function of each other name but those of operators that
    // others define here.
    const Expr meaning = definition(e);
    if (meaning == e || e.is(Op::kModularIndexing)) {
      return call(info(e.op()).name, e.args());
    }
    return std::move(Line() << loose(meaning));
  }

  std::string leaf(Expr e) const {
    if (e.is(Op::kInteger)) return "Integer(" + e.integer().to_string() + ")";
    if (e.is(Op::kRational)) return srepr_float(e.rational());
    if (e.is_symbol()) {
      return srepr_symbol(e.symbol(), is_positive_ && is_positive_(e));
    }
    return e.is_true() ? "true" : "false";
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

  const std::function<bool(Expr)>& is_positive_;
};

}  // namespace

std::string to_srepr(Expr e, const std::function<bool(Expr)>& is_positive) {
  SreprText style(is_positive);
  return whole_text("to_srepr", style, not_null(e, "to_srepr"));
}

}  // namespace proviso::inline v0_2
