"""A program that depends on the text of a size keeps that size; one that only
shows it does not."""

import logging
import warnings

import pytest
import torch

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


def of_a_float(x):
    return x + 1 if str(x.shape[0] / 2) == "2.5" else x


DEPENDING = {"table": Cached().eval(), "layer": chosen_layer,
             "digits": of_its_digits, "shape": of_a_shape, "padded": padded,
             "returned": returned, "name": as_a_name, "float": of_a_float}


def built_key(x):
    return Built()(x[:, 0])


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


def formatted_and_dropped(x):
    message = f"{x.shape[0]} rows, {x.shape[1]!r} columns"
    message += " of " + str(x.shape[0] * 2)
    assert x.dim() == 2, message
    torch._check(x.shape[0] > 1, lambda: f"{x.shape[0]} are few")
    return x + 1


SHOWING = {"printed": printed, "logged": logged, "warned": warned,
           "dropped": formatted_and_dropped, "built": built_key}


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


@pytest.mark.parametrize("name", ["printed", "logged", "warned"])
def test_what_only_shows_a_size_is_traced_once(name, monkeypatch, capsys):
    traces, trace = [], _export._trace_program

    def counted(*args, **options):
        traces.append(name)
        return trace(*args, **options)

    monkeypatch.setattr(_export, "_trace_program", counted)
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
