// Context::interrupt() by another thread ends every long call, of the context
// and of the ShapeEnv that it belongs to, within 1 ms of work; what comes after
// is answered as if nothing had happened.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "guards/input_check.h"
#include "guards/open_question.h"
#include "guards/requirements.h"
#include "guards/shape_env.h"
#include "guards/suggest.h"
#include "guards/torch_form.h"
#include "solver/solve.h"
#include "solver/symbolic_bounds.h"
#include "sym/budget.h"
#include "sym/parse.h"
#include "tests/bombs/bombs.h"

namespace proviso {
namespace {

constexpr uint64_t kMillisecond = 20'000;  // in units

// Interrupts the context again and again, from before the first call on.
class Interrupter {
 public:
  explicit Interrupter(const Context& context)
      : thread_([this, &context] {
          while (!is_over_) {
            context.interrupt();
            is_there_ = true;
            std::this_thread::sleep_for(std::chrono::microseconds(20));
          }
        }) {
    while (!is_there_) std::this_thread::yield();
  }
  ~Interrupter() {
    is_over_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> is_there_{false}, is_over_{false};
  std::thread thread_;
};

// The same by a signal that comes to this thread every 200 us.  On a busy
// machine another thread may get its core when the call is over; a signal comes
// while the call works.  One lives at a time.
class Alarm {
 public:
  explicit Alarm(const Context& context) {
    context_ = &context;
    struct sigaction interrupt = {};
    interrupt.sa_handler = [](int) { context_->interrupt(); };
    sigaction(SIGALRM, &interrupt, &old_);
    every(200);
  }
  ~Alarm() {
    every(0);
    sigaction(SIGALRM, &old_, nullptr);
  }
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

 private:
  static void every(suseconds_t microseconds) {
    const timeval period{.tv_sec = 0, .tv_usec = microseconds};
    const itimerval timer{.it_interval = period, .it_value = period};
    setitimer(ITIMER_REAL, &timer, nullptr);
  }
  static inline const Context* context_ = nullptr;
  struct sigaction old_ = {};
};

testing::Problem problem_of(const char* family, int n) {
  for (const testing::Family& f : testing::bombs())
    if (std::string_view(f.name) == family) return f.make(n);
  ADD_FAILURE() << "no family " << family;
  return {};
}

// A session whose facts make most calls long; they hold together.
struct Session {
  ShapeEnv env{{.specialize_zero_one = false,
                .duck_shape = false,
                .solver = {.use_z3 = false, .machine_int64 = true}}};
  std::vector<Word> words;
  Assignment example;
  std::vector<Expr> facts;
  Expr question, side, cubes;

  explicit Session(const char* family = "open products") {
    const testing::Problem problem = problem_of(family, 24);
    for (int i = 0; i < 75; ++i) {
      const Expr s = env.create_size(
          i % 9 + 3, "L['x" + std::to_string(i) + "'].size()[0]");
      words.push_back({s, "x" + std::to_string(i) + ".shape[0]"});
      example.set(s, Int(i % 9 + 3));
    }
    for (int i = 0; i < 30; ++i) {
      const Expr u = env.create_unbacked_int();
      words.push_back({u, "n" + std::to_string(i)});
      example.set(u, Int(i % 2));
    }
    for (const std::string& fact : problem.facts)
      facts.push_back(parse(env.pool(), fact));
    question = parse(env.pool(), "u0*s3*u1 + s1*s2 > s4*s5*u2 + 17");
    side = parse(env.pool(), "u0*s3*u1//(s2 + u3) + Mod(s1*s2, u2*u2 + 3)");
    // Made before the calls, which are measured: no context is asked here.
    cubes = parse(env.pool(), problem_of("nested cubes", 192).question).arg(1);
  }
  void learn() {
    for (Expr fact : facts) env.expect_true(fact);
    for (const char* size : {"s0*s1 > 7", "s2 + s3 >= s4", "Eq(Mod(s5, 2), 0)",
                             "s6*s7 >= s8", "s9 <= s10*s11"}) {
      env.guard_or_false(parse(env.pool(), size));
    }
  }
};

// Work before the first question is asked.
struct Use {
  const char* name;
  void (*call)(Session&);
};

const Use kUses[] = {
    {"assume", [](Session& s) { s.env.context().assume(s.question); }},
    {"ask", [](Session& s) { s.env.context().ask(s.question); }},
    {"bounds", [](Session& s) { s.env.context().bounds(s.side); }},
    {"strided", [](Session& s) { s.env.context().strided(s.side); }},
    {"multiple_of", [](Session& s) { s.env.context().multiple_of(s.side); }},
    {"values", [](Session& s) { s.env.context().values(s.side); }},
    {"simplify", [](Session& s) { s.env.context().simplify(s.question); }},
    {"canonical", [](Session& s) { s.env.context().canonical(s.question); }},
    {"contradiction", [](Session& s) { s.env.context().contradiction(); }},
    {"solve",
     [](Session& s) {
       solve(s.env.context(), ge(s.cubes, 7), s.env.pool().symbols()[0]);
     }},
    {"common_divisor",
     [](Session& s) {
       common_divisor(s.env.context(), s.cubes, s.cubes + s.side);
     }},
    {"upper_bound",
     [](Session& s) {
       const Expr symbols[] = {s.words[0].value, s.words[1].value};
       upper_bound(s.env.context(), s.cubes, symbols);
     }},
    {"guard_bool", [](Session& s) { s.env.guard_bool(s.question); }},
    {"guard_bool of cubes",
     [](Session& s) { s.env.guard_bool(ge(s.cubes, 7)); }},
    {"guard_int", [](Session& s) { s.env.guard_int(s.side); }},
    {"expect_true", [](Session& s) { s.env.expect_true(s.question); }},
    {"guard_or_false", [](Session& s) { s.env.guard_or_false(s.question); }},
    {"size_oblivious",
     [](Session& s) { s.env.guard_size_oblivious(s.question); }},
    {"constrain_range",
     [](Session& s) { s.env.constrain_range(s.side, Int(0), Int(1000)); }},
    {"ShapeEnv::simplify", [](Session& s) { s.env.simplify(s.side); }},
    {"minimal_guards", [](Session& s) { s.env.minimal_guards(); }},
    {"enforced_range", [](Session& s) { s.env.enforced_range(s.side); }},
    {"check_constraints", [](Session& s) { s.env.check_constraints(); }},
    {"requirements", [](Session& s) { requirements(s.env, s.words); }},
    {"torch_form", [](Session& s) { torch_form(s.env, Requirements()); }},
    {"suggest",
     [](Session& s) {
       suggest(s.env, OpenQuestion{s.question, ""}, s.words, s.example);
     }},
    {"suggest_together",
     [](Session& s) { suggest_together(s.env, s.facts, s.words); }},
    {"InputCheck", [](Session& s) { InputCheck check(s.env); }},
};

uint64_t units_of(const Use& use, Session& session) {
  const Budget all(Budget::kUnlimited);
  const uint64_t before = Budget::units_left();
  try {
    use.call(session);
  } catch (const Error&) {  // the question stays open
  }
  return before - Budget::units_left();
}

class Interrupts : public ::testing::TestWithParam<Use> {};

TEST_P(Interrupts, EndEachCallWithinAMillisecondOfWork) {
  const Use& use = GetParam();
  for (const char* family :
       {"open products", "guards of products and floors"}) {
    Session session(family), calm(family);
    session.learn();
    calm.learn();
    const uint64_t whole = units_of(use, calm);
    const Alarm alarm(session.env.context());
    const uint64_t units = units_of(use, session);
    EXPECT_LE(units, kMillisecond) << "of " << whole << ", " << family;
    RecordProperty(testing::test_name(family),
                   std::to_string(units) + " of " + std::to_string(whole));
  }
}

TEST_P(Interrupts, ChangeNoLaterAnswer) {
  const Use& use = GetParam();
  Session calm, disturbed;
  calm.learn();
  disturbed.learn();
  {
    const Interrupter interrupter(disturbed.env.context());
    units_of(use, disturbed);
  }
  units_of(use, calm);
  // An interrupted call may have kept a weaker guard, never a wrong one.
  for (const char* q : {"s0*s1 > 3", "s0 >= 0", "u0*s1 >= s2", "s4 > s5"}) {
    const auto verdict = [q](Session& s) {
      return s.env.context().ask(parse(s.env.pool(), q)).verdict;
    };
    const Verdict after = verdict(disturbed);
    if (after == Verdict::kUnknown) continue;
    EXPECT_EQ(after, verdict(calm)) << q;
  }
  EXPECT_EQ(disturbed.env.context().ask(disturbed.facts[0]).verdict,
            Verdict::kYes);
}

INSTANTIATE_TEST_SUITE_P(All, Interrupts, ::testing::ValuesIn(kUses),
                         [](const auto& info) {
                           return testing::test_name(info.param.name);
                         });

}  // namespace
}  // namespace proviso
