// sym/print.h - expressions to text.
//
//   to_torch(e)    Eq(s0 + 1, 2*u0)  Mod(s0, 4)  (s0//2)   PyTorch's form;
//                  parse(pool, to_torch(e)) == e
//   to_string(e)   the same for people, cut where it is long
//   to_python(e)   s0 + 1 == 2*u0    s0 % 4      s0//2     runs in Python
//   to_smtlib(e)   (= (+ s0 1) (* 2 u0))                   SMT-LIB 2
//   to_srepr(e)    Equality(Add(Symbol('s0', nonnegative=True,
//                  integer=True), Integer(1)), ...)        what .pt2 stores
//
// What an expression shares is written each time it is used, so that a text can
// be exponentially longer than what it shows.  Past kMaxTextLength to_string()
// writes "..." for what is left; the others, which are for machines, throw
// Error.  Depth is no concern of the machine's stack.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "sym/api.h"
#include "sym/expr.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

inline constexpr size_t kMaxTextLength = size_t{1} << 20;  // as parse() reads

// For people: the text ends after about `max_length` characters.
[[nodiscard]] std::string to_string(Expr e, size_t max_length = kMaxTextLength);
std::ostream& operator<<(std::ostream& out, Expr e);

[[nodiscard]] std::string to_torch(Expr e);
// With `name_of`, symbols print as the caller says ("x.shape[0]").
[[nodiscard]] std::string to_python(
    Expr e, const std::function<std::string(Expr)>& name_of = {});
// torch._check(u0 >= 0)
[[nodiscard]] std::string to_check(
    Expr condition, const std::function<std::string(Expr)>& name_of = {});
[[nodiscard]] std::string to_smtlib(Expr e);
// Sizes are nonnegative, and positive where `is_positive` says so.
[[nodiscard]] std::string to_srepr(
    Expr e, const std::function<bool(Expr)>& is_positive = {});

}  // namespace proviso::inline v0_2
PROVISO_API_END
