#include "sym/doubles.h"

#include <algorithm>
#include <optional>

#include "sym/budget.h"

namespace proviso::inline v0_2::internal {
namespace {

constexpr int kIntegerBits = 40, kDoubleBits = 53;
constexpr int kMaxDepth = 64;

// |value| * 2**after is an integer below 2**bits.
struct Width {
  int bits = 0, after = 0;
};

std::optional<Width> fitting(Width w) {
  return w.bits <= kDoubleBits ? std::optional(w) : std::nullopt;
}

std::optional<Width> width_of(const Rational& r) {
  const Int& den = r.den();
  const auto after = static_cast<int>(den.bit_length()) - 1;
  if (after > kDoubleBits || *pow(Int(2), static_cast<uint64_t>(after)) != den)
    return std::nullopt;
  return fitting({static_cast<int>(r.num().bit_length()), after});
}

std::optional<Width> width_of(Expr e, int depth);

std::optional<Width> width_of_quotient(Expr e, int depth) {
  const Expr by = e.arg(1);
  if (!by.is_constant()) return std::nullopt;
  const Rational divisor =
      by.is(Op::kInteger) ? Rational(by.integer()) : by.rational();
  if (divisor.num().is_zero()) return std::nullopt;
  const auto a = width_of(e.arg(0), depth + 1);
  const auto inverse = width_of(Rational(divisor.den(), divisor.num()));
  if (!a || !inverse) return std::nullopt;
  return fitting({a->bits + inverse->bits - 1, a->after + inverse->after});
}

// Of a number that is exact; else nothing.
std::optional<Width> width_of(Expr e, int depth) {
  if (depth == kMaxDepth) return std::nullopt;
  Budget::charge(1);
  if (e.is(Op::kInteger)) return width_of(Rational(e.integer()));
  if (e.is_int()) return Width{kIntegerBits, 0};
  switch (e.op()) {
    case Op::kRational: return width_of(e.rational());
    case Op::kToFloat:
    case Op::kIdentity: return width_of(e.arg(0), depth + 1);
    case Op::kIntTrueDiv:
    case Op::kFloatTrueDiv: return width_of_quotient(e, depth);
    case Op::kAdd:
    case Op::kMul: {
      std::optional<Width> all = width_of(e.arg(0), depth + 1);
      for (Expr arg : e.args().subspan(1)) {
        const std::optional<Width> next = width_of(arg, depth + 1);
        if (!all || !next) return std::nullopt;
        if (e.is(Op::kMul)) {
          all = fitting({all->bits + next->bits, all->after + next->after});
        } else {
          const int after = std::max(all->after, next->after);
          all = fitting({1 + std::max(all->bits + after - all->after,
                                      next->bits + after - next->after),
                         after});
        }
      }
      return all;
    }
    default: return std::nullopt;
  }
}

bool is_exact_pool(Expr e) {
  return e.pool().floats() == FloatArithmetic::kExact;
}

// A symbol is its own double, and so is what a power of two makes of it.
bool is_scaled_symbol(Expr e) {
  if (e.is_symbol()) return true;
  if (e.is(Op::kToFloat) || e.is(Op::kIdentity))
    return is_scaled_symbol(e.arg(0));
  if (!is_scaled_exactly(e)) return false;
  return std::all_of(e.args().begin(), e.args().end(),
                     [](Expr x) { return x.is_constant() || x.is_symbol(); }) &&
         std::count_if(e.args().begin(), e.args().end(),
                       [](Expr x) { return x.is_symbol(); }) <= 1;
}

bool is_exact(Expr number) {
  return width_of(number, 0).has_value() || is_scaled_symbol(number);
}

// The bits after the point that a quotient of two integers may be compared
// with.
bool is_quotient_of_integers(Expr e) {
  if (!e.is(Op::kIntTrueDiv) && !e.is(Op::kFloatTrueDiv)) return false;
  return std::all_of(e.args().begin(), e.args().end(), [](Expr x) {
    const auto w = width_of(x, 0);
    return w && w->after == 0 && w->bits <= kIntegerBits;
  });
}

}  // namespace

bool is_exact_double(Expr number) {
  return is_exact_pool(number) || is_exact(number);
}

bool is_scaled_exactly(Expr product) {
  if (!product.is(Op::kMul)) return false;
  size_t numbers = 0;
  const auto is_fine = [&](Expr x) {
    if (!x.is_constant()) return ++numbers <= 2;
    const Rational r =
        x.is(Op::kInteger) ? Rational(x.integer()) : x.rational();
    const auto is_power = [](const Int& n) {
      return n == *pow(Int(2), n.bit_length() - 1);
    };
    return !r.num().is_zero() && is_power(abs(r.num())) && is_power(r.den());
  };
  for (Expr x : product.args()) {
    const bool is_nested = x.is(Op::kMul) && x.is_float();
    if (is_nested ? !std::all_of(x.args().begin(), x.args().end(), is_fine)
                  : !is_fine(x)) {
      return false;
    }
  }
  return true;
}

bool rounds_exactly(Expr number) {
  return is_exact_double(number) || is_quotient_of_integers(number);
}

bool compares_exactly(Expr a, Expr b) {
  if (is_exact_pool(a)) return true;
  if (is_exact(a) && is_exact(b)) return true;
  const auto x = width_of(a, 0), y = width_of(b, 0);
  // n/d differs from k/2**after by a part of n*2**after, if at all.
  constexpr int kAfter = kDoubleBits - 1 - kIntegerBits;
  if (x && is_quotient_of_integers(b)) return x->after <= kAfter;
  return y && is_quotient_of_integers(a) && y->after <= kAfter;
}

}  // namespace proviso::inline v0_2::internal
