"""Requirements in the forms that PyTorch takes.

    form = proviso.requirements(model, args).to_torch()
    print(form)                      # torch._check(..) lines for forward
    print(form.dim_specs())          # dynamic_shapes, as text
    print(form.marks())              # mark_unbacked(..) lines
    print(form.shape_invariants())   # the function that vLLM takes
    form.accepted                    # PyTorch compiled it; None: not asked

A condition that is stronger than the requirements rules out sizes that the
program takes.  Where the requirements are proved the program is the same at
those, so PyTorch alone wants to know: "torch only".
"""

from dataclasses import dataclass
from typing import Optional, Tuple


@dataclass(frozen=True)
class TorchCondition:
    """A condition as PyTorch's solver makes use of it."""

    condition: str     # x.shape[1] >= 2
    rule: str          # how it was made: "from two on", "asked by PyTorch"
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
    and `sizes` what follows for each input size.

    accepted: whether torch.compile took the program with them; None where it
        was not asked.
    rounds: compilations that this took.
    why_not: what PyTorch said to the last, where it took none."""

    def __init__(self, conditions, sizes, signature, is_proved):
        super().__init__(c.code for c in conditions)
        self.conditions: Tuple[TorchCondition, ...] = tuple(conditions)
        self.sizes: Tuple[Size, ...] = tuple(sizes)
        self.accepted: Optional[bool] = None
        self.rounds, self.why_not = 0, ""
        self._signature, self._is_proved = signature, is_proved

    def _with(self, accepted, rounds, why_not=""):
        self.accepted, self.rounds, self.why_not = accepted, rounds, why_not
        return self

    def __str__(self):
        return "\n".join(c.code + self._remark(c) for c in self.conditions)

    def _remark(self, condition):
        if not condition.is_stronger:
            return ""
        return "  # torch only" + (": the answer does not matter here"
                                   if self._is_proved else "")

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
        return "\n".join([f"def {name}({self._signature}):",
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
                     requirements._signature, requirements.proved)
