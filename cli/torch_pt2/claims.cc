#include "cli/torch_pt2/claims.h"

namespace proviso::cli {
namespace {

std::string because_of(Context& known, const Answer& answer) {
  std::string out;
  for (FactId id : answer.facts) {
    const std::string& text = known.fact(id).origin.text;
    out += (out.empty() ? "" : "; ") + text;
  }
  return out;
}

}  // namespace

std::vector<Finding> judge(ExprPool& pool,
                           const std::vector<std::pair<Expr, Interval>>& ranges,
                           const std::vector<ClaimText>& claims,
                           const std::vector<ClaimText>& taken_for_granted) {
  Context known(pool);
  for (const auto& [symbol, range] : ranges)
    known.declare(symbol, range,
                  {symbol.symbol().source + " in " + range.to_string()});
  std::vector<Finding> findings;
  for (const ClaimText& claim : claims) {
    if (!claim.problem.empty()) {
      findings.push_back({"wrong", claim.text, claim.problem});
      continue;
    }
    const Answer answer = known.ask(claim.condition);
    const char* kind = answer.verdict == Verdict::kYes  ? "implied"
                       : answer.verdict == Verdict::kNo ? "wrong"
                                                        : "needed";
    findings.push_back({kind, claim.text, because_of(known, answer)});
    if (answer.verdict != Verdict::kNo)
      known.assume(claim.condition, {claim.text});
  }
  for (const ClaimText& fact : taken_for_granted) {
    const Answer answer = known.ask(fact.condition);
    if (answer.verdict == Verdict::kYes) continue;
    std::string for_instance;
    if (answer.counterexample)
      for_instance = "for instance " + answer.counterexample->to_string();
    findings.push_back({"missing", fact.text, for_instance});
  }
  return findings;
}

}  // namespace proviso::cli
