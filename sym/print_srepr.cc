// SymPy's srepr(), which .pt2 files store: torch.export.load reads it with the
// functions of torch.utils._sympy.functions, and SymPy's own where it has none.
#include <algorithm>

#include "sym/definition.h"
#include "sym/not_null.h"
#include "sym/text_writer.h"

namespace proviso::inline v0_2 {
using namespace internal;
namespace {

std::string srepr_symbol(const Symbol& s) {
  std::string assumptions;
  switch (s.kind) {
    case SymbolKind::kBackedSize:
      // PyTorch says positive=True, and makes Max(1, s0) s0: a size may be 0.
      assumptions = ", nonnegative=True, integer=True";
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
  Precedence write(Expr e, Line& line) const {
    line << form(e);
    return Precedence::kAtom;
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
      case Op::kModularIndexing: return call(info(e.op()).name, e.args());
      default: break;
    }
    // PyTorch has a function of each other name but those of operators that
    // others define here.
    const Expr meaning = definition(e);
    if (meaning != e) return std::move(line << loose(meaning));
    return call(info(e.op()).name, e.args());
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

std::string to_srepr(Expr e) {
  SreprText style;
  return whole_text("to_srepr", style, not_null(e, "to_srepr"));
}

}  // namespace proviso::inline v0_2
