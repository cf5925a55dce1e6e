"""Two forms of one program at sizes 0 and 1.

torch decomposes a program as if every size were at least 2: `max(1, n)` becomes
`n`, and whether a reshape is a view is asked of the example.  Often both give
the same at 0 and 1 too; where they do not, those sizes must be refused.  So
both forms run at them, with the example inputs cut down:

    sizes_that_differ(ep, decomposed, sizes)   [("L['x'].size()[0]", 0)]

What random numbers decide is compared by its sizes alone.
"""

import copy
import itertools

import sympy
import torch
from torch.utils import _pytree as pytree

_SMALL = (0, 1)
# Of many symbols, only so many tuples are tried: each alone, then pairs.
_MOST_TUPLES = 48


def sizes_that_differ(ep, other, sizes):
    """[(source, value)]: the sizes that `other` must not have.

    sizes: for each flat input, its sizes (or the number that it is) as SymPy
    expressions or ints; ((source, symbol, example), ...) of the symbols."""
    forms, symbols = sizes
    runs = _Runs(ep, other)
    example = {symbol: value for _, symbol, value in symbols}
    if not symbols or not runs.take(_inputs_at(ep, forms, example)):
        return []
    refused = []
    for chosen in _tuples(symbols):
        if any(part in refused for part in chosen):
            continue
        values = dict(example)
        names = {source: symbol for source, symbol, _ in symbols}
        values.update((names[source], value) for source, value in chosen)
        inputs = _inputs_at(ep, forms, values)
        if inputs is not None and runs.differ(inputs):
            refused.append(chosen[0])
    return refused


def _tuples(symbols):
    """((source, value),), and pairs of them."""
    alone = [(source, value) for source, _, _ in symbols for value in _SMALL]
    pairs = (pair for pair in itertools.combinations(alone, 2)
             if pair[0][0] != pair[1][0])
    return itertools.islice(
        itertools.chain(((one,) for one in alone), pairs), _MOST_TUPLES)


def _inputs_at(ep, forms, values):
    """The flat example inputs with the sizes that `values` give; None where
    there are none."""
    found = []
    for leaf, form in zip(ep._inputs.leaves, forms):
        if form is None:
            found.append(leaf.value)
            continue
        wanted = [_number(e, values) for e in form]
        if any(n is None for n in wanted):
            return None
        if isinstance(leaf.value, torch.Tensor):
            found.append(_with_sizes(leaf.value, wanted))
            if found[-1] is None:
                return None
        else:
            found.append(wanted[0])
    return found


def _number(expression, values):
    if isinstance(expression, int):
        return expression
    value = sympy.sympify(expression.subs(values))
    return int(value) if value.is_Integer and value >= 0 else None


def _with_sizes(tensor, sizes):
    result = tensor.detach()
    for dim, size in enumerate(sizes):
        if size <= result.shape[dim]:
            result = result.narrow(dim, 0, size)
        elif result.shape[dim]:
            index = torch.arange(size, device=result.device)
            result = result.index_select(dim, index % result.shape[dim])
        else:
            return None
    return result.clone(memory_format=torch.contiguous_format
                        if tensor.is_contiguous() else torch.preserve_format)


class _Runs:
    """Both forms, run on copies of what they own and are given."""

    def __init__(self, ep, other):
        self._programs = ep, other
        self._is_random = False
        self._keeps = not (ep.graph_signature.buffers_to_mutate
                           or other.graph_signature.buffers_to_mutate)
        self._modules = [self._module(p) for p in self._programs]

    @staticmethod
    def _module(program):
        tensors = program._program.state_dict(), program._program.constants()
        return program._program.with_tensors(*copy.deepcopy(tensors)).module()

    def take(self, inputs):
        """Looks at the example: whether the forms agree there, value by
        value.  False where there is nothing to compare."""
        if inputs is None:
            return False
        results = self._both(inputs)
        if results is None or None in results:
            return False
        self._is_random = not _same(*results, values=True)
        return True

    def differ(self, inputs):
        results = self._both(inputs)
        if results is None:
            return False
        first, second = results
        if first is None or second is None:
            return (first is None) != (second is None)
        return not _same(first, second, values=not self._is_random)

    def _both(self, inputs):
        """What each gives, None for one that fails; None where the first
        refuses the inputs."""
        modules = (self._modules if self._keeps
                   else [self._module(p) for p in self._programs])
        try:
            modules[0].check(copy.deepcopy(inputs))
        except Exception:
            return None
        return [_outcome(module, copy.deepcopy(inputs)) for module in modules]


def _outcome(module, inputs):
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=()):
            torch.manual_seed(0)
            return list(module.run(inputs)) + inputs
    except Exception:
        return None


def _same(first, second, values):
    first, second = pytree.tree_leaves(first), pytree.tree_leaves(second)
    return len(first) == len(second) and all(
        _same_value(a, b, values) for a, b in zip(first, second))


def _same_value(a, b, values):
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
        return not values or a == b or a != a
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return not values or a.is_quantized or torch.allclose(
        a.to_dense(), b.to_dense(), rtol=1e-3, atol=1e-4, equal_nan=True)
