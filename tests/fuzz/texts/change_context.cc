#include "tests/fuzz/texts/change_context.h"

#include <algorithm>
#include <vector>

#include "guards/context_text.h"
#include "solver/options.h"
#include "solver/solver.h"
#include "sym/budget.h"
#include "sym/find_node.h"
#include "sym/operators.h"

namespace proviso::fuzz {
namespace {

constexpr size_t kMostFacts = 40;

std::vector<Expr> nodes_of(Expr e) {
  std::vector<Expr> nodes;
  internal::find_node(e, [&](Expr x) {
    nodes.push_back(x);
    return false;
  });
  return nodes;
}

class Changer {
 public:
  Changer(ExprPool& pool, const std::vector<Fact>& facts, std::mt19937& random)
      : pool_(pool), random_(random) {
    for (const Fact& fact : facts)
      for (Expr x : nodes_of(fact.condition)) of_type(x.type()).push_back(x);
    for (Expr s : pool.symbols()) of_type(s.type()).push_back(s);
    for (int64_t n : {0, 1, -1, 2, 7, 64}) ints_.push_back(pool.integer(n));
    for (int bits : {31, 53, 63, 64, 128}) {
      const Int power = *pow(Int(2), static_cast<uint64_t>(bits));
      ints_.push_back(pool.integer(power));
      ints_.push_back(pool.integer(power - 1));
    }
    bools_.push_back(pool.boolean(true));
  }

  size_t pick(size_t count) { return random_() % count; }

  Expr change(Expr condition) {
    do {
      const std::vector<Expr> nodes = nodes_of(condition);
      const Expr x = nodes[pick(nodes.size())];
      condition = substitute(condition, {{x, other(x)}});
    } while (pick(3) == 0);
    return condition;
  }

 private:
  std::vector<Expr>& of_type(Type type) {
    return type == Type::kInt ? ints_ : type == Type::kBool ? bools_ : floats_;
  }
  Expr any(Type type) {
    const std::vector<Expr>& all = of_type(type);
    return all[pick(all.size())];
  }

  // Of the type of x.
  Expr other(Expr x) {
    if (pick(3) == 0) return any(x.type());
    if (x.is_bool()) return condition_with(x);
    if (x.is_int()) return integer_with(x);
    return any(Type::kFloat);
  }

  Expr condition_with(Expr x) {
    const Expr a = any(Type::kInt), b = any(Type::kInt);
    switch (pick(9)) {
      case 0: return logical_not(x);
      case 1: return logical_and(x, any(Type::kBool));
      case 2: return logical_or(x, any(Type::kBool));
      case 3: return eq(a, b);
      case 4: return ne(a, b);
      case 5: return le(a, b);
      case 6: return eq(mod(a, b), pool_.integer(0));
      case 7: return eq(x, any(Type::kBool));
      default: return where(any(Type::kBool), x, any(Type::kBool));
    }
  }

  Expr integer_with(Expr x) {
    const Expr y = any(Type::kInt);
    switch (pick(11)) {
      case 0: return x + y;
      case 1: return x - y;
      case 2: return x * y;
      case 3: return floor_div(x, y);
      case 4: return mod(x, y);
      case 5: return min(x, y);
      case 6: return max(x, y);
      case 7: return where(any(Type::kBool), x, y);
      case 8: return pool_.make(Op::kAbs, {x});
      case 9: return pool_.make(Op::kPow, {x, pool_.integer(3)});
      default: return pool_.make(Op::kLShift, {x, y});
    }
  }

  ExprPool& pool_;
  std::mt19937& random_;
  std::vector<Expr> ints_, bools_, floats_;
};

void change_options(SolverOptions& options, Changer& changer) {
  static constexpr const char* kNames[] = {"machine_int64", "search_models",
                                           "restart", "budget", "work_limit"};
  const char* name = kNames[changer.pick(std::size(kNames))];
  const uint64_t value = get_option(options, name);
  set_option(options, name, value <= 1 ? 1 - value : value / 2 + 1);
}

std::string changed(const std::string& text, std::mt19937& random) {
  ExprPool pool;
  const Context from = load_context(pool, text);
  std::vector<Fact> facts = from.facts();
  Changer changer(pool, facts, random);
  SolverOptions options = from.options();
  if (changer.pick(4) == 0) change_options(options, changer);
  if (facts.size() > 1 && changer.pick(4) == 0)
    std::swap(facts[changer.pick(facts.size())], facts[0]);
  if (!facts.empty() && changer.pick(4) == 0)
    facts.push_back(facts[changer.pick(facts.size())]);
  if (facts.size() > kMostFacts) facts.resize(kMostFacts);
  Context to(pool, options);
  for (const Fact& fact : facts) {
    if (changer.pick(12) == 0) continue;
    if (changer.pick(12) == 0 && to.depth() < 8) to.push();
    try {
      const bool stays = changer.pick(3) != 0;
      to.assume(stays ? fact.condition : changer.change(fact.condition),
                fact.origin);
    } catch (const Error&) {  // of another type than its place wants
    }
  }
  return save_context(to);
}

}  // namespace

std::string change_context(const std::string& text, std::mt19937& random) {
  try {
    return changed(text, random);
  } catch (const Error&) {
    return text;
  }
}

}  // namespace proviso::fuzz
