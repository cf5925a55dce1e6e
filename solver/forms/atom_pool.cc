#include "solver/forms/atom_pool.h"

namespace proviso::inline v0_2::internal {

struct AtomPool::Keys {
  static InternIndex::Key of(const Atom& a) {
    constexpr auto mix = InternIndex::mix;
    const uint32_t e = a.expr ? a.expr.id() : 0;
    size_t h = mix(static_cast<size_t>(a.kind), a.b);
    h = mix(mix(h, a.condition), static_cast<size_t>(a.op));
    return a.a == kNoId ? InternIndex::Key{h, e}
                        : InternIndex::Key{mix(h, e), a.a};
  }
  static uint64_t heap_units(const Atom&) { return 0; }
};

AtomId AtomPool::id_of(const Atom& atom, unsigned below) {
  const AtomId a = atoms_.id_of(atom);
  if (a == depth_.size()) depth_.push_back(one_deeper(below));
  return a;
}

AtomId AtomPool::symbol(Expr e) {
  return id_of({.kind = AtomKind::kSymbol, .expr = e}, 0);
}

AtomId AtomPool::fresh(uint32_t origin, uint32_t copy) {
  return id_of({.kind = AtomKind::kFresh, .a = origin, .b = copy}, 0);
}

AtomId AtomPool::opaque(Expr e) {
  return id_of({.kind = AtomKind::kOpaque, .expr = e}, 0);
}

}  // namespace proviso::inline v0_2::internal
