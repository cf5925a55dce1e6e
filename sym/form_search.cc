// best() looks up what is known of a node, search() expands its forms, and
// under() has a search of its own for each set of conditions.
//
//   32*(x//32) + x % 32         cost 15
//     close_remainder           x - x % 32 + x % 32: x, cost 1
//
// The cheapest form that is open is expanded next, while it costs at most
// fixed::form_slack more than the least, and as often as the node's depth
// (kAtDepth) and patience allow.  An expansion costs what the rules ask, and a
// canonical form for each of theirs.
// Best-first search (Pearl, Heuristics, 1984), in the same order each time.
// Complete for nothing.
#include "sym/form_search.h"

#include <algorithm>

#include "sym/budget.h"
#include "sym/canonical.h"
#include "sym/conditional_facts.h"
#include "sym/find_node.h"
#include "sym/rule_parts.h"
#include "sym/write_form.h"

namespace proviso::inline v0_2::internal {
namespace {

// What is done for a node, by its depth: how many forms are kept, how many of
// these the rules expand, and how many the rules that look at cases.
struct NodeLimits {
  size_t forms;
  int expansions, case_expansions;
};
constexpr NodeLimits kAtDepth[] = {
    {fixed::forms_at_depth_0, fixed::expanded_at_depth_0,
     fixed::cases_at_depth_0},
    {fixed::forms_at_depth_1, fixed::expanded_at_depth_1,
     fixed::cases_at_depth_1},
    {fixed::forms_at_depth_2, fixed::expanded_at_depth_2, 0},
    {1, 0, 0}};

bool divides_by_negative(Expr e) {
  return static_cast<bool>(find_node(e, [](Expr x) {
    return (x.is(Op::kFloorDiv) || x.is(Op::kMod)) &&
           x.arg(1).is(Op::kInteger) && x.arg(1).integer().sign() < 0;
  }));
}

// A sum of products of symbols: only writing can make it cheaper.
bool is_plain_sum(const Polynomial& p) {
  return std::all_of(p.terms().begin(), p.terms().end(), [](const auto& term) {
    return std::all_of(term.first.begin(), term.first.end(),
                       [](Expr atom) { return atom.is_symbol(); });
  });
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

}  // namespace

FormSearch::FormSearch(ExprPool& pool, const Facts* facts, int assumed,
                       std::shared_ptr<Costs> costs)
    : canonicalizer_(pool, facts),
      pool_(pool),
      facts_(facts),
      assumed_(assumed),
      costs_(std::move(costs)) {}
FormSearch::~FormSearch() = default;

void FormSearch::begin(Expr e) {
  proofs_left_ = fixed::rule_proofs;
  has_negative_divisor_ = has_negative_divisor_ || divides_by_negative(e);
}

Expr FormSearch::canonical(Expr e) {
  const Expr plain = proviso::canonical(e);
  // Facts change nothing in a sum of products of symbols.
  const bool is_linear = plain.is(Op::kAdd) && is_linear_sum(plain);
  return is_linear ? plain : canonicalizer_.run(plain);
}

const Polynomial& FormSearch::polynomial(Expr e) {
  auto at = polynomials_.find(e.id());
  if (at == polynomials_.end()) {
    at = polynomials_.emplace(e.id(), to_polynomial(e)).first;
  }
  return at->second;
}

// --- the search

Best FormSearch::best(Expr e) {
  if (is_leaf(e.op())) return {e, e, 1};
  if (auto it = best_.find(e.id());
      it != best_.end() &&
      (it->second.depth <= depth_ || it->second.is_in_progress)) {
    return it->second.best;
  }
  if (nested_ == fixed::search_depth) return {e, e, cost(e)};
  if (!has_zeros() && is_sum(e) && is_plain_sum(polynomial(e))) {
    return (best_[e.id()] = {written(e), 0}).best;
  }
  auto [at, is_new] = best_.try_emplace(e.id());
  Known& known = at->second;
  if (is_new) known.best = {e, e, cost(e)};
  known.is_in_progress = true;
  const int depth = depth_;
  depth_ = std::min(depth + 1, kDeepest);
  ++nested_;
  const Best found = search(e, depth);
  --nested_;
  depth_ = depth;
  Known& now = best_[e.id()];
  now.is_in_progress = false;
  now.depth = depth;
  if (found.cost < now.best.cost || is_new) now.best = found;
  return now.best;
}

std::optional<Best> FormSearch::found(Expr e) const {
  const auto at = best_.find(e.id());
  if (at == best_.end()) return std::nullopt;
  return at->second.best;
}

void FormSearch::recover() {
  for (auto& [id, known] : best_) known.is_in_progress = false;
  depth_ = 0;
  nested_ = 0;
}

// The forms of one node.
class FormSearch::Expansion {
 public:
  Expansion(FormSearch& search, Expr start, int depth)
      : search_(search), start_(start), limits_(kAtDepth[depth]) {
    add(start);
  }

  Best run() {
    int expansions = limits_.expansions;
    int case_expansions = limits_.case_expansions;
    int patience = fixed::search_patience;
    uint64_t last = least_cost();
    while (expansions > 0 && least_cost() > 1) {
      if (least_cost() < last) {
        last = least_cost();
        patience = fixed::search_patience;
      }
      if (Form* next = patience > 0 ? next_form() : nullptr) {
        --expansions;
        --patience;
        next->is_expanded = true;
        expand(index_of(*next));
        continue;
      }
      // Cases last: each is a search of its own.
      Form* next = next_for_cases();
      if (next == nullptr || case_expansions == 0) break;
      --case_expansions;
      next->is_expanded_by_cases = true;
      expand_by_cases(index_of(*next));
    }
    return forms_[least_].best;
  }

 private:
  struct Form {
    Best best;
    bool is_expanded = false, is_expanded_by_cases = false;
    // Which form a rule said it of, and which rule; the start is of none.
    size_t from = 0, rule = 0;
    bool led_on = false;  // it is a cheaper form, or led to one
  };

  size_t index_of(const Form& form) const {
    return static_cast<size_t>(&form - forms_.data());
  }

  uint64_t least_cost() const { return forms_[least_].best.cost; }

  bool add(Expr form) {
    for (const Form& known : forms_) {
      if (known.best.canonical == form) return false;
    }
    forms_.push_back({search_.written(form)});
    return true;
  }

  // The cheapest form that is not expanded, while one may lead on.
  Form* next_form() {
    Form* next = nullptr;
    for (Form& form : forms_) {
      if (form.is_expanded || is_leaf(form.best.canonical.op())) continue;
      if (next == nullptr || form.best.cost < next->best.cost) next = &form;
    }
    const bool leads_on =
        next != nullptr && next->best.cost <= least_cost() + fixed::form_slack;
    return leads_on ? next : nullptr;
  }
  Form* next_for_cases() {
    const auto is_next = [&](const Form& form) {
      return !form.is_expanded_by_cases && !is_leaf(form.best.canonical.op()) &&
             form.best.cost <= least_cost() + fixed::case_form_slack;
    };
    if (is_next(forms_[least_])) return &forms_[least_];
    const auto next = std::find_if(forms_.begin(), forms_.end(), is_next);
    return next == forms_.end() ? nullptr : &*next;
  }

  void expand(size_t form) {
    const auto tables = rule_tables();
    size_t first = 0;
    for (RuleRows rules : tables.first(tables.size() - 1)) {
      try_rules(rules, first, form);
      first += rules.size();
    }
  }
  void expand_by_cases(size_t form) {
    const auto tables = rule_tables();
    size_t first = 0;
    for (RuleRows rules : tables.first(tables.size() - 1)) {
      first += rules.size();
    }
    try_rules(tables.back(), first, form);
  }

  // `first`: the number of the first of these rules.
  void try_rules(RuleRows rules, size_t first, size_t from) {
    const Expr form = forms_[from].best.canonical;
    for (size_t i = 0; i < rules.size(); ++i) {
      if (!applies(rules[i].on, form)) continue;
      Budget::spend(1);
      Found found;
      rules[i].apply(search_, form, found);
      for (Expr other : found) {
        if (forms_.size() >= limits_.forms) break;
        if (other.type() != start_.type() || !add(search_.canonical(other))) {
          continue;
        }
        forms_.back().from = from;
        forms_.back().rule = first + i;
        if (forms_.back().best.cost >= least_cost()) continue;
        least_ = forms_.size() - 1;
        count_rules();
        // The budget may end before there is more.
        search_.best_[start_.id()].best = forms_[least_].best;
      }
    }
  }

  // The rules that led to the cheapest form, each form's once.
  void count_rules() {
    for (size_t i = least_; i != 0 && !forms_[i].led_on; i = forms_[i].from) {
      forms_[i].led_on = true;
      count_rule(forms_[i].rule);
    }
  }

  FormSearch& search_;
  const Expr start_;
  const NodeLimits& limits_;
  std::vector<Form> forms_;
  size_t least_ = 0;  // the cheapest
};

Best FormSearch::search(Expr e, int depth) {
  if (auto product = scaled_atom(e)) {  // c times the cheapest form of the atom
    const auto& [c, atom] = *product;
    return written(canonical(to_polynomial(best(atom).canonical) * c));
  }
  return Expansion(*this, e, depth).run();
}

Best FormSearch::written(Expr e) {
  if (is_leaf(e.op())) return {e, e, 1};
  if (auto it = written_.find(e.id());
      it != written_.end() && it->second.depth <= depth_) {
    return it->second.best;
  }
  const Expr text = write_form(*this, e);
  Best result{e, text, cost(text)};
  if (const uint64_t own = cost(e); own < result.cost) result = {e, e, own};
  written_[e.id()] = {result, depth_};
  return result;
}

// --- for rules

// A search with the conditions among its facts.
struct FormSearch::Assumption {
  Assumption(const FormSearch& outer, std::span<const Expr> c)
      : conditions(c.begin(), c.end()),
        facts(outer.facts_, c),
        search(outer.pool_, &facts, outer.assumed_ + 1, outer.costs_) {}

  const std::vector<Expr> conditions;
  const ConditionalFacts facts;
  FormSearch search;
};

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
  for (auto& [id, known] : inner.best_) known.is_in_progress = false;
  inner.depth_ = depth_;
  const Expr state = inner.best(inner.canonical(e)).canonical;
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

}  // namespace proviso::inline v0_2::internal
