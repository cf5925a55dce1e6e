#include "guards/context_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <sstream>
#include <vector>

#include "guards/fixed_limits.h"
#include "solver/argument_types.h"
#include "solver/options.h"
#include "sym/excerpt.h"
#include "sym/lexer.h"
#include "sym/parse.h"
#include "sym/pool_stores.h"
#include "sym/print.h"
#include "sym/symbol_kinds.h"
#include "sym/within.h"

namespace proviso::inline v0_2 {

namespace {

constexpr std::string_view kHeader = "proviso context 1";
constexpr std::string_view kHeaderWithScopes = "proviso context 2";

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

// s0 in [2, 9] from (2 <= s0) & (s0 <= 9), and the like: the fact that
// declare() assumes.
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

// Takes words off the front of one line after the other.
class Reader {
 public:
  Reader(ExprPool& pool, std::string_view text, const SolverOptions& most)
      : pool_(pool), text_(text), most_(most) {}

  Context read() {
    if (!next_line() || (rest_ != kHeader && rest_ != kHeaderWithScopes)) {
      fail("expected '" + std::string(kHeader) + "'");
    }
    has_scopes_ = rest_ == kHeaderWithScopes;
    SolverOptions options;
    bool more = next_line();
    for (; more && rest_.starts_with("option "); more = next_line()) {
      read_option(options);
    }
    // A limit without a line has its default.
    for (std::string_view cost : cost_options()) check_cost(options, cost, 1);
    const uint64_t units = units_of(options);
    std::optional<Context> context = internal::within_own(units, [&] {
      check_facts(more);
      Context context(pool_, options);
      read_facts(&context, more);
      return context;
    });
    if (context) return *std::move(context);
    fail("the facts to here take more than " + std::to_string(units) +
             " units of work; a context with more work_limit may take more",
         1);
  }

 private:
  // Of the lines after the options.
  uint64_t units_of(const SolverOptions& options) const {
    namespace fixed = internal::fixed;
    const uint64_t call =
        std::clamp(options.work_limit, SolverOptions().work_limit,
                   Budget::kUnlimited / fixed::load_work);
    return fixed::load_work * call + fixed::load_units_of_byte * text_.size();
  }

  // Reads all of it, before anything of it is taken for known: where it is
  // refused the pool has none of its symbols.
  void check_facts(bool more) {
    const internal::PoolUndo undo(pool_);
    Reader ahead(*this);
    try {
      ahead.read_facts(nullptr, more);
    } catch (const OutOfBudget&) {
      number_ = ahead.number_;
      throw;
    }
  }

  // Null: to see whether it can be read.
  void read_facts(Context* context, bool more) {
    for (; more && rest_ != "end"; more = next_line()) {
      const size_t column = this->column();
      try {
        read_line(context);
      } catch (const Refused&) {
        throw;
      } catch (const Error& error) {  // of a fact
        fail(error.what(), fact_column_.value_or(column));
      }
      // From what a fact says less would follow.
      if (Budget::units_left() == 0) throw OutOfBudget();
    }
    if (!more) fail("expected 'end'");
    if (next_line()) fail("nothing may follow 'end'");
  }

  class Refused : public Error {
   public:
    using Error::Error;
  };

  size_t column() const { return line_.size() - rest_.size() + 1; }
  [[noreturn]] void fail(const std::string& what) const {
    fail(what, column());
  }
  [[noreturn]] void fail(const std::string& what, size_t column) const {
    throw Refused("load_context: line " + std::to_string(number_) +
                  ", column " + std::to_string(column) + ": " + what);
  }

  // False, and an empty line, where the text ends.
  bool next_line() {
    ++number_;
    fact_column_.reset();
    const bool found = !text_.empty();
    const size_t end = std::min(text_.find('\n'), text_.size());
    rest_ = line_ = text_.substr(0, end);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    return found;
  }

  // Takes a word, up to the next blank, and the blank.
  std::string_view word() {
    const std::string_view found = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(std::min(found.size() + 1, rest_.size()));
    return found;
  }

  template <typename Number>
  Number number() {
    Number value = 0;
    const std::string_view text = rest_;
    auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      fail("expected a number that fits and nothing after it");
    }
    return value;
  }

  std::string quoted_text() {
    if (rest_.empty() || rest_[0] != '"') fail("expected a quoted text");
    std::string text;
    for (size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == '"') {
        rest_.remove_prefix(std::min(rest_.size(), i + 2));
        return text;
      }
      const bool escaped = rest_[i] == '\\' && i + 1 < rest_.size();
      if (escaped) ++i;
      text += escaped && rest_[i] == 'n' ? '\n' : rest_[i];
    }
    fail("a quoted text does not end");
  }

  Provenance origin() {
    Provenance origin;
    origin.text = quoted_text();
    origin.file = quoted_text();
    origin.line = number<int>();
    return origin;
  }

  void read_option(SolverOptions& options) {
    word();
    const size_t at = column();
    std::string_view name = word();
    const auto value = number<uint64_t>();
    if (name == "look_again") name = "restart";  // its name until 0.1
    // A mask until 0.1, written where it was 0, too.
    if (name == "disabled_strategies" && value == 0) return;
    if (const auto problem = try_set_option(options, name, value))
      fail(*problem, at);
    const auto costs = cost_options();
    if (std::ranges::find(costs, name) != costs.end())
      check_cost(options, name, at);
  }

  void check_cost(const SolverOptions& options, std::string_view name,
                  size_t at) const {
    const uint64_t value = get_option(options, name);
    const uint64_t most = get_option(most_, name);
    if (value > most) {
      fail("the text may raise " + std::string(name) + " to " +
               std::to_string(most) + ", not to " + std::to_string(value) +
               "; whoever loads it may allow more",
           at);
    }
  }

  void read_line(Context* context) {
    const std::string_view kind = word();
    if (kind == "symbol") return read_symbol();
    if (kind == "push" && has_scopes_) {
      if (!rest_.empty()) fail("nothing may follow 'push'");
      if (context != nullptr) context->push();
      return;
    }
    if (kind != "assume" && kind != "declare") {
      fail(has_scopes_ ? "expected symbol, declare, assume, push or end"
                       : "expected symbol, declare, assume or end",
           1);
    }
    const size_t semicolon = rest_.find(" ; ");
    if (semicolon == std::string_view::npos) fail("expected ' ; '");
    const std::string_view fact = rest_.substr(0, semicolon);
    fact_column_ = column();
    rest_.remove_prefix(semicolon + 3);
    const Provenance from = origin();
    if (kind == "assume") {
      const Expr condition = parse(pool_, fact);
      if (context != nullptr) {
        context->assume(condition, from);
      } else {
        internal::require_bool(condition, "assume");
      }
    } else {
      read_range(context, fact, from);
    }
  }

  void read_range(Context* context, std::string_view fact,
                  const Provenance& from) {
    const size_t space = fact.find(' ');
    if (space == std::string_view::npos) throw Error("expected a range");
    const RangeDeclaration r =
        parse_range(std::string(fact.substr(0, space)) + " in " +
                    std::string(fact.substr(space + 1)));
    auto symbol = pool_.find_symbol(r.name);
    if (!symbol)
      throw Error("no symbol '" +
                  internal::excerpt(r.name, internal::kArgumentLength) + "'");
    if (context != nullptr)
      context->declare(*symbol, Interval::of(r.lower, r.upper), from);
  }

  void read_symbol() {
    const size_t name_at = column();
    const std::string_view name = word();
    if (!internal::names_a_symbol(name))
      fail(internal::not_a_name(name), name_at);
    const size_t kind_at = column();
    const std::string_view kind = word();
    const auto known = find_symbol_kind(kind);
    if (!known) {
      fail("no kind of symbol '" +
               internal::excerpt(kind, internal::kArgumentLength) + "'",
           kind_at);
    }
    const std::string source = quoted_text();
    if (!rest_.empty()) fail("nothing may follow the source");
    pool_.symbol(name, *known, source);
  }

  ExprPool& pool_;
  std::string_view text_;         // after the line
  const SolverOptions& most_;     // that a call may spend
  std::string_view line_, rest_;  // of the line
  size_t number_ = 0;
  bool has_scopes_ = false;
  std::optional<size_t> fact_column_;
};

std::string whole_text(const Fact& fact) {
  try {
    return to_torch(fact.condition);
  } catch (const Error& e) {
    throw Error("save_context: fact " + std::to_string(fact.id) + ", " +
                internal::excerpt(fact.condition) +
                ", is too long to be written; " + e.what());
  }
}

}  // namespace

std::string save_context(const Context& context) {
  std::ostringstream out;
  const size_t depth = context.depth();
  out << (depth == 0 ? kHeader : kHeaderWithScopes) << '\n';
  SolverOptions options = context.options();
  each_option(options, [&](const OptionInfo& row, auto& field) {
    out << "option " << row.name << ' ' << static_cast<uint64_t>(field) << '\n';
  });
  for (const OptionValue& option : changed_limits_and_strategies(options))
    out << "option " << option.name << ' ' << option.value << '\n';
  for (Expr s : context.pool().symbols()) {
    // A place in a compiled check: no fact can speak of it.
    if (!internal::names_a_symbol(s.symbol().name)) continue;
    out << "symbol " << s.symbol().name << ' ' << name_of(s.symbol().kind)
        << ' ' << quoted(s.symbol().source) << '\n';
  }
  size_t pushed = 0;
  const auto push_to = [&](size_t wanted) {
    for (; pushed < wanted; ++pushed) out << "push\n";
  };
  for (const Fact& fact : context.facts()) {
    push_to(fact.depth);
    if (auto d = as_declared(fact.condition)) {
      out << "declare " << d->symbol.symbol().name << ' '
          << Interval::of(d->lower, d->upper).to_string();
    } else {
      out << "assume " << whole_text(fact);
    }
    out << " ; " << quoted(fact.origin.text) << ' ' << quoted(fact.origin.file)
        << ' ' << fact.origin.line << '\n';
  }
  push_to(depth);
  out << "end\n";
  return out.str();
}

Context load_context(ExprPool& pool, std::string_view text,
                     const SolverOptions& most) {
  return Reader(pool, text, most).read();
}

}  // namespace proviso::inline v0_2
