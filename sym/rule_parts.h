// sym/rule_parts.h - what rules of the search take expressions apart with, and
// put them together.  Not for callers of the library.
//
//   split_off(2*x*y + z, x)            2*y as the factor of x, and z
//   sign_of(x < y)                     y - x - 1 >= 0
//   block_of(search, 4*x + y, 4)       4*x + y lies in block 0 for y in [0, 3]
#pragma once

#include <optional>
#include <vector>

#include "sym/polynomial.h"
#include "sym/rules.h"

namespace proviso::inline v0_2::internal {

inline Polynomial as_sum(Expr e) { return to_polynomial(e); }
// Whether e is written as a sum or a product, of integers.
bool is_sum(Expr e);
// Whether e is a sum of symbols times numbers, as it is written.
bool is_linear_sum(Expr e);
// The sum that e is, where it has at most fixed::rule_terms terms; else null.
const Polynomial* small_sum(FormSearch& search, Expr e);

// p == factor * atom + rest, where the atom is in neither; nothing when it is
// in a power.
struct Linear {
  Polynomial factor, rest;
};
std::optional<Linear> split_off(const Polynomial& p, Expr atom);
// p == coefficient * atom + rest; nothing when the factor is no number.
struct ConstantTimes {
  Int coefficient;
  Polynomial rest;
};
std::optional<ConstantTimes> constant_times(const Polynomial& p, Expr atom);
// The atoms of p that are of one kind; few_atoms: none where they are many.
std::vector<Expr> atoms_of(const Polynomial& p, Op op);
std::vector<Expr> few_atoms(const Polynomial& p, Op op);
bool contains(Expr e, Op op);
// The terms that both have, with one coefficient.
Polynomial equal_terms(const Polynomial& p, const Polynomial& q);
// p == g*high + low, where low >= block*g and low < (block + 1)*g everywhere;
// nothing where either is trivial or that is not seen.
struct Block {
  Polynomial high, low;
  Int block;
};
std::optional<Block> block_of(FormSearch& search, const Polynomial& p,
                              const Int& g);
// What a relation says: of a polynomial that it is >= 0, 0 or not 0.
struct Sign {
  Op op;  // kLe: p >= 0; kEq; kNe
  Polynomial p;
};
std::optional<Sign> sign_of(Expr relation);
// Forms of a % m with its high part apart: (4*x + y) % 12 is 4*(x % 3) + y for
// y in [0, 3].
void split_remainders(FormSearch& search, Expr e, Found& found);
// What p is with a known 0 added, times what makes a term of p go.
std::vector<Polynomial> without_zeros(FormSearch& search, const Polynomial& p);
// The canonical relation.
Expr relation_of(FormSearch& search, Op op, const Polynomial& p);
Op dual(Op op);  // Min and Max, And and Or
// The inverse of operands(e, op) (sym/find_node.h).
Expr joined(FormSearch& search, Op op, const std::vector<Expr>& args);
// The parts of an And, or the opposites of an Or's; and back.
std::vector<Expr> conjuncts(FormSearch& search, Expr e);
Expr conjunction(FormSearch& search, Op op, std::vector<Expr> parts);
// Whether e is defined at every point, as far as that is seen at once.
bool is_total(FormSearch& search, Expr e);

}  // namespace proviso::inline v0_2::internal
