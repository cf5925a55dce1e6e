// solver/normal/functions.h - op(x, y) under what is known, for operators
// without a normal form of their own: powers and bit operations.
//
//   2**(n + 3), n >= 0                 8 * 2**n
//   x & y, y == 7 is known             x % 8
//
// The rules that facts are needed for are rows of a table
// (sym/rewrite_rule.h); their reasons join the caller's.  What holds at every
// point of operands that the facts have changed is known to
// solver/forms/functions.h.  What no rule says stays a function that nothing
// but its range is known of.
#pragma once

#include <vector>

#include "solver/normal/ranges.h"
#include "sym/rewrite_rule.h"

namespace proviso::inline v0_2::internal {

// The rules, with how often each was used.
std::vector<RewriteRuleCount> function_rule_counts();

class Functions {
 public:
  Functions(State& state, Ranges& ranges)
      : forms_(state.forms), reasons_(state.reasons), ranges_(ranges) {}

  // op(x, y); what was needed for it joins `why`.
  Poly value(Op op, const Poly& x, const Poly& y, Reason& why);

 private:
  struct Call;
  friend std::vector<RewriteRuleCount> function_rule_counts();

  FormPool& forms_;
  ReasonArena& reasons_;
  Ranges& ranges_;
};

}  // namespace proviso::inline v0_2::internal
