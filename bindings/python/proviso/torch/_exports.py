"""What an exported program checks, and what has to be added to it.

While torch traces, a dynamic size is 2 or more: 0 and 1 have programs of their
own.  torch.compile checks that.  An exported program does not: it checks the
guards, and ends of ranges from 3 on.  What follows from guards and that 2 is
neither a range to write nor decided for good:

    guard (n+3)//4 != 1    n >= 5 for n >= 2, but 0 is served: not written
    guard n//2 != 1        n//2 >= 2 for n >= 2, not for 0: becomes a guard

What torch itself decides by that 2 alone (`n != 1`) is its own assumption about
a program, and stays one.

Strict export has two traces, Dynamo's and that of its graph.  torch holds the
guards against the promised ranges (`Dim("n", max=9)`) between them, so that a
guard of the second is not reported.  Of a size about which torch would have
reported something that is decided here, all guards are held against them again.
"""

import functools
import threading
import types

from torch.utils._sympy.numbers import int_oo
from torch.utils._sympy.value_ranges import ValueRanges

from proviso import _core
from proviso.torch._replaced import Replaced

_LAST_UNCHECKED = 2  # torch writes `size >= 3`, never `size >= 2`


# ---- what is checked


def _checked_range(env, symbol, found):
    """The range of an input's size or number that a program checks."""
    if (
        symbol not in env.backed_var_to_val
        or not found.is_int
        or found.lower > _LAST_UNCHECKED
    ):
        return found
    lower = 0 if symbol.is_nonnegative else -int_oo
    return ValueRanges(min(lower, found.lower), found.upper)


class Checked:
    """What follows from the guards over the ranges that a program checks."""

    __slots__ = ("_mirror", "_ranges", "_seen")

    def __init__(self):
        self._mirror = _core.Mirror()
        self._ranges = {}  # {symbol: its checked range}
        self._seen = {}  # {symbol: the range that this was made of}

    def _view(self, env):
        """`env` as the mirror looks at it, with these ranges.

        The mirror compares objects: a range that is the same stays the same.
        """
        for symbol in self._seen.keys() - env.var_to_range.keys():
            del self._seen[symbol], self._ranges[symbol]
        for symbol, found in env.var_to_range.items():
            if self._seen.get(symbol) is not found:
                self._seen[symbol] = found
                self._ranges[symbol] = _checked_range(env, symbol, found)
        return types.SimpleNamespace(
            var_to_range=self._ranges,
            replacements=env.replacements,
            guards=env.guards,
            deferred_runtime_asserts=env.deferred_runtime_asserts,
            num_deferred_runtime_asserts=env.num_deferred_runtime_asserts,
            size_like=env.size_like,
            backed_var_to_val=env.backed_var_to_val,
        )

    def ask(self, env, expr):
        """As `Mirror.ask`: the value that follows, None or NotImplemented."""
        return self._mirror.ask(self._view(env), expr, None, None, False,
                                False)

    def bounds(self, env, expr):
        """As `Mirror.bounds`."""
        return self._mirror.bounds(self._view(env), expr, False)


# ---- what is reported of a strict export

_running = threading.local()


class _Strict:
    """A strict export that is under way, after its first trace."""

    report = None  # makes the guards again, and raises what contradicts
    env = None
    guards = 0  # of the first trace
    is_hushed = None  # whether torch would have reported something more


def note_report(env, report, is_hushed):
    """The guards of `env` are held against its promised ranges now; `report()`
    does it again.  `is_hushed()`: see _Strict."""
    export = getattr(_running, "export", None)
    if export is not None:
        export.env, export.guards = env, len(env.guards)
        export.report, export.is_hushed = report, is_hushed


def _report_again(export, mod, args, kwargs, dynamic_shapes):
    """Raises what torch.export raises of ranges that some guard contradicts."""
    from torch._dynamo import functional_export
    from torch._dynamo.exc import UserError, UserErrorType
    from torch._guards import detect_fake_mode
    from torch.fx.experimental import symbolic_shapes
    from torch.utils._sympy.value_ranges import ValueRangeError

    if (
        export.report is None
        or len(export.env.guards) == export.guards
        or not export.is_hushed()
    ):
        return
    made = types.SimpleNamespace(build_guards=lambda _: export.report())
    try:
        functional_export._suggest_or_raise_constraint_violation(
            mod, mod.forward, detect_fake_mode(),
            types.SimpleNamespace(graph_capture_output=made), args, kwargs,
            dynamic_shapes,
        )
    except (symbolic_shapes.ConstraintViolationError, ValueRangeError) as error:
        raise UserError(
            UserErrorType.CONSTRAINT_VIOLATION, str(error)
        ) from None


def _reporting(original):
    @functools.wraps(original)
    def _strict_export(*, mod, args, kwargs, dynamic_shapes, _to_aten_func,
                       **others):
        export = _Strict()

        def to_aten(*inner_args, **inner_kwargs):
            made = _to_aten_func(*inner_args, **inner_kwargs)
            _report_again(export, mod, args, kwargs or {}, dynamic_shapes)
            return made

        outer = getattr(_running, "export", None)
        _running.export = export
        try:
            return original(
                mod=mod, args=args, kwargs=kwargs,
                dynamic_shapes=dynamic_shapes, _to_aten_func=to_aten, **others,
            )
        finally:
            _running.export = outer

    return _strict_export


_strict_exports = Replaced("torch.export._trace", "_strict_export", _reporting)


def bind(wanted):
    """Strict exports report so from here on, or do not."""
    _strict_exports.bind(wanted)
