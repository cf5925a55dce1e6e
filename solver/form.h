// solver/form.h - the solver's own normal form: what tiers compute with.
//
//   Poly p = forms.sum({forms.variable(a), forms.constant(-3)});   // a - 3
//   FormulaId f = forms.ge(p);                                     // a >= 3
//
// An integer expression is a polynomial (integer coefficients, monomials of
// atoms).  Few things are atoms: % and ModularIndexing become floor, Min, Max
// and Abs become pos(d) = max(0, d), so that D//k, D % k and Min/Max cancel
// against each other.  A condition is p >= 0, p == 0 or p != 0 under And and
// Or, with negation pushed in.  Everything is interned; ids count in order of
// creation and are never reused.
//
// Rewrites made here hold at every point, with x//0 read as some fixed function
// of x: that divisors are not zero is a condition of its own (solver/lower.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sym/expr.h"
#include "sym/intern_index.h"
#include "sym/rewrite_rule.h"
#include "sym/small_vector.h"
#include "sym/stable_vector.h"

namespace proviso::inline v0_2::internal {

using AtomId = uint32_t;
using MonoId = uint32_t;  // 0 is the monomial 1
using PolyId = uint32_t;
// 0 is false, 1 is true; a condition and its negation differ in the last bit.
using FormulaId = uint32_t;
using Factors = SmallVector<AtomId, 4>;  // sorted
using Atoms = SmallVector<AtomId, 4>;    // sorted, each once
inline constexpr FormulaId kFalse = 0, kTrue = 1;

struct Term {
  MonoId mono;
  Int coef;  // not zero
  friend bool operator==(const Term&, const Term&) = default;
};

struct Poly {
  Int constant;
  SmallVector<Term, 4> terms;  // ascending mono, none is the monomial 1

  bool is_constant() const { return terms.empty(); }
  bool is_zero() const { return terms.empty() && constant.is_zero(); }
  Int content() const;  // gcd of the coefficients, without the constant
  friend bool operator==(const Poly&, const Poly&) = default;
};

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

enum class FormulaKind : uint8_t {
  kConstantFalse,
  kConstantTrue,
  kGe,
  kEq,
  kNe,
  kAnd,
  kOr,
  kOpaque
};

struct Formula {
  FormulaKind kind;
  PolyId poly = kNoId;               // kGe, kEq, kNe: against 0
  std::vector<FormulaId> kids = {};  // kAnd, kOr: sorted
  Expr expr = {};                    // kOpaque: a condition not understood, or
  bool about_definedness = false;    //   that `expr` is defined
  bool positive = true;
  bool is_made = true;  // false in a negation's place until it is looked at
  friend bool operator==(const Formula&, const Formula&) = default;
};

// The rules of floors by numbers, which hold at every point, with how often
// each was used.
std::vector<RewriteRuleCount> number_division_rule_counts();

class FormPool {
 public:
  FormPool();

  // --- atoms and monomials
  AtomId symbol(Expr e);
  // A variable that stands for something in the equality (or atom) `origin`;
  // `copy` tells several apart.
  AtomId fresh(uint32_t origin, uint32_t copy);
  AtomId opaque(Expr e);
  const Atom& atom(AtomId a) const { return atoms_[a]; }
  bool is_variable(AtomId a) const {
    return internal::is_variable(atoms_[a].kind);
  }
  size_t atom_count() const { return atoms_.size(); }
  MonoId mono(AtomId a);
  MonoId mono(const Factors& factors);
  const Factors& factors(MonoId m) const { return monos_[m]; }
  // The only factor; kNoId of 1 and of products.
  AtomId single(MonoId m) const { return single_[m]; }
  MonoId product(MonoId a, MonoId b);
  // a / b where b divides a, else kNoId.
  MonoId quotient(MonoId a, MonoId b);

  // --- polynomials (references to interned things stay valid)
  static Poly constant(const Int& c) { return {c, {}}; }
  Poly variable(AtomId a);
  Poly monomial(MonoId m, const Int& coef);
  Poly sum(const std::vector<Poly>& parts) const;
  // Adds coef * m, which merge_terms() then puts in its place.
  static void append(Poly& p, MonoId m, const Int& coef);
  // p / k, each coefficient and the constant rounded down.
  static Poly over(const Poly& p, const Int& k);
  // Terms in order, each monomial once, none with 0.
  static void merge_terms(Poly& p);
  Poly add(const Poly& a, const Poly& b, const Int& b_times = 1) const;
  Poly sub(const Poly& a, const Poly& b) const { return add(a, b, -1); }
  Poly scale(const Poly& a, const Int& k) const;
  size_t degree(const Poly& p) const;  // the most factors of a term
  Poly mul(const Poly& a, const Poly& b);
  Poly pow(const Poly& a, unsigned n);
  // p / a, where a is in every term of p and there is no constant; and that of
  // p less its constant.
  std::optional<Poly> without_factor(const Poly& p, AtomId a) {
    return p.constant.is_zero() ? terms_without_factor(p, a) : std::nullopt;
  }
  std::optional<Poly> terms_without_factor(const Poly& p, AtomId a);
  PolyId intern(const Poly& p);
  const Poly& poly(PolyId id) const { return polys_[id]; }

  // p == scale * form + p.constant, where the coefficients of the form have no
  // common factor and the first is positive.  Requires a term.
  struct View {
    PolyId form = kNoId;
    Int scale;
  };
  View view(const Poly& p);
  const View& view(PolyId p);  // remembered

  // An order that products respect: by degree, then by factors.
  bool leads(MonoId a, MonoId b) const;
  // The first term in that order.  Requires one.
  const Term& leading(const Poly& p) const;
  // The polynomial q with a == q*b, if there is one (and it is soon found).
  std::optional<Poly> exact_quotient(const Poly& a, const Poly& b);
  Poly floor_div(const Poly& a, const Poly& b);
  Poly mod(const Poly& a, const Poly& b);
  Poly pos(const Poly& d);
  Poly max(const Poly& a, const Poly& b) { return add(a, pos(sub(b, a))); }
  Poly min(const Poly& a, const Poly& b) { return sub(a, pos(sub(a, b))); }
  Poly ite(FormulaId condition, const Poly& a, const Poly& b);
  Poly func(Op op, const Poly& a, const Poly& b);

  // Whether p is a multiple of an atom, shifted.
  bool is_single(const Poly& p) const {
    return p.terms.size() == 1 && single(p.terms[0].mono) != kNoId;
  }
  // The single atom that p is, if it is one.
  std::optional<AtomId> as_atom(const Poly& p) const;

  // --- conditions, in canonical form
  FormulaId ge(const Poly& p);
  FormulaId eq(const Poly& p);
  FormulaId ne(const Poly& p) { return negate(eq(p)); }
  FormulaId relation(FormulaKind kind, const Poly& p);  // one of these
  FormulaId all_of(std::vector<FormulaId> kids);
  FormulaId any_of(std::vector<FormulaId> kids);
  static FormulaId negate(FormulaId f) { return f ^ 1; }
  FormulaId opaque_condition(Expr e, bool about_definedness);
  const Formula& formula(FormulaId f) {
    return is_made(f) ? formulas_[f] : make_negation(f);
  }
  // False of negations that nobody looked at yet.
  bool is_made(FormulaId f) const { return formulas_[f].is_made; }

  // --- atoms and connectives within one another: 0 of a constant, 1 of 2*s0
  unsigned depth(const Poly& p) const;
  unsigned formula_depth(FormulaId f) const;

  // --- atoms that occur, at any depth; sorted
  const Atoms& atoms_of(PolyId p);
  const Atoms& atoms_within(AtomId a);  // a itself included
  Atoms atoms_of(const Poly& p);
  const Atoms& atoms_of_formula(FormulaId f);

  std::string to_string(const Poly& p);
  std::string to_string(FormulaId f);

 private:
  friend std::vector<RewriteRuleCount> number_division_rule_counts();

  // What is asked of a polynomial, on one line of the cache.
  struct About {
    View view;                         // without a form until asked for
    FormulaId ge = kNoId, eq = kNoId;  // p >= 0 and p == 0, once made
    Atoms atoms;                       // empty until asked for
  };
  static_assert(sizeof(About) == 64);

  AtomId intern(const Atom& atom);
  PolyId intern_divided(const Poly& p, const Int& k);  // rounded down
  PolyId opposite(const Poly& p) const;
  std::optional<std::pair<Int, Int>> remainder_range(const Poly& p) const;
  FormulaId add(const Formula& formula);
  FormulaId intern(const Formula& formula);
  const Formula& make_negation(FormulaId f);
  FormulaId connect(FormulaKind kind, std::vector<FormulaId> kids);
  struct NumberDivision;
  Poly floor_by_number(Poly a, const Int& k);
  void collect(const Poly& p, Atoms& out);
  std::string name(AtomId a);

  StableVector<Atom> atoms_;
  StableVector<Factors> monos_;
  StableVector<Poly> polys_;
  StableVector<About> about_;  // by polynomial
  StableVector<Formula> formulas_;
  // Of formulas those that are no relations.
  InternIndex atom_index_, mono_index_, poly_index_, formula_index_,
      product_index_;
  std::vector<std::pair<uint64_t, MonoId>> products_;  // of two, by their ids
  std::vector<MonoId> mono_of_atom_;
  std::vector<AtomId> single_;  // by monomial
  // By atom, and by formula without the last bit; up to 255.
  std::vector<uint8_t> atom_depth_, formula_depth_;
  StableVector<Atoms> atoms_within_, atoms_of_formula_;  // as About's
};

}  // namespace proviso::inline v0_2::internal
