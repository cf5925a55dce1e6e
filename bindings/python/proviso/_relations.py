"""Expressions over the names of Dims: "2*dx + 1", "h % 4 in {0, 3}".

    Relation("Eq(a*b, 16)").evaluate({"a": 2, "b": 8})         True
    Relation("(2*(d)) + 1").tidied()                           2*d + 1
    Relation("2*d + a").solve("d", 9, {"a": 1})                (8, 2): 2*d == 8

Values may be torch.SymInts; then so are the results.
"""

import ast
import math
import operator

import torch

_ARITHMETIC = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Div: operator.truediv, ast.Pow: operator.pow,
}
_COMPARISONS = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}


def _both(a, b):
    return (a and b) if isinstance(a, bool) or isinstance(b, bool) else a & b


def _either(a, b):
    return (a or b) if isinstance(a, bool) or isinstance(b, bool) else a | b


def _all_of(*values):
    result = True
    for value in values:
        result = value if result is True else _both(result, value)
    return result


def _any_of(*values):
    result = False
    for value in values:
        result = value if result is False else _either(result, value)
    return result


_FUNCTIONS = {
    "Eq": operator.eq, "Ne": operator.ne, "Lt": operator.lt, "Le": operator.le,
    "Gt": operator.gt, "Ge": operator.ge, "And": _all_of, "Or": _any_of,
    "Not": torch.sym_not, "Mod": operator.mod, "FloorDiv": operator.floordiv,
    "min": torch.sym_min, "max": torch.sym_max, "Min": torch.sym_min,
    "Max": torch.sym_max, "abs": abs, "round": round, "floor": math.floor,
    "ceil": math.ceil, "trunc": math.trunc, "ceildiv": lambda a, b: -(-a // b),
}


class Relation:
    """A parsed expression, equal to another of the same text."""

    def __init__(self, text: str):
        if not isinstance(text, str):
            raise TypeError(
                f"a relation between Dims is a str such as 'a*b == 16', got "
                f"{text!r}")
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except SyntaxError as error:
            raise ValueError(
                f"the relation {text!r} is not Python: {error.msg}") from None
        self._text = text.strip()
        self.names = set()
        self._check(self._tree)

    def __str__(self):
        return self._text

    __repr__ = __str__

    def __eq__(self, other):
        return isinstance(other, Relation) and self._text == other._text

    def __hash__(self):
        return hash(self._text)

    def _refuse(self, node):
        raise ValueError(
            f"the relation {self._text!r} has {ast.unparse(node)!r}; names of "
            "Dims, integers, + - * // % and comparisons are understood")

    def _check(self, node):
        if isinstance(node, ast.Name):
            self.names.add(node.id)
            return
        if isinstance(node, ast.Constant):
            if type(node.value) not in (int, float, bool):
                self._refuse(node)
            return
        known = {
            ast.BinOp: lambda n: type(n.op) in _ARITHMETIC or isinstance(
                n.op, (ast.BitAnd, ast.BitOr)),
            ast.UnaryOp: lambda n: isinstance(n.op, (ast.USub, ast.Not,
                                                     ast.Invert)),
            ast.BoolOp: lambda n: True,
            ast.Compare: lambda n: all(
                type(op) in _COMPARISONS or isinstance(op, (ast.In, ast.NotIn))
                for op in n.ops),
            ast.Call: lambda n: _called(n) in _FUNCTIONS and not n.keywords,
            ast.Set: lambda n: True, ast.Tuple: lambda n: True,
            ast.List: lambda n: True,
        }.get(type(node))
        if known is None or not known(node):
            self._refuse(node)
        parts = node.args if isinstance(node, ast.Call) else (
            ast.iter_child_nodes(node))
        for child in parts:
            if isinstance(child, ast.expr):
                self._check(child)

    # --- values

    def evaluate(self, values):
        return self._value(self._tree, values)

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
            return _ARITHMETIC[type(node.op)](left, right)
        if isinstance(node, ast.UnaryOp):
            operand = self._value(node.operand, values)
            is_minus = isinstance(node.op, ast.USub)
            return -operand if is_minus else torch.sym_not(operand)
        if isinstance(node, ast.BoolOp):
            parts = [self._value(v, values) for v in node.values]
            return (_all_of if isinstance(node.op, ast.And) else _any_of)(
                *parts)
        if isinstance(node, ast.Call):
            return _FUNCTIONS[_called(node)](
                *[self._value(a, values) for a in node.args])
        if isinstance(node, ast.Compare):
            return self._comparison(node, values)
        return [self._value(e, values) for e in node.elts]

    def _comparison(self, node, values):
        result, left = True, self._value(node.left, values)
        for op, right_node in zip(node.ops, node.comparators):
            right = self._value(right_node, values)
            if isinstance(op, ast.In):
                part = _any_of(*[left == v for v in right])
            elif isinstance(op, ast.NotIn):
                part = _all_of(*[left != v for v in right])
            else:
                part = _COMPARISONS[type(op)](left, right)
            result, left = _all_of(result, part), right
        return result

    # --- linear forms

    def linear(self):
        """(name, factor, offset) of factor*name + offset, else None."""
        if len(self.names) != 1:
            return None
        name, = self.names
        form = self._form(self._tree, name, {})
        if form is None or form[0] == 0 or type(form[1]) is not int:
            return None
        return (name, *form)

    def solve(self, name, size, values):
        """(rest, factor) with factor*name == rest wherever this is `size`;
        None when `name` has no constant factor."""
        form = self._form(self._tree, name, values)
        return None if form is None or form[0] == 0 else (
            size - form[1], form[0])

    def _form(self, node, name, values):
        """(factor, rest): factor*name + rest."""
        if isinstance(node, ast.Name) and node.id == name:
            return 1, 0
        if not any(isinstance(n, ast.Name) and n.id == name
                   for n in ast.walk(node)):
            return 0, self._value(node, values)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            form = self._form(node.operand, name, values)
            return form and (-form[0], -form[1])
        if not isinstance(node, ast.BinOp):
            return None
        left = self._form(node.left, name, values)
        right = self._form(node.right, name, values)
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
        return left[1] * right[0], left[1] * right[1]

    # --- text

    def tidied(self) -> "Relation":
        """The same in its shortest spelling: 2*d + 1."""
        form = self.linear()
        return Relation(_linear_text(*form) if form
                        else _spelled(self._tree)[0])


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
