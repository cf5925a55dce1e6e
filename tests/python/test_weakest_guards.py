"""A guard refuses no size for which every traced size stays right."""

import itertools
import math

import pytest
import torch

import proviso
from proviso import Dim


def _written(x, index, value):
    result = x.clone()
    result[index] = value
    return result


@pytest.mark.parametrize("program, example, taken", [
    (lambda x: x[:7], 5, range(0, 13)),      # Min(7, n)
    (lambda x: x[:7], 9, range(0, 13)),
    (lambda x: x[5:], 3, range(0, 13)),
    (lambda x: x[5:], 9, range(0, 13)),
    (lambda x: x[:-4], 3, range(0, 13)),
    (lambda x: x[-4:], 3, range(0, 13)),
    (lambda x: x[-4:], 9, range(0, 13)),
    (lambda x: x[2:5], 4, range(0, 13)),
    (lambda x: x[5::3], 9, range(0, 13)),
    (lambda x: x[:7][:4], 9, range(0, 13)),
    (lambda x: x[3:][:4], 9, range(0, 13)),
    (lambda x: x[3:][4:], 9, range(0, 13)),
    (lambda x: x[:7] + x, 5, [0, 1, *range(2, 8)]),   # Min(7, n) is n
    (lambda x: x[:7] + torch.ones(7, 2), 9, range(7, 13)),  # is 7
    (lambda x: x[:3].reshape(3, 2), 9, range(3, 13)),
    (lambda x: x[:3] + x[3:6], 9, range(6, 13)),
    (lambda x: x.split(4)[0], 3, range(0, 5)),
    (lambda x: x.split(4)[0], 7, range(5, 9)),
    (lambda x: x.chunk(3)[0], 7, [0, 3, *range(5, 13)]),  # 3
    (lambda x: x[:, :1].reshape(-1, 1), 6, range(0, 13)),
    (lambda x: x[:, :1].reshape(-1), 6, range(0, 13)),
    (lambda x: x if x.shape[0] == 1 else x + 1, 6,
     [n for n in range(13) if n != 1]),
    (lambda x: x if x.shape[0] > 1 else x + 1, 6, range(2, 13)),
    (lambda x: x if x.shape[0] * 3 > 2 else x + 1, 6, range(1, 13)),
    (lambda x: x if x.shape[0] % 2 <= x.shape[0] else x + 1, 6, range(0, 13)),
    (lambda x: x + torch.ones(x.shape[0], 1), 6, range(0, 13)),
    (lambda x: torch.einsum("ij,kj->ik", x, x), 6, range(0, 13)),
    (lambda x: x[:, :1].expand(x.shape[0], 5), 6, range(0, 13)),
    (lambda x: x.squeeze(0), 6, [n for n in range(13) if n != 1]),
    (lambda x: x * 2 if x.t().is_contiguous() else x, 6, range(2, 13)),
    (lambda x: x.new_ones(max(x.shape[0], 4)), 6, range(0, 13)),
    (lambda x: x / max(x.shape[0], 1) ** 0.5, 6, range(0, 13)),
    (lambda x: x / math.sqrt(max(x.shape[0], 2)), 6, range(0, 13)),
    (lambda x: x * max(x.shape[0], 1) ** -0.5, 6, range(0, 13)),
    (lambda x: _written(x.new_zeros(*x.shape, 3), (..., slice(1, None)),
                        x[:, :, None]), 6, range(0, 13)),
    (lambda x: _written(x, (slice(None), slice(1, None)), x[:, :1]), 6,
     range(0, 13)),
    (lambda x: x[:min([x.shape[0], 4])], 6, range(0, 13)),
    (lambda x: _written(x, torch.arange(x.shape[0]), x * 2), 6, range(0, 13)),
    (lambda x: _written(x, (slice(None), torch.arange(2)), x * 2), 6,
     range(0, 13)),
    (lambda x: _written(x, (..., torch.arange(2)), x * 2), 6, range(0, 13)),
    (lambda x: _written(x, x > 0, x[x > 0] * 2), 6, range(0, 13)),
    (lambda x: _written(x, (None, torch.arange(x.shape[0])), x * 2), 6,
     [n for n in range(13) if n != 1]),
    (lambda x: _written(x, torch.arange(x.shape[0]), torch.ones(1, 2)), 6,
     range(0, 13)),
    (lambda x: _written(x, (x.shape[0] // 2, torch.tensor(1)), 5.0), 6,
     range(1, 13)),
    (lambda x: _written(x, (x.shape[0] - 1, None), torch.ones(1, 1, 2)), 6,
     range(1, 13)),
])
def test_of_one_size(program, example, taken):
    ep = proviso.export(program, (torch.randn(example, 2),),
                        dynamic_shapes=({0: Dim.AUTO},))
    accepted = []
    for n in range(13):
        x = torch.randn(n, 2)
        try:
            found = ep.module()(x)
        except RuntimeError as error:
            assert "Guard failed" in str(error)
            continue
        assert torch.equal(found, program(x)), n
        accepted.append(n)
    assert accepted == list(taken), [g.condition for g in ep.guards]


def test_what_a_slice_needs_is_an_order():
    """s0 <= 16, and not s0 == Min(s0, 16)."""
    def guards(program, rows):
        ep = proviso.export(program, (torch.randn(rows, 2),),
                            dynamic_shapes=({0: Dim.AUTO},))
        return [g.condition for g in ep.guards], *map(
            str, ep.range_constraints.values())

    table = torch.ones(16, 2)
    for rows in (5, 16):
        assert guards(lambda x: x + table[:x.shape[0]], rows) == (
            ["s0 <= 16"], "VR[0, 16]")
    assert guards(lambda x: x[:7] + torch.ones(7, 2), 9) == (
        ["s0 >= 7"], "VR[7, int_oo]")
    assert guards(lambda x: x[-3:].reshape(3, 2), 9)[1] == "VR[3, int_oo]"


def test_of_two_sizes():
    def program(x, y):
        n, m = x.shape[0], y.shape[0]
        return x + 1 if n * m >= m else x

    ep = proviso.export(program, (torch.ones(2), torch.ones(6)),
                        dynamic_shapes=({0: Dim.AUTO},) * 2)
    for n, m in ((0, 0), (1, 1), (5, 0), (0, 1)):
        args = torch.ones(n), torch.ones(m)
        if n * m >= m:
            assert torch.equal(ep.module()(*args), program(*args))
        else:
            with pytest.raises(RuntimeError, match="Guard failed"):
                ep.module()(*args)
    guard, = ep.guards
    assert guard.condition == "s1 <= s0*s1"
    assert guard.origins[0].code == "return x + 1 if n * m >= m else x"


def _rows_written(x, y):
    rows = torch.zeros(9)
    rows[(y * 0).long()] *= 2
    rows[(y * 0).long()] += y
    return rows, x


@pytest.mark.parametrize("program, example, sizes, taken", [
    # either order of n and m, and whether each is >= 2 or not
    (lambda x, y: x.repeat(2)[: x.shape[0] + y.shape[0]][:-4], (6, 2),
     [(4, 0), (5, 1), (3, 1), (2, 1), (2, 3)],
     [(4, 0), (5, 1), (3, 1), (2, 1), (2, 3)]),
    # a slice by another size is as long as the lesser of the two
    (lambda x, y: x[:y.shape[0]], (5, 3), [(5, 3), (3, 5), (0, 1), (1, 0)],
     [(5, 3), (3, 5), (0, 1), (1, 0)]),
    (lambda x, y: x[y.shape[0]:], (3, 5), [(5, 3), (3, 5), (0, 1), (1, 0)],
     [(5, 3), (3, 5), (0, 1), (1, 0)]),
    (lambda x, y: x[y.shape[0]:2 * y.shape[0]], (9, 3),
     [(9, 3), (5, 3), (2, 3), (1, 1)], [(9, 3), (5, 3), (2, 3), (1, 1)]),
    # until it meets the other: m <= n
    (lambda x, y: x[:y.shape[0]] + y, (5, 3),
     [(5, 3), (3, 3), (0, 0), (3, 5)], [(5, 3), (3, 3), (0, 0)]),
    # a buffer's rows, and what is written there
    (lambda x, y: _rows_written(x, y), (5, 3), [(5, 3), (5, 1), (1, 0)],
     [(5, 3), (5, 1), (1, 0)]),
    # n <= 6, and not that m >= 2, with which n*m <= 12 says so
    (lambda x, y: x[6:] if x.shape[0] * y.shape[0] <= 12 else x, (2, 6),
     [(6, 0), (1, 12), (6, 2), (7, 1)], [(6, 0), (1, 12), (6, 2)]),
    # two slices of numbers are as long as each other
    (lambda x, y: x[:3] + y[:3], (5, 4),
     [(0, 0), (1, 1), (2, 2), (3, 9), (2, 3)],
     [(0, 0), (1, 1), (2, 2), (3, 9)]),
    (lambda x, y: x[3:] + y[3:], (5, 5),
     [(3, 3), (4, 4), (4, 5)], [(3, 3), (4, 4)]),
    # which is three, or two where that is one
    (lambda x, y: x[:3] + y, (5, 3), [(3, 3), (7, 3), (5, 4)],
     [(3, 3), (7, 3)]),
])
def test_two_sizes_that_are_small_together(program, example, sizes, taken):
    ep = proviso.export(program, tuple(torch.randn(n) for n in example),
                        dynamic_shapes=({0: Dim.AUTO},) * 2)
    accepted = []
    for n, m in sizes:
        args = torch.randn(n), torch.randn(m)
        try:
            found = ep.module()(*args)
        except RuntimeError as error:
            assert "Guard failed" in str(error)
            continue
        torch.testing.assert_close(found, program(*args))
        accepted.append((n, m))
    assert accepted == taken, [g.condition for g in ep.guards]


LENGTHS = {
    "[:2]": lambda x, y: x[:2].shape[0] == y.shape[0],
    "[:2] and more": lambda x, y: x[:2].shape[0] != y.shape[0] + 1,
    "[:1]": lambda x, y: x[:1].shape[0] == y.shape[0] - 1,
    "[2:]": lambda x, y: x[2:].shape[0] == y.shape[0],
    "[1:]": lambda x, y: x[1:].shape[0] == y.shape[0] - 2,
    "[:2] of both": lambda x, y: x[:2].shape[0] == y[:2].shape[0],
    "[:3] of both": lambda x, y: x[:3].shape[0] == y[:3].shape[0],
    "[1:] of both": lambda x, y: x[1:].shape[0] == y[1:].shape[0],
}


@pytest.mark.parametrize("name", LENGTHS)
@pytest.mark.parametrize("rows", [(5, 2), (5, 3), (5, 5), (5, 4)])
def test_a_branch_on_the_length_of_a_slice_is_eagers(name, rows):
    def program(x, y):
        return x + 1 if LENGTHS[name](x, y) else x - 1

    ep = proviso.export(program, tuple(torch.zeros(n, 1) for n in rows),
                        dynamic_shapes=({0: Dim.AUTO},) * 2)
    for sizes in itertools.product(range(8), repeat=2):
        args = tuple(torch.zeros(n, 1) for n in sizes)
        try:
            found = ep.module()(*args)
        except RuntimeError as error:
            assert "Guard failed" in str(error)
            continue
        assert torch.equal(found, program(*args)), sizes


def test_a_slice_to_a_number_from_data_takes_every_size():
    def program(x, n):
        p = n.item()
        torch._check(p >= 0)
        torch._check(p + x.shape[0] <= 32)
        return torch.ones(32, 4)[: p + x.shape[0]]

    ep = proviso.export(program, (torch.ones(5), torch.tensor(3)),
                        dynamic_shapes=({0: Dim.AUTO}, None))
    for size in (0, 1, 29):
        args = torch.ones(size), torch.tensor(3)
        assert torch.equal(ep.module()(*args), program(*args))


def test_a_slice_of_what_data_made_takes_every_size(tmp_path):
    def program(x, n):
        a, c = n.tolist()
        torch._check(a >= 1)
        torch._check(c >= 1)
        return torch.zeros(a, c).reshape(-1)[: x.shape[0]]

    ep = proviso.export(program, (torch.ones(3), torch.tensor([3, 4])),
                        dynamic_shapes=({0: Dim.AUTO}, None))
    ep.save(tmp_path / "a.pt2")
    for run in ep.module(), proviso.load(tmp_path / "a.pt2").module():
        for size in (0, 1, 9, 12, 20):
            args = torch.ones(size), torch.tensor([3, 4])
            assert torch.equal(run(*args), program(*args))


def _conv(**arguments):
    """A convolution, an argument of which is read off the sizes."""
    def program(x, w):
        read = {name: value(x, w) if callable(value) else value
                for name, value in arguments.items()}
        return torch.nn.functional.conv1d(x, w, **read)
    return program


CONVOLUTIONS = {
    "groups": (lambda x, w: torch.nn.functional.conv1d(
        x.reshape(1, -1, x.shape[2]), w.reshape(-1, 2, 3), groups=x.shape[0]),
        [((3, 2, 5), (3, 4, 2, 3)), ((6, 2, 5), (6, 4, 2, 3))]),
    "channels": (lambda x, w: torch.nn.functional.conv1d(
        x, w[:, :1], groups=x.shape[1]),
        [((3, 4, 5), (4, 1, 2)), ((3, 6, 5), (6, 1, 2))]),
    "padding": (_conv(padding=lambda x, w: w.shape[-1] // 2),
                [((3, 2, 5), (3, 2, 3)), ((2, 2, 7), (3, 2, 5))]),
    "stride": (_conv(stride=lambda x, w: w.shape[-1]),
               [((3, 2, 7), (3, 2, 3)), ((3, 2, 9), (3, 2, 4))]),
    "dilation": (_conv(dilation=lambda x, w: w.shape[0]),
                 [((3, 2, 9), (3, 2, 3)), ((3, 2, 12), (4, 2, 3))]),
    "output_padding": (lambda x, w: torch.nn.functional.conv_transpose1d(
        x, w, stride=3, output_padding=w.shape[1] - 3),
        [((2, 2, 4), (2, 4, 3)), ((2, 2, 4), (2, 5, 3))]),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_an_argument_of_a_convolution_that_is_a_size_stays_one(name, tmp_path):
    program, (example, other) = CONVOLUTIONS[name]
    inputs = tuple(map(torch.randn, example))
    ep = proviso.export(program, inputs, dynamic_shapes=tuple(
        {i: Dim.AUTO for i in range(t.dim())} for t in inputs))
    ep.save(tmp_path / "p.pt2")
    for module in (ep.module(), proviso.load(tmp_path / "p.pt2").module(),
                   torch.export.load(tmp_path / "p.pt2").module()):
        for shapes in (example, other):
            inputs = tuple(map(torch.randn, shapes))
            torch.testing.assert_close(module(*inputs), program(*inputs))


@pytest.mark.parametrize("arguments, refused", [
    ({"stride": lambda x, w: w.shape[0] - 2}, (2, 2, 3)),
    ({"dilation": lambda x, w: w.shape[0] - 2}, (2, 2, 3)),
    ({"padding": lambda x, w: w.shape[0] - 2}, (1, 2, 3)),
], ids=["stride", "dilation", "padding"])
def test_a_convolution_refuses_what_eager_does(arguments, refused):
    program = _conv(**arguments)
    x, w = torch.randn(2, 2, 12), torch.randn(4, 2, 3)
    module = proviso.export(program, (x, w), dynamic_shapes=(
        None, {0: Dim.AUTO})).module()
    w = torch.randn(3, 2, 3)
    torch.testing.assert_close(module(x, w), program(x, w))
    w = torch.randn(refused)
    for run in (program, module):
        with pytest.raises(Exception):
            run(x, w)
