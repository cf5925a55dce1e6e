// Index expressions of tensor programs (tests/indices): ours are as short as
// what TVM and tinygrad make of them, have the same values, and no part of them
// is larger than the input's parts are, so that none overflows sooner.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <unordered_set>

#include "sym/cost.h"
#include "tests/solver/support.h"

namespace proviso::testing {
namespace {

// One line of the file.
struct Index {
  // Symbols that may be large lie below `last`, where that is not 0.
  Index(const std::string& line, int64_t last)
      : json(nlohmann::json::parse(line)), name(json["id"]) {
    for (const auto& [symbol, ends] : json["ranges"].items()) {
      const Int low(ends[0].get<int64_t>());
      const bool is_large = ends[1].get<int64_t>() >= int64_t{1} << 39;
      const Int high(last != 0 && is_large ? last : ends[1].get<int64_t>());
      ranges.emplace_back(declared_symbol(pool, {symbol, low, high}),
                          Interval(low, high));
      context.declare(ranges.back().first, ranges.back().second);
    }
    for (const std::string fact : json["facts"]) {
      facts.push_back(parse(pool, fact));
      context.assume(facts.back());
    }
    before = text("before");
    ours = context.simplify(before);
  }
  Expr text(const char* key) {
    return parse(pool, json[key].get<std::string>());
  }
  bool is_given(const char* key) const { return !json[key].is_null(); }

  // Points at which the facts hold: ends of the ranges, what lies near them,
  // and what lies anywhere.
  template <typename Visit>
  void each_point(int tries, Visit visit) {
    std::mt19937_64 random(1);
    for (int i = 0; i < tries; ++i) {
      Assignment point;
      Int last = 0;
      for (const auto& [symbol, range] : ranges) {
        const Int span = *range.upper() - *range.lower() + Int(1);
        const Int by(static_cast<int64_t>(random() >> 1));
        const Int near(static_cast<int64_t>(random() % 300));
        Int value = *range.lower() + floor_mod(by, span);
        switch (random() % 6) {
          case 0: value = *range.lower() + floor_mod(near, span); break;
          case 1: value = *range.upper() - floor_mod(near, span); break;
          case 2: value = *range.upper(); break;
          case 3: value = last + near; break;  // facts are about neighbours
          default: break;
        }
        value = std::min(std::max(value, *range.lower()), *range.upper());
        point.set(symbol, value);
        last = value;
      }
      const bool holds = std::all_of(facts.begin(), facts.end(), [&](Expr f) {
        return evaluate(f, point).is_true();
      });
      if (holds) visit(point);
    }
  }

  nlohmann::json json;
  std::string name;
  ExprPool pool;
  Context context{pool, native_only()};
  std::vector<std::pair<Expr, Interval>> ranges;
  std::vector<Expr> facts;
  Expr before, ours;
};

template <typename Visit>
size_t each_index(int64_t last, Visit visit) {
  std::ifstream in(PROVISO_SOURCE_DIR "/tests/indices/indices.jsonl");
  size_t count = 0;
  for (std::string line; std::getline(in, line); ++count) {
    Index index(line, last);
    visit(index);
  }
  return count;
}

// The largest of e's parts at a point.  A sum or product is made from left to
// right; a subtraction is no product.
Int largest_part(Expr e, const Assignment& point) {
  std::unordered_set<uint32_t> seen;
  Int largest = 0;
  auto take = [&](const Int& value) {
    largest = std::max(largest, abs(value));
  };
  visit_arguments_first(
      e, [&](Expr x) { return seen.contains(x.id()); },
      [&](Expr x) {
        seen.insert(x.id());
        if (!x.is_int()) return;
        const bool is_sum = x.is(Op::kAdd), is_product = x.is(Op::kMul);
        if (!is_sum && !is_product) {
          const Evaluation at = evaluate(x, point);
          if (at.defined()) take(std::get<Int>(*at.value));
          return;
        }
        Int made = is_sum ? 0 : 1;
        for (Expr arg : x.args()) {
          const Evaluation at = evaluate(arg, point);
          if (!at.defined()) return;
          const Int& part = std::get<Int>(*at.value);
          made = is_sum ? made + part : made * part;
          take(made);
        }
      });
  return largest;
}

TEST(Indices, AreAsShortAsThePeersAndHaveTheSameValues) {
  const size_t count = each_index(0, [](Index& index) {
    for (const char* peer : {"tvm", "tinygrad"}) {
      if (!index.is_given(peer)) continue;
      EXPECT_LE(cost(index.ours), cost(index.text(peer)))
          << index.name << ": " << index.before << " -> " << index.ours << ", "
          << peer << " " << index.text(peer);
    }
    EXPECT_EQ(index.context.simplify(index.ours), index.ours) << index.name;
    size_t points = 0;
    index.each_point(400, [&](const Assignment& point) {
      ++points;
      ASSERT_EQ(evaluate(index.before, point).value,
                evaluate(index.ours, point).value)
          << index.name << " at " << point.to_string();
    });
    EXPECT_GT(points, 10u) << index.name;
  });
  EXPECT_GE(count, 400u);
}

// As they are, and with the sizes that are large as large as an int64 allows.
TEST(Indices, NoPartIsTooLargeForAnIntThatTheInputFitsIn) {
  size_t close = 0;
  for (const int64_t last : {int64_t{0}, int64_t{1} << 57, INT64_MAX / 8}) {
    each_index(last, [&](Index& index) {
      Int before = 0, ours = 0;
      Assignment where;
      index.each_point(400, [&](const Assignment& point) {
        before = std::max(before, largest_part(index.before, point));
        const Int part = largest_part(index.ours, point);
        if (part > ours) where = point;
        ours = std::max(ours, part);
      });
      for (const unsigned bits : {31u, 63u}) {
        const Int limit = *pow(Int(2), bits);
        if (before >= limit) continue;
        close += bits == 63 && before * Int(64) >= limit;
        EXPECT_LT(ours, limit) << index.name << ": " << index.before << " -> "
                               << index.ours << " at " << where.to_string();
      }
    });
  }
  EXPECT_GT(close, 20u);
}

}  // namespace
}  // namespace proviso::testing
