// And and Or (by sym/junctions.h) and Where in canonical form, a table of rules
// each, and Not, the opposite of each operator.
//
//   And(x < y, And(z < 3, True), x < y)
//     flatten_parts, idle_constant, repeated_part     And(x < y, z < 3)
//   Not(And(x < y, z < 3))                            Or(y <= x, 3 <= z)
//
// Parts are compared by their opposites, whose memo a call keeps, so that the
// opposite of a shared part is made once.  What one part says of another is
// the search's (sym/rules_logic.cc).
#include <algorithm>
#include <optional>
#include <vector>

#include "sym/canonicalizer.h"
#include "sym/fixed_limits.h"
#include "sym/junctions.h"

namespace proviso::inline v0_2::internal {
namespace {

// ---- And and Or

struct Junction {
  using Part = Expr;

  Canonicalizer& s;
  const Op op;  // kAnd or kOr
  std::vector<Expr> parts;
  Expr value = {};
  bool is_done = false;

  Args nested(Expr part) const { return part.is(op) ? part.args() : Args(); }
  static std::optional<bool> truth(Expr part) {
    return part.is_constant() ? std::optional(part.is_true()) : std::nullopt;
  }
  bool absorbing() const { return op == Op::kOr; }
  void sort() { sort_by_structure(parts); }
  bool has_opposites() { return s.has_opposites(parts); }
  bool is(bool truth) {
    value = s.boolean(truth);
    return is_done = true;
  }
};

using namespace junctions;
constinit RuleTable kJunctionRules({
    RewriteRow<Junction>{kFlattenParts, flatten_parts<Junction>, Then::kNext},
    {kAbsorbingConstant, absorbing_constant<Junction>},
    {kIdleConstant, idle_constant<Junction>, Then::kNext},
    {kRepeatedPart, repeated_part<Junction>, Then::kNext},
    {kOppositeParts, opposite_parts<Junction>, Then::kNext},
});

// ---- Where

struct Choice {
  Canonicalizer& s;
  Expr condition, then, otherwise;
  Expr value = {};
  bool is_done = false;

  bool becomes(Expr e) {
    value = e;
    return is_done = true;
  }
};

bool known_condition(Choice& c) {
  return c.condition.is_constant() &&
         c.becomes(c.condition.is_true() ? c.then : c.otherwise);
}

bool same_arms(Choice& c) { return c.then == c.otherwise && c.becomes(c.then); }

bool truth_of_condition(Choice& c) {
  const bool are_truths =
      c.then.is_bool() && c.then.is_constant() && c.otherwise.is_constant();
  return are_truths &&
         c.becomes(c.then.is_true() ? c.condition : c.s.negate(c.condition));
}

constinit RuleTable kChoiceRules({
    RewriteRow<Choice>{{"known_condition", "Where(a < b, c, d)", "c", "a < b",
                        "Where(x < x + 1, y, z)", "Where(x < y, y, z)"},
                       known_condition},
    {{"same_arms", "Where(a < b, c, c)", "c", "", "Where(x < y, z, z)",
      "Where(x < y, y, z)"},
     same_arms},
    {{"truth_of_condition", "Where(a < b, False, True)", "b <= a", "",
      "Where(x < y, False, True)", "Where(x < y, y < z, True)"},
     truth_of_condition},
});

}  // namespace

std::vector<RewriteRuleCount> junction_rule_counts() {
  return kJunctionRules.counts();
}
std::vector<RewriteRuleCount> choice_rule_counts() {
  return kChoiceRules.counts();
}

bool Canonicalizer::has_opposites(Args parts) {
  if (nested_ == fixed::opposites_depth) return false;
  struct Nested {
    int& levels;
    ~Nested() { --levels; }
  } const nested{++nested_};
  return std::any_of(parts.begin(), parts.end(), [&](Expr part) {
    return std::find(parts.begin(), parts.end(), negate(part)) != parts.end();
  });
}

Expr Canonicalizer::junction(Op op, Args args) {
  Junction call{.s = *this, .op = op, .parts = {args.begin(), args.end()}};
  kJunctionRules.run(call);
  if (call.is_done) return call.value;
  if (call.parts.empty()) return boolean(!call.absorbing());
  return call.parts.size() == 1 ? call.parts[0] : pool_.make(op, call.parts);
}

Expr Canonicalizer::where(Expr condition, Expr then, Expr otherwise) {
  Choice call{
      .s = *this, .condition = condition, .then = then, .otherwise = otherwise};
  kChoiceRules.run(call);
  const Expr whole = pool_.make(Op::kWhere, {condition, then, otherwise});
  if (!call.is_done) return whole;
  // Of an integer and a float it is a float, whichever arm it is.
  if (call.value.type() == whole.type()) return call.value;
  const Expr value[] = {call.value};
  return build(Op::kToFloat, value);
}

// ---- Not

Expr Canonicalizer::negate(Expr e) {
  if (e.is_constant()) return boolean(!e.is_true());
  const auto is_junction = [](Expr x) {
    return x.is(Op::kAnd) || x.is(Op::kOr);
  };
  if (!is_junction(e)) return opposite(e);
  // Arguments first, so that no call goes deep.
  visit_arguments_first(
      e, [&](Expr x) { return !is_junction(x) || opposites_.contains(x.id()); },
      [&](Expr x) { opposites_.emplace(x.id(), opposite(x)); });
  return opposites_.at(e.id());
}

Expr Canonicalizer::opposite(Expr e) {
  if (e.is(Op::kNot)) return e.arg(0);
  if (e.is(Op::kEq)) return pool_.make(Op::kNe, e.args());
  if (e.is(Op::kNe)) return pool_.make(Op::kEq, e.args());
  if (e.is(Op::kLt)) return relation(Op::kLe, e.arg(1), e.arg(0));
  if (e.is(Op::kLe)) return relation(Op::kLt, e.arg(1), e.arg(0));
  if (!e.is(Op::kAnd) && !e.is(Op::kOr)) return pool_.make(Op::kNot, {e});
  std::vector<Expr> parts;
  for (Expr arg : e.args()) parts.push_back(negate(arg));
  return junction(e.is(Op::kAnd) ? Op::kOr : Op::kAnd, parts);
}

}  // namespace proviso::inline v0_2::internal
