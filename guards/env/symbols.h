// guards/env/symbols.h - the sizes and values that a session has names for: how
// each came to be, its example, and which of them stand in an expression.
//
//   Symbols symbols(options, facts, log);
//   Expr s0 = symbols.create_size(8, "L['x'].size()[0]", {});
//   symbols.create_size(1, "L['x'].size()[1]", {});     // 1, no symbol
//   Expr u0 = symbols.create_unbacked(SymbolKind::kUnbackedInt, {0, 9});
//   symbols.hints().find(s0);                           // 8
//   symbols.in(s0 * u0);                                // {s0, u0}
//   symbols.depends_on_data(s0 * u0);                   // true
//
// A size is a symbol of its own but where
//   it is fixed: a static policy, or a range of one value;
//   its example is 0 or 1, and specialize_zero_one is on;
//   it has the name of an earlier Dim, or the example of an earlier size and
//   duck_shape is on: then it is that one's.
//
// Each symbol is a line of the log and an event; its range is a fact, and that
// it is at least 2 an assumption.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "guards/env/session_facts.h"

namespace proviso::inline v0_2::internal {

class Symbols {
 public:
  // All outlive it.
  Symbols(const ShapeEnvOptions& options, SessionFacts& facts, SessionLog& log);
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  // --- creation, as ShapeEnv promises it
  Expr create_size(int64_t hint, const std::string& source,
                   const DimConstraint& constraint);
  Expr create_backed_int(int64_t hint, const std::string& source,
                         const DimConstraint& constraint);
  Expr create_backed_float(double hint, const std::string& source);
  // `source` is that of an input without example, else empty.
  Expr create_unbacked(SymbolKind kind, const Interval& range,
                       const std::string& source = "");

  // --- how they came to be
  const Assignment& hints() const { return hints_; }
  const std::vector<InputDim>& dims() const { return dims_; }
  // The range in the event of its creation; all where it was made elsewhere.
  Interval first_range(Expr symbol) const;
  // The source of its first input, or its name.
  std::string source_name(Expr symbol) const;

  // Data that are sizes: PyTorch's size-like symbols.
  void mark_size_like(Expr symbol) { size_like_.insert(symbol); }
  bool is_size_like(Expr symbol) const { return size_like_.count(symbol) > 0; }

  // --- in expressions, remembered
  const std::vector<Expr>& in(Expr e);
  bool depends_on_data(Expr e);
  // Whether guard_or_false() and guard_or_true() may take their default: of
  // data, and where the options say so of sizes too.
  bool may_stay_open(Expr condition);

 private:
  struct NamedDim {
    DimConstraint constraint;
    Expr expr;
    int64_t hint;
    std::string source;
  };

  Expr create_size_symbol(int64_t hint, const std::string& source,
                          const Interval& promised);
  Expr create_backed(SymbolKind kind, const std::string& name,
                     const Value& hint, const std::string& source,
                     const Interval& range);
  std::optional<Expr> known_named_dim(int64_t hint, const std::string& source,
                                      const DimConstraint& constraint) const;
  void declare(Expr symbol, const Interval& range, const std::string& why);

  const ShapeEnvOptions& options_;
  SessionFacts& facts_;
  SessionLog& log_;

  int backed_ = 0, backed_floats_ = 0;  // made so far
  int unbacked_ = 0, unbacked_floats_ = 0;
  Assignment hints_;
  std::vector<InputDim> dims_;
  std::map<std::string, NamedDim> named_;
  std::map<int64_t, Expr> duck_sizes_;  // by example
  std::map<Expr, Interval, ExprLess> first_ranges_;
  std::set<Expr, ExprLess> size_like_;
  std::unordered_map<uint32_t, std::vector<Expr>> in_;  // by node id
};

// "L['x'].size()[0]" -> "x.size()[0]".
std::string display_name_of(const std::string& source);
// Eq(s0, s1), of backed symbols.
bool equates_sizes(Expr condition);

}  // namespace proviso::inline v0_2::internal
