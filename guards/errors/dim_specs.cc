// The lines that name violated guards come first: they say just what the
// program needs.  Of a dim that they do not speak of, the suggested fix is
// taken as it is meant: `W = 16*_W` is a remainder, `_W = Dim("_W", max=8)` an
// end of a range.  Then each condition goes that the others imply.
#include "guards/errors/dim_specs.h"

#include <algorithm>
#include <optional>
#include <set>

#include "guards/errors/error_text.h"
#include "guards/errors/symbol_names.h"
#include "guards/errors/text_parts.h"
#include "guards/fixed_limits.h"
#include "solver/solver.h"
#include "sym/canonical.h"
#include "sym/parse.h"
#include "sym/print.h"

namespace proviso::inline v0_2::internal {
namespace {

using std::string_view;

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

bool is_end_of_range(Expr e) {
  if (!e.is(Op::kLe) && !e.is(Op::kLt)) return false;
  const bool is_left = e.arg(0).is_constant();
  return e.arg(is_left ? 0 : 1).is_constant() &&
         e.arg(is_left ? 1 : 0).is_symbol();
}

// Names of dims and of inputs' sizes as symbols of their own.
ParseOptions with_any_name() {
  ParseOptions options;
  options.make_symbol = [](ExprPool& pool, string_view name) -> Expr {
    return pool.symbol(name, SymbolKind::kBackedSize);
  };
  return options;
}

// L['x'].size()[0] is no expression: each stands as a name of its own while the
// condition that has it is read.
class Sources {
 public:
  std::string hidden(const std::string& text) {
    std::string result;
    for (size_t i = 0; i < text.size();) {
      const bool is_within_word = i > 0 && is_name(text[i - 1]);
      const size_t length =
          is_within_word ? 0 : source_length(string_view(text).substr(i));
      if (length == 0) {
        result += text[i++];
        continue;
      }
      result += stand_in(text.substr(i, length));
      i += length;
      if (i < text.size() && is_name(text[i])) result += ' ';  // no one word
    }
    return result;
  }
  // The name of the dim that the source has.
  void call(const std::string& source, const std::string& dim) {
    names_[source] = dim;
  }

  bool is_called(const std::string& source) const {
    const auto known = names_.find(source);
    return known != names_.end() && !texts_.contains(known->second);
  }

  std::string shown(Expr e) const {
    const auto known = texts_.find(e.symbol().name);
    return known == texts_.end() ? e.symbol().name : known->second;
  }
  bool has_any_of(Expr e) const {
    const std::vector<Expr> symbols = free_symbols(e);
    return std::any_of(symbols.begin(), symbols.end(), [&](Expr s) {
      return texts_.contains(s.symbol().name);
    });
  }

  // The length of L['x'].y[0].size()[1] at the start; 0 where there is none.
  static size_t source_length(string_view text) {
    if (!text.starts_with("L['") && !text.starts_with("inputs[")) return 0;
    size_t end = text.find('[');
    while (end < text.size()) {
      if (text[end] == '.' && end + 1 < text.size() && is_name(text[end + 1])) {
        ++end;
        while (end < text.size() && is_name(text[end])) ++end;
        if (text.substr(end).starts_with("()")) end += 2;
      } else if (text[end] == '[') {
        const size_t close = closing(text.substr(end + 1));
        if (close == npos) return 0;
        end += close + 2;
      } else {
        break;
      }
    }
    return end;
  }

 private:
  std::string stand_in(const std::string& source) {
    auto [it, is_new] = names_.emplace(source, "");
    if (is_new) {
      it->second = "size_of_input_" + std::to_string(names_.size());
      texts_[it->second] = source;
    }
    return it->second;
  }
  std::map<std::string, std::string> names_, texts_;
};

class Needs {
 public:
  explicit Needs(const TextError& e) {
    if (e.violations.empty()) read_violation(e.message);
    for (const std::string& line : e.violations) read_violation(line);
    needs_.always_held = guards_ > 0 && guards_ == held_;
    const auto by_guards = static_cast<std::ptrdiff_t>(conditions_.size());
    std::set<Expr, ExprLess> spoken_of;
    for (Expr c : conditions_)
      for (Expr s : free_symbols(c)) spoken_of.insert(s);
    for (const std::string& line : e.suggestions) read_suggestion(line);
    const auto is_spoken_of = [&](Expr c) {
      const std::vector<Expr> symbols = free_symbols(c);
      return std::any_of(symbols.begin(), symbols.end(),
                         [&](Expr s) { return spoken_of.contains(s); });
    };
    conditions_.erase(std::remove_if(conditions_.begin() + by_guards,
                                     conditions_.end(), is_spoken_of),
                      conditions_.end());
  }

  DimNeeds take() {
    for (Expr c : without_implied()) needs_.conditions.push_back(shown_.at(c));
    return std::move(needs_);
  }

 private:
  // --- one condition

  void add(const std::string& text) {
    if (conditions_.size() >= fixed::spec_conditions) return;
    const std::optional<Expr> e = read(text);
    if (!e || !e->is_bool() || canonical(*e).is_true()) return;
    if (std::find(conditions_.begin(), conditions_.end(), *e) !=
        conditions_.end()) {
      return;
    }
    conditions_.push_back(*e);
    shown_.emplace(*e, shown(text));
  }

  // The text itself where nothing shorter says the same; Python where sources
  // of inputs are among its words.
  std::string shown(const std::string& text) {
    ExprPool pool;  // of its own: names in the order of the text
    const Expr said = *read(pool, text), simple = canonical(said);
    const bool is_shorter = to_string(simple).size() < to_string(said).size();
    const Expr best = is_shorter ? simple : said;
    if (!sources_.has_any_of(best)) return to_string(best);
    return to_python(best, [&](Expr s) { return sources_.shown(s); });
  }

  std::optional<Expr> read(const std::string& text) {
    return read(pool_, text);
  }
  std::optional<Expr> read(ExprPool& pool, const std::string& text) {
    static const ParseOptions& options = *new ParseOptions(with_any_name());
    return read_expression(pool, sources_.hidden(text), options, 200'000);
  }

  // Within the ranges that were promised; the longest goes first.
  std::vector<Expr> without_implied() {
    std::vector<Expr> kept = conditions_, order = conditions_;
    std::stable_sort(order.begin(), order.end(), [](Expr a, Expr b) {
      return to_string(a).size() > to_string(b).size();
    });
    for (Expr candidate : order) {
      std::vector<Expr> rest = kept;
      std::erase(rest, candidate);
      std::vector<Expr> known = rest;
      // An end that a guard repeats is said again: it is what is asked.
      if (!needs_.always_held && !is_end_of_range(candidate))
        known.insert(known.end(), promised_.begin(), promised_.end());
      Context context = of_sizes(candidate, known);
      if (!context.contradiction() &&
          context.ask(candidate).verdict == Verdict::kYes) {
        kept = rest;
      }
    }
    return kept;
  }

  // Where the conditions hold, of sizes that the machine has.
  Context of_sizes(Expr about, const std::vector<Expr>& conditions) {
    SolverOptions options;
    options.use_z3 = false;
    options.work_limit = 200'000;
    Context context(pool_, options);
    const Interval sizes(Int(0), Int(INT64_MAX) - Int(1));
    std::set<Expr, ExprLess> symbols;
    for (Expr s : free_symbols(about)) symbols.insert(s);
    for (Expr c : conditions)
      for (Expr s : free_symbols(c)) symbols.insert(s);
    for (Expr s : symbols) context.declare(s, sizes);
    for (Expr c : conditions) context.assume(c);
    return context;
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
    const std::optional<Expr> e = read(guard);
    if (!e || !e->is_bool()) return false;
    std::vector<Expr> known;
    for (const std::string& end : ends_of(range)) {
      const std::optional<Expr> c = read(end);
      if (c && c->is_bool()) known.push_back(*c);
    }
    promised_.insert(promised_.end(), known.begin(), known.end());
    Context context = of_sizes(*e, known);
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
          "guards generated for ", "guards for ", "for dimension ",
          "for inputs["}) {
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
    sources_.call(source, dim);
    needs_.names[dim] = words_of_source(source);
  }

  // A guard is named with a dim where it speaks of no other.
  void name_by_guard(const std::string& dim, const std::string& guard) {
    const size_t at = guard.find("L['");
    if (at == npos || !is_identifier(dim)) return;
    const string_view from = string_view(guard).substr(at);
    const size_t length = Sources::source_length(from);
    const std::string source(from.substr(0, length));
    if (length > 0 && !sources_.is_called(source)) name(dim, source);
  }

  void read_violation(const std::string& line) {
    const std::string dim = dim_of(line);
    if (auto guard = part(line, "satisfy the generated guard ", "")) {
      name_by_guard(dim, *guard);
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

  // Whether it may be written into the program.
  bool is_spec(const std::string& name, const std::string& value) {
    if (!is_identifier(name)) return false;
    if (value.starts_with("None")) {
      const string_view rest = trim(string_view(value).substr(4));
      return rest.empty() || rest.starts_with("#");
    }
    if (value.starts_with("Dim.")) return is_place(value);
    if (!value.starts_with("Dim(")) return read(value).has_value();
    // Each of min=1, max=8 is a number; the first is the name.
    const std::vector<string_view> parts =
        split(string_view(value).substr(4, value.size() - 5), ",");
    const std::string quoted = "'" + name + "'";
    if (!value.ends_with(')')) return false;
    if (parts[0] != quoted &&
        replace_all(std::string(parts[0]), "\"", "'") != quoted) {
      return false;
    }
    return std::all_of(parts.begin() + 1, parts.end(), [](string_view p) {
      for (string_view key : {"min=", "max="}) {
        if (!p.starts_with(key)) continue;
        const string_view end = p.substr(key.size());
        return Int::parse(end).has_value() || end == "int_oo";
      }
      return false;
    });
  }

  // dx = Dim('dx', min=6, max=99)    dy = dx + 1    dx = 4    dx = None  # 4
  void read_suggestion(const std::string& line) {
    const size_t equals = line.find(" = ");
    if (equals == npos) return;
    const std::string name(trimmed(string_view(line).substr(0, equals)));
    const std::string value(trimmed(string_view(line).substr(equals + 3)));
    if (!is_spec(name, value)) return;
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

  ExprPool pool_;
  Sources sources_;
  std::vector<Expr> conditions_;
  std::map<Expr, std::string, ExprLess> shown_;
  std::vector<Expr> promised_;  // ranges of specs
  DimNeeds needs_;
  size_t guards_ = 0, held_ = 0;
  std::map<std::string, std::pair<std::string, std::string>> root_range_;
};

}  // namespace

DimNeeds dim_needs(const TextError& e) { return Needs(e).take(); }

}  // namespace proviso::inline v0_2::internal
