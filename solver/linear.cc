// Equalities are solved first, then inequalities meet their opposites, and what
// is left is eliminated, one unknown after another.
//
//   3*x - 2*y == 1, x + y >= 2, x <= 0
//     solve_equality     y == t + 2*x, so x == -2*t - 1 and y == -3*t - 2
//     substitute         -5*t - 5 >= 0,   2*t + 1 >= 0
//     normalize          -t - 1 >= 0,     t >= 0: the constant is rounded
//     check_opposite     their sum is -1 >= 0, for all three reasons
//
// A pair of a lower and an upper bound makes one constraint, and an elimination
// of more than limits().elimination_pairs pairs is left out; `units` and
// limits().linear_constraints end the rest.  Complete over the rationals where
// nothing ends it (the simplex alone is), and over the integers where each
// unknown has units as coefficients on one side (the exact eliminations of
// Pugh's Omega test, 1991; his dark shadow and splinters are not here).
#include "solver/linear.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "solver/limits_in_force.h"
#include "solver/simplex.h"

namespace proviso::inline v0_2::internal {
namespace {

// The coefficient of x in the constraint; 0 when it is not there.
int64_t coefficient(const LinearConstraint& constraint, uint32_t x) {
  for (const LinearTerm& t : constraint.terms) {
    if (t.unknown == x) return t.coef;
  }
  return 0;
}

// A hash of the terms, equal for a constraint and its opposite.
uint64_t hash_of(const LinearConstraint& constraint) {
  uint64_t h = constraint.terms.size();
  const int64_t sign = constraint.terms[0].coef < 0 ? -1 : 1;
  for (const LinearTerm& t : constraint.terms) {
    h = (h ^ t.unknown) * 0x9e3779b97f4a7c15ull +
        static_cast<uint64_t>(sign * t.coef);
    h ^= h >> 31;
  }
  return h;
}

}  // namespace

LinearSystem::LinearSystem(ReasonArena& reasons, size_t constraints)
    : reasons_(reasons) {
  inequalities_.reserve(constraints);
  constraints_.reserve(3 * constraints);
  active_.reserve(3 * constraints);
  unknowns_.reserve(constraints);
}

LinearSystem::Unknown& LinearSystem::unknown(uint32_t x) {
  return unknowns_[x];
}

// Unknowns are renamed by place, so that tables are as large as the system.
void LinearSystem::add(LinearConstraint constraint) {
  if (conflict_) return;
  for (LinearTerm& t : constraint.terms) {
    uint32_t& place = place_of_.at(t.unknown);
    if (place == kNoId) {
      place = static_cast<uint32_t>(unknowns_.size());
      unknowns_.emplace_back();
    }
    t.unknown = place;
  }
  std::sort(constraint.terms.begin(), constraint.terms.end(),
            [](const LinearTerm& a, const LinearTerm& b) {
              return a.unknown < b.unknown;
            });
  if (normalize(constraint)) {
    (constraint.equality ? equalities_ : inequalities_)
        .push_back(std::move(constraint));
  }
}

void LinearSystem::add_normalized(LinearConstraint&& constraint) {
  if (!conflict_ && normalize(constraint)) insert(std::move(constraint));
}

// Divides by the gcd.  False when nothing is left to keep.
bool LinearSystem::normalize(LinearConstraint& constraint) {
  work_ += 1 + constraint.terms.size();
  if (constraint.terms.empty()) {
    bool holds = constraint.equality ? constraint.constant.is_zero()
                                     : constraint.constant.sign() >= 0;
    if (!holds) conflict_ = constraint.why;
    return false;
  }
  int64_t g = 0;
  for (const LinearTerm& t : constraint.terms) {
    g = std::gcd(g, t.coef);
    if (g == 1) return true;
  }
  if (constraint.equality && !floor_mod(constraint.constant, g).is_zero()) {
    conflict_ = constraint.why;
    return false;
  }
  for (LinearTerm& t : constraint.terms) t.coef /= g;
  constraint.constant = floor_div(constraint.constant, g);
  return true;
}

uint32_t LinearSystem::find(const LinearConstraint& constraint, uint64_t hash,
                            bool opposite) const {
  return index_.find({hash}, [&](uint32_t i) {
    if (!active_[i] || constraints_[i].terms.size() != constraint.terms.size())
      return false;
    for (size_t k = 0; k < constraint.terms.size(); ++k) {
      const LinearTerm &a = constraints_[i].terms[k], &b = constraint.terms[k];
      if (a.unknown != b.unknown) return false;
      if (a.coef != (opposite ? -b.coef : b.coef)) return false;
    }
    return true;
  });
}

// An inequality: keeps the tightest of the constraints with the same terms.
void LinearSystem::insert(LinearConstraint&& constraint) {
  const uint64_t hash = hash_of(constraint);
  uint32_t same = find(constraint, hash, false);
  if (same != kNoId) {
    LinearConstraint& old = constraints_[same];
    if (old.constant <= constraint.constant) return;
    old.constant = constraint.constant;
    old.why = constraint.why;
    return check_opposite(old, hash);
  }
  auto i = static_cast<uint32_t>(constraints_.size());
  index_.insert({hash}, i);
  for (const LinearTerm& t : constraint.terms)
    unknown(t.unknown).constraints.push_back(i);
  count(constraint, 1);
  constraints_.push_back(std::move(constraint));
  active_.push_back(true);
  check_opposite(constraints_.back(), hash);
}

// Counts it as an active constraint (by is 1), or as one no more (-1).
void LinearSystem::count(const LinearConstraint& constraint, int by) {
  for (const LinearTerm& t : constraint.terms) {
    Unknown& u = unknown(t.unknown);
    const auto n = static_cast<uint32_t>(by);  // -1 wraps
    (t.coef > 0 ? u.pos : u.neg) += n;
    if (t.coef > 1) u.large_pos += n;
    if (t.coef < -1) u.large_neg += n;
  }
}

void LinearSystem::deactivate(uint32_t i) {
  active_[i] = false;
  count(constraints_[i], -1);
}

// p + c >= 0 and -p + d >= 0: a contradiction when c + d < 0, and p == -c when
// c + d == 0.
void LinearSystem::check_opposite(const LinearConstraint& constraint,
                                  uint64_t hash) {
  uint32_t i = find(constraint, hash, true);
  if (i == kNoId) return;
  const LinearConstraint& other = constraints_[i];
  Int gap = constraint.constant + other.constant;
  if (gap.sign() > 0) return;
  Reason why = reasons_.join(constraint.why, other.why);
  if (gap.sign() < 0) {
    conflict_ = why;
    return;
  }
  LinearConstraint equal = constraint;
  equal.equality = true;
  equal.why = why;
  equalities_.push_back(std::move(equal));
}

// ka*a + kb*b; false when a coefficient outgrows its place.
bool LinearSystem::combine(const LinearConstraint& a, int64_t ka,
                           const LinearConstraint& b, int64_t kb,
                           LinearConstraint& out) {
  out.terms.clear();
  const LinearTerm *x = a.terms.begin(), *y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    const bool has_x =
        y == b.terms.end() || (x != a.terms.end() && x->unknown <= y->unknown);
    const bool has_y =
        x == a.terms.end() || (y != b.terms.end() && y->unknown <= x->unknown);
    const uint32_t unknown = has_x ? x->unknown : y->unknown;
    __int128 c = 0;
    if (has_x) c += static_cast<__int128>((x++)->coef) * ka;
    if (has_y) c += static_cast<__int128>((y++)->coef) * kb;
    if (c > kMaxCoefficient || c < -kMaxCoefficient) return false;
    if (c != 0) out.terms.push_back({unknown, static_cast<int64_t>(c)});
  }
  out.constant = a.constant * ka + b.constant * kb;
  out.equality = a.equality && b.equality;
  out.why = reasons_.join(a.why, b.why);
  return true;
}

// Substitutes the equality, in which x has the coefficient `sign`.
void LinearSystem::solve_for(uint32_t x, LinearConstraint&& equal,
                             int64_t sign) {
  LinearConstraint constraint;
  size_t kept = 0;
  for (LinearConstraint& other : equalities_) {
    const int64_t c = coefficient(other, x);
    if (c != 0) {
      if (!combine(other, 1, equal, -c * sign, constraint)) continue;
      if (!normalize(constraint)) continue;
      std::swap(other, constraint);
    }
    if (&equalities_[kept] != &other) equalities_[kept] = std::move(other);
    ++kept;
  }
  equalities_.resize(kept);
  unknown(x).solved = static_cast<uint32_t>(solved_.size());
  solved_.push_back({x, sign, std::move(equal)});
}

// Substitutes what was solved for.  False when a coefficient outgrows its
// place.
bool LinearSystem::substitute_solved(LinearConstraint& constraint) {
  LinearConstraint other;
  LinearConstraint *now = &constraint, *next = &other;
  while (true) {  // what was solved first may be about what was solved later
    const LinearTerm* found = nullptr;
    uint32_t first = kNoId;
    for (const LinearTerm& t : now->terms) {
      const uint32_t place = unknown(t.unknown).solved;
      if (place < first) first = place, found = &t;
    }
    if (!found) break;
    const Solved& s = solved_[first];
    if (!combine(*now, 1, s.constraint, -found->coef * s.sign, *next))
      return false;
    std::swap(now, next);
  }
  if (now != &constraint) constraint = std::move(*now);
  return true;
}

// All that there are, before a constraint is touched.
void LinearSystem::solve_equalities(uint64_t limit) {
  const size_t first = solved_.size();
  while (!conflict_ && !equalities_.empty() && work_ < limit) solve_equality();
  for (size_t k = first; k < solved_.size() && !conflict_; ++k) {
    const auto constraints = std::move(unknown(solved_[k].unknown).constraints);
    unknown(solved_[k].unknown).constraints.clear();
    for (uint32_t i : constraints) {
      if (!active_[i]) continue;
      deactivate(i);
      LinearConstraint constraint = std::move(constraints_[i]);
      if (substitute_solved(constraint)) add_normalized(std::move(constraint));
    }
  }
}

void LinearSystem::add_inequalities() {
  for (LinearConstraint& constraint : std::exchange(inequalities_, {})) {
    if (conflict_) return;
    if (substitute_solved(constraint)) add_normalized(std::move(constraint));
  }
}

// A unit coefficient is solved for.  Without one, x with the least coefficient
// a is replaced by t - sum floor(c/a)*y - floor(k/a), t fresh: the remainders
// have smaller coefficients.
void LinearSystem::solve_equality() {
  LinearConstraint e = std::move(equalities_.back());
  equalities_.pop_back();
  const LinearTerm* least = e.terms.begin();
  for (const LinearTerm& t : e.terms) {
    if (std::abs(t.coef) < std::abs(least->coef)) least = &t;
  }
  uint32_t x = least->unknown;
  const int64_t a = least->coef;
  if (std::abs(a) == 1) return solve_for(x, std::move(e), a);
  if (e.terms.size() < 2 || fresh_ >= limits().fresh_unknowns) {
    return;  // dropped: less is known, nothing false
  }
  LinearConstraint definition;  // x - t + sum floor(c/a)*y + floor(k/a) == 0
  definition.equality = true;
  for (const LinearTerm& t : e.terms) {
    int64_t c = t.unknown == x ? 1 : floor_quotient(t.coef, a);
    if (c != 0) definition.terms.push_back({t.unknown, c});
  }
  definition.constant = floor_div(e.constant, a);
  auto fresh = static_cast<uint32_t>(unknowns_.size());
  ++fresh_;
  unknowns_.emplace_back();
  definition.terms.push_back({fresh, -1});
  equalities_.push_back(std::move(e));
  solve_for(x, std::move(definition), 1);
}

// Whether the constraints have a rational solution.
void LinearSystem::run_simplex(uint64_t units) {
  std::vector<uint32_t> place(unknowns_.size(), kNoId), used;
  uint32_t count = 0;
  for (uint32_t x = 0; x < unknowns_.size(); ++x) {
    if (unknowns_[x].pos + unknowns_[x].neg > 0) place[x] = count++;
  }
  Simplex simplex(count);
  for (uint32_t i = 0; i < constraints_.size(); ++i) {
    if (!active_[i]) continue;
    LinearConstraint constraint = constraints_[i];
    for (LinearTerm& t : constraint.terms) t.unknown = place[t.unknown];
    simplex.add(constraint);
    used.push_back(i);
  }
  auto conflict = simplex.infeasible(units);
  work_ += simplex.work();
  if (!conflict) return;
  Reason why = 0;
  for (uint32_t k : *conflict)
    why = reasons_.join(why, constraints_[used[k]].why);
  conflict_ = why;
}

// The one that leaves fewest constraints.  Where all of an unknown's
// coefficients of one sign are units, what is left has an integer solution only
// if the constraints had one (Pugh's exact elimination): that is worth some
// constraints.
bool LinearSystem::eliminate_variable(uint64_t limit) {
  uint32_t best = kNoId;
  int64_t best_cost = 0;
  bool adds_rows = false;
  for (uint32_t x = 0; x < unknowns_.size(); ++x) {
    const Unknown& u = unknowns_[x];
    const auto pos = static_cast<int64_t>(u.pos);
    const auto neg = static_cast<int64_t>(u.neg);
    if (pos + neg == 0 || pos * neg > limits().elimination_pairs) continue;
    const int64_t more = pos * neg - (pos + neg);
    const bool is_exact = u.large_pos == 0 || u.large_neg == 0;
    const int64_t cost = more + (is_exact ? 0 : limits().exactness_constraints);
    if (best != kNoId && cost >= best_cost) continue;
    best = x, best_cost = cost;
    adds_rows = more > 0;
  }
  work_ += 1 + unknowns_.size() / 8;
  // An elimination that adds constraints waits for the simplex.
  if ((best == kNoId || adds_rows) && !has_run_simplex_) {
    has_run_simplex_ = true;
    if (work_ < limit) run_simplex(limit - work_);
    return true;
  }
  if (best == kNoId) return false;
  LinearConstraint constraint;
  std::vector<LinearConstraint> lower, upper;
  lower.reserve(unknown(best).pos);
  upper.reserve(unknown(best).neg);
  const auto constraints = std::move(unknown(best).constraints);
  unknown(best).constraints.clear();
  for (uint32_t i : constraints) {
    int64_t c = active_[i] ? coefficient(constraints_[i], best) : 0;
    if (c == 0) continue;
    deactivate(i);
    (c > 0 ? lower : upper).push_back(std::move(constraints_[i]));
  }
  for (const LinearConstraint& l : lower) {
    int64_t down = coefficient(l, best);
    for (const LinearConstraint& u : upper) {
      if (combine(l, -coefficient(u, best), u, down, constraint)) {
        add_normalized(std::move(constraint));
      }
      if (conflict_) return true;
    }
  }
  return true;
}

std::optional<Reason> LinearSystem::contradiction(uint64_t units) {
  uint64_t limit = work_ + units;
  while (!conflict_ && constraints_.size() < limits().linear_constraints &&
         work_ < limit) {
    if (!equalities_.empty()) {
      solve_equalities(limit);
    } else if (!inequalities_.empty()) {
      add_inequalities();
    } else if (!eliminate_variable(limit)) {
      break;
    }
  }
  return conflict_;
}

}  // namespace proviso::inline v0_2::internal
