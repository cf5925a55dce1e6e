// A stranger's program over the installed core: the same includes as inside.
#include <iostream>

#include "guards/shape_env.h"
#include "sym/parse.h"

int main() {
  using namespace proviso;
  ShapeEnv env;
  Expr s0 = env.create_size(8, "x.size()[0]");
  env.context().assume(eq(mod(s0, env.pool().integer(8)), 0), {"told"});
  Answer answer = env.context().ask(parse(env.pool(), "Eq(Mod(s0, 4), 0)"));
  std::cout << name_of(answer.verdict) << '\n';
  return answer.verdict == Verdict::kYes ? 0 : 1;
}
