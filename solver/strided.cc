#include "solver/strided.h"

#include "solver/fixed_limits.h"

namespace proviso::inline v0_2 {
using namespace internal;
namespace {

// u with a*u == gcd(a, b) modulo b, and that gcd; for b > 0.
struct Bezout {
  Int gcd, factor;
};
Bezout bezout(Int a, Int b) {
  Int u = 1, v = 0;
  while (!b.is_zero()) {
    const Int q = floor_div(a, b);
    const Int rest = a - q * b, next = u - q * v;
    a = b, b = rest;
    u = v, v = next;
  }
  return a.sign() < 0 ? Bezout{-a, -u} : Bezout{a, u};
}

// The class of values that differ from a member of either by a multiple of the
// result, which holds both.
Strided with_span(const Interval& span, const Strided& a, const Strided& b) {
  const Int stride = gcd(gcd(a.stride(), b.stride()), a.offset() - b.offset());
  return Strided(span, stride, a.offset());
}

}  // namespace

Strided::Strided(const Interval& span, const Int& stride, const Int& offset)
    : span_(span), stride_(stride), offset_(offset) {
  if (stride_.is_zero()) {
    span_ = intersect(span_, Interval::point(offset_));
  } else if (stride_.is_one()) {
    offset_ = 0;
    if (span_.is_point()) {
      stride_ = 0;
      offset_ = *span_.lower();
    }
  } else {
    offset_ = floor_mod(offset_, stride_);
    OptionalInt low = span_.lower(), high = span_.upper();
    if (low) *low += floor_mod(offset_ - *low, stride_);
    if (high) *high -= floor_mod(*high - offset_, stride_);
    if (!span_.is_empty()) span_ = Interval::of(low, high);
    if (span_.is_point()) {
      stride_ = 0;
      offset_ = *span_.lower();
    }
  }
  if (span_.is_empty()) stride_ = 1, offset_ = 0;
}

bool Strided::contains(const Int& value) const {
  if (!span_.contains(value)) return false;
  return stride_.is_zero() || floor_mod(value - offset_, stride_).is_zero();
}

Int Strided::divisor() const { return gcd(stride_, offset_); }

std::string Strided::to_string() const {
  return span_.to_string() + " " + stride_.to_string() + "*k + " +
         offset_.to_string();
}

Strided intersect(const Strided& a, const Strided& b) {
  const Interval span = intersect(a.span(), b.span());
  if (span.is_empty()) return Strided(span);
  if (a.is_point()) {
    return b.contains(a.offset()) ? a : Strided(Interval::empty());
  }
  if (b.is_point()) return intersect(b, a);
  if (a.stride().is_one()) return Strided(span, b.stride(), b.offset());
  if (b.stride().is_one()) return Strided(span, a.stride(), a.offset());
  // a.offset + a.stride*k == b.offset modulo b.stride.
  const auto [g, u] = bezout(a.stride(), b.stride());
  const Int apart = b.offset() - a.offset();
  if (!floor_mod(apart, g).is_zero()) return Strided(Interval::empty());
  const Int period = floor_div(b.stride(), g);
  const Int k = floor_mod(floor_div(apart, g) * u, period);
  return Strided(span, a.stride() * period, a.offset() + a.stride() * k);
}

Strided hull(const Strided& a, const Strided& b) {
  if (a.is_empty()) return b;
  if (b.is_empty()) return a;
  return with_span(hull(a.span(), b.span()), a, b);
}

Strided operator-(const Strided& a) {
  return Strided(-a.span(), a.stride(), -a.offset());
}

Strided operator+(const Strided& a, const Strided& b) {
  return Strided(a.span() + b.span(), gcd(a.stride(), b.stride()),
                 a.offset() + b.offset());
}

Strided operator-(const Strided& a, const Strided& b) { return a + -b; }

// (s*k + o) * (t*m + p) = s*t*k*m + s*p*k + t*o*m + o*p.
Strided operator*(const Strided& a, const Strided& b) {
  const Int stride = gcd(a.stride() * b.stride(),
                         gcd(a.stride() * b.offset(), b.stride() * a.offset()));
  return Strided(a.span() * b.span(), stride, a.offset() * b.offset());
}

// (s*k + o) // d = (s/d)*k + o//d where d divides s.
Strided floor_div(const Strided& a, const Strided& b) {
  const Interval span = floor_div(a.span(), b.span());
  if (!b.is_point() || b.offset().is_zero() || a.is_empty()) {
    return Strided(span);
  }
  const Int& d = b.offset();
  if (d.sign() < 0) return floor_div(-a, -b);
  if (!floor_mod(a.stride(), d).is_zero()) return Strided(span);
  return Strided(span, floor_div(a.stride(), d), floor_div(a.offset(), d));
}

// What x % y differs from x by is a multiple of y.
Strided mod(const Strided& a, const Strided& b) {
  const Interval span = mod(a.span(), b.span());
  if (a.is_empty() || b.is_empty()) return Strided(span);
  const Int stride = gcd(a.stride(), b.divisor());
  return Strided(span, stride, a.offset());
}

Strided min(const Strided& a, const Strided& b) {
  const Interval span = min(a.span(), b.span());
  if (span.is_empty()) return Strided(span);
  return with_span(span, a, b);
}

Strided max(const Strided& a, const Strided& b) {
  const Interval span = max(a.span(), b.span());
  if (span.is_empty()) return Strided(span);
  return with_span(span, a, b);
}

Strided abs(const Strided& a) {
  const Interval span = abs(a.span());
  if (a.is_empty()) return Strided(span);
  if (a.span().lower() && a.span().lower()->sign() >= 0) return a;
  return with_span(span, a, -a);
}

Strided pow(const Strided& a, unsigned exponent) {
  const Interval span = pow(a.span(), exponent);
  if (a.is_empty()) return Strided(span);
  Strided product = Strided::point(1);
  const Strided base(Interval::all(), a.stride(), a.offset());
  if (exponent > fixed::strided_exponent) return Strided(span);
  for (unsigned i = 0; i < exponent; ++i) product = product * base;
  return Strided(span, product.stride(), product.offset());
}

}  // namespace proviso::inline v0_2
