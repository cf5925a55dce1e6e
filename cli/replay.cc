// replay: recorded sessions, asked again line by line.  The format is
// "shapelog 1": symbol, range, assume and ask lines; an ask line carries the
// truth.
#include <iostream>
#include <memory>

#include "cli/arguments.h"
#include "cli/tally.h"
#include "cli/timer.h"
#include "sym/parse.h"
#include "sym/print.h"

namespace proviso::cli {
namespace {

std::string stem(const std::string& path) {
  size_t from = path.find_last_of('/') + 1;  // npos + 1 is 0
  return path.substr(from, path.rfind('.') - from);
}

// The text before `word`, which is taken off `rest` with it.
std::string_view take_until(std::string_view& rest, std::string_view word) {
  size_t at = rest.find(word);
  std::string_view head = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view{}
                                      : rest.substr(at + word.size());
  return trimmed(head);
}

Truth truth_of(std::string_view word) {
  if (word == "valid") return Truth::kValid;
  if (word == "refuted") return Truth::kRefuted;
  if (word == "open") return Truth::kOpen;
  return Truth::kUnjudged;  // hard, unsupported
}

class Replay {
 public:
  Replay(const std::string& path, const Arguments& arguments, Tally& tally)
      : path_(path), group_(stem(path)), tally_(tally),
        context_(pool_, options(arguments)) {}

  void run() {
    for (const std::string& line : read_lines(path_)) {
      ++number_;
      std::string_view rest = trimmed(line);
      if (rest.empty() || rest[0] == '#') continue;
      try {
        event(rest);
      } catch (const Error& error) {
        tally_.add_error(group_, place(), error.what());
      }
    }
  }

 private:
  static SolverOptions options(const Arguments& arguments) {
    SolverOptions result;
    result.use_z3 = !arguments.no_z3;
    result.machine_int64 = true;
    return result;
  }

  std::string place() const { return path_ + ":" + std::to_string(number_); }
  Provenance origin(std::string_view text) const {
    return {std::string(text), path_, number_};
  }

  void event(std::string_view line) {
    std::string_view rest = line;
    std::string_view word = take_until(rest, " ");
    if (word == "symbol") return symbol(line, rest);
    if (word == "range") return range(line, rest);
    if (word == "assume") {
      context_.assume(parse(pool_, rest), origin(line));
      return;
    }
    if (word == "ask") return ask(rest);
    throw Error("replay: expected symbol, range, assume or ask, got '" +
                std::string(word) + "'");
  }

  // NAME backed hint V range [LO, HI]  |  NAME unbacked range [LO, HI]
  void symbol(std::string_view line, std::string_view rest) {
    std::string_view name = take_until(rest, " ");
    take_until(rest, "range ");
    declare(name, rest, line);
  }
  void range(std::string_view line, std::string_view rest) {
    std::string_view name = take_until(rest, " ");
    declare(name, rest, line);
  }

  void declare(std::string_view name, std::string_view ends,
               std::string_view line) {
    Expr symbol = parse(pool_, name);
    if (!symbol.is_symbol()) throw Error("replay: not a symbol's name");
    if (symbol.is_float()) return declare_float(symbol, ends, line);
    RangeDeclaration r =
        parse_range(std::string(name) + " in " + std::string(ends));
    context_.declare(symbol, Interval::of(r.lower, r.upper), origin(line));
  }

  // Float ends are relations: "[1.0e-12, oo]".
  void declare_float(Expr symbol, std::string_view ends,
                     std::string_view line) {
    if (!ends.starts_with("[") || !ends.ends_with("]")) {
      throw Error("replay: expected [LO, HI], got '" + std::string(ends) + "'");
    }
    std::string_view high = ends.substr(1, ends.size() - 2);
    std::string_view low = take_until(high, ",");
    high = trimmed(high);
    if (low != "-oo") {
      context_.assume(le(parse(pool_, low), symbol), origin(line));
    }
    if (high != "oo") {
      context_.assume(le(symbol, parse(pool_, high)), origin(line));
    }
  }

  // KIND EXPR ; truth T ; peer ANSWER Nus
  void ask(std::string_view rest) {
    std::string_view kind = take_until(rest, " ");
    std::string_view text = take_until(rest, ";");
    take_until(rest, "truth ");
    std::string_view truth = take_until(rest, ";");
    Expr question = parse(pool_, text);
    if (!question.is_bool()) return;  // a value was read
    Timer timer;
    Answer answer = context_.ask(question);
    double us = timer.us();
    tally_.add(group_,
               place() + ": ask " + std::string(kind) + " " + std::string(text),
               truth_of(truth), answer, us);
  }

  std::string path_, group_;
  Tally& tally_;
  ExprPool pool_;
  Context context_;
  int number_ = 0;
};

}  // namespace

int replay(const Arguments& arguments) {
  if (arguments.positional.empty()) {
    throw Error("replay: expected one or more *.shapelog files");
  }
  Tally tally;
  for (const std::string& path : arguments.positional) {
    // A session's pool and solver are large: one at a time.
    std::make_unique<Replay>(path, arguments, tally)->run();
  }
  tally.print(arguments.all);
  if (arguments.json) std::cout << tally.json() << "\n";
  if (tally.wrong() > 0) return kNoOrWrong;
  return tally.errors() > 0 ? kTrouble : kYesOrGood;
}

}  // namespace proviso::cli
