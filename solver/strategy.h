// solver/strategy.h - who decides a question: tiers and strategies, their names
// and sets of them.
//
//   answer.strategy == Strategy::kCaseSplit
//   name_of(answer.strategy);                      // "case-split"
//   options.disabled_strategies.insert(Strategy::kRestarts);
//   statistics.by_strategy[Strategy::kRanges].tried
//
// fragment_of() says in words which questions a strategy is for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sym/api.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

// The reasoning that an answer took, the cheapest first.
enum class Tier {
  kStructure,
  kRanges,
  kEqualities,
  kLinear,
  kCases,
  kModels,
  kZ3,
  kNone
};
inline constexpr size_t kTierCount = 8;
[[nodiscard]] std::string_view name_of(
    Tier tier);  // "structure", "ranges", ...

// One way to decide a question, in the order of the tries.
enum class Strategy : uint8_t {
  kRanges,
  kMonomialRatios,
  kAssertedCases,
  kCandidateModels,
  kConditionCases,
  kMinMaxLattice,
  kDeepFloors,
  kNonnegativeCombination,
  kPolynomialReduction,
  kLinearRefutation,
  kModelRepair,
  kFewModels,
  kCaseSplit,
  kEnumeration,
  kQuickModelSearch,
  kRestarts,
  kModelSearch,
  kZ3,
  // Of whether the facts contradict each other; these decide no question.
  kModelOfFacts,
  kFactsEnumeration,
  kOppositeRefutation,
  kFactsReordering,
  kFactsRefutation,
  kNone  // of an unknown
};
inline constexpr auto kStrategyCount = static_cast<size_t>(Strategy::kNone);
[[nodiscard]] std::string_view name_of(
    Strategy strategy);  // "case-split"; kNone: ""
// What it is complete for, or meant for, in words; kNone: "".
[[nodiscard]] std::string_view fragment_of(Strategy strategy);
[[nodiscard]] std::optional<Strategy> strategy_named(std::string_view name);

// The enumerators in their order, kNone last: for (Tier t : all_tiers()).
constexpr std::array<Tier, kTierCount> all_tiers() {
  std::array<Tier, kTierCount> all{};
  for (size_t i = 0; i < kTierCount; ++i) all[i] = static_cast<Tier>(i);
  return all;
}
// Without kNone.
constexpr std::array<Strategy, kStrategyCount> all_strategies() {
  std::array<Strategy, kStrategyCount> all{};
  for (size_t i = 0; i < kStrategyCount; ++i) all[i] = static_cast<Strategy>(i);
  return all;
}

class StrategySet {
 public:
  static constexpr StrategySet all() {
    StrategySet set;
    for (Strategy s : all_strategies()) set.insert(s);
    return set;
  }
  constexpr bool contains(Strategy s) const { return (bits_ & bit(s)) != 0; }
  constexpr bool is_empty() const { return bits_ == 0; }
  constexpr void insert(Strategy s) { bits_ |= bit(s); }
  constexpr void insert(StrategySet other) { bits_ |= other.bits_; }
  constexpr void erase(Strategy s) { bits_ &= ~bit(s); }
  bool operator==(const StrategySet&) const = default;

 private:
  static constexpr uint64_t bit(Strategy s) {
    return uint64_t{1} << static_cast<unsigned>(s);
  }
  uint64_t bits_ = 0;
};

// An array with an element for each enumerator.
template <typename Enum, typename Element, size_t kCount>
class PerEnumerator {
 public:
  constexpr Element& operator[](Enum e) { return elements_[index(e)]; }
  constexpr const Element& operator[](Enum e) const {
    return elements_[index(e)];
  }

 private:
  static constexpr size_t index(Enum e) { return static_cast<size_t>(e); }
  std::array<Element, kCount> elements_{};
};

}  // namespace proviso::inline v0_2
PROVISO_API_END
