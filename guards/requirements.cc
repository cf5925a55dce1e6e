// The guards, each said plainly over the ranges of the inputs alone; then what
// speaks of one size said together (s0 != 1 and s0 >= 1 are s0 >= 2); then each
// left out that the others imply, those of most sizes first.
#include "guards/requirements.h"

#include <algorithm>
#include <tuple>

#include "guards/conjuncts.h"
#include "guards/fixed_limits.h"
#include "guards/phrases.h"
#include "guards/weakest_checks.h"
#include "solver/interrupt_scope.h"
#include "sym/print.h"

namespace proviso::inline v0_2 {
using namespace internal;

namespace {

Context with_all(Context& ranges, const std::vector<Expr>& conditions) {
  Context context = ranges.clone();
  for (Expr c : conditions) context.assume(c);
  return context;
}

std::vector<Expr> symbols_among(const std::vector<Expr>& conditions) {
  std::vector<Expr> all;
  for (Expr c : conditions)
    for (Expr s : free_symbols(c))
      if (s.is_int()) add_once(all, s);
  return all;
}

// Without what the rest implies; of most symbols, then the longest first.
std::vector<Expr> without_implied(Context& ranges, std::vector<Expr> conditions,
                                  uint64_t& units) {
  struct Candidate {
    size_t symbols, length;
    Expr condition;
  };
  std::vector<Candidate> order;
  for (Expr c : conditions)
    order.push_back({free_symbols(c).size(), to_string(c).size(), c});
  std::stable_sort(
      order.begin(), order.end(), [](const auto& a, const auto& b) {
        return std::tie(a.symbols, a.length) > std::tie(b.symbols, b.length);
      });
  for (const auto& [symbols, length, candidate] : order) {
    std::vector<Expr> rest = conditions;
    std::erase(rest, candidate);
    const auto verdict = InterruptScope::within(
        units, [&] { return with_all(ranges, rest).ask(candidate).verdict; });
    if (!verdict) break;
    if (*verdict == Verdict::kYes) conditions = std::move(rest);
  }
  return conditions;
}

// The conditions of a context made by with_all() that an answer used.
std::vector<size_t> used_by(const Context& context, const Answer& answer,
                            const std::vector<Expr>& conditions) {
  std::vector<size_t> used;
  for (FactId id : answer.facts) {
    const auto at = std::find(conditions.begin(), conditions.end(),
                              context.fact(id).condition);
    if (at != conditions.end())
      used.push_back(static_cast<size_t>(at - conditions.begin()));
  }
  return used;
}

}  // namespace

Context input_ranges(ShapeEnv& env) {
  Context context(env.pool(), env.options().solver);
  for (const InputDim& dim : env.input_dims()) {
    if (!dim.expr.is_symbol()) continue;
    Interval range = Interval::of(dim.constraint.min, dim.constraint.max);
    if (dim.expr.symbol().kind != SymbolKind::kBackedInt)
      range = intersect(range, Interval::at_least(0));
    context.declare(dim.expr, range);
  }
  return context;
}

Requirements requirements(ShapeEnv& env, std::vector<Word> words) {
  const InterruptScope scope(env.context());
  for (const InputDim& dim : env.input_dims())
    words.push_back({dim.expr, dim.display_name});
  Context ranges = input_ranges(env);
  // Past it guards are said as they are, and proofs and counterexamples are
  // missing.
  uint64_t units =
      fixed::requirement_units + fixed::units_of_guard * env.guards().size();
  std::vector<Expr> all;
  for (const Guard& guard : env.guards()) {
    for (Expr part : conjuncts(guard.condition)) {
      const std::vector<Expr> terms = free_symbols(part);
      const auto plain = InterruptScope::within(
          units, [&] { return weakest_checks(ranges, part, terms); });
      for (Expr c : plain.value_or(std::vector{part}))
        for (Expr piece : conjuncts(c)) add_once(all, piece);
    }
  }
  const auto together = InterruptScope::within(
      units, [&] { return said_together(ranges, all, symbols_among(all)); });
  const std::vector<Expr> kept =
      without_implied(ranges, together.value_or(all), units);
  Context context = with_all(ranges, kept);

  std::vector<Expr> symbols = symbols_among(kept);
  std::vector<Expr> said = kept;
  for (const Guard& guard : env.guards()) said.push_back(guard.condition);
  said.insert(said.end(), symbols.begin(), symbols.end());
  const std::vector<std::string> texts = internal::in_words(env, said, words);
  auto text = texts.begin();

  Requirements result;
  for (size_t i = 0; i < kept.size(); ++i) {
    std::vector<Expr> rest = kept;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    auto counterexample = InterruptScope::within(units, [&] {
      return with_all(ranges, rest).ask(kept[i]).counterexample;
    });
    result.conditions.push_back(
        {kept[i], *text++, std::move(counterexample).value_or(std::nullopt)});
  }
  for (const Guard& guard : env.guards()) {
    const auto answer = InterruptScope::within(
        units, [&] { return context.ask(guard.condition); });
    AnsweredQuestion question{guard.condition, *text++, guard.origins, {}};
    if (answer && answer->verdict == Verdict::kYes)
      question.follows_from = used_by(context, *answer, kept);
    result.questions.push_back(std::move(question));
  }
  for (Expr symbol : symbols) {
    const std::string& name = *text++;
    const auto pinned =
        InterruptScope::within(units, [&]() -> std::optional<PinnedSize> {
          const Interval range = context.bounds(symbol);
          if (!range.is_point() || ranges.bounds_quick(symbol).is_point())
            return std::nullopt;
          const Answer answer =
              context.ask(eq(symbol, env.pool().integer(*range.lower())));
          return PinnedSize{name, *range.lower(),
                            used_by(context, answer, kept)};
        });
    if (pinned && *pinned) result.pinned.push_back(**pinned);
  }
  return result;
}

}  // namespace proviso::inline v0_2
