#include "guards/context_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <vector>

#include "sym/parse.h"
#include "sym/print.h"

namespace proviso {

namespace {

constexpr const char* kHeader = "proviso context 1";

constexpr std::array<std::pair<SymbolKind, std::string_view>, 6> kKinds = {{
    {SymbolKind::kBackedSize, "backed_size"},
    {SymbolKind::kBackedInt, "backed_int"},
    {SymbolKind::kBackedFloat, "backed_float"},
    {SymbolKind::kUnbackedInt, "unbacked_int"},
    {SymbolKind::kUnbackedFloat, "unbacked_float"},
    {SymbolKind::kUnbackedBool, "unbacked_bool"},
}};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// The options as numbers, in one table for writing and reading.
template <typename Visit>
void each_option(SolverOptions& o, Visit visit) {
  visit("use_z3", o.use_z3);
  visit("machine_int64", o.machine_int64);
  visit("budget", o.budget);
  visit("z3_budget", o.z3_budget);
  visit("search_models", o.search_models);
  visit("look_again", o.look_again);
}

// s0 in [2, 9] from (2 <= s0) & (s0 <= 9), and the like: how declare() is told.
struct Declared {
  Expr symbol;
  std::optional<Int> lower, upper;
};

bool add_end(Declared& d, Expr relation) {
  if (!relation.is(Op::kLe)) return false;
  Expr l = relation.arg(0), r = relation.arg(1);
  const bool is_upper = l.is_symbol();
  Expr symbol = is_upper ? l : r, end = is_upper ? r : l;
  if (!symbol.is_symbol() || !symbol.is_int() || !end.is(Op::kInteger)) {
    return false;
  }
  if (d.symbol && d.symbol != symbol) return false;
  d.symbol = symbol;
  (is_upper ? d.upper : d.lower) = end.integer();
  return true;
}

std::optional<Declared> as_declared(Expr condition) {
  Declared d;
  if (condition.is(Op::kAnd) && condition.arity() == 2) {
    if (!add_end(d, condition.arg(0)) || !add_end(d, condition.arg(1)) ||
        !d.lower || !d.upper) {
      return std::nullopt;
    }
    return d;
  }
  return add_end(d, condition) ? std::optional(d) : std::nullopt;
}

class Reader {
 public:
  Reader(ExprPool& pool, std::string_view text) : pool_(pool) {
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) lines_.push_back(line);
  }

  Context read() {
    if (lines_.empty() || lines_[0] != kHeader) {
      fail(1, std::string("expected '") + kHeader + "'");
    }
    if (lines_.back() != "end") fail(lines_.size(), "expected 'end'");
    SolverOptions options;
    size_t i = 1;
    for (; i + 1 < lines_.size() && word(i, 0) == "option"; ++i) {
      read_option(i, options);
    }
    Context context(pool_, options);
    for (; i + 1 < lines_.size(); ++i) {
      try {
        read_line(i, context);
      } catch (const Error& error) {
        fail(i + 1, error.what());
      }
    }
    return context;
  }

 private:
  [[noreturn]] static void fail(size_t line, const std::string& what) {
    throw Error("load_context: line " + std::to_string(line) + ": " + what);
  }

  // The n-th word of a line.
  std::string_view word(size_t line, int n) const {
    std::string_view rest = lines_[line];
    for (; n > 0; --n) {
      const size_t at = rest.find(' ');
      rest = at == std::string_view::npos ? "" : rest.substr(at + 1);
    }
    return rest.substr(0, rest.find(' '));
  }

  void read_option(size_t line, SolverOptions& options) {
    const std::string_view name = word(line, 1), text = word(line, 2);
    uint64_t number = 0;
    auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number);
    bool found = error == std::errc() && end == text.data() + text.size();
    if (!found) fail(line + 1, "expected a number");
    found = false;
    each_option(options, [&](std::string_view known, auto& field) {
      if (known != name) return;
      field = static_cast<std::decay_t<decltype(field)>>(number);
      found = true;
    });
    if (!found) fail(line + 1, "no option '" + std::string(name) + "'");
  }

  void read_line(size_t line, Context& context) {
    std::string_view rest = lines_[line];
    const std::string_view kind = word(line, 0);
    rest.remove_prefix(std::min(rest.size(), kind.size() + 1));
    if (kind == "symbol") return read_symbol(line, rest);
    const size_t semicolon = rest.find(" ; ");
    if (semicolon == std::string_view::npos) throw Error("expected ' ; '");
    const std::string_view fact = rest.substr(0, semicolon);
    const Provenance origin = read_origin(rest.substr(semicolon + 3));
    if (kind == "assume") {
      context.assume(parse(pool_, fact), origin);
    } else if (kind == "declare") {
      const size_t space = fact.find(' ');
      if (space == std::string_view::npos) throw Error("expected a range");
      const RangeDeclaration r =
          parse_range(std::string(fact.substr(0, space)) + " in " +
                      std::string(fact.substr(space + 1)));
      auto symbol = pool_.find_symbol(r.name);
      if (!symbol) throw Error("no symbol '" + r.name + "'");
      context.declare(*symbol, Interval::of(r.lower, r.upper), origin);
    } else {
      throw Error("expected symbol, declare or assume");
    }
  }

  void read_symbol(size_t line, std::string_view rest) {
    const std::string_view name = word(line, 1), kind = word(line, 2);
    auto row = std::find_if(kKinds.begin(), kKinds.end(),
                            [&](const auto& k) { return k.second == kind; });
    if (row == kKinds.end()) {
      throw Error("no kind of symbol '" + std::string(kind) + "'");
    }
    rest.remove_prefix(name.size() + kind.size() + 2);
    pool_.symbol(name, row->first, read_quoted(rest));
  }

  static std::string read_quoted(std::string_view& rest) {
    if (rest.empty() || rest[0] != '"') throw Error("expected a quoted text");
    std::string text;
    for (size_t i = 1; i < rest.size(); ++i) {
      if (rest[i] == '"') {
        rest.remove_prefix(std::min(rest.size(), i + 2));
        return text;
      }
      const bool escaped = rest[i] == '\\' && i + 1 < rest.size();
      if (escaped) ++i;
      text += escaped && rest[i] == 'n' ? '\n' : rest[i];
    }
    throw Error("a quoted text does not end");
  }

  static Provenance read_origin(std::string_view rest) {
    Provenance origin;
    origin.text = read_quoted(rest);
    origin.file = read_quoted(rest);
    auto [end, error] =
        std::from_chars(rest.data(), rest.data() + rest.size(), origin.line);
    if (error != std::errc() || end != rest.data() + rest.size()) {
      throw Error("expected a line number");
    }
    return origin;
  }

  ExprPool& pool_;
  std::vector<std::string> lines_;
};

}  // namespace

std::string save_context(const Context& context) {
  std::ostringstream out;
  out << kHeader << '\n';
  SolverOptions options = context.options();
  each_option(options, [&](std::string_view name, auto& field) {
    out << "option " << name << ' ' << static_cast<uint64_t>(field) << '\n';
  });
  for (Expr s : context.pool().symbols()) {
    auto row = std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& k) {
      return k.first == s.symbol().kind;
    });
    out << "symbol " << s.symbol().name << ' ' << row->second << ' '
        << quoted(s.symbol().source) << '\n';
  }
  for (const Fact& fact : context.facts()) {
    if (auto d = as_declared(fact.condition)) {
      out << "declare " << d->symbol.symbol().name << ' '
          << Interval::of(d->lower, d->upper).to_string();
    } else {
      out << "assume " << to_string(fact.condition);
    }
    out << " ; " << quoted(fact.origin.text) << ' ' << quoted(fact.origin.file)
        << ' ' << fact.origin.line << '\n';
  }
  out << "end\n";
  return out.str();
}

Context load_context(ExprPool& pool, std::string_view text) {
  return Reader(pool, text).read();
}

}  // namespace proviso
