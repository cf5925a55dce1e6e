// Facts grouped by the symbols that they share, beside groups that are made
// again from all facts: as they come, and as they are undone.
#include "solver/fact_components.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "solver/lower.h"
#include "sym/parse.h"

namespace proviso {
namespace {
using namespace internal;

constexpr uint32_t kSymbols = 7;

class Grouped {
 public:
  Grouped() : forms_(Forms::of(pool_)), components_(forms_.pool) {
    for (uint32_t i = 0; i < kSymbols; ++i)
      atoms_.push_back(forms_.pool.atoms.symbol(
          pool_.symbol(name(i), SymbolKind::kUnbackedInt)));
  }

  static std::string name(uint32_t i) { return "u" + std::to_string(i); }
  FormulaId formula(const std::string& text) {
    return forms_.lower.condition(parse(pool_, text));
  }
  // Assumes the fact and enters it; where it has several symbols they have
  // nodes then.
  void add(FormulaId f) {
    components_.add_fact(f);
    const std::vector<AtomId> symbols = components_.symbols_of(f);
    if (symbols.size() > 1) {
      for (AtomId a : symbols) node(a);
    }
    components_.index_next();
    facts_.push_back(f);
  }
  void undo(size_t facts) {
    components_.undo(facts);
    facts_.resize(facts);
  }
  uint32_t node(AtomId a) {
    const uint32_t known = components_.node_of(a);
    return known != kNoId ? known : components_.make_node(a);
  }
  AtomId atom(uint32_t i) const { return atoms_[i]; }
  FactComponents& components() { return components_; }
  size_t fact_count() const { return facts_.size(); }

  // The facts and symbols that share symbols with one, directly or not.
  std::pair<std::multiset<FormulaId>, std::set<AtomId>> group_of(AtomId a) {
    std::multiset<FormulaId> facts;
    std::set<AtomId> symbols = {a};
    for (bool grows = true; grows;) {
      grows = false;
      facts.clear();
      for (FormulaId f : facts_) {
        const std::vector<AtomId> here = components_.symbols_of(f);
        const bool is_near =
            std::any_of(here.begin(), here.end(),
                        [&](AtomId x) { return symbols.contains(x); });
        if (!is_near) continue;
        facts.insert(f);
        for (AtomId x : here) grows |= symbols.insert(x).second;
      }
    }
    return {facts, symbols};
  }

 private:
  ExprPool pool_;
  Forms& forms_;
  FactComponents components_;
  std::vector<AtomId> atoms_;
  std::vector<FormulaId> facts_;
};

TEST(FactComponents, AreThoseOfSharedSymbols) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) {
      return static_cast<uint32_t>(random() % n);
    };
    Grouped grouped;
    std::vector<size_t> marks;
    for (int turn = 0; turn < 40; ++turn) {
      if (below(5) == 0) marks.push_back(grouped.fact_count());
      if (below(5) == 0 && !marks.empty()) {
        grouped.undo(marks.back());
        marks.pop_back();
      } else {
        std::string fact = Grouped::name(below(kSymbols));
        for (uint32_t more = below(3); more > 0; --more)
          fact += " + 2*" + Grouped::name(below(kSymbols));
        grouped.add(grouped.formula(fact + " >= " + std::to_string(below(9))));
      }
      const AtomId asked = grouped.atom(below(kSymbols));
      FactComponents& components = grouped.components();
      const uint32_t root = components.root(grouped.node(asked));
      const auto [facts, symbols] = grouped.group_of(asked);
      std::multiset<FormulaId> found;
      for (FormulaId f : components.facts(root)) {
        // What its kind says of a symbol stands before the facts.
        if (components.symbols_of(f).size() != 1 || facts.contains(f))
          found.insert(f);
      }
      EXPECT_EQ(found, facts) << seed;
      std::set<AtomId> members;
      for (uint32_t node : components.members(root))
        members.insert(components.symbol(node));
      EXPECT_EQ(members, symbols) << seed;
      for (AtomId a : symbols)
        EXPECT_EQ(components.root(grouped.node(a)), root) << seed;
    }
  }
}

TEST(FactComponents, FactsAboutOneSymbolWaitWithoutANode) {
  Grouped grouped;
  const FormulaId low = grouped.formula("u0 >= 2"),
                  high = grouped.formula("u0 <= 9");
  grouped.add(low);
  grouped.add(high);
  FactComponents& components = grouped.components();
  EXPECT_EQ(components.node_of(grouped.atom(0)), kNoId);
  const auto waiting = components.facts_without_node(grouped.atom(0));
  EXPECT_EQ(std::vector<FormulaId>(waiting.begin(), waiting.end()),
            (std::vector<FormulaId>{low, high}));
  grouped.undo(1);
  const auto left = components.facts_without_node(grouped.atom(0));
  EXPECT_EQ(std::vector<FormulaId>(left.begin(), left.end()),
            (std::vector<FormulaId>{low}));
}

// The counts of points are taken back where facts or components go.
TEST(FactComponents, CountsFallWithTheFacts) {
  Grouped grouped;
  FactComponents& components = grouped.components();
  grouped.add(grouped.formula("u0 + u1 >= 2"));
  grouped.add(grouped.formula("u2 + u3 >= 2"));
  const auto root_of = [&](uint32_t i) {
    return components.root(components.node_of(grouped.atom(i)));
  };
  components.holding(root_of(0), 1) = 1;
  components.holding(root_of(2), 1) = 1;
  grouped.add(grouped.formula("u1 <= u2"));
  EXPECT_EQ(root_of(0), root_of(3));
  // The first facts of the joined component that are known to hold.
  const uint32_t joined = components.holding(root_of(0), 1);
  EXPECT_LE(joined, 2u);
  components.holding(root_of(0), 1) = 3;
  grouped.undo(2);
  EXPECT_NE(root_of(0), root_of(3));
  EXPECT_LE(components.holding(root_of(0), 1), 1u);
  EXPECT_LE(components.holding(root_of(2), 1), 1u);
}

}  // namespace
}  // namespace proviso
