#include "solver/forms/monomial_pool.h"

#include <algorithm>
#include <iterator>

namespace proviso::inline v0_2::internal {

struct MonomialPool::Keys {
  static InternIndex::Key of(const Factors& factors) {
    size_t h = factors.size();
    if (factors.empty()) return {h};
    for (AtomId a : factors) {
      if (&a != &factors.back()) h = InternIndex::mix(h, a);
    }
    return {h, factors.back()};
  }
  static uint64_t heap_units(const Factors& f) { return f.size() / 16; }
};

MonomialPool::MonomialPool() { of(Factors{}); }

MonoId MonomialPool::of(AtomId a) {
  if (a >= of_atom_.size()) of_atom_.resize(a + 1, kNoId);
  if (of_atom_[a] == kNoId) of_atom_[a] = of(Factors{a});
  return of_atom_[a];
}

MonoId MonomialPool::of(const Factors& factors) {
  const MonoId m = monomials_.id_of(factors);
  if (m == single_.size()) {
    single_.push_back(factors.size() == 1 ? factors[0] : kNoId);
  }
  return m;
}

MonoId MonomialPool::product(MonoId a, MonoId b) {
  if (a == 0) return b;
  if (b == 0) return a;
  if (a > b) std::swap(a, b);
  const uint64_t both = uint64_t{a} << 32 | b;
  auto same = [&](uint32_t i) { return products_[i].first == both; };
  const uint32_t known = product_index_.find({a, b}, same);
  if (known != kNoId) return products_[known].second;
  const Factors &x = factors(a), &y = factors(b);
  Budget::charge(2 + (x.size() + y.size()) / 8);
  Factors merged;
  std::merge(x.begin(), x.end(), y.begin(), y.end(),
             std::back_inserter(merged));
  const MonoId id = of(merged);
  product_index_.insert({a, b}, static_cast<uint32_t>(products_.size()));
  products_.emplace_back(both, id);
  return id;
}

MonoId MonomialPool::quotient(MonoId a, MonoId b) {
  if (a == b) return 0;
  const Factors &whole = factors(a), &part = factors(b);
  Budget::charge(1 + whole.size() / 16);
  if (!std::includes(whole.begin(), whole.end(), part.begin(), part.end())) {
    return kNoId;
  }
  Factors rest;
  std::set_difference(whole.begin(), whole.end(), part.begin(), part.end(),
                      std::back_inserter(rest));
  return of(rest);
}

bool MonomialPool::leads(MonoId a, MonoId b) const {
  const Factors &x = factors(a), &y = factors(b);
  if (x.size() != y.size()) return x.size() > y.size();
  return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
}

}  // namespace proviso::inline v0_2::internal
