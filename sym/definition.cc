#include "sym/definition.h"

#include <cassert>

namespace proviso::inline v0_2 {

Expr definition(Expr e) {
  if (e.is(Op::kCeilDiv)) return -floor_div(-e.arg(0), e.arg(1));
  if (e.is(Op::kModularIndexing)) {
    const Expr quotient = floor_div(e.arg(0), e.arg(1));
    return e.pool().make(Op::kPythonMod, {quotient, e.arg(2)});
  }
  assert(info(e.op()).kind != OpKind::kDefined && "has a definition");
  return e;
}

}  // namespace proviso::inline v0_2
