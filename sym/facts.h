// sym/facts.h - the questions that simplifications may ask about an expression.
// Whoever has facts implements them; the simplifier works without.
#pragma once

#include <optional>
#include <span>

#include "sym/api.h"
#include "sym/expr.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

struct Facts {
  virtual ~Facts() = default;
  // Proved bounds of a canonical numeric expression; nullopt is no bound.
  virtual std::optional<Int> lower(Expr e) const = 0;
  virtual std::optional<Int> upper(Expr e) const = 0;
  // Proved truth of a canonical boolean expression.
  virtual std::optional<bool> truth(Expr e) const = 0;
  // The same by a search for a proof, at a cost: it is asked rarely.
  virtual std::optional<bool> proved(Expr e) const { return truth(e); }
  // Some integer expressions that are known to be 0, canonical.
  virtual std::span<const Expr> zeros() const { return {}; }
  // Proved remainder of e modulo m (m >= 2), if known.
  virtual std::optional<Int> residue(Expr e, const Int& m) const = 0;
};

}  // namespace proviso::inline v0_2
PROVISO_API_END
