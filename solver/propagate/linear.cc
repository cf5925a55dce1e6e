// Each term of an inequality against the most that the others can be.
//
//   2*x + y - 7 >= 0, y <= 3        2*x >= 7 - 3, so x >= 2
//
// Interval propagation over the inequality's terms, products as they are; what
// that says of a product's factors is product.cc's.  Ends are rounded to
// integers.  Linear in the terms of the inequality, which comes again when a
// range changes.
#include <algorithm>

#include "solver/propagate/propagators.h"

namespace proviso::inline v0_2::internal {

void LinearPropagator::on_inequality(const Poly& p, Reason why, When) {
  if (to_.has_conflict()) return;
  state_.meter.spend(p.terms.size());
  // The largest value of the terms; at most one may be without end.
  Int total = p.constant;
  const Term* open = nullptr;
  SmallVector<Range, 4> tops;
  for (const Term& t : p.terms) {
    Range r = scaled(ranges_.of_monomial(t.mono), t.coef);
    if (r.span.is_empty()) return to_.conflict(join(r.lower, r.upper));
    if (r.span.upper()) {
      total += *r.span.upper();
    } else if (open) {
      return;
    } else {
      open = &t;
    }
    tops.push_back(std::move(r));
  }
  // Why the terms before one, and with the first news those from one on, are no
  // larger.
  Reason before = why;
  SmallVector<Reason, 4> from;
  for (size_t i = 0; i < p.terms.size() && !to_.has_conflict(); ++i) {
    const Term& t = p.terms[i];
    if (open && open != &t) {
      before = join(before, tops[i].upper);
      continue;
    }
    Int slack = total;
    if (!open) slack -= *tops[i].span.upper();
    // Without news the bound is looked at before its reason is made.
    const OptionalInt& low = tops[i].span.lower();
    if (!low || *low < -slack) {
      if (from.empty()) {
        from = {0};
        for (size_t j = tops.size(); j > 0; --j)
          from.push_back(join(from.back(), tops[j - 1].upper));
        std::reverse(from.begin(), from.end());
      }
      to_.bound(t, slack, join(before, from[i + 1]));
    }
    before = join(before, tops[i].upper);
  }
}

}  // namespace proviso::inline v0_2::internal
