#include "solver/engine.h"

#include <algorithm>

#include "solver/retell.h"
#include "sym/facts.h"
#include "sym/print.h"

namespace proviso {
namespace {

constexpr size_t kMaxToldAgain = 60;
// How facts are told anew, time after time, each with half a budget more.  With
// all equalities solved, of any two facts each comes first once: an equality
// before the bound that lets it be divided has rows of its own.
struct Turn {
  Domain::Solving solving;
  TellingOrder order;
};
constexpr Turn kTurns[] = {
    {Domain::Solving::kWithoutFloors, {0}},
    {Domain::Solving::kAll, {1}},
    {Domain::Solving::kNone, {2}},
    {Domain::Solving::kAll, {.number = 4, .bounds_last = true}},
    {Domain::Solving::kAll, {0}}};
// Of a budget: an answer that took more may be an order's luck.
constexpr double kSure = 0.45;
constexpr int kSideSteps = 2;
// Which variables equalities leave free depends on the order: only few points
// are counted at once, more when the facts are told anew.
constexpr int64_t kFewPoints = 256, kMaxPoints = 16384;
// The reason arena is cut back when questions have grown it this much.
constexpr uint32_t kArenaSlack = 1u << 16;

Interval machine_range() {
  Int top = *pow(Int(2), 63);
  return Interval(-top, top - 1);
}

}  // namespace

Engine::Engine(ExprPool& p, SolverOptions o)
    : pool(p), options(o), forms(Forms::of(p).pool),
      lower(Forms::of(p).lower), of_pool(p.companion()),
      domain(forms, reasons, o.machine_int64 ? machine_range() : Interval()),
      prover(domain), worlds(domain), versions{1} {
  facts.reserve(16);
  memo.reserve(16);
  versions.reserve(16);
  reasons.reserve(256);
}

// --- telling

void Engine::check(Expr e, const char* call,
                          const char* expected) const {
  if (!e) {
    throw Error("Context::" + std::string(call) + ": expected " + expected +
                ", got a null expression; build it with the context's pool");
  }
  if (&e.pool() != &pool) {
    throw Error("Context::" + std::string(call) + ": " + to_string(e) +
                " belongs to another ExprPool; build it with Context::pool()");
  }
}

FactId Engine::tell(Expr condition, Provenance&& origin) {
  FactId id = static_cast<FactId>(facts.size());
  facts.push_back({condition, kNoId});
  if (!origin.is_empty()) {
    facts.back().origin = static_cast<uint32_t>(origins.size());
    origins.push_back(std::move(origin));
  }
  versions.push_back(next_version++);
  // An assumed fact holds, so it is defined.
  FormulaId f = lower.condition(condition);
  FormulaId defined = lower.defined(condition);
  Reason why = reasons.leaf(id);
  const bool is_derived = within(options.work_limit / 4, [&] {
                            domain.tell(defined, why);
                            domain.tell(f, why);
                            return true;
                          }).has_value();
  // Nothing else follows from what takes too much work.
  if (!is_derived) domain.tell_alone(f, why);
  worlds.add_fact(defined);
  worlds.add_fact(f);
  return id;
}

Fact Engine::fact(FactId id) const {
  const Told& told = facts[id];
  return {id, told.condition,
          told.origin == kNoId ? Provenance{} : origins[told.origin]};
}

void Engine::push() {
  scopes.push_back(
      {domain.mark(), worlds.mark(), facts.size(), reasons.size()});
}

// Takes back what is not shared and tells what is missing.
void Engine::go_to(const std::shared_ptr<Version>& target) {
  std::vector<std::shared_ptr<Version>> wanted;
  for (auto v = target; v != nullptr; v = v->parent) wanted.push_back(v);
  std::reverse(wanted.begin(), wanted.end());
  size_t shared = 0;
  while (shared < wanted.size() && shared < path.size() &&
         wanted[shared] == path[shared]) {
    ++shared;
  }
  while (path.size() > shared) {
    for (size_t id = scopes.back().facts; id < facts.size(); ++id) {
      path.back()->facts.push_back(fact(static_cast<FactId>(id)));
    }
    path.pop_back();
    pop();
  }
  for (size_t i = shared; i < wanted.size(); ++i) {
    push();
    path.push_back(wanted[i]);
    for (Fact& fact : wanted[i]->facts) {
      tell(fact.condition, std::move(fact.origin));
    }
    wanted[i]->facts.clear();
  }
}

void Engine::pop() {
  Scope scope = scopes.back();
  scopes.pop_back();
  domain.undo(scope.mark);
  worlds.undo(scope.worlds);
  while (symbols_of_fact.size() > scope.facts) {
    for (Expr s : symbols_of_fact.back()) {
      facts_of_symbol[s.symbol().index].pop_back();
    }
    symbols_of_fact.pop_back();
  }
  while (facts.size() > scope.facts) {
    if (facts.back().origin != kNoId) origins.pop_back();
    facts.pop_back();
    versions.pop_back();
  }
  trim_reasons(scope.reasons);
}

// Questions grow the arena; what they grew is nobody's once they are answered.
void Engine::trim_reasons(uint32_t size) {
  if (reasons.size() < size + kArenaSlack) return;
  reasons.truncate(size);
  ++epoch;
  domain.forget_cached();
}

// Trims, but for what one reason says.
void Engine::keep_reason(uint32_t size, Reason& why) {
  if (reasons.size() < size + kArenaSlack) return;
  std::vector<uint32_t> leaves = reasons.facts(why);
  trim_reasons(size);
  why = 0;
  for (uint32_t leaf : leaves) why = reasons.join(why, reasons.leaf(leaf));
}

// --- asking

std::vector<FactId> Engine::used_facts(Reason why) const {
  std::vector<FactId> ids = reasons.facts(why);
  std::erase(ids, kQuestionLeaf);
  return ids;
}

std::string Engine::in_words(const std::vector<FactId>& ids) const {
  std::string out;
  for (FactId id : ids) {
    std::string origin = fact(id).origin.to_string();
    if (!out.empty()) out += "; ";
    out += origin.empty() ? to_string(facts[id].condition, 1000) : origin;
  }
  return out;
}

Answer Engine::contradictory(const std::vector<FactId>& which) const {
  Answer answer;
  answer.facts = which;
  answer.reason = "contradictory facts: " + in_words(which);
  return answer;
}

void Engine::adopt(const Decision& d, Tier tier, Native& result) {
  result.verdict = *d.value ? Verdict::kYes : Verdict::kNo;
  result.why = reasons.join(result.why, d.why);
  result.tier = std::max(result.tier == Tier::kNone ? tier : result.tier, tier);
}

bool Engine::adopt(const std::optional<Proof>& proof, bool verdict,
                   Native& result) {
  if (!proof) return false;
  adopt(Decision{verdict, proof->why},
        proof->used_cases ? Tier::kCases : Tier::kLinear, result);
  return true;
}

void Engine::prove_defined(FormulaId defined, Native& result) {
  result.tier = Tier::kStructure;
  if (defined == kTrue) {
    result.defined = true;
    return;
  }
  Decision d;
  if (domain.decide(defined, d)) {
    result.defined = *d.value;
    result.why = d.why;
    result.tier = d.used_equalities ? Tier::kEqualities : Tier::kRanges;
    return;
  }
  FormulaId opposite = forms.negate(defined);
  if (worlds.satisfiable(opposite) || worlds.satisfiable_by_search(opposite)) {
    result.open = true;
    return;
  }
  Prover::Tried tried;
  for (Effort effort : {Effort::kLinear, Effort::kCases, Effort::kValues}) {
    auto proof = prover.refute(opposite, effort, options.budget / 6, tried);
    if (!proof) continue;
    result.defined = true;
    result.why = proof->why;
    result.tier = proof->used_cases ? Tier::kCases : Tier::kLinear;
    return;
  }
}

// Each stage has its share of the budget: spending one does not end the next.
void Engine::prove_or_refute(FormulaId f, Native& result) {
  Decision d = prover.decide_by_rows(f);
  if (d.value) return adopt(d, Tier::kLinear, result);
  // Cases that were told are likely to settle it, others are not.
  const bool cases_first = prover.has_told_cases(f);
  if (cases_first) {
    d = prover.decide_in_cases(f, options.budget / 16);
    if (d.value) return adopt(d, Tier::kCases, result);
  }
  FormulaId opposite = forms.negate(f);
  bool can_be_yes = !worlds.satisfiable(opposite);
  bool can_be_no = !worlds.satisfiable(f);
  if (can_be_yes || can_be_no) {
    if (!cases_first) d = prover.decide_in_cases(f, options.budget / 16);
    if (d.value) return adopt(d, Tier::kCases, result);
    d = prover.decide_by_division(f, options.budget / 16);
    if (d.value) return adopt(d, Tier::kLinear, result);
    d = prover.decide_by_rows(f, kSideSteps);
    if (d.value) return adopt(d, Tier::kLinear, result);
  }
  Prover::Tried tried;
  for (Effort effort : {Effort::kLinear, Effort::kCases}) {
    uint64_t units = options.budget / (effort == Effort::kLinear ? 3 : 6);
    if (effort == Effort::kCases) {
      can_be_yes = can_be_yes && !worlds.satisfiable_by_search(opposite);
      can_be_no = can_be_no && !worlds.satisfiable_by_search(f);
    }
    result.open = !can_be_yes && !can_be_no;
    if (can_be_yes &&
        adopt(prover.refute(opposite, effort, units, tried), true, result)) {
      return;
    }
    if (can_be_no &&
        adopt(prover.refute(f, effort, units, tried), false, result)) {
      return;
    }
  }
  if (result.open) return;
  d = prover.decide_by_values(f, can_be_yes, can_be_no, options.budget / 2);
  if (d.value) adopt(d, Tier::kCases, result);
}

Engine::Native Engine::native(FormulaId f, FormulaId defined) {
  Native result;
  prove_defined(defined, result);
  if (!result.defined) {
    result.tier = Tier::kNone;
    return result;
  }
  Decision d;
  if (domain.decide(f, d)) {
    Tier tier = f <= kTrue            ? Tier::kStructure
                : d.used_equalities   ? Tier::kEqualities
                                      : Tier::kRanges;
    adopt(d, tier, result);
    return result;
  }
  // What took a proof is known from here on: a divisor is not 0.
  Domain::Mark before = domain.mark();
  if (result.tier >= Tier::kLinear) domain.tell(defined, result.why);
  prove_or_refute(f, result);
  domain.undo(before);
  if (result.verdict == Verdict::kUnknown) result.tier = Tier::kNone;
  return result;
}

// What was told last is derived from most, and what was made first comes first
// where choices are alike, so that the order of telling can matter where a
// proof is hard: the question is asked anew of the facts near it, as a set, and
// what an order found by luck does not count.  False where this does not apply.
bool Engine::look_again(Expr question, Native& result) {
  if (!options.look_again) return false;
  const std::vector<Expr> asked = free_symbols(question);
  if (std::none_of(asked.begin(), asked.end(),
                   [](Expr s) { return s.is_int(); })) {
    return false;  // floats are compared with what was told, in any order
  }
  std::vector<Expr> symbols, conditions;
  std::vector<uint32_t> ids = relevant_facts(question, symbols);
  if (ids.size() > kMaxToldAgain) return false;
  result = Native{};
  Answer shown;  // points both ways leave nothing to prove
  find_models(question, options.budget / 4, shown);
  result.open = shown.tier == Tier::kModels;
  if (result.open) return true;
  std::sort(ids.begin(), ids.end());
  for (uint32_t id : ids) conditions.push_back(facts[id].condition);
  SolverOptions plain = options;
  plain.use_z3 = plain.search_models = plain.look_again = false;
  plain.budget += plain.budget / 2;
  for (const Turn& turn : kTurns) {
    ExprPool own;
    Retold retold = retell(conditions, question, turn.order, own);
    Engine fresh(own, plain);
    fresh.domain.set_solving(turn.solving);
    for (Expr condition : retold.conditions) fresh.tell(condition, {});
    const Memo& m = fresh.native_answer(retold.question);
    if (fresh.domain.conflict() || m.verdict == Verdict::kUnknown) continue;
    result.verdict = m.verdict;
    result.tier = m.tier;
    result.why = 0;
    for (uint32_t i : fresh.used_facts(m.why)) {
      result.why =
          reasons.join(result.why, reasons.leaf(ids[retold.from[i]]));
    }
    break;
  }
  return true;
}

// Whether the facts near the question clash: on their own, because they prove
// the opposite as well, or because none of few points meets them.
bool Engine::clashes(const Native& n, Expr question, Reason* why) {
  if (n.why == 0) return false;
  const FormulaId f = lower.condition(question);
  const FormulaId defined = lower.defined(question);
  if (worlds.consistent(f) && worlds.consistent(defined)) return false;
  uint64_t units = options.budget / 4;
  Atoms near = forms.atoms_of_formula(f);
  near.append(forms.atoms_of_formula(defined));
  if (auto proof = prover.refute_facts(near, units)) {
    *why = proof->why;
    return true;
  }
  Native counted;
  if (enumerate(question, kMaxPoints, counted)) {
    *why = counted.why;
    return counted.contradiction;
  }
  if (n.tier < Tier::kLinear) return false;
  FormulaId told = n.verdict == Verdict::kYes ? f : forms.negate(f);
  Prover::Tried tried;
  for (Effort effort : {Effort::kLinear, Effort::kCases, Effort::kValues}) {
    if ((effort == Effort::kLinear) != (n.tier == Tier::kLinear)) continue;
    auto proof = prover.refute(told, effort, units, tried);
    if (!proof) continue;
    *why = reasons.join(n.why, proof->why);
    return true;
  }
  return false;
}

const Engine::Memo* Engine::remembered(Expr question) const {
  uint32_t i = memo_of.get(question.id());
  if (i == kNoId) return nullptr;
  const Memo& m = memo[i];
  if (m.facts >= versions.size() || versions[m.facts] != m.version) {
    return nullptr;
  }
  // More facts keep a yes and a no; they may decide an unknown.
  bool same = m.facts + 1 == versions.size();
  return same || m.verdict != Verdict::kUnknown ? &m : nullptr;
}

Engine::Memo& Engine::remember(Expr question, const Native& n) {
  uint32_t& i = memo_of.at(question.id());
  if (i == kNoId) {
    i = static_cast<uint32_t>(memo.size());
    memo.emplace_back();
  }
  Memo& m = memo[i];
  m = {versions.back(), static_cast<uint32_t>(versions.size() - 1),
       n.verdict, n.tier, false, false, n.why, epoch};
  return m;
}

// Unknown, with why in `clash`, where the facts near the question contradict
// each other.
Engine::Native Engine::decide_natively(Expr question, Reason& clash) {
  FormulaId f = lower.condition(question);
  FormulaId defined = lower.defined(question);
  uint32_t arena = reasons.size();
  const uint64_t before = domain.work();
  Native n = native(f, defined);
  const auto spent = static_cast<double>(domain.work() - before);
  const bool sure = spent < kSure * static_cast<double>(options.budget);
  const bool settled = n.verdict == Verdict::kUnknown ? n.open : sure;
  if (!settled && !enumerate(question, kFewPoints, n) &&
      !look_again(question, n)) {
    enumerate(question, kMaxPoints, n);
  }
  keep_reason(arena, n.why);
  if (n.contradiction) {
    clash = n.why;
  } else if (n.tier >= Tier::kLinear && n.verdict != Verdict::kUnknown) {
    n.contradiction = clashes(n, question, &clash);
  }
  return n;
}

const Engine::Memo& Engine::native_answer(Expr question) {
  Reason clash = 0;
  const std::optional<Native> found = within(
      options.work_limit / 2, [&] { return decide_natively(question, clash); });
  Native n = found.value_or(Native{.gave_up = true});
  ++statistics.decided[static_cast<size_t>(n.tier)];
  if (n.contradiction) {
    n.verdict = Verdict::kUnknown;
    n.tier = Tier::kNone;
    n.why = clash;
  }
  Memo& m = remember(question, n);
  m.clash = n.contradiction;
  m.gave_up = n.gave_up;
  // What a caller's own budget or another thread ended is not the question's
  // doing: it is remembered of no state, and the next call tries again.
  if (interrupted || Budget::units_left() == 0) m.version = 0;
  return m;
}

Verdict Engine::ask_quick(Expr question) {
  ++statistics.questions;
  if (domain.conflict()) return Verdict::kUnknown;
  if (const Memo* m = remembered(question)) {
    ++statistics.memo_hits;
    return m->verdict;
  }
  return native_answer(question).verdict;
}

Range Engine::range_of(Expr e) {
  Poly p = lower.integer(e);
  Range r = domain.range(p);
  Normal n = domain.normal(p);
  if (!n.changed) return r;
  Range s = domain.range(n.poly);
  return {intersect(r.span, s.span), 0, 0};
}

// The gcd of what divides the terms.
Int Engine::divisor_of(const Poly& p, int depth) {
  constexpr int kMaxDepth = 4;
  Int g = abs(p.constant);
  for (const Term& t : p.terms) {
    Int product = abs(t.coef);
    for (AtomId a : forms.factors(t.mono)) {
      const Atom& atom = forms.atom(a);
      bool looks_in = atom.kind == AtomKind::kPos ||
                      atom.kind == AtomKind::kNamed ||
                      atom.kind == AtomKind::kIte;
      if (!looks_in || depth == kMaxDepth) continue;
      Int inside = divisor_of(forms.poly(atom.a), depth + 1);
      if (atom.kind == AtomKind::kIte) {
        inside = gcd(inside, divisor_of(forms.poly(atom.b), depth + 1));
      }
      product *= inside;
    }
    g = gcd(g, product);
    if (g.is_one()) break;
  }
  return g;
}

}  // namespace proviso
