"""What a mirror answers, in torch's words.

    is_value(None)                       False: unknown
    is_value(NotImplemented)             False: it has no meaning in Proviso
    condition(s0 < s1, sympy.false)      s0 >= s1
    condition(s0 + s1, (2, None))        2 <= s0 + s1
    value_range((2, None))               ValueRanges(2, int_oo)
"""

import sympy
from torch.utils._sympy.numbers import int_oo
from torch.utils._sympy.value_ranges import ValueRanges


def is_value(answer):
    return answer is not None and answer is not NotImplemented


def condition(expr, answer):
    """The boolean that says that `expr` has this value or lies within."""
    if answer is sympy.true:
        return expr
    if answer is sympy.false:
        return sympy.Not(expr)
    if not isinstance(answer, tuple):
        return sympy.Eq(expr, answer)
    lower, upper = answer
    ends = []
    if lower is not None:
        ends.append(sympy.Le(lower, expr))
    if upper is not None:
        ends.append(sympy.Le(expr, upper))
    return sympy.And(*ends)


def value_range(bounds):
    lower, upper = bounds
    return ValueRanges(
        -int_oo if lower is None else sympy.Integer(lower),
        int_oo if upper is None else sympy.Integer(upper),
    )
