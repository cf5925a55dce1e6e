"""Slices of sizes that may be 0 or 1: never wrong, and no guard that nothing
needs.  x[:3] of 5 rows has 3, and of 1 row 1: the length stays Min(s0, 3) until
something asks for 3."""

import collections
import dataclasses
import io
import itertools
import random
import warnings

import pytest
import torch

import proviso
import small_programs
import small_sizes
from proviso import Dim

SLICES = {
    "[:1]": lambda x: x[:1], "[:2]": lambda x: x[:2], "[1:]": lambda x: x[1:],
    "[2:]": lambda x: x[2:], "[-1:]": lambda x: x[-1:],
    "[-2:]": lambda x: x[-2:], "[:-1]": lambda x: x[:-1],
    "[:-2]": lambda x: x[:-2], "[1:2]": lambda x: x[1:2],
    "[1:-1]": lambda x: x[1:-1], "[-2:-1]": lambda x: x[-2:-1],
    "[::2]": lambda x: x[::2], "[1::2]": lambda x: x[1::2],
    "[2::2]": lambda x: x[2::2], "[:-1:2]": lambda x: x[:-1:2],
    "[1:][1:]": lambda x: x[1:][1:], "[:2][:1]": lambda x: x[:2][:1],
    "[1:][:-1]": lambda x: x[1:][:-1],
    "[:, :2]": lambda x: x.t()[:, :2], "[..., 1:]": lambda x: x.t()[..., 1:],
    "[:n // 2]": lambda x: x[:x.shape[0] // 2],
    "[n // 2:]": lambda x: x[x.shape[0] // 2:],
    "[:3]": lambda x: x[:3], "[3:]": lambda x: x[3:],
    "[0]": lambda x: x[0], "[-1]": lambda x: x[-1],
    "narrow": lambda x: x.narrow(0, 0, 2),
    "narrow from 1": lambda x: x.narrow(0, 1, x.shape[0] - 1),
    "chunk": lambda x: x.chunk(2)[0], "split": lambda x: x.split(2)[0],
    "split in two": lambda x: x.split([2, x.shape[0] - 2])[1],
}
USES = {
    "alone": lambda x, y: y,
    "computed": lambda x, y: (y * 2 + 1).relu(),
    "summed": lambda x, y: (y.sum(0), y.sum(-1)),
    "its size": lambda x, y: x.new_ones(y.shape[0]),
    "as a number": lambda x, y: (y + 1, y.shape[-1]),
    "flat": lambda x, y: y.reshape(-1),
    "joined": lambda x, y: torch.cat([y.reshape(-1), x.reshape(-1)]),
    "with itself": lambda x, y: y + y.clone(),
    "multiplied": lambda x, y: y.reshape(y.shape[0], -1) @ y.reshape(
        y.shape[0], -1).t(),
    "written": lambda x, y: (y.zero_(), x + 1)[1],
    "padded": lambda x, y: torch.nn.functional.pad(y, (1, 1)),
    "with two": lambda x, y: y + x.new_ones(2, 1),
    "asked": lambda x, y: y + 1 if y.shape[0] > 1 else y - 1,
    "counted": lambda x, y: sum((row for row in y), x.sum()),
    "stacked": lambda x, y: torch.stack([y, y]).transpose(0, 1).contiguous(),
    "repeated": lambda x, y: y.unsqueeze(0).expand(3, *y.shape) + 1,
}
POLICIES = {"auto": Dim.AUTO, "dynamic": Dim.DYNAMIC, "named": Dim("a", min=0),
            "plain": Dim("a")}
SIZES = range(10)


@dataclasses.dataclass(frozen=True)
class Case(small_programs.Case):
    policy: str = "auto"

    def dynamic_shapes(self, auto):
        return super().dynamic_shapes(POLICIES[self.policy])


def case_of(cut, use, policy):
    def run(x):
        x = x.clone()
        return USES[use](x, SLICES[cut](x))

    return Case(f"{cut} {use} {policy}", run, ("a 4",), policy)


def sampled(count):
    every = list(itertools.product(SLICES, USES, POLICIES))
    return random.Random(7).sample(every, count) if count else every


def examined(count=0):
    """Counts of tuples, and the programs that are not traced."""
    found, untraced = small_sizes.Count(), []
    for choice in sampled(count):
        case = case_of(*choice)
        try:
            traced = small_sizes.Traced(case, {"a": 5}, False)
        except RuntimeError as error:
            untraced.append((choice, str(error)))
            continue
        for n in SIZES:
            traced.examine({"a": n}, found)
    return found, untraced


# What fixes more than the length of a slice: how many pieces there are.
MORE = ("chunk", "split")


def test_slices_of_every_kind():
    found, untraced = examined(300)
    assert found.wrong == []
    assert found.tuples > 2000
    # What eager refuses of the example, and a promise that the program breaks.
    for (_, use, policy), error in untraced:
        assert "must match" in error or "Constraints violated" in error, error
    for name, _, sizes, reason in found.refused + found.lucky:
        cut = next(c for c in sorted(SLICES, key=len, reverse=True)
                   if name.startswith(c + " "))
        assert cut in MORE or " asked " in name or " with two " in name, (
            name, sizes, reason)


@pytest.mark.parametrize("cut", ["[:1]", "[:2]", "[1:]", "[-2:]", "[:-1]",
                                 "[1::2]", "[:3]", "[3:]", "[1:][:-1]"])
@pytest.mark.parametrize("policy", POLICIES)
def test_a_slice_alone_takes_every_size(cut, policy):
    """Written, read by us and by torch, decomposed and written again."""
    case = case_of(cut, "computed", policy)
    ep = proviso.export(small_sizes._as_module(case), case.inputs({"a": 5}),
                        dynamic_shapes=(case.dynamic_shapes(None),))
    assert list(map(str, ep.range_constraints.values())) == ["VR[0, int_oo]"]
    assert ep.guards == []
    ours, theirs = io.BytesIO(), io.BytesIO()
    ep.save(ours)
    read = proviso.load(io.BytesIO(ours.getvalue()))
    torch.export.save(torch.export.load(io.BytesIO(ours.getvalue())), theirs)
    programs = [ep, read, ep.run_decompositions(),
                torch.export.load(io.BytesIO(ours.getvalue())),
                proviso.load(io.BytesIO(theirs.getvalue()))]
    for program in programs:
        module = program.module()
        for n in SIZES:
            inputs = case.inputs({"a": n})
            torch.testing.assert_close(module(*inputs), case.run(*inputs))


# Each beside sizes of its dimensions, all of which eager takes.
BESIDE_THEMSELVES = {
    "less the first row": (lambda x: x - x[:1], 1),
    "less the last row": (lambda x: x - x[-1:], 1),
    "the first row expanded": (lambda x: x[:1].expand_as(x) + 1, 1),
    "where": (lambda x: torch.where(x > 0, x, x[:1]), 1),
    "the last three of two": (lambda x, y: torch.cat([x, y])[-3:], 2),
    "the first three of two": (lambda x, y: torch.cat([x, y])[:3] + 1, 2),
    "the end without as many": (
        lambda x: x.flatten()[:-x.shape[0]] * 2, 1),
}


@pytest.mark.parametrize("name", BESIDE_THEMSELVES)
def test_a_slice_beside_its_tensor_takes_every_size(name):
    program, count = BESIDE_THEMSELVES[name]
    rows = [torch.randn(4 + i, 4) for i in range(count)]
    ep = proviso.export(program, tuple(rows), dynamic_shapes=tuple(
        {0: Dim.AUTO} for _ in rows))
    assert ep.guards == []
    module = ep.module()
    for sizes in itertools.product(range(6), repeat=count):
        inputs = [torch.randn(n, 4) for n in sizes]
        assert module(*inputs).equal(program(*inputs)), sizes


def test_a_length_says_two_when_two_is_asked_for():
    def sizes(use):
        ep = proviso.export(use, (torch.ones(5, 4),),
                            dynamic_shapes=({0: Dim.AUTO},))
        return str(ep), list(map(str, ep.range_constraints.values()))

    text, ranges = sizes(lambda x: x[:2] + 1)
    assert "f32[Min(s0, 2), 4]" in text and ranges == ["VR[0, int_oo]"]
    text, ranges = sizes(lambda x: x[:2].t() @ torch.ones(2, 3))
    assert "f32[2, 4]" in text and ranges == ["VR[2, int_oo]"]
    text, ranges = sizes(lambda x: (x[:1], x[0]))
    assert "f32[1, 4]" in text and ranges == ["VR[1, int_oo]"]
    # The branch of a model is a guard, whatever its length is written as.
    text, ranges = sizes(lambda x: x + 1 if x[:2].shape[0] == 2 else x - 1)
    assert "Min" not in text and ranges == ["VR[2, int_oo]"]


PLACES_FROM_DATA = (
    "x[k:]", "x[-k:]", "x[k:k + 2]", "x[k]", "x[:k]", "x[:k:2]", "x[1:k:2]",
    "x[k::3]", "x[k:][1:]", "x[:, k]", "x.t()[k:]", "x.narrow(0, k, 1)",
    "x[:k:2].sum(0) + x[1]", "torch.cat([x[k:], x[:k]])",
    "torch.zeros(x[::2].shape[0] + x[1:k:2].shape[0])",
    "written(x, slice(k, None))", "written(x, slice(1, k, 2))",
    "written(x, k)")


def written(x, place):
    y = x.clone()
    y[place] += 1
    return y


@pytest.mark.parametrize("code", PLACES_FROM_DATA)
def test_every_reader_reads_slices_by_data(code, tmp_path):
    at = eval(f"lambda x, k: {code}", {"torch": torch, "written": written})

    def program(x, t):
        return at(x, t.item()) * 2

    ep = proviso.export(program, (torch.randn(8, 3), torch.tensor(1)),
                        dynamic_shapes=({0: Dim.AUTO}, None))
    ep.save(tmp_path / "p.pt2")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        readers = [ep.module(), proviso.load(tmp_path / "p.pt2").module(),
                   torch.export.load(tmp_path / "p.pt2").module()]
    for rows, k in itertools.product((8, 3), range(-4, 10)):
        inputs = torch.randn(rows, 3), torch.tensor(k)
        try:
            expected = program(*inputs)
        except (IndexError, RuntimeError):
            continue
        for run in readers:
            try:
                found = run(*inputs)
            except RuntimeError as error:
                assert k < 0 or k > 2, (k, error)
            else:
                torch.testing.assert_close(found, expected)


def main():
    found, untraced = examined()
    print(found)
    print("not traced:", len(untraced))
    for choice, error in untraced:
        print("   ", *choice, error.split("\n")[0][:150])
    rows = collections.Counter(
        (name, tuple(sizes.values()), reason)
        for name, _, sizes, reason in found.wrong)
    print("wrong:", rows)
    for kind in "refused", "lucky":
        for name, _, sizes, reason in getattr(found, kind):
            print(kind, name, sizes, reason)


if __name__ == "__main__":
    main()
