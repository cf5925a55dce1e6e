#include "sym/cheapest.h"

#include <algorithm>
#include <array>
#include <ranges>

#include "sym/budget.h"
#include "sym/not_null.h"
#include "sym/rules.h"
#include "sym/simplify.h"
#include "sym/width.h"
#include "sym/within.h"
#include "sym/write_sum.h"

namespace proviso::inline v0_2::internal {
namespace {

// By effort, for a node and for the nodes that its forms are made of: how many
// forms are made of it, on how many rules are tried, and on how many of these
// the rules that look at cases.
struct Effort {
  size_t forms;
  int looks, splits;
};
constexpr Effort kEfforts[] = {{1, 0, 0}, {8, 2, 0}, {16, 4, 1}, {40, 12, 3}};
constexpr int kMostEffort = 3;
constexpr uint64_t kSlack = 14;  // a form is looked at that costs so much more
constexpr int kPatience = 4;     // forms in a row that lead to nothing cheaper

constexpr size_t kMaxRules = 96;
std::array<Counter, kMaxRules> counts;

// Facts that hold where conditions do besides.
class AssumedFacts final : public Facts {
 public:
  AssumedFacts(const Facts* base, std::span<const Expr> conditions)
      : base_(base) {
    if (base != nullptr) {
      const std::span<const Expr> known = base->zeros();
      zeros_.assign(known.begin(), known.end());
    }
    for (Expr c : conditions) assume(c);
  }

  std::optional<Int> lower(Expr e) const override {
    std::optional<Int> best = base_lower(e);
    if (!e.is_int() || signs_.empty()) return best;
    const Polynomial p = to_polynomial(e);
    for (const Sign& s : signs_) {
      if (s.op == Op::kNe) continue;
      take(best, base_lower_of(e, p - s.p));
      if (s.op == Op::kEq) take(best, base_lower_of(e, p + s.p));
      take(best, lower_by_multiple(p, s));
    }
    if (best && best->is_zero() && is_known_nonzero(p)) best = Int(1);
    return best;
  }
  std::optional<Int> upper(Expr e) const override {
    if (!e.is_int()) return base_ ? base_->upper(e) : std::nullopt;
    const Polynomial p = to_polynomial(e) * Int(-1);
    std::optional<Int> best = lower(to_expr(e.pool(), p));
    std::optional<Int> own = base_ ? base_->upper(e) : std::nullopt;
    if (best) best = -*best;
    return !best || (own && *own < *best) ? own : best;
  }
  std::optional<bool> truth(Expr e) const override {
    for (Expr c : true_) {
      if (c == e) return true;
    }
    for (Expr c : false_) {
      if (c == e) return false;
    }
    return base_ ? base_->truth(e) : std::nullopt;
  }
  std::optional<bool> proved(Expr e) const override { return truth(e); }
  std::span<const Expr> zeros() const override { return zeros_; }
  std::optional<Int> residue(Expr e, const Int& m) const override {
    return base_ ? base_->residue(e, m) : std::nullopt;
  }

 private:
  void assume(Expr c) {
    if (c.is(Op::kAnd)) {
      for (Expr part : c.args()) assume(part);
      return;
    }
    true_.push_back(c);
    false_.push_back(simplify(logical_not(c)));
    auto s = sign_of(c);
    if (!s) return;
    if (s->op == Op::kEq) zeros_.push_back(to_expr(c.pool(), s->p));
    signs_.push_back(std::move(*s));
  }
  std::optional<Int> base_lower(Expr e) const {
    if (e.is(Op::kInteger)) return e.integer();
    return base_ ? base_->lower(e) : std::nullopt;
  }
  std::optional<Int> base_lower_of(Expr e, const Polynomial& p) const {
    if (p.is_constant()) return p.constant();
    return base_ ? base_->lower(to_expr(e.pool(), p)) : std::nullopt;
  }
  // Where c*p is d*s.p and a number, for c > 0 and d > 0: 5*x >= -5 where
  // x + 1 >= 0.
  static std::optional<Int> lower_by_multiple(const Polynomial& p,
                                              const Sign& s) {
    if (p.terms().size() > s.p.terms().size() + 1) return std::nullopt;
    for (const auto& [monomial, coefficient] : s.p.terms()) {
      if (monomial.empty()) continue;
      const auto at = p.terms().find(monomial);
      if (at == p.terms().end()) return std::nullopt;
      Int c = coefficient, d = at->second;
      if (c.sign() < 0) c = -c, d = -d;
      if (s.op != Op::kEq && d.sign() < 0) return std::nullopt;
      const Polynomial rest = p * c - s.p * d;
      if (!rest.is_constant()) return std::nullopt;
      return -floor_div(-rest.constant(), c);
    }
    return std::nullopt;
  }
  bool is_known_nonzero(const Polynomial& p) const {
    return std::any_of(signs_.begin(), signs_.end(), [&](const Sign& s) {
      return s.op == Op::kNe && (s.p == p || s.p == p * Int(-1));
    });
  }
  static void take(std::optional<Int>& best, const std::optional<Int>& other) {
    if (other && (!best || *other > *best)) best = other;
  }

  const Facts* base_;
  std::vector<Expr> true_, false_, zeros_;
  std::vector<Sign> signs_;
};

}  // namespace

std::vector<const Rule*> all_rules() {
  std::vector<const Rule*> all;
  for (auto rules :
       {sum_rules(), extremum_rules(), logic_rules(), case_rules()}) {
    for (const Rule& rule : rules) all.push_back(&rule);
  }
  return all;
}

bool applies(On on, Expr e) {
  switch (on) {
    case On::kAny: return !is_leaf(e.op());
    case On::kInteger: return e.is_int();
    case On::kFloor: return e.is(Op::kFloorDiv);
    case On::kMod: return e.is(Op::kMod);
    case On::kExtremum: return e.is_int() && (e.is(Op::kMin) || e.is(Op::kMax));
    case On::kWhere: return e.is(Op::kWhere);
    case On::kRelation: return is_relation(e.op()) && e.arg(0).is_int();
    case On::kJunction: return e.is(Op::kAnd) || e.is(Op::kOr);
  }
  return false;
}

std::vector<RuleCount> rule_counts() {
  std::vector<RuleCount> all;
  for (const Rule* rule : all_rules()) {
    all.push_back({rule->name, counts[all.size()].count()});
  }
  return all;
}

// --- searching

namespace {

// A sum of symbols times numbers, as it is written.
bool is_linear_sum(Expr e) {
  if (!e.is_int()) return false;
  auto is_term = [](Expr x) {
    return is_leaf(x.op()) ||
           (x.is(Op::kMul) && x.arity() == 2 && x.arg(0).is(Op::kInteger) &&
            x.arg(1).is_symbol());
  };
  if (!e.is(Op::kAdd)) return is_term(e);
  return std::all_of(e.args().begin(), e.args().end(), is_term);
}

}  // namespace

Expr FormSearch::canonical(Expr e) {
  const Expr plain = simplify(e);
  // Facts change nothing in a sum of products of symbols.
  const bool is_linear = plain.is(Op::kAdd) && is_linear_sum(plain);
  return is_linear ? plain : simplifier_.run(plain);
}

const Polynomial& FormSearch::polynomial(Expr e) {
  auto at = polynomials_.find(e.id());
  if (at == polynomials_.end()) {
    at = polynomials_.emplace(e.id(), to_polynomial(e)).first;
  }
  return at->second;
}

bool is_sum(Expr e) {
  return e.is_int() && (e.is(Op::kAdd) || e.is(Op::kMul) || e.is(Op::kPow));
}

// A sum of products of symbols: only writing can make it cheaper.
bool is_plain_sum(const Polynomial& p) {
  return std::all_of(p.terms().begin(), p.terms().end(), [](const auto& term) {
    return std::all_of(term.first.begin(), term.first.end(),
                       [](Expr atom) { return atom.is_symbol(); });
  });
}

Best FormSearch::best(Expr e) {
  if (is_leaf(e.op())) return {e, e, 1};
  if (auto it = best_.find(e.id());
      it != best_.end() &&
      (it->second.effort >= effort_ || it->second.is_sought)) {
    return it->second.best;
  }
  const bool has_zeros = facts_ != nullptr && !facts_->zeros().empty();
  if (!has_zeros && is_sum(e) && is_plain_sum(polynomial(e))) {
    return (best_[e.id()] = {shown(e), kMostEffort}).best;
  }
  auto [at, is_new] = best_.try_emplace(e.id());
  Known& known = at->second;
  if (is_new) known.best = {e, e, cost(e)};
  known.is_sought = true;
  const int effort = effort_;
  effort_ = std::max(effort - 1, 0);
  const Best found = search(e, effort);
  effort_ = effort;
  Known& now = best_[e.id()];
  now.is_sought = false;
  now.effort = effort;
  if (found.cost < now.best.cost || is_new) now.best = found;
  return now.best;
}

// c*a as c times the cheapest a.
Best FormSearch::scaled(const Int& c, Expr a) {
  return shown(canonical(to_polynomial(best(a).state) * c));
}

// The atom of c*a.
std::optional<std::pair<Int, Expr>> scaled_atom(Expr e) {
  if (!e.is(Op::kMul) || e.arity() != 2 || !e.arg(0).is(Op::kInteger)) {
    return std::nullopt;
  }
  const Expr a = e.arg(1);
  const Int& c = e.arg(0).integer();
  if (!a.is(Op::kFloorDiv) && !a.is(Op::kMod)) return std::nullopt;
  // 8*(a//8) is a - a % 8, which may be more than a product.
  const bool opens = a.is(Op::kFloorDiv) && a.arg(1).is(Op::kInteger) &&
                     !a.arg(1).integer().is_zero() &&
                     floor_mod(c, a.arg(1).integer()).is_zero();
  if (opens) return std::nullopt;
  return std::pair{c, a};
}

Best FormSearch::search(Expr e, int effort) {
  if (auto product = scaled_atom(e)) {
    return scaled(product->first, product->second);
  }
  struct Form {
    Best best;
    bool looked_at = false, split = false;
  };
  std::vector<Form> forms;
  size_t least = 0;
  auto add = [&](Expr state) {
    for (const Form& form : forms) {
      if (form.best.state == state) return false;
    }
    forms.push_back({shown(state)});
    return true;
  };
  auto try_rules = [&](std::span<const Rule> rules, size_t first, Expr state) {
    const size_t before = forms.size();
    for (size_t i = 0; i < rules.size(); ++i) {
      if (!applies(rules[i].on, state)) continue;
      Budget::spend(1);
      Found found;
      rules[i].apply(*this, state, found);
      for (Expr form : found) {
        if (forms.size() >= kEfforts[effort].forms) break;
        if (form.type() != e.type() || !add(canonical(form))) continue;
        if (forms.back().best.cost >= forms[least].best.cost) continue;
        least = forms.size() - 1;
        counts[first + i].add();
        best_[e.id()].best = forms[least].best;  // if there is no time for more
      }
    }
    return forms.size() > before;
  };
  // The cheapest form that has not been looked at, while one may lead on.
  auto next_form = [&]() -> Form* {
    Form* next = nullptr;
    for (Form& form : forms) {
      if (form.looked_at || is_leaf(form.best.state.op())) continue;
      if (next == nullptr || form.best.cost < next->best.cost) next = &form;
    }
    const bool leads_on =
        next != nullptr && next->best.cost <= forms[least].best.cost + kSlack;
    return leads_on ? next : nullptr;
  };
  add(e);
  int looks = kEfforts[effort].looks, splits = kEfforts[effort].splits;
  int patience = kPatience;
  uint64_t last = forms[least].best.cost;
  while (looks > 0 && forms[least].best.cost > 1) {
    if (forms[least].best.cost < last) {
      last = forms[least].best.cost;
      patience = kPatience;
    }
    if (Form* next = patience > 0 ? next_form() : nullptr) {
      --looks;
      --patience;
      next->looked_at = true;
      const Expr state = next->best.state;
      size_t first = 0;
      for (auto rules : {sum_rules(), extremum_rules(), logic_rules()}) {
        try_rules(rules, first, state);
        first += rules.size();
      }
      continue;
    }
    // Cases last: each is a search of its own.
    constexpr uint64_t kCloseBy = 2;
    auto is_next = [&](const Form& form) {
      return !form.split && !is_leaf(form.best.state.op()) &&
             form.best.cost <= forms[least].best.cost + kCloseBy;
    };
    auto next = is_next(forms[least])
                    ? forms.begin() + static_cast<std::ptrdiff_t>(least)
                    : std::find_if(forms.begin(), forms.end(), is_next);
    if (next == forms.end() || splits == 0) break;
    --splits;
    next->split = true;
    const size_t first =
        sum_rules().size() + extremum_rules().size() + logic_rules().size();
    try_rules(case_rules(), first, Expr(next->best.state));
  }
  return forms[least].best;
}

// A search with the conditions among its facts.
struct FormSearch::Assumption {
  Assumption(const FormSearch& outer, std::span<const Expr> c)
      : conditions(c.begin(), c.end()),
        facts(outer.facts_, c),
        search(outer.pool_, &facts, outer.depth_ + 1, outer.costs_) {}

  const std::vector<Expr> conditions;
  const AssumedFacts facts;
  FormSearch search;
};

FormSearch::FormSearch(ExprPool& pool, const Facts* facts, int depth,
                       std::shared_ptr<Costs> costs)
    : simplifier_(pool, facts),
      pool_(pool),
      facts_(facts),
      depth_(depth),
      costs_(std::move(costs)) {}
FormSearch::~FormSearch() = default;

Expr FormSearch::under(std::span<const Expr> conditions, Expr e) {
  auto at = std::find_if(
      assumptions_.begin(), assumptions_.end(), [&](const auto& known) {
        return std::equal(known->conditions.begin(), known->conditions.end(),
                          conditions.begin(), conditions.end());
      });
  if (at == assumptions_.end()) {
    at = assumptions_.insert(at,
                             std::make_unique<Assumption>(*this, conditions));
  }
  const Assumption& known = **at;
  FormSearch& inner = (*at)->search;
  for (auto& [id, sought] : inner.best_) sought.is_sought = false;
  inner.effort_ = effort_;
  const Expr state = inner.best(inner.canonical(e)).state;
  if (!state.is_int() || is_leaf(state.op()) != state.is_symbol()) return state;
  const auto low = known.facts.lower(state), high = known.facts.upper(state);
  return low && high && *low == *high ? integer(*low) : state;
}

std::optional<bool> FormSearch::proved(Expr condition) {
  if (condition.is_constant()) return condition.is_true();
  if (facts_ == nullptr || proofs_left_ == 0) return std::nullopt;
  --proofs_left_;
  return facts_->proved(condition);
}

// --- writing

Best FormSearch::shown(Expr state) {
  if (is_leaf(state.op())) return {state, state, 1};
  if (auto it = shown_.find(state.id());
      it != shown_.end() && it->second.effort >= effort_) {
    return it->second.best;
  }
  Expr e;
  if (is_sum(state) || (state.is(Op::kFloorDiv) && state.is_int())) {
    e = SumWriter(*this).write(polynomial(state));
  } else if (is_relation(state.op()) && state.arg(0).is_int() &&
             state.arg(1).is_int()) {
    e = shown_relation(state);
  } else if (state.is(Op::kMod)) {
    e = shown_mod(state);
  } else {
    std::vector<Expr> args;
    for (Expr arg : state.args()) args.push_back(best(arg).shown);
    e = pool_.make(state.op(), args);
  }
  Best result{state, e, cost(e)};
  if (const uint64_t own = cost(state); own < result.cost) {
    result = {state, state, own};
  }
  shown_[state.id()] = {result, effort_};
  return result;
}

// With a % 8 a coefficient 7 is as good as -1.
Expr FormSearch::shown_mod(Expr e) {
  const Expr divisor = best(e.arg(1)).shown;
  Expr numerator = best(e.arg(0)).shown;
  auto whole = [&](Expr a) { return pool_.make(Op::kMod, {a, divisor}); };
  if (!e.arg(1).is(Op::kInteger)) return whole(numerator);
  const Int& m = e.arg(1).integer();
  const Polynomial original = to_polynomial(e.arg(0));
  Polynomial p = original;
  for (const auto& [monomial, c] : original.terms()) {
    if (c * Int(2) <= m || c >= m || monomial.empty()) continue;
    const Polynomial lowered = p - Polynomial::term(monomial, m);
    const Expr now = best(canonical(lowered)).shown;
    if (cost(now) >= cost(numerator)) continue;
    numerator = now;
    p = lowered;
  }
  return whole(numerator);
}

// The atoms that are a factor of two terms or more.
std::vector<Expr> atoms_of_products(const Polynomial& p) {
  std::vector<Expr> once, found;
  for (const auto& [monomial, c] : p.terms()) {
    for (size_t i = 0; i < monomial.size(); ++i) {
      const Expr a = monomial[i];
      if (i > 0 && monomial[i - 1] == a) continue;
      const bool is_new = std::find(once.begin(), once.end(), a) == once.end();
      if (is_new) {
        once.push_back(a);
      } else if (std::find(found.begin(), found.end(), a) == found.end()) {
        found.push_back(a);
      }
    }
  }
  return found;
}

// Sides as they are, all on one side but the constant, or what has a common
// factor on one side.
Expr FormSearch::shown_relation(Expr e) {
  Expr result =
      pool_.make(e.op(), {best(e.arg(0)).shown, best(e.arg(1)).shown});
  const std::optional<Sign> s = sign_of(e);
  if (!s) return result;
  const Int c = s->p.constant();
  const Polynomial terms = s->p - Polynomial(c);
  if (terms.terms().size() < 2) return result;
  if (terms.degree() < 2) return result;  // it has no common factors
  auto consider = [&](Op op, Expr a, Expr b) {
    Expr other = pool_.make(op, {a, b});
    if (cost(other) < cost(result)) result = other;
  };
  // What an atom is a factor of on one side: Eq(x*(y - z), w).
  for (Expr atom : atoms_of_products(terms)) {
    const auto split = split_off(terms, atom);
    if (!split || split->factor.terms().size() < 2) continue;
    const Polynomial with = terms - split->rest;
    const Polynomial rest = split->rest + Polynomial(c);
    const Expr product = best(canonical(with)).shown;
    const Expr opposite = best(canonical(with * Int(-1))).shown;
    const Expr other = best(canonical(rest)).shown;
    const Expr minus = best(canonical(rest * Int(-1))).shown;
    if (s->op == Op::kLe) {
      consider(Op::kLe, minus, product);
      consider(Op::kLe, opposite, other);
    } else {
      consider(s->op, product, minus);
      consider(s->op, opposite, other);
    }
  }
  const Expr up = best(canonical(terms)).shown;
  const Expr down = best(canonical(terms * Int(-1))).shown;
  if (s->op == Op::kLe) {
    consider(Op::kLe, integer(-c), up);
    consider(Op::kLe, down, integer(c));
  } else {
    consider(s->op, up, integer(-c));
    consider(s->op, down, integer(c));
  }
  return result;
}

namespace {

bool is_associative(Op op) {
  return op == Op::kAnd || op == Op::kOr || op == Op::kMin || op == Op::kMax ||
         op == Op::kAdd;
}

// What a chain of one operator joins: a, b and c of (a & b) & c.
std::vector<Expr> operands(Expr e) {
  if (!is_associative(e.op())) return {e.args().begin(), e.args().end()};
  std::vector<Expr> found, stack{e};
  while (!stack.empty()) {
    const Expr next = stack.back();
    stack.pop_back();
    if (!next.is(e.op()) || next.type() != e.type()) {
      found.push_back(next);
      continue;
    }
    for (size_t i = next.arity(); i-- > 0;) stack.push_back(next.arg(i));
  }
  return found;
}

}  // namespace

// The canonical form without facts; e as it is where plain_units_ end.
Expr FormSearch::plain(Expr e) {
  return within(plain_units_, [&] { return simplify(e); }).value_or(e);
}

// In so many units, of which it takes what it spends.
Best FormSearch::best_within(Expr e, uint64_t& units) {
  Expr start = plain(e);
  if (units > 0) {
    try {
      const Budget budget(units);
      start = canonical(e);
      visit_arguments_first(
          start, [this](Expr x) { return is_leaf(x.op()) || is_sought_out(x); },
          [this](Expr x) { best(x); });
      const Best found = best(start);
      units = Budget::units_left();
      return found;
    } catch (const OutOfBudget&) {
      units = 0;
    }
    for (auto& [id, known] : best_) known.is_sought = false;
    effort_ = kMostEffort;
  }
  auto found = best_.find(start.id());
  return found != best_.end() ? found->second.best
                              : Best{start, start, cost(start)};
}

namespace {

bool divides_by_negative(Expr e) {
  return static_cast<bool>(find_node(e, [](Expr x) {
    return x.is(Op::kFloorDiv) && x.arg(1).is(Op::kInteger) &&
           x.arg(1).integer().sign() < 0;
  }));
}

}  // namespace

// e where it is a sum of symbols times numbers, which is canonical: no search
// finds a cheaper form than what the terms have in common taken out.
std::optional<Expr> FormSearch::as_linear_sum(Expr e) {
  const bool has_zeros = facts_ != nullptr && !facts_->zeros().empty();
  if (has_zeros) return std::nullopt;
  const Expr state = plain(e);
  if (state.type() != e.type() || !is_linear_sum(state)) return std::nullopt;
  const Best best = shown(state);
  return best.cost <= cost(e) && !is_wider(best.shown) ? best.shown : e;
}

// Whether the form may overflow where what was first presented does not.  Where
// its numbers are no larger, it is taken not to.
bool FormSearch::is_wider(Expr form) {
  if (!first_ || largest_numbers_(form) <= largest_number_) return false;
  if (!first_width_) first_width_ = width(first_, *facts_);
  return *first_width_ && widens(width(form, *facts_), *first_width_);
}

Expr FormSearch::present(Expr e, uint64_t& units) {
  if (!first_ && facts_ != nullptr) {
    first_ = e;
    largest_number_ = largest_numbers_(e);
  }
  if (std::optional<Expr> sum = as_linear_sum(e)) return *sum;
  proofs_left_ = kMaxProofs;
  has_negative_divisor_ = has_negative_divisor_ || divides_by_negative(e);
  std::vector<Expr> stack{e};
  while (!stack.empty()) {
    const Expr x = stack.back();
    if (is_leaf(x.op()) || presented_.contains(x.id())) {
      stack.pop_back();
      continue;
    }
    const std::vector<Expr> parts = operands(x);
    const size_t before = stack.size();
    for (size_t i = parts.size(); i-- > 0;) {
      const bool is_known =
          is_leaf(parts[i].op()) || presented_.contains(parts[i].id());
      if (!is_known) stack.push_back(parts[i]);
    }
    if (stack.size() > before) continue;
    stack.pop_back();
    std::vector<Expr> args;
    for (Expr part : parts) {
      args.push_back(is_leaf(part.op()) ? part : presented_.at(part.id()));
    }
    const Expr as_written = pool_.make(x.op(), args);
    // One part does not take all that there is.
    uint64_t share = std::min(units, kCheapestUnits / 6);
    units -= share;
    const Best found = best_within(x, share);
    units += share;
    Budget::check();  // what the caller's budget ends is the caller's to catch
    const bool is_better = found.shown.type() == x.type() &&
                           found.cost <= cost(as_written) &&
                           !is_wider(found.shown);
    presented_.emplace(x.id(), is_better ? found.shown : as_written);
  }
  return is_leaf(e.op()) ? e : presented_.at(e.id());
}

Expr FormSearch::floor_form(Expr e) {
  auto known = [this](Expr x) {
    if (is_leaf(x.op())) return x;
    return floor_forms_.at(x.id());
  };
  visit_arguments_first(
      e,
      [this](Expr x) {
        return is_leaf(x.op()) || floor_forms_.contains(x.id());
      },
      [&](Expr x) {
        std::vector<Expr> args;
        for (Expr arg : x.args()) args.push_back(known(arg));
        Expr result;
        if (x.is(Op::kMod)) {
          result = args[0] - args[1] * floor_div(args[0], args[1]);
        } else {
          result = pool_.make(x.op(), args);
        }
        floor_forms_.emplace(x.id(), canonical(result));
      });
  return known(e);
}

bool FormSearch::is_total(Expr e) {
  std::unordered_set<uint32_t> seen;
  std::vector<Expr> waiting{e};
  while (!waiting.empty()) {
    const Expr x = waiting.back();
    waiting.pop_back();
    if (is_leaf(x.op()) || !seen.insert(x.id()).second) continue;
    if (!is_total_node(x)) return false;
    for (size_t i = x.arity(); i-- > 0;) waiting.push_back(x.arg(i));
  }
  return true;
}

// Wherever its arguments are.
bool FormSearch::is_total_node(Expr e) {
  Budget::spend(1);
  const bool is_division = is_integer_division(e.op());
  const auto divisors = static_cast<size_t>(info(e.op()).divisors);
  for (size_t i = 1; is_division && i <= divisors; ++i) {
    const Polynomial d = to_polynomial(e.arg(i));
    if (d.is_zero()) return false;
    if (!d.is_constant() && !is_positive(d) && !is_positive(d * Int(-1))) {
      return false;
    }
  }
  switch (e.op()) {
    case Op::kPow:
    case Op::kPowByNatural:
      if (!e.arg(1).is(Op::kInteger) || e.arg(1).integer().sign() < 0) {
        return false;
      }
      break;
    case Op::kAdd:
    case Op::kMul:
    case Op::kMin:
    case Op::kMax:
    case Op::kAbs:
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe:
    case Op::kAnd:
    case Op::kOr:
    case Op::kNot:
    case Op::kWhere:
    case Op::kIdentity: break;
    default: return is_division;
  }
  return true;
}

// --- what rules share

std::optional<Linear> split_off(const Polynomial& p, Expr atom) {
  Linear result;
  for (const auto& [monomial, c] : p.terms()) {
    const auto uses = std::count(monomial.begin(), monomial.end(), atom);
    if (uses > 1) return std::nullopt;
    if (uses == 0) {
      result.rest.add(monomial, c);
      continue;
    }
    Monomial others;
    for (Expr a : monomial) {
      if (a != atom) others.push_back(a);
    }
    result.factor.add(others, c);
  }
  return result;
}

std::vector<Expr> atoms_of(const Polynomial& p, Op op) {
  std::vector<Expr> atoms;
  for (const auto& [monomial, c] : p.terms()) {
    for (Expr atom : monomial) {
      if (atom.is(op) &&
          std::find(atoms.begin(), atoms.end(), atom) == atoms.end()) {
        atoms.push_back(atom);
      }
    }
  }
  return atoms;
}

bool contains(Expr e, Op op) {
  return static_cast<bool>(find_node(e, [op](Expr x) { return x.is(op); }));
}

Polynomial equal_terms(const Polynomial& p, const Polynomial& q) {
  Polynomial common;
  for (const auto& [monomial, c] : p.terms()) {
    auto at = q.terms().find(monomial);
    if (at != q.terms().end() && at->second == c) common.add(monomial, c);
  }
  return common;
}

std::optional<Block> block_of(FormSearch& search, const Polynomial& p,
                              const Int& g) {
  Polynomial high, low;
  for (const auto& [monomial, c] : p.terms()) {
    const bool is_high = !monomial.empty() && floor_mod(c, g).is_zero();
    (is_high ? high : low).add(monomial, c);
  }
  if (high.is_zero() || low.is_constant()) return std::nullopt;
  const auto least = search.lower(low), most = search.upper(low);
  if (!least || !most) return std::nullopt;
  const Int block = floor_div(*least, g);
  if (block != floor_div(*most, g)) return std::nullopt;
  return Block{over(high, g), std::move(low), block};
}

std::optional<Sign> sign_of(Expr e) {
  if (!is_relation(e.op()) || !e.arg(0).is_int() || !e.arg(1).is_int()) {
    return std::nullopt;
  }
  const Polynomial gap = to_polynomial(e.arg(1)) - to_polynomial(e.arg(0));
  if (e.is(Op::kLt)) return Sign{Op::kLe, gap - Polynomial(Int(1))};
  return Sign{e.op(), gap};
}

Expr relation_of(FormSearch& search, Op op, const Polynomial& p) {
  Simplifier& s = search.simplifier();
  if (op == Op::kLe) return s.nonneg(p);
  const Expr zero = s.is_zero(p);
  return op == Op::kEq ? zero : s.negate(zero);
}

std::vector<Expr> elements(Expr e, Op op) {
  if (e.is(op)) return {e.args().begin(), e.args().end()};
  return {e};
}
Expr joined(FormSearch& search, Op op, const std::vector<Expr>& args) {
  return args.size() == 1 ? args[0] : search.pool().make(op, args);
}

Op dual(Op op) {
  switch (op) {
    case Op::kMin: return Op::kMax;
    case Op::kMax: return Op::kMin;
    case Op::kAnd: return Op::kOr;
    default: return Op::kAnd;
  }
}

}  // namespace proviso::inline v0_2::internal

namespace proviso::inline v0_2 {
using namespace internal;
namespace {

// Whether a is before b among forms of one value.
bool is_better(Expr a, Expr b) {
  const uint64_t x = cost(a), y = cost(b);
  if (x != y) return x < y;
  const bool canonical_a = simplify(a) == a, canonical_b = simplify(b) == b;
  if (canonical_a != canonical_b) return canonical_a;
  return compare(a, b) < 0;
}

// Searched again until a form is its own cheapest one.
Expr cheapest_of(Expr e, const Facts* facts) {
  if (is_leaf(not_null(e, "cheapest").op())) return e;
  Expr least = e;
  uint64_t total = kCheapestUnits;
  internal::FormSearch search(e.pool(), facts);
  while (total > 0) {
    uint64_t units = std::min(total, kCheapestUnits / 3);
    total -= units;
    const Expr form = search.present(least, units);
    total += units;
    if (form.type() != e.type() || !is_better(form, least)) break;
    least = form;
  }
  return least;
}

}  // namespace

Expr cheapest(Expr e) { return cheapest_of(e, nullptr); }
Expr cheapest(Expr e, const Facts& facts) { return cheapest_of(e, &facts); }

}  // namespace proviso::inline v0_2
