#include "guards/shape_env.h"

#include <cmath>

#include "guards/shape_env_impl.h"
#include "sym/print.h"
#include "sym/simplify.h"

namespace proviso::inline v0_2 {

ShapeEnv::Impl::Impl(ShapeEnvOptions opts)
    : options(std::move(opts)), facts(options.solver, log) {}

// --- the public calls

ShapeEnv::ShapeEnv(ShapeEnvOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
ShapeEnv::~ShapeEnv() = default;

ExprPool& ShapeEnv::pool() { return impl_->pool; }
Context& ShapeEnv::context() { return impl_->context; }
const ShapeEnvOptions& ShapeEnv::options() const { return impl_->options; }

Expr ShapeEnv::create_size(int64_t hint, const std::string& source,
                           const DimConstraint& constraint) {
  return impl_->symbols.create_size(hint, source, constraint);
}

Expr ShapeEnv::create_backed_int(int64_t hint, const std::string& source,
                                 const DimConstraint& constraint) {
  return impl_->symbols.create_backed_int(hint, source, constraint);
}

void ShapeEnv::require(Expr condition, const SourceLocation& where) {
  impl_->require(condition, where);
}

void ShapeEnv::know(Expr condition, const std::string& why) {
  impl_->know(condition, why);
}

Expr ShapeEnv::create_backed_float(double hint, const std::string& source) {
  return impl_->symbols.create_backed_float(hint, source);
}

Expr ShapeEnv::create_unbacked_int(const Interval& range) {
  return impl_->symbols.create_unbacked(SymbolKind::kUnbackedInt, range);
}
Expr ShapeEnv::create_unbacked_float() {
  return impl_->symbols.create_unbacked(SymbolKind::kUnbackedFloat, {});
}
Expr ShapeEnv::create_unbacked_bool() {
  return eq(impl_->symbols.create_unbacked(SymbolKind::kUnbackedBool, {0, 1}),
            1);
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
  if (s.is_symbol()) impl_->symbols.mark_size_like(s);
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
  return impl_->symbols.dims();
}
const std::map<Expr, Expr, ExprLess>& ShapeEnv::replacements() const {
  return impl_->replacements.all();
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

void ShapeEnv::layout_questions(bool on) {
  if (on) {
    impl_->free_answers.begin_layout();
  } else {
    impl_->free_answers.end_layout();
  }
}

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
