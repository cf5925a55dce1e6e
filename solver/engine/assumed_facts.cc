#include "solver/engine/assumed_facts.h"

#include <algorithm>
#include <utility>

#include "solver/engine/box.h"
#include "solver/kind_range.h"
#include "solver/limits_in_force.h"
#include "sym/budget.h"
#include "sym/excerpt.h"
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
  for (; first_mention_.size() > size; first_mention_.pop_back()) {
    for (; mentions_.size() > first_mention_.back(); mentions_.pop_back()) {
      const Mention& last = mentions_.back();
      last_of_symbol_[last.symbol.symbol().index] = last.before;
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
  Budget::charge(4 * ids.size());
  for (FactId id : ids) {
    const std::string origin = fact(id).origin.to_string();
    if (!out.empty()) out += "; ";
    out += origin.empty() ? excerpt(condition(id), kFactLength) : origin;
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
  if (mentions_.empty()) {
    mentions_.reserve(16);
    first_mention_.reserve(8);
  }
  while (first_mention_.size() < all_.size()) {
    const auto id = static_cast<FactId>(first_mention_.size());
    const Expr fact = condition(id);
    const bool says_nothing =
        lower_.condition(fact) == kTrue && lower_.defined(fact) == kTrue;
    first_mention_.push_back(static_cast<uint32_t>(mentions_.size()));
    if (says_nothing) continue;
    for (Expr s : free_symbols(fact)) {
      const size_t index = s.symbol().index;
      if (index >= last_of_symbol_.size()) {
        last_of_symbol_.resize(index + 1, kNoId);
      }
      uint32_t& last = last_of_symbol_[index];
      const auto here = static_cast<uint32_t>(mentions_.size());
      mentions_.push_back({s, id, std::exchange(last, here)});
    }
  }
}

bool AssumedFacts::are_ranges(Expr symbol) {
  index_new_facts();
  const size_t index = symbol.symbol().index;
  if (index >= last_of_symbol_.size()) return true;
  for (uint32_t m = last_of_symbol_[index]; m != kNoId;
       m = mentions_[m].before) {
    Budget::charge(4);
    if (!Box::is_range(condition(mentions_[m].fact))) return false;
  }
  return true;
}

AssumedFacts::Connected AssumedFacts::connected_to(
    std::span<const Expr> symbols) {
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
  auto end_of = [&](FactId id) {
    return id + 1 < first_mention_.size() ? first_mention_[id + 1]
                                          : mentions_.size();
  };
  SmallVector<FactId, 16> facts;  // about one symbol
  for (Expr s : symbols) visit(s);
  for (size_t i = 0; i < found.symbols.size(); ++i) {
    const size_t index = found.symbols[i].symbol().index;
    if (index >= last_of_symbol_.size()) continue;
    facts.clear();
    for (uint32_t m = last_of_symbol_[index]; m != kNoId;
         m = mentions_[m].before) {
      facts.push_back(mentions_[m].fact);
    }
    std::reverse(facts.begin(), facts.end());
    for (FactId id : facts) {
      if (seen_fact[id] || found.facts.size() >= limits().relevant_facts) {
        continue;
      }
      seen_fact[id] = true;
      found.facts.push_back(id);
      for (size_t m = first_mention_[id]; m < end_of(id); ++m) {
        visit(mentions_[m].symbol);
      }
    }
  }
  return found;
}

}  // namespace proviso::inline v0_2::internal
