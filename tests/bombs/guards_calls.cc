#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <limits>

#include "guards/errors/diagnosis.h"
#include "guards/errors/diagnosis_html.h"
#include "guards/errors/diagnosis_text.h"
#include "guards/errors/error_text.h"
#include "guards/explain.h"
#include "guards/guard_program.h"
#include "guards/input_check.h"
#include "guards/logs.h"
#include "guards/open_question.h"
#include "guards/requirements.h"
#include "guards/shape_env.h"
#include "guards/size_set.h"
#include "guards/suggest.h"
#include "guards/torch_form.h"
#include "guards/weakest_checks.h"
#include "sym/evaluate.h"
#include "sym/parse.h"
#include "tests/bombs/calls.h"

namespace proviso::testing {
namespace {
using namespace internal;

// One more than the greatest number of a symbol s3 (u3).
int count_of(const Problem& problem, char letter) {
  if (problem.build) return 2;
  int most = -1;
  const auto look = [&](const std::string& text) {
    for (size_t i = 0; i + 1 < text.size(); ++i) {
      if (text[i] != letter || std::isdigit(text[i + 1]) == 0) continue;
      if (i > 0 && std::isalnum(text[i - 1]) != 0) continue;
      most = std::max(most, std::atoi(text.c_str() + i + 1));
    }
  };
  look(problem.question);
  for (const std::string& fact : problem.facts) look(fact);
  return most + 1;
}

int64_t hint_of(int i) { return i * 7 % 60 + 2; }

// An environment with the problem's symbols, and words for them.
struct Traced {
  ShapeEnv env;
  std::vector<Word> words;
  Assignment example;
  std::vector<Expr> facts;
  Expr question;
  int sizes = 0;

  explicit Traced(bool use_z3)
      : env({.specialize_zero_one = false,
             .solver = {.use_z3 = use_z3, .machine_int64 = true}}) {}
  ~Traced() { Meter::interruptible = nullptr; }
};

bool start(Traced& traced, const Problem& problem, Meter& meter) {
  ShapeEnv& env = traced.env;
  Meter::interruptible = &env.context();
  traced.sizes = count_of(problem, 's');
  const int data = count_of(problem, 'u');
  if (traced.sizes > 3000 || data > 3000) return false;
  meter.call("create_size", [&] {
    for (int i = 0; i < traced.sizes; ++i) {
      const std::string tensor = "x" + std::to_string(i / 8);
      const std::string dim = std::to_string(i % 8);
      const Expr e = env.create_size(hint_of(i),
                                     "L['" + tensor + "'].size()[" + dim + "]");
      traced.words.push_back({e, tensor + ".shape[" + dim + "]"});
      traced.example.set(e, Int(hint_of(i)));
    }
    for (int i = 0; i < data; ++i) {
      const Expr e = env.create_unbacked_int();
      traced.words.push_back({e, "n" + std::to_string(i)});
      traced.example.set(e, Int(i * 5 % 30));
    }
  });
  try {
    for (const std::string& fact : problem.facts)
      traced.facts.push_back(parse(env.pool(), fact));
    traced.question = problem.question_in(env.pool());
  } catch (const Error&) {
    return false;
  }
  const auto symbols = env.pool().symbols();
  return std::all_of(symbols.begin(), symbols.end(),
                     [&](Expr s) { return traced.example.find(s); });
}

// A question that may be refused.
void ask(Meter& meter, const char* name, const std::function<void()>& work) {
  meter.call(name, [&] {
    try {
      work();
    } catch (const DataDependentError& error) {
      if (std::string_view(error.what()).size() > 4 * Meter::kMostText)
        throw Error(error.what());
    }
  });
}

void use_value(Traced& traced, Expr e, Meter& meter) {
  ShapeEnv& env = traced.env;
  meter.call("hint", [&] { env.hint(e); });
  meter.call("maybe_static_int", [&] { env.maybe_static_int(e); });
  meter.call("ShapeEnv::simplify", [&] { env.simplify(e); });
  meter.call("ShapeEnv::bounds", [&] { env.bounds(e); });
  meter.call("has_static_value", [&] { env.has_static_value(e); });
  meter.call("optimization_hint", [&] { env.optimization_hint(e); });
  meter.call("constrain_range",
             [&] { env.constrain_range(e, Int(0), Int(100000)); });
  ask(meter, "guard_int", [&] { env.guard_int(e); });
  meter.call("enforced_range", [&] { env.enforced_range(e); });
}

void use_inputs(Traced& traced, Meter& meter) {
  std::vector<int64_t> values;
  for (int i = 0; i < traced.sizes; ++i) values.push_back(hint_of(i));
  std::unique_ptr<InputCheck> check;
  if (!meter.call("InputCheck",
                  [&] { check = std::make_unique<InputCheck>(traced.env); }))
    return;
  meter.call("problem", [&] { check->problem(values); });
  for (int64_t& v : values) v += 3;
  meter.call("problem, other sizes", [&] { check->problem(values); });
  meter.call("conditions", [&] { check->conditions(); });
}

void learn(Traced& traced, bool as_asserts, Meter& meter) {
  ShapeEnv& env = traced.env;
  for (Expr fact : traced.facts) {
    if (as_asserts) {
      meter.call("expect_true", [&] { env.expect_true(fact, {"m.py", 3}); });
      continue;
    }
    bool holds = true;
    meter.call("guard_or_false",
               [&] { holds = env.guard_or_false(fact, {"m.py", 2}); });
    if (!holds) meter.call("expect_true", [&] { env.expect_true(fact); });
  }
}

// What is made of the guards and assertions that there are.
void use_results(Traced& traced, Meter& meter) {
  ShapeEnv& env = traced.env;
  meter.call("minimal_guards", [&] { env.minimal_guards(); });
  meter.call("check_constraints", [&] { env.check_constraints(); });
  Requirements required;
  if (meter.call("requirements",
                 [&] { required = requirements(env, traced.words); })) {
    meter.call("torch_form", [&] { torch_form(env, required); });
    meter.call("answers_to_torch",
               [&] { answers_to_torch(env, required, traced.question); });
  }
  if (!env.guards().empty())
    meter.call("explain", [&] { explain(env, env.guards()[0]); });
  meter.call("shapelog", [&] { env.shapelog(); });
  for (const ShapeEvent& event : env.events()) {
    meter.call("to_json", [&] { to_json(event); });
    break;
  }
  use_inputs(traced, meter);
}

void use_environment(const Problem& problem, bool as_asserts, bool use_z3,
                     Meter& meter) {
  Traced traced(use_z3);
  ShapeEnv& env = traced.env;
  if (!start(traced, problem, meter)) return;
  learn(traced, as_asserts, meter);
  const Expr question = traced.question;
  meter.call("statically_known_true",
             [&] { env.statically_known_true(question); });
  meter.call("statically_known_false",
             [&] { env.statically_known_false(question); });
  ask(meter, "guard_bool",
      [&] { env.guard_bool(question, {"m.py", 9, "if x:"}); });
  if (const OpenQuestion* open = last_refused(env)) {
    const OpenQuestion refused = *open;
    meter.call("suggest",
               [&] { suggest(env, refused, traced.words, traced.example); });
    meter.call("suggest_together", [&] {
      std::vector<Expr> sides = traced.facts;
      sides.push_back(question);
      suggest_together(env, sides, traced.words);
    });
    meter.call("answer_at",
               [&] { answer_at(env, refused.condition, traced.example); });
  }
  ask(meter, "size_oblivious", [&] { env.guard_size_oblivious(question); });
  meter.call("expect_true", [&] { env.expect_true(question, {"m.py", 10}); });
  for (Expr side : question.args()) {
    if (!side.is_int()) continue;
    use_value(traced, side, meter);
    break;
  }
  meter.call("weakest_checks",
             [&] { weakest_checks(env.context(), question); });
  meter.call("in_words", [&] { in_words(env, question, traced.words); });
  use_results(traced, meter);
}

// A call of an environment that was asked nothing before.
struct FirstCall {
  const char* name;
  void (*call)(ShapeEnv&, Expr);
  bool is_of_condition = false;
};

const SourceLocation kWhere{"m.py", 9, "if x:"};

const FirstCall kFirstCalls[] = {
    {"guard_int", [](ShapeEnv& env, Expr e) { env.guard_int(e); }},
    {"hint", [](ShapeEnv& env, Expr e) { env.hint(e); }},
    {"maybe_static_int",
     [](ShapeEnv& env, Expr e) { env.maybe_static_int(e); }},
    {"ShapeEnv::simplify", [](ShapeEnv& env, Expr e) { env.simplify(e); }},
    {"ShapeEnv::bounds", [](ShapeEnv& env, Expr e) { env.bounds(e); }},
    {"has_static_value",
     [](ShapeEnv& env, Expr e) { env.has_static_value(e); }},
    {"guarding_hint_or_throw",
     [](ShapeEnv& env, Expr e) { env.guarding_hint_or_throw(e); }},
    {"optimization_hint",
     [](ShapeEnv& env, Expr e) { env.optimization_hint(e); }},
    {"constrain_range",
     [](ShapeEnv& env, Expr e) { env.constrain_range(e, Int(0), Int(9999)); }},
    {"guard_bool", [](ShapeEnv& env, Expr e) { env.guard_bool(e, kWhere); },
     true},
    {"guard_or_false",
     [](ShapeEnv& env, Expr e) { env.guard_or_false(e, kWhere); }, true},
    {"guard_size_oblivious",
     [](ShapeEnv& env, Expr e) { env.guard_size_oblivious(e, kWhere); }, true},
    {"expect_true", [](ShapeEnv& env, Expr e) { env.expect_true(e, kWhere); },
     true},
    {"runtime_assert",
     [](ShapeEnv& env, Expr e) { env.runtime_assert(e, kWhere, ""); }, true},
    {"require", [](ShapeEnv& env, Expr e) { env.require(e, kWhere); }, true},
    {"statically_known_true",
     [](ShapeEnv& env, Expr e) { env.statically_known_true(e); }, true},
    {"weakest_checks",
     [](ShapeEnv& env, Expr e) { weakest_checks(env.context(), e); }, true},
};

}  // namespace

void use_guards_first(const Problem& problem, Meter& meter) {
  for (const FirstCall& first : kFirstCalls) {
    for (size_t side : {size_t{0}, size_t{1}}) {
      if (first.is_of_condition && side == 1) break;
      Traced traced(false);
      if (!start(traced, problem, meter)) return;
      Expr asked = traced.question;
      if (!first.is_of_condition) {
        const auto sides = asked.args();
        if (sides.size() <= side || !sides[side].is_int()) break;
        asked = sides[side];
        if (asked.is_constant()) continue;
      }
      learn(traced, true, meter);
      ask(meter, first.name, [&] { first.call(traced.env, asked); });
      use_results(traced, meter);
    }
  }
}

void use_guards(const Problem& problem, Meter& meter) {
  use_environment(problem, false, false, meter);
  use_environment(problem, true, false, meter);
}

void use_guards_z3(const Problem& problem, Meter& meter) {
  use_environment(problem, true, true, meter);
}

void use_programs(const Problem& problem, Meter& meter) {
  ExprPool pool;
  std::vector<Expr> conditions;
  try {
    for (const std::string& fact : problem.facts)
      conditions.push_back(parse(pool, fact));
    conditions.push_back(problem.question_in(pool));
  } catch (const Error&) {
    return;
  }
  const std::vector<Expr> symbols(pool.symbols().begin(), pool.symbols().end());
  GuardProgram program;
  if (meter.call("GuardProgram",
                 [&] { program = GuardProgram(symbols, conditions); })) {
    const std::vector<int64_t> small(symbols.size(), 5),
        large(symbols.size(), std::numeric_limits<int64_t>::max() - 3);
    meter.call("holds", [&] { program.holds(small.data()); });
    meter.call("holds, large", [&] { program.holds(large.data()); });
    meter.call("first_failing", [&] { program.first_failing(large.data()); });
    meter.call("to_cpp", [&] { program.to_cpp("f"); });
  }
  if (symbols.empty() || !symbols[0].is_int()) return;
  std::unordered_map<Expr, Expr, ExprHash> to_one;
  for (Expr s : symbols) to_one.emplace(s, symbols[0]);
  std::vector<Expr> of_one;
  try {
    for (Expr c : conditions) of_one.push_back(substitute(c, to_one));
  } catch (const Error&) {
    return;
  }
  std::optional<SizeSet> set;
  meter.call("sizes_where", [&] {
    set = sizes_where(symbols[0], of_one, Interval::at_least(2),
                      [](Expr, const Interval&) { return false; });
  });
  if (!set) return;
  meter.call("describe",
             [&] { describe(*set, "dx", {.range = Interval::at_least(2)}); });
}

namespace {

std::string log_of(const Problem& problem) {
  if (!problem.log.empty()) return problem.log;
  std::string text;
  for (const std::string& fact : problem.facts) {
    text +=
        "V0101 12:00:00.000000 1 torch/fx/experimental/symbolic_shapes.py:1] "
        "[0/0] eval " +
        fact + " [guard added] (m.py:3 in forward)\n";
  }
  text +=
      "torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode: "
      "Could not guard on data-dependent expression " +
      problem.question + " (unhinted: " + problem.question +
      ").  (Size-like symbols: u0)\n\nCaused by: (m.py:3 in forward)\n";
  return text;
}

}  // namespace

void use_errors(const Problem& problem, Meter& meter) {
  if (problem.build) return;
  const std::string text = log_of(problem);
  ErrorText read;
  std::vector<Diagnosis> found;
  if (!meter.call("read_errors", [&] { read = read_errors(text); })) return;
  if (!meter.call("diagnose", [&] { found = diagnose(read); })) return;
  meter.call("to_text", [&] { to_text(found); });
  meter.call("to_json", [&] { to_json(found, true); });
  meter.call("to_html", [&] { to_html(found); });
  meter.call("explain", [&] { to_json(diagnose(read_errors(text)), true); });
}

}  // namespace proviso::testing
