// A search in depth: the first term of the sum that has an unwanted atom goes,
// in each way that a constraint offers.
//
//   1 <= n <= tile*tiles, 0 <= pad < tile      n + pad over {tile, tiles}
//     + (tile*tiles - n)       tile*tiles + pad
//     + (tile - 1 - pad)       tile*tiles + tile - 1
//
// Constraints of an atom (x - 8*q >= 0 of q = x//8) are made when it comes up.
// A constraint may be multiplied by what is known not to be negative.  This is
// the elimination of Fourier and Motzkin with one sum as its aim.  A step costs
// a product of polynomials; there are limits().bound_nodes at most, and
// limits().bound_constraints after one another.  ask_quick() says which bounds
// others imply.  Complete for nothing: no two constraints are combined but in
// the sum.
#include "solver/symbolic_bounds.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "solver/fixed_limits.h"
#include "solver/interrupt_scope.h"
#include "solver/limits_in_force.h"
#include "sym/budget.h"
#include "sym/canonical.h"
#include "sym/definition.h"
#include "sym/excerpt.h"
#include "sym/find_node.h"
#include "sym/not_null.h"
#include "sym/polynomial.h"
#include "sym/print.h"
#include "sym/relations.h"

namespace proviso::inline v0_2 {
using namespace internal;
namespace {

class Bounder {
 public:
  Bounder(Context& context, std::span<const Expr> over)
      : context_(context),
        pool_(context.pool()),
        over_(over.begin(), over.end()) {
    for (const Fact& fact : context.facts())
      read(rewrite(fact.condition, definition));
  }

  // e <= result; with `above` false, e >= result.
  std::optional<Expr> bound(Expr e, bool above, int nesting = 0) {
    const Expr known = proviso::canonical(context_.substitute(e));
    for (Expr exact : {e, known}) {
      if (is_chosen(exact)) return exact;
    }
    Search search{.above = above, .nesting = nesting};
    for (Expr start : {proviso::canonical(e), known}) {
      Polynomial p = to_polynomial(start);
      if (!above) p = p * Int(-1);
      eliminate(p, 1, 0, search);
      if (start == known) break;
    }
    const Interval range = context_.bounds_quick(e);
    if (const OptionalInt& end = above ? range.upper() : range.lower())
      add(search, pool_.integer(*end));
    return best(search);
  }

 private:
  struct Search {
    bool above;
    int nesting;
    int nodes = 0;
    std::vector<Expr> candidates = {};
  };

  bool is_chosen(Expr e) const {
    const std::vector<Expr> symbols = free_symbols(e);
    return std::all_of(symbols.begin(), symbols.end(),
                       [&](Expr s) { return over_.contains(s); });
  }
  bool is_chosen(const Monomial& m) {
    return std::all_of(m.begin(), m.end(), [&](Expr atom) {
      auto [known, is_new] = chosen_.emplace(atom, false);
      if (is_new) known->second = is_chosen(atom);
      return known->second;
    });
  }

  // --- constraints

  void read(Expr condition) {
    visit_operands(condition, Op::kAnd, [this](Expr part) {
      read_relation(part);
      return true;
    });
  }

  void read_relation(Expr condition) {
    if (!is_relation(condition.op()) || !condition.arg(0).is_int() ||
        !condition.arg(1).is_int() || condition.is(Op::kNe)) {
      return;
    }
    const Expr gap = condition.arg(1) - condition.arg(0);
    Polynomial p = to_polynomial(proviso::canonical(gap));
    p.add({}, -relations::least_gap(condition.op()));
    add_constraint(p);
    if (condition.is(Op::kEq)) add_constraint(p * Int(-1));
  }

  // p >= 0.
  void add_constraint(Polynomial p) {
    if (p.is_constant()) return;
    const auto index = static_cast<uint32_t>(constraints_.size());
    constraints_.push_back(std::move(p));
    for (const auto& [monomial, coefficient] : constraints_.back().terms()) {
      if (monomial.empty()) continue;
      std::vector<uint32_t>& of = constraints_with_[monomial];
      if (of.size() < limits().bound_constraints_of_term) of.push_back(index);
    }
  }
  void add_constraint(Expr nonnegative) {
    add_constraint(to_polynomial(proviso::canonical(nonnegative)));
  }

  bool is_known(Expr condition) {
    return context_.ask_quick(condition) == Verdict::kYes;
  }
  bool is_positive(Expr e) { return is_known(lt(pool_.integer(0), e)); }

  // What an operator says of its value; once for each atom.
  void define(Expr atom, int nesting) {
    if (!defined_.insert(atom).second) return;
    const Interval range = context_.bounds_quick(atom);
    if (range.lower()) add_constraint(atom - pool_.integer(*range.lower()));
    if (range.upper()) add_constraint(pool_.integer(*range.upper()) - atom);
    const OpKind kind = info(atom.op()).kind;
    if (kind == OpKind::kFloorDiv) define_quotient(atom, nesting);
    if (kind == OpKind::kMod) define_remainder(atom);
    if (kind == OpKind::kExtremum) {
      for (Expr arg : atom.args())
        add_constraint(atom.is(Op::kMin) ? arg - atom : atom - arg);
      define_by_arguments(atom, nesting);
    }
  }

  void define_quotient(Expr atom, int nesting) {
    const Expr x = atom.arg(0), d = atom.arg(1);
    if (!is_positive(d)) return;
    const Expr rest = x - atom * d;  // in [0, d)
    add_constraint(rest);
    add_constraint(d - 1 - rest);
    if (!is_chosen(d) || nesting == fixed::bound_nesting) return;
    for (bool above : {true, false}) {
      const auto end = bound(x, above, nesting + 1);
      if (!end) continue;
      const Expr q = floor_div(*end, d);
      add_constraint(above ? q - atom : atom - q);
    }
  }

  void define_remainder(Expr atom) {
    const Expr x = atom.arg(0), d = atom.arg(1);
    if (!is_positive(d)) return;
    add_constraint(atom);
    add_constraint(d - 1 - atom);
    if (is_known(le(pool_.integer(0), x))) add_constraint(x - atom);
  }

  // Min(a, b) <= Min(a's bound, b's bound), and so on: all have to have one.
  void define_by_arguments(Expr atom, int nesting) {
    if (nesting == fixed::bound_nesting) return;
    for (bool above : {true, false}) {
      std::vector<Expr> ends;
      for (Expr arg : atom.args()) {
        if (const auto end = bound(arg, above, nesting + 1))
          ends.push_back(*end);
      }
      if (ends.size() != atom.arity()) continue;
      const Expr end = pool_.make(atom.op(), ends);
      add_constraint(above ? end - atom : atom - end);
    }
  }

  // --- the search: scale * (what is bounded from above) <= p

  void eliminate(const Polynomial& p, const Int& scale, int depth,
                 Search& search) {
    Budget::spend(8 + 4 * p.terms().size());
    if (++search.nodes > limits().bound_nodes ||
        depth > limits().bound_constraints ||
        search.candidates.size() >= limits().bound_candidates) {
      return;
    }
    const Polynomial::Terms& terms = p.terms();
    const auto unwanted =
        std::find_if(terms.begin(), terms.end(),
                     [&](const auto& term) { return !is_chosen(term.first); });
    if (unwanted == terms.end()) return finish(p, scale, search);
    const Monomial& monomial = unwanted->first;
    const Int& coefficient = unwanted->second;
    for (Expr atom : monomial) {
      if (!is_chosen(Monomial{atom})) define(atom, search.nesting);
    }
    // Constraints that name the monomial, then constraints of a part of it
    // times the rest.
    for (const auto& [part, rest] : divisions(monomial)) {
      const auto constraints = constraints_with_.find(part);
      if (constraints == constraints_with_.end()) continue;
      if (!rest.empty() && !is_nonnegative(rest)) continue;
      const std::vector<uint32_t> indices =
          constraints->second;  // define() adds
      for (uint32_t index : indices) {
        const Polynomial constraint =
            rest.empty() ? constraints_[index]
                         : constraints_[index] * Polynomial::term(rest, 1);
        const auto at = constraint.terms().find(monomial);
        if (at == constraint.terms().end()) continue;
        const Int& there = at->second;
        if (there.sign() == coefficient.sign()) continue;
        const Int common = gcd(abs(coefficient), abs(there));
        const Int mine = floor_div(abs(there), common);
        const Int theirs = floor_div(abs(coefficient), common);
        eliminate(p * mine + constraint * theirs, scale * mine, depth + 1,
                  search);
      }
    }
  }

  // The monomial as what a constraint may name times the rest: whole, then atom
  // by atom.
  std::vector<std::pair<Monomial, Monomial>> divisions(const Monomial& m) {
    std::vector<std::pair<Monomial, Monomial>> all = {{m, {}}};
    for (size_t i = 0; m.size() > 1 && i < m.size(); ++i) {
      if (is_chosen(Monomial{m[i]}) || (i > 0 && m[i] == m[i - 1])) continue;
      Monomial rest = m;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      all.push_back({{m[i]}, std::move(rest)});
    }
    return all;
  }

  bool is_nonnegative(const Monomial& m) {
    return is_known(
        le(pool_.integer(0), to_expr(pool_, Polynomial::term(m, 1))));
  }

  void finish(const Polynomial& p, const Int& scale, Search& search) {
    Expr e = to_expr(pool_, p);
    if (!scale.is_one()) e = floor_div(e, pool_.integer(scale));
    if (!search.above) e = -e;
    add(search, proviso::canonical(e));
  }

  void add(Search& search, Expr candidate) {
    if (std::find(search.candidates.begin(), search.candidates.end(),
                  candidate) == search.candidates.end())
      search.candidates.push_back(candidate);
  }

  // The candidates that no other implies, as one expression.
  std::optional<Expr> best(Search& search) {
    std::vector<Expr>& all = search.candidates;
    if (all.empty()) return std::nullopt;
    for (size_t i = all.size(); i-- > 0 && all.size() > 1;) {
      const bool is_implied =
          std::any_of(all.begin(), all.end(), [&](Expr other) {
            return other != all[i] &&
                   is_known(search.above ? le(other, all[i])
                                         : le(all[i], other));
          });
      if (is_implied) all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    }
    const size_t most = limits().bound_arguments;
    if (all.size() > most) all.resize(most);
    if (all.empty()) return std::nullopt;
    const Expr together = all.size() == 1
                              ? all[0]
                              : proviso::canonical(pool_.make(
                                    search.above ? Op::kMin : Op::kMax, all));
    const Expr shorter = context_.canonical(together);
    return is_chosen(shorter) ? shorter : together;
  }

  struct MonomialHash {
    size_t operator()(const Monomial& m) const {
      size_t hash = m.size();
      for (Expr atom : m) hash = hash * 0x9E3779B97F4A7C15u + atom.id();
      return hash;
    }
  };

  Context& context_;
  ExprPool& pool_;
  const std::unordered_set<Expr, ExprHash> over_;
  std::unordered_map<Expr, bool, ExprHash> chosen_;
  std::vector<Polynomial> constraints_;
  std::unordered_map<Monomial, std::vector<uint32_t>, MonomialHash>
      constraints_with_;
  std::unordered_set<Expr, ExprHash> defined_;
};

// Facts that imply the claim: those that ask() names, else all.
std::vector<FactId> facts_behind(Context& context, Expr claim) {
  const Answer answer = context.ask(claim);
  if (answer.verdict == Verdict::kYes) return answer.facts;
  std::vector<FactId> all;
  for (const Fact& fact : context.facts()) all.push_back(fact.id);
  return all;
}

std::optional<Expr> bound(Context& context, Expr e, std::span<const Expr> over,
                          std::vector<FactId>* facts, bool above) {
  const InterruptScope scope(context);
  const std::string call = above ? "upper_bound" : "lower_bound";
  (void)context.bounds_quick(e);  // throws for what is no such expression
  for (Expr symbol : over) {
    if (!not_null(symbol, call.c_str()).is_symbol() ||
        &symbol.pool() != &context.pool()) {
      throw Error(call + ": expected symbols of the context's pool, got " +
                  excerpt(symbol));
    }
  }
  if (facts != nullptr) facts->clear();
  if (context.contradiction()) return std::nullopt;
  const LimitsInForce in_force(limits_of(context.options()));
  uint64_t units = limits().compound_work;
  const std::optional<Expr> found =
      InterruptScope::within(units, [&] {
        return Bounder(context, over).bound(rewrite(e, definition), above);
      }).value_or(std::nullopt);
  if (found && facts != nullptr)
    *facts = facts_behind(context, above ? le(e, *found) : le(*found, e));
  return found;
}

}  // namespace

std::optional<Expr> upper_bound(Context& context, Expr e,
                                std::span<const Expr> over,
                                std::vector<FactId>* facts) {
  return bound(context, e, over, facts, true);
}

std::optional<Expr> lower_bound(Context& context, Expr e,
                                std::span<const Expr> over,
                                std::vector<FactId>* facts) {
  return bound(context, e, over, facts, false);
}

}  // namespace proviso::inline v0_2
