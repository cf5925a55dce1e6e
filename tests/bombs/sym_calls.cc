#include <unordered_map>

#include "guards/context_text.h"
#include "solver/solve.h"
#include "solver/solver.h"
#include "solver/symbolic_bounds.h"
#include "sym/canonical.h"
#include "sym/cost.h"
#include "sym/definition.h"
#include "sym/evaluate.h"
#include "sym/parse.h"
#include "sym/print.h"
#include "sym/simplify.h"
#include "sym/traced_python.h"
#include "sym/translate.h"
#include "tests/bombs/calls.h"
#include "tests/bombs/texts.h"

namespace proviso::testing {
namespace {
using namespace internal;

Assignment point_of(Expr e, bool is_large) {
  Assignment point;
  int64_t next = 2;
  for (Expr s : free_symbols(e)) {
    if (s.is_float())
      point.set(s, 2.5);
    else
      point.set(s, Int(is_large ? int64_t{1} << 61 : next++ % 7 + 1));
  }
  return point;
}

void use_expression(Expr e, Meter& meter) {
  ExprPool& pool = e.pool();
  std::string text;
  meter.call("to_string", [&] { text = to_string(e); });
  meter.call("parse again", [&] { parse(pool, text); });
  if (meter.call("to_srepr", [&] { text = to_srepr(e); })) {
    meter.call("parse srepr", [&] { parse(pool, text); });
  }
  meter.call("to_python", [&] { to_python(e); });
  meter.call("to_traced_python", [&] { to_traced_python(e); });
  meter.call("to_smtlib", [&] { to_smtlib(e); });
  if (e.is_bool()) meter.call("to_check", [&] { to_check(e); });
  meter.call("cost", [&] { cost(e); });
  meter.call("free_symbols", [&] { free_symbols(e); });
  meter.call("definition", [&] { definition(e); });
  meter.call("translate", [&] {
    ExprPool other;
    translate(e, other);
  });
  for (bool is_large : {false, true}) {
    const Assignment point = point_of(e, is_large);
    meter.call(is_large ? "evaluate, large" : "evaluate",
               [&] { evaluate(e, point); });
  }
  Expr simple;
  if (meter.call("simplify", [&] { simple = canonical(e); })) {
    meter.call("to_string, simplified", [&] { to_string(simple); });
  }
  meter.call("simplify", [&] { simple = simplify(e); });
  Expr squares;
  std::unordered_map<Expr, Expr, ExprHash> by;
  for (Expr s : free_symbols(e))
    if (s.is_int()) by.emplace(s, s * s + 1);
  if (meter.call("substitute", [&] { squares = substitute(e, by); })) {
    meter.call("simplify, substituted", [&] { canonical(squares); });
    meter.call("to_string, substituted", [&] { to_string(squares); });
  }
}

// The facts and the question, parsed; false where one is refused.
struct Parsed {
  std::vector<Expr> facts;
  Expr question;
  Expr left, right;  // integers of the question, null where it has none
};

bool parse_all(ExprPool& pool, const Problem& problem, Parsed& out) {
  try {
    for (const std::string& fact : problem.facts)
      out.facts.push_back(parse(pool, fact));
    out.question = problem.question_in(pool);
  } catch (const Error&) {
    return false;
  }
  for (Expr side : out.question.args()) {
    if (!side.is_int()) continue;
    if (!out.left) out.left = side;
    out.right = side;
  }
  return true;
}

// One call on a context that was asked nothing before.
struct Entry {
  const char* name;
  void (*use)(Context&, const Parsed&, Meter&);
};

void print_form(Meter& meter, Expr form) {
  if (form) meter.call("to_string, of it", [&] { to_string(form); });
}

const Entry kEntries[] = {
    {"ask",
     [](Context& c, const Parsed& p, Meter& meter) {
       meter.call("ask", [&] { c.ask(p.question); });
       meter.call("ask again", [&] { c.ask(p.question); });
       meter.call("ask not", [&] { c.ask(logical_not(p.question)); });
     }},
    {"ask_quick",
     [](Context& c, const Parsed& p, Meter& meter) {
       meter.call("ask_quick", [&] { c.ask_quick(p.question); });
       meter.call("facts_used", [&] { c.facts_used(p.question); });
     }},
    {"equivalent",
     [](Context& c, const Parsed& p, Meter& meter) {
       if (p.left)
         meter.call("equivalent", [&] { c.equivalent(p.left, p.right); });
     }},
    {"bounds",
     [](Context& c, const Parsed& p, Meter& meter) {
       if (!p.left) return;
       std::vector<FactId> facts;
       meter.call("bounds", [&] { c.bounds(p.left, &facts); });
     }},
    {"bounds_quick",
     [](Context& c, const Parsed& p, Meter& meter) {
       if (p.left) meter.call("bounds_quick", [&] { c.bounds_quick(p.left); });
     }},
    {"strided",
     [](Context& c, const Parsed& p, Meter& meter) {
       if (p.left) meter.call("strided", [&] { c.strided(p.left); });
     }},
    {"multiple_of",
     [](Context& c, const Parsed& p, Meter& meter) {
       if (p.left) meter.call("multiple_of", [&] { c.multiple_of(p.left); });
     }},
    {"values",
     [](Context& c, const Parsed& p, Meter& meter) {
       std::vector<FactId> facts;
       if (p.left) meter.call("values", [&] { c.values(p.left, 64, &facts); });
     }},
    {"substitute",
     [](Context& c, const Parsed& p, Meter& meter) {
       Expr form;
       meter.call("substitute", [&] { form = c.substitute(p.question); });
       print_form(meter, form);
     }},
    {"simplify",
     [](Context& c, const Parsed& p, Meter& meter) {
       Expr form;
       std::vector<FactId> facts;
       meter.call("simplify", [&] { form = c.simplify(p.question, &facts); });
       print_form(meter, form);
     }},
    {"canonical",
     [](Context& c, const Parsed& p, Meter& meter) {
       Expr form;
       meter.call("canonical", [&] { form = c.canonical(p.question); });
       print_form(meter, form);
     }},
    {"solve",
     [](Context& c, const Parsed& p, Meter& meter) {
       if (!p.left || !(p.question.is(Op::kEq) || p.question.is(Op::kLt) ||
                        p.question.is(Op::kLe)))
         return;
       for (Expr s : free_symbols(p.question)) {
         if (!s.is_int()) continue;
         meter.call("solve", [&] { solve(c, p.question, s); });
         break;
       }
       meter.call("common_divisor",
                  [&] { common_divisor(c, p.left, p.right); });
     }},
    {"bounds in symbols",
     [](Context& c, const Parsed& p, Meter& meter) {
       if (!p.left) return;
       std::vector<Expr> over = free_symbols(p.left);
       std::erase_if(over, [](Expr s) { return !s.is_int(); });
       if (over.size() > 1) over.erase(over.begin());
       meter.call("upper_bound", [&] { upper_bound(c, p.left, over); });
       meter.call("lower_bound", [&] { lower_bound(c, p.left, over); });
     }},
    {"contradiction",
     [](Context& c, const Parsed&, Meter& meter) {
       meter.call("contradiction", [&] { c.contradiction(); });
       meter.call("facts", [&] { c.facts(); });
     }},
    {"to_smtlib",
     [](Context& c, const Parsed& p, Meter& meter) {
       meter.call("Context::to_smtlib", [&] { c.to_smtlib(p.question); });
     }},
    {"save and load",
     [](Context& c, const Parsed&, Meter& meter) {
       std::string text;
       if (!meter.call("save_context", [&] { text = save_context(c); })) return;
       if (text.size() > 12'000) return;
       meter.call("load_context", [&] {
         ExprPool pool;
         load_context(pool, text);
       });
     }},
    {"versions",
     [](Context& c, const Parsed& p, Meter& meter) {
       meter.call("clone and push", [&] {
         c.push();
         c.assume(p.question);
       });
       meter.call("pop", [&] { c.pop(); });
       meter.call("clone", [&] {
         Context other = c.clone();
         other.assume(logical_not(p.question));
       });
       meter.call("ask after pop", [&] { c.ask(p.question); });
     }},
};

}  // namespace

void use_sym(const Problem& problem, Meter& meter) {
  ExprPool pool;
  std::vector<Expr> facts;
  for (const std::string& text : problem.facts) {
    Expr e;
    if (meter.call("parse", [&] { e = parse(pool, text); })) facts.push_back(e);
  }
  Expr question;
  if (meter.call("parse", [&] { question = problem.question_in(pool); }))
    use_expression(question, meter);
  if (!facts.empty()) use_expression(facts.back(), meter);
}

void use_solver(const Problem& problem, Meter& meter) {
  if (const std::string text = context_of(problem.facts);
      !problem.build && text.size() <= 12'000) {
    meter.call("load_context of the facts", [&] {
      ExprPool pool;
      load_context(pool, text);
    });
  }
  for (const Entry& entry : kEntries) {
    ExprPool pool;
    Parsed parsed;
    if (!parse_all(pool, problem, parsed)) return;
    Context context(pool, {.use_z3 = false});
    Meter::interruptible = &context;
    for (Expr fact : parsed.facts)
      meter.call("assume", [&] { context.assume(fact); });
    entry.use(context, parsed, meter);
    Meter::interruptible = nullptr;
  }
}

void use_z3(const Problem& problem, Meter& meter) {
  ExprPool pool;
  Parsed parsed;
  if (!parse_all(pool, problem, parsed)) return;
  Context context(pool);
  for (Expr fact : parsed.facts) context.assume(fact);
  meter.call("ask with Z3", [&] { context.ask(parsed.question); });
  if (parsed.left) {
    meter.call("bounds with Z3", [&] { context.bounds(parsed.left); });
  }
  meter.call("simplify with Z3", [&] { context.simplify(parsed.question); });
}

}  // namespace proviso::testing
