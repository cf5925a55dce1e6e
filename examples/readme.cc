// What follows from what a model promises about its sizes?
#include <iostream>

#include "solver/solver.h"
#include "sym/parse.h"
#include "sym/print.h"

int main() {
  using namespace proviso;
  ExprPool pool;
  Context known(pool);
  Expr s0 = pool.symbol("s0", SymbolKind::kBackedSize);
  known.declare(s0, Interval::at_least(2), {"a batch"});
  known.assume(parse(pool, "Eq(Mod(s0, 8), 0)"), {"x.view(-1, 8)"});

  Answer four = known.ask(parse(pool, "Eq(Mod(s0, 4), 0)"));
  std::cout << name_of(four.verdict) << ", because of "
            << known.fact(four.facts.back()).origin.text << '\n';

  Answer sixteen = known.ask(parse(pool, "Eq(Mod(s0, 16), 0)"));
  std::cout << name_of(sixteen.verdict) << ", for instance "
            << sixteen.counterexample->to_string() << '\n';

  std::cout << known.simplify(parse(pool, "(s0 + 7)//8*8 + Min(s0, 1)"))
            << '\n';
}
