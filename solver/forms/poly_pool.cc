#include "solver/forms/poly_pool.h"

#include <algorithm>

namespace proviso::inline v0_2::internal {

struct PolyPool::Keys {
  // p and -p - 1 have one key: p >= 0 is the negation of -p - 1 >= 0.
  static InternIndex::Key of(const Poly& p) {
    const bool turned = p.leads_negative();
    size_t h = turned ? (-1 - p.constant).hash() : p.constant.hash();
    MonoId locality = 0;
    for (const Term& t : p.terms) {
      const size_t coef = turned ? (-t.coef).hash() : t.coef.hash();
      h = InternIndex::mix(h, locality + coef * 0x9e3779b97f4a7c15ull);
      locality = t.mono;
    }
    return {h, locality};
  }
  static uint64_t heap_units(const Poly& p) { return p.terms.size() / 3; }
};

namespace {

bool are_opposite(const Poly& a, const Poly& b) {
  return a.constant == -1 - b.constant &&
         std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(),
                    b.terms.end(), [](const Term& x, const Term& y) {
                      return x.mono == y.mono && x.coef == -y.coef;
                    });
}

}  // namespace

PolyId PolyPool::id_of(const Poly& p) {
  const PolyId id = polys_.id_of(p);
  if (id == records_.size()) records_.emplace_back();
  return id;
}

PolyId PolyPool::find_negation(const Poly& p) const {
  return polys_.find(Keys::of(p),
                     [&](const Poly& q) { return are_opposite(p, q); });
}

PrimitivePart PolyPool::primitive_part(const Poly& p) {
  Int g = p.content();
  if (p.leads_negative()) g = -g;
  if (g.is_one() && p.constant.is_zero()) return {id_of(p), g};
  Poly part = g.is_one() ? p : over(p, g);
  part.constant = 0;
  return {id_of(part), g};
}

const PrimitivePart& PolyPool::primitive_part(PolyId p) {
  PrimitivePart& known = record(p).primitive;
  if (known.part == kNoId) known = primitive_part(polys_[p]);
  return known;
}

}  // namespace proviso::inline v0_2::internal
