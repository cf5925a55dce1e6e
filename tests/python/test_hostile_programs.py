"""What a loaded program computes of what it is given, examples and numbers; and
what errors say of fields that are of another type."""

import copy
import io
import json
import pickle
import re
import sys
import types
import zipfile

import pytest
import torch

import proviso
import wrong_fields
from hostile_files import RUNS, S77, ends_well, with_node
from test_pt2_reading import Archive, refused


# --- what a loaded program computes

def full(archive, name, size, value, dtype):
    with_node(archive, "aten.full.default", ("size", {"as_ints": size}),
              ("fill_value", value), ("dtype", {"as_scalar_type": dtype}),
              result=name)
    archive.graph["nodes"][-1]["inputs"][2]["kind"] = 2
    return {"as_tensor": {"name": name}}


def lengths_of_segments(archive):
    data = full(archive, "data", [4], {"as_float": 1.0}, 7)
    far = full(archive, "far", [4], {"as_int": 2 ** 40}, 5)
    with_node(archive, "aten.segment_reduce.default", ("data", data),
              ("reduce", {"as_string": "sum"}), ("lengths", far),
              ("axis", {"as_int": 0}), ("unsafe", {"as_bool": True}))
    for given in archive.graph["nodes"][-1]["inputs"][2:]:
        given["kind"] = 2


def places_of_maxima(archive):
    given = [full(archive, name, size, value, dtype) for name, size, value, dtype
             in [("gradient", [1, 1, 2, 2], {"as_float": 1.0}, 7),
                 ("image", [1, 1, 4, 4], {"as_float": 1.0}, 7),
                 ("places", [1, 1, 2, 2], {"as_int": 2 ** 40}, 5)]]
    two = {"as_ints": [2, 2]}
    with_node(archive, "aten.max_pool2d_with_indices_backward.default",
              ("grad_output", given[0]), ("self", given[1]),
              ("kernel_size", two), ("stride", two),
              ("padding", {"as_ints": [0, 0]}),
              ("dilation", {"as_ints": [1, 1]}),
              ("ceil_mode", {"as_bool": False}), ("indices", given[2]))


@pytest.mark.parametrize("damage, message", [
    (lengths_of_segments, "lengths must be from 0 to 4"),
    (places_of_maxima, "indices must be from -1 to 15"),
], ids=lambda v: getattr(v, "__name__", None))
def test_a_loaded_program_looks_at_its_calls(damage, message, files, tmp_path):
    archive = Archive(files["linear_torch"])
    damage(archive)
    archive.write(tmp_path / "bad.pt2")
    program = proviso.load(tmp_path / "bad.pt2")
    args, kwargs = program.example_inputs
    for made in (program, copy.copy(program), copy.deepcopy(program),
                 pickle.loads(pickle.dumps(program))):
        with pytest.raises(ValueError, match=message):
            made.module()(*args, **kwargs)


def test_only_a_file_of_others_is_looked_at(files):
    loaded = proviso.load(files["linear_torch"], allow=["aten.set_"])
    assert loaded._looks_but_for == ["aten.set_"]
    core = loaded.run_decompositions()
    assert core._looks_but_for == ["aten.set_"]
    trusted = proviso.load(files["linear_torch"], trusted=True)
    assert trusted._looks_but_for is None
    args, kwargs = loaded.example_inputs
    for one, other in zip(loaded.module()(*args, **kwargs),
                          trusted.module()(*args, **kwargs)):
        assert torch.equal(one, other)


def test_gradients_of_a_loaded_program_are_recorded(files):
    loaded = proviso.load(files["linear_torch"]).module()
    loaded(*loaded.program.example_inputs[0])[2].backward()
    assert all(p.grad is not None for p in loaded.parameters())


def set_examples(archive, examples):
    buffer = io.BytesIO()
    torch.save(examples, buffer)
    name = next(n for n in archive.records if n.endswith("sample_inputs/model.pt"))
    archive.records[name] = buffer.getvalue()


@pytest.mark.parametrize("examples", [
    ((torch.ones(3, 4, dtype=torch.int64),), {}),
    ((torch.ones(3, 4, device="meta"),), {}),
    ((torch.ones(3, 4).to_sparse(),), {}),
    ((torch.ones(3),), {}), ((3,), {}), ((), {}),
    ((torch.ones(3, 4), torch.ones(3, 4)), {}),
], ids=["dtype", "device", "layout", "rank", "number", "none", "more"])
def test_examples_are_what_the_graph_takes(examples, files, tmp_path):
    archive = Archive(files["linear_torch"])
    set_examples(archive, examples)
    archive.write(tmp_path / "bad.pt2")
    with pytest.raises(ValueError, match="load: .*bad.pt2.*example"):
        proviso.load(tmp_path / "bad.pt2")


@pytest.mark.parametrize("nested", [
    {RUNS: torch.ones(3, 2), "pair": [torch.ones(4, 2)]},
    {"x": torch.ones(3, 2), "pair": (torch.ones(4, 2),)},
    [torch.ones(3, 2), torch.ones(4, 2)],
], ids=["key", "tuple", "list"])
def test_examples_nest_as_the_inputs(nested, files, tmp_path):
    archive = Archive(files["nested_torch"])
    set_examples(archive, ((nested, 5, 0.5, "sum"), {}))
    archive.write(tmp_path / "bad.pt2")
    with pytest.raises(ValueError, match="load: .*bad.pt2.*examples .* nest"):
        proviso.load(tmp_path / "bad.pt2")


def test_the_example_of_a_constant_is_the_constant(tmp_path):
    class Scaled(torch.nn.Module):
        def forward(self, x, factor):
            return x * factor

    torch.export.save(torch.export.export(Scaled(), (torch.ones(3), 0.5)),
                      tmp_path / "good.pt2")
    proviso.load(tmp_path / "good.pt2")
    archive = Archive(tmp_path / "good.pt2")
    set_examples(archive, ((torch.ones(3), 0.75), {}))
    archive.write(tmp_path / "bad.pt2")
    with pytest.raises(ValueError, match="factor is 0.75, .* is always 0.5"):
        proviso.load(tmp_path / "bad.pt2")


def test_names_in_examples_are_not_asked_for(files, tmp_path):
    """A module of a lazy package imports when it is asked for an attribute."""
    lazy = types.ModuleType("lazy_package")
    lazy.__getattr__ = lambda name: asked.append(name)
    asked = []
    archive = Archive(files["linear_torch"])
    name = next(n for n in archive.records if n.endswith("sample_inputs/model.pt"))
    made = io.BytesIO()
    with (zipfile.ZipFile(io.BytesIO(archive.records[name])) as before,
          zipfile.ZipFile(made, "w") as after):
        for record in before.namelist():
            is_pickle = record.endswith("data.pkl")
            after.writestr(record, b"\x80\x02clazy_package\nthing\n." if is_pickle
                           else before.read(record))
    archive.records[name] = made.getvalue()
    archive.write(tmp_path / "bad.pt2")
    sys.modules["lazy_package"] = lazy
    try:
        with pytest.raises(ValueError, match="lazy_package"):
            proviso.load(tmp_path / "bad.pt2")
    finally:
        del sys.modules["lazy_package"]
    assert not asked


def test_the_new_value_of_a_tensor_is_like_it(files, tmp_path):
    archive = Archive(files["linear_torch"])
    new = full(archive, "new", [4], {"as_int": 1}, 5)
    archive.graph["tensor_values"]["new"] = dict(
        archive.graph["tensor_values"]["x"], dtype=5, sizes=[{"as_int": 4}],
        strides=[{"as_int": 1}])
    signature = archive.model["graph_module"]["signature"]
    signature["output_specs"].insert(0, {"buffer_mutation": {
        "arg": new["as_tensor"], "buffer_name": "scale"}})
    archive.graph["outputs"].insert(0, new)
    archive.write(tmp_path / "bad.pt2")
    refused(tmp_path / "bad.pt2", "the new value of 'scale', and is i64 of 1 "
            "dimensions where that is f32 of 1 dimensions")


def test_what_was_looked_at_is_what_is_loaded(files, tmp_path, monkeypatch):
    """A file that is exchanged meanwhile."""
    from proviso import _vet
    path = tmp_path / "good.pt2"
    path.write_bytes(files["linear_torch"].read_bytes())
    check = _vet.check_file

    def exchanged(*args):
        check(*args)
        path.write_bytes(files["sizes_torch"].read_bytes())

    monkeypatch.setattr(_vet, "check_file", exchanged)
    assert "aten.linear.default" in str(proviso.load(path).operators)


def test_an_error_of_torchs_names_the_file(files, tmp_path):
    archive = Archive(files["linear_torch"])
    archive.model["range_constraints"] = {"s77": {"min_val": None,
                                                  "max_val": None}}
    value = archive.graph["tensor_values"]["linear"]
    value["sizes"][0] = {"as_expr": {"expr_str": f"FloorDiv({S77}, Integer(0))",
                                     "hint": {"as_int": 3}}}
    archive.write(tmp_path / "bad.pt2")
    with pytest.raises(Exception, match=r"load: '.*bad\.pt2': "):
        proviso.load(tmp_path / "bad.pt2")


# --- numbers that Python would compute, of any length

def number_node(archive, target, *operands, result="made"):
    """Of integers, and of names of sizes."""
    archive.graph["sym_int_values"][result] = {"as_expr": {
        "expr_str": S77, "hint": {"as_int": 3}}}
    archive.graph["nodes"].append({
        "target": target, "metadata": {},
        "inputs": [{"name": "", "kind": 1, "arg":
                    {"as_sym_int": {"as_name": operand}}
                    if isinstance(operand, str) else {"as_int": operand}}
                   for operand in operands],
        "outputs": [{"as_sym_int": {"as_name": result}}]})


def squares(archive, first):
    for i in range(64):
        number_node(archive, "_operator.mul", first, first, result=f"made_{i}")
        first = f"made_{i}"


HUGE = {
    "**": lambda a, seven: number_node(a, "_operator.pow", seven, 10 ** 9),
    "<<": lambda a, seven: number_node(a, "_operator.lshift", seven, 10 ** 12),
    "*": squares,
}


@pytest.mark.parametrize("sign", HUGE)
def test_a_number_of_constants_fits_in_64_bits(sign, files, tmp_path):
    """No run gives another; Python would compute it for ever."""
    archive = Archive(files["sizes_torch"])
    HUGE[sign](archive, 7)
    archive.write(tmp_path / "bad.pt2")
    refused(tmp_path / "bad.pt2", f"a size computed by {sign} does not fit in "
            "64 bits")
    with pytest.raises(ValueError, match=r"load: .*: node \d+ \(_operator\."
                       rf".*computed by {re.escape(sign)} does not fit"):
        proviso.load(tmp_path / "bad.pt2")


@pytest.mark.parametrize("sign", HUGE)
@pytest.mark.parametrize("trusted", [False, True])
def test_a_number_of_fixed_sizes_fits_in_64_bits(sign, trusted, files,
                                                 tmp_path):
    """The file does not say that it is one."""
    archive = Archive(files["sizes_torch"])
    with_node(archive, "aten.arange.default", ("end", {"as_int": 7}),
              result="seven")
    number_node(archive, "torch.ops.aten.sym_size.int", result="fixed")
    archive.graph["nodes"][-1]["inputs"] = [
        {"name": "self", "arg": {"as_tensor": {"name": "seven"}}, "kind": 1},
        {"name": "dim", "arg": {"as_int": 0}, "kind": 1}]
    HUGE[sign](archive, "fixed")
    archive.write(tmp_path / "bad.pt2")
    with pytest.raises(RuntimeError, match=rf"computed by {re.escape(sign)} "
                       r"does not fit in 64 bits \(in node made"):
        proviso.load(tmp_path / "bad.pt2", trusted=trusted)


def test_memory_that_is_not_there_is_named_by_its_node(files, tmp_path):
    archive = Archive(files["linear_torch"])
    with_node(archive, "aten.arange.default", ("end", {"as_int": 2 ** 50}))
    archive.write(tmp_path / "bad.pt2")
    said = (rf"the program asks for {8 * 2 ** 50} bytes of memory, more than "
            r"there is \(in node \d+, aten.arange.default\)$")
    assert re.search(said, ends_well("run", tmp_path / "bad.pt2").strip())
    program = proviso.load(tmp_path / "bad.pt2")
    args, kwargs = program.example_inputs
    with pytest.raises(RuntimeError, match=said):
        program.module()(*args, **kwargs)


# --- what errors say

def test_an_error_names_its_node_and_nothing_of_torchs(files, tmp_path):
    archive = Archive(files["linear_torch"])
    with_node(archive, "aten.full.default",
              ("size", {"as_ints": [2 ** 62, 4, 0]}),
              ("fill_value", {"as_int": 1}))
    archive.write(tmp_path / "bad.pt2")
    with pytest.raises(RuntimeError) as error:
        proviso.load(tmp_path / "bad.pt2")
    assert str(error.value).endswith(
        "integer multiplication overflow (in node made, full.default)")


@pytest.mark.parametrize("expression, message", [
    ("Add(Symbol('u5', integer=True), 1)", "u5 .* has no range"),
    ("Symbol('u5', integer=True)", "u5 .* has no range"),
    (f"ModularIndexing({S77}, 0, 0)", "divides by 0"),
    (f"ModularIndexing({S77}, 2, 0)", "divides by 0"),
    (f"FloorDiv({S77}, Integer(0))", "divides by 0"),
    (f"Mod({S77}, Add({S77}, Mul(Integer(-1), {S77})))",
     "PyTorch's loader does not read it"),
], ids=str)
def test_a_size_that_sympy_fails_at(expression, message, files, tmp_path):
    archive = Archive(files["linear_torch"])
    value = archive.graph["tensor_values"]["linear"]
    value["sizes"][0] = {"as_expr": {"expr_str": expression, "hint": None}}
    archive.write(tmp_path / "bad.pt2")
    with pytest.raises(ValueError, match=f"load: .*{message}") as error:
        proviso.load(tmp_path / "bad.pt2")
    assert len(str(error.value)) < 600
    assert not any(words in str(error.value) for words in
                   wrong_fields.INTERNALS)


# A member, the change, what the error says.
FIELDS = [
    ("model.json", [], "range_constraints", 5,
     "model.json: range_constraints: expected an object, found an integer"),
    ("model.json", [], "guards_code", 5,
     "model.json: guards_code: expected a list, found an integer"),
    ("model.json", None, None, None,
     "model.json: expected an object, found null"),
    ("model.json", None, None, [], "model.json: expected an object, found a l"),
    ("weights_config.json", None, None, "x",
     "config.json: expected an object, found a string"),
    ("weights_config.json", [], "config", [],
     "config.json: config: expected an object, found a list"),
    ("weights_config.json", ["config"], "linear.weight", None,
     "config.linear.weight: expected an object, found null"),
    ("weights_config.json", ["config", "linear.weight"], "path_name", 3,
     "config.linear.weight.path_name: expected a string, found an integer"),
    ("weights_config.json", ["config", "linear.weight"], "use_pickle", None,
     "use_pickle: expected true or false, found null"),
]


@pytest.mark.parametrize("record, path, key, value, message", FIELDS, ids=str)
def test_a_field_of_another_type_is_named(record, path, key, value, message,
                                          files, tmp_path):
    archive = Archive(files["linear_torch"])
    name = next(n for n in archive.records if n.endswith(record))
    document = json.loads(archive.records[name])
    if path is None:
        document = value
    else:
        part = document
        for step in path:
            part = part[step]
        part[key] = value
    archive.model, archive.records[name] = None, json.dumps(document).encode()
    archive.write(tmp_path / "bad.pt2")
    refused(tmp_path / "bad.pt2", message)
    with pytest.raises(ValueError, match=re.escape(message)):
        proviso.load(tmp_path / "bad.pt2")


@pytest.mark.parametrize("field, value", [
    ("expr_str", []), ("expr_str", {}), ("expr_str", 5), ("guards_code", 5),
    ("guards_code", [[]]), ("forward_arg_names", 5), ("name", []),
    ("in_spec", []), ("as_name", {})])
def test_what_nobody_knows_may_be_of_any_form(field, value, files, tmp_path):
    """Torch reads files with members of a later version."""
    archive = Archive(files["linear_torch"])
    archive.model["later"] = {field: value}
    archive.write(tmp_path / "bad.pt2")
    assert wrong_fields.finding((tmp_path / "bad.pt2").read_bytes()) is None


def test_every_field_may_be_wrong(files):
    """`wrong_fields.py FILE` tries them all."""
    for name, most in (("linear_torch", 120), ("branches_proviso", 60)):
        assert list(wrong_fields.findings(files[name], most)) == []
