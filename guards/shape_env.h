// guards/shape_env.h - the session of a tracer: symbols made from example
// sizes, questions about them, and the guards and runtime assertions that the
// answers cost.  Knows no torch type, so that any tracer can delegate to it.
//
//   ShapeEnv env;
//   Expr s0 = env.create_size(8, "L['x'].size()[0]");         // s0, hint 8
//   Expr u0 = env.create_unbacked_int();                      // u0
//   env.expect_true(ge(u0, 0), {"model.py", 7, "torch._check(a >= 0)"});
//   env.guard_bool(le(s0, 512), {"model.py", 9});             // true; a guard
//   env.guards()[0].condition;                                // s0 <= 512
//
// The first that can answers a question: the facts; else the hint, whose side
// becomes a guard; else, of data, an assertion at run time, the caller's
// default or DataDependentError.  Follows the query kinds of PyTorch 2.13's
// ShapeEnv; the assumption that a backed size is >= 2 is a fact like any other,
// visible in context().facts().
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "solver/solver.h"
#include "sym/api.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

struct SourceLocation {
  std::string file{};
  int line = 0;
  std::string code{};             // the source line's text, where known
  std::string to_string() const;  // "model.py:12 in `if x.shape[0] > 3:`"
};

// Base of errors about guards; what() is text that PyTorch users know.
class GuardError : public Error {
 public:
  using Error::Error;
};
// "Could not guard on data-dependent expression u0 >= 5 (unhinted: ...)", or
// "Could not extract specialized integer from data-dependent expression u0".
class DataDependentError : public GuardError {
 public:
  DataDependentError(const std::string& what, Expr asked)
      : GuardError(what), condition(asked) {}
  Expr condition;
};
// "Constraints violated (d)! ..." and spec errors.
class ConstraintViolationError : public GuardError {
 public:
  using GuardError::GuardError;
};

enum class DimPolicy {
  kStatic,    // the size is a constant
  kAuto,      // a symbol; may be specialised silently (Dim.AUTO)
  kDynamic,   // a symbol; specialising it is an error (Dim.DYNAMIC)
  kNamed,     // a named Dim: its range is promised, specialising is an error
  kUnbacked,  // a symbol without example: a question about it is an error, as
              // about data (PyTorch's mark_unbacked)
};

// A size that is factor*name + offset of a Dim that no input has by itself.
struct RootDim {
  std::string name;
  Int factor = 1, offset = 0;
};

struct DimConstraint {
  DimPolicy policy = DimPolicy::kAuto;
  // The Dim's name, or "2*dx + 1"; unbacked sizes of one name are one symbol.
  std::string name{};
  std::optional<Int> min{}, max{};  // inclusive
  std::optional<RootDim> root{};    // of a derived Dim without its root
};

struct ShapeEnvOptions {
  bool specialize_zero_one = true;  // sizes 0 and 1 become constants
  bool duck_shape = false;          // equal examples share a symbol
  bool prefer_deferred_runtime_asserts_over_guards = false;
  bool assume_at_least_two = true;  // other backed sizes are assumed >= 2
  // guard_or_false and guard_or_true take their defaults for sizes as for data:
  // no guard, one program for more sizes.
  bool backed_size_oblivious = false;
  SolverOptions solver{.machine_int64 = true};
};

// A condition on inputs that must hold for the trace to be valid.
struct Guard {
  Expr condition;  // as recorded: the replacements of earlier guards applied
  std::vector<SourceLocation> origins;  // every place that needed it
  bool promised = false;  // given to require(), not found in the program
};

// A condition that the program itself checks.
struct RuntimeAssert {
  Expr condition;  // as asked, canonical: no replacement is applied
  SourceLocation origin;
  std::string message;
};

// One line of the log, also machine-readable.
struct ShapeEvent {
  std::string kind;  // create_symbol, create_unbacked_symbol, eval,
                     // runtime_assert, set_replacement, update_range
  std::string text;  // "create_symbol s0 = 6 for L['w'].size()[0] [2, int_oo]"
  SourceLocation location;
  std::string subject;  // the symbol or condition: s0, Eq(s2, s4)
};

// How an input size came to be, for violations, printing and input checks.
struct InputDim {
  std::string source;        // L['x'].size()[0]
  std::string display_name;  // x.size()[0]
  Int hint;
  DimConstraint constraint;
  Expr expr;  // the symbol or constant given at creation
};

class ShapeEnv {
 public:
  struct Impl;

  explicit ShapeEnv(ShapeEnvOptions options = {});
  ~ShapeEnv();

  ExprPool& pool();
  Context& context();
  const ShapeEnvOptions& options() const;

  // --- symbols.  Numbered in order of creation: s0, s1, ...; u0, ...; zf0;
  // zuf0.
  // The size of an input dimension with example value `hint`: a symbol, or a
  // constant (static policy; 0 and 1 when specialised).  Throws
  // ConstraintViolationError when hint lies outside the constraint
  // ("3 not in range [4, 256]") and Error when hint < 0.
  Expr create_size(int64_t hint, const std::string& source,
                   const DimConstraint& constraint = {});
  // An integer input, a constant with the static policy; the constraint's range
  // may be negative.
  Expr create_backed_int(int64_t hint, const std::string& source,
                         const DimConstraint& constraint = {});
  Expr create_backed_float(double hint, const std::string& source);
  Expr create_unbacked_int(const Interval& range = {});
  Expr create_unbacked_float();
  Expr create_unbacked_bool();  // the boolean Eq(u, 1), u in [0, 1]

  // Assumes what holds by the meaning of a data symbol, and nothing checks it:
  // u0 <= s1 for a count of s1 elements.
  void know(Expr condition, const std::string& why);

  // A precondition that the caller promises beyond the ranges of sizes: derived
  // Dims, relations between Dims.  Assumed from here on, checked as a guard,
  // and no violation where a guard follows from it.  Throws
  // ConstraintViolationError when it does not hold for the example.
  void require(Expr condition, const SourceLocation& where);

  // --- values
  // The value at the example inputs; nullopt when it depends on data.
  [[nodiscard]] std::optional<Value> hint(Expr e);
  // Where the range is one value.
  [[nodiscard]] std::optional<Int> maybe_static_int(Expr e);
  // Replacements applied, canonical.
  [[nodiscard]] Expr simplify(Expr e);
  // What is known of an integer expression, for printing.  A tracer decides by
  // asking: used_assumption() does not see what was read from here.
  Interval bounds(Expr e);

  // --- questions (PyTorch's names and recording rules)
  bool guard_bool(Expr condition, const SourceLocation& where = {});
  Int guard_int(Expr e, const SourceLocation& where = {});
  double guard_float(Expr e, const SourceLocation& where = {});
  // torch._check: false when the condition is known false, or is so for the
  // hints, which becomes a guard (the caller raises).
  bool expect_true(Expr condition, const SourceLocation& where = {},
                   const std::string& message = "");
  bool guard_or_false(Expr condition, const SourceLocation& where = {});
  bool guard_or_true(Expr condition, const SourceLocation& where = {});
  bool guard_size_oblivious(Expr condition, const SourceLocation& where = {});
  [[nodiscard]] bool statically_known_true(Expr condition);  // never records
  [[nodiscard]] bool statically_known_false(Expr condition);
  // Neither; an answer given here is none that the program's guards must keep.
  [[nodiscard]] bool is_open(Expr condition);
  [[nodiscard]] bool has_static_value(Expr e);
  Int guarding_hint_or_throw(Expr e);
  Int optimization_hint(Expr e, Int fallback = 8192);
  // torch.sym_constrain_range(_for_size): assumes the range; asserted at run
  // time.  Throws GuardError when the range is known not to hold.
  void constrain_range(Expr e, std::optional<Int> min, std::optional<Int> max,
                       const SourceLocation& where = {});
  void mark_size_like(Expr symbol);
  // A plain Python `assert` on data: assumed, and exported as an assertion.
  // Throws GuardError when the condition is known false.
  void runtime_assert(Expr condition, const SourceLocation& where,
                      const std::string& message);

  // --- results
  const std::vector<Guard>& guards() const;
  const std::vector<RuntimeAssert>& runtime_asserts() const;
  const std::vector<InputDim>& input_dims() const;
  const std::map<Expr, Expr, ExprLess>& replacements() const;
  // The guards that the ranges and the other guards do not imply.  Each has,
  // with its own places, those of the guards that it made superfluous and of
  // the questions that could not have been answered without it.
  [[nodiscard]] std::vector<Guard> minimal_guards();
  // Whether tracing ever used that a symbol is >= 2.  When it did not, the
  // enforced range starts at 0, or at 1 where only 0 would matter.  A branch or
  // check that needs less than the whole of it is a guard instead.
  bool used_assumption(Expr symbol) const;
  // The branches and checks that used it.
  std::vector<SourceLocation> assumption_origins(Expr symbol) const;
  // The sizes 0 and 1 that only the program's own branches leave out: (s0, 1)
  // where it asked s0 == 1, and more than that is not needed.
  [[nodiscard]] std::vector<std::pair<Expr, int>> left_out_by_branches();
  // The caller has found that what was traced is right for this size, 0 or 1,
  // as well: no answer leaves it out any more.  Guards that were recorded stay.
  void admit(Expr symbol, int size);
  // What the program promises for a symbol or input expression: the range that
  // its guards enforce.
  [[nodiscard]] Interval enforced_range(Expr e);

  // Throws ConstraintViolationError ("Constraints violated (d)! ...", one line
  // a violation, "Suggested fixes:") when a dim's constraint was broken by a
  // guard, a specialisation or an equality.
  void check_constraints();

  // --- questions about a tensor's layout alone (see LayoutQuestions)
  void layout_questions(bool on);
  // A layout was chosen as the condition holds at the examples.
  void add_layout_condition(Expr condition);
  // The program has seen a layout: the layout answers so far keep what they
  // assumed, as any others do, and the layout conditions become guards.
  void keep_layout_answers(const SourceLocation& where = {});

  // --- no recording inside: answers from hints, nothing learnt
  void suppress_guards(bool on);
  // Later guards are still answered and recorded (an answer without its guard
  // would be wrong for other inputs), and logged as late.
  void freeze();

  // --- events
  void set_event_sink(std::function<void(const ShapeEvent&)> sink);
  const std::vector<ShapeEvent>& events() const;
  // All that was assumed and asked, as text ("shapelog 1") from which it can be
  // asked again.
  [[nodiscard]] std::string shapelog() const;

 private:
  std::unique_ptr<Impl> impl_;
};

// While it lives, answers choose strides and nothing else.  Strides of a
// dimension of size 1 and of a tensor without elements have no meaning, so what
// is chosen for sizes >= 2 is right for 0 and 1 too: these answers do not keep
// the assumption, unless the program looks at the layout (keep_layout_answers).
class LayoutQuestions {
 public:
  explicit LayoutQuestions(ShapeEnv& env) : env_(env) {
    env_.layout_questions(true);
  }
  ~LayoutQuestions() { env_.layout_questions(false); }
  LayoutQuestions(const LayoutQuestions&) = delete;
  LayoutQuestions& operator=(const LayoutQuestions&) = delete;

 private:
  ShapeEnv& env_;
};

}  // namespace proviso::inline v0_2
PROVISO_API_END
