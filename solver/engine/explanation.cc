#include "solver/engine/explanation.h"

#include <algorithm>
#include <numeric>

#include "solver/engine/native_answers.h"
#include "solver/limits_in_force.h"

namespace proviso::inline v0_2::internal {
namespace {

// What found the answer to all facts is enough for a subset, mostly.
SolverOptions as_needed_for(const Remembered& answer, SolverOptions options) {
  options.use_z3 = options.search_models = false;
  options.restart = options.restart && answer.strategy == Strategy::kRestarts;
  return options;
}

// Whether subsets of a reasoner's facts imply what all of them do.
class Subsets {
 public:
  Subsets(Reasoner& all, Expr question, const Remembered& answer)
      : all_(all),
        question_(question),
        verdict_(answer.verdict),
        options_(as_needed_for(answer, all.options())) {}

  // Requires ascending ids.
  bool imply(const std::vector<FactId>& ids) {
    const auto differ =
        std::mismatch(assumed_.begin(), assumed_.end(), ids.begin(), ids.end());
    const auto shared = static_cast<size_t>(differ.first - assumed_.begin());
    for (; assumed_.size() > shared; assumed_.pop_back()) subset_.pop();
    for (size_t i = shared; i < ids.size(); ++i) {
      subset_.push(false);
      subset_.assume(all_.facts().condition(ids[i]), {});
      assumed_.push_back(ids[i]);
    }
    return native_.ask(question_) == verdict_;
  }

 private:
  Reasoner& all_;
  const Expr question_;
  const Verdict verdict_;
  const SolverOptions options_;
  Statistics uncounted_;
  FactStack subset_{all_.pool(), options_, uncounted_};
  NativeAnswers native_{subset_};
  std::vector<FactId> assumed_;  // in subset_, each in a scope of its own
};

std::vector<FactId> first(size_t count) {
  std::vector<FactId> ids(count);
  std::iota(ids.begin(), ids.end(), 0u);
  return ids;
}

// A proof may lean on what the facts it used alone do not repeat: then every
// fact that could matter is named.
void complete(Reasoner& reasoner, Expr question, Subsets& subsets,
              std::vector<FactId>& used) {
  const size_t count = reasoner.facts().size();
  if (used.size() == count || subsets.imply(used)) return;
  used = reasoner.facts().connected_to(question).facts;
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

std::vector<FactId> complete_facts(Reasoner& reasoner, Expr question,
                                   const Remembered& answer) {
  std::vector<FactId> used = reasoner.facts_in(answer.why);
  if (answer.verdict == Verdict::kUnknown) return used;
  const bool is_complete =
      reasoner
          .within(reasoner.options().work_limit,
                  [&] {
                    Subsets subsets(reasoner, question, answer);
                    complete(reasoner, question, subsets, used);
                    return true;
                  })
          .has_value();
  return is_complete ? used : first(reasoner.facts().size());
}

std::vector<FactId> fewest_facts(Reasoner& reasoner, Expr question,
                                 const Remembered& answer) {
  std::vector<FactId> used = reasoner.facts_in(answer.why);
  const uint64_t work_limit = reasoner.options().work_limit;
  const size_t count = reasoner.facts().size();
  if (used.size() == count && used.size() < 2) return used;
  if (used.size() > limits().minimized_facts) return used;
  Subsets subsets(reasoner, question, answer);
  const bool is_complete =
      reasoner
          .within(thousandths(limits().completion_work, work_limit),
                  [&] {
                    complete(reasoner, question, subsets, used);
                    return true;
                  })
          .has_value();
  if (!is_complete) return first(count);
  if (used.size() > limits().minimized_facts) return used;
  reasoner.within(thousandths(limits().minimization_work, work_limit), [&] {
    minimize(subsets, used);
    return true;
  });
  return used;
}

}  // namespace proviso::inline v0_2::internal
