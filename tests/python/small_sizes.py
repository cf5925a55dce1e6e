"""Guards that nothing needs: small programs (small_programs.py) at sizes from 0
on, traced at larger ones.

    python tests/python/small_sizes.py [--peer] [--decomposed] [names...]

At each tuple of sizes the program runs in eager, and the graph's operators run
without the guards.  Where both give the same, a refusal is a guard that nothing
needs; where they differ, the guards must refuse.  The traced path are the sizes
at which each call on the way returns tensors of the sizes that the trace says:
off it, two programs may agree by chance.
"""

import argparse
import collections
import copy
import itertools
import pathlib
import sys
import warnings

import torch
from torch.utils import _pytree as pytree

import op_programs
import proviso
import random_programs
import small_programs
from op_samples import tensors_in
from proviso import Dim

VALUES = (0, 1, 2, 3, 5)
EXAMPLES = ((3, 4, 5, 6), (4, 6, 2, 8), (3, 3, 3, 3), (4, 4, 4, 4))
FAILURES = (RuntimeError, IndexError, ValueError, ZeroDivisionError,
            AssertionError, TypeError)


class Steps(random_programs.Steps):
    """The sizes of the inputs, and of what each call returns."""

    def take(self, inputs):
        if not self.begins():
            return
        tensors = tensors_in(inputs)
        self.inputs = [random_programs.name_of(n)
                       for t in tensors for n in t.shape]
        self.shapes = [tuple(t.shape) for t in tensors]

    def holds(self, inputs, shapes):
        """Whether eager's `shapes` are what the trace says of `inputs`."""
        values = dict(random_programs.FUNCTIONS)
        for name, size in zip(self.inputs,
                              (n for t in tensors_in(inputs)
                               for n in t.shape)):
            if name.isdigit() and int(name) != size:
                return False
            values[name] = size
        if len(shapes) != len(self.shapes):
            return False
        return all(len(a) == len(b) and all(map(_says(values), a, b))
                   for a, b in zip(self.shapes, shapes))


def _says(values):
    def says(traced, real):
        try:
            return eval(str(traced), values) == real
        except NameError:
            return True  # data decides
        except ZeroDivisionError:
            return False

    return says


def outcome_of(run, inputs):
    """The tensors and numbers that a run gives, and the inputs as it leaves
    them; None where it fails."""
    given = tensors_in(inputs)  # a cache has others afterwards
    try:
        with torch.no_grad():
            return pytree.tree_leaves(run(*inputs)) + given
    except FAILURES:
        return None


def meaningful_strides(t):
    return () if 0 in t.shape else tuple(
        s for n, s in zip(t.shape, t.stride()) if n != 1)


def same(found, expected):
    if found is None or expected is None or len(found) != len(expected):
        return False
    return all(
        a.shape == b.shape and a.dtype == b.dtype
        and meaningful_strides(a) == meaningful_strides(b)
        and torch.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)
        if isinstance(b, torch.Tensor) else a == b
        for a, b in zip(found, expected))


class Count:
    """Tuples of sizes, by what becomes of them."""

    def __init__(self):
        self.tuples = self.agreeing = self.accepted = 0
        self.path = self.path_accepted = 0
        self.peer_tuples = self.peer_agreeing = self.peer_accepted = 0
        self.peer_ours = self.peer_wrong = 0
        self.wrong = []
        self.refused = []  # (case, example, sizes, reason) on the path
        self.lucky = []  # the same, off it
        self.peer_only = []  # refused here, and taken by torch.export rightly

    def __str__(self):
        def share(part, whole):
            return f"{part} of {whole} ({100 * part / max(1, whole):.2f} %)"

        text = (f"{self.tuples} tuples, {len(self.wrong)} silently different; "
                f"accepted on the traced path "
                f"{share(self.path_accepted, self.path)}, of all where the "
                f"operators equal eager {share(self.accepted, self.agreeing)}")
        if self.peer_agreeing:
            text += (f"; of what both trace, torch.export accepts "
                     f"{share(self.peer_accepted, self.peer_agreeing)}, we "
                     f"{self.peer_ours}, {len(self.peer_only)} it alone; it is "
                     f"silently different at {self.peer_wrong}")
        return text


def _as_module(case, watch=lambda inputs: None):
    class Program(torch.nn.Module):
        def __init__(self):
            super().__init__()
            if isinstance(case.run, torch.nn.Module):
                self.inner = case.run

        def forward(self, *args):
            watch(args)
            return case.run(*args)

    return Program().eval()


def exported(case, sizes):
    inputs = case.inputs(sizes)
    with warnings.catch_warnings(), Steps() as steps:
        warnings.simplefilter("ignore")
        ep = proviso.export(
            _as_module(case, steps.take), inputs,
            dynamic_shapes=(case.dynamic_shapes(Dim.AUTO),))
    return ep, steps


def peer_of(case, sizes):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.export.export(
                _as_module(case), case.inputs(sizes), strict=False,
                dynamic_shapes=(case.dynamic_shapes(torch.export.Dim.AUTO),)
            ).module()
    except Exception:
        return None


def examples_of(case):
    """Sizes to trace at: different ones, and equal ones."""
    found = []
    for kind in (EXAMPLES[:2], EXAMPLES[2:]):
        for values in kind:
            sizes = dict(zip(case.letters, values))
            if sizes not in found and outcome_of(
                    case.run, case.inputs(sizes)) is not None:
                found.append(sizes)
                break
    return found


class Traced:
    """A case exported at an example, and at what sizes it is compared."""

    def __init__(self, case, example, peer, decomposed=False):
        self.case, self.example = case, example
        ep, self.steps = exported(case, example)
        if decomposed:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ep = ep.run_decompositions()
        self.module = ep.module()
        self.theirs = peer_of(case, example) if peer else None

    def examine(self, sizes, count):
        expected, on_path = self._eager(sizes)
        found, reason = self._checked(sizes)
        row = (self.case.name, self.example, sizes, reason)
        count.tuples += 1
        if found is not None and not same(found, expected):
            count.wrong.append(row)
        if expected is None:
            return
        agrees = same(self._unchecked(sizes), expected)
        if self.theirs is not None:
            self._compare(sizes, expected, found is not None, agrees, row,
                          count)
        if not agrees:
            return
        count.agreeing += 1
        count.accepted += found is not None
        count.path += on_path
        count.path_accepted += on_path and found is not None
        if found is None:
            (count.refused if on_path else count.lucky).append(row)

    def _eager(self, sizes):
        """What eager gives, and whether it takes the traced path."""
        inputs = self.case.inputs(sizes)
        # A model may remember a size (swin its windows').
        run = copy.deepcopy(self.case.run)
        with Steps() as eager:
            eager.take(inputs)
            result = outcome_of(run, inputs)
        return result, self.steps.holds(inputs, eager.shapes)

    def _checked(self, sizes):
        """What the program gives, or None and the guard that refuses."""
        inputs = self.case.inputs(sizes)
        try:
            self.module.check(*inputs)
        except Exception as error:
            text = str(error).split("\n")[0].split(" (")[0]
            return None, text.removeprefix("Guard failed: ")
        return outcome_of(self.module, inputs), "it fails"

    def _unchecked(self, sizes):
        run = self.module._module.run
        return outcome_of(lambda *args: run(
            pytree.tree_leaves(args), checked=False), self.case.inputs(sizes))

    def _compare(self, sizes, expected, is_taken, agrees, row, count):
        given = outcome_of(self.theirs, self.case.inputs(sizes))
        is_right = same(given, expected)
        count.peer_wrong += given is not None and not is_right
        if is_right and not is_taken:
            count.peer_only.append(row)
        count.peer_agreeing += agrees
        count.peer_accepted += agrees and is_right
        count.peer_ours += agrees and is_taken


def examine(case, count, peer=False, values=VALUES, examples=None,
            decomposed=False):
    for example in examples or examples_of(case):
        traced = Traced(case, example, peer, decomposed)
        for sizes in case.points(values):
            traced.examine(sizes, count)


class Model:
    """A model of tests/models/zoo.py at small sizes, as a Case."""

    def __init__(self, case):
        self.case, self.name = case, case.title
        self.run = _Keywords(case.build())
        self.letters = "abcdef"[:len(case.traced)]

    def inputs(self, sizes):
        return (self.case.kwargs(tuple(sizes.values())),)

    def dynamic_shapes(self, auto):
        return (self.case.shapes,)

    def points(self, values):
        """The sizes of the case, and each with small ones in it."""
        found = []
        for whole in (self.case.traced, *self.case.others):
            for chosen in itertools.product(*([n, 1, 2] for n in whole)):
                if chosen not in found:
                    found.append(chosen)
        return [dict(zip(self.letters, chosen)) for chosen in found]

    @property
    def examples(self):
        return [dict(zip(self.letters, self.case.traced))]


class _Keywords(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, named):
        return self.model(**named)


def models(names):
    """Those of the zoo, or those named."""
    sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "models"))
    import zoo

    for name, case in zoo.ZOO.items():
        if not names or name in names:
            yield Model(case)


def show(title, rows):
    groups = collections.defaultdict(list)
    for name, example, sizes, reason in rows:
        groups[name, tuple(example.items()), reason].append(
            tuple(sizes.values()))
    for (name, example, reason), sizes in groups.items():
        print(f"{title}: {name}, traced at "
              f"{', '.join(f'{k}={v}' for k, v in example)}: {reason}\n    "
              f"{' '.join(map(str, sizes[:12]))}"
              f"{' ...' if len(sizes) > 12 else ''} ({len(sizes)})")


def programs_named(names):
    return [case for name, case in small_programs.CASES.items()
            if not names or name in names]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--decomposed", action="store_true",
                        help="what run_decompositions() makes of each")
    parser.add_argument("--models", action="store_true",
                        help="those of tests/models instead")
    parser.add_argument("--ops", action="store_true",
                        help="torch's own samples of its operators and modules "
                        "instead (op_programs.py)")
    parser.add_argument("--lucky", action="store_true",
                        help="print refusals off the traced path too")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    count, failed, programs = Count(), [], 0
    source = (models if arguments.models
              else op_programs.programs if arguments.ops else programs_named)
    for case in source(arguments.names):
        programs += 1
        examples = (case.examples if arguments.models else examples_of(case))
        assert examples, f"{case.name} runs nowhere"
        try:
            examine(case, count, arguments.peer, examples=examples,
                    decomposed=arguments.decomposed)
        except Exception as error:
            failed.append(case.name)
            print(f"FAILED: {case.name}: {type(error).__name__}: "
                  f"{str(error)[:600]}")
    show("WRONG", count.wrong)
    show("refused", count.refused)
    show("torch.export alone takes", count.peer_only)
    if arguments.lucky:
        show("off the path", count.lucky)
    print(f"{programs} programs, {len(failed)} not traced; "
          f"{count}")
    sys.exit(bool(count.wrong or failed))


if __name__ == "__main__":
    main()
