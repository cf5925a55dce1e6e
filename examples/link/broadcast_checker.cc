// Broadcasts and reshapes over symbolic shapes: which are right at every size,
// which never are, and for the others the check that the program should make.
#include <proviso/solver/solver.h>
#include <proviso/sym/operators.h>
#include <proviso/sym/print.h>

#include <iostream>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace proviso;

using Shape = std::vector<Expr>;

struct Finding {
  Verdict verdict;
  std::string text;
};

class Checker {
 public:
  explicit Checker(Context& context)
      : context_(context), pool_(context.pool()) {}

  // numpy's rule: sizes from the right are equal, or one of them is 1.
  Finding broadcast(const Shape& a, const Shape& b, const std::string& where) {
    Finding all{Verdict::kYes, ""};
    const size_t rank = std::max(a.size(), b.size());
    for (size_t i = 0; i < rank; ++i) {
      const Expr x = from_right(a, i), y = from_right(b, i);
      const Finding one = require(eq(x, y) || x == 1 || y == 1, where);
      if (one.verdict == Verdict::kNo) return one;
      if (one.verdict == Verdict::kUnknown) all = one;
    }
    return all;
  }

  // The same number of elements.
  Finding reshape(const Shape& from, const Shape& to,
                  const std::string& where) {
    return require(eq(elements(from), elements(to)), where);
  }

 private:
  Expr from_right(const Shape& shape, size_t i) {
    return i < shape.size() ? shape[shape.size() - 1 - i] : pool_.integer(1);
  }
  Expr elements(const Shape& shape) {
    Expr product = pool_.integer(1);
    for (Expr size : shape) product = product * size;
    return product;
  }

  // What the facts say; when they do not, the program checks, and what follows
  // may rely on it.
  Finding require(Condition condition, const std::string& where) {
    const Answer answer = context_.ask(condition);
    if (answer.verdict != Verdict::kUnknown)
      return {answer.verdict, where + ": " + answer.reason};
    const Expr check = context_.simplify(condition);
    std::string text = where + ": add " + to_check(check);
    if (answer.counterexample)
      text += "  # wrong at " + answer.counterexample->to_string();
    context_.assume(condition, {"checked", where});
    return {Verdict::kUnknown, text};
  }

  Context& context_;
  ExprPool& pool_;
};

bool show(const char* name, const Finding& f, Verdict expected) {
  std::cout << name << ": " << name_of(f.verdict) << "  " << f.text << '\n';
  if (f.verdict == expected) return true;
  std::cerr << "broadcast_checker: expected " << name_of(expected) << '\n';
  return false;
}

}  // namespace

int main() {
  ExprPool pool;
  Context context(pool);
  const auto size = [&](const char* name) {
    const Expr s = pool.symbol(name, SymbolKind::kBackedSize);
    context.declare(s, Interval(2, 8192), {"dim of an example >= 2"});
    return s;
  };
  const auto number = [&](int64_t n) { return pool.integer(n); };
  const Expr batch = size("b"), tokens = size("t"), other = size("t2");
  const Expr heads = number(16), width = number(64);
  Checker checker(context);

  bool ok = true;
  ok &= show("a bias",
             checker.broadcast({batch, tokens, number(1024)}, {number(1024)},
                               "linear.py:8"),
             Verdict::kYes);
  ok &=
      show("a kept dimension",
           checker.broadcast({batch, tokens}, {batch, number(1)}, "norm.py:3"),
           Verdict::kYes);
  ok &= show("heads",
             checker.reshape({batch, tokens, number(1024)},
                             {batch, tokens, heads, width}, "attention.py:21"),
             Verdict::kYes);
  ok &= show("flattened",
             checker.reshape({batch, tokens, width}, {batch * tokens, width},
                             "mlp.py:5"),
             Verdict::kYes);
  ok &= show("one too many",
             checker.reshape({batch, tokens}, {batch, tokens + 1}, "pad.py:2"),
             Verdict::kNo);
  ok &= show("two lengths",
             checker.broadcast({batch, tokens}, {batch, other}, "cross.py:9"),
             Verdict::kUnknown);
  // The check above holds from there on, so this needs none of its own.
  ok &= show("the same lengths again",
             checker.reshape({batch, tokens}, {other, batch}, "cross.py:11"),
             Verdict::kYes);
  return ok ? 0 : 1;
}
