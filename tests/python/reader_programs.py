"""Programs for the readers of a .pt2: small ones of every kind that a file must
hold, and all ways in which two sizes turn out equal or a size turns out fixed.
"""

import linecache
import math
from dataclasses import dataclass
from typing import Any, Callable, List, Optional, Tuple

import torch
from torch.utils import _pytree as pytree

import proviso
from proviso import Dim


@dataclass
class Case:
    name: str
    module: Callable[[], Any]  # fresh; a module or a function
    inputs: Callable[..., Tuple[tuple, dict]]  # of sizes
    shapes: Any
    sizes: List[tuple]  # the first is traced
    stateful: bool = False  # a call changes the program's tensors
    refines: bool = False  # dynamic_shapes as the errors suggest
    may_fail: bool = False  # some do not export: data decides
    trains: bool = True
    trusted: bool = False  # its examples are pickled as objects of a class
    random: bool = False  # draws numbers
    unsaved: str = ""  # what the error says where torch's format has no place
    text: str = ""

    def export(self, args, kwargs):
        shapes = self.shapes
        for _ in range(4):
            try:
                return self._export(args, kwargs, shapes)
            except proviso.ConstraintViolationError as error:
                if not self.refines:
                    raise
                shapes = proviso.refine_dynamic_shapes(shapes, error)
        return self._export(args, kwargs, shapes)

    def _export(self, args, kwargs, shapes):
        with torch.set_grad_enabled(self.trains):
            return proviso.export(self.module(), args, kwargs,
                                  dynamic_shapes=shapes)


_OWN: List[Case] = []


def automatic(value):
    """A spec in which every size and int may vary."""
    if isinstance(value, torch.Tensor):
        return {d: Dim.AUTO for d in range(value.dim())} or None
    if isinstance(value, int) and not isinstance(value, bool):
        return Dim.AUTO
    return None


def data(*sizes):
    """Floats that differ everywhere."""
    count = math.prod(sizes)
    return ((torch.arange(count, dtype=torch.float32) * 7) % 23 - 11).reshape(
        sizes) / 4


# Sizes of x and y at which most programs are compared.
SQUARE = [(3, 5), (4, 2), (6, 6), (2, 9), (1, 4), (5, 1)]


def program(inputs=lambda n, m: (data(n, m),), sizes=SQUARE, shapes=None,
            kwargs=None, **options):
    """Registers the function or module class below it."""
    def register(thing):
        def make(*size):
            return inputs(*size), kwargs(*size) if kwargs else {}

        spec = shapes
        if spec is None:
            args, _ = make(*sizes[0])
            spec = (*pytree.tree_map(automatic, args),)
        module = thing if isinstance(thing, type) else lambda: thing
        _OWN.append(Case(f"own/{thing.__name__}", module, make, spec, sizes,
                         **options))
        return thing
    return register


def own():
    return iter(_OWN)


def two(n, m):
    return data(n, m), data(n, m)


def second(n, m):
    return data(n, m), data(m, n)


# --- sizes that turn out equal, or fixed, and are used

RELATIONS = {  # y's sizes for x of n by m, and what relates them
    "added": ("n, m", "r = x + y"),
    "matmul": ("m, 3", "r = x @ y"),
    "linear": ("4, m", "r = torch.nn.functional.linear(x, y)"),
    "checked": ("m, n", "torch._check(x.shape[1] == y.shape[0])"),
    "checked the other way": ("m, n", "torch._check(y.shape[0] == x.shape[1])"),
    "asserted": ("m, n", "assert x.shape[1] == y.shape[0]"),
    "branched": ("m, n", "if y.shape[0] != x.shape[1]:\n        x = x + 1"),
    "twice": ("2*m, n", "torch._check(y.shape[0] == 2*x.shape[1])"),
    "half": ("2*m, n", "torch._check(y.shape[0] // 2 == x.shape[1])"),
    "one more": ("m + 1, n", "r = x + y[1:, 0]"),
    "sum": ("n + m, 2", "torch._check(y.shape[0] == x.shape[0] + x.shape[1])"),
    "product": ("n*m, 2", "r = x.reshape(-1) + y[:, 0]"),
    "cat": ("n, m", "r = torch.cat([x, x], 1) + torch.cat([y, y], 1)"),
    "chain": ("n, m", "r = torch.stack([x, y]); torch._check("
                      "x.shape[0] == x.shape[1])"),
    "fixed": ("m, n", "if y.shape[0] == 6:\n        x = x + 1"),
    "fixed by reshape": ("m, n", "r = y.reshape(6, -1)"),
    "fixed by int": ("m, n", "r = y * int(y.shape[0])"),
    "fixed by add": ("m, n", "r = y + torch.ones(6, 1)"),
    "fixed through": ("m, n", "torch._check(x.shape[1] == y.shape[0]); "
                              "r = y + torch.ones(6, 1)"),
}
_SQUARES = {"chain": 6}  # n as well
USES = {
    "arange": "torch.arange({s})",
    "returned": "{s}",
    "doubled": "{s}*2 + 1",
    "zeros": "x.new_zeros({s}, 2)",
    "half": "torch.as_tensor({s} / 2)",
    "scaled": "x * {s}",
    "narrow": "x.narrow(1, 0, torch.sym_min({s}, x.shape[1]))",
    "ratio": "{s} / 3",
    "expanded": "torch.ones(1, 1).expand({s}, 2)",
    "even": "{s} % 2 == 0",
    "inside": "no_grad({s})",
}
SIZES_USED = ("x.shape[0]", "x.shape[1]", "y.shape[0]", "y.shape[1]")


def _compiled(name, text, **names):
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"torch": torch, **names}
    exec(compile(text, file, "exec"), space)
    return space["program"]


def _no_grad(size):
    with torch.no_grad():
        return torch.arange(size) * 2


def equalities(every=1):
    """Relation by use by size by order: what comes first is seen first."""
    count = 0
    for relation, (rows, statement) in RELATIONS.items():
        for use, form in USES.items():
            for size in SIZES_USED:
                for order in ("related, used", "used, related", "y, x"):
                    count += 1
                    if count % every == 0:
                        yield _equality(relation, rows, statement, use,
                                        form.format(s=size), size, order)


def _equality(relation, rows, statement, use, form, size, order):
    lines = [statement, f"u = {form}"]
    if order == "used, related":
        lines.reverse()
    name = f"equal/{relation}/{use}/{size}/{order}"
    arguments = "y, x" if order == "y, x" else "x, y"
    text = (f"def program({arguments}):\n    r = 0*x\n    "
            + "\n    ".join(lines) + "\n    return r, u\n")
    run = _compiled(name, text, no_grad=_no_grad)
    make = eval(f"lambda n, m: ({rows})")

    def inputs(n, m):
        x, y = data(n, m), data(*make(n, m))
        return ((y, x) if order == "y, x" else (x, y)), {}

    sizes = [(4, 6), (3, 6), (5, 2), (2, 9), (6, 6), (1, 6), (3, 1)]
    if relation in _SQUARES:
        sizes = [(6, 6), (4, 4), (2, 2), (9, 9), (1, 1), (4, 6)]
    auto = {0: Dim.AUTO, 1: Dim.AUTO}
    return Case(name, lambda: run, inputs, (auto, auto), sizes, text=text)


# --- sizes as inputs are: unused, of other kinds

@program(two)
def second_unused(x, y):
    return x + 1


@program(two)
def only_the_second_size(x, y):
    return torch.arange(y.shape[1])


@program(two)
def only_numbers(x, y):
    return x.shape[0] + y.shape[1], x.shape[0] * 2


@program()
def size_alone(x):
    return x.shape[0]


@program()
def branches_of_two_sizes(x):
    return torch.cond(x.sum() > 0, lambda x: (x * 2, x.sum(0)),
                      lambda x: (x + 1, x[0] + 0), (x,))


@program()
def branches_that_join(x):
    return torch.cond(x.sum() > 0, lambda x: torch.cat([x, x], 1),
                      lambda x: torch.cat([x + 1, x * 3], 1), (x,))


@program()
def pieces_of_any_length(x):
    return (*x.tensor_split(3), *x.tensor_split(2, dim=1))


def regular(n, m):
    """Matrices that have an inverse."""
    return (data(n, 3, 3) + 20 * torch.eye(3),)


@program(regular, shapes=({0: Dim.AUTO},))
def inverse(x):
    return torch.linalg.inv(x), torch.linalg.solve(x, x + 1)


@program(regular, shapes=({0: Dim.AUTO},))
def triangle(x):
    return torch.linalg.cholesky(x @ x.mT).sum(0)


@program(lambda n, m: (data(n, m), data(n + m, 2)))
def an_input_as_long_as_two(x, y):
    torch._check(y.shape[0] == x.shape[0] + x.shape[1])
    return y[:x.shape[0]], y.shape[0] * 2


@program(lambda n, m: (data(n + m), data(n), data(m)))
def cat_of_two(x, y, z):
    return x + torch.cat([y, z]), x.shape[0], z.shape[0]


@program(lambda n, m: (data(n), data(m), data(n + m), data(n - 1)),
         sizes=[(4, 7), (3, 5), (9, 2), (2, 2)])
def a_sum_less_one(a, b, c, d):
    torch._check(c.shape[0] == a.shape[0] + b.shape[0])
    return c[1:] + torch.cat([d, b]), torch.arange(d.shape[0])


@program(lambda n, m: (data(n), data(m), data(n + m - 3), data(3)),
         sizes=[(4, 7), (3, 5), (9, 2), (5, 5)],
         shapes=({0: Dim.AUTO},) * 4)
def an_input_of_a_difference(a, b, c, d):
    return torch.cat([a, b]) + torch.cat([c, d]), c.shape[0] + 1


@program(lambda n, m: (data(2 * n, m),))
def even_rows(x):
    return x.reshape(x.shape[0] // 2, 2, -1).sum(1), x.shape[0] // 2


@program(lambda n, m: (data(2 * n), data(n)))
def twice_the_other(x, y):
    return x + torch.cat([y, y]), y.shape[0]


@program(lambda n, m: (data(2 * n + 1), data(n)),
         shapes=({0: 2 * Dim("n", min=2) + 1}, {0: Dim("n", min=2)}))
def derived_dim(x, y):
    return x[1:].reshape(-1, 2).sum(1) + y, y.shape[0]


@program(lambda n, m: (data(2 * n + 1),),
         shapes=({0: 2 * Dim("n", min=1) + 1},))
def derived_without_its_root(x):
    return x[1:].reshape(-1, 2), x.shape[0]


@program(lambda n, m: (data(n, m), data(m, n)),
         shapes=({0: Dim("n"), 1: Dim("m")}, {0: Dim("m"), 1: Dim("n")}))
def named_dims(x, y):
    return x @ y, y.shape[0] * x.shape[0]


@program(lambda n, m: (data(n), n, m), shapes=({0: Dim.AUTO}, Dim.AUTO,
                                               Dim.AUTO))
def int_inputs(x, n, m):
    return x * m + n, torch.zeros(m), n + m, n - 2 * m


@program(lambda n, m: (data(n), n), shapes=({0: Dim.AUTO}, Dim.AUTO))
def int_equal_to_a_size(x, n):
    return x.reshape(n, -1), torch.arange(n)


@program(lambda n, m: (data(n), n), shapes=({0: Dim.AUTO}, Dim.AUTO))
def int_checked_equal(x, n):
    torch._check(n == x.shape[0])
    return x + 1, torch.arange(n), n * 2


@program(lambda n, m: (n, data(n)), shapes=(Dim.AUTO, {0: Dim.AUTO}))
def int_first(n, x):
    torch._check(n == x.shape[0])
    return torch.arange(x.shape[0]) + n


@program(lambda n, m: (data(n, m), 1), shapes=({0: Dim.AUTO}, Dim.AUTO))
def int_that_is_a_dimension(x, k):
    return x.softmax(k), k


@program(lambda n, m: (data(n), 3), shapes=({0: Dim.AUTO}, Dim.AUTO))
def int_that_decides(x, k):
    return x * 2 if k == 3 else x


@program(lambda n, m: (-2, data(n)), shapes=(Dim.AUTO, {0: Dim.AUTO}))
def int_that_is_read(k, x):
    return x * int(k) + sum(range(-k))


@program(lambda n, m: (data(n * m), n, m),
         shapes=({0: Dim.AUTO}, Dim.AUTO, Dim.AUTO))
def int_rows_and_columns(x, h, w):
    return x.view(h, w)


@program(lambda n, m: (data(n * m), data(m), n),
         shapes=({0: Dim.AUTO}, {0: Dim.AUTO}, Dim.AUTO))
def int_rows(x, y, h):
    return x.view(h, y.shape[0]) + y


@program(lambda n, m: (n, data(n + m), m),
         shapes=(Dim.AUTO, {0: Dim.AUTO}, Dim.AUTO))
def int_sum(h, x, w):
    torch._check(x.shape[0] == h + w)
    return x + h, x.shape[0] * w


@program(lambda n, m: (data(n), 3), shapes=({0: Dim.AUTO}, None))
def int_constant(x, k):
    return x * k, k


@program(lambda n, m: (data(n), 2.5, True, "sum", None),
         shapes=({0: Dim.AUTO}, None, None, None, None))
def constants(x, scale, flag, how, nothing):
    if flag and how == "sum" and nothing is None:
        return (x * scale).sum(), scale, flag
    return x


@program(lambda n, m: ({"b": data(n), "a": data(m)}, [data(n), (data(m),)]))
def nested_inputs(d, l):
    return {"z": d["b"] + l[0], "y": [d["a"] * l[1][0], (d["a"].shape[0],)]}


@dataclass
class Lengths:
    values: torch.Tensor
    lengths: torch.Tensor
    extra: Optional[torch.Tensor] = None


torch.export.register_dataclass(
    Lengths, serialized_type_name="tests.readers.Lengths")


@program(lambda n, m: (Lengths(data(n, m), data(n)),),
         shapes=([{0: Dim.AUTO, 1: Dim.AUTO}, {0: Dim.AUTO}],))
def dataclass_in_and_out(batch):
    return Lengths(batch.values + batch.lengths[:, None], batch.lengths,
                 torch.arange(batch.values.shape[1]))


@program()
def nested_outputs(x):
    return {"a": [x, (x.shape[0], None)], "b": {"c": x.shape[1] / 2}}


@program()
def no_tensor_output(x):
    return None, x.shape[0] > 2, 1.5, 7


@program(lambda n, m: (data(n), data(m)),
         shapes=(({0: Dim.AUTO}, {0: Dim.AUTO}),))
def positional_rest(*args):
    return args[0] * 2, torch.arange(args[1].shape[0])


@program(lambda n, m: (data(n), data(n), data(m)),
         shapes={"x": {0: Dim.AUTO}, "rest": ({0: Dim.AUTO}, {0: Dim.AUTO})})
def first_and_rest(x, *rest):
    return x + rest[0], rest[1].shape[0], torch.arange(rest[0].shape[0])


@program(lambda n, m: (data(n),), kwargs=lambda n, m: {"b": data(n),
                                                       "a": data(m)},
         shapes={"x": {0: Dim.AUTO},
                 "kwargs": {"b": {0: Dim.AUTO}, "a": {0: Dim.AUTO}}})
def keyword_rest(x, **kwargs):
    return x + kwargs["b"], torch.arange(kwargs["a"].shape[0])


@program(lambda n, m: (data(n),), kwargs=lambda n, m: {"y": data(n), "k": m},
         shapes={"x": {0: Dim.AUTO}, "y": {0: Dim.AUTO}, "k": Dim.AUTO})
def keyword_only(x, *, y, k):
    return x + y, torch.zeros(k), k * 2


@program(lambda n, m: (data(n), data(m)), kwargs=lambda n, m: {"z": data(m)},
         shapes={"x": {0: Dim.AUTO}, "rest": ({0: Dim.AUTO},),
                 "kwargs": {"z": {0: Dim.AUTO}}})
def every_kind(x, *rest, **kwargs):
    return x.sum() + rest[0] * kwargs["z"], rest[0].shape[0] + 1


@program(lambda n, m: (data(n), None), shapes=({0: Dim.AUTO}, None))
def optional_missing(x, mask=None):
    return x if mask is None else x * mask


# --- numbers of other kinds, from sizes

@program()
def float_of_size(x):
    return x * (x.shape[0] / 2), x.shape[1] / x.shape[0]


@program()
def tensors_of_floats(x):
    return (torch.as_tensor(x.shape[1] / 2), torch.tensor(x.shape[0]),
            torch.tensor(x.shape[0] * 0.5))


@program()
def bools(x):
    return x.shape[0] > x.shape[1], x.shape[0] == 3, x.shape[1] % 2 == 0


@program()
def bool_and_or(x):
    a, b = x.shape[0] > 2, x.shape[1] > 2
    return torch.sym_not(a), a & b, a | b


@program(sizes=[(3, 5), (4, 2), (6, 6), (5, 1), (7, 8), (1, 2)])
def rounded(x):
    return (round(x.shape[0] / 2), round(x.shape[1] / 3), x[:round(
        x.shape[0] / 2)])


@program()
def rounded_product(x):
    return torch.zeros(round(x.shape[0] * 0.75)), round(x.shape[1] * 1.5)


@program()
def rounded_to_decimals(x):
    return x * round(x.shape[0] / 3, 2), round(x.shape[1] / 7, 1)


@program()
def ceilings(x):
    return (math.ceil(x.shape[0] / 2), math.floor(x.shape[1] / 2),
            torch.zeros(math.ceil(x.shape[1] / 3)))


@program()
def ceilings_of_products(x):
    return (torch.arange(math.ceil(x.shape[0] * 1.5)),
            math.floor(x.shape[1] * 0.3), math.trunc(x.shape[0] / 2.5))


@program()
def truncated(x):
    return int(x.shape[0] / 2), torch.zeros(int(x.shape[1] * 0.5))


@program()
def roots(x):
    return x / math.sqrt(x.shape[1]), math.sqrt(x.shape[0])


@program()
def root_as_a_size(x):
    return torch.zeros(int(math.sqrt(x.shape[0])), x.shape[1])


@program()
def root_by_power(x):
    return x * x.shape[1] ** -0.5, x.shape[0] ** 0.5, x.shape[1] ** 2


@program(unsaved="torch.log2(torch.scalar_tensor(n, dtype=torch.float64))")
def logarithm(x):
    return x * math.log2(x.shape[0]), x.shape[1]


@program()
def logarithm_of_a_tensor(x):
    n = torch.scalar_tensor(x.shape[0], dtype=torch.float64)
    return x * torch.log2(n), x.shape[1]


@program()
def powers(x):
    return x.shape[0] ** 2, torch.zeros(x.shape[0] ** 2), 2 ** x.shape[1]


@program()
def minima(x):
    n, m = x.shape
    return (torch.sym_min(n, m), torch.sym_max(n, 4), x[:torch.sym_min(n, 4)],
            x.new_zeros(torch.sym_max(n, m)))


@program()
def builtin_minima(x):
    n, m = x.shape
    return x[:min(n, 4)], torch.arange(max(m, 3))


@program()
def quotients(x):
    n, m = x.shape
    return n // 2, (n + m) // 3, n % 3, -n // 2, (n * m) // (m + 1), n - m


@program()
def shifts(x):
    n, m = x.shape
    return n << 1, n >> 1, torch.zeros(m << 1)


@program()
def bits(x):
    n, m = x.shape
    return n & 3, n | 4, n ^ m


@program()
def absolute(x):
    n, m = x.shape
    return torch.zeros(abs(n - m)), abs(m - n), -n


@program()
def float_arithmetic(x):
    n, m = x.shape
    a = n / 2 + m * 0.25 - 1.5
    return a, a * a, x + a, -a


@program()
def float_compared(x):
    n, m = x.shape
    return n / 2 > 1.0, n / m < 3.5, n * 0.5 == 1.5


@program()
def conditional(x):
    n, m = x.shape
    return torch.sym_ite(n > m, n, m), torch.sym_float(n), torch.sym_int(n / 2)


@program()
def sum_of_sizes(x):
    return torch.sym_sum([x.shape[0], x.shape[1], 3])


@program()
def filled(x):
    n, m = x.shape
    return (torch.full((n,), m), torch.full((m,), n / 2),
            torch.full((2,), n * 1.5), x.masked_fill(x > 0, n / m))


@program()
def scalar_operands(x):
    n, m = x.shape
    return x * n + m, x / n, x ** 2 * m, torch.add(x, x, alpha=n), n - x


@program()
def where_and_clamp(x):
    n, m = x.shape
    return (torch.where(x > 0, x, n), x.clamp(max=m / 4),
            torch.full_like(x, n))


@program()
def linspaces(x):
    n, m = x.shape
    return (torch.linspace(0, n, m), torch.arange(0, n, 0.5),
            torch.arange(n, n + m), torch.arange(n, -1, -1))


@program()
def interpolated(x):
    n, m = x.shape
    return torch.nn.functional.interpolate(x[None, None], size=(n * 2, m + 1))


@program()
def interpolated_by_scale(x):
    return torch.nn.functional.interpolate(x[None, None], scale_factor=2.0,
                                           mode="bilinear")


# --- blocks of modes

@program()
def no_grad_of_a_size(x):
    with torch.no_grad():
        y = torch.arange(x.shape[1])
    return y, x + 1


@program(stateful=True)
class ChangedWithoutGradients(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, x):
        with torch.no_grad():
            self.weight.view(-1).mul_(2)
            self.weight[0] = 5.0
        return x.sum() * self.weight


@program()
def no_grad_of_sizes_alone(x):
    with torch.no_grad():
        n = x.shape[0] * 2
        y = torch.zeros(n, x.shape[1])
        z = torch.full((n,), x.shape[0] / 2)
    return y, z, n


@program(two)
def no_grad_of_equal_sizes(x, y):
    a = x + y
    with torch.no_grad():
        z = torch.arange(y.shape[1])
    return a, z


@program(two)
def no_grad_where_sizes_become_equal(x, y):
    with torch.no_grad():
        z = x + y
        i = torch.arange(y.shape[0])
    return z, i, y.shape[1]


@program()
def enabled_within_no_grad(x):
    with torch.no_grad():
        a = torch.arange(x.shape[0])
        with torch.enable_grad():
            b = x * x.shape[1]
            c = torch.zeros(x.shape[1])
        d = b + 1
    return a, b, c, d


@program()
def autocast_of_a_size(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = torch.zeros(x.shape[1], x.shape[0])
        z = x @ y
    return z, y


@program()
def autocast_of_sizes_alone(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = torch.arange(x.shape[1] + 1)
    return y


@program()
def no_grad_in_autocast(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with torch.no_grad():
            y = torch.ones(x.shape[1], 3)
            z = x @ y
        w = x @ y
    return z, w, x.shape[1] // 2


@program()
def no_grad_twice(x):
    with torch.no_grad():
        a = torch.arange(x.shape[0])
    b = x * 2
    with torch.no_grad():
        c = torch.arange(x.shape[0]) + a
        d = torch.zeros(x.shape[1] * 2)
    return a, b, c, d


@program(lambda n, m: (data(n, m), torch.tensor(m)))
def no_grad_of_data(x, k):
    u = k.item()
    torch._check(u >= 0)
    torch._check(u <= x.shape[1])
    with torch.no_grad():
        y = torch.zeros(u)
        z = torch.arange(u) * 2
    return y, x[:, :u] + z


@program(lambda n, m: (data(n, m), torch.tensor(m)))
def item_in_no_grad(x, k):
    with torch.no_grad():
        u = k.item()
        torch._check(u >= 0)
        y = torch.zeros(u)
    return y, torch.arange(u), u


@program()
def decorated(x):
    @torch.no_grad()
    def inner(t):
        return torch.arange(t.shape[1]), t.detach() * t.shape[0]
    return inner(x), x


@program()
def set_grad_in_a_row(x):
    with torch.set_grad_enabled(False):
        y = x.new_ones(x.shape[1])
    with torch.set_grad_enabled(True):
        z = x * y
    return z, y


# --- sizes of functions that torch's loader does not know

@program(two)
def bits_of_sizes(x, y):
    n, m = x.shape
    return (x.new_zeros(n & m), x.new_zeros(n | m) + 1,
            x.new_zeros(2 * (n ^ m), 3).T, x.new_zeros(n ^ 5)[1:])


@program()
def cut_at_a_flipped_bit(x):
    return x[:x.shape[0] ^ 1]


@program()
def power_of_two_sizes(x):
    n, m = x.shape
    return x.new_zeros(n**m % 7, n), x + n**m


@program()
def root_of_a_size(x):
    n = torch.sym_int(torch.sym_sqrt(x.shape[0] * x.shape[1]))
    torch._check(n >= 0)
    return x.new_zeros(n) + 1, x


@program(lambda n, m: (data(n, m), torch.tensor(n > 3)))
def bits_within_a_body(x, p):
    n, m = x.shape
    return torch.cond(p, lambda x: x.new_zeros(n & m).sum() + x,
                      lambda x: x.new_ones(n | m).sum() - x, (x,))


@program(lambda n, m: (data(2 * n, m), data(2 * n + 1)),
         shapes=({0: 2 * Dim("d"), 1: Dim.AUTO}, {0: 2 * Dim("d") + 1}))
def derived_dims(x, y):
    return x.sum() + y.sum(), x.new_ones(y.shape[0]), x[1:]


# --- bodies

@program()
def cond_of_sizes(x):
    return torch.cond(x.sum() > 0, lambda x: x + x.shape[0],
                      lambda x: x * x.shape[1], (x,))


@program()
def cond_on_a_size(x):
    return torch.cond(x.shape[0] > 3, lambda x: x.sin(), lambda x: x.cos(),
                      (x,)), x.shape[0]


@program(two)
def cond_of_equal_sizes(x, y):
    z = x + y
    return torch.cond(z.sum() > 0,
                      lambda x: x + torch.arange(y.shape[1]),
                      lambda x: x - y.shape[0], (x,))


@program()
def cond_makes_sizes(x):
    def true(x):
        return torch.zeros(x.shape[1]) + x.shape[0] / 2

    def false(x):
        return torch.ones(x.shape[1])
    return torch.cond(x.sum() > 0, true, false, (x,))


@program(lambda n, m: (data(n, m), torch.tensor(1)))
def while_of_sizes(x, i):
    from torch._higher_order_ops import while_loop
    return while_loop(lambda i, y: i < y.shape[0],
                      lambda i, y: (i + 1, y * 1.5 + y.shape[1]), (i, x))


@program()
def map_of_sizes(x):
    from torch._higher_order_ops import map
    return map(lambda row, k: row * k.shape[0] + torch.arange(row.shape[0]),
               x, x + 1)


@program()
def scan_of_sizes(x):
    from torch._higher_order_ops import scan
    return scan(lambda c, r: (c + r, c * r.shape[0]),
                torch.zeros(x.shape[1]), x)


@program()
def cond_in_no_grad(x):
    with torch.no_grad():
        y = torch.cond(x.sum() > 0, lambda x: x * x.shape[0],
                       lambda x: x - x.shape[1], (x,))
    return y, x


@program()
def no_grad_in_cond(x):
    def true(x):
        with torch.no_grad():
            y = torch.arange(x.shape[1])
        return x + y
    return torch.cond(x.sum() > 0, true, lambda x: x - 1, (x,))


# --- sizes read from data

def counted(n, m):
    return data(n, m), torch.tensor(n)


@program(lambda n, m: (data(64), torch.tensor(n)))
def unbacked_slice(x, n):
    u = n.item()
    return x + torch.arange(64)[:u].sum(), x[:u]


@program(lambda n, m: (data(64), torch.tensor(64)),
         sizes=[(1, 1)], shapes=({0: Dim.AUTO}, None))
def unbacked_slice_added(x, n):
    u = n.item()
    return x + torch.arange(64)[:u]


@program(lambda n, m: (data(n + 3, m), torch.tensor(n)))
def unbacked_slices(x, n):
    u = n.item()
    torch._check(u >= 0)
    torch._check(u <= x.shape[0])
    return x[:u], x[u:], x[:u] * 2 + u, u


@program(lambda n, m: (data(n, m), torch.tensor(n)))
def unbacked_zeros(x, k):
    u = k.item()
    return torch.zeros(u, x.shape[1]) + 1, torch.arange(u), u * 2


@program(lambda n, m: (data(n, m), torch.tensor(n)))
def unbacked_equal_to_a_size(x, k):
    u = k.item()
    torch._check(u == x.shape[0])
    return x + torch.ones(u, 1), torch.arange(u), torch.zeros(x.shape[0])


@program(lambda n, m: (data(n, m), torch.tensor(n)))
def size_equal_to_unbacked(x, k):
    u = k.item()
    torch._check(x.shape[0] == u)
    return x[:u] * 2, u + 1


@program(lambda n, m: (data(n, m), torch.tensor([n, m])))
def unbacked_list(x, k):
    a, b = k.tolist()
    torch._check(a >= 0)
    torch._check(b >= 0)
    return torch.zeros(a, b), a + b, torch.arange(a)


@program(lambda n, m: (data(n, m), torch.tensor([n, n])))
def unbacked_equal(x, k):
    a, b = k.tolist()
    torch._check(a == b)
    return torch.zeros(a) + torch.ones(b), torch.arange(b), b


@program(lambda n, m: (data(n, m), torch.tensor([n, 2])))
def unbacked_fixed(x, k):
    a, b = k.tolist()
    torch._check(b == 2)
    return torch.zeros(a, b) + torch.ones(1, 2), b


@program()
def nonzeros(x):
    y = x.nonzero()
    return y, y.shape[0], torch.arange(y.shape[0]), y[:, 0] + y.shape[0]


@program()
def masked(x):
    y = x[x > 0]
    z = torch.masked_select(x, x > 0)
    return y, z * 2, torch.zeros(y.shape[0])


@program()
def two_masks_of_equal_count(x):
    m = x > 0
    return x[m] + (x * 2)[m]


@program(lambda n, m: (data(n, m), torch.arange(n)))
def repeated(x, k):
    y = x.repeat_interleave(k, dim=0)
    return y, y.shape[0], torch.arange(y.shape[0])


@program(lambda n, m: (data(n, m), torch.arange(n) % 3))
def repeated_indices(x, k):
    i = torch.repeat_interleave(k)
    return x[i], i.shape[0]


@program(lambda n, m: ((data(n, m) * 4).long(),))
def uniques(x):
    y, inverse, counts = torch.unique(x, return_inverse=True,
                                      return_counts=True)
    return y, inverse, counts, torch.arange(y.shape[0])


@program(lambda n, m: (torch.tensor(n / 4),))
def float_from_data(x):
    v = x.item()
    return torch.ones(3) * v, v, v * 2 + 1


@program(lambda n, m: (torch.tensor(n > 3), data(n)))
def bool_from_data(b, x):
    v = b.item()
    return v, torch.sym_ite(v, 1, 2), x


@program(lambda n, m: (data(n, m), torch.tensor(n)))
def unbacked_arithmetic(x, k):
    u = k.item()
    return (u // 2, u % 3, u * x.shape[1], torch.sym_min(u, x.shape[0]),
            torch.sym_max(u, 3), u / 2, u > x.shape[0], -u)


@program(lambda n, m: (data(n, m), torch.tensor(2 * n)))
def unbacked_reshaped(x, k):
    u = k.item()
    torch._check(u >= 0)
    torch._check(u % 2 == 0)
    y = torch.arange(u)
    return y.reshape(-1, 2).sum(1), u // 2


@program(lambda n, m: (data(n, m), torch.tensor(n)),
         shapes=({0: Dim.UNBACKED, 1: Dim.AUTO}, None))
def unbacked_input(x, k):
    return x.sum(0), x.shape[0], torch.arange(x.shape[0])


@program(lambda n, m: (data(n, m), data(n, m)),
         shapes=({0: Dim.UNBACKED, 1: Dim.AUTO},) * 2)
def unbacked_inputs_equal(x, y):
    torch._check(x.shape[0] == y.shape[0])
    return x + y, torch.arange(y.shape[0])


@program(lambda n, m: (data(n + 2, m), torch.tensor([1, n])))
def unbacked_start_and_end(x, k):
    a, b = k.tolist()
    torch._check(a >= 0)
    torch._check(b >= a)
    torch._check(b <= x.shape[0])
    return x[a:b], torch.arange(b - a), b - a


@program(lambda n, m: (data(n, m), torch.tensor([1, n - 1])),
         sizes=[(3, 5), (4, 2), (6, 6), (2, 9)])
def unbacked_split(x, k):
    a, b = k.tolist()
    torch._check(a >= 0)
    torch._check(b >= 0)
    torch._check(a + b == x.shape[0])
    p, q = x.split([a, b])
    return p * 2, q, torch.cat([q, p])


@program(lambda n, m: (data(n, m), torch.tensor(n - 1)))
def unbacked_select(x, k):
    u = k.item()
    torch._check(u >= 0)
    torch._check(u < x.shape[0])
    return x[u], x.select(0, u) + u, x.narrow(0, u, 1)


@program(lambda n, m: (data(n, m), torch.tensor(n)))
def unbacked_pad(x, k):
    u = k.item()
    torch._check(u >= 0)
    return torch.nn.functional.pad(x, (0, u)), torch.cat([x, torch.zeros(
        u, x.shape[1])])


# --- what a program owns

class Owner(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(data(4, 6))
        self.register_buffer("steps", torch.zeros(3))
        self.register_buffer("loose", torch.ones(6), persistent=False)


@program(lambda n, m: (data(n, 6),), shapes=({0: Dim.AUTO},))
class SizesOfParameters(Owner):
    def forward(self, x):
        return (x @ self.weight.T * self.weight.shape[0],
                torch.arange(self.steps.shape[0]), self.weight.shape[1])


@program(lambda n, m: (data(n, m),), sizes=[(3, 6), (4, 6), (1, 6)])
class SizeEqualToAParameter(Owner):
    def forward(self, x):
        return x @ self.weight.T, torch.arange(x.shape[1]), x.shape[0]


@program(lambda n, m: (data(n, m),), sizes=[(3, 6), (4, 6), (1, 6)])
class SizeEqualToABuffer(Owner):
    def forward(self, x):
        n = x.shape[1] * 2
        return x + self.loose, torch.zeros(n), n


@program(stateful=True)
class MutatedBuffer(Owner):
    def forward(self, x):
        self.steps.add_(x.shape[0])
        return x * self.steps.sum(), self.steps


@program(stateful=True)
class ReplacedBuffer(Owner):
    def forward(self, x):
        self.steps = self.steps + x.shape[1] / 2
        return x + self.steps[0]


@program(stateful=True)
class MutatedLooseBuffer(Owner):
    def forward(self, x):
        self.loose.mul_(2)
        return x * self.loose[0], torch.arange(x.shape[1])


@program(lambda n, m: (data(n, m), data(n, m)))
def mutated_input(x, y):
    x.add_(y)
    return x * 2, torch.arange(y.shape[1])


@program()
def mutated_input_by_sizes(x):
    x.mul_(x.shape[0])
    x[:, 0] = x.shape[1] / 2
    return x.shape[0]


@program(lambda n, m: (data(n, m), torch.zeros(n, m)))
def input_written_by_copy(x, y):
    y.copy_(x * 2)


@program(lambda n, m: ({"a": data(n), "b": data(m)},))
def nested_input_mutated(d):
    d["a"].add_(1)
    return d["b"] * d["a"].shape[0], d["b"].shape[0]


@program(stateful=True)
class MutatedUnderNoGrad(Owner):
    def forward(self, x):
        with torch.no_grad():
            self.steps.add_(x.shape[0])
        return x + self.steps[0]


@program()
def constant_tensors(x):
    return x + torch.tensor(2.0), torch.tensor([1, 2, 3]) * x.shape[0]


@program(lambda n, m: (data(n, m),), sizes=[(3, 6), (4, 6)])
class SharedParameter(Owner):
    def __init__(self):
        super().__init__()
        self.other = self.weight

    def forward(self, x):
        return x @ self.weight.T + (x @ self.other.T) * x.shape[0]


@program()
def input_returned(x):
    return x, x.shape[0]


@program(two)
def inputs_returned_twice(x, y):
    return x, x, y, (y,)


@program()
def views_returned(x):
    return x.T, x[0], x.reshape(-1), x.unsqueeze(0).expand(
        2, x.shape[0], x.shape[1])


@program(lambda n, m: (data(m, n).T,))
def strided_input(x):
    return x.reshape(-1), x.stride(0) * 2, x.shape[0]


@program(lambda n, m: (data(2, n, m).permute(1, 2, 0),))
def permuted_input(x):
    return x + 1, x.contiguous().view(-1), x.shape[1]


@program(lambda n, m: (data(n, m).to(torch.float16), torch.arange(n),
                       torch.ones(m, dtype=torch.bool),
                       data(n).to(torch.complex64)))
def many_types(x, i, b, c):
    return (x.float() * 2, i * x.shape[0], b & True, c * 2j,
            i.to(torch.int8), torch.zeros(b.shape[0], dtype=torch.bfloat16))


@program()
def gradients(x):
    return (*torch.gradient(x), *torch.gradient(x, spacing=0.5, dim=1))


@program(lambda n, m: (data(n, m), data(n, 2)))
def least_squares(x, y):
    return torch.linalg.lstsq(x @ x.mT + torch.eye(x.shape[0]), y).solution


@program(lambda n, m: (data(n, m, m),))
def ranks_and_conditions(x):
    return torch.linalg.matrix_rank(x), torch.linalg.cond(x).isnan()


@program(lambda n, m: (data(m + 2, n, 5).log_softmax(-1),
                       torch.ones(n, 2, dtype=torch.int64),
                       torch.full((n,), m + 2), torch.full((n,), 2)))
def ctc_loss(probs, targets, lengths, wanted):
    return torch.nn.functional.ctc_loss(probs, targets, lengths, wanted)


@program(lambda n, m: (torch.arange(n * m).reshape(n, m) % 7,), stateful=True)
class ShortRows(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.rows = torch.nn.Embedding(7, 3, max_norm=1.0)

    def forward(self, x):
        return self.rows(x)


@program(lambda n, m: (data(n, 4, m),))
def shuffled_channels(x):
    return torch.nn.functional.channel_shuffle(x, 2), torch.trapezoid(x)


@program()
def copies(x):
    aten = torch.ops.aten
    return (aten.permute_copy(x, [1, 0]), aten.view_copy(x, [-1]),
            aten.slice_copy(x, 1, 1), *aten.unbind_copy(x.new_ones(2, 3)))


@program()
def rare(x):
    return (*torch.frexp(x), torch.rot90(x), torch.dist(x, x + 1),
            torch.renorm(x, 2, 0, 1.0), torch.ldexp(x, torch.tensor(3)))
