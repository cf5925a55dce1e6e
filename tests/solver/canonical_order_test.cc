#include "solver/canonical_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <string>

#include "sym/parse.h"
#include "sym/print.h"

namespace proviso {
namespace {
using namespace internal;

const std::vector<std::string> kNames = {"p", "b", "c", "d"};
const std::vector<std::string> kFacts = {"p < b", "b*c <= p + 40", "c % 4 == 0",
                                         "Max(p, d) >= d//3", "d != 2"};
const std::string kQuestion = "p*c < b*b + d";

// The facts as reordered, with symbols named back.
std::string assumed_text(const std::vector<size_t>& symbols,
                         const std::vector<size_t>& facts,
                         const std::map<char, char>& names, FactOrder order) {
  auto renamed = [&](std::string text, bool back) {
    for (char& c : text) {
      for (const auto& [from, to] : names) {
        if (c != (back ? to : from)) continue;
        c = back ? from : to;
        break;
      }
    }
    return text;
  };
  ExprPool pool, fresh;
  for (size_t i : symbols) {
    pool.symbol(renamed(kNames[i], false), SymbolKind::kUnbackedInt);
  }
  std::vector<Expr> conditions;
  for (size_t i : facts) {
    conditions.push_back(parse(pool, renamed(kFacts[i], false)));
  }
  Reordered r =
      CanonicalOrders(conditions, parse(pool, renamed(kQuestion, false)))
          .rebuild(order, fresh);
  std::string text;
  for (size_t i = 0; i < r.conditions.size(); ++i) {
    EXPECT_EQ(to_string(r.conditions[i]), to_string(conditions[r.from[i]]));
    text += renamed(to_string(r.conditions[i]), true) + "; ";
  }
  for (Expr s : fresh.symbols()) text += renamed(to_string(s), true) + " ";
  return text + "|- " + renamed(to_string(r.question), true);
}

TEST(CanonicalOrder, ForgetsOrderAndNames) {
  std::vector<size_t> symbols(kNames.size()), facts(kFacts.size());
  std::iota(symbols.begin(), symbols.end(), size_t{0});
  std::iota(facts.begin(), facts.end(), size_t{0});
  const std::map<char, char> same,
      other = {{'p', 'w'}, {'b', 'z'}, {'c', 'y'}, {'d', 'v'}};
  std::mt19937 random(5);
  for (const FactOrder order : {FactOrder{0}, {1}, {2}, {2, true}}) {
    const std::string first = assumed_text(symbols, facts, same, order);
    for (int i = 0; i < 20; ++i) {
      std::shuffle(symbols.begin(), symbols.end(), random);
      std::shuffle(facts.begin(), facts.end(), random);
      EXPECT_EQ(assumed_text(symbols, facts, same, order), first);
    }
    EXPECT_EQ(assumed_text(symbols, facts, other, order), first);
  }
}

// Facts come in the order they come in with their constants worked out.
TEST(CanonicalOrder, SeesConstantsWorkedOut) {
  std::vector<std::vector<uint32_t>> orders;
  for (const std::vector<std::string>& facts :
       {std::vector<std::string>{"Eq(a*b, 7)", "Eq(a % 5, 1)", "a*a <= 40 + b"},
        {"Eq(a*b, 3*2 + 1)", "Eq(a % (10//2), 2 - 1)", "a*a <= 2**3*5 + b"}}) {
    for (unsigned number = 0; number < 6; ++number) {
      ExprPool pool, fresh;
      for (const char* name : {"a", "b"}) {
        pool.symbol(name, SymbolKind::kUnbackedInt);
      }
      std::vector<Expr> conditions;
      for (const std::string& text : facts) {
        conditions.push_back(parse(pool, text));
      }
      orders.push_back(CanonicalOrders(conditions, parse(pool, "a < b"))
                           .rebuild({number}, fresh)
                           .from);
    }
  }
  ASSERT_EQ(orders.size(), 12u);
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(orders[i], orders[i + 6]) << i;
}

TEST(CanonicalOrder, BackwardsDiffers) {
  std::vector<size_t> symbols = {0, 1, 2, 3}, facts = {0, 1, 2, 3, 4};
  EXPECT_NE(assumed_text(symbols, facts, {}, {0}),
            assumed_text(symbols, facts, {}, {1}));
}

TEST(CanonicalOrder, PutsBoundsFirstOrLast) {
  ExprPool pool, fresh;
  for (const char* name : {"a", "b"}) {
    pool.symbol(name, SymbolKind::kUnbackedInt);
  }
  const std::vector<Expr> conditions = {
      parse(pool, "a >= 2"), parse(pool, "Eq(a*b, 12)"), parse(pool, "b < 9")};
  for (unsigned number = 0; number < 4; ++number) {
    const Expr question = parse(pool, "a < b");
    EXPECT_EQ(
        CanonicalOrders(conditions, question).rebuild({number}, fresh).from[2],
        1u);
    EXPECT_EQ(CanonicalOrders(conditions, question)
                  .rebuild({number, true}, fresh)
                  .from[0],
              1u);
  }
}

TEST(CanonicalOrder, TakesDeepExpressions) {
  ExprPool pool, fresh;
  Expr e = pool.symbol("u0", SymbolKind::kUnbackedInt);
  for (int i = 0; i < 50000; ++i) e = pool.make(Op::kAbs, {e});
  Reordered r = CanonicalOrders({}, eq(e, 0)).rebuild({0}, fresh);
  EXPECT_EQ(fresh.size(), pool.size());
  EXPECT_TRUE(r.question.is(Op::kEq));
}

}  // namespace
}  // namespace proviso
