#include "guards/context_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/guards/support.h"

namespace proviso {
namespace {

using ::testing::HasSubstr;

TEST(ContextText, IsReadable) {
  ExprPool pool;
  Context context(pool);
  Expr s0 =
      pool.symbol("s0", SymbolKind::kBackedSize, "L['x \"y\"'].size()[0]");
  context.declare(s0, Interval::at_least(2), {"assumed: s0 >= 2", "", 0});
  context.assume(parse(pool, "Eq(Mod(s0, 8), 0)"),
                 {"x.view(\n-1)", "m.py", 12});
  const std::string text = save_context(context);
  EXPECT_THAT(text, HasSubstr("symbol s0 backed_size "
                              "\"L['x \\\"y\\\"'].size()[0]\"\n"
                              "declare s0 [2, int_oo] ; \"assumed: s0 >= 2\" "
                              "\"\" 0\n"
                              "assume Eq(Mod(s0, 8), 0) ; \"x.view(\\n-1)\" "
                              "\"m.py\" 12\nend\n"));
  ExprPool other;
  Context loaded = load_context(other, text);
  EXPECT_EQ(save_context(loaded), text);
  EXPECT_EQ(loaded.facts()[1].origin.to_string(),
            context.facts()[1].origin.to_string());
}

TEST(ContextText, KeepsOptions) {
  ExprPool pool, other;
  Context context(pool, {.use_z3 = false, .machine_int64 = true, .budget = 77});
  const SolverOptions o = load_context(other, save_context(context)).options();
  EXPECT_FALSE(o.use_z3);
  EXPECT_TRUE(o.machine_int64);
  EXPECT_EQ(o.budget, 77u);
}

TEST(ContextText, RefusesWhatItDidNotWrite) {
  const auto refused = [](const std::string& text) {
    return message_of<Error>([&] {
      ExprPool pool;
      load_context(pool, text);
    });
  };
  const std::string head = "proviso context 1\n";
  EXPECT_THAT(refused(""), HasSubstr("line 1: expected 'proviso context 1'"));
  EXPECT_THAT(refused("proviso context 2\nend"), HasSubstr("context 1"));
  EXPECT_THAT(refused(head), HasSubstr("expected 'end'"));
  EXPECT_THAT(refused(head + "option fast 1\nend"), HasSubstr("no option"));
  EXPECT_THAT(refused(head + "symbol a size \"\"\nend"),
              HasSubstr("line 2: no kind of symbol 'size'"));
  EXPECT_THAT(refused(head + "assume a > \nend"), HasSubstr("line 2"));
  EXPECT_THAT(refused(head + "assume a > 1 ; \"x\nend"),
              HasSubstr("does not end"));
  EXPECT_THAT(refused(head + "declare b [1, 2] ; \"\" \"\" 0\nend"),
              HasSubstr("no symbol 'b'"));
}

// load(save(c)) answers every question as c does.
TEST(ContextText, TheLoadedContextAnswersAlike) {
  std::mt19937 random(11);
  const char* names[] = {"s0", "s1", "u0"};
  const auto pick = [&](int n) { return static_cast<int>(random() % n); };
  const auto symbol = [&] { return std::string(names[pick(3)]); };
  const auto number = [&] { return std::to_string(pick(20) - 4); };
  const auto condition = [&]() -> std::string {
    switch (pick(6)) {
      case 0: return symbol() + " <= " + number() + " + " + symbol();
      case 1: return "Eq(Mod(" + symbol() + ", " + std::to_string(2 + pick(6)) +
                     "), " + std::to_string(pick(2)) + ")";
      case 2: return "Eq(" + symbol() + ", 2*" + symbol() + " + " + number() +
                     ")";
      case 3: return "Ne(" + symbol() + ", " + number() + ")";
      case 4: return symbol() + "*" + symbol() + " <= " + number() + "*10";
      default: return "(" + symbol() + "//3 >= 2) | (" + symbol() + " < 9)";
    }
  };
  for (int i = 0; i < 150; ++i) {
    ExprPool pool, other;
    Context context(pool, {.use_z3 = false});
    for (const char* name : names) {
      context.declare(parse(pool, name), {pick(4), 40 + pick(90)});
    }
    for (int f = pick(5); f > 0; --f) context.assume(parse(pool, condition()));
    Context loaded = load_context(other, save_context(context));
    for (int q = 0; q < 20; ++q) {
      const std::string text = condition();
      const Answer a = context.ask(parse(pool, text));
      const Answer b = loaded.ask(parse(other, text));
      ASSERT_EQ(a.verdict, b.verdict) << text << "\n" << save_context(context);
      ASSERT_EQ(a.facts, b.facts) << text << "\n" << save_context(context);
    }
    for (const char* name : names) {
      ASSERT_EQ(context.bounds(parse(pool, name)),
                loaded.bounds(parse(other, name)));
    }
  }
}

}  // namespace
}  // namespace proviso
