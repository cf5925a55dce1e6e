#include "solver/kept_models.h"

#include <algorithm>
#include <utility>

#include "solver/kind_range.h"
#include "solver/limits_in_force.h"

namespace proviso::inline v0_2::internal {

std::optional<int64_t> KeptModels::near_end(const OptionalInt& end) {
  if (!end) return std::nullopt;
  std::optional<int64_t> v = end->to_int64();
  return v && *v > -kFar && *v < kFar ? v : std::nullopt;
}

// --- components

uint32_t KeptModels::place(AtomId symbol) {
  uint32_t& known = place_of_.at(symbol);
  if (known == kNoId) {
    known = static_cast<uint32_t>(met_.size());
    met_.emplace_back();
  }
  return known;
}

uint32_t KeptModels::make_node(AtomId symbol) {
  const uint32_t at = place(symbol);
  const auto n = static_cast<uint32_t>(nodes_.size());
  std::array<int64_t, kModels> values;  // first, for it may end the budget
  for (size_t w = 0; w < kModels; ++w) values[w] = choose(symbol, w, 0, at);
  const SmallVector<FormulaId, 4> facts = facts_alone(symbol, met_[at]);
  met_[at].node = n;
  Node& made = nodes_.emplace_back();
  made.atom = symbol;
  made.place = at;
  made.parent = n;
  made.members.push_back(n);
  for (size_t w = 0; w < kModels; ++w) models_[w].set(symbol, values[w]);
  for (FormulaId f : facts) {
    made.facts_here.push_back(f);
    made.facts.push_back(f);
  }
  return n;
}

// What the kind of a symbol without a node says, then the facts that were
// filed.
SmallVector<FormulaId, 4> KeptModels::facts_alone(AtomId symbol,
                                                  const Met& met) {
  SmallVector<FormulaId, 4> facts;
  for (FormulaId f : facts_of_kind(symbol)) facts.push_back(f);
  const auto of_kind = static_cast<std::ptrdiff_t>(facts.size());
  for (uint32_t i = met.alone; i != kNoId; i = assumed_[i].before) {
    facts.push_back(assumed_[i].fact);
  }
  std::reverse(facts.begin() + of_kind, facts.end());
  return facts;
}

// What the symbol's kind says: the first facts of its node, for good.
SmallVector<FormulaId, 2> KeptModels::facts_of_kind(AtomId symbol) {
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

uint32_t KeptModels::root(uint32_t n) const {
  while (nodes_[n].parent != n) n = nodes_[n].parent;
  return n;
}

// The smaller component joins the larger; undo() takes it out again.
void KeptModels::join(uint32_t a, uint32_t b) {
  a = root(a), b = root(b);
  if (a == b) return;
  if (nodes_[a].members.size() < nodes_[b].members.size()) std::swap(a, b);
  Node &whole = nodes_[a], &part = nodes_[b];
  unions_.push_back({b, a, static_cast<uint32_t>(whole.facts.size()),
                     static_cast<uint32_t>(whole.members.size())});
  trail_.push_back({Step::kUnion, 0});
  for (size_t w = 0; w < kModels; ++w) {
    bool all = whole.holding[w] == whole.facts.size() &&
               part.holding[w] == part.facts.size();
    if (all) whole.holding[w] += part.holding[w];
    whole.failed[w] = 0;
  }
  whole.facts.append(part.facts);
  whole.members.append(part.members);
  part.parent = a;
}

const std::vector<AtomId>& KeptModels::symbols_of(FormulaId f) {
  symbols_.clear();
  for (AtomId a : forms_.occurrences.of_formula(f)) {
    if (forms_.atoms[a].kind == AtomKind::kSymbol) symbols_.push_back(a);
  }
  return symbols_;
}

void KeptModels::file_facts() {
  for (; filed_ < assumed_.size(); ++filed_) file(filed_);
}

void KeptModels::file(uint32_t assumed) {
  const FormulaId f = assumed_[assumed].fact;
  const std::vector<AtomId>& symbols = symbols_of(f);
  assumed_[assumed].trail = static_cast<uint32_t>(trail_.size());
  if (symbols.empty()) return;
  if (symbols.size() == 1) return file_alone(symbols[0], assumed);
  for (AtomId a : symbols) node(a);  // what may end the budget comes first
  uint32_t first = node(symbols[0]);
  for (AtomId a : symbols) {
    uint32_t n = node(a);
    join(first, n);
    nodes_[n].facts_here.push_back(f);
  }
  uint32_t r = root(first);
  nodes_[r].facts.push_back(f);
  trail_.push_back({Step::kFact, r});
}

void KeptModels::file_alone(AtomId symbol, uint32_t assumed) {
  Met& met = met_[place(symbol)];
  assumed_[assumed].trail = kAlone;
  assumed_[assumed].before = std::exchange(met.alone, assumed);
  if (met.node == kNoId) return;
  nodes_[met.node].facts_here.push_back(assumed_[assumed].fact);
  nodes_[root(met.node)].facts.push_back(assumed_[assumed].fact);
}

void KeptModels::undo(size_t mark) {
  for (; filed_ > mark; --filed_) {
    const Assumed& last = assumed_[filed_ - 1];
    if (last.trail == kAlone) {
      undo_alone(last);
    } else {
      while (trail_.size() > last.trail) undo_step();
    }
  }
  assumed_.resize(std::min(mark, assumed_.size()));
}

void KeptModels::undo_alone(const Assumed& fact) {
  Met& met = met_[place(symbols_of(fact.fact)[0])];
  met.alone = fact.before;
  if (met.node != kNoId) take_last_fact(root(met.node));
}

void KeptModels::take_last_fact(uint32_t root) {
  Node& r = nodes_[root];
  for (AtomId a : symbols_of(r.facts.back())) {
    nodes_[node(a)].facts_here.pop_back();
  }
  r.facts.pop_back();
  for (size_t w = 0; w < kModels; ++w) {
    r.holding[w] =
        std::min(r.holding[w], static_cast<uint32_t>(r.facts.size()));
    r.failed[w] = 0;
  }
}

void KeptModels::undo_step() {
  Step step = trail_.back();
  trail_.pop_back();
  if (step.kind == Step::kFact) return take_last_fact(step.index);
  Union u = unions_.back();
  unions_.pop_back();
  Node &whole = nodes_[u.root], &part = nodes_[u.child];
  part.parent = u.child;
  // A point of the whole is a point of its parts; else both are looked at.
  for (size_t w = 0; w < kModels; ++w) {
    bool all = whole.holding[w] == whole.facts.size();
    whole.holding[w] = all ? u.facts : 0;
    part.holding[w] = all ? static_cast<uint32_t>(part.facts.size()) : 0;
    whole.failed[w] = part.failed[w] = 0;
  }
  whole.facts.shrink(u.facts);
  whole.members.shrink(u.members);
}

// --- points

// A value in the symbol's range: small ones first, other models farther on,
// later attempts at multiples of 8.
int64_t KeptModels::choose(AtomId a, size_t w, int attempt, size_t place) {
  const Range& r = domain_.atom_range(a);
  std::optional<int64_t> low = near_end(r.span.lower());
  std::optional<int64_t> high = near_end(r.span.upper());
  auto i = static_cast<int64_t>(place % 97);
  int64_t step = w == 0 ? 0 : w == 1 ? 1 + i % 3 : 2 + (7 * i) % 11;
  int64_t v = 0;
  if (low || !high) {
    v = low.value_or(w == 1 ? -4 : 0) + step;
    if (attempt == 1) v = (v + 7) / 8 * 8;
    if (attempt == 2) v += 3 * static_cast<int64_t>(w) + i;
    if (attempt == 3) v = (v + 63) / 64 * 64 * (1 + i % 2);
  } else {
    v = *high - step - attempt;
  }
  if (high && v > *high) v = *high;
  if (low && v < *low) v = *low;
  return v;
}

// Every variable of p has a value.
void KeptModels::complete(const Poly& p, size_t w) {
  auto give = [&](AtomId x) {
    AtomKind kind = forms_.atoms[x].kind;
    if (kind == AtomKind::kSymbol) node(x);
    if (kind != AtomKind::kFresh) return;
    int64_t value = choose(x, w, 0, x);
    if (!models_[w].has(x) || models_[w].at(x) != value) {
      models_[w].set(x, value);
    }
  };
  for (const Term& t : p.terms) {
    for (AtomId a : forms_.monomials.factors(t.mono)) {
      const Atoms& within = forms_.occurrences.of_atom(a);
      Budget::spend(within.size() / 4);
      for (AtomId x : within) give(x);
    }
  }
}

void KeptModels::settle_node(uint32_t n, size_t w) {
  AtomId a = nodes_[n].atom;
  if (!domain_.is_solved(a)) return;
  const Poly& solved = domain_.solved_value(a);
  complete(solved, w);
  if (Point::Value v = models_[w].value(solved)) models_[w].set(a, *v);
}

void KeptModels::fill(uint32_t r, size_t w, int attempt) {
  for (uint32_t n : nodes_[r].members) {
    if (!domain_.is_solved(nodes_[n].atom)) {
      AtomId a = nodes_[n].atom;
      models_[w].set(a, choose(a, w, attempt, nodes_[n].place));
    }
  }
  for (uint32_t n : nodes_[r].members) settle_node(n, w);
}

bool KeptModels::holds(uint32_t r, size_t w) {
  Node& node = nodes_[r];
  while (node.holding[w] < node.facts.size()) {
    domain_.spend(1);
    if (models_[w].truth(node.facts[node.holding[w]]) != true) return false;
    ++node.holding[w];
  }
  return true;
}

// Whether the component's part of the model meets its facts, by now.
bool KeptModels::is_ready(uint32_t r, size_t w) {
  if (holds(r, w)) return true;
  if (nodes_[r].failed[w] == nodes_[r].facts.size()) return false;
  FormulaId broken = nodes_[r].facts[nodes_[r].holding[w]];
  for (int attempt = 0; attempt < limits().repair_attempts; ++attempt) {
    nodes_[r].holding[w] = 0;
    fill(r, w, attempt);
    domain_.spend(1);
    if (models_[w].truth(broken) != true) continue;  // likely again
    if (holds(r, w)) return true;
    broken = nodes_[r].facts[nodes_[r].holding[w]];
  }
  nodes_[r].holding[w] = 0;
  nodes_[r].failed[w] = static_cast<uint32_t>(nodes_[r].facts.size());
  return false;
}

bool KeptModels::is_usable(const std::vector<AtomId>& symbols, size_t w) {
  return std::all_of(symbols.begin(), symbols.end(),
                     [&](AtomId a) { return is_ready(root(node(a)), w); });
}

// Whether the first points that its node would have meet the facts about a
// symbol without one.
bool KeptModels::has_model_alone(AtomId symbol, Point& trial) {
  const uint32_t at = place(symbol);
  const SmallVector<FormulaId, 4> facts = facts_alone(symbol, met_[at]);
  for (size_t w = 0; w < kModels; ++w) {
    trial.set(symbol, choose(symbol, w, 0, at));
    const bool holds =
        std::all_of(facts.begin(), facts.end(), [&](FormulaId f) {
          domain_.spend(1);
          return trial.truth(f) == true;
        });
    if (holds) return true;
  }
  return false;
}

std::vector<FormulaId> KeptModels::groups_without_model(size_t from) {
  file_facts();
  std::vector<FormulaId> found;
  std::vector<bool> is_seen;  // by node
  Point trial(forms_);
  for (size_t i = from; i < assumed_.size(); ++i) {
    const std::vector<AtomId>& symbols = symbols_of(assumed_[i].fact);
    if (symbols.empty()) continue;
    const AtomId first = symbols[0];
    if (met_[place(first)].node == kNoId &&
        (trial.has(first) || has_model_alone(first, trial))) {
      continue;
    }
    const uint32_t group = root(node(first));
    if (is_seen.size() <= group) is_seen.resize(nodes_.size());
    if (is_seen[group]) continue;
    is_seen[group] = true;
    bool has_model = false;
    for (size_t w = 0; w < kModels && !has_model; ++w) {
      has_model = is_ready(group, w);
    }
    if (!has_model) found.push_back(assumed_[i].fact);
  }
  return found;
}

bool KeptModels::is_free(AtomId a) const {
  return forms_.atoms[a].kind == AtomKind::kSymbol && !domain_.is_solved(a);
}

std::span<const FormulaId> KeptModels::facts_about(AtomId symbol) {
  const auto& facts = nodes_[node(symbol)].facts_here;
  return {facts.begin(), facts.end()};
}

std::span<const FormulaId> KeptModels::facts_near(AtomId symbol) {
  const auto& facts = nodes_[root(node(symbol))].facts;
  return {facts.begin(), facts.end()};
}

}  // namespace proviso::inline v0_2::internal
