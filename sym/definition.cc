#include "sym/definition.h"

namespace proviso::inline v0_2 {

Expr definition(Expr e) {
  switch (e.op()) {
    case Op::kCeilDiv: return -floor_div(-e.arg(0), e.arg(1));
    case Op::kModularIndexing: {
      const Expr quotient = floor_div(e.arg(0), e.arg(1));
      return e.pool().make(Op::kPythonMod, {quotient, e.arg(2)});
    }
    default: return e;
  }
}

}  // namespace proviso::inline v0_2
