// solver/engine.h - what a context does: assumptions, questions, answers.
//
// One engine serves a context and its clones: the facts that differ
// between them are assumed and retracted on the way (solver/solver.cc).
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "solver/candidate_models.h"
#include "solver/domain.h"
#include "solver/id_map.h"
#include "solver/lower.h"
#include "solver/models.h"
#include "solver/point.h"
#include "solver/prover.h"
#include "solver/solver.h"
#include "solver/strategy.h"
#include "solver/z3_backend.h"

namespace proviso {

// The facts assumed since the version before, when it is not the present one.
struct Version {
  std::shared_ptr<Version> parent;
  bool is_scope = false;   // made by push()
  bool is_frozen = false;  // a clone builds on it: facts go to a new version
  std::vector<Fact> facts = {};
};

struct Engine {
  Engine(ExprPool& p, SolverOptions o);

  ExprPool& pool;
  SolverOptions options;
  FormPool& forms;
  Lowering& lower;
  // What the pool owns for all its contexts: gone when the pool is.
  const std::weak_ptr<void> of_pool;
  ReasonArena reasons;
  Domain domain;
  Prover prover;
  CandidateModels candidates;
  Z3Backend z3;
  Statistics statistics;

  struct Assumed {
    Expr condition;
    uint32_t origin;  // in `origins`; most have none
  };
  std::vector<Assumed> facts;
  std::vector<Provenance> origins;
  // The versions that led to the present one; each but the first is a scope.
  std::vector<std::shared_ptr<Version>> path;
  struct Scope {
    Domain::Mark mark;
    size_t candidates;
    size_t facts;
    uint32_t reasons;
  };
  std::vector<Scope> scopes;

  // versions[n] names the state after the first n facts: an answer given at
  // (n, versions[n]) holds for as long as that state is part of the present.
  std::vector<uint64_t> versions;
  uint64_t next_version = 2;
  struct Memo {
    uint64_t version;
    uint32_t facts;
    Verdict verdict;
    Tier tier;
    uint8_t strategy;
    bool is_contradiction;  // of the facts near it; `why` says which
    bool gave_up;           // at the limit of work
    Reason why;
    uint32_t epoch;  // `why` is gone when the arena has been cut since
  };
  std::vector<Memo> memo;
  IdMap memo_of;  // from node ids
  // The last full answers, by question id modulo their number: most
  // programs ask the same few questions over and over.
  struct Answered {
    Expr question;
    uint64_t version = 0;
    Answer answer;
  };
  static constexpr size_t kAnswered = 16;
  std::vector<Answered> answered;  // made with the first
  // What simplify() made of a node, of the version it was found in.
  struct Simplified {
    uint64_t version;
    Expr form;
  };
  std::unordered_map<uint32_t, Simplified> simplified;
  uint32_t epoch = 0;

  // Facts by symbol, for those that matter to a question; made when needed.
  std::vector<std::vector<uint32_t>> facts_of_symbol;
  std::vector<std::vector<Expr>> symbols_of_fact;

  struct Consistency {
    uint64_t version = 0;  // at which the facts were looked at
    uint32_t facts = 0;    // how many there were
    size_t formulas = 0;   // and how many formulas of theirs
    std::vector<FactId> contradiction;
  };
  Consistency consistency;

  std::atomic<bool> interrupted{false};  // by Context::interrupt()

  // What `work` returns; nothing when it takes more than so many units, and
  // the domain is then as before.
  template <typename Work>
  auto within(uint64_t units, Work work) -> std::optional<decltype(work())>;

  // --- versions
  void go_to(const std::shared_ptr<Version>& target);
  void push();
  void pop();

  // --- assumptions
  void check(Expr e, const char* call, const char* expected) const;
  FactId assume(Expr condition, Provenance&& origin);
  Fact fact(FactId id) const;

  // --- asking
  void run(Stage stage, Search& search);
  Search prove(Expr question);
  Search decide_natively(Expr question);
  Decision restart(Search& search);
  Decision enumerate(Search& search, int64_t most);
  bool has_min_max(const Search& search);  // a relation about Min or Max
  Decision decide_min_max(const Search& search);
  std::optional<Reason> contradiction_near(Expr question, bool value, Tier tier,
                                           Reason why);
  Answer ask(Expr question);
  Answer answer(Expr question);
  Verdict ask_quick(Expr question);
  const Memo* remembered(Expr question) const;
  const Memo& remember(Expr question, const Search& s);
  const Memo& native_answer(Expr question);
  Answer contradictory(const std::vector<FactId>& which) const;
  std::vector<FactId> used_facts(Reason why) const;
  std::string in_words(const std::vector<FactId>& ids) const;
  // Facts that contradict each other, wherever they are; looked for once at
  // each version.
  const std::vector<FactId>& contradiction_anywhere();
  std::optional<std::vector<FactId>> contradiction_of(Expr question,
                                                      const Memo& m);
  std::vector<FactId> complete_facts(Expr question, const Memo& m);
  std::vector<FactId> fewest_facts(Expr question, const Memo& m);
  bool facts_hold(const std::vector<uint32_t>& ids,
                  const Assignment& point) const;
  std::optional<Assignment> find_point(FormulaId goal,
                                       const std::vector<Expr>& symbols,
                                       const ModelSearch::Accept& accept,
                                       uint64_t units);
  void find_models(Expr question, uint64_t units, Answer& answer);
  void explain_models(Answer& answer, const std::string& undefined);
  void ask_z3(Expr question, Answer& answer);
  void keep_models(Expr question, const std::vector<uint32_t>& relevant,
                   const Z3Backend::Result& r, Answer& answer);
  std::vector<uint32_t> relevant_facts(Expr question,
                                       std::vector<Expr>& symbols);
  void trim_reasons(uint32_t size);
  void keep_reason(uint32_t size, Reason& why);

  // solver.cc
  std::optional<std::vector<Int>> values(Expr e, size_t limit);
  Expr substitute(Expr e);
  Expr simplify(Expr e);
  Expr find_cheapest(Expr e);
  Expr canonical(Expr e);
  Expr with_constants(Expr e);
  std::optional<Expr> decided(Expr e);

  Range range_of(Expr e);
  Range polynomial_range(Expr e);

  // sharpen.cc
  Interval written_range(Expr e);
  bool reads_better_as_written(Expr e);
  void sharpen(Expr e, Interval& range);
  std::optional<Int> constant_of(Expr e);
  std::unordered_map<uint32_t, bool> hides_ranges_;  // by node
  Int divisor_of(const Poly& p, int depth);
};

template <typename Work>
auto Engine::within(uint64_t units, Work work)
    -> std::optional<decltype(work())> {
  const Domain::Mark before = domain.mark();
  try {
    Budget budget(units, &interrupted);
    return work();
  } catch (const OutOfBudget&) {
    domain.set_limit(~uint64_t{0});
    domain.undo(before);
    return std::nullopt;
  }
}

}  // namespace proviso
