// sym/fractions.h - exact real numbers as fractions of integer polynomials of
// either kind (sym/polynomial_ring.h).  Not for callers of the library.
//
//   x/2 + 1/3           (3*x + 2) / 6
//   ToFloat(x) / 4      x / 4
//   x**0.5              no fraction
//
// Complete for sums, products and quotients of integers and constants; a power,
// a root or a choice has none.  The canonical form (sym/canonical_relations.cc)
// takes positive numbers as denominators, the lowering
// (solver/lowering/fractions.h) any polynomial.  A call costs a product of
// polynomials for each part.
//
// What differs is said by Polynomials:
//
//   Poly             a polynomial
//   integer(e)       that of an integer expression
//   number(k)        k as a polynomial
//   product(p, q)    p*q, or nothing where that is too large
//   oriented(x)      the fraction x, a quotient's, as it is kept; nothing where
//                    its denominator is not allowed
#pragma once

#include <cassert>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sym/budget.h"
#include "sym/expr.h"

namespace proviso::inline v0_2::internal {

template <typename Poly>
struct FractionOf {
  Poly num, den;  // den is not 0 where the number is defined
};

// Fractions of a number's parts, arguments first: depth is no concern of the
// stack, and a part that is shared is looked at once.
template <typename Polynomials>
class FractionReader {
 public:
  using Poly = typename Polynomials::Poly;
  using Fraction = FractionOf<Poly>;

  explicit FractionReader(Polynomials polynomials)
      : polynomials_(std::move(polynomials)) {}

  // A number's; nullopt where it has none.
  std::optional<Fraction> read(Expr number) {
    visit_arguments_first(
        number,
        [this](Expr e) { return !is_arithmetic(e) || parts_.contains(e); },
        [this](Expr e) {
          Budget::spend(1);
          parts_.emplace(e, of_parts(e));
        });
    return part(number);
  }

 private:
  // Nothing below others gives them a fraction; integers are read whole.
  static bool is_arithmetic(Expr e) {
    return !e.is_int() &&
           (e.is(Op::kRational) || e.is(Op::kToFloat) || e.is(Op::kIdentity) ||
            e.is(Op::kAdd) || e.is(Op::kMul) || is_quotient(e));
  }
  static bool is_quotient(Expr e) {
    return info(e.op()).kind == OpKind::kTrueDiv;
  }

  std::optional<Fraction> part(Expr e) {
    if (e.is_int()) {
      return Fraction{polynomials_.integer(e), polynomials_.number(1)};
    }
    const auto known = parts_.find(e);
    return known == parts_.end() ? std::nullopt : known->second;
  }

  std::optional<Fraction> of_parts(Expr e) {
    if (e.is(Op::kRational)) {
      return Fraction{polynomials_.number(e.rational().num()),
                      polynomials_.number(e.rational().den())};
    }
    if (e.is(Op::kToFloat) || e.is(Op::kIdentity)) return part(e.arg(0));
    if (e.is(Op::kAdd) || e.is(Op::kMul)) return folded(e);
    assert(is_quotient(e));
    const auto a = part(e.arg(0)), b = part(e.arg(1));
    if (!a || !b) return std::nullopt;
    auto quotient = fraction(polynomials_.product(a->num, b->den),
                             polynomials_.product(a->den, b->num));
    if (!quotient) return std::nullopt;
    return polynomials_.oriented(*std::move(quotient));
  }

  // Neighbours first, then pairs of them: where each denominator is another,
  // one after the other would rescale what there is n times.
  std::optional<Fraction> folded(Expr e) {
    std::vector<Fraction> parts;
    parts.reserve(e.arity());
    for (Expr arg : e.args()) {
      std::optional<Fraction> next = part(arg);
      if (!next) return std::nullopt;
      parts.push_back(*std::move(next));
    }
    while (parts.size() > 1) {
      const size_t pairs = parts.size() / 2;
      for (size_t i = 0; i < pairs; ++i) {
        Budget::check();
        auto both = joined(e.op(), parts[2 * i], parts[2 * i + 1]);
        if (!both) return std::nullopt;
        parts[i] = *std::move(both);
      }
      if (parts.size() % 2 != 0) parts[pairs] = std::move(parts.back());
      parts.erase(parts.begin() + (parts.size() + 1) / 2, parts.end());
    }
    return std::move(parts[0]);
  }

  std::optional<Fraction> joined(Op op, const Fraction& x, const Fraction& y) {
    return fraction(
        op == Op::kMul ? polynomials_.product(x.num, y.num) : cross_sum(x, y),
        polynomials_.product(x.den, y.den));
  }

  std::optional<Poly> cross_sum(const Fraction& x, const Fraction& y) {
    const auto a = polynomials_.product(x.num, y.den);
    const auto b = polynomials_.product(y.num, x.den);
    return a && b ? std::optional(*a + *b) : std::nullopt;
  }

  static std::optional<Fraction> fraction(std::optional<Poly> num,
                                          std::optional<Poly> den) {
    if (!num || !den) return std::nullopt;
    return Fraction{*std::move(num), *std::move(den)};
  }

  Polynomials polynomials_;
  std::unordered_map<Expr, std::optional<Fraction>, ExprHash> parts_;
};

}  // namespace proviso::inline v0_2::internal
