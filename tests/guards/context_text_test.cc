#include "guards/context_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "solver/options.h"
#include "sym/budget.h"
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

TEST(ContextText, KeepsScopes) {
  ExprPool pool, other;
  Context context(pool);
  const Expr n = pool.symbol("n", SymbolKind::kBackedSize);
  context.declare(n, {1, 64});
  context.push();
  context.push();
  context.assume(ge(n, 8));
  context.push();
  const std::string text = save_context(context);
  EXPECT_THAT(text, HasSubstr("proviso context 2\n"));
  EXPECT_THAT(text, HasSubstr("0\npush\npush\ndeclare n [8, int_oo] ; \"\" "
                              "\"\" 0\npush\nend\n"));
  Context loaded = load_context(other, text);
  EXPECT_EQ(save_context(loaded), text);
  EXPECT_EQ(loaded.depth(), 3u);
  const Expr m = *other.find_symbol("n");
  loaded.pop();
  EXPECT_EQ(loaded.ask_quick(ge(m, 8)), Verdict::kYes);
  loaded.pop();
  EXPECT_EQ(loaded.ask_quick(ge(m, 8)), Verdict::kUnknown);
  loaded.pop();
  EXPECT_EQ(loaded.ask_quick(ge(m, 1)), Verdict::kYes);
  EXPECT_THAT(save_context(loaded), HasSubstr("proviso context 1\n"));
}

TEST(ContextText, KeepsLimitsAndStrategiesThatAreOff) {
  SolverOptions options;
  set_option(options, "limit.split_depth", 3);
  set_option(options, "without.case-split", 1);
  ExprPool pool;
  const std::string text = save_context(Context(pool, options));
  EXPECT_THAT(text, HasSubstr("option limit.split_depth 3\n"
                              "option without.case-split 1\n"));
  ExprPool other;
  EXPECT_EQ(save_context(load_context(other, text)), text);
}

// What 0.1 wrote.
TEST(ContextText, ReadsAMaskOfNoStrategies) {
  ExprPool pool;
  const Context context = load_context(
      pool, "proviso context 1\noption disabled_strategies 0\nend\n");
  EXPECT_TRUE(context.options().disabled_strategies.is_empty());
}

TEST(ContextText, ReadsAnyNumberOfScopes) {
  std::string text = "proviso context 2\n";
  for (int i = 0; i < 200'000; ++i) text += "push\n";
  ExprPool pool;
  Context context = load_context(pool, text + "end\n");
  EXPECT_EQ(context.depth(), 200'000u);
  context.pop();
  EXPECT_EQ(context.depth(), 199'999u);
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
  struct Case {
    const char* text;
    const char* error;
  };
  const Case kCases[] = {
      {"option fast 1\nend", "line 2, column 8: no option 'fast'"},
      {"option budget 9x\nend", "line 2, column 15: expected a number"},
      {"option budget 99999999999999999999\nend", "column 15: expected a num"},
      {"option use_z3 2\nend", "the number is too large for use_z3"},
      {"symbol a size \"\"\nend",
       "line 2, column 10: no kind of symbol 'size'"},
      {"symbol 1+1 backed_int \"\"\nend",
       "line 2, column 8: '1+1' is not a symbol's name"},
      {"symbol if backed_int \"\"\nend",
       "line 2, column 8: 'if' is not a symbol's name"},
      {"symbol int_oo backed_int \"\"\nend", "is not a symbol's name"},
      {"symbol s0 backed_size \"\"\nsymbol s0 unbacked_int \"\"\nend",
       "line 3, column 1: "},
      {"symbol s0 backed_size \"\" x\nend", "nothing may follow the source"},
      {"forget a\nend", "line 2, column 1: expected symbol, declare"},
      {"assume a > \nend", "line 2, column 8: expected ' ; '"},
      {"assume a >  ; \"\" \"\" 0\nend", "line 2, column 8: parse: "},
      {"assume a + 1 ; \"\" \"\" 0\nend", "line 2, column 8: "},
      {"assume a > 1 ; \"x\nend", "line 2, column 16: a quoted text does not"},
      {"assume a > 1 ; \"\" \"\" 0.5\nend",
       "line 2, column 22: expected a num"},
      {"declare b [1, 2] ; \"\" \"\" 0\nend", "column 9: no symbol 'b'"},
      {"declare b ; \"\" \"\" 0\nend", "column 9: expected a range"},
      {"end\nend", "line 3, column 1: nothing may follow 'end'"},
  };
  for (const Case& c : kCases) {
    EXPECT_THAT(refused(head + c.text), HasSubstr(c.error)) << c.text;
  }
  EXPECT_THAT(refused(""), HasSubstr("line 1, column 1: expected 'proviso "));
  EXPECT_THAT(refused("proviso context 3\nend"), HasSubstr("context 1"));
  EXPECT_THAT(refused(head + "push\nend"),
              HasSubstr("line 2, column 1: expected symbol, declare"));
  EXPECT_THAT(refused("proviso context 2\npush 3\nend"),
              HasSubstr("line 2, column 6: nothing may follow 'push'"));
  EXPECT_THAT(refused("proviso context 2\npop\nend"),
              HasSubstr("line 2, column 1: expected symbol, declare, assume, "
                        "push or end"));
  EXPECT_THAT(refused(head), HasSubstr("line 2, column 1: expected 'end'"));
  EXPECT_THAT(refused(head + "symbol a backed_int \"\"\n"),
              HasSubstr("line 3, column 1: expected 'end'"));
  const std::string deep(100000, '(');
  EXPECT_THAT(refused(head + "assume " + deep + " ; \"\" \"\" 0\nend"),
              HasSubstr("line 2, column 8: parse: "));
}

// Any text cut short or changed in one place is refused or read, never worse.
TEST(ContextText, SurvivesEveryCutAndChange) {
  ExprPool pool;
  Context context(pool);
  context.declare(parse(pool, "s0"), {2, 9}, {"a \"b\"", "m.py", 3});
  context.assume(parse(pool, "Eq(Mod(s0, 8), 0)"));
  const std::string text = save_context(context);
  const auto survives = [](const std::string& changed) {
    try {
      ExprPool other;
      load_context(other, changed);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("load_context: line "));
    }
  };
  for (size_t i = 0; i < text.size(); ++i) {
    survives(text.substr(0, i));
    for (char c : {'\0', '"', '\n', '(', '9', '\xff'}) {
      std::string changed = text;
      changed[i] = c;
      survives(changed);
    }
  }
}

// A name is refused where the symbol is made, or the text keeps it.
TEST(ContextText, KeepsSymbolsOfEveryName) {
  const std::string kParts[] = {
      "n",   "s0", "_", "3",   "if",       "True", "int_oo",   "oo",   "in",
      "end", " ",  ";", "\"",  "\n",       "\\",   "\xc3\xa9", "\xff", ".",
      "(",   ")",  "[", " ; ", "declare ", "Mod",  "lambda",   "'",    "#"};
  std::mt19937 random(13);
  int kept = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string name;
    for (size_t k = 1 + random() % 3; k > 0; --k)
      name += kParts[random() % std::size(kParts)];
    const auto kind =
        random() % 2 == 0 ? SymbolKind::kBackedInt : SymbolKind::kUnbackedInt;
    ExprPool pool, other;
    Expr s;
    try {
      s = pool.symbol(name, kind, name);
    } catch (const Error&) {
      continue;
    }
    ++kept;
    Context context(pool, {.use_z3 = false});
    context.declare(s, {2, 40}, {name, name, 3});
    context.assume(eq(mod(s, s - 1), 0));
    const std::string text = save_context(context);
    Context loaded = load_context(other, text);
    EXPECT_EQ(save_context(loaded), text);
    ASSERT_EQ(other.symbols().size(), 1u) << text;
    EXPECT_EQ(other.symbols()[0].symbol().name, name);
    EXPECT_EQ(other.symbols()[0].symbol().kind, kind);
    ASSERT_EQ(loaded.facts().size(), 2u);
    for (size_t k = 0; k < 2; ++k) {
      EXPECT_EQ(to_string(loaded.facts()[k].condition),
                to_string(context.facts()[k].condition));
    }
  }
  EXPECT_GT(kept, 300);
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
      case 1:
        return "Eq(Mod(" + symbol() + ", " + std::to_string(2 + pick(6)) +
               "), " + std::to_string(pick(2)) + ")";
      case 2:
        return "Eq(" + symbol() + ", 2*" + symbol() + " + " + number() + ")";
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

// A text cannot make later questions take for ever.
TEST(ContextText, SpendsNoMoreThanWhoeverLoadsItAllows) {
  for (std::string_view cost : cost_options()) {
    SCOPED_TRACE(cost);
    SolverOptions more;
    set_option(more, cost, 2 * get_option(more, cost));
    ExprPool pool, other;
    const std::string text = save_context(Context(pool, more));
    try {
      load_context(other, text);
      FAIL() << "it was raised";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(),
                  HasSubstr("may raise " + std::string(cost) + " to " +
                            std::to_string(get_option(SolverOptions(), cost))));
    }
    for (const SolverOptions& most : {more, highest_costs()})
      EXPECT_EQ(save_context(load_context(other, text, most)), text);
    SolverOptions less;
    set_option(less, cost, 1);
    const std::string lower = save_context(Context(pool, less));
    EXPECT_EQ(save_context(load_context(other, lower)), lower);
    EXPECT_THROW(load_context(other, save_context(Context(pool)), less), Error);
  }
}

// What cannot be written whole is an error when it is saved, not when it is
// read.
TEST(ContextText, RefusesAFactThatIsTooLongToBeWritten) {
  ExprPool pool;
  Context context(pool);
  Expr e = pool.symbol("x", SymbolKind::kUnbackedInt);
  for (int i = 0; i < 20; ++i) e = floor_div(e * e + i, pool.integer(3));
  context.assume(ge(e, 0));
  try {
    (void)save_context(context);
    FAIL() << "it was written";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("save_context: fact 0"));
    EXPECT_THAT(error.what(), HasSubstr("1048576 characters"));
  }
}

TEST(ContextText, ATextThatCannotBeReadLeavesNothingBehind) {
  const std::string good =
      "proviso context 1\nsymbol qq backed_size \"\"\n"
      "declare qq [2, int_oo] ; \"\" \"\" 0\nassume r > qq ; \"\" \"\" 0\n";
  for (const char* rest :
       {"", "end\nmore\n", "assume r + 1 ; \"\" \"\" 0\nend\n",
        "assume r > ; \"\" \"\" 0\nend\n", "symbol n backed_float \"\"\nend\n",
        "declare t [1, 2] ; \"\" \"\" 0\nend\n", "what\nend\n"}) {
    ExprPool pool;
    Context context(pool);
    context.assume(parse(pool, "n > 3"));
    const std::string before = save_context(context);
    const size_t size = pool.size();
    EXPECT_THROW((void)load_context(pool, good + rest), Error) << rest;
    EXPECT_EQ(save_context(context), before) << rest;
    EXPECT_EQ(pool.size(), size) << rest;
  }
}

// However many facts a text has, to read it takes work in its length alone.
TEST(ContextText, IsReadWithinABudget) {
  std::string text = "proviso context 1\n";
  for (int i = 0; i < 120; ++i)
    text += "symbol u" + std::to_string(i) + " unbacked_int \"\"\n";
  for (int i = 0; i + 1 < 120; ++i) {
    const std::string u = "u" + std::to_string(i);
    text += "assume Eq(u" + std::to_string(i + 1) + ", Max(" + u + ", 3 - 2*" +
            u + ")) ; \"\" \"\" 0\n";
  }
  text += "end\n";
  const Budget counted(Budget::kUnlimited);
  const uint64_t before = Budget::units_left();
  ExprPool pool;
  Context context = load_context(pool, text);
  EXPECT_EQ(context.facts().size(), 119u);
  EXPECT_LE(before - Budget::units_left(), 1'500'000u + 60 * text.size());
}

}  // namespace
}  // namespace proviso
