#include "cli/tally.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "cli/json.h"
#include "cli/timer.h"

namespace proviso::cli {
namespace {

bool is_wrong(Truth truth, Verdict verdict) {
  if (verdict == Verdict::kUnknown || truth == Truth::kUnjudged) return false;
  return truth == Truth::kOpen ||
         (truth == Truth::kValid) != (verdict == Verdict::kYes);
}

const char* name_of_truth(Truth truth) {
  switch (truth) {
    case Truth::kValid: return "yes";
    case Truth::kRefuted: return "no";
    case Truth::kOpen: return "open";
    case Truth::kUnjudged: return "not known";
  }
  return "?";
}

void print_list(const char* heading, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    std::printf("%s  %s\n", heading, line.c_str());
  }
}

}  // namespace

Tally::Counts& Tally::Counts::operator+=(const Counts& o) {
  questions += o.questions;
  decidable += o.decidable;
  decided += o.decided;
  open += o.open;
  shown_open += o.shown_open;
  unjudged += o.unjudged;
  wrong += o.wrong;
  errors += o.errors;
  us += o.us;
  return *this;
}

void Tally::add(const std::string& group, const std::string& label,
                Truth truth, const Answer& answer, double us) {
  Counts& c = groups_[group];
  ++c.questions;
  c.us += us;
  times_.push_back(us);
  ++tiers_[static_cast<size_t>(answer.tier)];
  bool unknown = answer.verdict == Verdict::kUnknown;
  if (is_wrong(truth, answer.verdict)) {
    ++c.wrong;
    wrong_.push_back(label + "  answered " +
                     std::string(name_of(answer.verdict)) + " (" +
                     std::string(name_of(answer.tier)) + "), the truth is " +
                     name_of_truth(truth));
  }
  switch (truth) {
    case Truth::kUnjudged: ++c.unjudged; return;
    case Truth::kOpen:
      ++c.open;
      if (unknown && answer.counterexample && answer.witness) ++c.shown_open;
      return;
    case Truth::kValid: case Truth::kRefuted:
      ++c.decidable;
      if (unknown) {
        undecided_.push_back(label + "  the truth is " + name_of_truth(truth));
      } else if (!is_wrong(truth, answer.verdict)) {
        ++c.decided;
      }
  }
}

void Tally::add_error(const std::string& group, const std::string& label,
                      const std::string& error) {
  Counts& c = groups_[group];
  ++c.questions;
  ++c.errors;
  errors_.push_back(label + "  " + error);
}

Tally::Counts Tally::total() const {
  Counts sum;
  for (const auto& [name, counts] : groups_) sum += counts;
  return sum;
}

double Tally::percentile(double share) const {
  if (times_.empty()) return 0;
  std::vector<double> sorted = times_;
  std::sort(sorted.begin(), sorted.end());
  auto i = static_cast<size_t>(share * static_cast<double>(sorted.size()));
  return sorted[std::min(i, sorted.size() - 1)];
}

void Tally::print(bool all) const {
  std::printf("%-28s %9s %15s %15s %6s %7s %12s\n", "", "questions",
              "decided", "open shown", "wrong", "errors", "us/question");
  auto row = [](const std::string& name, const Counts& c) {
    std::string decided =
        std::to_string(c.decided) + "/" + std::to_string(c.decidable);
    std::string open =
        std::to_string(c.shown_open) + "/" + std::to_string(c.open);
    double asked = static_cast<double>(std::max<size_t>(c.questions, 1));
    std::printf("%-28s %9zu %15s %15s %6zu %7zu %12.1f\n", name.c_str(),
                c.questions, decided.c_str(), open.c_str(), c.wrong, c.errors,
                c.us / asked);
  };
  for (const auto& [name, counts] : groups_) row(name, counts);
  if (groups_.size() > 1) row("all", total());
  std::printf("us: median %.1f  p90 %.1f  p99 %.1f  max %.1f\n",
              percentile(0.5), percentile(0.9), percentile(0.99),
              percentile(1));
  std::printf("tiers:");
  for (size_t i = 0; i < kTierCount; ++i) {
    std::printf(" %s %zu", std::string(name_of(static_cast<Tier>(i))).c_str(),
                tiers_[i]);
  }
  std::printf("\n");
  print_list("WRONG", wrong_);
  print_list("ERROR", errors_);
  if (all) print_list("undecided", undecided_);
  std::fflush(stdout);
}

std::string Tally::json() const {
  Counts c = total();
  JsonObject tiers;
  for (size_t i = 0; i < kTierCount; ++i) {
    tiers.add(name_of(static_cast<Tier>(i)), std::to_string(tiers_[i]));
  }
  JsonObject object;
  object.add("questions", std::to_string(c.questions))
      .add("decidable", std::to_string(c.decidable))
      .add("decided", std::to_string(c.decided))
      .add("undecided", std::to_string(undecided_.size()))
      .add("open", std::to_string(c.open))
      .add("open_shown", std::to_string(c.shown_open))
      .add("unjudged", std::to_string(c.unjudged))
      .add("wrong", std::to_string(c.wrong))
      .add("errors", std::to_string(c.errors))
      .add("tiers", tiers.text())
      .add("us", format_us(c.us))
      .add("us_median", format_us(percentile(0.5)))
      .add("us_p99", format_us(percentile(0.99)));
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
