#include "solver/strategies/periodic.h"

#include <algorithm>
#include <unordered_map>

#include "sym/budget.h"

namespace proviso::inline v0_2::internal {
namespace {

// Where something repeats: from `from` on, with the period.  The periods of
// guards/size_set.cc are of expressions, which may be floats, and hold at every
// size; these begin somewhere, as Min, Max and Where need it.
struct Repeats {
  Int from = 0, period = 1;

  void join(const Repeats& other) {
    from = std::max(from, other.from);
    period = floor_div(period * other.period, gcd(period, other.period));
  }
};

// g(w), w >= 0, such that from some point on g(w + period) is g(w) +
// slope*period and g(w) - slope*w is in [low, high].  The slope is rise/run,
// run > 0, and slope*period an integer.
struct Tail {
  Int rise = 0, run = 1;
  Int low = 0, high = 0;
  Repeats repeats;
};

struct Truth {
  std::optional<bool> value;  // where it is one from some point on
  Repeats repeats;
};

// The first w from which rise*w + run*offset >= 0 holds, rise > 0.
Int start_of(const Int& rise, const Int& run, const Int& offset) {
  return std::max(Int(0), -floor_div(run * offset, rise));
}

// What formulas do in one direction of a variable.
class Direction {
 public:
  Direction(FormPool& forms, AtomId variable, int sign,
            std::span<const std::pair<AtomId, Poly>> solved)
      : forms_(forms), solved_(solved) {
    Tail tail;
    tail.rise = sign;
    atoms_.emplace(variable, tail);
  }

  std::optional<Truth> truth(FormulaId f) {
    Budget::spend(2);
    const Formula formula = forms_.formulas[f];
    switch (formula.kind) {
      case FormulaKind::kConstantFalse: return Truth{false, {}};
      case FormulaKind::kConstantTrue: return Truth{true, {}};
      case FormulaKind::kGe:
      case FormulaKind::kEq:
      case FormulaKind::kNe: return relation(formula);
      case FormulaKind::kAnd:
      case FormulaKind::kOr: return junction(formula);
      case FormulaKind::kOpaque: return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  std::optional<Truth> relation(const Formula& formula) {
    const std::optional<Tail> p = sum(forms_.polys[formula.poly]);
    if (!p) return std::nullopt;
    Truth t{{}, p->repeats};
    if (p->rise.is_zero()) return t;
    // Past this point the sign is the slope's, and not 0.
    const bool rises = p->rise.sign() > 0;
    t.repeats.from = std::max(t.repeats.from,
                              rises ? start_of(p->rise, p->run, p->low - 1)
                                    : start_of(-p->rise, p->run, -p->high - 1));
    t.repeats.period = 1;
    t.value = formula.kind == FormulaKind::kGe
                  ? rises
                  : formula.kind == FormulaKind::kNe;
    return t;
  }

  std::optional<Truth> junction(const Formula& formula) {
    const bool absorbing = formula.kind == FormulaKind::kOr;
    Truth all{!absorbing, {}};
    for (FormulaId kid : formula.kids) {
      const std::optional<Truth> t = truth(kid);
      if (!t) return std::nullopt;
      all.repeats.join(t->repeats);
      if (all.value == absorbing) continue;
      if (!t->value || *t->value == absorbing) all.value = t->value;
    }
    return all;
  }

  std::optional<Tail> sum(const Poly& p) {
    Tail total;
    total.low = total.high = p.constant;
    for (const Term& t : p.terms) {
      const AtomId a = forms_.monomials.single(t.mono);
      if (a == kNoId) return std::nullopt;
      const std::optional<Tail> part = tail_of(a);
      if (!part) return std::nullopt;
      const Int ends[] = {part->low * t.coef, part->high * t.coef};
      total.low += std::min(ends[0], ends[1]);
      total.high += std::max(ends[0], ends[1]);
      total.rise = total.rise * part->run + part->rise * t.coef * total.run;
      total.run *= part->run;
      const Int g = gcd(total.rise, total.run);
      total.rise = floor_div(total.rise, g);
      total.run = floor_div(total.run, g);
      total.repeats.join(part->repeats);
    }
    return total;
  }

  std::optional<Tail> tail_of(AtomId a) {
    if (const auto at = atoms_.find(a); at != atoms_.end()) return at->second;
    Budget::spend(2);
    const std::optional<Tail> made = make(a);
    atoms_.emplace(a, made);
    return made;
  }

  std::optional<Tail> make(AtomId a) {
    for (const auto& [atom, value] : solved_) {
      if (atom == a) return sum(value);
    }
    const Atom atom = forms_.atoms[a];
    switch (atom.kind) {
      case AtomKind::kNamed: return sum(forms_.polys[atom.a]);
      case AtomKind::kFloor: return floor(atom);
      case AtomKind::kPos: return positive_part(atom);
      case AtomKind::kIte: return choice(atom);
      case AtomKind::kSymbol:
      case AtomKind::kFresh:
      case AtomKind::kFunc:
      case AtomKind::kOpaque: break;
    }
    return std::nullopt;
  }

  std::optional<Tail> floor(const Atom& atom) {
    const Poly& divisor = forms_.polys[atom.b];
    if (!divisor.is_constant() || divisor.constant.sign() <= 0) return {};
    std::optional<Tail> g = sum(forms_.polys[atom.a]);
    if (!g) return std::nullopt;
    const Int& k = divisor.constant;
    const Int step = floor_div(g->rise * g->repeats.period, g->run);
    g->repeats.period *= floor_div(k, gcd(k, step));
    g->run *= k;
    g->low = floor_div(g->low, k) - 1;
    g->high = -floor_div(-g->high, k);
    return g;
  }

  std::optional<Tail> positive_part(const Atom& atom) {
    std::optional<Tail> g = sum(forms_.polys[atom.a]);
    if (!g) return std::nullopt;
    Int& from = g->repeats.from;
    if (g->rise.sign() > 0) {
      from = std::max(from, start_of(g->rise, g->run, g->low));
    } else if (g->rise.sign() < 0) {
      from = std::max(from, start_of(-g->rise, g->run, -g->high));
      g = Tail{.repeats = {from, 1}};
    } else {
      g->low = std::max(g->low, Int(0));
      g->high = std::max(g->high, Int(0));
    }
    return g;
  }

  std::optional<Tail> choice(const Atom& atom) {
    const std::optional<Truth> t = truth(atom.condition);
    if (!t) return std::nullopt;
    std::optional<Tail> g;
    if (t->value) {
      g = sum(forms_.polys[*t->value ? atom.a : atom.b]);
    } else {
      g = sum(forms_.polys[atom.a]);
      const std::optional<Tail> other = sum(forms_.polys[atom.b]);
      if (!g || !other || g->rise * other->run != other->rise * g->run) {
        return std::nullopt;
      }
      g->low = std::min(g->low, other->low);
      g->high = std::max(g->high, other->high);
      g->repeats.join(other->repeats);
    }
    if (g) g->repeats.join(t->repeats);
    return g;
  }

  FormPool& forms_;
  std::span<const std::pair<AtomId, Poly>> solved_;
  std::unordered_map<AtomId, std::optional<Tail>> atoms_;
};

// The last w of a window for w >= start, w being sign*variable.
std::optional<Int> last_of(FormPool& forms, std::span<const FormulaId> formulas,
                           AtomId variable, int sign,
                           std::span<const std::pair<AtomId, Poly>> solved,
                           const Int& start) {
  Direction direction(forms, variable, sign, solved);
  Repeats all;
  for (FormulaId f : formulas) {
    const std::optional<Truth> t = direction.truth(f);
    if (!t) return std::nullopt;
    all.join(t->repeats);
  }
  return std::max(all.from, start) + all.period - 1;
}

}  // namespace

std::optional<Interval> representative_window(
    FormPool& forms, std::span<const FormulaId> formulas, AtomId variable,
    std::span<const std::pair<AtomId, Poly>> solved, const Interval& range) {
  std::optional<Int> low = range.lower(), high = range.upper();
  if (!high) {
    high = last_of(forms, formulas, variable, 1, solved, low.value_or(Int(0)));
    if (!high) return std::nullopt;
  }
  if (!low) {
    const std::optional<Int> last =
        last_of(forms, formulas, variable, -1, solved, -*high);
    if (!last) return std::nullopt;
    low = -*last;
  }
  return Interval::of(*low, *high);
}

}  // namespace proviso::inline v0_2::internal
