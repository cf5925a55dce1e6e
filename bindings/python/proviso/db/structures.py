"""Lists, dicts, pytrees and loops over them."""

from typing import List

import torch
from torch.utils import _pytree as pytree

from proviso.db._case import case


@case("dictionary", lambda: (torch.randn(3, 2), torch.tensor(4)),
      tags=("python.data-structure",),
      extra=lambda: [(torch.randn(3, 2), torch.tensor(-7))])
class Dictionary(torch.nn.Module):
    """Dicts inside the program, and as its result."""

    def forward(self, x, y):
        elements = {}
        elements["x2"] = x * x
        y = y * elements["x2"]
        return {"y": y}


@case("list_unpack",
      lambda: ([torch.randn(3, 2), torch.tensor(4), torch.tensor(5)],),
      tags=("python.control-flow", "python.data-structure"),
      extra=lambda: [
          ([torch.randn(3, 2), torch.tensor(0), torch.tensor(-5)],)])
class ListUnpack(torch.nn.Module):
    """A list argument, unpacked."""

    def forward(self, args: List[torch.Tensor]):
        x, *y = args
        return x + y[0]


@case("pytree_flatten",
      lambda: ({1: torch.randn(3, 2), 2: torch.randn(3, 2)},),
      extra=lambda: [({1: torch.randn(3, 2), 2: torch.randn(3, 2)},)])
class PytreeFlatten(torch.nn.Module):
    """torch.utils._pytree inside the program."""

    def forward(self, x):
        y, _ = pytree.tree_flatten(x)
        return y[0] + 1


@case("static_for_loop", lambda: (torch.randn(3, 2),),
      tags=("python.control-flow",), extra=lambda: [(torch.randn(3, 2),)])
class StaticForLoop(torch.nn.Module):
    """A loop of a known number of rounds is unrolled."""

    def forward(self, x):
        ret = []
        for i in range(10):
            ret.append(i + x)
        return ret


@case("static_if", lambda: (torch.randn(3, 2, 2),),
      tags=("python.control-flow",), extra=lambda: [(torch.randn(3, 2, 2),)])
class StaticIf(torch.nn.Module):
    """A branch on the rank is decided while tracing."""

    def forward(self, x):
        if len(x.shape) == 3:
            return x + torch.ones(1, 1, 1)
        return x
