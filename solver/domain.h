// solver/domain.h - what is known, derived one way by assuming and retracted
// by undoing: ranges of atoms, bounds of linear forms, solved equalities, and
// what remains as rows and clauses.
//
//   Domain::Mark mark = domain.mark();
//   domain.assume(forms.ge(p), why);        // p >= 0 from here on
//   domain.decide(forms.ge(q));           // by normal form and ranges alone
//   domain.undo(mark);
//
// Every derived thing carries a Reason: the facts that it follows from.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "solver/form.h"
#include "solver/id_map.h"
#include "solver/interval.h"
#include "solver/reason.h"
#include "sym/budget.h"
#include "sym/small_vector.h"
#include "sym/stable_vector.h"

namespace proviso {

// Bounds with a reason for each end.
struct Range {
  Interval span;
  Reason lower = 0, upper = 0;
};

inline bool at_least(const Range& r, const Int& k) {
  return r.span.lower() && *r.span.lower() >= k;
}
inline bool at_most(const Range& r, const Int& k) {
  return r.span.upper() && *r.span.upper() <= k;
}

struct Decision {
  std::optional<bool> value;
  Reason why = 0;
  bool used_equalities = false;
  bool used_cases = false;
};

// A polynomial with solved equalities put in, and which they were.
struct Normal {
  Poly poly;
  Reason why = 0;
  bool changed = false;
};

// What more than ranges implies of a quotient, in bounded work.
struct QuotientProver {
  virtual ~QuotientProver() = default;
  virtual bool is_nonnegative(const Poly& p, Reason& why) = 0;
  // floor(num / den), where equalities give the ratio.
  virtual std::optional<Int> known_quotient(const Poly& num, const Poly& den,
                                            Reason& why) = 0;
};

class Domain {
 public:
  using Ids = SmallVector<uint32_t, 4>;

  // `symbols` is where every symbol lies without a reason.
  Domain(FormPool& forms, ReasonArena& reasons, Interval symbols = {})
      : forms_(forms), reasons_(reasons), symbols_(std::move(symbols)) {
    trail_.reserve(64);
  }

  struct Constraint {
    FormulaId formula;  // a literal or a disjunction
    Reason why;
    bool active;
    // Rewritten since, but it bounds what it is about.
    bool is_original = false;
  };

  void assume(FormulaId f, Reason why);
  // The same, but nothing else is derived from it.
  void assume_alone(FormulaId f, Reason why);
  // Cached ranges and normal forms are made anew, in outer states too.
  void forget_cached() {
    forgotten_ = last_stamp_;
    change();
  }
  const std::optional<Reason>& conflict() const { return conflict_; }

  // A state to go back to.  What was derived in it is remembered there.
  struct Mark {
    size_t trail;
    uint64_t stamp;
  };
  Mark mark() const { return {trail_.size(), stamp_}; }
  void undo(const Mark& mark);

  // By structure, normal form and ranges.
  Decision decide(FormulaId f) {
    Decision d;
    decide(f, d);
    return d;
  }
  bool decide(FormulaId f, Decision& d);  // whether it is; d is set only then
  Normal normal(const Poly& p);
  Range range(const Poly& p, int depth = 0);
  Range plain_range(const Poly& p);  // of the sum of what its terms can be
  // Of p, or of p less its constant, as a product; unbounded where it is none.
  Range factored_range(const Poly& p, int depth = 0);
  const Range& atom_range(AtomId a) {  // until the next change
    AtomState& s = state(a);
    const bool is_own = s.solved == kNoId && is_variable(s.kind);
    return is_own ? s.own : derived_range(a, s);
  }
  bool narrow(Range& a, const Range& b) {  // whether a changed
    const bool says_nothing =
        !b.span.lower() && !b.span.upper() && !b.span.is_empty();
    return !says_nothing && narrow_by(a, b);
  }
  bool is_solved(AtomId a) const {
    uint32_t slot = slot_of_.get(a);
    return slot != kNoId && atoms_[slot].solved != kNoId;
  }

  // --- for the tiers above
  const StableVector<Constraint>& constraints() const { return constraints_; }
  // Items that mention the atom, and atoms whose solved form mentions it.
  const Ids& constraints_of(AtomId a) { return state(a).constraints; }
  const Ids& dependents_of(AtomId a) { return state(a).dependents; }
  // Requires is_solved(a).
  PolyId solved_form(AtomId a) const { return atoms_[slot_of_.get(a)].solved; }
  // The same with other solved equalities put in; until the next change.
  const Poly& solved_value(AtomId a) { return forms_.poly(image_of(a).poly); }

  FormPool& forms() { return forms_; }
  ReasonArena& reasons() { return reasons_; }

  // Which equalities are solved for symbols: products of these symbols are then
  // about others, and longer.  What has a value is always put in.
  enum class Solving { kNone, kWithoutFloors, kAll };
  void set_solving(Solving which) { solving_ = which; }
  // While a prover is set, normal forms merge nested floors by symbols and take
  // quotients out whose remainder it proves to lie below the divisor.
  void set_quotient_prover(QuotientProver* prover) {
    quotients_ = prover;
    change();
  }
  void set_limit(uint64_t limit) { limit_ = limit; }
  uint64_t work() const { return work_; }
  uint64_t units_left() const { return work_ < limit_ ? limit_ - work_ : 0; }
  void spend(uint64_t units) {
    work_ += units;
    if (work_ > limit_) throw OutOfBudget();
    Budget::spend(units);
  }

 private:
  static constexpr int kMaxNesting = 24;  // of facts that facts imply
  static constexpr int kMaxImageNesting = 8;
  static constexpr unsigned kMaxImageDepth = 24;  // of atoms within atoms

  struct End {
    OptionalInt value;
    Reason why = 0;
    // That says so; none where a row with more does.
    uint32_t constraint = kNoId;
  };
  // What an atom is in normal form; kNoId: itself.
  struct Image {
    PolyId poly = kNoId;
    Reason why = 0;
  };
  static const Image kItself;
  struct AtomState {  // two lines of the cache, the first of which is read most
    AtomKind kind = AtomKind::kSymbol;
    bool visiting = false;
    bool in_use = false;       // a fresh variable that this context has made
    uint32_t derived = kNoId;  // in derived_; none for an unsolved variable
    Range own;  // what was assumed of the atom itself; never empty
    PolyId solved = kNoId;
    Reason solved_why = 0;
    Ids constraints, dependents;
  };
  static_assert(sizeof(AtomState) == 128);
  // What parts imply of a compound atom, and values of a solved variable.
  struct Derived {
    uint64_t normal_stamp = 0, range_stamp = 0;
    Image image;
    Range range;
  };
  struct ProductState {
    uint64_t stamp = 0;
    Range range;
  };
  struct FormState {
    End low, high;
    Ids watchers;  // constraints for whom its bounds may decide something
  };
  // An atom's place in a chain of assumed steps, x' - x >= 2, x'' - x' >= 0,
  // ..., which grows at both ends: the difference of two in it is at least that
  // of their sums.
  struct Link {
    AtomId chain = kNoId;  // the atom that began it, at 0
    int32_t at = 0;
    uint32_t neighbor = kNoId;  // the slot that this one was put beside
    bool has_next = false, has_previous = false;
    Reason why = 0;  // of the steps between it and the one that began
    Int sum = 0;     // of these steps, negative before that one
  };
  struct Undo {
    enum Kind : uint8_t {
      kLow,
      kHigh,
      kSolved,
      kItem,
      kDeactivated,
      kFormLow,
      kFormHigh,
      kAssumed,
      kConflict,
      kFresh,
      kLinked
    } kind;
    bool has_end;  // the last of ends_ is what was known before
    uint32_t index;
  };

  AtomState& state(AtomId a) { return atoms_[slot(a)]; }
  uint32_t slot(AtomId a) {  // its place in atoms_
    const uint32_t known = slot_of_.get(a);
    return known != kNoId ? known : new_slot(a);
  }
  uint32_t new_slot(AtomId a);
  Derived& derived(AtomState& s);
  AtomId fresh(uint32_t origin);
  FormState& form_state(PolyId form);
  void change() { stamp_ = ++last_stamp_; }
  void note(Undo::Kind kind, uint32_t index) {
    trail_.push_back({kind, false, index});
  }
  void note_end(Undo::Kind kind, uint32_t index, const End& old) {
    trail_.push_back({kind, old.value.has_value(), index});
    if (old.value) ends_.push_back(old);
  }
  Reason join(Reason a, Reason b) { return reasons_.join(a, b); }

  // assumptions
  // Why f holds, and which it is of the two that negate each other.
  static uint32_t packed(FormulaId f, Reason why) { return why << 1 | (f & 1); }
  bool set_assumed(FormulaId f, Reason why);
  void assert_formula(FormulaId f, Reason why);
  void assert_literal(FormulaKind kind, const Poly& p, Reason why,
                      FormulaId known = kNoId);
  void assert_ge(FormulaId f, Reason why);
  void assert_ne(FormulaId f, Reason why);
  void assert_clause(FormulaId f, Reason why);
  uint32_t add_constraint(FormulaId f, Reason why, bool is_original = false);
  bool original_says_more(const Poly& p) const;
  void deactivate(uint32_t i);
  void prepare_index(FormulaId f);
  void index_item(uint32_t i, bool add);
  void wake(AtomId a);
  void propagate();
  void revisit(uint32_t i);
  void raise_conflict(Reason why);

  // rows.cc
  void bound_by(const Poly& p, Reason why);
  void bound_original(const Poly& p, Reason why);
  void expand_pos(const Poly& p, Reason why);
  void expand_floor(const Poly& p, Reason why);
  void expand_factor(const Poly& p, Reason why);
  void tighten(const Poly& p, Reason why);
  void tighten_term(const Term& t, const Int& slack, Reason why);
  void tighten_factors(MonoId m, bool lower, const Int& bound, Reason why);
  void tighten_factor(AtomId x, unsigned k, const Range& rest, bool lower,
                      const Int& bound, Reason why);
  void tighten_power(AtomId x, unsigned k, bool lower, const Int& bound,
                     Reason why);
  void set_bound(AtomId a, bool lower, const Int& value, Reason why);
  void push_down(AtomId a, bool lower, const Int& value, Reason why);
  void push_into_power(const Atom& atom, bool lower, const Int& value,
                       Reason why);
  void set_form_bound(const Poly& p, Reason why);
  void set_bound(const FormPool::View& v, const Int& constant, Reason why,
                 uint32_t constraint);
  void wake_solved_by(const Poly& form);
  bool is_row(PolyId p);

  // equalities.cc
  void assert_eq(FormulaId f, Reason why);
  std::optional<Poly> divided(const Poly& p, AtomId a);
  bool cancel_factor(Poly& p, Reason& why);
  void keep_equality(FormulaId f, Reason why);
  bool solve_by_unit(const Poly& p, Reason why);
  bool solve_by_euclid(const Poly& p, Reason why);
  bool solve_by_floors(const Poly& p, Reason why);
  void solve_with_floors(AtomId x, const std::vector<AtomId>& floors,
                         const Poly& p, Reason why);
  using LoneSymbols = SmallVector<std::pair<AtomId, Int>, 4>;
  LoneSymbols lone_symbols(const Poly& p);
  void solve_for(AtomId x, const Poly& value, Reason why);
  bool hidden_by_floors(AtomId x, const Poly& p, std::vector<AtomId>& floors);
  void define_floors(const std::vector<AtomId>& floors,
                     std::vector<std::pair<Poly, Reason>>& rows);

  // divisors.cc
  void bound_divisors(const Poly& p, Reason why);
  void step_to_divisor(AtomId x, bool lower, const Int& n, Reason why);
  void bound_exponents(const Poly& p, Reason why);

  // roots.cc
  void expand_roots(const Poly& p, Reason why);
  void tighten_root(const Poly& p, AtomId x, bool upper, Reason why);

  // bounds.cc
  Range rows_range(const Poly& value);
  Range atom_range_from_parts(const Atom& atom);
  Range func_range(const Atom& atom);
  const Range& derived_range(AtomId a, AtomState& s);
  bool narrow_by(Range& a, const Range& b);
  const Range& mono_range(MonoId m) {  // until the next change
    const AtomId a = forms_.single(m);
    return a != kNoId ? atom_range(a) : product_of_ranges(m);
  }
  const Range& product_of_ranges(MonoId m);
  Range product_range(const Factors& factors);
  Range form_range(const Poly& p) {
    return form_states_.empty() ? Range{}
                                : bounds_of(forms_.view(p), p.constant);
  }
  Range form_range(PolyId p) {
    return form_states_.empty()
               ? Range{}
               : bounds_of(forms_.view(p), forms_.poly(p).constant);
  }
  Range bounds_of(const FormPool::View& v, const Int& constant);
  bool may_shift(const Poly& p, size_t degree);
  // factors.cc
  struct Product {
    Poly f, g;
  };
  std::optional<Product> factored(const Poly& p);
  std::optional<Product> split_by(const Poly& p, AtomId x);
  Range shifted_range(const Poly& p);
  Range clamped_range(const Poly& p, const Term& t, int depth);
  // low <= scale * p <= high.
  struct Unfloored {
    Poly low, high;
    Int scale;
    Reason why;
  };
  std::optional<Unfloored> without_floor(const Poly& p, const Term& t,
                                         AtomId q);
  bool has_short_divisor(const Atom& atom) const;
  Range correlated_range(const Poly& p, int depth,
                         std::optional<int> enough = {});
  // chains.cc
  void link(const Poly& row, Reason why);
  void put_beside(uint32_t neighbor, uint32_t slot, bool after, const Int& step,
                  Reason why);
  void unlink(uint32_t slot);
  Range chained_range(const Poly& p) const;
  Range difference_range(const Poly& p);
  std::optional<std::pair<Int, Reason>> least_difference(
      AtomId x, AtomId y, std::optional<Reason>* cycle = nullptr);
  void look_for_cycle(uint32_t i);
  bool is_single(const Poly& p) const {  // a multiple of an atom, shifted
    return p.terms.size() == 1 && forms_.single(p.terms[0].mono) != kNoId;
  }
  Range scaled(const Range& a, const Int& k);
  Range product(const Range& a, const Range& b);
  Range shift_by(Range a, const Int& k);
  Range quotient(const Range& a, const Range& b);

  // normal_form.cc
  const Image& image_of(AtomId a) {  // until the next change
    AtomState& s = state(a);
    const bool is_plain = is_variable(s.kind) || s.kind == AtomKind::kOpaque;
    return s.solved == kNoId && is_plain ? kItself : derived_image(a, s);
  }
  const Image& derived_image(AtomId a, AtomState& s);
  void make_images_below(AtomId a);
  bool rewrite(const Poly& p, Normal& n);  // to normal(p); false: n is not set
  Image rebuild_atom(AtomId a);
  Poly func_in_context(Op op, const Poly& x, const Poly& y, Reason& why);
  Poly floor_in_context(Poly num, Poly den, Reason& why);
  bool is_remainder(const Poly& num, const Poly& den, Reason& why);
  void cancel_numerator(Poly& num, Poly& den, Reason& why);
  bool merge_nested_floor(Poly& num, Poly& den, Reason& why);
  bool cancel_common(Poly& num, Poly& den, Reason& why);
  Poly pull_out(Poly& num, const Poly& den);
  // As decide(f, d).
  bool is_assumed(FormulaId f, Decision& d);
  bool decide_literal(FormulaId f, Decision& d);
  bool decide_cheaply(FormulaId f, Range& r, Decision& d);
  bool decide_dearly(FormulaId f, Range& r, Decision& d);
  bool decide_by_kids(const Formula& formula, Decision& d);
  // Whether the range alone decides p >= 0, p == 0 or p != 0.
  static bool decides(FormulaKind kind, const Range& r, Decision& d);
  bool decides_at_point(FormulaKind kind, const Range& r, Decision& d);
  Decision known_nonzero(const Poly& p);

  FormPool& forms_;
  ReasonArena& reasons_;
  Interval symbols_;
  StableVector<AtomState> atoms_;  // of atoms met so far
  StableVector<Link> links_;       // of these, as far as there are chains
  StableVector<Derived> derived_;
  IdMap slot_of_;  // from atoms to their places there
  StableVector<Constraint> constraints_;
  StableVector<ProductState> products_;  // of several factors
  IdMap product_slot_of_;
  StableVector<FormState> form_states_;
  IdMap form_slot_of_;  // from linear forms
  IdMap assumed_;       // from formula ids without the last bit, packed()
  std::vector<Undo> trail_;
  std::vector<End> ends_;
  std::vector<uint32_t> queue_;
  std::vector<bool> queued_;
  std::vector<uint8_t> rounds_;  // visits while propagating
  std::optional<Reason> conflict_;
  Solving solving_ = Solving::kAll;
  QuotientProver* quotients_ = nullptr;
  int nesting_ = 0, image_nesting_ = 0;
  // What was cached at stamp_ holds now; nothing up to forgotten_ does.
  uint64_t stamp_ = 1, last_stamp_ = 1, forgotten_ = 0;
  uint64_t work_ = 0;
  uint64_t limit_ = ~uint64_t{0};
};

}  // namespace proviso
