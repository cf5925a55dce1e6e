// Each promise is looked at by itself: what the trace made of the dim, and then
// the guards about it alone.
//
//   batch, which the trace made 8        batch = 8
//   d, with the guard d <= 512           d = Dim('d', max=512)
//   w, with the guard w % 16 == 0        w = 16*_w, by guards/size_set.h
//
// What a context of the promises alone implies is no violation.
#include "guards/env/violations.h"

#include <algorithm>

#include "guards/size_set.h"
#include "sym/canonical.h"
#include "sym/polynomial.h"
#include "sym/print.h"

namespace proviso::inline v0_2::internal {

namespace {

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

// Checks the dims of one session.
class Checker {
 public:
  Checker(const ShapeEnvOptions& options, SessionFacts& facts, Symbols& symbols,
          Replacements& replacements, const Recorder& recorder)
      : options_(options),
        facts_(facts),
        symbols_(symbols),
        replacements_(replacements),
        recorder_(recorder),
        promise_(make_promise()) {}

  Report run() {
    for (const InputDim& d : symbols_.dims()) {
      if (is_promised(d)) check_form(d, replacements_.apply(d.expr));
    }
    std::set<Expr, ExprLess> seen;
    for (const InputDim& d : symbols_.dims()) {
      if (is_named(d) && is_promised(d) && d.expr.is_symbol() &&
          replacements_.apply(d.expr) == d.expr && seen.insert(d.expr).second) {
        check_own_guards(d);
      }
    }
    return std::move(report_);
  }

 private:
  // What dynamic_shapes says and nothing else.
  Context make_promise() const {
    Context context(facts_.pool(), options_.solver);
    for (const auto& [symbol, range] : facts_.declared()) {
      const InputDim* d = dim_of(symbol);
      context.declare(symbol, d ? promised_sizes(*d) : range);
    }
    for (Expr promise : recorder_.promises()) context.assume(promise);
    return context;
  }

  const InputDim* dim_of(Expr symbol) const {
    for (const InputDim& d : symbols_.dims()) {
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
    if (now == d.expr || !is_named(d)) return;
    if (promise_.ask(eq(d.expr, now)).verdict == Verdict::kYes) return;
    if (!now.is_symbol()) return check_related(d, now);
    const InputDim* other = dim_of(now);
    if (!other || !is_named(*other)) return;
    report_.violation(d, "The values of " + long_name(d) + " and " +
                             long_name(*other) + " must always be equal." +
                             origin_of(eq(d.expr, now)));
    fix_as(d, short_name(*other), *other, Int(1), Int(0));
  }

  void check_constant(const InputDim& d, Expr now) {
    const std::string value = to_string(now);
    if (promise_.ask(eq(d.expr, now)).verdict == Verdict::kYes &&
        !d.expr.is_constant()) {
      return;
    }
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
               "Dim.STATIC or Dim.AUTO." +
               (d.expr.is_constant() ? "" : origin_of(eq(d.expr, now))));
    if (!is_named(d)) return;
    if (const auto& root = d.constraint.root) {
      const Int size = floor_div(now.integer() - root->offset, root->factor);
      return report_.fix(root->name, root->name + " = " + size.to_string());
    }
    if (is_derived(d)) return;
    report_.fix(short_name(d), short_name(d) + " = " + value);
  }

  static bool is_derived(const InputDim& d) {
    return d.constraint.name.find_first_of(" *+-/%(") != std::string::npos;
  }

  // `d` = expression.  It can be written as a Dim when all others are named.
  void check_related(const InputDim& d, Expr now) {
    if (has_slack(now)) return;
    std::vector<Expr> symbols = symbols_.in(now);
    const InputDim* root = symbols.size() == 1 ? dim_of(symbols[0]) : nullptr;
    const bool are_named =
        std::all_of(symbols.begin(), symbols.end(), [&](Expr s) {
          const InputDim* other = dim_of(s);
          return other && is_named(*other) && !is_derived(*other);
        });
    const std::string relation = short_name(d) + " = " + named_text(now);
    if (!root || !are_named) {
      report_.violation(d, "Not all values of " + long_name(d) + " " +
                               specified_range(d) + " are valid because " +
                               short_name(d) + " was inferred to be equal to " +
                               named_text(now) + "." +
                               origin_of(eq(d.expr, now)));
      if (are_named && !is_derived(d)) report_.fix(short_name(d), relation);
      return;
    }
    report_.violation(d, "The values of " + long_name(d) +
                             " must always be related to the values of " +
                             long_name(*root) + " by " + relation + "." +
                             origin_of(eq(d.expr, now)));
    const Polynomial p = to_polynomial(now);
    Int factor = 0, offset = 0;
    for (const auto& [monomial, coefficient] : p.terms()) {
      (monomial.empty() ? offset : factor) = coefficient;
    }
    fix_as(d, named_text(now), *root, factor, offset);
  }

  // d = factor*root + offset (factor 0: no such line).  What d promised beyond
  // root is root's to promise now.
  void fix_as(const InputDim& d, const std::string& text, const InputDim& root,
              const Int& factor, const Int& offset) {
    if (is_derived(d)) return;
    report_.fix(short_name(d), short_name(d) + " = " + text);
    const Interval own = promised_sizes(root), other = promised_sizes(d);
    if (factor < Int(1)) return;
    std::optional<Int> lower, upper;
    if (other.lower()) lower = -floor_div(offset - *other.lower(), factor);
    if (other.upper()) upper = floor_div(*other.upper() - offset, factor);
    const Interval both = intersect(own, Interval::of(lower, upper));
    const bool is_narrower =
        both.upper() != own.upper() || (d.constraint.min && both != own);
    if (is_narrower && !both.is_empty() && !is_derived(root)) {
      narrowed_.emplace(root.expr, both);
    }
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

  // Guards on one named dim alone that the promises do not imply.
  void check_own_guards(const InputDim& d) {
    Interval promised = promised_sizes(d);
    const Interval declared = promised;
    if (auto it = narrowed_.find(d.expr); it != narrowed_.end()) {
      promised = it->second;
    }
    Interval range = promised;
    std::vector<Expr> all, others;
    for (const Guard& g : recorder_.guards()) {
      const Expr c = replacements_.apply(g.condition);
      const std::vector<Expr>& symbols = symbols_.in(c);
      if (g.promised || symbols.size() != 1 || symbols[0] != d.expr) continue;
      if (promise_.ask(c).verdict == Verdict::kYes) continue;
      all.push_back(c);
      if (auto narrow = as_range(d.expr, declared, c)) {
        range = intersect(range, *narrow);
        places_.push_back(&g);
      } else {
        others.push_back(c);
        report_.violation(d, not_all_values(d, source_text(c)) + place_of(g) +
                                 refused(d, {c}));
      }
    }
    const Interval found = intersect(declared, range);
    if (!places_.empty() && found != declared) {
      std::string where;
      for (const Guard* g : places_) where += place_of(*g);
      report_.violation(
          d, not_all_values(d, range_guard(d.source, declared, found)) + where +
                 refused(d, all));
    }
    places_.clear();
    if (all.empty()) {
      if (promised != declared) {
        report_.fix(short_name(d),
                    dim_definition(short_name(d), {promised, has_min(d)}));
      }
      return;
    }
    suggest(d, promised, range, all, others);
  }

  // "\n      at model.py:9 in `if n > 5:`"
  static std::string place_of(const Guard& g) {
    std::string text;
    for (const SourceLocation& where : g.origins) {
      if (where.line == 0 && where.code.empty()) continue;
      text += "\n      at " + where.to_string();
    }
    return text;
  }

  // Where the guard arose that makes `condition` true.
  std::string origin_of(Expr condition) const {
    const Guard* guard = recorder_.guard_of(canonical(condition));
    return guard ? place_of(*guard) : "";
  }

  // "\n      for instance, dx = 41 is refused"
  std::string refused(const InputDim& d, const std::vector<Expr>& conditions) {
    for (Expr c : conditions) {
      const Answer answer = promise_.ask(c);
      if (!answer.counterexample) continue;
      const Value* size = answer.counterexample->find(d.expr);
      if (!size) continue;
      return "\n      for instance, " + short_name(d) + " = " +
             to_string(*size) + " is refused";
    }
    return "";
  }

  static std::string not_all_values(const InputDim& d,
                                    const std::string& guard) {
    return "Not all values of " + long_name(d) + " " + specified_range(d) +
           " satisfy the generated guard " + guard + ".";
  }

  // 0 and 1 are specialised by convention, so they are not part of the promise.
  static Interval promised_sizes(const InputDim& d) {
    if (d.expr.is_symbol() && d.expr.symbol().kind == SymbolKind::kBackedInt) {
      return Interval::of(d.constraint.min, d.constraint.max);
    }
    Int lower = d.hint >= Int(2) ? 2 : 0;
    if (d.constraint.min) lower = std::max(lower, *d.constraint.min);
    return Interval::of(lower, d.constraint.max);
  }

  static bool has_min(const InputDim& d) {
    return d.constraint.min && *d.constraint.min > Int(0);
  }

  bool implied(Expr symbol, const Interval& range, Expr condition) {
    Context context(facts_.pool(), options_.solver);
    context.declare(symbol, range, {});
    return context.ask(condition).verdict == Verdict::kYes;
  }

  // The range that `condition` cuts out, when it does nothing else.
  std::optional<Interval> as_range(Expr symbol, const Interval& promised,
                                   Expr condition) {
    Context context(facts_.pool(), options_.solver);
    context.declare(symbol, promised, {});
    context.assume(condition, {});
    Interval range = without_machine_ends(context.bounds_quick(symbol));
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

  // The weakest change of the Dim that makes the guards `all` true; `others`
  // are those of them that do not just cut `range` out of `limits`.  A derived
  // dim's guards are met by its root.
  void suggest(const InputDim& d, Interval limits, Interval range,
               std::vector<Expr> all, std::vector<Expr> others) {
    std::string name = short_name(d);
    Interval declared = promised_sizes(d);
    const Expr symbol = d.expr;
    if (const auto& root = d.constraint.root) {
      if (root->factor < Int(1)) return;
      name = root->name;
      const Expr scaled = symbol * facts_.pool().integer(root->factor) +
                          facts_.pool().integer(root->offset);
      for (std::vector<Expr>* list : {&all, &others}) {
        for (Expr& c : *list) {
          c = canonical(substitute(c, {{symbol, scaled}}));
        }
      }
      limits = divided(limits, *root);
      range = divided(range, *root);
      declared = divided(declared, *root);
    } else if (is_derived(d)) {
      return;
    }
    if (others.empty()) {
      return report_.fix(name, range.is_point()
                                   ? name + " = " + range.lower()->to_string()
                                   : dim_definition(name, {range, has_min(d)}));
    }
    auto lines = lines_for(symbol, name, all, {limits, has_min(d)});
    if (lines.empty()) {  // a long range, and a table of the rest
      lines = lines_for(symbol, name, others, {range, has_min(d)});
      limits = range;
    }
    if (lines.empty()) {
      for (Expr c : others) {
        lines.push_back(to_python(c, [&](Expr) { return name; }));
      }
    }
    const bool is_defined =
        std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
          return line.starts_with(name + " = ");
        });
    if (!is_defined && limits != declared) {
      lines.insert(lines.begin(), dim_definition(name, {limits, has_min(d)}));
    }
    for (const std::string& line : lines) report_.fix(name, line);
  }

  static Interval divided(const Interval& sizes, const RootDim& root) {
    std::optional<Int> lower, upper;
    if (sizes.lower()) {
      lower = std::max(Int(0),
                       -floor_div(root.offset - *sizes.lower(), root.factor));
    }
    if (sizes.upper()) {
      upper = floor_div(*sizes.upper() - root.offset, root.factor);
    }
    return Interval::of(lower, upper);
  }

  std::vector<std::string> lines_for(Expr symbol, const std::string& name,
                                     const std::vector<Expr>& conditions,
                                     const PromisedSizes& sizes) {
    auto set = sizes_where(symbol, conditions, sizes.range,
                           [&](Expr c, const Interval& range) {
                             return implied(symbol, range, c);
                           });
    return set ? describe(*set, name, sizes) : std::vector<std::string>();
  }

  const ShapeEnvOptions& options_;
  SessionFacts& facts_;
  Symbols& symbols_;
  Replacements& replacements_;
  const Recorder& recorder_;
  Context promise_;
  Report report_;
  std::map<Expr, Interval, ExprLess> narrowed_;  // by dims that became theirs
  std::vector<const Guard*> places_;  // of the guards that cut a range
};

}  // namespace

void check_constraints(const ShapeEnvOptions& options, SessionFacts& facts,
                       Symbols& symbols, Replacements& replacements,
                       const Recorder& recorder) {
  const Report report =
      Checker(options, facts, symbols, replacements, recorder).run();
  if (!report.is_empty()) throw ConstraintViolationError(report.text());
}

}  // namespace proviso::inline v0_2::internal
