// solver/forms/atom_pool.h - what polynomials are made of, as numbers.
//
//   AtomId x = atoms.symbol(expr);
//   AtomId q = atoms.id_of({.kind = AtomKind::kFloor, .a = x_plus_1, .b = two},
//                          1);
//   atoms[q].kind        AtomKind::kFloor
//   atoms.depth(q)       2: a floor of an atom
//
// Few things are atoms, so that more cancels: % is a floor, and Min, Max and
// Abs are pos(d) = max(0, d).  The parts of an atom are numbers of polynomials
// and conditions: whoever makes one (operations.h) says how deep they are.
#pragma once

#include <algorithm>
#include <vector>

#include "solver/forms/poly_pool.h"
#include "sym/expr.h"

namespace proviso::inline v0_2::internal {

enum class AtomKind : uint8_t {
  kSymbol,  // expr
  kFresh,   // a variable that an equality introduced; a, b tell it apart
  kFloor,   // floor(a / b)
  kPos,     // max(0, a)
  kIte,     // a where condition, else b
  kNamed,   // a, kept folded because its expansion would be large
  kFunc,    // op(a, b) without axioms beyond its range and its values
  kOpaque,  // expr, an integer that is not understood
};

// What equalities are solved for.
inline bool is_variable(AtomKind kind) {
  return kind == AtomKind::kSymbol || kind == AtomKind::kFresh;
}

struct Atom {
  AtomKind kind;
  Expr expr = {};
  PolyId a = kNoId, b = kNoId;
  FormulaId condition = kNoId;
  Op op = Op::kAdd;
  friend bool operator==(const Atom&, const Atom&) = default;
};

// The depth of an atom or connective whose deepest part has this depth; at most
// 255.
inline uint8_t one_deeper(unsigned depth) {
  return static_cast<uint8_t>(std::min(depth + 1, 255u));
}

class AtomPool {
 public:
  AtomId symbol(Expr e);
  // A variable that stands for something in the equality (or atom) `origin`;
  // `copy` tells several apart.
  AtomId fresh(uint32_t origin, uint32_t copy);
  AtomId opaque(Expr e);
  // `below`: the depth of its deepest part.
  AtomId id_of(const Atom& atom, unsigned below);

  const Atom& operator[](AtomId a) const { return atoms_[a]; }
  size_t size() const { return atoms_.size(); }
  bool is_variable(AtomId a) const {
    return internal::is_variable(atoms_[a].kind);
  }
  unsigned depth(AtomId a) const { return depth_[a]; }  // 1 of a symbol

 private:
  struct Keys;

  Interned<Atom, Keys> atoms_;
  std::vector<uint8_t> depth_;  // by atom
};

}  // namespace proviso::inline v0_2::internal
