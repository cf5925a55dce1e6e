"""Files whose records run code, import modules, or hold other tensors than they
say: pickles, how inputs nest, tensors, JSON."""

import io
import json
import pickle
import random
import re
import sys

import pytest
import torch

import proviso
from test_pt2_reading import Archive, refused, tool


# --- what torch would run while it loads

class Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def evil_text(path):
    return f"__import__('builtins').open({str(path)!r}, 'w')"


def in_expression(archive, path):
    for value in archive.graph["tensor_values"].values():
        for size in value["sizes"]:
            if "as_expr" in size:
                size["as_expr"]["expr_str"] = evil_text(path)


def in_nested_text(archive, path):
    for value in archive.graph["tensor_values"].values():
        for size in value["sizes"]:
            if "as_expr" in size:
                size["as_expr"]["expr_str"] = f"Max(2, {evil_text(path)!r})"


def in_guard(archive, path):
    archive.model["guards_code"] = [evil_text(path) + " is not None"]


def in_examples(archive, path):
    buffer = io.BytesIO()
    torch.save(((torch.ones(3, 4), Evil(path)), {}), buffer)
    for name in archive.records:
        if name.endswith("sample_inputs/model.pt"):
            archive.records[name] = buffer.getvalue()


def in_weights(archive, path):
    buffer = io.BytesIO()
    torch.save(Evil(path), buffer)
    for name in list(archive.records):
        if name.endswith("model_weights_config.json"):
            config = json.loads(archive.records[name])
            entry = next(iter(config["config"].values()))
            entry["use_pickle"] = True
            archive.records[name] = json.dumps(config).encode()
            root = name.rpartition("/")[0]
            archive.records[f"{root}/{entry['path_name']}"] = buffer.getvalue()


def in_constants(archive, path):
    for name in list(archive.records):
        if name.endswith("model_constants_config.json"):
            root = name.rpartition("/")[0]
            archive.records[name] = json.dumps({"config": {"c": {
                "path_name": "opaque_obj_0", "is_param": False,
                "use_pickle": True, "tensor_meta": None}}}).encode()
            archive.records[f"{root}/opaque_obj_0"] = pickle.dumps(Evil(path))


def in_another_model(archive, path):
    """torch.export.load loads every model, with its examples."""
    root = archive.model_name.partition("/")[0]
    buffer = io.BytesIO()
    torch.save(((torch.ones(3, 4), Evil(path)), {}), buffer)
    archive.records[f"{root}/models/other.json"] = json.dumps(
        archive.model).encode()
    archive.records[f"{root}/data/sample_inputs/other.pt"] = buffer.getvalue()
    for name in list(archive.records):
        archive.records[name.replace("/model_", "/other_")] = (
            archive.records[name])


def in_library(archive, path):
    root = archive.model_name.partition("/")[0]
    archive.records[f"{root}/data/aotinductor/m/m.so"] = b"\x7fELF"


@pytest.mark.parametrize("damage", [
    in_expression, in_nested_text, in_guard, in_examples, in_weights,
    in_constants, in_another_model, in_library], ids=lambda d: d.__name__)
@pytest.mark.parametrize("opened", [False, True], ids=["path", "file"])
def test_loading_runs_nothing(damage, opened, files, tmp_path):
    archive = Archive(files["linear_proviso"])
    mark = tmp_path / "mark"
    damage(archive, mark)
    archive.write(tmp_path / "bad.pt2")
    given = (open(tmp_path / "bad.pt2", "rb") if opened
             else tmp_path / "bad.pt2")
    with pytest.raises(ValueError, match="trusted=True"):
        proviso.load(given)
    assert not mark.exists()
    for command in ("show", "check", "run"):
        tool(command, tmp_path / "bad.pt2")
    assert not mark.exists()


def without_ranges(archive):
    archive.model["range_constraints"].clear()


def of_another_name(archive):
    name = archive.model_name.replace("model.json", "other.json")
    archive.records[name] = archive.records.pop(archive.model_name)
    archive.model = None


def without_a_value(archive):
    archive.graph["tensor_values"].popitem()


@pytest.mark.parametrize("damage", [
    without_ranges, of_another_name, without_a_value],
    ids=lambda d: d.__name__)
@pytest.mark.parametrize("trusted", [False, True])
def test_what_a_file_lacks_is_named(damage, trusted, files, tmp_path):
    archive = Archive(files["item_torch"])
    damage(archive)
    archive.write(tmp_path / "bad.pt2")
    with pytest.raises(ValueError) as caught:
        proviso.load(tmp_path / "bad.pt2", trusted=trusted)
    text = str(caught.value)
    assert text.startswith(f"load: '{tmp_path / 'bad.pt2'}': "), text
    assert "Error" not in text and len(text.split()) > 6, text


def keys_of(value, path=()):
    """(path, dict, key) of each member of a document."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield path + (key,), value, key
            yield from keys_of(part, path + (key,))
    if isinstance(value, list):
        for part in value:
            yield from keys_of(part, path + ("*",))


def test_a_trusted_file_may_lack_any_member(files, tmp_path):
    whole = Archive(files["item_torch"])
    paths = sorted({path for path, _, _ in keys_of(whole.model)})
    for path in random.Random(5).sample(paths, 60):
        archive = Archive(files["item_torch"])
        _, holder, key = next(found for found in keys_of(archive.model)
                              if found[0] == path)
        del holder[key]
        archive.write(tmp_path / "bad.pt2")
        try:
            proviso.load(tmp_path / "bad.pt2", trusted=True)
        except ValueError as error:
            text = str(error)
            assert text.startswith("load: ") and "KeyError" not in text, path
            assert len(text.split()) > 6, (path, text)


def test_what_was_saved_is_loaded(files):
    """Nested inputs, text, sizes read from data: nothing of ours or torch's
    is taken for an attack."""
    for name, path in files.items():
        if "rows" in name or "loops" in name:
            continue  # from_torch's business, not the file's
        assert proviso.load(path).guards is not None, name


# --- how inputs nest: torch imports what the JSON in a spec names

MEMBER = json.dumps([{"__enum__": True, "fqn": "MARK:E", "name": "A"}, 1, 2])
FACTORY = {"default_factory_module": "MARK", "default_factory_name": "E",
           "dict_context": ["a", "b", "c"]}


def nested_in(type_, context, before=""):
    """The whole output is of that type."""
    def damage(archive):
        call = archive.model["graph_module"]["module_call_graph"][0]
        spec = json.loads(call["signature"]["out_spec"])
        spec[1].update(type=type_, context=context)
        call["signature"]["out_spec"] = before + json.dumps(spec)
    return damage


@pytest.mark.parametrize("damage, message", [
    *((nested_in("builtins.dict", blank + MEMBER), "is not imported")
      for blank in ("", " ", "\n", "\r", "\t ")),
    (nested_in("builtins.dict", MEMBER, before="\n"), "is not imported"),
    (nested_in("builtins.dict", json.dumps("\t" + MEMBER)), "is not imported"),
    *((nested_in("collections.defaultdict", FACTORY, before=blank),
       "a defaultdict that makes 'E'") for blank in ("", " ")),
    (nested_in("collections.defaultdict", json.dumps(FACTORY)),
     "a defaultdict that makes 'E'"),
    (nested_in("collections.defaultdict",
               dict(FACTORY, default_factory_module="builtins",
                    default_factory_name="eval")),
     "a defaultdict that makes 'eval'"),
    (nested_in("builtins.dict", MEMBER.replace("MARK:E", "os:environ")
               .replace('"A"', '"PATH"')), "no member of an enum in 'os'"),
    (nested_in("builtins.dict", MEMBER.replace("MARK:E", "enum:Enum")),
     "no member of an enum in 'enum'"),
    (nested_in("builtins.dict", MEMBER.replace("MARK:E", "torch:onnx.E")),
     "no member of an enum in 'torch'"),
    (nested_in("builtins.dict", MEMBER.replace('"name": "A"', '"name": 1')),
     "is no member of an enum"),
    (nested_in("collections.namedtuple", "builtins.dict"), "no named tuple"),
    (nested_in("builtins.dict", " " * 8 + "[" * 10 ** 6), "nested too deeply"),
])
def test_a_spec_imports_nothing(damage, message, files, tmp_path, monkeypatch):
    module = f"mark_{tmp_path.name}"
    (tmp_path / f"{module}.py").write_text(
        "import enum\nclass E(enum.Enum):\n    A = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    archive = Archive(files["linear_torch"])
    damage(archive)
    archive.model = json.loads(json.dumps(archive.model).replace("MARK", module))
    archive.write(tmp_path / "bad.pt2")
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        proviso.load(tmp_path / "bad.pt2")
    assert "bad.pt2" in str(error.value) and len(str(error.value)) < 1000
    assert module not in sys.modules


# --- tensors

def index_of(archive, folder="weights"):
    name = next(n for n in archive.records
                if n.endswith(f"model_{folder}_config.json"))
    return name, json.loads(archive.records[name])


def with_index(folder, edit):
    def damage(archive):
        name, index = index_of(archive, folder)
        edit(index["config"])
        archive.records[name] = json.dumps(index).encode()
    damage.__name__ = f"{folder}: {edit.__name__}"
    return damage


def legacy(folder):
    """torch would take these for the tensors, and never open the others."""
    def damage(archive):
        root = archive.model_name.partition("/")[0]
        buffer = io.BytesIO()
        torch.save({"scale": torch.zeros(10 ** 4)}, buffer)
        archive.records[f"{root}/data/{folder}/model.pt"] = buffer.getvalue()
    damage.__name__ = f"legacy {folder}"
    return damage


def two_dtypes_of_one_record(config):
    first, second = list(config.values())[:2]
    second["path_name"] = first["path_name"]
    second["tensor_meta"].update(dtype=4, requires_grad=False)  # int32


def bytes_first(config):
    two_dtypes_of_one_record(config)
    config.update({name: config.pop(name) for name in list(config)[:1]})


def first_entry(**meta):
    def edit(config):
        next(iter(config.values()))["tensor_meta"].update(meta)
    edit.__name__ = ", ".join(meta)
    return edit


def a_buffer_that_learns(config):
    next(entry for entry in config.values() if not entry["is_param"])[
        "tensor_meta"]["requires_grad"] = True


TENSORS = [
    (legacy("weights"), "data/weights/model.pt holds tensors as older versions"),
    (legacy("constants"), "data/constants/model.pt holds tensors as older ver"),
    (with_index("weights", two_dtypes_of_one_record), "are of one dtype"),
    (with_index("weights", bytes_first), "are of one dtype"),
    (with_index("weights", first_entry(device={"type": "meta", "index": None})),
     "it is on the device meta"),
    (with_index("weights", first_entry(device={"type": "cuda", "index": 3})),
     "it is on the device cuda:3"),
    (with_index("weights", first_entry(layout=1)), "only strided tensors"),
    (with_index("weights", first_entry(layout=99)), "unknown layout code 99"),
    (with_index("weights", a_buffer_that_learns),
     "it is no parameter, and is said to require a gradient"),
]


@pytest.mark.parametrize("damage, message", TENSORS,
                         ids=lambda v: getattr(v, "__name__", None))
def test_tensors_are_those_that_are_checked(damage, message, files, tmp_path):
    archive = Archive(files["linear_torch"])
    damage(archive)
    archive.write(tmp_path / "bad.pt2")
    refused(tmp_path / "bad.pt2", message)
    for command in ("show", "run"):
        done = tool(command, tmp_path / "bad.pt2")
        assert done.returncode == 3 and message in done.stderr
    with pytest.raises(ValueError, match="bad.pt2.*" + re.escape(message)):
        proviso.load(tmp_path / "bad.pt2")


# --- JSON that is none

@pytest.mark.parametrize("old, new, message", [
    ('"torch_version": "', '"torch_version": "\x01', "a control character"),
    ('"torch_version": "', '"torch_version": "\n', "a control character"),
    ('"major": 8', '"major": 08', "expected a value"),
    ('"major": 8', '"major": 8, "z": 1.', "expected a value"),
    ('"major": 8', '"major": 8, "z": .5', "expected a value"),
    ('"major": 8', '"major": 8, "z": 1e', "expected a value"),
    ('"major": 8', '"major": 8, "z": +1', "expected a value"),
    ('"major": 8', '"major": 8, "z": -', "expected a value"),
    ('"major": 8', '"major": 8, "z": -inf', "expected a value"),
    ('"major": 8', '"major": 8, "z": nan', "not JSON"),
    ('"major": 8', '"major": 8, "z": 1e400', "too large or too small"),
    ('"torch_version": "', b'"torch_version": "\xff', "not UTF-8"),
    ('"torch_version": "', b'"torch_version": "\xc0\x80', "not UTF-8"),
    ('"torch_version": "', b'"torch_version": "\xed\xa0\x80', "not UTF-8"),
    ('"torch_version": "', b'"torch_version": "\xf4\x90\x80\x80', "not UTF-8"),
    ('"torch_version": "', b'"torch_version": "\xe2\x82', "not UTF-8"),
    ('"torch_version": "', '"torch_version": "\\ud800', "surrogate"),
    ('"torch_version": "', '"torch_version": "\\udc00', "surrogate"),
    ('"torch_version": "', '"torch_version": "\\ud800\\u0041', "surrogate"),
])
def test_what_is_no_json_is_refused(old, new, message, files, tmp_path):
    archive = Archive(files["linear_torch"])
    text = json.dumps(archive.model).encode()
    assert text.count(old.encode()) == 1
    archive.model = None
    archive.records[archive.model_name] = text.replace(
        old.encode(), new if isinstance(new, bytes) else new.encode())
    archive.write(tmp_path / "bad.pt2")
    refused(tmp_path / "bad.pt2", message)


@pytest.mark.parametrize("text", [
    '"\\ud83d\\ude00"', '"\u20ac\U0001f600\x7f"', "-0", "1.5e-3", "NaN",
    "-Infinity", "1E5", "[]"])
def test_what_is_json_is_read(text, files, tmp_path):
    archive = Archive(files["linear_torch"])
    body = json.dumps(archive.model).replace('"major": 8',
                                             f'"major": 8, "z": {text}')
    archive.model = None
    archive.records[archive.model_name] = body.encode()
    archive.write(tmp_path / "good.pt2")
    done = tool("show", tmp_path / "good.pt2")
    assert done.returncode == 0, done.stderr
