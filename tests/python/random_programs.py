"""Random small programs over sizes, and what must be true of their exports:
for every tuple of sizes in a box, either the guards refuse it or the program
equals eager.

    python tests/python/random_programs.py --programs 10000 --seed 1 [--peer]

--peer asks torch.export the same and counts the tuples that it takes, is right
about, and we refuse: there must be none.
"""

import argparse
import itertools
import random
import sys
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
        self.spec = dice.choice(SPECS)

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

    def eager(self, n, m):
        """The result, or None where the program fails."""
        try:
            return self.run(*self.inputs(n, m))
        except (RuntimeError, IndexError, ValueError, ZeroDivisionError,
                AssertionError):
            return None


N, M = Dim("n"), Dim("m")
SPECS = [
    ({0: Dim.AUTO}, {0: Dim.AUTO}),
    ({0: Dim.AUTO}, {0: Dim.AUTO}),
    ({0: Dim.AUTO(min=2, max=8)}, {0: Dim.AUTO}),
    ({0: Dim.DYNAMIC}, {0: Dim.AUTO}),
    ({0: N}, {0: M}),
    ({0: N}, {0: Dim.AUTO}),
    ({0: Dim("n", min=2, max=9)}, {0: M.where("m != 7")}),
    ({0: N}, {0: N}),
    ({0: N.multiple_of(2)}, {0: M}),
]


def same(found, expected):
    return all(f.shape == e.shape and f.dtype == e.dtype and
               (torch.equal(f, e) or torch.allclose(f, e, equal_nan=True))
               for f, e in zip(found, expected, strict=True))


def traced(program):
    """Exported as drawn; else as the error suggests; else with AUTO."""
    shapes, args = program.spec, program.inputs(*program.example)
    for _ in range(4):
        try:
            return proviso.export(program.run, args, dynamic_shapes=shapes)
        except proviso.ConstraintViolationError as error:
            try:
                shapes = proviso.refine_dynamic_shapes(shapes, error)
            except ValueError:
                break
    return proviso.export(program.run, args, dynamic_shapes=SPECS[0])


class Outcome:
    def __init__(self):
        self.programs = self.untraced = self.tuples = 0
        self.accepted = self.on_path = self.on_path_accepted = 0
        self.peer_right = self.peer_right_refused = 0
        self.peer_wrong = 0
        self.wrong, self.refused = [], []

    def __str__(self):
        share = self.on_path_accepted / max(1, self.on_path)
        text = (f"{self.programs} programs ({self.untraced} untraced), "
                f"{self.tuples} tuples, {self.accepted} accepted, "
                f"{len(self.wrong)} silently different; of {self.on_path} on "
                f"the traced path {100 * share:.2f} % accepted")
        if self.peer_right or self.peer_wrong:
            text += (f"; torch.export AUTO: {self.peer_right} right, of these "
                     f"{self.peer_right_refused} refused here; "
                     f"{self.peer_wrong} silently different")
        return text


class Choices(torch.overrides.TorchFunctionMode):
    """What operators choose by size: ends of slices within or beyond the
    tensor, the number of pieces of a split, results with dimensions of size 0
    or 1."""

    def __init__(self, path):
        super().__init__()
        self._path = path

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if function is torch.Tensor.__getitem__:
            index = args[1] if isinstance(args[1], tuple) else (args[1],)
            for size, item in zip(args[0].shape, index):
                if isinstance(item, slice):
                    self._path.append([self._side(end, size) for end in
                                       (item.start, item.stop)])
        elif function is torch.Tensor.split:
            self._path.append(len(result))
        if isinstance(result, torch.Tensor):
            self._path.append([min(size, 2) for size in result.shape])
        return result

    @staticmethod
    def _side(end, size):
        if end is None:
            return 0
        return (abs(end) > size) - (abs(end) < size)


def path_of(program, n, m):
    """Which lines eager runs at these sizes, and what operators choose."""
    lines = []

    def trace(frame, event, _):
        if frame.f_code.co_filename != f"<program {program.seed}>":
            return None
        if event == "line":
            lines.append(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with Choices(lines):
            result = program.eager(n, m)
    finally:
        sys.settrace(before)
    return lines, result


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
        if program.eager(*program.example) is None:
            outcome.untraced += 1
            return
        ep = traced(program)
        theirs = _peer(program) if peer else None
    module = ep.module()
    auto = program.spec is SPECS[0]
    traced_path, _ = path_of(program, *program.example)
    for n, m in itertools.product(BOX, BOX):
        inputs = program.inputs(n, m)
        outcome.tuples += 1
        path, expected = path_of(program, n, m)
        found = accepted_result(module, inputs)
        if found is not None:
            outcome.accepted += 1
            if expected is None or not same(found, expected):
                outcome.wrong.append((program.seed, n, m))
        if (auto and expected is not None and path == traced_path
                and same_static(program, n, m)):
            outcome.on_path += 1
            outcome.on_path_accepted += found is not None
            if found is None:
                outcome.refused.append((program.seed, n, m))
        if theirs is not None and auto:
            given = accepted_result(theirs, inputs)
            if given is None:
                continue
            if expected is not None and same(given, expected):
                outcome.peer_right += 1
                outcome.peer_right_refused += found is None
                if found is None:
                    outcome.refused.append((program.seed, n, m))
            else:
                outcome.peer_wrong += 1


def same_static(program, n, m):
    """Sizes 0 and 1 may broadcast: eager then takes another path than lines
    tell."""
    return n > 1 and m > 1


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
    for seed, n, m in outcome.wrong[:5]:
        program = Program(seed)
        print(f"WRONG at n={n}, m={m} of seed {seed}:\n{program.code}"
              f"{program.example} {program.spec}")
    for seed, n, m in outcome.refused[:8]:
        program = Program(seed)
        print(f"refused n={n}, m={m} of seed {seed}, traced with "
              f"{program.example}:\n{program.code}")
    raise SystemExit(1 if outcome.wrong or outcome.peer_right_refused else 0)


if __name__ == "__main__":
    main()
