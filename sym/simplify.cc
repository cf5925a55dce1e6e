// e is presented from the leaves up: each node is the cheaper of what is
// written, with its arguments presented already, and the form that
// sym/form_search.h finds for it.
#include "sym/simplify.h"

#include <algorithm>
#include <unordered_map>

#include "sym/budget.h"
#include "sym/canonical.h"
#include "sym/doubles.h"
#include "sym/find_node.h"
#include "sym/fixed_limits.h"
#include "sym/form_search.h"
#include "sym/not_null.h"
#include "sym/rule_parts.h"
#include "sym/width.h"
#include "sym/within.h"

namespace proviso::inline v0_2 {
using namespace internal;
namespace {

// A sum of doubles that are rounded is another one in another order.
bool is_associative(Expr e) {
  const Op op = e.op();
  return op == Op::kAnd || op == Op::kOr || op == Op::kMin || op == Op::kMax ||
         (op == Op::kAdd && (e.is_int() || is_exact_double(e)));
}

// The arguments of e, those of one operator within another opened.
std::vector<Expr> parts_of(Expr e) {
  if (is_associative(e)) return operands(e, e.op());
  return {e.args().begin(), e.args().end()};
}

// The forms of expressions that are presented one after another, under one set
// of facts.
class Presentation {
 public:
  Presentation(ExprPool& pool, const Facts* facts)
      : search_(pool, facts), pool_(pool), facts_(facts) {}

  // The cheapest form of e.  Takes what it spends of the units; where none are
  // left e stays as it is.
  Expr of(Expr e, uint64_t& units) {
    if (!first_ && facts_ != nullptr) {
      first_ = e;
      largest_number_ = largest_numbers_(e);
    }
    if (std::optional<Expr> sum = as_linear_sum(e)) return *sum;
    search_.begin(e);
    std::vector<Expr> stack{e};
    while (!stack.empty()) {
      const Expr x = stack.back();
      if (is_presented(x)) {
        stack.pop_back();
        continue;
      }
      if (units == 0 && plain_units_ == 0) {
        presented_.emplace(x.id(), x);
        continue;
      }
      const std::vector<Expr> parts = parts_of(x);
      units -= std::min(units, parts.size() / 2);
      const size_t before = stack.size();
      for (size_t i = parts.size(); i-- > 0;) {
        if (!is_presented(parts[i])) stack.push_back(parts[i]);
      }
      if (stack.size() > before) continue;
      stack.pop_back();
      present(x, parts, units);
    }
    return presented(e);
  }

 private:
  bool is_presented(Expr e) const {
    return is_leaf(e.op()) || presented_.contains(e.id());
  }
  Expr presented(Expr e) const {
    return is_leaf(e.op()) ? e : presented_.at(e.id());
  }

  // Requires that the parts are presented.
  void present(Expr e, const std::vector<Expr>& parts, uint64_t& units) {
    std::vector<Expr> args;
    for (Expr part : parts) args.push_back(presented(part));
    const Expr as_written = pool_.make(e.op(), args);
    // One part does not take all that there is.
    uint64_t share = std::min(units, fixed::simplify_part_units);
    units -= share;
    const Best found = best_within(e, share);
    units += share;
    Budget::check();  // what the caller's budget ends is the caller's to catch
    const bool is_better = found.written.type() == e.type() &&
                           found.cost <= search_.cost(as_written) &&
                           !is_wider(found.written);
    presented_.emplace(e.id(), is_better ? found.written : as_written);
  }

  // The best form that so many units find; takes what it spends of them.
  Best best_within(Expr e, uint64_t& units) {
    Expr start = plain(e);
    if (units > 0) {
      const auto searched = within(units, [&] {
        start = search_.canonical(e);
        visit_arguments_first(
            start,
            [this](Expr x) { return is_leaf(x.op()) || search_.is_known(x); },
            [this](Expr x) { search_.best(x); });
        return Best(search_.best(start));
      });
      if (searched) return *searched;
      search_.recover();
    }
    const std::optional<Best> found = search_.found(start);
    return found ? *found : Best{start, start, search_.cost(start)};
  }

  // The canonical form without facts; e as it is where plain_units_ end.
  Expr plain(Expr e) {
    return within(plain_units_, [&] { return canonical(e); }).value_or(e);
  }

  // e where it is a sum of symbols times numbers, which is canonical: no search
  // finds a cheaper form than what the terms have in common taken out.
  std::optional<Expr> as_linear_sum(Expr e) {
    if (search_.has_zeros()) return std::nullopt;
    const Expr state = plain(e);
    if (state.type() != e.type() || !is_linear_sum(state)) return std::nullopt;
    const Best best = search_.written(state);
    const bool is_better =
        best.cost <= search_.cost(e) && !is_wider(best.written);
    return is_better ? best.written : e;
  }

  // Whether the form may overflow where what was first presented does not.
  // Where its numbers are no larger, it is taken not to.
  bool is_wider(Expr form) {
    if (!first_ || largest_numbers_(form) <= largest_number_) return false;
    if (!first_width_) first_width_ = width(first_, *facts_);
    return *first_width_ && widens(width(form, *facts_), *first_width_);
  }

  FormSearch search_;
  ExprPool& pool_;
  const Facts* facts_;
  std::unordered_map<uint32_t, Expr> presented_;  // by node
  // For plain(): the search's own units do not pay for it, so that what takes
  // long to simplify leaves no less for the other parts.
  uint64_t plain_units_ = fixed::canonical_units;
  Expr first_;              // that was presented; null where there are no facts
  Int largest_number_ = 0;  // in it
  LargestNumbers largest_numbers_;
  std::optional<std::optional<Int>> first_width_;  // when asked for
};

// Whether a is before b among forms of one value.
bool is_better(Expr a, Expr b) {
  const uint64_t x = cost(a), y = cost(b);
  if (x != y) return x < y;
  const bool is_a = canonical(a) == a, is_b = canonical(b) == b;
  if (is_a != is_b) return is_a;
  return compare(a, b) < 0;
}

// Searched again until a form is its own cheapest one.
Expr cheapest_of(Expr e, const Facts* facts) {
  if (is_leaf(not_null(e, "simplify").op())) return e;
  Expr least = e;
  uint64_t total = fixed::simplify_units;
  Presentation presentation(e.pool(), facts);
  while (total > 0) {
    uint64_t units = std::min(total, fixed::simplify_pass_units);
    total -= units;
    const Expr form = presentation.of(least, units);
    total += units;
    if (form.type() != e.type() || !is_better(form, least)) break;
    least = form;
  }
  return least;
}

}  // namespace

Expr simplify(Expr e) { return cheapest_of(e, nullptr); }
Expr simplify(Expr e, const Facts& facts) { return cheapest_of(e, &facts); }

}  // namespace proviso::inline v0_2
