"""Two exports of one model, side by side.

Where torch.export's program and ours differ, and why (the test fails on any other
difference):

    aten.slice.Tensor      of everything, `x[:, :]`: torch's indexing itself
                           skips it when the size is known to fit; torch.export
                           records it
    aten.alias             what torch's indexing makes of `x[:, 0:]` where the
                           whole is known to be meant: ours only
    aten.contiguous        of what is contiguous already: torch's method returns
                           the tensor itself; torch.export records the call
    _assert_tensor_metadata  torch.export adds one after each `.to`; dtype and
                           device are static in both programs
    wrap_with_set_grad_enabled  `with torch.no_grad()`: its body is part of our
                           graph; an exported program is run without gradients
    sym_size, add, mul, ..., getitem   how numbers and items of lists reach
                           their users is written as needed: both ways
"""

import collections
import math
import operator
import re

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true

_DROPPED = {"aten.alias.default", "aten._assert_tensor_metadata.default",
            "wrap_with_set_grad_enabled"}
_NUMBERS = {"aten.sym_size.int", "getitem", "aten._assert_scalar.default"}


def _same(before, after):
    """Known to be: `1 - Max(0, 1 - s70)` of a size s70 is 1."""
    return all(str(b) == str(a) or statically_known_true(b == a)
               for b, a in zip(before, after, strict=True))


def _changes_nothing(node):
    """A slice of everything, or contiguous() of a contiguous tensor."""
    if node.target not in (torch.ops.aten.slice.Tensor,
                           torch.ops.aten.contiguous.default):
        return False
    before, after = node.args[0].meta["val"], node.meta["val"]
    return (_same(before.shape, after.shape)
            and _same(before.stride(), after.stride()))


def _is_number(target):
    return (target in _NUMBERS or "." not in target
            or target.startswith("_operator.")
            or target.startswith("torch.sym_") or target.startswith("math."))


def _nodes(module):
    for node in module.graph.nodes:
        if node.op == "call_function":
            yield node
        elif node.op == "get_attr":
            body = operator.attrgetter(node.target)(module)
            if isinstance(body, torch.fx.GraphModule):
                yield from _nodes(body)


def _target(node):
    return (str(node.target) if isinstance(node.target, torch._ops.OpOverload)
            else node.target.__name__)


def operator_differences(ours, theirs):
    """{operator: (count in ours, least and most that torch.export's allows)}
    where the count is out of bounds."""
    least, most = collections.Counter(), collections.Counter()
    for node in _nodes(theirs.graph_module):
        target = _target(node)
        if target in _DROPPED or _is_number(target):
            continue
        most[target] += 1
        least[target] += not _changes_nothing(node)
    found = collections.Counter(
        target for target in ours.operators
        if target not in _DROPPED and not _is_number(target))
    return {target: (found[target], least[target], most[target])
            for target in sorted({*found, *most})
            if not least[target] <= found[target] <= most[target]}


def our_sizes(program):
    """[["s0", "3"], ...]: the sizes of each user input that is a tensor."""
    header = re.search(r"def forward\(.*", str(program)).group()
    found = dict(re.findall(r'(\w+): "\w+\[([^\]]*)\]"', header))
    return [found[name].split(", ") if found[name] else []
            for name in program.graph_signature.user_inputs if name in found]


def their_sizes(program):
    tensors = {node.name: node.meta["val"]
               for node in program.graph_module.graph.nodes
               if node.op == "placeholder"}
    return [list(map(str, tensors[name].shape))
            for name in program.graph_signature.user_inputs
            if isinstance(tensors.get(name), torch.Tensor)]


def specialised(ours, theirs):
    """(input, dim) pairs that are constants in `ours`, symbolic in `theirs`."""
    return [(i, d)
            for i, (a, b) in enumerate(zip(ours, theirs, strict=True))
            for d, (x, y) in enumerate(zip(a, b, strict=True))
            if x.isdecimal() and not y.isdecimal()]


def largest_difference(found, expected):
    """Of all tensors, relative to the largest value; inf: other shapes."""
    found, expected = map(torch.utils._pytree.tree_leaves, (found, expected))
    if len(found) != len(expected):
        return math.inf
    worst = 0.0
    for f, e in zip(found, expected):
        if not isinstance(e, torch.Tensor):
            worst = worst if f == e else math.inf
        elif f.shape != e.shape or f.dtype != e.dtype:
            return math.inf
        elif e.numel():
            f, e = f.double(), e.double()
            worst = max(worst, ((f - e).abs().max()
                                / e.abs().max().clamp(min=1)).item())
    return worst
