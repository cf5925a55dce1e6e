#include "guards/env/learning.h"

#include <algorithm>
#include <tuple>

#include "guards/fixed_limits.h"
#include "sym/canonical.h"
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

struct Solution {
  Expr symbol;
  Expr target;
};

// Every way to write `p = 0` as symbol = target, where the symbol is alone in
// its term with coefficient 1 or -1 and nowhere else.
std::vector<Solution> solutions(ExprPool& pool, const Polynomial& p) {
  std::vector<Solution> found;
  for (const auto& [monomial, coefficient] : p.terms()) {
    if (monomial.size() != 1 || !is_integer_symbol(monomial[0])) continue;
    if (abs(coefficient) != Int(1)) continue;
    Polynomial rest = p;
    rest.add(monomial, -coefficient);
    Expr target = to_expr(pool, rest * -coefficient);
    std::vector<Expr> symbols = free_symbols(target);
    if (std::find(symbols.begin(), symbols.end(), monomial[0]) !=
        symbols.end()) {
      continue;
    }
    found.push_back({monomial[0], canonical(target)});
  }
  return found;
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
  facts_.assume(condition, provenance_of(where, what + to_string(condition)));
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
  const Solution* best = nullptr;
  std::vector<Solution> all = solutions(facts_.pool(), p);
  auto rank = [&](const Solution& s) {
    const Value* hint = symbols_.hints().find(s.symbol);
    bool data = is_unbacked(s.symbol.symbol().kind);
    Int size = hint ? std::get<Int>(*hint) : Int(0);
    return std::make_tuple(data, size, s.symbol.symbol().index);
  };
  for (const Solution& s : all) {
    if (symbols_.depends_on_data(s.target)) continue;
    if (options_.prefer_deferred_runtime_asserts_over_guards &&
        !is_multiple_of_a_symbol(s.target)) {
      continue;
    }
    if (!best || rank(*best) < rank(s)) best = &s;
  }
  if (best) return replace(best->symbol, best->target, "solve");
  for (const Solution& s : all) {  // data to data: hints alone
    const std::vector<Expr>& targets = symbols_.in(s.target);
    bool latest = is_unbacked(s.symbol.symbol().kind) &&
                  std::all_of(targets.begin(), targets.end(), [&](Expr t) {
                    return t.symbol().index < s.symbol.symbol().index;
                  });
    if (latest) replacements_.set_equal_data(s.symbol, s.target);
  }
}

void Learning::replace(Expr symbol, Expr target, const char* reason) {
  if (replacements_.has(symbol)) return;
  replacements_.set(symbol, target);
  Interval range = without_machine_ends(facts_.context().bounds_quick(target));
  const std::string& name = symbol.symbol().name;
  log_.emit("set_replacement", name,
            "set_replacement " + name + " = " + to_string(target) + " (" +
                reason + ") VR" + range.to_string());
}

}  // namespace proviso::inline v0_2::internal
