"""How a dimension of an example input may vary.

    Dim.AUTO                 whatever the program allows
    Dim.DYNAMIC              must vary: an error if the program fixes it
    Dim.STATIC               this size alone
    Dim.AUTO(min=2, max=64)  the first two take a range
    Dim("batch", max=512)    named: the whole range must be allowed; the same
                             name is the same size everywhere
    2*Dim("half") + 1        derived from a named one

torch.export.Dim and its hints mean the same and are taken too.
"""

import sys
from dataclasses import dataclass
from typing import Any, Optional


@dataclass(frozen=True)
class DimHint:
    """Dim.AUTO, Dim.DYNAMIC or Dim.STATIC, maybe with a range."""

    policy: str  # "auto", "dynamic", "static"
    min: Optional[int] = None
    max: Optional[int] = None
    factory: bool = True  # may still be given a range

    def __call__(self, min=None, max=None):
        if not self.factory:
            raise TypeError(f"{self!r} has its range already")
        _check_bound("min", min)
        _check_bound("max", max)
        if min is not None and max is not None and min > max:
            raise AssertionError(
                f"min must be <= max, got min={min}, max={max}")
        return DimHint(self.policy, min, max, factory=False)

    def __repr__(self):
        parts = [self.policy.upper()]
        if self.min is not None:
            parts.append(f"min={self.min}")
        if self.max is not None:
            parts.append(f"max={self.max}")
        return f"DimHint({', '.join(parts)})"


def _check_bound(which, value):
    if value is not None and value < 0:
        raise AssertionError(f"{which} must be non-negative, got {value}")


class Dim:
    """A named dimension; its sizes lie in [min, max]."""

    AUTO = DimHint("auto")
    DYNAMIC = DimHint("dynamic")
    STATIC = DimHint("static")

    def __init__(self, name: str, *, min: Optional[int] = None,
                 max: Optional[int] = None):
        if not isinstance(name, str) or not name.isidentifier():
            raise AssertionError(
                f"Dim name must be a valid identifier, got {name}")
        if max is not None and max <= (0 if min is None else min):
            raise AssertionError(
                f"Cannot create Dim with inconsistent min={min}, max={max}")
        self.__name__ = name
        self.min = min
        self.max = max

    def __repr__(self):
        parts = [f"'{self.__name__}'"]
        if self.min is not None:
            parts.append(f"min={self.min}")
        if self.max is not None:
            parts.append(f"max={self.max}")
        return f"Dim({', '.join(parts)})"

    def __add__(self, other):
        return _derive(self, other, "add", lambda k, c: (k, c + other))

    def __sub__(self, other):
        return _derive(self, other, "subtract", lambda k, c: (k, c - other))

    def __mul__(self, other):
        if type(other) is int and other <= 0:
            other = str(other)  # refused below, as torch refuses it
        return _derive(self, other, "multiply",
                       lambda k, c: (k * other, c * other))

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other):
        raise NotImplementedError(
            f"Attempted to negate {self.__name__}. {_LINEAR}")


_LINEAR = ("(Only increasing linear operations with integer coefficients are "
           "supported.)")


class DerivedDim(Dim):
    """factor*root + offset, such as 2*dx + 1."""

    def __init__(self, root: Dim, factor: int, offset: int):
        self.__name__ = _linear_text(root.__name__, factor, offset)
        self.root, self.factor, self.offset = root, factor, offset

    @property
    def min(self):
        return _mapped(self, self.root.min)

    @property
    def max(self):
        return _mapped(self, self.root.max)

    def __repr__(self):
        return self.__name__


def _mapped(dim, bound):
    return None if bound is None else dim.factor * bound + dim.offset


def _linear_text(name, factor, offset):
    text = name if factor == 1 else f"{factor}*{name}"
    return text if offset == 0 else f"{text} {'+-'[offset < 0]} {abs(offset)}"


def _derive(dim, other, verb, change):
    if type(other) is not int:
        wanted = "a positive integer" if verb == "multiply" else "an integer"
        target = {"add": "to", "subtract": "from", "multiply": "with"}[verb]
        raise NotImplementedError(
            f"Attempted to {verb} {other} {target} {dim.__name__}, where "
            f"{wanted} was expected. {_LINEAR}")
    if isinstance(dim, DerivedDim):
        return DerivedDim(dim.root, *change(dim.factor, dim.offset))
    return DerivedDim(dim, *change(1, 0))


def dims(*names: str, min: Optional[int] = None, max: Optional[int] = None):
    """Several Dims of one range."""
    return tuple(Dim(name, min=min, max=max) for name in names)


# --- one form of all the above, for the tracer

@dataclass(frozen=True)
class Derived:
    """The size is factor*root + offset."""

    text: str
    root: str  # the name of a Dim
    factor: int
    offset: int


@dataclass(frozen=True)
class DimSpec:
    policy: str  # "static", "auto", "dynamic", "named"
    name: str = ""
    min: Optional[int] = None
    max: Optional[int] = None
    value: Optional[int] = None  # an int in the spec: the size it must be
    derived: Optional["Derived"] = None

    def as_tuple(self):
        return (self.policy, self.name, self.min, self.max)


STATIC = DimSpec("static")


def _torch_dims():
    return sys.modules.get("torch.export.dynamic_shapes")


def _finite(value):
    return value if type(value) is int else None


def is_named_dim(spec: Any) -> bool:
    torch_dims = _torch_dims()
    return isinstance(spec, Dim) or (
        torch_dims is not None and isinstance(spec, torch_dims.Dim))


def to_dim_spec(spec: Any, where: str) -> Optional[DimSpec]:
    """The DimSpec of one dimension's spec; None when it is no such thing."""
    if spec is None:
        return STATIC
    if isinstance(spec, DimHint):
        return DimSpec(spec.policy, "", spec.min, spec.max)
    if type(spec) is int:
        return DimSpec("static", value=spec)
    torch_dims = _torch_dims()
    if torch_dims is not None and isinstance(spec, torch_dims._DimHint):
        return DimSpec(spec.type.name.lower(), "", spec.min, spec.max)
    if not is_named_dim(spec):
        return None
    # Torch's Dims say 0 and int_oo where nothing was asked.
    least, most = _finite(spec.min) or None, _finite(spec.max)
    derived = _derived(spec)
    if derived is None:
        return DimSpec("named", spec.__name__, least, most)
    if least is None:
        least = max(derived.offset, 0) or None
    elif least < 0:
        raise ValueError(
            f"the least size of {spec.__name__} is {least} (at {where}); give "
            f"{derived.root} a greater min")
    return DimSpec("auto", "", least, most, derived=derived)


def _derived(spec) -> Optional[Derived]:
    if isinstance(spec, DerivedDim):
        return Derived(spec.__name__, spec.root.__name__, spec.factor,
                       spec.offset)
    torch_dims = _torch_dims()
    if torch_dims is None or not isinstance(spec, torch_dims._DerivedDim):
        return None
    offset = int(spec.fn(0))
    return Derived(spec.__name__, spec.root.__name__,
                   int(spec.fn(1)) - offset, offset)
