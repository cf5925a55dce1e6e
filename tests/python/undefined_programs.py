"""Random programs with operations that some data leave undefined, and what
must be true of their exports: where eager raises, so does the program, in
every form; where eager gives a result, the program gives the same.

    python tests/python/undefined_programs.py --programs 1000 --seed 1

`(u0*u1)//u0 == u1` holds wherever it is defined, so that no question is left of
it; at u0 = 0 eager raises, and the program must.  The operations are divisions,
remainders, shifts and roots, by data and by sizes; their results are decided
on, checked, returned, made into sizes, multiplied away or not used at all, in
the program, in a branch of cond or under no_grad.
"""

import argparse
import itertools
import math
import pathlib
import random
import tempfile
import warnings

import torch

import proviso
from proviso import Dim

VALUES = (-2, 0, 1, 3)  # of each integer of the data
SIZES = (2, 3, 5)

_ERRORS = (RuntimeError, ValueError, ZeroDivisionError, IndexError,
           AssertionError, OverflowError)


class Program:
    """x [n, 2], i [3] of int64 -> tensors and numbers; drawn from a seed."""

    def __init__(self, seed):
        self.seed, self.dice = seed, random.Random(seed)
        body = ["u, v, w = i.tolist()", "n = x.shape[0]", "r = []"]
        for _ in range(self.dice.choice((1, 1, 2, 3))):
            body += self._step()
        body.append("return (x, *r)")
        self.code = ("def program(x, i):\n    " + "\n    ".join(body) + "\n")
        self.run = self._made(torch.cond)
        self.plain = self._made(
            lambda condition, yes, no, args: (yes if condition else no)(*args))
        self.example = self._example()

    def _made(self, cond):
        """The function; torch.cond compiles its branches, eager too, and then
        leaves operations out: what the program says is told by an `if`."""
        space = {"torch": torch, "math": math, "cond": cond}
        exec(compile(self.code, f"<undefined {self.seed}>", "exec"), space)
        return space["program"]

    def _example(self):
        """Data at which eager gives a result; None where there is none."""
        points = list(itertools.product((4,), (3, 2, 1, -1), (2, 1, 3), (1, 4)))
        return next((p for p in points if self.eager(p) is not None), None)

    def inputs(self, point):
        n, *values = point
        return torch.arange(2. * n).reshape(n, 2), torch.tensor(values)

    def eager(self, point):
        try:
            return self.plain(*self.inputs(point))
        except _ERRORS:
            return None

    # --- what is drawn
    def _atom(self):
        return self.dice.choice(("u", "v", "w", "u", "v", "n",
                                 str(self.dice.randrange(-2, 4))))

    def _operand(self):
        a, b = self._atom(), self._atom()
        return self.dice.choice((a, a, f"({a} + {b})", f"({a} - {b})",
                                 f"({a}*{b})"))

    def _divisor(self):
        a, b = self.dice.choice(("u", "v", "w")), self._atom()
        return self.dice.choice((a, a, a, f"({a} + {b})", f"({a}*{b})",
                                 f"(n - 3)", f"({a} % 3)", f"abs({a})",
                                 f"(2*{a})"))

    def _undefined(self):
        """An integer that may be undefined, and what it is where it is not; the
        latter is None where nothing simpler is known."""
        a, d = self._operand(), self._divisor()
        return self.dice.choice((
            (f"({d}*{a})//{d}", a), (f"({a}*{d}) % {d}", "0"),
            (f"{d}//{d}", "1"), (f"{d} % {d}", "0"),
            (f"({d} + {d})//{d}", "2"), (f"(-{d})//{d}", "-1"),
            (f"({a}*{d} + {d})//{d}", f"{a} + 1"),
            (f"({a}//{d})*{d} + {a} % {d}", a),
            (f"{a}//{d} - {a}//{d}", "0"), (f"0*({a}//{d})", "0"),
            (f"0//{d}", "0"), (f"0 % {d}", "0"),
            (f"{a}//{d}", None), (f"{a} % {d}", None),
            (f"({a}//{d})//{d}", None),
            (f"({a} << {d}) - ({a} << {d})", "0"),
            (f"0 >> {d}", "0"), (f"0*int({a} / {d})", "0"),
            (f"0*math.trunc(math.sqrt({d}))", "0"),
            (f"torch.sym_max({a}//{d}, {a}//{d})", None),
            (f"torch.sym_ite({d} != 0, {a}//{d}, {d})", None),
        ))

    def _use(self, value, plain):
        """Lines that use it."""
        plain = plain or str(self.dice.randrange(0, 3))
        sign = self.dice.choice(("==", "==", "!=", "<=", ">="))
        return self.dice.choice((
            [f"{value}"],
            [f"if {value} == {plain}:", "    x = x + 1",
             "else:", "    x = x*2"],
            [f"if not ({value} {sign} {plain}):", "    x = x - 3"],
            [f"torch._check({value} {sign} {plain})"],
            [f"r.append({value})"], [f"r.append(({value})*0 + 1)"],
            [f"r.append({value} == {plain})"],
            [f"x = x + 0*({value})"], [f"x = x*({value})"],
            [f"q = {value}", "torch._check(q >= 0)", "torch._check(q <= 9)",
             "r.append(torch.zeros(q))"],
            [f"r.append(torch.sym_min({value}, {plain}))"],
            [f"r.append(torch.full((2,), {value}))"],
        ))

    def _step(self):
        lines = self._use(*self._undefined())
        where = self.dice.choice(("here", "here", "here", "no_grad", "cond"))
        if where == "no_grad":
            return ["with torch.no_grad():", *("    " + t for t in lines)]
        if where == "cond" and not any("r.append" in t for t in lines):
            return ["def yes(x, i):", "    u, v, w = i.tolist()",
                    *("    " + t for t in lines), "    return x + 0",
                    f"x = cond(i[{self.dice.randrange(3)}] > 0, yes, "
                    "lambda x, i: x*1, (x, i))"]
        return lines


def same(found, expected):
    return len(found) == len(expected) and all(
        torch.equal(torch.as_tensor(f), torch.as_tensor(e))
        for f, e in zip(found, expected))


class Outcome:
    def __init__(self):
        self.programs = self.traced = self.points = self.raised = 0
        self.wrong, self.refused = [], []  # (seed, form, point)
        self.broken = []  # (seed, form, error): a form that is not made

    def __str__(self):
        return (f"{self.programs} programs, {self.traced} traced, "
                f"{self.points} points of their forms, at {self.raised} eager "
                f"raises; {len(self.wrong)} silently different, "
                f"{len(self.refused)} refused needlessly, "
                f"{len(self.broken)} forms not made")


def _forms(ep, folder, peer):
    """(name, what makes it) of each form that the program takes."""
    path = pathlib.Path(folder) / "program.pt2"
    ep.save(path)
    yield "module", ep.module
    yield "loaded", lambda: proviso.load(path).module()
    yield "decomposed", lambda: ep.run_decompositions().module()
    if peer:
        yield "loaded by torch", lambda: torch.export.load(path).module()


def _given(run, inputs):
    try:
        return run(*inputs)
    except Exception:  # torch raises many types
        return None


def examine(program, outcome, peer=False):
    outcome.programs += 1
    if program.example is None:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ep = proviso.export(program.run, program.inputs(program.example),
                                dynamic_shapes=({0: Dim.AUTO}, None))
        except (*_ERRORS, proviso.DataDependentError):
            return  # data decides which way it goes
        outcome.traced += 1
        points = [(n, *values) for n in SIZES
                  for values in itertools.product(VALUES, repeat=3)]
        with tempfile.TemporaryDirectory() as folder:
            for form, make in _forms(ep, folder, peer):
                try:
                    run = make()
                except Exception as error:
                    outcome.broken.append((program.seed, form, repr(error)))
                    continue
                for point in points[program.seed % 3::3]:
                    _compare(program, form, run, point, outcome)


def _compare(program, form, run, point, outcome):
    expected = program.eager(point)
    found = _given(run, program.inputs(point))
    outcome.points += 1
    outcome.raised += expected is None
    where = (program.seed, form, point)
    if found is None:
        if expected is not None:
            outcome.refused.append(where)
    elif expected is None or not same(found, expected):
        outcome.wrong.append(where)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peer", action="store_true")
    arguments = parser.parse_args()
    outcome = Outcome()
    for i in range(arguments.programs):
        examine(Program(arguments.seed * 1000003 + i), outcome, arguments.peer)
    print(f"seed {arguments.seed}: {outcome}")
    for kind, found in (("WRONG", outcome.wrong), ("refused", outcome.refused),
                        ("broken", outcome.broken)):
        for seed in list(dict.fromkeys(seed for seed, *_ in found))[:8]:
            points = [p for s, *p in found if s == seed]
            print(f"{kind} at {points[:6]} of seed {seed}, traced at "
                  f"{Program(seed).example}:\n{Program(seed).code}")
    raise SystemExit(1 if outcome.wrong or outcome.broken else 0)


if __name__ == "__main__":
    main()
