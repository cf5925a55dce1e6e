// solver/linear.h - constraints over integer unknowns: do they contradict each
// other?
//
//   LinearSystem system(reasons);
//   system.add({{{x, 2}, {y, -2}}, -1, true, why});   // 2x - 2y - 1 == 0
//   system.contradiction();                           // why: no integers do
//
// Equalities are solved (by Euclid's steps with fresh unknowns where no
// coefficient is a unit), then unknowns are eliminated by Fourier and Motzkin's
// method, the cheapest first; each new constraint is divided by the gcd of its
// coefficients and its constant rounded down.  Before constraints would
// multiply, a simplex (solver/simplex.h) looks at all that are left.  A
// constraint whose coefficients outgrow 64 bits is dropped.  A contradiction is
// a proof; none found proves nothing.
#pragma once

#include <optional>
#include <vector>

#include "solver/id_map.h"
#include "solver/reason.h"
#include "sym/integer.h"
#include "sym/intern_index.h"
#include "sym/small_vector.h"

namespace proviso::inline v0_2::internal {

struct LinearTerm {
  uint32_t unknown;
  int64_t coef;  // not zero, at most LinearSystem::kMaxCoefficient
  friend bool operator==(const LinearTerm&, const LinearTerm&) = default;
};

struct LinearConstraint {
  SmallVector<LinearTerm, 10> terms;  // ascending unknown
  Int constant;
  bool equality = false;  // terms + constant == 0, else >= 0
  Reason why = 0;
};

// The constraints over other unknowns, whole combinations of the old ones and
// these of them, with smaller coefficients: integer solutions correspond.
// Nothing where coefficients are small already, or the constraints are many.
std::optional<std::vector<LinearConstraint>> with_short_columns(
    const std::vector<LinearConstraint>& constraints);

class LinearSystem {
 public:
  static constexpr int64_t kMaxCoefficient = int64_t{1} << 62;

  // Room is made for so many constraints.
  LinearSystem(ReasonArena& reasons, size_t constraints);

  void add(LinearConstraint constraint);
  // Spends at most `units` of work.
  std::optional<Reason> contradiction(uint64_t units);
  uint64_t work() const { return work_; }

 private:
  struct Unknown {
    uint32_t solved = kNoId;  // its place in solved_
    uint32_t pos = 0,
             neg = 0;  // active constraints by the sign of its coefficient
    // The ones among these where it is not 1 or -1.
    uint32_t large_pos = 0, large_neg = 0;
    SmallVector<uint32_t, 8>
        constraints;  // and others that are inactive by now
  };

  bool normalize(LinearConstraint& constraint);
  void insert(LinearConstraint&& constraint);
  void check_opposite(const LinearConstraint& constraint, uint64_t hash);
  uint32_t find(const LinearConstraint& constraint, uint64_t hash,
                bool opposite) const;
  void add_normalized(LinearConstraint&& constraint);
  void count(const LinearConstraint& constraint, int by);
  void deactivate(uint32_t i);
  Unknown& unknown(uint32_t x);
  void solve_equalities(uint64_t limit);
  void solve_equality();
  void solve_for(uint32_t x, LinearConstraint&& equal, int64_t sign);
  bool substitute_solved(LinearConstraint& constraint);
  void add_inequalities();
  bool eliminate_variable(uint64_t limit);
  void run_simplex(uint64_t units);
  bool combine(const LinearConstraint& a, int64_t ka, const LinearConstraint& b,
               int64_t kb, LinearConstraint& out);

  // An equality in which the unknown has the coefficient `sign`, 1 or -1.
  struct Solved {
    uint32_t unknown;
    int64_t sign;
    LinearConstraint constraint;
  };

  ReasonArena& reasons_;
  std::vector<LinearConstraint>
      inequalities_;            // inequalities, until equalities are solved
  std::vector<Solved> solved_;  // each may be about later ones
  std::vector<LinearConstraint> constraints_;  // inequalities
  std::vector<bool> active_;
  InternIndex index_;  // of constraints by their terms
  std::vector<LinearConstraint> equalities_;
  std::vector<Unknown> unknowns_;
  IdMap place_of_;  // from the caller's unknowns to their places there
  std::optional<Reason> conflict_;
  size_t fresh_ = 0;
  bool has_run_simplex_ = false;
  uint64_t work_ = 0;
};

}  // namespace proviso::inline v0_2::internal
