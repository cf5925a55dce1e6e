"""The files of values that `proviso run` reads and writes, beside torch.save and
torch.load."""

import io
import pickle
import random
import re
import subprocess
import zipfile

import pytest
import torch

import proviso
import readers

if not readers.COMMAND.exists():
    pytest.skip(f"{readers.COMMAND} is not built (./dev build makes it)",
                allow_module_level=True)

DTYPES = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
          torch.float16, torch.bfloat16, torch.float32, torch.float64,
          torch.complex32, torch.complex64, torch.complex128, torch.bool,
          torch.uint16, torch.uint32, torch.uint64, torch.float8_e4m3fn,
          torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz]


class Saved:
    """A program in a file."""

    def __init__(self, folder, function, *examples, shapes=None):
        self.folder = folder
        self.program = proviso.export(function, examples,
                                      dynamic_shapes=shapes)
        self.program.save(folder / "program.pt2")

    def command(self, *words):
        return subprocess.run(
            [str(readers.COMMAND), "run", str(self.folder / "program.pt2"),
             *map(str, words)], capture_output=True, text=True, errors="replace",
            timeout=120)

    def on(self, values):
        torch.save(values, self.folder / "in.pt")
        return self.command(self.folder / "in.pt", self.folder / "out.pt")

    def gives(self, values):
        done = self.on(values)
        assert done.returncode == 0, done.stderr
        return torch.load(self.folder / "out.pt")


def bits(t):
    return (t.dtype, t.shape, t.contiguous().view(-1).view(torch.uint8).tolist()
            if t.numel() else [])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.filterwarnings("ignore:ComplexHalf")
def test_every_dtype_goes_in_and_comes_out(dtype, tmp_path):
    def same(x, y, z):
        return x.clone(), y, z

    x = torch.tensor([1, 0, 3, 1]).to(dtype)
    auto = {0: proviso.Dim.AUTO}
    saved = Saved(tmp_path, same, x, x, x, shapes=(auto,) * 3)
    given = [x[::2], x[1:], x[:0]]
    assert list(map(bits, saved.gives(given))) == list(map(bits, given))
    # What one run writes, another reads.
    again = saved.command(tmp_path / "out.pt", tmp_path / "again.pt")
    assert again.returncode == 0, again.stderr
    assert list(map(bits, torch.load(tmp_path / "again.pt"))) == list(
        map(bits, given))
    assert saved.command().returncode == 0  # on an example that it makes up


@pytest.mark.parametrize("number", [
    0, -1, 255, 256, 65535, 65536, 2**31 - 1, -2**31, 2**31, -2**31 - 1,
    2**63 - 1, -2**63])
def test_integers_of_64_bits(number, tmp_path):
    saved = Saved(tmp_path, lambda x, k: (x + 1, k), torch.ones(1), 3,
                  shapes=(None, proviso.Dim.AUTO))
    x, k = saved.gives((torch.ones(1), number))
    assert (x.tolist(), k, type(k)) == ([2.0], number, int)


def test_numbers_and_texts(tmp_path):
    def constants(x, text, *rest):
        return x + len(text), rest

    text = "\u00e9" * 300
    values = (0.1, True, False, None, float("inf"), -7)
    saved = Saved(tmp_path, constants, torch.ones(2), text, *values)
    x, *rest = saved.gives([torch.nn.Parameter(torch.zeros(2)), text, *values])
    assert x.tolist() == [300, 300] and tuple(rest) == values


def test_memory_is_shared_as_it_was(tmp_path):
    def changed(x, y):
        x.add_(1)
        return y * 1, x, x.view(torch.int32), x[1:], x.t()

    saved = Saved(tmp_path, changed, torch.zeros(2, 2), torch.zeros(2, 2))
    base = torch.zeros(6)
    seen, x, as_ints, tail, turned = saved.gives(
        [base[:4].view(2, 2), base[2:].view(2, 2)])
    assert seen.tolist() == [[1, 1], [0, 0]]
    assert torch.equal(as_ints, x.view(torch.int32))
    x.fill_(5)
    assert tail.tolist() == [[5, 5]] and turned.tolist() == [[5, 5]] * 2
    assert (as_ints == torch.tensor(5.0).view(torch.int32)).all()


def test_conjugates(tmp_path):
    saved = Saved(tmp_path, lambda x, y: (x * 1, y * 1, x.conj()),
                  torch.ones(2, dtype=torch.complex64), torch.ones(2))
    x = torch.tensor([1 + 2j, 3 - 1j])
    given = [x.conj(), x.clone().conj().imag]
    first, second, third = saved.gives(given)
    assert torch.equal(first, given[0]) and torch.equal(second, given[1])
    assert torch.equal(third, given[0].conj())


@pytest.mark.parametrize("values, said", [
    ({"x": torch.ones(2)}, "holds no list"),
    (torch.ones(2), "holds no list"),
    ([torch.ones(2), [1]], "the input k in .* is a list"),
    ([torch.ones(2), {"k": 1}], "the input k in .* is a dict"),
    ([torch.ones(2), 2**63], "the input k in .* an integer of more than 64"),
    ([torch.ones(2).to_sparse(), 1], "the input x in .*_rebuild_sparse_tensor makes"),
    ([torch.ones(2), 1, slice(1)], "the input number 2 in .*slice makes"),
    ([torch.ones(2), torch.float64], r"the input k in .* is torch\.float64"),
    ([torch.ones(2), torch.float32, 1], r"the input k in .* torch\.float32"),
    ([torch.ones(2), torch.device("cpu")], "k is an integer"),
    ([torch.ones(2), 2j], "k is an integer"),
    ([torch.ones(2).half(), 1], r"x\.dtype == torch\.float32"),
])
def test_what_no_program_takes_is_named(values, said, tmp_path):
    saved = Saved(tmp_path, lambda x, k: x * k, torch.ones(2), 3,
                  shapes=(None, proviso.Dim.AUTO))
    done = saved.on(values)
    assert done.returncode == 3
    assert re.search(said, done.stderr), done.stderr


def archive(data, like):
    """The zip of torch.save with another pickle."""
    made = io.BytesIO()
    with zipfile.ZipFile(like) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            new.writestr(name, data if name.endswith("data.pkl")
                         else old.read(name))
    return made.getvalue()


class Runs:
    def __reduce__(self):
        return print, ("it ran",)


def test_damaged_pickles_are_errors(tmp_path):
    saved = Saved(tmp_path, lambda x, k: x * k, torch.ones(2), 3,
                  shapes=(None, proviso.Dim.AUTO))
    torch.save([torch.ones(2), 4], tmp_path / "good.pt")
    with zipfile.ZipFile(tmp_path / "good.pt") as file:
        good = next(file.read(name) for name in file.namelist()
                    if name.endswith("data.pkl"))
    loops = b"\x80\x02]q\x00h\x00a."
    draw = random.Random(7)
    changed = [good[:-1], good[:40], b"", b".", b"\x80\x02(", loops,
               pickle.dumps([Runs()], 2), pickle.dumps([1, 2], 4)]
    for _ in range(30):
        at = draw.randrange(len(good))
        changed.append(good[:at] + bytes([draw.randrange(256)])
                       + good[at + 1:])
    refused = 0
    for data in changed:
        (tmp_path / "bad.pt").write_bytes(archive(data, tmp_path / "good.pt"))
        done = saved.command(tmp_path / "bad.pt")
        assert done.returncode in (0, 3), (data, done)
        assert "ended the process" not in done.stderr, (data, done)
        assert "it ran" not in done.stdout
        refused += done.returncode == 3
    assert refused > len(changed) // 2


@pytest.mark.parametrize("field, value", [
    ("sizes", (3,)), ("sizes", (-1,)), ("sizes", (2**62,)),
    ("strides", (2**62,)), ("strides", (1, 1)), ("offset", 1),
    ("offset", 2**62), ("offset", -1)])
def test_a_tensor_stays_in_its_storage(field, value, tmp_path):
    class Storage:
        pass

    class Pickler(pickle._Pickler):
        def persistent_id(self, thing):
            if isinstance(thing, Storage):
                return "storage", torch.FloatStorage, "0", "cpu", 2
            return None

    class Wide:
        def __reduce__(self):
            parts = {"offset": 0, "sizes": (2,), "strides": (1,),
                     field: value}
            return torch._utils._rebuild_tensor_v2, (
                Storage(), parts["offset"], parts["sizes"], parts["strides"],
                False, {})

    saved = Saved(tmp_path, lambda x: x * 2, torch.ones(2),
                  shapes=({0: proviso.Dim.AUTO},))
    torch.save([torch.ones(2)], tmp_path / "good.pt")
    written = io.BytesIO()
    Pickler(written, 2).dump([Wide()])
    (tmp_path / "bad.pt").write_bytes(
        archive(written.getvalue(), tmp_path / "good.pt"))
    done = saved.command(tmp_path / "bad.pt")
    assert done.returncode == 3
    assert ("larger than its storage" in done.stderr
            or "size, stride or offset" in done.stderr
            or "overflow" in done.stderr), done.stderr
