#include "solver/form.h"

#include <algorithm>
#include <optional>

#include "solver/form_ring.h"
#include "sym/budget.h"
#include "sym/division.h"

namespace proviso::inline v0_2::internal {
namespace {

// Products with more terms than this, or of a higher degree, stay folded in a
// named atom.
constexpr size_t kMaxExpandedTerms = 64;
constexpr size_t kMaxDegree = 64;

// In units of a Budget, what is new takes memory for good.
template <typename T>
constexpr uint64_t kNewUnits = 1 + (sizeof(T) + 128) / 64;
uint64_t heap_units(const Poly& p) { return p.terms.size() / 3; }
uint64_t heap_units(const Factors& f) { return f.size() / 16; }
uint64_t heap_units(const Formula& f) { return f.kids.size() / 16; }
uint64_t heap_units(const Atom&) { return 0; }

using Key = InternIndex::Key;
constexpr auto mix = InternIndex::mix;

Key key_of(const Factors& factors) {
  size_t h = factors.size();
  if (factors.empty()) return {h};
  for (AtomId a : factors) {
    if (&a != &factors.back()) h = mix(h, a);
  }
  return {h, factors.back()};
}

bool leading_is_negative(const Poly& p) {
  return !p.terms.empty() && p.terms[0].coef.sign() < 0;
}

// The same for p and -p - 1: p >= 0 is the negation of the other's.
Key key_of(const Poly& p) {
  const bool turned = leading_is_negative(p);
  size_t h = turned ? (-1 - p.constant).hash() : p.constant.hash();
  MonoId near = 0;
  for (const Term& t : p.terms) {
    const size_t coef = turned ? (-t.coef).hash() : t.coef.hash();
    h = mix(h, near + coef * 0x9e3779b97f4a7c15ull);
    near = t.mono;
  }
  return {h, near};
}

bool are_opposite(const Poly& a, const Poly& b) {
  return a.constant == -1 - b.constant &&
         std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(),
                    b.terms.end(), [](const Term& x, const Term& y) {
                      return x.mono == y.mono && x.coef == -y.coef;
                    });
}

Key key_of(const Atom& a) {
  const uint32_t e = a.expr ? a.expr.id() : 0;
  size_t h = mix(static_cast<size_t>(a.kind), a.b);
  h = mix(mix(h, a.condition), static_cast<size_t>(a.op));
  return a.a == kNoId ? Key{h, e} : Key{mix(h, e), a.a};
}

// Of a connective or an opaque condition, the same for its negation.
Key key_of(const Formula& f) {
  size_t h = f.about_definedness;
  for (FormulaId kid : f.kids) h = mix(h, kid >> 1);
  return {h, f.expr ? f.expr.id() : 0};
}

// Not of p >= 0.
Formula negated(const Formula& formula) {
  Formula result = formula;
  switch (formula.kind) {
    case FormulaKind::kEq: result.kind = FormulaKind::kNe; break;
    case FormulaKind::kNe: result.kind = FormulaKind::kEq; break;
    case FormulaKind::kAnd:
    case FormulaKind::kOr:
      result.kind = formula.kind == FormulaKind::kAnd ? FormulaKind::kOr
                                                      : FormulaKind::kAnd;
      // Still sorted: a formula and its negation are neighbours.
      for (FormulaId& kid : result.kids) kid = FormPool::negate(kid);
      break;
    default: result.positive = !formula.positive; break;
  }
  return result;
}

// The id of `value` in `table`, appended when new.
template <typename T>
uint32_t intern_in(StableVector<T>& table, InternIndex& index, const T& value) {
  Budget::charge(1 + heap_units(value) / 2);
  const Key key = key_of(value);
  uint32_t id = index.find(key, [&](uint32_t i) { return table[i] == value; });
  if (id != kNoId) return id;
  Budget::charge(kNewUnits<T> + heap_units(value));
  id = static_cast<uint32_t>(table.size());
  table.push_back(value);
  index.insert(key, id);
  return id;
}

void sort_unique(Atoms& v) {
  Budget::charge(v.size());
  std::sort(v.begin(), v.end());
  v.shrink(static_cast<size_t>(std::unique(v.begin(), v.end()) - v.begin()));
}
}  // namespace

Int Poly::content() const { return content_of<FormRing>(*this); }

FormPool::FormPool() {
  mono(Factors{});
  formula_depth_.push_back(0);
  formulas_.push_back({.kind = FormulaKind::kConstantFalse});
  formulas_.push_back({.kind = FormulaKind::kConstantTrue});
}

// --- atoms and monomials

namespace {

uint8_t deeper(unsigned depth) {
  return static_cast<uint8_t>(std::min(depth + 1, 255u));
}

}  // namespace

AtomId FormPool::intern(const Atom& atom) {
  const AtomId a = intern_in(atoms_, atom_index_, atom);
  if (a < atom_depth_.size()) return a;
  unsigned below = 0;
  if (atom.kind != AtomKind::kFresh) {
    if (atom.a != kNoId) below = depth(polys_[atom.a]);
    if (atom.b != kNoId) below = std::max(below, depth(polys_[atom.b]));
    if (atom.condition != kNoId) {
      below = std::max(below, formula_depth(atom.condition));
    }
  }
  atom_depth_.push_back(deeper(below));
  return a;
}

unsigned FormPool::depth(const Poly& p) const {
  unsigned most = 0;
  for (const Term& t : p.terms) {
    for (AtomId a : monos_[t.mono]) {
      most = std::max<unsigned>(most, atom_depth_[a]);
    }
  }
  return most;
}

unsigned FormPool::formula_depth(FormulaId f) const {
  return formula_depth_[f >> 1];
}

AtomId FormPool::symbol(Expr e) {
  return intern(Atom{.kind = AtomKind::kSymbol, .expr = e});
}

AtomId FormPool::fresh(uint32_t origin, uint32_t copy) {
  return intern(Atom{.kind = AtomKind::kFresh, .a = origin, .b = copy});
}

AtomId FormPool::opaque(Expr e) {
  return intern(Atom{.kind = AtomKind::kOpaque, .expr = e});
}

MonoId FormPool::mono(AtomId a) {
  if (a >= mono_of_atom_.size()) mono_of_atom_.resize(a + 1, kNoId);
  if (mono_of_atom_[a] == kNoId) {
    mono_of_atom_[a] = mono(Factors{a});
  }
  return mono_of_atom_[a];
}

MonoId FormPool::mono(const Factors& factors) {
  const MonoId m = intern_in(monos_, mono_index_, factors);
  if (m == single_.size()) {
    single_.push_back(factors.size() == 1 ? factors[0] : kNoId);
  }
  return m;
}

MonoId FormPool::product(MonoId a, MonoId b) {
  if (a == 0) return b;
  if (b == 0) return a;
  if (a > b) std::swap(a, b);
  const uint64_t both = uint64_t{a} << 32 | b;
  auto same = [&](uint32_t i) { return products_[i].first == both; };
  const uint32_t known = product_index_.find({a, b}, same);
  if (known != kNoId) return products_[known].second;
  Budget::charge(2 + (monos_[a].size() + monos_[b].size()) / 8);
  Factors merged;
  std::merge(monos_[a].begin(), monos_[a].end(), monos_[b].begin(),
             monos_[b].end(), std::back_inserter(merged));
  MonoId id = mono(merged);
  product_index_.insert({a, b}, static_cast<uint32_t>(products_.size()));
  products_.emplace_back(both, id);
  return id;
}

MonoId FormPool::quotient(MonoId a, MonoId b) {
  if (a == b) return 0;
  const Factors &whole = monos_[a], &part = monos_[b];
  Budget::charge(1 + whole.size() / 16);
  if (!std::includes(whole.begin(), whole.end(), part.begin(), part.end())) {
    return kNoId;
  }
  Factors rest;
  std::set_difference(whole.begin(), whole.end(), part.begin(), part.end(),
                      std::back_inserter(rest));
  return mono(rest);
}

// --- polynomials

Poly FormPool::variable(AtomId a) { return monomial(mono(a), 1); }

Poly FormPool::monomial(MonoId m, const Int& coef) {
  if (m == 0 || coef.is_zero()) return constant(coef);
  return {0, {{m, coef}}};
}

Poly FormPool::sum(const std::vector<Poly>& parts) const {
  Poly total;
  for (const Poly& p : parts) {
    total.constant += p.constant;
    total.terms.append(p.terms);
  }
  merge_terms(total);
  return total;
}

void FormPool::append(Poly& p, MonoId m, const Int& coef) {
  if (m == 0) {
    p.constant += coef;
  } else {
    p.terms.push_back({m, coef});
  }
}

// Sorts terms by monomial, merges equal ones, drops zeros.
void FormPool::merge_terms(Poly& p) {
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

Poly FormPool::add(const Poly& a, const Poly& b, const Int& b_times) const {
  if (b_times.is_zero()) return a;
  Budget::charge(1 + (a.terms.size() + b.terms.size()) / 4);
  Poly result = constant(a.constant + b.constant * b_times);
  result.terms.reserve(a.terms.size() + b.terms.size());
  auto x = a.terms.begin(), y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    bool take_x =
        y == b.terms.end() || (x != a.terms.end() && x->mono < y->mono);
    bool take_y =
        x == a.terms.end() || (y != b.terms.end() && y->mono < x->mono);
    if (take_x) {
      result.terms.push_back(*x++);
    } else if (take_y) {
      result.terms.push_back({y->mono, y->coef * b_times});
      ++y;
    } else {
      Int c = x->coef + y->coef * b_times;
      if (!c.is_zero()) result.terms.push_back({x->mono, std::move(c)});
      ++x, ++y;
    }
  }
  return result;
}

Poly FormPool::scale(const Poly& a, const Int& k) const {
  if (k.is_zero()) return {};
  Budget::charge(1 + a.terms.size() / 4);
  Poly result = a;
  result.constant *= k;
  for (Term& t : result.terms) t.coef *= k;
  return result;
}

size_t FormPool::degree(const Poly& p) const {
  size_t most = 0;
  for (const Term& t : p.terms) most = std::max(most, monos_[t.mono].size());
  return most;
}

Poly FormPool::mul(const Poly& a, const Poly& b) {
  if (a.is_constant()) return scale(b, a.constant);
  if (b.is_constant()) return scale(a, b.constant);
  size_t width = (a.terms.size() + 1) * (b.terms.size() + 1);
  Budget::charge(std::min(width, kMaxExpandedTerms));
  const size_t degrees[] = {degree(a), degree(b)};
  const bool is_high = degrees[0] + degrees[1] > kMaxDegree;
  if (width > kMaxExpandedTerms || is_high) {
    auto folded = [&](const Poly& p) {
      if (p.terms.size() <= 1 && (!is_high || degree(p) == 1)) return p;
      return variable(intern(Atom{.kind = AtomKind::kNamed, .a = intern(p)}));
    };
    return mul(folded(a), folded(b));
  }
  return product_of(FormRing{*this}, a, b);
}

Poly FormPool::pow(const Poly& a, unsigned n) {
  Poly result = constant(1);
  for (unsigned i = 0; i < n; ++i) result = mul(result, a);
  return result;
}

PolyId FormPool::intern(const Poly& p) {
  const PolyId id = intern_in(polys_, poly_index_, p);
  if (id == about_.size()) about_.emplace_back();
  return id;
}

std::optional<Poly> FormPool::terms_without_factor(const Poly& p, AtomId a) {
  const MonoId divisor = mono(a);
  Poly reduced;
  for (const Term& t : p.terms) {
    const MonoId q = quotient(t.mono, divisor);
    if (q == kNoId) return std::nullopt;
    append(reduced, q, t.coef);
  }
  merge_terms(reduced);
  return reduced;
}

Poly FormPool::over(const Poly& p, const Int& k) {
  Budget::charge(1 + p.terms.size() / 2);
  return divided_by<FormRing>(p, k);
}

PolyId FormPool::intern_divided(const Poly& p, const Int& k) {
  return k.is_one() ? intern(p) : intern(over(p, k));
}

// The interned -p - 1, if it is.
PolyId FormPool::opposite(const Poly& p) const {
  return poly_index_.find(key_of(p),
                          [&](PolyId q) { return are_opposite(p, polys_[q]); });
}

FormPool::View FormPool::view(const Poly& p) {
  Int g = p.content();
  if (leading_is_negative(p)) g = -g;
  if (g.is_one() && p.constant.is_zero()) return {intern(p), g};
  Poly form = g.is_one() ? p : over(p, g);
  form.constant = 0;
  return {intern(form), g};
}

const FormPool::View& FormPool::view(PolyId p) {
  View& known = about_[p].view;
  if (known.form == kNoId) known = view(polys_[p]);
  return known;
}

std::optional<AtomId> FormPool::as_atom(const Poly& p) const {
  if (p.terms.size() != 1 || !p.constant.is_zero()) return std::nullopt;
  if (!p.terms[0].coef.is_one()) return std::nullopt;
  const AtomId a = single_[p.terms[0].mono];
  return a == kNoId ? std::nullopt : std::optional(a);
}

// --- floors by numbers

// outside + floor(num / den), den a number; once done, outside alone.
struct FormPool::NumberDivision {
  using Ring = FormRing;
  static constexpr bool kWholeCoefficients = false;

  FormRing ring;
  Poly outside, num, den;
  bool is_done = false;

  void take_out(const Poly& q) { outside = ring.forms.add(outside, q); }
  static void take_factor(const Factors&, const Int&, const Int&) {}
  void finish() { is_done = true; }
  static bool merges() { return true; }
  static bool merges(const Poly& m) {
    return m.is_constant() && m.constant.sign() > 0;
  }
  static void spend(size_t terms) { Budget::charge(1 + terms / 2); }

  // (x % m + e) // k -> e//k where the ends of x % m + e have one quotient.
  // Some of the coefficients, which are in [0, k-1] here, were below 0 in the
  // remainders.
  static bool bound_by_remainders(NumberDivision& d) {
    const FormPool& forms = d.ring.forms;
    const auto is_floor = [&](const Term& t) {
      const AtomId a = forms.single(t.mono);
      return a != kNoId && forms.atom(a).kind == AtomKind::kFloor;
    };
    if (std::none_of(d.num.terms.begin(), d.num.terms.end(), is_floor)) {
      return false;
    }
    const Int& k = d.den.constant;
    for (const bool floors : {true, false}) {
      Poly quotient;
      for (const Term& t : d.num.terms) {
        if (is_floor(t) == floors) quotient.terms.push_back({t.mono, 1});
      }
      const auto range = forms.remainder_range(forms.add(d.num, quotient, -k));
      if (!range) continue;
      quotient.constant = proviso::floor_div(range->first, k);
      if (quotient.constant != proviso::floor_div(range->second, k)) continue;
      d.take_out(quotient);
      d.finish();
      return true;
    }
    return false;
  }

  static auto& rules() {
    using D = NumberDivision;
    using namespace division;
    static constinit RuleTable table({
        RewriteRow<D>{kNegativeConstant, negative_constant<D>, Then::kNext},
        {kPullOutNumber, pull_out_number<D>, Then::kNext},
        {kCancelGcd, cancel_gcd<D>, Then::kNext},
        {with_examples(kSmallConstant, "(4*x + 3)//4", "x//y"),
         small_constant<D>, Then::kNext},
        {kMergeNested, merge_nested<D>},
        {{"bound_by_remainders", "(Mod(x, m) + e)//k", "e//k",
          "(m > 0) & (k > 0) & Eq(e//k, (m - 1 + e)//k)", "(Mod(x, 8) + 8)//16",
          "(Mod(x, 8) + 9)//16"},
         bound_by_remainders,
         Then::kNext},
    });
    return table;
  }
};

std::vector<RewriteRuleCount> number_division_rule_counts() {
  return FormPool::NumberDivision::rules().counts();
}

Poly FormPool::floor_by_number(Poly a, const Int& k) {
  NumberDivision d{
      .ring = {*this}, .outside = {}, .num = std::move(a), .den = constant(k)};
  NumberDivision::rules().run(d);
  if (d.is_done) return std::move(d.outside);
  const AtomId q = intern(
      Atom{.kind = AtomKind::kFloor, .a = intern(d.num), .b = intern(d.den)});
  return add(d.outside, variable(q));
}

bool FormPool::leads(MonoId a, MonoId b) const {
  const Factors &x = monos_[a], &y = monos_[b];
  if (x.size() != y.size()) return x.size() > y.size();
  return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
}

const Term& FormPool::leading(const Poly& p) const {
  return *std::min_element(
      p.terms.begin(), p.terms.end(),
      [this](const Term& a, const Term& b) { return leads(a.mono, b.mono); });
}

std::optional<Poly> FormPool::exact_quotient(const Poly& a, const Poly& b) {
  if (b.is_constant()) return std::nullopt;
  return exact_quotient_of(FormRing{*this}, a, b);
}

Poly FormPool::floor_div(const Poly& a, const Poly& b) {
  if (b.is_constant() && !b.constant.is_zero()) {
    return floor_by_number(a, b.constant);
  }
  bool flip = leading_is_negative(b);
  return variable(intern(Atom{.kind = AtomKind::kFloor,
                              .a = intern(flip ? scale(a, -1) : a),
                              .b = intern(flip ? scale(b, -1) : b)}));
}

Poly FormPool::mod(const Poly& a, const Poly& b) {
  return sub(a, mul(b, floor_div(a, b)));
}

Poly FormPool::pos(const Poly& d) {
  if (d.is_constant()) return d.constant.sign() > 0 ? d : Poly{};
  if (leading_is_negative(d)) {  // pos(-e) == pos(e) - e
    Poly e = scale(d, -1);
    return sub(pos(e), e);
  }
  Int g = gcd(d.content(), d.constant);
  Poly reduced = g.is_one() ? d : over(d, g);
  AtomId a = intern(Atom{.kind = AtomKind::kPos, .a = intern(reduced)});
  return {0, {{mono(a), g}}};
}

Poly FormPool::ite(FormulaId condition, const Poly& a, const Poly& b) {
  if (condition == kTrue || a == b) return a;
  if (condition == kFalse) return b;
  return variable(intern(Atom{.kind = AtomKind::kIte,
                              .a = intern(a),
                              .b = intern(b),
                              .condition = condition}));
}

Poly FormPool::func(Op op, const Poly& a, const Poly& b) {
  return variable(intern(
      Atom{.kind = AtomKind::kFunc, .a = intern(a), .b = intern(b), .op = op}));
}

// --- conditions

// With its negation beside it, which is not made yet.
FormulaId FormPool::add(const Formula& formula) {
  Budget::charge(2 * kNewUnits<Formula> + heap_units(formula));
  const auto id = static_cast<FormulaId>(formulas_.size());
  unsigned below = formula.poly == kNoId ? 0 : depth(polys_[formula.poly]);
  for (FormulaId kid : formula.kids) {
    below = std::max(below, formula_depth(kid));
  }
  formula_depth_.push_back(deeper(below));
  formulas_.push_back(formula);
  formulas_.push_back({.kind = FormulaKind::kConstantFalse, .is_made = false});
  return id;
}

const Formula& FormPool::make_negation(FormulaId f) {
  const Formula& known = formulas_[negate(f)];
  Budget::charge(1 + heap_units(known));
  Formula& made = formulas_[f];
  if (known.kind == FormulaKind::kGe) {
    Poly p = scale(polys_[known.poly], -1);
    p.constant -= 1;
    made = {.kind = FormulaKind::kGe, .poly = intern(p)};
    about_[made.poly].ge = f;
  } else {
    made = negated(known);
  }
  return made;
}

// A connective or an opaque condition.
FormulaId FormPool::intern(const Formula& formula) {
  const Key key = key_of(formula);
  const Formula negation = negated(formula);
  const FormulaId known = formula_index_.find(key, [&](FormulaId f) {
    return formulas_[f] == formula || formulas_[f] == negation;
  });
  if (known != kNoId) {
    return formulas_[known] == formula ? known : negate(known);
  }
  const FormulaId id = add(formula);
  formula_index_.insert(key, id);
  return id;
}

// The ends of a sum of remainders a - d*floor(a/d) and a constant, which are in
// [0, d-1] wherever the parts are.  Nullopt of what is no such sum.
std::optional<std::pair<Int, Int>> FormPool::remainder_range(
    const Poly& p) const {
  constexpr int kMaxRemainders = 8;
  Poly rest = p;
  Int low = 0, high = 0;
  for (int i = 0; i < kMaxRemainders && !rest.is_constant(); ++i) {
    // What was made last has no part in another's numerator.
    const Term* last = nullptr;
    for (const Term& t : rest.terms) {
      if (single_[t.mono] == kNoId) return std::nullopt;
      if (atoms_[single_[t.mono]].kind != AtomKind::kFloor) continue;
      if (!last || single_[t.mono] > single_[last->mono]) last = &t;
    }
    if (!last) return std::nullopt;
    const Atom& quotient = atoms_[single_[last->mono]];
    const Poly& d = polys_[quotient.b];
    if (!d.is_constant() || d.constant.sign() <= 0) return std::nullopt;
    if (!floor_mod(last->coef, d.constant).is_zero()) return std::nullopt;
    const Int times = proviso::floor_div(last->coef, d.constant);
    const Int most = times * (d.constant - 1);
    (times.sign() > 0 ? low : high) -= most;
    rest = add(sub(rest, {0, {*last}}), polys_[quotient.a], times);
  }
  if (!rest.is_constant()) return std::nullopt;
  return std::pair(low + rest.constant, high + rest.constant);
}

FormulaId FormPool::relation(FormulaKind kind, const Poly& p) {
  return kind == FormulaKind::kGe   ? ge(p)
         : kind == FormulaKind::kEq ? eq(p)
                                    : ne(p);
}

FormulaId FormPool::ge(const Poly& p) {
  if (p.is_constant()) return p.constant.sign() >= 0 ? kTrue : kFalse;
  const PolyId id = intern_divided(p, p.content());
  FormulaId& known = about_[id].ge;
  if (known != kNoId) return known;
  if (const auto range = remainder_range(polys_[id])) {
    if (range->first.sign() >= 0) return known = kTrue;
    if (range->second.sign() < 0) return known = kFalse;
    if (range->second.is_zero()) return known = eq(polys_[id]);
  }
  const PolyId other = opposite(polys_[id]);
  const FormulaId negation = other == kNoId ? kNoId : about_[other].ge;
  if (negation == kNoId) {
    known = add({.kind = FormulaKind::kGe, .poly = id});
  } else {
    known = negate(negation);
  }
  return known;
}

FormulaId FormPool::eq(const Poly& p) {
  if (p.is_constant()) return p.constant.is_zero() ? kTrue : kFalse;
  Int g = p.content();
  if (!floor_mod(p.constant, g).is_zero()) return kFalse;
  if (leading_is_negative(p)) g = -g;
  const PolyId id = intern_divided(p, g);
  FormulaId& known = about_[id].eq;
  if (known != kNoId) return known;
  const auto range = remainder_range(polys_[id]);
  const bool is_never =
      range && (range->first.sign() > 0 || range->second.sign() < 0);
  known = is_never ? kFalse : add({.kind = FormulaKind::kEq, .poly = id});
  return known;
}

FormulaId FormPool::connect(FormulaKind kind, std::vector<FormulaId> kids) {
  FormulaId neutral = kind == FormulaKind::kAnd ? kTrue : kFalse;
  FormulaId absorbing = kind == FormulaKind::kAnd ? kFalse : kTrue;
  std::vector<FormulaId> flat;
  for (FormulaId kid : kids) {
    const Formula& f = formula(kid);
    if (f.kind == kind) {
      flat.insert(flat.end(), f.kids.begin(), f.kids.end());
    } else if (kid == absorbing) {
      return absorbing;
    } else if (kid != neutral) {
      flat.push_back(kid);
    }
  }
  Budget::charge(1 + kids.size() / 2 + flat.size() / 2);
  std::sort(flat.begin(), flat.end());
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  for (FormulaId kid : flat) {
    if (std::binary_search(flat.begin(), flat.end(), negate(kid))) {
      return absorbing;
    }
  }
  if (flat.empty()) return neutral;
  if (flat.size() == 1) return flat[0];
  return intern(Formula{.kind = kind, .poly = kNoId, .kids = flat});
}

FormulaId FormPool::all_of(std::vector<FormulaId> kids) {
  return connect(FormulaKind::kAnd, std::move(kids));
}

FormulaId FormPool::any_of(std::vector<FormulaId> kids) {
  return connect(FormulaKind::kOr, std::move(kids));
}

FormulaId FormPool::opaque_condition(Expr e, bool about_definedness) {
  return intern(Formula{.kind = FormulaKind::kOpaque,
                        .poly = kNoId,
                        .kids = {},
                        .expr = e,
                        .about_definedness = about_definedness});
}

// --- occurrences

void FormPool::collect(const Poly& p, Atoms& out) {
  for (const Term& t : p.terms) {
    for (AtomId a : monos_[t.mono]) out.append(atoms_within(a));
  }
}

Atoms FormPool::atoms_of(const Poly& p) {
  Atoms out;
  collect(p, out);
  sort_unique(out);
  return out;
}

namespace {

Atoms& entry(StableVector<Atoms>& table, uint32_t i) {
  if (i >= table.size()) table.resize(i + 1);
  return table[i];
}

}  // namespace

const Atoms& FormPool::atoms_of(PolyId p) {
  Atoms& known = about_[p].atoms;
  if (known.empty() && !polys_[p].terms.empty()) known = atoms_of(polys_[p]);
  return known;
}

const Atoms& FormPool::atoms_within(AtomId a) {
  Atoms& known = entry(atoms_within_, a);
  if (!known.empty()) return known;
  const Atom& atom = atoms_[a];
  Atoms out = {a};
  if (atom.kind != AtomKind::kFresh) {
    if (atom.a != kNoId) out.append(atoms_of(atom.a));
    if (atom.b != kNoId) out.append(atoms_of(atom.b));
    if (atom.condition != kNoId) out.append(atoms_of_formula(atom.condition));
  }
  sort_unique(out);
  return known = std::move(out);
}

const Atoms& FormPool::atoms_of_formula(FormulaId f) {
  f = std::min(f, negate(f));  // the one that was made first
  const Formula& formula = formulas_[f];
  if (formula.poly != kNoId) return atoms_of(formula.poly);
  Atoms& known = entry(atoms_of_formula_, f);
  if (!known.empty() || formula.kids.empty()) return known;
  Atoms out;
  for (FormulaId kid : formula.kids) out.append(atoms_of_formula(kid));
  sort_unique(out);
  return known = std::move(out);
}

// --- text, for people who debug

std::string FormPool::name(AtomId a) {
  const Atom& atom = atoms_[a];
  auto text = [this](PolyId p) { return to_string(polys_[p]); };
  switch (atom.kind) {
    case AtomKind::kSymbol: return atom.expr.symbol().name;
    case AtomKind::kFresh: return "t" + std::to_string(a);
    case AtomKind::kFloor:
      return "floor(" + text(atom.a) + ", " + text(atom.b) + ")";
    case AtomKind::kPos: return "pos(" + text(atom.a) + ")";
    case AtomKind::kIte:
      return "ite(" + to_string(atom.condition) + ", " + text(atom.a) + ", " +
             text(atom.b) + ")";
    case AtomKind::kNamed: return "[" + text(atom.a) + "]";
    case AtomKind::kFunc:
      return std::string(info(atom.op).name) + "(" + text(atom.a) + ", " +
             text(atom.b) + ")";
    case AtomKind::kOpaque: return "e" + std::to_string(atom.expr.id());
  }
  return "?";
}

std::string FormPool::to_string(const Poly& p) {
  std::string out;
  for (const Term& t : p.terms) {
    out += (out.empty() ? "" : " + ") + t.coef.to_string();
    for (AtomId a : monos_[t.mono]) out += "*" + name(a);
  }
  if (!p.constant.is_zero() || out.empty()) {
    out += (out.empty() ? "" : " + ") + p.constant.to_string();
  }
  return out;
}

std::string FormPool::to_string(FormulaId f) {
  const Formula& formula = this->formula(f);
  switch (formula.kind) {
    case FormulaKind::kConstantFalse: return "False";
    case FormulaKind::kConstantTrue: return "True";
    case FormulaKind::kGe: return to_string(polys_[formula.poly]) + " >= 0";
    case FormulaKind::kEq: return to_string(polys_[formula.poly]) + " == 0";
    case FormulaKind::kNe: return to_string(polys_[formula.poly]) + " != 0";
    case FormulaKind::kOpaque:
      return (formula.positive ? "c" : "~c") +
             std::to_string(formula.expr.id());
    default: break;
  }
  std::string out;
  for (FormulaId kid : formula.kids) {
    if (!out.empty()) out += formula.kind == FormulaKind::kAnd ? " & " : " | ";
    out += "(" + to_string(kid) + ")";
  }
  return out;
}

}  // namespace proviso::inline v0_2::internal
