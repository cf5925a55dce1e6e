// Forms are remembered by node.  The outermost call of an expression has a
// budget of its own; what is nested deep is lowered from the leaves up, so that
// no call goes deep on the machine's stack.
#include "solver/lower.h"

#include <unordered_set>
#include <utility>

#include "solver/fixed_limits.h"
#include "solver/lowering/conditions.h"
#include "solver/lowering/definedness.h"
#include "solver/lowering/integers.h"
#include "sym/budget.h"
#include "sym/pool_stores.h"
#include "sym/within.h"

namespace proviso::inline v0_2::internal {
namespace {

constexpr int kLevelsAtOnce = 8;  // what is deeper is lowered from below

uint32_t& slot(std::vector<uint32_t>& memo, Expr e) {
  if (e.id() >= memo.size()) memo.resize(e.id() + 1 + e.id() / 2, kNoId);
  return memo[e.id()];
}

}  // namespace

// The budget is the outermost call's; what an outer one ends is not this
// expression's doing, and is not remembered.
template <typename Lower, typename Opaque>
auto Lowering::bounded(Expr e, Lower lower, Opaque opaque) {
  Budget::charge(2);
  if (nesting_ > 0) {
    Budget::check();
    if (nesting_ == kLevelsAtOnce) {
      for (Expr arg : e.args()) lower_arguments(arg);
    }
    ++nesting_;
    auto form = lower();
    --nesting_;
    return form;
  }
  struct Nesting {
    int& levels;
    ~Nesting() { levels = 0; }
  };
  auto form = within_own(fixed::lowering_units, [&] {
    const Nesting nesting{nesting_ = 1};
    return lower();
  });
  return form ? *std::move(form) : opaque();
}

// All that is below e, arguments first, so that no call goes deep.
void Lowering::lower_arguments(Expr e) {
  std::unordered_set<uint32_t> floats;  // seen: they have no form of their own
  auto is_done = [&](Expr x) {
    if (x.is_constant()) return true;
    if (slot(defined_, x) == kNoId && !is_leaf(x.op())) return false;
    return x.is_int()    ? slot(integers_, x) != kNoId
           : x.is_bool() ? slot(conditions_, x) != kNoId
                         : floats.contains(x.id());
  };
  const int outer = std::exchange(nesting_, 1);
  visit_arguments_first(e, is_done, [&](Expr x) {
    Budget::spend(1);
    if (x.is_float()) floats.insert(x.id());
    if (x.is_int()) integer(x);
    if (x.is_bool()) condition(x);
    defined(x);
  });
  nesting_ = outer;
}

Poly Lowering::integer(Expr e) {
  if (e.is(Op::kInteger)) return Poly::number(e.integer());
  uint32_t known = slot(integers_, e);
  if (known != kNoId) return forms_.polys[known];
  auto opaque = [&] { return variable(forms_, forms_.atoms.opaque(e)); };
  Poly p = bounded(
      e,
      [&] {
        Poly made = lowered_integer(*this, e);
        return forms_.depth(made) <= fixed::atom_depth ? made : opaque();
      },
      opaque);
  slot(integers_, e) = forms_.polys.id_of(p);
  return p;
}

FormulaId Lowering::condition(Expr e) {
  uint32_t known = slot(conditions_, e);
  if (known != kNoId) return known;
  auto opaque = [&] { return forms_.formulas.opaque(e, false); };
  FormulaId f = bounded(
      e,
      [&] {
        const FormulaId made = lowered_condition(*this, e);
        return forms_.formulas.depth(made) <= fixed::atom_depth ? made
                                                                : opaque();
      },
      opaque);
  slot(conditions_, e) = f;
  return f;
}

FormulaId Lowering::defined(Expr e) {
  if (is_leaf(e.op())) return kTrue;
  uint32_t known = slot(defined_, e);
  if (known != kNoId) return known;
  auto opaque = [&] { return forms_.formulas.opaque(e, true); };
  FormulaId f = bounded(
      e,
      [&] {
        const FormulaId made = lowered_definedness(*this, e);
        return forms_.formulas.depth(made) <= fixed::atom_depth ? made
                                                                : opaque();
      },
      opaque);
  slot(defined_, e) = f;
  return f;
}

Forms& Forms::of(ExprPool& expressions) {
  std::shared_ptr<void>& slot = PoolStores::companion(expressions);
  if (!slot) slot = std::make_shared<Forms>();
  return *static_cast<Forms*>(slot.get());
}

}  // namespace proviso::inline v0_2::internal
