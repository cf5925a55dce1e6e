// solver/strategies/relevance.h - the constraints around a condition, as linear
// constraints over monomials.
//
//   Relevance relevance(domain);
//   relevance.gather(forms.occurrences.of_formula(f)).linear
//       x - y + 2 >= 0, 8*t - x == 0, ...
//
// Breadth first from the condition's atoms: constraints that mention them, what
// these are solved by and what depends on them, definitions of floors, maxima
// and powers, bounds of all monomials that came up.  Nearest first, up to
// limits().relevant_constraints and relevant_atoms, so that the farthest facts
// are what is left out.
#pragma once

#include <span>
#include <vector>

#include "solver/linear.h"
#include "solver/strategies/proof.h"

namespace proviso::inline v0_2::internal {

struct RelevantConstraints {
  std::vector<LinearConstraint> linear;
  std::vector<MonoId> monos;
  std::vector<Range> bounds;      // of the monomials
  std::vector<AtomId> atoms;      // visited, nearest first
  std::vector<uint32_t> clauses;  // constraints
  std::vector<uint32_t> disequalities;
  bool has_big_constants = false;
  std::vector<bool> is_mentioned;  // by monomial, as far as there are any

  bool mentions(MonoId m) const {
    return m < is_mentioned.size() && is_mentioned[m];
  }
};

// A set of small ids.
class IdSet {
 public:
  void clear(size_t ids) { seen_.assign(ids, false); }
  bool insert(uint32_t id) {  // whether it is new
    if (id >= seen_.size()) seen_.resize(id + 1 + id / 2);
    if (seen_[id]) return false;
    seen_[id] = true;
    return true;
  }

 private:
  std::vector<bool> seen_;
};

// Appends p as a linear constraint, unless a coefficient is too large for one.
void push_constraint(std::vector<LinearConstraint>& constraints, const Poly& p,
                     bool equality, Reason why);
// Its left side; a constraint's unknowns are monomials.
Poly poly_of(const LinearConstraint& constraint);
// An end of the range that a linear constraint can use; any number where `big`.
OptionalInt useful_end(const Range& r, bool lower, bool big);

class Relevance {
 public:
  explicit Relevance(Domain& domain)
      : domain_(domain), forms_(domain.forms()), reasons_(domain.reasons()) {}

  // Constraints from here on are looked at whatever they are about: what
  // assuming the condition makes new may be about others than its atoms, where
  // that gives symbols their values.
  void start() {
    first_new_ = static_cast<uint32_t>(domain_.constraints().size());
  }

  RelevantConstraints gather(std::span<const AtomId> seeds);

 private:
  void visit(AtomId a, RelevantConstraints& relevant);
  void visit_constraint(uint32_t i, RelevantConstraints& relevant);
  void visit_all(std::span<const AtomId> atoms) {
    for (AtomId a : atoms) {
      if (seen_atoms_.insert(a)) queue_.push_back(a);
    }
  }
  // Adds p in normal form, with all that it follows from.
  Normal add_constraint(const Poly& p, bool equality, Reason why,
                        RelevantConstraints& relevant);
  void add_impossible(Reason why, RelevantConstraints& relevant);
  void look_at(const Normal& constraint, RelevantConstraints& relevant);
  void add_definition(AtomId a, RelevantConstraints& relevant);
  void add_floor(const Atom& atom, const Poly& q,
                 RelevantConstraints& relevant);
  void add_function(const Atom& atom, const Poly& self,
                    RelevantConstraints& relevant);
  void compare_powers(const Atom& large, const Atom& small,
                      RelevantConstraints& relevant);
  void add_bounds(MonoId m, RelevantConstraints& relevant);

  Domain& domain_;
  FormPool& forms_;
  ReasonArena& reasons_;
  IdSet seen_atoms_, seen_constraints_;
  std::vector<AtomId> queue_;
  uint32_t first_new_ = 0;
};

}  // namespace proviso::inline v0_2::internal
