#include "guards/errors/known_facts.h"

#include <algorithm>

#include "guards/errors/text_parts.h"
#include "guards/fixed_limits.h"
#include "sym/budget.h"
#include "sym/parse.h"

namespace proviso::inline v0_2::internal {

KnownFacts::KnownFacts(const TextEnv& env) : env_(env) {
  for (const auto& [name, symbol] : env.symbols) {
    const bool is_int = !symbol.source.empty() &&
                        !has(symbol.source, ".size()") && name.starts_with('s');
    if (is_int) declared_symbol(pool_, {name, symbol.lower, symbol.upper});
  }
  for (const TextFact& fact : env.facts) {
    facts_.push_back(read_expression(pool_, fact.text));
    if (facts_.back() && !facts_.back()->is_bool()) facts_.back().reset();
    if (!facts_.back()) continue;
    for (Expr s : free_symbols(*facts_.back())) {
      facts_of_[s].push_back(facts_.size() - 1);
    }
  }
}

Context KnownFacts::before(const TextError& e, Expr about) {
  SolverOptions options;
  options.use_z3 = false;
  options.work_limit = 200'000;
  Context context(pool_, options);
  const std::vector<size_t> chosen = relevant(e, about);
  const std::set<std::string_view> sizes(e.size_like.begin(),
                                         e.size_like.end());
  for (Expr s : symbols_) {
    if (s.is_int()) declare(context, s, sizes.contains(s.symbol().name));
  }
  for (size_t i : chosen) {
    const TextFact& fact = env_.facts[i];
    context.assume(*facts_[i], {fact.text, fact.where.file, fact.where.line});
  }
  return context;
}

// Facts that share symbols with `about`, directly or through others; the
// latest where there are many.
std::vector<size_t> KnownFacts::relevant(const TextError& e, Expr about) {
  symbols_ = free_symbols(about);
  std::set<Expr, ExprLess> seen(symbols_.begin(), symbols_.end());
  std::set<size_t> chosen;
  for (size_t next = 0; next < symbols_.size(); ++next) {
    const auto known = facts_of_.find(symbols_[next]);
    if (known == facts_of_.end()) continue;
    const std::vector<size_t>& of = known->second;
    auto it = std::lower_bound(of.begin(), of.end(), e.facts_before);
    while (it != of.begin() && chosen.size() < fixed::relevant_known_facts) {
      --it;
      Budget::spend(2);
      if (!chosen.insert(*it).second) continue;
      for (Expr s : free_symbols(*facts_[*it])) {
        Budget::charge(2);
        if (seen.insert(s).second) symbols_.push_back(s);
      }
    }
  }
  return {chosen.begin(), chosen.end()};
}

void KnownFacts::declare(Context& context, Expr symbol, bool is_size) const {
  const std::string& name = symbol.symbol().name;
  auto it = env_.symbols.find(name);
  Interval range;
  if (it != env_.symbols.end()) {
    range = Interval::of(it->second.lower, it->second.upper);
    const bool is_dim = has(it->second.source, ".size()");
    if (is_dim) range = intersect(range, Interval::at_least(0));
  }
  if (is_size) range = intersect(range, Interval::at_least(0));
  if (range == Interval::all()) return;
  context.declare(symbol, range, {name + " in " + range.to_string()});
}

std::optional<Assignment> KnownFacts::example(Expr about) const {
  Assignment point;
  for (Expr s : free_symbols(about)) {
    auto it = env_.symbols.find(s.symbol().name);
    if (it == env_.symbols.end() || !it->second.example) return std::nullopt;
    point.set(s, *it->second.example);
  }
  return point;
}

}  // namespace proviso::inline v0_2::internal
