// Laws of the solver: on one context that assumes, is asked, pushed and popped
// as the input's bytes say, no point of a small box contradicts a verdict,
// bounds, a simplified form, or the facts that are named; and ask, bounds and
// simplify agree.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "solver/solver.h"
#include "sym/print.h"
#include "tests/support/agreement_laws.h"

namespace {

using namespace proviso;

constexpr int kLow = -2, kHigh = 3, kSymbols = 3;
constexpr int kMaxSteps = 24;

class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : data_(data), end_(data + size) {}
  bool done() const { return data_ == end_; }
  int below(int n) { return done() ? 0 : *data_++ % n; }

 private:
  const uint8_t *data_, *end_;
};

class Session {
 public:
  Session(const uint8_t* data, size_t size)
      : bytes_(data, size), context_(pool_, options()) {
    points_.emplace_back();
    for (int i = 0; i < kSymbols; ++i) {
      symbols_.push_back(
          pool_.symbol("u" + std::to_string(i), SymbolKind::kUnbackedInt));
      context_.declare(symbols_.back(), Interval(kLow, kHigh));
      std::vector<Assignment> longer;
      for (const Assignment& p : points_) {
        for (int v = kLow; v <= kHigh; ++v) {
          longer.push_back(p);
          longer.back().set(symbols_.back(), Int(v));
        }
      }
      points_ = std::move(longer);
    }
    live_.push_back(std::vector<bool>(points_.size(), true));
  }

  void run() {
    for (int i = 0; i < kMaxSteps && !bytes_.done(); ++i) {
      switch (bytes_.below(10)) {
        case 0:
          context_.push();
          live_.push_back(live_.back());
          break;
        case 1:
          if (live_.size() < 2) break;
          context_.pop();
          live_.pop_back();
          break;
        case 2:
        case 3: assume(boolean(2)); break;
        case 4: agree_about_integer(integer(2)); break;
        case 5: agree_about_condition(boolean(2)); break;
        default: ask(boolean(2)); break;
      }
    }
  }

 private:
  static SolverOptions options() {
    SolverOptions o;
    o.use_z3 = false;
    return testing::AgreementLaws::unhurried(o);
  }

  Expr integer(int depth) {
    int choice = depth == 0 ? bytes_.below(2) : bytes_.below(14);
    auto sub = [&] { return integer(depth - 1); };
    switch (choice) {
      case 0: return symbols_[static_cast<size_t>(bytes_.below(kSymbols))];
      case 1: return pool_.integer(bytes_.below(9) - 3);
      case 2:
      case 3: return sub() + sub();
      case 4: return sub() - sub();
      case 5: return sub() * sub();
      case 6:
      case 7: return floor_div(sub(), sub());
      case 8: return mod(sub(), sub());
      case 9: return max(sub(), sub());
      case 10: return min(sub(), sub());
      case 11: return pool_.make(Op::kAbs, {sub()});
      case 12: return pool_.make(Op::kBitAnd, {sub(), sub()});
      default: return where(boolean(depth - 1), sub(), sub());
    }
  }

  Expr boolean(int depth) {
    int choice = depth == 0 ? bytes_.below(4) : bytes_.below(7);
    switch (choice) {
      case 0: return eq(integer(depth), integer(depth));
      case 1: return ne(integer(depth), integer(depth));
      case 2: return lt(integer(depth), integer(depth));
      case 3: return le(integer(depth), integer(depth));
      case 4: return logical_and(boolean(depth - 1), boolean(depth - 1));
      case 5: return logical_or(boolean(depth - 1), boolean(depth - 1));
      default: return logical_not(boolean(depth - 1));
    }
  }

  void assume(Expr fact) {
    context_.assume(fact);
    for (size_t i = 0; i < points_.size(); ++i) {
      if (live_.back()[i] && !evaluate(fact, points_[i]).is_true()) {
        live_.back()[i] = false;
      }
    }
  }

  void ask(Expr question) {
    Verdict verdict = context_.ask_quick(question);
    std::vector<FactId> used = context_.facts_used(question);
    bool any = false;
    for (size_t i = 0; i < points_.size(); ++i) {
      if (!live_.back()[i]) continue;
      any = true;
      Evaluation e = evaluate(question, points_[i]);
      if (verdict == Verdict::kYes && !e.is_true()) fail("yes", question, i);
      if (verdict == Verdict::kNo && !e.is_false()) fail("no", question, i);
    }
    if (any && context_.contradiction()) fail("contradiction", question, 0);
    if (verdict == Verdict::kUnknown) return;
    for (size_t i = 0; i < points_.size(); ++i) {
      bool met = true;
      for (FactId id : used) {
        met =
            met && evaluate(context_.fact(id).condition, points_[i]).is_true();
      }
      if (!met) continue;
      Evaluation e = evaluate(question, points_[i]);
      if (verdict == Verdict::kYes ? !e.is_true() : !e.is_false()) {
        fail("named facts are not enough", question, i);
      }
    }
  }

  // Facts without a point imply everything: then there is no law.
  std::optional<size_t> live_point() const {
    const auto& live = live_.back();
    const auto at = std::find(live.begin(), live.end(), true);
    if (at == live.end()) return std::nullopt;
    return static_cast<size_t>(at - live.begin());
  }

  void agree_about_integer(Expr e) {
    const std::optional<size_t> first = live_point();
    if (!first) return;
    const Interval range = context_.bounds(e);
    for (size_t i = *first; i < points_.size(); ++i) {
      if (!live_.back()[i]) continue;
      const Evaluation v = evaluate(e, points_[i]);
      if (v.defined() && !range.contains(std::get<Int>(*v.value)))
        fail("bounds", e, i);
    }
    if (defined_everywhere(e)) {
      expect_law(laws_.broken_by_bounds(e), e, *first);
      expect_law(laws_.broken_by_difference(e), e, *first);
    }
    expect_same_values(e);
  }

  void agree_about_condition(Expr e) {
    const std::optional<size_t> first = live_point();
    if (!first) return;
    if (defined_everywhere(e))
      expect_law(laws_.broken_by_relation(e), e, *first);
    expect_same_values(e);
  }

  bool defined_everywhere(Expr e) const {
    for (size_t i = 0; i < points_.size(); ++i) {
      if (live_.back()[i] && !evaluate(e, points_[i]).defined()) return false;
    }
    return true;
  }

  void expect_same_values(Expr e) {
    const Expr form = context_.simplify(e);
    for (size_t i = 0; i < points_.size(); ++i) {
      if (!live_.back()[i]) continue;
      const Evaluation before = evaluate(e, points_[i]);
      if (!before.defined()) continue;
      const Evaluation after = evaluate(form, points_[i]);
      if (!after.defined() || *after.value != *before.value)
        fail(("simplified to " + to_string(form)).c_str(), e, i);
    }
  }

  void expect_law(const std::string& broken, Expr e, size_t point) {
    if (!broken.empty()) fail(broken.c_str(), e, point);
  }

  // As a line of tests/regress: to be kept there when it is mended.
  [[noreturn]] void fail(const char* what, Expr question, size_t point) {
    std::string text;
    for (const Fact& fact : context_.facts()) {
      text += (text.empty() ? "" : "; ") + to_string(fact.condition);
    }
    std::fprintf(stderr, "wrong: %s at %s\nF0|fuzz||%s|%s|?|-\n", what,
                 points_[point].to_string().c_str(), text.c_str(),
                 to_string(question).c_str());
    std::abort();
  }

  Bytes bytes_;
  ExprPool pool_;
  Context context_;
  testing::AgreementLaws laws_{context_};
  std::vector<Expr> symbols_;
  std::vector<Assignment> points_;
  std::vector<std::vector<bool>> live_;  // by scope, by point
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 0 && size < 1000) Session(data, size).run();
  return 0;
}
