// Sums, products and small powers are opened from the arguments up; a product
// of sums is an atom where it would have more than fixed::product_terms terms.
#include "sym/polynomial.h"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "sym/budget.h"
#include "sym/fixed_limits.h"
#include "sym/polynomial_ring.h"

namespace proviso::inline v0_2 {
using namespace internal;
namespace {

int sign_of(std::strong_ordering order) {
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

}  // namespace

// Equal structure is one handle, so the first arguments that differ decide:
// one path down, whatever is shared.
int compare(Expr a, Expr b) {
  if (a == b) return 0;
  while (true) {
    Budget::spend(1);
    if (a.is_symbol() != b.is_symbol()) return a.is_symbol() ? -1 : 1;
    if (a.is_symbol()) {
      return a.symbol().index < b.symbol().index ? -1 : 1;
    }
    if (a.op() != b.op()) return a.op() < b.op() ? -1 : 1;
    if (a.is(Op::kInteger)) return sign_of(a.integer() <=> b.integer());
    if (a.is(Op::kRational)) return sign_of(a.rational() <=> b.rational());
    if (a.is(Op::kBoolean)) return a.is_true() ? 1 : -1;
    const std::span<const Expr> x = a.args(), y = b.args();
    const auto [in_x, in_y] =
        std::mismatch(x.begin(), x.end(), y.begin(), y.end());
    if (in_x == x.end() || in_y == y.end()) {
      return x.size() < y.size() ? -1 : 1;
    }
    Budget::charge(static_cast<uint64_t>(in_x - x.begin()) / 16);
    a = *in_x;
    b = *in_y;
  }
}

bool MonomialLess::operator()(const Monomial& a, const Monomial& b) const {
  return internal::ExprRing::order(a, b) < 0;
}

Polynomial Polynomial::atom(Expr e) { return term({e}, 1); }

Polynomial Polynomial::term(Monomial monomial, const Int& coefficient) {
  Polynomial result;
  result.add(std::move(monomial), coefficient);
  return result;
}

Polynomial::Terms::const_iterator Polynomial::Terms::find(
    const Monomial& monomial) const {
  const auto at = std::lower_bound(
      begin(), end(), monomial, [](const value_type& term, const Monomial& m) {
        return MonomialLess()(term.first, m);
      });
  return at != end() && at->first == monomial ? at : end();
}

Int Polynomial::constant() const {  // of the lowest degree, it comes last
  if (terms_.empty()) return 0;
  const auto& [monomial, coefficient] = terms_.sorted_.back();
  return monomial.empty() ? coefficient : Int(0);
}

bool Polynomial::is_constant() const {
  return terms_.empty() ||
         (terms_.size() == 1 && terms_.begin()->first.empty());
}

Int Polynomial::content() const {
  return internal::content_of<internal::ExprRing>(*this);
}

size_t Polynomial::degree() const {  // terms of higher degree come first
  return terms_.empty() ? 0 : terms_.begin()->first.size();
}

void Polynomial::add(Monomial monomial, const Int& coefficient) {
  if (coefficient.is_zero()) return;
  Budget::spend(2 + monomial.size() / 4);
  auto& sorted = terms_.sorted_;
  const MonomialLess less;
  Terms::const_iterator at = sorted.end();  // terms mostly come in order
  if (!sorted.empty() && !less(sorted.back().first, monomial)) {
    at =
        std::lower_bound(terms_.begin(), terms_.end(), monomial,
                         [&](const Terms::value_type& term, const Monomial& m) {
                           return less(term.first, m);
                         });
  }
  if (at == sorted.end() || at->first != monomial) {
    sorted.insert(at, {std::move(monomial), coefficient});
    return;
  }
  Int& total = sorted[static_cast<size_t>(at - sorted.begin())].second;
  total += coefficient;
  if (total.is_zero()) sorted.erase(at);
}

Polynomial Polynomial::sum(const Polynomial& a, const Polynomial& b,
                           bool minus) {
  Polynomial result;
  for (const auto& [monomial, c] : b.terms_) {
    Budget::spend(2 + monomial.size() / 4);
  }
  internal::merge_sums<internal::ExprRing>(a.terms_.sorted_, b.terms_.sorted_,
                                           minus ? -1 : 1,
                                           result.terms_.sorted_);
  return result;
}

Polynomial operator+(const Polynomial& a, const Polynomial& b) {
  return Polynomial::sum(a, b, false);
}

Polynomial operator-(const Polynomial& a, const Polynomial& b) {
  return Polynomial::sum(a, b, true);
}

Polynomial operator*(const Polynomial& a, const Int& k) {
  Polynomial result;
  for (const auto& [monomial, c] : a.terms_) result.add(monomial, c * k);
  return result;
}

Polynomial operator*(const Polynomial& a, const Polynomial& b) {
  return internal::product_of(internal::ExprRing(), a, b);
}

namespace {

// A sum, a product or a power that is taken apart.
bool is_opened(Expr e) {
  return e.is_int() && (e.is(Op::kAdd) || e.is(Op::kMul) ||
                        (e.is(Op::kPow) && e.arg(1).is(Op::kInteger)));
}

// The product of factors, each as `of` says it: single terms multiply, sums are
// opened while the result stays small, and past that the sums together are one
// atom.  So are single terms, past a degree.
template <typename Of>
Polynomial product_of(ExprPool& pool, std::span<const Expr> factors, Of of) {
  Polynomial single(Int(1));
  std::vector<Polynomial> sums;
  std::vector<Expr> kept;
  size_t terms = 1;
  for (Expr factor : factors) {
    Polynomial p = of(factor);
    if (p.terms().size() > 1) {
      terms = std::min(terms * p.terms().size(), 2 * fixed::product_terms);
      sums.push_back(std::move(p));
    } else if (single.degree() + p.degree() <= fixed::product_degree) {
      single = single * p;
    } else {
      const auto& [monomial, coefficient] = *p.terms().begin();
      single = single * coefficient;
      kept.push_back(to_expr(pool, Polynomial::term(monomial, 1)));
    }
  }
  size_t degree = single.degree();
  for (const Polynomial& p : sums) degree += p.degree();
  if (kept.empty() && terms <= fixed::product_terms &&
      degree <= fixed::product_degree) {
    for (const Polynomial& p : sums) single = single * p;
    return single;
  }
  for (const Polynomial& p : sums) kept.push_back(to_expr(pool, p));
  if (kept.size() == 1) return single * Polynomial::atom(kept[0]);
  std::sort(kept.begin(), kept.end(),
            [](Expr a, Expr b) { return compare(a, b) < 0; });
  return single * Polynomial::atom(pool.make(Op::kMul, kept));
}

// base**exponent opened, or nothing when it would be too large.
std::optional<Polynomial> power_of(const Polynomial& base, const Int& n) {
  if (n.sign() < 0 || n > Int(fixed::power_exponent)) return {};
  auto exponent = static_cast<size_t>(*n.to_int64());
  if (base.degree() * exponent > fixed::product_degree) return {};
  if (base.terms().size() > 1 && exponent > 1) {
    size_t terms = 1;
    for (size_t i = 0; i < exponent && terms <= fixed::product_terms; ++i) {
      terms *= base.terms().size();
    }
    if (terms > fixed::product_terms) return {};
  }
  Polynomial result(Int(1));
  for (size_t i = 0; i < exponent; ++i) result = result * base;
  return result;
}

// e, of whose arguments `of` says the sums.
template <typename Of>
Polynomial opened(Expr e, Of of) {
  if (e.is(Op::kInteger)) return Polynomial(e.integer());
  if (!is_opened(e)) return Polynomial::atom(e);
  if (e.is(Op::kMul)) return product_of(e.pool(), e.args(), of);
  if (e.is(Op::kAdd)) {
    Polynomial sum;
    for (Expr arg : e.args()) {
      const Polynomial part = of(arg);
      for (const auto& [monomial, c] : part.terms()) sum.add(monomial, c);
    }
    return sum;
  }
  auto power = power_of(of(e.arg(0)), e.arg(1).integer());
  return power ? *std::move(power) : Polynomial::atom(e);
}

// Arguments first, each once, on a stack of its own.
Polynomial opened_from_below(Expr e) {
  std::unordered_map<uint32_t, Polynomial> known;
  visit_arguments_first(
      e, [&](Expr x) { return !is_opened(x) || known.contains(x.id()); },
      [&](Expr x) {
        known.emplace(x.id(), opened(x, [&](Expr arg) {
                        const auto at = known.find(arg.id());
                        return at != known.end() ? at->second
                                                 : opened(arg, to_polynomial);
                      }));
      });
  return known.at(e.id());
}

// Nearly all sums are nested a little: so many levels are opened by recursion.
Polynomial opened_within(Expr e, int levels) {
  if (levels == 0 && is_opened(e)) return opened_from_below(e);
  return opened(e, [=](Expr arg) { return opened_within(arg, levels - 1); });
}

}  // namespace

Polynomial to_polynomial(Expr e) {
  constexpr int kLevelsAtOnce = 16;
  return opened_within(e, kLevelsAtOnce);
}

namespace {

Expr term_expr(ExprPool& pool, const Monomial& monomial, const Int& c) {
  if (monomial.empty()) return pool.integer(c);
  std::vector<Expr> factors;
  if (!c.is_one()) factors.push_back(pool.integer(c));
  for (size_t i = 0; i < monomial.size();) {
    size_t end = i;
    while (end < monomial.size() && monomial[end] == monomial[i]) ++end;
    Expr atom = monomial[i];
    Expr power = pool.integer(Int(static_cast<int64_t>(end - i)));
    factors.push_back(end - i == 1 ? atom : pool.make(Op::kPow, {atom, power}));
    i = end;
  }
  return factors.size() == 1 ? factors[0] : pool.make(Op::kMul, factors);
}

}  // namespace

Expr to_expr(ExprPool& pool, const Polynomial& p) {
  std::vector<Expr> terms;
  for (const auto& [monomial, c] : p.terms()) {
    terms.push_back(term_expr(pool, monomial, c));
  }
  if (terms.empty()) return pool.integer(0);
  return terms.size() == 1 ? terms[0] : pool.make(Op::kAdd, terms);
}

}  // namespace proviso::inline v0_2
