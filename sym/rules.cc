#include "sym/rules.h"

#include <array>

namespace proviso::inline v0_2::internal {
namespace {

constexpr size_t kMaxRules = 96;  // that there is room to count
std::array<Counter, kMaxRules> counts;

}  // namespace

bool applies(On on, Expr e) {
  switch (on) {
    case On::kAny: return !is_leaf(e.op());
    case On::kInteger: return e.is_int();
    case On::kFloor: return e.is(Op::kFloorDiv);
    case On::kMod: return e.is(Op::kMod);
    case On::kExtremum: return e.is_int() && (e.is(Op::kMin) || e.is(Op::kMax));
    case On::kWhere: return e.is(Op::kWhere);
    case On::kRelation: return is_relation(e.op()) && e.arg(0).is_int();
    case On::kJunction: return e.is(Op::kAnd) || e.is(Op::kOr);
  }
  return false;
}

std::span<const RuleRows> rule_tables() {
  static const std::array<RuleRows, 6> kTables = {
      sum_rules(),      division_rules(), sum_of_extrema_rules(),
      extremum_rules(), logic_rules(),    case_rules()};
  return kTables;
}

std::vector<const Rule*> all_rules() {
  std::vector<const Rule*> all;
  for (RuleRows rules : rule_tables()) {
    for (const Rule& rule : rules) all.push_back(&rule);
  }
  return all;
}

std::vector<RewriteRuleCount> search_rule_counts() {
  std::vector<RewriteRuleCount> all;
  for (const Rule* rule : all_rules()) {
    all.push_back({rule->row, counts[all.size()].count()});
  }
  return all;
}

void count_rule(size_t number) { counts[number].add(); }

}  // namespace proviso::inline v0_2::internal
