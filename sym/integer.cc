// What fits in 127 bits is computed in the compiler's 128-bit integers, the
// rest in Boost's cpp_int.
#include "sym/integer.h"

#include <atomic>
#include <boost/multiprecision/cpp_int.hpp>
#include <cassert>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <vector>

#include "sym/budget.h"
#include "sym/fixed_limits.h"
#include "sym/integer_bytes.h"

namespace proviso::inline v0_2 {

// 256 bits have room in place: products of a few sizes allocate nothing.
using cpp_int =
    boost::multiprecision::number<boost::multiprecision::cpp_int_backend<256>>;
using Wide = __int128;

struct Int::Big {
  cpp_int value;
  std::atomic<uint32_t> owners{1};
};

// Conversions between the representations.
struct IntAccess {
  static Int::Big* shared(const Int& a) {
    return reinterpret_cast<Int::Big*>(a.rest_);
  }
  static bool is_shared(const Int& a) { return a.is_shared(); }
  static int64_t small(const Int& a) { return a.low_; }
  // The value, which is held in 127 bits.
  static Wide wide(const Int& a) {
    if (a.is_small()) return a.low_;
    return static_cast<Wide>(static_cast<int64_t>(a.rest_) >> 1) << 64 |
           static_cast<uint64_t>(a.low_);
  }
  static bool both_wide(const Int& a, const Int& b) {
    return !a.is_shared() && !b.is_shared();
  }
  static cpp_int big(const Int& a) {
    return a.is_shared() ? shared(a)->value : cpp_int(wide(a));
  }
  static Int make(Wide value) {
    if (value < -kTop || value >= kTop) return make(cpp_int(value));
    const auto low = static_cast<int64_t>(value);
    Int result(low);
    if (low != value) {
      result.rest_ = static_cast<uint64_t>(value >> 64) << 1 | 1;
    }
    return result;
  }
  static Int make(cpp_int value) {
    if (value >= -kTop && value < kTop) return make(static_cast<Wide>(value));
    Int result;
    result.rest_ = reinterpret_cast<uint64_t>(new Int::Big{std::move(value)});
    return result;
  }

 private:
  static constexpr Wide kTop = static_cast<Wide>(1) << 126;
};

// A shared value where it is, or another with room of its own.
class BigView {
 public:
  explicit BigView(const Int& a)
      : own_(IntAccess::is_shared(a) ? Wide{0} : IntAccess::wide(a)),
        value_(IntAccess::is_shared(a) ? IntAccess::shared(a)->value : own_) {}
  const cpp_int& operator*() const { return value_; }

 private:
  cpp_int own_;
  const cpp_int& value_;
};

void Int::retain() const noexcept {
  IntAccess::shared(*this)->owners.fetch_add(1, std::memory_order_relaxed);
}

void Int::release() noexcept {
  Big* big = IntAccess::shared(*this);
  const bool alone = big->owners.load(std::memory_order_acquire) == 1;
  if (alone || big->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    delete big;
  }
}

namespace {

// Limbs of 64 bits; none of what is held without one.
uint64_t limbs(const Int& a) {
  return IntAccess::is_shared(a) ? IntAccess::shared(a)->value.backend().size()
                                 : 0;
}

// What takes long by itself looks at the budget first, and where there is not
// so much left it is not done: what is left is spent, and no more.
void charge_big(uint64_t units) {
  constexpr uint64_t kLong = 256;
  if (units <= kLong) return Budget::charge(units);
  Budget::spend(std::min(units, Budget::units_left() + 1));
}
void charge_sum(const Int& a, const Int& b) {
  charge_big(1 + (limbs(a) + limbs(b)) / 8);
}
void charge_product(const Int& a, const Int& b) {
  charge_big(1 + (limbs(a) + limbs(b)) / 8 + limbs(a) * limbs(b) / 64);
}
// Boost's division by more than a limb walks all that is left of the dividend
// for each limb of the quotient.
void charge_quotient(const Int& a, const Int& b) {
  const uint64_t n = limbs(a), steps = n - std::min(n, limbs(b)) + 1;
  charge_big(4 + (n + limbs(b)) / 8 + (b.is_small() ? 0 : n * steps / 18));
}

cpp_int big(const Int& a) { return IntAccess::big(a); }
int64_t small(const Int& a) { return IntAccess::small(a); }
bool both_small(const Int& a, const Int& b) {
  return a.is_small() && b.is_small();
}

bool both_wide(const Int& a, const Int& b) {
  return IntAccess::both_wide(a, b);
}
Wide wide(const Int& a) { return IntAccess::wide(a); }

// Python's quotient and remainder of big integers.
std::pair<cpp_int, cpp_int> big_divmod(const Int& a, const Int& b) {
  charge_quotient(a, b);
  cpp_int quotient, remainder, divisor = big(b);
  boost::multiprecision::divide_qr(big(a), divisor, quotient, remainder);
  if (remainder != 0 && (remainder.sign() < 0) != (divisor.sign() < 0)) {
    --quotient;
    remainder += divisor;
  }
  return {quotient, remainder};
}

template <typename BitOperation>
Int bitwise(const Int& a, const Int& b, BitOperation operation) {
  if (both_small(a, b)) return Int(operation(small(a), small(b)));
  charge_sum(a, b);
  // Two's complement over a width that holds both, then back to a sign.
  const auto width =
      static_cast<unsigned>(std::max(a.bit_length(), b.bit_length()) + 2);
  cpp_int modulus = cpp_int(1) << width;
  auto wrap = [&](const Int& x) -> cpp_int {
    return x.sign() < 0 ? cpp_int(big(x) + modulus) : big(x);
  };
  cpp_int result = operation(wrap(a), wrap(b));
  if (bit_test(result, width - 1)) result -= modulus;
  return IntAccess::make(std::move(result));
}

}  // namespace

std::optional<Int> Int::parse(std::string_view text) {
  bool negative = !text.empty() && text.front() == '-';
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    text.remove_prefix(1);
  }
  if (text.empty()) return std::nullopt;
  for (char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
  }
  // Leading zeros would make Boost read octal.
  while (text.size() > 1 && text.front() == '0') text.remove_prefix(1);
  const uint64_t chunks = text.size() / 19;  // of 64 bits
  charge_big(1 + chunks * chunks / 128);
  cpp_int value{std::string(text)};
  return IntAccess::make(negative ? cpp_int(-value) : value);
}

std::vector<unsigned char> internal::magnitude_bytes(const Int& x) {
  charge_big(1 + limbs(x) / 8);
  std::vector<unsigned char> bytes;
  export_bits(cpp_int(abs(big(x))), std::back_inserter(bytes), 8, false);
  return bytes;
}

Int internal::from_magnitude(std::span<const unsigned char> bytes,
                             bool is_negative) {
  charge_big(1 + bytes.size() / 64);
  if (bytes.empty()) return 0;  // which Boost takes for no integer
  cpp_int value;
  import_bits(value, bytes.begin(), bytes.end(), 8, false);
  return IntAccess::make(is_negative ? cpp_int(-value) : value);
}

bool Int::big_is_odd() const {
  return bit_test(abs(IntAccess::shared(*this)->value), 0);
}

int Int::big_sign() const {
  if (!is_shared()) return IntAccess::wide(*this) < 0 ? -1 : 1;
  return IntAccess::shared(*this)->value.sign();
}

double Int::to_double() const {
  return is_shared() ? static_cast<double>(IntAccess::shared(*this)->value)
                     : static_cast<double>(IntAccess::wide(*this));
}

namespace {

// Appends n >= 0 with leading zeros, as 18 * 2**level digits: halves by a
// division, as a digit at a time takes ten times as long.
void append_digits(const cpp_int& n, const std::vector<cpp_int>& powers,
                   size_t level, std::string& out) {
  if (level == 0) {
    const std::string digits = n.str();
    out.append(18 - digits.size(), '0');
    out += digits;
    return;
  }
  cpp_int high, low;
  divide_qr(n, powers[level - 1], high, low);
  append_digits(high, powers, level - 1, out);
  append_digits(low, powers, level - 1, out);
}

}  // namespace

std::string Int::to_string() const {
  constexpr size_t kLong = 8;  // limbs
  if (is_small()) return std::to_string(low_);
  const size_t length = limbs(*this);
  Budget::charge(1 + length * length / 16);
  if (length <= kLong) return big(*this).str();
  const cpp_int n = boost::multiprecision::abs(big(*this));
  // powers[i] is 10**(18 * 2**i); the last is past the square root of n.
  std::vector<cpp_int> powers{cpp_int(1'000'000'000'000'000'000)};
  while (2 * msb(powers.back()) <= msb(n)) {
    powers.push_back(powers.back() * powers.back());
  }
  std::string digits;
  append_digits(n, powers, powers.size(), digits);
  digits.erase(0, digits.find_first_not_of('0'));
  return (sign() < 0 ? "-" : "") + digits;
}

size_t Int::big_hash() const {
  if (is_shared()) {
    const cpp_int& value = IntAccess::shared(*this)->value;
    uint64_t hash = value.sign() < 0 ? 1 : 0;
    for (unsigned i = 0; i < value.backend().size(); ++i) {
      hash = (hash ^ value.backend().limbs()[i]) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
    return static_cast<size_t>(hash);
  }
  return static_cast<size_t>(low_) ^ (rest_ * 0x9e3779b97f4a7c15u);
}

size_t Int::big_bit_length() const {
  if (is_shared()) {  // msb() wants a positive number
    const auto& limbs = IntAccess::shared(*this)->value.backend();
    const unsigned last = limbs.size() - 1;
    return size_t{64} * last + std::bit_width(uint64_t{limbs.limbs()[last]});
  }
  return boost::multiprecision::msb(boost::multiprecision::abs(big(*this))) + 1;
}

Int Int::big_add(const Int& a, const Int& b) {
  // Two of 127 bits have a sum of 128.
  if (both_wide(a, b)) return IntAccess::make(wide(a) + wide(b));
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  charge_sum(a, b);
  return IntAccess::make(*BigView(a) + *BigView(b));
}

Int Int::big_subtract(const Int& a, const Int& b) {
  if (both_wide(a, b)) return IntAccess::make(wide(a) - wide(b));
  if (b.is_zero()) return a;
  charge_sum(a, b);
  return IntAccess::make(*BigView(a) - *BigView(b));
}

Int Int::big_multiply(const Int& a, const Int& b) {
  Wide product;
  if (both_wide(a, b) && !__builtin_mul_overflow(wide(a), wide(b), &product)) {
    return IntAccess::make(product);
  }
  if (a.is_one()) return b;
  if (b.is_one()) return a;
  charge_product(a, b);
  return IntAccess::make(*BigView(a) * *BigView(b));
}

Int& Int::add_big_product(const Int& a, const Int& b) {
  if (b == Int(-1)) return *this = *this - a;
  return *this = *this + a * b;
}

int Int::big_compare(const Int& a, const Int& b) {
  if (both_wide(a, b)) {
    const Wide x = wide(a), y = wide(b);
    return (x > y) - (x < y);
  }
  if (!a.is_shared() || !b.is_shared()) {  // the other is farther from 0
    return a.is_shared() ? a.sign() : -b.sign();
  }
  return IntAccess::shared(a)->value.compare(IntAccess::shared(b)->value);
}

Int floor_div(const Int& a, const Int& b) {
  assert(!b.is_zero() && "floor_div: the divisor is 0");
  // -2**63 // -1 does not fit, so -1 takes the negation path.
  if (both_small(a, b) && small(b) != -1) {
    return Int(floor_quotient(small(a), small(b)));
  }
  if (b == Int(-1)) return -a;
  if (both_wide(a, b)) {
    Budget::charge(1);
    return IntAccess::make(floor_quotient(wide(a), wide(b)));
  }
  return IntAccess::make(big_divmod(a, b).first);
}

Int floor_mod(const Int& a, const Int& b) {
  assert(!b.is_zero() && "floor_mod: the divisor is 0");
  if (both_small(a, b)) {
    if (small(b) == -1) return Int(0);
    return Int(floor_remainder(small(a), small(b)));
  }
  if (both_wide(a, b)) {
    Budget::charge(1);
    return IntAccess::make(floor_remainder(wide(a), wide(b)));
  }
  return IntAccess::make(big_divmod(a, b).second);
}

Int abs(const Int& a) { return a.sign() < 0 ? -a : a; }

Int gcd(const Int& a, const Int& b) {
  constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
  if (both_small(a, b) && small(a) != kLowest && small(b) != kLowest) {
    return Int(std::gcd(small(a), small(b)));
  }
  if (both_wide(a, b)) {
    using Unsigned = unsigned __int128;
    const auto magnitude = [](const Int& i) {
      return i.sign() < 0 ? -static_cast<Unsigned>(wide(i))
                          : static_cast<Unsigned>(wide(i));
    };
    Unsigned x = magnitude(a), y = magnitude(b);
    uint64_t steps = 0;
    for (; y >> 64 != 0; ++steps) x = std::exchange(y, x % y);
    Budget::charge(2 + steps);
    if (y == 0) return IntAccess::make(static_cast<Wide>(x));
    const auto low = static_cast<uint64_t>(y);
    return IntAccess::make(
        static_cast<Wide>(std::gcd(static_cast<uint64_t>(x % y), low)));
  }
  // A bit a step, each of which shifts what is left: one division first where
  // one of the two is longer.
  if (limbs(a) > limbs(b) + 1 && !b.is_zero()) return gcd(b, floor_mod(a, b));
  if (limbs(b) > limbs(a) + 1 && !a.is_zero()) return gcd(a, floor_mod(b, a));
  const uint64_t longest = std::max(limbs(a), limbs(b));
  charge_big(4 + 8 * longest + longest * longest);
  return IntAccess::make(
      boost::multiprecision::gcd(cpp_int(boost::multiprecision::abs(big(a))),
                                 cpp_int(boost::multiprecision::abs(big(b)))));
}

Int lcm(const Int& a, const Int& b) {
  if (a.is_zero() || b.is_zero()) return 0;
  return abs(floor_div(a, gcd(a, b)) * b);
}

// Newton's method from above.
Int integer_root(const Int& n, int64_t k) {
  if (n.is_zero() || k == 1) return n;
  const auto degree = static_cast<uint64_t>(k);
  Int r = *pow(Int(2), (n.bit_length() + degree - 1) / degree);
  for (;;) {
    const Int others = *pow(r, degree - 1, ~size_t{0});
    Int next = floor_div(r * (k - 1) + floor_div(n, others), k);
    if (next >= r) return r;
    r = next;
  }
}

std::optional<Int> pow(const Int& base, uint64_t exponent) {
  return pow(base, exponent, internal::fixed::power_bits);
}

std::optional<Int> pow(const Int& base, uint64_t exponent, size_t max_bits) {
  if (exponent == 0 || base.is_one()) return Int(1);
  if (base.is_zero()) return base;
  if (base == Int(-1)) return exponent % 2 ? base : Int(1);
  if (exponent > max_bits || (base.bit_length() - 1) * exponent > max_bits) {
    return std::nullopt;
  }
  Int result = 1, square = base;
  for (uint64_t rest = exponent; rest != 0; rest >>= 1) {
    if (rest & 1) result = result.is_one() ? square : result * square;
    if (rest > 1) square *= square;
  }
  return result;
}

Int bit_and(const Int& a, const Int& b) {
  return bitwise(a, b, std::bit_and<>{});
}
Int bit_or(const Int& a, const Int& b) {
  return bitwise(a, b, std::bit_or<>{});
}
Int bit_xor(const Int& a, const Int& b) {
  return bitwise(a, b, std::bit_xor<>{});
}

// ---- Rational

Rational::Rational(const Int& numerator, const Int& denominator)
    : num_(numerator), den_(denominator) {
  assert(!den_.is_zero() && "Rational: the denominator is 0");
  Int divisor = gcd(num_, den_);
  if (den_.sign() < 0) divisor = -divisor;
  num_ = floor_div(num_, divisor);
  den_ = floor_div(den_, divisor);
}

std::optional<Rational> Rational::from_double(double value) {
  if (!std::isfinite(value)) return std::nullopt;
  int exponent = 0;
  double mantissa = std::frexp(value, &exponent);  // in (-1, 1)
  Int numerator(static_cast<int64_t>(std::ldexp(mantissa, 53)));
  exponent -= 53;
  Int scale = *pow(Int(2), static_cast<uint64_t>(std::abs(exponent)));
  return exponent >= 0 ? Rational(numerator * scale)
                       : Rational(numerator, scale);
}

std::optional<Rational> Rational::parse(std::string_view text) {
  if (size_t slash = text.find('/'); slash != std::string_view::npos) {
    auto top = Int::parse(text.substr(0, slash));
    auto bottom = Int::parse(text.substr(slash + 1));
    if (!top || !bottom || bottom->is_zero()) return std::nullopt;
    return Rational(*top, *bottom);
  }
  Int exponent = 0;
  if (size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
    auto parsed = Int::parse(text.substr(e + 1));
    if (!parsed || abs(*parsed) > Int(5000)) return std::nullopt;
    exponent = *parsed;
    text = text.substr(0, e);
  }
  std::string digits(text);
  if (size_t dot = digits.find('.'); dot != std::string::npos) {
    exponent -= Int(static_cast<int64_t>(digits.size() - dot - 1));
    digits.erase(dot, 1);
  }
  auto mantissa = Int::parse(digits);
  if (!mantissa) return std::nullopt;
  int64_t power = *exponent.to_int64();
  auto scale = pow(Int(10), static_cast<uint64_t>(std::abs(power)));
  if (!scale) return std::nullopt;
  return power >= 0 ? Rational(*mantissa * *scale)
                    : Rational(*mantissa, *scale);
}

double Rational::to_double() const {
  if (den_.is_one()) return num_.to_double();
  // Scale so that the quotient has at least 66 bits, then round once: a sticky
  // low bit keeps the rounding exact for normal results.
  int64_t shift = 66 - static_cast<int64_t>(num_.bit_length()) +
                  static_cast<int64_t>(den_.bit_length());
  Int scale = *pow(Int(2), static_cast<uint64_t>(std::abs(shift)), 1 << 20);
  Int top = shift >= 0 ? abs(num_) * scale : abs(num_);
  Int bottom = shift >= 0 ? den_ : den_ * scale;
  Int quotient = floor_div(top, bottom);
  if (!floor_mod(top, bottom).is_zero()) quotient = bit_or(quotient, Int(1));
  double magnitude = std::ldexp(quotient.to_double(), static_cast<int>(-shift));
  return num_.sign() < 0 ? -magnitude : magnitude;
}

std::string Rational::to_string() const {
  return den_.is_one() ? num_.to_string()
                       : num_.to_string() + "/" + den_.to_string();
}

size_t Rational::hash() const { return num_.hash() * 31 + den_.hash(); }

Rational operator+(const Rational& a, const Rational& b) {
  return {a.num_ * b.den_ + b.num_ * a.den_, a.den_ * b.den_};
}
Rational operator-(const Rational& a, const Rational& b) {
  return {a.num_ * b.den_ - b.num_ * a.den_, a.den_ * b.den_};
}
Rational operator*(const Rational& a, const Rational& b) {
  return {a.num_ * b.num_, a.den_ * b.den_};
}
Rational operator/(const Rational& a, const Rational& b) {
  return {a.num_ * b.den_, a.den_ * b.num_};
}
std::strong_ordering operator<=>(const Rational& a, const Rational& b) {
  return a.num_ * b.den_ <=> b.num_ * a.den_;
}

Int floor(const Rational& a) { return floor_div(a.num(), a.den()); }
Int ceil(const Rational& a) { return -floor_div(-a.num(), a.den()); }
Int trunc(const Rational& a) { return a.num().sign() < 0 ? ceil(a) : floor(a); }
Int round_half_even(const Rational& a) {
  Int below = floor(a);
  Rational doubled = (a - Rational(below)) * Rational(2);
  if (doubled < Rational(1)) return below;
  if (doubled > Rational(1)) return below + Int(1);
  return below.is_odd() ? below + Int(1) : below;
}

}  // namespace proviso::inline v0_2
