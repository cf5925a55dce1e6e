"""What torch.export.load refuses for the structure of a file, we refuse: a row
for each check of torch's deserializer, of fx's lint and of its verifier.

Each row is a change to a real file; torch's loader is asked as well, so that no
row outlives what torch does.  Rows of SAME are read by both.
"""

import builtins
import collections
import io
import json
import keyword
import re
import unicodedata
import warnings

import pytest
import torch
from torch.export.pt2_archive._package import load_pt2

import model_files
import proviso
from proviso import _proviso
from test_pt2_reading import COMMAND, Archive

X = {"as_tensor": {"name": "x"}}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    paths = model_files.write(tmp_path_factory.mktemp("files"), by=("torch",))
    return {path.stem.removesuffix("_torch"): path for path in paths}


def node(archive, target):
    return next(n for n in archive.graph["nodes"] if target in n["target"])


def signature(archive):
    return archive.model["graph_module"]["signature"]


def call(archive):
    return archive.model["graph_module"]["module_call_graph"][0]["signature"]


def value(archive, name, kind="tensor", like=None):
    """An output of that name; `like`: of numbers, the value."""
    graph = archive.graph
    if kind == "tensor":
        graph["tensor_values"][name] = graph["tensor_values"]["x"]
        return {"as_tensor": {"name": name}}
    graph.setdefault(f"sym_{kind}_values", {})[name] = {f"as_{kind}": like}
    return {f"as_sym_{kind}": {"as_name": name}}


def add(archive, target, inputs, outputs, **more):
    archive.graph["nodes"].append({
        "target": target, "outputs": outputs, "metadata": {}, **more,
        "inputs": [{"name": name, "arg": arg, "kind": 1}
                   for name, arg in inputs]})


def relu(archive, name):
    """One node more, whose value has that name."""
    add(archive, "torch.ops.aten.relu.default", [("self", X)],
        [value(archive, name)])


def returns_x(archive, behind):
    """Nothing reads what stands behind a node."""
    nodes = archive.graph["nodes"]
    del nodes[nodes.index(behind) + 1:]
    archive.graph["outputs"] = [X]
    signature(archive)["output_specs"] = [{"user_output": {"arg": X}}]


Row = collections.namedtuple("Row", "name model change")
ROWS = []


def change(model):
    def named(function):
        ROWS.append(Row(function.__name__, model, function))
        return function
    return named


# --- names that torch's loader makes up

@change("linear")
def value_called_as_a_node(a):
    node(a, "aten.split")["name"] = "foo"
    relu(a, "foo")


@change("linear")
def value_called_as_a_node_without_a_name(a):
    node(a, "aten.split").pop("name", None)
    relu(a, "split_tensor")


@change("linear")
def value_called_as_a_numbered_node(a):
    split = node(a, "aten.split")
    split["name"] = "foo"
    relu(a, "bar")
    add(a, "torch.ops.aten.max.dim", [("self", X), ("dim", {"as_int": 0})],
        [value(a, "p"), value(a, "q")], name="foo")
    relu(a, "foo_1")


@change("linear")
def value_called_as_a_node_named_as_a_builtin(a):
    node(a, "aten.split")["name"] = "max"
    relu(a, "max_1")


@change("linear")
def value_called_as_a_dropped_result(a):
    add(a, "torch.ops.aten.max.dim", [("self", X), ("dim", {"as_int": 0})],
        [{"as_none": True}, value(a, "as_none")])


@change("branches")
def value_called_as_a_sub_graph(a):
    relu(a, "true_graph_0")


@change("nested")
def value_called_as_a_constant_input(a):
    for spec in signature(a)["input_specs"]:
        if "constant_input" in spec:
            spec["constant_input"]["name"] = "foo"
    add(a, "torch.ops.aten.arange.default", [("end", {"as_int": 3})],
        [{"as_tensor": {"name": "foo"}}])
    values = a.graph["tensor_values"]
    values["foo"] = next(iter(values.values()))


@change("linear")
def a_tensor_without_a_name(a):
    add(a, "torch.ops.aten.relu.default", [("self", X)], [{"as_none": True}])


# --- sub-graphs

def graph_called(name):
    def damage(a):
        node(a, "cond")["inputs"][2]["arg"]["as_graph"]["name"] = name
    return Row(f"sub-graph called {name!r}", "branches", damage)


ROWS += [graph_called(name) for name in ("", "a.b", "forward", "training",
                                         "_modules", "T_destination", "xpu")]


@change("branches")
def branches_that_give_nothing(a):
    cond = node(a, "cond")
    cond["outputs"] = []
    for i in (1, 2):
        cond["inputs"][i]["arg"]["as_graph"]["graph"]["outputs"] = []
    returns_x(a, cond)


@change("branches")
def an_input_called_as_a_keyword_beside_sub_graphs(a):
    text = json.dumps(a.model)
    for old, new in [('"name": "x"', '"name": "lambda"'),
                     ('"x": {', '"lambda": {')]:
        assert old in text
        text = text.replace(old, new)
    a.model = json.loads(text)


@change("branches")
def an_operator_named_as_a_keyword_beside_sub_graphs(a):
    add(a, "torch.ops.aten.random.from",
        [("self", X), ("from", {"as_int": 1}), ("to", {"as_none": True})],
        [value(a, "made")])


# --- outputs of nodes

@change("linear")
def an_empty_list_of_results(a):
    split = node(a, "aten.split")
    split["outputs"] = [{"as_tensors": []}]
    returns_x(a, split)


@change("linear")
def a_list_of_optional_results(a):
    split = node(a, "aten.split")
    split["outputs"] = [{"as_optional_tensors": [
        {"as_tensor": t} for t in split["outputs"][0]["as_tensors"]]}]


# --- what inputs and outputs may be

BODIES = {"as_string": "s", "as_scalar_type": 7, "as_layout": 7,
          "as_memory_format": 1, "as_device": {"type": "cpu"},
          "as_complex": {"real": 1.0, "imag": 1.0}, "as_sym_int": {"as_int": 3}}


def constant_input(archive):
    specs = signature(archive)["input_specs"]
    return next(i for i, s in enumerate(specs) if "constant_input" in s)


def output_is(kind):
    def damage(a):
        a.graph["outputs"][0] = {kind: BODIES[kind]}
        signature(a)["output_specs"][0] = {
            "user_output": {"arg": {kind: BODIES[kind]}}}
    return Row(f"output {kind}", "sizes", damage)


def input_is(kind):
    def damage(a):
        i = constant_input(a)
        a.graph["inputs"][i] = {kind: BODIES[kind]}
        signature(a)["input_specs"][i] = {
            "user_input": {"arg": {kind: BODIES[kind]}}}
    return Row(f"input {kind}", "nested", damage)


def input_is_symbolic(kind, like):
    def damage(a):
        i = constant_input(a)
        a.graph["inputs"][i] = value(a, "zz", kind, like)
        signature(a)["input_specs"][i] = {
            "user_input": {"arg": a.graph["inputs"][i]}}
    return Row(f"input as_sym_{kind}", "nested", damage)


ROWS += [output_is(kind) for kind in BODIES]
ROWS += [input_is(kind) for kind in BODIES if kind != "as_string"]
ROWS += [input_is_symbolic("float", 1.5), input_is_symbolic("bool", True)]


# --- the signature

def mutates_x(archive):
    made = value(archive, "new_x")
    add(archive, "torch.ops.aten.relu.default", [("self", X)], [made])
    archive.graph["outputs"].insert(0, made)
    signature(archive)["output_specs"].insert(0, {"user_input_mutation": {
        "arg": made["as_tensor"], "user_input_name": "x"}})


@change("linear")
def a_mutation_behind_a_result(a):
    mutates_x(a)
    for outputs in (a.graph["outputs"], signature(a)["output_specs"]):
        outputs.append(outputs.pop(0))


@change("linear")
def a_mutation_twice(a):
    mutates_x(a)
    for outputs in (a.graph["outputs"], signature(a)["output_specs"]):
        outputs.insert(0, outputs[0])


def calls(name, inputs):
    def damage(a):
        call(a)["inputs"] = [inputs]
    return Row(f"module_call_graph: {name}", "linear", damage)


ROWS += [
    calls("no such tensors", {"as_tensors": [{"name": "nope"}]}),
    calls("no such object",
          {"as_custom_obj": {"name": "nope", "class_fqn": "x"}}),
    calls("a constant", {"as_sym_int": {"as_int": 3}}),
    Row("module_call_graph: a graph", "linear", lambda a: call(a).update(
        inputs=[{"as_graph": {"name": "g", "graph": dict(
            a.graph, nodes=[], outputs=[])}}])),
]


# --- the dialect

@change("linear")
def core_aten_that_writes(a):  # torch.tensor(..) is a detach_
    a.model["verifiers"] = ["ATEN"]


@change("linear")
def no_dialect_that_writes(a):
    a.model["verifiers"] = []


@change("linear")
def two_dialects_of_which_one_does_not_write(a):
    a.model["verifiers"] = ["TRAINING", "ATEN"]


# --- functions of sizes

def function(target, kind="int", like=1, operands=1):
    def damage(a):
        size = next(iter(a.graph["sym_int_values"]))
        add(a, target, [("", {"as_sym_int": {"as_name": size}})]
            + [("", {"as_int": 1})] * (operands - 1),
            [value(a, "qq", kind, like)])
    return Row(target, "sizes", damage)


ROWS += [function("_operator.xor", operands=2), function("builtins.round")]
ROWS += [function(f"torch._sym_{name}", "float", 1.5) for name in (
    "cos cosh sin sinh tan tanh asin acos atan log2").split()]


@change("item")
def range_of_a_constant(a):
    add(a, "torch.ops.aten.sym_constrain_range_for_size.default",
        [("size", {"as_int": 3})], [])


@change("item")
def range_of_an_argument_by_its_name(a):
    size = next(iter(a.graph["sym_int_values"]))
    add(a, "torch.ops.aten.sym_constrain_range_for_size.default",
        [("size", {"as_sym_int": {"as_name": size}})], [])
    a.graph["nodes"][-1]["inputs"][0]["kind"] = 2


@change("item")
def assertion_of_an_argument_by_its_name(a):
    add(a, "torch.ops.aten._assert_scalar.default",
        [("self", {"as_bool": True}), ("assert_msg", {"as_string": "s"})], [])
    for given in a.graph["nodes"][-1]["inputs"]:
        given["kind"] = 2


# --- texts within texts

def metadata(key, text):
    def damage(a):
        node(a, "aten")["metadata"][key] = text
    return Row(f"metadata {key}: {text}", "linear", damage)


ROWS += [metadata(key, text) for key, texts in {
    "nn_module_stack": ["a", "a,b", "a,b,c,d", "a,b,c;d", "(a,b,c"],
    "source_fn_stack": ["a", "a,b,c", "a,b;"],
    "custom": ["{", "{'a': 1}"],
    "from_node": ["{", "1", "[1]", '[{"action": 3}]', '[{"from_node": 1}]'],
}.items() for text in texts]
ROWS += [Row("metadata of the module", "linear", lambda a: a.model[
    "graph_module"].update(metadata={"custom": "{"}))]


def spec(which, old, new):
    def damage(a):
        assert old in call(a)[which]
        call(a)[which] = call(a)[which].replace(old, new)
    return Row(f"{which}: {new}", "linear", damage)


ROWS += [spec(which, old, new) for which in ("in_spec", "out_spec")
         for old, new in [
             ('"context": "null"', '"context": "{"'),
             ('"context": "null"', '"context": null'),
             ('"context": "null"', '"context": 3'),
             ('"context": null', '"context": 3'),
             ('"type": null', '"type": "builtins.tuple"'),
             ("[1,", "[2,"), ("[1,", "[0,")]]


# --- the tensors

def of_index(archive, folder):
    """(name of the record, its contents) of the weights or constants."""
    name = next(n for n in archive.records
                if n.endswith(f"/data/{folder}/model_{folder}_config.json"))
    return name, json.loads(archive.records[name])


def tensors(title, folder, edit):
    def damage(a):
        name, index = of_index(a, folder)
        edit(a, name.rpartition("/")[0], index["config"])
        a.records[name] = json.dumps(index).encode()
    return Row(f"{folder}: {title}", "linear", damage)


def one_byte_more(a, folder, config):
    path = next(iter(config.values()))["path_name"]
    a.records[f"{folder}/{path}"] += b"x"


def another_prefix(a, folder, config):
    entry = next(iter(config.values()))
    a.records[f"{folder}/data_0"] = a.records.pop(
        f"{folder}/{entry['path_name']}")
    entry["path_name"] = "data_0"


def on_a_device_of_none(a, folder, config):
    next(iter(config.values()))["tensor_meta"]["device"] = {
        "type": "cuda", "index": 90}


ROWS += [tensors("a record of odd length", folder, one_byte_more)
         for folder in ("weights", "constants")]
ROWS += [tensors("another prefix", "constants", another_prefix),
         tensors("a device that is not there", "weights", on_a_device_of_none)]
ROWS += [Row(f"{folder}: no index", "linear", lambda a, folder=folder:
             a.records.pop(of_index(a, folder)[0]))
         for folder in ("weights", "constants")]


# --- names that torch's code of the module cannot hold, calls that it cannot
# make: torch's loader reads the file, and its module cannot be made or called

def owned(kind, name):
    """The first tensor of that kind gets that name."""
    def damage(a):
        field = f"{kind}_name"
        spec = next(s[kind] for s in signature(a)["input_specs"] if kind in s)
        old, spec[field] = spec[field], name
        for folder in ("weights", "constants"):
            record, index = of_index(a, folder)
            if old in index["config"]:
                index["config"][name] = index["config"].pop(old)
            a.records[record] = json.dumps(index).encode()
    return Row(f"{kind} called {name!r}", "linear", damage)


def renamed(model, old, new):
    def damage(a):
        text = json.dumps(a.model)
        for key in ('"name": ', '"as_name": ', ""):
            text = text.replace(f'{key}"{old}"' + ("" if key else ": {"),
                                f"{key}{json.dumps(new)}"
                                + ("" if key else ": {"))
        a.model = json.loads(text)
    return Row(f"{old} renamed {new!r}", model, damage)


LEAF = '{"type": null, "context": null, "children_spec": []}'


def nested(kind, context, *children):
    return json.dumps({"type": kind, "context": context, "children_spec": [
        json.loads(child) for child in children]})


def called(title, model="linear", **fields):
    return Row(f"call: {title}", model, lambda a: call(a).update(fields))


def with_keyword(key):
    return "[1, " + nested(
        "builtins.tuple", "null", nested("builtins.tuple", "null"),
        nested("builtins.dict", json.dumps([key]), LEAF)) + "]"


def gives(kind, context, leaves):
    return "[1, " + nested(kind, context, *[LEAF] * leaves) + "]"


# Code between the quotes of getattr(self, ".."), which torch writes.
CODE = 'training") and open("made", "w") or str("x'

RUNS = [owned("parameter", name) for name in (
    "forward", "__class__", "_parameters", "training", "", ".", "linear",
    "__dict__", "_guards_fn", "meta", "forward.x", "self", "state_dict.x",
    "_buffers.x", "call_super_init", "_modules.x", "graph", "code", "train",
    "_guards_fn.x", "validate_inputs", "_in_spec", "range_constraints",
    "def", "linear.in", "\ufb01", "linear.forward.x", CODE, 'a"b', "a\\")]
RUNS += [owned("buffer", name)
         for name in ("forward", "linear", "_buffers", "graph.x")]
RUNS += [owned("tensor_constant", name)
         for name in ("forward", "linear", "_guards_fn")]
RUNS += [renamed("linear", "x", name) for name in ("def", "self", "torch", "")]
RUNS += [renamed("linear", "mul", "self"),
         renamed("branches", "true_graph_0", "_guards_fn")]
RUNS += [
    called("fewer results", out_spec="[1, " + LEAF + "]"),
    called("more results", out_spec=gives("builtins.tuple", "null", 4)),
    called("fewer keys", out_spec=gives("builtins.dict", '["a", "b"]', 3)),
    called("a key that is a list",
           out_spec=gives("builtins.dict", '["a", "b", []]', 3)),
    called("an ordered dict",
           out_spec=gives("collections.OrderedDict", '["a", "b"]', 3)),
    called("a named tuple of none",
           out_spec=gives("collections.namedtuple", "null", 3)),
    called("a keyword that is a number", in_spec=with_keyword(1),
           forward_arg_names=None),
    called("a keyword with a quote", in_spec=with_keyword("x':print(1),'y"),
           forward_arg_names=["x"]),
    called("more names", forward_arg_names=["x", "y"]),
    called("a keyword of Python", forward_arg_names=["def"]),
    called("code for a name", forward_arg_names=["x=print(1)"]),
    called("self", forward_arg_names=["self"]),
    called("torch", forward_arg_names=["torch"]),
    Row("call: another module's first", "linear", lambda a: a.model[
        "graph_module"]["module_call_graph"].reverse()),
    Row("a persistent buffer among the constants", "linear", lambda a: next(
        s["buffer"] for s in signature(a)["input_specs"] if "buffer" in s
        and not s["buffer"]["persistent"]).update(persistent=True)),
]


# --- what torch's module would compute otherwise

OTHERWISE = [
    owned("tensor_constant", "scale"),
    renamed("linear", "mul", "a.b"), renamed("linear", "mul", "%x"),
    renamed("linear", "mul", "\u202e"), renamed("linear", "mul", "lambda"),
    called("a key twice", out_spec=gives("builtins.dict", '["a", "a", "b"]', 3)),
    called("a key twice, as a truth value",
           out_spec=gives("builtins.dict", '[1, true, "b"]', 3)),
    called("a deque that drops results",
           out_spec=gives("collections.deque", "2", 3)),
    called("a tuple with a context", out_spec=gives("builtins.tuple", "3", 3)),
    Row("a mutation of a name that is a buffer's too", "linear", lambda a: (
        owned("buffer", "x").change(a), mutates_x(a))),
    Row("a buffer's new value for a parameter", "linear", lambda a: (
        mutates_x(a), signature(a)["output_specs"][0].clear(),
        signature(a)["output_specs"][0].update({"buffer_mutation": {
            "arg": {"name": "new_x"}, "buffer_name": "linear.weight"}}))),
]


# --- what both read

SAME = [Row("unchanged", "linear", lambda a: None)]
SAME += [metadata(key, text) for key, texts in {
    "nn_module_stack": ["", "a,b,c", "a,(b,c),d", "a,b,c;d,[e,f],g"],
    "source_fn_stack": ["", "a,b", "a,b;c,d"],
    "custom": ["", "{}", "1"], "torch_fn": ["a", "a;b"],
    "from_node": ["", "null", "[]", "[null]", "[{}]",
                  '[{"name": "a", "target": "b", "graph_id": 1, "action": "x",'
                  ' "from_node": [{}]}]'],
}.items() for text in texts]
SAME += [Row(f"value called {name}", "linear",
             lambda a, name=name: relu(a, name))
         for name in ("output", "max", "split_1", "linear_9", "x_007", "_1")]


SAME += [Row("a mutation first", "linear", mutates_x)]
SAME += [owned("parameter", name) for name in (
    "x", "0", "a b", "\u00e9", "linear.weight.x", "torch", "max", "deep.graph.x")]
SAME += [called("a list", out_spec=gives("builtins.list", "null", 3)),
         called("a dict", out_spec=gives("builtins.dict", '["a", 1, "b"]', 3)),
         called("a deque", out_spec=gives("collections.deque", "3", 3)),
         called("another name", forward_arg_names=["\u00e9"]),
         called("no names", forward_arg_names=[])]


# --- the tests

def written(files, row, tmp_path):
    archive = Archive(files[row.model])
    row.change(archive)
    archive.write(tmp_path / "changed.pt2")
    return (tmp_path / "changed.pt2").read_bytes()


def check(data):
    _proviso.Archive(data, "changed.pt2").check_program([])


@pytest.mark.parametrize("row", ROWS, ids="{0.model}: {0.name}".format)
def test_what_torch_refuses_is_refused(row, files, tmp_path):
    data = written(files, row, tmp_path)
    with pytest.raises(Exception):
        load_pt2(io.BytesIO(data))
    with pytest.raises(proviso.Error, match=r"changed\.pt2: ") as refusal:
        check(data)
    assert len(str(refusal.value)) < 1000


@pytest.mark.parametrize("row", RUNS, ids="{0.model}: {0.name}".format)
def test_what_torch_cannot_run_is_refused(row, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = written(files, row, tmp_path)
    with pytest.raises(Exception):
        program = load_pt2(io.BytesIO(data)).exported_programs["model"]
        args, kwargs = program.example_inputs
        program.module()(*args, **kwargs)
    with pytest.raises(proviso.Error, match=r"changed\.pt2: ") as refusal:
        check(data)
    assert len(str(refusal.value)) < 1000
    assert str(refusal.value).isprintable()


@pytest.mark.parametrize("row", OTHERWISE, ids="{0.model}: {0.name}".format)
def test_what_torch_computes_otherwise_is_refused(row, files, tmp_path):
    with pytest.raises(proviso.Error, match=r"changed\.pt2: ") as refusal:
        check(written(files, row, tmp_path))
    assert str(refusal.value).isprintable()


@pytest.mark.parametrize("row", SAME, ids="{0.model}: {0.name}".format)
def test_what_torch_reads_is_read(row, files, tmp_path):
    data = written(files, row, tmp_path)
    load_pt2(io.BytesIO(data))
    check(data)


def test_sub_graphs_of_one_name_are_one(files, tmp_path):
    """torch's loader reads the file, and runs the second graph for both."""
    row = graph_called("true_graph_0")
    with pytest.raises(proviso.Error, match="two sub-graphs are called"):
        check(written(files, row, tmp_path))


def test_what_torch_does_not_read_is_not_saved(tmp_path):
    class Cosine(torch.nn.Module):
        def forward(self, x):
            import math
            return x * math.cos(x.shape[0])

    program = proviso.export(Cosine(), (torch.ones(3),),
                             dynamic_shapes=({0: torch.export.Dim.AUTO},))
    with pytest.raises(Exception, match="would not read the file: node .*"
                       r"\(torch._sym_cos\).* it knows that of a tensor, "
                       r"torch.cos\(torch.scalar_tensor\(n, "):
        program.save(tmp_path / "cosine.pt2")


def words(name):
    source = COMMAND.parents[2] / "tracer_adapter/pt2/fx_names.cc"
    text = source.read_text()
    table = re.search(name + r" = \{(.*?)\};", text, re.DOTALL)[1]
    return re.findall(r'"(\w+)"', table)


def letters():
    source = COMMAND.parents[2] / "tracer_adapter/pt2/fx_names.cc"
    table = re.search(r"kLetters\[\] = \{(.*?)\};", source.read_text(), re.DOTALL)
    return [(int(first, 16), int(last, 16)) for first, last in
            re.findall(r"\{(0x\w+), (0x\w+)\}", table[1])]


@pytest.mark.skipif(not (COMMAND.parents[2] / "tracer_adapter").exists(),
                    reason="needs the sources")
def test_the_tables_of_names_are_torchs():
    others = {"smart_apply"}  # transformers puts it there
    module = [name for name in dir(torch.nn.Module())
              if not name.startswith("___")  # torch.compile's
              and name not in others]
    assert words("kModule") == sorted(module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(torch.nn.ReLU(), (torch.ones(2),))
        made = {*dir(program.module())} - {*dir(torch.nn.Module())}
    assert words("kProgram") == sorted(made)
    taken = {*keyword.kwlist, *dir(builtins), "inf", "nan", "NoneType", "torch",
             "device", "fx_pytree", "pytree"}
    site = {"_", "copyright", "credits", "exit", "license", "quit"}
    assert set(words("kTaken")) - site == taken - site
    assert words("kTaken") == sorted(words("kTaken"))
    assert words("kKeywords") == sorted(keyword.kwlist)


@pytest.mark.skipif(not (COMMAND.parents[2] / "tracer_adapter").exists(),
                    reason="needs the sources")
def test_letters_are_those_that_python_reads_as_they_stand():
    characters = [chr(c) for first, last in letters()
                  for c in range(first, last + 1)]
    assert all(c.isidentifier() and not unicodedata.combining(c)
               for c in characters)
    text = "".join(characters)
    assert unicodedata.normalize("NFKC", text) == text
