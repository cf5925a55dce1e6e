"""Numbers read from data."""

import torch
import torch._dynamo

from proviso.db._case import case

_TAGS = ("torch.dynamic-value", "torch.escape-hatch")


@case("assume_constant_result",
      lambda: (torch.randn(3, 2), torch.tensor(4)),
      tags=("torch.escape-hatch",),
      extra=lambda: [(torch.randn(3, 2), torch.tensor(n)) for n in (1, 0)])
class AssumeConstantResult(torch.nn.Module):
    """A function marked assume_constant_result may read data.  Strict export
    burns its result in; here the number stays a symbol and the program is
    right for every value."""

    @torch._dynamo.assume_constant_result
    def get_item(self, y):
        return y.int().item()

    def forward(self, x, y):
        return x[: self.get_item(y)]


@case("constrain_as_size_example", lambda: (torch.tensor(4),), tags=_TAGS,
      extra=lambda: [(torch.tensor(n),) for n in (5, 2, 0)],
      refused=lambda: [(torch.tensor(6),), (torch.tensor(-1),)])
class ConstrainAsSizeExample(torch.nn.Module):
    """A number read from data can be a size; torch._check says its range, and
    the program checks it when it runs."""

    def forward(self, x):
        a = x.item()
        torch._check(a >= 0)
        torch._check(a <= 5)
        return torch.zeros((a, 5))


@case("constrain_as_value_example",
      lambda: (torch.tensor(4), torch.randn(5, 5)), tags=_TAGS,
      extra=lambda: [(torch.tensor(n), torch.randn(5, 5)) for n in (0, 5)],
      refused=lambda: [(torch.tensor(6), torch.randn(5, 5))])
class ConstrainAsValueExample(torch.nn.Module):
    """What torch._check says of a number decides a later branch on it."""

    def forward(self, x, y):
        a = x.item()
        torch._check(a >= 0)
        torch._check(a <= 5)
        if a < 6:
            return y.sin()
        return y.cos()
