// The solver's own containers, against the standard ones.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "solver/id_map.h"
#include "sym/intern_index.h"
#include "sym/small_vector.h"
#include "sym/stable_vector.h"

namespace proviso {
namespace {
using namespace internal;

TEST(StableVector, KeepsElementsWhereTheyAre) {
  StableVector<std::string, 2> v;
  std::vector<const std::string*> places;
  for (int i = 0; i < 1000; ++i) {
    places.push_back(&v.emplace_back(std::string(20, 'a') + std::to_string(i)));
  }
  ASSERT_EQ(v.size(), 1000u);
  for (size_t i = 0; i < v.size(); ++i) {
    EXPECT_EQ(&v[i], places[i]);
    EXPECT_EQ(v[i], std::string(20, 'a') + std::to_string(i));
  }
  while (v.size() > 3) v.pop_back();
  EXPECT_EQ(v.back(), std::string(20, 'a') + "2");
  EXPECT_EQ(&v.emplace_back("again"), places[3]);
  v.resize(70);
  EXPECT_EQ(v[69], "");
  EXPECT_EQ(v[3], "again");
}

TEST(StableVector, ElementsOfWholeLinesLieOnLines) {
  struct Line {
    uint64_t words[8];
  };
  StableVector<Line> v;
  for (uint64_t i = 0; i < 100; ++i) {
    Line& line = v.emplace_back(Line{{i}});
    EXPECT_EQ(reinterpret_cast<uintptr_t>(&line) % 64, 0u);
  }
  for (uint64_t i = 0; i < 100; ++i) EXPECT_EQ(v[i].words[0], i);
}

TEST(SmallVector, DoesWhatVectorDoes) {
  std::mt19937 random(7);
  SmallVector<std::string, 3> small;
  std::vector<std::string> plain;
  for (int i = 0; i < 5000; ++i) {
    switch (random() % 5) {
      case 0:
      case 1:
      case 2: {
        std::string item(random() % 40, 'x');
        small.push_back(item);
        plain.push_back(item);
        break;
      }
      case 3:
        if (plain.empty()) break;
        small.pop_back();
        plain.pop_back();
        break;
      default: {  // there and back
        SmallVector<std::string, 3> copy = small, moved = std::move(small);
        ASSERT_EQ(copy, moved);
        small = std::move(moved);
        if (random() % 4 == 0) {
          small.clear();
          plain.clear();
        }
      }
    }
    ASSERT_EQ(std::vector<std::string>(small.begin(), small.end()), plain);
  }
}

TEST(IdMap, DoesWhatMapDoes) {
  std::mt19937 random(11);
  IdMap ids;
  std::map<uint32_t, uint32_t> plain;
  for (int i = 0; i < 5000; ++i) {
    const uint32_t key = random() % 700 * 4096, value = random() % 100;
    const bool drop = random() % 4 == 0;
    ids.set(key, drop ? kNoId : value);
    plain[key] = drop ? kNoId : value;
  }
  for (const auto& [key, value] : plain) EXPECT_EQ(ids.get(key), value);
  EXPECT_EQ(ids.get(1), kNoId);
}

// Runs side by side, runs that overlap, and keys that fall on one slot.
TEST(InternIndex, FindsWhatWasPutIn) {
  std::vector<InternIndex::Key> keys;
  for (uint32_t i = 0; i < 20000; ++i) {
    keys.push_back({1, i});
    keys.push_back({1, i + 100000});
    keys.push_back({i % 300, i});
    keys.push_back({7, i << 16});
  }
  InternIndex index;
  for (uint32_t id = 0; id < keys.size(); ++id) index.insert(keys[id], id);
  for (uint32_t id = 0; id < keys.size(); ++id) {
    EXPECT_EQ(index.find(keys[id], [id](uint32_t i) { return i == id; }), id);
  }
  EXPECT_EQ(index.find({2, 400000}, [](uint32_t) { return true; }), kNoId);
}

}  // namespace
}  // namespace proviso
