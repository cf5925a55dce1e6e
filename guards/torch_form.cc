// A condition is said by the first row that fits it: x != 0 as x >= 1, x != 1
// as x >= 2, remainders as the program asked for them, products of sizes factor
// by factor, else as it is.  Then come the sizes: that they are not 0, which
// PyTorch asks of most, their ranges, and which are equal.
#include "guards/torch_form.h"

#include <algorithm>
#include <unordered_set>

#include "guards/conjuncts.h"
#include "guards/env/session_facts.h"
#include "guards/fixed_limits.h"
#include "guards/weakest_checks.h"
#include "solver/interrupt_scope.h"
#include "sym/find_node.h"
#include "sym/polynomial.h"

namespace proviso::inline v0_2 {
using namespace internal;

namespace {

constexpr std::string_view kAsItIs = "as it is";
constexpr std::string_view kFromTwoOn = "from two on";
constexpr std::string_view kFromOneOn = "from one on";
constexpr std::string_view kOwnDivisions = "the questions' own divisions";
constexpr std::string_view kFactorByFactor = "factor by factor";
constexpr std::string_view kNotEmpty = "not empty";
constexpr std::string_view kAskedByTorch = "asked by PyTorch";

using Parts = std::vector<Expr>;

// x != k as x >= k + 1, of a symbol that is not negative: k is 0 or 1.
Expr above(Expr condition, int64_t k) {
  if (!condition.is(Op::kNe)) return {};
  Expr x = condition.arg(0), value = condition.arg(1);
  if (x.is(Op::kInteger)) std::swap(x, value);
  if (!x.is_symbol() || value.maybe_int64() != k) return {};
  return ge(x, k + 1);
}

bool has_mod(Expr e) {
  return static_cast<bool>(find_node(
      e, [](Expr x) { return x.is(Op::kMod) || x.is(Op::kPythonMod); }));
}

// The parts of the guards that speak of remainders of the same symbols, where
// they imply the condition.
Parts own_divisions(ShapeEnv& env, const Requirements& r, Expr condition) {
  if (!has_mod(condition)) return {};
  const std::vector<Expr> symbols = free_symbols(condition);
  Context context(env.pool(), env.options().solver);
  for (Expr s : symbols) context.declare(s, Interval::at_least(0));
  Parts parts;
  for (const AnsweredQuestion& question : r.questions) {
    for (Expr part : conjuncts(question.condition)) {
      if (!has_mod(part) || free_symbols(part) != symbols) continue;
      if (std::find(parts.begin(), parts.end(), part) != parts.end()) continue;
      parts.push_back(part);
      context.assume(part);
    }
  }
  if (context.ask(condition).verdict != Verdict::kYes) return {};
  return parts;
}

// v*w == x*y as v == x and w == y: products of two symbols, in the order in
// which the sizes were made.
Parts factor_by_factor(Expr condition) {
  if (!condition.is(Op::kEq) || !condition.arg(0).is_int()) return {};
  const Polynomial p =
      to_polynomial(condition.arg(0)) - to_polynomial(condition.arg(1));
  if (p.terms().size() != 2) return {};
  const auto& [left, a] = *p.terms().begin();
  const auto& [right, b] = *std::next(p.terms().begin());
  if (a != -b || left.size() != right.size() || left.size() < 2) return {};
  Parts parts;
  for (size_t i = 0; i < left.size(); ++i) {
    if (!left[i].is_symbol() || !right[i].is_symbol()) return {};
    if (left[i] != right[i]) parts.push_back(eq(left[i], right[i]));
  }
  return parts;
}

bool is_size(Expr e) {
  return e.is_symbol() && e.symbol().kind != SymbolKind::kBackedInt;
}

class Writer {
 public:
  Writer(ShapeEnv& env, const Requirements& r)
      : env_(env),
        r_(r),
        units_(fixed::torch_form_units +
               fixed::torch_form_units_of_one *
                   (env.input_dims().size() + r.conditions.size())) {}

  TorchForm run() {
    for (const Requirement& requirement : r_.conditions) {
      for (Expr s : free_symbols(requirement.condition)) required_.insert(s);
      write(requirement.condition);
    }
    Context context = input_ranges(env_);
    for (const TorchCondition& c : result_) context.assume(c.condition);
    add_not_empty(context);
    std::vector<TorchSize> sizes = sizes_under(context);
    return {std::move(result_), std::move(sizes)};
  }

 private:
  void add(Expr condition, std::string_view rule, bool is_stronger) {
    for (const TorchCondition& known : result_)
      if (known.condition == condition) return;
    result_.push_back({condition, rule, is_stronger});
  }

  void write(Expr condition) {
    if (Expr x = above(condition, 0)) return add(x, kFromOneOn, false);
    if (Expr x = above(condition, 1)) return add(x, kFromTwoOn, true);
    const Parts divisions = InterruptScope::within(units_, [&] {
                              return own_divisions(env_, r_, condition);
                            }).value_or(Parts());
    for (Expr part : divisions) add(part, kOwnDivisions, false);
    if (!divisions.empty()) return;
    const Parts factors = factor_by_factor(condition);
    for (Expr part : factors) add(part, kFactorByFactor, true);
    if (factors.empty()) add(condition, kAsItIs, false);
  }

  // PyTorch asks of most sizes whether they are 0, where the answer does not
  // matter.
  void add_not_empty(Context& context) {
    for (const InputDim& dim : env_.input_dims()) {
      if (!is_size(dim.expr)) continue;
      const Expr not_empty = ge(dim.expr, 1);
      const auto known = InterruptScope::within(
          units_, [&] { return context.ask_quick(not_empty); });
      if (known.value_or(Verdict::kUnknown) != Verdict::kUnknown) continue;
      add(not_empty, kNotEmpty, true);
      InterruptScope::within(units_, [&] { return context.assume(not_empty); });
    }
  }

  // Else it is equal to nothing but itself.
  bool may_be_pinned(const InputDim& dim) const {
    return !dim.expr.is_symbol() || dim.constraint.max ||
           required_.contains(dim.expr);
  }

  std::vector<TorchSize> sizes_under(Context& context) {
    std::vector<TorchSize> sizes;
    const std::vector<InputDim>& dims = env_.input_dims();
    for (const InputDim& dim : dims) {
      if (dim.expr.is_constant()) continue;  // its spec is static
      const auto equal =
          std::find_if(dims.begin(), dims.end(), [&](const InputDim& other) {
            if (other.expr == dim.expr) return true;
            if (!may_be_pinned(other) || !may_be_pinned(dim)) return false;
            return InterruptScope::within(units_, [&] {
                     return context.equivalent(other.expr, dim.expr);
                   }) == Verdict::kYes;
          });
      const auto range = InterruptScope::within(
          units_, [&] { return context.bounds(dim.expr); });
      sizes.push_back({dim.source,
                       without_machine_ends(range.value_or(Interval())),
                       equal->source});
    }
    return sizes;
  }

  ShapeEnv& env_;
  const Requirements& r_;
  uint64_t units_;
  std::unordered_set<Expr, ExprHash> required_;  // symbols of conditions
  std::vector<TorchCondition> result_;
};

}  // namespace

TorchForm torch_form(ShapeEnv& env, const Requirements& r) {
  const InterruptScope scope(env.context());
  return Writer(env, r).run();
}

std::vector<TorchCondition> answers_to_torch(ShapeEnv& env,
                                             const Requirements& r,
                                             Expr question) {
  const InterruptScope scope(env.context());
  const std::optional<Expr> side = side_of_example(env, question, {});
  if (!side) return {};
  Context context = input_ranges(env);
  Expr plain = conjunction(env.pool(),
                           weakest_checks(context, *side, free_symbols(*side)));
  // PyTorch makes nothing of x != 1.
  for (int64_t k : {0, 1})
    if (Expr x = above(plain, k); x && env.hint(x) == Value(true)) plain = x;
  for (const Requirement& needed : r.conditions)
    context.assume(needed.condition);
  std::vector<TorchCondition> answers;
  for (Expr answer : {plain, *side}) {
    const bool follows = context.ask(answer).verdict == Verdict::kYes;
    if (answers.empty() || answers[0].condition != answer)
      answers.push_back({answer, kAskedByTorch, !follows});
  }
  return answers;
}

std::vector<TorchRule> torch_rules() {
  return {
      {kAsItIs, "x <= 2048", "x <= 2048", false},
      {kFromOneOn, "Ne(x, 0)", "x >= 1", false},
      {kFromTwoOn, "Ne(x, 1)", "x >= 2", true},
      {kOwnDivisions, "Eq(Mod(x, 4), 0)",
       "Eq(Mod(x, 2), 0) & Eq(Mod(x//2, 2), 0)", false},
      {kFactorByFactor, "Eq(v*w, x*y)", "Eq(v, x) & Eq(w, y)", true},
      {kNotEmpty, "True", "x >= 1", true},
  };
}

}  // namespace proviso::inline v0_2
