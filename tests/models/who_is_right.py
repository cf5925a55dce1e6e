"""Whether what Proviso alone answers holds: by enumeration, without Proviso.

    python tests/models/who_is_right.py [--backends export,aot_eager] [MODEL..]

Compiles models of zoo.py under verify.  For each question that Proviso decides
and torch does not, and for each that they answer differently, the points of the
symbols' ranges are gone through (of questions of at most three symbols): at each
at which every guard, assertion and replacement holds that speaks of these
symbols alone, the answer must hold.  The expressions are printed as Python by
torch and evaluated by Python.

Of Inductor the C++ compiler is left out: kernels do nothing.

An answer that a point contradicts is tried again with the conditions that
speak of other symbols too, for it may follow from those; it is wrong if a point
remains.  Prints counts for each model, each wrong answer, and the sums.
"""

import argparse
import collections
import contextlib
import itertools
import json
import logging
import pathlib
import random
import sys
import warnings

MOST_SYMBOLS = 3
POINTS = 4_000  # of a question, at most
_VALUES = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 15, 16, 17, 24, 31, 32,
           33, 48, 63, 64, 65, 96, 100, 127, 128, 129, 511, 512, 1024, 4096)


def as_python(expr):
    """A function of {name: value} that evaluates the expression; None where
    torch does not print it as Python of integers."""
    import torch
    from torch.utils._sympy.printers import PythonPrinter

    try:
        text = PythonPrinter().doprint(expr)
        code = compile(text, "<expression>", "eval")
    except Exception:
        return None
    names = {"math": __import__("math"), "torch": torch, "min": min,
             "max": max, "int": int, "abs": abs}
    return lambda point: eval(code, names, point)


def values_of(symbol, ranges):
    from torch.utils._sympy.numbers import int_oo

    bounds = ranges.get(symbol)
    lower = upper = None
    if bounds is not None:
        lower = None if bounds.lower == -int_oo else int(bounds.lower)
        upper = None if bounds.upper == int_oo else int(bounds.upper)
    near = {v for end in (lower, upper) if end is not None
            for v in range(end - 2, end + 8)}
    return sorted(v for v in {*_VALUES, *near, *((-1, -2, -7)
                                                 if lower is None else ())}
                  if (lower is None or v >= lower)
                  and (upper is None or v <= upper))


class Judge:
    """Counts how the answers of one model fare."""

    def __init__(self):
        self.counts = collections.Counter()
        self.wrong = []

    def __call__(self, env, kind, expr, answer, axioms, var_to_range):
        symbols = sorted(expr.free_symbols, key=str)
        if len(symbols) > MOST_SYMBOLS:
            self.counts["too many symbols"] += 1
            return
        ranges = dict(var_to_range) if var_to_range else env.var_to_range
        facts = list(axioms) if axioms is not None else [
            g.expr for g in env.guards if not g.size_oblivious]
        if axioms is None:
            for asserts in env.deferred_runtime_asserts.values():
                facts += [one.expr for one in asserts]
        import sympy

        facts += [sympy.Eq(a, b, evaluate=False)
                  for a, b in env.replacements.items()]
        found = self.judged(expr, answer, symbols, ranges, facts)
        if found == "contradicted":
            more = reached(symbols, facts)
            found = self.judged(expr, answer, more, ranges, facts)
        self.counts[found] += 1
        if found == "contradicted":
            self.wrong.append((kind, str(expr), str(answer), self.point))

    def judged(self, expr, answer, symbols, ranges, facts):
        question = as_python(expr)
        if question is None:
            return "not of integers"
        inside = [as_python(f) for f in facts if f.free_symbols <= set(symbols)]
        inside = [f for f in inside if f is not None]
        names = [str(s) for s in symbols]
        held = 0
        for values in points([values_of(s, ranges) for s in symbols]):
            point = dict(zip(names, values))
            try:
                if not all(f(point) for f in inside):
                    continue
                value = question(point)
            except ZeroDivisionError:  # undefined there
                continue
            held += 1
            if bool(value != answer):
                self.point = point
                return "contradicted"
        return "held" if held else "no point"


def points(choices):
    """All points where they are few; else so many at random."""
    total = 1
    for values in choices:
        total *= len(values)
    if total <= POINTS:
        return itertools.product(*choices)
    rng = random.Random(0)
    return [tuple(map(rng.choice, choices)) for _ in range(POINTS)]


def reached(symbols, facts):
    """The symbols, and those that conditions tie to them."""
    known = set(symbols)
    for _ in facts:
        more = {s for f in facts if f.free_symbols & known
                for s in f.free_symbols}
        if more <= known:
            break
        known |= more
    return sorted(known, key=str)


def judge_of(judge):
    """Called in place of torch._differences.compare."""
    from proviso.torch import _differences

    compare = _differences.compare

    def judged(env, expr, ours, theirs, **how):
        differs = theirs is None or ours is None or bool(ours != theirs)
        plain = not (how["unbacked_only"] or how["compute_hint"]
                     or how["size_oblivious"])
        if (plain and differs and ours is not None
                and ours is not NotImplemented):
            kind = "Proviso alone" if theirs is None else "disagree"
            judge(env, kind, expr, ours, how["axioms"], how["var_to_range"])
        return compare(env, expr, ours, theirs, **how)

    return judged


@contextlib.contextmanager
def without_kernels():
    from torch._inductor import async_compile
    from torch._inductor.utils import fresh_cache

    kind = async_compile.AsyncCompile
    compile_kernel = kind.cpp_pybinding
    kind.cpp_pybinding = lambda self, *args, **kwargs: lambda *args: None
    try:
        with fresh_cache():
            yield
    finally:
        kind.cpp_pybinding = compile_kernel


def one(case, backend):
    import torch

    import proviso.torch
    from proviso.torch import _differences

    judge = Judge()
    proviso.torch.reset_report()
    torch._dynamo.reset()
    compare = _differences.compare
    _differences.compare = judge_of(judge)
    error = ""
    try:
        model, kwargs = case.build(), case.kwargs(case.traced)
        with torch.no_grad(), proviso.torch.shape_env(verify=True):
            if backend == "export":
                torch.export.export(model, (), kwargs, strict=False,
                                    dynamic_shapes=case.shapes)
            else:
                with (without_kernels() if backend == "inductor"
                      else contextlib.nullcontext()):
                    torch.compile(model, dynamic=True,
                                  backend=backend)(**kwargs)
    except Exception as problem:
        error = f"{type(problem).__name__}: {problem}"[:200]
    finally:
        _differences.compare = compare
    return dict(model=case.name, backend=backend, error=error,
                compared=dict(_differences.counts), judged=dict(judge.counts),
                wrong=judge.wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="*")
    parser.add_argument("--backends", default="export")
    options = parser.parse_args()
    sys.path[:0] = [str(pathlib.Path(__file__).parent)]
    from zoo import ZOO

    compared, judged, wrong = collections.Counter(), collections.Counter(), 0
    names = options.models or [n for n, c in ZOO.items() if not c.cached]
    for backend in options.backends.split(","):
        for name in names:
            row = one(ZOO[name], backend)
            print(json.dumps(row), flush=True)
            compared.update(row["compared"])
            judged.update(row["judged"])
            wrong += len(row["wrong"])
    print(f"compared {dict(compared)}; judged {dict(judged)}; wrong {wrong}")
    return wrong > 0


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    logging.disable(logging.ERROR)
    sys.exit(main())
