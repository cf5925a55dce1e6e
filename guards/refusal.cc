#include "guards/refusal.h"

namespace proviso::inline v0_2 {

namespace {

const char* const kOtherWay =
    "\n  give sizes for which it holds, or export an example like these, if "
    "the "
    "program takes them";

std::string range_text(const DimConstraint& c) {
  return Interval::of(c.min, c.max).to_string();
}

std::string promise_text(const DimConstraint& c) {
  return c.name.empty() ? "dynamic_shapes promises sizes"
                        : "Dim " + c.name + " promises sizes";
}

}  // namespace

std::string shown_place(const SourceLocation& where) {
  return where.line ? where.to_string() : "`" + where.code + "`";
}

std::string needed_at(const std::vector<SourceLocation>& origins) {
  std::string text;
  for (const SourceLocation& where : origins) {
    if (where.line == 0 && where.code.empty()) continue;
    text += text.empty() ? "\n  needed at " : "\n        and ";
    text += shown_place(where);
  }
  return text;
}

std::string guard_remedy(const Guard& guard) {
  return needed_at(guard.origins) +
         (guard.promised ? "\n  give such sizes, or promise less in "
                           "dynamic_shapes"
                         : kOtherWay);
}

std::string size_remedy(const InputDim& dim, const Int& value,
                        const std::vector<SourceLocation>& origins) {
  const DimConstraint& c = dim.constraint;
  if (c.policy == DimPolicy::kStatic) {
    return "\n  the dimension is static: give it Dim.AUTO or a named Dim in "
           "dynamic_shapes to let it vary";
  }
  if (dim.expr.is_constant()) {
    return "\n  the example size " + dim.hint.to_string() +
           " became a constant: export with an example size >= 2, or with "
           "specialize_zero_one=False";
  }
  if (!Interval::of(c.min, c.max).contains(value)) {
    return "\n  " + promise_text(c) + " in " + range_text(c) +
           ": widen it to allow " + value.to_string();
  }
  if (!origins.empty()) return needed_at(origins) + kOtherWay;
  return "\n  the program was traced for larger sizes, of which more is known: "
         "export again with an example of size " +
         value.to_string() + ", or with specialize_zero_one=False";
}

std::string equal_sizes_remedy(const InputDim& first, const InputDim& second) {
  const std::string& name = first.constraint.name;
  if (name.empty() || name != second.constraint.name) {
    return "\n  equal examples were taken for one size: export without "
           "duck_shape, or with named Dims";
  }
  return "\n  both are Dim " + name +
         ": give them Dims of two names to let "
         "them differ";
}

}  // namespace proviso::inline v0_2
