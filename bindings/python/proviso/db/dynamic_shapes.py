"""Arithmetic, branches and assertions on sizes."""

import torch

from proviso import Dim
from proviso.db._case import case

_TAG = ("torch.dynamic-shape",)


@case("dynamic_shape_assert", lambda: (torch.randn(3, 2),),
      tags=("python.assert",), extra=lambda: [(torch.randn(3, 2),)])
class DynamicShapeAssert(torch.nn.Module):
    """Assertions on sizes, with a message and without."""

    def forward(self, x):
        assert x.shape[0] > 2, f"{x.shape[0]} is greater than 2"
        assert x.shape[0] > 1
        return x


@case("dynamic_shape_constructor", lambda: (torch.randn(3, 2),), tags=_TAG,
      dynamic_shapes=lambda: {"x": {0: Dim.AUTO}},
      extra=lambda: [(torch.randn(n, 2),) for n in (5, 1, 0)])
class DynamicShapeConstructor(torch.nn.Module):
    """A new tensor may have a size computed from an input's."""

    def forward(self, x):
        return torch.zeros(x.shape[0] * 2)


@case("dynamic_shape_if_guard", lambda: (torch.randn(3, 2, 2),),
      tags=("torch.dynamic-shape", "python.control-flow"),
      dynamic_shapes=lambda: {"x": {0: Dim.AUTO, 1: Dim.AUTO}},
      extra=lambda: [(torch.randn(3, 5, 2),)],
      refused=lambda: [(torch.randn(4, 2, 2),)],
      advice="the branch on x.shape[0] makes that size a constant; torch.cond "
      "keeps both ways")
class DynamicShapeIfGuard(torch.nn.Module):
    """A Python `if` on a size takes the example's way and adds a guard."""

    def forward(self, x):
        if x.shape[0] == 3:
            return x.cos()
        return x.sin()


@case("dynamic_shape_round", lambda: (torch.randn(3, 2),),
      tags=("torch.dynamic-shape", "python.builtin"),
      dynamic_shapes=lambda: {"x": {0: Dim("dim0_x")}},
      extra=lambda: [(torch.randn(n, 2),) for n in (2, 5, 7, 9, 1)])
class DynamicShapeRound(torch.nn.Module):
    """round() of a size divided by two: ties go to the even number."""

    def forward(self, x):
        return x[: round(x.shape[0] / 2)]


@case("dynamic_shape_slicing", lambda: (torch.randn(3, 2),), tags=_TAG,
      dynamic_shapes=lambda: {"x": (Dim.AUTO, Dim.AUTO)},
      extra=lambda: [(torch.randn(5, 4),), (torch.randn(4, 7),)])
class DynamicShapeSlicing(torch.nn.Module):
    """Slices may start, end and step by computed sizes."""

    def forward(self, x):
        return x[: x.shape[0] - 2, x.shape[1] - 1 :: 2]


@case("dynamic_shape_view", lambda: (torch.randn(10, 10),), tags=_TAG,
      dynamic_shapes=lambda: {"x": {0: Dim.AUTO}},
      extra=lambda: [(torch.randn(n, 10),) for n in (4, 1, 0)])
class DynamicShapeView(torch.nn.Module):
    """Shapes are tuples: taken apart, extended and given to view."""

    def forward(self, x):
        x = x.view(*(x.size()[:-1] + (2, 5)))
        return x.permute(0, 2, 1)


@case("list_contains", lambda: (torch.randn(3, 2),),
      tags=("torch.dynamic-shape", "python.data-structure", "python.assert"),
      extra=lambda: [(torch.randn(3, 2),)])
class ListContains(torch.nn.Module):
    """`in` compares a size with each item of a list."""

    def forward(self, x):
        assert x.size(-1) in [6, 2]
        assert x.size(0) not in [4, 5, 6]
        assert "monkey" not in ["cow", "pig"]
        return x + x


@case("scalar_output", lambda: (torch.randn(3, 2),), tags=_TAG,
      dynamic_shapes=lambda: {"x": {1: Dim("dim1_x")}},
      extra=lambda: [(torch.randn(3, n),) for n in (5, 1, 0)])
class ScalarOutput(torch.nn.Module):
    """A program may return a number that depends on a size."""

    def forward(self, x):
        return x.shape[1] + 1


@case("unsupported_operator", lambda: (torch.randn(3, 2),),
      tags=("torch.operator",),
      dynamic_shapes=lambda: {"x": {0: Dim.AUTO}},
      extra=lambda: [(torch.randn(n, 2),) for n in (99, 100, 101, 1, 0)])
class TorchSymMin(torch.nn.Module):
    """torch.sym_min of a size and a number, used as a number."""

    def forward(self, x):
        return x.sum() + torch.sym_min(x.size(0), 100)
