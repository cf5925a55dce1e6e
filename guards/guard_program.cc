// A condition becomes one instruction, else a program of a stack machine, else
// an expression to be evaluated.
//
//   2 <= s0 <= 64            kInRange of s0's slot
//   Eq(s1, 4*s0 + 2)         kMultiple: two slots and two numbers
//   Max(s0, s1) < 2*s2       kStack, and the code of the arguments first
//   Eq(ToFloat(s0)/3, s1)    kExact: evaluate() says it
//
// The machine has int64 values.  Where one leaves these, evaluate() says the
// condition at this point, so that each answer is exact.
#include "guards/guard_program.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <unordered_map>

#include "guards/fixed_limits.h"
#include "sym/evaluate.h"
#include "sym/excerpt.h"
#include "sym/polynomial.h"
#include "sym/print.h"
#include "sym/relations.h"
#include "sym/within.h"

namespace proviso::inline v0_2 {
using namespace internal;

namespace {

using Code = GuardProgram::Code;
using Instruction = GuardProgram::Instruction;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();

// What an operator is over int64: an instruction, and a function (a sign, of
// sums and products) of what to_cpp() writes.
struct Form {
  Op op;
  Code code;
  const char* cpp;
};
constexpr Form kForms[] = {
    {Op::kAdd, Code::kAdd, " + "},
    {Op::kMul, Code::kMul, "*"},
    {Op::kFloorDiv, Code::kFloorDiv, "div"},
    {Op::kMod, Code::kMod, "mod"},
    {Op::kPythonMod, Code::kMod, "mod"},
    {Op::kMin, Code::kMin, "min"},
    {Op::kMax, Code::kMax, "max"},
    {Op::kAbs, Code::kAbs, "abs"},
    {Op::kEq, Code::kEq, "eq"},
    {Op::kNe, Code::kNe, "ne"},
    {Op::kLt, Code::kLt, "lt"},
    {Op::kLe, Code::kLe, "le"},
    {Op::kAnd, Code::kAnd, "both"},
    {Op::kOr, Code::kOr, "either"},
    {Op::kNot, Code::kNot, "no"},
    {Op::kWhere, Code::kWhere, "where"},
};

const Form* form_of(Expr e) {
  const auto at = std::find_if(std::begin(kForms), std::end(kForms),
                               [&](const Form& f) { return e.is(f.op); });
  return at == std::end(kForms) ? nullptr : at;
}

bool is_power(Expr e) { return e.is(Op::kPow) || e.is(Op::kPowByNatural); }

bool has_float(Expr e) {
  return e.is_float() || std::any_of(e.args().begin(), e.args().end(),
                                     [](Expr arg) { return arg.is_float(); });
}

// What the stack machine cannot do is left to evaluate().
class Compiler {
 public:
  explicit Compiler(const std::vector<Expr>& symbols) {
    // A condition on a symbol that an instruction cannot name is evaluated.
    const size_t named = std::min(symbols.size(), size_t{1} << 16);
    for (size_t i = 0; i < named; ++i) {
      slots_.emplace(symbols[i], static_cast<uint16_t>(i));
    }
  }

  std::vector<Instruction> compile(Expr condition) {
    if (auto one = whole(condition)) return {*one};
    code_ = {{Code::kStack}};
    depth_ = 0;
    deepest_ = 0;
    if (!push(condition) || is_too_long()) return {{Code::kExact}};
    code_[0].a = static_cast<uint16_t>(code_.size() - 1);
    return code_;
  }

 private:
  std::optional<uint16_t> slot(Expr e) const {
    auto it = slots_.find(e);
    return it == slots_.end() ? std::nullopt : std::optional(it->second);
  }

  // One instruction for the whole condition, where there is one.
  std::optional<Instruction> whole(Expr c) const {
    if (c.is(Op::kAnd) && c.arity() == 2) {  // both ends of a range
      auto a = relation_alone(c.arg(0)), b = relation_alone(c.arg(1));
      if (!a || !b || a->code != Code::kInRange || b->code != Code::kInRange ||
          a->a != b->a) {
        return std::nullopt;
      }
      a->imm = std::max(a->imm, b->imm);
      a->imm2 = std::min(a->imm2, b->imm2);
      return a;
    }
    return relation_alone(c);
  }

  std::optional<Instruction> relation_alone(Expr c) const {
    if (!is_relation(c.op()) || !c.arg(0).is_int()) return std::nullopt;
    Expr l = c.arg(0), r = c.arg(1);
    if (c.is(Op::kLe) || c.is(Op::kLt)) return range(c, l, r);
    if (!c.is(Op::kEq)) return std::nullopt;
    if (auto one = equality(l, r)) return one;
    return equality(r, l);
  }

  std::optional<Instruction> range(Expr c, Expr l, Expr r) const {
    const int64_t least = relations::least_gap(c.op());
    auto upper = r.maybe_int64(), lower = l.maybe_int64();
    if (slot(l) && upper && *upper != kLeast) {
      return Instruction{Code::kInRange, *slot(l),      0, 0,
                         kLeast,         *upper - least};
    }
    if (slot(r) && lower && *lower != kGreatest) {
      return Instruction{Code::kInRange, *slot(r), 0, 0,
                         *lower + least, kGreatest};
    }
    return std::nullopt;
  }

  std::optional<Instruction> equality(Expr l, Expr r) const {
    const auto constant = r.maybe_int64();
    if (auto a = slot(l)) {
      if (constant) {
        return Instruction{Code::kInRange, *a, 0, 0, *constant, *constant};
      }
      if (auto b = slot(r)) return Instruction{Code::kSame, *a, *b};
      return linear(*a, r);
    }
    if (l.is(Op::kMod) && constant) {
      auto a = slot(l.arg(0));
      auto modulus = l.arg(1).maybe_int64();
      if (a && modulus && *modulus > 0) {
        return Instruction{Code::kRemainder, *a, 0, 0, *modulus, *constant};
      }
    }
    if (l.is(Op::kMul) && l.arity() == 2) {
      auto a = slot(l.arg(0)), b = slot(l.arg(1)), c = slot(r);
      if (a && b && c) return Instruction{Code::kProduct, *a, *b, *c};
    }
    return std::nullopt;
  }

  // v[a] == factor*v[b] + offset
  std::optional<Instruction> linear(uint16_t a, Expr r) const {
    Instruction one{Code::kMultiple, a};
    bool has_symbol = false;
    const Polynomial p = to_polynomial(r);
    for (const auto& [monomial, coefficient] : p.terms()) {
      auto number = coefficient.to_int64();
      if (!number) return std::nullopt;
      if (monomial.empty()) {
        one.imm2 = *number;
        continue;
      }
      auto b = slot(monomial[0]);
      if (monomial.size() != 1 || !b || has_symbol) return std::nullopt;
      has_symbol = true;
      one.b = *b;
      one.imm = *number;
    }
    return has_symbol ? std::optional(one) : std::nullopt;
  }

  void emit(Instruction i, int growth) {
    code_.push_back(i);
    depth_ += growth;
    deepest_ = std::max(deepest_, static_cast<size_t>(depth_));
  }

  // A part that is shared is compiled wherever it stands.
  bool is_too_long() const {
    return deepest_ > fixed::program_stack ||
           code_.size() > std::numeric_limits<uint16_t>::max();
  }

  // What is still to be emitted: the code of an expression, or an instruction
  // after that of its arguments.
  struct Step {
    Expr e;
    Instruction after = {};
    int growth = 0;
  };

  // On a stack of its own: expressions of any depth.
  bool push(Expr root) {
    std::vector<Step> waiting{{root}};
    while (!waiting.empty()) {
      const Step step = waiting.back();
      waiting.pop_back();
      if (!step.e) {
        emit(step.after, step.growth);
        continue;
      }
      if (is_too_long()) return false;
      steps_.clear();
      if (!push_node(step.e)) return false;
      waiting.insert(waiting.end(), steps_.rbegin(), steps_.rend());
    }
    return true;
  }

  void then(Expr e) { steps_.push_back({e}); }
  void then(Code code, int growth) {
    steps_.push_back({Expr(), {code}, growth});
  }

  bool push_node(Expr e) {
    if (auto s = slot(e)) {
      emit({Code::kLoad, *s}, 1);
      return true;
    }
    if (e.is(Op::kInteger)) {
      auto number = e.maybe_int64();
      if (number) emit({Code::kPush, 0, 0, 0, *number}, 1);
      return number.has_value();
    }
    if (e.is(Op::kBoolean)) {
      emit({Code::kPush, 0, 0, 0, e.is_true() ? 1 : 0}, 1);
      return true;
    }
    if (is_power(e)) return power(e);
    const Form* form = form_of(e);
    if (!form || has_float(e)) return false;
    if (e.is(Op::kWhere)) {
      for (Expr arg : e.args()) then(arg);
      then(form->code, -2);
      return true;
    }
    then(e.arg(0));
    if (e.is(Op::kAbs) || e.is(Op::kNot)) then(form->code, 0);
    for (Expr arg : e.args().subspan(1)) {
      then(arg);
      then(form->code, -1);
    }
    return true;
  }

  bool power(Expr e) {
    auto exponent = e.arg(1).maybe_int64();
    if (e.is_float() || !exponent || *exponent < 1 ||
        *exponent > fixed::compiled_exponent) {
      return false;
    }
    for (int64_t i = 0; i < *exponent; ++i) {
      then(e.arg(0));
      if (i > 0) then(Code::kMul, -1);
    }
    return true;
  }

  std::unordered_map<Expr, uint16_t, ExprHash> slots_;
  std::vector<Instruction> code_;
  std::vector<Step> steps_;  // of one node
  int depth_ = 0;
  size_t deepest_ = 0;
};

}  // namespace

GuardProgram::GuardProgram(std::vector<Expr> symbols,
                           std::vector<Expr> conditions)
    : symbols_(std::move(symbols)), conditions_(std::move(conditions)) {
  Compiler compiler(symbols_);
  for (Expr c : conditions_) {
    if (!c.is_bool()) {
      throw Error("GuardProgram: expected a boolean, got " + excerpt(c));
    }
    for (Expr s : free_symbols(c)) {
      if (std::find(symbols_.begin(), symbols_.end(), s) != symbols_.end()) {
        continue;
      }
      throw Error("GuardProgram: " + excerpt(c) + " mentions " + excerpt(s) +
                  ", which is not among the symbols");
    }
    starts_.push_back(static_cast<uint32_t>(code_.size()));
    for (const Instruction& i : compiler.compile(c)) code_.push_back(i);
  }
  starts_.push_back(static_cast<uint32_t>(code_.size()));
  require_quick();
}

// What evaluate() decides takes its time at each call: numbers of thousands of
// bits, and powers of them.
void GuardProgram::require_quick() const {
  const std::vector<int64_t> ones(symbols_.size(), 1);
  const auto done = internal::within_own(fixed::evaluated_units, [&] {
    for (size_t i = 0; i < conditions_.size(); ++i)
      if (code_[starts_[i]].code == Code::kExact) (void)exactly(i, ones.data());
    return true;
  });
  if (!done)
    throw Error("GuardProgram: its conditions take more than " +
                std::to_string(fixed::evaluated_units) +
                " units of work at each call; give fewer, or canonical() ones");
}

GuardProgram::Outcome GuardProgram::run(const Instruction* at,
                                        const Instruction* end,
                                        const int64_t* v) {
  std::array<int64_t, fixed::program_stack + 1>
      stack;  // NOLINT: filled before it is read, but for the first
  int64_t* top = stack.data();  // the last that was pushed
  const auto pop = [&top] { return *top--; };
  for (; at != end; ++at) {
    int64_t b = 0;  // the upper of two operands
    switch (at->code) {
      case Code::kPush: *++top = at->imm; break;
      case Code::kLoad: *++top = v[at->a]; break;
      case Code::kAbs:
        if (*top == kLeast) return Outcome::kUnsure;
        *top = *top < 0 ? -*top : *top;
        break;
      case Code::kNot: *top = !*top; break;
      case Code::kWhere:
        top -= 2;
        *top = *top ? top[1] : top[2];
        break;
      case Code::kAdd:
        b = pop();
        if (__builtin_add_overflow(*top, b, top)) return Outcome::kUnsure;
        break;
      case Code::kMul:
        b = pop();
        if (__builtin_mul_overflow(*top, b, top)) return Outcome::kUnsure;
        break;
      // A zero divisor may be in an arm that is not taken.
      case Code::kFloorDiv:
        b = pop();
        if (b == 0 || b == -1) return Outcome::kUnsure;
        *top = floor_quotient(*top, b);
        break;
      case Code::kMod:
        b = pop();
        if (b == 0 || b == -1) return Outcome::kUnsure;
        *top = floor_remainder(*top, b);
        break;
      case Code::kMin: b = pop(), *top = std::min(*top, b); break;
      case Code::kMax: b = pop(), *top = std::max(*top, b); break;
      case Code::kEq: b = pop(), *top = *top == b; break;
      case Code::kNe: b = pop(), *top = *top != b; break;
      case Code::kLt: b = pop(), *top = *top < b; break;
      case Code::kLe: b = pop(), *top = *top <= b; break;
      case Code::kAnd: b = pop(), *top = *top & b; break;
      case Code::kOr: b = pop(), *top = *top | b; break;
      case Code::kInRange:
      case Code::kSame:
      case Code::kMultiple:
      case Code::kProduct:
      case Code::kRemainder:
      case Code::kStack:
      case Code::kExact: return Outcome::kUnsure;  // whole conditions
    }
  }
  return *top ? Outcome::kTrue : Outcome::kFalse;
}

bool GuardProgram::exactly(size_t condition, const int64_t* values) const {
  Assignment point;
  for (size_t i = 0; i < symbols_.size(); ++i) {
    point.set(symbols_[i], Int(values[i]));
  }
  return evaluate(conditions_[condition], point).is_true();
}

std::optional<size_t> GuardProgram::first_failing(const int64_t* v) const {
  const Instruction* at = code_.data();
  const Instruction* const end = at + code_.size();
  for (size_t i = 0; at != end; ++i) {
    const Instruction& one = *at++;
    bool good = false;
    int64_t number = 0;
    switch (one.code) {
      case Code::kInRange:
        good = one.imm <= v[one.a] && v[one.a] <= one.imm2;
        break;
      case Code::kSame: good = v[one.a] == v[one.b]; break;
      case Code::kMultiple:
        good = __builtin_mul_overflow(v[one.b], one.imm, &number) ||
                       __builtin_add_overflow(number, one.imm2, &number)
                   ? exactly(i, v)
                   : v[one.a] == number;
        break;
      case Code::kProduct:
        good = !__builtin_mul_overflow(v[one.a], v[one.b], &number) &&
               number == v[one.c];
        break;
      case Code::kRemainder:
        good = floor_mod(v[one.a], one.imm) == one.imm2;
        break;
      case Code::kStack: {
        const Outcome outcome = run(at, at + one.a, v);
        at += one.a;
        good = outcome == Outcome::kUnsure ? exactly(i, v)
                                           : outcome == Outcome::kTrue;
        break;
      }
      default: good = exactly(i, v); break;
    }
    if (!good) return i;
  }
  return std::nullopt;
}

// Whether first_failing() finds none; frequent conditions in one short loop.
bool GuardProgram::holds(const int64_t* v) const {
  constexpr int64_t kNoValue = 0;
  if (v == nullptr) v = &kNoValue;  // of no symbols
  const Instruction* at = code_.data();
  const Instruction* const end = at + code_.size();
  for (; at != end; ++at) {
    int64_t number = v[at->b];
    switch (at->code) {
      case Code::kInRange:
        if (v[at->a] < at->imm || at->imm2 < v[at->a]) return false;
        continue;
      case Code::kSame:
        if (v[at->a] != number) return false;
        continue;
      case Code::kMultiple:
        if (__builtin_mul_overflow(number, at->imm, &number) ||
            __builtin_add_overflow(number, at->imm2, &number)) {
          return !first_failing(v);
        }
        if (v[at->a] != number) return false;
        continue;
      case Code::kProduct:
        if (__builtin_mul_overflow(v[at->a], number, &number) ||
            number != v[at->c]) {
          return false;
        }
        continue;
      case Code::kRemainder:
        if (floor_mod(v[at->a], at->imm) != at->imm2) return false;
        continue;
      case Code::kStack: {
        const Outcome outcome = run(at + 1, at + 1 + at->a, v);
        if (outcome == Outcome::kFalse) return false;
        if (outcome == Outcome::kUnsure) return !first_failing(v);
        at += at->a;
        continue;
      }
      default: return !first_failing(v);
    }
  }
  return true;
}

namespace {

constexpr const char* kPrelude = R"(#include <cstdint>
namespace {
struct Checked {  // int64 arithmetic; `bad` when it had no result
  int64_t n; bool bad = false;
};
[[maybe_unused]] Checked operator+(Checked a, Checked b) {
  Checked r{0, a.bad || b.bad};
  r.bad |= __builtin_add_overflow(a.n, b.n, &r.n);
  return r;
}
[[maybe_unused]] Checked operator*(Checked a, Checked b) {
  Checked r{0, a.bad || b.bad};
  r.bad |= __builtin_mul_overflow(a.n, b.n, &r.n);
  return r;
}
[[maybe_unused]] Checked mod(Checked a, Checked b) {
  if (a.bad || b.bad || b.n == 0) return {0, true};
  if (b.n == -1) return {0, false};
  int64_t r = a.n % b.n;
  return {r != 0 && (r < 0) != (b.n < 0) ? r + b.n : r, false};
}
[[maybe_unused]] Checked div(Checked a, Checked b) {
  if (a.bad || b.bad || b.n == 0) return {0, true};
  if (b.n == -1) return a * b;
  int64_t q = a.n / b.n;
  return {a.n % b.n != 0 && (a.n < 0) != (b.n < 0) ? q - 1 : q, false};
}
[[maybe_unused]] Checked min(Checked a, Checked b) {
  return {a.n < b.n ? a.n : b.n, a.bad || b.bad};
}
[[maybe_unused]] Checked max(Checked a, Checked b) {
  return {a.n > b.n ? a.n : b.n, a.bad || b.bad};
}
[[maybe_unused]] Checked abs(Checked a) {
  return a.n < 0 ? a * Checked{-1} : a;
}
[[maybe_unused]] Checked eq(Checked a, Checked b) {
  return {a.n == b.n, a.bad || b.bad};
}
[[maybe_unused]] Checked ne(Checked a, Checked b) {
  return {a.n != b.n, a.bad || b.bad};
}
[[maybe_unused]] Checked lt(Checked a, Checked b) {
  return {a.n < b.n, a.bad || b.bad};
}
[[maybe_unused]] Checked le(Checked a, Checked b) {
  return {a.n <= b.n, a.bad || b.bad};
}
[[maybe_unused]] Checked both(Checked a, Checked b) {
  return {a.n & b.n, a.bad || b.bad};
}
[[maybe_unused]] Checked either(Checked a, Checked b) {
  return {a.n | b.n, a.bad || b.bad};
}
[[maybe_unused]] Checked no(Checked a) { return {!a.n, a.bad}; }
[[maybe_unused]] Checked where(Checked c, Checked a, Checked b) {
  Checked r = c.n ? a : b;
  return {r.n, r.bad || c.bad};
}
}  // namespace
)";

class CppPrinter {
 public:
  explicit CppPrinter(const std::vector<Expr>& symbols) : symbols_(symbols) {}

  // Written from left to right; what waits lies on a stack of its own.
  std::string operator()(Expr root) {
    std::string out;
    std::vector<Piece> waiting{{{}, root, 1}};
    while (!waiting.empty()) {
      const Piece piece = std::move(waiting.back());
      waiting.pop_back();
      if (!piece.e) {
        out += piece.text;
        continue;
      }
      if (piece.level > fixed::program_levels)
        fail(piece.e, "is too deep to be one expression of C++");
      if (out.size() > kMaxTextLength) fail(root, "is too long in C++");
      level_ = piece.level + 1;
      node(piece.e);
      std::move(pieces_.rbegin(), pieces_.rend(), std::back_inserter(waiting));
      pieces_.clear();
    }
    return out;
  }

 private:
  struct Piece {
    std::string text;
    Expr e = {};
    int level = 0;
  };

  void then(std::string text) { pieces_.push_back({std::move(text)}); }
  void then(Expr e) { pieces_.push_back({{}, e, level_}); }

  [[noreturn]] static void fail(Expr e, const char* why) {
    throw Error("GuardProgram::to_cpp: " + excerpt(e) + " " + why +
                "; check it with holds()");
  }

  void node(Expr e) {
    if (e.is_symbol() && e.is_int()) {
      auto at = std::find(symbols_.begin(), symbols_.end(), e);
      return then("Checked{v[" + std::to_string(at - symbols_.begin()) + "]}");
    }
    if (e.is(Op::kBoolean)) {
      return then(e.is_true() ? "Checked{1}" : "Checked{0}");
    }
    if (auto number = e.maybe_int64()) {
      return then(*number == kLeast
                      ? "Checked{INT64_MIN}"
                      : "Checked{" + std::to_string(*number) + "}");
    }
    if (is_power(e)) return power(e);
    const Form* form = form_of(e);
    if (!form) fail(e, "has no form over int64");
    if (is_relation(e.op()) && has_float(e)) fail(e, "is about floats");
    if (e.is(Op::kAdd) || e.is(Op::kMul)) return infix(e, form->cpp);
    if (!e.is(Op::kWhere)) return call(e, form->cpp);
    then(form->cpp);
    for (size_t i = 0; i < 3; ++i) {
      then(i == 0 ? "(" : ", ");
      then(e.arg(i));
    }
    then(")");
  }

  void infix(Expr e, const char* sign) {
    for (size_t i = 0; i < e.arity(); ++i) {
      then(i == 0 ? "(" : sign);
      then(e.arg(i));
    }
    then(")");
  }
  // f(f(a, b), c)
  void call(Expr e, const std::string& name) {
    if (e.arity() == 1) {
      const bool is_call = e.is(Op::kAbs) || e.is(Op::kNot);
      if (is_call) then(name + "(");
      then(e.arg(0));
      if (is_call) then(")");
      return;
    }
    for (size_t i = 1; i < e.arity(); ++i) then(name + "(");
    then(e.arg(0));
    for (size_t i = 1; i < e.arity(); ++i) {
      then(", ");
      then(e.arg(i));
      then(")");
    }
  }
  void power(Expr e) {
    auto exponent = e.arg(1).maybe_int64();
    if (e.is_float() || !exponent || *exponent < 1 ||
        *exponent > fixed::compiled_exponent) {
      fail(e, "has no form over int64");
    }
    for (int64_t i = 0; i < *exponent; ++i) {
      then(i == 0 ? "(" : "*");
      then(e.arg(0));
    }
    then(")");
  }

  const std::vector<Expr>& symbols_;
  std::vector<Piece> pieces_;  // of one node
  int level_ = 0;              // of what stands in it
};

}  // namespace

std::string GuardProgram::to_cpp(const std::string& name) const {
  CppPrinter print(symbols_);
  std::string text = kPrelude;
  for (size_t i = 0; i < symbols_.size(); ++i) {
    text += "// v[" + std::to_string(i) + "]: " + symbols_[i].symbol().name;
    const std::string& source = symbols_[i].symbol().source;
    text += (source.empty() ? "" : " = " + source) + "\n";
  }
  text += "bool " + name + "([[maybe_unused]] const int64_t* v) {\n";
  for (Expr c : conditions_) {
    text += "  // " + to_string(c) + "\n  if (Checked r = " + print(c) +
            "; r.bad || !r.n) return false;\n";
  }
  return text + "  return true;\n}\n";
}

}  // namespace proviso::inline v0_2
