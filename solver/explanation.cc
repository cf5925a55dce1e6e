// The facts that an answer names: those that its proof used, or fewer.
//
//   used by the proof        s0 >= 2, s1 == 2*s0, Mod(s0, 4) == 0
//   without the last         still "yes": it goes
//   without s1 == 2*s0       unknown: it stays
//
// One further engine, without Z3, tries subset after subset; facts that two
// subsets in a row begin with stay assumed, so that leaving out one fact after
// another from the last to the first assumes each prefix once.
#include <algorithm>
#include <numeric>

#include "solver/engine.h"
#include "solver/limits.h"

namespace proviso {
namespace {

SolverOptions without_points(SolverOptions options) {
  options.use_z3 = options.search_models = false;
  return options;
}

// Whether subsets of an engine's facts imply what all of them do.
class Subsets {
 public:
  Subsets(const Engine& engine, Expr question, Verdict verdict)
      : all_(engine),
        question_(question),
        verdict_(verdict),
        scratch_(engine.pool, without_points(engine.options)) {}

  // Requires ascending ids.
  bool imply(const std::vector<FactId>& ids) {
    const auto differ =
        std::mismatch(assumed_.begin(), assumed_.end(), ids.begin(), ids.end());
    const auto shared = static_cast<size_t>(differ.first - assumed_.begin());
    for (; assumed_.size() > shared; assumed_.pop_back()) scratch_.pop();
    for (size_t i = shared; i < ids.size(); ++i) {
      scratch_.push();
      scratch_.assume(all_.facts[ids[i]].condition, {});
      assumed_.push_back(ids[i]);
    }
    return scratch_.ask_quick(question_) == verdict_;
  }

 private:
  const Engine& all_;
  Expr question_;
  Verdict verdict_;
  Engine scratch_;
  std::vector<FactId> assumed_;  // by scratch_, each in a scope of its own
};

std::vector<FactId> first(size_t count) {
  std::vector<FactId> ids(count);
  std::iota(ids.begin(), ids.end(), 0u);
  return ids;
}

// A proof may lean on what the facts it used alone do not repeat: then every
// fact that could matter is named.
void complete(Engine& engine, Expr question, Subsets& subsets,
              std::vector<FactId>& used) {
  const size_t count = engine.facts.size();
  if (used.size() == count || subsets.imply(used)) return;
  std::vector<Expr> symbols;
  used = engine.relevant_facts(question, symbols);
  std::sort(used.begin(), used.end());
  if (used.size() < count && !subsets.imply(used)) used = first(count);
}

void minimize(Subsets& subsets, std::vector<FactId>& used) {
  for (size_t i = used.size(); i-- > 0 && used.size() > 1;) {
    std::vector<FactId> fewer = used;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (subsets.imply(fewer)) used = std::move(fewer);
  }
}

}  // namespace

// Those that the proof used, where they imply the verdict alone; all of them
// where the limit ends before that is known.
std::vector<FactId> Engine::complete_facts(Expr question, const Memo& m) {
  std::vector<FactId> used = used_facts(m.why);
  if (m.verdict == Verdict::kUnknown) return used;
  const bool is_complete = within(options.work_limit, [&] {
                             Subsets subsets(*this, question, m.verdict);
                             complete(*this, question, subsets, used);
                             return true;
                           }).has_value();
  return is_complete ? used : first(facts.size());
}

std::vector<FactId> Engine::fewest_facts(Expr question, const Memo& m) {
  std::vector<FactId> used = used_facts(m.why);
  if (used.size() == facts.size() && used.size() < 2) return used;
  if (used.size() > limits().minimized_facts) return used;
  Subsets subsets(*this, question, m.verdict);
  const bool is_complete = within(options.work_limit / 8, [&] {
                             complete(*this, question, subsets, used);
                             return true;
                           }).has_value();
  if (!is_complete) return first(facts.size());
  if (used.size() > limits().minimized_facts) return used;
  within(options.work_limit / 4, [&] {
    minimize(subsets, used);
    return true;
  });
  return used;
}

}  // namespace proviso
