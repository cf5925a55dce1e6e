#include "solver/point.h"

#include <algorithm>

#include "solver/fixed_limits.h"
#include "sym/budget.h"

namespace proviso::inline v0_2::internal {
namespace {

Point::Value quotient(int64_t x, int64_t y) {
  if (y == 0) return std::nullopt;
  if (y != -1) return floor_quotient(x, y);
  int64_t negated;
  if (__builtin_sub_overflow(int64_t{0}, x, &negated)) return std::nullopt;
  return negated;
}

// Nothing of an operator that has no value here.
Point::Value function(Op op, int64_t x, int64_t y) {
  if (op == Op::kBitAnd) return x & y;
  if (op != Op::kPow || y < 0) return std::nullopt;
  const std::optional<Int> power =
      pow(Int(x), static_cast<uint64_t>(y), size_t{62});
  return power ? power->to_int64() : std::nullopt;
}

}  // namespace

void Point::set(AtomId variable, int64_t value) {
  uint32_t& slot = slot_of_.at(variable);
  if (slot == kNoId) {
    slot = static_cast<uint32_t>(slots_.size());
    slots_.emplace_back();
  }
  slots_[slot] = {value, kGiven};
  ++epoch_;
}

std::optional<bool> Point::truth(FormulaId f) {
  Budget::spend(1);
  if (!forms_.formulas.is_made(f)) {
    const std::optional<bool> negation = truth(negate(f));
    return negation ? std::optional(!*negation) : std::nullopt;
  }
  const Formula& formula = forms_.formulas[f];
  switch (formula.kind) {
    case FormulaKind::kConstantFalse: return false;
    case FormulaKind::kConstantTrue: return true;
    case FormulaKind::kOpaque: return std::nullopt;
    case FormulaKind::kAnd:
    case FormulaKind::kOr: {
      bool absorbing = formula.kind == FormulaKind::kOr, unknown = false;
      for (FormulaId kid : formula.kids) {
        std::optional<bool> t = truth(kid);
        if (t == absorbing) return absorbing;
        unknown |= !t.has_value();
      }
      if (unknown) return std::nullopt;
      return !absorbing;
    }
    case FormulaKind::kGe:
    case FormulaKind::kEq:
    case FormulaKind::kNe: break;
  }
  Value v = value(forms_.polys[formula.poly]);
  if (!v) return std::nullopt;
  if (formula.kind == FormulaKind::kGe) return *v >= 0;
  return (*v == 0) == (formula.kind == FormulaKind::kEq);
}

Point::Value Point::value(const Poly& p) {
  Budget::spend(p.terms.size() / 4);
  Value total = p.constant.to_int64();
  if (!total) return std::nullopt;
  for (const Term& t : p.terms) {
    Value product = t.coef.to_int64();
    if (!product) return std::nullopt;
    for (AtomId a : forms_.monomials.factors(t.mono)) {
      Value v = value(a);
      if (!v || __builtin_mul_overflow(*product, *v, &*product)) {
        return std::nullopt;
      }
    }
    if (__builtin_add_overflow(*total, *product, &*total)) return std::nullopt;
  }
  return total;
}

Point::Value Point::value(AtomId a) {
  uint32_t slot = slot_of_.get(a);
  if (slot != kNoId) {
    const Slot& s = slots_[slot];
    if (s.epoch == kGiven || s.epoch == epoch_) return s.value;
  }
  const Atom& atom = forms_.atoms[a];
  if (atom.a == kNoId || atom.kind == AtomKind::kFresh) return std::nullopt;
  if (depth_ >= fixed::point_depth) return std::nullopt;
  struct Nested {  // to its end, or to that of the budget
    int& depth;
    explicit Nested(int& d) : depth(d) { ++depth; }
    ~Nested() { --depth; }
  };
  const Value v = [&] {
    const Nested nested(depth_);
    return compute(atom);
  }();
  if (!v) return v;
  if (slot == kNoId) {
    slot = static_cast<uint32_t>(slots_.size());
    slot_of_.set(a, slot);
    slots_.emplace_back();
  }
  slots_[slot] = {*v, epoch_};
  return v;
}

Point::Value Point::compute(const Atom& atom) {
  const auto part = [this](PolyId p) { return value(forms_.polys[p]); };
  switch (atom.kind) {
    case AtomKind::kPos: {
      const Value x = part(atom.a);
      return x ? Value(std::max<int64_t>(*x, 0)) : x;
    }
    case AtomKind::kNamed: return part(atom.a);
    case AtomKind::kIte: {
      const std::optional<bool> c = truth(atom.condition);
      if (!c) return std::nullopt;
      return part(*c ? atom.a : atom.b);
    }
    case AtomKind::kFloor:
    case AtomKind::kFunc: {
      const Value x = part(atom.a);
      const Value y = x ? part(atom.b) : x;
      if (!y) return std::nullopt;
      return atom.kind == AtomKind::kFloor ? quotient(*x, *y)
                                           : function(atom.op, *x, *y);
    }
    case AtomKind::kSymbol:
    case AtomKind::kFresh:
    case AtomKind::kOpaque: break;
  }
  return std::nullopt;
}

}  // namespace proviso::inline v0_2::internal
