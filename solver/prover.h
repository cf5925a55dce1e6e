// solver/prover.h - the strategies above ranges: linear rows, products, case
// splits.
//
//   Prover prover(domain);
//   auto proof = prover.refute(forms.negate(f), Effort::kLinear, units);
//   // a proof that the facts imply f
//
// A refutation assumes the condition in the domain, looks for a contradiction,
// and takes everything back.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "solver/domain.h"
#include "solver/linear.h"

namespace proviso {

// Rows with lemmas about products, then with their own products; case splits
// over the first; the values of bounded variables, one by one.
enum class Effort { kLinear, kCases, kValues };

struct Proof {
  Reason why = 0;  // kQuestionLeaf among its leaves stands for the condition
  bool used_cases = false;
};

inline constexpr uint32_t kQuestionLeaf = ~0u - 1;

class Prover final : private QuotientProver {
 public:
  explicit Prover(Domain& domain)
      : domain_(domain), forms_(domain.forms()), reasons_(domain.reasons()) {}

  // Literals whose rows do not contradict each other, as one effort leaves them
  // to the next in the same state.
  using Tried = std::vector<FormulaId>;

  // Spends at most `units` of work; nullopt is "no proof found".
  std::optional<Proof> refute(FormulaId f, Effort effort, uint64_t units,
                              Tried& tried);

  // What a product of facts and of what is nonnegative implies at once: i < m
  // and j < n make i*n + j < m*n.  With side steps more is found, at more cost.
  Decision decide_by_rows(FormulaId f, int side_steps = 0);

  // What a quotient by an assumed row implies: A + B + A*B >= 0 where A, B >=
  // 0.
  Decision decide_by_division(FormulaId f, uint64_t units);

  // What the domain alone decides in every case of a disjunction (or of a Min,
  // Max or Where) that the condition's atoms are in.
  Decision decide_in_cases(FormulaId f, uint64_t units);
  bool has_assumed_clause(FormulaId f) { return assumed_clause(f).has_value(); }

  // What ranges decide once nested floors are merged, and quotients taken out
  // whose remainder is one by nonnegative combinations; at most `units`.
  Decision decide_by_floors(FormulaId f, uint64_t units);
  bool has_symbolic_divisor(FormulaId f);

  // What equalities between products say about the ratio of two products; at
  // most `units`.
  Decision decide_by_ratios(FormulaId f, uint64_t units);
  // Whether such equalities are about the condition's atoms.
  bool has_products(FormulaId f);

  // What holds for each of the values that bounded variables near the condition
  // can take, where it can be true (false); at most `units` for either.
  Decision decide_by_values(FormulaId f, bool can_be_true, bool can_be_false,
                            uint64_t units);

  // A contradiction among the facts near these atoms, with nothing assumed.
  std::optional<Proof> refute_facts(std::span<const AtomId> seeds,
                                    uint64_t units);

 private:
  template <typename Attempt>
  std::optional<Proof> within(uint64_t units, Attempt attempt);

  // What is near the condition: rows and what can be split.
  struct Neighborhood {
    std::vector<LinearRow> rows;
    std::vector<MonoId> monos;
    std::vector<Range> bounds;      // of the monomials
    std::vector<AtomId> atoms;      // visited, nearest first
    std::vector<uint32_t> clauses;  // constraints
    std::vector<uint32_t> disequalities;
    bool big_constants = false;
  };
  struct Split {
    std::vector<FormulaId> branches;
    Reason why = 0;
  };

  std::optional<Proof> refute_condition(FormulaId f, Effort effort,
                                        Tried& tried);
  std::optional<Proof> refute_literal(FormulaId f, Effort effort, Tried& tried);
  std::optional<Proof> refute_by_residues(const Formula& formula);
  std::optional<Proof> contradiction(std::span<const AtomId> seeds,
                                     Effort effort, int depth);
  // A refutation in each branch.
  template <typename Refute>
  std::optional<Proof> refute_branches(const Split& split, Refute refute);
  // What holds in each branch that is possible, by the domain or else as
  // `decide` says; without a value where none is, nullopt is "not decided".
  template <typename Decide>
  std::optional<Decision> decide_branches(FormulaId f, const Split& split,
                                          std::optional<bool> wanted,
                                          Decide decide);
  std::optional<Proof> refute_cases(const Neighborhood& near,
                                    std::span<const AtomId> seeds, int depth);

  Decision decide_in_cases(FormulaId f, int depth);
  std::optional<Split> assumed_clause(FormulaId f);
  std::optional<Split> choose_case(FormulaId f);

  // values.cc
  static constexpr int kMaxValueDepth = 4;
  // A variable near the condition, and how often it is in products and floors.
  struct Choice {
    AtomId atom;
    int64_t weight = 1;
  };
  std::vector<Choice> variables_near(FormulaId f);
  std::optional<Split> choose_values(const std::vector<Choice>& choices);
  std::optional<Proof> refute_values(std::span<const AtomId> seeds,
                                     const std::vector<Choice>& choices,
                                     int depth);
  // Without a value where no case is possible; nullopt is "not decided".
  std::optional<Decision> decide_values(FormulaId f,
                                        const std::vector<Choice>& choices,
                                        bool wanted, int depth);

  // gathering
  Neighborhood gather(std::span<const AtomId> seeds);
  void visit(AtomId a, Neighborhood& near);
  void visit_all(std::span<const AtomId> atoms);
  // In normal form, with all that it follows from.
  Normal add_row(const Poly& p, bool equality, Reason why, Neighborhood& near);
  void look_at(const Normal& row, Neighborhood& near);
  void add_definition(AtomId a, Neighborhood& near);
  void add_floor_definition(const Atom& atom, const Poly& q,
                            Neighborhood& near);
  void add_function(const Atom& atom, const Poly& self, Neighborhood& near);
  void compare_powers(const Atom& large, const Atom& small, Neighborhood& near);
  void add_bounds(MonoId m, Neighborhood& near);
  // Of a range, as a row can use it; any number where `big`.
  static OptionalInt useful_end(const Range& r, bool lower, bool big);
  static void push_row(std::vector<LinearRow>& rows, const Poly& p,
                       bool equality, Reason why);
  static void push_impossible(Reason why, Neighborhood& near);

  // residues.cc
  bool has_no_root(const Poly& p);  // p == 0 fails modulo a small number

  // division.cc
  struct Division {
    Poly quotient, rest;
  };
  bool is_linear(const Poly& p) const;
  std::optional<Division> divide(const Poly& p, const Poly& divisor);
  std::vector<const Domain::Constraint*> divisors_near(const Poly& p,
                                                       bool equalities);
  std::optional<Poly> remainder(const Poly& assumed, Reason& why);
  bool is_nonnegative_by_division(const Poly& p, Reason& why, int depth);
  // Of p >= 0, p == 0 or p != 0, where p or what is below it is seen to be
  // nonnegative.
  template <typename IsNonnegative>
  Decision decide_by_sign(FormulaKind kind, const Normal& n,
                          IsNonnegative is_nonnegative);

  // products.cc
  std::optional<Poly> lowered(const Poly& p, size_t terms, Reason& why);
  std::optional<Poly> lowered(const Poly& p, AtomId x, size_t terms,
                              Reason& why);
  bool is_nonnegative(Poly p, int side_steps, Reason& why);
  bool is_nonnegative(const Poly& p, Reason& why) override;

  // What `attempt` decides while normal forms ask this for quotients.
  template <typename Attempt>
  Decision with_quotient_rules(uint64_t units, Attempt attempt);

  // ratios.cc
  class Ratios;
  Decision decide_reduced(FormulaId f, Ratios& ratios);
  std::optional<Int> known_quotient(const Poly& num, const Poly& den,
                                    Reason& why) override;
  bool is_new(MonoId m) const;
  size_t new_monos(const Poly& p) const;
  std::vector<LinearRow> product_lemmas(const Neighborhood& near);
  bool stays_near(const LinearRow& a, const LinearRow& b);
  std::vector<LinearRow> row_products(const Neighborhood& near);

  // cases.cc
  size_t size_of(FormulaId f) const;
  std::optional<Split> choose_split(const Neighborhood& near);
  std::optional<Split> split_range(AtomId a, const Int& widest);
  Split each_value(AtomId a, const Range& r);
  std::optional<Split> split_residue(const Neighborhood& near);
  std::optional<Split> split_divisor(AtomId a);
  std::optional<Split> split_end(const Neighborhood& near);

  std::optional<Reason> solve(const std::vector<LinearRow>& rows,
                              const std::vector<LinearRow>& lemmas);

  Domain& domain_;
  FormPool& forms_;
  ReasonArena& reasons_;
  std::vector<bool> seen_atom_, seen_constraint_, seen_mono_;
  std::vector<AtomId> queue_;
  Ratios* ratios_ = nullptr;  // while normal forms may ask for quotients
  size_t first_new_ = 0;      // of the constraints that the attempt has made
};

template <typename IsNonnegative>
Decision Prover::decide_by_sign(FormulaKind kind, const Normal& n,
                                IsNonnegative is_nonnegative) {
  Poly above = n.poly, below = forms_.scale(n.poly, -1);
  below.constant -= 1;
  if (kind != FormulaKind::kGe) above.constant -= 1;
  for (bool up : {true, false}) {
    Reason why = n.why;
    if (!is_nonnegative(up ? above : below, why)) continue;
    return {kind == FormulaKind::kGe ? up : kind == FormulaKind::kNe, why};
  }
  return {};
}

template <typename Attempt>
std::optional<Proof> Prover::within(uint64_t units, Attempt attempt) {
  Domain::Mark before = domain_.mark();
  first_new_ = domain_.constraints().size();
  domain_.set_limit(domain_.work() + units);
  std::optional<Proof> proof;
  try {
    proof = attempt();
  } catch (const OutOfBudget&) {
    proof.reset();
  }
  domain_.set_limit(~uint64_t{0});
  domain_.undo(before);
  return proof;
}

template <typename Attempt>
Decision Prover::with_quotient_rules(uint64_t units, Attempt attempt) {
  Decision found;
  within(units, [&]() -> std::optional<Proof> {
    domain_.set_quotient_prover(this);
    found = attempt();
    return std::nullopt;
  });
  domain_.set_quotient_prover(nullptr);
  return found;
}

template <typename Refute>
std::optional<Proof> Prover::refute_branches(const Split& split,
                                             Refute refute) {
  Proof total{split.why, true};
  for (FormulaId branch : split.branches) {
    Domain::Mark before = domain_.mark();
    domain_.assume(branch, split.why);
    std::optional<Proof> proof = refute(branch);
    domain_.undo(before);
    if (!proof) return std::nullopt;
    total.why = reasons_.join(total.why, proof->why);
  }
  return total;
}

template <typename Decide>
std::optional<Decision> Prover::decide_branches(FormulaId f, const Split& split,
                                                std::optional<bool> wanted,
                                                Decide decide) {
  Decision all;
  all.why = split.why;
  for (FormulaId branch : split.branches) {
    Domain::Mark before = domain_.mark();
    domain_.assume(branch, split.why);
    std::optional<Decision> d;
    if (domain_.conflict()) {
      d = Decision{std::nullopt, *domain_.conflict()};
    } else {
      d = domain_.decide(f);
      const bool unwanted = d->value && wanted && *wanted != *d->value;
      if (!d->value || unwanted) d = decide(wanted);
    }
    domain_.undo(before);
    if (!d || (d->value && wanted && *wanted != *d->value)) return std::nullopt;
    if (d->value) all.value = wanted = d->value;
    all.why = reasons_.join(all.why, d->why);
  }
  return all;
}

}  // namespace proviso
