// Tests made from the rows of the rewrite rules, the canonical form's, those of
// the solver's forms and those of the search: the identity holds at every small
// point and Z3 knows no other.  Of the first two, the rule fires where its row
// says and is quiet where it says, and all tables know what one of them says;
// tests/sym/rules_test.cc has that of the search's rules.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "solver/domain.h"
#include "solver/forms/floors.h"
#include "solver/forms/formula_pool.h"
#include "solver/forms/functions.h"
#include "solver/lower.h"
#include "solver/normal/functions.h"
#include "solver/normal/quotients.h"
#include "solver/strategies/proof_strategies.h"
#include "solver/z3_backend.h"
#include "sym/canonical.h"
#include "sym/canonicalizer.h"
#include "sym/rewrite_rule.h"
#include "sym/rules.h"
#include "tests/solver/support.h"

namespace proviso {
using namespace internal;
namespace {

struct Table {
  const char* name;
  std::vector<RewriteRuleCount> (*counts)();
};
constexpr Table kTables[] = {
    {"canonical form", internal::canonical_rule_counts},
    {"floors by numbers", number_division_rule_counts},
    {"quotients under facts", quotient_rule_counts},
    {"powers and bits by numbers", number_function_rule_counts},
    {"powers under facts", function_rule_counts},
    {"p >= 0 in forms", nonneg_form_rule_counts},
    {"p == 0 in forms", zero_form_rule_counts},
    {"And and Or in forms", junction_form_rule_counts},
};
constexpr Table kSearchTable = {"search", search_rule_counts};

std::vector<Table> tables_with_statements() {
  std::vector<Table> all(std::begin(kTables), std::end(kTables));
  all.push_back(kSearchTable);
  return all;
}

uint64_t count_of(const Table& table, const std::string& rule) {
  for (const auto& [row, count] : table.counts()) {
    if (row.name == rule) return count;
  }
  ADD_FAILURE() << "no rule " << rule;
  return 0;
}

// "x in [0, 3]; x < y" as a context.
class Given {
 public:
  explicit Given(const std::string& text)
      : context(pool, testing::native_only()) {
    for (const std::string& part : testing::split(text, ';')) {
      if (part.find(" in [") == std::string::npos) {
        context.assume(parse(pool, part));
        continue;
      }
      const RangeDeclaration r = parse_range(part);
      context.declare(parse(pool, r.name), Interval::of(r.lower, r.upper));
    }
  }
  Expr p(const std::string& text) { return parse(pool, text); }

  ExprPool pool;
  Context context;
};

Expr condition_of(ExprPool& pool, const RewriteRule& rule) {
  return *rule.condition == '\0' ? pool.boolean(true)
                                 : parse(pool, rule.condition);
}

// Where `before` and `after` differ, of all points with values in [-4, 4] at
// which the condition holds and `before` is defined.
std::string difference(const RewriteRule& rule, size_t& points) {
  constexpr int kEnd = 4;
  ExprPool pool;
  const Expr before = parse(pool, rule.before), after = parse(pool, rule.after);
  const Expr condition = condition_of(pool, rule);
  std::vector<Expr> symbols = free_symbols(eq(before, after));
  for (Expr s : free_symbols(condition)) {
    if (std::find(symbols.begin(), symbols.end(), s) == symbols.end()) {
      symbols.push_back(s);
    }
  }
  std::vector<int> values(symbols.size(), -kEnd);
  while (true) {
    Assignment point;
    for (size_t i = 0; i < symbols.size(); ++i) {
      point.set(symbols[i], Int(values[i]));
    }
    const Evaluation x = evaluate(before, point);
    if (x.defined() && evaluate(condition, point).is_true()) {
      ++points;
      const Evaluation y = evaluate(after, point);
      if (!y.defined() || *x.value != *y.value) return point.to_string();
    }
    size_t i = 0;
    while (i < values.size() && values[i] == kEnd) values[i++] = -kEnd;
    if (i == values.size()) return "";
    ++values[i];
  }
}

TEST(RewriteRules, AreTrueAtEverySmallPoint) {
  for (const Table& table : tables_with_statements()) {
    for (const auto& [rule, count] : table.counts()) {
      size_t points = 0;
      EXPECT_EQ(difference(rule, points), "") << table.name << " " << rule.name;
      EXPECT_GE(points, 5u) << table.name << " " << rule.name;
    }
  }
}

TEST(RewriteRules, AreNotRefutedByZ3) {
  if (!Z3Backend::is_built()) GTEST_SKIP() << "built without Z3";
  size_t proved = 0;
  std::set<std::string> seen;
  for (const Table& table : tables_with_statements()) {
    for (const auto& [rule, count] : table.counts()) {
      const std::string statement =
          std::string(rule.before) + " " + rule.after + " " + rule.condition;
      if (!seen.insert(statement).second) continue;
      ExprPool pool;
      Z3Backend z3;
      const Expr before = parse(pool, rule.before);
      const Expr after = parse(pool, rule.after);
      const Expr condition = condition_of(pool, rule);
      // a fact is defined, and with it `before`
      const auto result = z3.implied({condition, eq(before, before)},
                                     eq(before, after), false, 200000);
      EXPECT_NE(result.verdict, Z3Backend::Result::kNo) << rule.name;
      proved += result.verdict == Z3Backend::Result::kYes;
      if (!result.counterexample) continue;
      const Assignment& point = *result.counterexample;
      const Evaluation x = evaluate(before, point);
      if (!x.defined() || !evaluate(condition, point).is_true()) continue;
      const Evaluation y = evaluate(after, point);
      EXPECT_TRUE(y.defined() && *x.value == *y.value)
          << rule.name << " at " << point.to_string();
    }
  }
  std::cout << proved << " of " << seen.size() << " proved by Z3\n";
  EXPECT_GT(2 * proved, seen.size());
}

// Simplified by the simplifier, or asked about in a context: a value that it
// may have, and one for which only a proof is left.  A condition is lowered
// alone: proofs make further ones of it.
void use(const Table& table, Given& given, const char* text) {
  const Expr e = given.p(text);
  if (table.counts == internal::canonical_rule_counts) {
    given.context.canonical(e);
  } else if (e.is_bool()) {
    Forms::of(given.pool).lower.condition(e);
  } else {
    given.context.ask_quick(eq(e, given.p("any")));
    given.context.ask_quick(eq(e, given.pool.integer(777)));
  }
}

TEST(RewriteRules, FireWhereTheirRowsSay) {
  for (const Table& table : kTables) {
    for (const auto& [rule, count] : table.counts()) {
      Given given(rule.given);
      const uint64_t before = count_of(table, rule.name);
      use(table, given, rule.fires);
      EXPECT_GT(count_of(table, rule.name), before)
          << table.name << " " << rule.name << " on " << rule.fires;
    }
  }
}

TEST(RewriteRules, AreQuietWhereTheirConditionFails) {
  for (const Table& table : kTables) {
    for (const auto& [rule, count] : table.counts()) {
      Given given(rule.given);
      const uint64_t before = count_of(table, rule.name);
      use(table, given, rule.quiet);
      EXPECT_EQ(count_of(table, rule.name), before)
          << table.name << " " << rule.name << " on " << rule.quiet;
    }
  }
}

// The function of a row does what the row says: the canonical form of the
// example has its value at every small point at which the given facts hold.
// (The solver cannot be asked: it simplifies by the same rule.)
TEST(RewriteRules, OfTheCanonicalFormKeepTheValueOfTheirExamples) {
  constexpr int kEnd = 13;
  for (const auto& [rule, count] : kTables[0].counts()) {
    Given given(rule.given);
    const Expr before = given.p(rule.fires);
    const Expr after = given.context.canonical(before);
    std::vector<Expr> symbols = free_symbols(before);
    std::vector<Expr> facts;
    for (const Fact& fact : given.context.facts()) {
      facts.push_back(fact.condition);
      for (Expr x : free_symbols(fact.condition)) {
        if (std::find(symbols.begin(), symbols.end(), x) == symbols.end()) {
          symbols.push_back(x);
        }
      }
    }
    std::mt19937 random(11);
    size_t points = 0;
    for (int i = 0; i < 4000; ++i) {
      Assignment point;
      for (Expr s : symbols) {
        point.set(s, Int(static_cast<int>(random() % (2 * kEnd)) - kEnd));
      }
      const bool holds = std::all_of(
          facts.begin(), facts.end(),
          [&](Expr fact) { return evaluate(fact, point).is_true(); });
      const Evaluation x = evaluate(before, point);
      if (!holds || !x.defined()) continue;
      ++points;
      const Evaluation y = evaluate(after, point);
      ASSERT_TRUE(y.defined()) << rule.name << " at " << point.to_string();
      ASSERT_EQ(*x.value, *y.value) << rule.name << ": " << before << " -> "
                                    << after << " at " << point.to_string();
    }
    EXPECT_GE(points, 20u) << rule.name;
  }
}

// What quotients by symbols ask for: proofs, and ratios that the equalities of
// products determine.
class TestProver final : public RemainderProver {
 public:
  TestProver(Domain& domain, ProofStrategies& by)
      : RemainderProver(domain, by.combination), by_(by) {}
  std::optional<Int> known_quotient(const Poly& num, const Poly& den,
                                    Reason& why) override {
    for (int k = 0; k < 4; ++k) {
      const auto rest = by_.reduction.remainder(num - den * k, why);
      if (rest && rest->is_constant() && rest->constant.is_zero()) return k;
    }
    return std::nullopt;
  }

 private:
  ProofStrategies& by_;
};

// Facts in a domain of their own, without a context's memory.
class GivenDomain {
 public:
  explicit GivenDomain(const std::string& text)
      : forms_(Forms::of(pool)), domain(forms_.pool, reasons_) {
    for (const std::string& part : testing::split(text, ';')) {
      if (part.find(" in [") == std::string::npos) {
        assume(p(part));
        continue;
      }
      const RangeDeclaration r = parse_range(part);
      if (r.lower)
        assume(pool.make(Op::kLe, {pool.integer(*r.lower), p(r.name)}));
      if (r.upper)
        assume(pool.make(Op::kLe, {p(r.name), pool.integer(*r.upper)}));
    }
  }
  Expr p(const std::string& text) { return parse(pool, text); }
  Poly form(Expr e) {
    domain.set_quotient_prover(&prover_);
    Poly p = domain.normal(forms_.lower.integer(e)).poly;
    domain.set_quotient_prover(nullptr);
    return p;
  }
  // What a form is where a point's values are all assumed.
  Poly at(const Poly& form, const std::vector<Expr>& symbols,
          const std::vector<Int>& values) {
    const Domain::Mark before = domain.mark();
    for (size_t i = 0; i < symbols.size(); ++i) {
      Poly is_value = forms_.lower.integer(symbols[i]);
      is_value.constant -= values[i];
      domain.assume(forms_.pool.formulas.eq(is_value), 0);
    }
    EXPECT_FALSE(domain.conflict());
    Poly value = domain.normal(form).poly;
    domain.undo(before);
    return value;
  }
  Interval range(Expr symbol) {
    return domain.range(forms_.lower.integer(symbol)).span;
  }

  ExprPool pool;
  std::vector<Expr> facts;

 private:
  void assume(Expr fact) {
    facts.push_back(fact);
    domain.assume(forms_.lower.condition(fact), reasons_.leaf(leaves_++));
  }

  Forms& forms_;
  ReasonArena reasons_;
  uint32_t leaves_ = 0;

 public:
  Domain domain;

 private:
  ProofStrategies by_{domain};
  TestProver prover_{domain, by_};
};

// The same of the solver's tables: the normal form that the rule gives the
// example is the example's value at points at which the facts hold, once the
// symbols are numbers.
void keeps_the_value_of_its_example(const Table& table,
                                    const RewriteRule& rule) {
  constexpr int kEnd = 13;
  SCOPED_TRACE(std::string(table.name) + ": " + rule.name);
  GivenDomain given(rule.given);
  const uint64_t before = count_of(table, rule.name);
  Expr e = given.p(rule.fires);
  if (e.is_bool()) {
    e = given.pool.make(Op::kWhere,
                        {e, given.pool.integer(1), given.pool.integer(0)});
  }
  const Poly form = given.form(e);
  EXPECT_GT(count_of(table, rule.name), before);
  std::vector<Expr> symbols = free_symbols(e);
  for (Expr fact : given.facts) {
    for (Expr x : free_symbols(fact)) {
      if (std::find(symbols.begin(), symbols.end(), x) == symbols.end()) {
        symbols.push_back(x);
      }
    }
  }
  std::mt19937 random(11);
  size_t points = 0;
  for (int i = 0; i < 6000; ++i) {
    const int end = i % 2 == 0 ? kEnd : 2;  // small ones meet more equalities
    Assignment point;
    std::vector<Int> values;
    for (Expr s : symbols) {
      const Interval r = given.range(s);
      const Int low = r.lower() ? *r.lower() : Int(-end);
      const Int high = r.upper() ? *r.upper() : low + 2 * end;
      const Int width = high - low + 1;
      values.push_back(
          low + floor_mod(Int(static_cast<int>(random() % 4096)), width));
      point.set(s, values.back());
    }
    const bool holds =
        std::all_of(given.facts.begin(), given.facts.end(),
                    [&](Expr fact) { return evaluate(fact, point).is_true(); });
    const Evaluation x = evaluate(e, point);
    if (!holds || !x.defined()) continue;
    ++points;
    const Poly value = given.at(form, symbols, values);
    ASSERT_TRUE(value.is_constant()) << " at " << point.to_string();
    ASSERT_EQ(std::get<Int>(*x.value), value.constant)
        << e << " at " << point.to_string();
  }
  EXPECT_GE(points, 20u);
}

TEST(RewriteRules, OfTheSolverKeepTheValueOfTheirExamples) {
  for (const Table& table : kTables) {
    if (table.counts == internal::canonical_rule_counts) continue;
    for (const auto& [rule, count] : table.counts()) {
      keeps_the_value_of_its_example(table, rule);
    }
  }
}

// What one of them says, the solver decides and simplify() shows: the rules
// stand in several tables, for several kinds of polynomials, and know the same.
TEST(RewriteRules, AreKnownToSolverAndSimplifierAlike) {
  for (const Table& table : kTables) {
    for (const auto& [rule, count] : table.counts()) {
      Given given(rule.given);
      const Expr e = given.p(rule.fires);
      if (e.is_float()) continue;  // the solver's forms are of integers
      if (e.is_bool()) {
        const Expr s = given.context.simplify(e);
        EXPECT_EQ(given.context.ask_quick(eq(e, s)), Verdict::kYes)
            << table.name << " " << rule.name << ": " << e << ", " << s;
        continue;
      }
      given.context.assume(eq(e, given.p("any")));  // so that it is defined
      const Expr s = given.context.simplify(e);
      EXPECT_EQ(given.context.ask_quick(eq(e, s)), Verdict::kYes)
          << table.name << " " << rule.name << ": " << e << ", " << s;
      const Expr known = given.context.simplify(e - s);
      EXPECT_EQ(known, given.pool.integer(0)) << table.name << " " << rule.name;
    }
  }
}

// The table of floors is that of remainders as well: each rule of floors,
// read of the remainder of the same division, keeps its value.
TEST(RewriteRules, KeepTheRemainderOfTheSameDivision) {
  constexpr int kEnd = 9;
  size_t points = 0;
  for (const Table& table : kTables) {
    for (const auto& [rule, count] : table.counts()) {
      ExprPool pool;
      const Expr quotient = parse(pool, rule.fires);
      if (!quotient.is(Op::kFloorDiv)) continue;
      const Expr remainder = pool.make(Op::kMod, quotient.args());
      const Expr simple = canonical(remainder);
      const std::vector<Expr> symbols = free_symbols(remainder);
      std::mt19937 random(7);
      for (int i = 0; i < 300; ++i) {
        Assignment point;
        for (Expr s : symbols) {
          point.set(s, Int(static_cast<int>(random() % (2 * kEnd)) - kEnd));
        }
        const Evaluation before = evaluate(remainder, point);
        if (!before.defined()) continue;
        ++points;
        const Evaluation after = evaluate(simple, point);
        ASSERT_TRUE(after.defined()) << remainder << " -> " << simple;
        ASSERT_EQ(*before.value, *after.value)
            << remainder << " -> " << simple << " at " << point.to_string();
      }
    }
  }
  EXPECT_GT(points, 5000u);
}

TEST(RewriteRules, HaveNamesOfTheirOwn) {
  for (const Table& table : kTables) {
    std::set<std::string> names;
    for (const auto& [rule, count] : table.counts()) {
      EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    }
  }
}

}  // namespace
}  // namespace proviso
