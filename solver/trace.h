// solver/trace.h - what a program asks of its contexts, line by line.
//
//   @1 pool 1
//   @1 option budget 20000                what is not the default
//   @1 symbol n backed_size
//   @1 range n [1, 64]
//   @1 assume Eq(Mod(n, 8), 0)
//   @1 ask prove Eq(Mod(n, 4), 0) ; truth valid
//   @2 clone 1
//   @2 push
//   @2 bounds n + 1 = [9, 65]
//   @2 pop
//   @2 end
//
// @N names the context, in the order of their first calls; pool says which
// contexts share symbols.  `proviso replay` asks the same again and compares;
// ask_quick's unknown is "hard", which is not judged.  A symbol's line comes
// before the first that names it.  A name that is no identifier is written as
// it is, and replay refuses its lines.
//
// A context that has facts when it is first seen (another set_log()) has them
// written before its first line.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "solver/solver.h"

namespace proviso::inline v0_2::internal {

class Trace {
 public:
  explicit Trace(LogSink sink) : sink_(std::move(sink)) {}
  // The one that PROVISO_TRACE names, for every context of the process; null
  // where it names none.  Throws Error when the file cannot be written.
  static std::shared_ptr<Trace> of_environment();

  // Whether a sink runs on this thread.  What it asks has no line: the line
  // would be the sink's own, and so on without end.
  static bool is_in_sink();

  // Each gives the context's number.
  uint64_t begin(ExprPool& pool, const SolverOptions& options);
  uint64_t clone(uint64_t of);

  // One line: `what`, and `e` in PyTorch's form, and `rest`.
  void line(uint64_t context, std::string_view what);
  void line(uint64_t context, std::string_view what, Expr e,
            std::string_view rest = {});
  void range(uint64_t context, Expr symbol, const Interval& range);
  void asked(uint64_t context, std::string_view how, Expr question,
             Verdict verdict, bool is_shown_open, bool is_contradiction);

 private:
  struct PoolNames {
    uint64_t number = 0;
    // Not the pool itself: another may come to lie where it lay.
    std::weak_ptr<void> alive = {};
    size_t symbols = 0;  // how many of them have their line
  };
  PoolNames& names_of(ExprPool& pool);
  void write(uint64_t context, const std::string& text);
  void name_symbols(uint64_t context, ExprPool& pool);

  std::mutex lock_;
  LogSink sink_;
  uint64_t contexts_ = 0, pools_made_ = 0;
  std::unordered_map<const ExprPool*, PoolNames> pools_;
};

}  // namespace proviso::inline v0_2::internal
