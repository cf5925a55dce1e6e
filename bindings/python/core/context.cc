// Context for proviso/_context.py, which gives the answers their classes.
#include <cstdint>
#include <limits>

#include "bindings/facts_behind.h"
#include "bindings/python/bound_class.h"
#include "bindings/python/core/core.h"
#include "guards/context_text.h"
#include "solver/argument_types.h"
#include "solver/options.h"
#include "solver/solve.h"
#include "solver/symbolic_bounds.h"
#include "sym/excerpt.h"
#include "sym/lexer.h"
#include "sym/parse.h"
#include "sym/print.h"

namespace proviso::python {
namespace {

using internal::described;
using internal::excerpt;
using internal::kArgumentLength;

SolverOptions options_of(const py::object& given, const char* call) {
  SolverOptions options;
  for (const auto& [key, value] : dict_of(given, call, "options")) {
    const std::string name = text_of(key, call, "an option's name");
    const std::optional<Int> exact = to_bound(value);
    const auto number = exact ? exact->to_int64() : std::nullopt;
    if (!number || *number < 0) {
      throw Error(std::string(call) + ": option " +
                  excerpt(name, kArgumentLength) + " is " + shown(value) +
                  "; give an int >= 0, or True or False");
    }
    const auto problem =
        try_set_option(options, name, static_cast<uint64_t>(*number));
    if (problem) throw Error(std::string(call) + ": " + *problem);
  }
  return options;
}

py::dict values_of(const SolverOptions& options) {
  py::dict result;
  each_option(options, [&](const OptionInfo& row, const auto& field) {
    result[py::str(std::string(row.name))] = py::cast(field);
  });
  for (const OptionValue& option : changed_limits_and_strategies(options))
    result[py::str(option.name)] = option.value;
  return result;
}

py::object point_of(const std::optional<Assignment>& at) {
  if (!at) return py::none();
  py::dict result;
  for (const auto& [symbol, value] : at->entries())
    result[symbol.symbol().name.c_str()] = to_python(value);
  return result;
}

// (lower, upper); (1, 0) when there is no value.
py::tuple ends_of(const Interval& range) {
  if (range.is_empty()) return py::make_tuple(1, 0);
  return py::make_tuple(to_python_int(range.lower()),
                        to_python_int(range.upper()));
}

class PyContext {
 public:
  PyContext(const py::object& options, const py::object& strict)
      : pool_(std::make_shared<Pool>()),
        context_(std::make_unique<Context>(pool_->pool,
                                           options_of(options, "Context"))) {
    if (!strict.is_none())
      pool_->is_strict = truth_of(strict, "Context", "strict");
  }
  PyContext(const std::string& text, const SolverOptions& most)
      : pool_(std::make_shared<Pool>()),
        context_(
            std::make_unique<Context>(load_context(pool_->pool, text, most))) {}
  // A clone shares the engine, so that it too goes under the lock.
  ~PyContext() {
    briefly(*pool_, [&] { context_.reset(); });
  }
  PyContext(PyContext&&) = delete;

  PyExpr symbol(const py::object& name, const py::object& kind) {
    constexpr const char* kCall = "Context.symbol";
    const Expr e = symbol_of_name(*pool_, text_of(name, kCall, "name"),
                                  text_or_none(kind, kCall, "kind"), kCall);
    pool_->has_declared = true;
    return {pool_, e};
  }
  PyExpr expr(const py::object& given) {
    return {pool_, Given(pool_, "Context.expr")(given)};
  }
  py::list symbols() {
    py::list result;
    const std::vector<Expr> all = briefly(*pool_, [&] {
      const auto known = pool_->pool.symbols();
      return std::vector<Expr>(known.begin(), known.end());
    });
    for (Expr symbol : all) result.append(PyExpr{pool_, symbol});
    return result;
  }
  std::string save() {
    return at_length(*pool_, [&] { return save_context(*context_); });
  }

  // "s0 in [2, int_oo]"
  FactId declare_text(const py::object& range, const Provenance& origin) {
    const std::string text = text_of(range, kDeclare, "the range");
    const RangeDeclaration r =
        on_behalf_of(kDeclare, [&] { return parse_range(text); });
    return at_length(*pool_, [&] {
      const FactId id =
          context_->declare(declared_symbol(pool_->pool, r),
                            Interval::of(r.lower, r.upper), origin);
      pool_->has_declared = true;
      return id;
    });
  }
  // step and residue may be None: every value from lower on.
  FactId declare(const py::object& symbol, const py::object& lower,
                 const py::object& upper, const py::object& step,
                 const py::object& residue, const Provenance& origin) {
    const Interval range =
        Interval::of(end_of(lower, "lower"), end_of(upper, "upper"));
    const Int distance = int_of(step, kDeclare, "step");
    if (distance.sign() <= 0) {
      throw Error("Context.declare: the step is " +
                  excerpt(distance.to_string(), kArgumentLength) +
                  "; give at least 1");
    }
    const Int rest = residue.is_none() ? range.lower().value_or(Int(0))
                                       : int_of(residue, kDeclare, "residue");
    const bool is_strided = distance != Int(1);
    const Expr e =
        PyUnicode_Check(symbol.ptr())
            ? named(text_of(symbol, kDeclare, "symbol"), range, is_strided)
            : declarable(symbol, is_strided);
    return at_length(*pool_, [&] {
      const FactId id =
          is_strided
              ? context_->declare(e, Strided(range, distance, rest), origin)
              : context_->declare(e, range, origin);
      pool_->has_declared = true;
      return id;
    });
  }
  FactId assume(const py::object& condition, const Provenance& origin) {
    Given given(pool_, "Context.assume");
    const Expr e = given.condition(condition);
    return at_length(*pool_, [&] { return context_->assume(e, origin); });
  }

  // (verdict, [fact], counterexample, witness, reason, tier, strategy, [id],
  //  is_contradiction)
  py::tuple ask(const py::object& question) {
    Given given(pool_, "Context.ask");
    const Expr e = given.condition(question);
    std::vector<Fact> used;
    const Answer answer = at_length(*pool_, [&] {
      Answer answer = context_->ask(e);
      for (FactId id : answer.facts) used.push_back(context_->fact(id));
      return answer;
    });
    py::list facts;
    for (const Fact& fact : used) {
      facts.append(fact.origin.text.empty() ? to_string(fact.condition)
                                            : fact.origin.to_string());
    }
    return py::make_tuple(std::string(name_of(answer.verdict)), facts,
                          point_of(answer.counterexample),
                          point_of(answer.witness), answer.reason,
                          std::string(name_of(answer.tier)),
                          std::string(name_of(answer.strategy)), answer.facts,
                          answer.is_contradiction);
  }
  std::string ask_quick(const py::object& question) {
    Given given(pool_, "Context.ask_quick");
    const Expr e = given.condition(question);
    return std::string(
        name_of(at_length(*pool_, [&] { return context_->ask_quick(e); })));
  }
  std::string equivalent(const py::object& a, const py::object& b) {
    Given given(pool_, "Context.equivalent");
    const Expr left = given(a), right = given(b);
    internal::require_alike(left, right);
    return std::string(name_of(
        at_length(*pool_, [&] { return context_->equivalent(left, right); })));
  }
  py::tuple bounds(const py::object& given, const py::object& is_quick) {
    const bool quick = truth_of(is_quick, "Context.bounds", "quick");
    const Expr e = integer(given, quick ? "bounds_quick" : "bounds");
    return ends_of(at_length(*pool_, [&] {
      return quick ? context_->bounds_quick(e) : context_->bounds(e);
    }));
  }
  // (lower, upper, step, residue)
  py::tuple strided(const py::object& given) {
    const Expr e = integer(given, "strided");
    const Strided range =
        at_length(*pool_, [&] { return context_->strided(e); });
    const py::tuple ends = ends_of(range.span());
    const bool is_point = range.stride().is_zero();
    return py::make_tuple(ends[0], ends[1],
                          to_python_int(is_point ? Int(1) : range.stride()),
                          to_python_int(is_point ? Int(0) : range.offset()));
  }
  std::optional<PyExpr> bound_over(const py::object& given,
                                   const py::object& over,
                                   const py::object& is_above) {
    const bool above = truth_of(is_above, "Context.upper_bound", "above");
    const char* call = above ? "upper_bound" : "lower_bound";
    const std::string qualified = std::string("Context.") + call;
    Given in_pool(pool_, qualified.c_str());
    const Expr e = in_pool.integer(given);
    std::vector<Expr> symbols;
    for (const py::object& symbol : items_of(over, qualified.c_str(), "over")) {
      symbols.push_back(in_pool(symbol));
      if (symbols.back().is_symbol()) continue;
      throw Error("Context." + std::string(call) + ": expected symbols, got " +
                  excerpt(symbols.back()));
    }
    const auto found = at_length(*pool_, [&] {
      return above ? upper_bound(*context_, e, symbols)
                   : lower_bound(*context_, e, symbols);
    });
    if (!found) return std::nullopt;
    return PyExpr{pool_, *found};
  }
  // (side, value, condition)
  py::object solve(const py::object& relation, const py::object& symbol) {
    Given given(pool_, "Context.solve");
    const Expr r = given(relation), x = given(symbol);
    internal::require_unknown(x);
    internal::require_solvable(r);
    const auto found =
        at_length(*pool_, [&] { return proviso::solve(*context_, r, x); });
    if (!found) return py::none();
    return py::make_tuple(std::string(name_of(found->side)),
                          PyExpr{pool_, found->value},
                          PyExpr{pool_, found->condition});
  }
  PyExpr common_divisor(const py::object& a, const py::object& b) {
    Given given(pool_, "Context.common_divisor");
    const Expr left = given.integer(a), right = given.integer(b);
    return {pool_, at_length(*pool_, [&] {
              return proviso::common_divisor(*context_, left, right);
            })};
  }
  std::vector<FactId> facts_behind(const py::object& of,
                                   const py::object& given) {
    const std::string call = text_of(of, "Context.facts_behind", "call");
    constexpr const char* kCall = "Context.facts_behind";
    const CallWithFacts* const known = call_with_facts(call);
    if (known == nullptr) {
      throw Error("Context.facts_behind: expected one of " +
                  names_of_calls_with_facts() + "; got " + shown(of));
    }
    Given in_pool(pool_, kCall);
    const Expr e = known->of_integers ? in_pool.integer(given) : in_pool(given);
    return on_behalf_of(kCall, [&] {
      return at_length(
          *pool_, [&] { return proviso::facts_behind(*context_, *known, e); });
    });
  }
  void set_log(const py::object& callback) {
    if (!callback.is_none() && PyCallable_Check(callback.ptr()) == 0) {
      throw py::type_error(
          "Context.set_log: expected a callable or None, got " +
          shown(callback));
    }
    Pool* const pool = pool_.get();  // which outlives its contexts
    at_length(*pool_, [&] {
      if (callback.is_none()) return context_->set_log({});
      context_->set_log([pool](std::string_view line) {
        pool->lines.emplace_back(line);
        pool->has_lines = true;
      });
    });
    pool_->log = callback;
  }
  py::object multiple_of(const py::object& given) {
    const Expr e = integer(given, "multiple_of");
    return to_python_int(
        at_length(*pool_, [&] { return context_->multiple_of(e); }));
  }
  py::object values(const py::object& given, const py::object& most) {
    const size_t limit = count_of(most, "Context.values", "limit");
    const Expr e = integer(given, "values");
    const auto all =
        at_length(*pool_, [&] { return context_->values(e, limit); });
    if (!all) return py::none();
    py::list result;
    for (const Int& value : *all) result.append(to_python_int(value));
    return result;
  }
  using Rewrite = Expr (Context::*)(Expr, std::vector<FactId>*);
  PyExpr rewritten(Rewrite rewrite, const py::object& given, const char* call) {
    const Expr e = Given(pool_, call)(given);
    return {pool_, at_length(*pool_,
                             [&] { return (*context_.*rewrite)(e, nullptr); })};
  }
  PyExpr substitute(const py::object& given) {
    return rewritten(&Context::substitute, given, "Context.substitute");
  }
  PyExpr simplify(const py::object& given) {
    return rewritten(&Context::simplify, given, "Context.simplify");
  }
  PyExpr canonical(const py::object& given) {
    return rewritten(&Context::canonical, given, "Context.canonical");
  }

  std::unique_ptr<PyContext> clone() {
    return at_length(*pool_, [&] {
      return std::unique_ptr<PyContext>(
          new PyContext(pool_, context_->clone()));
    });
  }
  void push() {
    at_length(*pool_, [&] { context_->push(); });
  }
  void pop() {
    at_length(*pool_, [&] { context_->pop(); });
  }
  size_t depth() {
    return briefly(*pool_, [&] { return context_->depth(); });
  }

  py::list facts() {
    py::list result;
    const auto all = at_length(*pool_, [&] { return context_->facts(); });
    for (const Fact& fact : all) result.append(row_of(fact));
    return result;
  }
  py::tuple fact(const py::object& number) {
    const size_t id = count_of(number, "Context.fact", "id");
    if (id > std::numeric_limits<FactId>::max())
      throw Error("Context.fact: there is no fact " + std::to_string(id));
    return row_of(at_length(
        *pool_, [&] { return context_->fact(static_cast<FactId>(id)); }));
  }
  std::optional<std::vector<FactId>> contradiction() {
    return at_length(*pool_, [&] { return context_->contradiction(); });
  }
  py::dict statistics() {
    const Statistics s =
        briefly(*pool_, [&] { return context_->statistics(); });
    py::dict tiers, strategies, result;
    for (Tier tier : all_tiers())
      tiers[py::str(std::string(name_of(tier)))] = s.decided[tier];
    const auto counts = [](const StrategyCount& c) {
      return py::make_tuple(c.tried, c.decided, c.work);
    };
    for (Strategy strategy : all_strategies()) {
      const StrategyCount& c = s.by_strategy[strategy];
      if (c.tried == 0) continue;
      strategies[py::str(std::string(name_of(strategy)))] = counts(c);
    }
    result["questions"] = s.questions;
    result["decided"] = tiers;
    result["strategies"] = strategies;
    result["box"] = counts(s.box);
    result["consistency"] = counts(s.consistency);
    result["memo_hits"] = s.memo_hits;
    result["z3_calls"] = s.z3_calls;
    result["work"] = s.work;
    return result;
  }
  std::string to_smtlib(const py::object& question) {
    Given given(pool_, "Context.to_smtlib");
    const Expr e = given.condition(question);
    return at_length(*pool_, [&] { return context_->to_smtlib(e); });
  }
  void interrupt() { context_->interrupt(); }
  py::dict options() {
    return values_of(briefly(*pool_, [&] { return context_->options(); }));
  }

 private:
  static constexpr const char* kDeclare = "Context.declare";

  // The symbol of a name that is declared: s0 of negative numbers is no size.
  Expr named(const std::string& name, const Interval& range, bool is_strided) {
    const bool is_negative = range.lower() && *range.lower() < Int(0);
    return briefly(*pool_, [&] {
      internal::PoolUndo undo(pool_->pool);
      const Expr e = is_negative && internal::names_a_symbol(name)
                         ? declared_symbol(pool_->pool,
                                           {name, range.lower(), range.upper()})
                         : symbol_in(pool_->pool, name, {}, kDeclare);
      internal::require_declarable(e, is_strided);
      undo.keep();
      return e;
    });
  }
  Expr declarable(const py::object& symbol, bool is_strided) {
    Given given(pool_, kDeclare);
    const Expr e = given(symbol);
    internal::require_declarable(e, is_strided);
    return e;
  }

  PyContext(PoolPtr pool, Context context)
      : pool_(std::move(pool)),
        context_(std::make_unique<Context>(std::move(context))) {}

  static OptionalInt end_of(const py::object& end, const char* name) {
    if (end.is_none()) return std::nullopt;
    if (auto number = to_bound(end)) return number;
    refuse(end, kDeclare, name, "an int, or None for no end");
  }
  Expr integer(const py::object& given, const char* method) {
    const std::string call = std::string("Context.") + method;
    return Given(pool_, call.c_str()).integer(given);
  }
  py::tuple row_of(const Fact& fact) {
    return py::make_tuple(fact.id, PyExpr{pool_, fact.condition},
                          fact.origin.text, fact.origin.file, fact.origin.line,
                          fact.depth);
  }

  PoolPtr pool_;
  std::unique_ptr<Context> context_;
};

// A Provenance comes as (text, file, line).  Where the text is empty, what was
// assumed is its own.
Provenance origin_of(const char* call, const py::object& given,
                     const py::object& assumed) {
  const py::tuple where = tuple_of(given, call, "where");
  if (where.size() != 3) refuse(given, call, "where", "(text, file, line)");
  const py::object line = where[2];
  const std::optional<Int> number = to_bound(line);
  if (!number || *number < Int(0) || *number > Int(INT32_MAX))
    refuse(line, call, "line", "an int >= 0");
  Provenance origin{text_of(where[0], call, "origin"),
                    text_of(where[1], call, "file"),
                    static_cast<int>(*number->to_int64())};
  if (origin.text.empty() && PyUnicode_Check(assumed.ptr()))
    origin.text = text_of(assumed, call, "the text");
  return origin;
}

}  // namespace

// Lines that come while the log is called are delivered by that call's own
// return, so that their order is kept.
void deliver_log(Pool& pool) {
  // Whose log runs on this thread: what that asks of the pool has no line.
  thread_local const Pool* logged = nullptr;
  std::vector<std::string> lines;
  briefly(pool, [&] {
    lines.swap(pool.lines);
    pool.has_lines = false;
  });
  const py::object log = pool.log;
  if (!log || log.is_none() || logged == &pool) return;
  struct Logging {
    explicit Logging(const Pool& now) { logged = &now; }
    ~Logging() { logged = outer; }
    const Pool* const outer = logged;
  } const logging(pool);
  for (const std::string& line : lines) log(line);
}

void bind_context(py::module_& m) {
  bound_class<PyContext>(m, "Context")
      .def(py::init<const py::object&, const py::object&>(), py::arg("options"),
           py::arg("strict") = py::none())
      .def_static(
          "load",
          [](const py::object& text, const py::object& most) {
            return std::make_unique<PyContext>(
                text_of(text, "load_context", "text"),
                most.is_none() ? highest_costs()
                               : options_of(most, "load_context"));
          },
          py::arg("text"), py::arg("most") = py::dict())
      .def("symbol", &PyContext::symbol)
      .def("expr", &PyContext::expr)
      .def("symbols", &PyContext::symbols)
      .def("save", &PyContext::save)
      .def("declare_text",
           [](PyContext& c, const py::object& range, const py::object& where) {
             return c.declare_text(range,
                                   origin_of("Context.declare", where, range));
           })
      .def("declare",
           [](PyContext& c, const py::object& symbol, const py::object& lower,
              const py::object& upper, const py::object& step,
              const py::object& residue, const py::object& where) {
             return c.declare(symbol, lower, upper, step, residue,
                              origin_of("Context.declare", where, py::none()));
           })
      .def("assume",
           [](PyContext& c, const py::object& condition,
              const py::object& where) {
             return c.assume(condition,
                             origin_of("Context.assume", where, condition));
           })
      .def("ask", &PyContext::ask)
      .def("ask_quick", &PyContext::ask_quick)
      .def("equivalent", &PyContext::equivalent)
      .def("bounds", &PyContext::bounds)
      .def("strided", &PyContext::strided)
      .def("bound_over", &PyContext::bound_over)
      .def("solve", &PyContext::solve)
      .def("common_divisor", &PyContext::common_divisor)
      .def("facts_behind", &PyContext::facts_behind)
      .def("set_log", &PyContext::set_log)
      .def("multiple_of", &PyContext::multiple_of)
      .def("values", &PyContext::values)
      .def("substitute", &PyContext::substitute)
      .def("simplify", &PyContext::simplify)
      .def("canonical", &PyContext::canonical)
      .def("clone", &PyContext::clone)
      .def("push", &PyContext::push)
      .def("pop", &PyContext::pop)
      .def("depth", &PyContext::depth)
      .def("facts", &PyContext::facts)
      .def("fact", &PyContext::fact)
      .def("contradiction", &PyContext::contradiction)
      .def("statistics", &PyContext::statistics)
      .def("to_smtlib", &PyContext::to_smtlib)
      .def("interrupt", &PyContext::interrupt)
      .def("options", &PyContext::options);
}

}  // namespace proviso::python
