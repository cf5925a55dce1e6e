"""torch.cond and map: both ways are recorded, a run takes one."""

import torch
from functorch.experimental.control_flow import cond, map

from proviso import Dim
from proviso.db._case import case

_COND = ("torch.cond", "torch.dynamic-shape")
_TO_KEEP_BOTH = (
    "with static sizes a test on them is a plain bool, and only the branch "
    "taken is recorded; make the dimension dynamic to keep both")


class _Cosine(torch.nn.Module):
    def compute(self, x):
        return x.cos()

    def forward(self, x):
        return self.compute(x)


@case("cond_branch_class_method", lambda: (torch.randn(3),), tags=_COND,
      extra=lambda: [(torch.randn(3),)], refused=lambda: [(torch.randn(2),)],
      advice=_TO_KEEP_BOTH)
class CondBranchClassMethod(torch.nn.Module):
    """A branch of cond may be a method of a module: its parameters and
    attributes are read as usual.  Both branches take the operands, return
    tensors of the same dtype and rank, and change nothing outside."""

    def __init__(self):
        super().__init__()
        self.inner = _Cosine()

    def sine(self, x):
        return x.sin()

    def forward(self, x):
        return cond(x.shape[0] <= 2, self.inner.forward, self.sine, [x])


@case("cond_branch_nested_function", lambda: (torch.randn(3),), tags=_COND,
      extra=lambda: [(torch.randn(3),)], advice=_TO_KEEP_BOTH)
class CondBranchNestedFunction(torch.nn.Module):
    """A branch of cond may call functions defined inside it."""

    def forward(self, x):
        def true_fn(x):
            def doubled(y):
                return x + y
            return doubled(x)

        def false_fn(x):
            def nothing(y):
                return x - y
            return nothing(x)

        return cond(x.shape[0] < 10, true_fn, false_fn, [x])


@case("cond_branch_nonlocal_variables", lambda: (torch.randn(6),), tags=_COND,
      extra=lambda: [(torch.randn(6),)], advice=_TO_KEEP_BOTH)
class CondBranchNonlocalVariables(torch.nn.Module):
    """What a branch needs from around it can be given as operands: here a
    tensor and a number.  (A branch may also read it directly, see
    cond_closed_over_variable.)"""

    def forward(self, x):
        shifted = x + 100
        number = 3.14

        def true_fn(x, y, z):
            return x + y + z

        def false_fn(x, y, z):
            return x - y - z

        return cond(x.shape[0] > 5, true_fn, false_fn,
                    [x, shifted, torch.tensor(number)])


@case("cond_closed_over_variable",
      lambda: (torch.tensor(True), torch.randn(3, 2)),
      tags=("torch.cond", "python.closure"),
      extra=lambda: [(torch.tensor(False), torch.randn(3, 2))])
class CondClosedOverVariable(torch.nn.Module):
    """A branch of cond may read variables around it; they become operands."""

    def forward(self, pred, x):
        def true_fn(val):
            return x * 2

        def false_fn(val):
            return x - 2

        return cond(pred, true_fn, false_fn, [x + 1])


@case("cond_operands", lambda: (torch.randn(3, 2), torch.randn(2)),
      tags=_COND,
      dynamic_shapes=lambda: {"x": {0: Dim("dim0_x")}, "y": None},
      extra=lambda: [(torch.randn(n, 2), torch.randn(2))
                     for n in (2, 1, 0, 7)])
class CondOperands(torch.nn.Module):
    """Operands of cond are tensors that both branches take.  The predicate
    tests a dynamic size, so both branches are kept."""

    def forward(self, x, y):
        def true_fn(x, y):
            return x + y

        def false_fn(x, y):
            return x - y

        return cond(x.shape[0] > 2, true_fn, false_fn, [x, y])


@case("cond_predicate", lambda: (torch.randn(6, 4, 3),), tags=_COND,
      extra=lambda: [(torch.randn(6, 4, 3),)], advice=_TO_KEEP_BOTH)
class CondPredicate(torch.nn.Module):
    """The predicate of cond is a bool, a comparison of sizes, or a tensor of
    one bool."""

    def forward(self, x):
        pred = x.dim() > 2 and x.shape[2] > 10
        return cond(pred, lambda x: x.cos(), lambda y: y.sin(), [x])


@case("dynamic_shape_map", lambda: (torch.randn(3, 2), torch.randn(2)),
      tags=("torch.dynamic-shape", "torch.map"),
      extra=lambda: [(torch.randn(3, 2), torch.randn(2))])
class DynamicShapeMap(torch.nn.Module):
    """map applies a function to each row and stacks the results; the function
    is recorded once."""

    def forward(self, xs, y):
        def body(x, y):
            return x + y

        return map(body, xs, y)
