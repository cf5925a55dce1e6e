// guards/env/session_log.h - what happened in a session, in order, as two
// records: events for people who watch, and lines that `proviso replay` asks
// again.
//
//   SessionLog log;
//   log.add_symbol(s0, Int(8), Interval::at_least(0));
//   log.add_fact(ge(s0, 2));
//   log.set_query("guard");
//   const size_t line = log.add_question(le(s0, 512));
//   log.set_verdict(line, Verdict::kYes);
//   log.shapelog();
//       // # shapelog 1, recorded by proviso
//       // symbol s0 backed hint 8 range [0, int_oo]
//       // assume s0 >= 2
//       // ask guard s0 <= 512 ; truth valid ; peer True 0us
//
//   log.emit("eval", "s0 <= 512", "eval s0 <= 512 [guard added]", where);
//
// Protocol: a public call names its kind by set_query(), and all questions
// until the next such call are logged as parts of it.  A line is added before
// its question is asked, so that one that throws is in the record as open.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "guards/shape_env.h"

namespace proviso::inline v0_2::internal {

class SessionLog {
 public:
  // --- the shapelog
  // `hint` is that of a backed symbol; of a float the range is not shown.
  void add_symbol(Expr symbol, const std::optional<Value>& hint,
                  const Interval& range);
  void add_fact(Expr condition);
  // The kind of the call under way: "guard", "static", "assert", ...  It is
  // kept by its address: give a literal.
  void set_query(const char* query) { query_ = query; }
  // Returns the line, for the verdict; `known` is what it says until then.
  size_t add_question(Expr question, Verdict known = Verdict::kUnknown);
  void set_verdict(size_t line, Verdict verdict);
  [[nodiscard]] std::string shapelog() const;

  // --- events
  // Kept, and reported to the listeners of the process (guards/logs.h) and to
  // the session's own.
  void emit(std::string kind, std::string subject, std::string text,
            const SourceLocation& where = {});
  void set_sink(std::function<void(const ShapeEvent&)> sink);
  const std::vector<ShapeEvent>& events() const { return events_; }

 private:
  struct Line {
    enum Kind : uint8_t { kSymbol, kAssume, kAsk } kind;
    Expr expr;
    const char* query = "";  // of kAsk
    Verdict verdict = Verdict::kUnknown;
  };
  struct NewSymbol {
    std::optional<Value> hint;
    Interval range;
  };

  std::vector<Line> lines_;
  std::vector<NewSymbol> symbols_;  // of the lines kSymbol, in their order
  const char* query_ = "static";
  std::vector<ShapeEvent> events_;
  std::function<void(const ShapeEvent&)> sink_;
};

// Reports the event to the listeners of the process.
void log_event(const ShapeEvent& event);

}  // namespace proviso::inline v0_2::internal
