// guards/source_text.h - text that speaks of inputs, as an expression.
//
//   SourceValues values;
//   values.add("L['x'].size()[0]", s0);
//   values.add("s77", s1);
//   parse_over(pool, "L['x'].size()[0] <= 2*s77", values);  // s0 <= 2*s1
//
// Guards are written so in .pt2 files, theirs and ours; an argument of *xs is
// L['xs_0'] or L['xs'][0].  Nothing is evaluated: what is no such text is an
// Error that shows it.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "sym/api.h"
#include "sym/expr.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

// What text calls the values: names, or sources that begin with L[.  To look
// one up costs the logarithm of their number.
class SourceValues {
 public:
  void add(const std::string& source, Expr value);
  // Null where there is none.
  [[nodiscard]] Expr named(std::string_view name) const;
  // The longest source that `text` begins with: L['x'].size()[0] before L['x'].
  // Null where there is none; its length else.
  [[nodiscard]] Expr beginning(std::string_view text, size_t* length) const;

 private:
  struct Named {
    Expr value;
    bool alias;  // of *xs: gives way to a source that was added
  };
  std::map<std::string, Named, std::less<>> values_;
};

// The values are of `pool`.
[[nodiscard]] Expr parse_over(ExprPool& pool, std::string_view text,
                              const SourceValues& values);

}  // namespace proviso::inline v0_2
PROVISO_API_END
