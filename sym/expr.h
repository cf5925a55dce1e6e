// sym/expr.h - expressions over dimension symbols.
//
//   ExprPool pool;
//   Expr s0 = pool.symbol("s0", SymbolKind::kBackedSize);
//   Expr e = canonical(s0 + s0 * 2);           // 3*s0
//   assert(e == canonical(s0 * 3));            // equal structure, equal handle
//
// An Expr is a pointer-sized handle to an immutable node owned by a pool.
// Equal structure within a pool is the same handle.  make() interns what it is
// given and rewrites nothing; canonical() (sym/canonical.h) gives the canonical
// form.  Node ids count in order of creation, and every order in this library
// follows them (or names), never addresses.  A pool is not thread-safe; pools
// are independent of each other.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sym/api.h"
#include "sym/integer.h"
#include "sym/op.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

class ExprPool;
namespace internal {
struct PoolStores;
}  // namespace internal

// A caller's mistake: names the call, the argument, the value and the remedy.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class SymbolKind : uint8_t {
  kBackedSize,     // s0: the size of an input dimension; an example is known
  kBackedInt,      // s0: an integer input; an example is known
  kBackedFloat,    // zf0
  kUnbackedInt,    // u0: an integer read from data
  kUnbackedFloat,  // zuf0
  kUnbackedBool,   // a 0/1 integer read from data: u0 in [0, 1]
};
constexpr bool is_unbacked(SymbolKind k) {
  return k >= SymbolKind::kUnbackedInt;
}

struct Symbol {
  std::string name;
  SymbolKind kind;
  std::string source;  // where the value comes from: L['x'].size()[0]
  uint32_t index;      // creation order among the pool's symbols
};

class Expr {
 public:
  struct Node;
  Expr() = default;  // the null handle; only == and bool are allowed on it

  // The null handle throws Error; so does arg(i) where i >= arity().
  inline Op op() const;
  inline Type type() const;
  inline std::span<const Expr> args() const;
  inline Expr arg(size_t i) const;
  size_t arity() const { return args().size(); }
  inline uint32_t id() const;  // creation order within the pool
  inline ExprPool& pool() const;

  bool is(Op o) const { return op() == o; }
  bool is_int() const { return type() == Type::kInt; }
  bool is_bool() const { return type() == Type::kBool; }
  bool is_float() const { return type() == Type::kFloat; }
  bool is_symbol() const { return is(Op::kSymbol); }
  bool is_constant() const { return op() <= Op::kBoolean; }
  inline bool is_true() const;
  inline bool is_false() const;

  // Throw Error where op() is not kInteger, kRational, kSymbol.
  inline const Int& integer() const;
  inline const Rational& rational() const;
  inline const Symbol& symbol() const;
  // The value when this is an integer constant that fits.
  inline std::optional<int64_t> maybe_int64() const;

  explicit operator bool() const { return node_ != nullptr; }
  friend bool operator==(Expr, Expr) = default;
  const Node* raw() const { return node_; }
  explicit Expr(const Node* node) : node_(node) {}

 private:
  inline const Node& node() const;
  inline const Node& node_of(Op wanted) const;
  [[noreturn]] static void fail_null();
  [[noreturn]] void fail_kind(Op wanted) const;
  [[noreturn]] void fail_index(size_t i) const;

  const Node* node_ = nullptr;
};

// Here so that the accessors, which the solver calls most, are inlined.
// One takes a line of the cache.
struct Expr::Node {
  Op op;
  Type type;
  bool boolean = false;
  uint32_t id;
  ExprPool* pool;
  std::span<const Expr> args = {};  // in the pool's store
  // Another leaf's payload; at most one is used.
  Int integer = 0;
  std::unique_ptr<Rational> rational = nullptr;
  std::unique_ptr<Symbol> symbol = nullptr;
};
static_assert(sizeof(Expr::Node) <= 64);

const Expr::Node& Expr::node() const {
  if (node_ == nullptr) [[unlikely]]
    fail_null();
  return *node_;
}
const Expr::Node& Expr::node_of(Op wanted) const {
  if (node_ == nullptr || node_->op != wanted) [[unlikely]]
    fail_kind(wanted);
  return *node_;
}
Op Expr::op() const { return node().op; }
Type Expr::type() const { return node().type; }
std::span<const Expr> Expr::args() const { return node().args; }
Expr Expr::arg(size_t i) const {
  if (node_ == nullptr || i >= node_->args.size()) [[unlikely]]
    fail_index(i);
  return node_->args[i];
}
uint32_t Expr::id() const { return node().id; }
ExprPool& Expr::pool() const { return *node().pool; }
const Int& Expr::integer() const { return node_of(Op::kInteger).integer; }
const Rational& Expr::rational() const {
  return *node_of(Op::kRational).rational;
}
const Symbol& Expr::symbol() const { return *node_of(Op::kSymbol).symbol; }
std::optional<int64_t> Expr::maybe_int64() const {
  if (!is(Op::kInteger)) return std::nullopt;
  return node_->integer.to_int64();
}
bool Expr::is_true() const { return is(Op::kBoolean) && node_->boolean; }
bool Expr::is_false() const { return is(Op::kBoolean) && !node_->boolean; }

struct ExprHash {
  size_t operator()(Expr e) const { return e ? e.id() : 0; }
};
// Creation order.
struct ExprLess {
  bool operator()(Expr a, Expr b) const { return a.id() < b.id(); }
};

// What float operations give: the exact rational (a third is a third), or, as
// a program computes, the double next to it (int(5*0.6) is 3).  Of doubles,
// what a rounding may change is not reasoned about.
enum class FloatArithmetic : uint8_t { kExact, kDouble };

class ExprPool {
 public:
  explicit ExprPool(FloatArithmetic floats = FloatArithmetic::kExact);
  ~ExprPool();
  ExprPool(const ExprPool&) = delete;
  ExprPool& operator=(const ExprPool&) = delete;

  [[nodiscard]] Expr integer(const Int& value);
  [[nodiscard]] Expr rational(const Rational& value);  // a float constant
  [[nodiscard]] Expr boolean(bool value);

  // The symbol of this name, new or known.  Throws Error where it has another
  // kind, and for a name that is no word, or is one of parse() (True, int_oo).
  Expr symbol(std::string_view name, SymbolKind kind,
              std::string_view source = "");
  [[nodiscard]] std::optional<Expr> find_symbol(std::string_view name) const;
  [[nodiscard]] std::span<const Expr> symbols() const;  // in creation order

  // Interns op(args).  Throws Error on a wrong number or type of arguments.
  [[nodiscard]] Expr make(Op op, std::span<const Expr> args);
  [[nodiscard]] Expr make(Op op, std::initializer_list<Expr> args) {
    return make(op, std::span<const Expr>(args.begin(), args.size()));
  }

  size_t size() const;  // number of nodes
  FloatArithmetic floats() const;

 private:
  friend struct internal::PoolStores;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Builders; mixed integer and float operands are allowed where the table says.
[[nodiscard]] Expr operator+(Expr a, Expr b);
[[nodiscard]] Expr operator-(Expr a, Expr b);
[[nodiscard]] Expr operator*(Expr a, Expr b);
[[nodiscard]] Expr operator-(Expr a);
[[nodiscard]] Expr operator+(Expr a, int64_t b);
[[nodiscard]] Expr operator-(Expr a, int64_t b);
[[nodiscard]] Expr operator*(Expr a, int64_t b);
[[nodiscard]] Expr floor_div(Expr a, Expr b);
[[nodiscard]] Expr mod(Expr a, Expr b);
[[nodiscard]] Expr min(Expr a, Expr b);
[[nodiscard]] Expr max(Expr a, Expr b);
[[nodiscard]] Expr eq(Expr a, Expr b);
[[nodiscard]] Expr ne(Expr a, Expr b);
[[nodiscard]] Expr lt(Expr a, Expr b);
[[nodiscard]] Expr le(Expr a, Expr b);
[[nodiscard]] Expr gt(Expr a, Expr b);  // lt(b, a)
[[nodiscard]] Expr ge(Expr a, Expr b);  // le(b, a)
[[nodiscard]] Expr eq(Expr a, int64_t b);
[[nodiscard]] Expr ne(Expr a, int64_t b);
[[nodiscard]] Expr lt(Expr a, int64_t b);
[[nodiscard]] Expr le(Expr a, int64_t b);
[[nodiscard]] Expr gt(Expr a, int64_t b);
[[nodiscard]] Expr ge(Expr a, int64_t b);
[[nodiscard]] Expr logical_and(Expr a, Expr b);
[[nodiscard]] Expr logical_or(Expr a, Expr b);
[[nodiscard]] Expr logical_not(Expr a);
[[nodiscard]] Expr where(Expr condition, Expr then, Expr otherwise);

// Calls visit(x) for e and everything below it that is not done, arguments
// before what is made of them and left before right, each once.  After
// visit(x), is_done(x) must hold.  Its stack is its own.
template <typename IsDone, typename Visit>
void visit_arguments_first(Expr e, IsDone is_done, Visit visit) {
  if (is_done(e)) return;
  std::vector<Expr> stack{e};
  while (!stack.empty()) {
    const Expr next = stack.back();
    const size_t below = stack.size();
    if (!is_done(next)) {
      for (size_t i = next.arity(); i-- > 0;) {
        if (!is_done(next.arg(i))) stack.push_back(next.arg(i));
      }
    }
    if (stack.size() > below) continue;
    stack.pop_back();
    if (!is_done(next)) visit(next);
  }
}

// e with each node, arguments first, replaced by what change(node) makes of it;
// the node that it is given has its arguments changed already.
template <typename Change>
[[nodiscard]] Expr rewrite(Expr e, Change change) {
  std::unordered_map<Expr, Expr, ExprHash> made;
  visit_arguments_first(
      e, [&](Expr x) { return made.contains(x); },
      [&](Expr x) {
        std::vector<Expr> args;
        for (Expr arg : x.args()) args.push_back(made.at(arg));
        made.emplace(x, change(args.empty() ? x : x.pool().make(x.op(), args)));
      });
  return made.at(e);
}

// The symbols of e, in creation order.
[[nodiscard]] std::vector<Expr> free_symbols(Expr e);
// e with each key replaced by its value (simultaneously, not repeatedly).
[[nodiscard]] Expr substitute(
    Expr e, const std::unordered_map<Expr, Expr, ExprHash>& map);

}  // namespace proviso::inline v0_2
PROVISO_API_END
