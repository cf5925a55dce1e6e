// solver/context_call.h - what the calls of a Context have in common.
//
//   const Call call(*this);           // the engine at this context's version
//   call.engine.check(e, "bounds", "an expression");
//   log([&](Trace& t) { ... });       // where somebody records the calls
//
// Only for the files that implement Context: solver.cc, context_versions.cc,
// context_expressions.cc, smtlib.cc, interrupt_scope.cc.
#pragma once

#include <memory>
#include <string>

#include "solver/argument_types.h"
#include "solver/engine/engine.h"
#include "solver/limits_in_force.h"
#include "solver/solver.h"
#include "solver/trace.h"
#include "sym/excerpt.h"
#include "sym/print.h"

namespace proviso::inline v0_2 {
namespace internal {

// Throws Error where a context was moved from or its pool is gone; checked
// before the pool's memory is touched.
[[noreturn]] void fail_usable(const std::shared_ptr<Engine>& engine);
inline Engine& usable(const std::shared_ptr<Engine>& engine) {
  if (engine == nullptr || engine->has_lost_its_pool()) [[unlikely]]
    fail_usable(engine);
  return *engine;
}

}  // namespace internal

// The engine while a call is under way: brought to this context's version, with
// its limits in force.  A version that facts are added to is the context's own.
class PROVISO_HIDDEN Context::Call {
 public:
  explicit Call(const Context& context) : Call(context, context.at_) {}
  explicit Call(Context& context, bool extends)
      : Call(context, extends ? context.own_version() : context.at_) {}

  internal::Engine& engine;

 private:
  Call(const Context& context, const std::shared_ptr<internal::Version>& at)
      : engine(internal::usable(context.engine_)), limits_(engine.limits()) {
    engine.facts().resume();
    engine.go_to(at);
  }

  const internal::LimitsInForce limits_;
};

// Whoever adds a fact or a scope writes before that: what a context has when it
// is first seen is written then.
template <typename Write>
void Context::log(Write write) const {
  if (engine_->trace == nullptr) [[likely]]
    return;
  if (internal::Trace* trace = this->trace()) write(*trace);
}

}  // namespace proviso::inline v0_2
