#include "cli/session.h"

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "cli/arguments.h"
#include "cli/command_units.h"
#include "sym/budget.h"
#include "sym/operators.h"
#include "sym/parse.h"
#include "sym/pool_stores.h"
#include "sym/symbol_kinds.h"

namespace proviso::cli {
namespace {

// The text before `word`, which is taken off `rest` with it.
std::string_view take_until(std::string_view& rest, std::string_view word) {
  size_t at = rest.find(word);
  std::string_view head = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view{}
                                      : rest.substr(at + word.size());
  return trimmed(head);
}

}  // namespace

Session::Session(const std::string& path, Tally& tally) : path_(path) {
  std::error_code none;
  const uint64_t bytes = std::filesystem::file_size(path, none);
  if (!none) bytes_ = bytes;
  try {
    const Budget budget(command_units(bytes_));
    read_all(tally);
  } catch (const OutOfBudget&) {
    tally.add_error(group(), place(static_cast<int>(lines_.size())),
                    "replay: the lines to here take more work than a command "
                    "may do; ask about a part of them");
  }
}

void Session::read_all(Tally& tally) {
  for (std::string& line : read_lines(path_)) {
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

ExprPool& Session::pool(uint64_t context) {
  const auto known = pool_of_.find(context);
  if (known != pool_of_.end()) return *known->second;
  if (context != 0) {
    throw Error("replay: context " + std::to_string(context) +
                " has no pool or clone line before");
  }
  return *pool_of_.emplace(0, &made_pool(0)).first->second;
}

void Session::add(Event e) {
  e.line = static_cast<int>(lines_.size());
  e.context = context_;
  events_.push_back(std::move(e));
}

Expr Session::parsed(std::string_view text) {
  return parse(pool(context_), text);
}

uint64_t Session::number(std::string_view text, const char* what) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec == std::errc() && read.ptr == end) return value;
  throw Error("replay: expected " + std::string(what) + ", got '" +
              std::string(text) + "'");
}

uint64_t Session::take_context(std::string_view& rest) {
  rest.remove_prefix(1);
  const uint64_t n = number(take_until(rest, " "), "a context's number");
  if (n == 0) throw Error("replay: contexts are numbered from 1");
  return n;
}

ExprPool& Session::made_pool(uint64_t number) {
  std::unique_ptr<ExprPool>& pool = pools_[number];
  if (pool == nullptr) pool = std::make_unique<ExprPool>();
  return *pool;
}

bool Session::read_of_trace(std::string_view line) {
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
  } else if (const size_t is = rest.find(" ="); is != std::string_view::npos &&
                                                word != "ask" &&
                                                word != "assume") {
    read_result(word, rest.substr(0, is), trimmed(rest.substr(is + 2)));
  } else {
    return false;
  }
  return true;
}

void Session::read_symbol(std::string_view rest) {
  const size_t space = rest.rfind(' ');
  const auto kind = find_symbol_kind(
      space == std::string_view::npos ? "" : rest.substr(space + 1));
  if (!kind) throw Error("replay: expected symbol NAME KIND");
  internal::PoolStores::symbol_of_any_name(pool(context_),
                                           rest.substr(0, space), *kind);
}

void Session::read_result(std::string_view call, std::string_view text,
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

void Session::read(std::string_view rest) {
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

void Session::declare(std::string_view name, std::string_view ends) {
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

void Session::declare_float(Expr symbol, std::string_view ends) {
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

void Session::ask(std::string_view rest) {
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

}  // namespace proviso::cli
