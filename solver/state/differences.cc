#include "solver/state/differences.h"

#include <algorithm>

#include "solver/limits_in_force.h"

namespace proviso::inline v0_2::internal {
namespace {

constexpr size_t kFewNodes = 16;  // are looked through; more have a map

// u - v for a polynomial k*(u - v) + c, u and v atoms, k > 0.
struct Difference {
  MonoId u, v;
  const Int* scale;
};

std::optional<Difference> as_difference(const Poly& p) {
  if (p.terms.size() != 2) return std::nullopt;
  const Term &a = p.terms[0], &b = p.terms[1];
  if (!(a.coef + b.coef).is_zero()) return std::nullopt;
  if (a.coef.sign() > 0) return Difference{a.mono, b.mono, &a.coef};
  return Difference{b.mono, a.mono, &b.coef};
}

}  // namespace

// An inequality x - y + c >= 0 attaches x after y where y ends a path and x is
// on none, or y before x.  What fits neither is left to the search for paths.
std::optional<Reason> DifferenceGraph::add(const Poly& inequality, Reason why) {
  const std::optional<Difference> d = as_difference(inequality);
  if (!d || !d->scale->is_one()) return std::nullopt;
  const AtomId x = forms_.monomials.single(d->u),
               y = forms_.monomials.single(d->v);
  if (x == kNoId || y == kNoId) return std::nullopt;
  const uint32_t after = atoms_.slot(x), before = atoms_.slot(y);
  const size_t needed = std::max(after, before) + size_t{1};
  if (nodes_.size() < needed) nodes_.resize(needed);
  Node &upper = nodes_[after], &lower = nodes_[before];
  if (upper.component != kNoId && upper.component == lower.component) {
    const Range known = by_potentials(inequality);
    if (!at_most(known, -1)) return std::nullopt;
    return reasons_.join(why, known.upper);
  }
  if (upper.component == kNoId && lower.component == kNoId) {
    lower.component = y;
    trail_.note(*this, 0, before);
  }
  const Int step = -inequality.constant;
  if (upper.component == kNoId && !lower.has_next) {
    attach(after, before, true, step, why);
  } else if (lower.component == kNoId && !upper.has_previous) {
    attach(before, after, false, step, why);
  }
  return std::nullopt;
}

void DifferenceGraph::attach(uint32_t slot, uint32_t neighbor, bool after,
                             const Int& step, Reason why) {
  Node &known = nodes_[neighbor], &added = nodes_[slot];
  added.component = known.component;
  added.position = known.position + (after ? 1 : -1);
  added.neighbor = neighbor;
  added.why = reasons_.join(known.why, why);
  added.potential = after ? known.potential + step : known.potential - step;
  (after ? known.has_next : known.has_previous) = true;
  (after ? added.has_previous : added.has_next) = true;
  trail_.note(*this, 0, slot);
}

void DifferenceGraph::undo(uint8_t, uint32_t slot) {
  Node& node = nodes_[slot];
  if (node.neighbor != kNoId) {
    Node& neighbor = nodes_[node.neighbor];
    (node.position > 0 ? neighbor.has_next : neighbor.has_previous) = false;
  }
  node = {};
}

// Both atoms lie on one path: their difference is bounded by that of their
// potentials.
Range DifferenceGraph::by_potentials(const Poly& p) const {
  const std::optional<Difference> d = as_difference(p);
  if (!d || nodes_.empty()) return {};
  auto node_of = [this](MonoId m) -> const Node* {
    const AtomId a = forms_.monomials.single(m);
    const uint32_t slot = a == kNoId ? kNoId : atoms_.find_slot(a);
    return slot < nodes_.size() ? &nodes_[slot] : nullptr;
  };
  const Node *u = node_of(d->u), *v = node_of(d->v);
  if (!u || !v || u->component == kNoId || u->component != v->component) {
    return {};
  }
  // u - v >= the difference of potentials where u is the later one, else <=.
  const bool is_later = u->position > v->position;
  const Node &first = is_later ? *v : *u, &last = is_later ? *u : *v;
  const Reason why = first.position >= 0  ? last.why
                     : last.position <= 0 ? first.why
                                          : reasons_.join(first.why, last.why);
  const Int end = (u->potential - v->potential) * *d->scale + p.constant;
  if (is_later) return {Interval::at_least(end), why, 0};
  return {Interval::at_most(end), 0, why};
}

// The largest known lower bound of x - y, by the longest path (Bellman and
// Ford's method).  A path with more steps than there are nodes has a positive
// cycle: where there is one, `cycle` is why, and the inequalities on it
// contradict each other.
std::optional<std::pair<Int, Reason>> DifferenceGraph::least_difference(
    AtomId x, AtomId y, std::optional<Reason>* cycle) {
  struct Reached {
    AtomId atom;
    Int least;  // of x - atom
    Reason why;
    bool queued;
    size_t steps;
  };
  SmallVector<Reached, 6> reached = {{x, 0, 0, true, 0}};
  SmallVector<size_t, 8> queue = {0};
  std::optional<IdMap> places;
  auto place_of = [&](AtomId a) -> size_t {
    if (places) return places->get(a);
    for (size_t i = 0; i < reached.size(); ++i) {
      if (reached[i].atom == a) return i;
    }
    return kNoId;
  };
  auto add = [&](const Reached& n) {
    if (reached.size() == kFewNodes) {
      places.emplace();
      for (uint32_t i = 0; i < kFewNodes; ++i) places->set(reached[i].atom, i);
    }
    if (places) places->set(n.atom, static_cast<uint32_t>(reached.size()));
    queue.push_back(reached.size());
    reached.push_back(n);
  };
  size_t relaxed = 0;
  for (size_t next = 0; next < queue.size(); ++next) {
    reached[queue[next]].queued = false;
    const Reached from = reached[queue[next]];
    const MonoId here = forms_.monomials.of(from.atom);
    for (uint32_t i : constraints_.of(from.atom)) {
      const Constraint& constraint = constraints_[i];
      const Formula& f = forms_.formulas[constraint.formula];
      bool equal = f.kind == FormulaKind::kEq;
      if (!constraint.is_active || (f.kind != FormulaKind::kGe && !equal))
        continue;
      const Poly& inequality = forms_.polys[f.poly];
      std::optional<Difference> d = as_difference(inequality);
      if (!d || !d->scale->is_one()) continue;
      bool forward = d->u == here;  // from - v + c >= 0
      if (!forward && !(equal && d->v == here)) continue;
      const AtomId other = forms_.monomials.single(forward ? d->v : d->u);
      if (other == kNoId) continue;
      Int least =
          from.least + (forward ? -inequality.constant : inequality.constant);
      const size_t known = place_of(other);
      if (known != kNoId && reached[known].least >= least) continue;
      if (++relaxed > limits().relaxations) return std::nullopt;
      Reached to{other, least, reasons_.join(from.why, constraint.why), true,
                 from.steps + 1};
      if (known == 0 || to.steps > reached.size()) {
        if (cycle) *cycle = to.why;
        return std::nullopt;
      }
      if (known == kNoId) {
        add(to);
        continue;
      }
      if (!reached[known].queued) queue.push_back(known);
      reached[known] = to;
    }
  }
  meter_.spend(relaxed + 1);
  const size_t end = place_of(y);
  if (end == kNoId || x == y) return std::nullopt;
  return std::pair(reached[end].least, reached[end].why);
}

std::optional<Reason> DifferenceGraph::find_cycle(const Poly& inequality) {
  const std::optional<Difference> d = as_difference(inequality);
  if (!d) return std::nullopt;
  const AtomId x = forms_.monomials.single(d->u),
               y = forms_.monomials.single(d->v);
  std::optional<Reason> cycle;
  if (x != kNoId && y != kNoId) least_difference(x, y, &cycle);
  return cycle;
}

Range DifferenceGraph::by_paths(const Poly& p) {
  std::optional<Difference> d = as_difference(p);
  if (!d) return {};
  const AtomId u = forms_.monomials.single(d->u),
               v = forms_.monomials.single(d->v);
  if (u == kNoId || v == kNoId) return {};
  Range r;
  OptionalInt low, high;
  if (auto least = least_difference(u, v)) {
    low = least->first * *d->scale + p.constant;
    r.lower = least->second;
  }
  if (auto least = least_difference(v, u)) {
    high = p.constant - least->first * *d->scale;
    r.upper = least->second;
  }
  r.span = Interval::of(low, high);
  if (r.span.is_empty()) r.lower = r.upper = reasons_.join(r.lower, r.upper);
  return r;
}

}  // namespace proviso::inline v0_2::internal
