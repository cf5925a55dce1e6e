#include "sym/expr.h"

#include <algorithm>
#include <cassert>

#include "sym/budget.h"
#include "sym/excerpt.h"
#include "sym/intern_index.h"
#include "sym/lexer.h"
#include "sym/not_null.h"
#include "sym/pool_stores.h"
#include "sym/print.h"
#include "sym/stable_vector.h"

namespace proviso::inline v0_2 {
using namespace internal;

namespace {

// A new node and its places in the pool's tables, in units of a Budget.
constexpr uint64_t kNodeUnits = 4;

// What interning compares: the operator and the arguments.  The last argument
// that is no constant says where the node is laid out.
InternIndex::Key key_of(Op op, std::span<const Expr> args) {
  uint64_t hash = static_cast<uint64_t>(op) * 0x9E3779B97F4A7C15u;
  uint32_t locality = 0;
  for (Expr e : args) {
    uint32_t id = e ? e.id() : kNoId;
    if (e && !e.is_constant()) std::swap(id, locality);
    hash = InternIndex::mix(hash, id);
  }
  return {hash, locality};
}

struct ValueHash {
  size_t operator()(const Int& value) const { return value.hash(); }
  size_t operator()(const Rational& value) const { return value.hash(); }
};

std::string call_text(Op op) {
  return "make(" + std::string(info(op).name) + ")";
}

void require_count(Op op, size_t count) {
  const OpInfo& row = info(op);
  bool enough = count >= static_cast<size_t>(row.min_args);
  bool few = row.max_args < 0 || count <= static_cast<size_t>(row.max_args);
  if (enough && few && !is_leaf(op)) return;
  std::string expected = std::to_string(row.min_args);
  if (row.max_args < 0) expected += " or more";
  throw Error(call_text(op) + ": expected " + expected + " arguments, got " +
              std::to_string(count));
}

bool accepts(ArgClass wanted, Type type, size_t index) {
  switch (wanted) {
    case ArgClass::kNone: return false;
    case ArgClass::kInteger: return type == Type::kInt;
    case ArgClass::kNumber: return type != Type::kBool;
    case ArgClass::kBoolean: return type == Type::kBool;
    case ArgClass::kSame: return true;
    case ArgClass::kCondition: return index > 0 || type == Type::kBool;
  }
  return false;
}

void require_types(const ExprPool* pool, Op op, std::span<const Expr> args) {
  ArgClass wanted = info(op).args;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i]) throw Error(call_text(op) + ": argument is a null Expr");
    if (&args[i].pool() != pool) {
      throw Error(call_text(op) +
                  ": arguments come from different pools: " + "argument " +
                  std::to_string(i + 1) + " belongs to another ExprPool");
    }
    if (!accepts(wanted, args[i].type(), i)) {
      throw Error(call_text(op) + ": argument " + std::to_string(i + 1) +
                  " is " + std::string(name_of(args[i].type())) +
                  "; this operator does not take it");
    }
  }
  // Two arms or two sides: numbers may mix, booleans not with numbers.
  size_t first = wanted == ArgClass::kCondition ? 1 : 0;
  bool paired = wanted == ArgClass::kSame || wanted == ArgClass::kCondition;
  if (paired && args[first].is_bool() != args[first + 1].is_bool()) {
    throw Error(call_text(op) + ": " +
                std::string(name_of(args[first].type())) + " beside " +
                std::string(name_of(args[first + 1].type())));
  }
}

Type result_type(Op op, std::span<const Expr> args) {
  switch (info(op).result) {
    case ResultClass::kInt: return Type::kInt;
    case ResultClass::kFloat: return Type::kFloat;
    case ResultClass::kBool: return Type::kBool;
    case ResultClass::kOfArms:
      if (args[1].is_bool()) return Type::kBool;
      args = args.subspan(1);
      break;
    case ResultClass::kOfArguments: break;
  }
  for (Expr e : args) {
    if (e.is_float()) return Type::kFloat;
  }
  return Type::kInt;
}

Type type_of(SymbolKind kind) {
  switch (kind) {
    case SymbolKind::kBackedFloat:
    case SymbolKind::kUnbackedFloat: return Type::kFloat;
    case SymbolKind::kBackedSize:
    case SymbolKind::kBackedInt:
    case SymbolKind::kUnbackedInt:
    case SymbolKind::kUnbackedBool: break;  // an int in [0, 1]
  }
  return Type::kInt;
}

}  // namespace

// Argument lists, one behind another in blocks that double.
class ArgumentStore {
 public:
  std::span<const Expr> keep(std::span<const Expr> args) {
    if (args.size() > left_) {
      block_ = std::max(2 * block_, args.size());
      blocks_.push_back(std::make_unique<Expr[]>(block_));
      next_ = blocks_.back().get();
      left_ = block_;
    }
    Expr* const to = next_;
    std::copy(args.begin(), args.end(), to);
    next_ += args.size();
    left_ -= args.size();
    return {to, args.size()};
  }

  void mark(PoolStores::Mark& mark) const {
    mark.blocks = blocks_.size();
    mark.next = next_;
    mark.left = left_;
    mark.block = block_;
  }
  void go_back_to(const PoolStores::Mark& mark) {
    blocks_.resize(mark.blocks);
    next_ = mark.next;
    left_ = mark.left;
    block_ = mark.block;
  }

 private:
  std::vector<std::unique_ptr<Expr[]>> blocks_;
  Expr* next_ = nullptr;
  size_t left_ = 0, block_ = 32;  // of the last one
};

struct ExprPool::Impl {
  StableVector<Expr::Node> nodes;
  ArgumentStore arguments;
  InternIndex interned;  // of nodes with arguments
  std::unordered_map<Int, Expr, ValueHash> integers;
  std::unordered_map<Rational, Expr, ValueHash> rationals;
  std::unordered_map<std::string, Expr> by_name;
  std::vector<Expr> symbols;
  Expr truth[2];
  std::unordered_map<uint32_t, Expr> canonical_memo;
  FloatArithmetic floats = FloatArithmetic::kExact;
  std::shared_ptr<void> companion;

  Expr::Node& add(ExprPool* pool, Op op, Type type) {
    return nodes.emplace_back(
        Expr::Node{.op = op,
                   .type = type,
                   .id = static_cast<uint32_t>(nodes.size()),
                   .pool = pool});
  }
};

// --- accessors of the wrong node

namespace {

// The accessor that a leaf of this kind has, and what it is of.
std::string accessor_text(Op wanted) {
  if (wanted == Op::kInteger) {
    return "Expr::integer: expected an integer constant";
  }
  return wanted == Op::kRational ? "Expr::rational: expected a float constant"
                                 : "Expr::symbol: expected a symbol";
}

}  // namespace

void Expr::fail_null() { proviso::fail_null("Expr"); }

void Expr::fail_kind(Op wanted) const {
  const std::string call = accessor_text(wanted);
  if (node_ == nullptr) throw Error(call + ", got a null expression");
  throw Error(call + ", got " + excerpt(*this) + " (" +
              std::string(info(op()).name) + "); look at op() first");
}

void Expr::fail_index(size_t i) const {
  const std::string call = "Expr::arg(" + std::to_string(i) + "): ";
  if (node_ == nullptr) throw Error(call + "the expression is null");
  throw Error(call + to_string(*this) + " has " + std::to_string(arity()) +
              " arguments; look at arity() first");
}

ExprPool::ExprPool(FloatArithmetic floats) : impl_(std::make_unique<Impl>()) {
  impl_->floats = floats;
}
ExprPool::~ExprPool() = default;

Expr ExprPool::integer(const Int& value) {
  Expr& slot = impl_->integers[value];
  if (!slot) {
    Expr::Node& node = impl_->add(this, Op::kInteger, Type::kInt);
    node.integer = value;
    slot = Expr(&node);
  }
  return slot;
}

Expr ExprPool::rational(const Rational& exact) {
  const std::optional<Rational> rounded =
      floats() == FloatArithmetic::kDouble
          ? Rational::from_double(exact.to_double())
          : std::nullopt;
  const Rational& value = rounded ? *rounded : exact;
  Expr& slot = impl_->rationals[value];
  if (!slot) {
    Expr::Node& node = impl_->add(this, Op::kRational, Type::kFloat);
    node.rational = std::make_unique<Rational>(value);
    slot = Expr(&node);
  }
  return slot;
}

Expr ExprPool::boolean(bool value) {
  Expr& slot = impl_->truth[value];
  if (!slot) {
    Expr::Node& node = impl_->add(this, Op::kBoolean, Type::kBool);
    node.boolean = value;
    slot = Expr(&node);
  }
  return slot;
}

Expr ExprPool::symbol(std::string_view name, SymbolKind kind,
                      std::string_view source) {
  if (!names_a_symbol(name))
    throw Error("ExprPool::symbol: " + not_a_name(name));
  return PoolStores::symbol_of_any_name(*this, name, kind, source);
}

Expr PoolStores::symbol_of_any_name(ExprPool& pool, std::string_view name,
                                    SymbolKind kind, std::string_view source) {
  ExprPool::Impl& impl = *pool.impl_;
  Expr& slot = impl.by_name[std::string(name)];
  if (slot && slot.symbol().kind != kind) {
    throw Error("ExprPool::symbol: '" + excerpt(name, kArgumentLength) +
                "' exists with another kind; choose another name");
  }
  if (!slot) {
    Expr::Node& node = impl.add(&pool, Op::kSymbol, type_of(kind));
    node.symbol = std::make_unique<Symbol>(
        Symbol{std::string(name), kind, std::string(source),
               static_cast<uint32_t>(impl.symbols.size())});
    slot = Expr(&node);
    impl.symbols.push_back(slot);
  }
  return slot;
}

Expr PoolStores::leaf_in(ExprPool& pool, Expr leaf) {
  if (leaf.is(Op::kInteger)) return pool.integer(leaf.integer());
  if (leaf.is(Op::kRational)) return pool.rational(leaf.rational());
  if (leaf.is(Op::kBoolean)) return pool.boolean(leaf.is_true());
  const Symbol& s = leaf.symbol();
  return symbol_of_any_name(pool, s.name, s.kind, s.source);
}

std::optional<Expr> ExprPool::find_symbol(std::string_view name) const {
  auto it = impl_->by_name.find(std::string(name));
  if (it == impl_->by_name.end()) return std::nullopt;
  return it->second;
}

std::span<const Expr> ExprPool::symbols() const { return impl_->symbols; }

Expr ExprPool::make(Op op, std::span<const Expr> args) {
  Budget::charge(1 + args.size() / 8);
  const InternIndex::Key key = key_of(op, args);
  const uint32_t known = impl_->interned.find(key, [&](uint32_t id) {
    const Expr::Node& node = impl_->nodes[id];
    return node.op == op && std::equal(node.args.begin(), node.args.end(),
                                       args.begin(), args.end());
  });
  if (known != kNoId) return Expr(&impl_->nodes[known]);
  require_count(op, args.size());
  require_types(this, op, args);
  Budget::spend(kNodeUnits + args.size() / 2);
  Expr::Node& node = impl_->add(this, op, result_type(op, args));
  node.args = impl_->arguments.keep(args);
  impl_->interned.insert(key, node.id);
  return Expr(&node);
}

size_t ExprPool::size() const { return impl_->nodes.size(); }
FloatArithmetic ExprPool::floats() const { return impl_->floats; }

PoolStores::Mark PoolStores::mark(const ExprPool& pool) {
  Mark mark;
  mark.nodes = pool.impl_->nodes.size();
  mark.slots = pool.impl_->interned.slots();
  pool.impl_->arguments.mark(mark);
  return mark;
}

void PoolStores::undo(ExprPool& pool, const Mark& mark) {
  ExprPool::Impl& impl = *pool.impl_;
  if (impl.nodes.size() == mark.nodes) return;
  const bool has_grown = impl.interned.slots() != mark.slots;
  if (has_grown) impl.interned.take_out_from(static_cast<uint32_t>(mark.nodes));
  while (impl.nodes.size() > mark.nodes) {
    const Expr::Node& node = impl.nodes.back();
    if (node.op == Op::kInteger) {
      impl.integers.erase(node.integer);
    } else if (node.op == Op::kRational) {
      impl.rationals.erase(*node.rational);
    } else if (node.op == Op::kBoolean) {
      impl.truth[node.boolean] = Expr();
    } else if (node.op == Op::kSymbol) {
      impl.by_name.erase(node.symbol->name);
      impl.symbols.pop_back();
    } else if (!has_grown) {
      impl.interned.take_newest_out(key_of(node.op, node.args), node.id);
    }
    impl.nodes.pop_back();
  }
  impl.arguments.go_back_to(mark);
}

std::unordered_map<uint32_t, Expr>& PoolStores::canonical_memo(ExprPool& pool) {
  return pool.impl_->canonical_memo;
}
std::shared_ptr<void>& PoolStores::companion(ExprPool& pool) {
  return pool.impl_->companion;
}

// ---- builders

namespace {
ExprPool& pool_of(Expr e) { return not_null(e, "Expr").pool(); }
Expr binary(Op op, Expr a, Expr b) { return pool_of(a).make(op, {a, b}); }
Expr constant(Expr like, int64_t value) {
  return pool_of(like).integer(Int(value));
}
}  // namespace

Expr operator+(Expr a, Expr b) { return binary(Op::kAdd, a, b); }
Expr operator*(Expr a, Expr b) { return binary(Op::kMul, a, b); }
Expr operator-(Expr a) { return binary(Op::kMul, constant(a, -1), a); }
Expr operator-(Expr a, Expr b) { return a + (-b); }
Expr operator+(Expr a, int64_t b) { return a + constant(a, b); }
Expr operator-(Expr a, int64_t b) { return a + pool_of(a).integer(-Int(b)); }
Expr operator*(Expr a, int64_t b) { return constant(a, b) * a; }
Expr floor_div(Expr a, Expr b) { return binary(Op::kFloorDiv, a, b); }
Expr mod(Expr a, Expr b) { return binary(Op::kMod, a, b); }
Expr min(Expr a, Expr b) { return binary(Op::kMin, a, b); }
Expr max(Expr a, Expr b) { return binary(Op::kMax, a, b); }
Expr eq(Expr a, Expr b) { return binary(Op::kEq, a, b); }
Expr ne(Expr a, Expr b) { return binary(Op::kNe, a, b); }
Expr lt(Expr a, Expr b) { return binary(Op::kLt, a, b); }
Expr le(Expr a, Expr b) { return binary(Op::kLe, a, b); }
Expr gt(Expr a, Expr b) { return binary(Op::kLt, b, a); }
Expr ge(Expr a, Expr b) { return binary(Op::kLe, b, a); }
Expr eq(Expr a, int64_t b) { return eq(a, constant(a, b)); }
Expr ne(Expr a, int64_t b) { return ne(a, constant(a, b)); }
Expr lt(Expr a, int64_t b) { return lt(a, constant(a, b)); }
Expr le(Expr a, int64_t b) { return le(a, constant(a, b)); }
Expr gt(Expr a, int64_t b) { return gt(a, constant(a, b)); }
Expr ge(Expr a, int64_t b) { return ge(a, constant(a, b)); }
Expr logical_and(Expr a, Expr b) { return binary(Op::kAnd, a, b); }
Expr logical_or(Expr a, Expr b) { return binary(Op::kOr, a, b); }
Expr logical_not(Expr a) { return pool_of(a).make(Op::kNot, {a}); }
Expr where(Expr condition, Expr then, Expr otherwise) {
  return pool_of(condition).make(Op::kWhere, {condition, then, otherwise});
}

// ---- walks (iterative, so that depth is not the stack's concern)

// Arguments are older than what is made of them: the newest first, equal ones
// come together.
std::vector<Expr> free_symbols(Expr e) {
  not_null(e, "free_symbols");
  std::vector<Expr> found, heap{e};
  Expr last;
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), ExprLess{});
    Expr next = heap.back();
    heap.pop_back();
    Budget::spend(1);
    if (next == last) continue;
    last = next;
    if (next.is_symbol()) found.push_back(next);
    for (Expr arg : next.args()) {
      if (arg.is_constant()) continue;
      heap.push_back(arg);
      std::push_heap(heap.begin(), heap.end(), ExprLess{});
    }
  }
  std::reverse(found.begin(), found.end());
  return found;
}

Expr substitute(Expr e, const std::unordered_map<Expr, Expr, ExprHash>& map) {
  ExprPool& pool = not_null(e, "substitute").pool();
  PoolUndo undo(pool);
  std::unordered_map<Expr, Expr, ExprHash> done(map);
  std::vector<Expr> stack{e};
  while (!stack.empty()) {
    Expr next = stack.back();
    Budget::spend(2);
    if (done.contains(next)) {
      stack.pop_back();
      continue;
    }
    bool ready = true;
    for (Expr arg : next.args()) {
      if (!done.contains(arg)) {
        stack.push_back(arg);
        ready = false;
      }
    }
    if (!ready) continue;
    stack.pop_back();
    std::vector<Expr> args;
    for (Expr arg : next.args()) args.push_back(done.at(arg));
    bool same = std::equal(args.begin(), args.end(), next.args().begin());
    done.emplace(next, same ? next : pool.make(next.op(), args));
  }
  const Expr result = done.at(e);
  if (&pool_of(result) != &pool)
    throw Error("substitute: a value belongs to another ExprPool");
  undo.keep();
  return result;
}

}  // namespace proviso::inline v0_2
