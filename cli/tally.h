// cli/tally.h - answers against the truth, counted.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "solver/solver.h"

namespace proviso::cli {

// What is known about a question beforehand.  kOpen: neither follows.
// kUnjudged: nobody knows.
enum class Truth { kValid, kRefuted, kOpen, kUnjudged };

class Tally {
 public:
  // `label` names the question for people; `group` is its line in the report.
  void add(const std::string& group, const std::string& label, Truth truth,
           const Answer& answer, double us);
  // A question that could not be asked, with the error.
  void add_error(const std::string& group, const std::string& label,
                 const std::string& error);

  size_t wrong() const { return wrong_.size(); }
  size_t errors() const { return errors_.size(); }
  // A line a group, a total, the wrong answers; with `all` the undecided too.
  void print(bool all) const;
  std::string json() const;

 private:
  struct Counts {
    size_t questions = 0;
    size_t decidable = 0;  // the truth is valid or refuted
    size_t decided = 0;    // of those, answered right
    size_t open = 0;       // neither follows
    size_t shown_open = 0; // of those, with witness and counterexample
    size_t unjudged = 0;
    size_t wrong = 0;
    size_t errors = 0;
    double us = 0;
    Counts& operator+=(const Counts& o);
  };
  Counts total() const;
  double percentile(double share) const;

  std::map<std::string, Counts> groups_;
  std::array<size_t, kTierCount> tiers_{};
  std::vector<std::string> wrong_, undecided_, errors_;
  std::vector<double> times_;
};

// Whole lines of a text file.  Throws Error when it cannot be read.
std::vector<std::string> read_lines(const std::string& path);
// Without blanks at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace proviso::cli
