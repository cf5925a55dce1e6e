// Laws of the parser: it returns or throws Error, whatever the text; what it
// returns prints to text that parses to the same expression; a canonical form
// is its own, and keeps the value.
#include <cstdio>
#include <cstdlib>

#include "sym/canonical.h"
#include "sym/evaluate.h"
#include "sym/parse.h"
#include "sym/print.h"

namespace {

void check(bool holds, const char* law, proviso::Expr e) {
  if (holds) return;
  std::fprintf(stderr, "broken law: %s\n  %s\n", law,
               proviso::to_string(e).c_str());
  std::abort();
}

proviso::Assignment point_for(proviso::Expr e, int value) {
  proviso::Assignment point;
  for (proviso::Expr symbol : free_symbols(e)) {
    point.set(symbol, proviso::Int(value++));
  }
  return point;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace proviso;
  if (size > 400) return 0;
  ExprPool pool;
  Expr e;
  try {
    e = parse(pool, {reinterpret_cast<const char*>(data), size});
  } catch (const Error&) {
    return 0;
  }
  check(parse(pool, to_string(e)) == e, "parse(to_string(e)) == e", e);
  Expr simple = canonical(e);
  check(canonical(simple) == simple, "a second pass is idle", e);
  for (int start : {-3, 0, 1, 5}) {
    Assignment point = point_for(e, start);
    Evaluation before = evaluate(e, point);
    // Inexact doubles may differ by the order of a sum.
    if (!before.defined() || std::holds_alternative<double>(*before.value)) {
      continue;
    }
    Evaluation after = evaluate(simple, point);
    check(after.defined() && *after.value == *before.value, "value kept", e);
  }
  return 0;
}
