// guards/errors/known_facts.h - what was known when an error arose, as a
// context that can be asked.
//
//   KnownFacts known(text.envs[e.env]);
//   Context context = known.before(e, question);
//   context.ask(question).verdict;  // kYes: PyTorch's own reasoning fell short
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "guards/errors/error_text.h"
#include "solver/solver.h"

namespace proviso::inline v0_2::internal {

class KnownFacts {
 public:
  // The env outlives it; each of its facts is parsed once.
  explicit KnownFacts(const TextEnv& env);

  ExprPool& pool() { return pool_; }
  const TextEnv& env() const { return env_; }

  // What stood before the error, of the symbols that matter to `about`.  The
  // answer of a question is bounded: Z3 is not asked.
  Context before(const TextError& e, Expr about);

  // The sizes of the run on real tensors; nullopt where one of `about` is not
  // known.
  std::optional<Assignment> example(Expr about) const;

 private:
  std::vector<size_t> relevant(const TextError& e, Expr about);
  void declare(Context& context, Expr symbol, bool is_size) const;

  ExprPool pool_;
  const TextEnv& env_;
  std::vector<std::optional<Expr>> facts_;
  std::map<Expr, std::vector<size_t>, ExprLess> facts_of_;  // a symbol
  std::vector<Expr> symbols_;  // of the last context
};

}  // namespace proviso::inline v0_2::internal
