// Mistakes of a caller in C++: each is an Error that says what is wrong, none
// is a crash, a hang or a silent answer.
#include "tests/support/misuse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "guards/shape_env.h"
#include "sym/canonical.h"
#include "sym/parse.h"
#include "sym/print.h"

namespace proviso {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// `least` of each list are 76 together: more than 60.
void expect_errors(const std::vector<Misuse>& list, size_t least) {
  EXPECT_GE(list.size(), least);
  for (const Misuse& misuse : list) {
    SCOPED_TRACE(misuse.name);
    const std::string outcome = outcome_of(misuse.body);
    EXPECT_THAT(outcome, StartsWith("error: "));
    EXPECT_THAT(outcome, HasSubstr(misuse.text));
    EXPECT_STRNE(misuse.text, "");
  }
}

struct Two {  // pools, with a symbol each
  ExprPool pool, other;
  Expr s = pool.symbol("s0", SymbolKind::kBackedSize);
  Expr t = other.symbol("s0", SymbolKind::kBackedSize);
};

TEST(Misuse, OfExpressionsIsAnError) {
  // clang-format off
  expect_errors({
      {"a null left operand", [] { Two a; Expr() + a.s; }, "null"},
      {"a null right operand", [] { Two a; a.s + Expr(); }, "null"},
      {"a null operand beside a number", [] { Expr() - 3; }, "null"},
      {"not of null", [] { logical_not(Expr()); }, "null"},
      {"where of null", [] { Two a; where(Expr(), a.s, a.s); }, "null"},
      {"operands of two pools", [] { Two a; a.s + a.t; },
       "belongs to another ExprPool"},
      {"arguments all of another pool",
       [] { Two a; a.pool.make(Op::kAdd, {a.t, a.t}); },
       "belongs to another ExprPool"},
      {"arguments equal by number to those of a known sum",
       [] { Two a; (void)(a.s + a.s); a.pool.make(Op::kAdd, {a.t, a.t}); },
       "belongs to another ExprPool"},
      {"too few arguments", [] { ExprPool().make(Op::kMod, {}); },
       "expected 2 arguments, got 0"},
      {"a leaf by make", [] { ExprPool().make(Op::kSymbol, {}); },
       "make(Symbol)"},
      {"no arguments at all", [] { ExprPool().make(Op::kAdd, {}); },
       "expected 1 or more arguments, got 0"},
      {"a sum of booleans",
       [] { ExprPool p; p.boolean(true) + p.boolean(true); }, "boolean"},
      {"a relation between a number and a boolean",
       [] { ExprPool p; eq(p.integer(1), p.boolean(true)); }, "boolean"},
      {"a remainder of floats",
       [] { ExprPool p; mod(p.rational(Int(1)), p.rational(Int(2))); }, "float"},
      {"a symbol without a name",
       [] { ExprPool().symbol("", SymbolKind::kBackedInt); },
       "'' is not a symbol's name"},
      {"a symbol of two words",
       [] { ExprPool().symbol("a b", SymbolKind::kBackedInt); },
       "'a b' is not a symbol's name"},
      {"a symbol with two kinds",
       [] { Two().pool.symbol("s0", SymbolKind::kBackedFloat); },
       "exists with another kind"},
      {"free symbols of null", [] { free_symbols(Expr()); }, "null"},
      {"substitution in null", [] { substitute(Expr(), {}); }, "null"},
      {"substitution by null",
       [] { Two a; substitute(a.s + 1, {{a.s, Expr()}}); }, "null"},
      {"substitution of all by null",
       [] { Two a; substitute(a.s, {{a.s, Expr()}}); }, "null"},
      {"substitution by another pool's",
       [] { Two a; substitute(a.s + 1, {{a.s, a.t}}); },
       "belongs to another ExprPool"},
      {"substitution of all by another pool's",
       [] { Two a; substitute(a.s, {{a.s, a.t}}); },
       "belongs to another ExprPool"},
      {"substitution by a boolean",
       [] { Two a; substitute(a.s + 1, {{a.s, a.pool.boolean(true)}}); },
       "boolean"},
      {"the operator of null", [] { (void)Expr().op(); }, "null"},
      {"the type of null", [] { (void)Expr().is_bool(); }, "null"},
      {"the arguments of null", [] { (void)Expr().args(); }, "null"},
      {"the number of null", [] { (void)Expr().id(); }, "null"},
      {"the pool of null", [] { (void)Expr().pool(); }, "null"},
      {"an argument of null", [] { (void)Expr().arg(0); }, "null"},
      {"the value of null", [] { (void)Expr().maybe_int64(); }, "null"},
      {"the integer of null", [] { (void)Expr().integer(); }, "null"},
      {"the symbol of null", [] { (void)Expr().symbol(); }, "null"},
      {"the integer of a symbol", [] { (void)Two().s.integer(); },
       "Expr::integer: expected an integer constant, got s0 (Symbol)"},
      {"the integer of a float",
       [] { ExprPool p; (void)p.rational(Int(1)).integer(); }, "got 1.0"},
      {"the float of an integer",
       [] { ExprPool p; (void)p.integer(Int(1)).rational(); },
       "Expr::rational: expected a float constant, got 1 (Integer)"},
      {"the symbol of a sum", [] { Two a; (void)(a.s + 1).symbol(); },
       "Expr::symbol: expected a symbol, got s0 + 1 (Add)"},
      {"an argument of a symbol", [] { (void)Two().s.arg(0); },
       "Expr::arg(0): s0 has 0 arguments"},
      {"a third argument of a sum", [] { Two a; (void)(a.s + 1).arg(2); },
       "Expr::arg(2): s0 + 1 has 2 arguments"},
      {"simplifying null", [] { canonical(Expr()); }, "null"},
      {"evaluating null", [] { evaluate(Expr(), {}); }, "null"},
      {"a value for null", [] { Assignment().set(Expr(), Int(1)); }, "null"},
      {"null as Python", [] { to_python(Expr()); }, "null"},
      {"null as a check", [] { to_check(Expr()); }, "null"},
      {"null as SMT-LIB", [] { to_smtlib(Expr()); }, "null"},
      {"null as srepr", [] { to_srepr(Expr()); }, "null"},
      {"a number as a check", [] { to_check(Two().s); }, "expected a boolean"},
      {"a parser's symbol of another pool",
       [] {
         Two a;
         parse(a.pool, "x + 1",
               {.make_symbol = [&](ExprPool&, std::string_view) {
                 return a.t;
               }});
       },
       "another ExprPool"},
  }, 46);
  // clang-format on
}

TEST(Misuse, AValueOfAnotherTypeIsAnErrorAndNoCrash) {
  ExprPool pool;
  const Expr s = pool.symbol("s0", SymbolKind::kBackedSize);
  const Expr z = pool.symbol("zf0", SymbolKind::kBackedFloat);
  for (const Value& value :
       {Value(true), Value(Int(3)), Value(Rational(Int(1))), Value(0.5)}) {
    for (const Expr e :
         {s + 1, eq(s, 3), pool.make(Op::kToFloat, {z}),
          le(z, pool.rational(Int(1))), mod(s, pool.integer(2))}) {
      const std::string outcome = outcome_of([&] {
        Assignment point;
        point.set(s, value);
        point.set(z, value);
        (void)evaluate(e, point);
      });
      EXPECT_TRUE(outcome == "nothing" || outcome.starts_with("error: "))
          << to_string(e) << " at " << to_string(value) << ": " << outcome;
    }
  }
}

struct Asked : Two {
  Context context{pool};
};
using Call = std::function<void(Context&, Expr)>;
const std::vector<std::pair<const char*, Call>>& context_calls() {
  static const std::vector<std::pair<const char*, Call>> kCalls = {
      {"declare", [](Context& c, Expr e) { c.declare(e, Interval()); }},
      {"assume", [](Context& c, Expr e) { c.assume(e); }},
      {"ask", [](Context& c, Expr e) { c.ask(e); }},
      {"ask_quick", [](Context& c, Expr e) { c.ask_quick(e); }},
      {"tier_of", [](Context& c, Expr e) { (void)c.tier_of(e); }},
      {"facts_used", [](Context& c, Expr e) { c.facts_used(e); }},
      {"equivalent", [](Context& c, Expr e) { c.equivalent(e, e); }},
      {"bounds", [](Context& c, Expr e) { c.bounds(e); }},
      {"bounds_quick", [](Context& c, Expr e) { c.bounds_quick(e); }},
      {"multiple_of", [](Context& c, Expr e) { c.multiple_of(e); }},
      {"values", [](Context& c, Expr e) { c.values(e); }},
      {"strided", [](Context& c, Expr e) { c.strided(e); }},
      {"substitute", [](Context& c, Expr e) { c.substitute(e); }},
      {"simplify", [](Context& c, Expr e) { c.simplify(e); }},
      {"canonical", [](Context& c, Expr e) { c.canonical(e); }},
      {"to_smtlib", [](Context& c, Expr e) { c.to_smtlib(e); }}};
  return kCalls;
}

TEST(Misuse, EveryCallOfAContextRefusesNullAndAnotherPoolsExpressions) {
  for (const auto& [name, call] : context_calls()) {
    SCOPED_TRACE(name);
    EXPECT_THAT(outcome_of([&] {
                  Asked a;
                  call(a.context, Expr());
                }),
                HasSubstr("Context::" + std::string(name)));
    for (const bool boolean : {false, true}) {
      const std::string outcome = outcome_of([&] {
        Asked a;
        call(a.context, boolean ? eq(a.t, 3) : a.t);
      });
      EXPECT_THAT(outcome, StartsWith("error: Context::" + std::string(name)));
      EXPECT_THAT(outcome, HasSubstr("belongs to another ExprPool"));
    }
  }
}

TEST(Misuse, EveryCallOfAContextRefusesAPoolThatIsGone) {
  std::vector<std::pair<const char*, Call>> calls = context_calls();
  calls.insert(
      calls.end(),
      {{"pool", [](Context& c, Expr) { c.pool(); }},
       {"options", [](Context& c, Expr) { c.options(); }},
       {"clone", [](Context& c, Expr) { c.clone(); }},
       {"push", [](Context& c, Expr) { c.push(); }},
       {"facts", [](Context& c, Expr) { (void)c.facts(); }},
       {"fact", [](Context& c, Expr) { (void)c.fact(0); }},
       {"contradiction", [](Context& c, Expr) { (void)c.contradiction(); }},
       {"statistics", [](Context& c, Expr) { (void)c.statistics(); }}});
  for (const auto& [name, call] : calls) {
    SCOPED_TRACE(name);
    EXPECT_THAT(outcome_of([&] {
                  auto pool = std::make_unique<ExprPool>();
                  Context context(*pool);
                  const Expr s = pool->symbol("s0", SymbolKind::kBackedSize);
                  context.assume(ge(s, 2), {"a"});
                  context.ask(ge(s, 1));
                  pool.reset();
                  call(context, s);
                }),
                StartsWith("error: Context: its ExprPool was destroyed"));
    EXPECT_THAT(outcome_of([&] {
                  Asked a;
                  const Context to = std::move(a.context);
                  call(a.context, a.s);
                }),
                StartsWith("error: Context: it was moved from"));
  }
}

TEST(Misuse, AContextMayDieAfterItsPool) {
  EXPECT_EQ(outcome_of([] {
              auto pool = std::make_unique<ExprPool>();
              auto context = std::make_unique<Context>(*pool);
              const Expr s = pool->symbol("s0", SymbolKind::kBackedSize);
              const Expr u = pool->symbol("u0", SymbolKind::kUnbackedInt);
              context->push();
              context->assume(eq(mod(s, u), 3), {"a"});
              context->ask(le(s * u, 7));
              const Context twin = context->clone();
              pool.reset();
              context.reset();
            }),
            "nothing");
}

TEST(Misuse, OfContextsIsAnError) {
  // clang-format off
  expect_errors({
      {"pop without push", [] { Asked().context.pop(); }, "Context::pop"},
      {"pop of what a Scope pushed",
       [] { Asked a; const Scope scope(a.context); a.context.pop(); },
       "Context::pop: the innermost push() is a Scope's"},
      {"one pop too many inside a Scope",
       [] {
         Asked a;
         const Scope scope(a.context);
         a.context.push();
         a.context.pop();
         a.context.pop();
       },
       "Context::pop: the innermost push() is a Scope's"},
      {"a Scope of a context that moved",
       [] { Asked a; const Context to = std::move(a.context); Scope(a.context); },
       "it was moved from"},
      {"a fact that is not there", [] { (void)Asked().context.fact(7); },
       "no fact 7 holds here; facts() lists the 0"},
      {"a range for a sum",
       [] { Asked a; a.context.declare(a.s + 1, Interval()); },
       "expected a symbol"},
      {"assuming a number", [] { Asked a; a.context.assume(a.s); }, "boolean"},
      {"asking a number", [] { Asked a; a.context.ask(a.s); }, "boolean"},
      {"comparing unlike things",
       [] { Asked a; a.context.equivalent(a.s, eq(a.s, 1)); },
       "different types"},
      {"bounds of a condition", [] { Asked a; a.context.bounds(eq(a.s, 1)); },
       "integer"},
      {"values of a float",
       [] { Asked a; a.context.values(a.pool.rational(Int(1))); }, "integer"},
      {"strides of a condition",
       [] { Asked a; a.context.strided(eq(a.s, 1)); }, "integer"},
      {"a divisor of a condition",
       [] { Asked a; a.context.multiple_of(eq(a.s, 1)); }, "integer"},
      {"asking a number quickly",
       [] { Asked a; (void)a.context.ask_quick(a.s); }, "boolean"},
      {"SMT-LIB of a number", [] { Asked a; a.context.to_smtlib(a.s); },
       "Context::to_smtlib: expected a boolean, got s0 (integer)"},
      {"a Scope of a context whose pool is gone",
       [] {
         auto pool = std::make_unique<ExprPool>();
         Context context(*pool);
         pool.reset();
         const Scope scope(context);
       },
       "its ExprPool was destroyed"},
  }, 15);
  // clang-format on
}

// What is left of each order in which scopes can end is what stood before them.
TEST(Misuse, AScopeTakesAlongWhatWasPushedInIt) {
  Asked a;
  a.context.assume(ge(a.s, 2));
  auto outer = std::make_unique<Scope>(a.context);
  a.context.assume(ge(a.s, 5));
  a.context.push();
  auto inner = std::make_unique<Scope>(a.context);
  a.context.assume(ge(a.s, 7));
  Context clone = a.context.clone();
  EXPECT_EQ(a.context.ask_quick(ge(a.s, 7)), Verdict::kYes);
  outer.reset();
  EXPECT_EQ(a.context.depth(), 0u);
  EXPECT_EQ(a.context.ask_quick(ge(a.s, 5)), Verdict::kUnknown);
  EXPECT_EQ(a.context.ask_quick(ge(a.s, 2)), Verdict::kYes);
  a.context.push();
  inner.reset();
  EXPECT_EQ(a.context.depth(), 1u);
  a.context.pop();
  // A clone's scopes are its own: it may pop what a Scope pushed elsewhere.
  EXPECT_EQ(clone.depth(), 3u);
  clone.pop();
  EXPECT_EQ(clone.ask_quick(ge(a.s, 7)), Verdict::kUnknown);
  EXPECT_EQ(clone.ask_quick(ge(a.s, 5)), Verdict::kYes);
}

TEST(Misuse, AScopeMayEndAfterItsContextMovedOrItsPoolDied) {
  EXPECT_EQ(outcome_of([] {
              auto pool = std::make_unique<ExprPool>();
              Context context(*pool);
              const Scope scope(context);
              pool.reset();
            }),
            "nothing");
  EXPECT_EQ(outcome_of([] {
              Asked a;
              const Scope scope(a.context);
              Context to = std::move(a.context);
              to.pop();
            }),
            "nothing");
}

struct Traced {
  ShapeEnv env, other;
  Expr s = env.create_size(4, "L['x'].size()[0]");
  Expr u = env.create_unbacked_int();
  Expr t = other.create_size(4, "L['x'].size()[0]");
};
using EnvCall = std::function<void(ShapeEnv&, Expr)>;

TEST(Misuse, EveryCallOfAnEnvironmentRefusesNullAndAnothersExpressions) {
  const std::vector<std::pair<const char*, EnvCall>> calls = {
      {"know", [](ShapeEnv& v, Expr e) { v.know(e, ""); }},
      {"require", [](ShapeEnv& v, Expr e) { v.require(e, {}); }},
      {"hint", [](ShapeEnv& v, Expr e) { v.hint(e); }},
      {"maybe_static_int", [](ShapeEnv& v, Expr e) { v.maybe_static_int(e); }},
      {"simplify", [](ShapeEnv& v, Expr e) { v.simplify(e); }},
      {"bounds", [](ShapeEnv& v, Expr e) { v.bounds(e); }},
      {"guard_bool", [](ShapeEnv& v, Expr e) { v.guard_bool(e); }},
      {"guard_int", [](ShapeEnv& v, Expr e) { v.guard_int(e); }},
      {"guard_float", [](ShapeEnv& v, Expr e) { v.guard_float(e); }},
      {"expect_true", [](ShapeEnv& v, Expr e) { v.expect_true(e); }},
      {"guard_or_false", [](ShapeEnv& v, Expr e) { v.guard_or_false(e); }},
      {"guard_or_true", [](ShapeEnv& v, Expr e) { v.guard_or_true(e); }},
      {"guard_size_oblivious",
       [](ShapeEnv& v, Expr e) { v.guard_size_oblivious(e); }},
      {"statically_known_true",
       [](ShapeEnv& v, Expr e) { v.statically_known_true(e); }},
      {"statically_known_false",
       [](ShapeEnv& v, Expr e) { v.statically_known_false(e); }},
      {"has_static_value", [](ShapeEnv& v, Expr e) { v.has_static_value(e); }},
      {"guarding_hint_or_throw",
       [](ShapeEnv& v, Expr e) { v.guarding_hint_or_throw(e); }},
      {"optimization_hint",
       [](ShapeEnv& v, Expr e) { v.optimization_hint(e); }},
      {"constrain_range",
       [](ShapeEnv& v, Expr e) { v.constrain_range(e, Int(0), Int(9)); }},
      {"mark_size_like", [](ShapeEnv& v, Expr e) { v.mark_size_like(e); }},
      {"runtime_assert",
       [](ShapeEnv& v, Expr e) { v.runtime_assert(e, {}, ""); }},
      {"enforced_range", [](ShapeEnv& v, Expr e) { v.enforced_range(e); }},
      {"used_assumption",
       [](ShapeEnv& v, Expr e) { (void)v.used_assumption(e); }},
      {"assumption_origins",
       [](ShapeEnv& v, Expr e) { (void)v.assumption_origins(e); }}};
  for (const auto& [name, call] : calls) {
    SCOPED_TRACE(name);
    EXPECT_THAT(outcome_of([&] {
                  Traced a;
                  call(a.env, Expr());
                }),
                StartsWith("error: "));
    for (const bool boolean : {false, true}) {
      const std::string outcome = outcome_of([&] {
        Traced a;
        call(a.env, boolean ? le(a.t, 7) : a.t);
      });
      EXPECT_THAT(outcome, StartsWith("error: "));
      EXPECT_THAT(outcome, HasSubstr("another environment"));
    }
  }
}

TEST(Misuse, OfEnvironmentsIsAnError) {
  // clang-format off
  expect_errors({
      {"a negative size", [] { ShapeEnv().create_size(-1, "x"); },
       "give a size >= 0"},
      {"a named Dim without a name",
       [] { ShapeEnv().create_size(4, "x", {.policy = DimPolicy::kNamed}); },
       "has no name"},
      {"an example out of its range",
       [] { ShapeEnv().create_size(4, "x", {.max = Int(3)}); }, "not in range"},
      {"a range upside down",
       [] {
         ShapeEnv().create_size(4, "x", {.min = Int(5), .max = Int(3)});
       },
       "greater than max"},
      {"an integer out of its range",
       [] { ShapeEnv().create_backed_int(4, "n", {.max = Int(3)}); },
       "not in range"},
      {"an integer's range upside down",
       [] {
         ShapeEnv().create_backed_int(4, "n", {.min = Int(5), .max = Int(3)});
       },
       "range"},
      {"two definitions of a Dim",
       [] {
         ShapeEnv env;
         env.create_size(4, "x", {.policy = DimPolicy::kNamed, .name = "d"});
         env.create_size(5, "y", {.policy = DimPolicy::kNamed, .name = "d"});
       },
       "y = 5 is not equal to x = 4"},
      {"guarding on a number", [] { Traced a; a.env.guard_bool(a.s); },
       "boolean"},
      {"an integer of a condition",
       [] { Traced a; a.env.guard_int(eq(a.s, 4)); }, "integer"},
      {"a float of an integer", [] { Traced a; a.env.guard_float(a.s); },
       "float"},
      {"a question about data", [] { Traced a; a.env.guard_bool(eq(a.u, 3)); },
       "data-dependent"},
      {"a number from data", [] { Traced a; a.env.guard_int(a.u); },
       "data-dependent"},
      {"a range of data upside down",
       [] { Traced a; a.env.constrain_range(a.u, Int(3), Int(1)); },
       "greater than max"},
      {"an assertion that is known false",
       [] {
         Traced a;
         a.env.runtime_assert(le(a.s, -1), {}, "sizes");
       },
       "Runtime assertion failed"},
      {"a requirement that the example breaks",
       [] { Traced a; a.env.require(eq(a.s, 5), {}); },
       "Eq(s0, 5) does not hold for the example sizes"},
      {"dividing by zero in a question",
       [] {
         Traced a;
         a.env.guard_bool(eq(floor_div(a.s, a.s - 4), 1));
       },
       "is undefined at the example inputs (divisor s0 - 4 is 0"},
  }, 15);
  // clang-format on
}

}  // namespace
}  // namespace proviso
