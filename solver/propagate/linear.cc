// Each term of an inequality against the most that the others can be.
//
//   2*x + y - 7 >= 0, y <= 3        2*x >= 7 - 3, so x >= 2
//
// Interval propagation over the inequality's terms, products as they are; what
// that says of a product's factors is product.cc's.  Ends are rounded to
// integers.  Linear in the terms of the inequality, which comes again when a
// range changes.
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
  for (size_t i = 0; i < p.terms.size() && !to_.has_conflict(); ++i) {
    const Term& t = p.terms[i];
    if (open && open != &t) continue;
    Int slack = total;
    if (!open) slack -= *tops[i].span.upper();
    // Without news the bound is looked at before its reason is made.
    const OptionalInt& low = tops[i].span.lower();
    if (low && *low >= -slack) continue;
    Reason all = why;
    for (size_t j = 0; j < tops.size(); ++j) {
      if (j != i) all = join(all, tops[j].upper);
    }
    to_.bound(t, slack, all);
  }
}

}  // namespace proviso::inline v0_2::internal
