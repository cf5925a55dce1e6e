// sym/rules.h - the rules that sym/form_search.h searches with: one row each.
// Not for callers of the library.
//
//   {{"close_remainder", "q*b*(a//b)", "q*a - q*Mod(a, b)", "",
//     "x - 8*(x//8)", "x - 7*(x//8)"},     fires on one, is quiet on the other
//    On::kInteger, close_remainder}
//
// A rule is given a canonical expression and says forms that are equal to it;
// it need not know whether they are cheaper.  The row has the rule's statement
// (sym/rewrite_rule.h), says on which nodes it is tried, and has the function.
// The statement is an instance where the rule is of any function or any number
// of arguments.  Tests are made from the row:
// tests/solver/rewrite_rules_test.cc proves the identity, and
// tests/sym/rules_test.cc checks that the function says it, where it fires and
// is quiet, and that what it says has the same value at every small point.
//
// The tables, a file each, in the order in which they are tried:
//
//   sum_rules()              rules_sums.cc        any node; sums with floors
//                                                 and remainders in them
//   division_rules()         rules_division.cc    floors, remainders
//   sum_of_extrema_rules()   rules_sums_of_extrema.cc
//                                                 sums with Min, Max, Where
//   extremum_rules()         rules_extrema.cc     Min, Max, Where
//   logic_rules()            rules_logic.cc       relations, And, Or
//   case_rules()             rules_cases.cc       parts where a condition holds
//
// What several of them take expressions apart with is in sym/rule_parts.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sym/expr.h"
#include "sym/rewrite_rule.h"

namespace proviso::inline v0_2::internal {

class FormSearch;
using Found = std::vector<Expr>;

// Nodes that a rule is tried on.
enum class On : uint8_t {
  kAny,      // what has arguments
  kInteger,  // what can be read as a sum
  kFloor,
  kMod,
  kExtremum,
  kWhere,
  kRelation,  // of integers
  kJunction,  // And, Or
};

struct Rule {
  RewriteRule row;
  On on;
  void (*apply)(FormSearch& search, Expr e, Found& found);
};

// Whether a rule is tried on such a node.
bool applies(On on, Expr e);

using RuleRows = std::span<const Rule>;
RuleRows sum_rules();
RuleRows division_rules();
RuleRows sum_of_extrema_rules();
RuleRows extremum_rules();
RuleRows logic_rules();
RuleRows case_rules();

// The tables in the order in which their rules are tried; the last is that of
// the cases, each of which is a search of its own.
std::span<const RuleRows> rule_tables();
std::vector<const Rule*> all_rules();

// The counts are times that a rule led to a cheaper form.
std::vector<RewriteRuleCount> search_rule_counts();
// The rule with this number, in the order of all_rules(), did once more.
void count_rule(size_t number);

}  // namespace proviso::inline v0_2::internal
