"""Pairs of functions that give one graph under different conditions.

    ./dev python tests/python/cache_pairs.py --pairs 1000 [--seed 0] [--torch]

torch.compile keeps compiled graphs with the guards over the graph's own
symbols.  The first function of a pair is compiled and kept; the second has the
same body behind other conditions, some over tensors that the graph does not
take, and is run on other sizes.  What it returns must be what eager returns: a
graph that was reused where what decided it does not hold shows there.

The bodies sort slices: what Inductor makes of them needs no C++ compiler, so
that a pair takes a fraction of a second.  Conditions are made to decide what
the body asks: a chain of relations from one of its tensors to another, through
a tensor that it does not use, upwards in one function and downwards in the
other.
"""

import argparse
import contextlib
import dataclasses
import random
import re
import warnings

import torch
from torch._dynamo.utils import counters
from torch._inductor.utils import fresh_cache

NAMES = ("a", "b", "c", "d")

# Slices over two or three of the tensors (p, q, r stand for them).  Each asks
# questions about sizes: whether a slice is cut, what fits, what is equal.
BODIES = (
    "q[:p.shape[0]]",
    "q[:p.shape[0]]",
    "q[:p.shape[0] + 1]",
    "q[p.shape[0]:]",
    "q[-p.shape[0]:]",
    "q[:p.shape[0] // 2]",
    "q[:2 * p.shape[0]]",
    "q[1:][:p.shape[0]]",
    "q[:p.shape[0]][1:]",
    "q[:p.shape[0]][:r.shape[0]]",
    "q[:max(p.shape[0], r.shape[0])]",
    "q[:min(p.shape[0], r.shape[0])]",
    "q[p.shape[0] - r.shape[0]:]",
    "q[:p.shape[0]].unsqueeze(0).expand(2, -1)",
    # u: a size from data, checked to be no more than p's.
    "q[:u]",
    "q[:u]",
    "q[u:]",
    "q[:u + 1]",
    "q[:u][:r.shape[0]]",
)

RELATIONS = ("<", "<=", ">", ">=", "==", "!=")


@dataclasses.dataclass
class Pair:
    body: str
    conditions: tuple  # of the first and of the second function
    sizes: tuple  # {name: size}, likewise
    of: str = ""  # the tensor whose size bounds u, where the body has u
    data: tuple = (0, 0)  # u, likewise

    def sources(self):
        for conditions in self.conditions:
            lines = [f"def forward({', '.join(NAMES)}, t):"]
            lines += [
                f"    if not ({c}): return None" for c in conditions
            ]
            if self.of:
                lines += [
                    "    u = t.item()",
                    "    torch._check(u >= 0)",
                    f"    torch._check(u <= {self.of}.shape[0])",
                ]
            yield "\n".join([*lines, f"    return {self.body}", ""])


def _relation(rng, sizes, left, right):
    """A relation between two sizes that holds at `sizes`."""
    l, r = f"{left}.shape[0]", f"{right}.shape[0]"
    form = rng.randrange(8)
    if form == 0:
        r = f"{r} + {rng.randint(1, 2)}"
    elif form == 1:
        r = f"{r} - {rng.randint(1, 2)}"
    elif form == 2:
        l = f"2 * {l}"
    elif form == 3:
        r = f"{r} + {rng.choice(NAMES)}.shape[0]"
    elif form == 4:
        r = str(sizes[left] + rng.randint(-1, 1))
    at = {n: _Shape(sizes[n]) for n in NAMES}
    holds = [
        text
        for text in (f"{l} {op} {r}" for op in RELATIONS)
        if eval(text, {}, at)  # noqa: S307: our own text
    ]
    return rng.choice(holds)


class _Shape:
    def __init__(self, size):
        self.shape = (size,)


def _conditions(rng, sizes, through):
    """Relations that hold: most go along `through`, a path of tensors."""
    result = [
        _relation(rng, sizes, a, b) for a, b in zip(through, through[1:])
    ]
    while rng.random() < 0.3:
        result.append(_relation(rng, sizes, *rng.sample(NAMES, 2)))
    rng.shuffle(result)
    return tuple(result)


def make_pair(rng):
    """A pair; different sizes of the tensors get different symbols."""
    p, q, r = rng.sample(NAMES, 3)
    body = rng.choice(BODIES)
    path = (p, r, q) if "r." not in body else (p, *set(NAMES) - {p, q, r}, q)
    body = re.sub(
        r"\b[pqr]\b", lambda m: {"p": p, "q": q, "r": r}[m[0]], body
    )
    sizes = []
    for order in (path, path[::-1]):
        values = sorted(rng.sample(range(2, 14), len(order)))
        rest = [v for v in range(2, 14) if v not in values]
        named = dict(zip(order, values))
        sizes.append({n: named.get(n) or rng.choice(rest) for n in NAMES})
    conditions = tuple(_conditions(rng, s, path) for s in sizes)
    made = Pair(f"{body}.sort().values", conditions, tuple(sizes))
    if re.search(r"\bu\b", body):
        made.of = p
        made.data = tuple(rng.randint(0, s[p]) for s in sizes)
    return made


def _equal(a, b):
    return a.shape == b.shape and torch.equal(a, b)


def run(pair):
    """None, or what went wrong: "silent ..." or an error's text."""
    counters.clear()
    for k, (source, sizes) in enumerate(zip(pair.sources(), pair.sizes)):
        names = {"torch": torch}
        exec(source, names)  # noqa: S102: our own text
        args = [
            torch.arange(sizes[n], dtype=torch.float) + 100 * i
            for i, n in enumerate(NAMES)
        ] + [torch.tensor(pair.data[k])]
        expected = names["forward"](*args)
        torch._dynamo.reset()
        try:
            got = torch.compile(names["forward"], dynamic=True)(*args)
        except Exception as error:
            return f"{type(error).__name__}: {str(error)[:200]}"
        if not _equal(got, expected):
            return f"silent, function {k + 1}: {pair}"
    return None


def hits():
    """How often the pair that was run last found a graph in a cache."""
    return (
        counters["inductor"]["fxgraph_cache_hit"]
        + counters["aot_autograd"]["autograd_cache_hit"]
    )


def run_all(count, seed, ours=True):
    """([(pair, what went wrong)], hits) of `count` pairs, each with fresh
    caches."""
    import proviso.torch

    rng = random.Random(seed)
    wrong, found = [], 0
    context = proviso.torch.shape_env if ours else contextlib.nullcontext
    with context(), torch._dynamo.config.patch(capture_scalar_outputs=True):
        for _ in range(count):
            pair = make_pair(rng)
            with fresh_cache():
                problem = run(pair)
            found += hits()
            if problem:
                wrong.append((pair, problem))
    torch._dynamo.reset()
    return wrong, found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--torch", action="store_true", help="without Proviso")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    wrong, found = run_all(options.pairs, options.seed, not options.torch)
    for pair, problem in wrong:
        print(problem)
        print("\n".join(pair.sources()))
    silent = sum(p.startswith("silent") for _, p in wrong)
    print(
        f"{options.pairs} pairs, seed {options.seed}: {silent} silent, "
        f"{len(wrong) - silent} errors, {found} reused from a cache"
    )


if __name__ == "__main__":
    main()
