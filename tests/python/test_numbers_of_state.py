"""What a program reads of its own tensors other than by operators: as numbers of
Python's, as arrays, as texts.  The exported program reads what eager reads in
each call, or the export ends."""

import copy
import io
import sys
import warnings

import numpy as np
import pytest
import torch

import proviso

X = torch.ones(2, 3)


class Module(torch.nn.Module):
    """Writes to its buffer, or to a constant, and reads it."""

    def __init__(self, read, kind="buffer"):
        super().__init__()
        self.read = read
        if kind == "buffer":
            self.register_buffer("a", torch.ones(3))
        else:
            self.a = torch.ones(3)

    def forward(self, x):
        self.a.add_(1)
        return x * self.read(self.a)


READ = {
    "tolist": lambda a: a.tolist()[0],
    "tolist of a part": lambda a: a[:2].tolist()[1],
    "deepcopy": lambda a: copy.deepcopy(a),
}


@pytest.mark.parametrize("kind", ["buffer", "constant"])
@pytest.mark.parametrize("name", READ)
def test_numbers_are_those_of_the_call(name, kind):
    run = proviso.export(Module(READ[name], kind), (X,)).module()
    eager = Module(READ[name], kind)
    for _ in range(3):
        assert torch.equal(run(X), eager(X))


def _printed(a):
    file = io.StringIO()
    print(a, file=file)
    return len(file.getvalue())


REFUSED = {
    "numpy": lambda a: float(a.numpy()[0]),
    "asarray": lambda a: float(np.asarray(a)[0]),
    "from_dlpack": lambda a: float(np.from_dlpack(a)[0]),
    "from_numpy of numpy": lambda a: torch.from_numpy(a.numpy() * 2)[0],
    "branch": lambda a: 10 if a.tolist()[0] > 1.5 else 20,
    "version": lambda a: a._version,
    "text": lambda a: 10 if "2" in str(a) else 20,
    "format": lambda a: 10 if "2" in f"{a[0]}" else 20,
    "precision": lambda a: 10 if "2" in format(a[0], ".1f") else 20,
    "text of a list": lambda a: 10 if "2" in str([a]) else 20,
    "text of a dict": lambda a: 10 if "2" in str({"a": a}) else 20,
    "text as a key": lambda a: {str(a): 1}.get("2", 3),
    "printed apart": lambda a: _printed(a),
}


@pytest.mark.parametrize("kind", ["buffer", "constant"])
@pytest.mark.parametrize("name", REFUSED)
def test_what_would_freeze_its_numbers_is_refused(name, kind):
    with pytest.raises(Exception, match="traced tensor|data-dependent|specializ"):
        proviso.export(Module(REFUSED[name], kind), (X,))


class Reads(torch.nn.Module):
    """A parameter, a buffer and a constant, none of them written to."""

    def __init__(self, read, name):
        super().__init__()
        self.read, self.name = read, name
        self.p = torch.nn.Parameter(torch.full((3,), 2.0))
        self.register_buffer("b", torch.full((3,), 2.0))
        self.c = torch.full((3,), 2.0)

    def forward(self, x):
        return x * self.read(getattr(self, self.name))


@pytest.mark.parametrize("name", "pb")
def test_what_is_loaded_into_state_is_read(name):
    ep = proviso.export(Reads(lambda t: t.tolist()[0], name), (X,))
    assert torch.equal(ep.module()(X), X * 2)
    with torch.no_grad():
        ep.state_dict[name].fill_(5)
    assert torch.equal(ep.module()(X), X * 5)


def test_a_constant_is_read_as_it_is():
    for read in (lambda t: t.tolist()[0], lambda t: float(t.numpy()[0]),
                 lambda t: float(str(t)[8:9]), lambda t: float(f"{t}"[8:9])):
        assert torch.equal(
            proviso.export(Reads(read, "c"), (X,)).module()(X), X * 2)


@pytest.mark.parametrize("shown", [
    lambda t: print(t), lambda t: print(f"{t}", f"{t[0]:.1f}"),
    lambda t: print(str(t)), lambda t: f"{t}", lambda t: print({"t": t}, [t]),
    lambda t: print(t, file=sys.stderr), lambda t: warnings.warn(f"{t}")])
@pytest.mark.parametrize("name", "pbc")
@pytest.mark.filterwarnings("ignore")
def test_a_text_that_is_only_shown_is_none_that_decides(name, shown, capsys):
    def read(t):
        shown(t)
        return t

    assert torch.equal(
        proviso.export(Reads(read, name), (X,)).module()(X), X * 2)


@pytest.mark.parametrize("name", "bc")
def test_a_write_through_numpy_is_refused_and_put_back(name):
    def read(t):
        np.add(np.asarray(t), 1, out=np.asarray(t))
        return t

    module = Reads(read, name)
    with pytest.raises(NotImplementedError, match="numpy"):
        proviso.export(module, (X,))
    assert module.b.tolist() == module.c.tolist() == [2.0, 2.0, 2.0]


class OfArray(torch.nn.Module):
    def __init__(self, act):
        super().__init__()
        self.act, self.n = act, np.ones(3, np.float32)

    def forward(self, x):
        return x * self.act(self.n)


def _tensor_written(n):
    t = torch.from_numpy(n)
    t.add_(1)
    return float(n[0])


def _array_written(n):
    t = torch.as_tensor(n)
    n += 1
    return t


def test_an_array_and_its_tensor_are_not_written_apart():
    for act in (_tensor_written, _array_written):
        with pytest.raises(NotImplementedError, match="has the memory of"):
            proviso.export(OfArray(act), (X,))


def test_the_constant_of_an_array_is_that_of_the_call():
    def act(n):
        n += 1
        return torch.from_numpy(n)

    module = OfArray(act)
    with pytest.warns(UserWarning, match="self.n was changed"):
        ep = proviso.export(module, (X,))
    assert module.n.tolist() == [1, 1, 1]
    assert torch.equal(ep.module()(X), X * 2)


@pytest.mark.parametrize("array", [
    np.arange(6, dtype=np.float32).reshape(2, 3).T,
    np.arange(12, dtype=np.float32)[::2].reshape(2, 3),
    np.arange(12, dtype=np.float32).reshape(4, 3)[::2],
    np.broadcast_to(np.float32(2), (2, 3)), np.zeros((0, 3), np.float32)])
def test_the_tensor_of_an_array_has_its_strides(array):
    def strides(x):
        t = torch.from_numpy(array)
        assert t.stride() == torch.from_numpy(array.copy("K")).stride() or (
            t.stride() == tuple(s // 4 for s in array.strides))
        return t + x.sum()

    want = strides(X)
    assert torch.equal(proviso.export(strides, (X,)).module()(X), want)


class Assigns(torch.nn.Module):
    def __init__(self, write):
        super().__init__()
        self.write = write
        self.register_buffer("n", torch.ones(3))
        self.register_buffer("c", torch.zeros(3))

    def forward(self, x):
        if self.write:
            getattr(self, self.write).add_(1)
        y = x * self.c + self.n
        self.n = self.c
        return y


def test_a_buffer_that_takes_the_memory_of_another_is_copied_or_refused():
    run, eager = proviso.export(Assigns(None), (X,)).module(), Assigns(None)
    for _ in range(3):
        assert torch.equal(run(X), eager(X))
    for written in "nc":
        with pytest.raises(ValueError, match="shares its memory"):
            proviso.export(Assigns(written), (X,))


@pytest.mark.parametrize("write", [
    lambda p: p.data.add_(1), lambda p: p.data.mul_(3),
    lambda p: p.data.__setitem__(0, 3)])
def test_a_write_to_the_data_of_a_parameter_is_the_programs(write):
    def read(p):
        write(p)
        return p

    run = proviso.export(Reads(read, "p"), (X,)).module()
    eager = Reads(read, "p")
    for _ in range(3):
        assert torch.equal(run(X), eager(X))
