"""Ranges of integers."""

from dataclasses import dataclass
from typing import Optional

from proviso._errors import Error


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


@dataclass(frozen=True)
class StridedRange(ValueRange):
    """The integers of a ValueRange that leave `residue`, divided by `step`.
    lower and upper are of them."""

    step: int = 1
    residue: int = 0

    def __contains__(self, value):
        return super().__contains__(value) and value % self.step == self.residue

    def as_range(self) -> range:
        """All of them, where both ends are finite; an Error where not."""
        if self.lower is None or self.upper is None:
            raise Error(f"StridedRange.as_range: {self} has no end; give its "
                        "expression bounds first")
        return range(self.lower, self.upper + 1, self.step)

    def __repr__(self):
        if self.step == 1:
            return super().__repr__()
        if self.lower is None or self.upper is None:
            return (f"{super().__repr__()} = {self.residue} "
                    f"mod {self.step}")
        return f"{self.lower}:{self.upper}:{self.step}"
