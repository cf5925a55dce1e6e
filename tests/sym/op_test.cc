// The operator table, and that an operator which others define touches the
// files that CONTRIBUTING.md names and no more.
#include "sym/op.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sym/definition.h"
#include "sym/evaluate.h"
#include "sym/parse.h"
#include "sym/print.h"

namespace proviso {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

const fs::path kRoot = PROVISO_SOURCE_DIR;

bool names(const std::string& text, const std::string& word) {
  for (size_t at = text.find(word); at != std::string::npos;
       at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if (end == text.size() || !std::isalnum(text[end])) return true;
  }
  return false;
}

// Files outside of tests that say kCeilDiv.
std::set<std::string> files_naming(const std::string& enumerator) {
  std::set<std::string> found;
  for (const char* folder : {"sym", "solver", "guards", "tracer_adapter",
                             "bindings", "cli", "bench"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      const fs::path& path = entry.path();
      if (path.extension() != ".cc" && path.extension() != ".h") continue;
      if (names(text_of(path), enumerator)) {
        found.insert(path.lexically_relative(kRoot).generic_string());
      }
    }
  }
  return found;
}

// The files that the numbered steps of "Add an operator" name in backquotes.
std::set<std::string> files_of_guide() {
  const std::string text = text_of(kRoot / "CONTRIBUTING.md");
  const size_t begin = text.find("## Add an operator");
  const size_t end = text.find("\n## ", begin + 1);
  std::istringstream lines(text.substr(begin, end - begin));
  std::set<std::string> found;
  for (std::string line; std::getline(lines, line);) {
    if (line.size() < 4 || !std::isdigit(line[0]) || line[3] != '`') continue;
    found.insert(line.substr(4, line.find('`', 4) - 4));
  }
  return found;
}

TEST(Operators, CeilDivTouchesTheFilesOfTheGuideAndNoMore) {
  std::set<std::string> guide = files_of_guide();
  EXPECT_LE(guide.size(), 5u);
  EXPECT_EQ(files_naming("kCeilDiv"), guide);
}

// The operator of a row, which is no leaf's, of symbols and conditions.
Expr example(ExprPool& pool, const OpInfo& row) {
  const Expr x = pool.symbol("x", SymbolKind::kUnbackedInt);
  const Expr flag = lt(x, pool.integer(3));
  const bool of_booleans = row.args == ArgClass::kBoolean;
  std::vector<Expr> args(static_cast<size_t>(std::max(row.min_args, 2)),
                         of_booleans ? flag : x);
  if (row.max_args >= 0) args.resize(static_cast<size_t>(row.max_args));
  while (args.size() < static_cast<size_t>(std::max(row.min_args, 0))) {
    args.push_back(x);
  }
  if (row.args == ArgClass::kCondition) args[0] = flag;
  return pool.make(row.op, args);
}

TEST(Operators, AreReadAsTheyArePrinted) {
  ExprPool pool;
  for (size_t i = 0; i < kOpCount; ++i) {
    const OpInfo& row = info(static_cast<Op>(i));
    EXPECT_EQ(static_cast<size_t>(row.op), i);
    if (is_leaf(row.op)) continue;
    const Expr e = example(pool, row);
    EXPECT_EQ(parse(pool, to_string(e)), e) << to_string(e);
  }
}

TEST(Operators, AreOfTheKindThatOthersDefineWhereTheyHaveADefinition) {
  ExprPool pool;
  for (size_t i = 0; i < kOpCount; ++i) {
    const OpInfo& row = info(static_cast<Op>(i));
    if (is_leaf(row.op)) continue;
    const Expr e = example(pool, row);
    EXPECT_EQ(row.kind == OpKind::kDefined, definition(e) != e) << row.name;
  }
}

// Loosest first.
const std::vector<std::set<std::string_view>> kPythonsSigns = {
    {"or"},       {"and"}, {"==", "!=", "<", "<="}, {"|"}, {"^"}, {"&"},
    {"<<", ">>"}, {"+"},   {"*", "/", "//", "%"},   {"**"}};

TEST(Operators, SignsBindAsInPython) {
  std::vector<std::pair<size_t, Precedence>> found;
  for (size_t i = 0; i < kOpCount; ++i) {
    const Infix& infix = info(static_cast<Op>(i)).infix;
    if (infix.sign.empty()) continue;
    EXPECT_TRUE(std::ranges::any_of(kPythonsSigns, [&](const auto& s) {
      return s.contains(infix.sign);
    })) << infix.sign;
    for (size_t level = 0; level < kPythonsSigns.size(); ++level) {
      if (kPythonsSigns[level].contains(infix.sign))
        found.emplace_back(level, infix.precedence);
    }
  }
  EXPECT_GT(found.size(), 20u);
  for (const auto& [level, precedence] : found) {
    for (const auto& [other, others] : found) {
      EXPECT_EQ(level < other, precedence < others) << level << ' ' << other;
    }
  }
}

// x - y*z is x - (y*z), by the rows of * and +: such brackets change no value.
TEST(Operators, SignsAreReadAsTheyBind) {
  ExprPool pool;
  std::vector<Infix> signs;
  for (size_t i = 0; i < kOpCount; ++i) {
    const OpInfo& row = info(static_cast<Op>(i));
    const bool of_integers = row.result == ResultClass::kInt ||
                             row.result == ResultClass::kOfArguments;
    if (of_integers && !row.infix.sign.empty()) signs.push_back(row.infix);
  }
  EXPECT_GT(signs.size(), 10u);
  const Expr symbols[] = {pool.symbol("x", SymbolKind::kUnbackedInt),
                          pool.symbol("y", SymbolKind::kUnbackedInt),
                          pool.symbol("z", SymbolKind::kUnbackedInt)};
  for (const Infix& first : signs) {
    for (const Infix& second : signs) {
      const std::string a = " " + std::string(first.sign) + " ";
      const std::string b = " " + std::string(second.sign) + " ";
      const bool is_power = first.precedence == Precedence::kPower;
      const bool from_right =
          first.precedence < second.precedence ||
          (is_power && second.precedence == Precedence::kPower);
      const Expr plain = parse(pool, "x" + a + "y" + b + "z");
      const Expr bracketed =
          parse(pool, from_right ? "x" + a + "(y" + b + "z)"
                                 : "(x" + a + "y)" + b + "z");
      for (int n = 0; n < 4 * 4 * 4; ++n) {
        Assignment point;
        const int at[] = {n % 4, n / 4 % 4, n / 16};
        for (size_t k = 0; k < 3; ++k) point.set(symbols[k], Int(at[k]));
        EXPECT_EQ(evaluate(plain, point).value,
                  evaluate(bracketed, point).value)
            << to_string(plain) << " at " << point.to_string();
      }
    }
  }
}

// What Python is given is read back: as what is meant, and as the operator
// where Python has a function that is it.
TEST(Operators, AreReadAsPythonMeansThem) {
  ExprPool pool;
  const Expr symbols[] = {pool.symbol("x", SymbolKind::kUnbackedInt),
                          pool.symbol("y", SymbolKind::kUnbackedInt),
                          pool.symbol("z", SymbolKind::kUnbackedInt)};
  for (size_t i = 0; i < kOpCount; ++i) {
    const OpInfo& row = info(static_cast<Op>(i));
    if (is_leaf(row.op)) continue;
    std::vector<Expr> args;
    const int most = row.max_args < 0 ? 2 : row.max_args;
    for (size_t k = 0; k < static_cast<size_t>(most); ++k) {
      const bool is_truth = row.args == ArgClass::kBoolean ||
                            (row.args == ArgClass::kCondition && k == 0);
      args.push_back(is_truth ? lt(symbols[k], pool.integer(1)) : symbols[k]);
    }
    const Expr e = pool.make(row.op, args);
    const Expr read = parse(pool, to_python(e));
    EXPECT_EQ(read.type(), e.type()) << to_python(e);
    for (int n = 0; n < 7 * 7 * 7; ++n) {
      Assignment point;
      const int at[] = {n % 7 - 3, n / 7 % 7 - 3, n / 49 - 3};
      for (size_t k = 0; k < 3; ++k) point.set(symbols[k], Int(at[k]));
      const Evaluation is = evaluate(e, point), means = evaluate(read, point);
      if (!is.defined()) continue;
      ASSERT_TRUE(means.defined()) << to_python(e) << ": " << means.why;
      ASSERT_EQ(*is.value, *means.value)
          << to_python(e) << " at " << point.to_string();
    }
  }
}

TEST(Operators, AnIndicatorOfAnyRankIsReadAsPythonWritesIt) {
  ExprPool pool;
  for (const char* text :
       {"IsNonOverlappingAndDenseIndicator()",
        "IsNonOverlappingAndDenseIndicator(a, b)",
        "a + 2*IsNonOverlappingAndDenseIndicator(a, b + 1, c, Mod(d, 3))",
        "IsNonOverlappingAndDenseIndicator(a, b, "
        "IsNonOverlappingAndDenseIndicator(c, d), 1)"}) {
    const Expr e = parse(pool, text);
    EXPECT_EQ(parse(pool, to_python(e)), e) << to_python(e);
  }
  for (const char* text : {"eval_is_non_overlapping_and_dense([a], [])",
                           "eval_is_non_overlapping_and_dense(a, b)",
                           "eval_is_non_overlapping_and_dense([a], [b)",
                           "eval_is_non_overlapping_and_dense([a, b, c])"}) {
    EXPECT_THROW((void)parse(pool, text), Error) << text;
  }
}

// Checks of a program run what is printed for Python: what it calls, Python
// has. A call of nothing, `(x, y)`, is a pair.
TEST(Operators, PythonCallsWhatPythonHas) {
  const std::set<std::string> has = {"abs", "float", "int",  "max",
                                     "min", "pow",   "round"};
  ExprPool pool;
  const Expr x = pool.symbol("x", SymbolKind::kUnbackedInt);
  size_t calls = 0;
  for (size_t i = 0; i < kOpCount; ++i) {
    const OpInfo& row = info(static_cast<Op>(i));
    if (row.args != ArgClass::kInteger && row.args != ArgClass::kNumber) {
      continue;
    }
    if (row.max_args < 0) continue;
    const std::string text = to_python(pool.make(
        row.op, std::vector<Expr>(static_cast<size_t>(row.max_args), x)));
    EXPECT_NE(text[0], '(') << text;
    for (size_t open = text.find('('); open != std::string::npos;
         open = text.find('(', open + 1)) {
      size_t begin = open;
      while (begin > 0 && (std::isalnum(text[begin - 1]) ||
                           text[begin - 1] == '_' || text[begin - 1] == '.')) {
        --begin;
      }
      const std::string name = text.substr(begin, open - begin);
      if (name.empty()) continue;  // brackets
      ++calls;
      EXPECT_TRUE(has.contains(name) || name.starts_with("math.")) << text;
    }
  }
  EXPECT_GT(calls, 20u);
}

// A definition has the same value, and is undefined where the operator is; of
// an operator that takes floats too, of floats as well.
TEST(Operators, MeanWhatTheirDefinitionsMean) {
  ExprPool pool;
  std::vector<Expr> integers, floats;
  for (const char* name : {"x", "y", "z"}) {
    integers.push_back(pool.symbol(name, SymbolKind::kUnbackedInt));
    floats.push_back(
        pool.symbol(std::string("zuf") + name, SymbolKind::kUnbackedFloat));
  }
  int defined_by_others = 0;
  // With each argument an integer, or, by the bits of `which`, a half.
  const auto compare = [&](const OpInfo& row, unsigned which) {
    std::vector<Expr> symbols;
    for (size_t i = 0; i < 3; ++i)
      symbols.push_back(which >> i & 1 ? floats[i] : integers[i]);
    const std::span<const Expr> args(symbols);
    const Expr e =
        pool.make(row.op, args.first(static_cast<size_t>(row.max_args)));
    const Expr meaning = definition(e);
    defined_by_others += meaning != e;
    if (meaning == e && row.divisors == 0) return;
    EXPECT_EQ(meaning.type(), e.type()) << to_string(e);
    for (int n = 0; n < 7 * 7 * 7; ++n) {
      Assignment point;
      const int at[] = {n % 7 - 3, n / 7 % 7 - 3, n / 49 - 3};
      for (size_t i = 0; i < 3; ++i) {
        if (which >> i & 1) {
          point.set(symbols[i], Rational(at[i], 2));
        } else {
          point.set(symbols[i], Int(at[i]));
        }
      }
      const Evaluation is = evaluate(e, point),
                       means = evaluate(meaning, point);
      ASSERT_EQ(is.defined(), means.defined())
          << to_string(e) << " at " << point.to_string();
      if (is.defined()) {
        ASSERT_EQ(*is.value, *means.value)
            << to_string(e) << " at " << point.to_string();
      } else if (row.divisors > 0) {
        const bool zero = at[1] == 0 || (row.divisors > 1 && at[2] == 0);
        EXPECT_TRUE(zero) << to_string(e);
      }
    }
  };
  for (size_t i = 0; i < kOpCount; ++i) {
    const OpInfo& row = info(static_cast<Op>(i));
    const bool takes_floats = row.args == ArgClass::kNumber;
    if (row.args != ArgClass::kInteger && !takes_floats) continue;
    if (row.max_args < 1) continue;
    const unsigned mixes = takes_floats ? 1u << row.max_args : 1;
    for (unsigned which = 0; which < mixes; ++which) compare(row, which);
  }
  EXPECT_GE(defined_by_others, 2);
}

}  // namespace
}  // namespace proviso
