// A range is read from normal forms first, then its ends are moved in by asking
// whether anything lies beyond.
//
//   (x + 1)*(x - 31), 0 <= x <= 31        read: [-992, 0]
//     -992 moves by 1, 2, 4, ..., 256 to -481, and then by halves to -256
//
// That is two questions for each bit of the way at most.  Complete for what
// ask() proves.
#include "solver/engine/expression_ranges.h"

#include <algorithm>

#include "solver/limits_in_force.h"
#include "solver/strategies/witnesses.h"
#include "sym/find_node.h"

namespace proviso::inline v0_2::internal {
namespace {

// What asking in a call's stead does not count.
class Uncounted {
 public:
  explicit Uncounted(Statistics& statistics)
      : statistics_(statistics), before_(statistics) {}
  ~Uncounted() { statistics_ = before_; }

 private:
  Statistics& statistics_;
  const Statistics before_;
};

Int two_to(size_t bits) { return *pow(Int(2), bits); }

// Lowers `end` to the least k found that holds; what holds at k holds beyond.
// Most ends have at most limits().end_bits bits, whatever the facts; others are
// looked for up to 2**most_bits().  Nothing is taken for no end that was not
// asked about: the search is over where the largest k that failed is beside the
// least that held.
template <typename Holds, typename Keep, typename MostBits>
void tighten_end(OptionalInt end, const Holds& holds, const Keep& keep,
                 const MostBits& most_bits) {
  OptionalInt failed;  // the largest
  auto is_end = [&](const Int& k) {
    if (!holds(k)) {
      failed = failed ? std::max(*failed, k) : k;
      return false;
    }
    end = k;
    keep(k);
    return true;
  };
  if (!end) {  // its size first
    if (is_end(two_to(limits().end_bits))) {
      for (int64_t k : {65536, 64, 0}) {
        if (*end > Int(k) && !is_end(Int(k))) break;
      }
    } else {
      size_t low = limits().end_bits, high = most_bits();
      if (high <= low || !is_end(two_to(high))) return;
      while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        (is_end(two_to(middle)) ? high : low) = middle;
      }
    }
  }
  for (Int step = 1; !failed || *end - step > *failed; step = step * Int(2)) {
    const size_t bits = step.bit_length();
    // Facts that prove this contradict each other.
    if (bits > limits().end_bits && bits > most_bits() + 1) return;
    if (!is_end(*end - step)) break;
  }
  while (*failed + Int(1) < *end) {
    is_end(floor_div(*failed + *end, Int(2)));
  }
}

// The bits of the largest number in e.
size_t bits_of_numbers(Expr e) {
  size_t most = 0;
  const auto bits = [](Expr x) {
    return x.is(Op::kInteger) ? x.integer().bit_length() : 0;
  };
  find_node(e, [&](Expr x) {
    size_t here = bits(x);
    if (x.is(Op::kPow) || x.is(Op::kPowByNatural) || x.is(Op::kLShift)) {
      const auto n = x.arg(1).maybe_int64();
      const auto exponent = static_cast<size_t>(std::clamp<int64_t>(
          n.value_or(0), 0, static_cast<int64_t>(limits().bound_bits)));
      const size_t base = bits(x.arg(0));
      here = x.is(Op::kLShift) ? base + exponent : base * exponent;
    }
    most = std::max(most, here);
    return false;
  });
  return most;
}

}  // namespace

// --- calls

Interval ExpressionRanges::bounds_quick(Expr e) {
  return reasoner_.within_call(Interval::empty(), Interval(),
                               [&] { return reading_.range_of(e); });
}

Interval ExpressionRanges::bounds(Expr e) {
  Interval range;
  const bool has_points = reasoner_.within_call(false, true, [&] {
    range = reading_.range_of(e);
    tighten(e, range);
    return true;
  });
  return has_points ? range : Interval::empty();
}

Strided ExpressionRanges::strided(Expr e) {
  const Strided span(bounds(e));
  const Strided read =
      reasoner_.within_call(Strided(Interval::empty()), Strided(),
                            [&] { return reading_.strided_of(e); });
  return intersect(span, read);
}

Int ExpressionRanges::multiple_of(Expr e) {
  return reasoner_.within_call(
      Int(0), Int(1), [&] { return reading_.strided_of(e).divisor(); });
}

std::optional<std::vector<Int>> ExpressionRanges::values(Expr e, size_t limit) {
  using Values = std::optional<std::vector<Int>>;
  return reasoner_.within_call(Values(std::in_place), Values(),
                               [&] { return list_values(e, limit); });
}

// --- by proofs

// How many bits an end of e may have: those of the largest number in e, in its
// range and in the facts about its symbols, as often as e multiplies symbols
// and once more, and a few for sums.
size_t ExpressionRanges::most_bits(Expr e, const Interval& range) {
  size_t numbers = bits_of_numbers(e), degree = 1;
  for (const OptionalInt& end : {range.lower(), range.upper()}) {
    if (end) numbers = std::max(numbers, end->bit_length());
  }
  AssumedFacts& facts = reasoner_.facts();
  for (FactId id : facts.connected_to(e).facts) {
    numbers = std::max(numbers, bits_of_numbers(facts.condition(id)));
  }
  for (const Term& t : reasoner_.lower().integer(e).terms) {
    degree =
        std::max(degree, reasoner_.forms().monomials.factors(t.mono).size());
  }
  return std::min(numbers * (degree + 1) + limits().end_bits_of_sums,
                  limits().bound_bits);
}

// Each end moves in by steps that double, then by halves (exponential search).
// Facts that are ranges of a symbol alone are in what was read of it.
void ExpressionRanges::tighten(Expr e, Interval& range) {
  if (range.is_empty() || range.is_point()) return;
  if (is_leaf(e.op()) && reasoner_.facts().are_ranges(e)) return;
  const Uncounted uncounted(reasoner_.statistics());
  size_t known = 0;  // when asked for
  const auto bits = [&, before = range] {
    if (known == 0) known = most_bits(e, before);
    return known;
  };
  tighten_end(
      range.upper(),
      [&](const Int& k) { return proves(le(e, reasoner_.pool().integer(k))); },
      [&](const Int& k) { range.set_upper(k); }, bits);
  OptionalInt down;
  if (range.lower()) down = -*range.lower();
  tighten_end(
      down,
      [&](const Int& k) { return proves(ge(e, reasoner_.pool().integer(-k))); },
      [&](const Int& k) { range.set_lower(-k); }, bits);
}

// The value that e has wherever the facts hold, when it has only one.
std::optional<Int> ExpressionRanges::constant_of(Expr e) {
  const Interval range = reading_.range_of(e);
  if (range.is_empty()) return std::nullopt;
  if (range.is_point()) return *range.lower();
  if (is_leaf(e.op()) && reasoner_.facts().size() == 0) return std::nullopt;
  const Uncounted uncounted(reasoner_.statistics());
  const Expr is_zero = eq(e, reasoner_.pool().integer(0));
  Answer points;
  find_witnesses(
      reasoner_, is_zero,
      thousandths(limits().constant_budget, reasoner_.options().budget),
      points);
  if (points.witness && points.counterexample) return std::nullopt;
  Int value = 0;
  if (points.counterexample) {
    const Evaluation at = evaluate(e, *points.counterexample);
    if (!at.defined()) return std::nullopt;
    value = std::get<Int>(*at.value);
  }
  if (native_.ask(eq(e, reasoner_.pool().integer(value))) != Verdict::kYes) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::vector<Int>> ExpressionRanges::list_values(Expr e,
                                                              size_t limit) {
  std::vector<Int> found;
  const Strided range = reading_.strided_of(e);
  if (range.is_empty()) return found;
  const OptionalInt &first = range.span().lower(), &last = range.span().upper();
  if (!first || !last) return std::nullopt;
  const Int step = range.is_point() ? Int(1) : range.stride();
  if (floor_div(*last - *first, step) >= Int(limits().listed_values)) {
    return std::nullopt;
  }
  for (Int v = *first; v <= *last; v += step) {
    Budget::check();
    if (native_.ask(eq(e, reasoner_.pool().integer(v))) == Verdict::kNo) {
      continue;
    }
    if (found.size() == limit) return std::nullopt;
    found.push_back(v);
  }
  return found;
}

}  // namespace proviso::inline v0_2::internal
