"""A program that looks at a layout is exported for the sizes that have it.

Which strides a tensor has is decided for sizes of 2 and more: those of a
dimension of size 1 mean nothing.  A program that asks for them sees the
difference:

    y = a[:, :b.shape[0]].reshape(-1)        # a copy; a view for b of 1
    return y + 1 if y.is_contiguous() else y * 2
"""

import itertools

import pytest
import torch

import proviso
from proviso import Dim

LAST = torch.channels_last
BASES = {
    "columns": lambda a, n: a[:, :n],
    "rows": lambda a, n: a[:n],
    "transposed": lambda a, n: a[:n].t(),
    "of a sum": lambda a, n: a[:, :n].t() + 0.5,
    "broadcast": lambda a, n: (a[:, :1] + a[:1, :n]).t(),
    "expanded": lambda a, n: a[:1, :1].expand(5, n),
    "diagonal": lambda a, n: a.diagonal()[:n].unsqueeze(1),
    "of a kernel": lambda a, n: torch.cumsum(a[:, :n].t(), 0),
}
COPIES = {
    "none": lambda x: x,
    "reshape": lambda x: x.reshape(-1),
    "reshape of two": lambda x: x.reshape(x.shape[1], x.shape[0]),
    "flatten": lambda x: x.flatten(),
    "ravel": lambda x: x.ravel(),
    "contiguous": lambda x: x.contiguous(),
    "contiguous, transposed": lambda x: x.contiguous().t(),
    "channels last": lambda x: x[None, None].contiguous(memory_format=LAST),
    "to": lambda x: x[:, None, None].to(memory_format=LAST),
    "like": torch.empty_like,
}


def written(target, other):
    target.add_(1)
    return other


SEEN = {
    "contiguous": lambda x, y: y + 1 if y.is_contiguous() else y * 2,
    "stride": lambda x, y: y + 1 if y.stride(0) == 1 else y * 2,
    "strides": lambda x, y: y + 1 if y.stride()[-1] == 1 else y * 2,
    "offset": lambda x, y: y + 1 if y.storage_offset() == 0 else y * 2,
    "value": lambda x, y: y * y.stride(-1),
    "written": lambda x, y: written(y, x),
    "base written": lambda x, y: written(x, y * 1),
    "base written, kept": lambda x, y: (written(x, y), y * 1)[1],
    "read by strides": lambda x, y: y.as_strided((1,), (1,)) * 2,
}
SIZES = (0, 1, 2, 3, 4)


def inputs(n):
    # a[:, :n] of any n keeps a's strides: a is wider than it.
    return (torch.arange(30.0).reshape(5, 6) * 0.37).cos(), torch.zeros(n)


def eager(program, n):
    try:
        return program(*inputs(n))
    except (RuntimeError, IndexError):
        return None


def sizes_taken(seen, bases, decompose=False):
    """How many sizes eager takes, how many we take, and at which of those the
    results differ."""
    checked, taken, wrong = 0, 0, []
    for base, copy in itertools.product(bases, COPIES):
        def program(a, b, base=base, copy=copy):
            x = BASES[base](a * 1, b.shape[0])
            y = COPIES[copy](x)
            if copy == "like":
                y.fill_(0.25)
            return SEEN[seen](x, y)

        if eager(program, 3) is None:
            continue
        ep = proviso.export(program, inputs(3),
                            dynamic_shapes=({}, {0: Dim.AUTO}))
        if decompose:
            ep = ep.run_decompositions()
        module = ep.module()
        for n in SIZES:
            expected = eager(program, n)
            if expected is None:
                continue
            checked += 1
            try:
                found = module(*inputs(n))
            except (AssertionError, RuntimeError) as error:
                assert n != 3, f"{base}, {copy}: {error}"
                continue
            taken += 1
            if not torch.equal(found, expected):
                wrong.append((base, copy, n))
    return checked, taken, wrong


@pytest.mark.parametrize("seen", SEEN)
def test_what_is_seen_of_a_layout(seen):
    checked, taken, wrong = sizes_taken(seen, BASES)
    assert not wrong
    # Who writes to what may be a view is answered by the operators themselves.
    assert taken == checked if "written" in seen else taken > checked // 2


@pytest.mark.parametrize("seen", [s for s in SEEN if "written" in s])
def test_what_is_written_once_decomposed(seen):
    _, taken, wrong = sizes_taken(seen, ["columns", "transposed"], True)
    assert not wrong
    assert taken > 0


def test_only_who_looks_is_refused():
    def program(a, b):
        y = a[:, :b.shape[0]].reshape(-1)
        return y + 1 if y.is_contiguous() else y * 2

    def reshapes(a, b):
        return a[:, :b.shape[0]].reshape(-1) + 1

    specs = ({}, {0: Dim.AUTO})
    ep = proviso.export(program, inputs(3), dynamic_shapes=specs)
    with pytest.raises(RuntimeError, match="is_contiguous"):
        ep.module()(*inputs(1))
    assert torch.equal(ep.module()(*inputs(2)), program(*inputs(2)))
    ep = proviso.export(reshapes, inputs(3), dynamic_shapes=specs)
    for n in SIZES:
        assert torch.equal(ep.module()(*inputs(n)), reshapes(*inputs(n)))


# A dimension of size 1 may have any stride, and a tensor is contiguous all the
# same.
ODD = {
    "a row": torch.randn(4, 1).t(),
    "channels last": torch.randn(2, 3, 1, 1).to(memory_format=LAST),
    "far": torch.randn(3, 1, 2).as_strided((3, 1, 2), (2, 6, 1)),
    "one": torch.randn(1, 1).as_strided((1, 1), (5, 7)),
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("name", ["itself", "clone", "contiguous", "double",
                                  "zeros_like"])
def test_strides_of_dimensions_of_size_one(kind, name):
    made = {"itself": lambda x: x, "clone": lambda x: x.clone(),
            "contiguous": lambda x: x.contiguous(),
            "double": lambda x: x.double(), "zeros_like": torch.zeros_like}

    def program(x):
        return x + 1, made[name](x).stride()

    x = ODD[kind]
    module = proviso.export(program, (x,)).module()
    assert module(x)[1] == program(x)[1]
