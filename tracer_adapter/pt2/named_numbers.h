// tracer_adapter/pt2/named_numbers.h - numbers that a file calls by a name.
//
//   n = x.shape[0] ^ x.shape[1]         # BitwiseFn_bitwise_xor(s0, s1)
//   x.new_zeros(n)                      # f32[u0], and u0 in [0, int_oo]
//
//   dynamic_shapes=({0: 2 * Dim("d")},)  # x: f32[2*s1], and s1 in [0, int_oo]
//
// torch.export.load reads the sizes of a file with a fixed list of functions:
// not those of bits, no power of two symbols, no square root.  What a node
// computes with another one is in the file a symbol, as if the node read it
// from data, with the range that it is known to have.  A size that is promised
// to be factor*d + offset of a Dim, or to have one remainder, is written so, as
// torch.export does: a reader can tell the promise from what the program found
// out.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "tracer_adapter/exported_program.h"

namespace proviso::inline v0_2::pt2 {

class NamedNumbers {
 public:
  explicit NamedNumbers(const ExportedProgram& program);

  // e as the file writes it.
  Expr written(Expr e) const;
  // Whether a symbol of `written` stands for what a node computes.
  bool is_from_data(Expr written) const;
  // The symbols that stand for something, with their ranges, and the floats
  // read from data: torch.export.load reads no assertion of one without.
  const std::vector<RangeConstraint>& ranges() const { return ranges_; }

 private:
  void name_roots();
  void note_names(const Graph& graph);
  void name_values(const Graph& graph);
  void name_value(Expr e);
  Expr fresh_symbol(char prefix, SymbolKind kind);

  std::optional<RootDim> root_of(const InputDim& dim) const;

  const ExportedProgram& program_;
  std::set<std::string> names_;                       // of symbols
  std::unordered_map<Expr, Expr, ExprHash> symbols_;  // of what nodes compute
  std::unordered_map<Expr, Expr, ExprHash> derived_;  // s0: 2*s1 + 1
  std::vector<RangeConstraint> ranges_;
};

}  // namespace proviso::inline v0_2::pt2
