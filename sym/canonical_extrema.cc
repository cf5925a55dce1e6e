// Min, Max and Abs in canonical form: a table of rules each.  Nested and
// repeated arguments go as those of And do (sym/junctions.h).
//
//   Max(Max(x, y), x + 1, y)
//     flatten_extremum, repeated_argument     Max(x, y, x + 1)
//     dominated_argument                      Max(y, x + 1)
//   Abs(4 - 2*x)
//     take_content, positive_first            2*Abs(x - 2)
//
// Arguments are compared in pairs, so that a call costs a difference of
// polynomials a pair.  What sums and products of extrema are is the search's
// (sym/rules_extrema.cc).
#include <algorithm>

#include "sym/canonicalizer.h"
#include "sym/junctions.h"

namespace proviso::inline v0_2::internal {
namespace {

struct Extremum {
  using Part = Expr;

  Canonicalizer& s;
  const Op op;  // kMin or kMax
  std::vector<Expr> parts;
  bool is_done = false;

  Args nested(Expr part) const { return part.is(op) ? part.args() : Args(); }
  void sort() { sort_by_structure(parts); }
};

// Whether b is at least as far out as a, everywhere.
bool is_dominated(Extremum& c, Expr a, Expr b) {
  if (!a.is_int() || !b.is_int()) return false;
  const Polynomial gap = to_polynomial(b) - to_polynomial(a);
  return c.s.known_nonneg(c.op == Op::kMax ? gap : gap * Int(-1));
}

bool dominated_argument(Extremum& c) {
  const size_t before = c.parts.size();
  for (size_t i = 0; i < c.parts.size();) {
    const bool goes =
        std::any_of(c.parts.begin(), c.parts.end(), [&](Expr other) {
          return other != c.parts[i] && is_dominated(c, c.parts[i], other);
        });
    if (goes) {
      c.parts.erase(c.parts.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  return c.parts.size() != before;
}

constinit RuleTable kExtremumRules({
    RewriteRow<Extremum>{
        {"flatten_extremum", "Max(a, Max(b, c))", "Max(a, b, c)", "",
         "Max(x, Max(y, z))", "Max(x, Min(y, z))"},
        junctions::flatten_parts<Extremum>,
        Then::kNext},
    {{"repeated_argument", "Max(a, b, a)", "Max(a, b)", "", "Max(x, y, x)",
      "Max(x, y)"},
     junctions::repeated_part<Extremum>,
     Then::kNext},
    {{"dominated_argument", "Max(a, b)", "b", "a <= b", "Max(x, x + 1)",
      "Max(x, y)"},
     dominated_argument,
     Then::kNext},
});

// factor * Abs(p); once done, factor * p.
struct Absolute {
  Canonicalizer& s;
  Polynomial p;
  Int factor = 1;
  bool is_done = false;
};

bool of_nonnegative(Absolute& c) { return c.is_done = c.s.known_nonneg(c.p); }

bool of_nonpositive(Absolute& c) {
  if (!c.s.known_nonneg(c.p * Int(-1))) return false;
  c.p = c.p * Int(-1);
  return c.is_done = true;
}

bool take_content(Absolute& c) {
  const Int g = full_content(c.p);
  if (g.is_one()) return false;
  c.p = over(c.p, g);
  c.factor *= g;
  return true;
}

bool positive_first(Absolute& c) {
  if (c.p.terms().begin()->second.sign() > 0) return false;
  c.p = c.p * Int(-1);
  return true;
}

constinit RuleTable kAbsoluteRules({
    RewriteRow<Absolute>{{"of_nonnegative", "Abs(a)", "a", "a >= 0", "Abs(y)",
                          "Abs(x)", "y in [0, 7]"},
                         of_nonnegative},
    {{"of_nonpositive", "Abs(a)", "-a", "a <= 0", "Abs(y)", "Abs(x)",
      "y in [-7, 0]"},
     of_nonpositive},
    {{"take_content", "Abs(k*a)", "k*Abs(a)", "k >= 0", "Abs(2*x + 4)",
      "Abs(2*x + 3)"},
     take_content,
     Then::kNext},
    {{"positive_first", "Abs(-a)", "Abs(a)", "", "Abs(-x)", "Abs(x)"},
     positive_first,
     Then::kNext},
});

}  // namespace

std::vector<RewriteRuleCount> extremum_rule_counts() {
  return kExtremumRules.counts();
}
std::vector<RewriteRuleCount> absolute_rule_counts() {
  return kAbsoluteRules.counts();
}

Expr Canonicalizer::extremum(Op op, Args args) {
  Extremum call{.s = *this, .op = op, .parts = {args.begin(), args.end()}};
  kExtremumRules.run(call);
  return call.parts.size() == 1 ? call.parts[0] : pool_.make(op, call.parts);
}

Expr Canonicalizer::absolute(Expr a) {
  if (!a.is_int()) return pool_.make(Op::kAbs, {a});
  Absolute call{.s = *this, .p = to_polynomial(a)};
  kAbsoluteRules.run(call);
  if (!call.is_done) {
    call.p = Polynomial::atom(pool_.make(Op::kAbs, {expr(call.p)}));
  }
  return expr(call.p * call.factor);
}

}  // namespace proviso::inline v0_2::internal
