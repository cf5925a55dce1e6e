// Rules on sums, floors and remainders.  A sum is read as a polynomial whose
// atoms are floors, remainders, extrema and the like.
#include <algorithm>

#include "sym/budget.h"
#include "sym/polynomial_ring.h"
#include "sym/rules.h"

namespace proviso::inline v0_2::internal {
namespace {

constexpr size_t kMaxAtoms = 6;  // of a kind, that a rule looks at
constexpr size_t kMaxTerms = 24;

Polynomial atom(Expr e) { return to_polynomial(e); }

// Null where it has too many terms.
const Polynomial* small_sum(FormSearch& s, Expr e) {
  const Polynomial& p = s.polynomial(e);
  return p.terms().size() > kMaxTerms ? nullptr : &p;
}

std::vector<Expr> few_atoms(const Polynomial& p, Op op) {
  std::vector<Expr> atoms = atoms_of(p, op);
  if (atoms.size() > kMaxAtoms) atoms.clear();
  return atoms;
}

// A term c*atom with a constant c, and what is left of the sum.
struct ConstantTimes {
  Int coefficient;
  Polynomial rest;
};
std::optional<ConstantTimes> constant_times(const Polynomial& p, Expr a) {
  const std::optional<Linear> split = split_off(p, a);
  if (!split || !split->factor.is_constant()) return std::nullopt;
  return ConstantTimes{split->factor.constant(), split->rest};
}

bool is_single_atom(const Polynomial& p, Expr a) {
  return p.terms().size() == 1 && p == Polynomial::atom(a);
}

// ---- any node

// f(a) -> f(b), b the cheapest form of a.
void cheapest_arguments(FormSearch& s, Expr e, Found& found) {
  std::vector<Expr> args;
  bool changed = false;
  for (Expr arg : e.args()) {
    args.push_back(s.best(arg).state);
    changed = changed || args.back() != arg;
  }
  if (changed) found.push_back(s.pool().make(e.op(), args));
}

// The same of the atoms of a sum.
void cheapest_atoms(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  std::unordered_map<Expr, Polynomial, ExprHash> cheaper;
  const auto image = [&](Expr a) -> const Polynomial* {
    if (is_leaf(a.op()) || a == e) return nullptr;
    const Expr state = s.best(a).state;
    return state == a ? nullptr
                      : &cheaper.try_emplace(a, atom(state)).first->second;
  };
  Polynomial sum;
  if (put_images(ExprRing(), *p, image, sum)) {
    found.push_back(to_expr(s.pool(), sum));
  }
}

// p -> p - q*z, z known to be 0, where a term of z divides one of p.
void equal_by_facts(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  for (const Polynomial& other : without_zeros(s, *p)) {
    found.push_back(to_expr(s.pool(), other));
  }
}

// ---- floors and remainders within a sum

// a % b -> a - b*(a//b), everywhere.
void open_remainders(FormSearch& s, Expr e, Found& found) {
  const bool is_alone = e.is(Op::kMod) && !contains(e.arg(0), Op::kMod) &&
                        !contains(e.arg(0), Op::kFloorDiv);
  if (!is_alone && contains(e, Op::kMod)) found.push_back(s.floor_form(e));
}

// q*b*(a//b) -> q*a - q*(a % b).
void close_remainder(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  for (Expr floor : few_atoms(*p, Op::kFloorDiv)) {
    const std::optional<Linear> split = split_off(*p, floor);
    if (!split) continue;
    const Polynomial a = atom(floor.arg(0)), b = atom(floor.arg(1));
    if (b.is_zero()) continue;
    const std::optional<Polynomial> q = exact_quotient(split->factor, b);
    if (!q) continue;
    const Expr remainder = s.simplifier().mod(a, b);
    found.push_back(
        to_expr(s.pool(), split->rest + *q * a - *q * atom(remainder)));
  }
}

// c*(a//k) - c*b*(a//(k*b)) -> c*((a//k) % b), b > 0; the numerators may differ
// by a multiple of k.
void close_remainder_of_quotient(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  const std::vector<Expr> floors = few_atoms(*p, Op::kFloorDiv);
  for (Expr outer : floors) {
    for (Expr inner : floors) {
      if (inner == outer) continue;
      const Polynomial k = atom(inner.arg(1));
      if (k.is_zero() || atom(outer.arg(1)).is_zero()) continue;
      const auto b = exact_quotient(atom(outer.arg(1)), k);
      if (!b || !s.is_positive(*b)) continue;
      const Polynomial gap = atom(outer.arg(0)) - atom(inner.arg(0));
      const auto shift = exact_quotient(gap, k);  // outer's is a + k*shift
      if (!shift) continue;
      const std::optional<Linear> split = split_off(*p, outer);
      if (!split) continue;
      const auto c = exact_quotient(split->factor * Int(-1), *b);
      if (!c) continue;
      const Polynomial quotient = Polynomial::atom(inner) + *shift;
      const Expr remainder = s.simplifier().mod(quotient, *b);
      found.push_back(
          to_expr(s.pool(), split->rest + *c * (atom(remainder) - quotient)));
    }
  }
}

// r - a % m -> r - (m - 1) + (-1 - a) % m, m > 0.
void complement_remainder(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p || p->constant().is_zero()) return;
  for (Expr remainder : few_atoms(*p, Op::kMod)) {
    const auto term = constant_times(*p, remainder);
    if (!term || term->coefficient.sign() > 0) continue;
    const Polynomial m = atom(remainder.arg(1));
    if (!m.is_constant() || m.constant().sign() <= 0) continue;
    const Expr other =
        s.simplifier().mod(Polynomial(Int(-1)) - atom(remainder.arg(0)), m);
    found.push_back(
        to_expr(s.pool(), term->rest + (m - Polynomial(Int(1)) - atom(other)) *
                                           term->coefficient));
  }
}

// a//2 + (a + 1)//2 -> a: either floor says the other.
void complete_halves(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  const Polynomial two(Int(2));
  std::vector<Expr> halves = few_atoms(*p, Op::kFloorDiv);
  std::erase_if(halves, [&](Expr floor) { return atom(floor.arg(1)) != two; });
  if (halves.size() < 2) return;
  for (Expr floor : halves) {
    const std::optional<Linear> split = split_off(*p, floor);
    if (!split) continue;
    // a//2 == a - (a + 1)//2
    const Polynomial a = atom(floor.arg(0));
    const Expr other = s.simplifier().floor_div(a + Polynomial(Int(1)), two);
    found.push_back(to_expr(s.pool(), split->rest + split->factor * a -
                                          split->factor * atom(other)));
  }
}

// c*((a + i)//n) for all i from 0 to n - 1 -> c*a (Hermite).  Where less than
// half of them are there, what is missing is more than what goes.
void complete_quotients(FormSearch& s, Expr e, Found& found) {
  constexpr int64_t kMaxDivisor = 8;
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  const auto floors = few_atoms(*p, Op::kFloorDiv);
  auto quotients_by = [&](int64_t n) {
    return std::count_if(floors.begin(), floors.end(), [n](Expr floor) {
      return floor.arg(1).maybe_int64() == n;
    });
  };
  for (Expr floor : floors) {
    const auto n = floor.arg(1).maybe_int64();
    const auto term = constant_times(*p, floor);
    if (!n || *n < 3 || *n > kMaxDivisor || !term) continue;
    if (2 * quotients_by(*n) < *n) continue;
    const Polynomial divisor((Int(*n)));
    const Polynomial a = atom(floor.arg(0));
    Polynomial rest = *p;
    for (int64_t i = 0; i < *n; ++i) {
      rest = rest -
             atom(s.simplifier().floor_div(a + Polynomial(Int(i)), divisor)) *
                 term->coefficient;
    }
    if (rest.terms().size() >= p->terms().size()) continue;
    found.push_back(to_expr(s.pool(), rest + a * term->coefficient));
  }
}

// a//m - b//m -> (a - b + b % m)//m.
void difference_of_quotients(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  const std::vector<Expr> floors = few_atoms(*p, Op::kFloorDiv);
  for (Expr x : floors) {
    for (Expr y : floors) {
      if (x == y || x.arg(1) != y.arg(1) || !x.arg(1).is(Op::kInteger)) {
        continue;
      }
      const auto cx = constant_times(*p, x), cy = constant_times(*p, y);
      if (!cx || !cy || cx->coefficient.sign() < 0) continue;
      if (cx->coefficient != -cy->coefficient) continue;
      const Polynomial a = atom(x.arg(0)), b = atom(y.arg(0));
      const Polynomial m = atom(x.arg(1));
      const Polynomial rest = cx->rest + Polynomial::term({y}, cx->coefficient);
      auto merged = [&](const Polynomial& up, const Polynomial& down) {
        const Polynomial r = atom(s.simplifier().mod(down, m));
        return atom(s.simplifier().floor_div(up - down + r, m));
      };
      const Int& c = cx->coefficient;
      found.push_back(to_expr(s.pool(), rest + merged(a, b) * c));
      found.push_back(to_expr(s.pool(), rest - merged(b, a) * c));
    }
  }
}

// r + c*(a//m) -> c*((a + m*(r/c))//m), with the numerator's cheapest form.
void gather_in_numerator(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  for (Expr floor : few_atoms(*p, Op::kFloorDiv)) {
    if (!floor.arg(1).is(Op::kInteger)) continue;
    const auto term = constant_times(*p, floor);
    if (!term || term->rest.is_zero()) continue;
    const Polynomial r = term->rest - Polynomial(term->rest.constant());
    if (r.is_zero() || full_content(r).is_zero() ||
        !floor_mod(full_content(r), term->coefficient).is_zero()) {
      continue;
    }
    const Polynomial a = atom(floor.arg(0)) +
                         over(r, term->coefficient) * floor.arg(1).integer();
    const Expr numerator = s.best(s.canonical(a)).state;
    const Expr gathered =
        s.simplifier().floor_div(atom(numerator), atom(floor.arg(1)));
    found.push_back(to_expr(s.pool(), Polynomial(term->rest.constant()) +
                                          atom(gathered) * term->coefficient));
  }
}

// ---- floors

// (a//k + q)//b -> (a + k*q)//(k*b), b > 0.
void nested_quotient(FormSearch& s, Expr e, Found& found) {
  const Polynomial b = atom(e.arg(1));
  if (!s.is_positive(b)) return;
  const Polynomial n = atom(e.arg(0));
  for (Expr floor : few_atoms(n, Op::kFloorDiv)) {
    const auto term = constant_times(n, floor);
    if (!term || !term->coefficient.is_one()) continue;
    const Polynomial k = atom(floor.arg(1));
    found.push_back(
        s.simplifier().floor_div(atom(floor.arg(0)) + k * term->rest, k * b));
  }
}

// A number's terms by a modulus: those that leave a known remainder, and the
// rest with bounds.
struct LowPart {
  Polynomial high;  // leaves `remainder`
  Int remainder;
  Polynomial low;
  Int least, most;
};

std::optional<Int> residue_of(FormSearch& s, const Monomial& monomial,
                              const Int& c, const Int& g) {
  if (floor_mod(c, g).is_zero()) return Int(0);
  if (monomial.empty() || s.facts() == nullptr) return std::nullopt;
  return s.facts()->residue(to_expr(s.pool(), Polynomial::term(monomial, c)),
                            g);
}

std::optional<LowPart> low_part(FormSearch& s, const Polynomial& p,
                                const Int& g) {
  LowPart part;
  for (const auto& [monomial, c] : p.terms()) {
    const std::optional<Int> r =
        monomial.empty() ? std::nullopt : residue_of(s, monomial, c, g);
    if (r) {
      part.high.add(monomial, c);
      part.remainder += *r;
    } else {
      part.low.add(monomial, c);
    }
  }
  if (part.high.is_zero()) return std::nullopt;
  part.remainder = floor_mod(part.remainder, g);
  const auto least = s.lower(part.low), most = s.upper(part.low);
  if (!least || !most) return std::nullopt;
  part.least = *least;
  part.most = *most;
  return part;
}

// Divisors g of m that may divide some of p's terms.
std::vector<Int> moduli(FormSearch& s, const Polynomial& p, const Int& m) {
  std::vector<Int> found;
  auto add = [&](const Int& g) {
    if (!g.is_one() && g.sign() > 0 &&
        std::find(found.begin(), found.end(), g) == found.end() &&
        found.size() < 8) {
      found.push_back(g);
    }
  };
  add(m);
  for (const auto& [monomial, c] : p.terms()) {
    if (monomial.empty()) continue;
    const Int g = gcd(c, m);
    add(g);
    if (s.facts() == nullptr) continue;
    for (int64_t k : {2, 3, 4, 5, 7, 8, 16, 32}) {
      if (floor_mod(m, Int(k)).is_zero()) add(Int(k));
    }
  }
  return found;
}

// (g*h + r + l)//m -> (g*h + t*g)//m where g divides m and r + l stays in
// [t*g, t*g + g).
void drop_low_part(FormSearch& s, Expr e, Found& found) {
  if (!e.arg(1).is(Op::kInteger)) return;
  const Int& m = e.arg(1).integer();
  if (m.sign() <= 0) return;
  const Polynomial p = atom(e.arg(0));
  for (const Int& g : moduli(s, p, m)) {
    const std::optional<LowPart> part = low_part(s, p, g);
    if (!part) continue;
    const Int t = floor_div(part->least + part->remainder, g);
    if (t != floor_div(part->most + part->remainder, g)) continue;
    // any constant that keeps remainder + constant in the block will do
    const Int least = t * g - part->remainder;
    std::vector<Int> constants = {least};
    const Int up = -floor_div(-least, m) * m;  // the next multiple of m
    if (up < least + g) constants.insert(constants.begin(), up);
    if (least.sign() <= 0 && least + g > Int(0)) constants = {0};
    const Polynomial n = part->high + Polynomial(constants[0]);
    if (n == p) continue;
    found.push_back(s.simplifier().floor_div(n, Polynomial(m)));
  }
}

// Min(a, b)//m -> Min(a//m, b//m), m > 0, where one of them needs no division.
void quotient_into_extremum(FormSearch& s, Expr e, Found& found) {
  const Expr n = e.arg(0);
  if (!n.is(Op::kMin) && !n.is(Op::kMax)) return;
  const Polynomial m = atom(e.arg(1));
  if (!s.is_positive(m)) return;
  std::vector<Expr> args;
  bool is_simpler = false;
  for (Expr arg : n.args()) {
    args.push_back(s.simplifier().floor_div(atom(arg), m));
    is_simpler = is_simpler || !contains(args.back(), Op::kFloorDiv);
  }
  if (is_simpler) found.push_back(s.pool().make(n.op(), args));
}

// What takes two values that follow each other: a//m is linear in it.
void two_values(FormSearch& s, Expr e, Found& found) {
  if (!e.arg(1).is(Op::kInteger)) return;
  const Int& m = e.arg(1).integer();
  if (m.is_zero()) return;
  const Polynomial a = atom(e.arg(0));
  const auto least = s.lower(a), most = s.upper(a);
  if (!least || !most || *most != *least + Int(1)) return;
  const Int low = floor_div(*least, m), high = floor_div(*most, m);
  found.push_back(to_expr(
      s.pool(), Polynomial(low) + (a - Polynomial(*least)) * (high - low)));
}

// ---- remainders

// a % b -> a - q*b where that lies between 0 and b.
void known_quotient(FormSearch& s, Expr e, Found& found) {
  const Polynomial a = atom(e.arg(0)), b = atom(e.arg(1));
  if (b.is_constant()) {
    const Expr floor = s.simplifier().floor_div(a, b);
    if (floor.is(Op::kInteger)) {
      found.push_back(to_expr(s.pool(), a - b * floor.integer()));
    }
    return;
  }
  for (int q : {0, -1, 1, -2, 2, -3}) {
    const Polynomial r = a - b * Int(q);
    const bool is_one = (s.is_nonneg(r) && s.is_positive(b - r)) ||
                        (s.is_nonneg(r * Int(-1)) && s.is_positive(r - b));
    if (!is_one) continue;
    found.push_back(to_expr(s.pool(), r));
    return;
  }
}

// a % m -> b - m*q where b is a with some coefficients c replaced by c - m, and
// lies in [m*q, m*q + m): (3*y + 3) % 4 is 3 - y for y in [0, 3].
void congruent_numerator(FormSearch& s, Expr e, Found& found) {
  constexpr size_t kMaxLowered = 4;
  if (!e.arg(1).is(Op::kInteger) || s.facts() == nullptr) return;
  const Int& m = e.arg(1).integer();
  const Polynomial& a = s.polynomial(e.arg(0));
  if (m.sign() <= 0 || a.terms().size() > kMaxLowered + 1) return;
  struct Range {
    Int least, most;
  };
  std::vector<Range> ranges;  // of the monomials
  for (const auto& [monomial, c] : a.terms()) {
    if (monomial.empty()) continue;
    const Polynomial x = Polynomial::term(monomial, 1);
    const auto least = s.lower(x), most = s.upper(x);
    if (!least || !most || *most - *least >= m) return;
    ranges.push_back({*least, *most});
  }
  for (size_t lowered = 1; lowered < size_t{1} << ranges.size(); ++lowered) {
    Polynomial b(a.constant());
    Int least = a.constant(), most = least;
    size_t i = 0;
    for (const auto& [monomial, c] : a.terms()) {
      if (monomial.empty()) continue;
      const Int k = (lowered >> i & 1) != 0 ? c - m : c;
      b.add(monomial, k);
      least += k * (k.sign() > 0 ? ranges[i].least : ranges[i].most);
      most += k * (k.sign() > 0 ? ranges[i].most : ranges[i].least);
      ++i;
    }
    const Int q = floor_div(least, m);
    if (q != floor_div(most, m)) continue;
    found.push_back(to_expr(s.pool(), b - Polynomial(m * q)));
  }
}

// (k*(x % t)) % (j*t) -> k*(x % t) for k of j's sign, no larger.
void remainder_within(FormSearch&, Expr e, Found& found) {
  const Polynomial a = atom(e.arg(0));
  if (a.terms().size() != 1) return;
  const auto& [monomial, k] = *a.terms().begin();
  if (monomial.size() != 1 || !monomial[0].is(Op::kMod)) return;
  const Polynomial t = atom(monomial[0].arg(1));
  if (t.is_zero()) return;
  const auto j = exact_quotient(atom(e.arg(1)), t);
  if (!j || !j->is_constant() || j->is_zero()) return;
  const Int scale = j->constant();
  if (k.sign() == scale.sign() && abs(k) <= abs(scale)) {
    found.push_back(e.arg(0));
  }
}

// a % b -> (a - q*b) % b where that cancels terms.
void reduce_by_divisor(FormSearch& s, Expr e, Found& found) {
  const Polynomial a = atom(e.arg(0)), b = atom(e.arg(1));
  if (b.is_constant()) return;
  for (const auto& [monomial, c] : b.terms()) {
    auto at = a.terms().find(monomial);
    if (at == a.terms().end()) continue;
    const Int q = floor_div(at->second, c);
    for (const Int& times : {q, q + Int(1)}) {
      if (times.is_zero()) continue;
      const Polynomial r = a - b * times;
      if (r.terms().size() > a.terms().size()) continue;
      found.push_back(
          s.pool().make(Op::kMod, {to_expr(s.pool(), r), e.arg(1)}));
    }
  }
}

// (g*h + l) % (g*k) -> g*((h + t) % k) + l - t*g for l in [t*g, t*g + g).
void split_remainder(FormSearch& s, Expr e, Found& found) {
  if (!e.arg(1).is(Op::kInteger)) return;
  const Int& m = e.arg(1).integer();
  if (m.sign() <= 0) return;
  const Polynomial a = atom(e.arg(0));
  for (const Int& g : moduli(s, a, m)) {
    const auto b = block_of(s, a, g);
    if (!b) continue;
    const Expr inner = s.simplifier().mod(b->high + Polynomial(b->block),
                                          Polynomial(floor_div(m, g)));
    found.push_back(
        to_expr(s.pool(), atom(inner) * g + b->low - Polynomial(b->block * g)));
  }
}

// ---- extrema within a sum

// Max(a, b) -> b + Max(0, a - b), Min(a, b) -> a - Max(0, a - b), with one sign
// of the difference for all, so that equal ones cancel.
Polynomial positive_part_form(FormSearch& s, Expr extremum) {
  const bool is_max = extremum.is(Op::kMax);
  Polynomial so_far = atom(extremum.arg(0));
  for (Expr arg : extremum.args().subspan(1)) {
    const Polynomial other = atom(arg);
    Polynomial d = so_far - other;
    if (d.is_constant()) {
      const bool first = (d.constant().sign() >= 0) == is_max;
      if (!first) so_far = other;
      continue;
    }
    const bool flipped = d.terms().begin()->second.sign() < 0;
    if (flipped) d = d * Int(-1);
    const Expr zero = s.integer(0);
    const Expr part = s.canonical(Op::kMax, {zero, to_expr(s.pool(), d)});
    // max(x, y) = y + pos(x - y), min(x, y) = x - pos(x - y)
    const Polynomial& x = flipped ? other : so_far;
    const Polynomial& y = flipped ? so_far : other;
    so_far = is_max ? y + atom(part) : x - atom(part);
  }
  return so_far;
}

void positive_parts(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  std::vector<Expr> extrema = few_atoms(*p, Op::kMin);
  for (Expr extremum : few_atoms(*p, Op::kMax)) extrema.push_back(extremum);
  if (extrema.size() < 2) return;  // nothing to cancel with
  Polynomial sum = *p;
  for (Expr extremum : extrema) {
    if (extremum.arity() > 4) return;
    const std::optional<Linear> split = split_off(sum, extremum);
    if (!split) return;
    sum = split->rest + split->factor * positive_part_form(s, extremum);
  }
  found.push_back(to_expr(s.pool(), sum));
}

// r + c*Min(a, b) -> Min(r + c*a, r + c*b); for c < 0 a Max.
void add_into_extremum(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  for (Op op : {Op::kMin, Op::kMax}) {
    for (Expr extremum : few_atoms(*p, op)) {
      const auto term = constant_times(*p, extremum);
      if (!term) continue;
      const Int& c = term->coefficient;
      // what meets its opposite in an argument
      Polynomial meets;
      for (const auto& [monomial, k] : term->rest.terms()) {
        for (Expr arg : extremum.args()) {
          const Polynomial a = atom(arg) * c;
          auto at = a.terms().find(monomial);
          if (at != a.terms().end() && at->second.sign() != k.sign()) {
            meets.add(monomial, k);
            break;
          }
        }
      }
      const bool flips =
          c.sign() < 0 && std::all_of(
                              extremum.args().begin(), extremum.args().end(),
                              [&](Expr arg) {
                                const Polynomial a = atom(arg);
                                return a.is_constant() || arg.is(dual(op)) ||
                                       a.terms().begin()->second.sign() < 0;
                              });
      if (meets.is_zero() && !flips) continue;
      auto has_opposite = [&](Expr arg) {
        const Polynomial a = atom(arg) * c;
        return std::any_of(a.terms().begin(), a.terms().end(),
                           [&](const auto& t) {
                             auto at = meets.terms().find(t.first);
                             return at != meets.terms().end() &&
                                    at->second.sign() != t.second.sign();
                           });
      };
      auto moved = [&](const Polynomial& part) {
        std::vector<Expr> args, others;  // the others are added to as one
        for (Expr arg : extremum.args()) {
          if (extremum.arity() > 2 && !has_opposite(arg)) {
            others.push_back(arg);
          } else {
            args.push_back(s.canonical(part + atom(arg) * c));
          }
        }
        if (!others.empty()) {
          const Expr rest = others.size() == 1
                                ? others[0]
                                : s.canonical(s.pool().make(op, others));
          args.push_back(s.canonical(part + atom(rest) * c));
        }
        if (args.size() < 2) return;
        const Op now = c.sign() > 0 ? op : dual(op);
        const Expr merged = s.pool().make(now, args);
        found.push_back(to_expr(s.pool(), term->rest - part) +
                        s.canonical(merged));
      };
      moved(term->rest);
      if (!meets.is_zero() && meets != term->rest) moved(meets);
    }
  }
}

// Min(3*a, 3*b) -> 3*Min(a, b), of all extrema of a sum.
void content_of_extrema(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (p == nullptr || p->terms().size() < 2) return;
  Polynomial rest = *p;
  bool changed = false;
  for (Op op : {Op::kMin, Op::kMax}) {
    for (Expr extremum : few_atoms(*p, op)) {
      Int g = 0;
      for (Expr arg : extremum.args()) g = gcd(g, full_content(atom(arg)));
      const auto term = constant_times(rest, extremum);
      if (!term || g.is_zero() || g.is_one()) continue;
      std::vector<Expr> args;
      for (Expr arg : extremum.args()) {
        args.push_back(to_expr(s.pool(), over(atom(arg), g)));
      }
      const Expr primitive = s.canonical(s.pool().make(op, args));
      rest = term->rest + atom(primitive) * (term->coefficient * g);
      changed = true;
    }
  }
  if (changed) found.push_back(to_expr(s.pool(), rest));
}

// c*Max(0, d + k) - c*Max(0, d) -> c*Min(Max(d + k, 0), k), k > 0.
void clamp(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  const std::vector<Expr> parts = few_atoms(*p, Op::kMax);
  for (Expr x : parts) {
    for (Expr y : parts) {
      if (x == y || x.arity() != 2 || y.arity() != 2) continue;
      const auto cx = constant_times(*p, x), cy = constant_times(*p, y);
      if (!cx || !cy || cx->coefficient != -cy->coefficient) continue;
      for (const auto& [i, j] : {std::pair{0, 0}, {0, 1}, {1, 0}, {1, 1}}) {
        // x = Max(u, v), y = Max(u', v'): u - u' and v - v' are constant
        const Polynomial u = atom(x.arg(size_t(i))) - atom(y.arg(size_t(j)));
        const Polynomial v =
            atom(x.arg(size_t(1 - i))) - atom(y.arg(size_t(1 - j)));
        if (!u.is_zero() || !v.is_constant()) continue;
        const Int k = v.constant();
        if (k.sign() <= 0) continue;
        // Max(u, w + k) - Max(u, w) = Min(Max(w + k - u, 0), k)
        const Polynomial d =
            atom(x.arg(size_t(1 - i))) - atom(x.arg(size_t(i)));
        const Expr zero = s.integer(0), most = s.integer(k);
        const Expr clamped = min(max(to_expr(s.pool(), d), zero), most);
        const Polynomial rest =
            cx->rest + Polynomial::term({y}, cx->coefficient);
        found.push_back(to_expr(s.pool(), rest) +
                        s.pool().integer(cx->coefficient) *
                            s.canonical(clamped));
      }
    }
  }
}

// r + Min(m, Max(l, d + k)) -> r + k + Min(m - k, Max(l - k, d)), constants.
void shift_clamp(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p || p->constant().is_zero()) return;
  for (Op op : {Op::kMin, Op::kMax}) {
    for (Expr outer : few_atoms(*p, op)) {
      const auto term = constant_times(*p, outer);
      if (!term || outer.arity() != 2) continue;
      for (size_t i = 0; i < 2; ++i) {
        const Expr inner = outer.arg(i), bound = outer.arg(1 - i);
        if (!bound.is(Op::kInteger) || !inner.is(dual(op)) ||
            inner.arity() != 2) {
          continue;
        }
        for (size_t j = 0; j < 2; ++j) {
          const Polynomial d = atom(inner.arg(j));
          const Polynomial k(d.constant());
          if (d.is_constant() || k.is_zero() ||
              !inner.arg(1 - j).is(Op::kInteger)) {
            continue;
          }
          auto shifted = [&](Expr x) { return s.canonical(atom(x) - k); };
          const Expr clamped = s.pool().make(
              op, {shifted(bound),
                   s.pool().make(inner.op(), {shifted(inner.arg(1 - j)),
                                              shifted(inner.arg(j))})});
          found.push_back(
              to_expr(s.pool(), term->rest + k * term->coefficient) +
              s.pool().integer(term->coefficient) * clamped);
        }
      }
    }
  }
}

// Min(a, b)*Max(a, b) -> a*b.
void product_of_extrema(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p || p->degree() < 2) return;
  Polynomial sum;
  bool changed = false;
  for (const auto& [monomial, c] : p->terms()) {
    Polynomial product = Polynomial::term(monomial, c);
    for (Expr x : monomial) {
      if (!x.is(Op::kMin) || x.arity() != 2) continue;
      for (Expr y : monomial) {
        const bool are_pair = y.is(Op::kMax) && y.arity() == 2 &&
                              ((x.arg(0) == y.arg(0) && x.arg(1) == y.arg(1)) ||
                               (x.arg(0) == y.arg(1) && x.arg(1) == y.arg(0)));
        if (!are_pair || product != Polynomial::term(monomial, c)) continue;
        Monomial rest = monomial;
        rest.erase(std::find(rest.begin(), rest.end(), x));
        rest.erase(std::find(rest.begin(), rest.end(), y));
        product = Polynomial::term(rest, c) * atom(x.arg(0)) * atom(x.arg(1));
        changed = true;
      }
    }
    sum = sum + product;
  }
  if (changed) found.push_back(to_expr(s.pool(), sum));
}

// ---- Where within a sum

// k*Where(c, a, b) + j*Where(c, d, e) -> Where(c, k*a + j*d, k*b + j*e), and
// r + k*Where(c, a, b) -> Where(c, r + k*a, r + k*b).
void add_into_where(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  const std::vector<Expr> choices = few_atoms(*p, Op::kWhere);
  for (Expr choice : choices) {
    Polynomial rest = *p, yes, no;
    size_t merged = 0;
    for (Expr other : choices) {
      if (other.arg(0) != choice.arg(0)) continue;
      const std::optional<Linear> split = split_off(rest, other);
      if (!split) continue;
      rest = split->rest;
      yes = yes + split->factor * atom(other.arg(1));
      no = no + split->factor * atom(other.arg(2));
      ++merged;
    }
    auto whole = [&](const Polynomial& outside, const Polynomial& inside) {
      const Expr arms = where(choice.arg(0), to_expr(s.pool(), yes + inside),
                              to_expr(s.pool(), no + inside));
      found.push_back(to_expr(s.pool(), outside) + s.canonical(arms));
    };
    if (merged > 1) whole(rest, {});
    if (!is_single_atom(*p, choice)) whole({}, rest);
  }
}

constexpr Rule kRules[] = {
    {"cheapest_arguments", On::kAny, cheapest_arguments,
     "Abs(x - 8*(x//8) - 4)", "Abs(x)"},
    {"cheapest_atoms", On::kInteger, cheapest_atoms, "2*Max(4*x, 4*y) + x",
     "2*Max(x, y) + x"},
    {"equal_by_facts", On::kInteger, equal_by_facts, "", ""},
    {"open_remainders", On::kInteger, open_remainders, "x + Mod(x, 8)",
     "x + 8*(x//8)"},
    {"close_remainder", On::kInteger, close_remainder, "x - 8*(x//8)",
     "x - 7*(x//8)"},
    {"close_remainder_of_quotient", On::kInteger, close_remainder_of_quotient,
     "(x//2) - 3*(x//6)", "(x//2) - 3*(x//8)"},
    {"complement_remainder", On::kInteger, complement_remainder,
     "2 - Mod(x, 3)", "Mod(x, 3) + 2"},
    {"complete_halves", On::kInteger, complete_halves, "(x//2) + ((x + 1)//2)",
     "(x//3) + ((x + 1)//3)"},
    {"complete_quotients", On::kInteger, complete_quotients,
     "(x//3) + ((x + 1)//3) + ((x + 2)//3)", "(x//3) + ((x + 1)//4)"},
    {"difference_of_quotients", On::kInteger, difference_of_quotients,
     "((x + 1)//3) - (x//3)", "((x + 1)//3) + (x//3)"},
    {"gather_in_numerator", On::kInteger, gather_in_numerator,
     "(Min(y, 4*x)//4) - x", "(Min(y, 4*x)//4)"},
    {"nested_quotient", On::kFloor, nested_quotient, "((x//2) + y)//3",
     "(2*(x//2) + y)//3"},
    {"drop_low_part", On::kFloor, drop_low_part, "(4*x + y)//8", "(3*x + y)//8",
     "y in [0, 3]"},
    {"quotient_into_extremum", On::kFloor, quotient_into_extremum,
     "(Min(8*x, 4*y)//4)", "(Min(x, y)//4)"},
    {"two_values", On::kFloor, two_values, "(y + 1)//2", "(x + 1)//2",
     "y in [0, 1]"},
    {"known_quotient", On::kMod, known_quotient, "Mod(-2, y + 3)",
     "Mod(-2, x + 3)", "y in [1, 3]"},
    {"congruent_numerator", On::kMod, congruent_numerator, "Mod(3*y + 3, 4)",
     "Mod(3*x + 3, 4)", "y in [0, 3]"},
    {"remainder_within", On::kMod, remainder_within, "Mod(-Mod(x, y), -2*y)",
     "Mod(-Mod(x, y), 2*y)"},
    {"reduce_by_divisor", On::kMod, reduce_by_divisor, "Mod(x + 3*y, 2*y)",
     "Mod(x + 3, 2*y)"},
    {"split_remainder", On::kMod, split_remainder, "Mod(4*x + y, 12)",
     "Mod(4*x + z, 12)", "y in [0, 3]"},
    {"positive_parts", On::kInteger, positive_parts, "Min(x, y) + Max(x, y)",
     "Min(x, y)"},
    {"add_into_extremum", On::kInteger, add_into_extremum, "x + Max(y - x, z)",
     "x*Max(y, z)"},
    {"content_of_extrema", On::kInteger, content_of_extrema,
     "Min(3*x, 3*y) - Min(x, z)", "Min(3*x, 2*y) - Min(x, z)"},
    {"clamp", On::kInteger, clamp, "Max(x, y + 3) - Max(x, y)",
     "Max(x, y + 3) - Max(z, y)"},
    {"shift_clamp", On::kInteger, shift_clamp, "Min(60, Max(0, x + 63)) + 3",
     "Min(60, Max(y, x + 63)) + 3"},
    {"product_of_extrema", On::kInteger, product_of_extrema,
     "Min(x, y)*Max(x, y)", "Min(x, y)*Max(x, z)"},
    {"add_into_where", On::kInteger, add_into_where, "Where(x < 0, y, z) - y",
     "Where(x < 0, y, z)"},
};

}  // namespace

void split_remainders(FormSearch& s, Expr e, Found& found) {
  split_remainder(s, e, found);
}

std::vector<Polynomial> without_zeros(FormSearch& s, const Polynomial& p) {
  constexpr size_t kMaxFound = 12;
  std::vector<Polynomial> found;
  if (s.facts() == nullptr) return found;
  for (Expr zero : s.facts()->zeros()) {
    const Polynomial z = atom(zero);
    if (z.terms().size() > kMaxTerms || z.is_constant()) continue;
    for (const auto& [lead, k] : z.terms()) {
      if (lead.empty()) continue;
      for (const auto& [monomial, c] : p.terms()) {
        const auto q = exact_quotient(Polynomial::term(monomial, c),
                                      Polynomial::term(lead, k));
        if (!q || found.size() == kMaxFound) continue;
        Polynomial other = p - *q * z;
        if (other.terms().size() <= p.terms().size() + 1) {
          found.push_back(std::move(other));
        }
      }
    }
  }
  return found;
}

std::span<const Rule> sum_rules() { return kRules; }

}  // namespace proviso::inline v0_2::internal
