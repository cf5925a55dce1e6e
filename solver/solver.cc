#include "solver/solver.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "solver/domain.h"
#include "solver/lower.h"
#include "solver/models.h"
#include "solver/prover.h"
#include "solver/worlds.h"
#include "solver/z3_backend.h"
#include "sym/facts.h"
#include "sym/print.h"
#include "sym/simplify.h"

namespace proviso {
namespace {

constexpr size_t kMaxMinimizedFacts = 8;
constexpr size_t kMaxRelevantFacts = 400;
constexpr size_t kMaxToldAgain = 60;
constexpr int kTurns = 4;
// The reason arena is cut back when questions have grown it this much.
constexpr uint32_t kArenaSlack = 1u << 16;

constexpr std::string_view kTierNames[kTierCount] = {
    "structure", "ranges", "equalities", "linear",
    "cases",     "models", "z3",         "none"};

Interval machine_range() {
  Int top = *pow(Int(2), 63);
  return Interval(-top, top - 1);
}

std::string described(Expr e) {
  return to_string(e) + " (" + std::string(name_of(e.type())) + ")";
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kYes: return "yes";
    case Verdict::kNo: return "no";
    default: return "unknown";
  }
}

std::string_view name_of(Tier tier) {
  return kTierNames[static_cast<size_t>(tier)];
}

std::string Provenance::to_string() const {
  if (file.empty()) return text;
  return (text.empty() ? "" : text + "  ") + "# " + file + ":" +
         std::to_string(line);
}

std::string Statistics::to_string() const {
  std::string out = std::to_string(questions) + " questions:";
  for (size_t i = 0; i < kTierCount; ++i) {
    out += (i == 0 ? " " : ", ") + std::string(kTierNames[i]) + " " +
           std::to_string(decided[i]);
  }
  out += "; memo hits " + std::to_string(memo_hits);
  return out + ", Z3 calls " + std::to_string(z3_calls);
}

// --- the implementation

struct Context::Impl {
  Impl(ExprPool& p, SolverOptions o)
      : pool(p), options(o), forms(Forms::of(p).pool),
        lower(Forms::of(p).lower),
        domain(forms, reasons, o.machine_int64 ? machine_range() : Interval()),
        prover(domain), worlds(domain), versions{1} {}

  // What the native rungs say.
  struct Native {
    Verdict verdict = Verdict::kUnknown;
    Tier tier = Tier::kNone;
    Reason why = 0;
    bool defined = false;  // proved defined
    bool open = false;     // points both ways were found, or an undefined one
  };

  ExprPool& pool;
  SolverOptions options;
  FormPool& forms;
  Lowering& lower;
  ReasonArena reasons;
  Domain domain;
  Prover prover;
  Worlds worlds;
  Z3Backend z3;
  Statistics statistics;

  std::deque<Fact> facts;
  struct Scope {
    Domain::Mark mark;
    size_t worlds;
    size_t facts;
    uint32_t reasons;
  };
  std::vector<Scope> scopes;

  // versions[n] names the state after the first n facts: an answer given at
  // (n, versions[n]) holds for as long as that state is part of the present.
  std::vector<uint64_t> versions;
  uint64_t next_version = 2;
  struct Memo {
    uint64_t version;
    uint32_t facts;
    Verdict verdict;
    Tier tier;
    bool clash;     // the facts near it contradict each other; `why` says which
    Reason why;
    uint32_t epoch; // `why` is gone when the arena has been cut since
  };
  std::vector<Memo> memo;
  IdMap memo_of;  // from node ids
  uint32_t epoch = 0;

  // Facts by symbol, for those that matter to a question; made when needed.
  std::vector<std::vector<uint32_t>> facts_of_symbol;
  std::vector<std::vector<Expr>> symbols_of_fact;

  // --- telling
  void check(Expr e, const char* call, const char* expected) const;
  FactId tell(Expr condition, Provenance origin);
  void pop();

  // --- asking
  Native native(FormulaId f, FormulaId defined);
  void prove_defined(FormulaId defined, Native& result);
  void prove_or_refute(FormulaId f, Native& result);
  void look_again(Expr question, Native& result);
  bool adopt(const std::optional<Proof>& proof, Verdict verdict,
             Native& result);
  bool clashes(const Native& n, FormulaId f, Reason* why);
  Answer ask(Expr question);
  Verdict ask_quick(Expr question);
  const Memo* remembered(Expr question) const;
  Memo& remember(Expr question, const Native& n);
  const Memo& native_answer(Expr question);
  Answer contradictory(const std::vector<FactId>& which) const;
  std::vector<FactId> used_facts(Reason why) const;
  std::string origins(const std::vector<FactId>& ids) const;
  void minimize(std::vector<FactId>& used, Expr question, Verdict verdict);
  bool implies(const std::vector<FactId>& subset, Expr question,
               Verdict verdict) const;
  void find_models(Expr question, Answer& answer);
  void ask_z3(Expr question, Answer& answer);
  std::vector<uint32_t> relevant_facts(Expr question,
                                       std::vector<Expr>& symbols);
  void trim_reasons(uint32_t size);

  Range range_of(Expr e);
};

namespace {

// What simplify() may ask: ranges and normal forms, no proofs.
class DomainFacts final : public Facts {
 public:
  DomainFacts(Domain& domain, Lowering& lower,
              std::function<Range(Expr)> range)
      : domain_(domain), lower_(lower), range_(std::move(range)) {}

  std::optional<Int> lower(Expr e) const override {
    return e.is_int() ? range_(e).span.lower() : std::nullopt;
  }
  std::optional<Int> upper(Expr e) const override {
    return e.is_int() ? range_(e).span.upper() : std::nullopt;
  }
  std::optional<bool> truth(Expr e) const override {
    if (!e.is_bool()) return std::nullopt;
    // What may be undefined is not decided away.
    if (domain_.decide(lower_.defined(e)).value != true) return std::nullopt;
    return domain_.decide(lower_.condition(e)).value;
  }
  std::optional<Int> residue(Expr e, const Int& m) const override {
    if (!e.is_int() || m.sign() <= 0) return std::nullopt;
    Poly p = lower_.integer(e);
    Normal n = domain_.normal(p);
    if (n.changed) p = n.poly;
    for (const Term& t : p.terms) {
      if (!floor_mod(t.coef, m).is_zero()) return std::nullopt;
    }
    return floor_mod(p.constant, m);
  }

 private:
  Domain& domain_;
  Lowering& lower_;
  std::function<Range(Expr)> range_;
};

}  // namespace

// --- telling

void Context::Impl::check(Expr e, const char* call,
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

FactId Context::Impl::tell(Expr condition, Provenance origin) {
  FactId id = static_cast<FactId>(facts.size());
  facts.push_back({id, condition, std::move(origin)});
  versions.push_back(next_version++);
  // A told fact holds, so it is defined.
  FormulaId f = lower.condition(condition);
  FormulaId defined = lower.defined(condition);
  Reason why = reasons.leaf(id);
  domain.tell(defined, why);
  domain.tell(f, why);
  worlds.add_fact(defined);
  worlds.add_fact(f);
  return id;
}

void Context::Impl::pop() {
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
    facts.pop_back();
    versions.pop_back();
  }
  trim_reasons(scope.reasons);
}

// Questions grow the arena; what they grew is nobody's once they are answered.
void Context::Impl::trim_reasons(uint32_t size) {
  if (reasons.size() < size + kArenaSlack) return;
  reasons.truncate(size);
  ++epoch;
  domain.forget_cached();
}

// --- asking

std::vector<FactId> Context::Impl::used_facts(Reason why) const {
  std::vector<FactId> ids = reasons.facts(why);
  std::erase(ids, kQuestionLeaf);
  return ids;
}

std::string Context::Impl::origins(const std::vector<FactId>& ids) const {
  std::string out;
  for (FactId id : ids) {
    std::string origin = facts[id].origin.to_string();
    if (!out.empty()) out += "; ";
    out += origin.empty() ? to_string(facts[id].condition) : origin;
  }
  return out;
}

Answer Context::Impl::contradictory(const std::vector<FactId>& which) const {
  Answer answer;
  answer.facts = which;
  answer.reason = "contradictory facts: " + origins(which);
  return answer;
}

bool Context::Impl::adopt(const std::optional<Proof>& proof, Verdict verdict,
                          Native& result) {
  if (!proof) return false;
  result.verdict = verdict;
  result.why = reasons.join(result.why, proof->why);
  Tier tier = proof->used_cases ? Tier::kCases : Tier::kLinear;
  result.tier = std::max(result.tier == Tier::kNone ? tier : result.tier, tier);
  return true;
}

void Context::Impl::prove_defined(FormulaId defined, Native& result) {
  result.tier = Tier::kStructure;
  if (defined == kTrue) {
    result.defined = true;
    return;
  }
  Decision d = domain.decide(defined);
  if (d.value) {
    result.defined = *d.value;
    result.why = d.why;
    result.tier = d.used_equalities ? Tier::kEqualities : Tier::kRanges;
    return;
  }
  FormulaId opposite = forms.negate(defined);
  if (worlds.satisfiable(opposite)) {
    result.open = true;
    return;
  }
  for (Effort effort : {Effort::kLinear, Effort::kCases}) {
    auto proof = prover.refute(opposite, effort, options.budget / 6);
    if (!proof) continue;
    result.defined = true;
    result.why = proof->why;
    result.tier = proof->used_cases ? Tier::kCases : Tier::kLinear;
    return;
  }
}

// Each stage has its share of the budget: spending one does not end the next.
void Context::Impl::prove_or_refute(FormulaId f, Native& result) {
  FormulaId opposite = forms.negate(f);
  const bool can_be_yes = !worlds.satisfiable(opposite);
  const bool can_be_no = !worlds.satisfiable(f);
  result.open = !can_be_yes && !can_be_no;
  for (Effort effort : {Effort::kLinear, Effort::kCases}) {
    uint64_t units = options.budget / (effort == Effort::kLinear ? 8 : 4);
    if (can_be_yes && adopt(prover.refute(opposite, effort, units),
                            Verdict::kYes, result)) {
      return;
    }
    if (can_be_no &&
        adopt(prover.refute(f, effort, units), Verdict::kNo, result)) {
      return;
    }
  }
}

Context::Impl::Native Context::Impl::native(FormulaId f, FormulaId defined) {
  Native result;
  prove_defined(defined, result);
  if (!result.defined) {
    result.tier = Tier::kNone;
    return result;
  }
  Decision d = domain.decide(f);
  if (d.value) {
    result.verdict = *d.value ? Verdict::kYes : Verdict::kNo;
    Tier tier = f <= kTrue            ? Tier::kStructure
                : d.used_equalities   ? Tier::kEqualities
                                      : Tier::kRanges;
    result.tier = std::max(result.tier, tier);
    result.why = reasons.join(result.why, d.why);
    return result;
  }
  prove_or_refute(f, result);
  if (result.verdict == Verdict::kUnknown) result.tier = Tier::kNone;
  return result;
}

// What was told last is derived from most, so that the order of telling can
// matter where the proof is hard: the facts near the question are told anew, in
// orders that do not depend on it.
void Context::Impl::look_again(Expr question, Native& result) {
  if (!options.look_again) return;
  std::vector<Expr> symbols;
  std::vector<uint32_t> ids = relevant_facts(question, symbols);
  if (ids.size() > kMaxToldAgain) return;
  std::vector<std::pair<std::string, uint32_t>> order;
  for (uint32_t id : ids) order.emplace_back(to_string(facts[id].condition), id);
  std::sort(order.begin(), order.end());
  SolverOptions plain = options;
  plain.use_z3 = plain.search_models = plain.look_again = false;
  plain.budget *= 4;
  for (int turn = 0; turn < kTurns; ++turn) {
    if (turn == 2) std::reverse(order.begin(), order.end());
    if (turn == 3) {
      std::stable_sort(order.begin(), order.end(),
                       [](const auto& a, const auto& b) {
                         return a.first.size() < b.first.size();
                       });
    }
    Impl fresh(pool, plain);
    fresh.domain.set_solving(turn > 0);
    for (const auto& [text, id] : order) fresh.tell(facts[id].condition, {});
    const Memo& m = fresh.native_answer(question);
    if (fresh.domain.conflict() || m.verdict == Verdict::kUnknown) continue;
    result.verdict = m.verdict;
    result.tier = m.tier;
    result.why = 0;
    for (uint32_t i : fresh.used_facts(m.why)) {
      result.why = reasons.join(result.why, reasons.leaf(order[i].second));
    }
    return;
  }
}

// Whether the facts near the question clash: on their own, or because they
// prove the opposite as well.
bool Context::Impl::clashes(const Native& n, FormulaId f, Reason* why) {
  if (n.why == 0 || worlds.consistent(f)) return false;
  uint64_t units = options.budget / 4;
  if (auto proof = prover.refute_facts(forms.atoms_of_formula(f), units)) {
    *why = proof->why;
    return true;
  }
  if (n.tier < Tier::kLinear) return false;
  FormulaId told = n.verdict == Verdict::kYes ? f : forms.negate(f);
  Effort effort = n.tier == Tier::kCases ? Effort::kCases : Effort::kLinear;
  auto proof = prover.refute(told, effort, units);
  if (!proof) return false;
  *why = reasons.join(n.why, proof->why);
  return true;
}

const Context::Impl::Memo* Context::Impl::remembered(Expr question) const {
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

Context::Impl::Memo& Context::Impl::remember(Expr question, const Native& n) {
  uint32_t i = memo_of.get(question.id());
  if (i == kNoId) {
    i = static_cast<uint32_t>(memo.size());
    memo_of.set(question.id(), i);
    memo.emplace_back();
  }
  return memo[i] = {versions.back(),
                    static_cast<uint32_t>(versions.size() - 1),
                    n.verdict, n.tier, false, n.why, epoch};
}

const Context::Impl::Memo& Context::Impl::native_answer(Expr question) {
  FormulaId f = lower.condition(question);
  FormulaId defined = lower.defined(question);
  uint32_t arena = reasons.size();
  uint64_t before = domain.work();
  Native n = native(f, defined);
  bool hard = domain.work() - before > options.budget / 2;
  if (n.verdict == Verdict::kUnknown && !n.open && !hard) {
    look_again(question, n);
  }
  ++statistics.decided[static_cast<size_t>(n.tier)];
  trim_reasons(arena);
  Reason clash = 0;
  bool contradiction = n.tier >= Tier::kLinear &&
                       n.verdict != Verdict::kUnknown && clashes(n, f, &clash);
  if (contradiction) {
    n.verdict = Verdict::kUnknown;
    n.tier = Tier::kNone;
    n.why = clash;
  }
  Memo& m = remember(question, n);
  m.clash = contradiction;
  return m;
}

Verdict Context::Impl::ask_quick(Expr question) {
  ++statistics.questions;
  if (domain.conflict()) return Verdict::kUnknown;
  if (const Memo* m = remembered(question)) {
    ++statistics.memo_hits;
    return m->verdict;
  }
  return native_answer(question).verdict;
}

Answer Context::Impl::ask(Expr question) {
  ++statistics.questions;
  if (domain.conflict()) return contradictory(used_facts(*domain.conflict()));
  const Memo* known = remembered(question);
  bool reuse = known != nullptr && known->epoch == epoch;
  const Memo m = reuse ? *known : native_answer(question);
  FormulaId f = lower.condition(question);
  Native n{m.verdict, m.tier, m.why};
  Reason clash = m.why;
  Answer answer;
  if (m.clash || (n.verdict != Verdict::kUnknown && clashes(n, f, &clash))) {
    answer = contradictory(used_facts(clash));
  } else if (n.verdict != Verdict::kUnknown) {
    answer.verdict = n.verdict;
    answer.tier = n.tier;
    answer.facts = used_facts(n.why);
    minimize(answer.facts, question, n.verdict);
  } else {
    if (options.search_models) find_models(question, answer);
    bool settled = answer.tier == Tier::kModels;
    if (!settled && options.use_z3 && Z3Backend::is_built()) {
      ask_z3(question, answer);
    }
    ++statistics.decided[static_cast<size_t>(answer.tier)];
  }
  if (answer.verdict != Verdict::kUnknown) {
    answer.reason = answer.facts.empty()
                        ? "it holds for every value"
                        : "it follows from " + origins(answer.facts);
    if (answer.verdict == Verdict::kNo) {
      answer.reason = answer.facts.empty()
                          ? "it is false for every value"
                          : "its opposite follows from " +
                                origins(answer.facts);
    }
  } else if (answer.reason.empty()) {
    answer.reason = "the facts do not decide it, as far as was found";
  }
  return answer;
}

// --- the facts that an answer names

bool Context::Impl::implies(const std::vector<FactId>& subset, Expr question,
                            Verdict verdict) const {
  SolverOptions plain = options;
  plain.use_z3 = plain.search_models = false;
  Impl fresh(pool, plain);
  for (FactId id : subset) fresh.tell(facts[id].condition, {});
  return fresh.ask_quick(question) == verdict;
}

// Leaves out what is not needed, while the rest still gives the same verdict.
void Context::Impl::minimize(std::vector<FactId>& used, Expr question,
                             Verdict verdict) {
  if (used.size() == facts.size() && used.size() < 2) return;
  if (used.size() > kMaxMinimizedFacts) return;
  if (!implies(used, question, verdict)) {
    // The proof leaned on an order of telling that the subset alone does not
    // repeat: name every fact that could matter.
    std::vector<Expr> symbols;
    used = relevant_facts(question, symbols);
    std::sort(used.begin(), used.end());
    if (used.size() > kMaxMinimizedFacts) return;
  }
  for (size_t i = used.size(); i-- > 0 && used.size() > 1;) {
    std::vector<FactId> fewer = used;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (implies(fewer, question, verdict)) used = fewer;
  }
}

// The facts connected to the question through symbols, and all their symbols.
std::vector<uint32_t> Context::Impl::relevant_facts(
    Expr question, std::vector<Expr>& symbols) {
  for (auto id = static_cast<FactId>(symbols_of_fact.size());
       id < facts.size(); ++id) {
    symbols_of_fact.push_back(free_symbols(facts[id].condition));
    for (Expr s : symbols_of_fact.back()) {
      size_t index = s.symbol().index;
      if (index >= facts_of_symbol.size()) facts_of_symbol.resize(index + 1);
      facts_of_symbol[index].push_back(id);
    }
  }
  std::vector<uint32_t> found;
  std::vector<bool> seen_fact(facts.size()), seen_symbol;
  auto visit = [&](Expr s) {
    size_t index = s.symbol().index;
    if (index >= seen_symbol.size()) seen_symbol.resize(index + 1);
    if (!seen_symbol[index]) {
      seen_symbol[index] = true;
      symbols.push_back(s);
    }
  };
  for (Expr s : free_symbols(question)) visit(s);
  for (size_t i = 0; i < symbols.size(); ++i) {
    size_t index = symbols[i].symbol().index;
    if (index >= facts_of_symbol.size()) continue;
    for (uint32_t id : facts_of_symbol[index]) {
      if (seen_fact[id] || found.size() >= kMaxRelevantFacts) continue;
      seen_fact[id] = true;
      found.push_back(id);
      for (Expr s : symbols_of_fact[id]) visit(s);
    }
  }
  return found;
}

// --- models

void Context::Impl::find_models(Expr question, Answer& answer) {
  std::vector<Expr> symbols;
  std::vector<uint32_t> relevant = relevant_facts(question, symbols);
  auto facts_hold = [&](const Assignment& point) {
    return std::all_of(relevant.begin(), relevant.end(), [&](uint32_t id) {
      return evaluate(facts[id].condition, point).is_true();
    });
  };
  ModelSearch search(domain, lower);
  uint64_t units = options.budget;
  FormulaId f = lower.condition(question);
  FormulaId defined = lower.defined(question);
  std::string undefined;
  if (defined != kTrue && domain.decide(defined).value != true) {
    answer.counterexample = search.find(
        forms.negate(defined), symbols,
        [&](const Assignment& point) {
          Evaluation e = evaluate(question, point);
          if (e.defined() || !facts_hold(point)) return false;
          undefined = e.why;
          return true;
        },
        units);
  }
  if (!answer.counterexample) {
    answer.counterexample = search.find(
        forms.negate(f), symbols,
        [&](const Assignment& point) {
          return evaluate(question, point).is_false() && facts_hold(point);
        },
        units);
  }
  answer.witness = search.find(
      f, symbols,
      [&](const Assignment& point) {
        return evaluate(question, point).is_true() && facts_hold(point);
      },
      units);
  if (!undefined.empty()) {
    answer.tier = Tier::kModels;
    answer.reason = "it can be undefined: " + undefined;
  } else if (answer.counterexample && answer.witness) {
    answer.tier = Tier::kModels;
    answer.reason = "the facts allow both: true at " +
                    answer.witness->to_string() + ", false at " +
                    answer.counterexample->to_string();
  }
}

void Context::Impl::ask_z3(Expr question, Answer& answer) {
  std::vector<Expr> symbols;
  std::vector<uint32_t> relevant = relevant_facts(question, symbols);
  std::vector<Expr> conditions;
  for (uint32_t id : relevant) conditions.push_back(facts[id].condition);
  ++statistics.z3_calls;
  Z3Backend::Result r = z3.implied(conditions, question, options.machine_int64,
                                   options.z3_budget);
  std::vector<FactId> used;
  for (size_t i : r.used) used.push_back(relevant[i]);
  std::sort(used.begin(), used.end());
  if (r.verdict == Z3Backend::Result::kContradiction) {
    answer = contradictory(used);
  } else if (r.verdict == Z3Backend::Result::kYes ||
             r.verdict == Z3Backend::Result::kNo) {
    answer = Answer();
    answer.verdict = r.verdict == Z3Backend::Result::kYes ? Verdict::kYes
                                                          : Verdict::kNo;
    answer.tier = Tier::kZ3;
    answer.facts = used;
  }
}

Range Context::Impl::range_of(Expr e) {
  Poly p = lower.integer(e);
  Range r = domain.range(p);
  Normal n = domain.normal(p);
  if (!n.changed) return r;
  Range s = domain.range(n.poly);
  return {intersect(r.span, s.span), 0, 0};
}

// --- the facade

Context::Context(ExprPool& pool, SolverOptions options)
    : impl_(std::make_unique<Impl>(pool, options)) {}
Context::~Context() = default;
Context::Context(Context&&) noexcept = default;

ExprPool& Context::pool() const { return impl_->pool; }
const SolverOptions& Context::options() const { return impl_->options; }

FactId Context::declare(Expr symbol, const Interval& range,
                        Provenance origin) {
  impl_->check(symbol, "declare", "a symbol");
  if (!symbol.is_symbol()) {
    throw Error("Context::declare: expected a symbol, got " +
                described(symbol) + "; use assume() for a condition");
  }
  ExprPool& pool = impl_->pool;
  if (range.is_empty()) {
    return impl_->tell(pool.boolean(false), std::move(origin));
  }
  std::vector<Expr> parts;
  if (range.lower()) parts.push_back(ge(symbol, pool.integer(*range.lower())));
  if (range.upper()) parts.push_back(le(symbol, pool.integer(*range.upper())));
  Expr condition = pool.boolean(true);
  if (parts.size() == 1) condition = parts[0];
  if (parts.size() == 2) condition = logical_and(parts[0], parts[1]);
  return impl_->tell(condition, std::move(origin));
}

FactId Context::assume(Expr condition, Provenance origin) {
  impl_->check(condition, "assume", "a boolean");
  if (!condition.is_bool()) {
    throw Error("Context::assume: expected a boolean, got " +
                described(condition) + "; compare it with something");
  }
  return impl_->tell(condition, std::move(origin));
}

Answer Context::ask(Expr question) {
  impl_->check(question, "ask", "a boolean");
  if (!question.is_bool()) {
    throw Error("Context::ask: expected a boolean, got " +
                described(question) + "; use bounds() for a number");
  }
  return impl_->ask(question);
}

Verdict Context::ask_quick(Expr question) {
  impl_->check(question, "ask_quick", "a boolean");
  if (!question.is_bool()) {
    throw Error("Context::ask_quick: expected a boolean, got " +
                described(question) + "; use bounds() for a number");
  }
  return impl_->ask_quick(question);
}

Tier Context::tier_of(Expr question) const {
  const Impl::Memo* m = impl_->remembered(question);
  return m == nullptr ? Tier::kNone : m->tier;
}

std::vector<FactId> Context::facts_used(Expr question) const {
  const Impl::Memo* m = impl_->remembered(question);
  if (m == nullptr || m->epoch != impl_->epoch) return {};
  return impl_->used_facts(m->why);
}

Interval Context::bounds(Expr e) {
  impl_->check(e, "bounds", "an integer");
  if (!e.is_int()) {
    throw Error("Context::bounds: expected an integer, got " + described(e) +
                "; round it first, or ask() a comparison");
  }
  if (impl_->domain.conflict()) return Interval::empty();
  return impl_->range_of(e).span;
}

Expr Context::simplify(Expr e) {
  impl_->check(e, "simplify", "an expression");
  Impl& impl = *impl_;
  if (impl.domain.conflict()) return proviso::simplify(e);
  std::unordered_map<Expr, Expr, ExprHash> constants;
  for (Expr s : free_symbols(e)) {
    if (!s.is_int()) continue;
    Interval range = impl.range_of(s).span;
    if (range.is_point()) {
      constants.emplace(s, impl.pool.integer(*range.lower()));
    }
  }
  if (!constants.empty()) e = substitute(e, constants);
  DomainFacts known(impl.domain, impl.lower,
                    [&impl](Expr x) { return impl.range_of(x); });
  return proviso::simplify(e, known);
}

void Context::push() {
  impl_->scopes.push_back({impl_->domain.mark(), impl_->worlds.mark(),
                           impl_->facts.size(), impl_->reasons.size()});
}

void Context::pop() {
  if (impl_->scopes.empty()) {
    throw Error("Context::pop: no push() is open; call push() first");
  }
  impl_->pop();
}

size_t Context::depth() const { return impl_->scopes.size(); }

std::vector<Fact> Context::facts() const {
  return {impl_->facts.begin(), impl_->facts.end()};
}

const Fact& Context::fact(FactId id) const {
  if (id >= impl_->facts.size()) {
    throw Error("Context::fact: no fact " + std::to_string(id) + "; there are " +
                std::to_string(impl_->facts.size()));
  }
  return impl_->facts[id];
}

std::optional<std::vector<FactId>> Context::contradiction() const {
  if (!impl_->domain.conflict()) return std::nullopt;
  return impl_->used_facts(*impl_->domain.conflict());
}

const Statistics& Context::statistics() const { return impl_->statistics; }

std::string Context::to_smtlib(Expr question) const {
  impl_->check(question, "to_smtlib", "a boolean");
  std::string out = "(set-logic ALL)\n";
  std::set<std::pair<uint32_t, std::string>> declared;
  auto declare_symbols = [&](Expr e) {
    for (Expr s : free_symbols(e)) {
      const char* sort = s.is_float() ? "Real" : s.is_bool() ? "Bool" : "Int";
      declared.emplace(s.symbol().index, "(declare-const " +
                                             proviso::to_smtlib(s) + " " +
                                             sort + ")\n");
    }
  };
  for (const Fact& fact : impl_->facts) declare_symbols(fact.condition);
  declare_symbols(question);
  for (const auto& [index, line] : declared) out += line;
  for (const Fact& fact : impl_->facts) {
    std::string origin = fact.origin.to_string();
    std::replace(origin.begin(), origin.end(), '\n', ' ');
    out += "; fact " + std::to_string(fact.id) +
           (origin.empty() ? "" : ": " + origin) + "\n";
    out += "(assert " + proviso::to_smtlib(fact.condition) + ")\n";
  }
  out += "; the question is valid when its negation has no model\n";
  out += "(assert (not " + proviso::to_smtlib(question) + "))\n";
  return out + "(check-sat)\n";
}

}  // namespace proviso
