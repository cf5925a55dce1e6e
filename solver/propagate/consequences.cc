#include "solver/propagate/consequences.h"

#include <algorithm>

#include "solver/limits_in_force.h"
#include "sym/budget.h"

namespace proviso::inline v0_2::internal {

// --- bounds

void Consequences::bound(AtomId a, bool lower, const Int& value, Reason why) {
  if (has_conflict() || value.bit_length() > limits().bound_bits) return;
  const AtomRecord& r = state_.atoms.of(a);
  const Range& now = ranges_.of_atom(a, r);
  if (now.span.is_empty()) {
    return conflict(reasons_.join(now.lower, now.upper));
  }
  const OptionalInt& end = lower ? now.span.lower() : now.span.upper();
  if (end && (lower ? *end >= value : *end <= value)) return;
  const OptionalInt& other = lower ? now.span.upper() : now.span.lower();
  if (other && (lower ? *other < value : *other > value)) {
    return conflict(reasons_.join(why, lower ? now.upper : now.lower));
  }
  state_.bounds.set(a, lower, value, why);
  if (r.mentions != kNoId) {
    const Mentions& where = state_.atoms.mentions(r);
    wake_all(where.constraints);
    for (AtomId b : where.dependents) wake(b);
  }
  if (!is_variable(r.kind) && r.kind != AtomKind::kOpaque) {
    post({Consequence::kAtomBound,
          {},
          lower,
          depth_,
          a,
          why,
          Poly::number(value)});
  }
  if (r.solved != kNoId) {
    const Substitution::Solved& solved = state_.substitution.solved(r);
    Poly inequality = forms_.polys[solved.value] * (lower ? 1 : -1);
    inequality.constant += lower ? -value : value;
    derive(FormulaKind::kGe, std::move(inequality),
           reasons_.join(why, solved.why));
  } else if (is_variable(r.kind) && r.own.span.is_point()) {
    solve(a, Poly::number(*r.own.span.lower()),
          reasons_.join(r.own.lower, r.own.upper));
  }
}

void Consequences::bound(const Term& t, const Int& slack, Reason why) {
  const bool lower = t.coef.sign() > 0;
  const Int value =
      lower ? -floor_div(slack, t.coef) : floor_div(slack, -t.coef);
  const AtomId single = forms_.monomials.single(t.mono);
  if (single != kNoId) return bound(single, lower, value, why);
  Poly inequality = Poly::term(t.mono, lower ? 1 : -1);
  inequality.constant = lower ? -value : value;
  bound_form(inequality, why);
  post({Consequence::kProductBound,
        {},
        lower,
        depth_,
        t.mono,
        why,
        Poly::number(value)});
}

void Consequences::bound_form(const PrimitivePart& v, const Int& constant,
                              Reason why, uint32_t constraint) {
  const Bounds::Ends* ends =
      state_.bounds.set_form(v, constant, why, constraint);
  if (ends == nullptr) return;
  if (const Ids* watching = state_.constraints.watching(v.part)) {
    wake_all(*watching);
  }
  wake_solved_by(forms_.polys[v.part]);
  const auto& [low, high] = *ends;
  if (!low.value || !high.value || *low.value < *high.value) return;
  const Reason both = reasons_.join(low.why, high.why);
  if (*low.value > *high.value) return conflict(both);
  Poly equal = forms_.polys[v.part];
  equal.constant -= *low.value;
  derive(FormulaKind::kEq, std::move(equal), both);
}

// What was known of x's range becomes inequalities about `value`.
void Consequences::solve(AtomId x, const Poly& value, Reason why) {
  if (has_conflict()) return;
  state_.substitution.set(x, forms_.polys.id_of(value), why);
  const Range& own = state_.bounds.own(x);
  if (own.span.lower()) {
    Poly inequality = value;
    inequality.constant -= *own.span.lower();
    derive(FormulaKind::kGe, std::move(inequality),
           reasons_.join(own.lower, why));
  }
  if (own.span.upper()) {
    Poly inequality = -value;
    inequality.constant += *own.span.upper();
    derive(FormulaKind::kGe, std::move(inequality),
           reasons_.join(own.upper, why));
  }
  wake(x);
}

// --- the queue

void Consequences::post(Consequence&& c) {
  if (has_conflict() || c.depth > limits().derivation_depth) return;
  waiting_.push_back(std::move(c));
}

void Consequences::next(Consequence& c) {
  std::reverse(waiting_.begin() + static_cast<std::ptrdiff_t>(batch_),
               waiting_.end());
  c = std::move(waiting_.back());
  waiting_.pop_back();
  batch_ = waiting_.size();
  depth_ = c.depth;
}

std::optional<Consequences::Visit> Consequences::next_visit() {
  batch_ = 0;
  depth_ = 0;
  while (next_woken_ < woken_.size()) {
    const uint32_t i = woken_[next_woken_++];
    is_woken_[i] = false;
    const uint8_t most = limits().propagation_rounds;
    if (visits_ >= limits().propagations || rounds_[i] > most ||
        !state_.constraints[i].is_active) {
      continue;
    }
    const bool is_last = rounds_[i]++ == most;
    visits_ += !is_last;
    return Visit{i, is_last};
  }
  return std::nullopt;
}

void Consequences::forget_waiting() {
  for (uint32_t i : woken_) is_woken_[i] = false, rounds_[i] = 0;
  woken_.clear();
  waiting_.clear();
  next_woken_ = visits_ = batch_ = 0;
}

void Consequences::wake_all(const Ids& constraints) {
  Budget::charge(constraints.size() / 8);
  for (uint32_t i : constraints) {
    if (i >= rounds_.size()) {
      is_woken_.resize(i + 1);
      rounds_.resize(i + 1);
    }
    if (is_woken_[i] || !state_.constraints[i].is_active) continue;
    is_woken_[i] = true;
    woken_.push_back(i);
  }
}

// Symbols that were solved for by (a multiple of) the form: by way of its term
// on which fewest depend.
void Consequences::wake_solved_by(const Poly& form) {
  const Ids* fewest = nullptr;
  size_t at = 0;
  for (size_t i = 0; i < form.terms.size(); ++i) {
    const AtomId a = forms_.monomials.factors(form.terms[i].mono)[0];
    const Ids& of_term = state_.substitution.dependents_of(a);
    if (fewest && fewest->size() <= of_term.size()) continue;
    fewest = &of_term;
    at = i;
  }
  for (AtomId x : *fewest) {
    const Poly& value = forms_.polys[state_.substitution.value_of(x)];
    if (value.terms.size() == form.terms.size() &&
        value.terms[at].mono == form.terms[at].mono) {
      wake(x);
    }
  }
}

}  // namespace proviso::inline v0_2::internal
