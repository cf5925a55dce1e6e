#include "solver/strategies/enumeration.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "solver/engine/reasoner.h"
#include "solver/limits_in_force.h"
#include "solver/point.h"
#include "solver/strategies/periodic.h"

namespace proviso::inline v0_2::internal {
namespace {

// The points of a box at which facts hold.
class Box {
 public:
  // Where a visit goes on to, or why not.
  enum class Next { kOn, kDone, kGaveUp };
  // What happens at a point that is not understood.
  enum class Unclear { kEnds, kIsPassed };

  Box(FormPool& forms, PointLimits limits, Unclear unclear)
      : forms_(forms), point_(forms), limits_(limits), unclear_(unclear) {}

  // False when the points are too many.
  bool add(AtomId a, const Interval& range) {
    if (!range.lower() || !range.upper()) return false;
    auto low = range.lower()->to_int64(), high = range.upper()->to_int64();
    int64_t width;
    if (!low || !high || __builtin_sub_overflow(*high, *low, &width) ||
        width < 0 || width >= limits_.box ||
        (size_ *= width + 1) > limits_.box) {
      return false;
    }
    point_.set(a, *low);
    // There are few axes: each has two points, or more.
    if (width > 0) axes_.push_back({a, *low, *high});
    return true;
  }
  // Its value follows from those of others.
  void add(AtomId a, Poly value) {
    const uint64_t needs = axes_in(forms_.occurrences.of(value));
    solved_.push_back({a, std::move(value), needs});
  }
  void add_fact(FormulaId f) {
    facts_.push_back({f, axes_in(forms_.occurrences.of_formula(f))});
  }
  bool has(AtomId a) const { return point_.has(a); }
  Point& point() { return point_; }
  Next unclear() const {
    return unclear_ == Unclear::kEnds ? Next::kGaveUp : Next::kOn;
  }

  // Calls visit() at each point at which the facts hold, until it says
  // otherwise, or something is not understood.
  template <typename Visit>
  Next each(Domain& domain, Visit visit) {
    order_axes();
    const Next first = propagate(levels_[0]);
    if (first != Next::kOn) return first == Next::kDone ? Next::kOn : first;
    return axes_.empty() ? visit() : each(domain, 0, visit);
  }

 private:
  struct Axis {
    AtomId atom;
    int64_t low, high;
    int64_t width() const { return high - low + 1; }
  };
  struct Solved {
    AtomId atom;
    Poly value;
    uint64_t needs;  // a bit an axis
  };
  struct Fact {
    FormulaId formula;
    uint64_t needs;
  };
  // What is known once so many axes have values.
  struct Level {
    std::vector<const Solved*> solved;
    std::vector<FormulaId> facts;
  };

  uint64_t axes_in(std::span<const AtomId> atoms) const {
    uint64_t all = 0;
    for (AtomId a : atoms) {
      for (size_t i = 0; i < axes_.size(); ++i) {
        if (axes_[i].atom == a) all |= uint64_t{1} << i;
      }
      for (const Solved& s : solved_) {
        if (s.atom == a) all |= s.needs;
      }
    }
    return all;
  }

  // The variables of one fact after another.  The next fact is the one that the
  // fewest points meet, as far as the widths of its new variables tell, so that
  // most points end at an outer variable.
  void order_axes() {
    constexpr double kEqualityMeets = 1.0 / 16;
    std::vector<Axis> ordered;
    std::vector<uint64_t> known = {0};  // by level
    auto take = [&](uint64_t wanted) {
      for (size_t i = 0; i < axes_.size(); ++i) {
        const uint64_t bit = uint64_t{1} << i;
        if ((wanted & bit & ~known.back()) == 0) continue;
        ordered.push_back(axes_[i]);
        known.push_back(known.back() | bit);
      }
    };
    std::vector<const Fact*> left;
    for (const Fact& f : facts_) left.push_back(&f);
    while (!left.empty()) {
      auto cost = [&](const Fact* f) {
        const bool is_equality =
            forms_.formulas[f->formula].kind == FormulaKind::kEq;
        double points = is_equality ? kEqualityMeets : 1;
        for (size_t i = 0; i < axes_.size(); ++i) {
          if ((f->needs & ~known.back()) >> i & 1) {
            points *= static_cast<double>(axes_[i].width());
          }
        }
        return points;
      };
      const auto next =
          std::min_element(left.begin(), left.end(),
                           [&](auto a, auto b) { return cost(a) < cost(b); });
      take((*next)->needs);
      left.erase(next);
    }
    take(~uint64_t{0});
    axes_ = std::move(ordered);
    levels_.resize(known.size());
    auto level_of = [&](uint64_t needs) -> Level& {
      size_t i = 0;
      while ((needs & ~known[i]) != 0) ++i;
      return levels_[i];
    };
    for (const Solved& s : solved_) level_of(s.needs).solved.push_back(&s);
    for (const Fact& f : facts_) level_of(f.needs).facts.push_back(f.formula);
  }

  // kDone: a fact does not hold.
  Next propagate(const Level& level) {
    for (const Solved* s : level.solved) {
      const Point::Value v = point_.value(s->value);
      if (!v) return Next::kGaveUp;
      point_.set(s->atom, *v);
    }
    for (FormulaId fact : level.facts) {
      const std::optional<bool> holds = point_.truth(fact);
      if (!holds) return Next::kGaveUp;
      if (!*holds) return Next::kDone;
    }
    return Next::kOn;
  }

  template <typename Visit>
  Next each(Domain& domain, size_t axis, Visit& visit) {
    const Axis& a = axes_[axis];
    for (int64_t v = a.low;; ++v) {
      if (++visited_ > limits_.visits) return Next::kGaveUp;
      domain.spend(1);
      point_.set(a.atom, v);
      Next next = propagate(levels_[axis + 1]);
      if (next == Next::kGaveUp && unclear_ == Unclear::kEnds) return next;
      if (next == Next::kOn) {
        next =
            axis + 1 == axes_.size() ? visit() : each(domain, axis + 1, visit);
        if (next != Next::kOn) return next;
      }
      if (v == a.high) return Next::kOn;
    }
  }

  FormPool& forms_;
  Point point_;
  const PointLimits limits_;
  const Unclear unclear_;
  int64_t size_ = 1, visited_ = 0;
  std::vector<Axis> axes_;
  std::vector<Solved> solved_;
  std::vector<Fact> facts_;
  std::vector<Level> levels_;
};

// So many values: from an end on, or around zero.
Interval small_window(const Interval& range, int64_t width) {
  const Int far = limits().near_end;
  Int from = -width / 2;
  if (range.lower() && *range.lower() > -far) {
    from = *range.lower();
  } else if (range.upper() && *range.upper() < far) {
    from = *range.upper() - (width - 1);
  }
  return intersect(range, Interval(from, from + (width - 1)));
}

// The most values that each of so many variables can have at `most` points.
int64_t width_of_box(size_t variables, int64_t most) {
  const auto fits = [&](int64_t width) {
    int64_t points = 1;
    for (size_t i = 0; i < variables && points <= most; ++i) points *= width;
    return points <= most;
  };
  int64_t width = 2;
  while (fits(width + 1)) ++width;
  return width;
}

// The variables that equalities leave free, and what the others are.
struct Unknowns {
  std::vector<AtomId> free;
  std::vector<std::pair<AtomId, Poly>> solved;
};

std::optional<Unknowns> unknowns_of(Reasoner& reasoner,
                                    const std::vector<Expr>& symbols) {
  FormPool& forms = reasoner.forms();
  Domain& domain = reasoner.domain();
  Unknowns found;
  for (Expr x : symbols) {
    if (!x.is_int()) return std::nullopt;
    const AtomId a = forms.atoms.symbol(x);
    Poly value = domain.normal(variable(forms, a)).poly;
    for (AtomId free : forms.occurrences.of(value)) {
      if (!forms.atoms.is_variable(free) ||
          std::find(found.free.begin(), found.free.end(), free) !=
              found.free.end()) {
        continue;
      }
      if (domain.is_solved(free))
        return std::nullopt;  // its value is another's
      found.free.push_back(free);
    }
    if (as_atom(forms, value) != a) {
      found.solved.emplace_back(a, std::move(value));
    }
  }
  return found;
}

// That the fact is defined and holds.
FormulaId formula_of(Reasoner& reasoner, FactId id) {
  const Expr fact = reasoner.facts().condition(id);
  return reasoner.forms().formulas.all_of(
      {reasoner.lower().defined(fact), reasoner.lower().condition(fact)});
}

// What a question is at the points at which its facts hold.
struct Count {
  size_t yes = 0, no = 0, undefined = 0;
  size_t all() const { return yes + no + undefined; }
  bool is_open() const { return undefined > 0 || (yes > 0 && no > 0); }
};

// Counts until the question is open.
Box::Next count(Reasoner& reasoner, Box& box, Expr question, Count& seen) {
  const FormulaId defined = reasoner.lower().defined(question);
  const FormulaId goal = reasoner.lower().condition(question);
  Point& point = box.point();
  return box.each(reasoner.domain(), [&] {
    const std::optional<bool> is_defined = point.truth(defined);
    const std::optional<bool> t =
        is_defined == true ? point.truth(goal) : std::nullopt;
    if (is_defined != false && !t) return box.unclear();
    ++(is_defined == false ? seen.undefined : *t ? seen.yes : seen.no);
    return seen.is_open() ? Box::Next::kDone : Box::Next::kOn;
  });
}

}  // namespace

Decision enumerate(Reasoner& reasoner, Search& s, PointLimits limits) {
  FormPool& forms = reasoner.forms();
  Domain& domain = reasoner.domain();
  Lowering& lower = reasoner.lower();
  size_t endless = 0;
  for (Expr x : free_symbols(s.question())) {  // most questions end here
    if (!x.is_int()) return {};
    const Interval range = reasoner.range_of(x).span;
    if (!range.lower() || !range.upper()) {
      if (++endless > 1) return {};
    } else if (*range.upper() - *range.lower() > Int(limits.box)) {
      return {};
    }
  }
  const auto [ids, symbols] = reasoner.facts().connected_to(s.question());
  const auto unknowns = unknowns_of(reasoner, symbols);
  if (!unknowns) return {};
  Box box(forms, limits, Box::Unclear::kEnds);
  std::optional<AtomId> unbounded;
  for (AtomId a : unknowns->free) {
    const Interval range = domain.atom_range(a).span;
    if (!range.lower() || !range.upper()) {
      if (unbounded) return {};
      unbounded = a;
    } else if (!box.add(a, range)) {
      return {};
    }
  }
  Reason why = 0;
  std::vector<FormulaId> facts_here;
  for (FactId id : ids) {
    why = reasoner.reasons().join(why, reasoner.reasons().leaf(id));
    facts_here.push_back(formula_of(reasoner, id));
  }
  if (unbounded) {
    std::vector<FormulaId> all = facts_here;
    all.insert(all.end(),
               {lower.defined(s.question()), lower.condition(s.question())});
    const auto window =
        representative_window(forms, all, *unbounded, unknowns->solved,
                              domain.atom_range(*unbounded).span);
    if (!window || !box.add(*unbounded, *window)) return {};
  }
  for (const auto& [a, poly] : unknowns->solved) box.add(a, poly);
  for (FormulaId fact : facts_here) box.add_fact(fact);
  Count seen;
  if (count(reasoner, box, s.question(), seen) == Box::Next::kGaveUp) return {};
  s.withdraw();
  s.finish();
  if (seen.all() == 0) {
    s.contradict(why);
    return {};
  }
  s.note_model();
  if (!seen.is_open()) return {seen.yes > 0, why};
  s.leave_open();
  return {};
}

void rule_out_by_small_points(Reasoner& reasoner, Search& s, int64_t points) {
  const auto [ids, symbols] = reasoner.facts().connected_to(s.question());
  const auto unknowns = unknowns_of(reasoner, symbols);
  if (!unknowns || unknowns->free.empty()) return;
  const int64_t width = width_of_box(unknowns->free.size(), points);
  Box box(reasoner.forms(), {points}, Box::Unclear::kIsPassed);
  for (AtomId a : unknowns->free) {
    const Interval range = reasoner.domain().atom_range(a).span;
    if (!box.add(a, small_window(range, width))) return;
  }
  for (const auto& [a, poly] : unknowns->solved) box.add(a, poly);
  for (FactId id : ids) box.add_fact(formula_of(reasoner, id));
  const Count known{.yes = !s.may_be(false), .no = !s.may_be(true)};
  Count seen = known;
  count(reasoner, box, s.question(), seen);
  if (seen.no + seen.undefined > 0) s.rule_out(true);
  if (seen.yes + seen.undefined > 0) s.rule_out(false);
  if (seen.all() > known.all()) s.note_model();
}

}  // namespace proviso::inline v0_2::internal
