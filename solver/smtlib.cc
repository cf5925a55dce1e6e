// A question with its facts as an SMT-LIB script.
#include <algorithm>
#include <set>

#include "solver/context_call.h"
#include "solver/kind_range.h"

namespace proviso::inline v0_2 {
using namespace internal;
namespace {

// What the symbol's kind says, as assertions.
std::string range_in_smtlib(Expr s) {
  if (!s.is_int()) return "";
  const Interval& range = range_of_kind(s.symbol().kind);
  ExprPool& pool = s.pool();
  std::string out;
  auto assert_that = [&](Expr condition) {
    out += "(assert " + to_smtlib(condition) + ")\n";
  };
  if (range.lower()) assert_that(ge(s, pool.integer(*range.lower())));
  if (range.upper()) assert_that(le(s, pool.integer(*range.upper())));
  return out;
}

}  // namespace

std::string Context::to_smtlib(Expr question) const {
  const Call call(*this);
  Engine& here = call.engine;
  here.check(question, "to_smtlib", "a boolean");
  require_bool(question, "to_smtlib");
  std::string out = "(set-logic ALL)\n";
  std::set<std::pair<uint32_t, std::string>> declared;
  auto declare_symbols = [&](Expr e) {
    for (Expr s : free_symbols(e)) {
      const char* sort = s.is_float() ? "Real" : s.is_bool() ? "Bool" : "Int";
      declared.emplace(s.symbol().index, "(declare-const " +
                                             proviso::to_smtlib(s) + " " +
                                             sort + ")\n" + range_in_smtlib(s));
    }
  };
  const std::vector<Fact> known = facts();
  for (const Fact& fact : known) declare_symbols(fact.condition);
  declare_symbols(question);
  for (const auto& [index, line] : declared) out += line;
  for (const Fact& fact : known) {
    std::string origin = fact.origin.to_string();
    std::replace(origin.begin(), origin.end(), '\n', ' ');
    out += "; fact " + std::to_string(fact.id) +
           (origin.empty() ? "" : ": " + origin) + "\n";
    out += "(assert " + proviso::to_smtlib(fact.condition) + ")\n";
  }
  out += "; the question is valid when its negation has no model\n";
  out += "(assert (not " + proviso::to_smtlib(question) + "))\n";
  return out + "(check-sat)\n";
}

}  // namespace proviso::inline v0_2
