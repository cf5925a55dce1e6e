"""What a program read from torch says of its inputs, told to a new trace.

A program of torch says it in four places: sizes that are constants, one symbol
at several sizes, the ranges of symbols and of expressions, and guards.  What
`ep.module()` of torch refuses for any of them, the new program refuses.
"""

import sympy
import torch

from proviso import _dims as dims

# Torch writes a lower end of up to 2 for every size, and does not check it.
_LEAST_CHECKED = 3


def range_of(torch_ep, size):
    """(min, max) that torch checks of a symbolic size or integer."""
    limits = torch_ep.range_constraints.get(size.node.expr)
    if limits is None:
        return None, None
    lower, upper = _finite(limits.lower), _finite(limits.upper)
    if lower is not None and lower < _LEAST_CHECKED:
        lower = None
    return lower, upper


def _finite(end):
    """None where there is no end: torch's infinities are no integers."""
    return int(end) if getattr(end, "is_Integer", False) else None


def user_placeholders(torch_ep):
    """The nodes of what the caller gives, in order."""
    nodes = (n for n in torch_ep.graph.nodes if n.op == "placeholder")
    return [node for node, spec in zip(nodes,
                                       torch_ep.graph_signature.input_specs)
            if spec.kind.name == "USER_INPUT"]


def sizes_of(node):
    """[(what a source adds for it, size)] of an input of torch's graph."""
    value = node.meta.get("val")
    if isinstance(value, torch.Tensor):
        return [(f".size()[{d}]", size) for d, size in enumerate(value.shape)]
    return [("", value)] if isinstance(value, torch.SymInt) else []


def shape_spec(torch_ep, node):
    """The dynamic_shapes of an input: AUTO within torch's range where torch
    has a symbol."""
    direct = {size.node._expr for other in user_placeholders(torch_ep)
              for _, size in sizes_of(other)
              if isinstance(size, torch.SymInt)}
    specs = [dims.DimSpec("auto", "", *range_of(torch_ep, size),
                          root=_root(size.node._expr, direct))
             if isinstance(size, torch.SymInt)
             else dims.DimSpec("static", value=size)
             for _, size in sizes_of(node)]
    if isinstance(node.meta.get("val"), torch.Tensor):
        return specs
    return specs[0] if specs else None


def _root(expr, direct):
    """(name, factor, offset) of what is written factor*name + offset and has
    its name from no input."""
    if len(expr.free_symbols) != 1:
        return None
    symbol, = expr.free_symbols
    if symbol in direct or not expr.is_polynomial(symbol):
        return None
    polynomial = sympy.Poly(expr, symbol)
    parts = polynomial.LC(), polynomial.nth(0)
    if polynomial.degree() != 1 or not all(p.is_Integer for p in parts):
        return None
    return (str(symbol), *map(int, parts)) if parts[0] > 0 else None


class Conditions:
    """Tells a session what holds for its inputs."""

    def __init__(self, session, leaves, fakes):
        self._session = session
        self._values = {}  # "L['x'].size()[0]": size
        self.examples = {}  # "s0", as it is called now: conditions that fix it
        for i, (leaf, fake) in enumerate(zip(leaves, fakes)):
            sizes = _parts(leaf.source, fake)
            for source, size in sizes.items():
                self._note_example(source, size)
            self._values.update(sizes)
            self._values.update(_parts(f"L['flat_args'][{i}]", fake))

    def _note_example(self, source, size):
        if isinstance(size, torch.SymInt) and size.node.hint is not None:
            self.examples.setdefault(size.node._graph_repr(), []).append(
                f"{source} == {size.node.hint}")

    def require(self, code, place=None):
        """A condition as Python over L['x'].size()[0].  place: (file, line,
        code) that asked for it."""
        try:
            self._session.require_code(code, self._values, place)
        except RuntimeError as error:
            raise ValueError(
                f"the guard `{code}` of the program cannot be kept: {error}"
            ) from error

    def require_sizes(self, torch_ep, leaves):
        """Sizes that torch writes with one symbol or as expressions."""
        rest = []
        for source, expr in _expressions(torch_ep, leaves):
            if not expr.is_Symbol:
                rest.append((source, expr))
            elif str(expr) in self._values:
                self.require(f"{source} == {expr}")
            else:
                self._values[str(expr)] = self._values[source]
        for source, expr in rest:
            self._require_expression(torch_ep, source, expr)

    def _require_expression(self, torch_ep, source, expr):
        unknown = [s for s in expr.free_symbols
                   if str(s) not in self._values]
        if not unknown:
            return self.require(f"{source} == {expr}")
        if len(unknown) > 1:
            raise ValueError(
                f"the size {source} = {expr} has {len(unknown)} symbols that "
                "no input is equal to; give each to an input")
        self._solve(torch_ep, source, expr, unknown[0])

    def _solve(self, torch_ep, source, expr, symbol):
        """The symbol of factor*symbol + rest gets what the size implies."""
        polynomial = (sympy.Poly(expr, symbol) if expr.is_polynomial(symbol)
                      else None)
        if (polynomial is None or polynomial.degree() != 1
                or not polynomial.LC().is_Integer):
            raise ValueError(f"the size {source} = {expr} does not tell "
                             f"{symbol}; give {symbol} to an input")
        factor, rest = int(polynomial.LC()), polynomial.nth(0)
        left = f"({source} - ({rest}))"
        self.require(f"{left} % {abs(factor)} == 0")
        self._values[str(symbol)] = self._session.number_of_code(
            f"{left}//({factor})", self._values)
        limits = torch_ep.range_constraints.get(symbol)
        lower, upper = (_finite(limits.lower), _finite(limits.upper)
                        ) if limits else (None, None)
        if lower is not None and lower >= _LEAST_CHECKED:
            self.require(f"{symbol} >= {lower}")
        if upper is not None:
            self.require(f"{symbol} <= {upper}")


def _expressions(torch_ep, leaves):
    """(source, expression) of every symbolic size and integer."""
    for node, leaf in zip(user_placeholders(torch_ep), leaves):
        for suffix, size in sizes_of(node):
            if isinstance(size, torch.SymInt):
                yield leaf.source + suffix, size.node.expr


def _parts(source, fake):
    """{source: number} of a tensor's sizes, or of an integer."""
    if isinstance(fake, torch.Tensor):
        return {f"{source}.size()[{d}]": s for d, s in enumerate(fake.shape)}
    if type(fake) is int or isinstance(fake, torch.SymInt):
        return {source: fake}
    return {}
