// sym/parse.h - text to expressions.
//
//   Expr e = parse(pool, "Eq(s0 + 1, 2*u0) & (Mod(s0, 4) < u1//2)");
//
// The language is PyTorch's printed form: + - * ** / // % & | ~ ^ << >>, the
// comparisons, `and or not`, `a if c else b`, every function of sym/op.h by its
// printed name and by Python's (min, max, abs, ceildiv, float, math.ceil,
// math.floor, math.trunc, round, sqrt), True, False, integers of any size and
// decimal floats, and SymPy's srepr (Symbol('s0', integer=True), Integer(2),
// Add(..), LessThan(..), Equality(..), ...).  & | ~ are logic on booleans and
// bit operations on integers.
#pragma once

#include <functional>
#include <string_view>

#include "sym/api.h"
#include "sym/expr.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

struct ParseOptions {
  // Makes the symbol of a name that the pool does not have.  Default: by the
  // name's prefix as PyTorch does (s backed size, u unbacked int, zuf unbacked
  // float, zf backed float, anything else a backed int).  Return a null Expr to
  // make an unknown name an error.  What it makes stays in the pool, also where
  // the text is refused.
  std::function<Expr(ExprPool&, std::string_view name)> make_symbol = {};
  size_t max_depth = 200;
  size_t max_length = 1 << 20;
};

// Throws Error: "parse: expected ')' at column 12 of 'Mod(s0, 4': ...".  Then
// the pool is as if the text had not been there: it has none of its symbols.
[[nodiscard]] Expr parse(ExprPool& pool, std::string_view text,
                         const ParseOptions& options = {});

// "s0 in [2, int_oo]", "u0 in [-int_oo, 9]" -> name and optional ends.
struct RangeDeclaration {
  std::string name;
  std::optional<Int> lower, upper;
};
[[nodiscard]] RangeDeclaration parse_range(std::string_view text);

// The symbol that it names.  Where the pool has none it is made, as parse()
// makes it; but s0 of a range with negative numbers is no size: a backed int.
Expr declared_symbol(ExprPool& pool, const RangeDeclaration& range);

}  // namespace proviso::inline v0_2
PROVISO_API_END
