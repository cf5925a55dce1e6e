#include "solver/engine.h"

#include <algorithm>

#include "sym/print.h"

namespace proviso {
namespace {

// The reason arena is cut back when questions have grown it this much.
constexpr uint32_t kArenaSlack = 1u << 16;

Interval machine_range() {
  Int top = *pow(Int(2), 63);
  return Interval(-top, top - 1);
}

}  // namespace

Engine::Engine(ExprPool& p, SolverOptions o)
    : pool(p),
      options(o),
      forms(Forms::of(p).pool),
      lower(Forms::of(p).lower),
      of_pool(p.companion()),
      domain(forms, reasons, o.machine_int64 ? machine_range() : Interval()),
      prover(domain),
      candidates(domain),
      versions{1} {
  facts.reserve(16);
  memo.reserve(16);
  versions.reserve(16);
  reasons.reserve(256);
}

// --- assumptions

void Engine::check(Expr e, const char* call, const char* expected) const {
  if (!e) {
    throw Error("Context::" + std::string(call) + ": expected " + expected +
                ", got a null expression; build it with the context's pool");
  }
  if (&e.pool() != &pool) {
    throw Error("Context::" + std::string(call) + ": " + to_string(e) +
                " belongs to another ExprPool; build it with Context::pool()");
  }
}

FactId Engine::assume(Expr condition, Provenance&& origin) {
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
                            domain.assume(defined, why);
                            domain.assume(f, why);
                            return true;
                          }).has_value();
  // Nothing else follows from what takes too much work.
  if (!is_derived) domain.assume_alone(f, why);
  candidates.add_fact(defined);
  candidates.add_fact(f);
  return id;
}

Fact Engine::fact(FactId id) const {
  const Assumed& assumed = facts[id];
  return {id, assumed.condition,
          assumed.origin == kNoId ? Provenance{} : origins[assumed.origin]};
}

void Engine::push() {
  scopes.push_back(
      {domain.mark(), candidates.mark(), facts.size(), reasons.size()});
}

// Retracts the facts that are not shared and assumes those that are missing.
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
      assume(fact.condition, std::move(fact.origin));
    }
    wanted[i]->facts.clear();
  }
}

void Engine::pop() {
  Scope scope = scopes.back();
  scopes.pop_back();
  domain.undo(scope.mark);
  candidates.undo(scope.candidates);
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

const Engine::Memo& Engine::remember(Expr question, const Search& s) {
  uint32_t& i = memo_of.at(question.id());
  if (i == kNoId) {
    i = static_cast<uint32_t>(memo.size());
    memo.emplace_back();
  }
  Memo& m = memo[i];
  m = {.version = versions.back(),
       .facts = static_cast<uint32_t>(versions.size() - 1),
       .verdict = !s.value   ? Verdict::kUnknown
                  : *s.value ? Verdict::kYes
                             : Verdict::kNo,
       .tier = s.value ? s.tier : Tier::kNone,
       .strategy = s.value ? s.strategy : kNoStrategy,
       .is_contradiction = s.is_contradiction,
       .gave_up = s.gave_up,
       .why = s.why,
       .epoch = epoch};
  // What a caller's own budget or another thread ended is not the question's
  // doing: it is remembered of no state, and the next call tries again.
  if (interrupted || Budget::units_left() == 0) m.version = 0;
  return m;
}

const Engine::Memo& Engine::native_answer(Expr question) {
  std::optional<Search> s =
      within(options.work_limit / 2, [&] { return decide_natively(question); });
  if (!s) {
    s.emplace(question, kTrue);
    s->gave_up = true;
  }
  const Memo& m = remember(question, *s);
  ++statistics.decided[static_cast<size_t>(m.tier)];
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
  const Range range = polynomial_range(e);
  if (!reads_better_as_written(e)) return range;
  return {intersect(range.span, written_range(e)), 0, 0};
}

Range Engine::polynomial_range(Expr e) {
  Poly p = lower.integer(e);
  Range r = domain.range(p);
  domain.narrow(r, domain.factored_range(p));
  Normal n = domain.normal(p);
  if (!n.changed) return r;
  Range s = domain.range(n.poly);
  domain.narrow(s, domain.factored_range(n.poly));
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
