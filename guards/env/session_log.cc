#include "guards/env/session_log.h"

#include <sstream>
#include <unordered_map>
#include <utility>

#include "guards/fixed_limits.h"
#include "sym/print.h"
#include "sym/within.h"

namespace proviso::inline v0_2::internal {

namespace {

const char* truth_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kYes: return "valid";
    case Verdict::kNo: return "refuted";
    case Verdict::kUnknown: break;
  }
  return "hard";  // not examined further
}

const char* answer_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kYes: return "True";
    case Verdict::kNo: return "False";
    case Verdict::kUnknown: break;
  }
  return "unknown";
}

}  // namespace

void SessionLog::add_symbol(Expr symbol, const std::optional<Value>& hint,
                            const Interval& range) {
  lines_.push_back({Line::kSymbol, symbol});
  symbols_.push_back({hint, range});
}

void SessionLog::add_fact(Expr condition) {
  lines_.push_back({Line::kAssume, condition});
}

size_t SessionLog::add_question(Expr question, Verdict known) {
  lines_.push_back({Line::kAsk, question, query_, known});
  return lines_.size() - 1;
}

void SessionLog::set_verdict(size_t line, Verdict verdict) {
  lines_[line].verdict = verdict;
}

std::string SessionLog::shapelog() const {
  std::ostringstream out;
  out << "# shapelog 1, recorded by proviso\n";
  // A condition is asked again and again: each is written once.  A line of one
  // that is too long to be read again is a comment.
  std::unordered_map<Expr, std::string, ExprHash> written;
  uint64_t units = fixed::log_units + fixed::log_units_of_line * lines_.size();
  const auto text_of = [&](Expr e) -> const std::string& {
    const auto [at, is_new] = written.try_emplace(e);
    if (is_new)
      at->second = within(units, [&] {
                     return to_string(e, fixed::logged_text);
                   }).value_or("...");
    return at->second;
  };
  const auto begin = [&](Expr e, const char* word) {
    if (text_of(e).find("...") != std::string::npos) out << "# too long: ";
    out << word;
  };
  auto made = symbols_.begin();
  for (const Line& line : lines_) {
    switch (line.kind) {
      case Line::kSymbol: {
        out << "symbol " << line.expr.symbol().name << ' '
            << (made->hint ? "backed hint " + to_string(*made->hint)
                           : "unbacked")
            << " range "
            << (line.expr.is_float() ? "[-oo, oo]" : made->range.to_string())
            << '\n';
        ++made;
        break;
      }
      case Line::kAssume:
        begin(line.expr, "assume ");
        out << text_of(line.expr) << '\n';
        break;
      case Line::kAsk:
        begin(line.expr, "ask ");
        out << line.query << ' ' << text_of(line.expr) << " ; truth "
            << truth_of(line.verdict) << " ; peer " << answer_of(line.verdict)
            << " 0us\n";
        break;
    }
  }
  return out.str();
}

void SessionLog::emit(std::string kind, std::string subject, std::string text,
                      const SourceLocation& where) {
  events_.push_back(
      {std::move(kind), std::move(text), where, std::move(subject)});
  log_event(events_.back());
  if (sink_) sink_(events_.back());
}

void SessionLog::set_sink(std::function<void(const ShapeEvent&)> sink) {
  sink_ = std::move(sink);
}

}  // namespace proviso::inline v0_2::internal
