// cli/session.h - a recorded session's file, parsed.
//
//   Session session("compile-bert.shapelog", tally);   // what is wrong in it
//   for (const Event& e : session.events()) ...        // goes to the tally
//
// The format is "shapelog 1": symbol, range, assume and ask lines; an ask line
// carries the truth.  What PROVISO_TRACE wrote is read too (solver/trace.h):
// there a line starts with @N, the context that it is of, and may make, copy,
// scope or end it, or say what a call gave.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/tally.h"
#include "solver/options.h"

namespace proviso::cli {

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

class Session {
 public:
  Session(const std::string& path, Tally& tally);
  ExprPool& pool(uint64_t context);
  // Those that a trace gives a context; nullptr for a session without.
  const SolverOptions* options(uint64_t context) const {
    const auto known = options_of_.find(context);
    return known == options_of_.end() ? nullptr : &known->second;
  }
  const std::vector<Event>& events() const { return events_; }
  uint64_t bytes() const { return bytes_; }  // of its file
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
  void read_all(Tally& tally);
  void add(Event e);
  Expr parsed(std::string_view text);
  static uint64_t number(std::string_view text, const char* what);
  uint64_t take_context(std::string_view& rest);
  ExprPool& made_pool(uint64_t number);
  // False for a line that is as in other sessions.
  bool read_of_trace(std::string_view line);
  void read_symbol(std::string_view rest);
  void read_result(std::string_view call, std::string_view text,
                   std::string_view result);
  void read(std::string_view rest);
  void declare(std::string_view name, std::string_view ends);
  // Float ends are relations: "[1.0e-12, oo]".
  void declare_float(Expr symbol, std::string_view ends);
  // KIND EXPR ; truth T ; peer ANSWER Nus
  void ask(std::string_view rest);

  std::string path_;
  uint64_t bytes_ = 0;
  std::map<uint64_t, std::unique_ptr<ExprPool>> pools_;
  std::map<uint64_t, ExprPool*> pool_of_;  // by context
  std::map<uint64_t, SolverOptions> options_of_;
  uint64_t context_ = 0;                             // of the line that is read
  std::vector<std::unique_ptr<std::string>> lines_;  // events point into them
  std::vector<Event> events_;
};

}  // namespace proviso::cli
