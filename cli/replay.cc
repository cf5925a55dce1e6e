// replay: recorded sessions, asked again line by line.  The format is
// "shapelog 1": symbol, range, assume and ask lines; an ask line carries the
// truth.  What PROVISO_TRACE wrote is read too (solver/trace.h): there a line
// starts with @N, the context that it is of, and may make, copy, scope or end
// it, or say what a call gave.
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <system_error>
#include <tuple>
#include <unordered_map>

#include "cli/arguments.h"
#include "cli/progress.h"
#include "cli/tally.h"
#include "cli/timer.h"
#include "solver/options.h"
#include "sym/budget.h"
#include "sym/parse.h"
#include "sym/print.h"
#include "sym/symbol_kinds.h"

namespace proviso::cli {
namespace {

// What a question took is the median of so many replays, each parsed and
// assumed anew: the answers are the last one's.
constexpr size_t kRounds = 3;
constexpr uintmax_t kShort = 16'384;   // bytes
constexpr uint64_t kEnough = 500'000;  // units of work (sym/budget.h)

// The text before `word`, which is taken off `rest` with it.
std::string_view take_until(std::string_view& rest, std::string_view word) {
  size_t at = rest.find(word);
  std::string_view head = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view{}
                                      : rest.substr(at + word.size());
  return trimmed(head);
}

struct Event {
  enum Kind {
    kDeclare,
    kAssume,
    kAsk,
    kValue,
    kOpen,
    kClone,
    kPush,
    kPop,
    kEnd,
    kResult
  } kind;
  Expr expr = {};       // what is declared, assumed or asked
  Interval range = {};  // kDeclare
  Truth truth = Truth::kHard;
  double peer_us = 0;
  int line = 0;
  uint64_t context = 0;                     // 0: of a session that names none
  uint64_t of = 0;                          // kClone
  std::string_view call = {}, result = {};  // kResult
};

// What a call gives, as a trace writes it; nullopt for another call.
std::optional<std::string> result_of(Context& context, std::string_view call,
                                     Expr e) {
  if (call == "bounds") return context.bounds(e).to_string();
  if (call == "bounds_quick") return context.bounds_quick(e).to_string();
  if (call == "strided") return context.strided(e).to_string();
  if (call == "multiple_of") return context.multiple_of(e).to_string();
  if (call == "substitute") return to_string(context.substitute(e));
  if (call == "simplify") return to_string(context.simplify(e));
  if (call == "canonical") return to_string(context.canonical(e));
  if (!call.starts_with("values ")) return std::nullopt;
  const auto values = context.values(
      e, std::strtoull(std::string(call.substr(7)).c_str(), nullptr, 10));
  if (!values) return "many";
  std::string text;
  for (const Int& value : *values)
    text += (text.empty() ? "" : " ") + value.to_string();
  return text;
}

// A session's file, parsed.
class Session {
 public:
  Session(const std::string& path, Tally& tally) : path_(path) {
    for (std::string& line : read_lines(path)) {
      lines_.push_back(std::make_unique<std::string>(std::move(line)));
      std::string_view rest = trimmed(*lines_.back());
      if (rest.empty() || rest[0] == '#') continue;
      try {
        context_ = rest[0] == '@' ? take_context(rest) : 0;
        if (context_ == 0 || !read_of_trace(rest)) read(rest);
      } catch (const Error& error) {
        tally.add_error(group(), place(static_cast<int>(lines_.size())),
                        error.what());
      }
    }
  }

  ExprPool& pool(uint64_t context) {
    const auto known = pool_of_.find(context);
    if (known != pool_of_.end()) return *known->second;
    if (context != 0) {
      throw Error("replay: context " + std::to_string(context) +
                  " has no pool or clone line before");
    }
    return *pool_of_.emplace(0, &made_pool(0)).first->second;
  }
  // Those that a trace gives a context; nullptr for a session without.
  const SolverOptions* options(uint64_t context) const {
    const auto known = options_of_.find(context);
    return known == options_of_.end() ? nullptr : &known->second;
  }
  const std::vector<Event>& events() const { return events_; }
  std::string group() const {
    size_t from = path_.find_last_of('/') + 1;  // npos + 1 is 0
    return path_.substr(from, path_.rfind('.') - from);
  }
  std::string place(int line) const {
    return path_ + ":" + std::to_string(line);
  }
  const std::string& text(const Event& e) const {
    return *lines_[static_cast<size_t>(e.line) - 1];
  }

 private:
  void add(Event e) {
    e.line = static_cast<int>(lines_.size());
    e.context = context_;
    events_.push_back(std::move(e));
  }
  Expr parsed(std::string_view text) { return parse(pool(context_), text); }

  static uint64_t number(std::string_view text, const char* what) {
    uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec == std::errc() && read.ptr == end) return value;
    throw Error("replay: expected " + std::string(what) + ", got '" +
                std::string(text) + "'");
  }

  uint64_t take_context(std::string_view& rest) {
    rest.remove_prefix(1);
    const uint64_t n = number(take_until(rest, " "), "a context's number");
    if (n == 0) throw Error("replay: contexts are numbered from 1");
    return n;
  }

  ExprPool& made_pool(uint64_t number) {
    std::unique_ptr<ExprPool>& pool = pools_[number];
    if (pool == nullptr) pool = std::make_unique<ExprPool>();
    return *pool;
  }

  // False for a line that is as in other sessions.
  bool read_of_trace(std::string_view line) {
    std::string_view rest = line;
    const std::string_view word = take_until(rest, " ");
    rest = trimmed(rest);
    if (word == "pool") {
      pool_of_[context_] = &made_pool(number(rest, "a pool's number"));
      options_of_[context_] = {};
      add({.kind = Event::kOpen});
    } else if (word == "option") {
      const std::string_view name = take_until(rest, " ");
      (void)pool(context_);
      set_option(options_of_[context_], name, number(rest, "a value"));
    } else if (word == "symbol") {
      read_symbol(rest);
    } else if (word == "clone") {
      const uint64_t of = number(rest, "a context's number");
      pool_of_[context_] = &pool(of);
      add({.kind = Event::kClone, .of = of});
    } else if (word == "push" || word == "pop" || word == "end") {
      (void)pool(context_);
      add({.kind = word == "push"  ? Event::kPush
                   : word == "pop" ? Event::kPop
                                   : Event::kEnd});
    } else if (const size_t is = rest.find(" =");
               is != std::string_view::npos && word != "ask" &&
               word != "assume") {
      read_result(word, rest.substr(0, is), trimmed(rest.substr(is + 2)));
    } else {
      return false;
    }
    return true;
  }

  void read_symbol(std::string_view rest) {
    const size_t space = rest.rfind(' ');
    const auto kind = find_symbol_kind(
        space == std::string_view::npos ? "" : rest.substr(space + 1));
    if (!kind) throw Error("replay: expected symbol NAME KIND");
    pool(context_).symbol(rest.substr(0, space), *kind);
  }

  void read_result(std::string_view call, std::string_view text,
                   std::string_view result) {
    if (call == "values") {  // values LIMIT EXPR
      const size_t space = text.find(' ');
      if (space == std::string_view::npos)
        throw Error("replay: expected values LIMIT EXPR");
      call = std::string_view(call.data(), call.size() + 1 + space);
      text.remove_prefix(space + 1);
    }
    add({.kind = Event::kResult,
         .expr = parsed(text),
         .call = call,
         .result = result});
  }

  void read(std::string_view rest) {
    std::string_view word = take_until(rest, " ");
    if (word == "symbol" || word == "range") {
      // NAME backed hint V range [LO, HI]  |  NAME unbacked range [LO, HI]
      std::string_view name = take_until(rest, " ");
      if (word == "symbol") take_until(rest, "range ");
      return declare(name, rest);
    }
    if (word == "assume")
      return add({.kind = Event::kAssume, .expr = parsed(rest)});
    if (word == "ask") return ask(rest);
    throw Error("replay: expected symbol, range, assume or ask, got '" +
                std::string(word) + "'");
  }

  void declare(std::string_view name, std::string_view ends) {
    if (ExprPool scratch; parse(scratch, name).is_float())
      return declare_float(parsed(name), ends);
    RangeDeclaration r =
        parse_range(std::string(name) + " in " + std::string(ends));
    const Expr symbol = declared_symbol(pool(context_), r);
    if (!symbol.is_symbol()) throw Error("replay: not a symbol's name");
    add({.kind = Event::kDeclare,
         .expr = symbol,
         .range = Interval::of(r.lower, r.upper)});
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
      add({.kind = Event::kAssume, .expr = le(parsed(low), symbol)});
    }
    if (high != "oo") {
      add({.kind = Event::kAssume, .expr = le(symbol, parsed(high))});
    }
  }

  // KIND EXPR ; truth T ; peer ANSWER Nus
  void ask(std::string_view rest) {
    take_until(rest, " ");
    std::string_view text = take_until(rest, ";");
    take_until(rest, "truth ");
    Event e{.kind = Event::kAsk, .expr = parsed(text)};
    e.truth = truth_of(take_until(rest, ";"));
    std::string_view us = rest.substr(rest.rfind(' ') + 1);
    e.peer_us = std::strtod(std::string(us).c_str(), nullptr);
    if (!e.expr.is_bool()) e.kind = Event::kValue;
    add(e);
  }

  std::string path_;
  std::map<uint64_t, std::unique_ptr<ExprPool>> pools_;
  std::map<uint64_t, ExprPool*> pool_of_;  // by context
  std::map<uint64_t, SolverOptions> options_of_;
  uint64_t context_ = 0;                             // of the line that is read
  std::vector<std::unique_ptr<std::string>> lines_;  // events point into them
  std::vector<Event> events_;
};

// One pass over a session's events, in contexts of its own.
class Replay {
 public:
  // Each question's microseconds, as they are asked.
  using Times = std::vector<double>;

  // `before`: of earlier passes.
  Replay(Session& session, const Arguments& arguments, Tally& tally,
         const std::vector<Times>& before)
      : session_(session),
        arguments_(arguments),
        tally_(tally),
        before_(before),
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
    while (!running_.empty()) end(running_.begin()->first);
    return std::move(times_);
  }

 private:
  struct Running {
    Context context;
    bool is_clone = false;
    uint64_t version = 1;
    std::vector<uint64_t> asked_at =
        {};  // by node: the version it was asked at
    std::unordered_map<uint32_t, std::pair<uint64_t, bool>> open = {};
  };

  SolverOptions options(uint64_t context) const {
    SolverOptions result = solver_options(arguments_);
    const SolverOptions* const recorded = session_.options(context);
    if (recorded == nullptr) {
      result.machine_int64 = true;
      return result;
    }
    // What the trace has, and what the command line changes.
    SolverOptions merged = *recorded;
    const SolverOptions defaults;
    each_option(merged, [&](const OptionInfo& row, auto&) {
      const uint64_t asked = get_option(result, row.name);
      if (asked != get_option(defaults, row.name))
        set_option(merged, row.name, asked);
    });
    if (result.limits) merged.limits = result.limits;
    merged.disabled_strategies.insert(result.disabled_strategies);
    return merged;
  }

  Running& running(uint64_t context) {
    const auto known = running_.find(context);
    if (known != running_.end()) return known->second;
    Context made(session_.pool(context), options(context));
    assert_facts(made);
    return running_.emplace(context, Running{std::move(made)}).first->second;
  }

  void end(uint64_t context) {
    const auto known = running_.find(context);
    if (known == running_.end()) return;
    if (!known->second.is_clone) tally_.add(known->second.context.statistics());
    running_.erase(known);
  }

  void event(const Event& e) {
    switch (e.kind) {
      case Event::kEnd: return end(e.context);
      case Event::kOpen:
        end(e.context);
        (void)running(e.context);
        return;
      case Event::kClone: {
        Context clone = running(e.of).context.clone();
        end(e.context);
        running_.emplace(e.context, Running{std::move(clone), true});
        return;
      }
      default: break;
    }
    Running& here = running(e.context);
    switch (e.kind) {
      case Event::kAsk: return ask(e, here);
      case Event::kResult: return compare(e, here.context);
      case Event::kValue:
        if (e.expr.is_int()) std::ignore = here.context.bounds(e.expr);
        return;
      case Event::kPush: here.context.push(); break;
      case Event::kPop: here.context.pop(); break;
      case Event::kAssume: here.context.assume(e.expr); break;
      default: here.context.declare(e.expr, e.range); break;
    }
    ++here.version;
  }

  void compare(const Event& e, Context& context) {
    const auto found = result_of(context, e.call, e.expr);
    if (!found) throw Error("replay: no call '" + std::string(e.call) + "'");
    if (*found == e.result) return;
    throw Error("replay: " + std::string(e.call) + " gives " + *found +
                ", and the trace says " + std::string(e.result));
  }

  void ask(const Event& e, Running& here) {
    Context& context = here.context;
    Asked asked;
    asked.truth = e.truth;
    if (e.expr.id() >= here.asked_at.size())
      here.asked_at.resize(e.expr.id() + 1);
    asked.first_time = here.asked_at[e.expr.id()] != here.version;
    here.asked_at[e.expr.id()] = here.version;
    Timer timer;
    asked.verdict = context.ask_quick(e.expr);
    times_.push_back(timer.us());
    asked.us = median_time();
    asked.tier = context.tier_of(e.expr);
    if (asked.verdict == Verdict::kUnknown) look_closer(e, here, asked);
    std::string label = session_.place(e.line) + ": " + session_.text(e);
    if (reasons_ && asked.first_time) {
      bool by_z3 = asked.tier == Tier::kZ3;
      tally_.check_reason(
          context, e.expr, asked.verdict,
          by_z3 ? context.ask(e.expr).facts : context.facts_used(e.expr),
          label);
    }
    tally_.add(session_.group(), label, asked);
    tally_.add_peer(e.peer_us);
  }

  // Of the question that was asked last.
  double median_time() const {
    Times all = {times_.back()};
    for (const Times& pass : before_) {
      if (times_.size() <= pass.size()) all.push_back(pass[times_.size() - 1]);
    }
    return percentile(std::move(all), 0.5);
  }

  // Untimed: a question that is known to be open is shown open; else Z3 may say
  // what the native tiers could not.
  void look_closer(const Event& e, Running& here, Asked& asked) {
    if (asked.truth != Truth::kOpen && native_) return;
    auto [it, is_new] = here.open.try_emplace(e.expr.id());
    if (is_new || it->second.first != here.version) {
      Answer a = here.context.ask(e.expr);
      it->second = {here.version, a.counterexample && a.witness};
      asked.verdict = a.verdict;
      asked.tier = a.tier;
      asked.contradiction = a.is_contradiction;
    }
    asked.shown_open = it->second.second;
  }

  Session& session_;
  const Arguments& arguments_;
  Tally& tally_;
  const std::vector<Times>& before_;
  Times times_;
  std::map<uint64_t, Running> running_;
  bool native_, reasons_;
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
  // One round of a short file that takes long is enough.
  std::error_code unreadable;  // which replay_once() tells
  if (!arguments.reasons &&
      std::filesystem::file_size(path, unreadable) <= kShort) {
    Tally tried = tally;
    const Budget counted(Budget::kUnlimited);
    const uint64_t start = Budget::units_left();
    before.push_back(replay_once(path, arguments, tried, {}));
    if (start - Budget::units_left() >= kEnough) {
      tally = std::move(tried);
      return;
    }
  }
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
  Progress progress("replay", "sessions", arguments.positional.size());
  for (const std::string& path : arguments.positional) {
    replay_file(path, arguments, tally);
    tally.add_file();
    progress.step();
  }
  progress.end();
  tally.print(arguments.list);
  if (arguments.stats) tally.print_strategies();
  if (arguments.json) std::cout << tally.json() << "\n";
  if (tally.wrong() > 0) return kNoOrWrong;
  return tally.errors() > 0 ? kTrouble : kYesOrGood;
}

}  // namespace proviso::cli
