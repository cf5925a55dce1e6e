// replay: recorded sessions (cli/session.h), asked again line by line.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <system_error>
#include <unordered_map>

#include "cli/arguments.h"
#include "cli/command_units.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "cli/tally.h"
#include "cli/timer.h"
#include "solver/options.h"
#include "sym/budget.h"
#include "sym/print.h"

namespace proviso::cli {
namespace {

// What a question took is the median of so many replays, each of which parses
// and assumes by itself: the answers are the last one's.
constexpr size_t kRounds = 3;
constexpr uintmax_t kShort = 16'384;   // bytes
constexpr uint64_t kEnough = 500'000;  // units of work (sym/budget.h)

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
      } catch (const OutOfBudget&) {  // later answers would lack facts
        tally_.add_error(session_.group(), session_.place(e.line),
                         "replay: the facts to here take more work than a "
                         "command may do; replay a part of them");
        break;
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
      case Event::kAssume: assume(here.context, e.expr); break;
      default: here.context.declare(e.expr, e.range); break;
    }
    ++here.version;
  }

  void assume(Context& context, Expr fact) {
    const Budget budget(fact_units_);
    context.assume(fact);
    fact_units_ = Budget::units_left();
    if (fact_units_ == 0) throw OutOfBudget();
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
  uint64_t fact_units_ = fact_units(session_.bytes());  // left for facts
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
