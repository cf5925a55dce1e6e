#include "tracer_adapter/fake/sym_node.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <typeinfo>
#include <utility>
#include <vector>

#include "sym/canonical.h"
#include "sym/excerpt.h"
#include "sym/find_node.h"
#include "sym/print.h"
#include "tracer_adapter/fake/fake_tensor.h"
#include "tracer_adapter/fake/float_ratio.h"
#include "tracer_adapter/fake/zero_division.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso::inline v0_2 {
namespace {

// Doubles hold every integer up to here; beyond, eager arithmetic rounds and
// exact fractions would differ from it.
constexpr int64_t kExactInDouble = int64_t{1} << 53;

thread_local LocationHook location_hook;

// The tracer's environment owns itself; others are borrowed from the caller.
std::shared_ptr<ShapeEnv> owner_of(ShapeEnv& env) {
  Tracer* tracer = Tracer::current();
  if (tracer != nullptr && &tracer->env() == &env) return tracer->shared_env();
  return {std::shared_ptr<void>(), &env};
}

Expr as_int(ExprPool& pool, Expr e) {
  return e.is_bool() ? where(e, pool.integer(1), pool.integer(0)) : e;
}

Expr as_float(ExprPool& pool, Expr e) {
  e = as_int(pool, e);
  return e.is_float() ? e : pool.make(Op::kToFloat, {e});
}

// Both of one type: booleans count as 0 and 1, integers become floats.
std::pair<Expr, Expr> alike(ExprPool& pool, Expr a, Expr b) {
  if (a.type() == b.type()) return {a, b};
  a = as_int(pool, a);
  b = as_int(pool, b);
  if (a.type() == b.type()) return {a, b};
  return {as_float(pool, a), as_float(pool, b)};
}

bool is_backed(Expr e) {
  for (Expr symbol : free_symbols(e))
    if (is_unbacked(symbol.symbol().kind)) return false;
  return true;
}

// A condition that eager's own arithmetic needs: the program checks it when it
// runs.  A Dim need not promise what is checked of sizes of inputs.
void check_when_run(ShapeEnv& env, Expr condition, const std::string& message) {
  SourceLocation where = current_location();
  if (where.file.empty() && where.code.empty())
    where.code = "arithmetic on sizes";
  if (Tracer* tracer = Tracer::current(); tracer && is_backed(condition))
    tracer->add_check({condition, where, message});
  else if (!env.statically_known_true(condition))
    env.runtime_assert(condition, where, message);
}

// Eager computes this integer as a double: assert that it is the same number.
void assert_exact_in_double(ShapeEnv& env, Expr e) {
  if (!e.is_int() || e.is_constant()) return;
  static const Interval kExact(-kExactInDouble, kExactInDouble);
  if (kExact.contains(env.bounds(e))) return;
  check_when_run(env, le(e, kExactInDouble), "exact as a double");
  check_when_run(env, ge(e, -kExactInDouble), "exact as a double");
}

Expr zero_like(Expr e) {
  return e.is_float() ? e.pool().rational(Rational(Int(0)))
                      : e.pool().integer(0);
}

// x ** y: 0 has no negative power, and what is negative only whole ones.
Expr has_power(Expr x, Expr y) {
  const Expr zero = zero_like(x);
  const Expr not_zero = logical_or(ne(x, zero), le(zero_like(y), y));
  if (!y.is_float()) return not_zero;
  const Expr floor = y.pool().make(Op::kFloorToInt, {y});
  const Expr whole = eq(y, y.pool().make(Op::kToFloat, {floor}));
  return logical_and(not_zero, logical_or(le(zero, x), whole));
}

// A float from outside may be NaN, of which functions give NaN and comparisons
// say no.
bool may_be_nan(Expr e) {
  for (Expr symbol : free_symbols(e))
    if (symbol.is_float()) return true;
  return false;
}

// Where Python gives op(args) and does not raise; null for everywhere, and
// where no comparison can say it.
Expr defined_when(Op op, std::span<const Expr> args) {
  const auto number = [&](int value) {
    return args[0].pool().rational(Rational(Int(value)));
  };
  switch (op) {
    case Op::kFloorDiv:
    case Op::kMod:
    case Op::kPythonMod:
    case Op::kIntTrueDiv:
    case Op::kFloatTrueDiv: return ne(args[1], zero_like(args[1]));
    case Op::kLShift:
    case Op::kRShift: return ge(args[1], 0);
    default: break;
  }
  if (std::any_of(args.begin(), args.end(), may_be_nan)) return {};
  switch (op) {
    case Op::kPow:
    case Op::kFloatPow: return has_power(args[0], args[1]);
    case Op::kSqrt: return le(number(0), args[0]);
    case Op::kLog2: return lt(number(0), args[0]);
    case Op::kAsin:
    case Op::kAcos:
      return logical_and(le(number(-1), args[0]), le(args[0], number(1)));
    default: return {};
  }
}

bool divides(Op op) {
  return op == Op::kFloorDiv || op == Op::kMod || op == Op::kPythonMod ||
         op == Op::kIntTrueDiv || op == Op::kFloatTrueDiv;
}

// The check outlives the operation, which may be simplified away: u0//u0 is 1,
// and raises for 0.
void require_defined(ShapeEnv& env, Op op, std::span<const Expr> args) {
  Expr condition = defined_when(op, args);
  if (!condition) return;
  condition = proviso::canonical(condition);
  if (condition.is_true()) return;
  const std::optional<Value> example = env.hint(condition);
  const bool never = env.statically_known_false(condition);
  if (never || (example && !std::get<bool>(*example))) {
    // The program may catch the error: then it is a branch.
    if (!never) env.guard_bool(condition, current_location(__FILE__, __LINE__));
    const std::string call =
        to_string(env.pool().make(op, args), internal::kMessageLength);
    const c10::SourceLocation here{__func__, __FILE__, __LINE__};
    if (divides(op))
      throw ZeroDivisionError(here, "Proviso: division by zero: " + call);
    throw c10::ValueError(
        here, "Proviso: math domain error: " + call + " is undefined");
  }
  check_when_run(env, condition,
                 divides(op) ? "division by zero" : "math domain error");
}

// Eager computes it: a program that catches the error takes another way.
[[noreturn]] void not_traced(const std::string& what) {
  if (Tracer* tracer = Tracer::current()) tracer->note_refusal(what);
  TORCH_CHECK_NOT_IMPLEMENTED(false, "Proviso: ", what);
}

Expr float_constant(ExprPool& pool, double value) {
  std::optional<Rational> exact = Rational::from_double(value);
  // Rational numbers have one zero, and x / -0.0 is -inf.
  const bool negative_zero = value == 0 && std::signbit(value);
  TORCH_CHECK(exact.has_value() && !negative_zero, "Proviso: SymFloat: ", value,
              " has no place in a symbolic expression; test for it before "
              "computing with sizes");
  return pool.rational(*exact);
}

int64_t fits(const Int& value, const std::string& what) {
  std::optional<int64_t> small = value.to_int64();
  TORCH_CHECK(small.has_value(), "Proviso: ", what, " is ", value.to_string(),
              ", which does not fit in 64 bits");
  return *small;
}

// ATen's operators ask so which of two right ways to go.  Where the example
// agrees with `otherwise`, that way costs no guard and no assumption.
bool choose(ShapeEnv& env, Expr condition, bool otherwise,
            const SourceLocation& where) {
  const std::optional<Value> sample = env.hint(condition);
  if (sample && std::get<bool>(*sample) == otherwise) return otherwise;
  return otherwise ? env.guard_or_true(condition, where)
                   : env.guard_or_false(condition, where);
}

std::vector<c10::SymInt> sym_ints(c10::ArrayRef<c10::SymNode> nodes) {
  std::vector<c10::SymInt> result;
  result.reserve(nodes.size());
  for (const c10::SymNode& node : nodes) {
    SymNode* ours = as_sym_node(node.get());
    TORCH_CHECK(ours != nullptr,
                "Proviso: a size is a foreign symbolic "
                "number, ",
                node->str());
    result.push_back(to_sym_int(ours->env(), ours->expr()));
  }
  return result;
}

}  // namespace

SymNode::SymNode(std::shared_ptr<ShapeEnv> env, Expr expr)
    : env_(std::move(env)), raw_(expr), current_(expr) {}

Expr SymNode::expr() const {
  // Replacements only ever grow, so their number tells whether there is news.
  if (const size_t version = env_->replacements().size(); version != version_) {
    current_ = env_->simplify(raw_);
    version_ = version;
  }
  return current_;
}

c10::SymNode SymNode::wrap(Expr e) const {
  return c10::make_intrusive<SymNode>(env_, proviso::canonical(e));
}

c10::SymNode SymNode::apply(Op op, std::initializer_list<Expr> args) const {
  require_defined(*env_, op, {args.begin(), args.size()});
  return wrap(env_->pool().make(op, args));
}

namespace {
void check_not_ragged(const c10::SymNode& node) {
  TORCH_CHECK(!node->is_nested_int(), "Proviso: ", node->str(),
              " is the ragged size of a nested tensor, one number a row; an "
              "exported program has no such size: pad the tensor "
              "(torch.nested.to_padded_tensor), or take the sizes of its "
              "values() and offsets()");
}
}  // namespace

Expr SymNode::operand(const c10::SymNode& other) const {
  SymNode* node = as_sym_node(other.get());
  if (node != nullptr) {
    TORCH_CHECK(node->env_.get() == env_.get(), "Proviso: ", node->str(),
                " belongs to another trace; a symbolic number cannot be used "
                "outside of the trace that made it");
    return node->expr();
  }
  if (std::optional<int64_t> value = other->maybe_as_int())
    return env_->pool().integer(*value);
  check_not_ragged(other);
  TORCH_CHECK(false, "Proviso: ", other->str(),
              " is a symbolic number of another tracer; it cannot be mixed "
              "with ",
              const_cast<SymNode*>(this)->str());
}

// --- arithmetic

c10::SymNode SymNode::add(const c10::SymNode& other) {
  ExprPool& pool = env_->pool();
  return wrap(as_int(pool, expr()) + as_int(pool, operand(other)));
}

c10::SymNode SymNode::sub(const c10::SymNode& other) {
  ExprPool& pool = env_->pool();
  return wrap(as_int(pool, expr()) - as_int(pool, operand(other)));
}

c10::SymNode SymNode::mul(const c10::SymNode& other) {
  ExprPool& pool = env_->pool();
  return wrap(as_int(pool, expr()) * as_int(pool, operand(other)));
}

c10::SymNode SymNode::truediv(const c10::SymNode& other) {
  return is_float() || operand(other).is_float() ? float_truediv(other)
                                                 : int_truediv(other);
}

c10::SymNode SymNode::float_truediv(const c10::SymNode& other) {
  ExprPool& pool = env_->pool();
  return apply(Op::kFloatTrueDiv,
               {as_float(pool, expr()), as_float(pool, operand(other))});
}

c10::SymNode SymNode::int_truediv(const c10::SymNode& other) {
  ExprPool& pool = env_->pool();
  const Expr a = as_int(pool, expr());
  const Expr b = as_int(pool, operand(other));
  assert_exact_in_double(*env_, a);
  assert_exact_in_double(*env_, b);
  return apply(Op::kIntTrueDiv, {a, b});
}

c10::SymNode SymNode::pow(const c10::SymNode& other) {
  const Expr exponent = operand(other);
  if (is_float() || exponent.is_float()) return float_pow(other);
  if (exponent.maybe_int64().value_or(-1) >= 0) return pow_by_natural(other);
  return apply(Op::kPow, {expr(), exponent});
}

c10::SymNode SymNode::float_pow(const c10::SymNode& other) {
  ExprPool& pool = env_->pool();
  return apply(Op::kFloatPow,
               {as_float(pool, expr()), as_float(pool, operand(other))});
}

c10::SymNode SymNode::pow_by_natural(const c10::SymNode& other) {
  return apply(Op::kPowByNatural, {expr(), operand(other)});
}

c10::SymNode SymNode::floordiv(const c10::SymNode& other) {
  ExprPool& pool = env_->pool();
  const Expr a = as_int(pool, expr());
  const Expr b = as_int(pool, operand(other));
  // Python's 1.0 // 0.1 is 9.0, and floor(1.0 / 0.1) is 10.
  if (!a.is_int() || !b.is_int()) {
    if (const auto parts = in_parts(a, b)) {
      assert_exact_in_double(*env_, parts->a);
      return wrap(pool.make(Op::kToFloat, {floor_div(parts->a, parts->b)}));
    }
    not_traced(str() + " // " + other->str() +
               ": the floored quotient of symbolic floats is not supported; "
               "take it of integers, or write math.floor(a / b), which rounds "
               "a / b first");
  }
  return apply(Op::kFloorDiv, {a, b});
}

c10::SymNode SymNode::int_floordiv(const c10::SymNode& other) {
  return floordiv(other);
}

c10::SymNode SymNode::mod(const c10::SymNode& other) {
  ExprPool& pool = env_->pool();
  const Expr a = as_int(pool, expr());
  const Expr b = as_int(pool, operand(other));
  if (!a.is_int() || !b.is_int()) {
    if (const auto parts = in_parts(a, b)) {
      assert_exact_in_double(*env_, parts->a);
      const Expr rest = pool.make(Op::kPythonMod, {parts->a, parts->b});
      return wrap(
          pool.make(Op::kIntTrueDiv, {rest, pool.integer(parts->divisor)}));
    }
    not_traced(str() + " % " + other->str() +
               ": the remainder of symbolic floats is not supported; take it "
               "of integers");
  }
  const Interval divisor = env_->bounds(b);
  const Interval value = env_->bounds(a);
  const bool natural = value.lower() && *value.lower() >= Int(0) &&
                       divisor.lower() && *divisor.lower() >= Int(1);
  return apply(natural ? Op::kMod : Op::kPythonMod, {a, b});
}

c10::SymNode SymNode::sym_min(const c10::SymNode& other) {
  const auto [a, b] = alike(env_->pool(), expr(), operand(other));
  return wrap(proviso::min(a, b));
}

c10::SymNode SymNode::sym_max(const c10::SymNode& other) {
  const auto [a, b] = alike(env_->pool(), expr(), operand(other));
  return wrap(proviso::max(a, b));
}

c10::SymNode SymNode::neg() { return wrap(-as_int(env_->pool(), expr())); }

c10::SymNode SymNode::ceil() {
  return is_float() ? apply(Op::kCeilToInt, {expr()}) : clone();
}

c10::SymNode SymNode::floor() {
  return is_float() ? apply(Op::kFloorToInt, {expr()}) : clone();
}

c10::SymNode SymNode::sym_float() {
  assert_exact_in_double(*env_, expr());
  return wrap(as_float(env_->pool(), expr()));
}

// Nothing about a node changes but what is known of it: one serves all copies
// of a tensor's sizes.
c10::SymNode SymNode::clone() { return c10::SymNode::reclaim_copy(this); }

// --- relations and logic

#define PROVISO_RELATION(name, function)                             \
  c10::SymNode SymNode::name(const c10::SymNode& other) {            \
    const auto [a, b] = alike(env_->pool(), expr(), operand(other)); \
    return wrap(function(a, b));                                     \
  }
PROVISO_RELATION(eq, proviso::eq)
PROVISO_RELATION(ne, proviso::ne)
PROVISO_RELATION(lt, proviso::lt)
PROVISO_RELATION(le, proviso::le)
PROVISO_RELATION(gt, proviso::gt)
PROVISO_RELATION(ge, proviso::ge)
#undef PROVISO_RELATION

c10::SymNode SymNode::sym_or(const c10::SymNode& other) {
  return wrap(logical_or(expr(), operand(other)));
}

c10::SymNode SymNode::sym_and(const c10::SymNode& other) {
  return wrap(logical_and(expr(), operand(other)));
}

c10::SymNode SymNode::sym_not() { return wrap(logical_not(expr())); }

c10::SymNode SymNode::sym_ite(const c10::SymNode& then_value,
                              const c10::SymNode& else_value) {
  const auto [a, b] =
      alike(env_->pool(), operand(then_value), operand(else_value));
  return wrap(proviso::where(expr(), a, b));
}

// --- layout of whole tensors: what is known, without a guard

c10::SymNode SymNode::is_contiguous(c10::ArrayRef<c10::SymNode> sizes,
                                    c10::ArrayRef<c10::SymNode> strides) {
  return wrap_bool(known_contiguous(sym_ints(sizes), sym_ints(strides)));
}

c10::SymNode SymNode::is_channels_last_contiguous_2d(
    c10::ArrayRef<c10::SymNode> sizes, c10::ArrayRef<c10::SymNode> strides) {
  return wrap_bool(known_contiguous(sym_ints(sizes), sym_ints(strides),
                                    at::MemoryFormat::ChannelsLast));
}

c10::SymNode SymNode::is_channels_last_contiguous_3d(
    c10::ArrayRef<c10::SymNode> sizes, c10::ArrayRef<c10::SymNode> strides) {
  return wrap_bool(known_contiguous(sym_ints(sizes), sym_ints(strides),
                                    at::MemoryFormat::ChannelsLast3d));
}

c10::SymNode SymNode::is_channels_last_strides_2d(
    c10::ArrayRef<c10::SymNode> sizes, c10::ArrayRef<c10::SymNode> strides) {
  return is_channels_last_contiguous_2d(sizes, strides);
}

c10::SymNode SymNode::is_channels_last_strides_3d(
    c10::ArrayRef<c10::SymNode> sizes, c10::ArrayRef<c10::SymNode> strides) {
  return is_channels_last_contiguous_3d(sizes, strides);
}

c10::SymNode SymNode::is_non_overlapping_and_dense(
    c10::ArrayRef<c10::SymNode> sizes, c10::ArrayRef<c10::SymNode> strides) {
  return wrap_bool(known_dense(sym_ints(sizes), sym_ints(strides)));
}

// --- constants

c10::SymNode SymNode::wrap_int(int64_t value) {
  return c10::make_intrusive<SymNode>(env_, env_->pool().integer(value));
}

c10::SymNode SymNode::wrap_float(double value) {
  return c10::make_intrusive<SymNode>(env_,
                                      float_constant(env_->pool(), value));
}

c10::SymNode SymNode::wrap_bool(bool value) {
  return c10::make_intrusive<SymNode>(env_, env_->pool().boolean(value));
}

std::optional<int64_t> SymNode::constant_int() {
  const Expr e = expr();
  if (!e.is(Op::kInteger)) return std::nullopt;
  return e.integer().to_int64();
}

std::optional<bool> SymNode::constant_bool() {
  if (!is_bool() || !expr().is_constant()) return std::nullopt;
  return expr().is_true();
}

// --- questions

namespace {
// A program that catches the error takes a way that eager does not.
template <typename Ask>
auto or_refusal(const Ask& ask) {
  try {
    return ask();
  } catch (const DataDependentError& error) {
    if (Tracer* tracer = Tracer::current()) tracer->note_refusal(error.what());
    throw;
  }
}

// Max(0, s0 - 1) or Min(s0, 2): the length of x[1:] or x[:2].
bool is_length(Expr e) {
  const Tracer* tracer = Tracer::current();
  return (e.is(Op::kMax) || e.is(Op::kMin)) && e.args().size() == 2 &&
         tracer != nullptr && tracer->is_length(e);
}

// e with the arms of lengths that the example has, which are theirs where the
// orders hold.
struct OfExample {
  Expr e;
  std::vector<Expr> orders;
};

OfExample arms_of_example(ShapeEnv& env, Expr e) {
  OfExample found{e, {}};
  while (const Expr length = internal::find_node(found.e, is_length)) {
    const Expr a = length.arg(0), b = length.arg(1);
    const auto with = [&](Expr arm) {
      return proviso::canonical(substitute(found.e, {{length, arm}}));
    };
    const std::optional<Value> below = env.hint(le(a, b)),
                               above = env.hint(le(b, a));
    if (!below || !above) break;
    bool ascends = *below == Value(true);
    // Of equal arms that which answers the question by itself.
    if (ascends && *above == Value(true) && found.e.is_bool())
      ascends = !env.statically_known_true(with(length.is(Op::kMin) ? b : a));
    found.orders.push_back(ascends ? le(a, b) : le(b, a));
    found.e = with(ascends == length.is(Op::kMin) ? a : b);
  }
  return found;
}

// Whether all are true where the condition is, as far as sizes are assumed.
bool follows(ShapeEnv& env, std::span<const Expr> all, Expr condition) {
  Context& context = env.context();
  const Scope scope(context);
  context.assume(condition);
  return std::all_of(all.begin(), all.end(), [&](Expr one) {
    return context.ask_quick(one) == Verdict::kYes;
  });
}

// Where the length of a slice is compared with another size: x + y[1:] asks
// s0 == s1 - 1, and not s0 == Max(0, s1 - 1), which says nothing of s1 by s0;
// x + y[:s0] asks s0 <= s1, and not s0 == Min(s0, s1).  x[:3] + y[:3] asks
// Min(s0, 3) == Min(s1, 3), and not whether both have three.
Expr settled_question(ShapeEnv& env, Expr condition, const char* file,
                      int64_t line) {
  if (!condition.is(Op::kEq) || !internal::find_node(condition, is_length) ||
      env.statically_known_true(condition))
    return condition;
  const OfExample found = arms_of_example(env, condition);
  const auto ask_orders = [&] {
    for (Expr order : found.orders)
      env.guard_bool(order, current_location(file, line));
    return found.e;
  };
  if (found.e.is_constant()) {
    const bool is_same =
        found.e.is_true() && follows(env, found.orders, condition);
    return is_same ? ask_orders() : condition;
  }
  return free_symbols(condition).size() < 2 ? condition : ask_orders();
}
}  // namespace

Expr settled_lengths(ShapeEnv& env, Expr e, const SourceLocation& where) {
  const OfExample found = arms_of_example(env, e);
  for (Expr order : found.orders) env.guard_bool(order, where);
  return found.e;
}

int64_t SymNode::guard_int(const char* file, int64_t line) {
  if (is_bool()) return guard_bool(file, line);
  if (std::optional<int64_t> value = expr().maybe_int64()) return *value;
  return or_refusal([&] {
    return fits(env_->guard_int(expr(), current_location(file, line)), str());
  });
}

bool SymNode::guard_bool(const char* file, int64_t line) {
  if (expr().is_bool() && expr().is_constant()) return expr().is_true();
  const Expr question =
      is_bool()  ? settled_question(*env_, expr(), file, line)
      : is_int() ? proviso::ne(expr(), 0)
                 : proviso::ne(expr(), env_->pool().rational(Int(0)));
  return or_refusal(
      [&] { return env_->guard_bool(question, current_location(file, line)); });
}

double SymNode::guard_float(const char* file, int64_t line) {
  return or_refusal(
      [&] { return env_->guard_float(expr(), current_location(file, line)); });
}

bool SymNode::guard_size_oblivious(const char* file, int64_t line) {
  return env_->guard_size_oblivious(expr(), current_location(file, line));
}

bool SymNode::guard_or_false(const char* file, int64_t line) {
  return choose(*env_, expr(), false, current_location(file, line));
}

bool SymNode::guard_or_true(const char* file, int64_t line) {
  return choose(*env_, expr(), true, current_location(file, line));
}

bool SymNode::statically_known_true(const char*, int64_t) {
  return env_->statically_known_true(expr());
}

bool SymNode::expect_true(const char* file, int64_t line) {
  const Expr condition = settled_question(*env_, expr(), file, line);
  return env_->expect_true(condition, current_location(file, line));
}

bool SymNode::has_hint() { return env_->hint(expr()).has_value(); }

std::string SymNode::str() { return to_string(expr()); }

// --- conversions

SymNodeHooks& sym_node_hooks() {
  static SymNodeHooks hooks;
  return hooks;
}

SymNode* as_sym_node(c10::SymNodeImpl* node) {
  if (node == nullptr) return nullptr;
  if (typeid(*node) == typeid(SymNode)) return static_cast<SymNode*>(node);
  return sym_node_hooks().unwrap ? sym_node_hooks().unwrap(node) : nullptr;
}

c10::SymNode make_sym_node(ShapeEnv& env, Expr e) {
  TORCH_CHECK(e, "Proviso: a symbolic number of a null expression");
  TORCH_CHECK(&e.pool() == &env.pool(), "Proviso: ", to_string(e),
              " belongs to another trace; a symbolic number cannot be used "
              "outside of the trace that made it");
  return c10::make_intrusive<SymNode>(owner_of(env), e);
}

namespace {
c10::SymNode wrapped(c10::SymNode node) {
  return sym_node_hooks().wrap ? sym_node_hooks().wrap(std::move(node)) : node;
}
}  // namespace

c10::SymInt to_sym_int(ShapeEnv& env, Expr e) {
  TORCH_CHECK(e, "Proviso: a size of a null expression");
  if (std::optional<int64_t> value = e.maybe_int64()) return *value;
  if (e.is_constant())
    return fits(e.is_int() ? e.integer() : Int(e.is_true()), to_string(e));
  return c10::SymInt(make_sym_node(env, e));
}

c10::SymBool to_sym_bool(ShapeEnv& env, Expr e) {
  if (e.is_constant()) return e.is_true();
  return c10::SymBool(wrapped(make_sym_node(env, e)));
}

c10::SymFloat to_sym_float(ShapeEnv& env, Expr e) {
  if (e.is(Op::kRational)) return e.rational().to_double();
  if (e.is(Op::kInteger)) return e.integer().to_double();
  return c10::SymFloat(wrapped(make_sym_node(env, e)));
}

namespace {
Expr expr_of(ShapeEnv& env, const c10::SymNode& node) {
  SymNode* ours = as_sym_node(node.get());
  if (ours == nullptr) check_not_ragged(node);
  TORCH_CHECK(ours != nullptr, "Proviso: ", node->str(),
              " is a symbolic number of another tracer");
  TORCH_CHECK(&ours->env() == &env, "Proviso: ", ours->str(),
              " belongs to another trace; a symbolic number cannot be used "
              "outside of the trace that made it");
  return ours->expr();
}
}  // namespace

Expr to_expr(ShapeEnv& env, const c10::SymInt& value) {
  if (!value.is_heap_allocated())
    return env.pool().integer(value.as_int_unchecked());
  return expr_of(env, value.toSymNode());
}

Expr to_expr(ShapeEnv& env, const c10::SymBool& value) {
  if (!value.is_heap_allocated())
    return env.pool().boolean(value.as_bool_unchecked());
  return expr_of(env, value.toSymNodeImpl());
}

Expr to_expr(ShapeEnv& env, const c10::SymFloat& value) {
  if (!value.is_symbolic())
    return float_constant(env.pool(), value.as_float_unchecked());
  return expr_of(env, value.toSymNodeImpl());
}

std::vector<Expr> to_exprs(ShapeEnv& env, c10::SymIntArrayRef values) {
  std::vector<Expr> result;
  result.reserve(values.size());
  for (const c10::SymInt& value : values) result.push_back(to_expr(env, value));
  return result;
}

void SizeProduct::operator*=(const c10::SymInt& factor) {
  if (const std::optional<int64_t> constant = factor.maybe_as_int()) {
    TORCH_CHECK(!__builtin_mul_overflow(times_, *constant, &times_),
                "Storage size calculation overflowed: a product of sizes or "
                "strides does not fit into 64 bits");
    return;
  }
  SymNode* node = as_sym_node(factor.toSymNodeImplUnowned());
  TORCH_CHECK(node != nullptr, "Proviso: a size is a foreign symbolic number");
  symbols_ = env_ ? canonical(symbols_ * node->expr()) : node->expr();
  env_ = &node->env();
}

bool SizeProduct::is(const c10::SymInt& number) const {
  if (const std::optional<int64_t> constant = number.maybe_as_int()) {
    return env_ == nullptr && *constant == times_;
  }
  if (env_ == nullptr) return false;
  const Expr product = times_ == 1 ? symbols_ : canonical(symbols_ * times_);
  const Expr e = to_expr(*env_, number);
  return product == e || env_->simplify(product) == e;
}

c10::SymInt SizeProduct::value() const {
  if (env_ == nullptr) return times_;
  return to_sym_int(*env_,
                    times_ == 1 ? symbols_ : canonical(symbols_ * times_));
}

// --- where the program stands

LocationHook set_location_hook(LocationHook hook) {
  return std::exchange(location_hook, std::move(hook));
}

SourceLocation current_location(const char* file, int64_t line) {
  if (location_hook) {
    SourceLocation where = location_hook();
    if (!where.file.empty() || !where.code.empty()) return where;
  }
  return {file, static_cast<int>(line), ""};
}

}  // namespace proviso::inline v0_2
