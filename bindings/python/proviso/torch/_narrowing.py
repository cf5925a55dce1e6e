"""Guards of one size that a smaller range says.

    guard n//2 != 1, n in [2, inf]      n in [4, inf], and no guard

A range is checked of every size, so that one with another end costs nothing.
"""

import types

import sympy
from torch.fx.experimental.symbolic_shapes import ValueRangesSLoc
from torch.utils._sympy.functions import Max, Min
from torch.utils._sympy.value_ranges import ValueRanges

from proviso import _core


def _divisors(env, guards):
    """The sizes by which some guard divides.  What keeps a divisor from 0 has
    to be checked before that guard, and ranges are checked after it."""
    return {
        symbol
        for guard in guards
        for expr in (guard.expr, env.replace(guard.expr))
        for f in expr.atoms(sympy.Function)
        if not isinstance(f, (Max, Min))
        for divisor in f.args[1:]
        for symbol in divisor.free_symbols
    }


def _by_symbol(env, guards):
    """{size: [(guard about it alone, its condition)]}"""
    divisors = _divisors(env, guards)
    result = {}
    for guard in guards:
        condition = env.replace(guard.expr)
        symbols = condition.free_symbols
        if (
            len(symbols) != 1
            or guard.size_oblivious
            or symbols & divisors
            or guard.expr.free_symbols & divisors
        ):
            continue
        (symbol,) = symbols
        if symbol in env.var_to_range and symbol in env.backed_var_to_val:
            result.setdefault(symbol, []).append((guard, condition))
    return result


def _env_of_one(env, symbol, conditions):
    """`env` with one size and these guards, as a mirror looks at it."""
    return types.SimpleNamespace(
        var_to_range={symbol: env.var_to_range[symbol]},
        replacements={},
        guards=[
            types.SimpleNamespace(expr=condition, size_oblivious=False)
            for condition in conditions
        ],
        deferred_runtime_asserts={},
        num_deferred_runtime_asserts=0,
        size_like=set(),
        backed_var_to_val=env.backed_var_to_val,
    )


def _narrow(env, symbol, pairs):
    """The guards that the range of `symbol` says once it is as small as all of
    them make it.  It becomes so where that is at least one."""
    known = env.var_to_range[symbol]
    alone = _env_of_one(env, symbol, [condition for _, condition in pairs])
    mirror = _core.Mirror()
    bounds = mirror.bounds(alone, symbol, False)
    if bounds is NotImplemented or bounds[0] is None or bounds[0] == bounds[1]:
        return []
    lower, upper = bounds
    new = ValueRanges(lower, known.upper if upper is None else upper)
    if new == known or env.backed_var_to_val[symbol] not in new:
        return []
    said = [
        guard for guard, condition in pairs
        if mirror.ask(alone, condition, (), ((symbol, new),), False, False)
        is sympy.true
    ]
    if said:
        sloc = said[-1].sloc
        env._update_var_to_range(symbol, new, ValueRangesSLoc(sloc, sloc))
        env._maybe_evaluate_static.cache_clear()
    return said


def with_ranges_for_guards(env, guards):
    """`guards` without those that ranges of `env` say, which become smaller."""
    said = set()
    for symbol, pairs in _by_symbol(env, guards).items():
        said.update(map(id, _narrow(env, symbol, pairs)))
    return [g for g in guards if id(g) not in said]
