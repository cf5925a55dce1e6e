#include "solver/fact_components.h"

#include <algorithm>
#include <utility>

#include "solver/kind_range.h"

namespace proviso::inline v0_2::internal {

const std::vector<AtomId>& FactComponents::symbols_of(FormulaId f) {
  symbols_.clear();
  for (AtomId a : forms_.occurrences.of_formula(f)) {
    if (forms_.atoms[a].kind == AtomKind::kSymbol) symbols_.push_back(a);
  }
  return symbols_;
}

// --- nodes

uint32_t FactComponents::place_of(AtomId symbol) {
  uint32_t& known = place_of_.at(symbol);
  if (known == kNoId) {
    known = static_cast<uint32_t>(mentioned_.size());
    mentioned_.emplace_back();
  }
  return known;
}

uint32_t FactComponents::make_node(AtomId symbol) {
  const uint32_t at = place_of(symbol);
  const auto n = static_cast<uint32_t>(nodes_.size());
  const SmallVector<FormulaId, 4> facts = facts_without_node(symbol);
  mentioned_[at].node = n;
  Node& made = nodes_.emplace_back();
  made.symbol = symbol;
  made.place = at;
  made.parent = n;
  made.members.push_back(n);
  for (FormulaId f : facts) {
    made.facts_here.push_back(f);
    made.facts.push_back(f);
  }
  return n;
}

SmallVector<FormulaId, 4> FactComponents::facts_without_node(AtomId symbol) {
  SmallVector<FormulaId, 4> facts;
  for (FormulaId f : facts_of_kind(symbol)) facts.push_back(f);
  const auto of_kind = static_cast<std::ptrdiff_t>(facts.size());
  for (uint32_t i = mentioned_[place_of(symbol)].alone; i != kNoId;
       i = facts_[i].before) {
    facts.push_back(facts_[i].fact);
  }
  std::reverse(facts.begin() + of_kind, facts.end());
  return facts;
}

// What the symbol's kind says: the first facts of its node, for good.
SmallVector<FormulaId, 2> FactComponents::facts_of_kind(AtomId symbol) {
  const Interval& range =
      range_of_kind(forms_.atoms[symbol].expr.symbol().kind);
  SmallVector<FormulaId, 2> facts;
  Poly p = variable(forms_, symbol);
  if (range.lower()) {
    p.constant = -*range.lower();
    facts.push_back(forms_.formulas.ge(p));
  }
  if (range.upper()) {
    p = -variable(forms_, symbol);
    p.constant = *range.upper();
    facts.push_back(forms_.formulas.ge(p));
  }
  return facts;
}

// The smaller component joins the larger; undo() takes it out again.
void FactComponents::join(uint32_t a, uint32_t b) {
  a = root(a), b = root(b);
  if (a == b) return;
  if (nodes_[a].members.size() < nodes_[b].members.size()) std::swap(a, b);
  Node &whole = nodes_[a], &part = nodes_[b];
  unions_.push_back({b, a, static_cast<uint32_t>(whole.facts.size()),
                     static_cast<uint32_t>(whole.members.size())});
  trail_.push_back({Step::kUnion, 0});
  for (size_t w = 0; w < fixed::kept_points; ++w) {
    bool all = whole.holding[w] == whole.facts.size() &&
               part.holding[w] == part.facts.size();
    if (all) whole.holding[w] += part.holding[w];
    whole.failed[w] = 0;
  }
  whole.facts.append(part.facts);
  whole.members.append(part.members);
  part.parent = a;
}

// --- facts

void FactComponents::index_next() {
  const uint32_t next = indexed_;
  const FormulaId f = facts_[next].fact;
  const std::vector<AtomId>& symbols = symbols_of(f);
  facts_[next].trail = static_cast<uint32_t>(trail_.size());
  ++indexed_;
  if (symbols.empty()) return;
  if (symbols.size() == 1) return index_alone(symbols[0], next);
  const uint32_t first = node_of(symbols[0]);
  for (AtomId a : symbols) {
    const uint32_t n = node_of(a);
    join(first, n);
    nodes_[n].facts_here.push_back(f);
  }
  const uint32_t r = root(first);
  nodes_[r].facts.push_back(f);
  trail_.push_back({Step::kFact, r});
}

void FactComponents::index_alone(AtomId symbol, uint32_t fact) {
  Mentioned& known = mentioned_[place_of(symbol)];
  facts_[fact].trail = kAlone;
  facts_[fact].before = std::exchange(known.alone, fact);
  if (known.node == kNoId) return;
  nodes_[known.node].facts_here.push_back(facts_[fact].fact);
  nodes_[root(known.node)].facts.push_back(facts_[fact].fact);
}

void FactComponents::undo(size_t facts) {
  for (; indexed_ > facts; --indexed_) {
    const Fact& last = facts_[indexed_ - 1];
    if (last.trail == kAlone) {
      undo_alone(last);
    } else {
      while (trail_.size() > last.trail) undo_step();
    }
  }
  facts_.resize(std::min(facts, facts_.size()));
}

void FactComponents::undo_alone(const Fact& fact) {
  Mentioned& known = mentioned_[place_of(symbols_of(fact.fact)[0])];
  known.alone = fact.before;
  if (known.node != kNoId) take_last_fact(root(known.node));
}

void FactComponents::take_last_fact(uint32_t root) {
  Node& r = nodes_[root];
  for (AtomId a : symbols_of(r.facts.back())) {
    nodes_[node_of(a)].facts_here.pop_back();
  }
  r.facts.pop_back();
  for (size_t w = 0; w < fixed::kept_points; ++w) {
    r.holding[w] =
        std::min(r.holding[w], static_cast<uint32_t>(r.facts.size()));
    r.failed[w] = 0;
  }
}

void FactComponents::undo_step() {
  Step step = trail_.back();
  trail_.pop_back();
  if (step.kind == Step::kFact) return take_last_fact(step.index);
  Union u = unions_.back();
  unions_.pop_back();
  Node &whole = nodes_[u.root], &part = nodes_[u.child];
  part.parent = u.child;
  // A point of the whole is a point of its parts; else both are looked at.
  for (size_t w = 0; w < fixed::kept_points; ++w) {
    bool all = whole.holding[w] == whole.facts.size();
    whole.holding[w] = all ? u.facts : 0;
    part.holding[w] = all ? static_cast<uint32_t>(part.facts.size()) : 0;
    whole.failed[w] = part.failed[w] = 0;
  }
  whole.facts.shrink(u.facts);
  whole.members.shrink(u.members);
}

}  // namespace proviso::inline v0_2::internal
