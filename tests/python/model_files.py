"""Small .pt2 files of every feature, ours and torch.export.save's, for tests
that change them.

    python tests/python/model_files.py FOLDER    # writes them there
"""

import pathlib
import sys

import torch
from torch import nn
from torch.export import Dim

import proviso

AUTO = Dim.AUTO


class Linear(nn.Module):
    """Parameters, buffers of both kinds, a constant, a list of results."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("scale", torch.ones(4))
        self.register_buffer("shift", torch.ones(4), persistent=False)

    def forward(self, x):
        y = self.linear(x) * self.scale + self.shift
        a, b = (y + torch.tensor([1., 2., 3., 4.])).split(2, dim=1)
        return a, b.to(torch.float64), y.reshape(-1).sum()


class Nested(nn.Module):
    """Nested inputs, numbers and text; results that are numbers."""

    def forward(self, xs, n, factor, mode):
        x, y = xs["x"], xs["pair"][0]
        z = torch.cat([x, y]) * factor + n
        if mode == "sum":
            return {"z": z.sum(0), "size": x.shape[0] * 2 + n}
        return {"z": z}


class Sizes(nn.Module):
    """Arithmetic on sizes, guards, broadcasting."""

    def forward(self, x, y):
        h = max(x.shape[0] // 2, 1)
        z = x[:h] * (x.shape[1] / 2)
        w = y.reshape(-1, 2).sum(1) if y.shape[0] % 4 == 0 else y
        return z, torch.zeros(h + y.shape[0] * 2), w, x.shape[0] ** 2


class Item(nn.Module):
    """A number read from data, with promises about it."""

    def forward(self, x, y):
        n = x.item()
        torch._check(n >= 1)
        torch._check(n <= y.shape[0])
        return y[:n] * n, torch.zeros(n + 1), y.nonzero()


class Branches(nn.Module):
    def forward(self, x):
        y = torch.cond(x.sum() > 0, lambda a: (a.sin(), a + 1),
                       lambda a: (a.cos(), a - 1), (x,))
        return y[0] + y[1]


class Loops(nn.Module):
    def forward(self, x):
        def test(i, a):
            return (i < 3).all()

        i, a = torch.while_loop(test, lambda i, a: (i + 1, a * 2),
                                (torch.zeros(1, dtype=torch.int64), x))
        return i, a


class Rows(nn.Module):
    def forward(self, xs, y):
        from torch._higher_order_ops.map import map as map_
        from torch._higher_order_ops.scan import scan
        rows = map_(lambda r, b: r * b, xs, y)
        last, sums = scan(lambda c, r: (c + r, c * r), y, xs)
        return rows, last, sums


class Modes(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        with torch.no_grad():
            y = x.reshape(-1, 4) * 2
        with torch.autocast("cpu", dtype=torch.bfloat16):
            z = self.linear(y)
        return z + y


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10, 4)
        self.norm = nn.LayerNorm(4)
        self.conv = nn.Conv1d(4, 4, 1)

    def forward(self, ids):
        x = self.norm(self.embedding(ids))
        x = nn.functional.scaled_dot_product_attention(x, x, x)
        x = self.conv(x.transpose(1, 2))
        return x.argmax(1), torch.where(x > 0, x, 0.5).softmax(-1)


class Inverse(nn.Module):
    """What torch decomposes to a call that has an effect and no result, for
    which it passes tokens on."""

    def forward(self, x):
        return torch.linalg.inv(torch.linalg.inv(x)), x.shape[0] + 1


def _nested():
    return ({"x": torch.ones(3, 2), "pair": [torch.ones(4, 2)]}, 5, 0.5, "sum")


PROGRAMS = {
    "linear": (Linear, lambda: (torch.ones(3, 4),), ({0: AUTO},)),
    "nested": (Nested, _nested,
               ({"x": {0: AUTO}, "pair": [{0: AUTO}]}, AUTO, None, None)),
    "sizes": (Sizes, lambda: (torch.ones(6, 4), torch.ones(8)),
              ({0: AUTO, 1: AUTO}, {0: AUTO})),
    "item": (Item, lambda: (torch.tensor(2), torch.ones(4)),
             (None, {0: AUTO})),
    "branches": (Branches, lambda: (torch.ones(3, 4),), ({0: AUTO},)),
    "loops": (Loops, lambda: (torch.ones(3, 4),), ({0: AUTO},)),
    "rows": (Rows, lambda: (torch.ones(3, 4), torch.ones(4)),
             ({1: AUTO}, {0: AUTO})),
    "modes": (Modes, lambda: (torch.ones(3, 4),), ({0: AUTO},)),
    "attention": (Attention, lambda: (torch.ones(2, 3, dtype=torch.int64),),
                  ({0: AUTO, 1: AUTO},)),
    "inverse": (Inverse, lambda: (torch.eye(3).repeat(4, 1, 1),),
                ({0: AUTO},)),
}
_DECOMPOSED = {"inverse"}  # as torch saves them


def write(folder, by=("proviso", "torch")):
    """The paths; a program that torch.export refuses is ours alone."""
    torch.manual_seed(0)
    paths = []
    for name, (build, inputs, shapes) in PROGRAMS.items():
        for author in by:
            path = pathlib.Path(folder) / f"{name}_{author}.pt2"
            if author == "proviso":
                proviso.export(build(), inputs(), dynamic_shapes=shapes
                               ).save(path)
            else:
                try:
                    program = torch.export.export(
                        build(), inputs(), dynamic_shapes=shapes, strict=False)
                    if name in _DECOMPOSED:
                        program = program.run_decompositions()
                    torch.export.save(program, path)
                except Exception as error:
                    print(f"{path.name}: {error}".splitlines()[0],
                          file=sys.stderr)
                    continue
            paths.append(path)
    return paths


if __name__ == "__main__":
    for path in write(sys.argv[1]):
        print(path)
