// Verdicts, tiers, origins and statistics as text.
#include "solver/solver.h"

namespace proviso::inline v0_2 {
namespace {

constexpr std::string_view kTierNames[kTierCount] = {
    "structure", "ranges", "equalities", "linear",
    "cases",     "models", "z3",         "none"};

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kYes: return "yes";
    case Verdict::kNo: return "no";
    case Verdict::kUnknown: break;
  }
  return "unknown";
}

std::string_view name_of(Tier tier) {
  return kTierNames[static_cast<size_t>(tier)];
}

std::string Provenance::to_string() const {
  if (file.empty()) return text;
  return (text.empty() ? "" : text + "  ") + "# " + file + ":" +
         std::to_string(line);
}

std::string Statistics::to_string() const {
  std::string out = std::to_string(questions) + " questions:";
  for (Tier tier : all_tiers()) {
    out += (tier == Tier::kStructure ? " " : ", ") +
           std::string(name_of(tier)) + " " + std::to_string(decided[tier]);
  }
  out += "; memo hits " + std::to_string(memo_hits);
  return out + ", Z3 calls " + std::to_string(z3_calls);
}

std::string Statistics::strategies_to_string() const {
  std::string out;
  const auto add = [&out](std::string_view name, const StrategyCount& c) {
    if (c.tried == 0) return;
    std::string line(name);
    line.resize(28, ' ');
    for (uint64_t n : {c.tried, c.decided, c.work}) {
      const std::string digits = std::to_string(n);
      line += std::string(digits.size() < 12 ? 12 - digits.size() : 1, ' ');
      line += digits;
    }
    out += line + "\n";
  };
  add("box", box);
  for (Strategy strategy : all_strategies())
    add(name_of(strategy), by_strategy[strategy]);
  add("consistency", consistency);
  return out;
}

}  // namespace proviso::inline v0_2
