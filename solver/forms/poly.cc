#include "solver/forms/poly.h"

#include <algorithm>

#include "sym/budget.h"

namespace proviso::inline v0_2::internal {

Int Poly::content() const { return content_of<PolyTerms>(*this); }

Poly add(const Poly& a, const Poly& b, const Int& k) {
  if (k.is_zero()) return a;
  Budget::charge(1 + (a.terms.size() + b.terms.size()) / 4);
  Poly result = Poly::number(a.constant + b.constant * k);
  merge_sums<PolyTerms>(a.terms, b.terms, k, result.terms);
  return result;
}

Poly operator+(const Poly& a, const Poly& b) { return add(a, b, 1); }
Poly operator-(const Poly& a, const Poly& b) { return add(a, b, -1); }

Poly operator*(const Poly& p, const Int& k) {
  if (k.is_zero()) return {};
  Budget::charge(1 + p.terms.size() / 4);
  Poly result = p;
  result.constant *= k;
  for (Term& t : result.terms) t.coef *= k;
  return result;
}

Poly operator-(const Poly& p) { return p * -1; }

Poly sum(const std::vector<Poly>& parts) {
  Poly total;
  for (const Poly& p : parts) {
    total.constant += p.constant;
    total.terms.append(p.terms);
  }
  merge_terms(total);
  return total;
}

Poly over(const Poly& p, const Int& k) {
  Budget::charge(1 + p.terms.size() / 2);
  return divided_by<PolyTerms>(p, k);
}

void append(Poly& p, MonoId m, const Int& coef) {
  if (m == 0) {
    p.constant += coef;
  } else {
    p.terms.push_back({m, coef});
  }
}

void merge_terms(Poly& p) {
  auto& terms = p.terms;
  if (terms.size() == 1 && !terms[0].coef.is_zero()) return;
  Budget::charge(1 + terms.size() / 2);
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return a.mono < b.mono; });
  size_t out = 0;
  for (size_t i = 0; i < terms.size();) {
    Term merged = terms[i++];
    while (i < terms.size() && terms[i].mono == merged.mono) {
      merged.coef += terms[i++].coef;
    }
    if (!merged.coef.is_zero()) terms[out++] = std::move(merged);
  }
  terms.shrink(out);
}

}  // namespace proviso::inline v0_2::internal
