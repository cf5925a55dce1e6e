// From the top: rewrite() puts the representatives of atoms in their places,
// the representative of an atom is its solved value or rebuild() of its parts'
// representatives, and decide(), at the end, asks for the polynomial first and
// for its normal form then.
#include "solver/normal/normal_form.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "solver/fixed_limits.h"
#include "solver/forms/form_ring.h"

namespace proviso::inline v0_2::internal {

constinit const NormalForm::Representative NormalForm::kItself = {};

// An atom whose representative is being made.
class NormalForm::Visit {
 public:
  Visit(NormalForm& within, AtomId a)
      : within_(within), atom_(within.state_.atoms.record(a)) {
    atom_.is_visited = true;
    ++within_.nesting_;
  }
  ~Visit() {
    atom_.is_visited = false;
    --within_.nesting_;
  }

 private:
  NormalForm& within_;
  AtomRecord& atom_;
};

// Normal forms that are asked for while another is made, as if none was.
class NormalForm::Bottom {
 public:
  explicit Bottom(NormalForm& within)
      : within_(within), outer_(std::exchange(within.nesting_, 0)) {
    ++within_.bottoms_;
  }
  ~Bottom() {
    within_.nesting_ = outer_;
    --within_.bottoms_;
  }
  Bottom(const Bottom&) = delete;
  Bottom& operator=(const Bottom&) = delete;

 private:
  NormalForm& within_;
  const int outer_;
};

bool NormalForm::rewrite(const Poly& p, Normal& n) {
  state_.meter.spend(p.terms.size());
  // Most polynomials have no atom that is something else.
  const bool stays =
      std::none_of(p.terms.begin(), p.terms.end(), [this](const Term& t) {
        const AtomId x = forms_.monomials.single(t.mono);
        if (x != kNoId) return representative_of(x).poly != kNoId;
        const Factors& factors = forms_.monomials.factors(t.mono);
        return std::any_of(factors.begin(), factors.end(), [this](AtomId a) {
          return representative_of(a).poly != kNoId;
        });
      });
  if (stays) return n.changed = false;
  const auto representative = [&](AtomId a) -> const Poly* {
    const Representative& of_atom = representative_of(a);
    if (of_atom.poly == kNoId) return nullptr;
    n.why = join(n.why, of_atom.why);
    return &forms_.polys[of_atom.poly];
  };
  return n.changed =
             substitute_atoms(FormRing(forms_), p, representative, n.poly);
}

const NormalForm::Representative& NormalForm::derived_representative(
    AtomId a, const AtomRecord& r) {
  const uint32_t slot = state_.atoms.cache_of(r);
  if (slot >= representatives_.size()) representatives_.resize(slot + 1);
  Cached& known = representatives_[slot];
  if (known.stamp == state_.trail.stamp()) return known.representative;
  if (r.is_visited) return kItself;
  if (nesting_ >= kLevelsAtOnce) {
    // What was rewritten may be made of other atoms, around and around in
    // definitions that refer to each other.
    if (nesting_ == fixed::definition_levels ||
        bottoms_ == fixed::definition_rounds)
      return kItself;
    make_representatives_below(a);
  }
  state_.meter.spend(4);
  Representative representative;
  {
    const Visit visit(*this, a);
    if (r.solved != kNoId) {
      const Substitution::Solved& solved = state_.substitution.solved(r);
      Normal n;
      const bool changed = rewrite(forms_.polys[solved.value], n);
      representative = {changed ? forms_.polys.id_of(n.poly) : solved.value,
                        join(n.why, solved.why)};
    } else {
      representative = rebuild(a);
    }
  }
  // Each substitution may put atoms within atoms: past a depth they stay.
  if (representative.poly != kNoId &&
      forms_.depth(forms_.polys[representative.poly]) > fixed::atom_depth) {
    representative = {};
  }
  known.representative = representative;
  known.stamp = state_.trail.stamp();
  return known.representative;
}

// The representatives of all that the representative of `a` is made of.
void NormalForm::make_representatives_below(AtomId a) {
  std::vector<std::pair<AtomId, bool>> stack{{a, false}};
  std::unordered_set<AtomId> seen;
  auto push = [&](PolyId p) {
    if (p == kNoId) return;
    for (const Term& t : forms_.polys[p].terms) {
      for (AtomId x : forms_.monomials.factors(t.mono)) {
        if (!seen.contains(x)) stack.push_back({x, false});
      }
    }
  };
  while (!stack.empty()) {
    const auto [next, is_open] = stack.back();
    state_.meter.spend(4);
    if (is_open || seen.contains(next)) {
      stack.pop_back();
      if (!is_open || next == a) continue;
      const Bottom bottom(*this);
      representative_of(next);
      continue;
    }
    stack.back().second = true;
    seen.insert(next);
    const Atom& atom = forms_.atoms[next];
    if (state_.substitution.is_solved(next)) {
      push(state_.substitution.value_of(next));
    } else if (!is_variable(atom.kind)) {
      push(atom.a);
      push(atom.b);
    }
  }
}

NormalForm::Representative NormalForm::rebuild(AtomId a) {
  Normal n;
  if (!rebuild_parts(a, forms_.atoms[a], n)) return {};
  if (as_atom(forms_, n.poly) == a) return {};
  // The rewritten atom may itself have been solved for.
  bool again = false;
  for (const Term& t : n.poly.terms) {
    for (AtomId f : forms_.monomials.factors(t.mono)) {
      again |= state_.substitution.is_solved(f);
    }
  }
  if (again) {
    const Normal m = of(n.poly);
    if (m.changed) n.poly = m.poly, n.why = join(n.why, m.why);
  }
  return {forms_.polys.id_of(n.poly), n.why};
}

// The atom over the normal forms of its parts; false where that is itself.
bool NormalForm::rebuild_parts(AtomId a, const Atom& atom, Normal& n) {
  const Poly nothing;
  const Poly& first = forms_.polys[atom.a];
  const Poly& second = atom.b == kNoId ? nothing : forms_.polys[atom.b];
  Normal nx, ny;
  const Poly& x = rewrite(first, nx) ? nx.poly : first;
  const Poly& y = rewrite(second, ny) ? ny.poly : second;
  n.why = join(nx.why, ny.why);
  const bool changed = nx.changed || ny.changed;
  state_.meter.spend(1 + x.terms.size() + y.terms.size());
  switch (atom.kind) {
    case AtomKind::kFloor: {
      if (changed || !y.is_constant() || quotients_.has_prover()) {
        n.poly = quotients_.quotient(x, y, n.why);
        return true;
      }
      const Range& r = ranges_.of_atom(a);
      if (!r.span.is_point()) return false;
      n.why = join(r.lower, r.upper);
      n.poly = Poly::number(*r.span.lower());
      return true;
    }
    case AtomKind::kPos: {
      const Range d = ranges_.of(x);
      if (d.span.is_empty()) return false;
      if (at_least(d, 0)) {
        n.poly = x;
        n.why = join(n.why, d.lower);
      } else if (at_most(d, 0)) {
        n.poly = {};
        n.why = join(n.why, d.upper);
      } else if (changed) {
        n.poly = pos(forms_, x);
      } else {
        return false;
      }
      return true;
    }
    case AtomKind::kIte: {
      Decision c;
      if (decide(atom.condition, c)) {
        n.poly = *c.value ? x : y;
        n.why = join((*c.value ? nx : ny).why, c.why);
      } else if (changed) {
        n.poly = where(forms_, atom.condition, x, y);
      } else {
        return false;
      }
      return true;
    }
    case AtomKind::kNamed: n.poly = x; return changed;
    case AtomKind::kFunc:
      n.poly = functions_.value(atom.op, x, y, n.why);
      return true;
    case AtomKind::kSymbol:
    case AtomKind::kFresh:
    case AtomKind::kOpaque: break;  // they have no parts
  }
  return false;
}

// --- deciding

bool NormalForm::decide_by_kids(const Formula& formula, Decision& d) {
  const bool absorbing = formula.kind == FormulaKind::kOr;
  bool all = true;
  Decision together;
  together.value = !absorbing;
  for (FormulaId kid : formula.kids) {
    Decision k;
    if (!decide(kid, k)) {
      all = false;
      continue;
    }
    if (*k.value == absorbing) {
      d = k;
      return true;
    }
    together.why = join(together.why, k.why);
    together.used_equalities |= k.used_equalities;
  }
  if (all) d = together;
  return all;
}

bool NormalForm::decide(FormulaId f, Decision& d) {
  const Formula& formula = forms_.formulas[f];
  switch (formula.kind) {
    case FormulaKind::kConstantFalse:
    case FormulaKind::kConstantTrue:
    case FormulaKind::kOpaque: return literals_.is_asserted(f, d);
    case FormulaKind::kAnd:
    case FormulaKind::kOr:
      return literals_.is_asserted(f, d) || decide_by_kids(formula, d);
    case FormulaKind::kGe:
    case FormulaKind::kEq:
    case FormulaKind::kNe: break;
  }
  Range r;
  if (literals_.decide_fast(f, r, d)) return true;
  Normal n;
  if (rewrite(forms_.polys[formula.poly], n)) {
    FormulaId g = forms_.formulas.relation(formula.kind, n.poly);
    if (g <= kTrue ? literals_.is_asserted(g, d) : literals_.decide(g, d)) {
      d.used_equalities = true;
      d.why = join(d.why, n.why);
      return true;
    }
  }
  return literals_.decide_slowly(f, r, d);
}

}  // namespace proviso::inline v0_2::internal
