#include "guards/shape_env.h"

#include <cmath>

#include "guards/shape_env_impl.h"
#include "sym/print.h"
#include "sym/simplify.h"

namespace proviso::inline v0_2 {

namespace {

Interval promised_range(const DimConstraint& constraint) {
  const Int zero = 0;
  Int lower = constraint.min && *constraint.min > zero ? *constraint.min : zero;
  return Interval::of(lower, constraint.max);
}

std::string number_text(const OptionalInt& end, const char* otherwise) {
  return end ? end->to_string() : otherwise;
}

std::string dim_text(const DimConstraint& c) {
  return "Dim('" + c.name + "', min=" + number_text(c.min, "0") +
         ", max=" + number_text(c.max, "int_oo") + ")";
}

void check_static(int64_t hint, const std::string& source,
                  const DimConstraint& c) {
  if (c.min && c.max && *c.min == *c.max && *c.min != Int(hint)) {
    throw ConstraintViolationError("Static shape constraint of " +
                                   c.min->to_string() +
                                   " does not match input size of " +
                                   std::to_string(hint) + ", for " + source);
  }
}

void check_in_range(int64_t hint, const std::string& source,
                    const DimConstraint& c) {
  if (c.min && c.max && *c.min > *c.max) {
    throw Error("create_size: min " + c.min->to_string() +
                " is greater than max " + c.max->to_string() + " for " +
                source + "; give min <= max");
  }
  Interval range = promised_range(c);
  if (range.contains(Int(hint))) return;
  std::string name = c.name.empty() ? source : c.name + " = " + source;
  throw ConstraintViolationError(
      std::to_string(hint) + " not in range " + range.to_string() + " for " +
      name + "; give an example in the range, or widen it in dynamic_shapes");
}

bool is_fixed(const DimConstraint& c) {
  return c.policy == DimPolicy::kStatic || (c.min && c.max && *c.min == *c.max);
}

}  // namespace

ShapeEnv::Impl::Impl(ShapeEnvOptions opts)
    : options(std::move(opts)), facts(options.solver, log) {}

void ShapeEnv::Impl::declare(Expr symbol, const Interval& range,
                             const std::string& text) {
  facts.declare(symbol, range, text);
  ranges.emplace(symbol, range);
}

Expr ShapeEnv::Impl::new_backed(SymbolKind kind, const std::string& prefix,
                                int number, const Value& hint,
                                const std::string& source,
                                const Interval& range) {
  Expr symbol = pool.symbol(prefix + std::to_string(number), kind, source);
  hints.set(symbol, hint);
  log.add_symbol(symbol, hint, range);
  return symbol;
}

// The range is a fact; that other sizes than 0 and 1 stay so is another one,
// because only the second may turn out not to have been needed.
Expr ShapeEnv::Impl::new_size_symbol(int64_t hint, const std::string& source,
                                     const Interval& promised) {
  Expr s = new_backed(SymbolKind::kBackedSize, "s", backed_count++, Int(hint),
                      source, promised);
  const std::string& name = s.symbol().name;
  declare(s, promised, "size " + name + " of " + source);
  Interval shown = promised;
  if (hint >= 2 && options.specialize_zero_one && options.assume_at_least_two &&
      (!promised.lower() || *promised.lower() < Int(2))) {
    facts.assume_at_least_two(s);
    shown = intersect(promised, Interval::at_least(2));
    ranges[s] = shown;
  }
  log.emit("create_symbol", name,
           "create_symbol " + name + " = " + std::to_string(hint) + " for " +
               source + " " + shown.to_string());
  return s;
}

std::optional<Expr> ShapeEnv::Impl::known_named_dim(
    int64_t hint, const std::string& source, const DimConstraint& constraint) {
  auto it = named.find(constraint.name);
  if (it == named.end()) return std::nullopt;
  const NamedDim& first = it->second;
  if (promised_range(first.constraint) != promised_range(constraint) ||
      first.constraint.policy != constraint.policy) {
    throw ConstraintViolationError(
        "Found different definitions " + dim_text(first.constraint) + " and " +
        dim_text(constraint) + " for the same symbolic dimension " +
        constraint.name + "!");
  }
  if (first.hint != hint) {
    throw ConstraintViolationError(source + " = " + std::to_string(hint) +
                                   " is not equal to " + first.source + " = " +
                                   std::to_string(first.hint));
  }
  return first.expr;
}

Expr ShapeEnv::Impl::create_size(int64_t hint, const std::string& source,
                                 const DimConstraint& constraint) {
  if (hint < 0) {
    throw Error("create_size: the example size of " + source + " is " +
                std::to_string(hint) + "; give a size >= 0");
  }
  if (constraint.policy == DimPolicy::kNamed && constraint.name.empty()) {
    throw Error("create_size: the named Dim of " + source +
                " has no name; give DimConstraint::name");
  }
  check_static(hint, source, constraint);
  if (constraint.policy != DimPolicy::kStatic) {
    check_in_range(hint, source, constraint);
  }
  const bool is_unbacked = constraint.policy == DimPolicy::kUnbacked;
  const bool is_named = constraint.policy == DimPolicy::kNamed ||
                        (is_unbacked && !constraint.name.empty());
  const bool is_duck = options.duck_shape &&
                       constraint.policy == DimPolicy::kAuto &&
                       !constraint.min && !constraint.max;
  Expr e;
  if (is_named) {
    if (auto same = known_named_dim(hint, source, constraint)) e = *same;
  }
  if (!e && is_unbacked)
    e = new_unbacked_size(source, promised_range(constraint));
  if (!e &&
      (is_fixed(constraint) || (hint <= 1 && options.specialize_zero_one))) {
    e = pool.integer(Int(hint));
  }
  if (!e && is_duck) {
    if (auto it = duck_sizes.find(hint); it != duck_sizes.end()) e = it->second;
  }
  if (!e) {
    e = new_size_symbol(hint, source, promised_range(constraint));
    if (is_duck) duck_sizes.emplace(hint, e);
  }
  if (is_named)
    named.try_emplace(constraint.name, NamedDim{constraint, e, hint, source});
  dims.push_back({source, display_name_of(source), Int(hint), constraint, e});
  return e;
}

Expr ShapeEnv::Impl::new_unbacked(SymbolKind kind, const Interval& range,
                                  const std::string& source) {
  const bool is_float = kind == SymbolKind::kUnbackedFloat;
  std::string name = is_float ? "zuf" + std::to_string(unbacked_float_count++)
                              : "u" + std::to_string(unbacked_count++);
  Expr symbol = pool.symbol(name, kind, source);
  if (!is_float) declare(symbol, range, "range of " + name);
  log.add_symbol(symbol, std::nullopt, range);
  log.emit("create_unbacked_symbol", name,
           "create_unbacked_symbol " + name + " " +
               (source.empty() ? source : "for " + source + " ") +
               (is_float ? std::string("[-oo, oo]") : range.to_string()));
  return symbol;
}

Expr ShapeEnv::Impl::new_unbacked_size(const std::string& source,
                                       const Interval& range) {
  Expr u = new_unbacked(SymbolKind::kUnbackedInt, range, source);
  size_like.insert(u);
  return u;
}

// --- the public calls

ShapeEnv::ShapeEnv(ShapeEnvOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
ShapeEnv::~ShapeEnv() = default;

ExprPool& ShapeEnv::pool() { return impl_->pool; }
Context& ShapeEnv::context() { return impl_->context; }
const ShapeEnvOptions& ShapeEnv::options() const { return impl_->options; }

Expr ShapeEnv::create_size(int64_t hint, const std::string& source,
                           const DimConstraint& constraint) {
  return impl_->create_size(hint, source, constraint);
}

Expr ShapeEnv::create_backed_int(int64_t hint, const std::string& source,
                                 const DimConstraint& constraint) {
  Impl& m = *impl_;
  const Interval range = Interval::of(constraint.min, constraint.max);
  if (!range.contains(Int(hint))) {
    throw ConstraintViolationError(
        std::to_string(hint) + " not in range " + range.to_string() + " for " +
        source +
        "; give an example in the range, or widen it in dynamic_shapes");
  }
  Expr s = m.new_backed(SymbolKind::kBackedInt, "s", m.backed_count++,
                        Int(hint), source, range);
  m.declare(s, range, "integer input " + source);
  const std::string& name = s.symbol().name;
  m.log.emit("create_symbol", name,
             "create_symbol " + name + " = " + std::to_string(hint) + " for " +
                 source + " " + range.to_string());
  m.dims.push_back({source, display_name_of(source), Int(hint), constraint, s});
  return s;
}

void ShapeEnv::require(Expr condition, const SourceLocation& where) {
  impl_->require(condition, where);
}

void ShapeEnv::know(Expr condition, const std::string& why) {
  impl_->know(condition, why);
}

Expr ShapeEnv::create_backed_float(double hint, const std::string& source) {
  Impl& m = *impl_;
  std::optional<Rational> exact = Rational::from_double(hint);
  Value value = exact ? Value(*exact) : Value(hint);
  Expr s = m.new_backed(SymbolKind::kBackedFloat, "zf", m.float_count++, value,
                        source, {});
  const std::string& name = s.symbol().name;
  m.log.emit("create_symbol", name,
             "create_symbol " + name + " = " + proviso::to_string(value) +
                 " for " + source + " [-oo, oo]");
  return s;
}

Expr ShapeEnv::create_unbacked_int(const Interval& range) {
  return impl_->new_unbacked(SymbolKind::kUnbackedInt, range);
}
Expr ShapeEnv::create_unbacked_float() {
  return impl_->new_unbacked(SymbolKind::kUnbackedFloat, {});
}
Expr ShapeEnv::create_unbacked_bool() {
  return eq(impl_->new_unbacked(SymbolKind::kUnbackedBool, {0, 1}), 1);
}

std::optional<Value> ShapeEnv::hint(Expr e) {
  require_own(impl_->pool, e, "hint");
  return impl_->hint(e);
}
std::optional<Int> ShapeEnv::maybe_static_int(Expr e) {
  require_type(impl_->pool, e, Type::kInt, "maybe_static_int");
  return impl_->static_value(impl_->simplify(e));
}
Expr ShapeEnv::simplify(Expr e) {
  require_own(impl_->pool, e, "simplify");
  return impl_->simplify(e);
}
Interval ShapeEnv::bounds(Expr e) {
  require_type(impl_->pool, e, Type::kInt, "bounds");
  return impl_->bounds(e);
}

bool ShapeEnv::guard_bool(Expr condition, const SourceLocation& where) {
  return impl_->guard_bool(condition, where, "guard_bool");
}

Int ShapeEnv::guard_int(Expr e, const SourceLocation& where) {
  require_type(impl_->pool, e, Type::kInt, "guard_int");
  return std::get<Int>(impl_->guard_value(e, where, "guard_int"));
}

double ShapeEnv::guard_float(Expr e, const SourceLocation& where) {
  require_type(impl_->pool, e, Type::kFloat, "guard_float");
  Value value = impl_->guard_value(e, where, "guard_float");
  if (auto* exact = std::get_if<Rational>(&value)) return exact->to_double();
  if (auto* integer = std::get_if<Int>(&value)) return integer->to_double();
  return std::get<double>(value);
}

bool ShapeEnv::expect_true(Expr condition, const SourceLocation& where,
                           const std::string& message) {
  return impl_->expect_true(condition, where, message, "expect_true");
}
bool ShapeEnv::guard_or_false(Expr condition, const SourceLocation& where) {
  return impl_->guard_or(condition, false, where, "guard_or_false");
}
bool ShapeEnv::guard_or_true(Expr condition, const SourceLocation& where) {
  return impl_->guard_or(condition, true, where, "guard_or_true");
}
bool ShapeEnv::guard_size_oblivious(Expr condition,
                                    const SourceLocation& where) {
  return impl_->guard_size_oblivious(condition, where);
}

bool ShapeEnv::statically_known_true(Expr condition) {
  require_type(impl_->pool, condition, Type::kBool, "statically_known_true");
  std::optional<Value> sample = impl_->hint(condition);
  impl_->log.set_query("static");
  if (sample && !std::get<bool>(*sample)) return false;
  return impl_->decide(impl_->replaced(condition)) == Verdict::kYes;
}

bool ShapeEnv::statically_known_false(Expr condition) {
  require_type(impl_->pool, condition, Type::kBool, "statically_known_false");
  std::optional<Value> sample = impl_->hint(condition);
  impl_->log.set_query("static");
  if (sample && std::get<bool>(*sample)) return false;
  return impl_->decide(impl_->replaced(condition)) == Verdict::kNo;
}

bool ShapeEnv::has_static_value(Expr e) {
  require_own(impl_->pool, e, "has_static_value");
  impl_->log.set_query("static");
  if (e.is_bool()) {
    return impl_->decide(impl_->replaced(e)) != Verdict::kUnknown;
  }
  Expr s = impl_->simplify(e);
  if (s.is_constant()) return true;
  return e.is_int() && impl_->static_value(s).has_value();
}

Int ShapeEnv::guarding_hint_or_throw(Expr e) {
  require_own(impl_->pool, e, "guarding_hint_or_throw");
  std::optional<Value> value = impl_->hint(e);
  if (!value) throw impl_->data_dependent(impl_->replaced(e), {}, !e.is_bool());
  if (auto* truth = std::get_if<bool>(&*value)) return Int(*truth ? 1 : 0);
  if (auto* integer = std::get_if<Int>(&*value)) return *integer;
  throw Error("guarding_hint_or_throw: expected an integer or a boolean, got " +
              proviso::to_string(e, 400) + " (float)");
}

Int ShapeEnv::optimization_hint(Expr e, Int fallback) {
  require_own(impl_->pool, e, "optimization_hint");
  return impl_->optimization_hint(e, fallback);
}

void ShapeEnv::constrain_range(Expr e, std::optional<Int> min,
                               std::optional<Int> max,
                               const SourceLocation& where) {
  require_type(impl_->pool, e, Type::kInt, "constrain_range");
  Impl& m = *impl_;
  if (min && max && *min > *max) {
    const auto text = [&](const Int& end) {
      return proviso::to_string(m.pool.integer(end), 400);
    };
    throw Error("constrain_range: min " + text(*min) + " is greater than max " +
                text(*max) + " for " + proviso::to_string(e, 400) +
                "; give min <= max");
  }
  auto assume = [&](Expr condition) {
    if (m.expect_true(condition, where, "", "constrain_range")) return;
    throw GuardError("constrain_range: " + proviso::to_string(e, 400) +
                     " is known to break " +
                     proviso::to_string(condition, 400) +
                     (where.line ? " at " + where.to_string() : ""));
  };
  if (min) assume(ge(e, m.pool.integer(*min)));
  if (max) assume(le(e, m.pool.integer(*max)));
}

void ShapeEnv::mark_size_like(Expr symbol) {
  require_own(impl_->pool, symbol, "mark_size_like");
  Expr s = impl_->replaced(symbol);
  if (s.is_symbol()) impl_->size_like.insert(s);
}

void ShapeEnv::runtime_assert(Expr condition, const SourceLocation& where,
                              const std::string& message) {
  if (impl_->expect_true(condition, where, message, "runtime_assert")) return;
  throw GuardError("Runtime assertion failed for expression " +
                   proviso::to_string(condition, 2000) +
                   (message.empty() ? "" : ": " + message) +
                   (where.line ? "\nCaused by: " + where.to_string() : ""));
}

const std::vector<Guard>& ShapeEnv::guards() const { return impl_->guards; }
const std::vector<RuntimeAssert>& ShapeEnv::runtime_asserts() const {
  return impl_->asserts;
}
const std::vector<InputDim>& ShapeEnv::input_dims() const {
  return impl_->dims;
}
const std::map<Expr, Expr, ExprLess>& ShapeEnv::replacements() const {
  return impl_->replacements;
}

std::vector<Guard> ShapeEnv::minimal_guards() {
  return impl_->minimal_guards();
}
bool ShapeEnv::used_assumption(Expr symbol) const {
  require_own(impl_->pool, symbol, "used_assumption");
  return impl_->enforced().used.count(symbol) > 0;
}
std::vector<SourceLocation> ShapeEnv::assumption_origins(Expr symbol) const {
  require_own(impl_->pool, symbol, "assumption_origins");
  const auto& places = impl_->enforced().places;
  auto it = places.find(symbol);
  return it == places.end() ? std::vector<SourceLocation>() : it->second;
}

Interval ShapeEnv::enforced_range(Expr e) {
  require_type(impl_->pool, e, Type::kInt, "enforced_range");
  Context& context = *impl_->enforced().context;
  return without_machine_ends(intersect(
      context.bounds_quick(e), context.bounds_quick(impl_->replaced(e))));
}

void ShapeEnv::check_constraints() { impl_->check_constraints(); }

void ShapeEnv::layout_questions(bool on) { impl_->layout_depth += on ? 1 : -1; }

void ShapeEnv::suppress_guards(bool on) {
  impl_->suppressed += on ? 1 : impl_->suppressed > 0 ? -1 : 0;
}
void ShapeEnv::freeze() { impl_->frozen = true; }

void ShapeEnv::set_event_sink(std::function<void(const ShapeEvent&)> sink) {
  impl_->log.set_sink(std::move(sink));
}
const std::vector<ShapeEvent>& ShapeEnv::events() const {
  return impl_->log.events();
}
std::string ShapeEnv::shapelog() const { return impl_->log.shapelog(); }

}  // namespace proviso::inline v0_2
