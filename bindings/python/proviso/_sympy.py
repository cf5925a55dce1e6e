"""SymPy's expressions in and out.  SymPy itself is imported when one is used.

>>> import sympy
>>> n = sympy.Symbol("n", integer=True)
>>> Expr("n // 8 + 1").sympy()
floor(n/8) + 1
>>> context = Context()
>>> context.assume(sympy.Eq(sympy.Mod(n, 8), 0))
0
>>> context.ask(sympy.Eq(sympy.Mod(n, 4), 0)).verdict
'yes'
"""

import contextlib
import sys

from proviso import _core
from proviso._errors import Error

_RENAMED = {
    "Equality": "Eq", "Unequality": "Ne", "StrictLessThan": "Lt",
    "LessThan": "Le",
}
_SWAPPED = {"StrictGreaterThan": "Lt", "GreaterThan": "Le"}
_ROUNDED = {"floor": ("FloorDiv", "FloorToInt"),
            "ceiling": ("CeilDiv", "CeilToInt")}
_UNARY = ("sqrt", "cos", "cosh", "sin", "sinh", "tan", "tanh", "asin", "acos",
          "atan", "exp", "log", "asinh", "log2")


def expr_of(value, call, symbol):
    """`value`, an object of SymPy, as an Expr.  symbol(name, kind) gives the
    symbol of a name.  Raises TypeError for what is no expression."""
    sympy = sys.modules.get("sympy")
    if sympy is None or not isinstance(value, sympy.Basic):
        raise TypeError(
            f"{call}: expected an expression (a str, a proviso.Expr, an int, "
            f"a bool or an object of SymPy), got {_core.shown(value)}")
    with _within_the_stack(call):
        return _Reader(sympy, call, symbol).read(value)


@contextlib.contextmanager
def _within_the_stack(call):
    """SymPy calls itself for each level of an expression."""
    try:
        yield
    except RecursionError:
        raise Error(
            f"{call}: the expression is too deep for SymPy, which may call "
            f"itself {sys.getrecursionlimit()} times; give "
            "sys.setrecursionlimit() more") from None


class _Reader:
    """Arguments before what is made of them, each once; depth is no concern
    of Python's stack."""

    def __init__(self, sympy, call, symbol):
        self._sympy, self._call, self._symbol = sympy, call, symbol
        self._done = {}

    def read(self, root):
        stack = [root]
        while stack:
            node = stack[-1]
            parts = [p for p in self._parts(node) if p not in self._done]
            stack.extend(parts)
            if not parts:
                self._done[stack.pop()] = self._made(node)
        return self._done[root]

    def _parts(self, node):
        """What must be read first."""
        if node in self._done or node.is_Symbol or node.is_Rational:
            return ()
        if node.is_Float or not node.args:
            return ()
        quotient = self._quotient(node)
        if quotient:
            return quotient
        if isinstance(node, self._sympy.Piecewise):
            return [part for arm in node.args for part in arm.args]
        if node.is_Pow and node.exp.is_negative:
            return node.base, -node.exp
        return node.args

    def _quotient(self, node):
        """(a, b) of floor(a/b) and ceiling(a/b) of integers."""
        if type(node).__name__ not in _ROUNDED:
            return None
        pair = self._sympy.fraction(self._sympy.together(node.args[0]))
        return pair if all(part.is_integer for part in pair) else None

    def _made(self, node):
        sympy = self._sympy
        if node.is_Symbol:
            return self._symbol_of(node)
        if node.is_Integer:
            return int(node)
        if node.is_Rational:
            return _core.make("IntTrueDiv", int(node.p), int(node.q))
        if node.is_Float:
            return float(node)
        if node in (sympy.true, sympy.false):
            return bool(node)
        quotient = self._quotient(node)
        if quotient:
            return _core.make(_ROUNDED[type(node).__name__][0],
                              *[self._done[part] for part in quotient])
        if isinstance(node, sympy.Piecewise):
            return self._piecewise(node)
        if node.is_Pow:
            return self._power(node)
        return self._call_of(node, [self._done[arg] for arg in node.args])

    def _call_of(self, node, args):
        name = type(node).__name__
        name = _RENAMED.get(name, name)
        if name in _SWAPPED:
            return _core.make(_SWAPPED[name], *reversed(args))
        if name in _ROUNDED:
            name = _ROUNDED[name][1]
        elif name in _UNARY:
            name = f"OpaqueUnaryFn_{name}"
        elif name == "ITE":
            name = "Where"
        elif name == "Implies":
            return _core.make("Or", _core.make("Not", args[0]), args[1])
        elif name == "Xor" and len(args) == 2:
            name = "Ne"
        try:
            return _core.make(name, *args)
        except RuntimeError as error:
            raise TypeError(
                f"{self._call}: SymPy's {name} in {node} is not understood: "
                f"{error}") from None

    def _power(self, node):
        if not node.exp.is_negative:
            return _power_of(self._done[node.base], self._done[node.exp])
        below = _power_of(self._done[node.base], self._done[-node.exp])
        is_float = getattr(below, "type", "integer") == "float"
        return _core.make("FloatTrueDiv" if is_float else "IntTrueDiv", 1,
                          below)

    def _piecewise(self, node):
        *arms, last = node.args
        if last.args[1] != self._sympy.true:
            raise TypeError(
                f"{self._call}: {node} has no value where no condition holds; "
                "end it with (value, True)")
        result = self._done[last.args[0]]
        for value, condition in reversed([arm.args for arm in arms]):
            result = _core.make("Where", self._done[condition],
                                self._done[value], result)
        return result

    def _symbol_of(self, node):
        if node.is_integer:
            # By its name's prefix where that is an integer's, as in texts.
            try:
                kind = _core.symbol(node.name, None, "").kind
            except Error as error:
                raise Error(f"{self._call}: {error}") from None
            return self._symbol(
                node.name, "backed_int" if "float" in kind else kind)
        if node.is_integer is None:
            raise TypeError(
                f"{self._call}: SymPy does not know whether {node} is an "
                f"integer; write Symbol({node.name!r}, integer=True), or "
                "integer=False for a float")
        return self._symbol(node.name, "backed_float")


def _power_of(base, exponent):
    is_float = any(isinstance(x, float) or getattr(x, "type", "") == "float"
                   for x in (base, exponent))
    return _core.make("FloatPow" if is_float else "Pow", base, exponent)


# --- out

def _functions(sympy):
    return {
        "Add": sympy.Add, "Mul": sympy.Mul, "Pow": sympy.Pow,
        "PowByNatural": sympy.Pow, "FloatPow": sympy.Pow,
        "FloorDiv": lambda a, b: sympy.floor(a / b),
        "CleanDiv": lambda a, b: sympy.floor(a / b),
        "CeilDiv": lambda a, b: sympy.ceiling(a / b),
        "Mod": sympy.Mod, "PythonMod": sympy.Mod,
        "ModularIndexing": lambda a, b, m: sympy.Mod(sympy.floor(a / b), m),
        "Min": sympy.Min, "Max": sympy.Max, "Abs": sympy.Abs,
        "Identity": lambda a: a,
        "LShift": lambda a, b: a * 2**b,
        "RShift": lambda a, b: sympy.floor(a / 2**b),
        "Eq": sympy.Eq, "Ne": sympy.Ne, "Lt": sympy.Lt, "Le": sympy.Le,
        "And": sympy.And, "Or": sympy.Or, "Not": sympy.Not,
        "Where": lambda c, a, b: sympy.Piecewise((a, c), (b, True)),
        "ToFloat": lambda a: a,
        "IntTrueDiv": lambda a, b: a / b, "FloatTrueDiv": lambda a, b: a / b,
        "FloorToInt": sympy.floor, "CeilToInt": sympy.ceiling,
    }


def to_sympy(expr):
    """An Expr as SymPy has it: integer symbols are Symbol(name,
    integer=True), floats real.  What SymPy has no word for is a Function of
    the operator's name."""
    import sympy

    with _within_the_stack("Expr.sympy"):
        return _made_of(expr._rows(), sympy)


def _made_of(rows, sympy):
    functions = _functions(sympy)
    made = []
    for op, *rest in rows:
        if op == "Symbol":
            name, kind, _ = rest
            is_float = kind.endswith("float")
            made.append(sympy.Symbol(
                name, **({"real": True} if is_float else {"integer": True})))
        elif op in ("Integer", "Float"):
            made.append(sympy.Rational(rest[0]))
        elif op == "Boolean":
            made.append(sympy.true if rest[0] else sympy.false)
        else:
            short = op.removeprefix("OpaqueUnaryFn_")
            make = functions.get(op) or (
                getattr(sympy, short, None) if short in _UNARY else None)
            make = make or sympy.Function(short)
            made.append(make(*[made[i] for i in rest]))
    return made[-1]
