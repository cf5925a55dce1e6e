// solver/simplex.h - do inequalities have a rational solution?
//
//   Simplex simplex(unknowns);
//   simplex.add(row0);                        // terms + constant >= 0
//   simplex.infeasible(units);                // {0, 3}: these conflict
//
// The tableau method of Dutertre and de Moura (A Fast Linear-Arithmetic Solver
// for DPLL(T), CAV 2006) with exact integers: each row of the tableau is kept
// without common factors.  Where Fourier and Motzkin's method makes too many
// constraints, this one does not; it knows nothing of rounding.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "solver/linear.h"

namespace proviso::inline v0_2::internal {

class Simplex {
 public:
  explicit Simplex(size_t unknowns) : columns_(unknowns), free_(unknowns) {}

  // False when the constraint's numbers are too large; it is left out then.
  bool add(const LinearConstraint& constraint);
  // The constraints, by the order of add(), that have no common solution.
  // Spends at most `units` of work; nullopt is "there is one, or none was found
  // to lack".
  std::optional<std::vector<uint32_t>> infeasible(uint64_t units);
  uint64_t work() const { return work_; }

 private:
  // scale * basic == sum cells[j] * nonbasic[j] + constant; every nonbasic
  // unknown is 0.  An inequality's value is an unknown that is not negative.
  struct Row {
    std::vector<int64_t> cells;
    int64_t constant;
    int64_t scale;   // positive
    uint32_t basic;  // columns_ are distinguished from inequalities by free_
  };

  size_t violated() const;
  size_t entering(const Row& row) const;
  bool pivot(size_t r, size_t q);
  bool is_free(uint32_t variable) const { return variable < free_; }

  size_t columns_, free_;
  std::vector<Row> rows_;
  std::vector<uint32_t> nonbasic_;
  uint32_t slacks_ = 0;
  uint64_t work_ = 0;
};

}  // namespace proviso::inline v0_2::internal
