// cli/tally.h - answers against the truth, counted and timed.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "solver/solver.h"

namespace proviso::cli {

// What is known about a question beforehand.  kOpen: neither follows.  kHard:
// nobody knows.  kVacuous: the facts contradict each other.  kUnsupported: not
// about integers.
enum class Truth { kValid, kRefuted, kOpen, kHard, kVacuous, kUnsupported };
// Throws Error on a word that is none.
Truth truth_of(std::string_view word);

// One question and what came of it.
struct Asked {
  Truth truth = Truth::kHard;
  Verdict verdict = Verdict::kUnknown;
  Tier tier = Tier::kNone;
  bool shown_open = false;     // with a witness and a counterexample
  bool contradiction = false;  // the facts were found contradictory
  bool first_time = true;      // since the facts last changed
  double us = 0;
};

// Ranges wait for a question: what reasons is made and asserts them, so that
// the time of a question is its own.
void assert_facts(Context& context);

class Tally {
 public:
  // "ok", "WRONG", "undecided", "open, shown", ...
  static std::string agreement(const Asked& asked);

  void add_file() { ++files_; }
  // `label` names the question; `group` is its line in the report.
  void add(const std::string& group, const std::string& label,
           const Asked& asked);
  // A question that could not be asked, with the error.
  void add_error(const std::string& group, const std::string& label,
                 const std::string& error);
  void add_setup(double us) { setup_.push_back(us); }
  void add_repeat(double us) { repeat_.push_back(us); }
  void add_peer(double us) { peer_us_ += us; }
  void add(const Statistics& of_a_context);

  // Asks a decided question again of a context that assumes only the facts
  // that the answer named.
  void check_reason(const Context& context, Expr question, Verdict verdict,
                    const std::vector<FactId>& named, const std::string& label);

  size_t wrong() const { return wrong_.size(); }
  size_t errors() const { return errors_.size(); }
  // A line a group, a total, times, errors; `list` is "", "wrong", "undecided"
  // or "slowest".  Wrong answers are always listed.
  void print(const std::string& list) const;
  void print_strategies() const;
  std::string json() const;

 private:
  struct Counts {
    size_t asks = 0, decidable = 0, decided = 0, open = 0, shown_open = 0,
           hard = 0, hard_decided = 0, vacuous = 0, vacuous_found = 0,
           unsupported = 0, wrong = 0, errors = 0;
    double us = 0;
    Counts& operator+=(const Counts& o);
  };
  struct Timed {
    double us;
    std::string label;
  };
  Counts total() const;
  void remember_slow(const std::string& label, double us);

  std::map<std::string, Counts> groups_;
  PerEnumerator<Tier, size_t, kTierCount> tiers_;
  std::vector<std::string> wrong_, undecided_, errors_;
  std::vector<Timed> slowest_;  // descending
  std::vector<double> first_, repeat_, setup_;
  size_t reasons_checked_ = 0, reasons_short_ = 0;
  size_t files_ = 0, distinct_decidable_ = 0, distinct_decided_ = 0;
  double peer_us_ = 0;
  Statistics statistics_;  // of all contexts: Z3 calls, strategies
};

// The value below which a share of them lies: 0.5 is the median.  0 of none.
double percentile(std::vector<double> values, double share);

// Whole lines of a text file.  Throws Error when it cannot be read.
std::vector<std::string> read_lines(const std::string& path);
// Without blanks at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace proviso::cli
