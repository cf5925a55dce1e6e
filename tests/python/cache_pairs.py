"""Functions that give one graph under different conditions.

    ./dev python tests/python/cache_pairs.py --groups 100 [--seed 0] [--torch]

torch.compile keeps compiled graphs with the guards over the graph's own
symbols.  The functions of a group have one body behind different conditions,
some over tensors that the graph does not take, and one after the other is
compiled and run in the same caches: each with every earlier one is a pair.
What a function returns must be what eager returns, at its own sizes and at
others that its conditions allow: a graph that was reused where what decided it
does not hold shows there.

The bodies sort slices: what Inductor makes of them needs no C++ compiler.
Conditions are made to decide what the body asks: a chain of relations from one
of its tensors to another, through a tensor that it does not use, upwards in one
function and downwards in the next.
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
class Function:
    """One of a group: `body` behind conditions that hold at `sizes`."""

    body: str
    conditions: tuple
    sizes: dict  # {tensor: size}
    of: str = ""  # the tensor whose size bounds u, where the body has u
    data: int = 0  # u

    def source(self):
        lines = [f"def forward({', '.join(NAMES)}, t):"]
        lines += [f"    if not ({c}): return None" for c in self.conditions]
        if self.of:
            lines += [
                "    u = t.item()",
                "    torch._check(u >= 0)",
                f"    torch._check(u <= {self.of}.shape[0])",
            ]
        return "\n".join([*lines, f"    return {self.body}", ""])

    def holds_at(self, sizes):
        at = {n: _Shape(sizes[n]) for n in NAMES}
        return all(eval(c, {}, at) for c in self.conditions)  # noqa: S307


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


def _sizes(rng, rising=()):
    """Different sizes, so that each has a symbol; those of `rising` rise."""
    values = rng.sample(range(2, 14), len(NAMES))
    rest = [n for n in NAMES if n not in rising]
    order = [*rising, *rest]
    return dict(zip(order, sorted(values[: len(rising)]) + values[len(rising):]))


def make_group(rng, count):
    """`count` functions with one body.  Their paths from one of its tensors to
    another go upwards and downwards in turn."""
    p, q, r = rng.sample(NAMES, 3)
    body = rng.choice(BODIES)
    others = sorted(set(NAMES) - {p, q})
    through = [n for n in others if n != r] if "r." in body else others
    body = re.sub(
        r"\b[pqr]\b", lambda m: {"p": p, "q": q, "r": r}[m[0]], body
    )
    has_data = re.search(r"\bu\b", body)
    group = []
    for k in range(count):
        path = (p, rng.choice(through), q)
        path = path[::-1] if k % 2 else path
        sizes = _sizes(rng, path)
        one = Function(
            f"{body}.sort().values", _conditions(rng, sizes, path), sizes
        )
        if has_data:
            one.of, one.data = p, rng.randint(0, sizes[p])
        group.append(one)
    return group


def _differs(compiled, eager, sizes, data):
    args = [
        torch.arange(sizes[n], dtype=torch.float) + 100 * i
        for i, n in enumerate(NAMES)
    ] + [torch.tensor(data)]
    got, expected = compiled(*args), eager(*args)
    if got is None or expected is None:
        return got is not expected
    return got.shape != expected.shape or not torch.equal(got, expected)


def run(group, rng):
    """[(function, what went wrong)]: "silent ..." or an error's text."""
    wrong = []
    for one in group:
        names = {"torch": torch}
        exec(one.source(), names)  # noqa: S102: our own text
        torch._dynamo.reset()
        compiled = torch.compile(names["forward"], dynamic=True)
        # Where Dynamo's guards let the program of the first sizes run.
        further = [_sizes(rng) for _ in range(20)]
        tried = [s for s in further if one.holds_at(s)][:2]
        for sizes in [one.sizes, *tried]:
            data = min(one.data, sizes[one.of]) if one.of else 0
            try:
                if _differs(compiled, names["forward"], sizes, data):
                    wrong.append((one, f"silent, at {sizes}, u = {data}"))
            except Exception as error:
                text = f"{type(error).__name__}: {str(error)[:200]}"
                wrong.append((one, text))
    return wrong


def hits():
    """How often a graph was found in a cache since the counters were cleared."""
    return (
        counters["inductor"]["fxgraph_cache_hit"]
        + counters["aot_autograd"]["autograd_cache_hit"]
    )


def run_all(groups, functions, seed, ours=True):
    """([(function, what went wrong)], hits); each group has fresh caches."""
    import proviso.torch

    wrong, found = [], 0
    context = proviso.torch.shape_env if ours else contextlib.nullcontext
    with context(), torch._dynamo.config.patch(capture_scalar_outputs=True):
        for k in range(groups):
            rng = random.Random(f"{seed} {k}")
            counters.clear()
            with fresh_cache():
                wrong += run(make_group(rng, functions), rng)
            found += hits()
    torch._dynamo.reset()
    return wrong, found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=20)
    parser.add_argument("--functions", type=int, default=16, help="of a group")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--torch", action="store_true", help="without Proviso")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    count = options.functions
    wrong, found = run_all(
        options.groups, count, options.seed, not options.torch
    )
    for one, problem in wrong:
        print(problem)
        print(one.source())
    silent = sum(p.startswith("silent") for _, p in wrong)
    print(
        f"{options.groups} groups of {count} functions, "
        f"{options.groups * count * (count - 1) // 2} pairs, seed "
        f"{options.seed}: {silent} silent, {len(wrong) - silent} errors, "
        f"{found} reused from a cache"
    )


if __name__ == "__main__":
    main()
