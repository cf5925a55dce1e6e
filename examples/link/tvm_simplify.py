"""Index expressions simplified by Proviso, beside TVM's Analyzer.

    python examples/link/tvm_simplify.py [N]

Makes N random flattened indices as tiled kernels have them (splits, fusions,
padding, strides), gives both the same ranges, and prints the operators that are
left, those of div and mod apart, and every pair whose values differ anywhere.
Needs apache-tvm; exit status 1 when a value differs, or when ours costs more in
all.
"""

import random
import sys

import proviso
from proviso import Context

try:
    from tvm import arith, tir
except ImportError:  # the modules' names since 0.27
    from tvm import sym as arith, tirx as tir

COST = {"+": 1, "*": 1, "//": 4, "%": 4, "min": 1, "max": 1}


class Index:
    """A tree over + * // % min max, names and numbers."""

    def __init__(self, seed):
        r = random.Random(seed)
        self.extents = {name: r.choice([2, 3, 4, 8, 16, 32, 60, 64])
                        for name in "ijk"}
        inner, middle = self.extents["k"], self.extents["j"]
        fused = ("+", ("*", ("+", ("*", "i", middle), "j"), inner), "k")
        flat = r.choice([fused, ("+", ("*", "i", inner), "k"),
                         ("+", ("*", "j", r.choice([8, 16])), "k")])
        if r.random() < 0.4:
            flat = ("+", flat, r.choice([1, 7, inner - 1, inner]))
        by = r.choice([inner, middle, inner * middle, 8, 16, 4])
        parts = [("//", flat, by), ("%", flat, by),
                 ("%", ("//", flat, by), r.choice([middle, 4])),
                 ("+", ("*", ("//", flat, by), by), ("%", flat, by)),
                 ("min", ("%", flat, by), by - 1),
                 ("max", ("-", flat, by), 0),
                 ("//", ("+", ("*", flat, by), "k"), by)]
        self.tree = r.choice(parts)
        if r.random() < 0.5:
            self.tree = ("+", self.tree, ("*", r.choice(parts), 4))

    def build(self, leaf, ops):
        def walk(t):
            if not isinstance(t, tuple):
                return leaf(t)
            return ops[t[0]](walk(t[1]), walk(t[2]))
        return walk(self.tree)


def ours(index):
    context = Context()
    leaves = {}
    for name, extent in index.extents.items():
        leaves[name] = context.symbol(name)
        context.declare(leaves[name], 0, extent - 1)
    e = index.build(
        lambda t: leaves.get(t, t) if isinstance(t, str) else context.expr(t),
        {"+": lambda a, b: a + b, "-": lambda a, b: a - b,
         "*": lambda a, b: a * b, "//": lambda a, b: a // b,
         "%": lambda a, b: a % b, "min": proviso.Min, "max": proviso.Max})
    return e, context.simplify(e)


def theirs(index):
    analyzer = arith.Analyzer()
    leaves = {}
    for name, extent in index.extents.items():
        leaves[name] = tir.Var(name, "int64")
        analyzer.bind(leaves[name], tvm_range(extent))
    e = index.build(
        lambda t: leaves[t] if isinstance(t, str) else tir.IntImm("int64", t),
        {"+": lambda a, b: a + b, "-": lambda a, b: a - b,
         "*": lambda a, b: a * b, "//": tir.floordiv, "%": tir.floormod,
         "min": tir.min, "max": tir.max})
    return analyzer.simplify(e)


def tvm_range(extent):
    import tvm
    return tvm.ir.Range(tir.IntImm("int64", 0), tir.IntImm("int64", extent))


NODES = {"Add": "+", "Sub": "+", "Mul": "*", "FloorDiv": "//",
         "FloorMod": "%", "Min": "min", "Max": "max"}


def as_ours(e):
    """TVM's expression as Proviso's."""
    kind = type(e).__name__
    if kind == "IntImm":
        return proviso.Expr(str(int(e.value)))
    if kind == "Var":
        return proviso.symbol(e.name)
    a, b = as_ours(e.a), as_ours(e.b)
    return {"Add": lambda: a + b, "Sub": lambda: a - b, "Mul": lambda: a * b,
            "FloorDiv": lambda: a // b, "FloorMod": lambda: a % b,
            "Min": lambda: proviso.Min(a, b),
            "Max": lambda: proviso.Max(a, b)}[kind]()


def cost(e):
    """Operators, a division or remainder as four."""
    own = {"FloorDiv": 4, "Mod": 4, "PythonMod": 4, "CleanDiv": 4,
           "CeilDiv": 4, "ModularIndexing": 8}.get(e.op)
    if own is None:
        own = max(0, len(e.args) - 1)
        if e.op == "Mul" and e.args[0].constant == -1:
            own -= 1  # a subtraction's
    return own + sum(cost(arg) for arg in e.args)


def main(count):
    total = {"input": 0, "ours": 0, "TVM's": 0}
    shorter = longer = wrong = 0
    for seed in range(count):
        index = Index(seed)
        e, mine = ours(index)
        his = as_ours(theirs(index))
        costs = cost(e), cost(mine), cost(his)
        for name, c in zip(total, costs):
            total[name] += c
        shorter += costs[1] < costs[2]
        longer += costs[1] > costs[2]
        r = random.Random(seed)
        for _ in range(50):
            at = {n: r.randrange(x) for n, x in index.extents.items()}
            want = e.evaluate(at)
            if mine.evaluate(at) != want or his.evaluate(at) != want:
                wrong += 1
                print(f"WRONG at {at}: {e} -> {mine}; TVM: {his}")
                break
    print(f"{count} indices: ours shorter {shorter}, longer {longer}; "
          f"{wrong} wrong; cost " +
          ", ".join(f"{name} {c}" for name, c in total.items()))
    return 1 if wrong or total["ours"] > total["TVM's"] else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
