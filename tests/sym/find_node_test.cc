#include "sym/find_node.h"

#include <gtest/gtest.h>

#include <vector>

#include "sym/parse.h"

namespace proviso {
namespace {

using namespace internal;

using Exprs = std::vector<Expr>;

TEST(Operands, AreThoseOfOneOperatorFromLeftToRight) {
  ExprPool pool;
  const auto p = [&](const char* text) { return parse(pool, text); };
  const Expr a = p("x > 0"), b = p("y > 0"), c = p("z > 0");
  EXPECT_EQ(operands(p("((x > 0) & (y > 0)) & (z > 0)"), Op::kAnd),
            (Exprs{a, b, c}));
  EXPECT_EQ(operands(p("(x > 0) | (y > 0)"), Op::kAnd),
            Exprs{p("(x > 0) | (y > 0)")});
  EXPECT_EQ(operands(a, Op::kAnd), Exprs{a});
  const Expr x = p("x"), half = p("0.5");
  const Expr of_integers = pool.make(Op::kMin, {x, p("y")});
  EXPECT_EQ(operands(pool.make(Op::kMin, {of_integers, half}), Op::kMin),
            (Exprs{of_integers, half}));
}

TEST(Operands, EndWhereAskedTo) {
  ExprPool pool;
  int seen = 0;
  EXPECT_FALSE(visit_operands(parse(pool, "((x > 0) & (y > 0)) & (z > 0)"),
                              Op::kAnd, [&](Expr) { return ++seen < 2; }));
  EXPECT_EQ(seen, 2);
}

// A part that is shared 60 times over is opened once: a conjunction has it
// once, and a sum has each as often as it is added.
TEST(Operands, OpenWhatIsSharedOnce) {
  ExprPool pool;
  const Expr x = parse(pool, "x"), y = parse(pool, "y");
  const auto doubled = [&](Op op, Expr e) {
    for (int i = 0; i < 60; ++i) e = pool.make(op, {e, e});
    return e;
  };
  const Expr both =
      pool.make(Op::kAnd, {parse(pool, "x > 0"), parse(pool, "y > x")});
  EXPECT_EQ(operands(doubled(Op::kAnd, both), Op::kAnd).size(), 2u);
  const Expr sum = pool.make(Op::kAdd, {x, y});
  EXPECT_EQ(operands(pool.make(Op::kAdd, {sum, sum}), Op::kAdd),
            (Exprs{x, y, sum}));
  EXPECT_EQ(operands(doubled(Op::kAdd, sum), Op::kAdd).size(), 62u);
}

}  // namespace
}  // namespace proviso
