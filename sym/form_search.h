// sym/form_search.h - a best-first search over the forms of an expression that
// rules lead to.  Not for callers of the library.
//
//   FormSearch search(pool, &facts);
//   const Best best = search.best(search.canonical(e));
//   best.canonical     the cheapest form that was found
//   best.written       the same as it is written (sym/write_form.h)
//
// Rules (sym/rules.h) say other forms of a node; each is made canonical, and
// its cost is that of what is written.  The cheapest form that has not been
// expanded is expanded next, as often as the node's depth allows or until a few
// expansions in a row have led to nothing cheaper.  An argument is one deeper
// than the node that it is in, and less is done there.  A rule that looks at
// cases needs a search with more facts, which is under(conditions, e).  What is
// found is remembered.
//
// Protocol: OutOfBudget may leave best() at any time.  Who catches it calls
// recover(); found(e) is then what the search had come to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "sym/canonicalizer.h"
#include "sym/costs.h"
#include "sym/facts.h"
#include "sym/fixed_limits.h"
#include "sym/rules.h"

namespace proviso::inline v0_2::internal {

// A cheapest form: canonical, as it is written, and what that costs.
struct Best {
  Expr canonical, written;
  uint64_t cost = kMaxCost;
};

class FormSearch {
 public:
  FormSearch(ExprPool& pool, const Facts* facts)
      : FormSearch(pool, facts, 0, std::make_shared<Costs>()) {}
  ~FormSearch();

  // --- the search
  // e is asked for next: proofs are counted from here on, and whether it
  // divides by a negative constant is noted.
  void begin(Expr e);
  // The cheapest form of a canonical expression.
  Best best(Expr e);
  // Whether best(e) is known, as the next call would find it or better.
  bool is_known(Expr e) const {
    auto at = best_.find(e.id());
    return at != best_.end() && at->second.depth <= depth_;
  }
  // What best(e) has found so far, where it was begun.
  std::optional<Best> found(Expr e) const;
  void recover();
  // A canonical expression as it is written, and what that costs; the canonical
  // form itself where that is cheaper.
  Best written(Expr canonical);

  // --- for rules, and for what writes forms
  ExprPool& pool() { return pool_; }
  const Facts* facts() const { return facts_; }
  Canonicalizer& canonicalizer() { return canonicalizer_; }
  Expr canonical(Expr e);
  Expr canonical(Op op, std::initializer_list<Expr> args) {
    return canonical(pool_.make(op, args));
  }
  Expr canonical(const Polynomial& p) { return canonical(to_expr(pool_, p)); }
  Expr integer(const Int& value) { return pool_.integer(value); }
  uint64_t cost(Expr e) { return (*costs_)(e); }
  // e as a sum, made once.
  const Polynomial& polynomial(Expr e);
  std::optional<Int> lower(const Polynomial& p) {
    return canonicalizer_.lower(p);
  }
  std::optional<Int> upper(const Polynomial& p) {
    return canonicalizer_.upper(p);
  }
  bool is_nonneg(const Polynomial& p) { return canonicalizer_.known_nonneg(p); }
  bool is_positive(const Polynomial& p) {
    return canonicalizer_.known_positive(p);
  }
  // Whether facts say that something is 0: sums then have further forms.
  bool has_zeros() const {
    return facts_ != nullptr && !facts_->zeros().empty();
  }
  // e with all remainders said by floors: a - b*(a//b).
  Expr floor_form(Expr e);
  // The cheapest form, canonical, of e where the conditions hold.
  Expr under(std::span<const Expr> conditions, Expr e);
  // Whether the conditions that rules look into may nest further.
  bool may_assume() const { return assumed_ < fixed::assumption_depth; }
  // Asks the facts for a proof, a few times for each expression that is begun.
  std::optional<bool> proved(Expr condition);
  // Whether a division by a negative constant is in what was begun: then it may
  // be written so.
  bool has_negative_divisor() const { return has_negative_divisor_; }

 private:
  static constexpr int kDeepest = 3;  // the last row of the table in the .cc

  FormSearch(ExprPool& pool, const Facts* facts, int assumed,
             std::shared_ptr<Costs> costs);

  struct Known {
    Best best;
    int depth = kDeepest + 1;     // where it was found; further up looks again
    bool is_in_progress = false;  // a search that comes back to it takes `best`
  };
  class Expansion;
  struct Assumption;

  Best search(Expr e, int depth);

  Canonicalizer canonicalizer_;
  ExprPool& pool_;
  const Facts* facts_;
  int assumed_;                         // conditions within one another
  const std::shared_ptr<Costs> costs_;  // of this search and those within
  bool has_negative_divisor_ = false;
  int depth_ = 0;  // of the node that comes next
  int proofs_left_ = fixed::rule_proofs;
  int nested_ = 0;
  std::unordered_map<uint32_t, Known> best_, written_;  // by node
  std::unordered_map<uint32_t, Expr> floor_forms_;
  std::unordered_map<uint32_t, Polynomial> polynomials_;
  std::vector<std::unique_ptr<Assumption>> assumptions_;
};

}  // namespace proviso::inline v0_2::internal
