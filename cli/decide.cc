// decide: files of facts, each with its own symbols and assumptions.
//
//   *.txt    id|category|symbols|assumptions|query|truth|checked
//            symbols 'name:lo..hi' by blanks, assumptions by ';'
//   *.jsonl  {"group", "symbols": {name: kind}, "facts", "ask", "truth"}
//
// Each fact is answered once, and then timed in fresh contexts: its expressions
// are parsed and their forms known by then, the facts are assumed again.
#include <array>
#include <cstdio>
#include <iostream>
#include <optional>
#include <tuple>

#include "cli/arguments.h"
#include "cli/command_units.h"
#include "cli/json.h"
#include "cli/tally.h"
#include "cli/timer.h"
#include "sym/budget.h"
#include "sym/parse.h"
#include "sym/print.h"

namespace proviso::cli {
namespace {

struct Problem {
  std::string group, label, query;
  std::vector<RangeDeclaration> symbols;
  std::vector<std::string> assumptions;
  Truth truth = Truth::kHard;
};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    size_t at = text.find(separator);
    parts.emplace_back(trimmed(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::optional<Int> range_end(const std::string& text) {
  if (text.empty()) return std::nullopt;
  std::optional<Int> value = Int::parse(text);
  if (!value) throw Error("decide: expected an integer, got '" + text + "'");
  return value;
}

// "s0:2..64", "u0:..", "u1:-3.."
RangeDeclaration read_symbol(const std::string& text) {
  size_t colon = text.find(':'), dots = text.find("..");
  if (colon == std::string::npos || dots == std::string::npos || dots < colon) {
    throw Error("decide: expected name:lo..hi, got '" + text + "'");
  }
  return {text.substr(0, colon),
          range_end(text.substr(colon + 1, dots - colon - 1)),
          range_end(text.substr(dots + 2))};
}

Problem read_fact(const std::string& line) {
  std::vector<std::string> fields = split(line, '|');
  if (fields.size() < 6) {
    throw Error(
        "decide: expected id|category|symbols|assumptions|query|truth, "
        "got " +
        std::to_string(fields.size()) + " fields");
  }
  Problem p;
  p.group = fields[1];
  p.label = fields[0];
  for (const std::string& word : split(fields[2], ' ')) {
    if (!word.empty()) p.symbols.push_back(read_symbol(word));
  }
  for (const std::string& text : split(fields[3], ';')) {
    if (!text.empty()) p.assumptions.push_back(text);
  }
  p.query = fields[4];
  p.truth = truth_of(fields[5]);
  return p;
}

Problem read_probe(const std::string& line) {
  Json json = Json::parse(line);
  Problem p;
  p.group = json.at("group").text;
  for (const auto& [name, kind] : json.at("symbols").members) {
    std::string range = "[-int_oo, int_oo]";
    size_t at = kind.text.find('[');  // "backed size, range [2, int_oo]"
    if (at != std::string::npos) range = kind.text.substr(at);
    p.symbols.push_back(parse_range(name + " in " + range));
  }
  for (const Json& fact : json.at("facts").items) {
    p.assumptions.push_back(fact.text);
  }
  p.query = json.at("ask").text;
  p.truth = truth_of(json.at("truth").text);
  return p;
}

// A problem over a pool of its own, parsed.
class Question {
 public:
  // `bytes`: of its text.
  Question(const Problem& p, const Arguments& arguments, size_t bytes) {
    options_ = solver_options(arguments);
    units_ = fact_units(bytes);
    const Budget budget(command_units(bytes));
    for (const RangeDeclaration& r : p.symbols) {
      symbols_.push_back(
          {declared_symbol(pool_, r), Interval::of(r.lower, r.upper)});
    }
    for (const std::string& text : p.assumptions) {
      assumptions_.push_back(parse(pool_, text));
    }
    question_ = parse(pool_, p.query);
  }

  void assume(Context& context) const {
    const Budget budget(units_);
    for (const auto& [symbol, range] : symbols_) context.declare(symbol, range);
    for (Expr condition : assumptions_) {
      context.assume(condition);
      if (Budget::units_left() == 0) throw OutOfBudget();
    }
  }

  // The whole answer, untimed.
  Asked answer(Truth truth, const std::string* reasons_label, Tally& tally) {
    const Budget counted(Budget::kUnlimited);
    const uint64_t start = Budget::units_left();
    Context context(pool_, options_);
    Timer setup;
    assume(context);
    assert_facts(context);
    const double setup_us = setup.us();
    Timer first;
    std::ignore = context.ask_quick(question_);
    const double first_us = first.us();
    Answer a = context.ask(question_);
    if (start - Budget::units_left() >= kEnough) {
      times_ = {setup_us, first_us, repeated(context)};
    }
    if (reasons_label != nullptr) {
      tally.check_reason(context, question_, a.verdict, a.facts,
                         *reasons_label);
    }
    tally.add(context.statistics());
    Asked asked;
    asked.truth = truth;
    asked.verdict = a.verdict;
    asked.tier = a.tier;
    asked.shown_open = a.counterexample && a.witness;
    asked.contradiction = a.is_contradiction;
    return asked;
  }

  // {set-up, question, the same again} in microseconds: the median of rounds,
  // which are fewer where one takes long; of an answer that did, its own.
  // Set-up is a context with its facts, asserted.
  std::array<double, 3> times() {
    constexpr int kRounds = 15;
    if (times_) return *times_;
    const Budget counted(Budget::kUnlimited);
    const uint64_t before = Budget::units_left();
    std::array<std::vector<double>, 3> all;
    for (int i = 0; i < kRounds && before - Budget::units_left() < kEnough;
         ++i) {
      Timer setup;
      Context context(pool_, options_);
      assume(context);
      assert_facts(context);
      all[0].push_back(setup.us());
      Timer first;
      std::ignore = context.ask_quick(question_);
      all[1].push_back(first.us());
      all[2].push_back(repeated(context));
    }
    std::array<double, 3> medians;
    for (size_t i = 0; i < all.size(); ++i) {
      medians[i] = percentile(all[i], 0.5);
    }
    return medians;
  }

 private:
  static constexpr uint64_t kEnough = 500'000;  // units of work (sym/budget.h)

  double repeated(Context& context) const {
    constexpr int kAgain = 32;
    Timer again;
    for (int k = 0; k < kAgain; ++k) {
      std::ignore = context.ask_quick(question_);
    }
    return again.us() / kAgain;
  }

  ExprPool pool_;
  SolverOptions options_;
  uint64_t units_ = 0;  // of the facts
  std::vector<std::pair<Expr, Interval>> symbols_;
  std::vector<Expr> assumptions_;
  Expr question_;
  std::optional<std::array<double, 3>> times_;  // of an answer that took long
};

void decide_one(const Problem& p, const std::string& place,
                const Arguments& arguments, Tally& tally) {
  std::string label = place + ": " + p.label + (p.label.empty() ? "" : " ");
  for (const std::string& text : p.assumptions) label += text + "; ";
  label += "|- " + p.query;
  Question question(p, arguments, label.size());
  Asked asked =
      question.answer(p.truth, arguments.reasons ? &label : nullptr, tally);
  auto [setup, first, again] = question.times();
  asked.us = first;
  tally.add_setup(setup);
  tally.add_repeat(again);
  tally.add(p.group, label, asked);
  std::printf("%-8s %-11s %9.2f us  %-18s %s\n",
              std::string(name_of(asked.verdict)).c_str(),
              std::string(name_of(asked.tier)).c_str(), first,
              Tally::agreement(asked).c_str(), label.c_str());
}

void decide_file(const std::string& path, const Arguments& arguments,
                 Tally& tally) {
  tally.add_file();
  bool probe = path.ends_with(".jsonl");
  int number = 0;
  for (const std::string& line : read_lines(path)) {
    ++number;
    if (trimmed(line).empty() || line[0] == '#') continue;
    std::string place = path + ":" + std::to_string(number);
    try {
      decide_one(probe ? read_probe(line) : read_fact(line), place, arguments,
                 tally);
    } catch (const Error& error) {
      tally.add_error("errors", place, error.what());
    } catch (const OutOfBudget&) {
      tally.add_error("errors", place,
                      "decide: its facts take more work than a command may do; "
                      "ask about a part of them");
    }
  }
}

}  // namespace

int decide(const Arguments& arguments) {
  if (arguments.positional.empty()) {
    throw Error("decide: expected one or more files of facts");
  }
  Tally tally;
  for (const std::string& path : arguments.positional) {
    decide_file(path, arguments, tally);
  }
  tally.print(arguments.list);
  if (arguments.stats) tally.print_strategies();
  if (arguments.json) std::cout << tally.json() << "\n";
  if (tally.wrong() > 0) return kNoOrWrong;
  return tally.errors() > 0 ? kTrouble : kYesOrGood;
}

}  // namespace proviso::cli
