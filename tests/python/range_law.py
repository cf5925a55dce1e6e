"""A law: what `ep.module()` refuses, no form of the program takes.

    python tests/python/range_law.py                    by hand and ExportDB
    python tests/python/range_law.py --random 500       random programs too
    python tests/python/range_law.py --tests test_a.py  every export that these
                                                        test files make

A form is the program loaded, loaded again from what that saves, read and saved
by torch, decomposed, exported again, unflattened, copied or pickled, or torch's
own program of it.  The sizes are those at and around each end of each range,
around every number in a guard, and 0, 1 and 2; each size alone, and together
with those that are equal in the example.  Where `ep.module()` runs, our own
forms run too and give the same.
"""

import argparse
import copy
import io
import itertools
import pickle
import re
import sys
import warnings

import pytest
import torch
from torch.utils import _pytree as pytree

import proviso
from proviso import Dim, db
from random_programs import Program

MOST_ELEMENTS = 200_000


# --- the forms

def _file(ep):
    buffer = io.BytesIO()
    ep.save(buffer)
    buffer.seek(0)
    return buffer


def _torch_file(torch_ep):
    buffer = io.BytesIO()
    torch.export.save(torch_ep, buffer)
    buffer.seek(0)
    return buffer


def _loaded(ep, _):
    return proviso.load(_file(ep)).module()


def _loaded_twice(ep, _):
    return proviso.load(_file(proviso.load(_file(ep)))).module()


def _saved_by_torch(ep, _):
    return proviso.load(_torch_file(ep.to_torch())).module()


def _decomposed(ep, _):
    return ep.run_decompositions().module()


def _decomposed_natively(ep, _):
    return proviso.ExportedProgram(
        ep._program.run_decompositions(), ep._inputs, ep._out_spec,
        ep.example_inputs, 0).module()


def _loaded_decomposed(ep, _):
    return proviso.load(_file(ep)).run_decompositions().module()


def _decomposed_loaded(ep, _):
    return proviso.load(_file(ep.run_decompositions())).module()


def _exported_again(ep, options):
    args, kwargs = ep.example_inputs
    options = {**options, "dynamic_shapes": _shapes_of(ep)}
    return proviso.export(ep.module(), args, kwargs, **options).module()


def _shapes_of(ep):
    """The dynamic_shapes that the program was exported with, by its names."""
    specs = [dict(enumerate(leaf.spec)) if isinstance(leaf.spec, list)
             else leaf.spec for leaf in ep._inputs.leaves]
    args, kwargs = pytree.tree_unflatten(specs, ep._inputs.in_spec)
    return dict(zip(ep._inputs.argument_names, args), **kwargs)


def _unflattened(ep, _):
    return proviso.unflatten(ep)


def _deep_copy(ep, _):
    return copy.deepcopy(ep).module()


def _pickled(ep, _):
    return pickle.loads(pickle.dumps(ep)).module()


def _of_torch(ep, _):
    return ep.to_torch().module()


def _torch_twice(ep, _):
    return torch.export.load(_torch_file(ep.to_torch())).module()


OURS = (_loaded, _loaded_twice, _saved_by_torch, _decomposed,
        _loaded_decomposed, _decomposed_loaded, _exported_again, _unflattened,
        _deep_copy, _pickled)
# These may refuse more: sizes 0 and 1, by what their own traces assume.
OTHERS = (_of_torch, _torch_twice, _decomposed_natively)


# --- the sizes

def _coordinates(leaves):
    """[(input, dim or None)] of every size and integer."""
    found = []
    for i, leaf in enumerate(leaves):
        if isinstance(leaf.value, torch.Tensor):
            found += [(i, d) for d in range(leaf.value.dim())]
        elif type(leaf.value) is int:
            found.append((i, None))
    return found


def _values(ep, coordinates):
    """Values worth a try: [sorted candidates], one list a coordinate."""
    codes = ep._program.conditions_code()
    numbers = {int(n) for code in codes
               for n in re.findall(r"(?<![\w\]\[])-?\d+", code)}
    around = {n + d for n in numbers for d in (-1, 0, 1)}
    result = []
    for i, d in coordinates:
        leaf = ep._inputs.leaves[i]
        now = leaf.value if d is None else leaf.value.shape[d]
        source = leaf.source + ("" if d is None else f".size()[{d}]")
        mine = {int(end) + step for code in codes
                if code.startswith(f"{source} ")
                for end in re.findall(r"-?\d+$", code) for step in (-1, 0, 1)}
        small = {n for n in around if abs(n) <= 100}
        wanted = mine | small | {0, 1, 2, now - 1, now + 1, 2 * now}
        if d is None:
            wanted |= {-1, -now}
        result.append(sorted(n for n in wanted
                             if d is None or 0 <= n <= 5000))
    return result


def points(ep, most=400):
    """Sizes of all inputs, as {coordinate: value}: changes of the example."""
    leaves = ep._inputs.leaves
    coordinates = _coordinates(leaves)
    values = _values(ep, coordinates)
    groups = {}
    for at, wanted in zip(coordinates, values):
        leaf = leaves[at[0]]
        now = leaf.value if at[1] is None else leaf.value.shape[at[1]]
        groups.setdefault(now, ([], set()))
        groups[now][0].append(at)
        groups[now][1].update(wanted)
    chosen = [{}]
    for at, wanted in zip(coordinates, values):
        chosen += [{at: n} for n in wanted]
    for together, wanted in groups.values():
        if len(together) > 1:
            chosen += [dict.fromkeys(together, n) for n in sorted(wanted)]
            chosen += [dict.fromkeys(pair, n) for pair in
                       itertools.combinations(together, 2)
                       for n in sorted(wanted)[:4]]
    step = max(1, len(chosen) // most)
    return chosen[::step]


def inputs_at(ep, point):
    """The example, resized; None when it would be too large."""
    flat = []
    for i, leaf in enumerate(ep._inputs.leaves):
        value = leaf.value
        if not isinstance(value, torch.Tensor):
            flat.append(point.get((i, None), value))
            continue
        shape = [point.get((i, d), n) for d, n in enumerate(value.shape)]
        if any(n < 0 for n in shape):
            return None
        count = 1
        for n in shape:
            count *= n
        if count > MOST_ELEMENTS:
            return None
        flat.append(_resized(value, shape, count))
    return pytree.tree_unflatten(flat, ep._inputs.in_spec)


def _resized(value, shape, count):
    """The example's own elements, over and over: indices stay legal."""
    if list(value.shape) == shape:
        return value.detach().clone()
    old = value.detach().reshape(-1)
    if old.numel() == 0:
        return torch.zeros(shape, dtype=value.dtype)
    return old[torch.arange(count) % old.numel()].reshape(shape).clone()


# --- the law

class Outcome:
    def __init__(self):
        self.programs = self.points = self.refused = self.forms = 0
        self.broken = []    # (program, form, point): taken, and refused before
        self.different = []
        self.narrower = []  # ours: refused, and taken before
        self.others_narrower = 0
        self.unmade = []    # (program, form, error)

    def __str__(self):
        return (f"{self.programs} programs, {self.forms} forms, {self.points} "
                f"points ({self.refused} refused): {len(self.broken)} taken "
                f"against the promise, {len(self.different)} different, "
                f"{len(self.narrower)} refused needlessly (others: "
                f"{self.others_narrower}), {len(self.unmade)} not made")

    def failures(self):
        return self.broken + self.different + self.narrower


def _result(run, args, kwargs):
    """(runs, outputs)"""
    try:
        with torch.no_grad():
            torch.manual_seed(0)
            return True, run(*args, **kwargs)
    except Exception as error:  # torch's programs raise many types
        return False, error


def _same(a, b):
    found, wanted = pytree.tree_leaves(a), pytree.tree_leaves(b)
    if len(found) != len(wanted):
        return False
    for f, w in zip(found, wanted):
        if isinstance(w, torch.Tensor):
            if (not isinstance(f, torch.Tensor) or f.shape != w.shape
                    or f.dtype != w.dtype):
                return False
            if not torch.allclose(f, w, rtol=1e-4, atol=1e-4, equal_nan=True):
                return False
        elif f != w:
            return False
    return True


def _changes_state(ep):
    return any("_(" in line or ".copy_" in line
               for line in str(ep).splitlines()) or bool(
                   ep.graph_signature.buffers_to_mutate)


def made_forms(name, ep, options, forms, outcome):
    made = {}
    for form in forms:
        try:
            made[form.__name__] = form(ep, options)
        except Exception as error:
            outcome.unmade.append((name, form.__name__, error))
    outcome.forms += len(made)
    return made


def examine(name, ep, options, outcome, ours=OURS, others=OTHERS, most=400):
    outcome.programs += 1
    base = ep.module()
    compared = not _changes_state(ep)
    own = made_forms(name, ep, options, ours, outcome)
    foreign = made_forms(name, ep, options, others, outcome)
    for point in points(ep, most):
        inputs = inputs_at(ep, point)
        if inputs is None:
            continue
        outcome.points += 1
        args, kwargs = inputs
        runs, wanted = _result(base, *copy.deepcopy((args, kwargs)))
        outcome.refused += not runs
        for form, run in {**own, **foreign}.items():
            took, found = _result(run, *copy.deepcopy((args, kwargs)))
            where = (name, form, point)
            if took and not runs:
                outcome.broken.append(where)
            elif runs and not took and form in own:
                outcome.narrower.append((*where, str(found)[:150]))
            elif runs and not took:
                outcome.others_narrower += 1
            elif took and compared and not _same(found, wanted):
                outcome.different.append(where)


# --- the programs

def crop(x):
    return x[:, -16:] if x.shape[1] > 16 else x


def crop_least(x):
    return x[:4] if x.shape[0] < 4 else x * 2


def tail(x):
    return x[1:] * 2


def all_but_three(x):
    return x[:-3] + 1


def scaled(x, n):
    return x * n if n <= 10 else x


def shifted(x, n):
    return x + n if n < -3 else x - n


def joined(x, y):
    return torch.cat([x, x]) + y


def odd(x, y):
    return torch.cat([x, y, y[:1]])


def rows(x):
    return x.reshape(-1, 4) if x.shape[0] % 4 == 0 else x


def branch(x, y):
    return x[: y.shape[0]] + y if x.shape[0] > y.shape[0] else x.sum() + y


def nested(inputs, *, scale):
    return inputs["a"][0] * scale.sum() + inputs["b"]


def variadic(x, *xs):
    return x + sum(v.sum() for v in xs)


def area(x):
    return x.reshape(-1) if x.shape[0] * x.shape[1] <= 64 else x


def table(x):
    return x + torch.arange(16.0)[: x.shape[0]]


def relu(x):
    return torch.relu(x)


def added(x, y):
    return x + y


def squeezed(x):
    return torch.einsum("bi,bj->bij", x, x)


def _r(*shape):
    return torch.randn(*shape)


T, N, H = Dim("tokens", max=16), Dim("n", min=5, max=9), Dim("h", min=3)
AUTO = Dim.AUTO
BY_HAND = {
    "named max": (crop, (_r(2, 8),), {"x": {1: T}}),
    "auto max": (crop, (_r(2, 8),), {"x": {1: AUTO(max=16)}}),
    "dynamic range": (crop, (_r(2, 8),),
                      {"x": {0: Dim.DYNAMIC(min=2, max=6), 1: T}}),
    "named min": (crop_least, (_r(6),), {"x": {0: Dim("n", min=4)}}),
    "auto min": (crop_least, (_r(6),), {"x": {0: AUTO(min=4, max=4096)}}),
    "least of one": (relu, (_r(6),), {"x": {0: Dim("n", min=1)}}),
    "least of two": (relu, (_r(6),), {"x": {0: Dim("n", min=2)}}),
    # torch's loader asks of each size whether it is 0 or 1, by the hints.
    "one left in the example": (tail, (_r(2),), {"x": {0: AUTO(max=9)}}),
    "none left in the example": (all_but_three, (_r(3),),
                                 {"x": {0: AUTO(max=9)}}),
    "int max": (scaled, (_r(3), 7), {"x": {0: AUTO}, "n": AUTO(max=10)}),
    "int by a guard": (scaled, (_r(3), 7), {"x": {0: AUTO}, "n": AUTO}),
    "negative int": (shifted, (_r(3), -7), {"x": {0: AUTO}, "n": AUTO}),
    "int min": (scaled, (_r(3), 7),
                {"x": None, "n": Dim.DYNAMIC(min=1, max=9)}),
    "static int": (scaled, (_r(3), 7), {"x": {0: AUTO}, "n": None}),
    "twice": (joined, (_r(6), _r(12)), {"x": {0: H}, "y": {0: 2 * H}}),
    "twice, no root": (relu, (_r(12),), {"x": {0: 2 * H}}),
    "odd, no root": (odd, (_r(13), _r(12)),
                     {"x": {0: 2 * H + 1}, "y": {0: 2 * H}}),
    "falling": (odd, (_r(10), _r(6)), {"x": {0: 16 - N}, "y": {0: N}}),
    "one name twice": (added, (_r(6), _r(6)),
                       {"x": {0: N}, "y": {0: N}}),
    "multiple": (rows, (_r(8),), {"x": {0: AUTO}}),
    "promised multiple": (rows, (_r(8),),
                          {"x": {0: Dim("m", max=64).multiple_of(4)}}),
    "promised relation": (area, (_r(4, 6),),
                          {"x": {0: Dim("a").where("a*b <= 64"),
                                 1: Dim("b", min=3)}}),
    "two sizes": (branch, (_r(8), _r(5)), {"x": {0: AUTO}, "y": {0: AUTO}}),
    "product": (area, (_r(4, 6),), {"x": {0: AUTO, 1: AUTO}}),
    "slice of a table": (table, (_r(7),), {"x": {0: AUTO}}),
    "einsum": (squeezed, (_r(3, 4),), {"x": {0: AUTO(max=9), 1: AUTO}}),
    "unbacked": (relu, (_r(6),),
                 {"x": {0: Dim.UNBACKED(min=4, max=9)}}),
    "variadic": (variadic, (_r(3), _r(4), _r(3)),
                 {"x": {0: T}, "xs": ({0: AUTO(min=3, max=9)}, {0: T})}),
}
KEYWORDS = {
    "nested": (nested, ({"a": [_r(3, 6)], "b": _r(6)},), {"scale": _r(6)},
               {"inputs": {"a": [{1: AUTO(max=20)}], "b": {0: AUTO}},
                "scale": {0: N}}),
}
POLICIES = {
    "duck shape": (branch, (_r(8), _r(8)),
                   {"x": {0: AUTO(max=20)}, "y": {0: AUTO}},
                   {"duck_shape": True}),
    "one is a size": (relu, (_r(1, 6),),
                      {"x": {0: AUTO(max=4), 1: AUTO}},
                      {"specialize_zero_one": False}),
    "deferred": (branch, (_r(8), _r(5)), {"x": {0: AUTO}, "y": {0: AUTO}},
                 {"prefer_deferred_runtime_asserts_over_guards": True}),
    "oblivious": (branch, (_r(8), _r(5)), {"x": {0: AUTO}, "y": {0: AUTO}},
                  {"backed_size_oblivious": True}),
    "relation": (area, (_r(4, 6),), {"x": {0: Dim("a"), 1: Dim("b")}},
                 {"relations": ("a*b <= 64",)}),
}


CASES = {name: (f, args, {}, {"dynamic_shapes": shapes})
         for name, (f, args, shapes) in BY_HAND.items()}
CASES |= {name: (f, args, kwargs, {"dynamic_shapes": shapes})
          for name, (f, args, kwargs, shapes) in KEYWORDS.items()}
CASES |= {name: (f, args, {}, {"dynamic_shapes": shapes, **policies})
          for name, (f, args, shapes, policies) in POLICIES.items()}


def by_hand():
    """(name, program, options for another export)"""
    for name, case in CASES.items():
        yield _exported(name, *case)


def _exported(name, f, args, kwargs, options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return name, proviso.export(f, args, kwargs, **options), options


def exportdb():
    for case in db.all_cases():
        options = {"dynamic_shapes": case.dynamic_shapes()}
        try:
            yield _exported(case.name, case.make(), case.args(),
                            case.kwargs(), options)
        except Exception:
            continue  # what cannot be exported has no forms


def random_programs(count, seed):
    for i in range(count):
        program = Program(seed * 1000003 + i)
        inputs = program.inputs(*program.example)
        if program.eager(inputs) is None:
            continue
        try:
            yield _exported(f"random {program.seed}", program.run, inputs, {},
                            {"dynamic_shapes": program.spec})
        except Exception:
            continue


class Recorder:
    """A pytest plugin: the law for every export that a test makes."""

    def __init__(self, outcome, most):
        self.outcome, self.most, self.inside = outcome, most, False
        self.export = proviso.export

    def pytest_configure(self, config):
        proviso.export = self

    def __call__(self, mod, args, kwargs=None, **options):
        ep = self.export(mod, args, kwargs, **options)
        if not self.inside:
            self.inside = True
            try:
                if self.may_be_examined(ep):
                    examine(f"{getattr(mod, '__name__', type(mod).__name__)}",
                            copy.deepcopy(ep), options, self.outcome,
                            most=self.most)
            except Exception as error:
                self.outcome.unmade.append((str(mod), "the law", error))
            finally:
                self.inside = False
        return ep

    @staticmethod
    def may_be_examined(ep):
        return sum(t.numel() for t in ep.state_dict.values()) < 2_000_000


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=400)
    parser.add_argument("--only", default="")
    parser.add_argument("--tests", nargs="*", default=())
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    outcome = Outcome()
    if arguments.tests:
        pytest.main(["-q", "-x", "--no-header", *arguments.tests],
                    plugins=[Recorder(outcome, arguments.most)])
    else:
        for name, ep, options in itertools.chain(
                by_hand(), exportdb(),
                random_programs(arguments.random, arguments.seed)):
            if arguments.only in name:
                examine(name, ep, options, outcome, most=arguments.most)
    print(outcome)
    for kind in ("broken", "different", "narrower", "unmade"):
        found = getattr(outcome, kind)
        shown = {}
        for item in found:
            shown.setdefault(item[:2], item)
        for item in list(shown.values())[:40]:
            print(f"{kind}: {item}"[:400])
    sys.exit(1 if outcome.failures() else 0)


if __name__ == "__main__":
    main()
