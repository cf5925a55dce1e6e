// Few points in all: each is looked at.
#include <algorithm>

#include "solver/engine.h"
#include "sym/facts.h"

namespace proviso {
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

// Over the variables that equalities leave free: the others follow.  False when
// there are more points than `most`, or when one is not understood.
bool Engine::enumerate(Expr question, int64_t most, Native& result) {
  for (Expr s : free_symbols(question)) {  // most questions end here
    if (!s.is_int()) return false;
    const Interval range = range_of(s).span;
    if (!range.lower() || !range.upper()) return false;
    if (*range.upper() - *range.lower() > Int(most)) return false;
  }
  std::vector<Expr> symbols;
  std::vector<uint32_t> ids = relevant_facts(question, symbols);
  Box box(forms, most);
  std::vector<std::pair<AtomId, Poly>> solved;  // and what they are
  for (Expr s : symbols) {
    if (!s.is_int()) return false;
    const AtomId a = forms.symbol(s);
    Poly value = domain.normal(forms.variable(a)).poly;
    for (AtomId x : forms.atoms_of(value)) {
      if (!forms.is_variable(x) || box.has(x)) continue;
      if (domain.is_solved(x)) return false;  // its value is another's
      if (!box.add(x, domain.atom_range(x).span)) return false;
    }
    if (forms.as_atom(value) != a) solved.emplace_back(a, std::move(value));
  }
  Reason why = 0;
  std::vector<FormulaId> facts_here;
  for (uint32_t id : ids) {
    why = reasons.join(why, reasons.leaf(id));
    facts_here.push_back(forms.all_of({lower.defined(facts[id].condition),
                                       lower.condition(facts[id].condition)}));
  }
  FormulaId defined = lower.defined(question), f = lower.condition(question);
  domain.spend(static_cast<uint64_t>(box.size()));
  Point& point = box.point();
  size_t yes = 0, no = 0, undefined = 0;
  for (int64_t i = 0; i < box.size(); ++i, box.step()) {
    for (const auto& [a, poly] : solved) {
      Point::Value v = point.value(poly);
      if (!v) return false;
      point.set(a, *v);
    }
    bool holds = true;
    for (FormulaId fact : facts_here) {
      std::optional<bool> t = point.truth(fact);
      if (!t) return false;
      holds = *t;
      if (!holds) break;
    }
    if (!holds) continue;
    std::optional<bool> is_defined = point.truth(defined);
    if (!is_defined) return false;
    std::optional<bool> t = *is_defined ? point.truth(f) : std::nullopt;
    if (*is_defined && !t) return false;
    ++(!*is_defined ? undefined : *t ? yes : no);
    if ((yes > 0 && no > 0) || undefined > 0) break;
  }
  result.why = why;
  if (undefined > 0 || (yes > 0 && no > 0)) {
    result.open = true;
  } else if (yes == 0 && no == 0) {  // the facts contradict each other
    result.contradiction = true;
  } else {
    result.verdict = yes > 0 ? Verdict::kYes : Verdict::kNo;
    result.tier = Tier::kCases;
  }
  return true;
}

}  // namespace proviso
