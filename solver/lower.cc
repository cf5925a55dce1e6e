#include "solver/lower.h"

#include <unordered_set>
#include <utility>

#include "sym/budget.h"
#include "sym/definition.h"
#include "sym/pool_stores.h"

namespace proviso::inline v0_2::internal {
namespace {

// Calls within calls: what is deeper is lowered from below.
constexpr int kMaxNesting = 10;
constexpr int kMaxFractionDepth = 64;

// Larger constant exponents and shifts stay opaque.
constexpr int64_t kMaxExponent = 8;
constexpr int64_t kMaxShift = 4096;

uint32_t& slot(std::vector<uint32_t>& memo, Expr e) {
  if (e.id() >= memo.size()) memo.resize(e.id() + 1 + e.id() / 2, kNoId);
  return memo[e.id()];
}

Int two_to(int64_t n) { return *pow(Int(2), static_cast<uint64_t>(n)); }

// n when value is 2**n.
std::optional<int64_t> log2_exact(const Int& value) {
  if (value.sign() <= 0) return std::nullopt;
  int64_t n = static_cast<int64_t>(value.bit_length()) - 1;
  if (two_to(n) == value) return n;
  return std::nullopt;
}

}  // namespace

// --- integers

// The budget is the outermost call's; what an outer one ends is not this
// expression's doing, and is not remembered.
template <typename Lower, typename Opaque>
auto Lowering::bounded(Expr e, Lower lower, Opaque opaque) {
  Budget::charge(2);
  if (nesting_ > 0) {
    Budget::check();
    if (nesting_ == kMaxNesting) {
      for (Expr arg : e.args()) lower_arguments(arg);
    }
    ++nesting_;
    auto form = lower();
    --nesting_;
    return form;
  }
  try {
    Budget budget(kLoweringUnits);
    nesting_ = 1;
    auto form = lower();
    nesting_ = 0;
    return form;
  } catch (const OutOfBudget&) {
    nesting_ = 0;
    Budget::check();
    return opaque();
  }
}

// All that is below e, arguments first, so that no call goes deep.
void Lowering::lower_arguments(Expr e) {
  std::unordered_set<uint32_t> floats;  // seen: they have no form of their own
  auto is_done = [&](Expr x) {
    if (x.is_constant()) return true;
    if (slot(defined_, x) == kNoId && !is_leaf(x.op())) return false;
    return x.is_int()    ? slot(integers_, x) != kNoId
           : x.is_bool() ? slot(conditions_, x) != kNoId
                         : floats.contains(x.id());
  };
  const int outer = std::exchange(nesting_, 1);
  visit_arguments_first(e, is_done, [&](Expr x) {
    Budget::spend(1);
    if (x.is_float()) floats.insert(x.id());
    if (x.is_int()) integer(x);
    if (x.is_bool()) condition(x);
    defined(x);
  });
  nesting_ = outer;
}

Poly Lowering::integer(Expr e) {
  if (e.is(Op::kInteger)) return Poly::number(e.integer());
  uint32_t known = slot(integers_, e);
  if (known != kNoId) return forms_.polys[known];
  auto opaque = [&] { return variable(forms_, forms_.atoms.opaque(e)); };
  Poly p = bounded(
      e,
      [&] {
        Poly made = compute_integer(e);
        return forms_.depth(made) <= kMaxDepth ? made : opaque();
      },
      opaque);
  slot(integers_, e) = forms_.polys.id_of(p);
  return p;
}

Poly Lowering::compute_integer(Expr e) {
  auto arg = [&](size_t i) { return integer(e.arg(i)); };
  switch (e.op()) {
    case Op::kSymbol: return variable(forms_, forms_.atoms.symbol(e));
    case Op::kAdd: return opened_sum(e);
    case Op::kMul: {
      Poly product = arg(0);
      for (Expr a : e.args().subspan(1)) {
        product = mul(forms_, product, integer(a));
      }
      return product;
    }
    case Op::kPow:
    case Op::kPowByNatural: return power(e);
    case Op::kFloorDiv:
    case Op::kCleanDiv: return floor_div(forms_, arg(0), arg(1));
    case Op::kMod:
    case Op::kPythonMod: return mod(forms_, arg(0), arg(1));
    case Op::kMin:
    case Op::kMax: return extremum(e.op(), e.args());
    case Op::kAbs:  // |x| == 2*pos(x) - x
      return pos(forms_, arg(0)) * 2 - arg(0);
    case Op::kIdentity: return arg(0);
    case Op::kLShift:
    case Op::kRShift:
    case Op::kBitAnd:
    case Op::kBitOr:
    case Op::kBitXor: return bits(e);
    case Op::kWhere: return where(forms_, condition(e.arg(0)), arg(1), arg(2));
    case Op::kTruncToInt:
    case Op::kCeilToInt:
    case Op::kFloorToInt:
    case Op::kRoundToInt: return rounded(e);
    default: break;
  }
  const Expr meaning = definition(e);
  return meaning == e ? variable(forms_, forms_.atoms.opaque(e))
                      : integer(meaning);
}

// Few from the left; many by halves, so that atoms within atoms stay few.
Poly Lowering::extremum(Op op, std::span<const Expr> args) {
  constexpr size_t kFew = 8;
  auto join = [&](const Poly& a, const Poly& b) {
    return op == Op::kMin ? min(forms_, a, b) : max(forms_, a, b);
  };
  if (args.size() > kFew) {
    const size_t half = args.size() / 2;
    return join(extremum(op, args.first(half)),
                extremum(op, args.subspan(half)));
  }
  Poly best = integer(args[0]);
  for (Expr a : args.subspan(1)) best = join(best, integer(a));
  return best;
}

// Nested sums are opened in one go: a left-nested chain of n additions costs
// n, not n squared.
Poly Lowering::opened_sum(Expr e) {
  std::vector<Poly> parts;
  std::vector<Expr> open = {e};
  while (!open.empty()) {
    Expr next = open.back();
    open.pop_back();
    Budget::spend(1);
    if (next.is(Op::kAdd)) {
      open.insert(open.end(), next.args().begin(), next.args().end());
    } else {
      parts.push_back(integer(next));
    }
  }
  return sum(parts);
}

Poly Lowering::power(Expr e) {
  Poly base = integer(e.arg(0)), exponent = integer(e.arg(1));
  if (exponent.is_constant()) {
    auto n = exponent.constant.to_int64();
    if (n && *n >= 0 && *n <= kMaxExponent) {
      return pow(forms_, base, static_cast<unsigned>(*n));
    }
    if (n && *n >= 0 && base.is_constant()) {
      if (auto value = proviso::pow(base.constant, static_cast<uint64_t>(*n))) {
        return Poly::number(*value);
      }
    }
  }
  return func(forms_, Op::kPow, base, exponent);
}

Poly Lowering::bits(Expr e) {
  Poly a = integer(e.arg(0)), b = integer(e.arg(1));
  if (e.is(Op::kLShift) || e.is(Op::kRShift)) {
    Poly scale = func(forms_, Op::kPow, Poly::number(2), b);
    auto n = b.is_constant() ? b.constant.to_int64() : std::nullopt;
    if (n && *n >= 0 && *n <= kMaxShift) {
      scale = Poly::number(two_to(*n));
    }
    return e.is(Op::kLShift) ? mul(forms_, a, scale)
                             : floor_div(forms_, a, scale);
  }
  if (a.is_constant()) std::swap(a, b);
  Poly both;  // a & b
  if (b.is_constant() && a.is_constant()) {
    both = Poly::number(bit_and(a.constant, b.constant));
  } else if (a == b) {
    both = a;
  } else if (b.is_constant() && log2_exact(b.constant + 1)) {
    both = mod(forms_, a, Poly::number(b.constant + 1));
  } else if (b.is_constant() && log2_exact(-b.constant)) {
    both = a - mod(forms_, a, Poly::number(-b.constant));
  } else {
    if (forms_.polys.id_of(b) < forms_.polys.id_of(a)) std::swap(a, b);
    both = func(forms_, Op::kBitAnd, a, b);
  }
  if (e.is(Op::kBitAnd)) return both;
  // a + b counts common bits twice: a | b keeps them once, a ^ b drops them.
  Int times = e.is(Op::kBitOr) ? -1 : -2;
  return add(a + b, both, times);
}

// --- exact rationals

Poly Lowering::rounded(Expr e) {
  if (e.arg(0).is_int()) return integer(e.arg(0));
  MaybeFraction x = fraction(e.arg(0));
  if (!x) return variable(forms_, forms_.atoms.opaque(e));
  Poly down = floor_div(forms_, x->num, x->den);
  if (e.is(Op::kFloorToInt)) return down;
  if (e.is(Op::kRoundToInt)) return round_half_even(*x);
  Poly up = -floor_div(forms_, -x->num, x->den);
  if (e.is(Op::kCeilToInt)) return up;
  return where(forms_, sign_relation(Op::kLe, *x), down, up);
}

// floor(x + 1/2), less one on a tie that went up to an odd number.
Poly Lowering::round_half_even(const Fraction& x) {
  Poly top = x.num * 2 + x.den;
  Poly bottom = x.den * 2;
  Poly up = floor_div(forms_, top, bottom);
  FormulaId tie = forms_.formulas.eq(top - mul(forms_, bottom, up));
  Poly parity = mod(forms_, up, Poly::number(2));
  FormulaId odd = forms_.formulas.eq(parity - Poly::number(1));
  Poly down = up - Poly::number(1);
  return where(forms_, forms_.formulas.all_of({tie, odd}), down, up);
}

Lowering::MaybeFraction Lowering::fraction(Expr e, int depth) {
  if (depth > kMaxFractionDepth) return std::nullopt;
  Budget::spend(1);
  const Poly one = Poly::number(1);
  if (e.is_int()) return Fraction{integer(e), one};
  switch (e.op()) {
    case Op::kRational:
      return Fraction{Poly::number(e.rational().num()),
                      Poly::number(e.rational().den())};
    case Op::kToFloat:
    case Op::kIdentity: return fraction(e.arg(0), depth + 1);
    case Op::kAdd:
    case Op::kMul: return fold_fractions(e, depth);
    case Op::kIntTrueDiv:
    case Op::kFloatTrueDiv: {
      MaybeFraction a = fraction(e.arg(0), depth + 1);
      MaybeFraction b = fraction(e.arg(1), depth + 1);
      if (!a || !b) return std::nullopt;
      return Fraction{mul(forms_, a->num, b->den), mul(forms_, a->den, b->num)};
    }
    default: return std::nullopt;
  }
}

Lowering::MaybeFraction Lowering::fold_fractions(Expr e, int depth) {
  MaybeFraction total = fraction(e.arg(0), depth + 1);
  for (Expr arg : e.args().subspan(1)) {
    MaybeFraction next = fraction(arg, depth + 1);
    if (!total || !next) return std::nullopt;
    Poly num = e.is(Op::kMul) ? mul(forms_, total->num, next->num)
                              : mul(forms_, total->num, next->den) +
                                    mul(forms_, next->num, total->den);
    total = Fraction{num, mul(forms_, total->den, next->den)};
  }
  return total;
}

// --- conditions

FormulaId Lowering::condition(Expr e) {
  uint32_t known = slot(conditions_, e);
  if (known != kNoId) return known;
  auto opaque = [&] { return forms_.formulas.opaque(e, false); };
  FormulaId f = bounded(
      e,
      [&] {
        const FormulaId made = compute_condition(e);
        return forms_.formulas.depth(made) <= kMaxDepth ? made : opaque();
      },
      opaque);
  slot(conditions_, e) = f;
  return f;
}

FormulaId Lowering::choice(FormulaId c, FormulaId a, FormulaId b) {
  return forms_.formulas.any_of(
      {forms_.formulas.all_of({c, a}), forms_.formulas.all_of({negate(c), b})});
}

FormulaId Lowering::compute_condition(Expr e) {
  switch (e.op()) {
    case Op::kBoolean: return e.is_true() ? kTrue : kFalse;
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe: return relation(e);
    case Op::kAnd:
    case Op::kOr: {
      std::vector<FormulaId> kids;
      for (Expr arg : e.args()) kids.push_back(condition(arg));
      return e.is(Op::kAnd) ? forms_.formulas.all_of(kids)
                            : forms_.formulas.any_of(kids);
    }
    case Op::kNot: return negate(condition(e.arg(0)));
    case Op::kWhere:
      return choice(condition(e.arg(0)), condition(e.arg(1)),
                    condition(e.arg(2)));
    default: return forms_.formulas.opaque(e, false);
  }
}

FormulaId Lowering::relation(Expr e) {
  Expr a = e.arg(0), b = e.arg(1);
  if (a.is_bool()) {
    FormulaId x = condition(a), y = condition(b);
    FormulaId same = choice(x, y, negate(y));
    return e.is(Op::kEq) ? same : negate(same);
  }
  if (a.is_int() && b.is_int()) {
    return integer_relation(e.op(), integer(b) - integer(a));
  }
  MaybeFraction x = fraction(a), y = fraction(b);
  if (!x || !y) return opaque_relation(e);
  Poly num = mul(forms_, y->num, x->den) - mul(forms_, x->num, y->den);
  return sign_relation(e.op(), {num, mul(forms_, x->den, y->den)});
}

// a OP b, given b - a.
FormulaId Lowering::integer_relation(Op op, const Poly& difference) {
  switch (op) {
    case Op::kEq: return forms_.formulas.eq(difference);
    case Op::kNe: return forms_.formulas.ne(difference);
    case Op::kLt: return forms_.formulas.ge(difference - Poly::number(1));
    default: return forms_.formulas.ge(difference);
  }
}

// The same for a real difference num / den, den not 0.
FormulaId Lowering::sign_relation(Op op, const Fraction& difference) {
  const Poly& den = difference.den;
  bool sign_matters = op == Op::kLt || op == Op::kLe;
  if (!sign_matters) return integer_relation(op, difference.num);
  FormulaId straight = integer_relation(op, difference.num);
  FormulaId flipped = integer_relation(op, -difference.num);
  const Poly one = Poly::number(1);
  FormulaId positive = forms_.formulas.ge(den - one);
  FormulaId negative = forms_.formulas.ge(-den - one);
  return forms_.formulas.any_of({forms_.formulas.all_of({positive, straight}),
                                 forms_.formulas.all_of({negative, flipped})});
}

// Kept as a condition of its own; < and != are the negations of <= and ==, so
// that an assumed one decides its negation.
FormulaId Lowering::opaque_relation(Expr e) {
  ExprPool& pool = e.pool();
  if (e.is(Op::kLt)) {
    Expr reverse = pool.make(Op::kLe, {e.arg(1), e.arg(0)});
    return negate(forms_.formulas.opaque(reverse, false));
  }
  if (e.is(Op::kNe)) {
    Expr same = pool.make(Op::kEq, {e.arg(0), e.arg(1)});
    return negate(forms_.formulas.opaque(same, false));
  }
  return forms_.formulas.opaque(e, false);
}

// --- definedness

FormulaId Lowering::defined(Expr e) {
  if (is_leaf(e.op())) return kTrue;
  uint32_t known = slot(defined_, e);
  if (known != kNoId) return known;
  auto opaque = [&] { return forms_.formulas.opaque(e, true); };
  FormulaId f = bounded(
      e,
      [&] {
        const FormulaId made = compute_defined(e);
        return forms_.formulas.depth(made) <= kMaxDepth ? made : opaque();
      },
      opaque);
  slot(defined_, e) = f;
  return f;
}

FormulaId Lowering::compute_defined(Expr e) {
  if (e.is(Op::kWhere)) {
    FormulaId a = defined(e.arg(1)), b = defined(e.arg(2));
    FormulaId arms = a == b ? a : choice(condition(e.arg(0)), a, b);
    return forms_.formulas.all_of({defined(e.arg(0)), arms});
  }
  std::vector<FormulaId> parts;
  for (Expr arg : e.args()) {
    FormulaId part = defined(arg);
    if (part != kTrue) parts.push_back(part);
  }
  FormulaId own = own_condition(e);
  if (own != kTrue) parts.push_back(own);
  return parts.empty() ? kTrue : forms_.formulas.all_of(std::move(parts));
}

FormulaId Lowering::nonzero(Expr divisor) {
  MaybeFraction x = fraction(divisor);
  if (!x) return kNoId;
  return forms_.formulas.ne(x->num);
}

FormulaId Lowering::nonzero_divisors(Expr e) {
  const auto count = static_cast<size_t>(info(e.op()).divisors);
  if (count == 0) return kTrue;
  if (count == 1) return nonzero(e.arg(1));
  std::vector<FormulaId> parts;
  for (Expr divisor : e.args().subspan(1, count)) {
    parts.push_back(nonzero(divisor));
    if (parts.back() == kNoId) return kNoId;
  }
  return forms_.formulas.all_of(std::move(parts));
}

FormulaId Lowering::natural(Expr count) {
  Poly n = integer(count);
  if (n.is_constant() && n.constant > Int(int64_t{1} << 32)) return kFalse;
  return forms_.formulas.ge(n);
}

// Beyond that the arguments are defined.
FormulaId Lowering::own_condition(Expr e) {
  FormulaId f = nonzero_divisors(e);
  switch (e.op()) {
    case Op::kPow: f = e.is_int() ? natural(e.arg(1)) : kNoId; break;
    case Op::kPowByNatural:
    case Op::kLShift:
    case Op::kRShift: f = natural(e.arg(1)); break;
    case Op::kFloatPow:
    case Op::kRoundDecimal: f = kNoId; break;
    default:
      if (is_opaque(e.op())) f = kNoId;
      break;
  }
  return f == kNoId ? forms_.formulas.opaque(e, true) : f;
}

// --- back to expressions

namespace {

class Raising {
 public:
  Raising(ExprPool& pool, FormPool& forms) : pool_(pool), forms_(forms) {}

  std::optional<Expr> poly(const Poly& p) {
    std::vector<Expr> sum;
    for (const Term& t : p.terms) {
      std::vector<Expr> product;
      if (!t.coef.is_one()) product.push_back(pool_.integer(t.coef));
      for (AtomId a : forms_.monomials.factors(t.mono)) {
        std::optional<Expr> e = atom(forms_.atoms[a]);
        if (!e) return std::nullopt;
        product.push_back(*e);
      }
      sum.push_back(product.size() == 1 ? product[0]
                                        : pool_.make(Op::kMul, product));
    }
    if (!p.constant.is_zero() || sum.empty()) {
      sum.push_back(pool_.integer(p.constant));
    }
    return sum.size() == 1 ? sum[0] : pool_.make(Op::kAdd, sum);
  }

 private:
  std::optional<Expr> atom(const Atom& a) {
    if (a.kind == AtomKind::kSymbol || a.kind == AtomKind::kOpaque) {
      return a.expr;
    }
    if (a.kind == AtomKind::kFresh) return std::nullopt;
    std::optional<Expr> x = poly(forms_.polys[a.a]), y;
    if (!x) return std::nullopt;
    if (a.b != kNoId && !(y = poly(forms_.polys[a.b]))) return std::nullopt;
    switch (a.kind) {
      case AtomKind::kFloor: return floor_div(*x, *y);
      case AtomKind::kPos: return max(pool_.integer(0), *x);
      case AtomKind::kFunc: return pool_.make(a.op, {*x, *y});
      case AtomKind::kIte: {
        std::optional<Expr> c = condition(a.condition);
        if (!c) return std::nullopt;
        return where(*c, *x, *y);
      }
      default: return x;
    }
  }

  std::optional<Expr> condition(FormulaId id) {
    const Formula& f = forms_.formulas[id];
    if (f.kind == FormulaKind::kOpaque) {
      if (f.about_definedness) return std::nullopt;
      return f.positive ? f.expr : logical_not(f.expr);
    }
    if (f.poly == kNoId) {
      std::vector<Expr> kids;
      for (FormulaId kid : f.kids) {
        std::optional<Expr> e = condition(kid);
        if (!e) return std::nullopt;
        kids.push_back(*e);
      }
      if (kids.empty())
        return pool_.boolean(f.kind == FormulaKind::kConstantTrue);
      return pool_.make(f.kind == FormulaKind::kAnd ? Op::kAnd : Op::kOr, kids);
    }
    std::optional<Expr> p = poly(forms_.polys[f.poly]);
    if (!p) return std::nullopt;
    switch (f.kind) {
      case FormulaKind::kGe: return ge(*p, 0);
      case FormulaKind::kEq: return eq(*p, 0);
      default: return ne(*p, 0);
    }
  }

  ExprPool& pool_;
  FormPool& forms_;
};

}  // namespace

std::optional<Expr> to_expr(ExprPool& pool, FormPool& forms, const Poly& p) {
  return Raising(pool, forms).poly(p);
}

Forms& Forms::of(ExprPool& expressions) {
  std::shared_ptr<void>& slot = PoolStores::companion(expressions);
  if (!slot) slot = std::make_shared<Forms>();
  return *static_cast<Forms*>(slot.get());
}

}  // namespace proviso::inline v0_2::internal
