// A kept point is moved until the condition holds, and is taken where the facts
// about what has moved hold as well.  The cheapest way comes first:
//
//   x >= 2, y >= x; kept x = 2, y = 3          wanted y - 2*x >= 0, which is -1
//     repair_by_step     x is at its end; y moves by 1, to 4
//   0 <= x; kept x = 64                        wanted (x - 1)//32 == 0
//     try_floor          x - 1 is to be at most 31: x moves to 32
//   a*b == c*d; kept all 2                     wanted a > c
//     scale_products     4*a, 2*c and 2*d: the products stay equal
//   whatever else        repair_by_search: a few likely values a variable
//
// A step to where one literal holds just so is the critical move of local
// search for integer arithmetic (Cai, Li and Zhang, Local search for SMT on
// linear integer arithmetic, 2022); this one has no second step.  A move costs
// the facts about the symbols that it changes; limits().repair_candidates
// variables are moved.  Complete for nothing.
#include "solver/candidate_models.h"

#include <algorithm>
#include <numeric>

#include "solver/limits_in_force.h"

namespace proviso::inline v0_2::internal {
namespace {

using Wide = __int128;  // of 64-bit values, sums and quotients fit

}  // namespace

bool CandidateModels::knows_model_of_facts(FormulaId goal) {
  kept_.index_facts();
  std::vector<AtomId> symbols = kept_.symbols_of(goal);
  for (size_t w = 0; w < fixed::kept_points; ++w) {
    if (kept_.meets_facts(symbols, w)) return true;
  }
  return false;
}

bool CandidateModels::finds_model(FormulaId goal) {
  kept_.index_facts();
  std::vector<AtomId> symbols = kept_.symbols_of(goal);
  for (size_t w = 0; w < fixed::kept_points; ++w) {
    if (!kept_.meets_facts(symbols, w) || kept_.point(w).truth(goal) != true)
      continue;
    if (wanted_) note_values(w);
    return true;
  }
  for (size_t w = 0; w < fixed::kept_points - 1; ++w) {
    if (kept_.meets_facts(symbols, w) && repair(goal, w, false)) return true;
  }
  return scale_products(goal, symbols);
}

bool CandidateModels::finds_model_by_search(FormulaId goal) {
  kept_.index_facts();
  std::vector<AtomId> symbols = kept_.symbols_of(goal);
  for (size_t w = 0; w < fixed::kept_points; ++w) {
    if (kept_.meets_facts(symbols, w) && repair(goal, w, true)) return true;
  }
  return false;
}

void CandidateModels::note_values(size_t w) {
  values_.clear();
  for (AtomId a : *wanted_) {
    values_.push_back(kept_.value_of(a, w));
  }
}

std::vector<int64_t> CandidateModels::find(FormulaId goal,
                                           const std::vector<AtomId>& symbols) {
  struct Wanted {
    const std::vector<AtomId>*& which;
    ~Wanted() { which = nullptr; }
  } wanted{wanted_ = &symbols};
  values_.clear();
  if (!finds_model(goal)) finds_model_by_search(goal);
  return std::move(values_);
}

// Changes one unsolved variable so that the goal holds.
bool CandidateModels::repair(FormulaId goal, size_t w, bool search) {
  const Formula& f = forms_.formulas[goal];
  if (f.kind == FormulaKind::kOr) {
    return std::any_of(f.kids.begin(), f.kids.end(),
                       [&](FormulaId kid) { return repair(kid, w, search); });
  }
  FormulaId literal = goal;
  if (f.kind == FormulaKind::kAnd) {  // the first part that fails
    for (FormulaId kid : f.kids) {
      if (kept_.point(w).truth(kid) == true) continue;
      literal = kid;
      break;
    }
  }
  const Formula& l = forms_.formulas[literal];
  if (l.poly == kNoId) return false;
  Poly p = domain_.normal(forms_.polys[l.poly]).poly;
  kept_.complete(p, w);
  return search ? repair_by_search(goal, p, w)
                : repair_by_step(goal, l.kind, p, w);
}

// A variable that is alone in a term goes where the literal holds, or a floor
// by a number does: (s - 1)//32 == 0 at s = 64 takes 31 for s - 1.
bool CandidateModels::repair_by_step(FormulaId goal, FormulaKind kind,
                                     const Poly& p, size_t w) {
  Point::Value now = kept_.point(w).value(p);
  if (!now) return false;
  size_t tried = 0;
  for (const Term& t : p.terms) {
    const Factors& factors = forms_.monomials.factors(t.mono);
    std::optional<int64_t> c = t.coef.to_int64();
    if (factors.size() != 1 || !c) continue;
    const AtomId a = factors[0];
    const bool is_free = kept_.is_free(a);
    if (!is_free && forms_.atoms[a].kind != AtomKind::kFloor) continue;
    if (++tried > limits().repair_candidates) break;
    const Point::Value x = kept_.point(w).value(variable(forms_, a));
    if (!x) continue;
    const Wide value = *now;
    auto moves_by = [&](Wide step) {
      const auto moved = static_cast<int64_t>(*x + step);
      return moved == *x + step && (is_free ? try_value(goal, w, a, moved)
                                            : try_floor(goal, w, a, moved));
    };
    if (kind == FormulaKind::kEq) {
      if (value % *c == 0 && moves_by(-(value / *c))) return true;
    } else if (kind == FormulaKind::kGe) {
      if (moves_by(*c > 0 ? -floor_quotient<Wide>(value, *c)
                          : floor_quotient<Wide>(-value, *c))) {
        return true;
      }
    } else if (moves_by(1) || moves_by(-1)) {
      return true;
    }
  }
  return false;
}

// A variable that is alone in a term of what is divided goes where the floor
// has the value.
bool CandidateModels::try_floor(FormulaId goal, size_t w, AtomId floor,
                                int64_t target) {
  const Atom& atom = forms_.atoms[floor];
  const Poly& divisor = forms_.polys[atom.b];
  const std::optional<int64_t> d = divisor.constant.to_int64();
  if (!divisor.is_constant() || !d || *d <= 0) return false;
  const Poly divided = domain_.normal(forms_.polys[atom.a]).poly;
  kept_.complete(divided, w);
  const Point::Value now = kept_.point(w).value(divided);
  if (!now) return false;
  const Wide first = Wide{target} * *d, last = first + (*d - 1);
  if (*now >= first && *now <= last) return false;
  const Wide missing = *now < first ? first - *now : last - *now;
  for (const Term& t : divided.terms) {
    const Factors& factors = forms_.monomials.factors(t.mono);
    const std::optional<int64_t> c = t.coef.to_int64();
    if (factors.size() != 1 || !kept_.is_free(factors[0]) || !c) continue;
    // Rounded so that it goes far enough.
    const bool is_up = (missing > 0) == (*c > 0);
    const Wide step = is_up ? -floor_quotient<Wide>(-missing, *c)
                            : floor_quotient<Wide>(missing, *c);
    const Wide moved = kept_.point(w).at(factors[0]) + step;
    const auto value = static_cast<int64_t>(moved);
    if (value == moved && try_value(goal, w, factors[0], value)) return true;
  }
  return false;
}

// A few likely values of each variable.
bool CandidateModels::repair_by_search(FormulaId goal, const Poly& p,
                                       size_t w) {
  size_t tried = 0;
  std::optional<int64_t> constant = abs(p.constant).to_int64();
  for (AtomId a : forms_.occurrences.of(p)) {
    if (!kept_.is_free(a)) continue;
    if (++tried > limits().repair_candidates) break;
    const Range r = domain_.atom_range(a);
    int64_t x = kept_.point(w).at(a);
    std::optional<int64_t> low = KeptModels::usable_end(r.span.lower());
    std::optional<int64_t> high = KeptModels::usable_end(r.span.upper());
    int64_t from = low.value_or(0);
    const auto is_within = [](int64_t v) {
      return -fixed::model_end < v && v < fixed::model_end;
    };
    if (!is_within(x)) x = from;  // what lies beside it is as far
    for (int64_t v :
         {from, from + 1, from + 2, from + 6, x + 1, x - 1, 2 * x, from + 13,
          from + 62, from + 510, constant.value_or(0), high.value_or(1000)}) {
      if (v != x && is_within(v) && try_value(goal, w, a, v)) return true;
    }
  }
  return false;
}

// The symbols whose values depend on x.
void CandidateModels::collect_affected(AtomId x, Symbols& out) {
  SmallVector<AtomId, 8> queue = {x};
  for (size_t i = 0; i < queue.size(); ++i) {
    AtomId a = queue[i];
    Budget::spend(1 + queue.size() / 16);
    if (forms_.atoms[a].kind == AtomKind::kSymbol) out.push_back(a);
    for (AtomId b : domain_.dependents_of(a)) {
      if (std::find(queue.begin(), queue.end(), b) == queue.end()) {
        queue.push_back(b);
      }
    }
  }
}

bool CandidateModels::try_values(FormulaId goal, size_t w,
                                 std::span<const Move> moves) {
  Symbols affected;
  for (const Move& m : moves) {
    if (!domain_.atom_range(m.x).span.contains(Int(m.value))) return false;
    domain_.spend(2);
    collect_affected(m.x, affected);
  }
  SmallVector<int64_t, 8> before;
  for (AtomId a : affected) before.push_back(kept_.value_of(a, w));
  auto restore = [&] {
    for (size_t i = 0; i < affected.size(); ++i) {
      kept_.point(w).set(affected[i], before[i]);
    }
  };
  struct Restored {
    decltype(restore)& last;
    ~Restored() { last(); }
  } restored{restore};
  for (const Move& m : moves) kept_.point(w).set(m.x, m.value);
  for (AtomId a : affected) kept_.substitute(a, w);
  bool ok = kept_.point(w).truth(goal) == true;
  for (size_t i = 0; ok && i < affected.size(); ++i) {
    for (FormulaId f : kept_.facts_about(affected[i])) {
      domain_.spend(1);
      ok = kept_.point(w).truth(f) == true;
      if (!ok) break;
    }
  }
  if (ok && wanted_) note_values(w);
  return ok;
}

// Equalities between products hold on when their factors are multiplied by
// powers of a number, with exponents that the equalities leave free
// (solver/monomials.h).  The goal's symbols come last, so that elimination
// leaves them free.
CandidateModels::Scalings CandidateModels::product_scalings(
    const std::vector<AtomId>& symbols) {
  std::vector<const Poly*> equalities;
  size_t looked_at = 0;
  for (FormulaId fact : kept_.component_facts(symbols[0])) {
    if (++looked_at > limits().scaling_facts) break;
    const Formula& f = forms_.formulas[fact];
    if (f.kind != FormulaKind::kEq) continue;
    const Poly& p = forms_.polys[f.poly];
    if (p.terms.size() != 2 || !p.constant.is_zero()) continue;
    if (forms_.monomials.single(p.terms[0].mono) == kNoId)
      equalities.push_back(&p);
  }
  auto has = [](const std::vector<AtomId>& all, AtomId a) {
    return std::find(all.begin(), all.end(), a) != all.end();
  };
  Scalings found;
  for (bool in_goal : {false, true}) {
    for (const Poly* p : equalities) {
      for (const Term& t : p->terms) {
        for (AtomId a : forms_.monomials.factors(t.mono)) {
          const bool is_next = kept_.is_free(a) && has(symbols, a) == in_goal;
          if (is_next && !has(found.factors, a)) found.factors.push_back(a);
        }
      }
    }
  }
  const size_t count = found.factors.size();
  if (count == 0 || count > limits().ratio_factors) return {};
  MonomialEqualities system;
  for (const Poly* p : equalities) {
    Exponents powers(count);
    for (size_t side = 0; side < 2; ++side) {
      for (AtomId a : forms_.monomials.factors(p->terms[side].mono)) {
        const auto at =
            std::find(found.factors.begin(), found.factors.end(), a);
        if (at == found.factors.end()) continue;
        powers[static_cast<size_t>(at - found.factors.begin())] +=
            side == 0 ? 1 : -1;
      }
    }
    found.is_homogeneous &=
        std::accumulate(powers.begin(), powers.end(), int64_t{0}) == 0;
    system.add(std::move(powers), Rational(1), 0);
  }
  domain_.spend(equalities.size());
  found.exponents = system.invariant_scalings(count, limits().scalings);
  return found;
}

// Whether a scaling meets the other facts and the goal.
bool CandidateModels::scale_products(FormulaId goal,
                                     const std::vector<AtomId>& symbols) {
  if (symbols.empty()) return false;
  const Scalings scalings = product_scalings(symbols);
  for (size_t w = 0; w < fixed::kept_points && !scalings.exponents.empty();
       ++w) {
    if (!kept_.meets_facts(symbols, w)) continue;
    for (const Exponents& by : scalings.exponents) {
      const int64_t least =
          std::min<int64_t>(*std::min_element(by.begin(), by.end()), 0);
      if (least < 0 && !scalings.is_homogeneous) continue;
      for (int64_t base : {2, 3}) {
        if (try_scaling(goal, w, scalings.factors, by, least, base)) {
          return true;
        }
      }
    }
  }
  return false;
}

// x times base**(by[x] - least), for each factor.
bool CandidateModels::try_scaling(FormulaId goal, size_t w,
                                  const std::vector<AtomId>& factors,
                                  const Exponents& by, int64_t least,
                                  int64_t base) {
  SmallVector<Move, 8> moves;
  for (size_t i = 0; i < factors.size(); ++i) {
    int64_t value = kept_.point(w).at(factors[i]);
    for (int64_t k = least; k < by[i]; ++k) {
      if (std::abs(value) > fixed::model_end) return false;
      value *= base;
    }
    if (by[i] != least) moves.push_back({factors[i], value});
  }
  return try_values(goal, w, std::span(moves.begin(), moves.end()));
}

}  // namespace proviso::inline v0_2::internal
