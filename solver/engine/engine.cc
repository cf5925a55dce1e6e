// The parts are made when they are first asked for.
#include "solver/engine/engine.h"

#include <algorithm>

#include "solver/engine/counted_try.h"
#include "solver/limits_in_force.h"
#include "sym/excerpt.h"
#include "sym/pool_stores.h"
#include "sym/print.h"
#include "sym/within.h"

namespace proviso::inline v0_2::internal {
namespace {

// The pool's companion, which ends with the pool; made with the pool's forms,
// so that there is one.
std::weak_ptr<void> companion_of(ExprPool& pool) {
  Forms::of(pool);
  return PoolStores::companion(pool);
}

}  // namespace

Engine::Engine(ExprPool& pool, const SolverOptions& options)
    : pool_(pool),
      options_(options),
      limits_(limits_of(options_)),
      of_pool_(companion_of(pool)) {}

const Statistics& Engine::statistics() {
  statistics_->work = facts_.work();
  return *statistics_;
}

void Engine::fail_check(Expr e, const char* call, const char* expected) {
  if (!e) {
    throw Error("Context::" + std::string(call) + ": expected " + expected +
                ", got a null expression; build it with the context's pool");
  }
  throw Error("Context::" + std::string(call) + ": " + excerpt(e) +
              " belongs to another ExprPool; build it with Context::pool()");
}

void Engine::make_answers() {
  answers_ = std::make_unique<Answers>(facts_, native_);
}

// The facts are asserted whenever it is asked for.
Engine::Expressions& Engine::expressions() {
  facts_.reasoner();
  if (expressions_ == nullptr) {
    expressions_ = std::make_unique<Expressions>(*this);
  }
  return *expressions_;
}

Expr Engine::simplify(Expr e) {
  uint64_t units = 0;  // for the box
  if (const Box* box = facts_.box()) {
    units = std::min(limits().box_work, options_.work_limit / 2);
    const auto found = try_within(units, nullptr, [&] {
      CountedTry a_try(statistics_->box);
      const std::optional<Expr> form = box->simplify(e);
      if (form) a_try.decided();
      return form;
    });
    if (found && *found) return **found;
  }
  return expressions().simplification.simplify(e, units);
}

}  // namespace proviso::inline v0_2::internal
