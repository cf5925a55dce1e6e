"""Random small programs over sizes, and what must be true of their exports:
for every tuple of sizes in a box, either the guards refuse it or the program
equals eager.

    python tests/python/random_programs.py --programs 10000 --seed 1 [--peer]

Of the tuples on which eager takes the traced path (class Path says what that
is), 99 in 100 are accepted, and all that torch.export takes with Dim.AUTO
(--peer counts them).  Off that path it takes some with the right result, as the
other branch does nothing to a tensor without elements; its sizes are wrong
there, and the guards refuse them.
"""

import argparse
import itertools
import random
import sys
import types
import warnings

import torch

import proviso
from proviso import Dim

BOX = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12)


class Program:
    """x [n, 2], y [m, 3] -> tensors; steps drawn from a seed."""

    def __init__(self, seed):
        dice = random.Random(seed)
        self.seed = seed
        lines = ["n, m = x.shape[0], y.shape[0]", "a, b = x, y"]
        for _ in range(dice.choice((1, 2, 2, 3))):
            lines += self._step(dice)
        lines.append("return a, b")
        self.code = "def program(x, y):\n    " + "\n    ".join(lines) + "\n"
        space = {"torch": torch}
        # A file name of its own: places of guards tell programs apart.
        exec(compile(self.code, f"<program {seed}>", "exec"), space)
        self.run = space["program"]
        self.example = (dice.choice((2, 3, 4, 5, 6, 8, 9)),
                        dice.choice((2, 3, 4, 5, 6, 8, 9)))
        self.spec, self.promises = dice.choice(SPECS)

    @staticmethod
    def _step(dice):
        k = dice.choice((2, 2, 3, 4))
        c = dice.randrange(0, 9)
        size = dice.choice(("n", "m", "n + m", "2*n", "n - m", "n*m", "n//2",
                            f"n % {k}", f"(m + 1)//{k}",
                            f"torch.sym_max(n, {c})",
                            "abs(n - m)"))
        other = dice.choice((str(c), "m", "2*m", f"m + {c}", "n"))
        sign = dice.choice(("==", "!=", "<", "<=", ">", ">="))
        return dice.choice((
            [f"if {size} {sign} {other}:", "    a = a + 1",
             "else:", "    a = a*2"],
            [f"a = a[:-{k}]"], [f"a = a[{c}:]"], [f"a = a[::{k}]"],
            [f"b = b[:{c}]"],
            ["b = torch.cat([b, b])"], ["a = torch.cat([a, a*2, a])"],
            [f"a = torch.nn.functional.pad(a, (0, 0, {k}, 1))"],
            [f"b = torch.nn.functional.pad(b, (0, 0, 0, (-m) % {k}))"],
            [f"a = a.reshape(-1, {k})[:, :1].reshape(-1, 1)"],
            [f"b = b.reshape({k}, -1)"],
            ["a = a.flatten()"],
            [f"b = b.unfold(0, {k}, 1).sum(-1)"],
            ["a = a.sum(0, keepdim=True) + a"],
            ["a = a.mean(0)"],
            ["b = b + torch.ones(m, 1)"],
            ["b = b*torch.arange(m).reshape(-1, 1)" if k != 4 else
             "b = b.transpose(0, 1).contiguous()"],
            ["a = a.expand(2, *a.shape)"],
            ["b = b.split(m // 2 + 1)[0]"],
            ["assert n <= 40"],
            [f"if n*m > {4 * c}:", "    b = b - 3"],
            ["a = x.reshape(-1)[: n + m]" if k == 2 else "a = a[n // 2:]"],
        ))

    def inputs(self, n, m):
        return (torch.arange(2 * n, dtype=torch.float32).reshape(n, 2),
                torch.arange(3 * m, dtype=torch.float32).reshape(m, 3) - 7)

    def eager(self, inputs):
        """The result, or None where the program fails."""
        try:
            return self.run(*inputs)
        except (RuntimeError, IndexError, ValueError, ZeroDivisionError,
                AssertionError):
            return None


N, M = Dim("n"), Dim("m")
AUTO = ({0: Dim.AUTO}, {0: Dim.AUTO})
# (spec, whether it promises n rows of x and m rows of y)
SPECS = [
    (AUTO, lambda n, m: True),
    (AUTO, lambda n, m: True),
    (AUTO, lambda n, m: True),
    (({0: Dim.AUTO(min=2, max=8)}, {0: Dim.AUTO}), lambda n, m: 2 <= n <= 8),
    (({0: Dim.DYNAMIC}, {0: Dim.AUTO}), lambda n, m: True),
    (({0: N}, {0: M}), lambda n, m: True),
    (({0: N}, {0: Dim.AUTO}), lambda n, m: True),
    (({0: Dim("n", min=2, max=9)}, {0: M.where("m != 7")}),
     lambda n, m: 2 <= n <= 9 and m != 7),
    (({0: N}, {0: N}), lambda n, m: n == m),
    (({0: N.multiple_of(2)}, {0: M}), lambda n, m: n % 2 == 0),
]


def same(found, expected):
    return all(f.shape == e.shape and f.dtype == e.dtype and
               (torch.equal(f, e) or torch.allclose(f, e, equal_nan=True))
               for f, e in zip(found, expected, strict=True))


def traced(program):
    """Exported as drawn; else as the error suggests; else with AUTO."""
    shapes, args = program.spec, program.inputs(*program.example)

    def export(shapes):
        def run(x, y):
            if steps.begins():
                steps.inputs = [name_of(x.shape[0]), name_of(y.shape[0])]
            return program.run(x, y)

        with Steps() as steps:
            return proviso.export(run, args, dynamic_shapes=shapes), steps

    for _ in range(4):
        try:
            return export(shapes)
        except proviso.ConstraintViolationError as error:
            try:
                shapes = proviso.refine_dynamic_shapes(shapes, error)
            except ValueError:
                break
    return export(AUTO)


class Outcome:
    def __init__(self):
        self.programs = self.untraced = self.tuples = 0
        self.accepted = self.on_path = self.on_path_accepted = 0
        self.peer_right = self.peer_lucky = self.peer_wrong = 0
        # (seed, n, m)
        self.wrong, self.refused, self.peer_right_refused = [], [], []

    def __str__(self):
        share = self.on_path_accepted / max(1, self.on_path)
        text = (f"{self.programs} programs ({self.untraced} untraced), "
                f"{self.tuples} tuples, {self.accepted} accepted, "
                f"{len(self.wrong)} silently different; of {self.on_path} on "
                f"the traced path {100 * share:.2f} % accepted")
        if self.peer_right or self.peer_wrong:
            text += (f"; torch.export AUTO: {self.peer_right} right on the "
                     f"traced path, of these {len(self.peer_right_refused)} "
                     f"refused here; {self.peer_lucky} off it and right; "
                     f"{self.peer_wrong} silently different")
        return text


def name_of(size):
    """"s0", or "4": not asked of the size, of whose text an export takes
    note."""
    return (size.node._graph_repr() if isinstance(size, torch.SymInt)
            else str(size))


class Steps(torch.overrides.TorchFunctionMode):
    """The sizes of every tensor that the calls of a program return, when it runs
    first: an export may run it again with other sizes."""

    def __init__(self):
        super().__init__()
        # An export puts back what it reaches; not the table of modules.
        self._place = f"notes of {id(self)}"
        sys.modules[self._place] = types.ModuleType(self._place)
        self.shapes, self.inputs = [], []

    def __del__(self):
        sys.modules.pop(self._place, None)

    @property
    def shapes(self):
        return sys.modules[self._place].shapes

    @shapes.setter
    def shapes(self, shapes):
        sys.modules[self._place].shapes = shapes

    @property
    def inputs(self):
        """What n and m are called: "s0", "s1", or "4"."""
        return sys.modules[self._place].inputs

    @inputs.setter
    def inputs(self, inputs):
        sys.modules[self._place].inputs = inputs

    def begins(self):
        """Whether this run is the first."""
        place = sys.modules[self._place]
        place.runs = getattr(place, "runs", 0) + 1
        return place.runs == 1

    def __torch_function__(self, function, _, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if getattr(sys.modules[self._place], "runs", 1) > 1:
            return result
        parts = result if isinstance(result, (list, tuple)) else (result,)
        self.shapes += [tuple(t.shape) for t in parts
                        if isinstance(t, torch.Tensor)]
        return result

    def at(self, n, m):
        """What the traced sizes are for n and m; None where undefined."""
        values = dict(FUNCTIONS)
        for name, size in zip(self.inputs, (n, m)):
            if name.isdigit() and int(name) != size:
                return None  # the trace fixed it
            values[name] = size
        try:
            return [tuple(eval(str(size), values) for size in shape)
                    for shape in self.shapes]
        except ZeroDivisionError:
            return None


FUNCTIONS = {"Min": min, "Max": max, "Mod": lambda a, b: a % b,
             "PythonMod": lambda a, b: a % b, "Abs": abs}


class Path:
    """Eager at n and m: the lines it runs, the sizes of each result on the way,
    and the result, None where it fails.

    Eager takes the traced path when it runs the same lines as at the example
    and each call on the way returns tensors of the sizes that the trace says.
    """

    def __init__(self, program, n, m):
        self.lines, self.n, self.m = [], n, m
        inputs = program.inputs(n, m)

        def trace(frame, event, _):
            if frame.f_code.co_filename != f"<program {program.seed}>":
                return None
            if event == "line":
                self.lines.append(frame.f_lineno)
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            with Steps() as steps:
                self.result = program.eager(inputs)
        finally:
            sys.settrace(before)
        self.shapes = steps.shapes

    def is_traced(self, example, steps):
        return (self.result is not None and self.lines == example.lines
                and self.shapes == steps.at(self.n, self.m))


def accepted_result(module, inputs):
    """What an exported module gives, or None where it refuses or fails."""
    try:
        return module(*inputs)
    except Exception:  # torch.export raises many types
        return None


def examine(program, outcome, peer=False):
    outcome.programs += 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if program.eager(program.inputs(*program.example)) is None:
            outcome.untraced += 1
            return
        ep, steps = traced(program)
        auto = program.spec is AUTO
        theirs = _peer(program) if peer and auto else None
        example = Path(program, *program.example)
    module = ep.module()
    assert example.is_traced(example, steps), f"seed {program.seed}"
    for n, m in itertools.product(BOX, BOX):
        inputs = program.inputs(n, m)
        outcome.tuples += 1
        path = Path(program, n, m)
        found = accepted_result(module, inputs)
        if found is not None:
            outcome.accepted += 1
            if path.result is None or not same(found, path.result):
                outcome.wrong.append((program.seed, n, m))
        on_path = path.is_traced(example, steps)
        if on_path and program.promises(n, m):
            outcome.on_path += 1
            outcome.on_path_accepted += found is not None
            if found is None:
                outcome.refused.append((program.seed, n, m))
        given = accepted_result(theirs, inputs) if theirs else None
        if given is None:
            continue
        if path.result is None or not same(given, path.result):
            outcome.peer_wrong += 1
        elif not on_path:
            outcome.peer_lucky += 1
        else:
            outcome.peer_right += 1
            if found is None:
                outcome.peer_right_refused.append((program.seed, n, m))


def _peer(program):
    class Wrapped(torch.nn.Module):
        def forward(self, x, y):
            return program.run(x, y)

    auto = torch.export.Dim.AUTO
    try:
        return torch.export.export(
            Wrapped(), program.inputs(*program.example),
            dynamic_shapes=({0: auto}, {0: auto}), strict=False).module()
    except Exception:
        return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peer", action="store_true")
    arguments = parser.parse_args()
    outcome = Outcome()
    for i in range(arguments.programs):
        program = Program(arguments.seed * 1000003 + i)
        try:
            examine(program, outcome, arguments.peer)
        except Exception as error:
            print(f"seed {program.seed}: {type(error).__name__}: {error}\n"
                  f"{program.code}{program.example} {program.spec}")
            raise SystemExit(1)
    print(f"seed {arguments.seed}: {outcome}")
    for kind, tuples in (("WRONG", outcome.wrong),
                         ("the peer is right", outcome.peer_right_refused),
                         ("refused", outcome.refused)):
        show(kind, tuples)
    raise SystemExit(1 if outcome.wrong or outcome.peer_right_refused else 0)


def show(kind, tuples):
    """Eight programs, each with the sizes that it is about."""
    programs = {}
    for seed, n, m in tuples:
        programs.setdefault(seed, []).append((n, m))
    for seed, sizes in list(programs.items())[:8]:
        program = Program(seed)
        print(f"{kind} at {sizes} of seed {seed}, traced with "
              f"{program.example}, {program.spec}:\n{program.code}")


if __name__ == "__main__":
    main()
