#include "guards/guard_program.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "sym/evaluate.h"
#include "tests/guards/support.h"

namespace proviso {
namespace {

using ::testing::HasSubstr;

struct Sizes {
  ExprPool pool;
  std::vector<Expr> symbols = {pool.symbol("s0", SymbolKind::kBackedSize),
                               pool.symbol("s1", SymbolKind::kBackedSize),
                               pool.symbol("s2", SymbolKind::kBackedSize)};
  GuardProgram compile(const std::vector<std::string>& texts) {
    std::vector<Expr> conditions;
    for (const std::string& text : texts) {
      conditions.push_back(parse(pool, text));
    }
    return {symbols, conditions};
  }
  bool by_definition(const GuardProgram& program, const int64_t* values) {
    Assignment point;
    for (size_t i = 0; i < symbols.size(); ++i) {
      point.set(symbols[i], Int(values[i]));
    }
    for (Expr c : program.conditions()) {
      if (!evaluate(c, point).is_true()) return false;
    }
    return true;
  }
};

class RandomGuards {
 public:
  explicit RandomGuards(unsigned seed) : random_(seed) {}

  std::string condition(int depth = 2) {
    switch (pick(depth > 0 ? 12 : 8)) {
      case 0: return "Eq(" + symbol() + ", " + symbol() + ")";
      case 1: return "Eq(" + symbol() + ", " + number() + ")";
      case 2: return symbol() + " <= " + number();
      case 3: return number() + " < " + symbol();
      case 4: return "Eq(Mod(" + symbol() + ", 4), " + number() + ")";
      case 5: return "Eq(" + symbol() + "*" + symbol() + ", " + symbol() + ")";
      case 6: return "Eq(" + symbol() + ", 3*" + symbol() + " + 5)";
      case 7: return "Ne(" + term(2) + ", " + term(1) + ")";
      case 8: return both(depth, " & ");
      case 9: return both(depth, " | ");
      case 10: return "Not(" + condition(depth - 1) + ")";
      default: return term(3) + (pick(2) ? " <= " : " < ") + term(2);
    }
  }
  std::string both(int depth, const char* sign) {
    const std::string first = condition(depth - 1);
    return "(" + first + ")" + sign + "(" + condition(depth - 1) + ")";
  }
  std::string term(int depth) {
    if (depth == 0) return pick(3) ? symbol() : number();
    const std::string a = term(depth - 1), b = term(depth - 1);
    switch (pick(9)) {
      case 0: return "(" + a + " + " + b + ")";
      case 1: return "(" + a + " - " + b + ")";
      case 2: return "(" + a + ")*(" + b + ")";
      case 3: return "((" + a + ")//(" + b + "))";
      case 4: return "Mod(" + a + ", " + b + ")";
      case 5: return "Min(" + a + ", " + b + ")";
      case 6: return "Max(" + a + ", " + b + ")";
      case 7: return "Where(" + a + " < " + b + ", " + a + ", " + b + ")";
      default: return "Abs(" + a + ")";
    }
  }
  int64_t size() {
    switch (pick(12)) {
      case 0: return INT64_MAX - pick(3);
      case 1: return (int64_t{1} << 32) + pick(9);
      default: return pick(20);
    }
  }
  int pick(int n) { return static_cast<int>(random_() % n); }

 private:
  std::string symbol() { return "s" + std::to_string(pick(3)); }
  std::string number() { return std::to_string(pick(16) - 3); }
  std::mt19937 random_;
};

TEST(GuardProgram, NamesAnyNumberOfSymbols) {
  ExprPool pool;
  std::vector<Expr> symbols;
  for (int i = 0; i < 65600; ++i) {
    symbols.push_back(
        pool.symbol("u" + std::to_string(i), SymbolKind::kUnbackedInt));
  }
  std::vector<int64_t> values(symbols.size(), 3);
  for (const char* text : {"Eq(u65537, 5)", "u65537 - u1 <= 2", "u65537 > 4"}) {
    const GuardProgram program(symbols, {parse(pool, text)});
    values[1] = 3, values[65537] = 5;
    EXPECT_TRUE(program.holds(values.data())) << text;
    values[1] = 5, values[65537] = 3;  // what a slot of 16 bits would name
    EXPECT_EQ(program.holds(values.data()), text[7] == '-') << text;
  }
}

TEST(GuardProgram, SaysWhichConditionFails) {
  Sizes s;
  GuardProgram program =
      s.compile({"s0 >= 4", "Eq(s0, s1)", "Eq(Mod(s2, 8), 0)"});
  const int64_t good[] = {6, 6, 16};
  const int64_t uneven[] = {6, 6, 15}, small[] = {3, 6, 16};
  EXPECT_TRUE(program.holds(good));
  EXPECT_EQ(program.first_failing(uneven), 2u);
  EXPECT_EQ(program.first_failing(small), 0u);
}

TEST(GuardProgram, OfNoSymbolsNeedsNoValues) {
  ExprPool pool;
  const GuardProgram program({}, {parse(pool, "1 < 2"), parse(pool, "4 < 3")});
  EXPECT_FALSE(program.holds(nullptr));
  EXPECT_EQ(program.first_failing(nullptr), 1u);
}

TEST(GuardProgram, IsExactBeyondInt64) {
  Sizes s;
  const int64_t large = INT64_MAX, values[] = {large, large, 3};
  EXPECT_TRUE(s.compile({"s0*s1*s2 > s0*s1"}).holds(values));
  EXPECT_TRUE(s.compile({"Eq(s0 + s1 - s1, s0)"}).holds(values));
  EXPECT_FALSE(s.compile({"Eq(s0*s1, 1)"}).holds(values));
  EXPECT_FALSE(s.compile({"Eq(s2, 3*s0 + 5)"}).holds(values));
}

TEST(GuardProgram, AgreesWithEvaluate) {
  RandomGuards guards(71);
  for (int i = 0; i < 4000; ++i) {
    Sizes s;
    const std::string text = guards.condition();
    GuardProgram program = s.compile({text});
    for (int j = 0; j < 12; ++j) {
      const int64_t values[] = {guards.size(), guards.size(), guards.size()};
      ASSERT_EQ(program.holds(values), s.by_definition(program, values))
          << text << " at " << values[0] << ", " << values[1] << ", "
          << values[2];
    }
  }
}

TEST(GuardProgram, RefusesStrangers) {
  Sizes s;
  Expr other = s.pool.symbol("s9", SymbolKind::kBackedSize);
  EXPECT_THAT(
      message_of<Error>([&] { GuardProgram(s.symbols, {ge(other, 2)}); }),
      HasSubstr("mentions s9"));
  EXPECT_THAT(message_of<Error>([&] { GuardProgram(s.symbols, {other}); }),
              HasSubstr("expected a boolean"));
}

// Prints functions, compiles them and compares.
TEST(GuardProgram, PrintsCppThatAgrees) {
  if (std::system("c++ --version > /dev/null 2>&1") != 0) {
    GTEST_SKIP() << "no C++ compiler at hand";
  }
  RandomGuards guards(72);
  const std::string base = testing::TempDir() + "proviso_guards";
  std::vector<std::unique_ptr<Sizes>> sizes;
  std::vector<GuardProgram> programs;
  {
    std::ofstream file(base + ".cc");
    file << "#include <cstdint>\n";
    for (int i = 0; i < 60; ++i) {
      sizes.push_back(std::make_unique<Sizes>());
      programs.push_back(sizes.back()->compile({guards.condition()}));
      const std::string name = "f" + std::to_string(i);
      file << "namespace n" << i << " {\n"
           << programs.back().to_cpp(name) << "}\nextern \"C\" bool g" << i
           << "(const int64_t* v) {\n  return n" << i << "::" << name
           << "(v);\n}\n";
    }
  }
  const std::string command =
      "c++ -std=c++17 -O0 -w -shared -fPIC -o " + base + ".so " + base + ".cc";
  ASSERT_EQ(std::system(command.c_str()), 0);
  void* library = dlopen((base + ".so").c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  for (size_t i = 0; i < programs.size(); ++i) {
    auto* function = reinterpret_cast<bool (*)(const int64_t*)>(
        dlsym(library, ("g" + std::to_string(i)).c_str()));
    ASSERT_NE(function, nullptr);
    for (int j = 0; j < 200; ++j) {
      const int64_t values[] = {guards.size() % 1000, guards.size() % 1000,
                                guards.size() % 1000};
      const bool exact = sizes[i]->by_definition(programs[i], values);
      // It may refuse where the arm that is not taken divides by zero.
      if (function(values)) {
        ASSERT_TRUE(exact) << programs[i].to_cpp("f");
      } else if (exact) {
        EXPECT_THAT(programs[i].to_cpp("f"),
                    testing::AnyOf(HasSubstr("div("), HasSubstr("mod(")));
      }
    }
  }
  dlclose(library);
}

}  // namespace
}  // namespace proviso
