// sym/conditional_facts.h - facts that hold where conditions do besides.
//
//   const ConditionalFacts where_c(&facts, {{le(x, y), ne(y, zero)}});
//   where_c.lower(y - x);        // 0
//   where_c.truth(le(x, y));     // true
//
// A condition is known as it is written, and as a bound of its two sides'
// difference: what a multiple of that bounds, or the base facts bound beside
// it, is bounded too.  Nothing is put together from two conditions.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sym/facts.h"
#include "sym/rule_parts.h"

namespace proviso::inline v0_2::internal {

class ConditionalFacts final : public Facts {
 public:
  // `base`, which may be null, outlives it; the conditions are canonical.
  ConditionalFacts(const Facts* base, std::span<const Expr> conditions);

  std::optional<Int> lower(Expr e) const override;
  std::optional<Int> upper(Expr e) const override;
  std::optional<bool> truth(Expr e) const override;
  std::optional<bool> proved(Expr e) const override { return truth(e); }
  std::span<const Expr> zeros() const override { return zeros_; }
  std::optional<Int> residue(Expr e, const Int& m) const override {
    return base_ ? base_->residue(e, m) : std::nullopt;
  }

 private:
  void assume(Expr c);
  void assume_part(Expr c);
  std::optional<Int> base_lower(Expr e) const;
  std::optional<Int> base_lower_of(Expr e, const Polynomial& p) const;
  bool is_known_nonzero(const Polynomial& p) const;

  const Facts* base_;
  std::vector<Expr> true_, false_, zeros_;
  std::vector<Sign> signs_;
};

}  // namespace proviso::inline v0_2::internal
