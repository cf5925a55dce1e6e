// Lemmas about products: linear rows over monomials that occur already.
#include <algorithm>
#include <deque>

#include "solver/limits.h"
#include "solver/prover.h"

namespace proviso {
namespace {

// A row's unknowns are monomials.
Poly poly_of(const LinearRow& r) {
  Poly p = FormPool::constant(r.constant);
  for (const LinearTerm& t : r.terms) p.terms.push_back({t.unknown, t.coef});
  return p;
}

}  // namespace

// p less |A|*row for a row about x that bounds it, p = A*x + rest: no more than
// p is, and with so many terms at most.
std::optional<Poly> Prover::lowered(const Poly& p, size_t terms, Reason& why) {
  SmallVector<AtomId, 8> tried;
  for (const Term& of : p.terms) {
    for (AtomId x : forms_.factors(of.mono)) {
      if (std::find(tried.begin(), tried.end(), x) != tried.end()) continue;
      tried.push_back(x);
      if (auto less = lowered(p, x, terms, why)) return less;
    }
  }
  return std::nullopt;
}

std::optional<Poly> Prover::lowered(const Poly& p, AtomId x, size_t terms,
                                    Reason& why) {
  const MonoId single = forms_.mono(x);
  std::optional<Poly> times;  // |A|
  int sign = 0;               // of A
  Reason sign_why = 0;
  size_t looked_at = 0;
  for (uint32_t i : domain_.constraints_of(x)) {
    if (++looked_at > limits().factor_rows) return std::nullopt;
    const Domain::Constraint& constraint = domain_.constraints()[i];
    const Formula& f = forms_.formula(constraint.formula);
    if (!constraint.active || constraint.is_original ||
        f.kind != FormulaKind::kGe)
      continue;
    const Poly& row = forms_.poly(f.poly);
    if (row.terms.size() > limits().factor_terms) continue;
    const Term* t =
        std::find_if(row.terms.begin(), row.terms.end(),
                     [&](const Term& r) { return r.mono == single; });
    if (t == row.terms.end() || !abs(t->coef).is_one()) continue;
    if (!times) {
      times.emplace();
      for (const Term& part : p.terms) {
        const MonoId rest = forms_.quotient(part.mono, single);
        if (rest == kNoId) continue;
        if (forms_.quotient(rest, single) != kNoId) return std::nullopt;  // x*x
        FormPool::append(*times, rest, part.coef);
      }
      FormPool::merge_terms(*times);
      const Range r = domain_.plain_range(*times);
      sign = at_least(r, 0) ? 1 : at_most(r, 0) ? -1 : 0;
      if (sign == 0) return std::nullopt;
      sign_why = sign > 0 ? r.lower : r.upper;
      if (sign < 0) times = forms_.scale(*times, -1);
    }
    if (t->coef.sign() != sign) continue;
    domain_.spend(times->terms.size() * row.terms.size());
    Poly less = forms_.sub(p, forms_.mul(*times, row));
    if (less.terms.size() > terms) continue;
    why = reasons_.join(why, reasons_.join(constraint.why, sign_why));
    return less;
  }
  return std::nullopt;
}

// Linearised indices: i < m and j < n make i*n + j < m*n.  A side step leaves
// as many terms as there were.
bool Prover::is_nonnegative(Poly p, int side_steps, Reason& why) {
  const bool looks_closely = side_steps > 0;
  for (;;) {
    std::optional<Poly> less = lowered(p, p.terms.size() - 1, why);
    if (!less && side_steps-- > 0) less = lowered(p, p.terms.size(), why);
    if (!less) return false;
    p = *std::move(less);
    const Range r = looks_closely ? domain_.range(p) : domain_.plain_range(p);
    if (!at_least(r, 0)) continue;
    why = reasons_.join(why, r.lower);
    return true;
  }
}

Decision Prover::decide_by_rows(FormulaId f, int side_steps) {
  const Formula& formula = forms_.formula(f);
  if (formula.poly == kNoId) return {};
  const Normal n = domain_.normal(forms_.poly(formula.poly));
  if (n.poly.terms.size() < 2 ||
      n.poly.terms.size() > limits().product_row_terms)
    return {};
  if (is_linear(n.poly)) return {};  // linear rows decide it
  return decide_by_sign(formula.kind, n, [&](const Poly& p, Reason& why) {
    return is_nonnegative(p, side_steps, why);
  });
}

bool Prover::is_new(MonoId m) const {
  return m >= seen_mono_.size() || !seen_mono_[m];
}

// How many monomials of p no row mentions yet.
size_t Prover::new_monos(const Poly& p) const {
  size_t count = 0;
  for (const Term& t : p.terms) count += is_new(t.mono);
  return count;
}

// For a monomial x*rest: (x - low)*(rest - low) >= 0 and the other corners, and
// row*(x - low) >= 0 for rows that mention rest, as long as at most one new
// monomial appears.
std::vector<LinearRow> Prover::product_lemmas(const Neighborhood& near) {
  std::vector<LinearRow> lemmas;
  auto keep = [&](const Poly& p, bool equality, Reason why, size_t allowed) {
    if (new_monos(p) > allowed || lemmas.size() >= limits().product_lemmas)
      return;
    domain_.spend(1 + p.terms.size());
    push_row(lemmas, p, equality, why);
  };
  // Both ends as polynomials that are >= 0.
  struct Side {
    Poly poly;
    Reason why;
  };
  std::deque<std::pair<MonoId, std::vector<Side>>> known;
  auto sides = [&](MonoId m) -> const std::vector<Side>& {
    for (const auto& [mono, s] : known) {
      if (mono == m) return s;
    }
    std::vector<Side>& out = known.emplace_back(m, std::vector<Side>()).second;
    Poly p = forms_.monomial(m, 1);
    auto at = std::find(near.monos.begin(), near.monos.end(), m);
    const Range r =
        at == near.monos.end()
            ? domain_.range(p)
            : near.bounds[static_cast<size_t>(at - near.monos.begin())];
    if (auto end = useful_end(r, true, false)) {
      Poly low = p;
      low.constant = -*end;
      out.push_back({low, r.lower});
    }
    if (auto end = useful_end(r, false, false)) {
      Poly high = forms_.scale(p, -1);
      high.constant = *end;
      out.push_back({high, r.upper});
    }
    return out;
  };
  // Rows that mention `target` times what is >= 0 of its cofactor.
  auto multiply_rows = [&](MonoId target, const std::vector<Side>& cofactor,
                           const Poly& whole) {
    for (const LinearRow& r : near.rows) {
      if (r.terms.size() < 2 || r.terms.size() > limits().product_row_terms)
        continue;
      bool mentions =
          std::any_of(r.terms.begin(), r.terms.end(),
                      [&](const LinearTerm& t) { return t.unknown == target; });
      if (!mentions || lemmas.size() >= limits().product_lemmas) continue;
      Poly p = poly_of(r);
      if (r.equality) {
        keep(forms_.mul(p, whole), true, r.why, 1);
        continue;
      }
      for (const Side& s : cofactor) {
        keep(forms_.mul(p, s.poly), false, reasons_.join(r.why, s.why), 1);
      }
    }
  };
  for (MonoId m : near.monos) {
    const Factors& factors = forms_.factors(m);
    if (factors.size() < 2 || factors.size() > 4) continue;
    for (size_t i = 0; i < factors.size(); ++i) {
      if (i > 0 && factors[i] == factors[i - 1]) continue;
      AtomId x = factors[i];
      MonoId single = forms_.mono(x);
      MonoId rest = forms_.quotient(m, single);
      const std::vector<Side>& xs = sides(single);
      const std::vector<Side>& ys = sides(rest);
      for (const Side& s : xs) {
        if (i > 0 && factors.size() == 2) break;  // had as y*x
        if (!s.poly.constant.is_zero() && is_new(rest)) continue;
        for (const Side& t : ys) {
          if (!t.poly.constant.is_zero() && is_new(single)) continue;
          keep(forms_.mul(s.poly, t.poly), false, reasons_.join(s.why, t.why),
               0);
        }
      }
      if (rest == single) {  // x*x >= x and x*x >= -x
        Poly square = forms_.monomial(m, 1);
        keep(forms_.sub(square, forms_.variable(x)), false, 0, 0);
        keep(forms_.add(square, forms_.variable(x)), false, 0, 0);
      }
      if (factors.size() == 2 && i == 0 && rest != single) {
        // (x - y)*(x - y) >= 0 and (x + y)*(x + y) >= 0
        Poly squares =
            forms_.add(forms_.monomial(forms_.product(single, single), 1),
                       forms_.monomial(forms_.product(rest, rest), 1));
        Poly twice = forms_.monomial(m, 2);
        keep(forms_.sub(squares, twice), false, 0, 0);
        keep(forms_.add(squares, twice), false, 0, 0);
      }
      multiply_rows(rest, xs, forms_.variable(x));
      if (factors.size() > 2) {  // a row about x times all the rest
        multiply_rows(single, ys, forms_.monomial(rest, 1));
      }
    }
  }
  return lemmas;
}

// Whether the product of two rows has at most one monomial that no row mentions
// yet; looked at before it is multiplied out.
bool Prover::stays_near(const LinearRow& a, const LinearRow& b) {
  size_t fresh = 0;
  for (const LinearTerm& s : a.terms) {
    for (const LinearTerm& t : b.terms) {
      fresh += is_new(forms_.product(s.unknown, t.unknown));
      if (fresh > 1) return false;
    }
  }
  return true;
}

// Short rows times each other: 0 <= a <= b makes a*a <= b*b.
std::vector<LinearRow> Prover::row_products(const Neighborhood& near) {
  std::vector<LinearRow> lemmas;
  std::vector<const LinearRow*> factors;
  bool products = false;
  for (MonoId m : near.monos) products |= forms_.single(m) == kNoId;
  if (!products || near.rows.size() > limits().small_system) return lemmas;
  for (const LinearRow& r : near.rows) {
    if (r.equality || r.terms.empty() ||
        r.terms.size() > limits().factor_terms) {
      continue;
    }
    const bool is_bound =  // of an atom: the lemmas have it
        r.terms.size() == 1 && forms_.factors(r.terms[0].unknown).size() == 1;
    if (!is_bound) factors.push_back(&r);
    if (factors.size() == limits().factor_rows) break;
  }
  for (size_t i = 0; i < factors.size(); ++i) {
    for (size_t j = i; j < factors.size(); ++j) {
      const LinearRow &a = *factors[i], &b = *factors[j];
      domain_.spend(1);
      if (lemmas.size() >= limits().product_lemmas || !stays_near(a, b))
        continue;
      Poly p = forms_.mul(poly_of(a), poly_of(b));
      domain_.spend(p.terms.size());
      push_row(lemmas, p, false, reasons_.join(a.why, b.why));
    }
  }
  return lemmas;
}

}  // namespace proviso
