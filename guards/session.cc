// The events of a session, and the session as a shapelog.

#include <sstream>

#include "guards/logs.h"
#include "guards/shape_env_impl.h"
#include "sym/print.h"

namespace proviso::inline v0_2 {

void ShapeEnv::Impl::emit(std::string kind, std::string subject,
                          std::string text, const SourceLocation& where) {
  events.push_back(
      {std::move(kind), std::move(text), where, std::move(subject)});
  log_event(events.back());
  if (sink) sink(events.back());
}

namespace {

const char* truth_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kYes: return "valid";
    case Verdict::kNo: return "refuted";
    default: return "hard";  // not examined further
  }
}

const char* answer_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kYes: return "True";
    case Verdict::kNo: return "False";
    default: return "unknown";
  }
}

}  // namespace

std::string ShapeEnv::Impl::shapelog() const {
  std::ostringstream out;
  out << "# shapelog 1, recorded by proviso\n";
  std::map<Expr, Interval, ExprLess> ranges_told(declared.begin(),
                                                 declared.end());
  for (const SessionLine& line : session) {
    switch (line.kind) {
      case SessionLine::kSymbol: {
        const Value* hint = hints.find(line.expr);
        out << "symbol " << line.expr.symbol().name << ' '
            << (hint ? "backed hint " + proviso::to_string(*hint) : "unbacked")
            << " range "
            << (line.expr.is_float() ? "[-oo, oo]"
                                     : ranges_told[line.expr].to_string())
            << '\n';
        break;
      }
      case SessionLine::kAssume:
        out << "assume " << proviso::to_string(line.expr) << '\n';
        break;
      case SessionLine::kAsk:
        out << "ask " << line.query << ' ' << proviso::to_string(line.expr)
            << " ; truth " << truth_of(line.verdict) << " ; peer "
            << answer_of(line.verdict) << " 0us\n";
        break;
    }
  }
  return out.str();
}

}  // namespace proviso::inline v0_2
