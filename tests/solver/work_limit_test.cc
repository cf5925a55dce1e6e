// No text hangs: whatever is asked, a call ends after a bounded amount of work,
// memory and stack.  Families of expressions that blow up somewhere (powers,
// connectives, big integers, floors, extrema, chains), each doubled until its
// text has 10 KB.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "sym/budget.h"
#include "sym/evaluate.h"
#include "sym/simplify.h"
#include "tests/solver/support.h"
#include "tests/support/small_stack.h"

namespace proviso {
namespace {

using std::to_string;

constexpr size_t kStack = size_t{256} << 10;  // the most that any call uses

struct Problem {
  std::vector<std::string> facts;
  std::string question;
  size_t length() const {
    size_t total = question.size();
    for (const std::string& fact : facts) total += fact.size();
    return total;
  }
};

struct Family {
  const char* name;
  std::function<Problem(int n)> make;
};

std::string sym(char letter, int i) { return letter + to_string(i); }

std::string digits(char digit, int count) {
  return std::string(static_cast<size_t>(count), digit);
}

// step applied n times, from the inside out.
std::string nested(int n, std::string text,
                   const std::function<std::string(std::string, int)>& step) {
  for (int i = 0; i < n; ++i) text = step(std::move(text), i);
  return text;
}

std::string joined(int n, const std::string& separator,
                   const std::function<std::string(int)>& part) {
  std::string out;
  for (int i = 0; i < n; ++i) out += (i > 0 ? separator : "") + part(i);
  return out;
}

std::vector<std::string> list(int n,
                              const std::function<std::string(int)>& part) {
  std::vector<std::string> out;
  for (int i = 0; i < n; ++i) out.push_back(part(i));
  return out;
}

// clang-format off
const Family kFamilies[] = {
    {"nested cubes",
     [](int n) {
       return Problem{{}, nested(n, "s0", [](auto x, int) {
                        return "(" + x + "+1)**3";
                      }) + " >= 7"};
     }},
    {"nested connectives",
     [](int n) {
       return Problem{{}, nested(n, "(s0 > 1)", [](auto x, int i) {
                        return "((" + x + (i % 2 ? ") & (" : ") | (") +
                               sym('s', i % 5) + " > " + to_string(i) + "))";
                      })};
     }},
    {"a tree of connectives",
     [](int n) {
       std::function<std::string(int, int)> tree = [&](int level, int i) {
         if (level == 0) {
           return "(" + sym('s', i % 7) + "*" + to_string(i + 2) + " > " +
                  sym('u', i % 5) + " + " + to_string(i) + ")";
         }
         return "(" + tree(level - 1, 2 * i + 1) +
                (level % 2 ? " & " : " | ") + tree(level - 1, 2 * i + 2) + ")";
       };
       return Problem{{}, tree(n < 32 ? n / 4 + 1 : 8, 0)};
     }},
    {"equal truths",
     [](int n) {
       return Problem{{}, nested(n, "(s0 > 1)", [](auto x, int i) {
                        return (i % 2 ? "Eq(" : "Ne(") + x + ", " +
                               sym('s', i % 5) + " > " + to_string(i) + ")";
                      })};
     }},
    {"boolean arms",
     [](int n) {
       return Problem{{}, nested(n, "(s0 > 1)", [](auto x, int i) {
                        return "Where(" + sym('s', i % 5) + " > " +
                               to_string(i) + ", " + x + ", ~(s1 > " +
                               to_string(i) + "))";
                      })};
     }},
    {"integer arms",
     [](int n) {
       return Problem{{}, nested(n, "s0", [](auto x, int i) {
                        return "Where(" + sym('s', i % 5) + " > " +
                               to_string(i) + ", " + x + ", s1 + " +
                               to_string(i) + ")";
                      }) + " >= 3"};
     }},
    {"a chain of xor",
     [](int n) {
       return Problem{{}, joined(4 * n, " ^ ", [](int i) {
                        return "(" + sym('s', i % 9) + " > " + to_string(i) +
                               ")";
                      })};
     }},
    {"a power of symbols",
     [](int n) {
       return Problem{{}, "u2**u0 <= 2**" + to_string(std::min(1000 * n, 65000))};
     }},
    {"products of big integers",
     [](int n) {
       return Problem{{}, joined(n, "*", [](int) {
                        return std::string("(2**65535)");
                      }) + "*s0 > 5"};
     }},
    {"rows of big coefficients",
     [](int n) {
       return Problem{list(6, [n](int i) {
                        return digits('7', 12 * n) + "*" + sym('s', i) + " + " +
                               digits('3', 12 * n + i) + "*" + sym('s', i + 1) +
                               " >= " + sym('s', i + 2);
                      }), "s0 + s1 + s3 >= 5"};
     }},
    {"a big modulus",
     [](int n) {
       return Problem{{"Eq(s0 % 2**" + to_string(500 * n) + ", 5)"}, "s0 > 3"};
     }},
    {"products over sums",
     [](int n) {
       return Problem{{}, nested(n, "x", [](auto x, int) {
                        return x + "*(i+s)//(s+i)";
                      }) + " > 3"};
     }},
    {"many arguments of Max",
     [](int n) {
       return Problem{{}, "Max(" + joined(8 * n, ",", [](int i) {
                        return sym('s', i) + "+" + to_string(i) + "*" +
                               sym('u', i % 7);
                      }) + ") >= s0"};
     }},
    {"Min within Max",
     [](int n) {
       return Problem{{}, "Max(" + joined(5 * n, ",", [](int i) {
                        return "Min(" + sym('s', i) + ", " + sym('u', i % 7) +
                               "+" + to_string(i) + ")";
                      }) + ") >= s0"};
     }},
    {"open products",
     [](int n) {
       return Problem{list(std::min(n, 60), [](int i) {
                        return sym('u', i) + "*" + sym('u', i + 1) + "*" +
                               sym('s', i) + " <= " + sym('s', i + 1) + "**" +
                               to_string(i % 4 + 2) + " + " + sym('u', i);
                      }), "u0**3*s0 + u1**5 != s1**4*u2 + 17"};
     }},
    {"a power of a sum",
     [](int n) {
       return Problem{{}, "Eq((" + joined(n, "+", [](int i) {
                        return sym('s', i);
                      }) + ")**8, 17)"};
     }},
    {"a product of sums",
     [](int n) {
       return Problem{{}, joined(12 * n, "*", [](int i) {
                        return "(" + sym('s', i) + "+1)";
                      }) + " > 3"};
     }},
    {"a sum of products",
     [](int n) {
       return Problem{{}, joined(12 * n, "+", [](int i) {
                        return to_string(i + 1) + "*" + sym('s', i) + "*" +
                               sym('u', i % 13);
                      }) + " > 3"};
     }},
    {"nested remainders",
     [](int n) {
       return Problem{{}, nested(n, "s0", [](auto x, int i) {
                        return "Mod(" + x + "*" + to_string(i + 3) + " + " +
                               sym('u', i % 4) + ", " + to_string(7 * i + 5) +
                               ")";
                      }) + " < 3"};
     }},
    {"divisors that are symbols",
     [](int n) {
       return Problem{{}, nested(n, "s0", [](auto x, int i) {
                        return "((" + x + " + " + sym('u', i % 4) + ")//(" +
                               sym('u', (i + 1) % 4) + "+s1))";
                      }) + " < 3"};
     }},
    {"nested ceilings",
     [](int n) {
       return Problem{{}, nested(n, "u0", [](auto x, int i) {
                        return "CeilDiv(" + x + "*u1 + " + to_string(i) + ", " +
                               sym('u', i % 3) + ")";
                      }) + " < 9"};
     }},
    {"modular indexing",
     [](int n) {
       return Problem{{}, nested(n, "u0", [](auto x, int i) {
                        return "ModularIndexing(" + x + ", " + sym('u', i % 3) +
                               "+1, " + sym('u', (i + 1) % 3) + "+2)";
                      }) + " < 9"};
     }},
    {"nested bits",
     [](int n) {
       return Problem{{}, nested(n, "u0", [](auto x, int i) {
                        return "((" + x + " & " + sym('u', i % 5) + ") | (" +
                               sym('u', (i + 1) % 5) + " ^ " + to_string(i) +
                               "))";
                      }) + " < 9"};
     }},
    {"nested shifts",
     [](int n) {
       return Problem{{}, nested(n, "u0", [](auto x, int i) {
                        return "(" + x + " << " + sym('u', i % 3) + ")";
                      }) + " < 9"};
     }},
    {"nested fractions",
     [](int n) {
       return Problem{{}, nested(n, "s0/3", [](auto x, int i) {
                        return "((" + x + ")*" + sym('s', i % 4) + "/7.25 + " +
                               sym('s', (i + 1) % 4) + "/" + to_string(i + 2) +
                               ")";
                      }) + " < 9"};
     }},
    {"nested rounding",
     [](int n) {
       return Problem{{}, nested(n, "s0", [](auto x, int i) {
                        return "round((" + x + ")/" + to_string(i + 2) + ")";
                      }) + " < 9"};
     }},
    {"equal products",
     [](int n) {
       return Problem{list(n, [](int i) {
                        return "Eq(" + sym('u', i) + "*" + sym('u', i + 1) +
                               ", " + sym('u', i + 2) + "*" + sym('s', i) + ")";
                      }), "u0*" + sym('u', n) + " > 3"};
     }},
    {"equalities through floors",
     [](int n) {
       return Problem{list(4 * n, [](int i) {
                        return "Eq(" + sym('s', i) + ", 3*" + sym('s', i + 1) +
                               "//2 + " + sym('u', i % 3) + ")";
                      }), "s0 >= 3"};
     }},
    {"clauses",
     [](int n) {
       return Problem{list(n, [n](int i) {
                        return "(" + sym('u', i) + " > " +
                               sym('u', (7 * i + 3) % n) + " + 1) | (" +
                               sym('u', (5 * i + 1) % n) + " < " +
                               to_string(i) + ") | Eq(" + sym('u', i) +
                               ", 2*" + sym('u', (i + 2) % n) + ")";
                      }), "u0 + u1 >= 3"};
     }},
    {"pigeons",
     [](int n) {
       Problem p{{}, "u0 > 1"};
       const int pigeons = std::min(n, 22);
       for (int i = 0; i < pigeons; ++i) {
         p.facts.push_back("(" + sym('u', i) + " >= 0) & (" + sym('u', i) +
                           " < " + to_string(pigeons - 1) + ")");
         for (int j = 0; j < i; ++j) {
           p.facts.push_back("Ne(" + sym('u', i) + ", " + sym('u', j) + ")");
         }
       }
       return p;
     }},
    {"rows",
     [](int n) {
       return Problem{list(4 * n, [n](int i) {
                        return "3*" + sym('s', i) + " + 2*" +
                               sym('s', (7 * i + 3) % (4 * n)) + " - " +
                               sym('s', (5 * i + 1) % (4 * n)) + " >= " +
                               to_string(i);
                      }), "s0 + s1 >= 3"};
     }},
    {"roots of a large polynomial",
     [](int n) {
       return Problem{{"Eq(u0**8 + " + digits('9', 20 * n) + "*u0**3, " +
                       digits('8', 50 * n) + ")"}, "u0 > 3"};
     }},
    {"a root of digits",
     [](int n) {
       return Problem{{}, "sqrt(" + digits('9', 100 * n) + ") > s0"};
     }},
    {"digits",
     [](int n) { return Problem{{}, "s0 > " + digits('9', 100 * n)}; }},
    {"decimals",
     [](int n) { return Problem{{}, "s0/3 > 0." + digits('9', 100 * n)}; }},
    {"congruences",
     [](int n) {
       return Problem{list(n, [](int i) {
                        return "Mod(s0*" + to_string(i + 2) + " + " +
                               sym('u', i % 5) + ", " + to_string(i * i + 7) +
                               ") <= " + to_string(i % 3 + 1);
                      }), "Eq(Mod(s0, 4), 0)"};
     }},
    {"high powers",
     [](int n) {
       return Problem{{"s0**" + to_string(std::min(n, 64)) + " >= u0**" +
                       to_string(std::min(n + 1, 64)) + "*10**" +
                       to_string(10 * n)}, "s0**7*u0**9 > 10**400"};
     }},
};
// clang-format on

// All that one may do with a problem.
void use(const Problem& problem) {
  ExprPool pool;
  Context context(pool, testing::native_only());
  for (const std::string& fact : problem.facts) {
    context.assume(parse(pool, fact));
  }
  const Expr question = parse(pool, problem.question);
  simplify(question);
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

class Bombs : public ::testing::TestWithParam<Family> {};

void PrintTo(const Family& family, std::ostream* out) { *out << family.name; }

// Each call's work is limited, and the machine's time and stack follow the
// work: the whole of `use` is some ten calls and one for each fact.
TEST_P(Bombs, TakeBoundedWorkTimeAndStack) {
  constexpr size_t kLongest = 10'000;
  constexpr uint64_t kCall = 500'000;  // SolverOptions::work_limit, and what
                                       // simplify() and lowering have beside
  constexpr double kSecondsPerUnit = 1e-6;  // ten times what it is
  for (int n = 6; n <= 192; n *= 2) {
    const Problem problem = GetParam().make(n);
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

INSTANTIATE_TEST_SUITE_P(All, Bombs, ::testing::ValuesIn(kFamilies),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           for (char& c : name) c = c == ' ' ? '_' : c;
                           return name;
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
    simplify(e);
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
  simplify(e);
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
