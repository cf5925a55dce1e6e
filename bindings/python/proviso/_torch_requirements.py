"""Requirements in the forms that PyTorch takes.

    form = proviso.requirements(model, args).to_torch()
    print(form)                      # torch._check(..) lines for forward
    print(form.dim_specs())          # dynamic_shapes, as text
    print(form.marks())              # mark_unbacked(..) lines
    print(form.shape_invariants())   # the function that vLLM takes
"""

from dataclasses import dataclass
from typing import Optional, Tuple


@dataclass(frozen=True)
class TorchCondition:
    """A condition as PyTorch's solver makes use of it."""

    condition: str     # x.shape[1] >= 2
    rule: str          # how it was made: "from two on"
    is_stronger: bool  # rules out sizes that the program itself takes

    @property
    def code(self):
        return f"torch._check({self.condition})"


@dataclass(frozen=True)
class Size:
    """An input size under the conditions."""

    text: str    # x.shape[1], as forward says it
    tensor: str  # x
    dim: int
    least: Optional[int]
    greatest: Optional[int]
    equals: str  # the first size that always equals it; itself else


class TorchForm(list):
    """The torch._check lines, in order; `conditions` says how each was made
    and `sizes` what follows for each input size."""

    def __init__(self, conditions, sizes, parameters):
        super().__init__(c.code for c in conditions)
        self.conditions: Tuple[TorchCondition, ...] = tuple(conditions)
        self.sizes: Tuple[Size, ...] = tuple(sizes)
        self._parameters = parameters

    def __str__(self):
        return "\n".join(
            c.code + ("  # for torch only" if c.is_stronger else "")
            for c in self.conditions)

    def dim_specs(self):
        """`dynamic_shapes` for torch.export.export, as Python text: sizes that
        are always equal share a Dim."""
        lines = []
        for tensor, sizes in self._by_tensor().items():
            entries = ", ".join(f"{s.dim}: {self._dim(s)}" for s in sizes)
            lines.append(f"    {tensor!r}: {{{entries}}},")
        return "\n".join(["dynamic_shapes = {", *lines, "}"])

    def marks(self):
        """Lines that mark example tensors, as Python text."""
        lines = ["from torch._dynamo.decorators import mark_unbacked"]
        for s in self.sizes:
            ends = [f"{name}={end}" for name, end in
                    (("min", s.least), ("max", s.greatest)) if end is not None]
            if self._is_shared(s):
                ends.append(f"shape_id={_name(s.equals)!r}")
            call = ", ".join([s.tensor, str(s.dim), *ends])
            lines.append(f"mark_unbacked({call})")
        return "\n".join(lines)

    def shape_invariants(self, name="shape_invariants"):
        """A function of forward's parameters that checks them, as vLLM's
        `support_torch_compile(shape_invariants=..)` takes it."""
        body = list(self) or ["pass"]
        return "\n".join([f"def {name}({', '.join(self._parameters)}):",
                          *("    " + line for line in body)])

    def _by_tensor(self):
        result = {}
        for s in self.sizes:
            result.setdefault(s.tensor, []).append(s)
        return result

    def _is_shared(self, size):
        return any(other.equals == size.equals and other is not size
                   for other in self.sizes)

    def _dim(self, size):
        ends = [f"{name}={end}" for name, end in
                (("min", size.least), ("max", size.greatest))
                if end is not None]
        if size.least is not None and size.least == size.greatest:
            return str(size.least)
        return f"Dim({', '.join([repr(_name(size.equals))] + ends)})"


def _name(text):
    """x_0 of x.shape[0]."""
    return "".join(c if c.isalnum() else "_" for c in
                   text.replace(".shape[", "_").replace("]", ""))


def of(requirements):
    conditions, sizes = requirements._torch_parts
    texts = requirements._size_texts
    made = []
    for source, least, greatest, equal in sizes:
        if source not in texts:
            continue
        text = texts[source]
        tensor, dim = text.removesuffix("]").rsplit(".shape[", 1)
        made.append(Size(text, tensor, int(dim), least, greatest,
                         texts.get(equal, text)))
    return TorchForm([TorchCondition(*c) for c in conditions], made,
                     requirements._parameters)
