// A tensor compiler's questions, answered without torch: can these two shapes
// be broadcast, is this view legal, does this loop need a tail?
#include <iostream>

#include "guards/shape_env.h"
#include "sym/parse.h"
#include "sym/print.h"

namespace {

using namespace proviso;

void ask(ShapeEnv& env, const std::string& question) {
  Answer answer = env.context().ask(parse(env.pool(), question));
  std::cout << question << "  " << name_of(answer.verdict);
  for (FactId id : answer.facts)
    std::cout << "  <- " << env.context().fact(id).origin.to_string();
  if (answer.counterexample)
    std::cout << "  not when " << answer.counterexample->to_string();
  std::cout << '\n';
}

}  // namespace

int main() {
  ShapeEnv env;
  // x is [batch, tokens, 64]; a tile of the kernel takes 16 tokens.
  env.create_size(4, "x.size()[0]", {.name = "batch", .min = {}, .max = 64});
  Expr s1 = env.create_size(128, "x.size()[1]");
  // The program asks whether it may skip the tail, and takes the answer of the
  // example: a guard.
  bool whole = env.guard_bool(eq(mod(s1, env.pool().integer(16)), 0),
                              {"kernel.py", 12, "if tokens % 16 == 0:"});
  std::cout << "whole tiles at the example: " << std::boolalpha << whole
            << '\n';
  ask(env, "Eq(Mod(64*s1, 1024), 0)");
  ask(env, "(s0*s1*64)//s1 >= 128");
  ask(env, "Eq(16*(s1//16), s1)");
  ask(env, "Eq(Mod(s1, 32), 0)");
  ask(env, "Ne(s1, 1)");
  for (const Guard& guard : env.guards())
    std::cout << "requires " << guard.condition << "  ("
              << guard.origins[0].to_string() << ")\n";
  return whole ? 0 : 1;
}
