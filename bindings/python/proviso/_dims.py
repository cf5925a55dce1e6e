"""How a dimension of an example input may vary.

    Dim.AUTO                 whatever the program allows
    Dim.DYNAMIC              must vary: an error if the program fixes it
    Dim.STATIC               this size alone
    Dim.UNBACKED             without example: a branch on it is an error, as on
                             data (torch._dynamo.decorators.mark_unbacked)
    Dim.AUTO(min=2, max=64)  all but STATIC take a range
    Dim("batch", max=512)    named: the whole range must be allowed; the same
                             name is the same size everywhere
    2*Dim("half") + 1        derived from named ones: sums, differences,
                             products, quotients and remainders
    Dim("s").multiple_of(16) a Dim that promises more than a range: also
                             one_of(2, 4, 8), remainders(4, 0, 3) and, for
                             anything else, where("s*t <= 4096")

torch.export.Dim and its hints mean the same and are taken too.
"""

import numbers
import sys
from dataclasses import dataclass
from typing import Any, Dict, Optional

from proviso import _core
from proviso._relations import Relation, require_short, shortened, shown


@dataclass(frozen=True)
class DimHint:
    """Dim.AUTO, DYNAMIC, STATIC or UNBACKED, maybe with a range."""

    policy: str  # "auto", "dynamic", "static", "unbacked"
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
    _check_end("Dim.AUTO", which, value)
    if value is not None and value < 0:
        raise AssertionError(f"{which} must be non-negative, got {value}")


def _check_end(call, which, value):
    if value is not None and not isinstance(value, numbers.Real):
        raise TypeError(
            f"{call}: expected an integer or None as {which}, got "
            f"{_core.shown(value)}")
    if isinstance(value, int):
        require_short(f"{call}: {which}", value)


class Dim:
    """A named dimension; its sizes lie in [min, max]."""

    AUTO = DimHint("auto")
    DYNAMIC = DimHint("dynamic")
    STATIC = DimHint("static")
    UNBACKED = DimHint("unbacked")

    def __init__(self, name: str, *, min: Optional[int] = None,
                 max: Optional[int] = None):
        if not isinstance(name, str) or not name.isidentifier():
            raise AssertionError(
                f"Dim name must be a valid identifier, got {shortened(name)}")
        _check_end(f"Dim {name}", "min", min)
        _check_end(f"Dim {name}", "max", max)
        if max is not None and max <= (0 if min is None else min):
            raise AssertionError(
                f"Cannot create Dim with inconsistent min={min}, max={max}")
        self.__name__ = name
        self.min = min
        self.max = max
        self.relations = ()

    def where(self, *relations: str) -> "Dim":
        """The same Dim, promising in addition that these hold:
        "h % 4 in {0, 3}", "h != 5", "h*w <= 4096" (w another Dim)."""
        added = tuple(Relation(text) for text in relations)
        for relation in added:
            if self.__name__ not in relation.names:
                raise ValueError(
                    f"Dim.where: {shown(relation)} does not speak of "
                    f"{self.__name__}; say it of one of "
                    f"{sorted(relation.names)}")
        result = type(self).__new__(type(self))
        result.__dict__.update(self.__dict__)
        result.relations = tuple(dict.fromkeys(self.relations + added))
        return result

    def multiple_of(self, divisor: int) -> "Dim":
        """The same Dim, of sizes that `divisor` divides."""
        _check_count("multiple_of", divisor)
        return self.where(f"{self.__name__} % {divisor} == 0")

    def remainders(self, modulus: int, *remainders: int) -> "Dim":
        """The same Dim, of sizes with one of these remainders."""
        _check_count("remainders", modulus)
        return self.where(f"{self.__name__} % {modulus} in "
                          f"{_set_text('remainders', remainders)}")

    def one_of(self, *sizes: int) -> "Dim":
        """The same Dim, of these sizes alone."""
        return self.where(f"{self.__name__} in {_set_text('one_of', sizes)}")

    def __repr__(self):
        parts = [f"'{self.__name__}'"]
        if self.min is not None:
            parts.append(f"min={self.min}")
        if self.max is not None:
            parts.append(f"max={self.max}")
        text = f"Dim({', '.join(parts)})"
        if not self.relations:
            return text
        return f"{text}.where({', '.join(repr(str(r)) for r in self.relations)})"

    def __add__(self, other):
        return _derive(self, "+", other, "add")

    def __radd__(self, other):
        return _derive(other, "+", self, "add")

    def __sub__(self, other):
        return _derive(self, "-", other, "subtract")

    def __rsub__(self, other):
        if type(other) is int and other <= 0:
            raise NotImplementedError(
                f"Attempted to negate {self.__name__}. Sizes are not negative.")
        return _derive(other, "-", self, "subtract")

    def __mul__(self, other):
        return _derive(self, "*", other, "multiply")

    def __rmul__(self, other):
        return _derive(other, "*", self, "multiply")

    def __floordiv__(self, other):
        return _derive(self, "//", other, "divide")

    def __mod__(self, other):
        return _derive(self, "%", other, "divide")


def _check_count(call, value):
    if type(value) is not int or value < 1:
        raise ValueError(f"Dim.{call}: expected a positive integer, got "
                         f"{_core.shown(value)}")
    require_short(f"Dim.{call}", value)


def _set_text(call, values):
    if not values or any(type(v) is not int for v in values):
        raise ValueError(
            f"Dim.{call}: expected integers, got {_core.shown(values)}")
    for value in values:
        require_short(f"Dim.{call}", value)
    return "{" + ", ".join(map(str, sorted(set(values)))) + "}"


class DerivedDim(Dim):
    """A size computed from other Dims: 2*dx + 1, dx*dy, 32 - dx, dx//2."""

    def __init__(self, relation: Relation, roots: Dict[str, Dim]):
        self.relation, self.roots, self.relations = relation, roots, ()
        self.__name__ = str(relation)
        self.linear = relation.linear()  # (root, factor, offset) or None

    @property
    def root(self):
        return self.roots[self.linear[0]] if self.linear else None

    @property
    def min(self):
        return self._end(self.linear and self.linear[1] > 0)

    @property
    def max(self):
        return self._end(self.linear and self.linear[1] < 0)

    def _end(self, is_least):
        if not self.linear:
            return None
        _, factor, offset = self.linear
        bound = self.root.min if is_least else self.root.max
        return None if bound is None else factor * bound + offset

    def where(self, *relations):
        raise TypeError(
            f"Dim.where: {self.__name__} is derived; say it of "
            f"{' or '.join(sorted(self.roots))}")

    def __repr__(self):
        return self.__name__


def _derive(left, sign, right, verb):
    """The Dim `left sign right`; one of them is a Dim."""
    dim, other = (left, right) if isinstance(left, Dim) else (right, left)
    if not isinstance(other, Dim):
        wanted = "a positive integer" if verb in ("multiply", "divide") else (
            "an integer")
        bad_factor = wanted != "an integer" and type(other) is int and other < 1
        if type(other) is not int or bad_factor:
            target = {"add": "to", "subtract": "from", "multiply": "with",
                      "divide": "by"}[verb]
            raise NotImplementedError(
                f"Attempted to {verb} {_core.shown(other)} {target} "
                f"{dim.__name__}, where {wanted} or a Dim was expected.")
        require_short(f"{dim.__name__} {sign} .., a Dim", other)
    roots = {}
    for side in (left, right):
        if isinstance(side, DerivedDim):
            roots.update(side.roots)
        elif isinstance(side, Dim):
            roots[side.__name__] = side
    text = f"({_text(left)}) {sign} ({_text(right)})"
    return DerivedDim(Relation(text, "Dim").tidied(), roots)


def _text(side):
    return side.__name__ if isinstance(side, Dim) else str(side)


def dims(*names: str, min: Optional[int] = None, max: Optional[int] = None):
    """Several Dims of one range."""
    return tuple(Dim(name, min=min, max=max) for name in names)


# --- one form of all the above, for the tracer

@dataclass(frozen=True)
class DimSpec:
    policy: str  # "static", "auto", "dynamic", "named", "unbacked"
    name: str = ""
    min: Optional[int] = None
    max: Optional[int] = None
    value: Optional[int] = None  # an int in the spec: the size it must be
    dim: Any = None  # the Dim of a named or derived one
    strict: bool = False  # of an unbacked one: must not become a constant
    # (name, factor, offset) of a Dim, where a program that was read says so.
    root: Optional[tuple] = None

    @property
    def is_derived(self):
        return isinstance(self.dim, DerivedDim)

    def as_tuple(self, direct=()):
        """`direct`: the names of Dims that some dimension has itself."""
        root = self.dim.linear if self.is_derived else self.root
        if root and root[0] in direct:
            root = None
        return (self.policy, self.name, self.min, self.max, root)


STATIC = DimSpec("static")


def _torch_dims():
    return sys.modules.get("torch.export.dynamic_shapes")


def _finite(value):
    return value if type(value) is int else None


def is_named_dim(spec: Any) -> bool:
    torch_dims = _torch_dims()
    return isinstance(spec, Dim) or (
        torch_dims is not None and isinstance(spec, torch_dims.Dim))


def to_dim(spec: Any) -> Dim:
    """proviso's Dim for torch.export's."""
    if isinstance(spec, Dim):
        return spec
    if isinstance(spec, _torch_dims()._DerivedDim):
        offset = int(spec.fn(0))
        factor = int(spec.fn(1)) - offset
        return factor * to_dim(spec.root) + offset
    # Torch's Dims say 0 and int_oo where nothing was asked.
    return Dim(spec.__name__, min=_finite(spec.min) or None,
               max=_finite(spec.max))


def to_dim_spec(spec: Any, where: str) -> Optional[DimSpec]:
    """The DimSpec of one dimension's spec; None when it is no such thing."""
    if spec is None:
        return STATIC
    if isinstance(spec, DimSpec):
        return spec
    if isinstance(spec, DimHint):
        return DimSpec(spec.policy, "", spec.min, spec.max)
    if type(spec) is int:
        return DimSpec("static", value=spec)
    torch_dims = _torch_dims()
    if torch_dims is not None and isinstance(spec, torch_dims._DimHint):
        return DimSpec(spec.type.name.lower(), "", spec.min, spec.max)
    if not is_named_dim(spec):
        return None
    dim = to_dim(spec)
    least, most = dim.min or None, dim.max
    if isinstance(dim, DerivedDim) and dim.linear:
        root, factor, offset = dim.linear
        if least is None:
            least = max(offset, 0) or None if factor > 0 else None
        elif least < 0:
            if factor > 0:
                raise ValueError(
                    f"the least size of {dim.__name__} is {least} (at "
                    f"{where}); give {root} a greater min")
            least = None
        if factor < 0 and most is None:
            most = offset
    return DimSpec("named", dim.__name__, least, most, dim=dim)
