"""What export can say no with."""

from dataclasses import dataclass
from typing import Optional


class Error(RuntimeError):
    """The base of proviso's own errors."""


class ConstraintViolationError(Error, ValueError):
    """dynamic_shapes promises sizes that the program does not take."""


@dataclass(frozen=True)
class Suggestion:
    """A line that answers a question about data, when it is inserted."""

    code: str      # torch._check(n % 4 == 0)
    file: str
    line: int      # to insert before; indented as it is
    excludes: str  # what it rules out: n % 4 != 0; empty where not known
    condition: Optional[str] = None  # n % 4 == 0

    def __str__(self):
        return self.code


class DataDependentError(Error):
    """A branch or a size depends on data that only a run has.

    suggestions: the checks that answer the question, the side that the example
        takes first; empty where no name of the program says it.
    """

    suggestions = ()
    # Of proviso's own traces: _suggest.Asked and .Pending.
    question = pending = None


def printable(text):
    """A message that quotes a file, without what a terminal would take for an
    order."""
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1]
                   for c in text)
