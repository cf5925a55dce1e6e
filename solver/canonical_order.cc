// Colours are hashes; all nodes are one graph, which is walked up and down.
//
//   a <= b, b <= c, 4 <= c           a, b and c are sizes: one colour
//     up     what is below: a <= b and b <= c are alike, 4 <= c is not
//     down   where a symbol stands: a left of one <=, b right of one and left
//            of another, c right of one and right of 4 <= c: three colours
//
// A round is a pass each way over the nodes.  There are at most
// limits().order_rounds, and none after one that tells no more symbols apart.
// An order sorts symbols and conditions by their hashes, mixed with its number.
// Symbols with one colour, or whose hashes collide, keep the order that they
// came in.
#include "solver/canonical_order.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>

#include "solver/limits_in_force.h"
#include "sym/evaluate.h"
#include "sym/pool_stores.h"

namespace proviso::inline v0_2::internal {
namespace {

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t h = (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu;
  h ^= h >> 32;
  h *= 0xc4ceb9fe1a85ec53u;
  return h ^ (h >> 29);
}

}  // namespace

// The nodes under some roots, arguments before what is made of them.
class CanonicalOrders::Dag {
 public:
  Dag(std::span<const Expr> conditions, Expr question)
      : conditions_(conditions), question_(question) {
    for (Expr c : conditions) {
      const std::vector<Expr> symbols = free_symbols(c);
      const bool bounds_one = symbols.size() == 1 && !c.is(Op::kEq);
      bounded_.push_back(bounds_one ? symbols[0] : Expr());
      collect(c);
    }
    collect(question);
    std::sort(nodes_.begin(), nodes_.end(), ExprLess());
    for (size_t i = 0; i < nodes_.size(); ++i) place_[nodes_[i].id()] = i;
    find_values();
    up_.resize(nodes_.size());
    down_.resize(nodes_.size());
    color_.resize(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!nodes_[i].is_symbol()) continue;
      symbols_.push_back(i);
      color_[i] = mix(1, static_cast<uint64_t>(nodes_[i].symbol().kind));
    }
    size_t distinguished = colors();
    hash_up();
    for (int round = 0; round < limits().order_rounds; ++round) {
      hash_down();
      for (size_t i : symbols_) color_[i] = mix(color_[i], down_[i]);
      hash_up();
      size_t now = colors();
      if (now == distinguished && round > 0) break;
      distinguished = now;
    }
  }

  Reordered rebuild(FactOrder order, ExprPool& into) const {
    const bool backwards = order.number % 2 == 1;
    auto rank = [&](uint64_t hash) {
      const uint64_t mixed = mix(order.number / 2, hash);
      return backwards ? ~mixed : mixed;
    };
    std::vector<size_t> symbols = symbols_;
    if (backwards) std::reverse(symbols.begin(), symbols.end());
    std::stable_sort(symbols.begin(), symbols.end(), [&](size_t a, size_t b) {
      return rank(color_[a]) < rank(color_[b]);
    });
    // Bounds are assumed symbol by symbol, mostly before all else; of
    // any two equalities either comes first.
    std::vector<size_t> turn_of(nodes_.size());  // of symbols
    for (size_t i = 0; i < symbols.size(); ++i) turn_of[symbols[i]] = i;
    std::vector<std::pair<size_t, uint64_t>> key;
    for (size_t i = 0; i < conditions_.size(); ++i) {
      size_t turn = order.bounds_last ? 0 : symbols.size();
      if (bounded_[i]) turn = turn_of[place(bounded_[i])] + order.bounds_last;
      key.emplace_back(turn, rank(up_[place(conditions_[i])]));
    }
    Reordered r;
    r.from.resize(conditions_.size());
    std::iota(r.from.begin(), r.from.end(), 0u);
    std::stable_sort(r.from.begin(), r.from.end(),
                     [&](uint32_t a, uint32_t b) { return key[a] < key[b]; });
    std::vector<Expr> built(nodes_.size());
    for (size_t i : symbols) built[i] = PoolStores::leaf_in(into, nodes_[i]);
    for (uint32_t i : r.from) {
      r.conditions.push_back(build(conditions_[i], into, built));
    }
    r.question = build(question_, into, built);
    return r;
  }

 private:
  void collect(Expr root) {
    std::vector<Expr> stack{root};
    while (!stack.empty()) {
      Expr e = stack.back();
      stack.pop_back();
      if (!place_.emplace(e.id(), 0).second) continue;
      nodes_.push_back(e);
      for (Expr a : e.args()) stack.push_back(a);
    }
  }

  size_t place(Expr e) const { return place_.at(e.id()); }

  // Small nodes without symbols have values: 0 + 1 and 1 are one fact.
  void find_values() {
    std::vector<size_t> size(nodes_.size());
    value_.resize(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Expr e = nodes_[i];
      bool is_closed = e.is_int() && !e.is_symbol();
      size[i] = 1;
      for (Expr a : e.args()) {
        is_closed = is_closed && value_[place(a)];
        size[i] = std::min(size[i] + size[place(a)], limits().closed_nodes + 1);
      }
      const bool is_small =
          e.is(Op::kInteger) || size[i] <= limits().closed_nodes;
      if (!is_closed || !is_small) continue;
      const Evaluation found = evaluate(e, Assignment());
      if (!found.defined()) continue;
      if (const Int* n = std::get_if<Int>(&*found.value)) value_[i] = *n;
    }
  }

  size_t colors() const {
    std::vector<uint64_t> all;
    for (size_t i : symbols_) all.push_back(color_[i]);
    std::sort(all.begin(), all.end());
    return static_cast<size_t>(std::unique(all.begin(), all.end()) -
                               all.begin());
  }

  // What a node is, symbols by their colours.
  void hash_up() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      Expr e = nodes_[i];
      const Op op = value_[i] ? Op::kInteger : e.op();
      const uint64_t h = mix(2, static_cast<uint64_t>(op));
      up_[i] = value_[i] ? mix(h, value_[i]->hash()) : hash_of(i, h);
    }
  }

  uint64_t hash_of(size_t i, uint64_t h) const {
    const Expr e = nodes_[i];
    if (e.is_symbol()) return mix(h, color_[i]);
    if (e.is(Op::kRational)) return mix(h, e.rational().hash());
    if (e.is(Op::kBoolean)) return mix(h, e.is_true());
    for (Expr a : e.args()) h = mix(h, up_[place(a)]);
    return h;
  }

  // Where a node stands: a sum over its places, for they have no order.
  void hash_down() {
    std::fill(down_.begin(), down_.end(), 0);
    for (Expr c : conditions_) down_[place(c)] += mix(3, up_[place(c)]);
    down_[place(question_)] += mix(4, up_[place(question_)]);
    for (size_t i = nodes_.size(); i-- > 0;) {
      uint64_t here = mix(down_[i], up_[i]), at = 0;
      for (Expr a : nodes_[i].args()) down_[place(a)] += mix(here, ++at);
    }
  }

  // Arguments first, as a reader would make them.
  Expr build(Expr root, ExprPool& into, std::vector<Expr>& built) const {
    std::vector<Expr> stack{root};
    while (!stack.empty()) {
      Expr e = stack.back();
      Expr& made = built[place(e)];
      size_t before = stack.size();
      if (!made) {
        for (size_t k = e.arity(); k-- > 0;) {
          if (!built[place(e.arg(k))]) stack.push_back(e.arg(k));
        }
      }
      if (stack.size() > before) continue;
      stack.pop_back();
      if (made) continue;
      std::vector<Expr> args;
      for (Expr a : e.args()) args.push_back(built[place(a)]);
      made = is_leaf(e.op()) ? PoolStores::leaf_in(into, e)
                             : into.make(e.op(), args);
    }
    return built[place(root)];
  }

  std::span<const Expr> conditions_;
  Expr question_;
  std::vector<Expr> nodes_;
  std::unordered_map<uint32_t, size_t> place_;
  std::vector<std::optional<Int>> value_;  // by place, as up_
  std::vector<size_t> symbols_;
  std::vector<Expr> bounded_;  // by conditions: the only symbol, else none
  std::vector<uint64_t> up_, down_, color_;  // by place
};

CanonicalOrders::CanonicalOrders(std::span<const Expr> conditions,
                                 Expr question)
    : dag_(std::make_unique<Dag>(conditions, question)) {}
CanonicalOrders::~CanonicalOrders() = default;

Reordered CanonicalOrders::rebuild(FactOrder order, ExprPool& into) const {
  return dag_->rebuild(order, into);
}

}  // namespace proviso::inline v0_2::internal
