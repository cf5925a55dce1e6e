"""What a compiled graph is kept with says all that was decided for it.

    ./dev python tests/python/cache_laws.py --envs 10000 [--seed 0]

A random ShapeEnv of four sizes, and of one from data, gets guards that hold
at its hints, and is asked questions, some of them about a loop or about the
size from data, of which the graph asserts that it is no more than another.  A
graph that takes some of the sizes goes into a cache with `get_pruned_guards` of
these.  Then, at every point of a box (and at random points of a larger one) at
which these guards hold, what was decided about these sizes must be so: else
another program's graph would be reused where it is wrong.  The same is asked of
the ShapeEnv that torch's pickler of graphs makes of it.

It is what a pair of functions in `cache_pairs.py` tries at one point, without
compiling them.
"""

import argparse
import copy
import functools
import itertools
import random

import sympy
from torch._dynamo.source import ConstantSource
from torch.fx.experimental.symbolic_shapes import SYMPY_INTERP, DimDynamic
from torch.utils._sympy.functions import FloorDiv, Max, Min, PythonMod
from torch.utils._sympy.numbers import int_oo
from torch.utils._sympy.printers import PythonPrinter
from torch.utils._sympy.value_ranges import ValueRanges

SIZES = 4
BOX = range(2, 9)
POINTS = 60  # of a larger box, a graph
RELATIONS = (sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge, sympy.Eq, sympy.Ne)


def _term(rng, symbols):
    a, b = rng.choice(symbols), rng.choice(symbols)
    k = rng.randint(1, 4)
    return rng.choice((
        a, a, a, a + k, a - k, k * a, a + b, a - b, 2 * a - b,
        FloorDiv(a, k + 1), PythonMod(a, k + 1), FloorDiv(a, b),
        PythonMod(a, b), Min(a, b), Max(a, b), a * b, sympy.Integer(k + 3),
    ))


def _condition(rng, symbols):
    relation = rng.choice(RELATIONS)
    return relation(_term(rng, symbols), _term(rng, symbols))


def _chain(rng, symbols):
    """Relations from one size to another through a third."""
    path = rng.sample(symbols, rng.randint(3, len(symbols)))
    relation = rng.choice((sympy.Lt, sympy.Le, sympy.Eq))
    return [relation(a, b) for a, b in itertools.pairwise(path)]


def _true_at(expr, hints):
    return bool(expr.xreplace(hints))


def make_env(rng):
    """(ShapeEnv, symbols, hints) with guards that hold at the hints."""
    from proviso.torch import _shape_env

    env = _shape_env.ShapeEnv()
    values = sorted(rng.sample(range(2, 30), SIZES))
    symbols = [
        env.create_symbol(
            value, ConstantSource(f"n{i}"), dynamic_dim=DimDynamic.DYNAMIC
        )
        for i, value in enumerate(values)
    ]
    hints = dict(zip(symbols, map(sympy.Integer, values)))
    guards = _chain(rng, symbols) if rng.random() < 0.7 else []
    guards += [_condition(rng, symbols) for _ in range(rng.randint(1, 4))]
    rng.shuffle(guards)
    for guard in guards:
        if isinstance(guard, sympy.Rel):
            env.evaluate_expr(guard, _true_at(guard, hints))
    return env, symbols, hints


def _loop_question(rng, env, symbols):
    """(question over a loop variable, its size, answer) as Inductor asks."""
    i = sympy.Symbol("i0", integer=True, nonnegative=True)
    size = rng.choice(symbols)
    question = _condition(rng, [i, *symbols])
    if not isinstance(question, sympy.Rel):
        return None
    ranges = {**env.var_to_range, i: ValueRanges(0, int_oo)}
    answer = env._maybe_evaluate_static(
        question,
        axioms=(sympy.Le(0, i), sympy.Lt(i, size)) + env.get_axioms(),
        var_to_range=tuple(ranges.items()),
    )
    return None if answer is None else (question, i, size, answer)


def ask(rng, env, symbols):
    """What was decided: [(question, value)] and [(question, i, size, value)]"""
    decided, loops = [], []
    for _ in range(rng.randint(4, 12)):
        if rng.random() < 0.25:
            one = _loop_question(rng, env, symbols)
            loops += [one] if one else []
            continue
        question = _condition(rng, rng.sample(symbols, 2))
        if not isinstance(question, sympy.Rel):
            continue
        value = env._maybe_evaluate_static(question)
        if value is not None:
            decided.append((question, value))
    return decided, loops


def ask_of_data(rng, env, symbols):
    """(u, its bound, [(question, value)]); u <= bound is asserted."""
    u = env.create_unbacked_symint().node.expr
    bound = rng.choice(symbols)
    env.guard_or_defer_runtime_assert(sympy.Ge(u, 0), "u")
    env.guard_or_defer_runtime_assert(sympy.Le(u, bound), "u")
    decided = []
    for _ in range(rng.randint(1, 4)):
        relation = rng.choice(RELATIONS)
        question = relation(u + rng.randint(-1, 1), rng.choice(symbols))
        if isinstance(question, sympy.Rel):
            value = env._maybe_evaluate_static(question)
            if value is not None:
                decided.append((question, value))
    return u, bound, decided


@functools.lru_cache(100_000)
def _code(expr):
    return compile(PythonPrinter().doprint(expr), "condition", "eval")


def _value(expr, point):
    """The value where the symbols have these names; None where it has none."""
    try:
        return eval(_code(expr), SYMPY_INTERP, point)  # noqa: S307: torch's text
    except ZeroDivisionError:
        return None


def _points(env, subset, rng):
    """Sizes of `subset`, by name, in a box and in a larger one.  A range that
    was narrowed is a guard of its own for torch."""
    points = list(itertools.product(BOX, repeat=len(subset)))
    if len(points) > 200:
        points = rng.sample(points, 200)
    points += [
        tuple(rng.randint(2, 40) for _ in subset) for _ in range(POINTS)
    ]
    ranges = [env.var_to_range[s] for s in subset]
    for values in points:
        if all(r.lower <= v <= r.upper for r, v in zip(ranges, values)):
            yield dict(zip(map(str, subset), values))


def broken(env, subset, decided, loops, of_data, rng):
    """A point at which the kept guards hold and a decision does not."""
    hints = env.backed_var_to_val
    kept = [env.create_symintnode(s, hint=int(hints[s])) for s in subset]
    guards = [g.expr for g in env.get_pruned_guards(kept)]

    def concerns(expr, *others):
        return expr.free_symbols - set(others) <= set(subset)

    u, bound, about_u = of_data
    bound = env.replace(bound)
    # (question, value, its own variable, the values of that end here)
    claims = [(env.replace(q), v, None, None) for q, v in decided]
    claims += [
        (env.replace(q), v, i, env.replace(size)) for q, i, size, v in loops
    ]
    claims += [(env.replace(q), v, u, bound + 1) for q, v in about_u]
    claims = [
        c for c in claims
        if concerns(c[0], c[2]) and (c[3] is None or concerns(c[3]))
    ]
    if not claims:
        return None, 0
    inside = 0
    for point in _points(env, subset, rng):
        if not all(_value(g, point) for g in guards):
            continue
        inside += 1
        for question, value, own, end in claims:
            for at in range(1 if end is None else _value(end, point)):
                here = point if own is None else {**point, str(own): at}
                if _value(question, here) != bool(value):
                    return (guards, question, value, here), inside
    return None, inside


def pickled(env):
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx._graph_pickler import GraphPickler

    data = GraphPickler.dumps({"env": env})
    into = type(env)()
    return GraphPickler.loads(data, FakeTensorMode(shape_env=into))["env"]


def run_all(count, seed):
    """([what is broken], decisions, points at which kept guards held)"""
    wrong, asked, tried = [], 0, 0
    for k in range(count):
        rng = random.Random(f"{seed} {k}")
        env, symbols, _ = make_env(rng)
        decided, loops = ask(rng, env, symbols)
        of_data = ask_of_data(rng, env, symbols)
        asked += len(decided) + len(loops) + len(of_data[2])
        free = [s for s in symbols if s not in env.replacements]
        envs = [env, pickled(env) if k % 4 else copy.deepcopy(env)]
        for n, one in enumerate(envs):
            for size in range(1, len(free) + 1):
                subset = rng.sample(free, size)
                found, inside = broken(
                    one, subset, decided, loops, of_data, rng
                )
                tried += inside
                if found:
                    wrong.append((k, ("itself", "its copy")[n], *found))
    return wrong, asked, tried


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--envs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    wrong, asked, tried = run_all(options.envs, options.seed)
    for one in wrong[:20]:
        print(*one)
    print(
        f"{options.envs} ShapeEnvs, seed {options.seed}: {asked} decisions, "
        f"{tried} points, {len(wrong)} broken"
    )


if __name__ == "__main__":
    main()
