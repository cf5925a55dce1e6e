#include "guards/shape_env.h"

#include "guards/env/arguments.h"
#include "guards/env/minimal_guards.h"
#include "guards/env/violations.h"
#include "guards/shape_env_impl.h"
#include "solver/interrupt_scope.h"

namespace proviso::inline v0_2 {
using namespace internal;

std::string SourceLocation::to_string() const {
  std::string text = file.empty() ? "<unknown>" : file;
  if (line > 0) text += ":" + std::to_string(line);
  if (!code.empty()) text += " in `" + code + "`";
  return text;
}

ShapeEnv::ShapeEnv(ShapeEnvOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
ShapeEnv::~ShapeEnv() = default;

ExprPool& ShapeEnv::pool() { return impl_->facts.pool(); }
Context& ShapeEnv::context() { return impl_->facts.context(); }
const ShapeEnvOptions& ShapeEnv::options() const { return impl_->options; }

// --- symbols

Expr ShapeEnv::create_size(int64_t hint, const std::string& source,
                           const DimConstraint& constraint) {
  return impl_->symbols.create_size(hint, source, constraint);
}
Expr ShapeEnv::create_backed_int(int64_t hint, const std::string& source,
                                 const DimConstraint& constraint) {
  return impl_->symbols.create_backed_int(hint, source, constraint);
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

void ShapeEnv::mark_size_like(Expr symbol) {
  require_own(pool(), symbol, "mark_size_like");
  const Expr s = impl_->replacements.apply(symbol);
  if (s.is_symbol()) impl_->symbols.mark_size_like(s);
}

void ShapeEnv::know(Expr condition, const std::string& why) {
  require_type(pool(), condition, Type::kBool, "know");
  impl_->facts.know(condition, why);
}

void ShapeEnv::require(Expr condition, const SourceLocation& where) {
  const InterruptScope scope(impl_->facts.context());
  require_type(pool(), condition, Type::kBool, "require");
  impl_->recorder.require(condition, where);
}

// --- values

std::optional<Value> ShapeEnv::hint(Expr e) {
  const InterruptScope scope(impl_->facts.context());
  require_own(pool(), e, "hint");
  return impl_->hints.value(e);
}
std::optional<Int> ShapeEnv::maybe_static_int(Expr e) {
  const InterruptScope scope(impl_->facts.context());
  require_type(pool(), e, Type::kInt, "maybe_static_int");
  return impl_->decider.static_value(impl_->decider.simplify(e));
}
Expr ShapeEnv::simplify(Expr e) {
  const InterruptScope scope(impl_->facts.context());
  require_own(pool(), e, "simplify");
  return impl_->decider.simplify(e);
}
Interval ShapeEnv::bounds(Expr e) {
  const InterruptScope scope(impl_->facts.context());
  require_type(pool(), e, Type::kInt, "bounds");
  return impl_->decider.bounds(e);
}

// --- questions

bool ShapeEnv::guard_bool(Expr condition, const SourceLocation& where) {
  const InterruptScope scope(impl_->facts.context());
  require_type(pool(), condition, Type::kBool, "guard_bool");
  return impl_->questions.guard_bool(condition, where, "guard_bool");
}

Int ShapeEnv::guard_int(Expr e, const SourceLocation& where) {
  const InterruptScope scope(impl_->facts.context());
  require_type(pool(), e, Type::kInt, "guard_int");
  return std::get<Int>(impl_->questions.guard_value(e, where, "guard_int"));
}

double ShapeEnv::guard_float(Expr e, const SourceLocation& where) {
  const InterruptScope scope(impl_->facts.context());
  require_type(pool(), e, Type::kFloat, "guard_float");
  const Value value = impl_->questions.guard_value(e, where, "guard_float");
  if (auto* exact = std::get_if<Rational>(&value)) return exact->to_double();
  if (auto* integer = std::get_if<Int>(&value)) return integer->to_double();
  return std::get<double>(value);
}

bool ShapeEnv::expect_true(Expr condition, const SourceLocation& where,
                           const std::string& message) {
  const InterruptScope scope(impl_->facts.context());
  require_type(pool(), condition, Type::kBool, "expect_true");
  return impl_->questions.expect_true(condition, where, message, "expect_true");
}
bool ShapeEnv::guard_or_false(Expr condition, const SourceLocation& where) {
  const InterruptScope scope(impl_->facts.context());
  require_type(pool(), condition, Type::kBool, "guard_or_false");
  return impl_->questions.guard_or(condition, false, where, "guard_or_false");
}
bool ShapeEnv::guard_or_true(Expr condition, const SourceLocation& where) {
  const InterruptScope scope(impl_->facts.context());
  require_type(pool(), condition, Type::kBool, "guard_or_true");
  return impl_->questions.guard_or(condition, true, where, "guard_or_true");
}
bool ShapeEnv::guard_size_oblivious(Expr condition,
                                    const SourceLocation& where) {
  const InterruptScope scope(impl_->facts.context());
  require_type(pool(), condition, Type::kBool, "guard_size_oblivious");
  return impl_->questions.guard_size_oblivious(condition, where);
}
bool ShapeEnv::statically_known_true(Expr condition) {
  const InterruptScope scope(impl_->facts.context());
  require_type(pool(), condition, Type::kBool, "statically_known_true");
  return impl_->questions.is_known(condition, true);
}
bool ShapeEnv::statically_known_false(Expr condition) {
  const InterruptScope scope(impl_->facts.context());
  require_type(pool(), condition, Type::kBool, "statically_known_false");
  return impl_->questions.is_known(condition, false);
}
bool ShapeEnv::is_open(Expr condition) {
  const InterruptScope scope(impl_->facts.context());
  require_type(pool(), condition, Type::kBool, "is_open");
  return impl_->decider.is_open(condition);
}
bool ShapeEnv::has_static_value(Expr e) {
  const InterruptScope scope(impl_->facts.context());
  require_own(pool(), e, "has_static_value");
  return impl_->questions.has_static_value(e);
}
Int ShapeEnv::guarding_hint_or_throw(Expr e) {
  const InterruptScope scope(impl_->facts.context());
  require_own(pool(), e, "guarding_hint_or_throw");
  return impl_->questions.guarding_hint(e);
}
Int ShapeEnv::optimization_hint(Expr e, Int fallback) {
  const InterruptScope scope(impl_->facts.context());
  require_own(pool(), e, "optimization_hint");
  return impl_->hints.plausible(e, fallback);
}
void ShapeEnv::constrain_range(Expr e, std::optional<Int> min,
                               std::optional<Int> max,
                               const SourceLocation& where) {
  const InterruptScope scope(impl_->facts.context());
  require_type(pool(), e, Type::kInt, "constrain_range");
  impl_->questions.constrain_range(e, std::move(min), std::move(max), where);
}
void ShapeEnv::runtime_assert(Expr condition, const SourceLocation& where,
                              const std::string& message) {
  const InterruptScope scope(impl_->facts.context());
  require_type(pool(), condition, Type::kBool, "runtime_assert");
  impl_->questions.runtime_assert(condition, where, message);
}

// --- results

const std::vector<Guard>& ShapeEnv::guards() const {
  return impl_->recorder.guards();
}
const std::vector<RuntimeAssert>& ShapeEnv::runtime_asserts() const {
  return impl_->recorder.asserts();
}
const std::vector<InputDim>& ShapeEnv::input_dims() const {
  return impl_->symbols.dims();
}
const std::map<Expr, Expr, ExprLess>& ShapeEnv::replacements() const {
  return impl_->replacements.all();
}

std::vector<Guard> ShapeEnv::minimal_guards() {
  const InterruptScope scope(impl_->facts.context());
  Impl& m = *impl_;
  return MinimalGuards(m.facts, m.symbols, m.unguarded_answers, m.recorder,
                       m.enforced)
      .find();
}
bool ShapeEnv::used_assumption(Expr symbol) const {
  const InterruptScope scope(impl_->facts.context());
  require_own(impl_->facts.pool(), symbol, "used_assumption");
  return impl_->enforced.view().at_least_two.count(symbol) > 0;
}
std::vector<SourceLocation> ShapeEnv::assumption_origins(Expr symbol) const {
  const InterruptScope scope(impl_->facts.context());
  require_own(impl_->facts.pool(), symbol, "assumption_origins");
  const auto& places = impl_->enforced.view().places;
  auto it = places.find(symbol);
  return it == places.end() ? std::vector<SourceLocation>() : it->second;
}
std::vector<std::pair<Expr, int>> ShapeEnv::left_out_by_branches() {
  const InterruptScope scope(impl_->facts.context());
  return impl_->enforced.left_out_by_branches();
}
void ShapeEnv::admit(Expr symbol, int size) {
  require_own(pool(), symbol, "admit");
  impl_->enforced.admit(symbol, size);
}
Interval ShapeEnv::enforced_range(Expr e) {
  const InterruptScope scope(impl_->facts.context());
  require_type(pool(), e, Type::kInt, "enforced_range");
  Context& context = *impl_->enforced.view().context;
  return without_machine_ends(
      intersect(context.bounds_quick(e),
                context.bounds_quick(impl_->replacements.apply(e))));
}
void ShapeEnv::check_constraints() {
  const InterruptScope scope(impl_->facts.context());
  Impl& m = *impl_;
  internal::check_constraints(m.options, m.facts, m.symbols, m.replacements,
                              m.recorder);
}

// --- modes

void ShapeEnv::layout_questions(bool on) {
  if (on) {
    impl_->unguarded_answers.begin_layout();
  } else {
    impl_->unguarded_answers.end_layout();
  }
}
void ShapeEnv::add_layout_condition(Expr condition) {
  require_type(pool(), condition, Type::kBool, "add_layout_condition");
  impl_->unguarded_answers.add_layout_condition(condition, true);
}
void ShapeEnv::keep_layout_answers(const SourceLocation& where) {
  const InterruptScope scope(impl_->facts.context());
  for (Expr condition : impl_->unguarded_answers.keep_layout_answers())
    impl_->questions.guard_bool(condition, where, "keep_layout_answers");
}
void ShapeEnv::suppress_guards(bool on) {
  if (on) {
    impl_->questions.begin_suppression();
  } else {
    impl_->questions.end_suppression();
  }
}
void ShapeEnv::freeze() { impl_->recorder.freeze(); }

// --- events

void ShapeEnv::set_event_sink(std::function<void(const ShapeEvent&)> sink) {
  impl_->log.set_sink(std::move(sink));
}
const std::vector<ShapeEvent>& ShapeEnv::events() const {
  return impl_->log.events();
}
std::string ShapeEnv::shapelog() const { return impl_->log.shapelog(); }

}  // namespace proviso::inline v0_2
