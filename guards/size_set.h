// guards/size_set.h - the sizes that satisfy conditions on one symbol, exactly.
//
//   // Eq(Mod(s0, 2), 0) & (s0 < 100), of the sizes from 2 on
//   auto set = sizes_where(s0, conditions, Interval::at_least(2), prove);
//   set->contains(4);                  // true
//   describe(*set, "dx", {Interval::at_least(2)});
//   // {"_dx = Dim('_dx', max=49)", "dx = 2*_dx"}
//
// Sums, differences, remainders, quotients and roundings by constants repeat:
// e(s + period) = e(s) + slope*period.  So the truth of a relation between two
// of them is periodic from some size on, and a table of the sizes up to there
// says all.  Nothing here is a guess: where no table is exact there is none.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "solver/interval.h"
#include "sym/api.h"
#include "sym/expr.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

// Every size n >= 0: table[n] where n < table.size(), beyond as n - period.
struct SizeSet {
  std::vector<bool> table;
  size_t period = 1;  // 1 <= period <= table.size()

  [[nodiscard]] bool contains(const Int& size) const;
  // Where the periodic part begins.
  size_t start() const { return table.size() - period; }
};

// Whether the condition holds for every size in the range; false: not known.
using ProveOnRange = std::function<bool(Expr condition, const Interval& range)>;

// The sizes in `range` for which all conditions are defined and true; other
// sizes may be in the set or not.  `prove` is asked for conditions that do not
// repeat by their form.  nullopt where no exact table is found.
[[nodiscard]] std::optional<SizeSet> sizes_where(
    Expr symbol, std::span<const Expr> conditions, const Interval& range,
    const ProveOnRange& prove);

// The sizes that a Dim promises.
struct PromisedSizes {
  Interval range;
  // Whether the lower end was asked for; else it is 2 by convention and a
  // definition leaves it out.
  bool has_min = false;
};

// Lines that redefine the Dim `name`, so that of the promised sizes it has
// those in the set and no others.  Empty when no short form is exact.
[[nodiscard]] std::vector<std::string> describe(const SizeSet& set,
                                                const std::string& name,
                                                const PromisedSizes& promised);

// "dx = Dim('dx', min=6, max=99)"; a min that promises nothing is left out.
[[nodiscard]] std::string dim_definition(const std::string& name,
                                         const PromisedSizes& sizes);

}  // namespace proviso::inline v0_2
PROVISO_API_END
