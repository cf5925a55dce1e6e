#include "solver/trace.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "solver/options.h"
#include "sym/pool_stores.h"
#include "sym/print.h"
#include "sym/symbol_kinds.h"

namespace proviso::inline v0_2::internal {

std::shared_ptr<Trace> Trace::of_environment() {
  static const char* const path = std::getenv("PROVISO_TRACE");
  if (path == nullptr || *path == '\0') return nullptr;
  // Never closed: contexts may outlive main().  Each line is flushed, so that
  // what led to a crash is there.
  static std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) {
    throw Error("Context: PROVISO_TRACE is '" + std::string(path) +
                "', which cannot be written: " + std::strerror(errno));
  }
  static auto* const trace = new std::shared_ptr<Trace>(
      std::make_shared<Trace>([](std::string_view t) {
        std::fwrite(t.data(), 1, t.size(), file);
        std::fputc('\n', file);
        std::fflush(file);
      }));
  return *trace;
}

namespace {
thread_local bool sink_is_called = false;
}  // namespace

bool Trace::is_in_sink() { return sink_is_called; }

void Trace::write(uint64_t context, const std::string& text) {
  if (!sink_) return;
  struct Called {
    Called() { sink_is_called = true; }
    ~Called() { sink_is_called = false; }
  } const called;
  sink_("@" + std::to_string(context) + " " + text);
}

Trace::PoolNames& Trace::names_of(ExprPool& pool) {
  PoolNames& known = pools_[&pool];
  if (known.number == 0 || known.alive.lock() != PoolStores::companion(pool)) {
    known = {.number = ++pools_made_, .alive = PoolStores::companion(pool)};
  }
  return known;
}

// Nothing is said of a symbol before a line may need it: then of all that the
// pool has, in their order, so that they are made in the same order again.
void Trace::name_symbols(uint64_t context, ExprPool& pool) {
  PoolNames& known = names_of(pool);
  const auto symbols = pool.symbols();
  for (; known.symbols < symbols.size(); ++known.symbols) {
    const Symbol& symbol = symbols[known.symbols].symbol();
    write(context,
          "symbol " + symbol.name + " " + std::string(name_of(symbol.kind)));
  }
}

uint64_t Trace::begin(ExprPool& pool, const SolverOptions& options) {
  const std::lock_guard alone(lock_);
  const uint64_t number = ++contexts_;
  write(number, "pool " + std::to_string(names_of(pool).number));
  const SolverOptions defaults;
  each_option(options, [&](const OptionInfo& row, const auto& field) {
    if (static_cast<uint64_t>(field) == get_option(defaults, row.name)) return;
    write(number, "option " + std::string(row.name) + " " +
                      std::to_string(static_cast<uint64_t>(field)));
  });
  for (const OptionValue& option : changed_limits_and_strategies(options))
    write(number, "option " + option.name + " " + std::to_string(option.value));
  return number;
}

uint64_t Trace::clone(uint64_t of) {
  const std::lock_guard alone(lock_);
  const uint64_t number = ++contexts_;
  write(number, "clone " + std::to_string(of));
  return number;
}

void Trace::line(uint64_t context, std::string_view what) {
  const std::lock_guard alone(lock_);
  write(context, std::string(what));
}

void Trace::line(uint64_t context, std::string_view what, Expr e,
                 std::string_view rest) {
  const std::lock_guard alone(lock_);
  name_symbols(context, e.pool());
  std::string text;
  try {
    text = std::string(what) + " " + to_torch(e) + std::string(rest);
  } catch (const Error& error) {
    text = "# " + std::string(what) + ": " + error.what();
  }
  write(context, text);
}

void Trace::range(uint64_t context, Expr symbol, const Interval& range) {
  line(context, "range", symbol, " " + range.to_string());
}

void Trace::asked(uint64_t context, std::string_view how, Expr question,
                  Verdict verdict, bool is_shown_open, bool is_contradiction) {
  line(context, "ask " + std::string(how), question,
       std::string(" ; truth ") + (verdict == Verdict::kYes  ? "valid"
                                   : verdict == Verdict::kNo ? "refuted"
                                   : is_contradiction        ? "vacuous"
                                   : is_shown_open           ? "open"
                                                             : "hard"));
}

}  // namespace proviso::inline v0_2::internal
