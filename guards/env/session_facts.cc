#include "guards/env/session_facts.h"

#include <algorithm>
#include <tuple>

namespace proviso::inline v0_2::internal {

SessionFacts::SessionFacts(const SolverOptions& options, SessionLog& log)
    : options_(options), context_(pool_, options), log_(log) {}

void SessionFacts::declare(Expr symbol, const Interval& range,
                           const std::string& why) {
  context_.declare(symbol, range, {why, "", 0});
  declared_.emplace_back(symbol, range);
  ++version_;
}

void SessionFacts::know(Expr condition, const std::string& why) {
  known_.emplace_back(condition, why);
  assume(condition, {why});
}

void SessionFacts::assume_at_least_two(Expr symbol) {
  const Expr condition = ge(symbol, 2);
  assumptions_.insert(
      context_.assume(condition, provenance_of_assumption(symbol)));
  assumed_.push_back(symbol);
  log_.add_fact(condition);
  ++version_;
}

void SessionFacts::assume(Expr condition, const Provenance& why) {
  context_.assume(condition, why);
  log_.add_fact(condition);
  ++version_;
}

bool SessionFacts::leans_on_assumption(Expr question) {
  std::ignore = context_.ask_quick(question);
  const std::vector<FactId> used = context_.facts_used(question);
  return std::any_of(used.begin(), used.end(),
                     [&](FactId fact) { return assumptions_.count(fact) > 0; });
}

std::unique_ptr<Context> SessionFacts::without_assumptions() {
  auto result = std::make_unique<Context>(pool_, options_);
  for (const auto& [symbol, range] : declared_) {
    result->declare(symbol, range, {"range of " + symbol.symbol().name, "", 0});
  }
  for (const auto& [condition, why] : known_) result->assume(condition, {why});
  return result;
}

Provenance provenance_of_assumption(Expr symbol, int least) {
  return {"assumed: " + symbol.symbol().name + " >= " + std::to_string(least),
          "", 0};
}

Provenance provenance_of(const SourceLocation& where, const std::string& text) {
  return {where.code.empty() ? text : where.code, where.file, where.line};
}

Interval without_machine_ends(const Interval& range) {
  if (range.is_empty()) return range;
  static const Int least = INT64_MIN, greatest = INT64_MAX;
  OptionalInt lower = range.lower(), upper = range.upper();
  if (lower && *lower <= least) lower = std::nullopt;
  if (upper && *upper >= greatest) upper = std::nullopt;
  return Interval::of(lower, upper);
}

}  // namespace proviso::inline v0_2::internal
