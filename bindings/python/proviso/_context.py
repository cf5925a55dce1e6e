"""What is known about sizes, and what follows from it.

    facts = proviso.Context()
    facts.declare("s0 in [2, int_oo]")
    facts.assume("Eq(Mod(s0, 8), 0)")
    facts.ask("Eq(Mod(s0, 4), 0)").verdict     # "yes"

    text = proviso.save_context(ep)            # what a trace learnt, as text
    same = proviso.load_context(text)          # in another process, say
    same.bounds("s0 + 1")                      # VR[3, int_oo]

Questions and facts are text (PyTorch's printed form or Python, as for the
command `proviso prove`), Expr, or objects of SymPy.
"""

import contextlib
from dataclasses import dataclass
from typing import (
    Any, Callable, Dict, Iterable, Iterator, List, Optional, Union)

from proviso import _core
from proviso._errors import Error
from proviso._expr import Expr
from proviso._values import Point, StridedRange, ValueRange

Condition = Union[str, Expr, bool]
Number = Union[str, Expr, int, float]


@dataclass(frozen=True)
class Answer:
    """yes and no follow from `facts` alone; for unknown there are, where found,
    sizes for which the facts hold and the question does not (does).  Facts that
    contradict each other (`is_contradiction`) answer unknown, and `facts` are
    those.

    As a truth value: True for yes, False for no, and an Error for unknown."""

    verdict: str  # "yes", "no", "unknown"
    facts: List[str]
    counterexample: Optional[Dict[str, Any]]
    witness: Optional[Dict[str, Any]]
    reason: str
    tier: str  # which part of the solver decided
    strategy: str = ""  # that decided; empty for unknown
    fact_ids: List[int] = ()  # of `facts`, as Context.fact() takes them
    is_contradiction: bool = False

    def __bool__(self):
        if self.verdict == "unknown":
            at = "" if self.counterexample is None else (
                f"; it fails at {self.counterexample}")
            raise Error(
                f"Answer: the answer is unknown, neither true nor false"
                f"{at}; compare .verdict with 'yes' ({self.reason})")
        return self.verdict == "yes"


@dataclass(frozen=True)
class Fact:
    """What a Context assumes, and where it comes from."""

    id: int
    condition: Expr
    text: str = ""
    file: str = ""
    line: int = 0
    depth: int = 0  # how many push() were open

    def __str__(self):
        where = f"  # {self.file}:{self.line}" if self.file else ""
        return (self.text or str(self.condition)) + where


@dataclass(frozen=True)
class Solution:
    """The relation holds exactly where the symbol is `side` (==, <= or >=)
    `value` and `condition` holds; neither has the symbol in it."""

    side: str
    value: Expr
    condition: Expr

    def __str__(self):
        if self.condition.constant is True:
            return f"{self.side} {self.value}"
        return f"{self.side} {self.value} if {self.condition}"


class Context:
    """Facts about sizes, and questions that they decide.

    >>> n, = symbols("n")
    >>> context = Context()
    >>> context.declare(n, 1, 1024)
    0
    >>> context.assume(n % 8 == 0)
    1
    >>> context.ask(n >= 8).verdict
    'yes'
    >>> context.ask(n % 16 == 0).counterexample["n"] % 16
    8

    options: the solver's (docs/solver.md), by name: budget=20000,
        use_z3=False.
    strict: whether a name in a text must be a symbol of the context already,
        by declare(), symbol() or an Expr; an unknown one is an Error.  Without
        it that is so of questions, once a symbol was declared: what no fact
        and no declaration names is taken for a slip of the pen.
    """

    def __init__(self, *, strict: Optional[bool] = None, **options):
        self._context = _core.Context(options, strict)

    def __getattr__(self, name):
        if name == "_context":
            raise Error("Context: made without its constructor; write "
                        "Context(..)")
        raise AttributeError(f"'Context' object has no attribute {name!r}")

    @classmethod
    def _of(cls, context):
        result = cls.__new__(cls)
        result._context = context
        return result

    # --- symbols and expressions

    def symbol(self, name: str, kind: Optional[str] = None) -> Expr:
        """The symbol of this name, made where it is new (see symbol())."""
        return self._context.symbol(name, kind)

    def symbols(self) -> List[Expr]:
        """All symbols, in the order they were made."""
        return self._context.symbols()

    def expr(self, expression: Number) -> Expr:
        """The expression over this context's symbols."""
        return self._context.expr(expression)

    # --- facts

    def declare(self, symbol: Union[str, Expr], lower: Optional[int] = None,
                upper: Optional[int] = None, *, step: int = 1,
                residue: Optional[int] = None, origin: str = "",
                file: str = "", line: int = 0) -> int:
        """The symbol lies in [lower, upper] from here on; None is no end.
        Gives the fact's id.

        declare("s0 in [2, int_oo]") says the range in the text.
        step: the values are that far apart, from lower on (from 0, where there
        is no lower); residue: what each leaves, divided by step, instead.

        >>> context = Context()
        >>> _ = context.declare("n", 16, 100, step=16)
        >>> context.values("n")
        [16, 32, 48, 64, 80, 96]
        """
        where = (origin, file, line)
        if isinstance(symbol, str) and " in " in symbol:
            if lower is not None or upper is not None:
                raise TypeError(
                    f"Context.declare: {_core.shown(symbol)} says its range, "
                    "and lower and upper say one too; give one of them")
            return self._context.declare_text(symbol, where)
        return self._context.declare(symbol, lower, upper, step, residue,
                                     where)

    def assume(self, condition: Condition, *, origin: str = "",
               file: str = "", line: int = 0) -> int:
        """The condition holds (and is defined) from here on.  Gives the fact's
        id.  origin, file, line: where it comes from, for reasons."""
        return self._context.assume(condition, (origin, file, line))

    def facts(self) -> List[Fact]:
        """In the order assumed."""
        return [Fact(*row) for row in self._context.facts()]

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.facts())

    def __len__(self) -> int:
        return len(self._context.facts())

    def fact(self, id: int) -> Fact:
        """The fact that assume() or declare() gave this id."""
        return Fact(*self._context.fact(id))

    def contradiction(self) -> Optional[List[Fact]]:
        """Facts that contradict each other, when that is known."""
        ids = self._context.contradiction()
        return None if ids is None else [self.fact(id) for id in ids]

    # --- questions

    def ask(self, question: Condition) -> Answer:
        """Whether the facts imply the question."""
        verdict, facts, fails, holds, *rest = self._context.ask(question)
        return Answer(verdict, facts, fails and Point(fails),
                      holds and Point(holds), *rest)

    def ask_quick(self, question: Condition) -> str:
        """The verdict of the native tiers alone, in the least time: "yes",
        "no" or "unknown"."""
        return self._context.ask_quick(question)

    def equivalent(self, a: Number, b: Number) -> str:
        """Whether two expressions have the same value wherever the facts
        hold: "yes", "no" (they have not everywhere) or "unknown"."""
        return self._context.equivalent(a, b)

    def bounds(self, expression: Number) -> ValueRange:
        """A range that holds the values of an integer expression, with ends
        moved in as far as ask() proves."""
        return ValueRange(*self._context.bounds(expression, False))

    def bounds_quick(self, expression: Number) -> ValueRange:
        """The same by ranges and normal forms alone, in the least time."""
        return ValueRange(*self._context.bounds(expression, True))

    def strided(self, expression: Number) -> StridedRange:
        """bounds() with the distance between the values.

        >>> context = Context()
        >>> _ = context.declare("n", 1, 4)
        >>> context.strided("16*n + 1")
        17:65:16
        """
        return StridedRange(*self._context.strided(expression))

    def upper_bound(self, expression: Number,
                    over: Iterable[Union[str, Expr]] = ()) -> Optional[Expr]:
        """An expression over the symbols `over` alone that an integer
        expression is never more than; None when none is found.

        >>> context = Context()
        >>> _ = context.assume("n <= tile*tiles")
        >>> _ = context.assume("(0 <= pad) & (pad < tile)")
        >>> context.upper_bound("n + pad", ["tile", "tiles"])
        tile*tiles + tile - 1
        """
        return self._context.bound_over(
            expression, _listed(over, "Context.upper_bound"), True)

    def lower_bound(self, expression: Number,
                    over: Iterable[Union[str, Expr]] = ()) -> Optional[Expr]:
        """The same of what it is never less than."""
        return self._context.bound_over(
            expression, _listed(over, "Context.lower_bound"), False)

    def solve(self, relation: Condition,
              symbol: Union[str, Expr]) -> Optional[Solution]:
        """The relation (==, <, <=, >, >= of integers) solved for a symbol;
        None where it is not solved.

        >>> context = Context()
        >>> print(context.solve("4*x + 3 == n", "x"))
        == ((n - 3)//4) if Eq(Mod(n, 4), 3)
        >>> print(context.solve("x // 8 <= n", "x"))
        <= 8*n + 7
        """
        found = self._context.solve(relation, symbol)
        return None if found is None else Solution(*found)

    def common_divisor(self, a: Number, b: Number) -> Expr:
        """A product of a number and of factors that divides both integer
        expressions wherever it is not 0.

        >>> Context().common_divisor("6*n*k", "4*n")
        2*n
        """
        return self._context.common_divisor(a, b)

    def facts_behind(self, call: str, expression) -> List[Fact]:
        """Facts that alone imply what a call gives for an expression: few
        where ask() proves it.  call: "bounds", "strided", "multiple_of",
        "values", "simplify", "canonical" or "substitute".

        >>> context = Context()
        >>> _ = context.assume("m % 8 == 0")
        >>> _ = context.assume("n < 7")
        >>> [str(fact) for fact in context.facts_behind("multiple_of", "3*m")]
        ['m % 8 == 0']
        """
        return [self.fact(id)
                for id in self._context.facts_behind(call, expression)]

    def multiple_of(self, expression: Number) -> int:
        """A number that divides every value of an integer expression; 0 for
        what is always 0."""
        return self._context.multiple_of(expression)

    def values(self, expression: Number, limit: int = 64) -> Optional[List[int]]:
        """The values that an integer expression can take, ascending, none
        missing; None when they may be more than `limit`."""
        return self._context.values(expression, limit)

    def substitute(self, expression):
        """With symbols substituted that the facts' equalities determine.  A str
        for a str, else an Expr."""
        return self._like(expression, self._context.substitute(expression))

    def simplify(self, expression):
        """The cheapest form found under the facts.  A str for a str, else an
        Expr."""
        return self._like(expression, self._context.simplify(expression))

    def canonical(self, expression):
        """The canonical form under the facts, quickly: equal things are more
        often the same than short.  A str for a str, else an Expr."""
        return self._like(expression, self._context.canonical(expression))

    @staticmethod
    def _like(given, result):
        return str(result) if isinstance(given, str) else result

    # --- scopes and copies

    def clone(self) -> "Context":
        """A context with the same facts, in constant time; each goes its own
        way from here."""
        return self._of(self._context.clone())

    __copy__ = clone

    def push(self) -> None:
        """Facts assumed from here on are forgotten by the matching pop()."""
        self._context.push()

    def pop(self) -> None:
        """Undoes push()."""
        self._context.pop()

    @property
    def depth(self) -> int:
        """How many push() are open."""
        return self._context.depth()

    @contextlib.contextmanager
    def scope(self):
        """Facts assumed in the block are forgotten after it.

        >>> context = Context()
        >>> with context.scope():
        ...     _ = context.assume("n > 3")
        >>> len(context)
        0
        """
        self.push()
        try:
            yield self
        finally:
            self.pop()

    def __getstate__(self):
        return self._context.save()

    def __setstate__(self, text):
        # As much trusted as any pickle: its options are kept.
        self._context = _core.Context.load(text, None)

    # --- operating it

    def interrupt(self) -> None:
        """Ends the call that runs on another thread, as if its limit were
        reached.  The only method that another thread may call meanwhile
        without waiting for it."""
        self._context.interrupt()

    def set_log(self, callback: Optional[Callable[[str], Any]]) -> None:
        """callback(line) gets each call of this context and its clones, when
        it is done, as a line that `proviso replay` reads; None ends it.
        What the callback itself asks of them has no line.  PROVISO_TRACE=FILE
        in the environment writes the lines of every context to FILE.

        >>> context = Context()
        >>> context.set_log(print)
        >>> _ = context.ask_quick("n < n + 1")
        @1 pool 1
        @1 symbol n backed_int
        @1 ask quick n < n + 1 ; truth valid
        """
        self._context.set_log(callback)

    def statistics(self) -> Dict[str, Any]:
        """Of this context and its clones: questions, decided (by tier),
        strategies ({name: (tried, decided, work)}), box and consistency
        (counted alike: ranges of symbols read before the strategies, looks
        for contradictions after them), memo_hits, z3_calls, work."""
        return self._context.statistics()

    def options(self) -> Dict[str, int]:
        """The solver's options, by name."""
        return self._context.options()

    def to_smtlib(self, question: Condition) -> str:
        """The question and the facts as an SMT-LIB script."""
        return self._context.to_smtlib(question)


def save_context(source) -> str:
    """A Context, or what the trace of an exported program took for known (its
    facts say where they come from), as text.  Equal contexts give equal text
    in every process."""
    if isinstance(source, Context):
        return source._context.save()
    program = getattr(source, "_program", None)
    if program is not None and hasattr(program, "save_context"):
        return program.save_context()
    raise TypeError(
        "save_context: expected a Context or an ExportedProgram, got "
        f"{_core.shown(source)}")


def load_context(text: str, **most: int) -> Context:
    """The Context that save_context() wrote.  Raises Error with line and
    column for any other text, and for one whose options let a call spend more
    than Context(**most) would: load_context(text, work_limit=6_400_000)."""
    return Context._of(_core.Context.load(text, most))


def _listed(symbols, call):
    try:
        if not isinstance(symbols, str):
            return list(symbols)
    except TypeError:
        pass
    raise TypeError(f"{call}: over is {_core.shown(symbols)}; give a list of "
                    "symbols")
