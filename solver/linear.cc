#include "solver/linear.h"

#include <algorithm>
#include <utility>

namespace proviso {
namespace {

constexpr size_t kMaxRows = 3000;
constexpr uint64_t kMaxProducts = 400;
constexpr size_t kMaxFresh = 64;

const Int* coefficient(const LinearRow& row, uint32_t x) {
  for (const LinearTerm& t : row.terms) {
    if (t.unknown == x) return &t.coef;
  }
  return nullptr;
}

uint64_t hash_of(const LinearRow& row, bool opposite) {
  uint64_t h = row.terms.size();
  for (const LinearTerm& t : row.terms) {
    uint64_t c = opposite ? (-t.coef).hash() : t.coef.hash();
    h = (h ^ t.unknown) * 0x9e3779b97f4a7c15ull + c;
    h ^= h >> 31;
  }
  return h;
}

}  // namespace

LinearSystem::Unknown& LinearSystem::unknown(uint32_t x) {
  return unknowns_[x];
}

// Unknowns are renamed by place, so that tables are as large as the system.
void LinearSystem::add(LinearRow row) {
  if (conflict_) return;
  for (LinearTerm& t : row.terms) {
    auto same = [&](uint32_t i) { return names_[i] == t.unknown; };
    uint32_t place = place_of_.find(t.unknown, same);
    if (place == kNoId) {
      place = static_cast<uint32_t>(names_.size());
      names_.push_back(t.unknown);
      unknowns_.emplace_back();
      place_of_.insert(t.unknown, place);
    }
    t.unknown = place;
  }
  std::sort(row.terms.begin(), row.terms.end(),
            [](const LinearTerm& a, const LinearTerm& b) {
              return a.unknown < b.unknown;
            });
  put_in(std::move(row));
}

void LinearSystem::put_in(LinearRow row) {
  if (!conflict_ && normalize(row)) insert(std::move(row));
}

// Divides by the gcd.  False when nothing is left to keep.
bool LinearSystem::normalize(LinearRow& row) {
  work_ += 1 + row.terms.size();
  if (row.terms.empty()) {
    bool holds = row.equality ? row.constant.is_zero()
                              : row.constant.sign() >= 0;
    if (!holds) conflict_ = row.why;
    return false;
  }
  Int g = 0;
  for (const LinearTerm& t : row.terms) {
    g = gcd(g, t.coef);
    if (g.is_one()) return true;
  }
  if (row.equality && !floor_mod(row.constant, g).is_zero()) {
    conflict_ = row.why;
    return false;
  }
  for (LinearTerm& t : row.terms) t.coef = floor_div(t.coef, g);
  row.constant = floor_div(row.constant, g);
  return true;
}

uint32_t LinearSystem::find(const LinearRow& row, bool opposite) const {
  return index_.find(hash_of(row, opposite), [&](uint32_t i) {
    if (!alive_[i] || rows_[i].terms.size() != row.terms.size()) return false;
    for (size_t k = 0; k < row.terms.size(); ++k) {
      const LinearTerm &a = rows_[i].terms[k], &b = row.terms[k];
      if (a.unknown != b.unknown) return false;
      if (opposite ? !(a.coef + b.coef).is_zero() : a.coef != b.coef) {
        return false;
      }
    }
    return true;
  });
}

// Keeps the tightest of the rows with the same terms.
void LinearSystem::insert(LinearRow row) {
  if (row.equality) {
    equalities_.push_back(std::move(row));
    return;
  }
  uint32_t same = find(row, false);
  if (same != kNoId) {
    LinearRow& old = rows_[same];
    if (old.constant <= row.constant) return;
    old.constant = row.constant;
    old.why = row.why;
    return check_opposite(old);
  }
  auto i = static_cast<uint32_t>(rows_.size());
  index_.insert(hash_of(row, false), i);
  for (const LinearTerm& t : row.terms) {
    Unknown& u = unknown(t.unknown);
    ++(t.coef.sign() > 0 ? u.pos : u.neg);
    u.rows.push_back(i);
  }
  rows_.push_back(std::move(row));
  alive_.push_back(true);
  check_opposite(rows_.back());
}

void LinearSystem::kill(uint32_t i) {
  alive_[i] = false;
  for (const LinearTerm& t : rows_[i].terms) {
    Unknown& u = unknown(t.unknown);
    --(t.coef.sign() > 0 ? u.pos : u.neg);
  }
}

// p + c >= 0 and -p + d >= 0: a contradiction when c + d < 0, and p == -c when
// c + d == 0.
void LinearSystem::check_opposite(const LinearRow& row) {
  uint32_t i = find(row, true);
  if (i == kNoId) return;
  const LinearRow& other = rows_[i];
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
  const LinearTerm *x = a.terms.begin(), *y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    if (y == b.terms.end() ||
        (x != a.terms.end() && x->unknown < y->unknown)) {
      r.terms.push_back({x->unknown, x->coef * ka}), ++x;
    } else if (x == a.terms.end() || y->unknown < x->unknown) {
      r.terms.push_back({y->unknown, y->coef * kb}), ++y;
    } else {
      Int c = x->coef * ka + y->coef * kb;
      if (!c.is_zero()) r.terms.push_back({x->unknown, std::move(c)});
      ++x, ++y;
    }
  }
  return r;
}

// Puts the equality, in which x has the coefficient `sign`, into other rows.
void LinearSystem::substitute(uint32_t x, const LinearRow& equal,
                              const Int& sign) {
  std::vector<LinearRow> changed;
  std::vector<uint32_t> rows = std::move(unknown(x).rows);
  unknown(x).rows.clear();
  for (uint32_t i : rows) {
    const Int* c = alive_[i] ? coefficient(rows_[i], x) : nullptr;
    if (c == nullptr) continue;
    changed.push_back(combine(rows_[i], 1, equal, -*c * sign));
    changed.back().equality = false;
    kill(i);
  }
  for (LinearRow& other : std::exchange(equalities_, {})) {
    const Int* c = coefficient(other, x);
    if (c == nullptr) {
      equalities_.push_back(std::move(other));
    } else {
      changed.push_back(combine(other, 1, equal, -*c * sign));
    }
  }
  for (LinearRow& r : changed) put_in(std::move(r));
}

// A unit coefficient is solved for.  Without one, x with the least coefficient
// a is replaced by t - sum floor(c/a)*y - floor(k/a), t fresh: the remainders
// have smaller coefficients.
void LinearSystem::solve_equality() {
  LinearRow e = std::move(equalities_.back());
  equalities_.pop_back();
  const LinearTerm* least = e.terms.begin();
  for (const LinearTerm& t : e.terms) {
    if (abs(t.coef) < abs(least->coef)) least = &t;
  }
  uint32_t x = least->unknown;
  Int a = least->coef;
  if (abs(a).is_one()) return substitute(x, e, a);
  if (e.terms.size() < 2 || fresh_ >= kMaxFresh) {
    return;  // dropped: less is known, nothing false
  }
  LinearRow definition;  // x - t + sum floor(c/a)*y + floor(k/a) == 0
  definition.equality = true;
  for (const LinearTerm& t : e.terms) {
    Int c = t.unknown == x ? Int(1) : floor_div(t.coef, a);
    if (!c.is_zero()) definition.terms.push_back({t.unknown, c});
  }
  definition.constant = floor_div(e.constant, a);
  auto fresh = static_cast<uint32_t>(names_.size());
  ++fresh_;
  names_.push_back(kNoId);
  unknowns_.emplace_back();
  definition.terms.push_back({fresh, -1});
  equalities_.push_back(std::move(e));
  substitute(x, definition, 1);
}

bool LinearSystem::eliminate_variable() {
  uint32_t best = kNoId;
  int64_t best_cost = 0;
  for (uint32_t x = 0; x < unknowns_.size(); ++x) {
    uint64_t pos = unknowns_[x].pos, neg = unknowns_[x].neg;
    if (pos + neg == 0 || pos * neg > kMaxProducts) continue;
    auto cost =
        static_cast<int64_t>(pos * neg) - static_cast<int64_t>(pos + neg);
    if (best == kNoId || cost < best_cost) best = x, best_cost = cost;
  }
  work_ += 1 + unknowns_.size() / 8;
  if (best == kNoId) return false;
  std::vector<LinearRow> lower, upper;
  std::vector<uint32_t> rows = std::move(unknown(best).rows);
  unknown(best).rows.clear();
  for (uint32_t i : rows) {
    const Int* c = alive_[i] ? coefficient(rows_[i], best) : nullptr;
    if (c == nullptr) continue;
    kill(i);
    (c->sign() > 0 ? lower : upper).push_back(std::move(rows_[i]));
  }
  for (const LinearRow& l : lower) {
    const Int& down = *coefficient(l, best);
    for (const LinearRow& u : upper) {
      put_in(combine(l, -*coefficient(u, best), u, down));
      if (conflict_) return true;
    }
  }
  return true;
}

std::optional<Reason> LinearSystem::contradiction(uint64_t units) {
  uint64_t limit = work_ + units;
  while (!conflict_ && rows_.size() < kMaxRows && work_ < limit) {
    if (!equalities_.empty()) {
      solve_equality();
    } else if (!eliminate_variable()) {
      break;
    }
  }
  return conflict_;
}

}  // namespace proviso
