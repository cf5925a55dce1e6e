// Threads with a pool each share nothing that they write: each says what it
// says alone, to the letter.  `./dev build tsan` looks at the memory too.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "solver/solver.h"
#include "sym/canonical.h"
#include "sym/parse.h"
#include "sym/print.h"
#include "sym/simplify.h"

namespace proviso {
namespace {

constexpr const char* kFacts[] = {
    "Eq(Mod(n, 8), 0)", "m >= 2*n + 1", "Eq(k, n*m)",         "l <= 40",
    "l >= 3",           "Ne(l, 7)",     "Or(n >= 8, l >= 9)", "q*l <= k"};
constexpr const char* kQuestions[] = {"Eq(Mod(n, 4), 0)",
                                      "m > n",
                                      "k >= n",
                                      "(8*n + l)//8 >= n",
                                      "Max(n, m) >= Min(n, l)",
                                      "Eq(Mod(k, 8), 0)",
                                      "n*n + m*m >= 2*n*m",
                                      "l*l >= 9",
                                      "Eq((n//8)*8, n)",
                                      "q <= k",
                                      "Eq(Mod(n*m + 4*l, 4), 0)",
                                      "m//n >= 2",
                                      "Or(Eq(l, 8), l > 3)",
                                      "(n + l)//(m + 1) <= l"};
constexpr const char* kForms[] = {
    "(n//8)*8 + Mod(n, 8)", "Max(n, n + 1) - Min(m, m + 2)", "Mod(8*m + l, 8)",
    "(4*(n + m) + 3)//4", "Where(n > m, n, m) + (n*m - k)"};

// All that one thread does, as text.
std::string work(bool with_z3) {
  std::ostringstream out;
  ExprPool pool;
  SolverOptions options;
  options.use_z3 = with_z3;
  Context known(pool, options);
  for (const char* name : {"n", "m", "k", "l", "q"}) {
    known.declare(pool.symbol(name, SymbolKind::kBackedSize), {1, 1'000'000});
  }
  for (const char* fact : kFacts) known.assume(parse(pool, fact), {fact});
  Context clone = known.clone();
  for (const char* text : kQuestions) {
    const Expr question = parse(pool, text);
    const Answer answer = known.ask(question);
    out << text << " " << name_of(answer.verdict) << " " << answer.reason;
    for (FactId id : answer.facts) out << " " << id;
    clone.push();
    clone.assume(logical_not(question));
    out << " " << name_of(clone.ask_quick(question)) << " "
        << clone.bounds(pool.symbol("n", SymbolKind::kBackedSize)).to_string()
        << "\n";
    clone.pop();
    if (!with_z3) out << known.to_smtlib(question);
  }
  for (const char* text : kForms) {
    const Expr form = parse(pool, text);
    out << canonical(form) << " " << known.simplify(form) << " "
        << to_python(known.canonical(form)) << " "
        << known.multiple_of(form).to_string() << "\n";
  }
  return out.str();
}

void expect_alike(bool with_z3, size_t count, int rounds) {
  const std::string alone = work(with_z3);
  std::vector<std::string> said(count);
  std::vector<std::thread> threads;
  for (std::string& one : said) {
    threads.emplace_back([&one, &alone, with_z3, rounds] {
      for (int i = 0; i < rounds && (i == 0 || one == alone); ++i) {
        one = work(with_z3);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::string& one : said) EXPECT_EQ(one, alone);
}

TEST(Parallel, ThreadsSayWhatOneSaysAlone) { expect_alike(false, 8, 4); }

TEST(Parallel, ThreadsThatAskZ3DoSoToo) { expect_alike(true, 3, 1); }

}  // namespace
}  // namespace proviso
