// Three ways, one after another: what repeats is listed up to where it does; a
// short range is listed; what looks alike from some small size on is proved to
// be.
//
//   s % 6 < s//4       s % 6 repeats at 6; s//4 at 4, and grows by 1/4 a size
//     onset            together at 12; from 25 on the growth outweighs what
//                      repeats: the sizes below are looked at one by one
//
// repetition() says from the leaves up how an expression repeats.  The cost is
// an evaluation of the conditions for each size in the table
// (fixed::size_table), and of both sides for each in a period
// (fixed::size_period).
#include "guards/size_set.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>

#include "guards/fixed_limits.h"
#include "sym/definition.h"
#include "sym/evaluate.h"
#include "sym/within.h"

namespace proviso::inline v0_2 {
using namespace internal;

namespace {

// e(s + period) = e(s) + slope*period at every size s.  The solver's periods
// (solver/strategies/periodic.h) hold from some point on, one way, of forms
// without floats, and bound values between two lines; these are exact from the
// first size on, of expressions with floats, so that the two share no step but
// a least common multiple.
struct Repetition {
  Rational slope = Rational();
  int64_t period = 1;
};

bool is_zero(const Rational& r) { return r == Rational(); }
Rational magnitude(const Rational& r) {
  return r < Rational() ? Rational() - r : r;
}

// Both are at most fixed::size_period.
std::optional<int64_t> common_period(int64_t a, int64_t b) {
  const int64_t p = std::lcm(a, b);
  return p <= fixed::size_period ? std::optional(p) : std::nullopt;
}

// The least multiple of `period` over which `slope` advances by a multiple of
// `step`.
std::optional<int64_t> period_with(const Rational& slope, int64_t period,
                                   const Rational& step) {
  const auto parts = (slope / step).den().to_int64();
  if (!parts || *parts > fixed::size_period) return std::nullopt;
  return common_period(period, *parts);
}

std::optional<Rational> constant_of(Expr e) {
  if (e.is(Op::kInteger)) return Rational(e.integer());
  if (e.is(Op::kRational)) return e.rational();
  return std::nullopt;
}

// What is known of an expression's parts before it is looked at.
using Repetitions =
    std::unordered_map<Expr, std::optional<Repetition>, ExprHash>;

std::optional<Repetition> of_sum(Expr e, const Repetitions& known) {
  Repetition sum;
  for (Expr term : e.args()) {
    Budget::check();  // slopes grow with each
    const auto& r = known.at(term);
    if (!r) return std::nullopt;
    auto p = common_period(sum.period, r->period);
    if (!p) return std::nullopt;
    sum = {sum.slope + r->slope, *p};
  }
  return sum;
}

// Constants times one factor, or factors that all only repeat.
std::optional<Repetition> of_product(Expr e, const Repetitions& known) {
  Rational scale{Int(1)};
  std::vector<Repetition> factors;
  for (Expr factor : e.args()) {
    Budget::check();
    if (auto c = constant_of(factor)) {
      scale = scale * *c;
    } else if (const auto& r = known.at(factor)) {
      factors.push_back(*r);
    } else {
      return std::nullopt;
    }
  }
  Repetition product;
  for (const Repetition& r : factors) {
    auto p = common_period(product.period, r.period);
    if (!p || (factors.size() > 1 && !is_zero(r.slope))) return std::nullopt;
    product = {r.slope, *p};
  }
  product.slope = product.slope * scale;
  return product;
}

// A rounding of `r` that commutes with adding multiples of `step`.
std::optional<Repetition> rounded(const Repetition& r, const Rational& step) {
  auto p = period_with(r.slope, r.period, step);
  if (!p) return std::nullopt;
  return Repetition{r.slope, *p};
}

// How many of its arguments, the first ones, say how it repeats.
size_t looked_at(Expr e) {
  if (is_leaf(e.op())) return 0;
  return e.is(Op::kAdd) || e.is(Op::kMul) ? e.arity() : 1;
}

// e is not defined by other operators.
std::optional<Repetition> of_node(Expr e, const Repetitions& known) {
  if (e.is_constant()) return Repetition{};
  if (e.is_symbol()) return Repetition{Rational(Int(1)), 1};
  if (e.is(Op::kAdd)) return of_sum(e, known);
  if (e.is(Op::kMul)) return of_product(e, known);
  const bool is_unary = e.arity() == 1;
  const auto& first = known.at(e.arg(0));
  if (!first) return std::nullopt;
  const Rational one{Int(1)};
  if (is_unary) {
    if (e.is(Op::kToFloat) || e.is(Op::kIdentity)) return first;
    if (e.is(Op::kFloorToInt) || e.is(Op::kCeilToInt)) {
      return rounded(*first, one);
    }
    // Ties go to even.
    if (e.is(Op::kRoundToInt)) return rounded(*first, Rational(Int(2)));
    return std::nullopt;
  }
  if (e.arity() != 2) return std::nullopt;
  auto divisor = constant_of(e.arg(1));
  if (!divisor || is_zero(*divisor)) return std::nullopt;
  const OpKind kind = info(e.op()).kind;
  if (kind == OpKind::kMod) {
    auto r = rounded(*first, *divisor);
    return r ? std::optional(Repetition{Rational(), r->period}) : std::nullopt;
  }
  const Repetition quotient{first->slope / *divisor, first->period};
  if (kind == OpKind::kTrueDiv) return quotient;
  return kind == OpKind::kFloorDiv ? rounded(quotient, one) : std::nullopt;
}

std::optional<Repetition> repetition(Expr root, Repetitions& known) {
  std::vector<Expr> waiting{root};
  while (!waiting.empty()) {
    const Expr next = waiting.back();
    Budget::spend(1);
    const Expr meant = definition(next);
    const size_t below = waiting.size();
    for (size_t i = known.contains(next) ? 0 : looked_at(meant); i-- > 0;) {
      if (!known.contains(meant.arg(i))) waiting.push_back(meant.arg(i));
    }
    if (waiting.size() > below) continue;
    waiting.pop_back();
    if (!known.contains(next)) known.emplace(next, of_node(meant, known));
  }
  return known.at(root);
}

std::optional<Rational> value_at(Expr e, Expr symbol, int64_t size) {
  Assignment point;
  point.set(symbol, Int(size));
  Evaluation r = evaluate(e, point);
  if (!r.defined()) return std::nullopt;
  if (auto* i = std::get_if<Int>(&*r.value)) return Rational(*i);
  if (auto* q = std::get_if<Rational>(&*r.value)) return *q;
  return std::nullopt;
}

// The truth of a condition has this period from `from` on.
struct Onset {
  int64_t period = 1;
  Int from = 0;
};

std::optional<Onset> onset_of_relation(Expr c, Expr symbol,
                                       Repetitions& known) {
  if (c.is_constant()) return Onset{};
  if (!is_relation(c.op()) || c.arg(0).is_bool()) return std::nullopt;
  auto a = repetition(c.arg(0), known), b = repetition(c.arg(1), known);
  if (!a || !b) return std::nullopt;
  auto p = common_period(a->period, b->period);
  if (!p) return std::nullopt;
  const Rational slope = a->slope - b->slope;
  if (is_zero(slope)) return Onset{*p, 0};
  // a - b is slope*s and a remainder that repeats: when slope*s outgrows the
  // remainder the sign stays.
  Int from = 0;
  for (int64_t s = 0; s < *p; ++s) {
    auto left = value_at(c.arg(0), symbol, s);
    auto right = value_at(c.arg(1), symbol, s);
    if (!left || !right) return std::nullopt;
    const Rational rest = (*left - *right) / slope - Rational(Int(s));
    from = std::max(from, floor(magnitude(rest)) + Int(2));
  }
  return Onset{1, from};
}

// The onset of all relations together, however connectives join them.
std::optional<Onset> onset(std::span<const Expr> conditions, Expr symbol) {
  Onset all;
  Repetitions known;
  std::set<uint32_t> seen;
  std::vector<Expr> waiting(conditions.begin(), conditions.end());
  while (!waiting.empty()) {
    const Expr c = waiting.back();
    waiting.pop_back();
    if (!seen.insert(c.id()).second) continue;
    if (c.is(Op::kAnd) || c.is(Op::kOr) || c.is(Op::kNot)) {
      waiting.insert(waiting.end(), c.args().begin(), c.args().end());
      continue;
    }
    auto o = onset_of_relation(c, symbol, known);
    if (!o) return std::nullopt;
    auto p = common_period(all.period, o->period);
    if (!p) return std::nullopt;
    all = {*p, std::max(all.from, o->from)};
  }
  return all;
}

bool holds(Expr symbol, std::span<const Expr> conditions, int64_t size) {
  Assignment point;
  point.set(symbol, Int(size));
  return std::all_of(conditions.begin(), conditions.end(),
                     [&](Expr c) { return evaluate(c, point).is_true(); });
}

std::vector<bool> table_of(Expr symbol, std::span<const Expr> conditions,
                           int64_t count) {
  std::vector<bool> table;
  for (int64_t n = 0; n < count; ++n) {
    table.push_back(holds(symbol, conditions, n));
  }
  return table;
}

// Sizes up to the end of a short range, none beyond.
std::optional<SizeSet> by_enumeration(Expr symbol,
                                      std::span<const Expr> conditions,
                                      const Interval& range) {
  if (!range.upper() || *range.upper() >= Int(fixed::size_table))
    return std::nullopt;
  const int64_t last = *range.upper()->to_int64();
  SizeSet set{table_of(symbol, conditions, last + 1), 1};
  set.table.push_back(false);
  return set;
}

std::optional<SizeSet> by_repetition(Expr symbol,
                                     std::span<const Expr> conditions) {
  const auto all = onset(conditions, symbol);
  if (!all || all->from > Int(fixed::size_table)) return std::nullopt;
  const int64_t count = *all->from.to_int64() + all->period;
  return SizeSet{table_of(symbol, conditions, count),
                 static_cast<size_t>(all->period)};
}

// All sizes from some small one on, or none: seen in a table, then proved.
std::optional<SizeSet> by_proof(Expr symbol, std::span<const Expr> conditions,
                                const ProveOnRange& prove) {
  SizeSet set{table_of(symbol, conditions, fixed::seen_sizes), 1};
  const bool tail = set.table.back();
  int64_t from = fixed::seen_sizes;
  while (from > 0 && set.table[static_cast<size_t>(from - 1)] == tail) --from;
  if (from > fixed::seen_sizes / 2) return std::nullopt;
  const Interval rest = Interval::at_least(Int(from));
  const auto holds = [&](Expr c) { return prove(c, rest); };
  const auto fails = [&](Expr c) { return prove(logical_not(c), rest); };
  const bool is_proved =
      tail ? std::all_of(conditions.begin(), conditions.end(), holds)
           : std::any_of(conditions.begin(), conditions.end(), fails);
  return is_proved ? std::optional(set) : std::nullopt;
}

std::string listed(const std::vector<int64_t>& numbers) {
  std::string text;
  for (int64_t n : numbers) {
    text += (text.empty() ? "" : ", ") + std::to_string(n);
  }
  return "{" + text + "}";
}

// first, first + step, ...: 0 <= first < step
struct Progression {
  int64_t step, first;
};

std::optional<Progression> evenly_spaced(const std::vector<int64_t>& remainders,
                                         int64_t period) {
  const auto count = static_cast<int64_t>(remainders.size());
  if (count == 0 || period % count != 0) return std::nullopt;
  const int64_t step = period / count;
  for (size_t i = 1; i < remainders.size(); ++i) {
    if (remainders[i] - remainders[i - 1] != step) return std::nullopt;
  }
  return Progression{step, remainders[0]};
}

std::vector<std::string> progression_lines(const std::string& name,
                                           const Progression& p,
                                           const Interval& range,
                                           bool has_min) {
  OptionalInt lower, upper;
  const auto first_from = [&](const Int& least) {
    return -floor_div(Int(p.first) - least, Int(p.step));
  };
  if (range.lower()) {
    lower = first_from(*range.lower());
    if (!has_min && *lower <= first_from(Int(2))) lower = std::nullopt;
  }
  if (range.upper()) {
    upper = floor_div(*range.upper() - Int(p.first), Int(p.step));
  }
  const std::string root = "_" + name;
  std::string text = root + " = Dim('" + root + "'";
  if (lower && *lower > Int(0)) text += ", min=" + lower->to_string();
  if (upper) text += ", max=" + upper->to_string();
  return {text + ")", name + " = " + std::to_string(p.step) + "*" + root +
                          (p.first ? " + " + std::to_string(p.first) : "")};
}

// What the members of [lower, upper] are, in classes by `modulus`.
class Pattern {
 public:
  Pattern(const SizeSet& set, int64_t lower, int64_t last, int64_t modulus,
          int64_t tail)
      : modulus_(modulus) {
    Budget::spend(static_cast<uint64_t>(last - std::min(lower, tail)) / 8 + 1);
    std::set<int64_t> remainders;
    for (int64_t n = tail; n <= last; ++n) {
      if (set.contains(Int(n))) remainders.insert(n % modulus);
    }
    remainders_.assign(remainders.begin(), remainders.end());
    for (int64_t n = lower; n <= last; ++n) {
      const bool fits = remainders.count(n % modulus) > 0;
      if (set.contains(Int(n)) == fits) continue;
      if (!fits) is_exact_ = false;
      excluded_.push_back(n);
    }
    is_exact_ = is_exact_ && excluded_.size() <= fixed::listed_sizes &&
                remainders_.size() <= fixed::listed_sizes;
  }
  bool is_exact() const { return is_exact_; }
  bool is_plain() const { return is_exact_ && excluded_.empty(); }
  int64_t modulus() const { return modulus_; }
  bool fits(int64_t size) const {
    return std::binary_search(remainders_.begin(), remainders_.end(),
                              size % modulus_);
  }
  const std::vector<int64_t>& remainders() const { return remainders_; }
  const std::vector<int64_t>& excluded() const { return excluded_; }

 private:
  int64_t modulus_;
  std::vector<int64_t> remainders_, excluded_;
  bool is_exact_ = true;
};

// The promised range where the pattern alone keeps the sizes outside `range`
// out.
Interval without_idle_ends(const Pattern& pattern, const Interval& range,
                           const Interval& promised) {
  const auto is_idle = [&](const Int& from, const Int& to) {
    if (to - from > Int(pattern.modulus())) return false;
    for (Int n = from; n < to; n = n + Int(1)) {
      if (pattern.fits(*n.to_int64())) return false;
    }
    return true;
  };
  OptionalInt lower = range.lower(), upper = range.upper();
  if (promised.lower() && is_idle(*promised.lower(), *lower)) {
    lower = promised.lower();
  }
  if (upper && promised.upper() &&
      is_idle(*upper + Int(1), *promised.upper() + Int(1))) {
    upper = promised.upper();
  }
  return Interval::of(lower, upper);
}

std::vector<std::string> pattern_lines(const Pattern& pattern,
                                       const std::string& name,
                                       const Interval& members,
                                       const PromisedSizes& promised) {
  const Interval range = without_idle_ends(pattern, members, promised.range);
  const auto spaced = evenly_spaced(pattern.remainders(), pattern.modulus());
  if (pattern.excluded().empty() && spaced && spaced->step > 1) {
    return progression_lines(name, *spaced, range, promised.has_min);
  }
  std::vector<std::string> lines;
  if (range != promised.range) {
    lines.push_back(dim_definition(name, {range, promised.has_min}));
  }
  if (pattern.modulus() > 1) {
    lines.push_back(name + " % " + std::to_string(pattern.modulus()) + " in " +
                    listed(pattern.remainders()));
  }
  for (int64_t n : pattern.excluded()) {
    lines.push_back(name + " != " + std::to_string(n));
  }
  return lines;
}

}  // namespace

bool SizeSet::contains(const Int& size) const {
  if (size < Int(0)) return false;
  if (size < Int(static_cast<int64_t>(table.size()))) {
    return table[static_cast<size_t>(*size.to_int64())];
  }
  const Int first = static_cast<int64_t>(start());
  const Int offset = floor_mod(size - first, Int(static_cast<int64_t>(period)));
  return table[start() + static_cast<size_t>(*offset.to_int64())];
}

std::optional<SizeSet> sizes_where(Expr symbol,
                                   std::span<const Expr> conditions,
                                   const Interval& range,
                                   const ProveOnRange& prove) {
  uint64_t units = fixed::size_set_units;
  return within(units,
                [&] {
                  auto set = by_repetition(symbol, conditions);
                  if (!set) set = by_enumeration(symbol, conditions, range);
                  return set ? set : by_proof(symbol, conditions, prove);
                })
      .value_or(std::nullopt);
}

std::string dim_definition(const std::string& name,
                           const PromisedSizes& sizes) {
  const Interval& range = sizes.range;
  std::string text = name + " = Dim('" + name + "'";
  if (range.lower() && *range.lower() > Int(sizes.has_min ? 0 : 2)) {
    text += ", min=" + range.lower()->to_string();
  }
  if (range.upper()) text += ", max=" + range.upper()->to_string();
  return text + ")";
}

namespace {

std::vector<std::string> lines_for(const SizeSet& set, const std::string& name,
                                   const PromisedSizes& wanted) {
  const Interval& promised = wanted.range;
  const int64_t least = promised.lower() ? *promised.lower()->to_int64() : 0;
  const bool is_short =
      promised.upper() && *promised.upper() < Int(fixed::size_table);
  const auto start = static_cast<int64_t>(set.start());
  const auto period = static_cast<int64_t>(set.period);
  // Beyond `last` nothing new happens.
  const int64_t last = is_short ? *promised.upper()->to_int64()
                                : std::max(start, least) + 2 * period - 1;
  std::vector<int64_t> members;
  for (int64_t n = least; n <= last; ++n) {
    if (set.contains(Int(n))) members.push_back(n);
  }
  if (members.empty()) return {};
  const bool ends = is_short || members.back() < start;
  if (members.size() == 1 && ends) {
    return {name + " = " + std::to_string(members[0])};
  }
  OptionalInt upper = promised.upper();
  if (ends) upper = Int(members.back());
  const Interval range = Interval::of(Int(members.front()), upper);
  const int64_t end = ends ? members.back() : last;
  const int64_t tail = ends ? members.front() : std::max(start, least);
  const int64_t most =
      ends ? std::max<int64_t>(1, (end - tail + 1) / 2) : period;
  std::optional<Pattern> excluding;  // the first that needs exclusions
  for (int64_t modulus = 1; modulus <= std::min(most, fixed::size_period);
       ++modulus) {
    if (!ends && period % modulus != 0) continue;
    Pattern pattern(set, members.front(), end, modulus, tail);
    if (pattern.is_plain()) {
      return pattern_lines(pattern, name, range, wanted);
    }
    if (pattern.is_exact() && !excluding) excluding = pattern;
  }
  const bool is_list_shorter =
      ends && members.size() <= fixed::listed_sizes &&
      (!excluding || members.size() <= excluding->excluded().size() + 2);
  if (is_list_shorter) return {name + " in " + listed(members)};
  if (!excluding) return {};
  return pattern_lines(*excluding, name, range, wanted);
}

}  // namespace

std::vector<std::string> describe(const SizeSet& set, const std::string& name,
                                  const PromisedSizes& wanted) {
  uint64_t units = fixed::size_set_units;
  return within(units, [&] { return lines_for(set, name, wanted); })
      .value_or(std::vector<std::string>());
}

}  // namespace proviso::inline v0_2
