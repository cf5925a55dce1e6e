// Buffers of symbolic sizes in as few allocations as can be proved safe.
//
// A buffer takes over a dead one's memory when its size is known to be at most
// that one's at every size the facts allow; of those, the one that leaves least
// over.  Upper bounds tell what to reserve before any size is known.
#include <proviso/solver/solver.h>
#include <proviso/sym/operators.h>
#include <proviso/sym/print.h>

#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace proviso;

struct Buffer {
  std::string name;
  Expr bytes;
  int first, last;  // steps of the program that use it
};

struct Slot {
  Expr bytes;  // of the first buffer in it: the largest
  int free_after;
  std::vector<std::string> buffers;
};

class Planner {
 public:
  explicit Planner(Context& context) : context_(context) {}

  // Buffers in the order of their first step.
  std::vector<Slot> plan(const std::vector<Buffer>& buffers) {
    for (const Buffer& buffer : buffers) place(buffer);
    return std::move(slots_);
  }

 private:
  bool fits(const Buffer& buffer, const Slot& slot) {
    return slot.free_after < buffer.first &&
           context_.ask(buffer.bytes <= slot.bytes).verdict == Verdict::kYes;
  }

  void place(const Buffer& buffer) {
    Slot* best = nullptr;
    for (Slot& slot : slots_) {
      if (!fits(buffer, slot)) continue;
      // A slot that is known to be no larger than the best so far.
      if (best == nullptr ||
          context_.ask_quick(slot.bytes <= best->bytes) == Verdict::kYes)
        best = &slot;
    }
    if (best == nullptr) {
      slots_.push_back({context_.simplify(buffer.bytes), buffer.last, {}});
      best = &slots_.back();
    }
    best->free_after = buffer.last;
    best->buffers.push_back(buffer.name);
  }

  Context& context_;
  std::vector<Slot> slots_;
};

// The most that all slots may take, or nullopt when a size has no bound.
std::optional<Int> reserve(Context& context, const std::vector<Slot>& slots) {
  Int total = 0;
  for (const Slot& slot : slots) {
    const OptionalInt most = context.bounds(slot.bytes).upper();
    if (!most) return std::nullopt;
    total += *most;
  }
  return total;
}

}  // namespace

int main() {
  ExprPool pool;
  Context context(pool);
  const Expr batch = pool.symbol("b", SymbolKind::kBackedSize);
  const Expr tokens = pool.symbol("t", SymbolKind::kBackedSize);
  const Expr kept = pool.symbol("u0", SymbolKind::kUnbackedInt);
  context.declare(batch, Interval(1, 64));
  context.declare(tokens, Interval(1, 2048));
  context.assume(kept >= 0 && kept <= batch * tokens,
                 {"nonzero() of a mask of b*t elements", "model.py", 31});

  // One layer: hidden states, projections, a gather of some tokens, the output.
  const Expr states = batch * tokens * 1024 * 4;
  const std::vector<Buffer> buffers = {
      {"hidden", states, 0, 2},
      {"projected", batch * tokens * 4096 * 4, 1, 3},
      {"attended", batch * tokens * 1024 * 4, 3, 5},
      {"mask", batch * tokens, 4, 5},
      {"gathered", kept * 1024 * 4, 6, 7},
      {"output", kept * 512 * 4, 8, 9},
  };
  const std::vector<Slot> slots = Planner(context).plan(buffers);
  for (const Slot& slot : slots) {
    std::cout << to_string(slot.bytes) << " bytes:";
    for (const std::string& name : slot.buffers) std::cout << ' ' << name;
    std::cout << '\n';
  }
  const std::optional<Int> most = reserve(context, slots);
  std::cout << "at most " << (most ? most->to_string() : "?") << " bytes\n";

  // "attended" takes hidden's memory, "gathered" and "output" one of those that
  // are dead by then: a gather can be no larger than what it gathers from.
  const bool ok = slots.size() == 2 && most &&
                  *most == Int(64) * Int(2048) * Int(5 * 1024 * 4);
  if (!ok) std::cerr << "memory_planner: another plan than expected\n";
  return ok ? 0 : 1;
}
