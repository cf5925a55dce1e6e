#include "solver/linear.h"

#include <algorithm>
#include <map>
#include <utility>

namespace proviso {
namespace {

constexpr size_t kMaxRows = 3000;
constexpr size_t kMaxProducts = 400;

Int coefficient(const LinearRow& row, uint32_t x) {
  auto it = std::lower_bound(
      row.terms.begin(), row.terms.end(), x,
      [](const auto& term, uint32_t v) { return term.first < v; });
  return it != row.terms.end() && it->first == x ? it->second : Int(0);
}

std::vector<std::pair<uint32_t, Int>> negated(
    std::vector<std::pair<uint32_t, Int>> terms) {
  for (auto& term : terms) term.second = -term.second;
  return terms;
}

}  // namespace

size_t LinearSystem::TermsHash::operator()(
    const std::vector<std::pair<uint32_t, Int>>& terms) const {
  size_t h = terms.size();
  for (const auto& [x, c] : terms) h = h * 1000003 + x * 31 + c.hash();
  return h;
}

void LinearSystem::add(LinearRow row) {
  if (!conflict_ && normalize(row)) insert(std::move(row));
}

// Divides by the gcd.  False when nothing is left to keep.
bool LinearSystem::normalize(LinearRow& row) {
  if (row.terms.empty()) {
    bool holds = row.equality ? row.constant.is_zero()
                              : row.constant.sign() >= 0;
    if (!holds) conflict_ = row.why;
    return false;
  }
  Int g = 0;
  for (const auto& term : row.terms) {
    g = gcd(g, term.second);
    if (g.is_one()) return true;
  }
  if (row.equality && !floor_mod(row.constant, g).is_zero()) {
    conflict_ = row.why;
    return false;
  }
  for (auto& term : row.terms) term.second = floor_div(term.second, g);
  row.constant = floor_div(row.constant, g);
  return true;
}

// Keeps the tightest of the rows with the same terms.
void LinearSystem::insert(LinearRow row) {
  spend_(1 + row.terms.size() / 2);
  ++made_;
  if (row.equality) {
    equalities_.push_back(std::move(row));
    return;
  }
  auto [it, fresh] = index_.emplace(row.terms, rows_.size());
  if (fresh) {
    rows_.push_back(row);
  } else {
    LinearRow& old = rows_[it->second];
    if (old.constant <= row.constant) return;
    old = row;
  }
  check_opposite(row);
}

// p + c >= 0 and -p + d >= 0: a contradiction when c + d < 0, and p == -c when
// c + d == 0.
void LinearSystem::check_opposite(const LinearRow& row) {
  auto it = index_.find(negated(row.terms));
  if (it == index_.end()) return;
  const LinearRow& other = rows_[it->second];
  Int gap = row.constant + other.constant;
  if (gap.sign() > 0) return;
  Reason why = reasons_.join(row.why, other.why);
  if (gap.sign() < 0) {
    conflict_ = why;
    return;
  }
  LinearRow equal = row;
  equal.equality = true;
  equal.why = why;
  equalities_.push_back(std::move(equal));
}

LinearRow LinearSystem::combine(const LinearRow& a, const Int& ka,
                                const LinearRow& b, const Int& kb) {
  LinearRow r;
  r.constant = a.constant * ka + b.constant * kb;
  r.equality = a.equality && b.equality;
  r.why = reasons_.join(a.why, b.why);
  r.terms.reserve(a.terms.size() + b.terms.size());
  auto x = a.terms.begin(), y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    if (y == b.terms.end() || (x != a.terms.end() && x->first < y->first)) {
      r.terms.emplace_back(x->first, x->second * ka), ++x;
    } else if (x == a.terms.end() || y->first < x->first) {
      r.terms.emplace_back(y->first, y->second * kb), ++y;
    } else {
      Int c = x->second * ka + y->second * kb;
      if (!c.is_zero()) r.terms.emplace_back(x->first, std::move(c));
      ++x, ++y;
    }
  }
  return r;
}

// Takes the rows out that `dead` marks (ascending) and re-indexes the others.
void LinearSystem::remove_all(const std::vector<size_t>& dead) {
  if (dead.empty()) return;
  for (size_t i : dead) index_.erase(rows_[i].terms);
  size_t out = dead[0];
  auto next = dead.begin();
  for (size_t i = dead[0]; i < rows_.size(); ++i) {
    if (next != dead.end() && *next == i) {
      ++next;
      continue;
    }
    index_[rows_[i].terms] = out;
    if (i != out) rows_[out] = std::move(rows_[i]);
    ++out;
  }
  rows_.resize(out);
}

// Puts an equality with a unit coefficient into all other rows.  One without
// becomes two inequalities.
bool LinearSystem::eliminate_equality() {
  if (equalities_.empty()) return false;
  LinearRow e = std::move(equalities_.back());
  equalities_.pop_back();
  auto unit = std::find_if(e.terms.begin(), e.terms.end(), [](const auto& t) {
    return abs(t.second).is_one();
  });
  if (unit == e.terms.end()) {
    e.equality = false;
    LinearRow opposite = e;
    opposite.terms = negated(e.terms);
    opposite.constant = -e.constant;
    for (LinearRow* r : {&e, &opposite}) {
      auto it = index_.find(r->terms);
      if (it != index_.end() && rows_[it->second].constant <= r->constant) {
        continue;
      }
      if (it != index_.end()) {
        rows_[it->second] = *r;
      } else {
        index_.emplace(r->terms, rows_.size());
        rows_.push_back(*r);
      }
    }
    return true;
  }
  uint32_t x = unit->first;
  Int sign = unit->second;
  std::vector<size_t> dead;
  std::vector<LinearRow> changed;
  for (size_t i = 0; i < rows_.size(); ++i) {
    Int c = coefficient(rows_[i], x);
    if (c.is_zero()) continue;
    dead.push_back(i);
    changed.push_back(combine(rows_[i], 1, e, -c * sign));
    changed.back().equality = false;
  }
  remove_all(dead);
  for (LinearRow& other : std::exchange(equalities_, {})) {
    Int c = coefficient(other, x);
    if (c.is_zero()) {
      equalities_.push_back(std::move(other));
    } else {
      changed.push_back(combine(other, 1, e, -c * sign));
    }
  }
  for (LinearRow& r : changed) add(std::move(r));
  return true;
}

bool LinearSystem::eliminate_variable() {
  struct Count {
    size_t pos = 0, neg = 0;
  };
  std::map<uint32_t, Count> counts;
  for (const LinearRow& row : rows_) {
    for (const auto& [x, c] : row.terms) {
      ++(c.sign() > 0 ? counts[x].pos : counts[x].neg);
    }
  }
  uint32_t best = 0;
  std::optional<int64_t> best_cost;
  for (const auto& [x, n] : counts) {
    if (n.pos * n.neg > kMaxProducts) continue;
    auto cost = static_cast<int64_t>(n.pos * n.neg) -
                static_cast<int64_t>(n.pos + n.neg);
    if (!best_cost || cost < *best_cost) best = x, best_cost = cost;
  }
  if (!best_cost) return false;
  std::vector<size_t> dead;
  std::vector<LinearRow> lower, upper;
  for (size_t i = 0; i < rows_.size(); ++i) {
    Int c = coefficient(rows_[i], best);
    if (c.is_zero()) continue;
    dead.push_back(i);
    (c.sign() > 0 ? lower : upper).push_back(rows_[i]);
  }
  remove_all(dead);
  for (const LinearRow& l : lower) {
    for (const LinearRow& u : upper) {
      add(combine(l, -coefficient(u, best), u, coefficient(l, best)));
      if (conflict_) return true;
    }
  }
  return true;
}

std::optional<Reason> LinearSystem::contradiction() {
  while (!conflict_ && made_ < kMaxRows) {
    if (eliminate_equality()) continue;
    if (rows_.empty() || !eliminate_variable()) break;
  }
  return conflict_;
}

}  // namespace proviso
