"""Questions that torch asks of sizes on the way to an operator, and that no
operator needs: whether a size is 1 to leave it out of what is assigned, to
broadcast shapes, or to make no view at all."""

import io

import pytest
import torch

import proviso
from proviso import Dim

AUTO = Dim.AUTO
R = torch.randn


def _set(write):
    def program(x, y):
        z = x.clone()
        write(z, y)
        return z

    return program


WRITES = {
    "row": lambda z, y: z.__setitem__((slice(None), slice(None, 2)), y[0, :2]),
    "as long as": lambda z, y: z.__setitem__(
        (slice(None), slice(None, y.shape[1])), y[0]),
    "rows": lambda z, y: z.__setitem__(slice(1, 3), y[0]),
    "from the end": lambda z, y: z.__setitem__(
        (Ellipsis, slice(-y.shape[1], None)), y[0]),
    "new dimension": lambda z, y: z.__setitem__((None, slice(1, 3)), y[0][None]),
    "list": lambda z, y: z.__setitem__((slice(None), [0, 1]), z[:, [1, 0]]),
    "list of one": lambda z, y: z.__setitem__([0], y[:1]),
    "tensor behind a slice": lambda z, y: z.__setitem__(
        (slice(None, y.shape[0]), torch.arange(2)), y[:, :2]),
    "tensor before a slice": lambda z, y: z.__setitem__(
        (torch.tensor([0]), slice(1, None)), y[0, 1:]),
    "from behind": lambda z, y: z.__setitem__((slice(None), [-1]), z[:, [0]]),
}
SHAPES = {
    "expand": lambda x, y: x[:, :1].expand(
        torch.broadcast_shapes(x[:, :1].shape, y.shape)) + 0,
    "number": lambda x, y: x.new_zeros(torch.broadcast_shapes(
        x.shape, (1, x.shape[1]))),
    "scalar": lambda x, y: x.new_zeros(torch.broadcast_shapes(1, x.shape[1])),
    "functional": lambda x, y: x.new_ones(torch.functional.broadcast_shapes(
        (x.shape[0], 1), x.shape, ())),
}
STEPS = {
    "max": lambda x, y: x[:, ::max(1, x.shape[1] // 3)],
    "quotient": lambda x, y: x[:, ::x.shape[1] // 2],
    "from": lambda x, y: x[:, 1::x.shape[1] // 2] * 2,
}


@pytest.mark.parametrize("name, program", [
    *((name, _set(write)) for name, write in WRITES.items()),
    *SHAPES.items(), *STEPS.items()])
def test_what_no_operator_needs_is_not_asked(name, program):
    ep = proviso.export(program, (R(3, 6), R(3, 6)),
                        dynamic_shapes=({0: AUTO, 1: AUTO},) * 2)
    file = io.BytesIO()
    ep.save(file)
    runs = [ep.module(), proviso.load(io.BytesIO(file.getvalue())).module(),
            torch.export.load(io.BytesIO(file.getvalue())).module()]
    taken = 0
    for rows in (1, 2, 3, 5):
        for columns in (2, 3, 4, 6, 8):
            inputs = R(rows, columns), R(rows, columns)
            try:
                want = program(*inputs)
            except (RuntimeError, IndexError):
                with pytest.raises(Exception):
                    runs[0](*inputs)
                continue
            for run in runs:
                assert torch.equal(run(*inputs), want), (rows, columns)
            taken += 1
    assert taken >= 15


def test_a_step_of_0_is_refused():
    program = STEPS["quotient"]
    run = proviso.export(program, (R(3, 6), R(3, 6)),
                         dynamic_shapes=({1: AUTO}, {})).module()
    with pytest.raises(RuntimeError):
        run(R(3, 1), R(3, 6))


def test_shapes_that_do_not_fit_are_eagers_error():
    def program(x):
        return x.new_zeros(torch.broadcast_shapes(x.shape, (2, 4)))

    with pytest.raises(RuntimeError, match="size|shape"):
        proviso.export(program, (R(3, 4),), dynamic_shapes=({0: Dim.STATIC},))
    assert proviso.export(program, (R(2, 4),)).module()(R(2, 4)).shape == (2, 4)


GRADIENTS = ["tanh", "sigmoid", "gelu", "silu", "elu", "softplus",
             "leaky_relu", "hardsigmoid", "relu6", "relu"]


@pytest.mark.parametrize("name", GRADIENTS)
def test_a_directional_derivative_is_read_again(name):
    function = getattr(torch, name, None) or getattr(
        torch.nn.functional, name)

    def program(x):
        return torch.func.jvp(function, (x,), (torch.ones_like(x),))[1]

    ep = proviso.export(program, (R(3),), dynamic_shapes=({0: AUTO},))
    file = io.BytesIO()
    ep.save(file)
    run = proviso.load(io.BytesIO(file.getvalue())).module()
    for n in (1, 3, 5):
        x = R(n)
        torch.testing.assert_close(run(x), program(x))
