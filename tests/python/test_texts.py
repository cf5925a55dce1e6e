"""A program that depends on the text of a size keeps that size; one that only
shows it does not."""

import dataclasses
import io
import itertools
import logging
import warnings

import pytest
import torch

import asserting
import proviso
from proviso import Dim, _export

_log = logging.getLogger("a program's own")
ROWS = {"x": {0: Dim.AUTO}}


class Cached(torch.nn.Module):
    """A table by the text of the sizes, as embeddings of positions have it."""

    def __init__(self):
        super().__init__()
        self.table = {"5": torch.full((1,), 2.0)}

    def forward(self, x):
        key = f"{x.shape[0]}"
        return x * self.table[key] if key in self.table else x


class Built(Cached):
    def forward(self, x):
        key = f"rows {x.shape[0]}"
        if key not in self.table:
            self.table[key] = torch.arange(x.shape[0])
        return x + self.table[key]


def chosen_layer(x):
    layers = {"layer_3": torch.sin, "layer_5": torch.cos}
    return layers["layer_" + str(x.shape[0])](x)


def of_its_digits(x):
    return x + len(str(x.shape[0]))


def of_a_shape(x):
    return x + 1 if str(x.shape) == "torch.Size([5, 2])" else x


def padded(x):
    return x * {"0005": 2}.get(f"{x.shape[0]:04d}", 1)


def returned(x):
    return {"rows": f"{x.shape[0]}", "x": x + 1}


def as_a_name(x):
    return {f"of {x.shape[0]}": x + 1}


def built_key(x):
    return Built()(x[:, 0])


def of_a_float(x):
    return x + 1 if str(x.shape[0] / 2) == "2.5" else x


DEPENDING = {"table": Cached().eval(), "layer": chosen_layer,
             "digits": of_its_digits, "shape": of_a_shape, "padded": padded,
             "returned": returned, "name": as_a_name, "float": of_a_float,
             "built": built_key}


def printed(x):
    print(f"{x.shape[0]} rows", x.shape)
    print(f"{x.shape[0]:4d} rows")
    return x + 1


def logged(x):
    _log.warning("%s rows", x.shape[0])
    _log.warning(f"{x.shape[0]} rows")
    return x + 1


def warned(x):
    warnings.warn(f"{tuple(x.shape)} is a shape")
    return x + 1


def joined(x):
    print("x".join(f"{s}" for s in x.shape), ",".join(map(str, x.shape)),
          [str(s) for s in x.shape])
    print(*x.shape)
    return x + 1


def of_a_choice(x, loud=True):
    print(f"{x.shape[0]} rows" if loud else "", x.mean().dtype)
    return x + 1


def formatted(x):
    _log.warning("%s of %s" % (x.shape[0], str(x.shape)))
    _log.info("{} rows".format(x.shape[0]))
    logging.getLogger(__name__).info(repr(x.shape).upper())
    return x + 1


def of_a_function(x):
    def described():
        return f"a shape of {x.shape}"

    print(described())
    text = described()
    if x.dim() == 3:
        raise ValueError(text) from None
    if x.dim() == 4:
        raise ValueError(f"not {text}" + text)
    return x + 1


@dataclasses.dataclass
class Sizes:
    rows: int


def of_an_object(x):
    print(Sizes(x.shape[0]), f"{Sizes(x.shape[0])}")
    _log.warning("%s", Sizes(x.shape[0]))
    return x + 1


SHOWING = {"printed": printed, "logged": logged, "warned": warned,
           "dropped": asserting.formatted_and_dropped, "joined": joined,
           "choice": of_a_choice, "formatted": formatted,
           "function": of_a_function, "object": of_an_object}


# --- every way to ask for a text, with every way to use it

ASKED = {
    "f-string": lambda n: f"{n}",
    "of words": lambda n: f"k{n}",
    "str": lambda n: str(n),
    "repr": lambda n: repr(n),
    "format": lambda n: format(n),
    "method": lambda n: "{}".format(n),
    "percent": lambda n: "%s" % n,
    "percent of two": lambda n: "%s-%s" % (n, 2),
    "added": lambda n: "k" + str(n),
    "joined": lambda n: "x".join(map(str, (n, 4))),
    "generated": lambda n: ",".join(f"{s}" for s in (n, 4)),
    "listed": lambda n: ",".join([str(s) for s in (n, 4)]),
    "tuple": lambda n: str((n, 4)),
    "list": lambda n: repr([n]),
    "size": lambda n: str(torch.Size([n, 4])),
    "object": lambda n: str(Sizes(n)),
    "product": lambda n: str(n * 2),
    "half": lambda n: str(n / 2),
    "condition": lambda n: f"{n > 4}",
    "of a tree": lambda n: torch.utils._pytree.tree_map(str, [n])[0],
    "written": lambda n: _written(n),
    "callback": lambda n: sorted([n], key=lambda s: f"{s}") and f"{n}",
}


def _written(n):
    print(n, file=(text := io.StringIO()))
    return text.getvalue().strip()


TEXTS_OF_5 = {name: ask(5) for name, ask in ASKED.items()}


class Named:
    k5 = 2.0


def _variable(text, of_5):
    found = text
    if found == of_5:
        return 2.0
    return 1.0


def _caught(text, of_5):
    try:
        raise ValueError(text)
    except ValueError as error:
        return 2.0 if str(error) == of_5 else 1.0


def _kept(text, of_5):
    kept = []
    kept += [text]
    print(text)
    return 2.0 if of_5 in kept else 1.0


USED = {
    "equal": lambda text, of_5: 2.0 if text == of_5 else 1.0,
    "in": lambda text, of_5: 2.0 if text in (of_5, "7") else 1.0,
    "get": lambda text, of_5: {of_5: 2.0}.get(text, 1.0),
    "length": lambda text, of_5: len(text),
    "end": lambda text, of_5: 2.0 if text.endswith(of_5[-1]) else 1.0,
    "start": lambda text, of_5: 2.0 if text.startswith(of_5[:2]) else 1.0,
    "digit": lambda text, of_5: text.count("1"),
    "attribute": lambda text, of_5: getattr(Named, text, 1.0),
    "upper": lambda text, of_5: 2.0 if text.upper() == of_5.upper() else 1.0,
    "sum": lambda text, of_5: sum(map(ord, text)),
    "variable": _variable, "caught": _caught, "kept": _kept,
    "once more": lambda text, of_5: (
        2.0 if f"<{text}>" == f"<{of_5}>" else 1.0),
}


@pytest.mark.parametrize("asked, used", list(
    itertools.product(ASKED, USED)))
def test_a_text_decides_as_in_eager(asked, used):
    ask, use, of_5 = ASKED[asked], USED[used], TEXTS_OF_5[asked]

    def program(x):
        return x * use(ask(x.shape[0]), of_5)

    for example in (2, 10):
        module = exported(program, torch.ones(example, 1)).module()
        assert is_same(module(torch.ones(example, 1)),
                       program(torch.ones(example, 1)))
        for rows in (1, 2, 3, 5, 7, 10, 17, 20, 100):
            x = torch.ones(rows, 1)
            try:
                found = module(x)
            except RuntimeError:
                continue  # a guard refuses
            assert is_same(found, program(x)), f"{example} and {rows} rows"


def exported(program, x):
    if not isinstance(program, torch.nn.Module):
        function = program

        class Of(torch.nn.Module):
            def forward(self, x):
                return function(x)

        program = Of()
    return proviso.export(program, (x,), dynamic_shapes=ROWS)


def is_same(found, expected):
    return all(type(a) is type(b) and
               (torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b)
               for a, b in zip(torch.utils._pytree.tree_leaves(found),
                               torch.utils._pytree.tree_leaves(expected),
                               strict=True))


@pytest.mark.parametrize("name", DEPENDING)
def test_a_size_whose_text_decides_is_kept(name):
    program, x = DEPENDING[name], torch.randn(5, 2)
    module = exported(program, x).module()
    assert is_same(module(x), program(x))
    for rows in (3, 4, 6, 17):
        with pytest.raises(RuntimeError):
            module(torch.randn(rows, 2))


@pytest.mark.parametrize("name", SHOWING)
def test_a_size_whose_text_is_shown_varies(name):
    program = SHOWING[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = exported(program, torch.randn(5, 2)).module()
        for rows in (2, 3, 17):
            x = torch.randn(rows, 2)
            assert is_same(module(x), program(x))


@pytest.mark.parametrize("name", ["printed", "logged", "warned", "dropped"])
def test_what_only_shows_a_size_is_traced_once(name, monkeypatch, capsys):
    traces, trace = [], _export._trace_program

    def counted(*args, **options):
        traces.append(name)
        return trace(*args, **options)

    monkeypatch.setattr(_export, "_trace_program", counted)
    # "dropped" branches on a size of 1, too.
    monkeypatch.setattr(_export._other_branches, "widen", lambda *_: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported(SHOWING[name], torch.randn(5, 2))
    assert len(traces) == 1
    if name == "printed":
        assert "s0 rows torch.Size([s0, 2])" in capsys.readouterr().out


def test_a_number_from_data_has_no_text():
    def program(x):
        n = int(x.sum().item())
        torch._check(n >= 0)
        return x + {"u0": 1}.get(str(n), 2)

    with pytest.raises(proviso.DataDependentError, match="str|u0"):
        exported(program, torch.ones(5, 2, dtype=torch.int64))


def test_an_error_of_the_program_stays_its_own():
    def program(x):
        raise KeyError(f"{x.shape[0]}")

    with pytest.raises(KeyError):
        exported(program, torch.randn(5, 2))


def test_a_wrong_format_is_an_error():
    with pytest.raises(ValueError, match="format code"):
        exported(lambda x: x + len(f"{x.shape[0]:q}"), torch.randn(5, 2))


def test_symbols_write_as_before_after_an_export():
    kinds = torch.SymInt, torch.SymFloat, torch.SymBool
    before = [(k.__repr__, k.__format__) for k in kinds]
    exported(DEPENDING["digits"], torch.randn(5, 2))
    assert [(k.__repr__, k.__format__) for k in kinds] == before
