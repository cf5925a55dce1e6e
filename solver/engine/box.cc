// Terms of a sum are gathered before their ranges are added: n - n is 0 and not
// [-63, 63].  The cost is the expression's nodes, fixed::box_nodes at most.
#include "solver/engine/box.h"

#include <algorithm>

#include "solver/fixed_limits.h"
#include "solver/kind_range.h"
#include "solver/lower.h"
#include "sym/budget.h"
#include "sym/canonical.h"
#include "sym/cost.h"
#include "sym/facts.h"
#include "sym/find_node.h"
#include "sym/relations.h"
#include "sym/simplify.h"
#include "sym/width.h"

namespace proviso::inline v0_2::internal {

// --- what is known

void Box::add(Expr condition) {
  ++facts_;
  is_exact_ = is_exact_ && facts_ <= fixed::box_facts && is_range(condition) &&
              take(condition);
}

void Box::clear() {
  ranges_.clear();
  facts_ = 0;
  is_exact_ = true;
}

bool Box::is_range(Expr condition) {
  size_t parts = 0;
  return visit_operands(condition, Op::kAnd, [&](Expr part) {
    return ++parts <= fixed::box_parts && is_simple_range(part);
  });
}

bool Box::is_simple_range(Expr condition) {
  if (condition.is_constant()) return condition.is_true();
  if (!is_relation(condition.op()) || condition.is(Op::kNe)) return false;
  const auto is_integer = [](Expr e) { return e.is_symbol() && e.is_int(); };
  const Expr a = condition.arg(0), b = condition.arg(1);
  if (!b.is(Op::kInteger)) {
    return a.is(Op::kInteger) && !condition.is(Op::kEq) && is_integer(b);
  }
  return is_integer(a) || (condition.is(Op::kEq) && a.is(Op::kMod) &&
                           is_integer(a.arg(0)) && a.arg(1).is(Op::kInteger));
}

// Requires is_range(condition): whether it leaves the symbol a value.
bool Box::take(Expr condition) {
  return visit_operands(condition, Op::kAnd,
                        [this](Expr part) { return take_simple(part); });
}

bool Box::take_simple(Expr condition) {
  if (condition.is_constant()) return true;
  const Expr a = condition.arg(0), b = condition.arg(1);
  const Int least = relations::least_gap(condition.op());
  if (!b.is(Op::kInteger)) {
    return narrow(b, Strided(Interval::at_least(a.integer() + least)));
  }
  if (!condition.is(Op::kEq)) {
    return narrow(a, Strided(Interval::at_most(b.integer() - least)));
  }
  if (!a.is(Op::kMod)) return narrow(a, Strided::point(b.integer()));
  const Int &m = a.arg(1).integer(), &rest = b.integer();
  if (m.sign() <= 0 || rest.sign() < 0 || rest >= m) return false;
  return narrow(a.arg(0), Strided(Interval(), m, rest));
}

bool Box::narrow(Expr symbol, const Strided& to) {
  for (auto& [known, range] : ranges_) {
    if (known != symbol) continue;
    range = intersect(range, to);
    return !range.is_empty();
  }
  ranges_.emplace_back(symbol, intersect(values_of(symbol), to));
  return !ranges_.back().second.is_empty();
}

Strided Box::values_of(Expr symbol) const {
  for (const auto& [known, range] : ranges_) {
    if (known == symbol) return range;
  }
  return Strided(intersect(symbols_, range_of_kind(symbol.symbol().kind)));
}

// --- reading

// Ends after so many nodes, and where an operation may be undefined.
class Box::Reader {
 public:
  explicit Reader(const Box& box) : box_(box) {}
  ~Reader() { Budget::charge(static_cast<uint64_t>(nodes_) / 2); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  std::optional<Strided> range_of(Expr e) {
    Sum sum;
    return add(sum, e, 1) ? range_of(sum) : std::nullopt;
  }
  // b - a, in which terms that both have cancel.
  std::optional<Strided> difference(Expr b, Expr a) {
    Sum sum;
    if (!add(sum, b, 1) || !add(sum, a, -1)) return std::nullopt;
    return range_of(sum);
  }

 private:
  struct Sum {
    SmallVector<std::pair<Expr, Int>, 6> terms;
    Int constant = 0;
  };

  bool add(Sum& sum, Expr e, const Int& times) {
    if (!e.is_int() || ++nodes_ > fixed::box_nodes) return false;
    if (e.is(Op::kInteger)) {
      sum.constant += times * e.integer();
      return true;
    }
    if (e.is(Op::kAdd)) {
      return std::all_of(e.args().begin(), e.args().end(),
                         [&](Expr part) { return add(sum, part, times); });
    }
    if (e.is(Op::kMul) && e.arity() == 2) {
      const Expr a = e.arg(0), b = e.arg(1);
      if (a.is(Op::kInteger)) return add(sum, b, times * a.integer());
      if (b.is(Op::kInteger)) return add(sum, a, times * b.integer());
    }
    for (auto& [atom, coefficient] : sum.terms) {
      if (atom == e) {
        coefficient += times;
        return true;
      }
    }
    sum.terms.emplace_back(e, times);
    return true;
  }

  std::optional<Strided> range_of(const Sum& sum) {
    Strided total = Strided::point(sum.constant);
    for (const auto& [atom, coefficient] : sum.terms) {
      // Where an atom is undefined, 0 times the atom is not 0.
      const std::optional<Strided> range = of_atom(atom);
      if (!range) return std::nullopt;
      if (coefficient.is_zero()) continue;
      total =
          total + (coefficient.is_one() ? *range
                                        : *range * Strided::point(coefficient));
    }
    return total;
  }

  std::optional<Strided> of_atom(Expr e) {
    if (e.is_symbol()) return box_.values_of(e);
    if (e.is(Op::kFloorDiv) || e.is(Op::kMod)) return of_division(e);
    if (e.is(Op::kMin) || e.is(Op::kMax)) return of_extremum(e);
    return std::nullopt;
  }

  std::optional<Strided> of_division(Expr e) {
    const Expr by = e.arg(1);
    if (!by.is(Op::kInteger) || by.integer().sign() <= 0) return std::nullopt;
    const std::optional<Strided> a = range_of(e.arg(0));
    if (!a) return std::nullopt;
    const Strided divisor = Strided::point(by.integer());
    return e.is(Op::kMod) ? mod(*a, divisor) : floor_div(*a, divisor);
  }

  std::optional<Strided> of_extremum(Expr e) {
    std::optional<Strided> all = range_of(e.arg(0));
    for (size_t i = 1; all && i < e.arity(); ++i) {
      const std::optional<Strided> next = range_of(e.arg(i));
      if (!next) return std::nullopt;
      all = e.is(Op::kMin) ? min(*all, *next) : max(*all, *next);
    }
    return all;
  }

  const Box& box_;
  int nodes_ = 0;
};

std::optional<Strided> Box::range_of(Expr e) const {
  return Reader(*this).range_of(e);
}

std::optional<bool> Box::decide(Expr condition) const {
  if (condition.is_constant()) return condition.is_true();
  if (!is_relation(condition.op()) || !condition.arg(0).is_int() ||
      !condition.arg(1).is_int()) {
    return std::nullopt;
  }
  const auto gap = Reader(*this).difference(condition.arg(1), condition.arg(0));
  if (!gap || gap->is_empty()) return std::nullopt;
  const auto &low = gap->span().lower(), &high = gap->span().upper();
  if (condition.is(Op::kEq) || condition.is(Op::kNe)) {
    const bool is_equality = condition.is(Op::kEq);
    if (!gap->contains(0)) return !is_equality;
    return gap->is_point() ? std::optional(is_equality) : std::nullopt;
  }
  const Int least = relations::least_gap(condition.op());
  if (low && *low >= least) return true;
  if (high && *high < least) return false;
  return std::nullopt;
}

// --- simplifying

class Box::KnownFacts final : public Facts {
 public:
  explicit KnownFacts(const Box& box) : box_(box) {}

  std::optional<Int> lower(Expr e) const override {
    const auto range = box_.range_of(e);
    return range ? range->span().lower() : std::nullopt;
  }
  std::optional<Int> upper(Expr e) const override {
    const auto range = box_.range_of(e);
    return range ? range->span().upper() : std::nullopt;
  }
  std::optional<bool> truth(Expr e) const override { return box_.decide(e); }
  std::optional<Int> residue(Expr e, const Int& m) const override {
    const auto range = box_.range_of(e);
    if (!range || !floor_mod(range->stride(), m).is_zero()) return std::nullopt;
    return floor_mod(range->offset(), m);
  }

 private:
  const Box& box_;
};

// No form of it is cheaper: it depends on each of its symbols, and on them by
// no more than a step for each.
//
//   a sum of symbols times numbers, of which no common factor is left
//   x//c, x%c    where x has two of its periods
bool Box::is_cheapest(Expr canonical) const {
  auto is_term = [](Expr x) {
    return is_leaf(x.op()) ||
           (x.is(Op::kMul) && x.arity() == 2 && x.arg(0).is(Op::kInteger) &&
            x.arg(1).is_symbol());
  };
  if (is_term(canonical)) return true;
  if (canonical.is(Op::kAdd)) {
    return std::all_of(canonical.args().begin(), canonical.args().end(),
                       is_term);
  }
  if (!canonical.is(Op::kFloorDiv) && !canonical.is(Op::kMod)) return false;
  const Expr x = canonical.arg(0), by = canonical.arg(1);
  if (!x.is_symbol() || !by.is(Op::kInteger)) return false;
  const Strided range = values_of(x);
  if (!range.stride().is_one() || by.integer() < Int(2)) return false;
  const auto &low = range.span().lower(), &high = range.span().upper();
  return !low || !high || *high - *low >= by.integer() * Int(2);
}

std::optional<Expr> Box::simplify(Expr e) const {
  if (!e.is_int()) return std::nullopt;
  for (const auto& [symbol, range] : ranges_) {
    if (range.is_point()) return std::nullopt;  // it is substituted
  }
  Expr canonical = proviso::canonical(e);
  if (!is_cheapest(canonical)) {
    canonical = proviso::canonical(canonical, KnownFacts(*this));
    if (!canonical.is_int() || !is_cheapest(canonical)) return std::nullopt;
  }
  Expr& form =
      Forms::of(e.pool()).cheapest.try_emplace(canonical).first->second;
  if (!form) form = proviso::simplify(canonical);
  if (cost(form) > cost(e)) return e;
  if (largest_number(form) > largest_number(e)) {
    const KnownFacts facts(*this);
    const std::optional<Int> first = width(e, facts);
    if (first && widens(width(form, facts), first)) return std::nullopt;
  }
  return form;
}

}  // namespace proviso::inline v0_2::internal
