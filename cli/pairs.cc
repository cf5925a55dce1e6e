// simplify --pairs: files of simplifications that others made, beside ours.
//
//   {"suite": "halide", "id": "h1", "before": "(x + 0)", "after": "x",
//    "facts": ["x % 4 == 0"], "ranges": {"x": [0, null]}}      one a line
//
// Of each pair: what we make of `before` under the facts and ranges, what it
// costs (sym/cost.h) against `after` and `before`, and whether it has the same
// value at points where the facts hold.
#include <cstdio>
#include <iostream>
#include <map>
#include <random>

#include "cli/arguments.h"
#include "cli/json.h"
#include "cli/tally.h"
#include "cli/timer.h"
#include "solver/forms/floors.h"
#include "solver/forms/functions.h"
#include "solver/normal/functions.h"
#include "solver/normal/quotients.h"
#include "solver/solver.h"
#include "sym/canonicalizer.h"
#include "sym/cost.h"
#include "sym/parse.h"
#include "sym/print.h"
#include "sym/rules.h"

namespace proviso::cli {
namespace {
using namespace internal;

struct Counts {
  size_t pairs = 0, at_most_peer = 0, costlier_than_input = 0, wrong = 0,
         not_idle = 0, errors = 0;
  uint64_t ours = 0, peer = 0;
  Counts& operator+=(const Counts& o) {
    pairs += o.pairs;
    at_most_peer += o.at_most_peer;
    costlier_than_input += o.costlier_than_input;
    wrong += o.wrong;
    not_idle += o.not_idle;
    errors += o.errors;
    ours += o.ours;
    peer += o.peer;
    return *this;
  }
};

std::optional<Int> range_end(const Json& end) {
  if (end.kind == Json::Kind::kNull) return std::nullopt;
  return Int::parse(end.text);
}

class Pair {
 public:
  Pair(const Json& json, const SolverOptions& options)
      : context_(pool_, options) {
    for (const auto& [name, ends] : json.at("ranges").members) {
      const RangeDeclaration r = {name, range_end(ends.items.at(0)),
                                  range_end(ends.items.at(1))};
      symbols_.push_back(
          {declared_symbol(pool_, r), Interval::of(r.lower, r.upper)});
      context_.declare(symbols_.back().first, symbols_.back().second);
    }
    for (const Json& fact : json.at("facts").items) {
      facts_.push_back(parse(pool_, fact.text));
      context_.assume(facts_.back());
    }
    before = parse(pool_, json.at("before").text);
    after = parse(pool_, json.at("after").text);
    Timer timer;
    ours = context_.simplify(before);
    us = timer.us();
  }

  // A point where the facts hold and the values differ.
  std::optional<Assignment> difference() {
    constexpr int kTries = 4000;
    std::mt19937 random(1);
    for (int i = 0; i < kTries; ++i) {
      Assignment point;
      for (const auto& [symbol, range] : symbols_) {
        point.set(symbol, value_in(range, random));
      }
      if (!holds(point)) continue;
      Evaluation x = evaluate(before, point);
      if (!x.defined()) continue;
      Evaluation y = evaluate(ours, point);
      if (!y.defined() || *x.value != *y.value) return point;
    }
    return std::nullopt;
  }
  bool is_refuted() {
    return context_.ask(eq(before, ours)).verdict == Verdict::kNo;
  }
  bool is_idle() { return context_.simplify(ours) == ours; }

  Expr before, after, ours;
  double us;

 private:
  bool holds(const Assignment& point) const {
    for (Expr fact : facts_) {
      if (!evaluate(fact, point).is_true()) return false;
    }
    return true;
  }
  static Int value_in(const Interval& range, std::mt19937& random) {
    static constexpr int kSpans[] = {4, 12, 60, 400};
    const int span = kSpans[random() % 4];
    const Int by(static_cast<int64_t>(random() % unsigned(2 * span + 1)) -
                 span);
    Int value = by;
    if (range.lower() && range.upper()) {
      Int size = *range.upper() - *range.lower() + Int(1);
      value = *range.lower() + floor_mod(by, size);
    } else if (range.lower()) {
      value = *range.lower() + abs(by);
    } else if (range.upper()) {
      value = *range.upper() - abs(by);
    }
    return value;
  }

  ExprPool pool_;
  Context context_;
  std::vector<std::pair<Expr, Interval>> symbols_;
  std::vector<Expr> facts_;
};

void list(const char* what, const std::string& label, const Pair& pair) {
  std::cout << what << " " << label << ": " << pair.before << "  ("
            << cost(pair.before) << ")\n      ours " << pair.ours << "  ("
            << cost(pair.ours) << ")\n      peer " << pair.after << "  ("
            << cost(pair.after) << ")\n";
}

void measure(const Json& json, const Arguments& arguments, Counts& counts,
             std::vector<double>& times) {
  const SolverOptions options = solver_options(arguments);
  std::string label = json.at("suite").text + " " + json.at("id").text;
  Pair pair(json, options);
  for (const Json& fact : json.at("facts").items) label += "; " + fact.text;
  ++counts.pairs;
  times.push_back(pair.us);
  const uint64_t ours = cost(pair.ours), peer = cost(pair.after);
  counts.ours += ours;
  counts.peer += peer;
  counts.at_most_peer += ours <= peer;
  if (ours > peer && arguments.list == "costlier") {
    list("costlier", label, pair);
  }
  if (arguments.list == "slowest" && pair.us > 5000) {
    std::cout << pair.us << " us ";
    list("slow", label, pair);
  }
  if (ours > cost(pair.before)) {
    ++counts.costlier_than_input;
    list("COSTLIER THAN ITS INPUT", label, pair);
  }
  if (!pair.is_idle()) {
    ++counts.not_idle;
    list("NOT IDLE", label, pair);
  }
  const std::optional<Assignment> point = pair.difference();
  if (point || pair.is_refuted()) {
    ++counts.wrong;
    list("WRONG", label + (point ? " at " + point->to_string() : ""), pair);
  }
}

std::string share(size_t part, size_t all) {
  char text[16];
  std::snprintf(
      text, sizeof text, "%.1f",
      all == 0 ? 100.0
               : 100.0 * static_cast<double>(part) / static_cast<double>(all));
  return text;
}

void print_row(const std::string& name, const Counts& c) {
  std::printf("%-28s %6zu %8zu %7s%% %9zu %6zu %9zu %7zu %9llu %9llu\n",
              name.c_str(), c.pairs, c.at_most_peer,
              share(c.at_most_peer, c.pairs).c_str(), c.costlier_than_input,
              c.wrong, c.not_idle, c.errors,
              static_cast<unsigned long long>(c.ours),
              static_cast<unsigned long long>(c.peer));
}

// Several tables have one rule, each of its own forms: the name says whose.
void print_rewrite_rules(const std::string& table,
                         const std::vector<internal::RewriteRuleCount>& rules) {
  for (const auto& [rule, count] : rules) {
    std::printf("  %-30s %9llu\n", (table + "." + rule.name).c_str(),
                static_cast<unsigned long long>(count));
  }
}

void print_rules() {
  std::printf("rules of the search, times that each led to a cheaper form\n");
  print_rewrite_rules("search", internal::search_rule_counts());
  std::printf("rules of the canonical form, times that each rewrote\n");
  print_rewrite_rules("canonical", internal::canonical_rule_counts());
  std::printf(
      "rules of // and %% in the solver's forms, by numbers and under facts\n");
  print_rewrite_rules("floor", number_division_rule_counts());
  print_rewrite_rules("quotient", quotient_rule_counts());
  std::printf("rules of powers and bits in the solver's forms\n");
  print_rewrite_rules("function", number_function_rule_counts());
  print_rewrite_rules("function under facts", function_rule_counts());
}

}  // namespace

int simplify_pairs(const Arguments& arguments) {
  std::map<std::string, Counts> suites;
  std::vector<double> times;
  for (const std::string& path : arguments.positional) {
    for (const std::string& line : read_lines(path)) {
      if (trimmed(line).empty() || line[0] == '#') continue;
      const Json json = Json::parse(line);
      Counts& counts = suites[json.at("suite").text];
      try {
        measure(json, arguments, counts, times);
      } catch (const Error& error) {
        ++counts.errors;
        std::cout << json.at("id").text << ": " << error.what() << "\n";
      }
    }
  }
  std::printf("%-28s %6s %8s %8s %9s %6s %9s %7s %9s %9s\n", "suite", "pairs",
              "<= peer", "share", "> input", "wrong", "not idle", "errors",
              "our cost", "peer cost");
  Counts all;
  for (const auto& [name, counts] : suites) {
    print_row(name, counts);
    all += counts;
  }
  print_row("all", all);
  std::printf("microseconds: median %.1f, p99 %.1f, max %.1f\n",
              percentile(times, 0.5), percentile(times, 0.99),
              percentile(times, 1));
  if (arguments.list == "rules") print_rules();
  std::fflush(stdout);
  if (arguments.json) {
    JsonObject object;
    object.add("pairs", std::to_string(all.pairs))
        .add("at_most_peer", std::to_string(all.at_most_peer))
        .add("costlier_than_input", std::to_string(all.costlier_than_input))
        .add("wrong", std::to_string(all.wrong))
        .add("not_idle", std::to_string(all.not_idle))
        .add("errors", std::to_string(all.errors))
        .add("our_cost", std::to_string(all.ours))
        .add("peer_cost", std::to_string(all.peer))
        .add("us_median", format_us(percentile(times, 0.5)))
        .add("us_p99", format_us(percentile(times, 0.99)));
    std::cout << object.text() << "\n";
  }
  const bool good = all.wrong == 0 && all.costlier_than_input == 0;
  return !good ? kNoOrWrong : all.errors > 0 ? kTrouble : kYesOrGood;
}

}  // namespace proviso::cli
