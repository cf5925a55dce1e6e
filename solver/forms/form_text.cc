#include "solver/forms/form_text.h"

namespace proviso::inline v0_2::internal {
namespace {

std::string atom_to_string(FormPool& forms, AtomId a) {
  const Atom& atom = forms.atoms[a];
  auto text = [&](PolyId p) { return to_string(forms, forms.polys[p]); };
  switch (atom.kind) {
    case AtomKind::kSymbol: return atom.expr.symbol().name;
    case AtomKind::kFresh: return "t" + std::to_string(a);
    case AtomKind::kFloor:
      return "floor(" + text(atom.a) + ", " + text(atom.b) + ")";
    case AtomKind::kPos: return "pos(" + text(atom.a) + ")";
    case AtomKind::kIte:
      return "ite(" + formula_to_string(forms, atom.condition) + ", " +
             text(atom.a) + ", " + text(atom.b) + ")";
    case AtomKind::kNamed: return "[" + text(atom.a) + "]";
    case AtomKind::kFunc:
      return std::string(info(atom.op).name) + "(" + text(atom.a) + ", " +
             text(atom.b) + ")";
    case AtomKind::kOpaque: return "e" + std::to_string(atom.expr.id());
  }
  return "?";
}

}  // namespace

std::string to_string(FormPool& forms, const Poly& p) {
  std::string out;
  for (const Term& t : p.terms) {
    out += (out.empty() ? "" : " + ") + t.coef.to_string();
    for (AtomId a : forms.monomials.factors(t.mono)) {
      out += "*" + atom_to_string(forms, a);
    }
  }
  if (!p.constant.is_zero() || out.empty()) {
    out += (out.empty() ? "" : " + ") + p.constant.to_string();
  }
  return out;
}

std::string formula_to_string(FormPool& forms, FormulaId f) {
  const Formula& formula = forms.formulas[f];
  auto sign = [&](const char* relation) {
    return to_string(forms, forms.polys[formula.poly]) + relation;
  };
  switch (formula.kind) {
    case FormulaKind::kConstantFalse: return "False";
    case FormulaKind::kConstantTrue: return "True";
    case FormulaKind::kGe: return sign(" >= 0");
    case FormulaKind::kEq: return sign(" == 0");
    case FormulaKind::kNe: return sign(" != 0");
    case FormulaKind::kOpaque:
      return (formula.positive ? "c" : "~c") +
             std::to_string(formula.expr.id());
    case FormulaKind::kAnd:
    case FormulaKind::kOr: break;
  }
  std::string out;
  for (FormulaId kid : formula.kids) {
    if (!out.empty()) out += formula.kind == FormulaKind::kAnd ? " & " : " | ";
    out += "(" + formula_to_string(forms, kid) + ")";
  }
  return out;
}

}  // namespace proviso::inline v0_2::internal
