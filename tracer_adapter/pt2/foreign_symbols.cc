#include "tracer_adapter/pt2/foreign_symbols.h"

#include <algorithm>
#include <cctype>

#include "sym/canonical.h"
#include "sym/find_node.h"
#include "sym/op.h"
#include "sym/operators.h"
#include "sym/parse.h"
#include "sym/print.h"
#include "tracer_adapter/pt2/zip_reader.h"

namespace proviso::inline v0_2::pt2 {
namespace {

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// s0, u12, zf3, zuf0
bool is_symbol_name(std::string_view word) {
  const size_t digits = word.find_first_of("0123456789");
  if (digits == std::string_view::npos || digits == 0) return false;
  const std::string_view prefix = word.substr(0, digits);
  return (prefix == "s" || prefix == "u" || prefix == "zf" ||
          prefix == "zuf") &&
         word.find_first_not_of("0123456789", digits) == std::string_view::npos;
}

// torch writes "no end" as a number that no machine reaches.
constexpr int64_t kNoEnd = INT64_MAX - 64;

Interval interval_of(const ForeignRange& range) {
  std::optional<Int> lower, upper;
  if (range.min) lower = *range.min;
  if (range.max && *range.max < kNoEnd) upper = *range.max;
  return Interval::of(lower, upper);
}

std::string shortened(const std::string& text) {
  return text.size() <= 300 ? text : text.substr(0, 300) + "...";
}

// Attributes of dataclasses as the keys of dicts, for a file's in_spec does not
// tell which of the two names are: L['x'].ids.size() -> L['x']['ids'].size().
std::string with_keys(const std::string& guard) {
  std::string out;
  for (size_t i = 0; i < guard.size();) {
    size_t end = i + 1;
    while (end < guard.size() && in_word(guard[end])) ++end;
    const bool attribute = guard[i] == '.' && out.ends_with(']') &&
                           end < guard.size() && guard[end] != '(';
    if (attribute)
      out += "['" + guard.substr(i + 1, end - i - 1) + "']";
    else
      out += guard.substr(i, end - i);
    i = end;
  }
  return out;
}

// Whether a divisor is the number 0: SymPy fails to divide.
bool divides_by_zero(Expr e) {
  const auto divisors = static_cast<size_t>(info(e.op()).divisors);
  for (size_t i = 1; i <= divisors && i < e.arity(); ++i)
    if (e.arg(i).maybe_int64() == 0) return true;
  return false;
}

constexpr const char* kDefined =
    "a symbol stands for an input's size or for "
    "what an earlier node reads from data";

}  // namespace

void ForeignSymbols::add_input(const std::string& source,
                               const std::string& expression,
                               std::optional<int64_t> hint, bool is_size) {
  inputs_.push_back({source, expression, hint, is_size});
}

void ForeignSymbols::add_constant(const std::string& source, int64_t value,
                                  bool is_size) {
  const DimConstraint constraint{DimPolicy::kStatic};
  by_source_.add(source,
                 is_size ? env_.create_size(value, source, constraint)
                         : env_.create_backed_int(value, source, constraint));
}

// The name in "Symbol('s77', positive=True, integer=True)" or "s77".
std::optional<std::string> ForeignSymbols::lone_symbol(
    const std::string& text) {
  if (text.starts_with("Symbol('") &&
      std::count(text.begin(), text.end(), '(') == 1) {
    const size_t end = text.find('\'', 8);
    if (end != std::string::npos) return text.substr(8, end - 8);
  }
  if (is_symbol_name(text)) return text;
  return std::nullopt;
}

ForeignRange ForeignSymbols::range_of(const std::string& name) const {
  const auto known = ranges_.find(name);
  return known == ranges_.end() ? ForeignRange{} : known->second;
}

Expr ForeignSymbols::create(const Input& input, const ForeignRange& range,
                            std::optional<RootDim> root) {
  // torch writes a lower end of 2 for every size, and does not enforce it.
  ForeignRange kept = range;
  if (kept.min && *kept.min <= 2 && input.is_size) kept.min.reset();
  const Interval enforced = interval_of(kept);
  DimConstraint constraint;
  constraint.min = enforced.lower();
  constraint.max = enforced.upper();
  constraint.root = std::move(root);
  const int64_t hint =
      input.hint.value_or(std::max<int64_t>(2, range.min.value_or(2)));
  const Expr made =
      input.is_size ? env_.create_size(hint, input.source, constraint)
                    : env_.create_backed_int(hint, input.source, constraint);
  const std::string text = to_string(made);
  by_source_.add(input.source, made);
  created_.insert(text);
  const Interval every = input.is_size ? Interval::at_least(0) : Interval();
  declared_.emplace_back(made, intersect(enforced, every));
  stated_.emplace_back(made, intersect(interval_of(range), every));
  return made;
}

// The symbol of `text` that no input is by itself, where it is one and the file
// has its range.
std::optional<std::string> ForeignSymbols::root_of(
    const std::string& text) const {
  std::optional<std::string> root;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && in_word(text[end])) ++end;
    const std::string word = text.substr(i, end - i);
    i = std::max(end, i + 1);
    if (!is_symbol_name(word) || word[0] != 's' || ours_.contains(word) ||
        !ranges_.contains(word)) {
      continue;
    }
    const bool is_lone =
        std::any_of(inputs_.begin(), inputs_.end(), [&](const Input& input) {
          return lone_symbol(input.expression) == word;
        });
    if (is_lone) continue;
    if (root && *root != word) return std::nullopt;
    root = word;
  }
  return root;
}

// times*root + rest at an input makes root (size - rest)//times; that the size
// is such a number is the equation of the input.
Expr ForeignSymbols::create_of_root(const Input& input,
                                    const std::string& root) {
  const std::string name = "root_" + root;
  ours_[root] = name;
  roots_[name] = env_.pool().integer(0);
  const Expr rest = canonical(expression(input.expression));
  roots_[name] = env_.pool().integer(1);
  const Expr times = canonical(expression(input.expression) - rest);
  if (!rest.is(Op::kInteger) || !times.is(Op::kInteger) ||
      times.integer().sign() <= 0) {
    ours_.erase(root);
    return create(input, {});  // its equation says what is bound nowhere
  }
  const auto derived = [&](const std::optional<int64_t>& end) {
    return end ? (times.integer() * Int(*end) + rest.integer()).to_int64()
               : std::nullopt;
  };
  ForeignRange range = range_of(root);
  // As of every size, torch does not enforce it.
  if (range.min && *range.min <= 2) range.min.reset();
  const Expr made = create(input, {derived(range.min), derived(range.max)},
                           RootDim{root, times.integer(), rest.integer()});
  roots_[name] = canonical(floor_div(made - rest, times));
  return made;
}

void ForeignSymbols::bind() {
  std::vector<std::pair<Expr, std::string>> derived;
  for (const Input& input : inputs_) {
    const std::optional<std::string> name = lone_symbol(input.expression);
    if (name && !ours_.contains(*name)) {
      ours_[*name] = to_string(create(input, range_of(*name)));
      continue;
    }
    const std::optional<std::string> root = root_of(input.expression);
    derived.emplace_back(
        root ? create_of_root(input, *root) : create(input, {}),
        input.expression);
  }
  for (const auto& [made, text] : derived) {
    const Expr equation = eq(made, expression(text));
    equations_.push_back(equation);
    env_.require(equation, {});
  }
}

void ForeignSymbols::create_unbacked(const std::string& name) {
  const ForeignRange range = range_of(name);
  const Expr made = name.starts_with("zuf")
                        ? env_.create_unbacked_float()
                        : env_.create_unbacked_int(interval_of(range));
  ours_[name] = to_string(made);
  created_.insert(ours_[name]);
}

std::string ForeignSymbols::renamed(const std::string& text, bool may_create) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (!in_word(text[i])) {
      out += text[i++];
      continue;
    }
    size_t end = i;
    while (end < text.size() && in_word(text[end])) ++end;
    const std::string word = text.substr(i, end - i);
    i = end;
    // Function('f')(x) is a function that sympy has no class for: f(x).
    if (word == "Function" && text.compare(i, 2, "('") == 0) {
      const size_t close = text.find("')", i);
      if (close == std::string::npos) continue;
      out += text.substr(i + 2, close - i - 2);
      i = close + 2;
      continue;
    }
    if (may_create && !ours_.contains(word) && is_symbol_name(word) &&
        (word[0] == 'u' || word.starts_with("zuf")))
      create_unbacked(word);
    const auto found = ours_.find(word);
    if (found == ours_.end() && is_symbol_name(word))
      throw FileError("the symbol " + word + " of '" + shortened(text) +
                      "' is bound nowhere; " + kDefined);
    out += found == ours_.end() ? word : found->second;
  }
  return out;
}

Expr ForeignSymbols::parsed(const std::string& text,
                            const std::string& original) {
  ParseOptions options;
  options.make_symbol = [&](ExprPool&, std::string_view name) -> Expr {
    const auto root = roots_.find(std::string(name));
    if (root != roots_.end()) return root->second;
    throw FileError("the symbol " + std::string(name) + " of '" +
                    shortened(original) + "' is bound nowhere; " + kDefined);
  };
  try {
    const Expr e = parse(env_.pool(), text, options);
    if (internal::find_node(e, divides_by_zero))
      throw FileError("'" + shortened(original) + "' divides by 0");
    return e;
  } catch (const FileError&) {
    throw;
  } catch (const Error& error) {
    throw FileError("'" + shortened(original) +
                    "' is no expression: " + shortened(error.what()));
  }
}

Expr ForeignSymbols::expression(const std::string& text) {
  return parsed(renamed(text, false), text);
}

Expr ForeignSymbols::value_of_node(const std::string& text) {
  return parsed(renamed(text, true), text);
}

void ForeignSymbols::require_ranges(const std::string& text) const {
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && in_word(text[end])) ++end;
    const std::string word = text.substr(i, end - i);
    i = std::max(end, i + 1);
    if (is_symbol_name(word) && word[0] == 'u' && !ranges_.contains(word))
      throw FileError("the symbol " + word + " of '" + shortened(text) +
                      "' has no range among range_constraints, and torch's "
                      "loader needs that of a symbol in a tensor's sizes");
  }
}

Expr ForeignSymbols::guard(const std::string& python) {
  Expr condition;
  try {
    condition = parse_over(env_.pool(), with_keys(python), by_source_);
  } catch (const Error& error) {
    throw FileError("the guard '" + shortened(python) +
                    "' is not understood: " + shortened(error.what()));
  }
  if (!condition.is_bool())
    throw FileError("the guard '" + python + "' is no condition");
  return condition;
}

}  // namespace proviso::inline v0_2::pt2
