#include "tracer_adapter/finish/input_sizes.h"

#include <algorithm>

#include "sym/polynomial.h"

namespace proviso::inline v0_2 {
namespace {

bool is_never_negative(ShapeEnv& env, Expr symbol) {
  const Interval range = env.enforced_range(symbol);
  return range.lower() && *range.lower() >= Int(0);
}

// 2*s0 - 1, or s0*s1 + s2.  Where it is a difference of several, s0 + s1 - s2,
// or one of several may be negative, as an integer input may, torch does not
// know that it is a size.
bool is_readable(ShapeEnv& env, Expr e) {
  const std::vector<Expr> all = free_symbols(e);
  const bool one = all.size() <= 1;
  if (!one && !std::all_of(all.begin(), all.end(), [&](Expr symbol) {
        return is_never_negative(env, symbol);
      }))
    return false;
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
  return is_readable(env, learnt) ? learnt : size;
}

}  // namespace proviso::inline v0_2
