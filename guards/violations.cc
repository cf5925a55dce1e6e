// Promises of Dims that the trace broke, and how to mend the Dims.
//
// A named Dim promises every size in its range; a DYNAMIC one promises more
// than one size.  Guards between several named Dims are allowed (checked at run
// time) unless they are equalities that could have been written as Dims.

#include <algorithm>
#include <numeric>

#include "guards/shape_env_impl.h"
#include "sym/polynomial.h"
#include "sym/print.h"
#include "sym/simplify.h"

namespace proviso {

namespace {

constexpr int64_t kMaxPeriod = 4096;

bool is_named(const InputDim& d) {
  return d.constraint.policy == DimPolicy::kNamed;
}

bool is_promised(const InputDim& d) {
  const DimConstraint& c = d.constraint;
  if (c.min && c.max && *c.min == *c.max) return false;  // meant to be static
  return is_named(d) || c.policy == DimPolicy::kDynamic;
}

// "dx", or the source of a dim without a name.
std::string short_name(const InputDim& d) {
  return is_named(d) ? d.constraint.name : d.source;
}
std::string long_name(const InputDim& d) {
  return is_named(d) ? d.constraint.name + " = " + d.source : d.source;
}

// "in the specified range 4 <= dx <= 256"; ends that promise nothing are left
// out.
std::string specified_range(const InputDim& d) {
  const DimConstraint& c = d.constraint;
  std::string text = "in the specified range";
  bool has_min = c.min && *c.min > Int(0);
  if (!has_min && !c.max) return text;
  text += " " + (has_min ? c.min->to_string() + " <= " : std::string()) +
          short_name(d);
  return c.max ? text + " <= " + c.max->to_string() : text;
}

// All moduli of `e` when its truth depends on the symbol's remainder alone;
// false when something else is in it.
bool collect_moduli(Expr e, std::vector<int64_t>& moduli, bool inside_mod) {
  if (e.is(Op::kMod) || e.is(Op::kPythonMod)) {
    std::optional<int64_t> m = e.arg(1).maybe_int64();
    if (!m || *m < 2 || *m > kMaxPeriod) return false;
    moduli.push_back(*m);
    return collect_moduli(e.arg(0), moduli, true);
  }
  if (e.is_symbol()) return inside_mod;
  if (e.is_constant()) return true;
  bool linear = e.is(Op::kAdd) || e.is(Op::kMul);
  if (!linear && (inside_mod || e.is_int())) return false;
  auto args = e.args();
  return std::all_of(args.begin(), args.end(), [&](Expr a) {
    return collect_moduli(a, moduli, inside_mod);
  });
}

struct Progression {  // step*k + first, 0 <= first < step
  int64_t step, first;
};

// The sizes that satisfy `conditions`, when they are one progression.
std::optional<Progression> progression(Expr symbol,
                                       const std::vector<Expr>& conditions) {
  std::vector<int64_t> moduli;
  for (Expr c : conditions) {
    if (!collect_moduli(c, moduli, false)) return std::nullopt;
  }
  int64_t period = 1;
  for (int64_t m : moduli) {
    period = std::lcm(period, m);
    if (period > kMaxPeriod) return std::nullopt;
  }
  std::vector<int64_t> sizes;
  for (int64_t size = 0; size < period; ++size) {
    Assignment point;
    point.set(symbol, Int(size));
    bool good = std::all_of(conditions.begin(), conditions.end(), [&](Expr c) {
      return evaluate(c, point).is_true();
    });
    if (good) sizes.push_back(size);
  }
  if (sizes.empty() || period % static_cast<int64_t>(sizes.size()) != 0) {
    return std::nullopt;
  }
  int64_t step = period / static_cast<int64_t>(sizes.size());
  for (size_t i = 1; i < sizes.size(); ++i) {
    if (sizes[i] - sizes[i - 1] != step) return std::nullopt;
  }
  if (step < 2) return std::nullopt;
  return Progression{step, sizes[0]};
}

std::string dim_definition(const std::string& name, const Interval& range) {
  std::string text = name + " = Dim('" + name + "'";
  if (range.lower() && *range.lower() > Int(2)) {
    text += ", min=" + range.lower()->to_string();
  }
  if (range.upper()) text += ", max=" + range.upper()->to_string();
  return text + ")";
}

}  // namespace

std::string ShapeEnv::Impl::source_name(Expr symbol) const {
  for (const InputDim& d : dims) {
    if (d.expr == symbol) return d.source;
  }
  return symbol.symbol().name;
}

namespace {

// Collects the report of one check.
class Report {
 public:
  void violation(const InputDim& d, const std::string& line) {
    names_.insert(short_name(d));
    if (std::find(lines_.begin(), lines_.end(), line) == lines_.end()) {
      lines_.push_back(line);
    }
  }
  void fix(const std::string& name, const std::string& line) {
    std::vector<std::string>& lines = fixes_[name];
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) {
      lines.push_back(line);
    }
  }
  bool is_empty() const { return lines_.empty(); }

  std::string text() const {
    std::string names;
    for (const std::string& name : names_) {
      names += (names.empty() ? "" : ", ") + name;
    }
    std::string text =
        "Constraints violated (" + names +
        ")! For more information, run with PROVISO_LOGS=dynamic.";
    for (const std::string& line : lines_) text += "\n  - " + line;
    if (fixes_.empty()) return text;
    text += "\nSuggested fixes:";
    for (const auto& [name, lines] : fixes_) {
      for (const std::string& line : lines) text += "\n  " + line;
    }
    return text;
  }

 private:
  std::set<std::string> names_;
  std::vector<std::string> lines_;
  std::map<std::string, std::vector<std::string>> fixes_;
};

// Checks the dims of one ShapeEnv.
class Checker {
 public:
  Checker(ExprPool& pool, const SolverOptions& options,
          const std::vector<InputDim>& dims, const std::vector<Guard>& guards)
      : pool_(pool), options_(options), dims_(dims), guards_(guards) {}

  Report run(const std::function<Expr(Expr)>& replaced) {
    for (const InputDim& d : dims_) {
      if (is_promised(d)) check_form(d, replaced(d.expr));
    }
    std::set<Expr, ExprLess> seen;
    for (const InputDim& d : dims_) {
      if (is_named(d) && is_promised(d) && d.expr.is_symbol() &&
          !replaced(d.expr).is_constant() && seen.insert(d.expr).second) {
        check_own_guards(d);
      }
    }
    return std::move(report_);
  }

 private:
  const InputDim* dim_of(Expr symbol) const {
    for (const InputDim& d : dims_) {
      if (d.expr == symbol) return &d;
    }
    return nullptr;
  }

  std::string source_text(Expr e) const {
    return to_python(e, [&](Expr s) {
      const InputDim* d = dim_of(s);
      return d ? d->source : s.symbol().name;
    });
  }
  std::string named_text(Expr e) const {
    return to_python(e, [&](Expr s) {
      const InputDim* d = dim_of(s);
      return d ? short_name(*d) : s.symbol().name;
    });
  }

  // The dim is a constant, another dim, or an expression of others.
  void check_form(const InputDim& d, Expr now) {
    if (now.is_constant()) return check_constant(d, now);
    if (now.is_symbol()) {
      const InputDim* other = dim_of(now);
      if (!is_named(d) || !other || !is_named(*other) || now == d.expr) return;
      report_.violation(d, "The values of " + long_name(d) + " and " +
                               long_name(*other) + " must always be equal.");
      return report_.fix(short_name(d),
                         short_name(d) + " = " + short_name(*other));
    }
    if (is_named(d)) check_related(d, now);
  }

  void check_constant(const InputDim& d, Expr now) {
    const std::string value = to_string(now);
    if (d.expr.is_constant() && !is_named(d)) {
      report_.violation(
          d, "You marked " + d.source + " as dynamic, but its example size " +
                 value +
                 " was specialized (0 and 1 are constants). Give an "
                 "example size >= 2, or replace Dim.DYNAMIC with "
                 "either Dim.STATIC or Dim.AUTO.");
      return;
    }
    report_.violation(
        d, "You marked " + short_name(d) +
               " as dynamic but your code specialized it to be a constant (" +
               value +
               "). If you're using Dim.DYNAMIC, replace it with either "
               "Dim.STATIC or Dim.AUTO.");
    if (is_named(d)) {
      report_.fix(short_name(d), short_name(d) + " = " + value);
    }
  }

  // `d` = expression.  A line over one named dim can be written as a Dim.
  void check_related(const InputDim& d, Expr now) {
    if (has_slack(now)) return;
    std::vector<Expr> symbols = free_symbols(now);
    const InputDim* root = symbols.size() == 1 ? dim_of(symbols[0]) : nullptr;
    if (!root || !is_named(*root)) {
      report_.violation(d, "Not all values of " + long_name(d) + " " +
                               specified_range(d) + " are valid because " +
                               short_name(d) + " was inferred to be equal to " +
                               named_text(now) + ".");
      return;
    }
    const std::string relation = short_name(d) + " = " + named_text(now);
    report_.violation(d, "The values of " + long_name(d) +
                             " must always be related to the values of " +
                             long_name(*root) + " by " + relation + ".");
    report_.fix(short_name(d), relation);
  }

  // A dim that promises nothing takes up the difference, as in
  // dx = L['y'].size()[0] + 1: every dx is still possible.
  bool has_slack(Expr target) const {
    const Polynomial p = to_polynomial(target);
    for (const auto& [monomial, coefficient] : p.terms()) {
      if (monomial.size() != 1 || abs(coefficient) != Int(1)) continue;
      const InputDim* d =
          monomial[0].is_symbol() ? dim_of(monomial[0]) : nullptr;
      if (d && !is_named(*d)) return true;
    }
    return false;
  }

  // Guards on one named dim alone that its range does not imply.
  void check_own_guards(const InputDim& d) {
    const Interval promised = promised_sizes(d);
    Interval narrowed = promised;
    std::vector<Expr> others;
    for (const Guard& g : guards_) {
      std::vector<Expr> symbols = free_symbols(g.condition);
      if (symbols.size() != 1 || symbols[0] != d.expr) continue;
      if (implied(d.expr, promised, g.condition)) continue;
      if (auto range = as_range(d.expr, promised, g.condition)) {
        narrowed = intersect(narrowed, *range);
      } else {
        others.push_back(g.condition);
        report_.violation(d, not_all_values(d, source_text(g.condition)));
      }
    }
    if (narrowed != promised) {
      report_.violation(
          d, not_all_values(d, range_guard(d.source, promised, narrowed)));
    }
    suggest(d, promised, narrowed, others);
  }

  static std::string not_all_values(const InputDim& d,
                                    const std::string& guard) {
    return "Not all values of " + long_name(d) + " " + specified_range(d) +
           " satisfy the generated guard " + guard + ".";
  }

  // 0 and 1 are specialised by convention, so they are not part of the promise.
  static Interval promised_sizes(const InputDim& d) {
    Int lower = d.hint >= Int(2) ? 2 : 0;
    if (d.constraint.min) lower = std::max(lower, *d.constraint.min);
    return Interval::of(lower, d.constraint.max);
  }

  bool implied(Expr symbol, const Interval& range, Expr condition) {
    Context context(pool_, options_);
    context.declare(symbol, range, {});
    return context.ask_quick(condition) == Verdict::kYes;
  }

  // The range that `condition` cuts out, when it does nothing else.
  std::optional<Interval> as_range(Expr symbol, const Interval& promised,
                                   Expr condition) {
    Context context(pool_, options_);
    context.declare(symbol, promised, {});
    context.assume(condition, {});
    Interval range = without_machine_ends(context.bounds(symbol));
    if (range == promised || !implied(symbol, range, condition)) {
      return std::nullopt;
    }
    return range;
  }

  static std::string range_guard(const std::string& name,
                                 const Interval& promised,
                                 const Interval& narrowed) {
    std::string text;
    if (narrowed.lower() && narrowed.lower() != promised.lower()) {
      text = narrowed.lower()->to_string() + " <= " + name;
    }
    if (narrowed.upper() && narrowed.upper() != promised.upper()) {
      text += (text.empty() ? "" : " and ") + name +
              " <= " + narrowed.upper()->to_string();
    }
    return text;
  }

  void suggest(const InputDim& d, const Interval& promised,
               const Interval& narrowed, const std::vector<Expr>& others) {
    const std::string name = short_name(d);
    if (others.empty()) {
      if (narrowed != promised) {
        report_.fix(name, dim_definition(name, narrowed));
      }
      return;
    }
    std::optional<Progression> p = progression(d.expr, others);
    if (!p) return;
    std::optional<Int> lower, upper;
    if (narrowed.lower()) {
      lower = -floor_div(Int(p->first) - *narrowed.lower(), Int(p->step));
    }
    if (narrowed.upper()) {
      upper = floor_div(*narrowed.upper() - Int(p->first), Int(p->step));
    }
    const std::string root = "_" + name;
    report_.fix(name, dim_definition(root, Interval::of(lower, upper)));
    report_.fix(name, name + " = " + std::to_string(p->step) + "*" + root +
                          (p->first ? " + " + std::to_string(p->first) : ""));
  }

  ExprPool& pool_;
  SolverOptions options_;
  const std::vector<InputDim>& dims_;
  const std::vector<Guard>& guards_;
  Report report_;
};

}  // namespace

void ShapeEnv::Impl::check_constraints() {
  Checker checker(pool, options.solver, dims, guards);
  Report report = checker.run([&](Expr e) { return replaced(e); });
  if (!report.is_empty()) throw ConstraintViolationError(report.text());
}

}  // namespace proviso
