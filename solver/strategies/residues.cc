#include "solver/strategies/residues.h"

#include <algorithm>

#include "solver/limits_in_force.h"

namespace proviso::inline v0_2::internal {
namespace {

// A polynomial modulo a small number.
class Residues {
 public:
  Residues(const FormPool& forms, const Poly& p, int64_t modulus)
      : modulus_(modulus), constant_(rest(p.constant)) {
    for (const Term& t : p.terms) {
      const int64_t c = rest(t.coef);
      if (c == 0) continue;
      Product product{c, {}};
      for (AtomId a : forms.monomials.factors(t.mono)) {
        auto at = std::find(atoms_.begin(), atoms_.end(), a);
        product.factors.push_back(static_cast<uint32_t>(at - atoms_.begin()));
        if (at == atoms_.end()) atoms_.push_back(a);
      }
      products_.push_back(std::move(product));
    }
  }

  size_t unknowns() const { return atoms_.size(); }
  size_t terms() const { return products_.size(); }

  // Whether no residues of the unknowns make it 0.
  bool has_no_root() const {
    SmallVector<int64_t, 8> at;
    for (size_t i = 0; i < atoms_.size(); ++i) at.push_back(0);
    for (;;) {
      int64_t sum = constant_;
      for (const Product& p : products_) {
        int64_t value = p.coef;
        for (uint32_t x : p.factors) value = value * at[x] % modulus_;
        sum += value;
      }
      if (sum % modulus_ == 0) return false;
      size_t i = 0;
      while (i < at.size() && ++at[i] == modulus_) at[i++] = 0;
      if (i == at.size()) return true;
    }
  }

 private:
  struct Product {
    int64_t coef;
    SmallVector<uint32_t, 4> factors;  // places in atoms_
  };

  int64_t rest(const Int& v) const {
    return *floor_mod(v, modulus_).to_int64();
  }

  int64_t modulus_, constant_;
  SmallVector<AtomId, 8> atoms_;
  SmallVector<Product, 4> products_;
};

}  // namespace

bool has_no_root(Domain& domain, const Poly& p) {
  if (p.terms.size() > limits().residue_terms) return false;
  // The largest power of each prime that leaves few points.
  for (int64_t prime : {2, 3, 5, 7, 11, 13}) {
    for (int64_t m : {prime * prime * prime, prime * prime, prime}) {
      const Residues residues(domain.forms(), p, m);
      int64_t points = 1;
      for (size_t i = 0;
           i < residues.unknowns() && points <= limits().residue_points; ++i) {
        points *= m;
      }
      if (points > limits().residue_points) continue;
      domain.spend(1 + static_cast<uint64_t>(points) * residues.terms() / 32);
      if (residues.has_no_root()) return true;
      break;
    }
  }
  return false;
}

}  // namespace proviso::inline v0_2::internal
