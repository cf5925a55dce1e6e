#include "guards/env/learning.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "guards/fixed_limits.h"
#include "sym/canonical.h"
#include "sym/excerpt.h"
#include "sym/find_node.h"
#include "sym/polynomial.h"
#include "sym/print.h"

namespace proviso::inline v0_2::internal {

namespace {

bool is_integer_symbol(Expr e) { return e.is_symbol() && e.is_int(); }

bool has_division(Expr e) {
  return static_cast<bool>(
      find_node(e, [](Expr x) { return is_integer_division(x.op()); }));
}

// In how many terms each symbol stands.
std::map<Expr, int, ExprLess> terms_with_each(const Polynomial& p) {
  std::map<Expr, int, ExprLess> counts;
  for (const auto& [monomial, coefficient] : p.terms()) {
    std::set<Expr, ExprLess> here;
    for (Expr factor : monomial)
      for (Expr s : free_symbols(factor)) here.insert(s);
    for (Expr s : here) ++counts[s];
  }
  return counts;
}

// p = 0 as symbol = target, where the symbol is a term with coefficient 1 or
// -1.
Expr solved_for(ExprPool& pool, const Polynomial& p, Expr symbol) {
  const Int coefficient = p.terms().find({symbol})->second;
  Polynomial rest = p;
  rest.add({symbol}, -coefficient);
  return canonical(to_expr(pool, rest * -coefficient));
}

// k*symbol + c: what may be substituted when guards are to stay assertions.
bool is_multiple_of_a_symbol(Expr e) {
  Polynomial p = to_polynomial(e);
  size_t terms = 0;
  for (const auto& [monomial, coefficient] : p.terms()) {
    if (monomial.empty()) continue;
    if (monomial.size() != 1 || !monomial[0].is_symbol()) return false;
    ++terms;
  }
  return terms == 1;
}

}  // namespace

void Learning::assume(Expr condition, const SourceLocation& where,
                      const char* what) {
  facts_.assume(condition,
                provenance_of(where, what + excerpt(condition, kFactLength)));
  refine_ranges(condition);
  if (condition.is(Op::kEq)) solve_equality(replacements_.apply(condition));
}

void Learning::refine_ranges(Expr condition) {
  const std::vector<Expr>& all = symbols_.in(condition);
  if (all.size() > fixed::refined_symbols) return;
  for (Expr s : all) {
    if (!s.is_int() || replacements_.has(s)) continue;
    Interval now = without_machine_ends(facts_.context().bounds_quick(s));
    Interval& last =
        ranges_.try_emplace(s, symbols_.first_range(s)).first->second;
    if (now.is_empty() || last == now) continue;
    last = now;
    log_.emit("update_range", s.symbol().name,
              "update_range " + s.symbol().name + " = VR" + now.to_string());
    if (!now.is_point()) continue;
    if (options_.prefer_deferred_runtime_asserts_over_guards &&
        !is_unbacked(s.symbol().kind)) {
      continue;
    }
    Expr value = facts_.pool().integer(*now.lower());
    unguarded_answers_.add_decision(eq(s, value), Verdict::kYes,
                                    AskMode::kFull);
    replace(s, value, "range_refined_to_singleton");
  }
}

void Learning::solve_equality(Expr equality) {
  if (!equality.is(Op::kEq) || !equality.arg(0).is_int()) return;
  if (has_division(equality)) return;
  Polynomial p =
      to_polynomial(equality.arg(0)) - to_polynomial(equality.arg(1));
  const std::map<Expr, int, ExprLess> symbols = terms_with_each(p);
  std::vector<Expr> solvable;  // alone in a term, and nowhere else
  for (const auto& [monomial, coefficient] : p.terms()) {
    if (monomial.size() == 1 && is_integer_symbol(monomial[0]) &&
        abs(coefficient) == Int(1) && symbols.at(monomial[0]) == 1)
      solvable.push_back(monomial[0]);
  }
  const auto others = [&](Expr s) {
    std::vector<Expr> all;
    for (const auto& [other, terms] : symbols)
      if (other != s) all.push_back(other);
    return all;
  };
  const auto rank = [&](Expr s) {
    const Value* hint = symbols_.hints().find(s);
    const bool data = is_unbacked(s.symbol().kind);
    const Int size = hint ? std::get<Int>(*hint) : Int(0);
    return std::make_tuple(data, size, s.symbol().index);
  };
  std::sort(solvable.begin(), solvable.end(),
            [&](Expr a, Expr b) { return rank(a) > rank(b); });
  for (Expr s : solvable) {
    const std::vector<Expr> of = others(s);
    if (std::any_of(of.begin(), of.end(),
                    [&](Expr t) { return symbols_.depends_on_data(t); }))
      continue;
    const Expr target = solved_for(facts_.pool(), p, s);
    if (options_.prefer_deferred_runtime_asserts_over_guards &&
        !is_multiple_of_a_symbol(target)) {
      continue;
    }
    return replace(s, target, "solve");
  }
  for (Expr s : solvable) {  // data to data: hints alone
    const std::vector<Expr> of = others(s);
    const bool is_latest = is_unbacked(s.symbol().kind) &&
                           std::all_of(of.begin(), of.end(), [s](Expr t) {
                             return t.symbol().index < s.symbol().index;
                           });
    if (is_latest)
      replacements_.set_equal_data(s, solved_for(facts_.pool(), p, s));
  }
}

void Learning::replace(Expr symbol, Expr target, const char* reason) {
  if (replacements_.has(symbol)) return;
  replacements_.set(symbol, target);
  Interval range = without_machine_ends(facts_.context().bounds_quick(target));
  const std::string& name = symbol.symbol().name;
  log_.emit("set_replacement", name,
            "set_replacement " + name + " = " +
                to_string(target, fixed::logged_text) + " (" + reason + ") VR" +
                range.to_string());
}

}  // namespace proviso::inline v0_2::internal
