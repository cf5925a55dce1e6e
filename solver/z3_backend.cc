// Two refutations: yes where the facts and "false or undefined" have no model,
// no where the facts and "true or undefined" have none.
//
//   x//y == 3        ite(y > 0, x div y, (-x) div (-y)) == 3, where y != 0
//   facts f, g       p => f, q => g, and p, q assumed: the core of a refutation
//                    names the facts that it used
//
// Python's division is said by SMT-LIB's, which is Euclid's; integers are Int,
// floats whose arithmetic is exact Real.  What has no such term (a power by a
// symbol, bits of symbols) is Unsupported: a question with it has no answer
// here, and a fact with it is left out.  Where symbols are multiplied, models
// are looked for in a small box first.  What Z3 decides within its limit, this
// does.
//
// Z3 counts its steps and not what they take: numbers in a tableau have as many
// bits as the coefficients of all rows, and lemmas about products are tried in
// pairs.  Weight says how much longer than usual a step may be; the limit is
// divided by it, and each step is charged so.
#include "solver/z3_backend.h"

#ifdef PROVISO_WITH_Z3
#include <z3++.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <unordered_map>

#include "solver/fixed_limits.h"
#include "solver/kind_range.h"
#include "solver/large_stack.h"
#include "sym/budget.h"
#include "sym/definition.h"
#include "sym/doubles.h"
#endif

namespace proviso::inline v0_2::internal {

#ifdef PROVISO_WITH_Z3

namespace {

// Thrown for what has no translation; caught in implied().
struct Unsupported {};

// How long a step of Z3 may be, where 1 is some 2 us.  The divisors are from
// the longest steps seen: 85 us in 257 rows of three primes, 32 us in a sum of
// 512 products, 0.4 ms in a product of four sums of decimals of 1,000 bits.
class Weight {
 public:
  // Of the coefficients of a relation, whose products have `bits` altogether
  // written out.
  void add_row(double coefficient_bits) {
    rows_ += 1;
    row_bits_ += coefficient_bits;
  }
  void add_products(double degree, double terms, double bits) {
    products_ += terms * terms / kProductPairs;
    products_ += terms * bits * (degree - 1) * (degree - 1) / kProductBits;
  }
  uint64_t value() const {
    return static_cast<uint64_t>(1 + products_ + rows_ * row_bits_ / kRowBits);
  }

 private:
  static constexpr double kRowBits = 12'000, kProductPairs = 16'000,
                          kProductBits = 6'400;
  double rows_ = 0, row_bits_ = 0, products_ = 0;
};

// Expressions to Z3 terms.  Divisions are guarded: `defined` collects that
// their divisors are not zero, under the condition of the arm they stand in.
class Translator {
 public:
  explicit Translator(z3::context& c) : c_(c) {}

  // Makes the terms of e and all below it, arguments first: depth is no concern
  // of the stack.
  void translate(Expr e) {
    visit_arguments_first(
        e, [this](Expr x) { return terms_.contains(x.id()); },
        [this](Expr x) {
          Budget::spend(40);
          measure(x);
          term(x);
          defined(x);
        });
  }

  z3::expr term(Expr e) {
    auto it = terms_.find(e.id());
    if (it != terms_.end()) return it->second;
    z3::expr t = compute(e);
    terms_.emplace(e.id(), t);
    return t;
  }

  z3::expr defined(Expr e) {
    if (is_leaf(e.op())) return c_.bool_val(true);
    auto it = defined_.find(e.id());
    if (it != defined_.end()) return it->second;
    z3::expr d = compute_defined(e);
    defined_.emplace(e.id(), d);
    return d;
  }

  using Symbols = std::vector<std::pair<Expr, z3::expr>>;
  const Symbols& symbols() const { return symbols_; }
  bool has_products() const { return has_products_; }
  uint64_t weight() const { return weight_.value(); }

 private:
  // An upper bound of the size after products are written out, as Z3 may do.
  struct Extent {
    double degree = 1, terms = 1;
    double bits = 0;         // of a number in it
    double scale = 0;        // of them, those of what a symbol is multiplied by
    double denominator = 0;  // bits of what is no power of two

    Extent times(const Extent& o) const {
      Extent all{degree + o.degree, terms * o.terms, bits + o.bits, 0,
                 denominator + o.denominator};
      all.scale = all.bits;
      return all;
    }
    Extent beside(const Extent& o) const {
      return {std::max(degree, o.degree), terms + o.terms,
              std::max(bits, o.bits), std::max(scale, o.scale),
              denominator + o.denominator};
    }
    double written_bits() const {
      return (bits + denominator) * (degree > 1 ? terms : 1);
    }
  };

  static Extent of_constant(Expr e) {
    if (e.is_bool()) return {};
    const Rational value = e.is_int() ? e.integer() : e.rational();
    const size_t bits = value.num().bit_length() + value.den().bit_length();
    return {0, 1, static_cast<double>(bits - std::min<size_t>(bits, 2))};
  }
  static Extent power_of(const Extent& base, double n) {
    return {base.degree * n, std::pow(base.terms, n), base.bits * n,
            base.bits * n, base.denominator * n};
  }
  // A quotient by a number has its bits below the line.
  static Extent quotient_of(const Extent& a, const Extent& b) {
    Extent all = b.degree == 0 ? a.times(b) : a.beside(b);
    if (b.degree == 0) all.denominator += b.bits;
    return all;
  }

  void measure(Expr e) {
    if (e.is_float() && !is_exact_double(e)) throw Unsupported();
    if (e.is(Op::kInteger) && e.integer().bit_length() > fixed::z3_bits) {
      throw Unsupported();
    }
    // Congruences are put together modulo the least common multiple, and what
    // that costs is hardly counted: 0.4 seconds at 96 bits, 2.5 at 256.
    if (info(e.op()).divisors > 0 && e.arg(1).is(Op::kInteger) &&
        !e.arg(1).integer().is_zero()) {
      modulus_ = lcm(modulus_, e.arg(1).integer());
      if (modulus_.bit_length() > fixed::z3_modulus_bits) throw Unsupported();
    }
    const Extent all = extent(e);
    written_bits_ += all.written_bits();
    if (all.degree > fixed::z3_degree || all.terms > fixed::z3_terms ||
        written_bits_ > fixed::z3_terms * fixed::z3_bits) {
      throw Unsupported();
    }
    if (info(e.op()).kind == OpKind::kRelation) {
      weight_.add_row(all.scale + all.denominator);
      if (all.degree > 1) {
        weight_.add_products(all.degree, all.terms, all.bits + all.denominator);
      }
    }
    extents_[e.id()] = all;
  }

  Extent extent(Expr e) {
    const OpKind kind = info(e.op()).kind;
    if (kind == OpKind::kConstant) return of_constant(e);
    if (e.arity() == 0) return {};
    if (kind == OpKind::kPower) {
      return power_of(extents_[e.arg(0).id()],
                      static_cast<double>(e.arg(1).maybe_int64().value_or(
                          fixed::lowered_exponent)));
    }
    Extent all = extents_[e.arg(0).id()];
    for (size_t i = 1; i < e.arity(); ++i) {
      const Extent& part = extents_[e.arg(i).id()];
      all = kind == OpKind::kProduct    ? all.times(part)
            : info(e.op()).divisors > 0 ? quotient_of(all, part)
                                        : all.beside(part);
    }
    return all;
  }

  z3::expr number(const Int& v) { return c_.int_val(v.to_string().c_str()); }

  z3::expr product(const z3::expr& a, const z3::expr& b) {
    has_products_ |= !a.is_numeral() && !b.is_numeral();
    return a * b;
  }
  z3::expr quotient(const z3::expr& a, const z3::expr& b) {
    has_products_ |= !b.is_numeral();
    return a / b;
  }

  // Z3's div and mod are Euclid's: the remainder is never negative.
  z3::expr floor_div(const z3::expr& a, const z3::expr& b) {
    z3::expr q = quotient(a, b);
    if (b.is_numeral()) {
      int64_t value = 0;
      if (b.is_numeral_i64(value) && value > 0) return q;
    }
    return z3::ite(b > 0, q, (-a) / (-b));
  }
  z3::expr floor_mod(const z3::expr& a, const z3::expr& b) {
    return a - b * floor_div(a, b);
  }
  z3::expr real(Expr e) {
    z3::expr t = term(e);
    return t.is_int() ? z3::to_real(t) : t;
  }
  z3::expr floor_of(const z3::expr& x) {
    return z3::expr(c_, Z3_mk_real2int(c_, x));
  }

  z3::expr fold(Expr e) {
    bool floating = e.is_float();
    z3::expr total = floating ? real(e.arg(0)) : term(e.arg(0));
    for (Expr arg : e.args().subspan(1)) {
      z3::expr next = floating ? real(arg) : term(arg);
      total = joined(e.op(), total, next);
    }
    return total;
  }
  z3::expr joined(Op op, const z3::expr& a, const z3::expr& b) {
    if (op == Op::kAdd) return a + b;
    if (op == Op::kMul) return product(a, b);
    if (op == Op::kMin) return z3::ite(a <= b, a, b);
    if (op == Op::kMax) return z3::ite(a >= b, a, b);
    return op == Op::kAnd ? a && b : a || b;
  }

  z3::expr relation(Expr e) {
    Expr x = e.arg(0), y = e.arg(1);
    bool floating = x.is_float() || y.is_float();
    z3::expr a = floating ? real(x) : term(x);
    z3::expr b = floating ? real(y) : term(y);
    if (e.is(Op::kEq)) return a == b;
    if (e.is(Op::kNe)) return a != b;
    return e.is(Op::kLt) ? a < b : a <= b;
  }

  z3::expr rounded(Expr e) {
    if (e.arg(0).is_int()) return term(e.arg(0));
    z3::expr x = real(e.arg(0));
    z3::expr down = floor_of(x), up = -floor_of(-x);
    if (e.is(Op::kFloorToInt)) return down;
    if (e.is(Op::kCeilToInt)) return up;
    if (e.is(Op::kTruncToInt)) return z3::ite(x >= 0, down, up);
    z3::expr half = c_.real_val(1, 2);
    z3::expr near = floor_of(x + half);
    z3::expr tie = z3::to_real(near) == x + half;
    z3::expr odd = z3::mod(near, c_.int_val(2)) == 1;
    return z3::ite(tie && odd, near - 1, near);
  }

  z3::expr power(Expr e) {
    auto n = e.arg(1).maybe_int64();
    if (!e.is_int() || !n || *n < 0 || *n > fixed::lowered_exponent)
      throw Unsupported();
    z3::expr total = c_.int_val(1), base = term(e.arg(0));
    for (int64_t i = 0; i < *n; ++i) total = product(total, base);
    return total;
  }

  z3::expr symbol(Expr e) {
    const char* name = e.symbol().name.c_str();
    symbols_.emplace_back(e, e.is_float() ? c_.real_const(name)
                             : e.is_int() ? c_.int_const(name)
                                          : c_.bool_const(name));
    return symbols_.back().second;
  }

  z3::expr constant(Expr e) {
    if (e.is(Op::kInteger)) return number(e.integer());
    if (e.is_bool()) return c_.bool_val(e.is_true());
    return c_.real_val(e.rational().to_string().c_str());
  }

  z3::expr compute(Expr e) {
    auto arg = [&](size_t i) { return term(e.arg(i)); };
    switch (info(e.op()).kind) {
      case OpKind::kConstant: return constant(e);
      case OpKind::kSymbol: return symbol(e);
      case OpKind::kSum:
      case OpKind::kProduct:
      case OpKind::kExtremum:
      case OpKind::kJunction: return fold(e);
      case OpKind::kPower: return power(e);
      case OpKind::kFloorDiv: return floor_div(arg(0), arg(1));
      case OpKind::kMod: return floor_mod(arg(0), arg(1));
      case OpKind::kAbs: return z3::ite(arg(0) >= 0, arg(0), -arg(0));
      case OpKind::kIdentity: return arg(0);
      case OpKind::kRelation: return relation(e);
      case OpKind::kNot: return !arg(0);
      case OpKind::kWhere:
        if (e.is_float()) {
          return z3::ite(arg(0), real(e.arg(1)), real(e.arg(2)));
        }
        return z3::ite(arg(0), arg(1), arg(2));
      case OpKind::kToFloat: return real(e.arg(0));
      case OpKind::kTrueDiv: return quotient(real(e.arg(0)), real(e.arg(1)));
      case OpKind::kRounding: return rounded(e);
      case OpKind::kDefined: return term(definition(e));
      case OpKind::kShift:
      case OpKind::kBitwise:
      case OpKind::kReal:
      case OpKind::kIndicator: break;
    }
    throw Unsupported();
  }

  z3::expr nonzero(Expr e) {
    z3::expr t = term(e);
    return t.is_int() ? t != 0 : t != c_.real_val(0);
  }

  z3::expr compute_defined(Expr e) {
    if (e.is(Op::kWhere)) {
      z3::expr condition = term(e.arg(0));
      return defined(e.arg(0)) &&
             z3::ite(condition, defined(e.arg(1)), defined(e.arg(2)));
    }
    z3::expr all = c_.bool_val(true);
    for (Expr arg : e.args()) {
      z3::expr part = defined(arg);
      if (!part.is_true()) all = all.is_true() ? part : all && part;
    }
    for (int i = 1; i <= info(e.op()).divisors; ++i) {
      all = all && nonzero(e.arg(static_cast<size_t>(i)));
    }
    return all;
  }

  z3::context& c_;
  std::unordered_map<uint32_t, z3::expr> terms_, defined_;
  std::unordered_map<uint32_t, Extent> extents_;
  Symbols symbols_;
  bool has_products_ = false;  // of symbols, or divisions by them
  Int modulus_ = 1;            // a multiple of each constant divisor
  double written_bits_ = 0;    // of all expressions
  Weight weight_;
};

}  // namespace

struct Z3Backend::Impl {
  std::mutex mutex;                // of
  z3::context* running = nullptr;  // what interrupt() ends

  // Open to interrupt() while it lives.
  class Running {
   public:
    Running(Impl& impl, z3::context& c) : impl_(impl) { set(&c); }
    ~Running() { set(nullptr); }

   private:
    void set(z3::context* c) {
      std::lock_guard<std::mutex> lock(impl_.mutex);
      impl_.running = c;
    }
    Impl& impl_;
  };

  static z3::expr fact_in(Translator& translator, z3::context& c, Expr fact) {
    try {
      translator.translate(fact);
    } catch (const Unsupported&) {
      return c.bool_val(true);
    }
    return translator.term(fact) && translator.defined(fact);
  }

  // One private context a question: verdicts near the budget must not depend
  // on what was asked before.
  Result ask(const std::vector<Expr>& facts, Expr question, bool bounded,
             uint32_t budget) {
    z3::context c;
    const Running here(*this, c);
    Translator translate(c);
    std::vector<z3::expr> assumed;
    for (Expr fact : facts) assumed.push_back(fact_in(translate, c, fact));
    translate.translate(question);
    z3::expr truth = translate.term(question);
    z3::expr defined = translate.defined(question);
    auto refute = [&](const z3::expr& opposite,
                      std::optional<Assignment>& model) {
      const std::vector<Box> boxes = boxes_for(translate, bounded);
      const Share share{budget / (2 * boxes.size()), translate.weight()};
      Result result;
      for (const Box& box : boxes) {
        result =
            check(c, assumed, opposite, box, translate.symbols(), model, share);
        if (model || result.verdict != Result::kUnknown) break;
      }
      return result;
    };
    std::optional<Assignment> counterexample, witness;
    Result result = refute(!(truth && defined), counterexample);
    if (result.verdict != Result::kUnknown) return result;
    result = refute(!(!truth && defined), witness);
    if (result.verdict == Result::kYes) result.verdict = Result::kNo;
    result.counterexample = std::move(counterexample);
    result.witness = std::move(witness);
    return result;
  }

  static std::optional<Assignment> point_of(
      const z3::model& model, const Translator::Symbols& symbols) {
    Assignment point;
    for (const auto& [e, s] : symbols) {
      z3::expr value = model.eval(s, true);
      if (e.is_float()) return std::nullopt;
      if (e.is_bool()) {
        point.set(e, value.is_true());
      } else if (auto number = Int::parse(value.get_decimal_string(0))) {
        point.set(e, *number);
      } else {
        return std::nullopt;
      }
    }
    return point;
  }

  // Symbols lie in [-2**bits, 2**bits).
  struct Box {
    unsigned bits;  // 0: anywhere
    bool is_known;
  };
  // Where to look, one after the other: models are near, and bounds of products
  // may double their digits each round without a look at the limit.
  static std::vector<Box> boxes_for(const Translator& t, bool bounded) {
    if (!t.has_products()) return {{bounded ? 63u : 0u, bounded}};
    return {{4, false}, {bounded ? 63u : 128u, bounded}};
  }

  // Steps of the usual length, and how long those of this question may be.
  struct Share {
    uint64_t steps, weight;

    // What the caller has left, if that is less.
    uint32_t limit() const {
      const uint64_t most = std::min(steps, Budget::units_left() / kUnits);
      return static_cast<uint32_t>(most / weight);
    }
    void charge(uint32_t spent) const {
      Budget::charge(kUnits * weight * spent);
    }
  };

  static z3::expr number(z3::context& c, const Int& value) {
    return c.int_val(value.to_string().c_str());
  }

  static z3::expr inside(z3::context& c, const Box& box,
                         const Translator::Symbols& symbols) {
    z3::expr all = c.bool_val(true);
    if (box.bits == 0) return all;
    const Int end = *pow(Int(2), box.bits);
    for (const auto& [e, s] : symbols) {
      if (!e.is_int()) continue;
      all = all && s >= number(c, -end) && s < number(c, end);
    }
    return all;
  }

  // What Z3 has spent in the context so far, as it counts.
  static unsigned units_of(const z3::solver& solver) {
    const z3::stats all = solver.statistics();
    for (unsigned i = 0; i < all.size(); ++i) {
      if (all.key(i) == "rlimit count") return all.uint_value(i);
    }
    return 0;
  }

  // kYes when assumed & opposite has no model; `model` is the one in the box
  // that was found.  What the box alone refutes is no proof, unless it is
  // known.
  static Result check(z3::context& c, const std::vector<z3::expr>& assumed,
                      const z3::expr& opposite, const Box& box,
                      const Translator::Symbols& symbols,
                      std::optional<Assignment>& model, const Share& share) {
    const uint32_t limit = share.limit();
    if (limit == 0)  // which would be none to Z3
      return {Result::kUnknown, {}, {}, {}};
    z3::solver solver(c);
    z3::params p(c);
    p.set("random_seed", 0u);
    p.set("rlimit", limit);
    // Its algebraic numbers do not look at the limit: minutes at degree 5.
    p.set("arith.nl.nra", false);
    solver.set(p);
    // Said twice, a bound leads Z3 astray in products.
    auto add_unless_assumed = [&](const z3::expr& bound) {
      if (std::none_of(assumed.begin(), assumed.end(),
                       [&](const z3::expr& a) { return z3::eq(a, bound); })) {
        solver.add(bound);
      }
    };
    for (const auto& [e, s] : symbols) {
      if (!e.is_int()) continue;
      const Interval& range = range_of_kind(e.symbol().kind);
      if (range.lower()) add_unless_assumed(number(c, *range.lower()) <= s);
      if (range.upper()) add_unless_assumed(s <= number(c, *range.upper()));
    }
    z3::expr_vector names(c);
    for (size_t i = 0; i < assumed.size(); ++i) {
      names.push_back(c.bool_const(("proviso!" + std::to_string(i)).c_str()));
      solver.add(z3::implies(names[static_cast<unsigned>(i)], assumed[i]));
    }
    z3::expr question = c.bool_const("proviso!question");
    names.push_back(question);
    solver.add(z3::implies(question, opposite));
    z3::expr in_box = c.bool_const("proviso!box");
    names.push_back(in_box);
    solver.add(z3::implies(in_box, inside(c, box, symbols)));
    Result result;
    const unsigned before = units_of(solver);
    const z3::check_result found = solver.check(names);
    share.charge(units_of(solver) - before);
    if (found != z3::unsat) {
      if (found == z3::sat) model = point_of(solver.get_model(), symbols);
      result.verdict = Result::kUnknown;
      return result;
    }
    result.verdict = Result::kContradiction;
    for (const z3::expr& name : solver.unsat_core()) {
      if (z3::eq(name, in_box) && !box.is_known) {
        return {Result::kUnknown, {}, {}, {}};
      }
      if (z3::eq(name, question)) result.verdict = Result::kYes;
      for (size_t i = 0; i < assumed.size(); ++i) {
        if (z3::eq(name, names[static_cast<unsigned>(i)])) {
          result.used.push_back(i);
        }
      }
    }
    return result;
  }
};

bool Z3Backend::is_built() { return true; }

std::string Z3Backend::version() {
  unsigned major = 0, minor = 0, build = 0, revision = 0;
  Z3_get_version(&major, &minor, &build, &revision);
  return std::to_string(major) + "." + std::to_string(minor) + "." +
         std::to_string(build);
}

Z3Backend::Result Z3Backend::implied(const std::vector<Expr>& facts,
                                     Expr question, bool bounded,
                                     uint32_t budget) {
  Result result;
  try {
    on_large_stack(
        [&] { result = impl_->ask(facts, question, bounded, budget); });
    return result;
  } catch (const Unsupported&) {
    return {};
  } catch (const z3::exception&) {
    return {};
  }
}

void Z3Backend::interrupt() {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  if (impl_->running != nullptr) impl_->running->interrupt();
}

#else

struct Z3Backend::Impl {};

void Z3Backend::interrupt() {}

bool Z3Backend::is_built() { return false; }
std::string Z3Backend::version() { return {}; }

Z3Backend::Result Z3Backend::implied(const std::vector<Expr>&, Expr, bool,
                                     uint32_t) {
  return {};
}

#endif

Z3Backend::Z3Backend() : impl_(std::make_unique<Impl>()) {}
Z3Backend::~Z3Backend() = default;

}  // namespace proviso::inline v0_2::internal
