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

// An inequality x - y + c >= 0 puts x after y where y ends a chain and x is in
// none, or y before x.  What fits neither is left to the search for paths.
std::optional<Reason> DifferenceGraph::add(const Poly& inequality, Reason why) {
  const std::optional<Difference> d = as_difference(inequality);
  if (!d || !d->scale->is_one()) return std::nullopt;
  const AtomId x = forms_.monomials.single(d->u),
               y = forms_.monomials.single(d->v);
  if (x == kNoId || y == kNoId) return std::nullopt;
  const uint32_t after = atoms_.slot(x), before = atoms_.slot(y);
  const size_t needed = std::max(after, before) + size_t{1};
  if (links_.size() < needed) links_.resize(needed);
  Link &upper = links_[after], &lower = links_[before];
  if (upper.chain != kNoId && upper.chain == lower.chain) {
    const Range known = in_chain(inequality);
    if (!at_most(known, -1)) return std::nullopt;
    return reasons_.join(why, known.upper);
  }
  if (upper.chain == kNoId && lower.chain == kNoId) {
    lower.chain = y;
    trail_.note(*this, 0, before);
  }
  const Int step = -inequality.constant;
  if (upper.chain == kNoId && !lower.has_next) {
    put_beside(before, after, true, step, why);
  } else if (lower.chain == kNoId && !upper.has_previous) {
    put_beside(after, before, false, step, why);
  }
  return std::nullopt;
}

void DifferenceGraph::put_beside(uint32_t neighbor, uint32_t slot, bool after,
                                 const Int& step, Reason why) {
  Link &known = links_[neighbor], &added = links_[slot];
  added.chain = known.chain;
  added.at = known.at + (after ? 1 : -1);
  added.neighbor = neighbor;
  added.why = reasons_.join(known.why, why);
  added.sum = after ? known.sum + step : known.sum - step;
  (after ? known.has_next : known.has_previous) = true;
  (after ? added.has_previous : added.has_next) = true;
  trail_.note(*this, 0, slot);
}

void DifferenceGraph::undo(uint8_t, uint32_t slot) {
  Link& link = links_[slot];
  if (link.neighbor != kNoId) {
    Link& neighbor = links_[link.neighbor];
    (link.at > 0 ? neighbor.has_next : neighbor.has_previous) = false;
  }
  link = {};
}

// Both atoms lie in one chain: their difference is that of their sums.
Range DifferenceGraph::in_chain(const Poly& p) const {
  const std::optional<Difference> d = as_difference(p);
  if (!d || links_.empty()) return {};
  auto link_of = [this](MonoId m) -> const Link* {
    const AtomId a = forms_.monomials.single(m);
    const uint32_t slot = a == kNoId ? kNoId : atoms_.find_slot(a);
    return slot < links_.size() ? &links_[slot] : nullptr;
  };
  const Link *u = link_of(d->u), *v = link_of(d->v);
  if (!u || !v || u->chain == kNoId || u->chain != v->chain) return {};
  // u - v >= the sum of the steps where u is the later one, else <=.
  const Link &first = u->at > v->at ? *v : *u, &last = u->at > v->at ? *u : *v;
  const Reason why = first.at >= 0  ? last.why
                     : last.at <= 0 ? first.why
                                    : reasons_.join(first.why, last.why);
  const Int end = (u->sum - v->sum) * *d->scale + p.constant;
  if (u->at > v->at) return {Interval::at_least(end), why, 0};
  return {Interval::at_most(end), 0, why};
}

// The largest known lower bound of x - y, by the longest path (Bellman and
// Ford's method).  A path with more steps than there are nodes has gone round a
// cycle and gained by it: where there is one, `cycle` is why, and the
// inequalities on it contradict each other.
std::optional<std::pair<Int, Reason>> DifferenceGraph::least_difference(
    AtomId x, AtomId y, std::optional<Reason>* cycle) {
  struct Node {
    AtomId atom;
    Int least;  // of x - atom
    Reason why;
    bool queued;
    size_t steps;
  };
  SmallVector<Node, 6> nodes = {{x, 0, 0, true, 0}};
  SmallVector<size_t, 8> queue = {0};
  std::optional<IdMap> places;
  auto place_of = [&](AtomId a) -> size_t {
    if (places) return places->get(a);
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].atom == a) return i;
    }
    return kNoId;
  };
  auto add = [&](const Node& n) {
    if (nodes.size() == kFewNodes) {
      places.emplace();
      for (uint32_t i = 0; i < kFewNodes; ++i) places->set(nodes[i].atom, i);
    }
    if (places) places->set(n.atom, static_cast<uint32_t>(nodes.size()));
    queue.push_back(nodes.size());
    nodes.push_back(n);
  };
  size_t relaxed = 0;
  for (size_t next = 0; next < queue.size(); ++next) {
    nodes[queue[next]].queued = false;
    const Node from = nodes[queue[next]];
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
      if (known != kNoId && nodes[known].least >= least) continue;
      if (++relaxed > limits().relaxations) return std::nullopt;
      Node to{other, least, reasons_.join(from.why, constraint.why), true,
              from.steps + 1};
      if (known == 0 || to.steps > nodes.size()) {
        if (cycle) *cycle = to.why;
        return std::nullopt;
      }
      if (known == kNoId) {
        add(to);
        continue;
      }
      if (!nodes[known].queued) queue.push_back(known);
      nodes[known] = to;
    }
  }
  meter_.spend(relaxed + 1);
  const size_t end = place_of(y);
  if (end == kNoId || x == y) return std::nullopt;
  return std::pair(nodes[end].least, nodes[end].why);
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
