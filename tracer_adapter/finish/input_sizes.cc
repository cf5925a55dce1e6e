#include "tracer_adapter/finish/input_sizes.h"

#include <algorithm>

#include "sym/polynomial.h"

namespace proviso::inline v0_2 {
namespace {

// 2*s0 - 1, or s0*s1 + s2.  Where it is a difference of several, s0 + s1 - s2,
// torch does not know that it is a size.
bool is_readable(Expr e) {
  const bool one = free_symbols(e).size() <= 1;
  const Polynomial p = to_polynomial(e);
  return std::all_of(p.terms().begin(), p.terms().end(), [&](const auto& term) {
    const auto& [symbols, factor] = term;
    const bool plain = std::all_of(symbols.begin(), symbols.end(),
                                   [](Expr part) { return part.is_symbol(); });
    return plain && (one ? symbols.size() <= 1 : factor > Int(0));
  });
}

}  // namespace

bool is_input_size(Expr e) {
  return e.is_symbol() && !is_unbacked(e.symbol().kind);
}

Expr learnt_size(ShapeEnv& env, Expr size) {
  if (size.is_constant()) return size;
  const Expr learnt = env.simplify(size);
  return is_readable(learnt) ? learnt : size;
}

}  // namespace proviso::inline v0_2
