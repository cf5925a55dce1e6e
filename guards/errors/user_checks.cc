// The line that asks is found in the quoted functions: by its code where a
// frame shows it, else by its condition.  From there the checks are walked
// upwards.
#include "guards/errors/user_checks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_set>

#include "guards/errors/error_text.h"
#include "guards/errors/text_parts.h"
#include "guards/fixed_limits.h"
#include "sym/budget.h"
#include "sym/canonical.h"
#include "sym/parse.h"
#include "sym/pool_stores.h"
#include "sym/within.h"

namespace proviso::inline v0_2::internal {
namespace {

using std::string_view;

void look_at_words(size_t count) { Budget::spend(4 * count); }

bool is_size(string_view word) {
  return has(word, ".shape[") || word.ends_with(".numel()");
}

class Quoted {
 public:
  Quoted(QuotedCode& code, const TextError& e, Expr question,
         const TextFrame& place, const SymbolNames& names, Context& context)
      : code_(code),
        e_(e),
        question_(question),
        wanted_(canonical(question)),
        place_(place),
        context_(context),
        pool_(context.pool()) {
    for (Expr s : free_symbols(question)) {
      const std::string words = names.of(s.symbol().name);
      if (!words.empty()) by_text_.emplace(words, s);
    }
  }

  bool assume() {
    const auto common =
        within_own(fixed::quoted_units, [&] { return common_checks(); });
    if (!common) return false;
    for (const Check& c : *common) {
      for (Expr s : free_symbols(c.condition)) {
        const std::string& name = s.symbol().name;
        if (name.starts_with(kWordPrefix) && is_size(name)) {
          context_.declare(s, Interval::at_least(0));
        }
      }
      context_.assume(c.condition, {*c.code, place_.file, 0});
    }
    return !common->empty();
  }

 private:
  struct Check {
    Expr condition;
    const std::string* code;
  };

  // The text may quote several functions of the name: what all of them check
  // before the line.
  std::vector<Check> common_checks() {
    std::optional<std::vector<Check>> common;
    for (size_t i : code_.functions_of(e_.stream)) {
      const TextFunction& text = code_.text(i);
      Budget::spend(1);
      const bool is_same =
          place_.function.empty() || text.name == place_.function;
      // What is quoted after the error may be the program mended.
      if (!is_same || text.line >= e_.line) continue;
      function_ = &code_.function(i);
      for (size_t line : function_->askers(place_.code)) {
        Budget::spend(1);
        if (!asks(line)) continue;
        asking_ = line;
        keep_common(common, checks());
      }
    }
    return std::move(common).value_or(std::vector<Check>{});
  }

  static void keep_common(std::optional<std::vector<Check>>& common,
                          std::vector<Check> found) {
    Budget::spend(found.size());
    if (!common) {
      common = std::move(found);
      return;
    }
    std::unordered_set<Expr, ExprHash> conditions;
    for (const Check& c : found) conditions.insert(c.condition);
    std::erase_if(*common, [&](const Check& c) {
      return !conditions.contains(c.condition);
    });
  }

  std::vector<Check> checks() {
    std::vector<Check> found;
    for (size_t i = lines()[asking_].check_above; i != kNoLine;
         i = lines()[i].check_above) {
      if (found.size() >= fixed::assumed_checks) break;
      if (auto condition = read(i)) {
        found.push_back({*condition, &function_->code(i)});
      }
    }
    return found;
  }

  const std::vector<QuotedLine>& lines() const { return function_->lines(); }

  // --- the line that asks

  // Where it asks, words are known by it.
  bool asks(size_t line) {
    const std::optional<Worded>& asked = lines()[line].asked;
    const std::vector<Expr>* symbols = asked ? match(*asked) : nullptr;
    if (symbols == nullptr && place_.code.empty()) return false;
    look_at_words(by_text_.size());
    named_ = by_text_;
    for (size_t i = 0; symbols != nullptr && i < symbols->size(); ++i) {
      named_.insert_or_assign(asked->words[i], (*symbols)[i]);
    }
    return true;
  }

  // The question's symbols for the words of the condition, where one way only
  // makes them the same; else null.
  const std::vector<Expr>* match(const Worded& asked) {
    const size_t n = asked.words.size();
    std::vector<Expr> symbols = free_symbols(question_);
    if (symbols.size() != n || n > fixed::asked_words) return nullptr;
    auto [known, is_new] = matches_.try_emplace(asked.text);
    std::optional<std::vector<Expr>>& found = known->second;
    if (!is_new) return found ? &*found : nullptr;
    std::sort(symbols.begin(), symbols.end(), ExprLess());
    do {
      const auto one = parsed(asked.text, symbols);
      if (!one || !one->is_bool() || canonical(*one) != wanted_) continue;
      if (found) {
        found.reset();
        return nullptr;
      }
      found = symbols;
    } while (std::next_permutation(symbols.begin(), symbols.end(), ExprLess()));
    return found ? &*found : nullptr;
  }

  std::optional<Expr> parsed(const std::string& text,
                             const std::vector<Expr>& values) {
    Budget::spend(60 + text.size());
    ParseOptions options;
    options.make_symbol = [&](ExprPool&, string_view name) -> Expr {
      if (name.size() < 2 || name[0] != 'w') return {};
      const auto at = static_cast<size_t>(number_of(name.substr(1)));
      return at < values.size() ? values[at] : Expr();
    };
    return read_expression(pool_, text, options, 50'000);
  }

  // --- what is before it

  // The last line before `line` that assigns the variable.
  const std::string* making(string_view variable, size_t line) const {
    const size_t at = function_->assigned_before(variable, line);
    return at == kNoLine ? nullptr : &function_->code(at);
  }
  bool is_assigned_after(string_view root, size_t line) const {
    const size_t at = function_->assigned_before(root, asking_);
    return at != kNoLine && at > line;
  }

  // The check of a line, of values that the line that asks has too.
  std::optional<Expr> read(size_t line) {
    const Worded& condition = *lines()[line].check;
    Budget::spend(1);
    std::vector<Expr> values;
    for (const std::string& word : condition.words) {
      look_at_words(1);
      if (is_assigned_after(root_of(word), line)) return std::nullopt;
      const Expr value = value_of(word, line);
      if (!value) return std::nullopt;
      values.push_back(value);
    }
    Read& last = read_[&condition];
    if (last.values != values) {
      std::optional<Expr> result = parsed(condition.text, values);
      if (result && !result->is_bool()) result.reset();
      last = {std::move(values), result};
    }
    return last.condition;
  }

  // Null for what may be no integer.
  Expr value_of(const std::string& word, size_t line) {
    if (auto known = named_.find(word); known != named_.end()) {
      return known->second;
    }
    if (!is_size(word) && !is_integer(word, line)) return {};
    const Expr value = PoolStores::symbol_of_any_name(
        pool_, std::string(kWordPrefix) + word, SymbolKind::kUnbackedInt);
    named_.emplace(word, value);
    return value;
  }

  // A variable that is a size, or of the same tensor as one that is a symbol
  // for an integer.
  bool is_integer(const std::string& variable, size_t line) const {
    look_at_words(1);
    const std::string* code = making(variable, line);
    if (code == nullptr) return false;
    const std::optional<string_view> made = after(*code, "=");
    const string_view value = trim(made.value_or(""));
    for (string_view sign : {".shape", ".size(", ".numel()", "len("}) {
      if (has(value, sign)) return true;
    }
    if (!has(value, ".item()") && !has(value, ".tolist()")) return false;
    for (const auto& [word, symbol] : named_) {
      look_at_words(1);
      if (!symbol.is_int() || !is_identifier(word)) continue;
      const std::string* other = making(word, line);
      if (other == nullptr) continue;
      const string_view theirs = trim(after(*other, "=").value_or(""));
      const bool is_same =
          other == code || (!root_of(value).empty() && has(theirs, ".item()") &&
                            root_of(value) == root_of(theirs));
      if (is_same) return true;
    }
    return false;
  }

  // A condition over the values that its words had last.
  struct Read {
    std::vector<Expr> values;
    std::optional<Expr> condition;
  };

  QuotedCode& code_;
  const TextError& e_;
  const Expr question_, wanted_;
  const TextFrame& place_;
  Context& context_;
  ExprPool& pool_;
  std::map<std::string, Expr> by_text_;  // a word: what the text says of it
  std::map<std::string, Expr> named_;    // and what the line that asks shows
  std::map<std::string, std::optional<std::vector<Expr>>> matches_;
  std::map<const Worded*, Read> read_;
  const QuotedFunction* function_ = nullptr;
  size_t asking_ = 0;
};

}  // namespace

bool assume_user_checks(QuotedCode& code, const TextError& e, Expr question,
                        const TextFrame& place, const SymbolNames& names,
                        Context& context) {
  return Quoted(code, e, question, place, names, context).assume();
}

}  // namespace proviso::inline v0_2::internal
