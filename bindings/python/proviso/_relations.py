"""Expressions over the names of Dims: "2*dx + 1", "h % 4 in {0, 3}".

    Relation("Eq(a*b, 16)").evaluate({"a": 2, "b": 8})         True
    Relation("(2*(d)) + 1").tidied()                           2*d + 1
    Relation("2*d + a").solve("d", 9, {"a": 1})                (8, 2): 2*d == 8

Values may be torch.SymInts; then so are the results.
"""

import ast
import contextlib
import math
import operator

import torch

from proviso import _core

_LEVELS = 100  # of operators in each other: Python calls itself for each
_BITS = 4096  # of a number: more than a product of many sizes has
# Terms of a product of sums, multiplied out, and of all products of a text.
_TERMS, _ALL_TERMS = 4096, 40_000
_SHOWN = 200  # characters of a text that an error shows


def shortened(text):
    text = str(text)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def shown(text):
    return repr(shortened(text))


def require_short(call, number):
    """Of an int that becomes a part of a text."""
    if number.bit_length() > _BITS:
        raise ValueError(
            f"{call}: expected integers of at most {_BITS} bits, got one of "
            f"{number.bit_length()}")


# --- conditions

def _both(a, b):
    return (a and b) if isinstance(a, bool) or isinstance(b, bool) else a & b


def _either(a, b):
    return (a or b) if isinstance(a, bool) or isinstance(b, bool) else a | b


def _all_of(*values):
    return _folded(values, True, _both, lambda a, b: a.and_(b))


def _any_of(*values):
    return _folded(values, False, _either, lambda a, b: a.or_(b))


def _folded(values, unit, of_values, of_nodes):
    """Of nodes where all are symbolic: torch's operators look at each operand
    several times."""
    values = [value for value in values if value is not unit]
    if not values or any(value is (not unit) for value in values):
        return not unit if values else unit
    if all(type(value) is torch.SymBool for value in values):
        return torch.SymBool(_joined([v.node for v in values], of_nodes))
    return _joined(values, of_values)


def _joined(values, of_two):
    """As a balanced tree: what grows by one at a time is copied each time."""
    while len(values) > 1:
        pairs = [of_two(*pair) for pair in zip(values[::2], values[1::2])]
        values = pairs + values[2 * len(pairs):]
    return values[0]


def _comparison(name):
    of_values = getattr(operator, name)

    def compare(a, b):
        if type(a) is not torch.SymInt or type(b) not in (torch.SymInt, int):
            return of_values(a, b)
        other = a.node.wrap_int(b) if type(b) is int else b.node
        return torch.SymBool(getattr(a.node, name)(other))

    return compare


_equal, _unequal = _comparison("eq"), _comparison("ne")


def _is_one_of(left, values):
    return _any_of(*[_equal(left, value) for value in values])


def _is_none_of(left, values):
    return _all_of(*[_unequal(left, value) for value in values])


# --- numbers

def _product(a, b):
    if type(a) is int and type(b) is int:
        _require_bits(a.bit_length() + b.bit_length() - 1)
    return a * b


def _power(base, exponent):
    if type(base) is int and type(exponent) is int and abs(base) > 1:
        # The least number of so many bits.
        _require_bits((abs(base).bit_length() - 1) * exponent)
    result = base ** exponent
    if isinstance(result, complex):
        raise ArithmeticError("a root of a negative number is no real number")
    return result


def _rounded(number, *digits):
    if digits and type(digits[0]) is int:
        _require_bits(abs(digits[0]))  # 10**-digits is computed
    return round(number, *digits)


def _finite(number):
    if type(number) is float and not math.isfinite(number):
        raise ArithmeticError(f"{number} is no number")
    return number


def _require_bits(bits):
    if bits > _BITS:
        raise ArithmeticError(
            f"a number of about {bits if bits < 10**9 else '1e9 or more'} bits; "
            f"{_BITS} are the limit")


_ARITHMETIC = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: _product,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Div: operator.truediv, ast.Pow: _power,
}
_COMPARISONS = {
    ast.Eq: _equal, ast.NotEq: _unequal, ast.Lt: _comparison("lt"),
    ast.LtE: _comparison("le"), ast.Gt: _comparison("gt"),
    ast.GtE: _comparison("ge"),
}
_MEMBERSHIPS = {ast.In: _is_one_of, ast.NotIn: _is_none_of}
_DISPLAYS = (ast.Set, ast.Tuple, ast.List)
# name: (function, how many arguments)
_FUNCTIONS = {
    "Eq": (operator.eq, (2,)), "Ne": (operator.ne, (2,)),
    "Lt": (operator.lt, (2,)), "Le": (operator.le, (2,)),
    "Gt": (operator.gt, (2,)), "Ge": (operator.ge, (2,)),
    "And": (_all_of, None), "Or": (_any_of, None),
    "Not": (torch.sym_not, (1,)), "Mod": (operator.mod, (2,)),
    "FloorDiv": (operator.floordiv, (2,)), "min": (torch.sym_min, (2,)),
    "max": (torch.sym_max, (2,)), "Min": (torch.sym_min, (2,)),
    "Max": (torch.sym_max, (2,)), "abs": (abs, (1,)), "round": (_rounded, (1, 2)),
    "floor": (math.floor, (1,)), "ceil": (math.ceil, (1,)),
    "trunc": (math.trunc, (1,)), "ceildiv": (lambda a, b: -(-a // b), (2,)),
}


class Relation:
    """A parsed expression, equal to another of the same text."""

    def __init__(self, text: str, call: str = "Dim.where"):
        """call: what it is an argument of, for errors."""
        self._call = call
        if not isinstance(text, str):
            raise TypeError(
                f"{call}: a relation between Dims is a str such as "
                f"'a*b == 16', got {_core.shown(text)}")
        self._text = text.strip()
        try:
            self._tree = ast.parse(self._text, mode="eval").body
        except (SyntaxError, ValueError) as error:  # a surrogate
            why = getattr(error, "msg", None) or str(error)
            raise ValueError(
                f"{call}: the relation {shown(text)} is not Python: "
                f"{why[:_SHOWN]}") from None
        except (RecursionError, MemoryError):
            self._refuse_depth()
        self._require_few_levels()
        self.names = set()
        self._check(self._tree)
        self._all_terms = 0
        self._terms(self._tree)

    def __str__(self):
        return self._text

    __repr__ = __str__

    def __eq__(self, other):
        return isinstance(other, Relation) and self._text == other._text

    def __hash__(self):
        return hash(self._text)

    def _refuse(self, node, why):
        part = ast.get_source_segment(self._text, node) or "something"
        raise ValueError(
            f"{self._call}: the relation {shown(self._text)} has {shown(part)}; "
            f"{why}")

    def _refuse_depth(self):
        raise ValueError(
            f"{self._call}: the relation {shown(self._text)} has more than "
            f"{_LEVELS} operators in each other; `and`, `or` and `in` take any "
            "number of parts, and where() any number of relations")

    def _require_few_levels(self):
        level = [self._tree]
        for _ in range(_LEVELS):
            level = [child for node in level
                     for child in ast.iter_child_nodes(node)
                     if isinstance(child, ast.expr)]
        if level:
            self._refuse_depth()

    def _check(self, node, may_be_display=False):
        if isinstance(node, ast.Name):
            self.names.add(node.id)
        elif isinstance(node, ast.Constant):
            self._check_number(node)
        elif isinstance(node, _DISPLAYS) and not may_be_display:
            self._refuse(node, "a set of numbers stands at the end, after `in` "
                         "or `not in`")
        elif not _is_known(node):
            self._refuse(node, "names of Dims, integers, + - * // % and "
                         "comparisons are understood")
        elif isinstance(node, ast.Call):
            self._check_call(node)
        elif isinstance(node, ast.Compare):
            self._check_comparison(node)
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self._check(child)

    def _check_number(self, node):
        value = node.value
        if type(value) not in (int, float, bool):
            self._refuse(node, "constants are numbers")
        if type(value) is int and value.bit_length() > _BITS:
            self._refuse(node, f"a number has at most {_BITS} bits, and this "
                         f"one has {value.bit_length()}")
        if type(value) is float and not math.isfinite(value):
            self._refuse(node, "this is beyond the floats")

    def _check_call(self, node):
        name = _called(node)
        _, counts = _FUNCTIONS[name]
        if counts and len(node.args) not in counts:
            self._refuse(node, f"{name} of {' or '.join(map(str, counts))} "
                         f"is understood, and this is of {len(node.args)}")
        for part in node.args:
            self._check(part)

    def _check_comparison(self, node):
        self._check(node.left)
        for op, right in zip(node.ops, node.comparators):
            is_in = type(op) in _MEMBERSHIPS
            if is_in and not isinstance(right, _DISPLAYS):
                self._refuse(node, f"a set of numbers such as {{2, 4}} stands "
                             "after `in` and `not in`")
            self._check(right, is_in and right is node.comparators[-1])

    def _terms(self, node):
        parts = [self._terms(child) for child in ast.iter_child_nodes(node)
                 if isinstance(child, ast.expr)]
        if not isinstance(node, ast.BinOp):
            return 1
        if isinstance(node.op, (ast.Add, ast.Sub)):
            return sum(parts)
        if not isinstance(node.op, ast.Mult):
            return 1
        terms = math.prod(parts)
        self._all_terms += terms if terms > 1 else 0
        if terms > _TERMS or self._all_terms > _ALL_TERMS:
            self._refuse(node, f"products of sums have at most {_TERMS} terms "
                         f"multiplied out, and {_ALL_TERMS} in all")
        return terms

    # --- values

    def evaluate(self, values):
        with self._said_of_it():
            return self._value(self._tree, values)

    @contextlib.contextmanager
    def _said_of_it(self):
        """What Python says of operands, as an error about the relation."""
        try:
            yield
        except (ArithmeticError, TypeError, ValueError) as error:
            raise ValueError(
                f"{self._call}: the relation {shown(self._text)} has no value: "
                f"{str(error)[:_SHOWN]}") from error

    def _value(self, node, values):
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return values[node.id]
        if isinstance(node, ast.BinOp):
            left = self._value(node.left, values)
            right = self._value(node.right, values)
            if isinstance(node.op, ast.BitAnd):
                return _both(left, right)
            if isinstance(node.op, ast.BitOr):
                return _either(left, right)
            return _finite(_ARITHMETIC[type(node.op)](left, right))
        if isinstance(node, ast.UnaryOp):
            operand = self._value(node.operand, values)
            is_minus = isinstance(node.op, ast.USub)
            return -operand if is_minus else torch.sym_not(operand)
        if isinstance(node, ast.Compare):
            return self._comparison(node, values)
        parts = [self._value(part, values) for part in _parts(node)]
        if isinstance(node, ast.BoolOp):
            is_and = isinstance(node.op, ast.And)
            return (_all_of if is_and else _any_of)(*parts)
        if isinstance(node, ast.Call):
            return _FUNCTIONS[_called(node)][0](*parts)
        return parts

    def _comparison(self, node, values):
        parts, left = [], self._value(node.left, values)
        for op, right_node in zip(node.ops, node.comparators):
            right = self._value(right_node, values)
            compare = _MEMBERSHIPS.get(type(op)) or _COMPARISONS[type(op)]
            parts.append(compare(left, right))
            left = right
        return _all_of(*parts)

    # --- linear forms

    def linear(self):
        """(name, factor, offset) of factor*name + offset, else None."""
        if len(self.names) != 1:
            return None
        name, = self.names
        form = self._form_of(name, {})
        if form is None or form[0] == 0 or type(form[1]) is not int:
            return None
        return (name, *form)

    def solve(self, name, size, values):
        """(rest, factor) with factor*name == rest wherever this is `size`;
        None when `name` has no constant factor."""
        form = self._form_of(name, values)
        return None if form is None or form[0] == 0 else (
            size - form[1], form[0])

    def _form_of(self, name, values):
        with self._said_of_it():
            return self._form(self._tree, _nodes_with(self._tree, name), values)

    def _form(self, node, having, values):
        """(factor, rest): factor*name + rest, where `having` are the nodes that
        have the name in them."""
        if node not in having:
            return 0, self._value(node, values)
        if isinstance(node, ast.Name):
            return 1, 0
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            form = self._form(node.operand, having, values)
            return form and (-form[0], -form[1])
        if not isinstance(node, ast.BinOp):
            return None
        left = self._form(node.left, having, values)
        right = self._form(node.right, having, values)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Add):
            return left[0] + right[0], left[1] + right[1]
        if isinstance(node.op, ast.Sub):
            return left[0] - right[0], left[1] - right[1]
        if not isinstance(node.op, ast.Mult):
            return None
        if left[0] != 0:
            left, right = right, left
        if left[0] != 0 or type(left[1]) is not int:
            return None
        return _product(left[1], right[0]), _product(left[1], right[1])

    # --- text

    def tidied(self) -> "Relation":
        """The same in its shortest spelling: 2*d + 1."""
        form = self.linear()
        return Relation(_linear_text(*form) if form
                        else _spelled(self._tree)[0], self._call)


def _is_known(node):
    if isinstance(node, ast.BinOp):
        return type(node.op) in _ARITHMETIC or isinstance(
            node.op, (ast.BitAnd, ast.BitOr))
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, (ast.USub, ast.Not, ast.Invert))
    if isinstance(node, ast.Compare):
        return all(type(op) in _COMPARISONS or type(op) in _MEMBERSHIPS
                   for op in node.ops)
    if isinstance(node, ast.Call):
        return _called(node) in _FUNCTIONS and not node.keywords
    return isinstance(node, (ast.BoolOp, *_DISPLAYS))


def _parts(node):
    if isinstance(node, ast.BoolOp):
        return node.values
    return node.args if isinstance(node, ast.Call) else node.elts


def _nodes_with(tree, name):
    """Those that have the name in them."""
    having = set()

    def visit(node):
        found = isinstance(node, ast.Name) and node.id == name
        for child in ast.iter_child_nodes(node):
            found |= visit(child)
        if found:
            having.add(node)
        return found

    visit(tree)
    return having


def _called(node):
    if isinstance(node.func, ast.Name):
        return node.func.id
    is_math = isinstance(node.func, ast.Attribute) and isinstance(
        node.func.value, ast.Name) and node.func.value.id == "math"
    return node.func.attr if is_math else None


def _linear_text(name, factor, offset):
    term = name if abs(factor) == 1 else f"{abs(factor)}*{name}"
    if factor < 0:
        return f"{offset} - {term}" if offset else f"-{term}"
    return term if offset == 0 else f"{term} {'+-'[offset < 0]} {abs(offset)}"


_SIGNS = {ast.Add: (" + ", 1), ast.Sub: (" - ", 1), ast.Mult: ("*", 2),
          ast.FloorDiv: ("//", 2), ast.Mod: (" % ", 2)}


def _spelled(node):
    """(text, strength of its weakest operator)."""
    if not isinstance(node, ast.BinOp) or type(node.op) not in _SIGNS:
        return ast.unparse(node), 3
    sign, strength = _SIGNS[type(node.op)]
    left, weakest = _spelled(node.left)
    if weakest < strength:
        left = f"({left})"
    right, weakest = _spelled(node.right)
    is_associative = isinstance(node.op, (ast.Add, ast.Mult))
    if weakest < strength or (weakest == strength and not is_associative):
        right = f"({right})"
    return left + sign + right, strength
