"""Ranges of integers."""

from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class ValueRange:
    """All integers from lower to upper; None is infinite.  There are none when
    lower > upper: the facts contradict each other."""

    lower: Optional[int]
    upper: Optional[int]

    @property
    def is_empty(self) -> bool:
        return (self.lower is not None and self.upper is not None
                and self.lower > self.upper)

    def __contains__(self, value):
        return ((self.lower is None or value >= self.lower)
                and (self.upper is None or value <= self.upper))

    def __repr__(self):
        lower = "-int_oo" if self.lower is None else self.lower
        upper = "int_oo" if self.upper is None else self.upper
        return f"VR[{lower}, {upper}]"
