// solver/normal/normal_form.h - polynomials with what is known substituted,
// and what that decides.
//
//   Mod(s0, 8) == 0 was solved: s0 == 8*t
//   normal.of(s0 - 4*(s0//4))          0, because of that fact
//   normal.decide(s0 - 4*(s0//4) == 0) yes
//
// The normal form of a polynomial is that of its atoms substituted.  The
// representative of an atom is its solved value, or it is rebuilt from the
// representatives of its parts: floors by Quotients, powers and bits by
// Functions, maxima and conditionals by what decides them.  Representatives are
// cached by Trail::stamp().  Representatives of representatives are not looked
// for, but for values: one pass from the bottom up, linear in what is
// substituted.  An atom within its own definition stays as it is.
#pragma once

#include "solver/normal/functions.h"
#include "solver/normal/quotients.h"

namespace proviso::inline v0_2::internal {

// A polynomial with solved equalities substituted, and which they were.
struct Normal {
  Poly poly;
  Reason why = 0;
  bool changed = false;
};

class NormalForm {
 public:
  NormalForm(State& state, Ranges& ranges, Literals& literals,
             Quotients& quotients, Functions& functions)
      : state_(state),
        forms_(state.forms),
        reasons_(state.reasons),
        ranges_(ranges),
        literals_(literals),
        quotients_(quotients),
        functions_(functions) {}

  Normal of(const Poly& p) {
    Normal n;
    if (!rewrite(p, n)) n.poly = p;
    return n;
  }
  // Sets n to the normal form of p; false, with n as it was, where that is p.
  bool rewrite(const Poly& p, Normal& n);
  // The value of a solved atom, with other solved atoms substituted in it where
  // they do not nest too deep.
  // The reference holds until the next change.
  const Poly& value_of(AtomId a) {
    const PolyId representative = representative_of(a).poly;
    return forms_
        .polys[representative == kNoId ? state_.substitution.value_of(a)
                                       : representative];
  }

  // Decides f by structure, assertions and ranges, and its normal form by the
  // same.  Returns whether it does; `d` is set then alone.
  bool decide(FormulaId f, Decision& d);

 private:
  // Representatives below this depth are made from the bottom up, so that a
  // long chain of definitions is no concern of the machine's stack.
  static constexpr int kLevelsAtOnce = 8;

  // What an atom is in normal form; kNoId: itself.
  struct Representative {
    PolyId poly = kNoId;
    Reason why = 0;
  };
  static const Representative kItself;
  struct Cached {
    uint64_t stamp = 0;
    Representative representative;
  };
  class Visit;
  class Bottom;

  Reason join(Reason a, Reason b) { return reasons_.join(a, b); }
  const Representative& representative_of(AtomId a) {  // until the next change
    const AtomRecord& r = state_.atoms.of(a);
    const bool is_plain = is_variable(r.kind) || r.kind == AtomKind::kOpaque;
    return r.solved == kNoId && is_plain ? kItself
                                         : derived_representative(a, r);
  }
  const Representative& derived_representative(AtomId a, const AtomRecord& r);
  void make_representatives_below(AtomId a);
  Representative rebuild(AtomId a);
  bool rebuild_parts(AtomId a, const Atom& atom, Normal& n);
  bool decide_by_kids(const Formula& formula, Decision& d);

  State& state_;
  FormPool& forms_;
  ReasonArena& reasons_;
  Ranges& ranges_;
  Literals& literals_;
  Quotients& quotients_;
  Functions& functions_;
  StableVector<Cached> representatives_;  // by AtomTable::cache_of
  int nesting_ = 0, bottoms_ = 0;
};

}  // namespace proviso::inline v0_2::internal
