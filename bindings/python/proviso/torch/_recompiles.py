"""Why Dynamo compiled a function again, and what would save it.

Dynamo says which guard failed and the line that asked for it; the ShapeEnv of
the earlier compilation says (here, when its guards are made) which sizes they
leave one value.  A guard is classed by its form.
"""

import ast
import collections
import dataclasses
import re

# {compile id as text: {input: the one size that its guards allow}}
_pinned = collections.OrderedDict()
_LIMIT = 1_000
_LOCAL = re.compile(r"L\['(\w+)'\]")  # Dynamo prints L['x'] as x


def note_pinned(compile_id, pinned):
    """Keeps the sizes that the guards of this compilation pin."""
    _pinned[str(compile_id)] = {
        _LOCAL.sub(r"\1", name): size for name, size in pinned.items()
    }
    while len(_pinned) > _LIMIT:
        _pinned.popitem(last=False)


@dataclasses.dataclass(frozen=True)
class Recompile:
    """One compilation that an earlier one of the same function did not save.

    function, file, line: what was compiled.
    compile_id, earlier: "0/1" and the compilation whose guard failed, "0/0".
    guard: the guard that failed, as Dynamo prints it.
    asked_by: the line that asked, "if x.shape[0] % 2 == 0:  # m.py:4 in f";
        empty when no line did.
    pinned: {input: size} where the earlier guards allow one size alone.
    remedy: what would make it dynamic, a sentence.
    """

    function: str
    file: str
    line: int
    compile_id: str
    earlier: str
    guard: str
    asked_by: str
    pinned: dict
    remedy: str

    def __str__(self):
        lines = [
            f"{self.function} ({self.file}:{self.line}) was compiled again "
            f"[{self.compile_id}]: {self.guard} did not hold [{self.earlier}]"
        ]
        if self.asked_by:
            lines.append(f"  asked by: {self.asked_by}")
        lines += [
            f"  its guards allow {name} to be {size} alone"
            for name, size in self.pinned.items()
        ]
        lines.append(f"  remedy: {self.remedy}")
        return "\n".join(lines)


class Recompiles(tuple):
    """A tuple of `Recompile`, printed one after the other."""

    def __str__(self):
        if not self:
            return "no function was compiled again"
        return "\n".join(map(str, self))


_MISMATCH = re.compile(
    r"tensor '(?P<name>.*)' size mismatch at index (?P<index>\d+)\. "
    r"expected (?P<expected>\d+), actual (?P<actual>\d+)"
)


def _number(node):
    return node.value if isinstance(node, ast.Constant) else None


def _remedy_of_relation(node):
    op, left, right = node.ops[0], node.left, node.comparators[0]
    if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mod):
        by = ast.unparse(left.right)
        return (
            f"pad {ast.unparse(left.left)} to a multiple of {by}; else two "
            "graphs serve all sizes, one for each outcome"
        )
    sizes = [n for n in (left, right) if _number(n) is None]
    if isinstance(op, (ast.Eq, ast.NotEq)) and len(sizes) == 1:
        return (
            f"the line needs {ast.unparse(sizes[0])} as a number (a branch on "
            "it, int(), range(), a shape that must be known): compute with the "
            "size itself"
        )
    if isinstance(op, (ast.Eq, ast.NotEq)):
        return (
            "the sizes were equal in the first call and are not now: where "
            "they are independent, torch._dynamo.mark_dynamic and "
            "torch.fx.experimental._config.use_duck_shape = False; where they "
            "must be equal, torch._check it"
        )
    return (
        "the line branches on it and each side has its own graph, no more than "
        "these; where only one side can happen, say so before it with "
        f"torch._check({ast.unparse(node)})"
    )


def _remedy_of_size(name, index, expected, actual):
    if int(actual) in (0, 1) or int(expected) in (0, 1):
        special = actual if int(actual) in (0, 1) else expected
        return (
            f"sizes 0 and 1 have programs of their own, so that size {special} "
            f"takes one more compilation and then no other; one program for "
            f"all sizes: torch._dynamo.decorators.mark_unbacked({name}, "
            f"{index}), where no line branches on it"
        )
    return (
        f"dimension {index} of {name} was compiled as the number {expected}: "
        f"torch._dynamo.mark_dynamic({name}, {index}), or torch.compile(..., "
        "dynamic=True)"
    )


def _remedy(guard, pinned, asked_by=""):
    mismatch = _MISMATCH.match(guard)
    if mismatch:
        return _remedy_of_size(**mismatch.groupdict())
    if "integer attributes of the nn.Module" in asked_by:
        return (
            f"{guard.partition(' ')[0]} is a number of the module, which is "
            "compiled as it is: torch._dynamo.config."
            "allow_unspec_int_on_nn_module = True, or keep it in a tensor"
        )
    for source, size in pinned.items():
        if source in guard:
            return (
                f"the program allows {source} to be {size} alone, so that each "
                f"other size is a program of its own: bring the input to "
                f"{size}, or compile once for each size that is in use"
            )
    try:
        node = ast.parse(guard, mode="eval").body
    except SyntaxError:
        node = None
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _remedy_of_relation(node)
    if ".size()" in guard or ".stride()" in guard:
        return (
            "the sizes of this call are outside of what the earlier graph is "
            "for; mark them dynamic where they are not"
        )
    return "no size is involved: what the guard names has changed"


def _explain(metrics):
    earlier, _, rest = metrics.recompile_reason.partition(": ")
    guard, _, asked_by = rest.splitlines()[0].partition("  # ")
    pinned = _pinned.get(earlier, {})
    return Recompile(
        function=metrics.co_name or "",
        file=metrics.co_filename or "",
        line=metrics.co_firstlineno or 0,
        compile_id=str(metrics.compile_id),
        earlier=earlier,
        guard=guard.strip(),
        asked_by=asked_by.strip(),
        pinned=pinned,
        remedy=_remedy(guard.strip(), pinned, asked_by),
    )


def explain_recompiles():
    """Why functions were compiled again: a tuple of `Recompile`, oldest first.

    It looks at the compilations that Dynamo remembers (its last 64) and works
    without Proviso enabled as well; sizes that a program pins are known of
    compilations that Proviso answered for.
    """
    from torch._dynamo.utils import get_compilation_metrics

    return Recompiles(
        _explain(m) for m in get_compilation_metrics() if m.recompile_reason
    )
