"""How much SymPy makes of a text before it is a value.

    growth(ast.parse("FloorDiv(Pow(Add(s0, 1), 900), s0)", mode="eval"))

SymPy multiplies out what is compared or divided, and computes powers of numbers;
a line of text is then work for hours.  Bounds of what it would write are reckoned
from the text alone, and a text beyond them raises TooMuch.
"""

import ast
import itertools
import math
import re

# The highest power of a number, of a symbol, and of one that is divided or
# compared in a sum of many terms: of n terms it may be _SYMBOL / n.  (Powers of
# 64 and more are beyond 64 bits for sizes from 2 on; SymPy takes 20 ms for
# s0**64 % 9, 0.1 s for a sum of two terms with s0**32, more than 8 s with s0**64.)
_NUMBER, _SYMBOL, _DIVIDED = 4096, 64, 16
_ROOT = 4  # of what a root is taken of, or that a number is divided by
# Terms of both sides of a division or comparison, multiplied: of one, of all of
# a text; and the squares of their degrees (of one term, the degree), of all of a
# text.
_TERMS, _ALL_TERMS, _ALL_DEGREES = 10_000, 40_000, 1024
_EXTREMES = 64  # arguments of Max and Min in a text, and pairs of them
_DIGITS = 64  # of a Float: torch writes precision=53, in bits

_SUMS = frozenset(
    "Add And Or Not Xor Equivalent ITE Piecewise ExprCondPair Where Identity "
    "ToFloat float IntTrueDiv FloatTrueDiv".split())
_POWERS = frozenset("Pow PowByNatural FloatPow LShift".split())
_PLAIN = frozenset("Symbol Integer Float Rational Function".split())


_DOUBLE = re.compile(r"[-+]?[0-9.]{1,400}(e[-+]?[0-9]{1,3})?", re.IGNORECASE)


class TooMuch(ValueError):
    pass


def _check_float(node):
    """Float('0.1', precision=53): of no more digits than a double has, and no
    larger."""
    digits = [a.value if isinstance(a, ast.Constant) else None
              for a in node.args[1:] + [k.value for k in node.keywords]]
    if not all(isinstance(d, int) and 0 < d <= _DIGITS for d in digits):
        raise TooMuch(f"a Float of more than {_DIGITS} digits")
    text = ast.unparse(node.args[0]) if node.args else ""
    if not _DOUBLE.fullmatch(text.strip("'\"")):
        raise TooMuch("a Float that is no number of 64 bits")


def growth(tree):
    measure = _Measure()
    _, degrees = measure.of(tree)
    measure.check_power(degrees, _SYMBOL)


def _number(node):
    """3, Integer(-3), Rational(1, 2), Float('0.5', precision=53); None of
    anything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _number(node.operand)
        return None if value is None else -value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in ("Integer", "Float") and len(node.args) == 1:
            return _number(node.args[0])
        if node.func.id == "Rational" and len(node.args) == 2:
            above, below = map(_number, node.args)
            return above / below if above is not None and below else None
        return None
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return value if isinstance(value, (int, float)) else None


def _is_atom(node):
    """A symbol or a number."""
    return isinstance(node, (ast.Name, ast.Constant)) or (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        and node.func.id in _PLAIN)


class Measured(ast.expr):
    """A part of a text that was measured already, in place of its node."""

    def __init__(self, node):
        super().__init__()
        measure = _Measure()
        self.terms, self.degrees = measure.of(node)
        self.counts = measure.counts()


class _Measure:
    """(terms, {symbol: degree}) of each node; of numbers, the symbol is ""."""

    def __init__(self):
        self._terms = self._degrees = self._extremes = self._pairs = 0

    def counts(self):
        return self._terms, self._degrees, self._extremes, self._pairs

    def _again(self, part):
        for name, more in zip(("_terms", "_degrees", "_extremes", "_pairs"),
                              part.counts):
            setattr(self, name, getattr(self, name) + more)
        self._check_extremes()
        self._check_terms()
        return part.terms, dict(part.degrees)

    def of(self, node):
        if isinstance(node, Measured):
            return self._again(node)
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Compare):
            return self._divided([node.left, *node.comparators])
        if isinstance(node, ast.Constant):
            return 1, {"": 1}
        if isinstance(node, ast.UnaryOp):
            return self.of(node.operand)
        if isinstance(node, (ast.Name, ast.Subscript, ast.Attribute)):
            self._sum(list(ast.iter_child_nodes(node)))  # [2**4096**4096]
            return 1, {ast.unparse(node): 1}
        return self._sum(list(ast.iter_child_nodes(node)))

    def _operation(self, node):
        sides = [node.left, node.right]
        if isinstance(node.op, (ast.Pow, ast.LShift)):
            return self._power(*sides)
        if isinstance(node.op, (ast.Mult, ast.Div)):
            return self._product(sides)
        if isinstance(node.op, (ast.FloorDiv, ast.Mod)):
            return self._divided(sides)
        return self._sum(sides)

    def _call(self, node):
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        args = node.args + [keyword.value for keyword in node.keywords]
        if name == "Float":
            _check_float(node)
        if name in _PLAIN:
            value = _number(node)
            return 1, {"" if value is not None else ast.unparse(node): 1}
        if not name and not args:  # L['x'].size()
            return 1, {ast.unparse(node): 1}
        if name in _POWERS and len(args) > 1:
            return self._power(*args[:2])
        if name == "Mul":
            return self._product(args)
        if name in _SUMS:
            return self._sum(args)
        if name in ("Max", "Min", "max", "min"):
            return self._extreme(args)
        return self._divided(args)

    def _extreme(self, args):
        """SymPy compares each with each; one of them comes of it, or an atom."""
        self._extremes += len(args)
        composed = sum(not _is_atom(arg) for arg in args)
        self._pairs += composed * (len(args) - 1)
        self._check_extremes()
        parts = [self.of(arg) for arg in args]
        for pair in itertools.combinations(parts, 2):
            self._multiply_out([(terms, dict(its)) for terms, its in pair])
        return _most_terms(parts), _highest_degrees(parts)

    def _check_extremes(self):
        if self._extremes > _EXTREMES:
            raise TooMuch(f"more than {_EXTREMES} arguments of Max and Min")
        if self._pairs > _EXTREMES:
            raise TooMuch(f"more than {_EXTREMES} pairs of expressions in Max "
                          "and Min, which SymPy compares")

    def _sum(self, nodes):
        parts = [self.of(node) for node in nodes]
        terms = sum(more for more, _ in parts)
        return terms or 1, _highest_degrees(parts)

    def _product(self, nodes):
        return _product_of([self.of(node) for node in nodes])

    def _power(self, base, exponent):
        terms, degrees = self.of(base)
        more, its = self.of(exponent)
        value = _number(exponent)
        if value is None and any(its):  # of a symbol: not computed
            return terms * more, _merged(degrees, its, max)
        times = _NUMBER + 1 if value is None or not math.isfinite(value) else (
            max(1, math.ceil(abs(value))))
        degrees = {symbol: min(degree * times, 2 * _NUMBER)
                   for symbol, degree in degrees.items()}
        self.check_power(degrees, _SYMBOL if times == value else _ROOT)
        if terms > 1:  # the check bounds the exponent where there is a symbol
            terms = min(math.comb(terms + min(times, _SYMBOL) - 1,
                                  terms - 1), 10 * _ALL_TERMS)
        return terms, degrees

    def _divided(self, nodes):
        """Both sides are multiplied out, and the quotient is an atom or has no
        more terms than they have."""
        parts = [self.of(node) for node in nodes]
        return _most_terms(parts), self._multiply_out(parts)

    def _multiply_out(self, parts):
        """The degrees of their product."""
        terms, degrees = _product_of(parts)
        self.check_power(degrees, max(_DIVIDED, _SYMBOL // terms))
        degree = max((d for symbol, d in degrees.items() if symbol), default=0)
        self._terms += terms
        if degree > 2:
            self._degrees += degree ** 2 if terms > 1 else degree
        self._check_terms(terms)
        return degrees

    def _check_terms(self, terms=0):
        if (terms > _TERMS or self._terms > _ALL_TERMS
                or self._degrees > _ALL_DEGREES):
            raise TooMuch("what it divides or compares has too many terms")

    @staticmethod
    def check_power(degrees, most):
        for symbol, degree in degrees.items():
            limit = most if symbol else _NUMBER
            if degree > limit:
                what = f"{symbol} is" if symbol else "a number is"
                raise TooMuch(f"{what[:100]} raised to a power beyond {limit}")


def _most_terms(parts):
    return max((terms for terms, _ in parts), default=1)


def _highest_degrees(parts):
    degrees = {}
    for _, its in parts:
        degrees = _merged(degrees, its, max)
    return degrees


def _product_of(parts):
    terms, degrees = 1, {}
    for more, its in parts:
        terms = min(terms * more, 10 * _ALL_TERMS)
        degrees = _merged(degrees, its, int.__add__)
    return terms, degrees


def _merged(degrees, others, of_both):
    """Of two that nobody needs any more."""
    if len(degrees) < len(others):
        degrees, others = others, degrees
    for symbol, degree in others.items():
        before = degrees.get(symbol, 0)
        degrees[symbol] = (of_both if symbol else max)(before, degree)
    return degrees
