"""`proviso show, check, run`: .pt2 files read without Python, ours and those
that torch.export.save wrote; and files that are not what they claim."""

import json
import struct
import subprocess
import zipfile

import pytest
import torch
from torch import nn
from torch.export import Dim

import proviso
from test_export import MLP
from test_cli import COMMAND

AUTO = Dim.AUTO
TOOL = COMMAND.parent / "proviso-pt2"


def tool(*words):
    return subprocess.run([str(COMMAND), *map(str, words)],
                          capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module", autouse=True)
def built():
    if not TOOL.exists():
        pytest.skip(f"{TOOL} is not built (./dev build makes it)")


class Add(nn.Module):
    def forward(self, x, y):
        return x + y, x.shape[0] * 2


class Item(nn.Module):
    def forward(self, x, y):
        n = x.item()
        torch._check(n >= 1)
        torch._check(n <= y.shape[0])
        return y[:n] * n, torch.zeros(n + 1)


class NoGrad(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.tensor([2.0]), persistent=False)

    def forward(self, x):
        with torch.no_grad():
            y = x.split(2)
            z = y[0] * self.scale
        return z + y[1], (x.reshape(-1, 4) - 1).sum(0)


class Autocast(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.linear(x)
        return y, self.linear(x)


PROGRAMS = {
    "autocast": (Autocast, lambda n: (torch.randn(n, 4),), ({0: AUTO},),
                 (4, 2, 3, 9)),
    "mlp": (MLP, lambda n: (torch.randn(n, 16),), ({0: AUTO},), (4, 2, 3, 9)),
    "two inputs": (Add, lambda n: (torch.randn(n, 3), torch.randn(n, 3)),
                   ({0: AUTO}, {0: AUTO}), (4, 5, 2, 7)),
    "numbers from data": (
        Item, lambda n: (torch.tensor(n), torch.randn(2 * n)),
        (None, {0: AUTO}), (4, 1, 3, 6)),
    "no_grad": (NoGrad, lambda n: (torch.randn(4, 4 * n),),
                ({1: AUTO},), (2, 3, 5, 8)),
}


def written(name, by, path):
    build, inputs, shapes, sizes = PROGRAMS[name]
    if by == "proviso":
        proviso.export(build(), inputs(sizes[0]), dynamic_shapes=shapes
                       ).save(path)
    else:
        torch.export.save(torch.export.export(
            build(), inputs(sizes[0]), dynamic_shapes=shapes, strict=False),
            path)


@pytest.mark.parametrize("by", ["proviso", "torch"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_read_and_run(name, by, tmp_path):
    torch.manual_seed(0)
    path = tmp_path / "p.pt2"
    build, inputs, _, sizes = PROGRAMS[name]
    torch.manual_seed(0)
    written(name, by, path)
    torch.manual_seed(0)
    model = build()
    for size in sizes[1:]:
        given = inputs(size)
        torch.save(list(given), tmp_path / "in.pt")
        done = tool("run", path, tmp_path / "in.pt", tmp_path / "out.pt")
        assert done.returncode == 0, done.stderr
        found = torch.load(tmp_path / "out.pt", weights_only=False)
        expected = torch.utils._pytree.tree_leaves(model(*given))
        assert len(found) == len(expected)
        for f, e in zip(found, expected):
            assert (torch.allclose(f, e) if isinstance(e, torch.Tensor)
                    else f == e)
    checked = tool("check", path)
    assert "missing" not in checked.stdout, checked.stdout + checked.stderr
    if (name, by) != ("no_grad", "torch"):
        assert checked.returncode == 0, checked.stdout + checked.stderr
        assert "0 defects" in checked.stdout


def test_guards_are_checked_before_it_runs(tmp_path):
    written("two inputs", "torch", tmp_path / "p.pt2")
    torch.save([torch.ones(4, 3), torch.ones(5, 3)], tmp_path / "in.pt")
    done = tool("run", tmp_path / "p.pt2", tmp_path / "in.pt")
    assert done.returncode == 3
    assert "Guard failed" in done.stderr and "size()[0]" in done.stderr


def test_show(tmp_path):
    written("two inputs", "torch", tmp_path / "p.pt2")
    done = tool("show", tmp_path / "p.pt2")
    assert 'torch.ops.aten.add.Tensor(x, y)' in done.stdout, done.stderr
    assert 'x: "f32[s0, 3]"' in done.stdout


# --- files that are not what they claim

class Archive:
    """A .pt2 as {name: bytes}, to be damaged and written again."""

    def __init__(self, path):
        with zipfile.ZipFile(path) as archive:
            self.records = {n: archive.read(n) for n in archive.namelist()}
        (self.model_name,) = [n for n in self.records
                              if n.endswith("models/model.json")]
        self.model = json.loads(self.records[self.model_name])

    @property
    def graph(self):
        return self.model["graph_module"]["graph"]

    def write(self, path, method=zipfile.ZIP_STORED):
        if self.model is not None:
            self.records[self.model_name] = json.dumps(self.model).encode()
        with zipfile.ZipFile(path, "w", method) as archive:
            for name, body in self.records.items():
                archive.writestr(name, body)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "good.pt2"
    written("mlp", "proviso", path)
    return path


def first_operator(archive):
    return next(node for node in archive.graph["nodes"]
                if "aten.linear" in node["target"])


def unknown_operator(archive):
    first_operator(archive)["target"] = "torch.ops.aten.no_such.default"


def unknown_dtype(archive):
    for value in archive.graph["tensor_values"].values():
        value["dtype"] = 99


def unbound_symbol(archive):
    for value in archive.graph["tensor_values"].values():
        for size in value["sizes"]:
            if "as_expr" in size:
                size["as_expr"]["expr_str"] = (
                    "Add(Symbol('s999', integer=True), Integer(1))")


def undefined_value(archive):
    first_operator(archive)["inputs"][0]["arg"] = {"as_tensor": {"name": "q"}}


def cycle(archive):
    node = first_operator(archive)
    node["inputs"][0]["arg"] = node["outputs"][0]


def defined_twice(archive):
    archive.graph["nodes"].append(archive.graph["nodes"][0])


def wrong_type(archive):
    first_operator(archive)["inputs"][0]["arg"] = {"as_string": "x"}


def missing_argument(archive):
    del first_operator(archive)["inputs"][1]


def no_graph(archive):
    del archive.model["graph_module"]["graph"]


def other_schema(archive):
    archive.model["schema_version"]["major"] = 99


def empty_range(archive):
    for value in archive.model["range_constraints"].values():
        value.update(min_val=9, max_val=3)


def false_guard(archive):
    archive.model["guards_code"] = ["L['x'].size()[0] == 77"]


def deep_json(archive):
    archive.model = None
    archive.records[archive.model_name] = b"[" * 1_000_000


def deep_expression(archive):
    deep = "Add(" * 50_000 + "Integer(1)" + ", Integer(1))" * 50_000
    for value in archive.graph["tensor_values"].values():
        for size in value["sizes"]:
            if "as_expr" in size:
                size["as_expr"]["expr_str"] = deep


def short_weight(archive):
    for name in archive.records:
        if name.endswith("weights/weight_0"):
            archive.records[name] = archive.records[name][:-4]


def huge_weight(archive):
    for name, body in archive.records.items():
        if name.endswith("model_weights_config.json"):
            config = json.loads(body)
            meta = next(iter(config["config"].values()))["tensor_meta"]
            meta["sizes"][0]["as_int"] = 2**62
            archive.records[name] = json.dumps(config).encode()


def missing_weight(archive):
    for name in list(archive.records):
        if name.endswith("weights/weight_0"):
            del archive.records[name]


HOSTILE = {
    unknown_operator: "no_such.default): there is no such operator",
    unknown_dtype: "unknown dtype code 99",
    unbound_symbol: "symbol s999",
    undefined_value: "'q' is used before it is defined",
    cycle: "is used before it is defined",
    defined_twice: "is defined twice",
    wrong_type: "must be Tensor",
    missing_argument: "argument 1 is named 'bias'",
    no_graph: "graph_module: there is no 'graph'",
    other_schema: "schema 99 cannot be read",
    empty_range: "is empty",
    false_guard: "fails for the program's own example",
    deep_json: "nested deeper than",
    deep_expression: "is no expression",
    short_weight: "fewer than its sizes and strides claim",
    huge_weight: "overflow",
    missing_weight: "there is no record",
}


def refused(path, message):
    done = tool("check", path)
    assert done.returncode == 3, done.stdout + done.stderr
    assert message in done.stderr, done.stderr
    assert str(path) in done.stderr and len(done.stderr) < 3000


@pytest.mark.parametrize("damage", HOSTILE, ids=lambda d: d.__name__)
def test_a_file_with_a_wrong_content_is_refused(damage, good, tmp_path):
    archive = Archive(good)
    damage(archive)
    archive.write(tmp_path / "bad.pt2")
    refused(tmp_path / "bad.pt2", HOSTILE[damage])


def truncated(data):
    return data[:len(data) // 2]


def not_a_zip(data):
    return b"\x7fELF" + data[4:]


def flipped_bit(data):
    at = data.index(b'"graph_module"')
    return data[:at] + b"#" + data[at + 1:]


def lying_offset(data):
    at = data.rindex(b"PK\1\2")
    return data[:at + 42] + struct.pack("<I", 0x7ffffff0) + data[at + 46:]


def empty(_):
    return b""


BYTES = {truncated: "truncated", not_a_zip: "not a .pt2 file",
         flipped_bit: "checksum", lying_offset: "past its end",
         empty: "not a .pt2 file"}


@pytest.mark.parametrize("damage", BYTES, ids=lambda d: d.__name__)
def test_a_damaged_file_is_refused(damage, good, tmp_path):
    Archive(good).write(tmp_path / "plain.pt2")
    bad = tmp_path / "bad.pt2"
    bad.write_bytes(damage((tmp_path / "plain.pt2").read_bytes()))
    refused(bad, BYTES[damage])


def test_a_file_that_was_cut_is_refused(good, tmp_path):
    """Wherever: also right behind a zip file that is one of the records."""
    data = good.read_bytes()
    size = len(data)
    inner = [i + 22 for i in range(size - 22) if data[i:i + 4] == b"PK\5\6"]
    assert inner, "no record is a zip file"
    for cut in [size * i // 16 for i in range(1, 16)] + [size - 1] + inner:
        bad = tmp_path / f"{cut}.pt2"
        bad.write_bytes(data[:cut])
        refused(bad, "truncated")


def test_a_compressed_archive_is_refused_unopened(good, tmp_path):
    archive = Archive(good)
    archive.records["p/bomb"] = bytes(50_000_000)
    archive.write(tmp_path / "bomb.pt2", zipfile.ZIP_DEFLATED)
    refused(tmp_path / "bomb.pt2", "is compressed")


