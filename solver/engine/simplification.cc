#include "solver/engine/simplification.h"

#include <algorithm>

#include "solver/limits_in_force.h"
#include "solver/strategies/witnesses.h"
#include "sym/cheapest.h"
#include "sym/cost.h"
#include "sym/definition.h"
#include "sym/facts.h"
#include "sym/simplify.h"

namespace proviso::inline v0_2::internal {
namespace {

// What asking in a call's stead does not count.
class Uncounted {
 public:
  explicit Uncounted(Statistics& statistics)
      : statistics_(statistics), before_(statistics) {}
  ~Uncounted() { statistics_ = before_; }

 private:
  Statistics& statistics_;
  const Statistics before_;
};

bool hides_ranges(Expr e) {
  switch (e.op()) {
    case Op::kBitAnd:
    case Op::kBitOr:
    case Op::kBitXor: return true;
    case Op::kMul:
    case Op::kPow:
      return e.is_int() &&
             std::any_of(e.args().begin(), e.args().end(),
                         [](Expr arg) { return !is_leaf(arg.op()); });
    default: return false;
  }
}

// Of an operator by those of its arguments.
Strided range_of_op(Expr e, const std::vector<Strided>& args) {
  switch (e.op()) {
    case Op::kAdd:
    case Op::kMul:
    case Op::kMin:
    case Op::kMax: {
      Strided total = args[0];
      for (size_t i = 1; i < args.size(); ++i) {
        if (e.is(Op::kAdd)) total = total + args[i];
        if (e.is(Op::kMul)) {
          const bool is_square =
              i == 1 && e.arity() == 2 && e.arg(0) == e.arg(1);
          total = is_square ? pow(total, 2) : total * args[i];
        }
        if (e.is(Op::kMin)) total = min(total, args[i]);
        if (e.is(Op::kMax)) total = max(total, args[i]);
      }
      return total;
    }
    case Op::kPow: {
      const auto n = e.arg(1).maybe_int64();
      if (!n || *n < 0 || *n > 64) return {};
      return pow(args[0], static_cast<unsigned>(*n));
    }
    case Op::kFloorDiv:
    case Op::kCleanDiv: return floor_div(args[0], args[1]);
    case Op::kMod:
    case Op::kPythonMod: return mod(args[0], args[1]);
    case Op::kAbs: return abs(args[0]);
    case Op::kIdentity: return args[0];
    case Op::kWhere: return hull(args[1], args[2]);
    case Op::kBitAnd: return Strided(bit_and(args[0].span(), args[1].span()));
    case Op::kBitOr: return Strided(bit_or(args[0].span(), args[1].span()));
    case Op::kBitXor: return Strided(bit_xor(args[0].span(), args[1].span()));
    default: return {};
  }
}

// Lowers `end` to the least k found that holds; what holds at k holds beyond.
template <typename Holds, typename Keep>
void sharpen_end(OptionalInt end, const Holds& holds, const Keep& keep) {
  static const Int kFar = *pow(Int(2), 40);
  auto is_end = [&](const Int& k) {
    if (!holds(k)) return false;
    end = k;
    keep(k);
    return true;
  };
  if (!end) {  // its size first
    if (!is_end(kFar)) return;
    for (int64_t k : {65536, 64, 0}) {
      if (!is_end(Int(k))) break;
    }
  }
  Int step = 1;
  while (step < kFar && is_end(*end - step)) step = step * Int(2);
  Int below = *end - step;  // does not hold
  while (below + Int(1) < *end) {
    const Int middle = floor_div(below + *end, Int(2));
    if (!is_end(middle)) below = middle;
  }
}

}  // namespace

// What simplify() may ask: ranges and normal forms, and a few proofs.
class Simplification::KnownFacts final : public Facts {
 public:
  explicit KnownFacts(Simplification& known)
      : known_(known),
        domain_(known.reasoner_.domain()),
        lower_(known.reasoner_.lower()) {}

  std::optional<Int> lower(Expr e) const override {
    return e.is_int() ? known_.range_of(e).lower() : std::nullopt;
  }
  std::optional<Int> upper(Expr e) const override {
    return e.is_int() ? known_.range_of(e).upper() : std::nullopt;
  }
  std::optional<bool> truth(Expr e) const override {
    if (!e.is_bool()) return std::nullopt;
    // What may be undefined is not decided away.
    if (domain_.decide(lower_.defined(e)).value != true) return std::nullopt;
    return domain_.decide(lower_.condition(e)).value;
  }
  std::optional<bool> proved(Expr e) const override {
    switch (known_.ask_quick_(e)) {
      case Verdict::kYes: return true;
      case Verdict::kNo: return false;
      default: return std::nullopt;
    }
  }
  std::span<const Expr> zeros() const override {
    if (!zeros_) {
      zeros_.emplace();
      const AssumedFacts& facts = known_.reasoner_.facts();
      for (FactId id = 0; id < facts.size(); ++id) {
        note_zeros(facts.condition(id));
      }
    }
    return *zeros_;
  }
  std::optional<Int> residue(Expr e, const Int& m) const override {
    if (!e.is_int() || m.sign() <= 0) return std::nullopt;
    Poly p = lower_.integer(e);
    Normal n = domain_.normal(p);
    if (n.changed) p = n.poly;
    for (const Term& t : p.terms) {
      if (!floor_mod(t.coef, m).is_zero()) return std::nullopt;
    }
    return floor_mod(p.constant, m);
  }

 private:
  void note_zeros(Expr condition) const {
    if (zeros_->size() == limits().zeros) return;
    if (condition.is(Op::kAnd)) {
      for (Expr part : condition.args()) note_zeros(part);
    } else if (condition.is(Op::kEq) && condition.arg(0).is_int() &&
               condition.arg(1).is_int()) {
      const Expr gap = proviso::simplify(condition.arg(0) - condition.arg(1));
      if (!gap.is_constant()) zeros_->push_back(gap);
    }
  }

  Simplification& known_;
  Domain& domain_;
  Lowering& lower_;
  mutable std::optional<std::vector<Expr>> zeros_;  // when asked for
};

// --- integers

Interval Simplification::range_of(Expr e) {
  const Interval range = reasoner_.range_of(e).span;
  if (!reads_better_as_written(e)) return range;
  return intersect(range, as_written(e).span());
}

Strided Simplification::strided_of(Expr e) {
  const Poly p = reasoner_.domain().normal(reasoner_.lower().integer(e)).poly;
  const Strided read =
      intersect(as_polynomial(p, 0), Strided(reasoner_.range_of(e).span));
  if (!reads_better_as_written(e)) return read;
  return intersect(read, as_written(e));
}

// By the residue classes of its atoms.
Strided Simplification::as_polynomial(const Poly& p, int depth) {
  Budget::spend(1 + p.terms.size());
  Strided sum = Strided::point(p.constant);
  for (const Term& t : p.terms) {
    Strided product = Strided::point(t.coef);
    for (AtomId a : reasoner_.forms().monomials.factors(t.mono)) {
      product = product * of_atom(a, depth);
    }
    sum = sum + product;
  }
  return sum;
}

Strided Simplification::of_atom(AtomId a, int depth) {
  constexpr int kMaxDepth = 4;
  const FormPool& forms = reasoner_.forms();
  const Strided range(reasoner_.domain().atom_range(a).span);
  if (depth == kMaxDepth) return range;
  const Atom& atom = forms.atoms[a];
  auto part = [&](PolyId p) {
    return as_polynomial(forms.polys[p], depth + 1);
  };
  switch (atom.kind) {
    case AtomKind::kPos:
      return intersect(range, max(part(atom.a), Strided::point(0)));
    case AtomKind::kNamed: return intersect(range, part(atom.a));
    case AtomKind::kIte:
      return intersect(range, hull(part(atom.a), part(atom.b)));
    case AtomKind::kFloor:
      return intersect(range, floor_div(part(atom.a), part(atom.b)));
    default: return range;
  }
}

// Each part of e is also read as a polynomial.
Strided Simplification::as_written(Expr e) {
  std::unordered_map<uint32_t, Strided> known;
  auto as_read = [&](Expr x) { return Strided(reasoner_.range_of(x).span); };
  auto of = [&](Expr x) {
    if (x.is(Op::kInteger)) return Strided::point(x.integer());
    if (!x.is_int()) return Strided();
    auto at = known.find(x.id());
    return at != known.end() ? at->second : as_read(x);
  };
  visit_arguments_first(
      e, [&](Expr x) { return is_leaf(x.op()) || known.contains(x.id()); },
      [&](Expr x) {
        if (!x.is_int()) {
          known.emplace(x.id(), Strided());
          return;
        }
        Budget::spend(4);
        std::vector<Strided> args;
        for (Expr arg : x.args()) args.push_back(of(arg));
        const Expr meaning = definition(x);
        Strided range =
            meaning == x ? range_of_op(x, args) : as_written(meaning);
        if (x != e) range = intersect(range, as_read(x));
        known.emplace(x.id(), range);
      });
  return of(e);
}

// Whether e has a part that its polynomial does not show the range of.
bool Simplification::reads_better_as_written(Expr e) {
  if (is_leaf(e.op())) return false;
  visit_arguments_first(
      e,
      [this](Expr x) {
        return is_leaf(x.op()) || hides_ranges_.contains(x.id());
      },
      [this](Expr x) {
        bool found = hides_ranges(x);
        for (Expr arg : x.args()) {
          found = found || (!is_leaf(arg.op()) && hides_ranges_.at(arg.id()));
        }
        hides_ranges_.emplace(x.id(), found);
      });
  return hides_ranges_.at(e.id());
}

// By steps that double, then by halves.
void Simplification::sharpen(Expr e, Interval& range) {
  if (range.is_empty() || range.is_point() || is_leaf(e.op())) return;
  const Uncounted uncounted(reasoner_.statistics());
  sharpen_end(
      range.upper(),
      [&](const Int& k) { return proves(le(e, reasoner_.pool().integer(k))); },
      [&](const Int& k) { range.set_upper(k); });
  OptionalInt down;
  if (range.lower()) down = -*range.lower();
  sharpen_end(
      down,
      [&](const Int& k) { return proves(ge(e, reasoner_.pool().integer(-k))); },
      [&](const Int& k) { range.set_lower(-k); });
}

// The value that e has wherever the facts hold, when it has only one.
std::optional<Int> Simplification::constant_of(Expr e) {
  const Interval range = range_of(e);
  if (range.is_empty()) return std::nullopt;
  if (range.is_point()) return *range.lower();
  if (is_leaf(e.op()) && reasoner_.facts().size() == 0) return std::nullopt;
  const Uncounted uncounted(reasoner_.statistics());
  const Expr is_zero = eq(e, reasoner_.pool().integer(0));
  Answer points;
  find_witnesses(reasoner_, is_zero, reasoner_.options().budget / 4, points);
  if (points.witness && points.counterexample) return std::nullopt;
  Int value = 0;
  if (points.counterexample) {
    const Evaluation at = evaluate(e, *points.counterexample);
    if (!at.defined()) return std::nullopt;
    value = std::get<Int>(*at.value);
  }
  if (ask_quick_(eq(e, reasoner_.pool().integer(value))) != Verdict::kYes) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::vector<Int>> Simplification::values(Expr e, size_t limit) {
  constexpr int kMaxCandidates = 4096;
  std::vector<Int> found;
  const Strided range = strided_of(e);
  if (range.is_empty()) return found;
  const OptionalInt &first = range.span().lower(), &last = range.span().upper();
  if (!first || !last) return std::nullopt;
  const Int step = range.is_point() ? Int(1) : range.stride();
  if (floor_div(*last - *first, step) >= Int(kMaxCandidates)) {
    return std::nullopt;
  }
  for (Int v = *first; v <= *last; v += step) {
    Budget::check();
    if (ask_quick_(eq(e, reasoner_.pool().integer(v))) == Verdict::kNo) {
      continue;
    }
    if (found.size() == limit) return std::nullopt;
    found.push_back(v);
  }
  return found;
}

// --- expressions

Expr Simplification::substitute(Expr e) {
  std::unordered_map<Expr, Expr, ExprHash> map;
  for (Expr s : free_symbols(e)) {
    if (!s.is_int()) continue;
    Normal n = reasoner_.domain().normal(reasoner_.lower().integer(s));
    if (!n.changed) continue;
    if (auto value = to_expr(reasoner_.pool(), reasoner_.forms(), n.poly))
      map[s] = *value;
  }
  return map.empty() ? e : proviso::substitute(e, map);
}

// e with the symbols that have one value put in.
Expr Simplification::with_constants(Expr e) {
  std::unordered_map<Expr, Expr, ExprHash> constants;
  for (Expr s : free_symbols(e)) {
    if (!s.is_int()) continue;
    Interval range = range_of(s);
    if (range.is_point())
      constants.emplace(s, reasoner_.pool().integer(*range.lower()));
  }
  return constants.empty() ? e : proviso::substitute(e, constants);
}

Expr Simplification::canonical(Expr e) {
  return proviso::simplify(with_constants(e), KnownFacts(*this));
}

// The constant that e is known to be.
std::optional<Expr> Simplification::decided(Expr e) {
  if (e.is_bool()) {
    const Verdict verdict = ask_quick_(e);
    if (verdict == Verdict::kUnknown) return std::nullopt;
    return reasoner_.pool().boolean(verdict == Verdict::kYes);
  }
  if (!e.is_int()) return std::nullopt;
  const std::optional<Int> value = constant_of(e);
  return value ? std::optional(reasoner_.pool().integer(*value)) : std::nullopt;
}

Expr Simplification::simplify(Expr e) {
  auto known = simplified_.find(e.id());
  if (known != simplified_.end() && known->second.state == states_.present()) {
    return known->second.form;
  }
  const Expr form = find_cheapest(e);
  for (Expr x : {e, form}) {
    simplified_.insert_or_assign(x.id(), Simplified{states_.present(), form});
  }
  return form;
}

Expr Simplification::find_cheapest(Expr e) {
  if (is_leaf(e.op()) && !e.is_symbol()) return e;
  if (std::optional<Expr> constant = decided(e)) return *constant;
  const KnownFacts known(*this);
  Expr best = cheapest(with_constants(e), known);
  if (best.type() != e.type() || cost(best) > cost(e)) best = e;
  const Expr solved = substitute(e);
  if (solved == e) return best;
  const Expr other = cheapest(solved, known);
  const bool is_better = other.type() == e.type() && cost(other) < cost(best);
  return is_better ? other : best;
}

}  // namespace proviso::inline v0_2::internal
