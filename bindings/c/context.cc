// Contexts: facts and questions.
#include "bindings/c/calls.h"
#include "bindings/facts_behind.h"
#include "guards/context_text.h"
#include "solver/options.h"
#include "solver/solve.h"
#include "solver/symbolic_bounds.h"
#include "sym/excerpt.h"
#include "sym/print.h"

using namespace proviso;
using namespace proviso::c;
using proviso::internal::described;

namespace {

using Lock = std::lock_guard<std::mutex>;

// work(pool, context) with the pool to itself.
template <typename Work>
proviso_status with(const char* call, proviso_context handle, Work work) {
  return guarded(call, [&] {
    const auto held = find(handle, call);
    const Lock alone(held->pool->lock);
    work(*held->pool, held->context);
  });
}

// The same about an expression of the context's pool: work(context, e).
template <typename Work>
proviso_status about(const char* call, proviso_context handle,
                     proviso_expr expr, Work work) {
  return with(call, handle, [&](Pool& pool, Context& context) {
    work(context, expr_in(pool, expr, call));
  });
}

proviso_status rewrite(const char* call, proviso_context handle,
                       proviso_expr expr, proviso_expr* result,
                       Expr (Context::*how)(Expr, std::vector<FactId>*)) {
  return with(call, handle, [&](Pool& pool, Context& context) {
    required(result, call, "result");
    *result = give(pool, (context.*how)(expr_in(pool, expr, call), nullptr));
  });
}

Expr condition(Expr e, const char* call) {
  if (e.is_bool()) return e;
  fail(PROVISO_ERROR_TYPE, call, "expected a condition, got " + described(e));
}

Expr integer(Expr e, const char* call) {
  if (e.is_int()) return e;
  fail(PROVISO_ERROR_TYPE, call,
       "expected an integer expression, got " + described(e));
}

SolverOptions options_of(const proviso_option* options, size_t count,
                         const char* call) {
  require_array(options, count, call, "options");
  SolverOptions result;
  for (size_t i = 0; i < count; ++i) {
    const char* name = &required(options[i].name, call, "an option's name");
    if (const auto wrong = try_set_option(result, name, options[i].value))
      fail(PROVISO_ERROR_ARGUMENT, call, *wrong);
  }
  return result;
}

Provenance origin_of(const proviso_origin* origin) {
  if (origin == nullptr) return {};
  return {origin->text == nullptr ? "" : origin->text,
          origin->file == nullptr ? "" : origin->file, origin->line};
}

Interval interval_of(const proviso_range& range) {
  const auto end = [](int32_t has, int64_t value) -> OptionalInt {
    if (has == 0) return std::nullopt;
    return Int(value);
  };
  return Interval::of(end(range.has_lower, range.lower),
                      end(range.has_upper, range.upper));
}

// With ends that do not fit moved outward.
proviso_range range_of(const Interval& interval) {
  proviso_range range = {};
  if (interval.is_empty()) {
    range.is_empty = 1;
    return range;
  }
  if (const OptionalInt& low = interval.lower()) {
    const auto fits = low->to_int64();
    range.has_lower = fits || low->sign() > 0;
    range.lower = fits ? *fits : range.has_lower ? INT64_MAX : 0;
  }
  if (const OptionalInt& high = interval.upper()) {
    const auto fits = high->to_int64();
    range.has_upper = fits || high->sign() < 0;
    range.upper = fits ? *fits : range.has_upper ? INT64_MIN : 0;
  }
  return range;
}

proviso_verdict verdict_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kYes: return PROVISO_YES;
    case Verdict::kNo: return PROVISO_NO;
    default: return PROVISO_UNKNOWN;
  }
}

PlainPoint plain(const std::optional<Assignment>& point) {
  PlainPoint result;
  if (!point) return result;
  for (const auto& [symbol, value] : point->entries())
    result.emplace_back(symbol.symbol().name, to_string(value));
  return result;
}

using SymbolicBound = std::optional<Expr>(Context&, Expr, std::span<const Expr>,
                                          std::vector<FactId>*);
proviso_status bound_over(const char* call, proviso_context handle,
                          proviso_expr expr, const proviso_expr* over,
                          size_t count, proviso_expr* out, SymbolicBound* how) {
  return with(call, handle, [&](Pool& pool, Context& context) {
    required(out, call, "bound");
    require_array(over, count, call, "over");
    std::vector<Expr> symbols;
    for (size_t i = 0; i < count; ++i) {
      symbols.push_back(expr_in(pool, over[i], call));
      if (!symbols.back().is_symbol())
        fail(PROVISO_ERROR_TYPE, call,
             "expected a symbol, got " + described(symbols.back()));
    }
    const Expr e = integer(expr_in(pool, expr, call), call);
    const auto found = how(context, e, symbols, nullptr);
    *out = found ? give(pool, *found) : proviso_expr{0};
  });
}

proviso_side side_of(Solution::Side side) {
  switch (side) {
    case Solution::Side::kAtMost: return PROVISO_AT_MOST;
    case Solution::Side::kAtLeast: return PROVISO_AT_LEAST;
    default: return PROVISO_EQUAL;
  }
}

int64_t fitting(const Int& value, const char* call) {
  if (const auto small = value.to_int64()) return *small;
  fail(PROVISO_ERROR_RANGE, call, value.to_string() + " has more than 64 bits");
}

uint64_t add_context(std::shared_ptr<Pool> pool, Context context) {
  return add(std::make_shared<ContextOfPool>(
      ContextOfPool{std::move(pool), std::move(context)}));
}

}  // namespace

extern "C" {

proviso_status proviso_context_new(proviso_pool pool,
                                   const proviso_option* options, size_t count,
                                   proviso_context* context) {
  constexpr const char* kCall = "proviso_context_new";
  return guarded(kCall, [&] {
    required(context, kCall, "context");
    const SolverOptions chosen = options_of(options, count, kCall);
    const auto held = find(pool, kCall);
    const Lock alone(held->lock);
    *context = {add_context(held, Context(held->pool, chosen))};
  });
}

proviso_status proviso_context_free(proviso_context context) {
  return guarded("proviso_context_free",
                 [&] { remove(context, "proviso_context_free"); });
}

proviso_status proviso_option_info(size_t index, const char** name,
                                   uint64_t* default_value, const char** help) {
  constexpr const char* kCall = "proviso_option_info";
  return guarded(kCall, [&] {
    required(name, kCall, "name");
    required(default_value, kCall, "default_value");
    required(help, kCall, "help");
    const SolverOptions defaults;
    size_t at = 0;
    each_option(defaults, [&](const OptionInfo& row, const auto& field) {
      if (at++ != index) return;
      *name = row.name.data();  // literals
      *help = row.help.data();
      *default_value = static_cast<uint64_t>(field);
    });
    if (index >= at)
      fail(PROVISO_ERROR_RANGE, kCall,
           "index " + std::to_string(index) + " of " + std::to_string(at) +
               " options");
  });
}

proviso_status proviso_context_option(proviso_context context, const char* name,
                                      uint64_t* value) {
  constexpr const char* kCall = "proviso_context_option";
  return with(kCall, context, [&](Pool&, Context& c) {
    required(name, kCall, "name");
    required(value, kCall, "value") = get_option(c.options(), name);
  });
}

proviso_status proviso_context_clone(proviso_context context,
                                     proviso_context* clone) {
  constexpr const char* kCall = "proviso_context_clone";
  return guarded(kCall, [&] {
    required(clone, kCall, "clone");
    const auto held = find(context, kCall);
    const Lock alone(held->pool->lock);
    *clone = {add_context(held->pool, held->context.clone())};
  });
}

proviso_status proviso_push(proviso_context context) {
  return with("proviso_push", context, [](Pool&, Context& c) { c.push(); });
}

proviso_status proviso_pop(proviso_context context) {
  constexpr const char* kCall = "proviso_pop";
  return with(kCall, context, [&](Pool&, Context& c) {
    if (c.depth() == 0)
      fail(PROVISO_ERROR_STATE, kCall,
           "no proviso_push() is open; call it first");
    c.pop();
  });
}

proviso_status proviso_depth(proviso_context context, size_t* depth) {
  constexpr const char* kCall = "proviso_depth";
  return with(kCall, context, [&](Pool&, Context& c) {
    required(depth, kCall, "depth") = c.depth();
  });
}

proviso_status proviso_declare(proviso_context context, proviso_expr symbol,
                               const proviso_range* range,
                               const proviso_origin* origin, uint32_t* fact) {
  constexpr const char* kCall = "proviso_declare";
  return about(kCall, context, symbol, [&](Context& c, Expr e) {
    const Interval interval = interval_of(required(range, kCall, "range"));
    if (!e.is_symbol())
      fail(PROVISO_ERROR_TYPE, kCall,
           "expected a symbol, got " + described(e) +
               "; proviso_assume() takes conditions");
    const FactId id = c.declare(e, interval, origin_of(origin));
    if (fact != nullptr) *fact = id;
  });
}

proviso_status proviso_declare_strided(proviso_context context,
                                       proviso_expr symbol,
                                       const proviso_range* range, int64_t step,
                                       int64_t residue,
                                       const proviso_origin* origin,
                                       uint32_t* fact) {
  constexpr const char* kCall = "proviso_declare_strided";
  return about(kCall, context, symbol, [&](Context& c, Expr e) {
    const Interval interval = interval_of(required(range, kCall, "range"));
    if (!e.is_symbol() || !e.is_int())
      fail(PROVISO_ERROR_TYPE, kCall,
           "expected an integer symbol, got " + described(e));
    if (step < 1)
      fail(PROVISO_ERROR_ARGUMENT, kCall,
           "step is " + std::to_string(step) + "; give at least 1");
    const FactId id =
        c.declare(e, Strided(interval, step, residue), origin_of(origin));
    if (fact != nullptr) *fact = id;
  });
}

proviso_status proviso_assume(proviso_context context, proviso_expr given,
                              const proviso_origin* origin, uint32_t* fact) {
  constexpr const char* kCall = "proviso_assume";
  return about(kCall, context, given, [&](Context& c, Expr e) {
    const FactId id = c.assume(condition(e, kCall), origin_of(origin));
    if (fact != nullptr) *fact = id;
  });
}

proviso_status proviso_fact_count(proviso_context context, size_t* count) {
  constexpr const char* kCall = "proviso_fact_count";
  return with(kCall, context, [&](Pool&, Context& c) {
    required(count, kCall, "count") = c.facts().size();
  });
}

proviso_status proviso_fact_at(proviso_context context, size_t index,
                               proviso_expr* found, uint32_t* id) {
  constexpr const char* kCall = "proviso_fact_at";
  return with(kCall, context, [&](Pool& pool, Context& c) {
    required(found, kCall, "condition");
    const std::vector<Fact> all = c.facts();
    if (index >= all.size())
      fail(PROVISO_ERROR_RANGE, kCall,
           "index " + std::to_string(index) + " of " +
               std::to_string(all.size()) + " facts");
    *found = give(pool, all[index].condition);
    if (id != nullptr) *id = all[index].id;
  });
}

proviso_status proviso_fact_origin(proviso_context context, uint32_t id,
                                   char* buffer, size_t size, size_t* length) {
  constexpr const char* kCall = "proviso_fact_origin";
  return with(kCall, context, [&](Pool&, Context& c) {
    write_text(c.fact(id).origin.to_string(), buffer, size, length, kCall);
  });
}

proviso_status proviso_fact_depth(proviso_context context, uint32_t id,
                                  size_t* depth) {
  constexpr const char* kCall = "proviso_fact_depth";
  return with(kCall, context, [&](Pool&, Context& c) {
    required(depth, kCall, "depth") = c.fact(id).depth;
  });
}

proviso_status proviso_contradiction(proviso_context context, int* contradict) {
  constexpr const char* kCall = "proviso_contradiction";
  return with(kCall, context, [&](Pool&, Context& c) {
    required(contradict, kCall, "contradict") = c.contradiction().has_value();
  });
}

proviso_status proviso_ask_quick(proviso_context context, proviso_expr question,
                                 proviso_verdict* verdict) {
  constexpr const char* kCall = "proviso_ask_quick";
  return about(kCall, context, question, [&](Context& c, Expr e) {
    required(verdict, kCall, "verdict") =
        verdict_of(c.ask_quick(condition(e, kCall)));
  });
}

proviso_status proviso_ask(proviso_context context, proviso_expr question,
                           proviso_answer* answer) {
  constexpr const char* kCall = "proviso_ask";
  return about(kCall, context, question, [&](Context& c, Expr e) {
    required(answer, kCall, "answer");
    auto plain_answer = std::make_shared<PlainAnswer>();
    Answer& found = plain_answer->answer;
    found = c.ask(condition(e, kCall));
    plain_answer->points[PROVISO_COUNTEREXAMPLE] = plain(found.counterexample);
    plain_answer->points[PROVISO_WITNESS] = plain(found.witness);
    found.counterexample.reset();
    found.witness.reset();
    *answer = {add(std::move(plain_answer))};
  });
}

proviso_status proviso_equivalent(proviso_context context, proviso_expr a,
                                  proviso_expr b, proviso_verdict* verdict) {
  constexpr const char* kCall = "proviso_equivalent";
  return with(kCall, context, [&](Pool& pool, Context& c) {
    required(verdict, kCall, "verdict");
    const Expr left = expr_in(pool, a, kCall), right = expr_in(pool, b, kCall);
    if (left.is_bool() != right.is_bool())
      fail(PROVISO_ERROR_TYPE, kCall,
           described(left) + " beside " + described(right));
    *verdict = verdict_of(c.equivalent(left, right));
  });
}

proviso_status proviso_bounds(proviso_context context, proviso_expr expr,
                              proviso_range* range) {
  constexpr const char* kCall = "proviso_bounds";
  return about(kCall, context, expr, [&](Context& c, Expr e) {
    required(range, kCall, "range") = range_of(c.bounds(integer(e, kCall)));
  });
}

proviso_status proviso_bounds_quick(proviso_context context, proviso_expr expr,
                                    proviso_range* range) {
  constexpr const char* kCall = "proviso_bounds_quick";
  return about(kCall, context, expr, [&](Context& c, Expr e) {
    required(range, kCall, "range") =
        range_of(c.bounds_quick(integer(e, kCall)));
  });
}

proviso_status proviso_strided(proviso_context context, proviso_expr expr,
                               proviso_range* range, int64_t* step,
                               int64_t* residue) {
  constexpr const char* kCall = "proviso_strided";
  return about(kCall, context, expr, [&](Context& c, Expr e) {
    required(range, kCall, "range");
    required(step, kCall, "step");
    required(residue, kCall, "residue");
    const Strided found = c.strided(integer(e, kCall));
    const bool is_point = found.stride().is_zero();
    const int64_t found_step = is_point ? 1 : fitting(found.stride(), kCall);
    *residue = is_point ? 0 : fitting(found.offset(), kCall);
    *step = found_step;
    *range = range_of(found.span());
  });
}

proviso_status proviso_upper_bound(proviso_context context, proviso_expr expr,
                                   const proviso_expr* over, size_t count,
                                   proviso_expr* bound) {
  return bound_over("proviso_upper_bound", context, expr, over, count, bound,
                    upper_bound);
}

proviso_status proviso_lower_bound(proviso_context context, proviso_expr expr,
                                   const proviso_expr* over, size_t count,
                                   proviso_expr* bound) {
  return bound_over("proviso_lower_bound", context, expr, over, count, bound,
                    lower_bound);
}

proviso_status proviso_solve(proviso_context context, proviso_expr relation,
                             proviso_expr symbol, proviso_side* side,
                             proviso_expr* value, proviso_expr* condition) {
  constexpr const char* kCall = "proviso_solve";
  return with(kCall, context, [&](Pool& pool, Context& c) {
    required(side, kCall, "side");
    required(value, kCall, "value");
    required(condition, kCall, "condition");
    const Expr r = expr_in(pool, relation, kCall);
    const Expr x = expr_in(pool, symbol, kCall);
    if (!r.is_bool() || !x.is_symbol() || !x.is_int())
      fail(PROVISO_ERROR_TYPE, kCall,
           "expected a relation and an integer symbol, got " + described(r) +
               " and " + described(x));
    const auto found = solve(c, r, x);
    *value = found ? give(pool, found->value) : proviso_expr{0};
    *condition = found ? give(pool, found->condition) : proviso_expr{0};
    *side = found ? side_of(found->side) : PROVISO_EQUAL;
  });
}

proviso_status proviso_common_divisor(proviso_context context, proviso_expr a,
                                      proviso_expr b, proviso_expr* divisor) {
  constexpr const char* kCall = "proviso_common_divisor";
  return with(kCall, context, [&](Pool& pool, Context& c) {
    required(divisor, kCall, "divisor");
    const Expr left = integer(expr_in(pool, a, kCall), kCall);
    const Expr right = integer(expr_in(pool, b, kCall), kCall);
    *divisor = give(pool, common_divisor(c, left, right));
  });
}

proviso_status proviso_facts_behind(proviso_context context, const char* call,
                                    proviso_expr expr, uint32_t* ids,
                                    size_t capacity, size_t* count) {
  constexpr const char* kCall = "proviso_facts_behind";
  return about(kCall, context, expr, [&](Context& c, Expr e) {
    required(call, kCall, "call");
    const CallWithFacts* const known = call_with_facts(call);
    if (known == nullptr)
      fail(PROVISO_ERROR_ARGUMENT, kCall,
           "call " + quoted(call) + " is none of " +
               names_of_calls_with_facts());
    write_array(facts_behind(c, *known, e), ids, capacity, count, kCall,
                [](FactId id) { return id; });
  });
}

proviso_status proviso_set_log(proviso_context context, proviso_log_sink sink,
                               void* user) {
  return with("proviso_set_log", context, [&](Pool&, Context& c) {
    if (sink == nullptr) return c.set_log({});
    c.set_log([sink, user](std::string_view line) {
      sink(std::string(line).c_str(), user);
    });
  });
}

proviso_status proviso_multiple_of(proviso_context context, proviso_expr expr,
                                   int64_t* divisor) {
  constexpr const char* kCall = "proviso_multiple_of";
  return about(kCall, context, expr, [&](Context& c, Expr e) {
    required(divisor, kCall, "divisor") =
        fitting(c.multiple_of(integer(e, kCall)), kCall);
  });
}

proviso_status proviso_values(proviso_context context, proviso_expr expr,
                              int64_t* values, size_t capacity, size_t* count) {
  constexpr const char* kCall = "proviso_values";
  return about(kCall, context, expr, [&](Context& c, Expr e) {
    required(count, kCall, "count");
    require_array(values, capacity, kCall, "values");
    const auto all = c.values(integer(e, kCall), capacity);
    if (!all)
      fail(PROVISO_ERROR_SPACE, kCall,
           "there may be more than " + std::to_string(capacity) + " values");
    std::vector<int64_t> small;
    for (const Int& value : *all) small.push_back(fitting(value, kCall));
    std::copy(small.begin(), small.end(), values);
    *count = small.size();
  });
}

proviso_status proviso_simplify(proviso_context context, proviso_expr expr,
                                proviso_expr* result) {
  return rewrite("proviso_simplify", context, expr, result, &Context::simplify);
}
proviso_status proviso_canonical(proviso_context context, proviso_expr expr,
                                 proviso_expr* result) {
  return rewrite("proviso_canonical", context, expr, result,
                 &Context::canonical);
}
proviso_status proviso_solve_equalities(proviso_context context,
                                        proviso_expr expr,
                                        proviso_expr* result) {
  return rewrite("proviso_solve_equalities", context, expr, result,
                 &Context::substitute);
}

proviso_status proviso_interrupt(proviso_context context) {
  constexpr const char* kCall = "proviso_interrupt";
  return guarded(kCall, [&] { find(context, kCall)->context.interrupt(); });
}

proviso_status proviso_statistics(proviso_context context, char* buffer,
                                  size_t size, size_t* length) {
  constexpr const char* kCall = "proviso_statistics";
  return with(kCall, context, [&](Pool&, Context& c) {
    write_text(c.statistics().to_string(), buffer, size, length, kCall);
  });
}

proviso_status proviso_to_smtlib(proviso_context context, proviso_expr question,
                                 char* buffer, size_t size, size_t* length) {
  constexpr const char* kCall = "proviso_to_smtlib";
  return about(kCall, context, question, [&](Context& c, Expr e) {
    write_text(c.to_smtlib(condition(e, kCall)), buffer, size, length, kCall);
  });
}

proviso_status proviso_save(proviso_context context, char* buffer, size_t size,
                            size_t* length) {
  constexpr const char* kCall = "proviso_save";
  return with(kCall, context, [&](Pool&, Context& c) {
    write_text(save_context(c), buffer, size, length, kCall);
  });
}

proviso_status proviso_load(proviso_pool pool, const char* text,
                            const proviso_option* most, size_t count,
                            proviso_context* context) {
  constexpr const char* kCall = "proviso_load";
  return guarded(kCall, [&] {
    required(text, kCall, "text");
    required(context, kCall, "context");
    const SolverOptions allowed = options_of(most, count, kCall);
    const auto held = find(pool, kCall);
    const Lock alone(held->lock);
    try {
      *context = {add_context(held, load_context(held->pool, text, allowed))};
    } catch (const Error& e) {
      fail(PROVISO_ERROR_PARSE, kCall, e.what());
    }
  });
}

}  // extern "C"
