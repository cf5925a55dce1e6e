#include "solver/lowering/raising.h"

#include <vector>

#include "sym/budget.h"

namespace proviso::inline v0_2::internal {
namespace {

class Raising {
 public:
  Raising(ExprPool& pool, FormPool& forms) : pool_(pool), forms_(forms) {}

  std::optional<Expr> poly(const Poly& p) {
    std::vector<Expr> sum;
    for (const Term& t : p.terms) {
      // A power is written out: as many factors as its exponent says.
      Budget::spend(2 + 4 * forms_.monomials.factors(t.mono).size());
      std::vector<Expr> product;
      if (!t.coef.is_one()) product.push_back(pool_.integer(t.coef));
      for (AtomId a : forms_.monomials.factors(t.mono)) {
        std::optional<Expr> e = atom(forms_.atoms[a]);
        if (!e) return std::nullopt;
        product.push_back(*e);
      }
      sum.push_back(product.size() == 1 ? product[0]
                                        : pool_.make(Op::kMul, product));
    }
    if (!p.constant.is_zero() || sum.empty()) {
      sum.push_back(pool_.integer(p.constant));
    }
    return sum.size() == 1 ? sum[0] : pool_.make(Op::kAdd, sum);
  }

 private:
  std::optional<Expr> atom(const Atom& a) {
    if (a.kind == AtomKind::kSymbol || a.kind == AtomKind::kOpaque) {
      return a.expr;
    }
    if (a.kind == AtomKind::kFresh) return std::nullopt;
    std::optional<Expr> x = poly(forms_.polys[a.a]), y;
    if (!x) return std::nullopt;
    if (a.b != kNoId && !(y = poly(forms_.polys[a.b]))) return std::nullopt;
    switch (a.kind) {
      case AtomKind::kFloor: return floor_div(*x, *y);
      case AtomKind::kPos: return max(pool_.integer(0), *x);
      case AtomKind::kFunc: return pool_.make(a.op, {*x, *y});
      case AtomKind::kIte: {
        std::optional<Expr> c = condition(a.condition);
        if (!c) return std::nullopt;
        return where(*c, *x, *y);
      }
      case AtomKind::kNamed: return x;
      case AtomKind::kSymbol:
      case AtomKind::kFresh:
      case AtomKind::kOpaque: break;
    }
    return std::nullopt;
  }

  std::optional<Expr> condition(FormulaId id) {
    const Formula& f = forms_.formulas[id];
    if (f.kind == FormulaKind::kOpaque) {
      if (f.about_definedness) return std::nullopt;
      return f.positive ? f.expr : logical_not(f.expr);
    }
    if (f.poly == kNoId) {
      std::vector<Expr> kids;
      for (FormulaId kid : f.kids) {
        std::optional<Expr> e = condition(kid);
        if (!e) return std::nullopt;
        kids.push_back(*e);
      }
      if (kids.empty())
        return pool_.boolean(f.kind == FormulaKind::kConstantTrue);
      return pool_.make(f.kind == FormulaKind::kAnd ? Op::kAnd : Op::kOr, kids);
    }
    std::optional<Expr> p = poly(forms_.polys[f.poly]);
    if (!p) return std::nullopt;
    switch (f.kind) {
      case FormulaKind::kGe: return ge(*p, 0);
      case FormulaKind::kEq: return eq(*p, 0);
      case FormulaKind::kNe: return ne(*p, 0);
      case FormulaKind::kConstantFalse:
      case FormulaKind::kConstantTrue:
      case FormulaKind::kAnd:
      case FormulaKind::kOr:
      case FormulaKind::kOpaque: break;
    }
    return std::nullopt;
  }

  ExprPool& pool_;
  FormPool& forms_;
};

}  // namespace

std::optional<Expr> to_expr(ExprPool& pool, FormPool& forms, const Poly& p) {
  return Raising(pool, forms).poly(p);
}

}  // namespace proviso::inline v0_2::internal
