"""Small programs whose sizes and numbers come from data, of many kinds.

    for program in PROGRAMS:
        program.source          # a module with `forward`
        program.args(k)         # example inputs; k = 0 is traced
        program.shapes          # dynamic_shapes

test_data_programs.py exports each with the suggested checks pasted in.
"""

from dataclasses import dataclass
from typing import Any, Callable, Optional, Tuple

import torch
from torch.export import Dim

_D = Dim.DYNAMIC
ROWS = ({0: _D}, {0: _D})


@dataclass(frozen=True)
class Program:
    name: str
    source: str
    args: Callable[[int], Tuple[Any, ...]]
    shapes: Any
    variants: int
    # The least number of checks that a person needs; None is not looked at.
    checks: Optional[int] = None


PROGRAMS = []


def _randn(*size):
    return torch.randn(*size, generator=torch.Generator().manual_seed(7))


def mask(n, held):
    order = torch.randperm(n, generator=torch.Generator().manual_seed(held))
    result = torch.zeros(n, dtype=torch.bool)
    result[order[:held]] = True
    return result


def masked(*held, width=6, of=40):
    """x of `of` rows and a mask that holds so many of them."""
    return lambda k: (_randn(of, width), mask(of, held[k])), len(held)


def add(name, body, args, shapes=ROWS, checks=None, variants=None,
        signature="x, m", before="", decorated=""):
    if isinstance(args, tuple):
        args, variants = args
    source = (f"import math\n\nimport torch\nimport torch.nn.functional as F\n"
              f"\n{before}\n\n{decorated}def forward({signature}):{body}")
    PROGRAMS.append(Program(name, source, args, shapes, variants or 1, checks))


def number(*values, like=()):
    """Rows and a number from data."""
    return lambda k: (_randn(40, 6), torch.tensor(values[k])), len(values)


FIXED = (None, None)

# --- nonzero, masked_select, unique, repeat_interleave

add("the first of nonzero", """
    i = m.nonzero().squeeze(1)
    if len(i) > 0:
        return x[i[0]]
    return x[0]
""", masked(8, 3, 1), checks=1)

add("nonzero as a tuple", """
    (rows,) = torch.nonzero(m, as_tuple=True)
    if rows.numel() >= 5:
        x = x[rows][:5]
    return x
""", masked(8, 5, 40), checks=1)

add("masked_select in rows", """
    flat = torch.masked_select(x, m.unsqueeze(1))
    count = flat.numel() // 6
    return flat.view(count, 6).cumsum(0)
""", masked(8, 3, 0, 40), checks=0)

add("unique values against a table", """
    ids, back = torch.unique(m, return_inverse=True)
    table = x[: ids.shape[0]]
    if ids.shape[0] > x.shape[0] // 2:
        raise ValueError("more kinds than half the rows")
    return table[back]
""", lambda k: (_randn(40, 6), torch.tensor([3, 3, 5, 9 + k, 5])),
    ({0: _D}, {0: _D}), checks=1, variants=2)

add("unique in a helper", """
    def kinds(values):
        u = values.unique()
        if u.shape[0] == 1:
            return values
        return u
    return kinds(m).float().mean() + x.sum()
""", lambda k: (_randn(4, 2), torch.tensor([3, 3, 5, 9 + k, 5])),
    ({0: _D}, {0: _D}), checks=1, variants=2)

add("repeat_interleave against rows", """
    owner = torch.repeat_interleave(m)
    total = owner.shape[0]
    if total < x.shape[0]:
        owner = F.pad(owner, (0, x.shape[0] - total))
    return x[: owner.shape[0]] * owner.unsqueeze(1)
""", lambda k: (_randn(12, 6), torch.tensor([2, 3, k + 1])),
    ({0: _D}, {0: _D}), checks=1, variants=3)

# --- tolist, split with sizes from data

add("split by lengths from a list", """
    lengths = m.tolist()
    parts = torch.split(x, lengths)
    longest = parts[0]
    for part in parts[1:]:
        if part.shape[0] > longest.shape[0]:
            longest = part
    return longest.mean(0)
""", lambda k: (_randn(12, 6), torch.tensor([2, 3, 7])), FIXED)

add("comprehension over a list", """
    sizes = [int(n) for n in m.tolist()]
    return torch.cat([x[:n] for n in sizes if n > 1])
""", lambda k: (_randn(12, 6), torch.tensor([2, 4 + k, 3])), FIXED,
    variants=3)

add("start and end of a slice", """
    start, end = m.tolist()
    if end - start >= 4:
        return x[start:end].mean(0)
    return x[start]
""", lambda k: (_randn(12, 6), torch.tensor([2, 9 - k])), FIXED, checks=1,
    variants=3)

add("nested numbers of an item", """
    a = m[0].item()
    b = m[1].item()
    inner = (a * 2 + b) // 3 - 1
    if inner % 2 == 0:
        return x * inner
    return x + a
""", lambda k: (_randn(12, 6), torch.tensor([3 + 3 * k, 3])), FIXED, checks=1,
    variants=2)

# --- index_select, arange, narrow, topk

add("index_select by an arange", """
    n = m.sum().item()
    rows = torch.arange(n - 1, -1, -1)
    return torch.index_select(x, 0, rows)
""", masked(8, 3, 40))

add("narrow by numbers", """
    length = m.item()
    tail = x.narrow(0, x.shape[0] - length, length)
    if length < 4:
        return F.pad(tail, (0, 0, 0, 4 - length))
    return tail
""", number(8, 20, 4), FIXED, checks=1)

add("topk of a fraction", """
    y = x[m]
    k = max(1, y.shape[0] // 2)
    values, _ = y[:, 0].topk(k)
    return values.sum()
""", masked(8, 3, 1, 40))

add("topk with k from data", """
    k = m.item()
    if k > x.shape[0]:
        k = x.shape[0]
    return x.topk(k, dim=0).values
""", number(8, 20, 40), FIXED, checks=1)

# --- padding, cat of pieces, expand, view, reshape

add("padded to the longest", """
    a, b = x[m], x[~m]
    n, k = a.shape[0], b.shape[0]
    if n < k:
        a = F.pad(a, (0, 0, 0, k - n))
    else:
        b = F.pad(b, (0, 0, 0, n - k))
    return torch.stack([a, b])
""", masked(8, 3, 19), checks=1)

add("padded in an f-string", """
    y = x[m]
    n = y.shape[0]
    note = f"{n} rows" if n > 3 else "few"
    return y * len(note.split())
""", masked(8, 4, 30), checks=1)

add("cat of what is left", """
    keep = x[m]
    rest = x.shape[0] - keep.shape[0]
    if rest:
        keep = torch.cat([keep, x.new_zeros(rest, x.shape[1])])
    return keep
""", masked(8, 3, 39), checks=1)

add("expand to a number", """
    n = m.item()
    row = x[:1]
    out = row.expand(n, x.shape[1])
    return out if n != 1 else row
""", number(8, 3, 40), FIXED, checks=1)

add("windows", """
    y = x[m]
    n = y.shape[0]
    w = 4
    if n % w:
        y = y[: n // w * w]
    return y.view(-1, w, y.shape[-1]).amax(1)
""", masked(8, 12, 40), checks=1)

add("reshape by a number", """
    heads = m.item()
    width = x.shape[1]
    if width % heads != 0:
        raise ValueError(f"{width} columns do not make {heads} heads")
    return x.reshape(x.shape[0], heads, width // heads).sum(-1)
""", number(3, 2, 6, 1), FIXED)

add("unflatten a masked tensor", """
    y = x[m]
    pairs = y.unflatten(0, (-1, 2))
    first, second = pairs.unbind(1)
    return first - second
""", masked(8, 4, 40))

# --- cumsum, scatter, boolean masks, bincount

add("bincount against a number of kinds", """
    counts = torch.bincount(m)
    kinds = counts.shape[0]
    if kinds < 6:
        counts = F.pad(counts, (0, 6 - kinds))
    return counts[:6] + x[0].long()
""", lambda k: (_randn(4, 6), torch.tensor([0, 3, 3, k + 1])),
    ({0: _D}, {0: _D}), checks=1, variants=2)

add("scatter into as many as counted", """
    total = (m > 0).sum().item()
    out = x.new_zeros(total + 1, x.shape[1])
    place = (m > 0).cumsum(0) * (m > 0)
    return out.index_add(0, place, x)
""", lambda k: (_randn(5, 6), torch.tensor([0, 2, 1, 0, 3 - k])),
    ({0: _D}, {0: _D}), checks=None, variants=2)

add("a mask of a mask", """
    y = x[m]
    z = y[y[:, 0] > 0]
    if z.shape[0] == y.shape[0]:
        return y
    return torch.cat([z, y[:1]])
""", masked(8, 12, 40), checks=1)

add("a mask with two numbers", """
    y, z = x[m], x[~m]
    share = y.shape[0] / (y.shape[0] + z.shape[0])
    if share > 0.25:
        return y
    return z
""", masked(18, 12, 30))

# --- while, cond, branches

add("a while over halves", """
    n = x[m].shape[0]
    steps = 0
    while n > 1:
        n = n // 2
        steps += 1
    return x + steps
""", masked(8, 12, 15))

add("early returns", """
    n = m.item()
    if n < 0:
        return x
    if n == 0:
        return x + 1
    if n > 100:
        return x + 2
    return x[:n]
""", number(8, 3, 40), FIXED)

add("elif chains", """
    n = x[m].shape[0]
    if n < 4:
        scale = 1.0
    elif n < 16:
        scale = 2.0
    else:
        scale = 3.0
    return x * scale
""", masked(8, 12, 15))

add("a branch with and", """
    n = m.item()
    if n > 2 and n < x.shape[0]:
        return x[:n]
    return x
""", number(8, 3, 39), FIXED)

add("a branch with or", """
    n = m.item()
    if n < 2 or n > 30 or n % 5 == 0:
        return x
    return x[:n]
""", number(8, 3, 29), FIXED)

add("a chained comparison", """
    n = m.item()
    return x[:n] if 2 <= n <= x.shape[0] // 2 else x
""", number(8, 3, 20), FIXED)

add("not of a number", """
    n = (m > 0).sum().item()
    if not n:
        return x.new_zeros(x.shape[1])
    return x[m > 0].sum(0) / n
""", lambda k: (_randn(5, 6), torch.tensor([0, 2, 1, 0, 3 - k])),
    ({0: _D}, {0: _D}), checks=1, variants=2)

add("cond on a count", """
    n = x[m].shape[0]
    if x.shape[1] != 6:
        return x
    y = torch.cond(torch.tensor(n > 10), lambda t: t + 1, lambda t: t - 1,
                   (x,))
    return y * 2 if n != 40 else y
""", masked(8, 12, 39), checks=1)

# --- floor division, modulo

add("floor division by a number", """
    step = m.item()
    blocks = x.shape[0] // step
    return x[: blocks * step].reshape(blocks, step, -1).sum(1)
""", number(8, 3, 40), FIXED)

add("the rest of a block", """
    n = x[m].shape[0]
    missing = -n % 16
    if missing == 0:
        return x[m]
    return F.pad(x[m], (0, 0, 0, missing))
""", masked(8, 12, 15), checks=1)

add("divmod", """
    n = m.item()
    q, r = divmod(n, 4)
    if r:
        q += 1
    return x[:q]
""", number(10, 7, 39), FIXED, checks=1)

# --- numbers of Python

add("max of a list of sizes", """
    sizes = [x[m].shape[0], x[~m].shape[0]]
    longest = max(sizes)
    return x.new_zeros(longest, 2) + longest
""", masked(8, 12, 30), checks=0)

add("min with a key would compare", """
    a, b = x[m].shape[0], x[~m].shape[0]
    least = min(a, b, 10)
    return x[:least]
""", masked(8, 12, 38), checks=0)

add("sum of a list of numbers", """
    total = sum(m.tolist())
    if total == x.shape[0]:
        return x.split(m.tolist())[1]
    return x
""", lambda k: (_randn(12, 6), torch.tensor([2, 3, 7])), FIXED)

add("abs and round", """
    n = m.item()
    far = abs(n - 20)
    near = round(n / 3)
    return x[:near] * far if far > 4 else x
""", number(8, 3, 39), FIXED)

add("pow and int", """
    n = x[m].shape[0]
    area = pow(n, 2)
    half = int(area / 2)
    return x * half + area
""", masked(8, 12, 30), checks=0)

add("math of a count", """
    n = x[m].shape[0]
    scale = 1 / math.sqrt(n)
    up = math.ceil(n / 4)
    down = math.floor(n / 4)
    return x * scale + up - down
""", masked(8, 12, 30))

add("float of a count", """
    n = x[m].shape[0]
    share = float(n) / float(x.shape[0])
    return x * share
""", masked(8, 12, 30), checks=0)

add("bool of a count", """
    y = x[m]
    nonempty = bool(y.shape[0])
    if nonempty:
        return y.mean(0)
    return x[0]
""", masked(8, 12, 30), checks=1)

add("len in a comparison", """
    y = x[m]
    z = x[~m]
    return y if len(y) > len(z) else z
""", masked(8, 12, 19), checks=1)

add("any and all over numbers", """
    sizes = m.tolist()
    if all(s > 0 for s in sizes):
        return x[: sizes[0]]
    return x
""", lambda k: (_randn(12, 6), torch.tensor([2, 3, 7 - k])), FIXED,
    variants=3)

add("sorted sizes", """
    kept, left = x[m], x[~m]
    a, b = sorted([kept.shape[0], left.shape[0]])
    return x[a:b]
""", masked(8, 12, 19))

# --- range, counts that must be known

add("range over chunks", """
    y = x[m]
    total = y.new_zeros(y.shape[1])
    for i in range(0, y.shape[0], 4):
        total = total + y[i:i + 4].sum(0)
    return total
""", masked(8, 7, 6))

add("range over a number", """
    h = x[0]
    for i in range(m.item()):
        h = torch.tanh(h + x[i])
    return h
""", number(3), FIXED)

add("chunks of four", """
    y = x[m]
    n = y.shape[0]
    parts = y.chunk(4)
    return torch.stack([p.sum(0) for p in parts])
""", masked(8, 12, 40))

add("split in pairs", """
    y = x[m]
    half = y.shape[0] // 2
    a, b = y.split([half, y.shape[0] - half])
    return a.sum(0) + b.sum(0)
""", masked(8, 12, 5), checks=0)

add("tensor_split and unbind", """
    y = x[m]
    a, b, c = torch.tensor_split(y, 3)
    return torch.cat([c, b, a])
""", masked(8, 12, 5), checks=0)

add("enumerate a masked tensor", """
    y = x[m]
    out = []
    for i, row in enumerate(y):
        out.append(row * i)
    return torch.stack(out)
""", masked(3))

# --- where names live

add("a walrus", """
    if (n := x[m].shape[0]) > 4:
        return x[:n]
    return x
""", masked(8, 12, 5), checks=1)

add("a walrus in an expression", """
    total = (k := x[m].shape[0]) * 2
    if total > x.shape[0]:
        return x[:k]
    return x[m] * 2
""", masked(8, 12, 20), checks=1)

add("a count that is counted again", """
    for block in (1, 2):
        if x[m].shape[0] > 4 * block:
            x = x + 1
    return x[m] + x[m].shape[0]
""", masked(9, 12, 20))

add("an attribute of self", """
    return Counter()(x, m)
""", masked(8, 12, 30), before="""
class Counter(torch.nn.Module):
    def forward(self, x, m):
        self.kept = x[m].shape[0]
        return self.scaled(x)

    def scaled(self, x):
        if self.kept > 4:
            return x / self.kept
        return x
""", checks=1)

add("a property", """
    return Rows(x[m]).doubled()
""", masked(8, 12, 30), before="""
class Rows:
    def __init__(self, rows):
        self.rows = rows

    @property
    def count(self):
        return self.rows.shape[0]

    def doubled(self):
        if self.count > 4:
            return self.rows * 2
        return self.rows
""", checks=1)

add("a lambda", """
    pick = lambda t: t[:4] if t.shape[0] > 4 else t
    return pick(x[m])
""", masked(8, 12, 30), checks=1)

add("a decorated function", """
    return halved(x[m])
""", masked(8, 12, 30), before="""
import functools


def logged(function):
    @functools.wraps(function)
    def inner(*args):
        return function(*args)
    return inner


@logged
def halved(rows):
    if rows.shape[0] % 2 == 0:
        return rows[: rows.shape[0] // 2]
    return rows
""", checks=1)

add("a comprehension with a branch", """
    pieces = [x[m], x[~m]]
    return torch.cat([p if p.shape[0] > 1 else p + 1 for p in pieces])
""", masked(8, 12, 30))

add("a generator over pieces", """
    pieces = (x[m], x[~m])
    big = next(p for p in pieces if p.shape[0] >= 10)
    return big.mean(0)
""", masked(8, 9, 3))

add("a dict of counts", """
    counts = {"kept": x[m].shape[0], "left": x[~m].shape[0]}
    if counts["kept"] < counts["left"]:
        return x[: counts["kept"]]
    return x
""", masked(8, 12, 19), checks=1)

add("a named tuple", """
    found = Found(x[m], x[m].shape[0])
    if found.n > 3:
        return found.rows
    return x
""", masked(8, 12, 30), before="""
from typing import Any, NamedTuple


class Found(NamedTuple):
    rows: Any
    n: Any
""", checks=1)

add("a nested function", """
    n = x[m].shape[0]
    def enough():
        return n >= 5
    def pick(t):
        if enough():
            return t[:5]
        return t
    return pick(x)
""", masked(8, 12, 30), checks=1)

add("a statement over lines", """
    y = x[m]
    out = torch.cat([
        y,
        x[: y.shape[0]] if y.shape[0] < x.shape[0] // 2
        else x[:1],
    ])
    return out
""", masked(8, 12, 19), checks=1)

add("a loop with a body of one line", """
    total = x.new_zeros(())
    for part in (x[m], x[~m]):
        if part.shape[0] > 2: total = total + part.sum()
    return total
""", masked(8, 12, 30))

add("a try around", """
    try:
        n = x[m].shape[0]
        if n == 0:
            raise ValueError
        return x / n
    except ValueError:
        return x
""", masked(8, 12, 30), checks=1)

add("a with around", """
    with torch.no_grad():
        n = x[m].shape[0]
        if n > 2: return x * n
    return x
""", masked(8, 12, 30), checks=1)

add("an assert of two", """
    a, b = x[m].shape[0], x[~m].shape[0]
    assert a + b == x.shape[0], "lost rows"
    assert a <= b
    return x[m] + x[~m][:a]
""", masked(8, 12, 19), checks=0)

add("a count through a tensor", """
    n = torch.tensor(x[m].shape[0]).item()
    if n > 7:
        return x[:7]
    return x[:n]
""", masked(8, 12, 30), checks=1)

add("two questions at one line", """
    h, w = m.tolist()
    if h * w > 12 or h == w:
        return x
    return x[:h] * w
""", lambda k: (_randn(12, 6), torch.tensor([2, 3 + k])), FIXED, variants=3)

add("a size of an input and one of data", """
    y = x[m]
    if y.shape[0] * 2 > x.shape[0]:
        return y
    return x
""", masked(8, 12, 20), checks=1)

add("batch norm of what is kept", """
    y = x[m]
    return F.batch_norm(y, None, None, training=True)
""", masked(8, 12, 30))

add("layer norm of what is kept", """
    y = x[m]
    return F.layer_norm(y, y.shape[1:])
""", masked(8, 12, 0), checks=0)

add("cross entropy of what is kept", """
    y = x[m]
    goal = y.argmax(1)
    return F.cross_entropy(y, goal)
""", masked(8, 12, 30), checks=0)

add("attention over what is kept", """
    y = x[m].unsqueeze(0)
    return F.scaled_dot_product_attention(y, y, y)
""", masked(8, 12, 30), checks=0)

add("max pool of what is kept", """
    y = x[m].T.unsqueeze(0)
    return F.max_pool1d(y, 2)
""", masked(8, 12, 31))

add("one_hot with a number of kinds", """
    kinds = m.max().item() + 1
    out = F.one_hot(m, 10)
    return out[:, :kinds] if kinds < 10 else out
""", lambda k: (_randn(4, 2), torch.tensor([1, 3, k])), (None, {0: _D}),
    variants=3, checks=1)
