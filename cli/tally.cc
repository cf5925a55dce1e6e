#include "cli/tally.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <tuple>

#include "cli/json.h"
#include "cli/timer.h"

namespace proviso::cli {
namespace {

constexpr size_t kSlowestShown = 20;

bool is_decidable(Truth truth) {
  return truth == Truth::kValid || truth == Truth::kRefuted;
}

bool is_wrong(const Asked& a) {
  if (a.verdict == Verdict::kUnknown) return false;
  if (a.truth == Truth::kOpen || a.truth == Truth::kVacuous) return true;
  return is_decidable(a.truth) &&
         (a.truth == Truth::kValid) != (a.verdict == Verdict::kYes);
}

std::string percent(size_t part, size_t whole) {
  return std::to_string(part) + "/" + std::to_string(whole);
}

double sum(const std::vector<double>& values) {
  double total = 0;
  for (double v : values) total += v;
  return total;
}

void print_list(const char* heading, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    std::printf("%s  %s\n", heading, line.c_str());
  }
}

}  // namespace

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  size_t last = values.size() - 1;
  auto i = static_cast<size_t>(share * static_cast<double>(last) + 0.5);
  std::nth_element(values.begin(),
                   values.begin() + static_cast<std::ptrdiff_t>(i),
                   values.end());
  return values[i];
}

Truth truth_of(std::string_view word) {
  if (word == "valid") return Truth::kValid;
  if (word == "refuted" || word == "unsat") return Truth::kRefuted;
  if (word == "independent" || word == "open") return Truth::kOpen;
  if (word == "hard") return Truth::kHard;
  if (word == "vacuous") return Truth::kVacuous;
  if (word == "unsupported" || word == "value") return Truth::kUnsupported;
  throw Error("unknown truth '" + std::string(word) +
              "'; expected valid, "
              "refuted, unsat, open, independent, hard, vacuous, value or "
              "unsupported");
}

Tally::Counts& Tally::Counts::operator+=(const Counts& o) {
  asks += o.asks;
  decidable += o.decidable;
  decided += o.decided;
  open += o.open;
  shown_open += o.shown_open;
  hard += o.hard;
  hard_decided += o.hard_decided;
  vacuous += o.vacuous;
  vacuous_found += o.vacuous_found;
  unsupported += o.unsupported;
  wrong += o.wrong;
  errors += o.errors;
  us += o.us;
  return *this;
}

void assert_facts(Context& context) {
  std::ignore = context.bounds(context.pool().integer(0));
}

std::string Tally::agreement(const Asked& a) {
  if (is_wrong(a)) return "WRONG";
  bool known = a.verdict != Verdict::kUnknown;
  switch (a.truth) {
    case Truth::kOpen: return a.shown_open ? "open, shown" : "open, not shown";
    case Truth::kVacuous:
      return a.contradiction ? "contradiction found" : "contradiction missed";
    case Truth::kUnsupported: return "not judged";
    case Truth::kHard: return known ? "hard, answered" : "hard";
    default: return known ? "right" : "undecided";
  }
}

void Tally::add(const std::string& group, const std::string& label,
                const Asked& a) {
  Counts& c = groups_[group];
  ++c.asks;
  c.us += a.us;
  ++tiers_[a.tier];
  bool known = a.verdict != Verdict::kUnknown;
  if (a.first_time) {
    first_.push_back(a.us);
    remember_slow(label, a.us);
  } else {
    repeat_.push_back(a.us);
  }
  if (is_wrong(a)) {
    ++c.wrong;
    wrong_.push_back(label + "  answered " + std::string(name_of(a.verdict)) +
                     " (" + std::string(name_of(a.tier)) + ")");
  }
  c.open += a.truth == Truth::kOpen;
  c.shown_open += a.truth == Truth::kOpen && a.shown_open;
  c.hard += a.truth == Truth::kHard;
  c.hard_decided += a.truth == Truth::kHard && known;
  c.vacuous += a.truth == Truth::kVacuous;
  c.vacuous_found += a.truth == Truth::kVacuous && a.contradiction;
  c.unsupported += a.truth == Truth::kUnsupported;
  if (!is_decidable(a.truth)) return;
  ++c.decidable;
  c.decided += known && !is_wrong(a);
  if (!known) undecided_.push_back(label);
  if (!a.first_time) return;
  ++distinct_decidable_;
  distinct_decided_ += known && !is_wrong(a);
}

void Tally::remember_slow(const std::string& label, double us) {
  if (slowest_.size() == kSlowestShown && us <= slowest_.back().us) return;
  auto slower = [us](const Timed& t) { return t.us >= us; };
  slowest_.insert(
      std::partition_point(slowest_.begin(), slowest_.end(), slower),
      {us, label});
  if (slowest_.size() > kSlowestShown) slowest_.pop_back();
}

void Tally::add_error(const std::string& group, const std::string& label,
                      const std::string& error) {
  Counts& c = groups_[group];
  ++c.asks;
  ++c.errors;
  errors_.push_back(label + "  " + error);
}

Tally::Counts Tally::total() const {
  Counts sum;
  for (const auto& [name, counts] : groups_) sum += counts;
  return sum;
}

void Tally::add(const Statistics& of_a_context) {
  statistics_.z3_calls += of_a_context.z3_calls;
  const auto add_to = [](StrategyCount& total, const StrategyCount& more) {
    total.tried += more.tried;
    total.decided += more.decided;
    total.work += more.work;
  };
  add_to(statistics_.box, of_a_context.box);
  for (Strategy strategy : all_strategies()) {
    add_to(statistics_.by_strategy[strategy],
           of_a_context.by_strategy[strategy]);
  }
  add_to(statistics_.consistency, of_a_context.consistency);
}

void Tally::print_strategies() const {
  std::printf("\n%-28s %11s %11s %11s\n%s", "strategy", "tried", "decided",
              "work", statistics_.strategies_to_string().c_str());
}

void Tally::print(const std::string& list) const {
  std::printf("%-28s %9s %15s %15s %9s %6s %7s %9s\n", "", "asks", "decided",
              "open shown", "hard", "wrong", "errors", "us/ask");
  auto row = [](const std::string& name, const Counts& c) {
    double asks = static_cast<double>(std::max<size_t>(c.asks, 1));
    std::printf("%-28s %9zu %15s %15s %9s %6zu %7zu %9.2f\n", name.c_str(),
                c.asks, percent(c.decided, c.decidable).c_str(),
                percent(c.shown_open, c.open).c_str(),
                percent(c.hard_decided, c.hard).c_str(), c.wrong, c.errors,
                c.us / asks);
  };
  for (const auto& [name, counts] : groups_) row(name, counts);
  Counts all = total();
  if (groups_.size() > 1) row("all", all);
  std::printf(
      "first time, us: median %.2f  p90 %.2f  p99 %.2f  max %.1f  "
      "sum %.0f\n",
      percentile(first_, 0.5), percentile(first_, 0.9),
      percentile(first_, 0.99), percentile(first_, 1), sum(first_));
  std::printf("repeated, us: median %.3f", percentile(repeat_, 0.5));
  if (!setup_.empty()) {
    std::printf("   set-up, us: median %.2f  p99 %.2f", percentile(setup_, 0.5),
                percentile(setup_, 0.99));
  }
  if (peer_us_ > 0) std::printf("   the peer, us: sum %.0f", peer_us_);
  if (reasons_checked_ > 0) {
    std::printf("\nreasons: %zu checked, %zu not enough", reasons_checked_,
                reasons_short_);
  }
  std::printf("\ntiers:");
  for (Tier tier : all_tiers())
    std::printf(" %s %zu", std::string(name_of(tier)).c_str(), tiers_[tier]);
  std::printf("\n");
  if (all.vacuous > 0) {
    std::printf("contradictions found: %s\n",
                percent(all.vacuous_found, all.vacuous).c_str());
  }
  print_list("WRONG", wrong_);
  print_list("ERROR", errors_);
  if (list == "undecided") print_list("undecided", undecided_);
  if (list == "slowest") {
    for (const Timed& t : slowest_) {
      std::printf("%10.1f us  %s\n", t.us, t.label.c_str());
    }
  }
  std::fflush(stdout);
}

void Tally::check_reason(const Context& context, Expr question, Verdict verdict,
                         const std::vector<FactId>& named,
                         const std::string& label) {
  if (verdict == Verdict::kUnknown) return;
  ++reasons_checked_;
  Context alone(context.pool(), context.options());
  for (FactId id : named) alone.assume(context.fact(id).condition);
  if (alone.ask(question).verdict == verdict) return;
  ++reasons_short_;
  wrong_.push_back(label + "  the facts named are not enough");
}

std::string Tally::json() const {
  Counts c = total();
  auto number = [](size_t n) { return std::to_string(n); };
  auto times = [](const std::vector<double>& values, bool whole) {
    JsonObject o;
    o.add("median", format_us(percentile(values, 0.5)));
    if (whole) o.add("p90", format_us(percentile(values, 0.9)));
    o.add("p99", format_us(percentile(values, 0.99)));
    if (whole) {
      o.add("max", format_us(percentile(values, 1)));
      o.add("sum", format_us(sum(values)));
    }
    return o.text();
  };
  JsonObject distinct, hard, tiers;
  distinct.add("decidable", number(distinct_decidable_))
      .add("decided", number(distinct_decided_));
  hard.add("asks", number(c.hard)).add("decided", number(c.hard_decided));
  for (Tier tier : all_tiers()) tiers.add(name_of(tier), number(tiers_[tier]));
  const auto counts = [&number](const StrategyCount& count) {
    return JsonObject()
        .add("tried", number(count.tried))
        .add("decided", number(count.decided))
        .add("work", number(count.work))
        .text();
  };
  JsonObject strategies;
  for (Strategy strategy : all_strategies()) {
    const StrategyCount& count = statistics_.by_strategy[strategy];
    if (count.tried > 0) strategies.add(name_of(strategy), counts(count));
  }
  JsonObject reasons;
  reasons.add("checked", number(reasons_checked_))
      .add("not_enough", number(reasons_short_));
  JsonObject repeat;
  repeat.add("median", format_us(percentile(repeat_, 0.5)));
  JsonObject object;
  object.add("files", number(files_))
      .add("asks", number(c.asks))
      .add("decidable", number(c.decidable))
      .add("decided", number(c.decided))
      .add("wrong", number(c.wrong))
      .add("undecided", number(undecided_.size()))
      .add("open", number(c.open))
      .add("open_shown", number(c.shown_open))
      .add("unsupported", number(c.unsupported))
      .add("hard", hard.text())
      .add("vacuous", number(c.vacuous))
      .add("vacuous_found", number(c.vacuous_found))
      .add("errors", number(c.errors))
      .add("z3_calls", number(statistics_.z3_calls))
      .add("distinct", distinct.text())
      .add("tiers", tiers.text())
      .add("strategies", strategies.text())
      .add("box", counts(statistics_.box))
      .add("consistency", counts(statistics_.consistency))
      .add("reasons", reasons.text())
      .add("setup_us", times(setup_, false))
      .add("first_us", times(first_, true))
      .add("repeat_us", repeat.text())
      .add("peer_us_sum", format_us(peer_us_));
  return object.text();
}

std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw Error("cannot read '" + path + "'; check the path");
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string_view trimmed(std::string_view text) {
  size_t from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

}  // namespace proviso::cli
