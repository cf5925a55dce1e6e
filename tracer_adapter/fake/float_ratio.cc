#include "tracer_adapter/fake/float_ratio.h"

#include <algorithm>
#include <optional>

#include "sym/canonical.h"
#include "sym/operators.h"

namespace proviso::inline v0_2 {
namespace {

std::optional<FloatRatio> quotient(Expr a, Expr b) {
  const auto above = ratio_of(a), below = ratio_of(b);
  if (!above || !below || below->divisor != 1) return std::nullopt;
  const auto by = below->numerator.maybe_int64();
  if (!by || *by <= 0 || *by > kMostParts / above->divisor) return std::nullopt;
  // What is rounded already is not divided again.
  if (!is_power_of_two(above->divisor)) return std::nullopt;
  return FloatRatio{above->numerator, above->divisor * *by};
}

std::optional<FloatRatio> sum_or_product(Expr e) {
  const bool adds = e.is(Op::kAdd);
  ExprPool& pool = e.pool();
  FloatRatio result{pool.integer(adds ? 0 : 1), 1};
  for (const Expr arg : e.args()) {
    const auto part = ratio_of(arg);
    if (!part || !is_power_of_two(part->divisor)) return std::nullopt;
    if (!adds) {
      result.numerator = result.numerator * part->numerator;
      result.divisor *= part->divisor;
    } else {
      const int64_t common = std::max(result.divisor, part->divisor);
      result.numerator = result.numerator * (common / result.divisor) +
                         part->numerator * (common / part->divisor);
      result.divisor = common;
    }
    if (result.divisor > kMostParts) return std::nullopt;
  }
  return result;
}

}  // namespace

std::optional<FloatRatio> ratio_of(Expr e) {
  if (e.is_int()) return FloatRatio{e, 1};
  switch (e.op()) {
    case Op::kToFloat:
      if (!e.arg(0).is_int()) return std::nullopt;
      return FloatRatio{e.arg(0), 1};
    case Op::kRational: {
      const auto above = e.rational().num().to_int64();
      const auto below = e.rational().den().to_int64();
      if (!above || !below || *below > kMostParts) return std::nullopt;
      return FloatRatio{e.pool().integer(*above), *below};
    }
    case Op::kIntTrueDiv:
    case Op::kFloatTrueDiv: return quotient(e.arg(0), e.arg(1));
    case Op::kAdd:
    case Op::kMul: return sum_or_product(e);
    default: return std::nullopt;
  }
}

std::optional<FloatParts> in_parts(Expr a, Expr b) {
  const auto above = ratio_of(a), below = ratio_of(b);
  if (!above || !below || !is_power_of_two(above->divisor) ||
      !is_power_of_two(below->divisor))
    return std::nullopt;
  const auto by = below->numerator.maybe_int64();
  if (!by || *by <= 0 || *by > kMostParts) return std::nullopt;
  const int64_t common = std::max(above->divisor, below->divisor);
  const auto numerator = [&](const FloatRatio& ratio) {
    return canonical(ratio.numerator * (common / ratio.divisor));
  };
  return FloatParts{numerator(*above), numerator(*below), common};
}

}  // namespace proviso::inline v0_2
