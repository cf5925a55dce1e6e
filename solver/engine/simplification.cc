// What ask() proves to be a constant is one; else sym/simplify.h searches, with
// solved symbols substituted and without, and KnownFacts answers what it asks.
#include "solver/engine/simplification.h"

#include "solver/limits_in_force.h"
#include "solver/lowering/raising.h"
#include "sym/canonical.h"
#include "sym/cost.h"
#include "sym/facts.h"
#include "sym/find_node.h"
#include "sym/simplify.h"

namespace proviso::inline v0_2::internal {

// What the simplifier may ask: ranges and normal forms, and a few proofs.
class Simplification::KnownFacts final : public Facts {
 public:
  explicit KnownFacts(Simplification& known)
      : known_(known),
        domain_(known.reasoner_.domain()),
        lower_(known.reasoner_.lower()) {}

  std::optional<Int> lower(Expr e) const override {
    return e.is_int() ? known_.reading_.range_of(e).lower() : std::nullopt;
  }
  std::optional<Int> upper(Expr e) const override {
    return e.is_int() ? known_.reading_.range_of(e).upper() : std::nullopt;
  }
  std::optional<bool> truth(Expr e) const override {
    if (!e.is_bool()) return std::nullopt;
    // What may be undefined is not decided away.
    if (domain_.decide(lower_.defined(e)).value != true) return std::nullopt;
    return domain_.decide(lower_.condition(e)).value;
  }
  std::optional<bool> proved(Expr e) const override {
    switch (known_.native_.ask(e)) {
      case Verdict::kYes: return true;
      case Verdict::kNo: return false;
      case Verdict::kUnknown: break;
    }
    return std::nullopt;
  }
  std::span<const Expr> zeros() const override {
    if (!zeros_) {
      zeros_.emplace();
      const AssumedFacts& facts = known_.reasoner_.facts();
      for (FactId id = 0; id < facts.size(); ++id) {
        visit_operands(facts.condition(id), Op::kAnd,
                       [this](Expr part) { return note_zero(part); });
      }
    }
    return *zeros_;
  }
  std::optional<Int> residue(Expr e, const Int& m) const override {
    if (!e.is_int() || m.sign() <= 0) return std::nullopt;
    const Strided range = known_.reading_.strided_of(e);
    if (!floor_mod(range.stride(), m).is_zero()) return std::nullopt;
    return floor_mod(range.offset(), m);
  }

 private:
  // Whether more of them are wanted.
  bool note_zero(Expr condition) const {
    if (zeros_->size() == limits().zeros) return false;
    if (condition.is(Op::kEq) && condition.arg(0).is_int() &&
        condition.arg(1).is_int()) {
      const Expr gap = proviso::canonical(condition.arg(0) - condition.arg(1));
      if (!gap.is_constant()) zeros_->push_back(gap);
    }
    return true;
  }

  Simplification& known_;
  Domain& domain_;
  Lowering& lower_;
  mutable std::optional<std::vector<Expr>> zeros_;  // when asked for
};

Expr Simplification::simplify(Expr e, uint64_t spent) {
  if (reasoner_.domain().conflict()) {
    return without_facts(e, [e] { return proviso::simplify(e); });
  }
  return reasoner_.within_call(e, e, [&] { return cheapest_known(e); }, spent);
}

template <typename Rewrite>
Expr Simplification::without_facts(Expr e, Rewrite rewrite) {
  return reasoner_.within(reasoner_.options().work_limit, rewrite).value_or(e);
}

// Ranges and normal forms alone are asked, in a fraction of simplify()'s time.
Expr Simplification::canonical(Expr e) {
  if (reasoner_.domain().conflict()) {
    return without_facts(e, [e] { return proviso::canonical(e); });
  }
  return reasoner_.within_call(e, e, [&] {
    return proviso::canonical(with_constants(e), KnownFacts(*this));
  });
}

Expr Simplification::substitute(Expr e) {
  return reasoner_.within_call(e, e, [&] { return with_solved(e); });
}

// e with the symbols substituted that equalities determine.
Expr Simplification::with_solved(Expr e) {
  std::unordered_map<Expr, Expr, ExprHash> map;
  for (Expr s : free_symbols(e)) {
    if (!s.is_int()) continue;
    Normal n = reasoner_.domain().normal(reasoner_.lower().integer(s));
    if (!n.changed) continue;
    if (auto value = to_expr(reasoner_.pool(), reasoner_.forms(), n.poly))
      map[s] = *value;
  }
  return map.empty() ? e : proviso::substitute(e, map);
}

// e with the symbols substituted that have one value.
Expr Simplification::with_constants(Expr e) {
  std::unordered_map<Expr, Expr, ExprHash> constants;
  for (Expr s : free_symbols(e)) {
    if (!s.is_int()) continue;
    Interval range = reading_.range_of(s);
    if (range.is_point())
      constants.emplace(s, reasoner_.pool().integer(*range.lower()));
  }
  return constants.empty() ? e : proviso::substitute(e, constants);
}

// The constant that e is known to be.
std::optional<Expr> Simplification::decided(Expr e) {
  if (e.is_bool()) {
    const Verdict verdict = native_.ask(e);
    if (verdict == Verdict::kUnknown) return std::nullopt;
    return reasoner_.pool().boolean(verdict == Verdict::kYes);
  }
  if (!e.is_int()) return std::nullopt;
  const std::optional<Int> value = ranges_.constant_of(e);
  return value ? std::optional(reasoner_.pool().integer(*value)) : std::nullopt;
}

// A node is simplified once in one state.
Expr Simplification::cheapest_known(Expr e) {
  const uint64_t state = facts_.states().present();
  const auto known = simplified_.find(e.id());
  if (known != simplified_.end() && known->second.state == state) {
    return known->second.form;
  }
  const Expr form = find_cheapest(e);
  for (Expr x : {e, form}) {
    simplified_.insert_or_assign(x.id(), Simplified{state, form});
  }
  return form;
}

Expr Simplification::find_cheapest(Expr e) {
  if (is_leaf(e.op()) && !e.is_symbol()) return e;
  if (std::optional<Expr> constant = decided(e)) return *constant;
  const KnownFacts known(*this);
  Expr best = proviso::simplify(with_constants(e), known);
  if (best.type() != e.type() || cost(best) > cost(e)) best = e;
  const Expr solved = with_solved(e);
  if (solved == e) return best;
  const Expr other = proviso::simplify(solved, known);
  const bool is_better = other.type() == e.type() && cost(other) < cost(best);
  return is_better ? other : best;
}

}  // namespace proviso::inline v0_2::internal
