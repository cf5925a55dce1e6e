#include "guards/env/arguments.h"

#include "sym/excerpt.h"
#include "sym/not_null.h"

namespace proviso::inline v0_2::internal {

void require_own(const ExprPool& pool, Expr e, const char* call) {
  if (&not_null(e, call).pool() == &pool) return;
  throw Error(std::string(call) + ": " + excerpt(e) +
              " belongs to another environment; build it with this one's pool");
}

void require_type(const ExprPool& pool, Expr e, Type type, const char* call) {
  require_own(pool, e, call);
  if (e.type() == type) return;
  throw Error(std::string(call) + ": expected a " + std::string(name_of(type)) +
              " expression, got " + described(e));
}

}  // namespace proviso::inline v0_2::internal
