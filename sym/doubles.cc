#include "sym/doubles.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "sym/bits.h"
#include "sym/budget.h"
#include "sym/fixed_limits.h"

namespace proviso::inline v0_2::internal {
namespace {

constexpr int kIntegerBits = 40, kDoubleBits = 53;

// |value| * 2**after is an integer below 2**bits.
struct Width {
  int bits = 0, after = 0;
};

std::optional<Width> fitting(Width w) {
  return w.bits <= kDoubleBits ? std::optional(w) : std::nullopt;
}

std::optional<Width> width_of(const Rational& r) {
  const auto after = static_cast<int>(r.den().bit_length()) - 1;
  if (after > kDoubleBits || !bits::is_power_of_two(r.den()))
    return std::nullopt;
  return fitting({static_cast<int>(r.num().bit_length()), after});
}

// The widths of what is exact within one number.  What is shared has its width
// once; deeper than so many levels there is none.
class Widths {
 public:
  std::optional<Width> of(Expr e, int depth = 0) {
    if (e.is(Op::kInteger)) return width_of(Rational(e.integer()));
    if (e.is_int()) return Width{kIntegerBits, 0};
    if (depth == fixed::double_depth) return std::nullopt;
    if (const auto known = known_.find(e.id()); known != known_.end())
      return known->second;
    Budget::spend(1);
    return known_.emplace(e.id(), made_of(e, depth + 1)).first->second;
  }

 private:
  std::optional<Width> made_of(Expr e, int depth) {
    if (e.is(Op::kRational)) return width_of(e.rational());
    if (e.is(Op::kToFloat) || e.is(Op::kIdentity)) return of(e.arg(0), depth);
    if (e.is(Op::kIntTrueDiv) || e.is(Op::kFloatTrueDiv)) {
      return quotient(e, depth);
    }
    if (e.is(Op::kAdd) || e.is(Op::kMul)) return folded(e, depth);
    return std::nullopt;
  }

  std::optional<Width> quotient(Expr e, int depth) {
    if (!e.arg(1).is_constant()) return std::nullopt;
    const Rational divisor = number_of(e.arg(1));
    if (divisor.num().is_zero()) return std::nullopt;
    const auto a = of(e.arg(0), depth);
    const auto inverse = width_of(Rational(divisor.den(), divisor.num()));
    if (!a || !inverse) return std::nullopt;
    return fitting({a->bits + inverse->bits - 1, a->after + inverse->after});
  }

  std::optional<Width> folded(Expr e, int depth) {
    std::optional<Width> all = of(e.arg(0), depth);
    for (Expr arg : e.args().subspan(1)) {
      const std::optional<Width> next = all ? of(arg, depth) : std::nullopt;
      if (!next) return std::nullopt;
      all = e.is(Op::kMul) ? product(*all, *next) : sum(*all, *next);
    }
    return all;
  }

  static std::optional<Width> product(const Width& a, const Width& b) {
    return fitting({a.bits + b.bits, a.after + b.after});
  }
  static std::optional<Width> sum(const Width& a, const Width& b) {
    const int after = std::max(a.after, b.after);
    return fitting(
        {1 + std::max(a.bits + after - a.after, b.bits + after - b.after),
         after});
  }

  std::unordered_map<uint32_t, std::optional<Width>> known_;
};

bool is_exact_pool(Expr e) {
  return e.pool().floats() == FloatArithmetic::kExact;
}

// A symbol is its own double, and so is what a power of two makes of it.
bool is_scaled_symbol(Expr e) {
  while (e.is(Op::kToFloat) || e.is(Op::kIdentity)) e = e.arg(0);
  if (e.is_symbol()) return true;
  if (!is_scaled_exactly(e)) return false;
  size_t symbols = 0;
  for (Expr x : e.args()) {
    if (!x.is_constant() && (!x.is_symbol() || ++symbols > 1)) return false;
  }
  return true;
}

bool is_exact(Expr number) {
  return is_scaled_symbol(number) || Widths().of(number).has_value();
}

bool is_quotient_of_integers(Expr e) {
  if (!e.is(Op::kIntTrueDiv) && !e.is(Op::kFloatTrueDiv)) return false;
  return std::all_of(e.args().begin(), e.args().end(), [](Expr x) {
    const auto w = Widths().of(x);
    return w && w->after == 0 && w->bits <= kIntegerBits;
  });
}

}  // namespace

Rational number_of(Expr constant) {
  return constant.is(Op::kInteger) ? Rational(constant.integer())
                                   : constant.rational();
}

bool is_exact_double(Expr number) {
  return is_exact_pool(number) || is_exact(number);
}

bool is_scaled_exactly(Expr product) {
  if (!product.is(Op::kMul)) return false;
  size_t numbers = 0;
  const auto is_fine = [&](Expr x) {
    if (!x.is_constant()) return ++numbers <= 2;
    const Rational r = number_of(x);
    return !r.num().is_zero() && bits::is_power_of_two(abs(r.num())) &&
           bits::is_power_of_two(r.den());
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
  const auto x = Widths().of(a), y = Widths().of(b);
  // n/d differs from k/2**after by a part of n*2**after, if at all.
  constexpr int kAfter = kDoubleBits - 1 - kIntegerBits;
  if (x && is_quotient_of_integers(b)) return x->after <= kAfter;
  return y && is_quotient_of_integers(a) && y->after <= kAfter;
}

std::optional<std::pair<Expr, Expr>> without_root(Expr a, Expr b) {
  const auto is_zero = [](Expr e) {
    return e.is_constant() && number_of(e) == Rational(0);
  };
  const auto under = [](Expr root) {
    Expr e = root.arg(0);
    while (e.is(Op::kSqrt)) e = e.arg(0);
    return e.is_float() ? e : e.pool().make(Op::kToFloat, {e});
  };
  if (a.is(Op::kSqrt) && is_zero(b)) return std::pair(under(a), b);
  if (b.is(Op::kSqrt) && is_zero(a)) return std::pair(a, under(b));
  return std::nullopt;
}

}  // namespace proviso::inline v0_2::internal
