"""Ranges of integers."""

from dataclasses import dataclass
from typing import Optional

from proviso import _core
from proviso._errors import Error


def shown(number):
    """As Python writes it.  Of an integer that it has too many digits for (more
    than sys.get_int_max_str_digits()), how it begins in hexadecimal."""
    try:
        return repr(number)
    except ValueError:
        sign, digits = "-" * (number < 0), f"{abs(number):x}"
        return f"{sign}0x{digits[:32]}... ({abs(number).bit_length()} bits)"


class Point(dict):
    """{name: number}, of numbers of any size."""

    def __repr__(self):
        return "{" + ", ".join(f"{name!r}: {shown(value)}"
                               for name, value in self.items()) + "}"


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
        try:
            return bool((self.lower is None or value >= self.lower)
                        and (self.upper is None or value <= self.upper))
        except (TypeError, ValueError):
            raise TypeError(f"{type(self).__name__}: value is "
                            f"{_core.shown(value)}; give a number") from None

    def __repr__(self):
        lower = "-int_oo" if self.lower is None else shown(self.lower)
        upper = "int_oo" if self.upper is None else shown(self.upper)
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
            return (f"{super().__repr__()} = {shown(self.residue)} "
                    f"mod {shown(self.step)}")
        return ":".join(map(shown, (self.lower, self.upper, self.step)))
