// sym/rewrite_rule.h - a rewrite rule as data, and the loop over a table of
// them. Not for callers of the library.
//
//   constinit RuleTable<Division> kRules({
//       {{"exact", "(b*t)//b", "t", "Ne(b, 0)", "(x*y)//y", "(x*y + 1)//y"},
//        exact<Division>}, ...});
//   kRules.run(division);       // until no rule applies, or one ends it
//   kRules.counts();            // how often each rewrote something
//
// A row is the rule's statement, from which tests are made
// (tests/solver/rewrite_rules_test.cc: the identity at every small point, and
// asked of Z3; where it fires; where it stays quiet), and the function that
// applies it to a state, which says whether it did.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace proviso::inline v0_2::internal {

// The identity holds wherever `before` is defined and the condition true.  The
// rule fires on one expression and is quiet on the other, where `given` holds:
// "y in [0, 7]; x < y".
struct RewriteRule {
  const char* name;
  const char* before;
  const char* after;
  const char* condition;
  const char* fires;
  const char* quiet;
  const char* given = "";
};

// `rule` with other expressions to show it and to test it on.
constexpr RewriteRule with_examples(RewriteRule rule, const char* fires,
                                    const char* quiet, const char* given = "") {
  rule.fires = fires;
  rule.quiet = quiet;
  rule.given = given;
  return rule;
}

struct RewriteRuleCount {
  const RewriteRule& rule;
  uint64_t count;
};

// How often a rule rewrote something, in this process.  Counts of threads that
// meet may be lost: they are for people.
class Counter {
 public:
  void add() { count_.store(count() + 1, std::memory_order_relaxed); }
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> count_{0};
};

// Which rule is tried after one that has fired.
enum class Then : uint8_t {
  kNext,   // the one below: those above cannot apply again
  kFirst,  // the first
};

template <typename State>
struct RewriteRow {
  RewriteRule rule;
  bool (*apply)(State& state);
  Then then = Then::kFirst;
};

// The counts of the rules of several tables, in order.
template <typename... Tables>
std::vector<RewriteRuleCount> counts_of(const Tables&... tables) {
  std::vector<RewriteRuleCount> all;
  (tables.append_counts(all), ...);
  return all;
}

template <typename State, size_t N>
class RuleTable {
 public:
  explicit constexpr RuleTable(const RewriteRow<State> (&rows)[N])
      : rows_(std::to_array(rows)) {}

  // Each rule shortens something, so that this ends.
  void run(State& state) {
    for (size_t i = 0; i < N && !state.is_done;) {
      const RewriteRow<State>& row = rows_[i];
      const bool fires = row.apply(state);
      if (fires) counts_[i].add();
      i = fires && row.then == Then::kFirst ? 0 : i + 1;
    }
  }

  std::vector<RewriteRuleCount> counts() const { return counts_of(*this); }
  void append_counts(std::vector<RewriteRuleCount>& all) const {
    for (size_t i = 0; i < N; ++i) {
      all.push_back({rows_[i].rule, counts_[i].count()});
    }
  }

 private:
  const std::array<RewriteRow<State>, N> rows_;
  std::array<Counter, N> counts_{};
};

}  // namespace proviso::inline v0_2::internal
