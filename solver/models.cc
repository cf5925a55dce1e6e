// Depth first, the variable with the fewest values next, likely values first.
//
//   x*x == 3*y + 1, y >= 5
//     x == 0, 1, -1, 2     contradict the facts
//     x == 5               y == 8 follows: a point, where accept() says so
//
// Likely are roots of what is to be 0, ends of the range, constants of the goal
// and their neighbours, and some small numbers.  A second walk takes values one
// by one from an end (`is_exhaustive_`), and probes take a path each, chosen by
// a linear congruential generator that starts the same each time.  A value
// costs what the domain derives from it; limits().model_points complete points
// are tried.  Complete for nothing.
#include "solver/models.h"

#include <algorithm>

#include "solver/fixed_limits.h"
#include "solver/limits_in_force.h"
#include "solver/point.h"

namespace proviso::inline v0_2::internal {

std::optional<Assignment> ModelSearch::find(FormulaId goal,
                                            const std::vector<Expr>& symbols,
                                            const Accept& accept,
                                            uint64_t units,
                                            uint64_t probe_units) {
  symbols_ = symbols;
  accept_ = &accept;
  constants_.clear();
  zeros_.clear();
  collect_constants(goal);
  // A disjunction is easiest to meet one part at a time.
  const Formula& f = forms_.formulas[goal];
  std::vector<FormulaId> parts = {goal};
  if (f.kind == FormulaKind::kOr) parts = f.kids;
  auto any = [&](auto search) {
    std::optional<Assignment> found;
    points_left_ = limits().model_points;
    for (size_t i = 0; i < parts.size() && !found; ++i) {
      const Domain::Mark before = domain_.mark();
      domain_.assume(parts[i], 0);
      if (!domain_.conflict()) found = search();
      domain_.undo(before);
    }
    return found;
  };
  auto found = domain_.within(units, [&] {
    for (bool exhaustive : {false, true}) {
      is_exhaustive_ = exhaustive;
      if (auto point = any([this] { return depth_first(); })) return point;
    }
    return std::optional<Assignment>();
  });
  if (found && *found) return *found;
  if (probe_units == 0) return std::nullopt;
  is_exhaustive_ = false;
  return domain_
      .within(probe_units,
              [&] { return any([this] { return probe_at_random(); }); })
      .value_or(std::nullopt);
}

void ModelSearch::collect_constants(FormulaId f) {
  const Formula& formula = forms_.formulas[f];
  for (FormulaId kid : formula.kids) collect_constants(kid);
  if (formula.poly == kNoId) return;
  if (formula.kind == FormulaKind::kEq) zeros_.push_back(formula.poly);
  const Poly& p = forms_.polys[formula.poly];
  Int c = abs(p.constant);
  if (c > Int(1) && constants_.size() < limits().model_constants)
    constants_.push_back(c);
}

// The unknown with the fewest values left.
std::optional<AtomId> ModelSearch::next_unknown() {
  std::optional<AtomId> best;
  std::optional<Int> best_width;
  for (Expr s : symbols_) {
    if (!s.is_int()) continue;
    Normal n = domain_.normal(lower_.integer(s));
    Poly p = n.changed ? n.poly : lower_.integer(s);
    for (AtomId a : forms_.occurrences.of(p)) {
      if (!forms_.atoms.is_variable(a) || domain_.is_solved(a)) continue;
      Range r = domain_.atom_range(a);
      std::optional<Int> width;
      if (r.span.lower() && r.span.upper()) {
        width = *r.span.upper() - *r.span.lower();
      }
      if (best && (!width || (best_width && *best_width <= *width))) continue;
      best = a, best_width = width;
    }
  }
  return best;
}

// Where a polynomial in `a` alone is 0: by looking at small values, and by the
// secant's steps from them.
std::vector<Int> ModelSearch::roots(AtomId a, const Range& r) {
  std::vector<Int> found;
  for (PolyId id : zeros_) {
    Normal n = domain_.normal(forms_.polys[id]);
    const Atoms atoms = forms_.occurrences.of(n.poly);
    bool alone = std::all_of(atoms.begin(), atoms.end(), [&](AtomId x) {
      return x == a || !forms_.atoms.is_variable(x);
    });
    if (!alone || atoms.empty()) continue;
    domain_.spend(20);
    Point point(forms_);
    auto at = [&](int64_t v) {
      point.set(a, v);
      return point.value(n.poly);
    };
    const Int far = fixed::model_end;
    if (r.span.lower() && *r.span.lower() > far) continue;
    const bool is_near = r.span.lower() && *r.span.lower() > -far;
    const int64_t from =
        is_near ? *r.span.lower()->to_int64() : -limits().scanned_values / 2;
    for (int64_t v = from; v < from + limits().scanned_values; ++v) {
      if (at(v) == 0) found.push_back(v);
    }
    int64_t x0 = from + 1, x1 = from + 1 + limits().scanned_values;
    for (int i = 0; i < limits().secant_steps && found.empty(); ++i) {
      std::optional<int64_t> y0 = at(x0), y1 = at(x1);
      if (!y0 || !y1 || *y0 == *y1) break;
      double step = static_cast<double>(*y1) *
                    (static_cast<double>(x1) - static_cast<double>(x0)) /
                    (static_cast<double>(*y1) - static_cast<double>(*y0));
      if (!(step > -1e15 && step < 1e15)) break;
      x0 = x1;
      x1 -= static_cast<int64_t>(step);
      for (int64_t v = x1 - 4; v <= x1 + 4; ++v) {
        if (at(v) == 0) found.push_back(v);
      }
      if (x0 == x1) break;
    }
  }
  return found;
}

std::vector<Int> ModelSearch::candidates(AtomId a) {
  const Range r = domain_.atom_range(a);
  const OptionalInt& low = r.span.lower();
  const OptionalInt& high = r.span.upper();
  std::vector<Int> values;
  auto add = [&](const Int& v) {
    if (!r.span.contains(v)) return;
    if (std::find(values.begin(), values.end(), v) == values.end()) {
      values.push_back(v);
    }
  };
  if (is_exhaustive_) {
    const int count = symbols_.size() == 1   ? limits().exhaustive_values_of_1
                      : symbols_.size() == 2 ? limits().exhaustive_values_of_2
                                             : limits().exhaustive_values_of_3;
    Int from = low ? *low : Int(-count / 2);
    if (high && !low) from = *high - count + 1;
    for (int k = 0; k < count; ++k) add(from + k);
    return values;
  }
  for (const Int& root : roots(a, r)) add(root);
  // Near zero and near the ends first: small points read best.
  bool far = low && *low < Int(-limits().near_end);
  if (low && !far) {
    for (int k : {0, 1, 2, 3}) add(*low + k);
  } else {
    for (int k : {0, 1, -1, 2}) add(k);
  }
  if (high && *high < Int(limits().near_end)) add(*high);
  for (const Int& c : constants_) {
    for (const Int& v : {c, c + 1, c - 1, -c, floor_div(c, Int(2))}) add(v);
  }
  for (int k : {5, 7, 12, 30, 100, 1000}) {
    add(low && !far ? *low + k : Int(k));
    if (!low || far) add(-k);
  }
  if (high) {
    for (int k : {0, 1, 2}) add(*high - k);
  }
  if (low) add(*low);
  return values;
}

std::optional<Assignment> ModelSearch::finish() {
  --points_left_;
  domain_.spend(50);
  Assignment point;
  for (Expr s : symbols_) {
    if (s.is_float()) {
      point.set(s, Value(Rational(1)));
      continue;
    }
    if (!s.is_int()) return std::nullopt;
    Poly p = lower_.integer(s);
    Normal n = domain_.normal(p);
    if (n.changed) p = n.poly;
    if (!p.is_constant()) return std::nullopt;
    point.set(s, Value(p.constant));
  }
  if (!(*accept_)(point)) return std::nullopt;
  return point;
}

// Does what is next where `a` has the value; false where it can't have it.
template <typename Next>
bool ModelSearch::with_value(AtomId a, const Int& value, Next next) {
  Poly p = variable(forms_, a);
  p.constant = -value;
  const Domain::Mark before = domain_.mark();
  domain_.spend(5);
  domain_.assume(forms_.formulas.eq(p), 0);
  const bool is_possible = !domain_.conflict();
  if (is_possible) next();
  domain_.undo(before);
  return is_possible;
}

std::optional<Assignment> ModelSearch::depth_first() {
  if (points_left_ <= 0) return std::nullopt;
  std::optional<AtomId> a = next_unknown();
  if (!a) return finish();
  for (const Int& value : candidates(*a)) {
    std::optional<Assignment> found;
    with_value(*a, value, [&] { found = depth_first(); });
    if (found || points_left_ <= 0) return found;
  }
  return std::nullopt;
}

// Values for all symbols at once, taken here and there: where the search in
// depth has changed but the last few.
std::optional<Assignment> ModelSearch::probe_at_random() {
  for (uint32_t k = 1; k <= limits().random_probes; ++k) {
    if (auto found = probe_at_random(k)) return found;
  }
  return std::nullopt;
}

std::optional<Assignment> ModelSearch::probe_at_random(uint32_t choice) {
  const std::optional<AtomId> a = next_unknown();
  if (!a) return finish();
  choice = choice * 1664525u + 1013904223u;
  const std::vector<Int> values = candidates(*a);
  std::optional<Assignment> found;
  for (size_t i = 0; i < std::min(limits().probe_values, values.size()); ++i) {
    const Int& value = values[((choice >> 16) + i) % values.size()];
    if (with_value(*a, value, [&] { found = probe_at_random(choice); })) break;
  }
  return found;
}

}  // namespace proviso::inline v0_2::internal
