"""Pairs of functions that give one graph under different conditions.

    ./dev python tests/python/cache_pairs.py --pairs 1000 [--seed 0] [--torch]

torch.compile keeps compiled graphs with the guards over the graph's own
symbols.  The first function of a pair is compiled and kept; the second has the
same body behind other conditions, some over tensors that the graph does not
take, and is run on other sizes.  What it returns must be what eager returns: a
graph that was reused where what decided it does not hold shows there.

The bodies are views and slices, which need no C++ compiler, so that a pair
takes a fraction of a second.
"""

import argparse
import contextlib
import dataclasses
import random
import warnings

import torch
from torch._inductor.utils import fresh_cache

NAMES = ("a", "b", "c", "d")

# Bodies over two or three of the tensors (p, q, r stand for them).  Each asks
# questions about sizes: whether a slice is cut, what fits, what is equal.
BODIES = (
    "q[:p.shape[0]]",
    "q[:p.shape[0] + 1]",
    "q[p.shape[0]:]",
    "q[-p.shape[0]:]",
    "q[:p.shape[0] // 2]",
    "q[:2 * p.shape[0]]",
    "q[1:][:p.shape[0]]",
    "q[:p.shape[0]][1:]",
    "q[p.shape[0]:][:r.shape[0]]",
    "q[:p.shape[0]][:r.shape[0]]",
    "q[:max(p.shape[0], r.shape[0])]",
    "q[:min(p.shape[0], r.shape[0])]",
    "q[:p.shape[0] + r.shape[0]]",
    "q[p.shape[0] - r.shape[0]:]",
    "(q[:p.shape[0]], p[:q.shape[0]])",
    "q[:p.shape[0]].unsqueeze(0).expand(2, -1)",
    "q.view(-1, 1)[:p.shape[0]].transpose(0, 1)",
)

RELATIONS = ("<", "<=", ">", ">=", "==", "!=")


@dataclasses.dataclass
class Pair:
    body: str
    conditions: tuple  # of the first and of the second function
    sizes: tuple  # {name: size}, likewise

    def sources(self):
        for conditions in self.conditions:
            lines = [f"def forward({', '.join(NAMES)}):"]
            lines += [
                f"    if not ({c}): return None" for c in conditions
            ]
            yield "\n".join([*lines, f"    return {self.body}", ""])


def _condition(rng, sizes):
    """A relation between sizes that holds at `sizes`."""
    while True:
        left, right = rng.sample(NAMES, 2)
        l, r = f"{left}.shape[0]", f"{right}.shape[0]"
        form = rng.randrange(6)
        if form == 1:
            r = f"{r} + {rng.randint(1, 3)}"
        elif form == 2:
            l = f"2 * {l}"
        elif form == 3:
            third = rng.choice(NAMES)
            r = f"{r} + {third}.shape[0]"
        elif form == 4:
            r = str(rng.randint(2, 12))
        op = rng.choice(RELATIONS)
        text = f"{l} {op} {r}"
        at = {n: _Shape(sizes[n]) for n in NAMES}
        if eval(text, {}, at):  # noqa: S307: our own text
            return text


class _Shape:
    def __init__(self, size):
        self.shape = (size,)


def make_pair(rng):
    """A pair; different sizes of the tensors get different symbols."""
    sizes = tuple(
        dict(zip(NAMES, rng.sample(range(2, 14), len(NAMES)))) for _ in range(2)
    )
    p, q, r = rng.sample(NAMES, 3)
    body = rng.choice(BODIES)
    for short, name in (("p", p), ("q", q), ("r", r)):
        body = body.replace(f"{short}.", f"{name}@").replace(
            f"{short}[", f"{name}!"
        )
    body = body.replace("@", ".").replace("!", "[")
    conditions = tuple(
        tuple(_condition(rng, s) for _ in range(rng.randint(1, 4)))
        for s in sizes
    )
    return Pair(body, conditions, sizes)


def _equal(a, b):
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_equal, a, b))
    return a.shape == b.shape and torch.equal(a, b)


def run(pair):
    """None, or what went wrong: "silent ..." or an error's text."""
    for k, (source, sizes) in enumerate(zip(pair.sources(), pair.sizes)):
        names = {}
        exec(source, names)  # noqa: S102: our own text
        args = [
            torch.arange(sizes[n], dtype=torch.float) + 100 * i
            for i, n in enumerate(NAMES)
        ]
        expected = names["forward"](*args)
        torch._dynamo.reset()
        try:
            got = torch.compile(names["forward"], dynamic=True)(*args)
        except Exception as error:
            return f"{type(error).__name__}: {str(error)[:200]}"
        if not _equal(got, expected):
            return f"silent, function {k + 1}: {pair}"
    return None


def run_all(count, seed, ours=True):
    """[(pair, what went wrong)] of `count` pairs, each with fresh caches."""
    import proviso.torch

    rng = random.Random(seed)
    wrong = []
    context = proviso.torch.shape_env if ours else contextlib.nullcontext
    with context():
        for _ in range(count):
            pair = make_pair(rng)
            with fresh_cache():
                problem = run(pair)
            if problem:
                wrong.append((pair, problem))
    torch._dynamo.reset()
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--torch", action="store_true", help="without Proviso")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    wrong = run_all(options.pairs, options.seed, not options.torch)
    for pair, problem in wrong:
        print(problem)
        print("\n".join(pair.sources()))
    silent = sum(p.startswith("silent") for _, p in wrong)
    print(
        f"{options.pairs} pairs, seed {options.seed}: {silent} silent, "
        f"{len(wrong) - silent} errors"
    )


if __name__ == "__main__":
    main()
