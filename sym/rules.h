// sym/rules.h - the rules that sym/cheapest.h searches with: one row each.
// Not for callers of the library.
//
// A rule is given a canonical expression and says forms that are equal to it;
// it need not know whether they are cheaper.  The row names the rule, says on
// which nodes it is tried, and has examples from which tests are made: an
// expression on which it says something, one on which it is quiet, and the
// ranges that both are given.  tests/sym/rules_test.cc checks both, and that
// what the rule says has the same value at every small point.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sym/costs.h"
#include "sym/expr.h"
#include "sym/find_node.h"
#include "sym/simplifier.h"
#include "sym/simplify.h"
#include "sym/width.h"

namespace proviso::inline v0_2::internal {

class FormSearch;
using Found = std::vector<Expr>;

// Nodes that a rule is tried on.
enum class On : uint8_t {
  kAny,      // what has arguments
  kInteger,  // what can be read as a sum
  kFloor,
  kMod,
  kExtremum,
  kWhere,
  kRelation,  // of integers
  kJunction,  // And, Or
};

struct Rule {
  const char* name;
  On on;
  void (*apply)(FormSearch& search, Expr e, Found& found);
  const char* fires;
  const char* quiet;
  const char* given = "";  // "y in [0, 31]; z in [0, 9]"
};

// Whether a rule is tried on such a node.
bool applies(On on, Expr e);

// In the order in which they are tried.
std::span<const Rule> sum_rules();
std::span<const Rule> extremum_rules();  // Min, Max and Where
std::span<const Rule> logic_rules();     // relations, And and Or
std::span<const Rule> case_rules();      // parts where a condition holds
std::vector<const Rule*> all_rules();

struct RuleCount {
  const char* name;
  uint64_t count;  // times that it led to a cheaper form
};
std::vector<RuleCount> rule_counts();

// A cheapest form: canonical, as it is shown, and what that costs.
struct Best {
  Expr state, shown;
  uint64_t cost = kMaxCost;
};

// One search under one set of facts.  What it finds is remembered.
class FormSearch {
 public:
  FormSearch(ExprPool& pool, const Facts* facts)
      : FormSearch(pool, facts, 0, std::make_shared<Costs>()) {}
  ~FormSearch();

  // The cheaper of e as it is written, of cheapest parts, and best(e) where
  // that is not wider than the first expression that was presented.  Takes what
  // it spends of the units; where none are left e stays as it is.
  Expr present(Expr e, uint64_t& units);
  // Of a canonical expression.
  Best best(Expr e);

  // --- for rules
  ExprPool& pool() { return pool_; }
  const Facts* facts() const { return facts_; }
  Simplifier& simplifier() { return simplifier_; }
  Expr canonical(Expr e);
  Expr canonical(Op op, std::initializer_list<Expr> args) {
    return canonical(pool_.make(op, args));
  }
  Expr canonical(const Polynomial& p) { return canonical(to_expr(pool_, p)); }
  Expr integer(const Int& value) { return pool_.integer(value); }
  // e as a sum, made once.
  const Polynomial& polynomial(Expr e);
  std::optional<Int> lower(const Polynomial& p) { return simplifier_.lower(p); }
  std::optional<Int> upper(const Polynomial& p) { return simplifier_.upper(p); }
  bool is_nonneg(const Polynomial& p) { return simplifier_.known_nonneg(p); }
  bool is_positive(const Polynomial& p) {
    return simplifier_.known_positive(p);
  }
  // e with all remainders said by floors: a - b*(a//b).
  Expr floor_form(Expr e);
  // The cheapest form, canonical, of e where the conditions hold.
  Expr under(std::span<const Expr> conditions, Expr e);
  // Whether e is defined at every point, as far as that is seen at once.
  bool is_total(Expr e);
  // Whether a division by a negative constant is among what is presented: then
  // it may be written so.
  bool has_negative_divisor() const { return has_negative_divisor_; }
  // Whether the conditions that rules look into may nest further.
  bool may_assume() const { return depth_ < kMaxAssumptions; }
  std::optional<bool> proved(Expr condition);

 private:
  static constexpr int kMaxAssumptions = 2;
  static constexpr int kMaxProofs = 12;  // that facts are asked for

  FormSearch(ExprPool& pool, const Facts* facts, int depth,
             std::shared_ptr<Costs> costs);
  uint64_t cost(Expr e) { return (*costs_)(e); }
  Expr plain(Expr e);
  bool is_total_node(Expr e);

  // How a form was looked for; a later, greater effort looks again.
  struct Known {
    Best best;
    int effort = -1;
    bool is_sought = false;  // right now: a search that comes back to it
  };

  Best search(Expr e, int effort);
  Best scaled(const Int& c, Expr a);
  Best best_within(Expr e, uint64_t& units);
  bool is_wider(Expr form);
  std::optional<Expr> as_linear_sum(Expr e);
  bool is_sought_out(Expr e) const {
    auto at = best_.find(e.id());
    return at != best_.end() && at->second.effort >= effort_;
  }
  Best shown(Expr state);
  Expr shown_relation(Expr e);
  Expr shown_mod(Expr e);

  // sums as they are written (sym/write_sum.cc)
  friend class SumWriter;

  Simplifier simplifier_;
  ExprPool& pool_;
  const Facts* facts_;
  int depth_;
  const std::shared_ptr<Costs> costs_;  // of this search and those within
  // For plain(): the search's own units do not pay for it, so that what takes
  // long to simplify leaves no less for the other parts.
  uint64_t plain_units_ = kSimplifyUnits;
  bool has_negative_divisor_ = false;
  int effort_ = 3;  // of the search that comes next
  int proofs_left_ = kMaxProofs;
  std::unordered_map<uint32_t, Known> best_, shown_;
  std::unordered_map<uint32_t, Expr> presented_, floor_forms_;
  std::unordered_map<uint32_t, Polynomial> polynomials_;
  Expr first_;              // that was presented; null where there are no facts
  Int largest_number_ = 0;  // in it
  LargestNumbers largest_numbers_;
  std::optional<std::optional<Int>> first_width_;  // when asked for
  struct Assumption;
  std::vector<std::unique_ptr<Assumption>> assumptions_;
};

// --- what rules share

// p == factor * atom + rest, where the atom is in neither; nothing when it is
// in a power.
struct Linear {
  Polynomial factor, rest;
};
std::optional<Linear> split_off(const Polynomial& p, Expr atom);
// The atoms of p that are of one kind.
std::vector<Expr> atoms_of(const Polynomial& p, Op op);
bool contains(Expr e, Op op);
// The terms that both have, with one coefficient.
Polynomial equal_terms(const Polynomial& p, const Polynomial& q);
// p == g*high + low, where low >= block*g and low < (block + 1)*g everywhere;
// nothing where either is trivial or that is not seen.
struct Block {
  Polynomial high, low;
  Int block;
};
std::optional<Block> block_of(FormSearch& search, const Polynomial& p,
                              const Int& g);
// What a relation says: of a polynomial that it is >= 0, 0 or not 0.
struct Sign {
  Op op;  // kLe: p >= 0; kEq; kNe
  Polynomial p;
};
std::optional<Sign> sign_of(Expr relation);
// Forms of a % m with its high part apart: (4*x + y) % 12 is 4*(x % 3) + y for
// y in [0, 3].
void split_remainders(FormSearch& search, Expr e, Found& found);
// What p is with a known 0 added, times what makes a term of p go.
std::vector<Polynomial> without_zeros(FormSearch& search, const Polynomial& p);
// The canonical relation.
Expr relation_of(FormSearch& search, Op op, const Polynomial& p);
Op dual(Op op);  // Min and Max, And and Or
// What op joins in e; e alone where it is another node.  And back.
std::vector<Expr> elements(Expr e, Op op);
Expr joined(FormSearch& search, Op op, const std::vector<Expr>& args);
// The parts of an And, or the opposites of an Or's; and back.
std::vector<Expr> conjuncts(FormSearch& search, Expr e);
Expr conjunction(FormSearch& search, Op op, std::vector<Expr> parts);

}  // namespace proviso::inline v0_2::internal
