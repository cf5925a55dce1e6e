// A stranger's program over the installed core.
#include <proviso/guards/shape_env.h>
#include <proviso/sym/parse.h>
#include <proviso/version.h>

#include <iostream>

#include "sym/translate.h"  // as Proviso's own files write it

#if PROVISO_VERSION_NUMBER < 100
#error "a version of Proviso that does not exist"
#endif

int main() {
  using namespace proviso;
  ShapeEnv env;
  Expr s0 = env.create_size(8, "x.size()[0]");
  env.context().assume(eq(mod(s0, env.pool().integer(8)), 0), {"told"});
  Answer answer = env.context().ask(parse(env.pool(), "Eq(Mod(s0, 4), 0)"));
  std::cout << name_of(answer.verdict) << '\n';
  ExprPool other;
  const bool is_there = translate(s0, other).symbol().name == "s0";
  return answer.verdict == Verdict::kYes && is_there ? 0 : 1;
}
