#include "solver/strategies/enumeration.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "solver/engine/reasoner.h"
#include "solver/point.h"
#include "solver/strategies/periodic.h"

namespace proviso::inline v0_2::internal {
namespace {

// The points of a box at which facts hold.
class Box {
 public:
  // Where a visit goes on to, or why not.
  enum class Next { kOn, kDone, kGaveUp };

  Box(FormPool& forms, PointLimits limits)
      : forms_(forms), point_(forms), limits_(limits) {}

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

  // Calls visit() at each point at which the facts hold, until it says
  // otherwise, or something is not understood.
  template <typename Visit>
  Next each(Domain& domain, Visit visit) {
    order_axes();
    const Next first = settle(levels_[0]);
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

  // First those of the fact that the fewest points meet, as far as widths tell;
  // then of the next.
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
  Next settle(const Level& level) {
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
      Next next = settle(levels_[axis + 1]);
      if (next == Next::kGaveUp) return next;
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
  int64_t size_ = 1, visited_ = 0;
  std::vector<Axis> axes_;
  std::vector<Solved> solved_;
  std::vector<Fact> facts_;
  std::vector<Level> levels_;
};

}  // namespace

Decision enumerate(Reasoner& reasoner, Search& s, PointLimits limits) {
  FormPool& forms = reasoner.forms();
  Domain& domain = reasoner.domain();
  Lowering& lower = reasoner.lower();
  size_t endless = 0;
  for (Expr x : free_symbols(s.question)) {  // most questions end here
    if (!x.is_int()) return {};
    const Interval range = reasoner.range_of(x).span;
    if (!range.lower() || !range.upper()) {
      if (++endless > 1) return {};
    } else if (*range.upper() - *range.lower() > Int(limits.box)) {
      return {};
    }
  }
  const auto [ids, symbols] = reasoner.facts().connected_to(s.question);
  Box box(forms, limits);
  std::vector<std::pair<AtomId, Poly>> solved;  // and what they are
  std::optional<AtomId> unbounded;
  for (Expr x : symbols) {
    if (!x.is_int()) return {};
    const AtomId a = forms.atoms.symbol(x);
    Poly value = domain.normal(variable(forms, a)).poly;
    for (AtomId free : forms.occurrences.of(value)) {
      if (!forms.atoms.is_variable(free) || box.has(free)) continue;
      if (domain.is_solved(free)) return {};  // its value is another's
      const Interval range = domain.atom_range(free).span;
      if (!range.lower() || !range.upper()) {
        if (unbounded && *unbounded != free) return {};
        unbounded = free;
      } else if (!box.add(free, range)) {
        return {};
      }
    }
    if (as_atom(forms, value) != a) solved.emplace_back(a, std::move(value));
  }
  Reason why = 0;
  std::vector<FormulaId> facts_here;
  for (FactId id : ids) {
    why = reasoner.reasons().join(why, reasoner.reasons().leaf(id));
    const Expr fact = reasoner.facts().condition(id);
    facts_here.push_back(
        forms.formulas.all_of({lower.defined(fact), lower.condition(fact)}));
  }
  const FormulaId defined = lower.defined(s.question);
  const FormulaId goal = lower.condition(s.question);
  if (unbounded) {
    std::vector<FormulaId> all = facts_here;
    all.insert(all.end(), {defined, goal});
    const auto window = representative_window(
        forms, all, *unbounded, solved, domain.atom_range(*unbounded).span);
    if (!window || !box.add(*unbounded, *window)) return {};
  }
  for (auto& [a, poly] : solved) box.add(a, std::move(poly));
  for (FormulaId fact : facts_here) box.add_fact(fact);
  Point& point = box.point();
  size_t yes = 0, no = 0, undefined = 0;
  const Box::Next end = box.each(domain, [&] {
    const std::optional<bool> is_defined = point.truth(defined);
    if (!is_defined) return Box::Next::kGaveUp;
    const std::optional<bool> t =
        *is_defined ? point.truth(goal) : std::nullopt;
    if (*is_defined && !t) return Box::Next::kGaveUp;
    ++(!*is_defined ? undefined : *t ? yes : no);
    const bool is_open = (yes > 0 && no > 0) || undefined > 0;
    return is_open ? Box::Next::kDone : Box::Next::kOn;
  });
  if (end == Box::Next::kGaveUp) return {};
  s.reset();
  s.is_finished = true;
  s.has_model = yes + no + undefined > 0;
  s.is_open = undefined > 0 || (yes > 0 && no > 0);
  s.is_contradiction = !s.is_open && yes + no == 0;
  if (s.is_contradiction) s.why = why;
  if (s.is_open || s.is_contradiction) return {};
  return {yes > 0, why};
}

}  // namespace proviso::inline v0_2::internal
