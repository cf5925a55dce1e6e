"""Sizes that floats make are those of the doubles that Python computes: the
program, the saved and loaded one, and what torch loads, at every size."""

import math

import pytest
import torch
import torch.nn.functional as F

import proviso

PROGRAMS = {
    "int of a product": lambda x: torch.zeros(int(x.shape[0] * 0.6)),
    "slice": lambda x: x[: int(x.shape[0] * (1 - 0.4))],
    "floor": lambda x: x.new_ones(math.floor(x.shape[0] * 0.6)),
    "ceil": lambda x: x.new_ones(math.ceil(x.shape[0] * 1.1)),
    "quotient": lambda x: x.new_ones(int(x.shape[0] / 0.1)),
    "branch": lambda x: x + 1 if x.shape[0] * 0.6 >= 3 else x - 1,
    "two products": lambda x: (
        x + 1 if x.shape[0] * 0.1 * 3 == x.shape[0] * 0.3 else x - 1),
    "thirds": lambda x: x.new_ones(int(x.shape[0] / 3 * 3)),
    "halves": lambda x: x.new_ones(int(x.shape[0] * 0.5) + 1),
    "half a range": lambda x: torch.arange(x.shape[0] / 2),
    "a range of halves": lambda x: torch.arange(0.5, x.shape[0] * 0.5, 0.5),
    "a third of a range": lambda x: torch.arange(0, x.shape[0] / 3, 0.25),
    "a range of thirds": lambda x: torch.arange(
        x.shape[0] / 3, x.shape[0] + 1.0, 1),
    "a range of tenths": lambda x: torch.arange(0, x.shape[0] * 0.1, 0.1),
    "a range of sums": lambda x: torch.arange(
        (x.shape[0] + 1) / 2 + x.shape[0] / 4),
    "a range down": lambda x: torch.arange(x.shape[0] / 2, -1, -0.5),
    "scaled again": lambda x: F.interpolate(
        x[None, None], scale_factor=0.6, recompute_scale_factor=True),
    "scaled": lambda x: F.interpolate(x[None, None], scale_factor=0.7),
}
# What keeps the size: its lengths are ratios of whole numbers.
FREE = {"half a range", "a range of halves", "a third of a range",
        "a range of sums", "a range down"}
# torch.export computes this with a product that was put together.
NOT_OF_TORCH = {"two products"}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("size", [5, 9, 50])
def test_sizes_are_what_python_computes(name, size, tmp_path):
    program = PROGRAMS[name]

    class Model(torch.nn.Module):
        def forward(self, x):
            return program(x)

    ep = proviso.export(Model(), (torch.randn(size),),
                        dynamic_shapes={"x": {0: proviso.Dim.AUTO}})
    path = tmp_path / "program.pt2"
    ep.save(path)
    modules = [ep.module(), proviso.load(path).module()]
    if name not in NOT_OF_TORCH:
        modules.append(torch.export.load(path).module())
    for module in modules:
        taken = 0
        for n in range(2, 61):
            x = torch.randn(n)
            try:
                found = module(x)
            except Exception:
                assert n != size, "it refuses its own example"
                continue
            taken += 1
            torch.testing.assert_close(found, program(x))
        assert taken >= 1
        assert taken == 59 or name not in FREE


def test_a_scale_leaves_the_size_free():
    ep = proviso.export(lambda x: F.interpolate(x, scale_factor=0.7),
                        (torch.randn(1, 2, 9),),
                        dynamic_shapes=({2: proviso.Dim.AUTO},))
    for n in range(2, 100):
        x = torch.randn(1, 2, n)
        torch.testing.assert_close(
            ep.module()(x), F.interpolate(x, scale_factor=0.7))


def test_a_float_is_written_as_python_writes_it():
    ep = proviso.export(
        lambda x: x + 1 if x.shape[0] * (1 / 6) > 0.3 else x,
        (torch.ones(5, 4),), dynamic_shapes=({0: proviso.Dim.AUTO},))
    guard, = ep.guards
    text = "ToFloat(s0)*0.16666666666666666 > 0.3"
    assert str(guard).startswith(text + "   ")
    assert proviso.explain_guard(ep, guard).startswith(text + ", that is ")
    code, = ep.guards_code
    assert code == "float(L['x'].size()[0])*0.16666666666666666 > 0.3"
    for call in (ep.module(), ep.module().check):
        with pytest.raises(RuntimeError, match=r"0.16666666666666666 > 0.3 \("):
            call(torch.ones(1, 4))
    # Reads back as the number that it is.
    assert eval(code, {"L": {"x": torch.ones(2, 4)}})
    assert "0.1666666666666666574148081281236954964697" in guard.condition
