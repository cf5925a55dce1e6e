// guards/input_check.h - may these inputs run the traced program?
//
//   InputCheck check(env);                       // after tracing
//   std::vector<int64_t> sizes = {6, 5, 4, 8, 4, 33};   // as env.input_dims()
//   if (auto problem = check.problem(sizes)) ...
//   // Guard failed: y.size()[0]*x.size()[0] == z.size()[0] (x.size()[0] is 4,
//   // y.size()[0] is 8, z.size()[0] is 33)
//   //   needed at model.py:7 in `return x0.flatten() + z`
//   //   give sizes for which it holds, or export an example ...
//
// Promise: nullopt exactly when every static size, equality of sizes, promised
// range (ShapeEnv::enforced_range) and guard holds.  Inputs that fit
// cost some instructions a condition (GuardProgram).  Holds no reference to the
// hints or the solver, but the ShapeEnv (its pool) must outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "guards/guard_program.h"
#include "guards/shape_env.h"
#include "sym/api.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

class InputCheck {
 public:
  // What `env` promises now.  Throws Error when a guard is on a float input:
  // sizes and integers alone are checked here.
  explicit InputCheck(ShapeEnv& env);

  // Whether there is no problem.  `values` are as many as input_dims(), in
  // their order.
  [[nodiscard]] bool fits(const int64_t* values) const {
    return program_.holds(values);
  }
  const GuardProgram& program() const { return program_; }
  // What the conditions of program() call each dim.
  const std::vector<Expr>& symbols() const { return symbols_; }

  // `values` are in the order of input_dims().  Nullopt, or a sentence that
  // names the failing dim, the lines behind it, and the way out.  Throws Error
  // on a wrong number of values.
  [[nodiscard]] std::optional<std::string> problem(
      std::span<const int64_t> values) const;
  // problem() that asks for each value by its InputDim::source.
  [[nodiscard]] std::optional<std::string> problem(
      const std::function<int64_t(const std::string& source)>& value_of) const;

  // Every condition, as Python text over display names, in order of checking:
  // "w.size()[1] == 5", "x.size()[0] >= 4", "x.size()[0] == y.size()[1]".
  std::vector<std::string> conditions() const;

 private:
  struct Dim {
    InputDim input;
    Expr symbol;                    // null when the value follows from others
    std::optional<size_t> same_as;  // an earlier dim with the same symbol
    Interval range;                 // of a symbol, or the constant
    std::vector<SourceLocation> origins;  // what narrowed the range
  };
  struct Condition {
    Guard guard;
    std::string text;
    std::vector<size_t> dims;  // that it mentions, in order
  };

  void add_dim(ShapeEnv& env, const InputDim& dim);
  void add_guard(ShapeEnv& env, const Guard& guard, uint64_t& units);
  std::optional<std::string> range_text(const Dim& dim, const Int& value) const;
  std::string failed(const std::string& text, std::span<const size_t> dims,
                     std::span<const int64_t> values,
                     const std::string& remedy) const;

  std::vector<Expr> all_conditions() const;

  std::vector<Dim> dims_;
  std::vector<Expr> symbols_;  // by dim; one made for a dim without its own
  std::vector<Condition> conditions_;
  GuardProgram program_;  // all of it, over the dims in order
};

}  // namespace proviso::inline v0_2
PROVISO_API_END
