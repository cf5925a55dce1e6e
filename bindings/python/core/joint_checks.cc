// The checks that decide several questions at once.
//
//   known at the first question    u0 >= 0, u1 >= 0
//   questions, as they are answered, and what is known besides at each
//       Ne(u0, 1)
//       u0 >= 1                    Ne(u0, 1)
//       Eq(u0, u1)                 Ne(u0, 1), u0 >= 1
//   checks                         u0 >= 2, Eq(u0, u1)
//
// Each question's weakest checks are found under what was known when it was
// asked, earlier answers included: all checks together imply each answer, one
// question after the other.  Then those that the others imply go, and what
// speaks of the same sizes is said together, under what was known at the first
// question alone.  Where in the end an answer does not follow, its own checks
// come back.
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/python/core/core.h"
#include "bindings/python/core/mirror_state.h"
#include "guards/conjuncts.h"
#include "guards/weakest_checks.h"
#include "sym/print.h"
#include "sym/within.h"

namespace proviso::python {

namespace {
using internal::said_together;
using internal::weakest_checks;

// What may be done for all of the questions (sym/budget.h).
constexpr uint64_t kUnits = 8'000'000;

struct Asked {
  Context known;
  Expr answer;               // the condition that holds
  std::vector<Expr> checks;  // that say it
};

SolverOptions options() {
  SolverOptions result;
  result.use_z3 = false;
  return result;
}

// (ranges, replacements, facts, answer) as SymPy's objects.  nullopt where the
// answer has no meaning here; a fact that has none is left out.
std::optional<Asked> read_step(ExprPool& pool, SymPyReader& reader,
                               const py::tuple& step) {
  Context known(pool, options());
  for (const auto& [symbol, range] : py::cast<py::dict>(step[0])) {
    const std::optional<Interval> interval = interval_of(range.ptr());
    const auto s = interval ? reader.admit(symbol.ptr()) : std::nullopt;
    if (s) known.declare(*s, *interval);
  }
  for (const auto& [symbol, target] : py::cast<py::dict>(step[1])) {
    const auto s = reader.admit(symbol.ptr());
    const auto e = reader.read(target.ptr());
    if (s && e && e->is_int()) known.assume(eq(*s, *e));
  }
  for (const py::handle& fact : py::cast<py::list>(step[2])) {
    const auto e = reader.read(fact.ptr());
    if (e && e->is_bool()) known.assume(*e);
  }
  const auto answer = reader.read(py::object(step[3]).ptr());
  if (!answer || !answer->is_bool()) return std::nullopt;
  return Asked{std::move(known), *answer, {}};
}

std::vector<Expr> without_implied(Context& base, std::vector<Expr> checks,
                                  uint64_t& units) {
  for (size_t i = 0; i < checks.size();) {
    const auto verdict = internal::within(units, [&] {
      Context rest = base.clone();
      for (size_t k = 0; k < checks.size(); ++k)
        if (k != i) rest.assume(checks[k]);
      return rest.ask(checks[i]).verdict;
    });
    if (!verdict) break;
    if (*verdict == Verdict::kYes) {
      checks.erase(checks.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  return checks;
}

void add_missing(std::vector<Expr>& to, const std::vector<Expr>& more) {
  for (Expr e : more) internal::add_once(to, e);
}

std::vector<Expr> checks_of(std::vector<Asked>& asked) {
  uint64_t units = kUnits;
  std::vector<Expr> all;
  for (Asked& one : asked) {
    const auto found = internal::within(
        units, [&] { return weakest_checks(one.known, one.answer); });
    one.checks = found.value_or(std::vector<Expr>{one.answer});
    add_missing(all, one.checks);
  }
  Context& base = asked.front().known;
  all = without_implied(base, std::move(all), units);
  std::vector<Expr> symbols;
  for (Expr e : all) add_missing(symbols, free_symbols(e));
  if (auto together = internal::within(
          units, [&] { return said_together(base, all, symbols); })) {
    all = without_implied(base, std::move(*together), units);
  }
  for (Asked& one : asked) {
    const auto verdict = internal::within(units, [&] {
      Context with = one.known.clone();
      for (Expr e : all) with.assume(e);
      return with.ask(one.answer).verdict;
    });
    if (verdict != Verdict::kYes) add_missing(all, one.checks);
  }
  return all;
}

// [(condition, line or None)]; no line where a symbol has no word, or for an
// answer that has no meaning here.
py::list joint_checks(const py::list& steps, const py::dict& words) {
  if (!sympy_values().integer)
    throw std::logic_error("joint_checks: set_sympy was not called");
  py::list result;
  ExprPool pool;
  SymPyReader reader(pool);
  std::vector<Asked> asked;
  for (const py::handle& step : steps) {
    const auto parts = py::cast<py::tuple>(step);
    if (auto one = read_step(pool, reader, parts))
      asked.push_back(std::move(*one));
    else
      result.append(py::make_tuple(py::str(parts[3]), py::none()));
  }
  if (asked.empty()) return result;
  for (Expr check : checks_of(asked)) {
    bool has_words = true;
    const std::string line = to_check(check, [&](Expr s) {
      const auto name = py::str(s.symbol().name);
      if (words.contains(name)) return py::cast<std::string>(words[name]);
      has_words = false;
      return s.symbol().name;
    });
    result.append(py::make_tuple(
        to_string(check), has_words ? py::object(py::str(line)) : py::none()));
  }
  return result;
}

}  // namespace

void bind_joint_checks(py::module_& m) { m.def("joint_checks", &joint_checks); }

}  // namespace proviso::python
