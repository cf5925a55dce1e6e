#include "solver/strategies/enumeration.h"

#include <algorithm>

#include "solver/engine/reasoner.h"
#include "solver/point.h"
#include "solver/strategies/periodic.h"

namespace proviso::inline v0_2::internal {
namespace {

// Points of a box, one after another.
class Box {
 public:
  Box(FormPool& forms, int64_t most) : point_(forms), most_(most) {}

  // False when the points are too many.
  bool add(AtomId a, const Interval& range) {
    if (!range.lower() || !range.upper()) return false;
    auto low = range.lower()->to_int64(), high = range.upper()->to_int64();
    int64_t width;
    if (!low || !high || __builtin_sub_overflow(*high, *low, &width) ||
        width >= most_ || (size_ *= width + 1) > most_) {
      return false;
    }
    axes_.push_back({a, *low, *high});
    point_.set(a, *low);
    return true;
  }
  bool has(AtomId a) const { return point_.has(a); }
  int64_t size() const { return size_; }
  Point& point() { return point_; }
  void step() {
    for (const Axis& axis : axes_) {
      int64_t v = point_.at(axis.atom);
      point_.set(axis.atom, v < axis.high ? v + 1 : axis.low);
      if (v < axis.high) return;
    }
  }

 private:
  struct Axis {
    AtomId atom;
    int64_t low, high;
  };
  Point point_;
  std::vector<Axis> axes_;
  int64_t most_, size_ = 1;
};

}  // namespace

Decision enumerate(Reasoner& reasoner, Search& s, int64_t most) {
  FormPool& forms = reasoner.forms();
  Domain& domain = reasoner.domain();
  Lowering& lower = reasoner.lower();
  size_t endless = 0;
  for (Expr x : free_symbols(s.question)) {  // most questions end here
    if (!x.is_int()) return {};
    const Interval range = reasoner.range_of(x).span;
    if (!range.lower() || !range.upper()) {
      if (++endless > 1) return {};
    } else if (*range.upper() - *range.lower() > Int(most)) {
      return {};
    }
  }
  const auto [ids, symbols] = reasoner.facts().connected_to(s.question);
  Box box(forms, most);
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
  domain.spend(static_cast<uint64_t>(box.size()));
  Point& point = box.point();
  size_t yes = 0, no = 0, undefined = 0;
  for (int64_t i = 0; i < box.size(); ++i, box.step()) {
    for (const auto& [a, poly] : solved) {
      Point::Value v = point.value(poly);
      if (!v) return {};
      point.set(a, *v);
    }
    bool holds = true;
    for (FormulaId fact : facts_here) {
      std::optional<bool> t = point.truth(fact);
      if (!t) return {};
      holds = *t;
      if (!holds) break;
    }
    if (!holds) continue;
    std::optional<bool> is_defined = point.truth(defined);
    if (!is_defined) return {};
    std::optional<bool> t = *is_defined ? point.truth(goal) : std::nullopt;
    if (*is_defined && !t) return {};
    ++(!*is_defined ? undefined : *t ? yes : no);
    if ((yes > 0 && no > 0) || undefined > 0) break;
  }
  s.reset();
  s.is_finished = true;
  s.is_open = undefined > 0 || (yes > 0 && no > 0);
  s.is_contradiction = !s.is_open && yes + no == 0;
  if (s.is_contradiction) s.why = why;
  if (s.is_open || s.is_contradiction) return {};
  return {yes > 0, why};
}

}  // namespace proviso::inline v0_2::internal
