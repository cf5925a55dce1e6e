"""Two forms of one program at sizes for which the second may be wrong.

torch decomposes a program as if every size were at least 2: `max(1, n)` becomes
`n`, and whether a reshape is a view is asked of the example.  It also asks of
many sizes, `(n - 1)//2 + 1` say, whether they are 0 or 1, where both answers
mostly give one graph.  So both forms run with the example inputs cut down, or
made longer, to what tells:

    compared = Comparison(ep, decomposed, sizes)
    compared.refusals()               # ["L['x'].size()[0] != 0"]
    compared.answer_matters(Eq(Mod(s0, 2), 0))
    compared.matters_anywhere(s0 < 8, s0, holds_beyond)

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
# Where a question has another answer than at the example is looked for among
# sizes so far beyond the example, a symbol at a time; so many of a symbol at
# which the program runs are compared, or all where there are few.
_SIZES_BEYOND = 40
_MOST_POINTS = 3
_FEW_POINTS = 8


class Comparison:
    """sizes: for each flat input, its sizes (or the number that it is) as SymPy
    expressions or ints; ((source, symbol, example), ...) of the symbols."""

    def __init__(self, ep, other, sizes):
        self._ep = ep
        self._forms, self._symbols = sizes
        self._example = {symbol: n for _, symbol, n in self._symbols}
        self._runs = _Runs(ep, other)
        self._known = {}  # by the sizes that are changed
        self._tells = bool(self._symbols) and self._runs.take(
            self._inputs(self._example))

    def refusals(self):
        """Conditions, as Python over sources, that refuse the sizes 0 and 1 at
        which the forms differ."""
        refused = []
        for chosen in _tuples(self._symbols) if self._tells else ():
            # What a part is refused for needs no look.
            if any(set(parts) <= set(chosen) for parts in refused):
                continue
            if self._differ({symbol: n for _, symbol, n in chosen}):
                refused.append(chosen)
        return [" or ".join(f"{source} != {n}" for source, _, n in chosen)
                for chosen in refused]

    def answer_matters(self, condition):
        """Whether the forms differ where `condition` is false, at sizes that
        refusals() leaves; also True where nothing tells."""
        compared = False
        for symbol in sorted(condition.free_symbols, key=str):
            for value in itertools.islice(
                    self._falsifying(condition, symbol), _MOST_POINTS):
                compared = True
                if value not in _SMALL and self._differ({symbol: value}):
                    return True
        return not compared

    def matters_anywhere(self, condition, symbol, holds_beyond):
        """The same of a question about `symbol` alone: False only where every
        size at which it is false was compared, with the other sizes as they
        are.

        holds_beyond(n): whether it holds for all sizes from n on that the
        program takes."""
        if not self._tells or not holds_beyond(self._end(symbol)):
            return True
        points = list(itertools.islice(self._falsifying(condition, symbol),
                                       _FEW_POINTS + 1))
        return len(points) > _FEW_POINTS or any(
            value not in _SMALL and self._differ({symbol: value})
            for value in points)

    def _end(self, symbol):
        return self._example[symbol] + _SIZES_BEYOND

    def _falsifying(self, condition, symbol):
        """Sizes at which it is false and the program runs, 0 and 1 last."""
        for n in (*range(2, self._end(symbol)), *_SMALL):
            values = {**self._example, symbol: n}
            if (value_at(condition, values) == sympy.false
                    and self._differ({symbol: n}) is not None):
                yield n

    def _differ(self, changed):
        """Whether they do at the example with some sizes changed; None where
        one of them refuses that, or nothing tells."""
        point = frozenset(changed.items())
        if self._tells and point not in self._known:
            inputs = self._inputs({**self._example, **changed})
            self._known[point] = (None if inputs is None
                                  else self._runs.differ(inputs))
        return self._known.get(point)

    def _inputs(self, values):
        return _inputs_at(self._ep, self._forms, values)


def _tuples(symbols):
    """((source, symbol, value),), and pairs of them."""
    alone = [(source, symbol, value) for source, symbol, _ in symbols
             for value in _SMALL]
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
    value = value_at(expression, values)
    return int(value) if value.is_Integer and value >= 0 else None


def value_at(expression, values):
    """The SymPy value of an expression of symbols; nan where it divides by 0."""
    try:
        return sympy.sympify(expression.subs(values))
    except ZeroDivisionError:
        return sympy.nan


def _with_sizes(tensor, sizes):
    result = tensor.detach()
    for dim, size in enumerate(sizes):
        if size <= result.shape[dim]:
            result = result.narrow(dim, 0, size)
        elif result.shape[dim]:
            index = torch.arange(size, device=result.device)
            rows = index % result.shape[dim]
            result = result[(slice(None),) * dim + (rows,)]
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
        allowed = program._looks_but_for
        # At sizes that nobody asked for, some of torch's kernels crash.
        return program._program.with_tensors(*copy.deepcopy(tensors)).module(
            ["aten", "prims"] if allowed is None else allowed)

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
        """None where one refuses the inputs, or both fail."""
        results = self._both(inputs)
        if results is None or results == [None, None]:
            return None
        first, second = results
        if first is None or second is None:
            return True
        return not _same(first, second, values=not self._is_random)

    def _both(self, inputs):
        """What each gives, None for one that fails; None where one refuses the
        inputs: there nothing wrong is computed."""
        modules = (self._modules if self._keeps
                   else [self._module(p) for p in self._programs])
        try:
            for module in modules:
                module.check(copy.deepcopy(inputs))
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
        _wide(a), _wide(b), rtol=1e-3, atol=1e-4, equal_nan=True)


def _wide(tensor):
    """In a type that has all operators, which float8 and uint16 have not."""
    return tensor.to_dense().to(
        torch.complex128 if tensor.is_complex() else torch.float64)
