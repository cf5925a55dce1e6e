// p is shortened, looked up, and decided where it is new.
//
//   2*x + 4 <= 2*y + 7       y - x + 1 >= 0, as sym/relations.h says, and is
//                            remembered with the polynomial y - x + 1
//   x - y - 2 >= 0           the same but for the last bit: its negation
//   x % 4 >= 3               x % 4 is in [0, 3]: it is x % 4 == 3
//
// The rules of the canonical form (sym/canonical_relations.cc) are these, and
// know ends from facts; here there are none, and every context sees the result.
// And and Or are put together by sym/junctions.h.
#include "solver/forms/formula_pool.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <span>
#include <utility>

#include "solver/forms/floors.h"
#include "sym/junctions.h"
#include "sym/relations.h"

namespace proviso::inline v0_2::internal {
namespace {

uint64_t heap_units(const Formula& f) { return f.kids.size() / 16; }

// The key of a connective or an opaque condition; its negation has the same.
InternIndex::Key key_of(const Formula& f) {
  size_t h = f.about_definedness;
  for (FormulaId kid : f.kids) h = InternIndex::mix(h, kid >> 1);
  return {h, f.expr ? f.expr.id() : 0};
}

// Not of p >= 0.
Formula negated(const Formula& formula) {
  Formula result = formula;
  switch (formula.kind) {
    case FormulaKind::kEq: result.kind = FormulaKind::kNe; break;
    case FormulaKind::kNe: result.kind = FormulaKind::kEq; break;
    case FormulaKind::kAnd:
    case FormulaKind::kOr:
      result.kind = formula.kind == FormulaKind::kAnd ? FormulaKind::kOr
                                                      : FormulaKind::kAnd;
      // Still sorted: a formula and its negation are neighbours.
      for (FormulaId& kid : result.kids) kid = negate(kid);
      break;
    case FormulaKind::kOpaque: result.positive = !formula.positive; break;
    case FormulaKind::kGe:
    case FormulaKind::kConstantFalse:
    case FormulaKind::kConstantTrue:
      assert(false && "its negation is made with it");
  }
  return result;
}

// p >= 0, or p == 0, of what is no constant (sym/relations.h).
struct SignQuestion {
  using Ring = PolyTerms;

  const TermPool& terms;
  const Poly* polynomial;
  const Int content;
  Poly reduced = {};  // once it is another
  std::optional<std::optional<std::pair<Int, Int>>> ends = {};  // once asked
  bool value = false;                                           // once done
  bool is_zero = false;  // p >= 0 is p == 0
  bool is_done = false;

  SignQuestion(const TermPool& pool, const Poly& p)
      : terms(pool), polynomial(&p), content(p.content()) {}

  const Poly& p() const { return *polynomial; }
  bool leads_negative() const { return p().leads_negative(); }
  void becomes(Poly q) {
    Budget::charge(1 + q.terms.size() / 2);
    reduced = std::move(q);
    polynomial = &reduced;
  }
  const Int* lower() { return range() ? &range()->first : nullptr; }
  const Int* upper() { return range() ? &range()->second : nullptr; }
  const std::optional<std::pair<Int, Int>>& range() {
    if (!ends) ends = remainder_range(terms, p());
    return *ends;
  }
  bool is(bool answer) {
    value = answer;
    return is_done = true;
  }
};

bool at_most_zero(SignQuestion& c) {
  const Int* high = c.upper();
  return high != nullptr && high->is_zero() && (c.is_zero = c.is_done = true);
}

// What shortens p, before it is looked up; and what decides it, when it is new.
using namespace relations;
constinit RuleTable kNonnegForms({
    RewriteRow<SignQuestion>{kRoundDown, round_down<SignQuestion>, Then::kNext},
});
constinit RuleTable kNewNonnegForms({
    RewriteRow<SignQuestion>{
        with_examples(kAlwaysNonneg, "0 <= Mod(x, 4)", "0 <= x"),
        always_nonneg<SignQuestion>},
    {with_examples(kAlwaysNegative, "4 <= Mod(x, 4)", "3 <= Mod(x, 4)"),
     always_negative<SignQuestion>},
    {{"at_most_zero", "0 <= a", "Eq(a, 0)", "a <= 0", "3 <= Mod(x, 4)",
      "2 <= Mod(x, 4)"},
     at_most_zero},
});
constinit RuleTable kZeroForms({
    RewriteRow<SignQuestion>{kNoMultiple, no_multiple<SignQuestion>},
    {kDivide, divide<SignQuestion>, Then::kNext},
});
constinit RuleTable kNewZeroForms({
    RewriteRow<SignQuestion>{
        with_examples(kNeverZero, "Eq(Mod(x, 4), 5)", "Eq(Mod(x, 4), 3)"),
        never_zero<SignQuestion>},
});

FormulaId constant_formula(bool truth) { return truth ? kTrue : kFalse; }

// And or Or of conditions (sym/junctions.h).
struct Junction {
  using Part = FormulaId;

  FormulaPool& pool;
  const FormulaKind kind;
  std::vector<FormulaId> parts;
  FormulaId value = kFalse;  // once done
  bool is_done = false;

  std::span<const FormulaId> nested(FormulaId part) const {
    const Formula& f = pool[part];
    return f.kind == kind ? std::span(f.kids) : std::span<const FormulaId>();
  }
  static std::optional<bool> truth(FormulaId part) {
    if (part != kTrue && part != kFalse) return std::nullopt;
    return part == kTrue;
  }
  bool absorbing() const { return kind == FormulaKind::kOr; }
  void sort() { std::sort(parts.begin(), parts.end()); }
  bool has_opposites() const {
    return std::any_of(parts.begin(), parts.end(), [&](FormulaId part) {
      return std::binary_search(parts.begin(), parts.end(), negate(part));
    });
  }
  bool is(bool answer) {
    value = constant_formula(answer);
    return is_done = true;
  }
};

using namespace junctions;
constinit RuleTable kJunctionForms({
    RewriteRow<Junction>{
        with_examples(kFlattenParts, "Or(z < 3, Where(x < y, y < z, True))",
                      "And(z < 3, Where(x < y, y < z, True))"),
        flatten_parts<Junction>, Then::kNext},
    {with_examples(kAbsorbingConstant, "Or(x < y, Mod(x, 4) <= 3)",
                   "Or(x < y, Mod(x, 4) <= 2)"),
     absorbing_constant<Junction>},
    {with_examples(kIdleConstant, "And(x < y, Mod(x, 4) <= 3)",
                   "And(x < y, Mod(x, 4) <= 2)"),
     idle_constant<Junction>, Then::kNext},
    {with_examples(kRepeatedPart, "Or(y <= x, Where(x < y, y < z, True))",
                   "Or(z <= x, Where(x < y, y < z, True))"),
     repeated_part<Junction>, Then::kNext},
    {with_examples(kOppositeParts, "Or(x < y, Where(x < y, y < z, True))",
                   "Or(x < z, Where(x < y, y < z, True))"),
     opposite_parts<Junction>, Then::kNext},
});

}  // namespace

std::vector<RewriteRuleCount> junction_form_rule_counts() {
  return counts_of(kJunctionForms);
}

std::vector<RewriteRuleCount> nonneg_form_rule_counts() {
  return counts_of(kNonnegForms, kNewNonnegForms);
}

std::vector<RewriteRuleCount> zero_form_rule_counts() {
  return counts_of(kZeroForms, kNewZeroForms);
}

FormulaPool::FormulaPool(TermPool& terms) : terms_(terms) {
  depth_.push_back(0);
  formulas_.push_back({.kind = FormulaKind::kConstantFalse});
  formulas_.push_back({.kind = FormulaKind::kConstantTrue});
}

// Adds the formula, and beside it a place for its negation, which is made when
// it is looked at.
FormulaId FormulaPool::add(const Formula& formula) {
  Budget::charge(2 * kNewUnits<Formula> + heap_units(formula));
  const auto id = static_cast<FormulaId>(formulas_.size());
  unsigned below =
      formula.poly == kNoId ? 0 : terms_.depth(terms_.polys[formula.poly]);
  for (FormulaId kid : formula.kids) below = std::max(below, depth(kid));
  depth_.push_back(one_deeper(below));
  formulas_.push_back(formula);
  formulas_.push_back({.kind = FormulaKind::kConstantFalse, .is_made = false});
  return id;
}

const Formula& FormulaPool::make_negation(FormulaId f) {
  const Formula& known = formulas_[negate(f)];
  Budget::charge(1 + heap_units(known));
  Formula& made = formulas_[f];
  if (known.kind == FormulaKind::kGe) {
    Poly p = -terms_.polys[known.poly];
    p.constant -= 1;
    made = {.kind = FormulaKind::kGe, .poly = terms_.polys.id_of(p)};
    terms_.polys.record(made.poly).ge = f;
  } else {
    made = negated(known);
  }
  return made;
}

// A connective or an opaque condition.
FormulaId FormulaPool::intern(const Formula& formula) {
  const InternIndex::Key key = key_of(formula);
  const Formula negation = negated(formula);
  const FormulaId known = index_.find(key, [&](FormulaId f) {
    return formulas_[f] == formula || formulas_[f] == negation;
  });
  if (known != kNoId) {
    return formulas_[known] == formula ? known : negate(known);
  }
  const FormulaId id = add(formula);
  index_.insert(key, id);
  return id;
}

FormulaId FormulaPool::relation(FormulaKind kind, const Poly& p) {
  return kind == FormulaKind::kGe   ? ge(p)
         : kind == FormulaKind::kEq ? eq(p)
                                    : ne(p);
}

FormulaId FormulaPool::ge(const Poly& p) {
  if (p.is_constant()) return p.constant.sign() >= 0 ? kTrue : kFalse;
  SignQuestion question(terms_, p);
  kNonnegForms.run(question);
  PolyPool& polys = terms_.polys;
  const PolyId id = polys.id_of(question.p());
  FormulaId& known = polys.record(id).ge;
  if (known != kNoId) return known;
  kNewNonnegForms.run(question);
  if (question.is_zero) return known = eq(polys[id]);
  if (question.is_done) return known = question.value ? kTrue : kFalse;
  const PolyId other = polys.find_negation(polys[id]);
  const FormulaId negation = other == kNoId ? kNoId : polys.record(other).ge;
  if (negation == kNoId) {
    known = add({.kind = FormulaKind::kGe, .poly = id});
  } else {
    known = negate(negation);
  }
  return known;
}

FormulaId FormulaPool::eq(const Poly& p) {
  if (p.is_constant()) return p.constant.is_zero() ? kTrue : kFalse;
  SignQuestion question(terms_, p);
  positive_first(question);
  kZeroForms.run(question);
  if (question.is_done) return kFalse;
  const PolyId id = terms_.polys.id_of(question.p());
  FormulaId& known = terms_.polys.record(id).eq;
  if (known != kNoId) return known;
  kNewZeroForms.run(question);
  known =
      question.is_done ? kFalse : add({.kind = FormulaKind::kEq, .poly = id});
  return known;
}

FormulaId FormulaPool::connect(FormulaKind kind, std::vector<FormulaId> kids) {
  const size_t given = kids.size();
  Junction junction{.pool = *this, .kind = kind, .parts = std::move(kids)};
  kJunctionForms.run(junction);
  const std::vector<FormulaId>& parts = junction.parts;
  Budget::charge(1 + given / 2 + parts.size() / 2);
  if (junction.is_done) return junction.value;
  if (parts.empty()) return constant_formula(!junction.absorbing());
  if (parts.size() == 1) return parts[0];
  return intern(Formula{.kind = kind, .poly = kNoId, .kids = parts});
}

FormulaId FormulaPool::all_of(std::vector<FormulaId> kids) {
  return connect(FormulaKind::kAnd, std::move(kids));
}

FormulaId FormulaPool::any_of(std::vector<FormulaId> kids) {
  return connect(FormulaKind::kOr, std::move(kids));
}

FormulaId FormulaPool::opaque(Expr e, bool about_definedness) {
  return intern(Formula{.kind = FormulaKind::kOpaque,
                        .poly = kNoId,
                        .kids = {},
                        .expr = e,
                        .about_definedness = about_definedness});
}

}  // namespace proviso::inline v0_2::internal
