#include "solver/engine/assumed_facts.h"

#include <algorithm>

#include "solver/kind_range.h"
#include "solver/limits_in_force.h"
#include "sym/print.h"

namespace proviso::inline v0_2::internal {

FactId AssumedFacts::add(Expr condition, const Provenance& origin) {
  const auto id = static_cast<FactId>(all_.size());
  all_.push_back({condition, kNoId});
  if (!origin.is_empty()) {
    all_.back().origin = static_cast<uint32_t>(origins_.size());
    origins_.push_back(origin);
  }
  return id;
}

void AssumedFacts::shrink(size_t size) {
  for (; symbols_of_fact_.size() > size; symbols_of_fact_.pop_back()) {
    for (Expr s : symbols_of_fact_.back()) {
      facts_of_symbol_[s.symbol().index].pop_back();
    }
  }
  for (; all_.size() > size; all_.pop_back()) {
    if (all_.back().origin != kNoId) origins_.pop_back();
  }
}

Fact AssumedFacts::fact(FactId id) const {
  const Assumed& assumed = all_[id];
  return {id, assumed.condition,
          assumed.origin == kNoId ? Provenance{} : origins_[assumed.origin]};
}

std::string AssumedFacts::in_words(const std::vector<FactId>& ids) const {
  std::string out;
  for (FactId id : ids) {
    const std::string origin = fact(id).origin.to_string();
    if (!out.empty()) out += "; ";
    out += origin.empty() ? to_string(condition(id), 1000) : origin;
  }
  return out;
}

bool AssumedFacts::hold_at(const std::vector<FactId>& ids,
                           const Assignment& point) const {
  for (const auto& [symbol, value] : point.entries()) {
    const Interval& range = range_of_kind(symbol.symbol().kind);
    if (symbol.is_int() && !range.contains(std::get<Int>(value))) return false;
  }
  return std::all_of(ids.begin(), ids.end(), [&](FactId id) {
    return evaluate(condition(id), point).is_true();
  });
}

void AssumedFacts::index_new_facts() {
  while (symbols_of_fact_.size() < all_.size()) {
    const auto id = static_cast<FactId>(symbols_of_fact_.size());
    const Expr fact = condition(id);
    const bool says_nothing =
        lower_.condition(fact) == kTrue && lower_.defined(fact) == kTrue;
    symbols_of_fact_.push_back(says_nothing ? std::vector<Expr>{}
                                            : free_symbols(fact));
    for (Expr s : symbols_of_fact_.back()) {
      const size_t index = s.symbol().index;
      if (index >= facts_of_symbol_.size()) facts_of_symbol_.resize(index + 1);
      facts_of_symbol_[index].push_back(id);
    }
  }
}

AssumedFacts::Connected AssumedFacts::connected_to(Expr question) {
  index_new_facts();
  Connected found;
  std::vector<bool> seen_fact(all_.size()), seen_symbol;
  auto visit = [&](Expr s) {
    const size_t index = s.symbol().index;
    if (index >= seen_symbol.size()) seen_symbol.resize(index + 1);
    if (seen_symbol[index]) return;
    seen_symbol[index] = true;
    found.symbols.push_back(s);
  };
  for (Expr s : free_symbols(question)) visit(s);
  for (size_t i = 0; i < found.symbols.size(); ++i) {
    const size_t index = found.symbols[i].symbol().index;
    if (index >= facts_of_symbol_.size()) continue;
    for (FactId id : facts_of_symbol_[index]) {
      if (seen_fact[id] || found.facts.size() >= limits().relevant_facts) {
        continue;
      }
      seen_fact[id] = true;
      found.facts.push_back(id);
      for (Expr s : symbols_of_fact_[id]) visit(s);
    }
  }
  return found;
}

}  // namespace proviso::inline v0_2::internal
