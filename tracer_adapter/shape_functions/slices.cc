// tracer_adapter/shape_functions/slices.cc - parts of a dimension: an index,
// and slices, whose length is a size of the example only where something asks.
//
//   y = x[:3]           Min(s0, 3) rows: no size is refused
//   return y + z[:3]    Min(s0, 3) == Min(s1, 3) is asked: n = m = 1 will do
//   x[:m]               Min(s0, s1) rows, in either order; x[:m] + y of m rows
//                       asks m <= s0, as torch.export asks it at once
//
// A bound counts from the end or not, is clamped into [0, size], and the length
// lies between the two.  Each of these compares two sizes.  Where the
// comparison is about two symbols at most, or holds from 2 on, it stays open:
// the length is then a Min or a Max, which the tracer notes, and
// fake/sym_node.cc asks for the arm that the example takes when a question
// needs it.
#include <algorithm>
#include <limits>

#include "sym/canonical.h"
#include "sym/find_node.h"
#include "tracer_adapter/fake/sym_node.h"
#include "tracer_adapter/shape_functions/view_layout.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso::inline v0_2::shapes {

std::optional<bool> less(const SymInt& a, const SymInt& b) {
  c10::SymBool yes = a.sym_lt(b);
  if (auto value = yes.maybe_as_bool()) return *value;
  if (yes.has_hint()) return yes.guard_bool(__FILE__, __LINE__);
  if (known(yes)) return true;
  if (known(a.sym_ge(b))) return false;
  return std::nullopt;
}

namespace {

// Whether a guard about this size alone is false at the point.
bool is_excluded(ShapeEnv& env, Expr size, const Assignment& point) {
  const std::vector<Expr> alone{size};
  const std::vector<Guard>& guards = env.guards();
  return std::any_of(guards.begin(), guards.end(), [&](const Guard& guard) {
    return free_symbols(guard.condition) == alone &&
           evaluate(guard.condition, point).is_false();
  });
}

// Whether the condition is false of some sizes 0 and 1 that an input may have:
// of one, the other sizes being the example's, or of all at their least.
bool may_fail_below_two(ShapeEnv& env, Expr condition) {
  std::vector<Expr> sizes;
  Assignment example;
  for (Expr s : free_symbols(condition)) {
    const std::optional<Value> hint = env.hint(s);
    if (!hint) return false;
    example.set(s, *hint);
    if (s.symbol().kind == SymbolKind::kBackedSize) sizes.push_back(s);
  }
  const auto least_of = [&](Expr s) {
    Int least = 0;
    for (const InputDim& dim : env.input_dims())
      if (dim.expr == s)
        least = std::max(least, dim.constraint.min.value_or(0));
    return least;
  };
  Assignment lowest = example;
  for (Expr s : sizes)
    for (Int n = 1; n >= least_of(s); n = n - Int(1)) {
      Assignment point = example;
      point.set(s, n);
      if (is_excluded(env, s, point)) continue;
      if (evaluate(condition, point).is_false()) return true;
      lowest.set(s, n);
    }
  return evaluate(condition, lowest).is_false();
}

// Whether the condition holds where sizes are at least 2, and not where one is
// 0 or 1.  The question costs nothing: no assumption counts as used.
bool holds_from_two_on(ShapeEnv& env, Expr condition) {
  if (!may_fail_below_two(env, condition)) return false;
  Context& context = env.context();
  if (context.ask_quick(condition) == Verdict::kYes) return true;
  std::vector<Expr> small;
  for (Expr s : free_symbols(condition))
    if (s.symbol().kind == SymbolKind::kBackedSize &&
        env.bounds(s).lower().value_or(Int(0)) < Int(2))
      small.push_back(s);
  if (small.empty()) return false;
  const Scope scope(context);
  for (Expr s : small) context.assume(ge(s, 2));
  return context.ask_quick(condition) == Verdict::kYes;
}

// Whether a <= b, which the example's sizes satisfy, is not asked: a length
// says for all sizes what it is where one or two sizes decide, and where it is
// known from 2 on.
bool stays_open(const SymInt& a, const SymInt& b) {
  if (constant(a) && constant(b)) return false;
  ShapeEnv& env = Tracer::current()->env();
  // A constant below -2**62 has a node that is not ours.
  const auto expr_of = [&](const SymInt& n) {
    const auto known = constant(n);
    return known ? env.pool().integer(*known) : to_expr(env, n);
  };
  const Expr condition = canonical(le(expr_of(a), expr_of(b)));
  if (condition.is_constant()) return false;
  if (free_symbols(condition).size() <= 2 && env.is_open(condition))
    return true;
  return holds_from_two_on(env, condition);
}

// true where a <= b, false where b <= a; else as less(), and where that stays
// open: then both stay, and a guard says more when something asks for it.  The
// guard leaves equal sizes free: either answer is right.  Where both hold, the
// other is not asked: that it is refuted would have to hold of every input.
std::optional<bool> ordered(const SymInt& a, const SymInt& b) {
  auto x = hint_of(a), y = hint_of(b);
  if (!x || !y) {
    if (known_less_equal(a, b)) return true;
    if (known_less_equal(b, a)) return false;
    return std::nullopt;
  }
  const bool ascends = *x <= *y;
  if (*x == *y && known_less_equal(b, a)) return false;
  if (ascends ? stays_open(a, b) : stays_open(b, a)) return std::nullopt;
  return expect(ascends ? a.sym_le(b) : b.sym_le(a)) == ascends;
}

SymInt noted_length(const SymInt& length) {
  Tracer* tracer = Tracer::current();
  if (!constant(length)) tracer->note_length(to_expr(tracer->env(), length));
  return length;
}

SymInt at_most(const SymInt& a, const SymInt& b) {
  auto ascends = ordered(a, b);
  return !ascends ? noted_length(a.min(b)) : *ascends ? a : b;
}

SymInt not_negative(const SymInt& a) {
  auto ascends = ordered(0, a);
  return !ascends ? noted_length(a.max(0)) : *ascends ? a : SymInt(0);
}

// Whether a bound counts from the end.  0 does not, and of no rows both ways
// are one: x.flatten()[:-n] of 4*n elements needs no n > 0.
std::optional<bool> counts_from_end(const SymInt& bound, const SymInt& size) {
  if (!constant(bound) && hint_of(bound).value_or(0) < 0 &&
      known(bound.sym_lt(0).sym_or(size.sym_eq(0))))
    return true;
  return less(bound, 0);
}

// Python's clamping of a slice bound into [0, size]; nullopt when data decides
// from which end it counts.
std::optional<SymInt> clamp_bound(const SymInt& bound, const SymInt& size) {
  auto negative = counts_from_end(bound, size);
  if (!negative) return std::nullopt;
  return *negative ? not_negative(bound + size) : at_most(bound, size);
}

// The same of an end, which may stay below 0: no step reaches it.
std::optional<SymInt> clamp_end(const SymInt& bound, const SymInt& size) {
  auto negative = counts_from_end(bound, size);
  if (!negative) return std::nullopt;
  return *negative ? bound + size : at_most(bound, size);
}

// How many of low, low + step, ... lie below high: ceil((high - low) / step),
// or none.  The quotient is 0 already where high - low > -step.
SymInt steps_between(const SymInt& low, const SymInt& high,
                     const SymInt& step) {
  const SymInt width = high - low;
  const auto by = constant(step), example = hint_of(width);
  if (by == 1) return not_negative(width);
  if (!by || !example || *example < 0 || stays_open(1 - *by, width))
    return ceil_div(not_negative(width), step);
  expect(width.sym_gt(-*by));
  return ceil_div(width, step);
}

// A slice of a slice of a slice does not keep all of its lengths.
SymInt settled(const SymInt& size) {
  if (constant(size)) return size;
  ShapeEnv& env = Tracer::current()->env();
  const Expr length = to_expr(env, size);
  int extrema = 0;
  internal::find_node(length, [&](Expr e) {
    extrema += e.is(Op::kMin) || e.is(Op::kMax);
    return extrema > 1;
  });
  if (extrema < 2) return size;
  const Expr result =
      settled_lengths(env, length, current_location(__FILE__, __LINE__));
  return result == length ? size : to_sym_int(env, result);
}

// The same of a start before it was clamped to `low`: x[2:] has max(s - 2, 0)
// elements, x[-2:] min(s, 2), as short as they can be written.
SymInt length_between(const std::optional<SymInt>& begin, const SymInt& low,
                      const SymInt& high, const SymInt& size,
                      const SymInt& step) {
  const auto start = begin ? constant(*begin) : 0;
  if (!start || constant(low)) return steps_between(low, high, step);
  if (*start >= 0) return steps_between(*start, high, step);
  if (!high.is_same(size)) return steps_between(low, high, step);
  return steps_between(0, at_most(-*start, size), step);
}

// Where an index begins to count is by its sign, and the operator looks at that
// when it runs: the sign of the example chooses the offset and nothing else.
// nullopt when the index depends on data.
std::optional<SymInt> place_of(const SymInt& index, const SymInt& size) {
  const auto example = hint_of(index);
  if (example && !constant(index))
    add_layout_condition(*example < 0 ? index.sym_lt(0) : index.sym_ge(0));
  const auto negative =
      example ? std::optional<bool>(*example < 0) : less(index, 0);
  if (!negative) return std::nullopt;
  return *negative ? index + size : index;
}

// Some number in [0, most] that data decides.  `known_by` lends its session.
SymInt some_number(const SymInt& known_by, const SymInt& most) {
  SymNode* node = as_sym_node(known_by.toSymNodeImplUnowned());
  TORCH_CHECK(node != nullptr,
              "a data-dependent index must belong to the trace");
  ShapeEnv& env = node->env();
  auto limit = constant(most);
  Expr number = env.create_unbacked_int(limit ? Interval(0, *limit)
                                              : Interval::at_least(0));
  if (!limit) {
    env.know(le(number, to_expr(env, most)), "an index lies in its dimension");
  }
  return to_sym_int(env, number);
}

// Where t's part `place` begins.
SymInt offset_at(const Tensor& t, const SymInt& place, const SymInt& stride) {
  return plus(t.sym_storage_offset(), times(place, stride));
}

}  // namespace

Tensor select_at(const Tensor& t, int64_t dim, const SymInt& index) {
  TORCH_CHECK_INDEX(t.dim() > 0,
                    "select() cannot be applied to a 0-dim tensor.");
  dim = wrap_dim(dim, t.dim());
  Dims sizes = sizes_of(t), strides = strides_of(t);
  const SymInt& size = sizes[dim];
  auto in_range = [&](const c10::SymBool& ok) {
    if (auto value = ok.maybe_as_bool()) return *value;
    return ok.expect_true(__FILE__, __LINE__);
  };
  const std::optional<int64_t> given = constant(index);
  const bool ok = ((given && *given < 0) || in_range(index.sym_lt(size))) &&
                  ((given && *given >= 0) || in_range(index.sym_ge(-size)));
  TORCH_CHECK_INDEX(ok, "select(): index ", index,
                    " out of range for tensor of size ", to_text(t.sym_sizes()),
                    " at dimension ", dim);
  const auto place = place_of(index, size);
  SymInt offset =
      offset_at(t, place ? *place : not_negative(size - 1), strides[dim]);
  if (!place) offset = some_number(index, offset);
  sizes.erase(sizes.begin() + dim);
  strides.erase(strides.begin() + dim);
  return view_of(t, sizes, strides, offset);
}

SymInt stride_of_steps(const SymInt& stride, const SymInt& step) {
  const std::optional<int64_t> a = constant(stride), b = constant(step);
  int64_t product = 0;
  return a && b && __builtin_mul_overflow(*a, *b, &product) ? stride
                                                            : stride * step;
}

Tensor slice_of(const Tensor& t, int64_t dim,
                const std::optional<SymInt>& begin,
                const std::optional<SymInt>& end, const SymInt& step) {
  TORCH_CHECK(t.dim() > 0, "slice() cannot be applied to a 0-dim tensor.");
  TORCH_CHECK(expect(step.sym_gt(0)), "slice step must be positive");
  dim = wrap_dim(dim, t.dim());
  Dims sizes = sizes_of(t), strides = strides_of(t);
  SymInt size = settled(sizes[dim]);
  auto low = begin ? clamp_bound(*begin, size) : SymInt(0);
  bool to_the_end =
      !end || constant(*end) == std::numeric_limits<int64_t>::max();
  auto high = to_the_end ? size : clamp_end(*end, size);
  // Lengths and offsets of data are symbols: torch's loader finds them there.
  sizes[dim] = low && high
                   ? length_between(begin, *low, *high, size, step)
                   : some_number(low ? *end : *begin, ceil_div(size, step));
  SymInt offset = offset_at(t, low ? *low : size, strides[dim]);
  if (!low) offset = some_number(*begin, offset);
  strides[dim] = stride_of_steps(strides[dim], step);
  return view_of(t, sizes, strides, offset);
}

}  // namespace proviso::inline v0_2::shapes
