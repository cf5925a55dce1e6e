// Forms are guessed and then proved.  To say Ne(8*u0*u1, 0) over u0 and u1:
//   1. Suppose it: the solver's bounds of u0 and u1 move from 0 to 1.
//   2. Guess "u0 >= 1 and u1 >= 1": it follows, as bounds are supersets.
//   3. Ask whether the guess implies the condition: yes, so they are the same.
// Remainders are guessed from the truth at small sizes, and proved both ways.
#include "guards/suggest.h"

#include <algorithm>
#include <array>
#include <optional>

#include "guards/conjuncts.h"
#include "guards/shape_env_impl.h"
#include "sym/polynomial.h"
#include "sym/print.h"
#include "sym/simplify.h"
#include "sym/traced_python.h"

namespace proviso {

namespace {

constexpr size_t kMostTerms = 6;
constexpr int kSamples = 160;
constexpr int kMostModulus = 64;

bool subset(const std::vector<Expr>& inner, const std::vector<Expr>& outer) {
  return std::all_of(inner.begin(), inner.end(), [&](Expr e) {
    return std::find(outer.begin(), outer.end(), e) != outer.end();
  });
}

Expr all_of(ExprPool& pool, const std::vector<Expr>& parts) {
  return simplify(conjunction(pool, parts));
}

// --- one condition, over given terms

class Search {
 public:
  Search(Context& context, Expr condition)
      : pool_(context.pool()),
        facts_(context),
        condition_(condition),
        negation_(simplify(logical_not(condition))),
        holds_(context.clone()),
        fails_(context.clone()) {
    holds_.assume(condition);
    fails_.assume(negation_);
  }

  std::vector<Expr> run(const std::vector<Expr>& all_terms) {
    const std::vector<Expr> symbols = free_symbols(condition_);
    std::vector<Expr> terms;
    for (Expr t : all_terms) {
      if (terms.size() < kMostTerms && t.is_int() && !t.is_constant() &&
          subset(free_symbols(t), symbols))
        terms.push_back(t);
    }
    for (Expr t : terms)
      if (auto found = over_one(t)) return *found;
    if (auto found = by_ends(terms)) return *found;
    for (size_t i = 0; i < terms.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (auto found = over_two(terms[j], terms[i])) return {*found};
    const Expr simple = facts_.simplify(condition_);
    const bool is_empty = simplify(simple).is_constant();
    return {is_empty ? condition_ : simple};
  }

 private:
  using Found = std::optional<std::vector<Expr>>;

  bool suffices(Expr guess) {
    Context with = facts_.clone();
    with.assume(guess);
    return with.ask(condition_).verdict == Verdict::kYes;
  }
  bool is_same(Expr guess) {
    return holds_.ask(guess).verdict == Verdict::kYes && suffices(guess);
  }

  // What the condition adds to the ends of a term.
  std::vector<Expr> moved_ends(Expr t) {
    const Interval before = without_machine_ends(facts_.bounds(t));
    const Interval now = without_machine_ends(holds_.bounds(t));
    if (now.is_empty()) return {};
    if (now.is_point() && !before.is_point())
      return {eq(t, pool_.integer(*now.lower()))};
    std::vector<Expr> ends;
    if (now.lower() && now.lower() != before.lower())
      ends.push_back(ge(t, pool_.integer(*now.lower())));
    if (now.upper() && now.upper() != before.upper())
      ends.push_back(le(t, pool_.integer(*now.upper())));
    return ends;
  }

  Found over_one(Expr t) {
    const std::vector<Expr> ends = moved_ends(t);
    for (Expr end : ends)
      if (suffices(end)) return {{end}};
    if (ends.size() == 2 && suffices(all_of(pool_, ends))) return ends;
    const Interval hole = fails_.bounds(t);
    if (hole.is_point()) {
      const Expr apart = ne(t, pool_.integer(*hole.lower()));
      if (suffices(apart)) return {{apart}};
    }
    const Int step = holds_.multiple_of(t), gap = fails_.multiple_of(t);
    if (step > Int(1)) {
      const Expr divides = eq(mod(t, pool_.integer(step)), 0);
      if (suffices(divides)) return {{divides}};
      const Expr positive = ge(t, 1);
      if (is_same(logical_and(divides, positive))) return {{divides, positive}};
      std::vector<Expr> both = ends;
      both.push_back(divides);
      if (suffices(all_of(pool_, both))) return both;
    }
    if (gap > Int(1)) {
      const Expr apart = ne(mod(t, pool_.integer(gap)), 0);
      if (suffices(apart)) return {{apart}};
    }
    return by_samples(t);
  }

  Found by_ends(const std::vector<Expr>& terms) {
    if (terms.size() < 2) return std::nullopt;
    std::vector<Expr> all;
    for (Expr t : terms) {
      if (!t.is_symbol()) continue;
      for (Expr end : moved_ends(t)) all.push_back(end);
    }
    if (all.empty() || !suffices(all_of(pool_, all))) return std::nullopt;
    for (size_t i = 0; i < all.size() && all.size() > 1;) {
      std::vector<Expr> rest = all;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      if (suffices(all_of(pool_, rest)))
        all = rest;
      else
        ++i;
    }
    return all;
  }

  std::optional<Expr> over_two(Expr a, Expr b) {
    for (Expr guess :
         {eq(a, b), ne(a, b), le(a, b), ge(a, b), lt(a, b), gt(a, b)})
      if (is_same(guess)) return guess;
    return std::nullopt;
  }

  // The truth at small values of the only symbol.
  Found by_samples(Expr t) {
    const std::vector<Expr> symbols = free_symbols(condition_);
    if (symbols.size() != 1 || !symbols[0].is_int()) return std::nullopt;
    const std::vector<Sample> samples = take(symbols[0], t);
    if (samples.size() < kSamples / 4) return std::nullopt;
    if (auto guess = threshold(t, samples); guess && is_same(*guess))
      return {{*guess}};
    for (int m = 2; m <= kMostModulus; ++m) {
      for (Expr guess : guesses(t, m, samples))
        if (is_same(guess)) return {{guess}};
    }
    return std::nullopt;
  }

  struct Sample {
    Int value;
    bool holds;
  };

  std::vector<Sample> take(Expr symbol, Expr t) {
    std::vector<Expr> known;
    for (const Fact& fact : facts_.facts())
      if (free_symbols(fact.condition) == std::vector<Expr>{symbol})
        known.push_back(fact.condition);
    const Interval range = facts_.bounds_quick(symbol);
    const Int first = range.lower() && *range.lower() > Int(-kSamples)
                          ? *range.lower()
                          : Int(-kSamples);
    std::vector<Sample> samples;
    for (int i = 0; i < kSamples; ++i) {
      Assignment point;
      point.set(symbol, first + Int(i));
      const bool allowed = std::all_of(known.begin(), known.end(), [&](Expr k) {
        return evaluate(k, point).is_true();
      });
      const Evaluation value = evaluate(t, point);
      if (!allowed || !value.defined()) continue;
      samples.push_back(
          {std::get<Int>(*value.value), evaluate(condition_, point).is_true()});
    }
    return samples;
  }

  // t <= k or t >= k, where the samples have one border.
  std::optional<Expr> threshold(Expr t, const std::vector<Sample>& samples) {
    std::optional<Int> least[2], greatest[2];  // where it fails, and holds
    for (const Sample& s : samples) {
      if (!least[s.holds] || s.value < *least[s.holds])
        least[s.holds] = s.value;
      if (!greatest[s.holds] || s.value > *greatest[s.holds])
        greatest[s.holds] = s.value;
    }
    if (!least[0] || !least[1]) return std::nullopt;
    if (*greatest[1] < *least[0]) return le(t, pool_.integer(*greatest[1]));
    if (*greatest[0] < *least[1]) return ge(t, pool_.integer(*least[1]));
    return std::nullopt;
  }

  // t % m == r, and t % m != r, where the samples do not refute them.
  std::vector<Expr> guesses(Expr t, int m, const std::vector<Sample>& samples) {
    std::vector<bool> with(static_cast<size_t>(m)), without(with);
    for (const Sample& s : samples) {
      const auto r =
          static_cast<size_t>(*floor_mod(s.value, Int(m)).to_int64());
      (s.holds ? with : without)[r] = true;
    }
    for (size_t r = 0; r < with.size(); ++r)
      if (with[r] == without[r]) return {};
    const Expr remainder = mod(t, pool_.integer(m));
    std::vector<Expr> found;
    for (const auto& [side, equal] :
         std::array{std::pair(&with, true), std::pair(&without, false)}) {
      if (std::count(side->begin(), side->end(), true) != 1) continue;
      const auto r = std::find(side->begin(), side->end(), true);
      const Expr at = pool_.integer(Int(r - side->begin()));
      found.push_back(equal ? eq(remainder, at) : ne(remainder, at));
    }
    return found;
  }

  ExprPool& pool_;
  Context& facts_;
  Expr condition_, negation_;
  Context holds_, fails_;
};

// --- expressions in words

class Phrasing {
 public:
  Phrasing(ExprPool& pool, const std::vector<Word>& words)
      : pool_(pool), words_(words) {
    for (const Word& word : words) {
      if (!word.value.is_int() || word.value.is_constant()) continue;
      if (stand_ins_.contains(word.value)) continue;
      const Expr stand_in =
          pool.symbol("the word " + word.text, SymbolKind::kBackedInt);
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

// The relations that say it: of the whole, or of its parts where the whole has
// no shorter form.
std::vector<Expr> relations(ShapeEnv& env, Expr side,
                            const std::vector<Expr>& terms) {
  const std::vector<Expr> parts = conjuncts(side);
  std::vector<Expr> whole = plainest(env.context(), side, terms);
  if (parts.size() == 1 || (whole.size() == 1 && !whole[0].is(Op::kAnd)))
    return whole;
  std::vector<Expr> all;
  for (Expr part : parts)
    for (Expr r : plainest(env.context(), part, terms)) all.push_back(r);
  return all;
}

// What speaks of the same symbols, said together where that is shorter.
std::vector<Expr> merged(ShapeEnv& env, const std::vector<Expr>& sides,
                         const std::vector<Expr>& terms) {
  std::vector<std::vector<Expr>> groups;
  for (Expr side : sides) {
    const auto group =
        std::find_if(groups.begin(), groups.end(), [&](const auto& g) {
          return free_symbols(g[0]) == free_symbols(side);
        });
    if (group == groups.end())
      groups.push_back({side});
    else
      group->push_back(side);
  }
  std::vector<Expr> result;
  for (const std::vector<Expr>& group : groups) {
    const std::vector<Expr> shorter =
        plainest(env.context(), all_of(env.pool(), group), terms);
    const bool is_shorter = shorter.size() < group.size() &&
                            std::none_of(
                                shorter.begin(), shorter.end(),
                                [](Expr e) { return e.is(Op::kAnd); });
    const std::vector<Expr>& best = is_shorter ? shorter : group;
    result.insert(result.end(), best.begin(), best.end());
  }
  return result;
}

// The conditions that say it; empty where a symbol has no word.
Texts side_texts(ShapeEnv& env, Expr side, Phrasing& phrasing) {
  if (auto flag = as_flag(env.context(), side, phrasing.words()))
    return {*flag};
  Texts texts;
  for (Expr relation : relations(env, side, phrasing.terms())) {
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

std::vector<Expr> plainest(Context& context, Expr condition,
                           const std::vector<Expr>& terms) {
  return Search(context, condition).run(terms);
}

std::optional<Suggestion> suggest_together(ShapeEnv& env,
                                           const std::vector<Expr>& sides,
                                           const std::vector<Word>& words) {
  std::vector<Expr> needed = sides;
  for (Expr side : sides) {
    std::vector<Expr> rest = needed;
    std::erase(rest, side);
    Context with = env.context().clone();
    for (Expr other : rest) with.assume(other);
    if (with.ask(side).verdict == Verdict::kYes) needed = rest;
  }
  Phrasing phrasing(env.pool(), words);
  Texts texts;
  for (Expr side : merged(env, needed, phrasing.terms())) {
    const Texts found = side_texts(env, side, phrasing);
    if (found.empty()) return std::nullopt;
    texts.insert(texts.end(), found.begin(), found.end());
  }
  return suggestion_of(texts, {});
}

std::optional<Int> answer_at(ShapeEnv& env, Expr asked,
                             const Assignment& example) {
  const Evaluation at = evaluate(asked, whole_example(env, asked, example));
  if (!at.defined()) return std::nullopt;
  if (asked.is_bool()) return Int(at.is_true() ? 1 : 0);
  const Int* value = std::get_if<Int>(&*at.value);
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<Expr> side_of_example(ShapeEnv& env, Expr asked,
                                    const Assignment& example) {
  const std::optional<Int> answer = answer_at(env, asked, example);
  if (!answer) return std::nullopt;
  if (asked.is_int()) return simplify(eq(asked, env.pool().integer(*answer)));
  return *answer != Int(0) ? asked : simplify(logical_not(asked));
}

std::string in_words(ShapeEnv& env, Expr e, const std::vector<Word>& words) {
  Phrasing phrasing(env.pool(), words);
  return phrasing.text(e).value_or(to_traced_python(e));
}

std::vector<Suggestion> suggest(ShapeEnv& env, const OpenQuestion& question,
                                const std::vector<Word>& words,
                                const Assignment& example) {
  const Expr asked = question.condition;
  if (asked.is_float()) return {};
  const std::optional<Expr> known = side_of_example(env, asked, example);
  if (!known && !asked.is_bool()) return {};
  Phrasing phrasing(env.pool(), words);
  const Expr side = known.value_or(asked);
  const Texts first = side_texts(env, side, phrasing);
  if (first.empty()) return {};
  const Texts second = side_texts(env, simplify(logical_not(side)), phrasing);
  std::vector<Suggestion> result{suggestion_of(first, second)};
  if (asked.is_bool() && !second.empty())
    result.push_back(suggestion_of(second, first));
  return result;
}

}  // namespace proviso
