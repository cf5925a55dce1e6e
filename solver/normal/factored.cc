// Ranges of products that were multiplied out.
//
//   n*k - 8*n*(k//8) - 8*k*(n//8) + 64*(n//8)*(k//8)
//     = (n - 8*(n//8)) * (k - 8*(k//8))            in [0, 7] * [0, 7]
//   d*b - d*a - 1 = d*(b - a) - 1
//
// A polynomial p = x*A + B that is linear in an atom x splits where the
// primitive part A' of A divides B: p = A' * (c*x + B/A').  Of a product of
// factors that share no atom, the atoms of the term of highest degree find the
// split where one is linear; the ranges of the factors find theirs.  A constant
// may stand beside the product.
#include <algorithm>

#include "solver/limits_in_force.h"
#include "solver/normal/ranges.h"

namespace proviso::inline v0_2::internal {
std::optional<Ranges::Product> Ranges::split_by(const Poly& p, AtomId x) {
  const MonoId single = forms_.monomials.of(x);
  Poly a, b = Poly::number(p.constant);
  for (const Term& t : p.terms) {
    const MonoId rest = forms_.monomials.quotient(t.mono, single);
    if (rest == kNoId) {
      b.terms.push_back(t);
    } else if (forms_.monomials.quotient(rest, single) != kNoId) {
      return std::nullopt;  // x*x
    } else {
      append(a, rest, t.coef);
    }
  }
  merge_terms(a);
  if (a.is_constant()) return std::nullopt;
  const Int content = gcd(a.content(), a.constant);
  a = over(a, content);
  state_.meter.spend(a.terms.size() + p.terms.size());
  std::optional<Poly> quotient;
  if (b.is_zero()) {
    quotient.emplace();
  } else {
    quotient = exact_quotient(forms_, b, a);
  }
  if (!quotient) return std::nullopt;
  return Product{std::move(a), add(*quotient, variable(forms_, x), content)};
}

std::optional<Ranges::Product> Ranges::as_product(const Poly& p) {
  const size_t parts = p.terms.size() + !p.constant.is_zero();
  if (p.terms.size() < 2 || p.terms.size() > limits().factored_terms)
    return std::nullopt;
  const Term* largest = &p.terms[0];
  for (const Term& t : p.terms) {
    if (forms_.monomials.factors(t.mono).size() >
        forms_.monomials.factors(largest->mono).size()) {
      largest = &t;
    }
  }
  AtomId before = kNoId;
  for (AtomId x : forms_.monomials.factors(largest->mono)) {
    if (x == before) continue;  // factors are sorted
    before = x;
    const auto with_x = static_cast<size_t>(
        std::count_if(p.terms.begin(), p.terms.end(), [&](const Term& t) {
          const Factors& factors = forms_.monomials.factors(t.mono);
          return std::find(factors.begin(), factors.end(), x) != factors.end();
        }));
    // Factors without a common atom make as many parts as their own multiply
    // to; else x is in each term.
    const bool may_split =
        with_x == parts ||
        (with_x >= 2 && parts >= 2 * with_x && parts % with_x == 0);
    if (!may_split) continue;
    if (auto split = split_by(p, x)) return split;
  }
  return std::nullopt;
}

Range Ranges::factored(const Poly& p, int depth) {
  const bool has_products =
      std::any_of(p.terms.begin(), p.terms.end(), [this](const Term& t) {
        return forms_.monomials.single(t.mono) == kNoId;
      });
  if (!has_products || p.terms.size() < 2) return {};
  Int shift = 0;
  std::optional<Product> split = as_product(p);
  if (!split && !p.constant.is_zero()) {
    Poly rest = p;
    std::swap(rest.constant, shift);
    split = as_product(rest);
  }
  if (!split) return {};
  auto range_of = [&](const Poly& factor) {
    Range r = of(factor);
    if (depth < limits().factored_depth)
      narrow(reasons_, r, factored(factor, depth + 1));
    return r;
  };
  const Range f = range_of(split->f);
  if (f.span.is_empty()) return {};
  const Range g = range_of(split->g);
  if (g.span.is_empty()) return {};
  return shifted(product(reasons_, f, g), shift);
}

}  // namespace proviso::inline v0_2::internal
