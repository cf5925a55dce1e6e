// An expression has two readings, a polynomial and what is written; the range
// is in both.
#include "solver/engine/range_reading.h"

#include <algorithm>

#include "solver/limits_in_force.h"
#include "sym/definition.h"

namespace proviso::inline v0_2::internal {
namespace {

bool hides_ranges(Expr e) {
  if (info(e.op()).kind == OpKind::kBitwise) return true;
  return (e.is(Op::kMul) || e.is(Op::kPow)) && e.is_int() &&
         std::any_of(e.args().begin(), e.args().end(),
                     [](Expr arg) { return !is_leaf(arg.op()); });
}

// The range of a sum, a product or an extremum.
Strided folded(Expr e, const std::vector<Strided>& args) {
  Strided total = args[0];
  for (size_t i = 1; i < args.size(); ++i) {
    if (e.is(Op::kAdd)) total = total + args[i];
    if (e.is(Op::kMul)) {
      const bool is_square = i == 1 && e.arity() == 2 && e.arg(0) == e.arg(1);
      total = is_square ? pow(total, 2) : total * args[i];
    }
    if (e.is(Op::kMin)) total = min(total, args[i]);
    if (e.is(Op::kMax)) total = max(total, args[i]);
  }
  return total;
}

Strided power(Expr e, const Strided& base) {
  const auto n = e.arg(1).maybe_int64();
  if (!n || *n < 0 || *n > limits().read_exponent) return {};
  return pow(base, static_cast<unsigned>(*n));
}

Interval bitwise(Op op, const Interval& a, const Interval& b) {
  if (op == Op::kBitAnd) return bit_and(a, b);
  return op == Op::kBitOr ? bit_or(a, b) : bit_xor(a, b);
}

// The range of an integer operator that no others define, given those of its
// arguments.
Strided range_of_op(Expr e, const std::vector<Strided>& args) {
  switch (info(e.op()).kind) {
    case OpKind::kSum:
    case OpKind::kProduct:
    case OpKind::kExtremum: return folded(e, args);
    case OpKind::kPower: return power(e, args[0]);
    case OpKind::kFloorDiv: return floor_div(args[0], args[1]);
    case OpKind::kMod: return mod(args[0], args[1]);
    case OpKind::kAbs: return abs(args[0]);
    case OpKind::kIdentity: return args[0];
    case OpKind::kWhere: return hull(args[1], args[2]);
    case OpKind::kBitwise:
      return Strided(bitwise(e.op(), args[0].span(), args[1].span()));
    case OpKind::kIndicator: return Strided(Interval(0, 1));
    case OpKind::kShift:
    case OpKind::kRounding:
    case OpKind::kDefined:
    // No integers, or leaves.
    case OpKind::kConstant:
    case OpKind::kSymbol:
    case OpKind::kRelation:
    case OpKind::kJunction:
    case OpKind::kNot:
    case OpKind::kToFloat:
    case OpKind::kTrueDiv:
    case OpKind::kReal: break;
  }
  return {};
}

}  // namespace

Interval RangeReading::range_of(Expr e) {
  const Interval range = reasoner_.range_of(e).span;
  if (!reads_better_as_written(e)) return range;
  return intersect(range, as_written(e).span());
}

Strided RangeReading::strided_of(Expr e) {
  const Poly p = reasoner_.domain().normal(reasoner_.lower().integer(e)).poly;
  const Strided read =
      intersect(as_polynomial(p, 0), Strided(reasoner_.range_of(e).span));
  if (!reads_better_as_written(e)) return read;
  return intersect(read, as_written(e));
}

// The range of p by the residue classes of its atoms.
Strided RangeReading::as_polynomial(const Poly& p, int depth) {
  Budget::spend(1 + p.terms.size());
  Strided sum = Strided::point(p.constant);
  for (const Term& t : p.terms) {
    Strided product = Strided::point(t.coef);
    for (AtomId a : reasoner_.forms().monomials.factors(t.mono)) {
      Budget::charge(8);
      product = product * of_atom(a, depth);
    }
    sum = sum + product;
  }
  return sum;
}

Strided RangeReading::of_atom(AtomId a, int depth) {
  const FormPool& forms = reasoner_.forms();
  const Strided range(reasoner_.domain().atom_range(a).span);
  if (depth >= limits().read_depth) return range;
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
    case AtomKind::kSymbol:
    case AtomKind::kFresh:
    case AtomKind::kFunc:
    case AtomKind::kOpaque: break;
  }
  return range;
}

// Each part of e is also read as a polynomial.
Strided RangeReading::as_written(Expr e) {
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
bool RangeReading::reads_better_as_written(Expr e) {
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

}  // namespace proviso::inline v0_2::internal
