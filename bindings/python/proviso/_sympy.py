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
import math
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
_KEEP_INTEGERS = ("Add", "Mul", "Mod", "Min", "Max", "Abs")
# SymPy takes 0.06 s for a sum of 30 fractions with a denominator each, which has
# 930 factors, and 0.04 s for six fractions in each other.
_FACTORS, _FEW = 1000, 10
_FRACTIONS = "sum of fractions in a floor or ceiling"
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
        self._done, self._whole, self._quotients = {}, {}, {}
        self._factors = 0  # of all fractions together, past _FEW of each

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
        if node not in self._quotients:
            pair = self._fraction(node.args[0])
            is_whole = all(map(self._is_whole, pair))
            self._quotients[node] = pair if is_whole else None
        return self._quotients[node]

    def _fraction(self, value):
        """Its numerator and denominator.  Where that is a number, SymPy need not
        look for factors that the terms have in common."""
        sympy = self._sympy
        terms = [term.as_coeff_Mul() for term in sympy.Add.make_args(value)]
        if all(sympy.fraction(rest)[1] == 1 for _, rest in terms):
            below = math.lcm(*[number.q for number, _ in terms])
            return (sympy.Add(*[number * below * rest
                                for number, rest in terms]),
                    sympy.Integer(below))
        above, below = _factors_together(value, {})
        self._factors += max(above + sum(below.values()) - _FEW, 0)
        if self._factors > _FACTORS:
            raise Error(
                f"{self._call}: a {_FRACTIONS} would have more than {_FACTORS} "
                "factors with one denominator; write a floor or a ceiling of "
                "one fraction each")
        return sympy.fraction(sympy.together(value))

    def _is_whole(self, node):
        """What is_integer says; of operators that keep integers without the
        questions about signs, which take long of deep ones."""
        if node not in self._whole:
            self._whole[node] = self._whole_of(node)
        return self._whole[node]

    def _whole_of(self, node):
        name = type(node).__name__
        if name in _ROUNDED:
            return True
        if isinstance(node, self._sympy.Piecewise):
            return all(self._is_whole(value) for value, _ in node.args)
        if name in _KEEP_INTEGERS or (
                name in ("Pow", "PowByNatural", *_SHIFTS)
                and _exponent(node.args) is not None):
            return all(map(self._is_whole, node.args))
        return bool(node.is_integer)

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


def _factors_together(node, known):
    """(how many factors its numerator has over one denominator, {factor of that:
    of how many factors}): each term is multiplied by the other denominators."""
    if node not in known:
        known[node] = _factors_of(node, known)
    return known[node]


def _factors_of(node, known):
    if node.is_Rational:
        return 1, {} if node.q == 1 else {"number": 1}
    if node.is_Pow and node.exp.is_Rational:
        above, below = _factors_together(node.base, known)
        return (above, below) if node.exp > 0 else (
            1 + sum(below.values()), {node.base: above})
    if not node.is_Add and not node.is_Mul:
        return 1, {}
    parts = [_factors_together(arg, known) for arg in node.args]
    below = {}
    for _, denominators in parts:
        below.update(denominators)
    above = sum(above for above, _ in parts)
    if node.is_Add:
        above += len(parts) * sum(below.values())
    return above, below


def _power_of(base, exponent):
    is_float = any(isinstance(x, float) or getattr(x, "type", "") == "float"
                   for x in (base, exponent))
    return _core.make("FloatPow" if is_float else "Pow", base, exponent)


# --- out

# SymPy looks into what an operator is given: the time that a quotient of quotients
# takes is cubic in their number (0.1 s for 20, 11 s for 80), and of a remainder
# it multiplies out the sum.  What is larger than this it takes as it is written.
_LEVELS = 8  # of operators that look, in each other
_TERMS, _DEGREE, _BITS = 64, 8, 4096  # of an operand, multiplied out
_LOOKS = 64  # of all operators of one expression
_NUMBER = 1 << 20  # bits of the numbers of a sum or product
# What is shared it walks through for each use: of the operators of an expression
# together, what is below each, written out.  (0.2 us each: 20 levels of
# Max(e + 1, e*3//2) are 50 million, and 6 s.)  A text of 10 KB has 1 million.
_WRITTEN = 4_000_000
_PARTS = 100  # of what looks, written out
_POWERS = ("Pow", "PowByNatural", "FloatPow")
_QUOTIENTS = ("IntTrueDiv", "FloatTrueDiv")
_SHIFTS = ("LShift", "RShift")
_PAIRS = ("Min", "Max", "And", "Or")  # each argument is compared with each


class _Size:
    """How large a value is: operators that looked, in each other; the terms and
    the degree of the sum, multiplied out, and the bits of its numbers."""

    def __init__(self, levels, terms, degree, bits):
        self.levels, self.bits = levels, bits
        self.terms, self.degree = min(terms, 10**6), min(degree, 10**6)

    @classmethod
    def of_number(cls, number):
        return cls(0, 1, 0, number.p.bit_length() + number.q.bit_length())

    @classmethod
    def of_call(cls, op, args, exponent, is_whole):
        levels = max((a.levels for a in args), default=0)
        bits = sum(a.bits for a in args)
        if op == "Add":
            return cls(levels, sum(a.terms for a in args),
                       max(a.degree for a in args), bits)
        if op == "Mul" or op in _QUOTIENTS:
            return cls(levels, math.prod(a.terms for a in args),
                       sum(a.degree for a in args), bits)
        if exponent is None:
            return cls(levels + 1, 1, 1, 0)
        if op in _POWERS:
            base, times = args[0], min(exponent, 10**6)
            terms = base.terms ** min(times, 20)
            return cls(levels if is_whole else levels + 1, terms,
                       base.degree * times, base.bits * times)
        return cls(levels + 1, 1, 1, exponent if op in _SHIFTS else 0)

    def is_small(self):
        return (self.levels <= _LEVELS and self.terms <= _TERMS
                and self.degree <= _DEGREE and self.bits <= _BITS)


def _functions(sympy):
    """Each of its operands; the last argument is whether it is evaluated."""
    def quotient(a, b, looks):
        return sympy.floor(a / b, evaluate=looks)

    def looking(function):
        return lambda *args: function(*args[:-1], evaluate=args[-1])

    def fraction(a, b, looks):
        return a / b if looks else sympy.Mul(
            a, sympy.Pow(b, -1, evaluate=False), evaluate=False)

    def where(c, a, b, looks):
        # Where conditions hold a Piecewise SymPy folds them, also with
        # evaluate=False.
        return (sympy.Piecewise((a, c), (b, True)) if looks
                else sympy.Function("Where")(c, a, b))

    return {
        "Add": looking(sympy.Add), "Mul": looking(sympy.Mul),
        **dict.fromkeys(_POWERS, looking(sympy.Pow)),
        "FloorDiv": quotient, "CleanDiv": quotient,
        "CeilDiv": lambda a, b, looks: sympy.ceiling(a / b, evaluate=looks),
        "Mod": looking(sympy.Mod), "PythonMod": looking(sympy.Mod),
        "ModularIndexing": lambda a, b, m, looks: sympy.Mod(
            quotient(a, b, looks), m, evaluate=looks),
        "Min": looking(sympy.Min), "Max": looking(sympy.Max),
        "Abs": looking(sympy.Abs), "Identity": lambda a, looks: a,
        "LShift": lambda a, b, looks: a * 2**b,
        "RShift": lambda a, b, looks: quotient(a, 2**b, looks),
        "Eq": looking(sympy.Eq), "Ne": looking(sympy.Ne),
        "Lt": looking(sympy.Lt), "Le": looking(sympy.Le),
        "And": looking(sympy.And), "Or": looking(sympy.Or),
        "Not": looking(sympy.Not),
        "Where": where,
        "ToFloat": lambda a, looks: a,
        **dict.fromkeys(_QUOTIENTS, fraction),
        "FloorToInt": looking(sympy.floor),
        "CeilToInt": looking(sympy.ceiling),
    }


def to_sympy(expr):
    """An Expr as SymPy has it: integer symbols are Symbol(name,
    integer=True), floats real.  What SymPy has no word for is a Function of
    the operator's name.  Operators of large operands are not evaluated."""
    import sympy

    with _within_the_stack("Expr.sympy"):
        return _made_of(expr._rows(), sympy)


def _made_of(rows, sympy):
    functions = _functions(sympy)
    made, sizes = [], []
    looks = 0
    written = _written_out(rows)
    for op, *rest in rows:
        if op == "Symbol":
            name, kind, _ = rest
            is_float = kind.endswith("float")
            made.append(sympy.Symbol(
                name, **({"real": True} if is_float else {"integer": True})))
            sizes.append(_Size(0, 1, 1, 0))
        elif op in ("Integer", "Float"):
            made.append(_rational(sympy, rest[0]))
            sizes.append(_Size.of_number(made[-1]))
        elif op == "Boolean":
            made.append(sympy.true if rest[0] else sympy.false)
            sizes.append(_Size(0, 1, 0, 0))
        else:
            args, of = [made[i] for i in rest], [sizes[i] for i in rest]
            size = _Size.of_call(op, of, _power(args),
                                 _exponent(args) is not None)
            _require_few(size.levels)
            if op in ("Add", "Mul"):
                is_evaluated = size.bits <= _NUMBER
            else:
                looks += len(args)**2 if op in _PAIRS else 1
                is_evaluated = (
                    looks <= _LOOKS and written[len(made)] <= _PARTS
                    and all(s.is_small() for s in (size, *of)))
            if op in _POWERS + _SHIFTS and size.bits > _BITS:
                # Sums and products evaluate powers of numbers.
                made.append(sympy.Function(op)(*args))
                size = _Size(size.levels + 1, 1, 1, 0)
            else:
                made.append(_function(sympy, functions, op)(
                    *args, is_evaluated))
            sizes.append(size)
    return made[-1]


def _require_few(levels):
    if levels > sys.getrecursionlimit() // 4:
        raise RecursionError  # in whatever is done with it


def _written_out(rows):
    """How many parts each has, where what is shared is written for each use."""
    written, levels, all_written = [], [], 0
    for op, *rest in rows:
        if op in ("Symbol", "Integer", "Float", "Boolean"):
            rest = ()
        looks = op not in ("Add", "Mul", *_QUOTIENTS, *_POWERS)
        levels.append(max((levels[i] for i in rest), default=0) + looks)
        _require_few(levels[-1])
        written.append(1 + sum(written[i] for i in rest))
        all_written += written[-1]
        if all_written > _WRITTEN:
            raise Error(
                "Expr.sympy: the expression is too long for SymPy, which "
                "writes out what is shared for each use: its operators have "
                f"more than {_WRITTEN} parts below them")
    return written


def _function(sympy, functions, op):
    if op in functions:
        return functions[op]
    name = op.removeprefix("OpaqueUnaryFn_")
    made = getattr(sympy, name, None) if name in _UNARY else None
    made = made or sympy.Function(name)
    return lambda *args: made(*args[:-1], evaluate=args[-1])


def _rational(sympy, text):
    try:
        return sympy.Rational(text)
    except (TypeError, ValueError):  # Python's limit of digits
        raise Error(
            f"Expr.sympy: a number of {len(text)} characters is longer than "
            f"Python reads, which is {sys.get_int_max_str_digits()} digits; "
            "give sys.set_int_max_str_digits() more") from None


def _power(args):
    """How high a power the last argument makes, where it is a number: of 1/2 and
    of -1 it is 1."""
    if not args or not args[-1].is_Rational:
        return None
    return -(-abs(args[-1].p) // args[-1].q)


def _exponent(args):
    """The last argument, where it is a number that is no fraction and not
    negative."""
    is_whole = bool(args) and args[-1].is_Integer and args[-1] >= 0
    return int(args[-1]) if is_whole else None
