// First the floors of the sum, one after another, then its common factors; each
// way of writing is compared by cost with the best so far.
//
//   2*x + (2*x + y)//5        gather: (12*x + y)//5, for 2*x is (10*x)//5
//   x*y + x*z + 2*x           factored: x*(y + z + 2), by the atom x
//
// Greedy: what a numerator took is not given back, and a factor that is taken
// out leaves two sums that are written alike, fixed::written_depth deep.  A way
// costs the writing of its polynomials; sums of more than fixed::written_terms
// terms stay flat.
#include "sym/write_sum.h"

#include <algorithm>

#include "sym/budget.h"
#include "sym/fixed_limits.h"
#include "sym/operators.h"
#include "sym/rule_parts.h"

namespace proviso::inline v0_2::internal {
namespace {

bool all_negative(const Polynomial& p) {
  return std::all_of(p.terms().begin(), p.terms().end(),
                     [](const auto& t) { return t.second.sign() < 0; });
}

// The terms that have the atom, divided by it, and the others.
std::pair<Polynomial, Polynomial> divided_by(const Polynomial& p, Expr atom) {
  Polynomial with, without;
  for (const auto& [monomial, c] : p.terms()) {
    auto at = std::find(monomial.begin(), monomial.end(), atom);
    if (at == monomial.end()) {
      without.add(monomial, c);
      continue;
    }
    Monomial rest = monomial;
    rest.erase(rest.begin() + (at - monomial.begin()));
    with.add(std::move(rest), c);
  }
  return {with, without};
}

}  // namespace

Expr SumWriter::cheaper(Expr a, Expr b) {
  if (!a || !b) return a ? a : b;
  return search_.cost(b) < search_.cost(a) ? b : a;
}

Expr SumWriter::write(const Polynomial& p) {
  Polynomial gathered = p;
  std::vector<Expr> floors = atoms_of(p, Op::kFloorDiv);
  if (floors.size() <= fixed::gathered_floors) {
    for (Expr floor : floors) gathered = gather(std::move(gathered), floor);
  }
  if (search_.has_negative_divisor()) {
    gathered = with_positive_remainders(std::move(gathered));
  }
  return factored(gathered, 0);
}

Expr SumWriter::written(Expr atom) {
  if (finished_.contains(atom.id())) return atom;
  return search_.best(atom).written;
}

// --- numerators

Polynomial SumWriter::finished(Expr e, const Int& coefficient) {
  finished_.insert(e.id());
  return Polynomial::term({e}, coefficient);
}

// c * (n // d), c != 0: n//d is also -CeilDiv(-n, d), and -((d - 1 - n)//d).
std::vector<Polynomial> SumWriter::rewritten_floor(const Int& c,
                                                   const Polynomial& n,
                                                   Expr divisor) {
  std::vector<Polynomial> forms = {
      finished(floor_div(factored(n, 1), written(divisor)), c)};
  const Polynomial opposite = n * Int(-1);
  if (search_.has_negative_divisor() && divisor.is(Op::kInteger)) {
    forms.push_back(finished(
        pool_.make(Op::kFloorDiv,
                   {factored(opposite, 1), pool_.integer(-divisor.integer())}),
        c));
  }
  forms.push_back(
      finished(ceil_div(factored(opposite, 1), written(divisor)), -c));
  if (divisor.is(Op::kInteger) && divisor.integer().sign() > 0) {
    Polynomial up = opposite + Polynomial(divisor.integer() - Int(1));
    forms.push_back(finished(floor_div(factored(up, 1), written(divisor)), -c));
  }
  return forms;
}

// c*(n//d) + r is c*((n + d*q)//d) + (r - c*q): terms of r that the numerator
// has too, and its constant, go there where that is cheaper.
Polynomial SumWriter::gather(Polynomial p, Expr floor) {
  const Polynomial::Terms::const_iterator at = p.terms().find({floor});
  if (at == p.terms().end()) return p;
  const Int c = at->second;
  const Expr divisor = floor.arg(1);
  Polynomial numerator = to_polynomial(floor.arg(0));
  Polynomial rest = p - Polynomial::term({floor}, c);
  Polynomial best = p;
  uint64_t least = kMaxCost;
  auto consider = [&](const Polynomial& n, const Polynomial& r) {
    Budget::check();
    bool found = false;
    for (const Polynomial& form : rewritten_floor(c, n, divisor)) {
      const Polynomial whole = r + form;
      const uint64_t now = search_.cost(flat(whole));
      if (now >= least) continue;
      least = now;
      best = whole;
      found = true;
    }
    return found;
  };
  // x//8 alone, of terms with plus signs: the other forms cost more.
  if (rest.is_zero() && numerator.constant().is_zero() &&
      std::all_of(numerator.terms().begin(), numerator.terms().end(),
                  [](const auto& t) { return t.second.sign() > 0; })) {
    return finished(floor_div(factored(numerator, 1), written(divisor)), c);
  }
  consider(numerator, rest);
  if (!divisor.is(Op::kInteger)) return best;
  const Polynomial d(divisor.integer());
  auto moved = [&](const Polynomial& part, Polynomial& n, Polynomial& r) {
    const Polynomial q = over(part, c);
    n = n + q * divisor.integer();
    r = r - part;
  };
  Polynomial all;
  std::vector<Polynomial> parts;
  for (const auto& [monomial, k] : rest.terms()) {
    if (!floor_mod(k, c).is_zero()) continue;
    const bool is_shared = monomial.empty() || all_negative(numerator) ||
                           numerator.terms().contains(monomial);
    if (!is_shared) continue;
    parts.push_back(Polynomial::term(monomial, k));
    if (!monomial.empty()) all = all + parts.back();
  }
  if (parts.size() > fixed::written_candidates) return best;
  if (parts.size() > 1 && !all.is_zero()) {
    Polynomial n = numerator, r = rest;
    moved(all, n, r);
    if (consider(n, r)) {
      numerator = n;
      rest = r;
      std::erase_if(parts,
                    [](const Polynomial& part) { return !part.is_constant(); });
    }
  }
  for (const Polynomial& part : parts) {
    Polynomial n = numerator, r = rest;
    moved(part, n, r);
    if (!consider(n, r)) continue;
    numerator = n;
    rest = r;
  }
  return best;
}

// -(a % m) is (-a) % (-m).
Polynomial SumWriter::with_positive_remainders(Polynomial p) {
  for (Expr remainder : atoms_of(p, Op::kMod)) {
    const auto at = p.terms().find({remainder});
    if (at == p.terms().end() || at->second.sign() > 0) continue;
    const Polynomial m = to_polynomial(remainder.arg(1));
    if (!m.is_constant()) continue;
    const Expr opposite = search_.canonicalizer().mod(
        to_polynomial(remainder.arg(0)) * Int(-1), m);
    const Expr form = search_.best(opposite).written;
    if (!form.is(Op::kMod) || form.arg(1) != remainder.arg(1)) continue;
    const Int c = at->second;
    const Polynomial rest = p - Polynomial::term({remainder}, c);
    const Expr flipped =
        pool_.make(Op::kMod, {form.arg(0), pool_.integer(-m.constant())});
    const Polynomial other = rest + finished(flipped, -c);
    if (search_.cost(flat(other)) < search_.cost(flat(p))) p = other;
  }
  return p;
}

// --- common factors

Expr SumWriter::factored(const Polynomial& p, int depth) {
  Expr best = flat(p);
  const size_t terms = p.terms().size();
  if (terms < 2 || terms > fixed::written_terms ||
      depth >= fixed::written_depth) {
    return best;
  }
  Budget::spend(4 * terms);
  best = cheaper(best, content_out(p, depth));
  std::vector<std::pair<Expr, size_t>> uses;  // atoms, terms that have them
  std::vector<Int> coefficients;
  for (const auto& [monomial, c] : p.terms()) {
    for (size_t i = 0; i < monomial.size(); ++i) {
      if (i > 0 && monomial[i] == monomial[i - 1]) continue;
      const Expr atom = monomial[i];
      auto at = std::find_if(uses.begin(), uses.end(), [&](const auto& use) {
        return use.first == atom;
      });
      if (at == uses.end()) {
        uses.emplace_back(atom, 1);
      } else {
        ++at->second;
      }
    }
    const Int size = abs(c);
    if (!size.is_one() && std::find(coefficients.begin(), coefficients.end(),
                                    size) == coefficients.end()) {
      coefficients.push_back(size);
    }
  }
  std::erase_if(uses, [](const auto& use) { return use.second < 2; });
  if (uses.size() <= fixed::written_candidates) {
    for (const auto& [atom, count] : uses) {
      best = cheaper(best, atom_out(p, atom, depth));
    }
  }
  if (coefficients.size() <= fixed::written_candidates) {
    for (const Int& c : coefficients) {
      best = cheaper(best, coefficient_out(p, c, depth));
    }
  }
  return best;
}

Expr SumWriter::content_out(const Polynomial& p, int depth) {
  Int g = full_content(p);
  if (all_negative(p)) g = -g;
  if (g.is_one()) return {};
  return product_of(g, {factored(over(p, g), depth + 1)});
}

Expr SumWriter::atom_out(const Polynomial& p, Expr atom, int depth) {
  auto [with, rest] = divided_by(p, atom);
  const Int sign = all_negative(with) ? -1 : 1;
  if (!rest.is_zero()) {  // with*atom + k*with
    if (auto k = exact_quotient(rest, with); k && k->is_constant()) {
      Expr factor = factored(Polynomial::atom(atom) + *k, depth + 1);
      return product_of(1, {factor, factored(with, depth + 1)});
    }
  }
  std::vector<Term> terms = {
      {sign, product_of(1, {written(atom), factored(with * sign, depth + 1)})}};
  if (rest.terms().size() > 1) {
    terms.push_back({1, factored(rest, depth + 1)});
  } else {
    for (Term& term : terms_of(rest)) terms.push_back(std::move(term));
  }
  return sum_of(std::move(terms));
}

// c*(..) + rest, of the terms whose coefficients c divides.
Expr SumWriter::coefficient_out(const Polynomial& p, const Int& c, int depth) {
  Polynomial with, rest;
  for (const auto& [monomial, k] : p.terms()) {
    (floor_mod(k, c).is_zero() ? with : rest).add(monomial, k);
  }
  if (rest.is_zero() || with.terms().size() < 2) return {};
  const Int factor = all_negative(with) ? -c : c;
  std::vector<Term> terms = {{factor, factored(over(with, factor), depth + 1)}};
  if (rest.terms().size() > 1) {
    terms.push_back({1, factored(rest, depth + 1)});
  } else {
    for (Term& term : terms_of(rest)) terms.push_back(std::move(term));
  }
  return sum_of(std::move(terms));
}

// --- text

Expr SumWriter::flat(const Polynomial& p) { return sum_of(terms_of(p)); }

std::vector<SumWriter::Term> SumWriter::terms_of(const Polynomial& p) {
  std::vector<Term> terms;
  for (const auto& [monomial, c] : p.terms()) {
    terms.push_back({c, body_of(monomial)});
  }
  return terms;
}

Expr SumWriter::body_of(const Monomial& monomial) {
  if (monomial.empty()) return {};
  std::vector<Expr> factors;
  for (size_t i = 0; i < monomial.size();) {
    size_t end = i;
    while (end < monomial.size() && monomial[end] == monomial[i]) ++end;
    Expr atom = written(monomial[i]);
    const Int power(static_cast<int64_t>(end - i));
    factors.push_back(power.is_one()
                          ? atom
                          : pool_.make(Op::kPow, {atom, pool_.integer(power)}));
    i = end;
  }
  return product_of(1, std::move(factors));
}

// c * factors, as one flat product with its constant first.
Expr SumWriter::product_of(const Int& c, std::vector<Expr> factors) {
  Int constant = c;
  std::vector<Expr> flat;
  for (Expr factor : factors) {
    const bool opens = factor.is(Op::kMul);
    std::vector<Expr> parts(1, factor);
    if (opens) parts.assign(factor.args().begin(), factor.args().end());
    for (Expr part : parts) {
      if (part.is(Op::kInteger)) {
        constant *= part.integer();
      } else {
        flat.push_back(part);
      }
    }
  }
  if (flat.empty() || constant.is_zero()) return pool_.integer(constant);
  if (!constant.is_one()) flat.insert(flat.begin(), pool_.integer(constant));
  return flat.size() == 1 ? flat[0] : pool_.make(Op::kMul, flat);
}

// A plus sign, a number or a coefficient comes first: "y - x", "-6 - x".
Expr SumWriter::sum_of(std::vector<Term> terms) {
  std::vector<Expr> args;
  size_t first = 0, rank = 4;
  Int constant = 0;
  for (Term& term : terms) {
    Expr e = term.body ? product_of(term.coefficient, {term.body})
                       : pool_.integer(term.coefficient);
    if (e.is(Op::kAdd)) {
      for (Expr arg : e.args()) args.push_back(arg);
    } else {
      args.push_back(e);
    }
  }
  // One constant, last.
  std::erase_if(args, [&](Expr e) {
    if (!e.is(Op::kInteger)) return false;
    constant += e.integer();
    return true;
  });
  if (!constant.is_zero()) args.push_back(pool_.integer(constant));
  if (args.empty()) return pool_.integer(0);
  for (size_t i = 0; i < args.size(); ++i) {
    const Expr e = args[i];
    const bool has_sign = e.is(Op::kMul) && e.arg(0).is(Op::kInteger) &&
                          e.arg(0).integer().sign() < 0;
    size_t here = 0;
    if (e.is(Op::kInteger)) here = 2;
    if (has_sign) here = e.arg(0).integer() == Int(-1) ? 3 : 1;
    if (here < rank) {
      rank = here;
      first = i;
    }
  }
  std::rotate(args.begin(), args.begin() + static_cast<std::ptrdiff_t>(first),
              args.begin() + static_cast<std::ptrdiff_t>(first) + 1);
  return args.size() == 1 ? args[0] : pool_.make(Op::kAdd, args);
}

}  // namespace proviso::inline v0_2::internal
