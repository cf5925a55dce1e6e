// Rules on floors and on remainders: what a quotient or a remainder is by the
// ranges of its parts, by a divisor of its divisor, by another quotient in it.
//
//   (x - 1)//4 with x % 8 == 3         x//4: x - 1 and x are in one block of 4
//   (3*y + 3) % 4 with y in [0, 3]     3 - y: a coefficient less by 4
//   ((x//2) + y)//3                    (x + 2*y)//6
//
// A rule costs a range for each of a few moduli or quotients that it tries.
// Complete for nothing: the search (sym/form_search.h) puts rules together.
#include <algorithm>

#include "sym/fixed_limits.h"
#include "sym/form_search.h"
#include "sym/rule_parts.h"

namespace proviso::inline v0_2::internal {
namespace {

// ---- floors

// (a//k + q)//b -> (a + k*q)//(k*b), b > 0.
void nested_quotient(FormSearch& s, Expr e, Found& found) {
  const Polynomial b = as_sum(e.arg(1));
  if (!s.is_positive(b)) return;
  const Polynomial n = as_sum(e.arg(0));
  for (Expr floor : few_atoms(n, Op::kFloorDiv)) {
    const auto term = constant_times(n, floor);
    if (!term || !term->coefficient.is_one()) continue;
    const Polynomial k = as_sum(floor.arg(1));
    found.push_back(s.canonicalizer().floor_div(
        as_sum(floor.arg(0)) + k * term->rest, k * b));
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
        found.size() < fixed::division_moduli) {
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

// The forms of (g*h + r + l)//m as (g*h + t*g)//m where g divides m and r + l
// stays in [t*g, t*g + g): of x % 4 == 3, (x - 1)//2 is x//2.
std::vector<Expr> without_low_part(FormSearch& s, Expr floor) {
  std::vector<Expr> forms;
  if (!floor.arg(1).is(Op::kInteger)) return forms;
  const Int& m = floor.arg(1).integer();
  if (m.sign() <= 0) return forms;
  const Polynomial& p = s.polynomial(floor.arg(0));
  for (const Int& g : moduli(s, p, m)) {
    const std::optional<LowPart> part = low_part(s, p, g);
    if (!part) continue;
    const Int t = floor_div(part->least + part->remainder, g);
    if (t != floor_div(part->most + part->remainder, g)) continue;
    // any constant that keeps remainder + constant in the block will do
    const Int least = t * g - part->remainder;
    Int constant = least;
    const Int up = -floor_div(-least, m) * m;  // the next multiple of m
    if (up < least + g) constant = up;
    if (least.sign() <= 0 && least + g > Int(0)) constant = 0;
    const Polynomial n = part->high + Polynomial(constant);
    if (n != p) forms.push_back(s.canonicalizer().floor_div(n, Polynomial(m)));
  }
  return forms;
}

// The same of a floor in a sum: what is less by a constant, (x - 1)//2, is
// (x + 1)//2 - 1 in canonical form, and the constants meet.
void drop_low_part(FormSearch& s, Expr e, Found& found) {
  const Polynomial* p = small_sum(s, e);
  if (!p) return;
  for (Expr floor : few_atoms(*p, Op::kFloorDiv)) {
    const std::optional<Linear> split = split_off(*p, floor);
    if (!split) continue;
    for (Expr form : without_low_part(s, floor)) {
      found.push_back(
          to_expr(s.pool(), split->rest + split->factor * as_sum(form)));
    }
  }
}

// Min(a, b)//m -> Min(a//m, b//m), m > 0, where one of them needs no division.
void quotient_into_extremum(FormSearch& s, Expr e, Found& found) {
  const Expr n = e.arg(0);
  if (!n.is(Op::kMin) && !n.is(Op::kMax)) return;
  const Polynomial m = as_sum(e.arg(1));
  if (!s.is_positive(m)) return;
  std::vector<Expr> args;
  bool is_simpler = false;
  for (Expr arg : n.args()) {
    args.push_back(s.canonicalizer().floor_div(as_sum(arg), m));
    is_simpler = is_simpler || !contains(args.back(), Op::kFloorDiv);
  }
  if (is_simpler) found.push_back(s.pool().make(n.op(), args));
}

// Whether 0 <= a < b for a symbolic b, as far as can be proved.
bool is_proved_within(FormSearch& s, const Polynomial& a, const Polynomial& b) {
  if (s.facts() == nullptr || b.is_constant()) return false;
  Canonicalizer& canonicalizer = s.canonicalizer();
  return s.proved(canonicalizer.nonneg(a)) == true &&
         s.proved(canonicalizer.nonneg(b - a - Polynomial(Int(1)))) == true;
}

// a//b -> 0 where 0 <= a < b.
void proved_quotient(FormSearch& s, Expr e, Found& found) {
  if (is_proved_within(s, as_sum(e.arg(0)), as_sum(e.arg(1)))) {
    found.push_back(s.integer(0));
  }
}

// What takes two values that follow each other: a//m is linear in it.
void two_values(FormSearch& s, Expr e, Found& found) {
  if (!e.arg(1).is(Op::kInteger)) return;
  const Int& m = e.arg(1).integer();
  if (m.is_zero()) return;
  const Polynomial a = as_sum(e.arg(0));
  const auto least = s.lower(a), most = s.upper(a);
  if (!least || !most || *most != *least + Int(1)) return;
  const Int low = floor_div(*least, m), high = floor_div(*most, m);
  found.push_back(to_expr(
      s.pool(), Polynomial(low) + (a - Polynomial(*least)) * (high - low)));
}

// ---- remainders

// a % b -> a - q*b where that lies between 0 and b.
void known_quotient(FormSearch& s, Expr e, Found& found) {
  const Polynomial a = as_sum(e.arg(0)), b = as_sum(e.arg(1));
  if (b.is_constant()) {
    const Expr floor = s.canonicalizer().floor_div(a, b);
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

// a % b -> a where 0 <= a < b: (32*x + y) % (32*n) for x < n and y in [0, 31].
void proved_remainder(FormSearch& s, Expr e, Found& found) {
  if (is_proved_within(s, as_sum(e.arg(0)), as_sum(e.arg(1)))) {
    found.push_back(e.arg(0));
  }
}

// a % m -> b - m*q where b is a with some coefficients c replaced by c - m, and
// lies in [m*q, m*q + m): (3*y + 3) % 4 is 3 - y for y in [0, 3].
void congruent_numerator(FormSearch& s, Expr e, Found& found) {
  if (!e.arg(1).is(Op::kInteger) || s.facts() == nullptr) return;
  const Int& m = e.arg(1).integer();
  const Polynomial& a = s.polynomial(e.arg(0));
  if (m.sign() <= 0 || a.terms().size() > fixed::lowered_coefficients + 1)
    return;
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
  const Polynomial a = as_sum(e.arg(0));
  if (a.terms().size() != 1) return;
  const auto& [monomial, k] = *a.terms().begin();
  if (monomial.size() != 1 || !monomial[0].is(Op::kMod)) return;
  const Polynomial t = as_sum(monomial[0].arg(1));
  if (t.is_zero()) return;
  const auto j = exact_quotient(as_sum(e.arg(1)), t);
  if (!j || !j->is_constant() || j->is_zero()) return;
  const Int scale = j->constant();
  if (k.sign() == scale.sign() && abs(k) <= abs(scale)) {
    found.push_back(e.arg(0));
  }
}

// a % b -> (a - q*b) % b where that cancels terms.
void reduce_by_divisor(FormSearch& s, Expr e, Found& found) {
  const Polynomial a = as_sum(e.arg(0)), b = as_sum(e.arg(1));
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

constexpr Rule kDivisionRules[] = {
    {{"nested_quotient", "((a//k) + q)//b", "(a + k*q)//(k*b)", "b > 0",
      "((x//2) + y)//3", "(2*(x//2) + y)//3"},
     On::kFloor,
     nested_quotient},
    {{"drop_low_part", "(g*h + r)//(g*k)", "(g*h)//(g*k)",
      "(0 <= r) & (r < g) & (k > 0)", "((x - 1)//4)", "((x + y)//4)",
      "Eq(Mod(x, 8), 3); y in [0, 9]"},
     On::kInteger,
     drop_low_part},
    {{"quotient_into_extremum", "Min(m*a, b)//m", "Min(a, b//m)", "m > 0",
      "(Min(8*x, 4*y)//4)", "(Min(x, y)//4)"},
     On::kFloor,
     quotient_into_extremum},
    {{"two_values", "a//m", "(l//m) + (a - l)*(((l + 1)//m) - (l//m))",
      "(l <= a) & (a <= l + 1)", "(y + 1)//2", "(x + 1)//2", "y in [0, 1]"},
     On::kFloor,
     two_values},
    {{"known_quotient", "Mod(a, b)", "a - q*b",
      "(0 <= a - q*b) & (a - q*b < b)", "Mod(-2, y + 3)", "Mod(-2, x + 3)",
      "y in [1, 3]"},
     On::kMod,
     known_quotient},
    {{"congruent_numerator", "Mod(c*x, m)", "(c - m)*x - m*q",
      "(m*q <= (c - m)*x) & ((c - m)*x < m*q + m)", "Mod(3*y + 3, 4)",
      "Mod(3*x + 3, 4)", "y in [0, 3]"},
     On::kMod,
     congruent_numerator},
    {{"remainder_within", "Mod(k*Mod(x, t), j*t)", "k*Mod(x, t)",
      "(0 < k*j) & (Abs(k) <= Abs(j))", "Mod(-Mod(x, y), -2*y)",
      "Mod(-Mod(x, y), 2*y)"},
     On::kMod,
     remainder_within},
    {{"reduce_by_divisor", "Mod(c*b + r, k*b)", "Mod((c - q*k)*b + r, k*b)", "",
      "Mod(x + 3*y, 2*y)", "Mod(x + 3, 2*y)"},
     On::kMod,
     reduce_by_divisor},
    {{"proved_quotient", "(k*a + r)//(k*b)", "0",
      "(0 <= a) & (a < b) & (0 <= r) & (r < k)", "((32*x + y)//(32*z))",
      "((32*x + y)//(16*z))", "x in [0, 99]; y in [0, 31]; x < z"},
     On::kFloor,
     proved_quotient},
    {{"proved_remainder", "Mod(k*a + r, k*b)", "k*a + r",
      "(0 <= a) & (a < b) & (0 <= r) & (r < k)", "Mod(32*x + y, 32*z)",
      "Mod(32*x + y, 16*z)", "x in [0, 99]; y in [0, 31]; x < z"},
     On::kMod,
     proved_remainder},
};

}  // namespace

// (g*h + l) % (g*k) -> g*((h + t) % k) + l - t*g for l in [t*g, t*g + g).
void split_remainders(FormSearch& s, Expr e, Found& found) {
  if (!e.arg(1).is(Op::kInteger)) return;
  const Int& m = e.arg(1).integer();
  if (m.sign() <= 0) return;
  const Polynomial a = as_sum(e.arg(0));
  for (const Int& g : moduli(s, a, m)) {
    const auto b = block_of(s, a, g);
    if (!b) continue;
    const Expr inner = s.canonicalizer().mod(b->high + Polynomial(b->block),
                                             Polynomial(floor_div(m, g)));
    found.push_back(to_expr(
        s.pool(), as_sum(inner) * g + b->low - Polynomial(b->block * g)));
  }
}

RuleRows division_rules() { return kDivisionRules; }

}  // namespace proviso::inline v0_2::internal
