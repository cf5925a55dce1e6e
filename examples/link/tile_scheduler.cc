// How wide a loop over symbolic extents may be cut, and whether a tail is left.
//
//   row of s0 floats, s0 % 16 == 0     vector width 8, no tail
//   rows flattened, s0*s1              vector width 8, no tail
//   a row less its border, s0 - 1      width 8, a tail always: 7 are left
//
// What a code generator asks for each loop: the widest width that divides the
// extent, else a tail, unless the extent is known to be at least the width.
#include <proviso/solver/solver.h>
#include <proviso/sym/operators.h>
#include <proviso/sym/print.h>

#include <iostream>
#include <optional>
#include <string>

namespace {

using namespace proviso;

struct Tiling {
  int64_t width = 1;
  bool has_tail = false;
  bool may_be_short = false;  // less than one whole tile
  std::string why;
};

std::string places(const Context& context, const Answer& answer) {
  std::string all;
  for (FactId id : answer.facts) {
    const Fact fact = context.fact(id);
    const std::string where = fact.origin.to_string();
    all += (all.empty() ? "" : "; ") +
           (where.empty() ? to_string(fact.condition) : where);
  }
  return all.empty() ? "arithmetic alone" : all;
}

// The widest of 16, 8, 4, 2 that divides the extent.
std::optional<Tiling> without_tail(Context& context, Expr extent,
                                   int64_t widest) {
  for (int64_t width = widest; width > 1; width /= 2) {
    const Answer answer = context.ask(extent % width == 0);
    if (answer.verdict != Verdict::kYes) continue;
    return Tiling{.width = width, .why = places(context, answer)};
  }
  return std::nullopt;
}

Tiling tile(Context& context, Expr extent, int64_t widest) {
  if (auto even = without_tail(context, extent, widest)) return *even;
  Tiling result{.width = widest, .has_tail = true, .why = {}};
  const Answer divides = context.ask(extent % widest == 0);
  if (divides.verdict == Verdict::kNo) result.why = "never even";
  if (divides.counterexample)
    result.why = "not at " + divides.counterexample->to_string();
  result.may_be_short = context.ask_quick(extent >= widest) != Verdict::kYes;
  return result;
}

void print(const std::string& name, const Tiling& t) {
  std::cout << name << ": width " << t.width
            << (t.has_tail ? ", a tail" : ", no tail")
            << (t.may_be_short ? ", maybe shorter than a tile" : "") << " ("
            << t.why << ")\n";
}

bool expect(bool ok, const char* what) {
  if (!ok) std::cerr << "tile_scheduler: not so: " << what << '\n';
  return ok;
}

}  // namespace

int main() {
  ExprPool pool;
  Context context(pool);
  const Expr rows = pool.symbol("s1", SymbolKind::kBackedSize, "x.size()[0]");
  const Expr row = pool.symbol("s0", SymbolKind::kBackedSize, "x.size()[1]");
  context.declare(rows, Interval(1, 4096), {"batch", "serve.py", 3});
  context.declare(row, Interval(16, 65536));
  context.assume(row % 16 == 0, {"x.view(rows, -1, 16)", "model.py", 12});

  const Tiling whole = tile(context, row, 8);
  const Tiling flat = tile(context, rows * row, 8);
  const Tiling border = tile(context, row - 1, 8);
  const Tiling few = tile(context, rows, 8);
  print("row", whole);
  print("flattened", flat);
  print("row less its border", border);
  print("rows", few);

  // A split of the row into tiles covers it exactly, for every size allowed.
  const Expr covered = ceil_div(row, 16) * 16;
  bool ok = expect(context.equivalent(covered, row) == Verdict::kYes,
                   "tiles of 16 cover the row");
  ok &= expect(whole.width == 8 && !whole.has_tail, "the row is even");
  ok &= expect(flat.width == 8 && !flat.has_tail, "flattened too");
  ok &= expect(border.has_tail && !border.may_be_short, "15 or more");
  ok &= expect(few.has_tail && few.may_be_short, "one row is possible");
  return ok ? 0 : 1;
}
