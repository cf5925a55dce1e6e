// Tests made from the rows of the rules: where each fires, where it is quiet,
// and that all it says has the same value at every small point.
#include <gtest/gtest.h>

#include <sstream>

#include "solver/solver.h"
#include "sym/canonical.h"
#include "sym/evaluate.h"
#include "sym/find_node.h"
#include "sym/form_search.h"
#include "sym/parse.h"
#include "sym/print.h"
#include "tests/support/random_expr.h"
#include "tests/support/random_index.h"

namespace proviso::inline v0_2::internal {
namespace {

// Ranges of symbols and facts, what follows from them at once, and what is
// proved.
class Given final : public Facts {
 public:
  Given(ExprPool& pool, const std::string& text) : context_(pool) {
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ';');) {
      if (part.find(" in [") == std::string::npos) {
        assume(parse(pool, part));
        continue;
      }
      const RangeDeclaration r = parse_range(part);
      const Expr symbol = parse(pool, r.name);
      given_.emplace_back(symbol, Interval::of(r.lower, r.upper));
      context_.declare(symbol, given_.back().second);
    }
  }
  void assume(Expr fact) {
    facts_.push_back(fact);
    context_.assume(fact);
    if (fact.is(Op::kEq) && fact.arg(0).is_int()) {
      zeros_.push_back(proviso::canonical(fact.arg(0) - fact.arg(1)));
    }
  }
  std::optional<Int> lower(Expr e) const override {
    return e.is_int() ? context_.bounds_quick(e).lower() : std::nullopt;
  }
  std::optional<Int> upper(Expr e) const override {
    return e.is_int() ? context_.bounds_quick(e).upper() : std::nullopt;
  }
  std::optional<bool> truth(Expr e) const override {
    const Expr known = context_.canonical(e);
    return known.is_constant() ? std::optional(known.is_true()) : std::nullopt;
  }
  std::optional<bool> proved(Expr e) const override {
    const Verdict verdict = context_.ask(e).verdict;
    if (verdict == Verdict::kUnknown) return std::nullopt;
    return verdict == Verdict::kYes;
  }
  std::span<const Expr> zeros() const override { return zeros_; }
  std::optional<Int> residue(Expr e, const Int& m) const override {
    const Expr r = context_.canonical(mod(e, e.pool().integer(m)));
    return r.is(Op::kInteger) ? std::optional(r.integer()) : std::nullopt;
  }
  bool allow(const Assignment& point) const {
    for (const auto& [symbol, range] : given_) {
      if (!range.contains(std::get<Int>(*point.find(symbol)))) return false;
    }
    return std::all_of(facts_.begin(), facts_.end(), [&](Expr fact) {
      return evaluate(fact, point).is_true();
    });
  }

 private:
  mutable Context context_;
  std::vector<std::pair<Expr, Interval>> given_;
  std::vector<Expr> facts_, zeros_;
};

// The symbols x, y and z with what is given, and the small points there.
class SmallBox {
 public:
  explicit SmallBox(const std::string& given = "")
      : symbols_{parse(pool, "x"), parse(pool, "y"), parse(pool, "z")},
        facts(pool, given) {}

  // A point in [-k, k]^3, few or many, where before is defined and has another
  // value than after.
  std::string difference(Expr before, Expr after, int k) {
    for (int a = -k; a <= k; ++a) {
      for (int b = -k; b <= k; ++b) {
        for (int c = -k; c <= k; c += k > 4 ? 3 : 1) {
          Assignment point;
          point.set(symbols_[0], Int(a));
          point.set(symbols_[1], Int(b));
          point.set(symbols_[2], Int(c));
          if (!facts.allow(point)) continue;
          const Evaluation x = evaluate(before, point);
          if (!x.defined()) continue;
          ++points;
          const Evaluation y = evaluate(after, point);
          if (y.defined() && *x.value == *y.value) continue;
          return to_string(before) + " is " + to_string(*x.value) + ", " +
                 to_string(after) + " is " +
                 (y.defined() ? to_string(*y.value) : y.why) + " at " +
                 point.to_string();
        }
      }
    }
    return "";
  }

  ExprPool pool;
  std::vector<Expr> symbols_;
  Given facts;
  size_t points = 0;  // at which difference() has compared two values
};

Found said_by(const Rule& rule, SmallBox& box, Expr e) {
  FormSearch search(box.pool, &box.facts);
  const Expr c = search.canonical(e);
  Found found;
  if (applies(rule.on, c)) rule.apply(search, c, found);
  std::erase_if(found, [&](Expr f) { return search.canonical(f) == c; });
  return found;
}

TEST(Rules, FireOnTheirExampleAndSayWhatIsEqual) {
  for (const Rule* rule : all_rules()) {
    SmallBox box(rule->row.given);
    const Expr e = parse(box.pool, rule->row.fires);
    const Found found = said_by(*rule, box, e);
    EXPECT_FALSE(found.empty()) << rule->row.name << " on " << rule->row.fires;
    for (Expr f : found) {
      EXPECT_EQ(box.difference(e, f, 12), "") << rule->row.name;
    }
    EXPECT_GE(box.points, 20u) << rule->row.name;
  }
}

TEST(Rules, AreQuietWhereTheirConditionFails) {
  for (const Rule* rule : all_rules()) {
    SmallBox box(rule->row.given);
    const Expr e = parse(box.pool, rule->row.quiet);
    for (Expr f : said_by(*rule, box, e)) {
      ADD_FAILURE() << rule->row.name << ": " << rule->row.quiet << " -> " << f;
    }
  }
}

// Whether the rule says `after` of `before` where the symbols have these
// values, or stay, and the condition is a fact.
bool says_its_row(const Rule& rule, const std::vector<std::string>& names,
                  const std::vector<int>& values) {
  ExprPool pool;
  std::unordered_map<Expr, Expr, ExprHash> numbers;
  for (size_t i = 0; i < names.size(); ++i) {
    if (values[i] != 0) {
      numbers.emplace(parse(pool, names[i]), pool.integer(values[i]));
    }
  }
  const auto at_values = [&](const char* text) {
    return substitute(parse(pool, text), numbers);
  };
  Given facts(pool, "");
  if (*rule.row.condition != '\0') {
    const Expr condition = proviso::canonical(at_values(rule.row.condition));
    if (condition.is_false()) return false;
    visit_operands(condition, Op::kAnd, [&](Expr part) {
      if (!part.is_constant()) facts.assume(part);
      return true;
    });
  }
  FormSearch search(pool, &facts);
  const Expr before = search.canonical(at_values(rule.row.before));
  const Expr after = search.canonical(at_values(rule.row.after));
  if (before == after || !applies(rule.on, before)) return false;
  Found found;
  rule.apply(search, before, found);
  return std::any_of(found.begin(), found.end(),
                     [&](Expr f) { return search.canonical(f) == after; });
}

// The function says what the row says, of what stands there, with some numbers
// for the symbols.
TEST(Rules, SayWhatTheirRowsSay) {
  constexpr int kValues[] = {0, 1, 2, 3, 6};  // 0: the symbol
  for (const Rule* rule : all_rules()) {
    ExprPool pool;
    std::vector<std::string> names;
    for (const char* text :
         {rule->row.before, rule->row.after, rule->row.condition}) {
      if (*text == '\0') continue;
      for (Expr s : free_symbols(parse(pool, text))) {
        const std::string name = to_string(s);
        if (std::find(names.begin(), names.end(), name) == names.end()) {
          names.push_back(name);
        }
      }
    }
    bool says = false;
    std::vector<size_t> choice(names.size(), 0);
    while (!says) {
      std::vector<int> values;
      for (size_t c : choice) values.push_back(kValues[c]);
      says = says_its_row(*rule, names, values);
      size_t i = 0;
      while (i < choice.size() && choice[i] + 1 == std::size(kValues)) {
        choice[i++] = 0;
      }
      if (i == choice.size()) break;
      ++choice[i];
    }
    EXPECT_TRUE(says) << rule->row.name << ": " << rule->row.before << " -> "
                      << rule->row.after;
  }
}

TEST(Rules, HaveNamesOfTheirOwn) {
  std::vector<std::string> names;
  for (const Rule* rule : all_rules()) names.push_back(rule->row.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_EQ(search_rule_counts().size(), names.size());
}

// Whatever a rule says of a part of e has that part's value, be it cheaper or
// not.
void check_all_rules(SmallBox& box, Expr e, const std::string& of) {
  FormSearch search(box.pool, &box.facts);
  std::vector<Expr> parts;
  std::unordered_map<uint32_t, bool> seen;
  visit_arguments_first(
      search.canonical(e), [&](Expr x) { return seen.contains(x.id()); },
      [&](Expr x) {
        seen[x.id()] = true;
        if (!is_leaf(x.op())) parts.push_back(x);
      });
  for (Expr part : parts) {
    for (const Rule* rule : all_rules()) {
      if (!applies(rule->on, part)) continue;
      Found found;
      rule->apply(search, part, found);
      for (Expr f : found) {
        ASSERT_EQ(box.difference(part, f, 4), "")
            << rule->row.name << ", " << of;
      }
    }
  }
}

TEST(Rules, SayOnlyWhatIsEqualOfRandomExpressions) {
  const uint32_t seed = testing::seed_or(7);
  const char* rounds = std::getenv("PROVISO_TEST_PROBLEMS");
  const auto count = static_cast<uint32_t>(rounds ? std::atoi(rounds) : 60);
  static constexpr const char* kGiven[] = {"", "y in [0, 3]",
                                           "x in [1, int_oo]; z in [-2, 2]"};
  for (uint32_t round = 0; round < count; ++round) {
    SmallBox box(kGiven[round % 3]);
    testing::RandomExpr any(box.pool, box.symbols_, seed + round);
    testing::RandomIndex index(box.pool, box.symbols_, seed + round);
    const Expr e = round % 4 == 0   ? any.integer(2)
                   : round % 4 == 1 ? any.boolean(2)
                   : round % 4 == 2 ? index.integer(1)
                                    : index.boolean(1);
    check_all_rules(box, e, "seed " + std::to_string(seed + round));
    if (HasFatalFailure()) return;
  }
}

// The examples of all rules have each rule's shapes, and shapes that are nearly
// its own: a rule that forgets a condition says something wrong of one of them.
TEST(Rules, SayOnlyWhatIsEqualOfTheExamplesOfAll) {
  for (const Rule* rule : all_rules()) {
    for (const char* text : {rule->row.fires, rule->row.quiet}) {
      SmallBox box(rule->row.given);
      check_all_rules(box, parse(box.pool, text), text);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace proviso::inline v0_2::internal
