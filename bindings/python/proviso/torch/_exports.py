"""What an exported program checks, and what has to be added to it.

While torch traces, a dynamic size is 2 or more: 0 and 1 have programs of their
own.  torch.compile checks that.  An exported program does not: it checks the
guards, and ends of ranges from 3 on.  What follows from guards and that 2 is
neither a range to write nor decided for good:

    guard (n+3)//4 != 1    n >= 5 for n >= 2, but 0 is served: not written
    guard n//2 != 1        n//2 >= 2 for n >= 2, not for 0: becomes a guard
    u0 <= n, of data       2*n > u0 for n >= 2, not for 0: is asserted

What torch itself decides by that 2 alone (`n != 1`) is its own assumption about
a program, and stays one.

A question that becomes a guard if nothing decides it is answered like one of
torch.compile, and remembered: what the program's checks do not imply of these
answers becomes a guard in the end (`Program.add_guards`).  Any other question
is decided where the program's checks imply the answer.
"""

import contextlib
import itertools
import types

import sympy
import torch
from torch.fx.experimental import symbolic_shapes
from torch.utils._sympy.numbers import int_oo
from torch.utils._sympy.value_ranges import ValueRanges

from proviso import _core
from proviso.torch import _answers

_LAST_UNCHECKED = 2  # torch writes `size >= 3`, never `size >= 2`
_LONG = 16  # nodes of an expression

# The class: its name may stand for Proviso's.
_TorchShapeEnv = symbolic_shapes.ShapeEnv


# ---- what is checked -------------------------------------------------------


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


class _Checked:
    """What follows from the guards over the ranges that a program checks."""

    __slots__ = ("_mirror", "_ranges", "_symbols", "_seen")

    def __init__(self):
        self._mirror = _core.Mirror()
        self._ranges = {}  # {symbol: its checked range}
        self._symbols, self._seen = [], []  # and the range that it is made of

    def _view(self, env):
        """`env` as the mirror looks at it, with these ranges.

        The mirror compares objects: a range that is the same stays the same.
        Some code writes into var_to_range, so that no counter tells a change;
        to compare lists of the same objects takes little time.
        """
        symbols, found = [*env.var_to_range], [*env.var_to_range.values()]
        if found != self._seen or symbols != self._symbols:
            seen = dict(zip(self._symbols, self._seen))
            self._ranges = {
                symbol: self._ranges[symbol] if seen.get(symbol) is one
                else _checked_range(env, symbol, one)
                for symbol, one in env.var_to_range.items()
            }
            self._symbols, self._seen = symbols, found
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


# ---- what is decided -------------------------------------------------------


def _is_long(expr):
    nodes = itertools.islice(sympy.preorder_traversal(expr), _LONG + 1)
    return sum(1 for _ in nodes) > _LONG


def _is_of_inputs(env, expr):
    """Whether `expr` is about inputs' sizes and numbers, and not about data."""
    if env.var_to_range.keys() <= env.backed_var_to_val.keys():
        return True  # a walk through an expression costs more than this
    return env.replace(expr).free_symbols <= env.backed_var_to_val.keys()


class Program:
    """The program that torch.export makes of a ShapeEnv, if it makes one.

    `mirror`: the ShapeEnv's.  The companion of a ShapeEnv holds it, so that it
    does not hold the ShapeEnv: each method is given that.
    """

    __slots__ = ("_mirror", "_checked", "_first_ranges", "_promised",
                 "_guarded", "_instead_of_guards", "_is_reported")

    def __init__(self, mirror):
        self._mirror = mirror
        self._checked = None  # a _Checked, once it is known to be exported
        self._first_ranges = {}  # {symbol: its range when it was made}
        self._promised = set()  # symbols whose range is a promise of the user
        self._guarded = None  # what is asked now and becomes a guard if unknown
        self._instead_of_guards = {}  # {what was asked so: the answer}
        self._is_reported = False  # whether the guards are complete

    def is_exported(self, env):
        """Whether `env` is (or was) that of a torch.export."""
        if self._checked is None and (
            env.trace_asserts or torch.compiler.is_exporting()
        ):
            self._checked = _Checked()
        return self._checked is not None

    def note_symbol(self, env, symbol, constraint):
        """`symbol` was made for a size with this constraint of its user."""
        if symbol in env.var_to_range:
            self._first_ranges.setdefault(symbol, env.var_to_range[symbol])
            if isinstance(constraint, symbolic_shapes.StrictMinMaxConstraint):
                self._promised.add(symbol)

    def answer(self, env, expr, torchs):
        """The answer to a question, None or NotImplemented.  `torchs()`:
        torch's own, which is not asked about long expressions: milliseconds
        each, and what it knows of them is checked."""
        is_guarded = expr is self._guarded
        found = self._mirror.ask(env, expr, None, None, False, is_guarded)
        if not _answers.is_value(found):
            return found
        if is_guarded:
            self._instead_of_guards[expr] = found
            return found
        if self._checked.ask(env, expr) != found and (
            _is_long(expr) or torchs() != found
        ):
            return None
        self._mirror.remember(expr, found)
        return found

    def bounds(self, env, expr, replacing, theirs):
        """A range that holds every value of `expr`, which torch.export writes
        as a check.  `theirs`: torch's; `replacing`: the symbol for which a
        replacement is chosen now, or None."""
        if replacing is not None:
            # A smaller range is of use where it lets the symbol go.
            bounds = self._mirror.bounds(env, expr, True)
            whole = env.var_to_range.get(replacing)
            if bounds is NotImplemented or whole is None:
                return theirs
            ours = _answers.value_range(bounds)
            return ours if ours.issubset(whole) else theirs
        bounds = self._checked.bounds(env, expr)
        if bounds is NotImplemented:
            return theirs
        ours = _answers.value_range(bounds)
        is_possible = theirs.lower <= ours.upper and ours.lower <= theirs.upper
        return theirs & ours if is_possible else theirs

    # ---- instead of guards

    @contextlib.contextmanager
    def guarding(self, env, expr, *, is_plain=True, is_strict=False):
        """`with program.guarding(env, expr):` torch asks `expr` and makes a
        guard of it if it is unknown and about sizes of inputs, of any sizes if
        `is_strict`.  `is_plain`: it is not asked in a size-oblivious way."""
        outer = self._guarded
        self._guarded = expr if (
            is_plain
            and not self._is_reported
            and not env._suppress_guards_tls()
            and (is_strict or _is_of_inputs(env, expr))
        ) else None
        try:
            yield
        finally:
            self._guarded = outer

    def asserted_answer(self, env, expr):
        """The value of a question about data that torch would raise and that
        follows only where no size is 0 or 1: the program asserts it.  None for
        any other question."""
        if self._guarded is not expr or _is_of_inputs(env, expr):
            return None
        self._guarded = None
        found = self._mirror.ask(env, expr, None, None, False, False)
        if not _answers.is_value(found):
            return None
        if env._maybe_evaluate_static(expr) is None:
            env.guard_or_defer_runtime_assert(
                _answers.condition(expr, found),
                "it follows for sizes from 2 on",
            )
        return found

    def add_guards(self, env):
        """What was decided where torch would have made a guard becomes one, if
        no check of the program implies it and torch does not itself say so."""
        # Most are implied, which a mirror can tell before replacements are
        # made: to make them takes longer than to ask.
        decided = [
            (expr, value) for expr, value in self._instead_of_guards.items()
            if self._checked.ask(env, _answers.condition(expr, value))
            is not sympy.true
        ]
        for condition in self._unguarded(env, decided):
            if (
                self._checked.ask(env, condition) is not sympy.true
                and not self._follows_for_torch(env, condition)
            ):
                env.guards.append(symbolic_shapes.ShapeGuard(
                    condition, env._get_sloc(), size_oblivious=False
                ))
                env._maybe_guard_rel(condition)
        self._is_reported = True

    def hides_violation(self, env):
        """Whether torch would report that some promised range does not satisfy
        a guard that is decided here and so is none."""
        return any(
            len(condition.free_symbols) == 1
            and condition.free_symbols <= self._promised
            and not self._follows_for_torch(env, condition)
            for condition in self._unguarded(
                env, tuple(self._instead_of_guards.items())
            )
        )

    def _unguarded(self, env, decided):
        """The conditions of sizes of inputs; not what was decided while a size
        was one number for a while."""
        for expr, value in decided:
            condition = env.replace(_answers.condition(expr, value))
            if (
                _is_of_inputs(env, condition)
                and self._mirror.hint(env, condition) is sympy.true
            ):
                yield condition

    def _follows_for_torch(self, env, condition):
        """Whether torch itself decides it before it knows any guard."""
        first = tuple(
            (symbol, self._first_ranges.get(symbol, found))
            for symbol, found in env.var_to_range.items()
        )
        return _TorchShapeEnv._maybe_evaluate_static(
            env, condition, axioms=(), var_to_range=first
        ) is not None
