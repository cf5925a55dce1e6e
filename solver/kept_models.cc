// choose() says which values a point has at first and at each attempt.  A
// component remembers how many of its facts hold at a point, so that each is
// looked at once, and of how many facts all attempts ended in vain, so that
// they are made again only when another has come.
#include "solver/kept_models.h"

#include <algorithm>

#include "solver/limits_in_force.h"

namespace proviso::inline v0_2::internal {

std::optional<int64_t> KeptModels::usable_end(const OptionalInt& end) {
  if (!end) return std::nullopt;
  std::optional<int64_t> v = end->to_int64();
  const bool is_usable = v && *v > -fixed::model_end && *v < fixed::model_end;
  return is_usable ? v : std::nullopt;
}

uint32_t KeptModels::make_node(AtomId symbol) {
  const uint32_t place = components_.place_of(symbol);
  std::array<int64_t, fixed::kept_points>
      values;  // first, for it may end the budget
  for (size_t w = 0; w < fixed::kept_points; ++w)
    values[w] = choose(symbol, w, 0, place);
  const uint32_t made = components_.make_node(symbol);
  for (size_t w = 0; w < fixed::kept_points; ++w)
    models_[w].set(symbol, values[w]);
  return made;
}

void KeptModels::index_facts() {
  while (components_.indexed_count() < components_.fact_count()) {
    const FormulaId next = components_.fact(components_.indexed_count());
    const std::vector<AtomId>& symbols = symbols_of(next);
    for (size_t i = 0; symbols.size() > 1 && i < symbols.size(); ++i) {
      node(symbols[i]);
    }
    components_.index_next();
  }
}

// A value in the symbol's range: small ones first, other models farther on,
// later attempts at multiples of 8.
int64_t KeptModels::choose(AtomId a, size_t w, int attempt, size_t place) {
  const Range& r = domain_.atom_range(a);
  std::optional<int64_t> low = usable_end(r.span.lower());
  std::optional<int64_t> high = usable_end(r.span.upper());
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

void KeptModels::substitute_at(uint32_t node, size_t w) {
  const AtomId a = components_.symbol(node);
  if (!domain_.is_solved(a)) return;
  const Poly& solved = domain_.solved_value(a);
  complete(solved, w);
  if (Point::Value v = models_[w].value(solved)) models_[w].set(a, *v);
}

void KeptModels::assign_values(uint32_t root, size_t w, int attempt) {
  const auto& members = components_.members(root);
  for (uint32_t n : members) {
    const AtomId a = components_.symbol(n);
    if (domain_.is_solved(a)) continue;
    models_[w].set(a, choose(a, w, attempt, components_.place(n)));
  }
  for (uint32_t n : members) substitute_at(n, w);
}

bool KeptModels::holds(uint32_t root, size_t w) {
  const auto& facts = components_.facts(root);
  uint32_t& holding = components_.holding(root, w);
  while (holding < facts.size()) {
    domain_.spend(1);
    if (models_[w].truth(facts[holding]) != true) return false;
    ++holding;
  }
  return true;
}

// Whether the component's part of the point meets its facts, made again where
// it does not.
bool KeptModels::ensure_holds(uint32_t root, size_t w) {
  if (holds(root, w)) return true;
  const auto& facts = components_.facts(root);
  uint32_t& holding = components_.holding(root, w);
  uint32_t& failed = components_.failed(root, w);
  if (failed == facts.size()) return false;
  FormulaId broken = facts[holding];
  for (int attempt = 0; attempt < limits().repair_attempts; ++attempt) {
    holding = 0;
    assign_values(root, w, attempt);
    domain_.spend(1);
    if (models_[w].truth(broken) != true) continue;  // likely again
    if (holds(root, w)) return true;
    broken = facts[holding];
  }
  holding = 0;
  failed = static_cast<uint32_t>(facts.size());
  return false;
}

bool KeptModels::meets_facts(const std::vector<AtomId>& symbols, size_t w) {
  return std::all_of(symbols.begin(), symbols.end(), [&](AtomId a) {
    return ensure_holds(components_.root(node(a)), w);
  });
}

// Whether the first points that its node would have meet the facts about a
// symbol without one.
bool KeptModels::has_model_alone(AtomId symbol, Point& trial) {
  const uint32_t place = components_.place_of(symbol);
  const SmallVector<FormulaId, 4> facts =
      components_.facts_without_node(symbol);
  for (size_t w = 0; w < fixed::kept_points; ++w) {
    trial.set(symbol, choose(symbol, w, 0, place));
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
  index_facts();
  std::vector<FormulaId> found;
  std::vector<bool> is_seen;  // by root
  Point trial(forms_);
  for (size_t i = from; i < components_.fact_count(); ++i) {
    const std::vector<AtomId>& symbols = symbols_of(components_.fact(i));
    if (symbols.empty()) continue;
    const AtomId first = symbols[0];
    if (components_.node_of(first) == kNoId &&
        (trial.has(first) || has_model_alone(first, trial))) {
      continue;
    }
    const uint32_t group = components_.root(node(first));
    if (is_seen.size() <= group) is_seen.resize(group + 1);
    if (is_seen[group]) continue;
    is_seen[group] = true;
    bool has_model = false;
    for (size_t w = 0; w < fixed::kept_points && !has_model; ++w) {
      has_model = ensure_holds(group, w);
    }
    if (!has_model) found.push_back(components_.fact(i));
  }
  return found;
}

bool KeptModels::is_free(AtomId a) const {
  return forms_.atoms[a].kind == AtomKind::kSymbol && !domain_.is_solved(a);
}

}  // namespace proviso::inline v0_2::internal
