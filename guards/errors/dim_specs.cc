// The lines that name violated guards come first: they say just what the
// program needs.  Where a text has none left, the suggested fixes are taken as
// they are meant: `W = 16*_W` is a remainder, `_W = Dim("_W", max=8)` an end of
// a range.
#include "guards/errors/dim_specs.h"

#include <algorithm>
#include <optional>

#include "guards/errors/error_text.h"
#include "guards/errors/symbol_names.h"
#include "guards/errors/text_parts.h"
#include "solver/solver.h"
#include "sym/parse.h"
#include "sym/print.h"
#include "sym/simplify.h"

namespace proviso {
namespace {

using std::string_view;
constexpr size_t npos = string_view::npos;

constexpr size_t kMostConditions = 64;

std::string replace_all(std::string text, string_view what, string_view by) {
  for (size_t at = 0; !what.empty() && (at = text.find(what, at)) != npos;
       at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// Without blanks, and without the full stop of a sentence.
string_view trimmed(string_view s) {
  s = trim(s);
  while (!s.empty() && (s.back() == ' ' || s.back() == '.')) s.remove_suffix(1);
  return s;
}

std::optional<std::string> part(string_view line, string_view before,
                                string_view behind) {
  const auto rest = after(line, before);
  if (!rest) return std::nullopt;
  const size_t end = behind.empty() ? npos : rest->find(behind);
  return std::string(trimmed(rest->substr(0, end)));
}

// Names of dims and of inputs' sizes as symbols of their own.
ParseOptions with_any_name() {
  ParseOptions options;
  options.make_symbol = [](ExprPool& pool, string_view name) -> Expr {
    return pool.symbol(name, SymbolKind::kBackedSize);
  };
  return options;
}

class Needs {
 public:
  explicit Needs(const TextError& e) {
    if (e.violations.empty()) read_violation(e.message);
    for (const std::string& line : e.violations) read_violation(line);
    const std::vector<std::string> by_guards = needs_.conditions;
    for (const std::string& line : e.suggestions) read_suggestion(line);
    if (!by_guards.empty()) needs_.conditions = by_guards;
    needs_.always_held = guards_ > 0 && guards_ == held_;
  }

  DimNeeds take() { return std::move(needs_); }

 private:
  // --- one condition

  void add(const std::string& text) {
    if (needs_.conditions.size() >= kMostConditions) return;
    std::string shown = in_dims(text);
    ExprPool pool;  // of its own: names in the order of the text
    if (std::optional<Expr> e = read(pool, shown)) {
      if (!e->is_bool()) return;
      const Expr simple = simplify(*e);
      if (simple.is_true()) return;
      shown = to_string(simple);
    } else if (!has(text, "L['") && !has(text, "inputs[")) {
      return;
    }
    auto& all = needs_.conditions;
    if (std::find(all.begin(), all.end(), shown) == all.end()) {
      all.push_back(std::move(shown));
    }
  }

  // L['x'].size()[0] by the dim that it was given.
  std::string in_dims(std::string text) const {
    for (const auto& [source, dim] : dim_of_source_) {
      text = replace_all(std::move(text), source, dim);
    }
    return text;
  }

  static std::optional<Expr> read(ExprPool& pool, const std::string& text) {
    static const ParseOptions& options = *new ParseOptions(with_any_name());
    return read_expression(pool, text, options, 200'000);
  }

  // A guard, with the range that was promised: "2 <= W <= 512".
  void add_guard(const std::string& guard, const std::string& range) {
    // One without end is said as "6 <= W and W <= IntInfinity()".
    for (string_view part : split(guard, " and ")) {
      if (has(part, "IntInfinity()") || has(part, "int_oo")) continue;
      add(std::string(part));
      ++guards_;
      if (holds_within(std::string(part), range)) ++held_;
    }
  }

  bool holds_within(const std::string& guard, const std::string& range) {
    ExprPool pool;
    const std::optional<Expr> e = read(pool, in_dims(guard));
    if (!e || !e->is_bool()) return false;
    SolverOptions options;
    options.use_z3 = false;
    options.work_limit = 200'000;
    Context context(pool, options);
    for (Expr s : free_symbols(*e)) {
      // A size is below the largest number of the machine.
      context.declare(s, Interval(Int(0), Int(INT64_MAX) - Int(1)));
    }
    for (const std::string& end : ends_of(range)) {
      const std::optional<Expr> known = read(pool, end);
      if (known && known->is_bool()) context.assume(*known);
    }
    return !context.contradiction() && context.ask(*e).verdict == Verdict::kYes;
  }

  // 2 <= W <= 512 as 2 <= W, W <= 512.
  static std::vector<std::string> ends_of(const std::string& range) {
    const std::vector<string_view> parts = split(range, " <= ");
    std::vector<std::string> ends;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      ends.push_back(std::string(parts[i]) +
                     " <= " + std::string(parts[i + 1]));
    }
    return ends;
  }

  // --- lines

  // "of batch = L['x'].size()[0] in the specified range": the dim's name
  std::string dim_of(const std::string& line) {
    for (string_view before :
         {"Not all values of ", "You marked ", "The values of ",
          "guards generated for ", "for dimension ", "for inputs["}) {
      std::optional<std::string> who = part(line, before, "");
      if (!who) continue;
      if (before.ends_with('[')) who = "inputs[" + *who;
      const size_t equals = who->find(" = L[");
      const size_t end = who->find(' ');
      std::string dim = who->substr(0, std::min(equals, end));
      if (dim.starts_with("RelaxedUnspecConstraint(")) {
        dim = dim.substr(24, dim.rfind(')') - 24);
      }
      if (equals != npos) {
        const std::string source = who->substr(equals + 3);
        name(dim, source.substr(0, source.find(' ')));
      } else if (dim.starts_with("L['")) {
        needs_.names[dim] = words_of_source(dim);
      }
      return dim;
    }
    return "";
  }
  void name(const std::string& dim, const std::string& source) {
    dim_of_source_[source] = dim;
    needs_.names[dim] = words_of_source(source);
  }

  void read_violation(const std::string& line) {
    const std::string dim = dim_of(line);
    if (auto guard = part(line, "satisfy the generated guard ", "")) {
      const auto range = part(line, "in the specified range ", " satisfy");
      return add_guard(*guard, range.value_or(""));
    }
    if (auto guard = part(line, "guard was added: ", ", where {")) {
      return add_guard(*guard, "");
    }
    if (auto range = part(line, "inferred min/max range of [", "]")) {
      return add_range(dim, *range);
    }
    for (auto [before, behind] :
         {std::pair("inferred to be a constant (", ")"),
          std::pair("specialized it to be a constant (", ")"),
          std::pair("resulted in a specialized value of ", ""),
          std::pair("inferred a static shape of ", " "),
          std::pair("0/1 specialized due to hint of ", " ")}) {
      if (auto value = part(line, before, behind)) {
        if (!dim.empty()) add(dim + " == " + *value);
        return;
      }
    }
    if (auto other = part(line, "inferred to be equal to ", "")) {
      if (!dim.empty()) add(dim + " == " + *other);
      return;
    }
    if (has(line, "must always be equal")) {
      const auto other = part(line, " and ", " = ");
      const auto source = part(line, " and ", " must always");
      if (!other) return;
      if (auto at = part(*source, " = ", "")) name(*other, *at);
      return add(dim + " == " + *other);
    }
    if (!has(line, "must always be related")) return;
    if (auto relation = part(line, "related by ", "")) {
      const size_t equals = relation->find(" = ");
      if (equals != npos) add(relation->replace(equals, 3, " == "));
    }
  }

  // [12, int_oo]
  void add_range(const std::string& dim, const std::string& range) {
    const size_t comma = range.find(", ");
    if (dim.empty() || comma == npos) return;
    const std::string low = range.substr(0, comma);
    const std::string high = range.substr(comma + 2);
    if (!has(low, "oo")) add(dim + " >= " + low);
    if (!has(high, "oo")) add(dim + " <= " + high);
  }

  // `value`, 2*_dx + 1, at the ends of the range of _dx, which `rest` begins
  // with.
  void add_range_of(const std::string& name, const std::string& value,
                    const std::string& rest) {
    const std::string root = rest.substr(0, rest.find(' '));
    const auto& [low, high] = root_range_[root];
    if (!low.empty()) add(name + " >= " + replace_all(value, root, low));
    if (!high.empty() && !has(high, "oo")) {
      add(name + " <= " + replace_all(value, root, high));
    }
  }

  // dx = Dim('dx', min=6, max=99)    dy = dx + 1    dx = 4    dx = None  # 4
  void read_suggestion(const std::string& line) {
    const size_t equals = line.find(" = ");
    if (equals == npos) return;
    const std::string name(trimmed(string_view(line).substr(0, equals)));
    const std::string value(trimmed(string_view(line).substr(equals + 3)));
    needs_.specs.push_back(name + " = " + value);
    if (value.starts_with("None")) {
      if (auto constant = part(value, "# ", "")) add(name + " == " + *constant);
      return;
    }
    if (value.starts_with("Dim(")) return read_dim(name, value);
    // 2*_dx + 1: a congruence, and the range of _dx.
    const size_t times = value.find("*_");
    if (times == npos) return add(name + " == " + value);
    const std::string factor = value.substr(0, times);
    add_range_of(name, value, value.substr(times + 1));
    const size_t plus = value.find(" + ", times), minus = value.find(" - ");
    std::string offset = "0";
    if (plus != npos) offset = value.substr(plus + 3);
    if (minus != npos) offset = "-" + value.substr(minus + 3);
    add("Eq(Mod(" + name + " - (" + offset + "), " + factor + "), 0)");
  }

  void read_dim(const std::string& name, const std::string& value) {
    std::string low, high;
    for (auto [key, to] : {std::pair("min=", &low), std::pair("max=", &high)}) {
      if (auto found = part(value, key, ",")) {
        *to = found->substr(0, found->find(')'));
      }
    }
    root_range_[name] = {low, high};
    if (name.starts_with("_")) return;
    if (!low.empty()) add(name + " >= " + low);
    if (!high.empty() && !has(high, "oo")) add(name + " <= " + high);
  }

  DimNeeds needs_;
  size_t guards_ = 0, held_ = 0;
  std::map<std::string, std::string> dim_of_source_;
  std::map<std::string, std::pair<std::string, std::string>> root_range_;
};

}  // namespace

DimNeeds dim_needs(const TextError& e) { return Needs(e).take(); }

}  // namespace proviso
