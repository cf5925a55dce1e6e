#include "solver/strategies/min_max.h"

#include <algorithm>
#include <array>

#include "solver/fixed_limits.h"
#include "solver/limits_in_force.h"

namespace proviso::inline v0_2::internal {
namespace {

// A set of assignments of 0 and 1 to the leaves, a bit each.
class Assignments {
 public:
  static Assignments all() {
    Assignments s;
    s.words_.fill(~uint64_t{0});
    return s;
  }
  // The assignments that give the leaf a 1: bit `leaf` of assignment i is set.
  static Assignments of_leaf(size_t leaf) {
    constexpr uint64_t kInWord[] = {0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc,
                                    0xf0f0f0f0f0f0f0f0, 0xff00ff00ff00ff00,
                                    0xffff0000ffff0000, 0xffffffff00000000};
    Assignments s;
    for (size_t i = 0; i < s.words_.size(); ++i) {
      s.words_[i] = leaf < 6                ? kInWord[leaf]
                    : (i >> (leaf - 6) & 1) ? ~uint64_t{0}
                                            : 0;
    }
    return s;
  }
  Assignments& operator&=(const Assignments& b) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= b.words_[i];
    return *this;
  }
  Assignments& operator|=(const Assignments& b) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= b.words_[i];
    return *this;
  }
  Assignments operator~() const {
    Assignments s;
    for (size_t i = 0; i < words_.size(); ++i) s.words_[i] = ~words_[i];
    return s;
  }
  bool is_empty() const {
    return std::all_of(words_.begin(), words_.end(),
                       [](uint64_t w) { return w == 0; });
  }

 private:
  std::array<uint64_t, (size_t{1} << fixed::lattice_leaves) / 64> words_{};
};

// Op::kMin or kMax of kids, or a leaf.
struct Tree {
  Op op = Op::kInteger;
  Poly leaf;
  std::vector<Tree> kids;
  bool is_leaf() const { return kids.empty(); }
};

// Trees of one question.  They end the attempt by TooLarge where they grow past
// limits().lattice_nodes.
class Trees {
 public:
  struct TooLarge {};

  Trees(FormPool& forms, Lowering& lower) : forms_(forms), lower_(lower) {}

  Tree of(Expr e) {
    if (depth_ == fixed::lattice_depth) throw TooLarge();
    ++depth_;
    Tree tree = made_of(e);
    --depth_;
    return tree;
  }

  Tree shifted(const Tree& t, const Int& k) {
    return mapped(t, [&](Poly p) {
      p.constant += k;
      return leaf(std::move(p));
    });
  }

 private:
  Tree made_of(Expr e) {
    if (e.is(Op::kMin) || e.is(Op::kMax)) {
      Tree t{e.op(), {}, {}};
      for (Expr a : e.args()) t.kids.push_back(of(a));
      return count(std::move(t));
    }
    if (e.is(Op::kAdd)) {
      Tree sum = leaf(Poly{});
      for (Expr a : e.args()) sum = add(sum, of(a));
      return sum;
    }
    if (e.is(Op::kMul)) return multiple(e);
    if (e.is(Op::kFloorDiv) && e.arg(1).is(Op::kInteger) &&
        e.arg(1).integer().sign() > 0) {
      const Poly divisor = Poly::number(e.arg(1).integer());
      return mapped(of(e.arg(0)), [&](const Poly& p) {
        return leaf(floor_div(forms_, p, divisor));
      });
    }
    return leaf(lower_.integer(e));
  }

  Tree leaf(Poly p) { return count(Tree{Op::kInteger, std::move(p), {}}); }

  Tree count(Tree t) {
    if (++nodes_ > limits().lattice_nodes) throw TooLarge();
    return t;
  }

  template <typename Map>
  Tree mapped(const Tree& t, Map map) {
    if (t.is_leaf()) return map(t.leaf);
    Tree result{t.op, {}, {}};
    for (const Tree& kid : t.kids) result.kids.push_back(mapped(kid, map));
    return count(std::move(result));
  }

  // a + b, the leaves of a replaced by b plus each.
  Tree add(const Tree& a, const Tree& b) {
    return mapped(a, [&](const Poly& p) {
      return mapped(b, [&](const Poly& q) { return leaf(p + q); });
    });
  }

  // A negative multiple makes Min of Max.
  Tree scaled(const Tree& t, const Int& k) {
    if (t.is_leaf()) return leaf(t.leaf * k);
    Tree result{t.op, {}, {}};
    if (k.sign() < 0) result.op = t.op == Op::kMin ? Op::kMax : Op::kMin;
    for (const Tree& kid : t.kids) result.kids.push_back(scaled(kid, k));
    return count(std::move(result));
  }

  Tree multiple(Expr e) {
    Int k = 1;
    Expr other;
    for (Expr a : e.args()) {
      if (a.is(Op::kInteger)) {
        k *= a.integer();
      } else if (other) {
        return leaf(lower_.integer(e));
      } else {
        other = a;
      }
    }
    if (!other || k.is_zero()) return leaf(lower_.integer(e));
    return scaled(of(other), k);
  }

  FormPool& forms_;
  Lowering& lower_;
  size_t nodes_ = 0;
  int depth_ = 0;
};

// Which leaves there are, and which assignments their order allows.
class Leaves {
 public:
  explicit Leaves(Domain& domain)
      : domain_(domain), allowed_(Assignments::all()) {}

  // Nothing where there are too many leaves.
  std::optional<Assignments> value(const Tree& t) {
    if (t.is_leaf()) {
      const std::optional<size_t> leaf = place(t.leaf);
      if (!leaf) return std::nullopt;
      return Assignments::of_leaf(*leaf);
    }
    Assignments s = t.op == Op::kMin ? Assignments::all() : Assignments();
    for (const Tree& kid : t.kids) {
      const std::optional<Assignments> k = value(kid);
      if (!k) return std::nullopt;
      t.op == Op::kMin ? s &= * k : s |= *k;
    }
    return s;
  }

  // Whether a <= b in any order of the leaves, else in those that ranges allow.
  bool is_at_most(const Assignments& a, const Assignments& b) {
    Assignments outside = a;
    outside &= ~b;
    if (outside.is_empty()) return true;
    order_leaves();
    outside &= allowed_;
    return outside.is_empty();
  }
  Reason why() const { return why_; }

 private:
  std::optional<size_t> place(const Poly& p) {
    FormPool& forms = domain_.forms();
    const Normal n = domain_.normal(p);
    const PolyId id = forms.polys.id_of(n.poly);
    why_ = domain_.reasons().join(why_, n.why);
    for (size_t i = 0; i < leaves_.size(); ++i) {
      if (leaves_[i] == id) return i;
    }
    if (leaves_.size() == fixed::lattice_leaves) return std::nullopt;
    leaves_.push_back(id);
    return leaves_.size() - 1;
  }

  void order_leaves() {
    FormPool& forms = domain_.forms();
    for (; ordered_ < leaves_.size(); ++ordered_) {
      for (size_t i = 0; i < ordered_; ++i) {
        order(i, ordered_,
              forms.polys[leaves_[ordered_]] - forms.polys[leaves_[i]]);
      }
    }
  }

  // What the sign of leaf b less leaf a allows.
  void order(size_t a, size_t b, const Poly& difference) {
    const Range r = domain_.range(difference);
    if (r.span.is_empty()) return;
    auto exclude = [&](size_t larger, size_t smaller, Reason why) {
      Assignments upside_down = Assignments::of_leaf(smaller);
      upside_down &= ~Assignments::of_leaf(larger);
      allowed_ &= ~upside_down;
      why_ = domain_.reasons().join(why_, why);
    };
    if (at_least(r, 0)) exclude(b, a, r.lower);
    if (at_most(r, 0)) exclude(a, b, r.upper);
  }

  Domain& domain_;
  std::vector<PolyId> leaves_;
  size_t ordered_ = 0;  // how many of them have been compared
  Assignments allowed_;
  Reason why_ = 0;
};

}  // namespace

bool MinMaxLattice::applies(const Search& s) {
  const Expr q = s.question();
  if (!is_relation(q.op()) || !q.arg(0).is_int() || !q.arg(1).is_int()) {
    return false;
  }
  if (s.goal() != lower_.condition(q)) return false;
  const Atoms& atoms = forms_.occurrences.of_formula(s.goal());
  // With a single Min or Max there are two cases, which condition-cases tries.
  return std::count_if(atoms.begin(), atoms.end(), [this](AtomId a) {
           return forms_.atoms[a].kind == AtomKind::kPos;
         }) >= 2;
}

Decision MinMaxLattice::decide(const Search& s) {
  Trees trees(forms_, lower_);
  Leaves leaves(domain_);
  const Op op = s.question().op();
  auto is_at_most = [&](const Tree& a, const Tree& b) {
    const auto x = leaves.value(a), y = leaves.value(b);
    return x && y && leaves.is_at_most(*x, *y);
  };
  std::optional<bool> value;
  try {
    const Tree a = trees.of(s.question().arg(0)),
               b = trees.of(s.question().arg(1));
    auto is_below = [&](const Tree& x, const Tree& y) {
      return is_at_most(trees.shifted(x, 1), y);
    };
    if (op == Op::kEq || op == Op::kNe) {
      if (is_at_most(a, b) && is_at_most(b, a)) {
        value = op == Op::kEq;
      } else if (is_below(a, b) || is_below(b, a)) {
        value = op == Op::kNe;
      }
    } else if (op == Op::kLe ? is_at_most(a, b) : is_below(a, b)) {
      value = true;
    } else if (op == Op::kLe ? is_below(b, a) : is_at_most(b, a)) {
      value = false;
    }
  } catch (const Trees::TooLarge&) {
    return {};
  }
  if (!value) return {};
  return {value, leaves.why()};
}

}  // namespace proviso::inline v0_2::internal
