#include "solver/candidate_models.h"

#include <algorithm>
#include <numeric>

#include "solver/kind_range.h"
#include "solver/limits.h"

namespace proviso {
namespace {

constexpr int64_t kFar = int64_t{1} << 40;

std::optional<int64_t> near(const OptionalInt& end) {
  if (!end) return std::nullopt;
  std::optional<int64_t> v = end->to_int64();
  return v && *v > -kFar && *v < kFar ? v : std::nullopt;
}

using Wide = __int128;  // of 64-bit values, sums and quotients fit

}  // namespace

// --- components

uint32_t CandidateModels::node(AtomId symbol) {
  uint32_t n = node_of_.get(symbol);
  if (n != kNoId) return n;
  n = static_cast<uint32_t>(nodes_.size());
  std::array<int64_t, kModels> values;  // first, for it may end the budget
  for (size_t w = 0; w < kModels; ++w) values[w] = choose(symbol, w, 0, n);
  node_of_.set(symbol, n);
  Node& made = nodes_.emplace_back();
  made.atom = symbol;
  made.parent = n;
  made.members.push_back(n);
  for (size_t w = 0; w < kModels; ++w) models_[w].set(symbol, values[w]);
  for (FormulaId f : facts_of_kind(symbol)) {
    made.facts_here.push_back(f);
    made.facts.push_back(f);
  }
  return n;
}

// What the symbol's kind says: the first facts of its node, for good.
SmallVector<FormulaId, 2> CandidateModels::facts_of_kind(AtomId symbol) {
  const Interval& range = range_of_kind(forms_.atom(symbol).expr.symbol().kind);
  SmallVector<FormulaId, 2> facts;
  Poly p = forms_.variable(symbol);
  if (range.lower()) {
    p.constant = -*range.lower();
    facts.push_back(forms_.ge(p));
  }
  if (range.upper()) {
    p = forms_.scale(forms_.variable(symbol), -1);
    p.constant = *range.upper();
    facts.push_back(forms_.ge(p));
  }
  return facts;
}

uint32_t CandidateModels::root(uint32_t n) const {
  while (nodes_[n].parent != n) n = nodes_[n].parent;
  return n;
}

// The smaller component joins the larger; undo() takes it out again.
void CandidateModels::join(uint32_t a, uint32_t b) {
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

const std::vector<AtomId>& CandidateModels::symbols_of(FormulaId f) {
  symbols_.clear();
  for (AtomId a : forms_.atoms_of_formula(f)) {
    if (forms_.atom(a).kind == AtomKind::kSymbol) symbols_.push_back(a);
  }
  return symbols_;
}

void CandidateModels::file_facts() {
  for (; filed_ < assumed_.size(); ++filed_) {
    assumed_[filed_].trail = trail_.size();
    file(assumed_[filed_].fact);
  }
}

void CandidateModels::file(FormulaId f) {
  const std::vector<AtomId>& symbols = symbols_of(f);
  if (symbols.empty()) return;
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

void CandidateModels::undo(size_t mark) {
  for (; filed_ > mark; --filed_) {
    while (trail_.size() > assumed_[filed_ - 1].trail) undo_step();
  }
  assumed_.resize(std::min(mark, assumed_.size()));
}

void CandidateModels::undo_step() {
  Step step = trail_.back();
  trail_.pop_back();
  if (step.kind == Step::kFact) {
    Node& r = nodes_[step.index];
    for (AtomId a : symbols_of(r.facts.back())) {
      nodes_[node(a)].facts_here.pop_back();
    }
    r.facts.pop_back();
    for (size_t w = 0; w < kModels; ++w) {
      r.holding[w] =
          std::min(r.holding[w], static_cast<uint32_t>(r.facts.size()));
      r.failed[w] = 0;
    }
    return;
  }
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
int64_t CandidateModels::choose(AtomId a, size_t w, int attempt, size_t place) {
  const Range& r = domain_.atom_range(a);
  std::optional<int64_t> low = near(r.span.lower());
  std::optional<int64_t> high = near(r.span.upper());
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
void CandidateModels::ground(const Poly& p, size_t w) {
  auto give = [&](AtomId x) {
    AtomKind kind = forms_.atom(x).kind;
    if (kind == AtomKind::kSymbol) node(x);
    if (kind != AtomKind::kFresh) return;
    int64_t value = choose(x, w, 0, x);
    if (!models_[w].has(x) || models_[w].at(x) != value) {
      models_[w].set(x, value);
    }
  };
  for (const Term& t : p.terms) {
    for (AtomId a : forms_.factors(t.mono)) {
      const Atoms& within = forms_.atoms_within(a);
      Budget::spend(within.size() / 4);
      for (AtomId x : within) give(x);
    }
  }
}

void CandidateModels::settle(uint32_t n, size_t w) {
  AtomId a = nodes_[n].atom;
  if (!domain_.is_solved(a)) return;
  const Poly& solved = domain_.solved_value(a);
  ground(solved, w);
  if (Point::Value v = models_[w].value(solved)) models_[w].set(a, *v);
}

void CandidateModels::fill(uint32_t r, size_t w, int attempt) {
  for (uint32_t n : nodes_[r].members) {
    if (!domain_.is_solved(nodes_[n].atom)) {
      AtomId a = nodes_[n].atom;
      models_[w].set(a, choose(a, w, attempt, n));
    }
  }
  for (uint32_t n : nodes_[r].members) settle(n, w);
}

bool CandidateModels::holds(uint32_t r, size_t w) {
  Node& node = nodes_[r];
  while (node.holding[w] < node.facts.size()) {
    domain_.spend(1);
    if (models_[w].truth(node.facts[node.holding[w]]) != true) return false;
    ++node.holding[w];
  }
  return true;
}

// Whether the component's part of the model meets its facts, by now.
bool CandidateModels::ready(uint32_t r, size_t w) {
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

bool CandidateModels::usable(const std::vector<AtomId>& symbols, size_t w) {
  return std::all_of(symbols.begin(), symbols.end(),
                     [&](AtomId a) { return ready(root(node(a)), w); });
}

bool CandidateModels::consistent(FormulaId goal) {
  file_facts();
  std::vector<AtomId> symbols = symbols_of(goal);
  for (size_t w = 0; w < kModels; ++w) {
    if (usable(symbols, w)) return true;
  }
  return false;
}

std::vector<FormulaId> CandidateModels::groups_without_model(size_t from) {
  file_facts();
  std::vector<FormulaId> found;
  std::vector<uint32_t> seen;
  for (size_t i = from; i < assumed_.size(); ++i) {
    const std::vector<AtomId>& symbols = symbols_of(assumed_[i].fact);
    if (symbols.empty()) continue;
    const uint32_t group = root(node(symbols[0]));
    if (std::find(seen.begin(), seen.end(), group) != seen.end()) continue;
    seen.push_back(group);
    bool has_model = false;
    for (size_t w = 0; w < kModels && !has_model; ++w) {
      has_model = ready(group, w);
    }
    if (!has_model) found.push_back(assumed_[i].fact);
  }
  return found;
}

bool CandidateModels::satisfiable(FormulaId goal) {
  file_facts();
  std::vector<AtomId> symbols = symbols_of(goal);
  for (size_t w = 0; w < kModels; ++w) {
    if (!usable(symbols, w) || models_[w].truth(goal) != true) continue;
    if (wanted_) note_values(w);
    return true;
  }
  for (size_t w = 0; w < kModels - 1; ++w) {
    if (usable(symbols, w) && reach(goal, w, false)) return true;
  }
  return scale_products(goal, symbols);
}

bool CandidateModels::satisfiable_by_search(FormulaId goal) {
  std::vector<AtomId> symbols = symbols_of(goal);
  for (size_t w = 0; w < kModels; ++w) {
    if (usable(symbols, w) && reach(goal, w, true)) return true;
  }
  return false;
}

void CandidateModels::note_values(size_t w) {
  values_.clear();
  for (AtomId a : *wanted_) {
    node(a);
    values_.push_back(models_[w].at(a));
  }
}

std::vector<int64_t> CandidateModels::find(FormulaId goal,
                                           const std::vector<AtomId>& symbols) {
  struct Wanted {
    const std::vector<AtomId>*& which;
    ~Wanted() { which = nullptr; }
  } wanted{wanted_ = &symbols};
  values_.clear();
  if (!satisfiable(goal)) satisfiable_by_search(goal);
  return std::move(values_);
}

// Changes one unsolved variable so that the goal holds.
bool CandidateModels::reach(FormulaId goal, size_t w, bool search) {
  const Formula& f = forms_.formula(goal);
  if (f.kind == FormulaKind::kOr) {
    return std::any_of(f.kids.begin(), f.kids.end(),
                       [&](FormulaId kid) { return reach(kid, w, search); });
  }
  FormulaId literal = goal;
  if (f.kind == FormulaKind::kAnd) {  // the first part that fails
    for (FormulaId kid : f.kids) {
      if (models_[w].truth(kid) == true) continue;
      literal = kid;
      break;
    }
  }
  const Formula& l = forms_.formula(literal);
  if (l.poly == kNoId) return false;
  Poly p = domain_.normal(forms_.poly(l.poly)).poly;
  ground(p, w);
  return search ? search_for(goal, p, w) : step_to(goal, l.kind, p, w);
}

// A variable that is alone in a term goes where the literal holds.
bool CandidateModels::step_to(FormulaId goal, FormulaKind kind, const Poly& p,
                              size_t w) {
  Point::Value now = models_[w].value(p);
  if (!now) return false;
  size_t tried = 0;
  for (const Term& t : p.terms) {
    const Factors& factors = forms_.factors(t.mono);
    std::optional<int64_t> c = t.coef.to_int64();
    if (factors.size() != 1 || !is_free(factors[0]) || !c) continue;
    if (++tried > limits().repair_candidates) break;
    const int64_t x = models_[w].at(factors[0]);
    const Wide value = *now;
    auto moves_by = [&](Wide step) {
      const auto moved = static_cast<int64_t>(x + step);
      return moved == x + step && try_value(goal, w, factors[0], moved);
    };
    if (kind == FormulaKind::kEq) {
      if (value % *c == 0 && moves_by(-(value / *c))) return true;
    } else if (kind == FormulaKind::kGe) {
      if (moves_by(*c > 0 ? -floor_quotient<Wide>(value, *c)
                          : floor_quotient<Wide>(-value, *c))) {
        return true;
      }
    } else if (moves_by(1) || moves_by(-1)) {
      return true;
    }
  }
  return false;
}

// A few likely values of each variable.
bool CandidateModels::search_for(FormulaId goal, const Poly& p, size_t w) {
  size_t tried = 0;
  std::optional<int64_t> constant = abs(p.constant).to_int64();
  for (AtomId a : Atoms(forms_.atoms_of(p))) {
    if (!is_free(a)) continue;
    if (++tried > limits().repair_candidates) break;
    const Range r = domain_.atom_range(a);
    int64_t x = models_[w].at(a);
    std::optional<int64_t> low = near(r.span.lower());
    std::optional<int64_t> high = near(r.span.upper());
    int64_t from = low.value_or(0);
    for (int64_t v :
         {from, from + 1, from + 2, from + 6, x + 1, x - 1, 2 * x, from + 13,
          from + 62, from + 510, constant.value_or(0), high.value_or(1000)}) {
      if (v != x && std::abs(v) < kFar && try_value(goal, w, a, v)) return true;
    }
  }
  return false;
}

bool CandidateModels::is_free(AtomId a) const {
  return forms_.atom(a).kind == AtomKind::kSymbol && !domain_.is_solved(a);
}

// The nodes whose values depend on x.
void CandidateModels::collect_affected(AtomId x, Nodes& out) {
  SmallVector<AtomId, 8> queue = {x};
  for (size_t i = 0; i < queue.size(); ++i) {
    AtomId a = queue[i];
    Budget::spend(1 + queue.size() / 16);
    if (forms_.atom(a).kind == AtomKind::kSymbol) out.push_back(node(a));
    for (AtomId b : domain_.dependents_of(a)) {
      if (std::find(queue.begin(), queue.end(), b) == queue.end()) {
        queue.push_back(b);
      }
    }
  }
}

bool CandidateModels::try_values(FormulaId goal, size_t w,
                                 std::span<const Move> moves) {
  Nodes affected;
  for (const Move& m : moves) {
    if (!domain_.atom_range(m.x).span.contains(Int(m.value))) return false;
    domain_.spend(2);
    collect_affected(m.x, affected);
  }
  SmallVector<int64_t, 8> before;
  for (uint32_t n : affected) before.push_back(models_[w].at(nodes_[n].atom));
  auto restore = [&] {
    for (size_t i = 0; i < affected.size(); ++i) {
      models_[w].set(nodes_[affected[i]].atom, before[i]);
    }
  };
  struct Restored {
    decltype(restore)& last;
    ~Restored() { last(); }
  } restored{restore};
  for (const Move& m : moves) models_[w].set(m.x, m.value);
  for (uint32_t n : affected) settle(n, w);
  bool ok = models_[w].truth(goal) == true;
  for (size_t i = 0; ok && i < affected.size(); ++i) {
    for (FormulaId f : nodes_[affected[i]].facts_here) {
      domain_.spend(1);
      ok = models_[w].truth(f) == true;
      if (!ok) break;
    }
  }
  if (ok && wanted_) note_values(w);
  return ok;
}

// Equalities between products hold on when their factors are multiplied by
// powers of a number, with exponents that the equalities leave free
// (solver/monomials.h).  The goal's symbols come last, so that elimination
// leaves them free.
CandidateModels::Scalings CandidateModels::product_scalings(
    const std::vector<AtomId>& symbols) {
  std::vector<const Poly*> equalities;
  size_t looked_at = 0;
  for (FormulaId fact : nodes_[root(node(symbols[0]))].facts) {
    if (++looked_at > limits().scaling_facts) break;
    const Formula& f = forms_.formula(fact);
    if (f.kind != FormulaKind::kEq) continue;
    const Poly& p = forms_.poly(f.poly);
    if (p.terms.size() != 2 || !p.constant.is_zero()) continue;
    if (forms_.single(p.terms[0].mono) == kNoId) equalities.push_back(&p);
  }
  auto has = [](const std::vector<AtomId>& all, AtomId a) {
    return std::find(all.begin(), all.end(), a) != all.end();
  };
  Scalings found;
  for (bool in_goal : {false, true}) {
    for (const Poly* p : equalities) {
      for (const Term& t : p->terms) {
        for (AtomId a : forms_.factors(t.mono)) {
          const bool is_next = is_free(a) && has(symbols, a) == in_goal;
          if (is_next && !has(found.factors, a)) found.factors.push_back(a);
        }
      }
    }
  }
  const size_t count = found.factors.size();
  if (count == 0 || count > MonomialEqualities::kMaxFactors) return {};
  MonomialEqualities system;
  for (const Poly* p : equalities) {
    Exponents powers(count);
    for (size_t side : {0, 1}) {
      for (AtomId a : forms_.factors(p->terms[side].mono)) {
        const auto at =
            std::find(found.factors.begin(), found.factors.end(), a);
        if (at == found.factors.end()) continue;
        powers[static_cast<size_t>(at - found.factors.begin())] +=
            side == 0 ? 1 : -1;
      }
    }
    found.is_homogeneous &=
        std::accumulate(powers.begin(), powers.end(), int64_t{0}) == 0;
    system.add(std::move(powers), Rational(1), 0);
  }
  domain_.spend(equalities.size());
  found.exponents = system.invariant_scalings(count, limits().scalings);
  return found;
}

// Whether a scaling meets the other facts and the goal.
bool CandidateModels::scale_products(FormulaId goal,
                                     const std::vector<AtomId>& symbols) {
  if (symbols.empty()) return false;
  const Scalings scalings = product_scalings(symbols);
  for (size_t w = 0; w < kModels && !scalings.exponents.empty(); ++w) {
    if (!usable(symbols, w)) continue;
    for (const Exponents& by : scalings.exponents) {
      const int64_t least =
          std::min<int64_t>(*std::min_element(by.begin(), by.end()), 0);
      if (least < 0 && !scalings.is_homogeneous) continue;
      for (int64_t base : {2, 3}) {
        if (try_scaling(goal, w, scalings.factors, by, least, base)) {
          return true;
        }
      }
    }
  }
  return false;
}

// x times base**(by[x] - least), for each factor.
bool CandidateModels::try_scaling(FormulaId goal, size_t w,
                                  const std::vector<AtomId>& factors,
                                  const Exponents& by, int64_t least,
                                  int64_t base) {
  SmallVector<Move, 8> moves;
  for (size_t i = 0; i < factors.size(); ++i) {
    int64_t value = models_[w].at(factors[i]);
    for (int64_t k = least; k < by[i]; ++k) {
      if (std::abs(value) > kFar) return false;
      value *= base;
    }
    if (by[i] != least) moves.push_back({factors[i], value});
  }
  return try_values(goal, w, std::span(moves.begin(), moves.end()));
}

}  // namespace proviso
