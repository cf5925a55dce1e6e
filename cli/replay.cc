// replay: recorded sessions, asked again line by line.  The format is
// "shapelog 1": symbol, range, assume and ask lines; an ask line carries the
// truth.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <unordered_map>

#include "cli/arguments.h"
#include "cli/tally.h"
#include "cli/timer.h"
#include "sym/parse.h"
#include "sym/print.h"

namespace proviso::cli {
namespace {

constexpr double kProgressUs = 5e6;  // between two lines of progress
// What a question took is the median of so many replays, each parsed and
// assumed anew: the answers are the last one's.
constexpr size_t kRounds = 3;

// The text before `word`, which is taken off `rest` with it.
std::string_view take_until(std::string_view& rest, std::string_view word) {
  size_t at = rest.find(word);
  std::string_view head = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view{}
                                      : rest.substr(at + word.size());
  return trimmed(head);
}

struct Event {
  enum Kind { kDeclare, kAssume, kAsk, kValue } kind;
  Expr expr;       // what is declared, assumed or asked
  Interval range;  // kDeclare
  Truth truth = Truth::kHard;
  double peer_us = 0;
  int line = 0;
};

// A session's file, parsed.
class Session {
 public:
  Session(const std::string& path, Tally& tally) : path_(path) {
    for (std::string& line : read_lines(path)) {
      lines_.push_back(std::move(line));
      std::string_view rest = trimmed(lines_.back());
      if (rest.empty() || rest[0] == '#') continue;
      try {
        read(rest);
      } catch (const Error& error) {
        tally.add_error(group(), place(static_cast<int>(lines_.size())),
                        error.what());
      }
    }
  }

  ExprPool& pool() { return pool_; }
  const std::vector<Event>& events() const { return events_; }
  std::string group() const {
    size_t from = path_.find_last_of('/') + 1;  // npos + 1 is 0
    return path_.substr(from, path_.rfind('.') - from);
  }
  std::string place(int line) const {
    return path_ + ":" + std::to_string(line);
  }
  const std::string& text(const Event& e) const {
    return lines_[static_cast<size_t>(e.line) - 1];
  }

 private:
  void add(Event e) {
    e.line = static_cast<int>(lines_.size());
    events_.push_back(std::move(e));
  }

  void read(std::string_view rest) {
    std::string_view word = take_until(rest, " ");
    if (word == "symbol" || word == "range") {
      // NAME backed hint V range [LO, HI]  |  NAME unbacked range [LO, HI]
      std::string_view name = take_until(rest, " ");
      if (word == "symbol") take_until(rest, "range ");
      return declare(name, rest);
    }
    if (word == "assume") return add({Event::kAssume, parse(pool_, rest), {}});
    if (word == "ask") return ask(rest);
    throw Error("replay: expected symbol, range, assume or ask, got '" +
                std::string(word) + "'");
  }

  void declare(std::string_view name, std::string_view ends) {
    Expr symbol = parse(pool_, name);
    if (!symbol.is_symbol()) throw Error("replay: not a symbol's name");
    if (symbol.is_float()) return declare_float(symbol, ends);
    RangeDeclaration r =
        parse_range(std::string(name) + " in " + std::string(ends));
    add({Event::kDeclare, symbol, Interval::of(r.lower, r.upper)});
  }

  // Float ends are relations: "[1.0e-12, oo]".
  void declare_float(Expr symbol, std::string_view ends) {
    if (!ends.starts_with("[") || !ends.ends_with("]")) {
      throw Error("replay: expected [LO, HI], got '" + std::string(ends) + "'");
    }
    std::string_view high = ends.substr(1, ends.size() - 2);
    std::string_view low = take_until(high, ",");
    high = trimmed(high);
    if (low != "-oo") {
      add({Event::kAssume, le(parse(pool_, low), symbol), {}});
    }
    if (high != "oo") {
      add({Event::kAssume, le(symbol, parse(pool_, high)), {}});
    }
  }

  // KIND EXPR ; truth T ; peer ANSWER Nus
  void ask(std::string_view rest) {
    take_until(rest, " ");
    std::string_view text = take_until(rest, ";");
    take_until(rest, "truth ");
    Event e{Event::kAsk, parse(pool_, text), {}};
    e.truth = truth_of(take_until(rest, ";"));
    std::string_view us = rest.substr(rest.rfind(' ') + 1);
    e.peer_us = std::strtod(std::string(us).c_str(), nullptr);
    if (!e.expr.is_bool()) e.kind = Event::kValue;
    add(e);
  }

  std::string path_;
  ExprPool pool_;
  std::vector<std::string> lines_;
  std::vector<Event> events_;
};

// One pass over a session's events in a context of its own.
class Replay {
 public:
  // Each question's microseconds, as they are asked.
  using Times = std::vector<double>;

  // `before`: of earlier passes.
  Replay(Session& session, const Arguments& arguments, Tally& tally,
         const std::vector<Times>& before)
      : session_(session),
        tally_(tally),
        before_(before),
        context_(session.pool(), options(arguments)),
        native_(arguments.native),
        reasons_(arguments.reasons) {}

  Times run() {
    for (const Event& e : session_.events()) {
      try {
        event(e);
      } catch (const Error& error) {
        tally_.add_error(session_.group(), session_.place(e.line),
                         error.what());
      }
    }
    tally_.add(context_.statistics());
    return std::move(times_);
  }

 private:
  static SolverOptions options(const Arguments& arguments) {
    SolverOptions result;
    result.use_z3 = !arguments.native;
    result.disabled_strategies = arguments.disabled_strategies;
    result.limits = arguments.limits;
    result.machine_int64 = true;
    return result;
  }

  void event(const Event& e) {
    if (e.kind == Event::kAsk) return ask(e);
    if (e.kind == Event::kValue) {
      if (e.expr.is_int()) context_.bounds(e.expr);
      return;
    }
    ++version_;
    if (e.kind == Event::kAssume) {
      context_.assume(e.expr);
    } else {
      context_.declare(e.expr, e.range);
    }
  }

  void ask(const Event& e) {
    Asked asked;
    asked.truth = e.truth;
    if (e.expr.id() >= asked_at_.size()) asked_at_.resize(e.expr.id() + 1);
    asked.first_time = asked_at_[e.expr.id()] != version_;
    asked_at_[e.expr.id()] = version_;
    Timer timer;
    asked.verdict = context_.ask_quick(e.expr);
    times_.push_back(timer.us());
    asked.us = median_time();
    asked.tier = context_.tier_of(e.expr);
    if (asked.verdict == Verdict::kUnknown) look_closer(e, asked);
    std::string label = session_.place(e.line) + ": " + session_.text(e);
    if (reasons_ && asked.first_time) {
      bool by_z3 = asked.tier == Tier::kZ3;
      tally_.check_reason(
          context_, e.expr, asked.verdict,
          by_z3 ? context_.ask(e.expr).facts : context_.facts_used(e.expr),
          label);
    }
    tally_.add(session_.group(), label, asked);
    tally_.add_peer(e.peer_us);
  }

  // Of the question that was asked last.
  double median_time() const {
    Times all = {times_.back()};
    for (const Times& pass : before_) all.push_back(pass[times_.size() - 1]);
    return percentile(std::move(all), 0.5);
  }

  // Untimed: a question that is known to be open is shown open; else Z3 may say
  // what the native tiers could not.
  void look_closer(const Event& e, Asked& asked) {
    if (asked.truth != Truth::kOpen && native_) return;
    auto [it, is_new] = open_.try_emplace(e.expr.id());
    if (is_new || it->second.first != version_) {
      Answer a = context_.ask(e.expr);
      it->second = {version_, a.counterexample && a.witness};
      asked.verdict = a.verdict;
      asked.tier = a.tier;
    }
    asked.shown_open = it->second.second;
  }

  Session& session_;
  Tally& tally_;
  const std::vector<Times>& before_;
  Times times_;
  Context context_;
  bool native_, reasons_;
  uint64_t version_ = 1;
  std::vector<uint64_t> asked_at_;  // by node: the version it was asked at
  std::unordered_map<uint32_t, std::pair<uint64_t, bool>> open_;
};

Replay::Times replay_once(const std::string& path, const Arguments& arguments,
                          Tally& tally,
                          const std::vector<Replay::Times>& before) {
  Session session(path, tally);
  return Replay(session, arguments, tally, before).run();
}

void replay_file(const std::string& path, const Arguments& arguments,
                 Tally& tally) {
  Arguments timing = arguments;
  timing.reasons = false;
  std::vector<Replay::Times> before;
  while (before.size() + 1 < kRounds) {
    Tally unused;
    before.push_back(replay_once(path, timing, unused, {}));
  }
  replay_once(path, arguments, tally, before);
}

}  // namespace

int replay(const Arguments& arguments) {
  if (arguments.positional.empty()) {
    throw Error("replay: expected one or more *.shapelog files");
  }
  Tally tally;
  Timer timer;
  double reported = 0;
  size_t done = 0;
  for (const std::string& path : arguments.positional) {
    replay_file(path, arguments, tally);
    tally.add_file();
    ++done;
    if (timer.us() - reported < kProgressUs) continue;
    reported = timer.us();
    std::fprintf(stderr, "replay: %zu of %zu sessions, %.0f s\n", done,
                 arguments.positional.size(), reported / 1e6);
  }
  tally.print(arguments.list);
  if (arguments.stats) tally.print_strategies();
  if (arguments.json) std::cout << tally.json() << "\n";
  if (tally.wrong() > 0) return kNoOrWrong;
  return tally.errors() > 0 ? kTrouble : kYesOrGood;
}

}  // namespace proviso::cli
