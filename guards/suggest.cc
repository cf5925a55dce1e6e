// A side is said by guards/weakest_checks.h over the values that the program
// has words for; then each relation is put into those words.  A symbol without
// a word is solved for from a word that holds it: u0 is n//2 where n is 2*u0.
#include "guards/suggest.h"

#include <algorithm>
#include <optional>

#include "guards/conjuncts.h"
#include "guards/fixed_limits.h"
#include "guards/phrases.h"
#include "guards/weakest_checks.h"
#include "solver/interrupt_scope.h"
#include "sym/budget.h"
#include "sym/polynomial.h"
#include "sym/pool_stores.h"
#include "sym/print.h"
#include "sym/traced_python.h"

namespace proviso::inline v0_2 {
using namespace internal;

namespace {

// --- expressions in words

class Phrasing {
 public:
  Phrasing(ExprPool& pool, const std::vector<Word>& words)
      : pool_(pool), words_(words) {
    for (const Word& word : words) {
      if (!word.value.is_int() || word.value.is_constant()) continue;
      if (stand_ins_.contains(word.value)) continue;
      const Expr stand_in = PoolStores::symbol_of_any_name(
          pool, "the word " + word.text, SymbolKind::kBackedInt);
      stand_ins_.emplace(word.value, stand_in);
      texts_.emplace(stand_in, word.text);
    }
  }

  std::vector<Expr> terms() const {
    std::vector<Expr> result;
    for (const Word& word : words_)
      if (stand_ins_.contains(word.value)) result.push_back(word.value);
    // A bare symbol says more than what is made of it.
    std::stable_partition(result.begin(), result.end(),
                          [](Expr e) { return e.is_symbol(); });
    return result;
  }
  const std::vector<Word>& words() const { return words_; }

  std::optional<std::string> text(Expr e) {
    const Expr named = in_words(e);
    if (!named) return std::nullopt;
    return to_traced_python(named, [&](Expr s) { return texts_.at(s); });
  }

 private:
  // Null where a symbol has no word.
  Expr in_words(Expr e) {
    visit_arguments_first(
        e, [&](Expr x) { return memo_.contains(x); },
        [&](Expr x) { memo_.emplace(x, translated(x)); });
    return memo_.at(e);
  }
  Expr translated(Expr x) {
    const auto known = stand_ins_.find(x);
    if (known != stand_ins_.end()) return known->second;
    if (x.is_constant()) return x;
    if (x.is_symbol()) return solved(x);
    std::vector<Expr> args;
    for (Expr a : x.args()) {
      args.push_back(memo_.at(a));
      if (!args.back()) return {};
    }
    return pool_.make(x.op(), args);
  }

  // s from a word for k*s + rest, whose rest has words of its own.
  Expr solved(Expr s) {
    for (const auto& [value, stand_in] : stand_ins_) {
      const Polynomial p = to_polynomial(value);
      const auto term = p.terms().find({s});
      if (term == p.terms().end()) continue;
      Polynomial rest = p;
      rest.add({s}, -term->second);
      Polynomial named;
      if (!over_words(rest, named)) continue;
      const Int k = term->second;
      const Expr multiple = to_expr(pool_, Polynomial::atom(stand_in) - named);
      if (k == Int(1)) return multiple;
      return floor_div(multiple, pool_.integer(k));
    }
    return {};
  }
  bool over_words(const Polynomial& p, Polynomial& named) {
    for (const auto& [monomial, coefficient] : p.terms()) {
      Monomial words;
      for (Expr atom : monomial) {
        const auto known = stand_ins_.find(atom);
        if (known == stand_ins_.end()) return false;
        words.push_back(known->second);
      }
      std::sort(words.begin(), words.end(),
                [](Expr a, Expr b) { return compare(a, b) < 0; });
      named.add(words, coefficient);
    }
    return true;
  }

  ExprPool& pool_;
  const std::vector<Word>& words_;
  std::map<Expr, Expr, ExprLess> stand_ins_;
  std::unordered_map<Expr, std::string, ExprHash> texts_;
  std::unordered_map<Expr, Expr, ExprHash> memo_;
};

// --- sides

using Texts = std::vector<std::string>;

// A side that is a boolean of the program, or its opposite.
std::optional<std::string> as_flag(Context& context, Expr side,
                                   const std::vector<Word>& words) {
  for (const Word& word : words) {
    if (!word.value.is_bool() || word.value.is_constant()) continue;
    if (free_symbols(word.value) != free_symbols(side)) continue;
    const Verdict same = context.equivalent(side, word.value);
    if (same == Verdict::kYes) return word.text;
    if (context.equivalent(side, logical_not(word.value)) == Verdict::kYes)
      return "torch.sym_not(" + word.text + ")";
  }
  return std::nullopt;
}

// The conditions that say it; empty where a symbol has no word.
Texts side_texts(ShapeEnv& env, Expr side, Phrasing& phrasing,
                 uint64_t& units) {
  const auto flag = InterruptScope::within(
      units, [&] { return as_flag(env.context(), side, phrasing.words()); });
  if (flag && *flag) return {**flag};
  Texts texts;
  const auto said = InterruptScope::within(units, [&] {
    return weakest_checks(env.context(), side, phrasing.terms());
  });
  for (Expr relation : said.value_or(std::vector{side})) {
    const auto text = phrasing.text(relation);
    if (!text) return {};
    texts.push_back(*text);
  }
  return texts;
}

std::string joined(const Texts& texts, std::string_view before,
                   std::string_view between, std::string_view after) {
  std::string all;
  for (const std::string& text : texts) {
    if (!all.empty()) all += between;
    all += before;
    all += text;
    all += after;
  }
  return all;
}

std::string as_condition(const Texts& texts) {
  return texts.size() == 1 ? texts[0] : joined(texts, "(", " & ", ")");
}

Suggestion suggestion_of(const Texts& side, const Texts& other) {
  return {joined(side, "torch._check(", "; ", ")"), as_condition(side),
          other.empty() ? "" : as_condition(other)};
}

// What the example gives: hints, the sizes of inputs that have none, and what
// the caller knows.
Assignment whole_example(ShapeEnv& env, Expr asked, const Assignment& known) {
  Assignment all;
  for (Expr s : free_symbols(asked))
    if (auto hint = env.hint(s)) all.set(s, *hint);
  for (const InputDim& dim : env.input_dims())
    if (dim.expr.is_symbol()) all.set(dim.expr, dim.hint);
  for (const auto& [symbol, value] : known.entries()) all.set(symbol, value);
  return all;
}

}  // namespace

std::optional<Suggestion> suggest_together(ShapeEnv& env,
                                           const std::vector<Expr>& sides,
                                           const std::vector<Word>& words) {
  const InterruptScope scope(env.context());
  uint64_t units = fixed::suggestion_units;
  std::vector<Expr> needed = sides;
  for (Expr side : sides) {
    std::vector<Expr> rest = needed;
    std::erase(rest, side);
    const auto verdict = InterruptScope::within(units, [&] {
      Context with = env.context().clone();
      for (Expr other : rest) {
        with.assume(other);
        Budget::check();
      }
      return with.ask(side).verdict;
    });
    if (!verdict) break;
    if (*verdict == Verdict::kYes) needed = std::move(rest);
  }
  if (InterruptScope::is_interrupted()) return std::nullopt;
  Phrasing phrasing(env.pool(), words);
  Texts texts;
  const auto together = InterruptScope::within(units, [&] {
    return said_together(env.context(), needed, phrasing.terms());
  });
  for (Expr side : together.value_or(needed)) {
    const Texts found = side_texts(env, side, phrasing, units);
    if (found.empty()) return std::nullopt;
    texts.insert(texts.end(), found.begin(), found.end());
  }
  return suggestion_of(texts, {});
}

std::optional<Int> answer_at(ShapeEnv& env, Expr asked,
                             const Assignment& example) {
  return answer_at(asked, whole_example(env, asked, example));
}

std::optional<Expr> side_of_example(ShapeEnv& env, Expr asked,
                                    const Assignment& example) {
  const std::optional<Int> answer = answer_at(env, asked, example);
  if (!answer) return std::nullopt;
  return side_with_answer(asked, *answer);
}

std::string in_words(ShapeEnv& env, Expr e, const std::vector<Word>& words) {
  return internal::in_words(env, std::vector{e}, words)[0];
}

std::vector<std::string> internal::in_words(ShapeEnv& env,
                                            const std::vector<Expr>& all,
                                            const std::vector<Word>& words) {
  Phrasing phrasing(env.pool(), words);
  std::vector<std::string> texts;
  for (Expr e : all) {
    auto text = phrasing.text(e);
    texts.push_back(text ? *std::move(text) : to_traced_python(e));
  }
  return texts;
}

std::vector<Suggestion> suggest(ShapeEnv& env, const OpenQuestion& question,
                                const std::vector<Word>& words,
                                const Assignment& example) {
  const InterruptScope scope(env.context());
  const Expr asked = question.condition;
  if (asked.is_float()) return {};
  const std::optional<Expr> known = side_of_example(env, asked, example);
  if (!known && !asked.is_bool()) return {};
  Phrasing phrasing(env.pool(), words);
  const Expr side = known.value_or(asked);
  uint64_t units = fixed::suggestion_units / 2,
           rest = fixed::suggestion_units / 2;
  const Texts first = side_texts(env, side, phrasing, units);
  if (first.empty()) return {};
  const Texts second = side_texts(env, negate(side), phrasing, rest);
  std::vector<Suggestion> result{suggestion_of(first, second)};
  if (asked.is_bool() && !second.empty())
    result.push_back(suggestion_of(second, first));
  return result;
}

}  // namespace proviso::inline v0_2
