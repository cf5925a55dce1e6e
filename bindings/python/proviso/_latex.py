r"""Expressions as LaTeX, for notebooks: 8 \left\lfloor \frac{n}{8} \right\rfloor.
"""

import re

_LIMIT = 10_000  # characters: what is shared is written each time
_LEAVES = ("Symbol", "Integer", "Float", "Boolean")
_ATOM, _POWER, _PRODUCT, _SUM, _RELATION, _NOT, _AND, _OR = range(8)
_RELATIONS = {"Eq": "=", "Ne": r"\neq", "Lt": "<", "Le": r"\leq"}
_LOGIC = {"And": (r"\wedge", _AND), "Or": (r"\vee", _OR)}
_FLOORS = {"FloorDiv": "floor", "CleanDiv": "floor", "CeilDiv": "ceil"}


def to_latex(expr) -> str:
    """The expression between dollars, cut off where it is very long."""
    made = []
    for op, *rest in expr._rows():
        parts = rest if op in _LEAVES else [made[i] for i in rest]
        made.append(_cut(op, parts))
    return f"${made[-1][0]}$"


def _cut(op, parts):
    if op in _LEAVES or sum(len(text) for text, _ in parts) <= _LIMIT:
        text, rank = _written(op, parts)
        if len(text) <= _LIMIT:
            return text, rank
    return r"\ldots", _ATOM


def _in(part, rank):
    text, own = part
    return text if own <= rank else rf"\left({text}\right)"


def _name(name):
    letters = name.rstrip("0123456789")
    digits = name[len(letters):]
    letters = letters.replace("_", r"\_")
    if len(letters) > 1:
        letters = rf"\mathrm{{{letters}}}"
    return f"{letters}_{{{digits}}}" if letters and digits else (
        letters or digits)


def _number(text):
    top, _, bottom = text.partition("/")
    if bottom:
        return rf"\frac{{{top}}}{{{bottom}}}", _ATOM
    return text, _SUM if text.startswith("-") else _ATOM


def _sum(parts):
    text = _in(parts[0], _SUM)
    for part in parts[1:]:
        term = _in(part, _PRODUCT) if part[1] != _SUM else part[0]
        if term.startswith("-"):
            text += f" - {term[1:].lstrip()}"
        else:
            text += f" + {term if part[1] <= _PRODUCT else _in(part, _PRODUCT)}"
    return text, _SUM


def _product(parts):
    first, *others = parts
    if first[0] == "-1" and others:
        return f"-{_product(others)[0]}", _SUM
    sign = ""
    if first[1] == _SUM and re.fullmatch(r"-\d+", first[0]):
        sign, first = "-", (first[0][1:], _ATOM)
    text = r" ".join(_in(part, _PRODUCT if i == 0 else _POWER)
                     for i, part in enumerate([first, *others]))
    if re.search(r"\d \d", text):
        text = r" \cdot ".join(_in(part, _POWER) for part in [first, *others])
    return sign + text, _SUM if sign else _PRODUCT


def _written(op, parts):
    if op == "Symbol":
        return _name(parts[0]), _ATOM
    if op in ("Integer", "Float"):
        return _number(parts[0])
    if op == "Boolean":
        return rf"\mathrm{{{parts[0]}}}", _ATOM
    if op == "Add":
        return _sum(parts)
    if op == "Mul":
        return _product(parts)
    if op in ("Pow", "PowByNatural", "FloatPow"):
        return f"{_in(parts[0], _ATOM)}^{{{parts[1][0]}}}", _POWER
    if op in _FLOORS:
        kind = _FLOORS[op]
        top, bottom = parts[0][0], parts[1][0]
        return (rf"\left\l{kind} \frac{{{top}}}{{{bottom}}} \right\r{kind}",
                _ATOM)
    if op in ("IntTrueDiv", "FloatTrueDiv"):
        return rf"\frac{{{parts[0][0]}}}{{{parts[1][0]}}}", _ATOM
    if op in ("Mod", "PythonMod"):
        left, right = (_in(part, _POWER) for part in parts)
        return rf"{left} \bmod {right}", _PRODUCT
    if op in _RELATIONS:
        left, right = (_in(part, _SUM) for part in parts)
        return f"{left} {_RELATIONS[op]} {right}", _RELATION
    if op in _LOGIC:
        sign, rank = _LOGIC[op]
        return f" {sign} ".join(_in(part, rank - 1) for part in parts), rank
    if op == "Not":
        return rf"\neg {_in(parts[0], _ATOM)}", _NOT
    return _call(op, parts)


def _call(op, parts):
    inside = ", ".join(text for text, _ in parts)
    if op == "Abs":
        return rf"\left|{inside}\right|", _ATOM
    if op in ("FloorToInt", "CeilToInt"):
        kind = "floor" if op == "FloorToInt" else "ceil"
        return rf"\left\l{kind} {inside} \right\r{kind}", _ATOM
    if op in ("Min", "Max"):
        return rf"\{op.lower()}\left({inside}\right)", _ATOM
    if op == "Where":
        c, a, b = (text for text, _ in parts)
        return (rf"\begin{{cases}} {a} & \text{{if}}\: {c} \\ {b} & "
                r"\text{otherwise} \end{cases}"), _ATOM
    name = op.removeprefix("OpaqueUnaryFn_").removeprefix("BitwiseFn_")
    name = name.replace("_", r"\_")
    return rf"\operatorname{{{name}}}\left({inside}\right)", _ATOM
