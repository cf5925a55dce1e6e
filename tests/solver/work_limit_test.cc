// No text hangs: whatever is asked, a call ends after a bounded amount of work,
// memory and stack.  Families of expressions that blow up somewhere (powers,
// connectives, big integers, floors, extrema, chains), each doubled until its
// text has 10 KB.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "solver/symbolic_bounds.h"
#include "sym/budget.h"
#include "sym/canonical.h"
#include "sym/cost.h"
#include "sym/evaluate.h"
#include "sym/polynomial.h"
#include "sym/translate.h"
#include "tests/bombs/bombs.h"
#include "tests/solver/support.h"
#include "tests/support/small_stack.h"

namespace proviso {
namespace {

using std::to_string;
using testing::sym;

constexpr size_t kStack = size_t{256} << 10;  // the most that any call uses

// All that one may do with a problem.
void use(const testing::Problem& problem) {
  ExprPool pool;
  Context context(pool, testing::native_only());
  for (const std::string& fact : problem.facts) {
    context.assume(parse(pool, fact));
  }
  const Expr question = parse(pool, problem.question);
  canonical(question);
  context.ask(question);
  context.simplify(question);
  context.substitute(question);
  for (Expr side : question.args()) {
    if (!side.is_int()) continue;
    context.bounds(side);
    context.multiple_of(side);
    context.values(side);
  }
  proviso::to_string(question);
  to_srepr(question);
}

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

class Bombs : public ::testing::TestWithParam<testing::Family> {};

// Each call's work is limited, and the machine's time and stack follow the
// work: the whole of `use` is some ten calls and one for each fact.
TEST_P(Bombs, TakeBoundedWorkTimeAndStack) {
  constexpr size_t kLongest = 10'000;
  constexpr uint64_t kCall = 500'000;  // SolverOptions::work_limit, and what
                                       // simplify() and lowering have beside
  constexpr double kSecondsPerUnit = 1e-6;  // ten times what it is
  for (int n = 6; n <= 192; n *= 2) {
    const testing::Problem problem = GetParam().make(n);
    if (problem.length() > kLongest) break;
    uint64_t units = 0;
    double seconds = 0;
    const size_t stack = testing::stack_used_by([&] {
      Budget all(Budget::kUnlimited);
      const uint64_t before = Budget::units_left();
      seconds = cpu_seconds();
      try {
        use(problem);
      } catch (const Error&) {  // one that names the limit
      }
      seconds = cpu_seconds() - seconds;
      units = before - Budget::units_left();
    });
    EXPECT_LE(units, (12 + problem.facts.size()) * kCall) << n;
    EXPECT_LE(seconds, 0.05 + static_cast<double>(units) * kSecondsPerUnit)
        << n;
    EXPECT_LE(stack, kStack) << n;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Bombs, ::testing::ValuesIn(testing::bombs()),
                         [](const auto& info) {
                           return testing::test_name(info.param.name);
                         });

// --- depth and sharing, which text cannot have

Expr deep(ExprPool& pool, int levels) {
  Expr e = pool.symbol("s0", SymbolKind::kBackedSize);
  for (int i = 0; i < levels; ++i) e = floor_div(e + 1, pool.integer(2));
  return e;
}

TEST(WorkLimit, DepthIsNoConcernOfTheStack) {
  const size_t stack = testing::stack_used_by([] {
    ExprPool pool;
    Context context(pool, testing::native_only());
    Expr e = deep(pool, 4096);
    context.assume(ge(e, 5));
    context.ask(ge(e, 3));
    context.bounds(e);
    context.simplify(e);
    canonical(e);
    Assignment point;
    point.set(*pool.find_symbol("s0"), Int(7));
    EXPECT_EQ(std::get<Int>(*evaluate(e, point).value), Int(1));
    EXPECT_GT(to_string(e).size(), 4096u);
    EXPECT_GT(to_srepr(e).size(), 4096u);
    EXPECT_GT(to_python(e).size(), 4096u);
    EXPECT_GT(to_smtlib(e).size(), 4096u);
    context.to_smtlib(ge(e, 3));
  });
  EXPECT_LE(stack, kStack);
}

// All that one may do with an expression.
void call_all(Context& context, Expr e) {
  ExprPool& pool = context.pool();
  const Expr claim = e.is_bool() ? e : ge(e, 0);
  const Expr s0 = *pool.find_symbol("s0");
  context.ask_quick(claim);
  context.ask(claim);
  context.facts_used(claim);
  context.push();
  context.assume(claim);
  context.ask_quick(ge(s0, 7));
  context.ask(ge(s0, 7));
  for (Expr x : {e, s0}) {
    context.simplify(x);
    context.canonical(x);
    context.substitute(x);
    canonical(x);
    if (!x.is_int()) continue;
    context.bounds(x);
    context.bounds_quick(x);
    context.strided(x);
    context.multiple_of(x);
    context.values(x);
    const Expr over[] = {*pool.find_symbol("s1")};
    (void)upper_bound(context, x, over);
  }
  const std::function<std::string()> writers[] = {
      [&] { return to_string(e); }, [&] { return to_srepr(e); },
      [&] { return to_python(e); }, [&] { return to_smtlib(e); },
      [&] { return context.to_smtlib(claim); }};
  for (const auto& write : writers) {
    try {
      write();
    } catch (const Error&) {  // not every operator has a form, or a short one
    }
  }
  Assignment point;
  for (Expr s : pool.symbols()) point.set(s, Int(7));
  evaluate(e, point);
  (void)free_symbols(e);
  (void)cost(e);
  (void)substitute(e, {{s0, pool.integer(5)}});
  ExprPool other;
  (void)translate(claim, other);
  context.pop();
}

// An operator applied to itself over and over: its chain stands at `place`
// among its arguments, or at all of them.
std::optional<Expr> chain(ExprPool& pool, Op op, size_t place, int levels) {
  const Expr s0 = pool.symbol("s0", SymbolKind::kBackedSize);
  const Expr s1 = pool.symbol("s1", SymbolKind::kBackedSize);
  const OpInfo& row = info(op);
  const size_t arity = std::max(row.min_args, row.max_args < 0 ? 2 : 0);
  if (place > arity || arity == 0 || (place == arity && arity == 1)) return {};
  const bool of_conditions =
      row.args == ArgClass::kBoolean ||
      (row.result == ResultClass::kBool && row.args == ArgClass::kSame) ||
      (row.args == ArgClass::kCondition && place == 0);
  Expr e = of_conditions ? lt(s0, 5) : s0;
  try {
    for (int i = 0; i < levels; ++i) {
      std::vector<Expr> args;
      for (size_t k = 0; k < arity; ++k) {
        const bool is_condition = row.args == ArgClass::kCondition
                                      ? k == 0 || of_conditions
                                      : of_conditions;
        args.push_back(k == place || place == arity ? e
                       : is_condition               ? lt(s1, 6 + i)
                                                    : s1 + (2 + i));
      }
      e = pool.make(op, args);
    }
    return e;
  } catch (const Error&) {  // it does not take what it gives
    return std::nullopt;
  }
}

TEST(WorkLimit, ChainsOfEachOperatorAreNoConcernOfTheStack) {
  constexpr uint64_t kCall = 1'000'000;
  int chains = 0;
  for (size_t op = 0; op < kOpCount; ++op) {
    for (size_t place = 0; place < 4; ++place) {
      uint64_t units = 0;
      std::string name;
      const size_t stack = testing::stack_used_by([&] {
        ExprPool pool;
        const auto e = chain(pool, static_cast<Op>(op), place, 2500);
        if (!e) return;
        ++chains;
        name = std::string(info(e->op()).name) + " at " + std::to_string(place);
        Budget all(Budget::kUnlimited);
        Context context(pool, testing::native_only());
        EXPECT_NO_THROW(call_all(context, *e)) << name;
        units = Budget::kUnlimited - Budget::units_left();
      });
      EXPECT_LE(stack, kStack) << name;
      EXPECT_LE(units, 20 * kCall) << name;
    }
  }
  EXPECT_GT(chains, 40);
}

TEST(WorkLimit, DeepSumsAreNoConcernOfTheStack) {
  const size_t stack = testing::stack_used_by([] {
    ExprPool pool;
    const Expr u = pool.symbol("u0", SymbolKind::kUnbackedInt);
    Expr e = u;
    for (int i = 0; i < 4096; ++i)
      e = pool.make(i % 2 ? Op::kMul : Op::kAdd, {e, pool.integer(i % 3 + 1)});
    EXPECT_EQ(to_polynomial(e).terms().size(), 2u);
  });
  EXPECT_LE(stack, size_t{64} << 10);
}

// What replaces an atom is made of atoms that are replaced, around and around.
TEST(WorkLimit, CyclicDefinitionsAreNoConcernOfTheStack) {
  const auto u = [](int i, int n) { return sym('u', i % n); };
  using Fact = std::string (*)(const std::string&, const std::string&,
                               const std::string&);
  struct Cycle {
    int symbols, first, second;
    Fact fact;
  };
  const Cycle cycles[] = {
      {306, 11, 11,
       [](const auto& a, const auto& b, const auto& c) {
         return "Eq(" + a + ", " + b + "//3 + " + c + "//17)";
       }},
      {200, 3, 5,
       [](const auto& a, const auto& b, const auto& c) {
         return "Eq(" + a + ", (" + b + " + " + c + ")//6)";
       }},
      {192, 1, 2,
       [](const auto& a, const auto& b, const auto& c) {
         return "Eq(" + a + ", " + b + "*" + c + ")";
       }},
      {129, 12, 2, [](const auto& a, const auto& b, const auto& c) {
         return "Eq(" + a + ", " + b + "//9 + " + c + "//4)";
       }}};
  for (const auto& [symbols, first, second, fact] : cycles) {
    const size_t stack = testing::stack_used_by([&] {
      ExprPool pool;
      Context context(pool, testing::native_only());
      for (int i = 0; i < symbols; ++i)
        context.assume(parse(pool, fact(u(i, symbols), u(i + first, symbols),
                                        u(i + second, symbols))));
      context.bounds(parse(pool, "Where(Eq(u0, u1), 1, 0)"));
      context.ask(parse(pool, "u0*u1 >= u2//3"));
      context.simplify(parse(pool, "(u0 + u1*u2)//3"));
    });
    EXPECT_LE(stack, kStack) << symbols;
  }
}

TEST(WorkLimit, ManySolvedSymbolsAreNoConcernOfTheStack) {
  const size_t stack = testing::stack_used_by([] {
    ExprPool pool;
    Context context(pool, testing::native_only());
    for (int i = 0; i < 2000; ++i) {
      context.assume(parse(pool, "Eq(" + sym('s', i) + ", (" + sym('s', i + 1) +
                                     "*" + sym('s', i + 1) + ")//3 + 1)"));
    }
    context.ask(parse(pool, "s0 >= 3"));
    context.bounds(parse(pool, "s0"));
  });
  EXPECT_LE(stack, kStack);
}

// e, e + e, (e + e) * (e + e), ...: each level is one node, and twice the text.
Expr shared(ExprPool& pool, int levels) {
  Expr e = pool.symbol("u0", SymbolKind::kUnbackedInt);
  for (int i = 0; i < levels; ++i) {
    e = i % 2 ? max(e, mod(e, pool.integer(i + 2))) : floor_div(e * e, e + 1);
  }
  return e;
}

TEST(WorkLimit, WhatIsSharedIsLookedAtOnce) {
  ExprPool pool;
  Context context(pool, testing::native_only());
  Expr e = shared(pool, 200);
  const double before = cpu_seconds();
  context.assume(ge(e, 1));
  context.ask(ge(e, 3));
  context.bounds(e);
  canonical(e);
  context.simplify(e);
  Assignment point;
  point.set(*pool.find_symbol("u0"), Int(7));
  EXPECT_TRUE(evaluate(e, point).defined());
  EXPECT_EQ(free_symbols(e).size(), 1u);
  EXPECT_LE(to_string(e).size(), 2 * kMaxTextLength);
  EXPECT_LE(to_string(e, 1000).size(), 4000u);
  EXPECT_THROW(to_python(e), Error);
  EXPECT_THROW(to_srepr(e), Error);
  EXPECT_LE(cpu_seconds() - before, 2.0);
}

// --- what happens at the limit

SolverOptions little_work() {
  SolverOptions options = testing::native_only();
  options.work_limit = 400;
  return options;
}

TEST(WorkLimit, AnUnknownSaysSo) {
  ExprPool pool;
  Context context(pool, little_work());
  for (int i = 0; i < 30; ++i) {
    context.assume(parse(pool, sym('s', i) + "*" + sym('s', i + 1) +
                                   " >= " + sym('s', i + 2) + "**2"));
  }
  const Expr question = parse(pool, "s0*s3 > s5*s7 + 2");
  const Answer a = context.ask(question);
  EXPECT_EQ(a.verdict, Verdict::kUnknown);
  EXPECT_NE(a.reason.find("work_limit"), std::string::npos) << a.reason;
  EXPECT_EQ(context.ask(question).reason, a.reason);  // and says so again
}

// A fact whose consequences take too much is still a fact, and what was known
// before is known.
TEST(WorkLimit, NoContextIsHalfChanged) {
  ExprPool pool;
  Context context(pool, little_work());
  context.assume(parse(pool, "s0 >= 7"));
  std::string heavy = "s1";
  for (int i = 1; i < 60; ++i) heavy += "*" + sym('s', i) + " + " + sym('u', i);
  const Expr fact = parse(pool, heavy + " >= s0*u3");
  context.assume(fact);
  EXPECT_EQ(context.ask(fact).verdict, Verdict::kYes);
  EXPECT_EQ(context.ask(logical_not(fact)).verdict, Verdict::kNo);
  EXPECT_EQ(context.ask(parse(pool, "s0 >= 5")).verdict, Verdict::kYes);
  EXPECT_EQ(context.facts().size(), 2u);
}

// Wherever a caller's budget ends, the fact is there, and what was known is.
TEST(WorkLimit, NoContextIsHalfChangedByACallersBudget) {
  for (uint64_t units = 0; units < 20'000; units = units * 2 + 1) {
    ExprPool pool;
    Context context(pool, testing::native_only());
    context.assume(parse(pool, "s0 >= 7"));
    const Expr fact =
        parse(pool, "Eq(Mod(s0*s1 + u0, 8), 3) & (Max(s1, u1)*u0 <= s0)");
    {
      const Budget budget(units);
      context.assume(fact);
    }
    EXPECT_EQ(context.facts().size(), 2u) << units;
    EXPECT_FALSE(context.contradiction()) << units;
    EXPECT_NE(context.ask(fact).verdict, Verdict::kNo) << units;
    EXPECT_EQ(context.ask(parse(pool, "s0 >= 5")).verdict, Verdict::kYes);
    context.assume(parse(pool, "s0 <= 3"));
    EXPECT_TRUE(context.contradiction()) << units;
  }
}

TEST(WorkLimit, ABudgetBindsWhatIsInside) {
  ExprPool pool;
  Context context(pool, testing::native_only());
  context.assume(parse(pool, "s0 >= 7"));
  const Expr question = parse(pool, "s0*s0 >= 49");
  {
    Budget none(0);
    EXPECT_EQ(context.ask(question).verdict, Verdict::kUnknown);
    EXPECT_EQ(Budget::units_left(), 0u);
  }
  EXPECT_EQ(Budget::units_left(), Budget::kUnlimited);
  EXPECT_EQ(context.ask(question).verdict, Verdict::kYes);
}

TEST(Budget, NestsAndAddsUp) {
  Budget outer(100);
  Budget::spend(30);
  {
    Budget inner(50);
    Budget::spend(40);
    EXPECT_EQ(Budget::units_left(), 10u);
    EXPECT_THROW(Budget::spend(11), OutOfBudget);
    EXPECT_THROW(Budget::check(), OutOfBudget);
  }
  EXPECT_EQ(Budget::units_left(), 19u);
  {
    Budget inner(1000);
    EXPECT_EQ(Budget::units_left(), 19u);
  }
  EXPECT_THROW(Budget::spend(20), OutOfBudget);
}

TEST(Budget, WhatAnInterruptionLeavesIsNotSpent) {
  std::atomic<bool> is_interrupted{false};
  Budget outer(1'000'000);
  {
    Budget inner(500'000, &is_interrupted);
    Budget::spend(10'000);
    is_interrupted = true;
    EXPECT_THROW(
        {
          for (int i = 0; i < 20; ++i) Budget::spend(1'000);
        },
        OutOfBudget);
    EXPECT_EQ(Budget::units_left(), 0u);
    EXPECT_THROW(Budget::check(), OutOfBudget);
  }
  EXPECT_GE(Budget::units_left(), 970'000u);
  EXPECT_LE(Budget::units_left(), 990'000u);
}

// Those that share symbols with a question are found, not searched for.
TEST(WorkLimit, TwiceAsManyUnrelatedFactsTakeTwiceTheWork) {
  const auto units_of = [](int facts) {
    ExprPool pool;
    std::vector<Expr> conditions;
    for (int i = 0; i < facts; ++i) {
      conditions.push_back(
          parse(pool, sym('u', 2 * i) + " <= " + sym('u', 2 * i + 1)));
    }
    const Expr implied = parse(pool, "u0 <= u1 + 1"),
               open = parse(pool, "u2 + 3 <= u3");
    Budget all(Budget::kUnlimited);
    const uint64_t before = Budget::units_left();
    Context context(pool, testing::native_only());
    for (Expr condition : conditions) context.assume(condition);
    EXPECT_EQ(context.ask(implied).verdict, Verdict::kYes);
    EXPECT_TRUE(context.ask(open).counterexample.has_value());
    return before - Budget::units_left();
  };
  uint64_t half = units_of(1250);
  EXPECT_GE(half, 1250u) << "a unit a fact, at the least";
  for (int facts : {2500, 5000, 10000}) {
    const uint64_t whole = units_of(facts);
    EXPECT_LE(whole * 10, half * 21) << facts;
    half = whole;
  }
}

TEST(WorkLimit, AnotherThreadMayInterrupt) {
  ExprPool pool;
  SolverOptions options = testing::native_only();
  options.work_limit = uint64_t{1} << 40;  // for ever
  options.budget = uint64_t{1} << 40;
  Context context(pool, options);
  for (int i = 0; i < 12; ++i) {
    context.assume(parse(pool, sym('u', i) + "**3*" + sym('u', i + 1) +
                                   " <= " + sym('u', (i + 5) % 12) + "**2 + " +
                                   sym('u', i)));
  }
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      context.interrupt();
    }
  });
  const Answer a = context.ask(parse(pool, "u0**5 != u1**3*u2 + 17*u3"));
  done = true;
  other.join();
  EXPECT_EQ(a.verdict, Verdict::kUnknown);
  EXPECT_EQ(context.ask(parse(pool, "u0 - u0 >= 0")).verdict, Verdict::kYes);
}

}  // namespace
}  // namespace proviso
