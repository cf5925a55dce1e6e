"""What is known about sizes, and what follows from it.

    facts = proviso.Context()
    facts.declare("s0 in [2, int_oo]")
    facts.assume("Eq(Mod(s0, 8), 0)")
    facts.ask("Eq(Mod(s0, 4), 0)").verdict     # "yes"

    text = proviso.save_context(ep)            # what a trace learnt, as text
    same = proviso.load_context(text)          # in another process, say
    same.bounds("s0 + 1")                      # VR[3, int_oo]

Questions and facts are PyTorch's printed form or Python, as for the command
`proviso prove`.
"""

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Union

from proviso import _proviso
from proviso._program import ExportedProgram, ValueRange


@dataclass(frozen=True)
class Answer:
    """yes and no follow from `facts` alone; for unknown there are, where found,
    sizes for which the facts hold and the question does not (does)."""

    verdict: str  # "yes", "no", "unknown"
    facts: List[str]
    counterexample: Optional[Dict[str, Any]]
    witness: Optional[Dict[str, Any]]
    reason: str
    tier: str  # which part of the solver decided


class Context:
    """Facts about sizes."""

    def __init__(self):
        self._context = _proviso.Context()

    def declare(self, range: str) -> None:
        """A symbol and its range: "s0 in [2, int_oo]"."""
        self._context.declare(range)

    def assume(self, condition: str) -> None:
        """The condition holds from here on."""
        self._context.assume(condition)

    def ask(self, question: str) -> Answer:
        """Whether the facts imply the question."""
        return Answer(*self._context.ask(question))

    def bounds(self, expression: str) -> ValueRange:
        """A range that holds the values of an integer expression."""
        return ValueRange(*self._context.bounds(expression))

    def simplify(self, expression: str) -> str:
        """The canonical form under the facts."""
        return self._context.simplify(expression)


def save_context(source: Union[Context, ExportedProgram]) -> str:
    """A Context, or what the trace of an exported program took for known (its
    facts say where they come from), as text.  Equal contexts give equal text
    in every process."""
    if isinstance(source, ExportedProgram):
        return source._program.save_context()
    if isinstance(source, Context):
        return source._context.save()
    raise TypeError(
        "save_context: expected a Context or an ExportedProgram, got "
        f"{source!r}")


def load_context(text: str) -> Context:
    """The Context that save_context() wrote.  Raises Error with line and
    column for any other text."""
    if not isinstance(text, str):
        raise TypeError(f"load_context: expected the text, got {text!r}")
    result = Context()
    result._context = _proviso.Context(text)
    return result
