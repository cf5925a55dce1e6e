#include "solver/lowering/integers.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "solver/fixed_limits.h"
#include "solver/lowering/fractions.h"
#include "sym/budget.h"
#include "sym/definition.h"
#include "sym/doubles.h"

namespace proviso::inline v0_2::internal {
namespace {

Int two_to(int64_t n) { return *pow(Int(2), static_cast<uint64_t>(n)); }

// n when value is 2**n.
std::optional<int64_t> log2_exact(const Int& value) {
  if (value.sign() <= 0) return std::nullopt;
  int64_t n = static_cast<int64_t>(value.bit_length()) - 1;
  if (two_to(n) == value) return n;
  return std::nullopt;
}

// Few from the left; many by halves, so that atoms within atoms stay few.
Poly extremum(Lowering& lower, Op op, std::span<const Expr> args) {
  constexpr size_t kFew = 8;
  FormPool& forms = lower.forms();
  auto join = [&](const Poly& a, const Poly& b) {
    return op == Op::kMin ? min(forms, a, b) : max(forms, a, b);
  };
  if (args.size() > kFew) {
    const size_t half = args.size() / 2;
    return join(extremum(lower, op, args.first(half)),
                extremum(lower, op, args.subspan(half)));
  }
  Poly best = lower.integer(args[0]);
  for (Expr a : args.subspan(1)) best = join(best, lower.integer(a));
  return best;
}

// Nested sums are opened in one go: a left-nested chain of n additions costs
// n, not n squared.
Poly opened_sum(Lowering& lower, Expr e) {
  std::vector<Poly> parts;
  std::vector<Expr> open = {e};
  while (!open.empty()) {
    Expr next = open.back();
    open.pop_back();
    Budget::spend(1);
    if (next.is(Op::kAdd)) {
      open.insert(open.end(), next.args().begin(), next.args().end());
    } else {
      parts.push_back(lower.integer(next));
    }
  }
  return sum(parts);
}

Poly power(Lowering& lower, Expr e) {
  FormPool& forms = lower.forms();
  Poly base = lower.integer(e.arg(0)), exponent = lower.integer(e.arg(1));
  if (exponent.is_constant()) {
    auto n = exponent.constant.to_int64();
    if (n && *n >= 0 && *n <= fixed::lowered_exponent) {
      return pow(forms, base, static_cast<unsigned>(*n));
    }
    if (n && *n >= 0 && base.is_constant()) {
      if (auto value = proviso::pow(base.constant, static_cast<uint64_t>(*n))) {
        return Poly::number(*value);
      }
    }
  }
  return func(forms, Op::kPow, base, exponent);
}

Poly shift(FormPool& forms, Op op, const Poly& a, const Poly& count) {
  Poly scale = func(forms, Op::kPow, Poly::number(2), count);
  const auto n = count.is_constant() ? count.constant.to_int64() : std::nullopt;
  if (n && *n >= 0 && *n <= fixed::shift) scale = Poly::number(two_to(*n));
  return op == Op::kLShift ? mul(forms, a, scale) : floor_div(forms, a, scale);
}

Poly common_bits(FormPool& forms, Poly a, Poly b) {
  if (a.is_constant()) std::swap(a, b);
  if (b.is_constant() && a.is_constant()) {
    return Poly::number(bit_and(a.constant, b.constant));
  }
  if (a == b) return a;
  if (b.is_constant() && log2_exact(b.constant + 1)) {
    return mod(forms, a, Poly::number(b.constant + 1));
  }
  if (b.is_constant() && log2_exact(-b.constant)) {
    return a - mod(forms, a, Poly::number(-b.constant));
  }
  if (forms.polys.id_of(b) < forms.polys.id_of(a)) std::swap(a, b);
  return func(forms, Op::kBitAnd, a, b);
}

Poly bits(Lowering& lower, Expr e) {
  FormPool& forms = lower.forms();
  const Poly a = lower.integer(e.arg(0)), b = lower.integer(e.arg(1));
  if (e.is(Op::kLShift) || e.is(Op::kRShift)) return shift(forms, e.op(), a, b);
  const Poly both = common_bits(forms, a, b);
  if (e.is(Op::kBitAnd)) return both;
  // a + b counts common bits twice: a | b keeps them once, a ^ b drops them.
  return add(a + b, both, e.is(Op::kBitOr) ? -1 : -2);
}

Poly rounded(Lowering& lower, Expr e) {
  if (e.arg(0).is_int()) return lower.integer(e.arg(0));
  FormPool& forms = lower.forms();
  const std::optional<Fraction> x = fraction(lower, e.arg(0));
  return x && rounds_exactly(e.arg(0)) ? rounded(forms, e.op(), *x)
                                       : variable(forms, forms.atoms.opaque(e));
}

}  // namespace

Poly lowered_integer(Lowering& lower, Expr e) {
  FormPool& forms = lower.forms();
  const auto arg = [&](size_t i) { return lower.integer(e.arg(i)); };
  switch (e.op()) {
    case Op::kSymbol: return variable(forms, forms.atoms.symbol(e));
    case Op::kAdd: return opened_sum(lower, e);
    case Op::kMul: {
      Poly product = arg(0);
      for (Expr a : e.args().subspan(1)) {
        product = mul(forms, product, lower.integer(a));
      }
      return product;
    }
    case Op::kPow:
    case Op::kPowByNatural: return power(lower, e);
    case Op::kFloorDiv:
    case Op::kCleanDiv: return floor_div(forms, arg(0), arg(1));
    case Op::kMod:
    case Op::kPythonMod: return mod(forms, arg(0), arg(1));
    case Op::kMin:
    case Op::kMax: return extremum(lower, e.op(), e.args());
    case Op::kAbs:  // |x| == 2*pos(x) - x
      return pos(forms, arg(0)) * 2 - arg(0);
    case Op::kIdentity: return arg(0);
    case Op::kLShift:
    case Op::kRShift:
    case Op::kBitAnd:
    case Op::kBitOr:
    case Op::kBitXor: return bits(lower, e);
    case Op::kWhere:
      return where(forms, lower.condition(e.arg(0)), arg(1), arg(2));
    case Op::kTruncToInt:
    case Op::kCeilToInt:
    case Op::kFloorToInt:
    case Op::kRoundToInt: return rounded(lower, e);
    default: break;
  }
  const Expr meaning = definition(e);
  return meaning == e ? variable(forms, forms.atoms.opaque(e))
                      : lower.integer(meaning);
}

}  // namespace proviso::inline v0_2::internal
