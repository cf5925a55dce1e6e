// solver/linear.h - rows over integer unknowns: do they contradict each other?
//
//   LinearSystem system(reasons, spend);
//   system.add({{{x, 2}, {y, -2}}, -1, true, why});   // 2x - 2y - 1 == 0
//   system.contradiction();                           // why: no integers do
//
// Fourier-Motzkin elimination in which each new row is divided by the gcd of
// its coefficients and its constant rounded down.  A contradiction is a proof;
// none found proves nothing.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "solver/reason.h"
#include "sym/integer.h"

namespace proviso {

struct LinearRow {
  std::vector<std::pair<uint32_t, Int>> terms;  // ascending unknown, nonzero
  Int constant;
  bool equality = false;  // terms + constant == 0, else >= 0
  Reason why = 0;
};

class LinearSystem {
 public:
  LinearSystem(ReasonArena& reasons, std::function<void(uint64_t)> spend)
      : reasons_(reasons), spend_(std::move(spend)) {}

  void add(LinearRow row);
  std::optional<Reason> contradiction();
  size_t size() const { return rows_.size(); }

 private:
  struct TermsHash {
    size_t operator()(const std::vector<std::pair<uint32_t, Int>>& t) const;
  };

  bool normalize(LinearRow& row);
  void insert(LinearRow row);
  void check_opposite(const LinearRow& row);
  bool eliminate_equality();
  bool eliminate_variable();
  LinearRow combine(const LinearRow& a, const Int& ka, const LinearRow& b,
                    const Int& kb);
  void remove_all(const std::vector<size_t>& dead);

  ReasonArena& reasons_;
  std::function<void(uint64_t)> spend_;
  std::vector<LinearRow> rows_;
  std::vector<LinearRow> equalities_;
  std::unordered_map<std::vector<std::pair<uint32_t, Int>>, size_t, TermsHash>
      index_;  // inequality by its terms
  std::optional<Reason> conflict_;
  size_t made_ = 0;
};

}  // namespace proviso
