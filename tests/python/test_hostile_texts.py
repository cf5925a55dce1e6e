"""Files whose texts take for ever, call something or give orders to a terminal;
and that no reader takes what another one refuses."""

import ast
import copy
import json
import time

import pytest
import torch

import proviso
from proviso import _growth, _vet
from hostile_files import RUNS, S77, X, body_of, calls, nodes, with_node
from test_pt2_reading import Archive, tool


# --- texts that SymPy would take hours for

LONG = {
    "remainder": f"Mod(Pow({S77}, Integer(4000)), Add(Pow({S77}, Integer(3)), "
                 "Integer(1)))",
    "quotient": f"FloorDiv(Pow(Add({S77}, Integer(1)), Integer(900)), "
                f"Add({S77}, Integer(1)))",
    "by its name": f"Mod(Pow({S77}, e=4000), Add({S77}, Integer(1)))",
    "operators": f"(({S77} + 1)**900)//({S77} + 1)",
    "product": "Mod(Mul(" + ", ".join([S77] * 300) + f"), Add({S77}, 1))",
    "sums": "FloorDiv(Mul(" + ", ".join(
        f"Add({S77}, {i})" for i in range(40)) + f"), Add({S77}, 1))",
    "extremes": "Max(" + ", ".join(
        f"Add(Mul({i % 7 + 2}, {S77}), {i})" for i in range(250)) + ")",
    "number": "Pow(Pow(Integer(2), Integer(4000)), Integer(4000))",
    "one term": f"Mod(Pow({S77}, Integer(65)), Integer(9))",
    "two terms": f"Mod(Add(Pow({S77}, Integer(33)), {S77}), Integer(9))",
    "many remainders": "Add(" + ", ".join(
        f"Mod(Pow({S77}, Integer(60)), Integer({i}))" for i in range(7, 90)) + ")",
}


LONG |= {
    "digits": "floor(Float('0.1', dps=300000000))",
    "bits": "floor(Float('0.1', precision=10000000000))",
    "bits by position": "floor(Float('0.1', 10000000000))",
    "exponent": "floor(Float('1e300000000', precision=53))",
    "small exponent": "floor(Float('1e-300000000', precision=53))",
    "root": f"floor(Pow(Add(Pow({S77}, Integer(16)), Integer(1)), "
            "Rational(1, 2)))",
    "extremes of quotients": "Max(" + ", ".join(
        f"FloorDiv({S77}, {i})" for i in range(2, 20)) + ")",
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_text_is_read_at_once_or_refused(text, files, tmp_path):
    archive = Archive(files["linear_torch"])
    value = archive.graph["tensor_values"]["linear"]
    value["sizes"][0] = {"as_expr": {"expr_str": text, "hint": None}}
    archive.write(tmp_path / "bad.pt2")
    start = time.perf_counter()
    with pytest.raises(ValueError, match="would take torch long to read"):
        proviso.load(tmp_path / "bad.pt2")
    assert time.perf_counter() - start < 10  # of a loaded machine


# --- texts that save() writes, whose parts are read once

WRAPPED = [
    "{}", "Add({}, Integer(1))", "Add(Integer(1), {})", "Mul({}, {})",
    "Mod({}, Integer(3))", "Eq({}, Add({}, Integer(2)))", "FloorDiv({}, 2)",
    "Add(Mod({}, Integer(7)), Mod({}, Integer(8)))", "Le(Mul(Add({}, 1), 2), 9)"]
PARTS = [
    *LONG.values(), S77, "Integer(3)", "3", "Symbol('a, b')", "Symbol(')')",
    "Symbol('('), Symbol(')')", "f(1)", "open('f', 'w')", "*f(1)", "f(1) (2)",
    "(Add if Mul(1) else Mod)(2)", "Pow(2, 9999)", "Add('a')", "Add(x=1)", "",
    "Add(1", "1), Add(2", "Max(1, 2) for s0 in Max(3)", f"Symbol({S77})",
    "Max(" + ", ".join(f"Mod({S77}, {i})" for i in range(6)) + ")",
    "Pow(Add(s0, s1), 8)", "Mod(Pow(s0, 16), 5)", "Add(Add(Add(Add(f(1)))))"]


def test_parts_that_are_read_once_change_no_verdict():
    texts = [form.format(*[part] * form.count("{}"))
             for part in PARTS for form in WRAPPED]
    texts += [f"Add({', '.join([part] * count)})"
              for part in PARTS for count in (2, 3, 4, 40)]
    tree_of = _vet._SharedParts().tree_of
    for text in texts * 2:  # parts are known the second time
        alone, shared = _vet._fault_of(text), _vet._fault_of(text, tree_of)
        assert (alone is None) == (shared is None), text
    assert sum(_vet._fault_of(text) is None for text in texts) > 40


def test_what_save_writes_is_checked_in_linear_time():
    sums = [f"Symbol('u{i}', integer=True)" for i in range(300)]
    sums = [f"Mul(Integer({i + 2}), {u})" for i, u in enumerate(sums)]
    texts = [f"Add({', '.join(sums[:i])})" for i in range(2, 300)]
    texts += [f"Eq(Mod({text}, Integer(4)), Integer(0))" for text in texts[::9]]

    def check():
        start = time.process_time()
        _vet.check_written(texts)
        return time.process_time() - start

    assert min(check() for _ in range(3)) < 0.5
    with pytest.raises(ValueError, match="ExportedProgram.save: load.. would"):
        _vet.check_written([*texts, texts[-1][:-1] + ", open('f', 'w'))"])


# --- what torch writes is read

def stages(size, times):
    """The sizes of a pyramid of convolutions, each stage's pixels counted and
    divided by its height, as torch writes them."""
    height = f"FloorDiv(Add({size}, Integer(-1)), Integer(4))"
    for _ in range(times):
        pixels = f"Mul(Add({height}, Integer(1)), Add({S77}, Integer(1)))"
        height = (f"FloorDiv(Add(FloorDiv({pixels}, FloorDiv(Add({size}, "
                  "Integer(3)), Integer(4))), Integer(-1)), Integer(2))")
    return height


def windows():
    """Contiguity of windows of 4 x 4 of an image that is padded to them."""
    sides = [f"(L['x'].size()[{i}] + ((4 + (-1)*(L['x'].size()[{i}] % 4)) % 4))"
             for i in (1, 2)]
    a, b = (f"max(1, {side} // ({side} // 4))" for side in sides)
    c, d = (f"max(1, {side} // 4)" for side in sides)
    product = "*".join(f"({side} // ({side} // 4))" for side in sides)
    return f"min(6*{a}*{b}, 6*{a}*{d}*{b}, 6*{c}*{a}*{d}*{b}) == (6*{product})"


@pytest.mark.parametrize("text", [stages(S77, 4), windows()],
                         ids=["stages", "windows"])
def test_what_models_divide_is_read(text):
    _growth.growth(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize("guard", [
    "(L['x'].zero_ if True else 0)() is not None",
    "(True and L['x'].zero_)() is not None", "L['x']() == 1",
    "[0] * 3000000000 != 1", "(1, 2) * 3000000000 != 1",
    "('a' if True else 'b') * 3000000000 != 1",
    "L['x'].size() * 3000000000 != 1",
    "3000000000 * (True and [0]) != 1"])
def test_a_guard_calls_and_repeats_nothing(guard, files, tmp_path):
    archive = Archive(files["linear_torch"])
    archive.model["guards_code"] = [guard]
    archive.write(tmp_path / "bad.pt2")
    with pytest.raises(ValueError, match="is not arithmetic on sizes"):
        proviso.load(tmp_path / "bad.pt2")


# --- what one reader refuses, all refuse

def guarded(text):
    def damage(archive):
        archive.model["guards_code"] = [text]
    return damage


def autocast(position, argument):
    def damage(archive):
        node = nodes(archive, "wrap_with_autocast")[0]
        node["inputs"][position]["arg"] = argument
    return damage


def decided_by(name):
    def damage(archive):
        nodes(archive, "cond")[0]["inputs"][0]["arg"] = {
            "as_tensor": {"name": name}}
    return damage


def loop_tests_the_tensor(archive):
    graph = body_of(nodes(archive, "while_loop")[0])
    graph["outputs"] = [copy.deepcopy(graph["inputs"][1])]


def branch_writes(*views):
    """The true branch writes to its operand, or to a view of it."""
    def damage(archive):
        graph = nodes(archive, "cond")[0]["inputs"][1]["arg"]["as_graph"][
            "graph"]
        name = graph["inputs"][0]["as_tensor"]["name"]
        like = graph["tensor_values"][name]
        made = []
        for i, (operator, *more) in enumerate([*views, (
                "mul_.Tensor", ("other", {"as_float": 3.0}))]):
            graph["tensor_values"][f"made_{i}"] = like
            made.append({
                "target": f"torch.ops.aten.{operator}", "metadata": {},
                "inputs": [{"name": name, "arg": arg, "kind": 1}
                           for name, arg in [
                               ("self", {"as_tensor": {"name": name}}), *more]],
                "outputs": [{"as_tensor": {"name": f"made_{i}"}}]})
            name = f"made_{i}"
        graph["nodes"][:0] = made
    return damage


def value_called(name):
    def damage(archive):
        with_node(archive, "aten.relu.default",
                  ("self", {"as_tensor": {"name": "x"}}), result=name)
    return damage


def text_input(archive):
    module = archive.model["graph_module"]
    at = next(i for i, s in enumerate(module["signature"]["input_specs"])
              if "as_string" in s.get("constant_input", {}).get("value", {}))
    spec = module["signature"]["input_specs"][at]["constant_input"]
    spec["value"] = archive.graph["inputs"][at] = {"as_string": RUNS}


def nested_key(key):
    def damage(archive):
        call = archive.model["graph_module"]["module_call_graph"][0]
        text = call["signature"]["in_spec"]
        spec = json.loads(text)
        mapping = find_spec(spec[1]["children_spec"][0], "builtins.dict")
        keys = json.loads(mapping["context"])
        mapping["context"] = json.dumps([key, *keys[1:]])
        call["signature"]["in_spec"] = json.dumps(spec)
    return damage


def key_of_fx(key):
    """Its input in a dict of torch.fx."""
    def damage(archive):
        call = archive.model["graph_module"]["module_call_graph"][0]
        spec = json.loads(call["signature"]["in_spec"])
        inputs = spec[1]["children_spec"][0]["children_spec"]
        inputs[0] = {"type": FX + "dict", "context": json.dumps([key]),
                     "children_spec": [inputs[0]]}
        call["signature"]["in_spec"] = json.dumps(spec)
    return damage


def find_spec(spec, type_):
    if spec["type"] == type_:
        return spec
    return next(filter(None, (find_spec(child, type_)
                              for child in spec["children_spec"])), None)


def in_module_path(path):
    def damage(archive):
        for node in archive.graph["nodes"]:
            stack = node["metadata"].get("nn_module_stack", "")
            node["metadata"]["nn_module_stack"] = stack.replace(
                ",linear,", f",{path},")
    return damage


def preserved_call(keyword):
    """As if a module's call were kept, which had that keyword."""
    def damage(archive):
        calls = archive.model["graph_module"]["module_call_graph"]
        leaf = {"type": None, "context": None, "children_spec": []}
        spec = [1, {"type": "builtins.tuple", "context": "null",
                    "children_spec": [
                        {"type": "builtins.tuple", "context": "null",
                         "children_spec": []},
                        {"type": "builtins.dict",
                         "context": json.dumps([keyword]),
                         "children_spec": [leaf]}]}]
        calls.append({"fqn": "linear", "signature": {
            **calls[0]["signature"], "inputs": [], "outputs": [],
            "in_spec": json.dumps(spec), "forward_arg_names": None}})
    return damage


def module_called(name):
    def damage(archive):
        archive.model["graph_module"]["module_call_graph"].append(
            {"fqn": name, "signature": None})
    return damage


def gives(type_, context):
    def damage(archive):
        call = archive.model["graph_module"]["module_call_graph"][0]
        spec = json.loads(call["signature"]["out_spec"])
        spec[1].update(type=type_, context=context)
        call["signature"]["out_spec"] = json.dumps(spec)
    return damage


def endless_power(archive):
    with_node(archive, "aten.linalg_matrix_power.default", ("self", X),
              ("n", {"as_int": -2 ** 63}))


FX = "torch.fx.immutable_collections.immutable_"
SIZE = "L['x'].size()[0]"
REFUSED = [
    ("nested_torch", text_input, "writes it into code"),
    ("nested_torch", nested_key(RUNS), "writes it into code"),
    ("nested_torch", nested_key('K"'), "writes it into code"),
    ("linear_torch", key_of_fx('K"'), "writes it into code"),
    ("nested_torch", nested_key("K\x00"), "writes it into code"),
    ("linear_torch", guarded(f"L['x'][{RUNS!r}] == 3"), "writes it into code"),
    ("linear_torch", guarded("L['\\x22'].size()[0] == 3"),
     "writes it into code"),
    ("linear_proviso", in_module_path('training") and exec("1") or ("'),
     "writes it into code"),
    ("linear_proviso", in_module_path("a\\"), "writes it into code"),
    ("linear_torch", preserved_call("k=open('made','w')"),
     "torch cannot write in Python"),
    ("linear_torch", module_called(RUNS), "writes it into code"),
    ("linear_torch", gives(FX + "dict", "3"), "no list of keys"),
    ("linear_torch", gives(FX + "dict", '["a", "a", "c"]'), "twice"),
    ("linear_torch", gives(FX + "list", "3"), "null is right"),
    ("linear_torch", gives("NO_SERIALIZED_TYPE_NAME_FOUND", "null"),
     "without a name"),
    ("linear_torch", endless_power, "has no end"),
    ("linear_torch", guarded(f"Mod({SIZE}, 2) == 1"), "torch does not know"),
    ("linear_torch", guarded(f"PythonMod({SIZE}, 2) == 1"),
     "torch does not know"),
    ("linear_torch", guarded(f"Eq({SIZE}, 3)"), "torch does not know"),
    ("linear_torch", guarded(f"{SIZE} < oo"), "torch does not know"),
    ("linear_torch", guarded(f"{SIZE} > 1\nor True"), ""),
    ("linear_torch", guarded("0"), ""),
    ("linear_torch", guarded(""), ""),
    ("linear_torch", guarded("L['x'].size()[5] > 1"), ""),
    ("linear_torch", guarded("L['y'].size()[0] > 1"), ""),
    ("linear_torch", guarded(f"{SIZE} in (3, 4)"), ""),
    ("linear_torch", guarded(f"{SIZE} > 1 # c"), ""),
    ("linear_torch", value_called("a.b"), "is no name of a value"),
    ("linear_torch", value_called("def"), "is no name of a value"),
    ("modes_torch", autocast(0, {"as_string": "meta"}),
     "a device that has autocast"),
    ("modes_torch", autocast(0, {"as_string": "x"}),
     "a device that has autocast"),
    ("branches_torch", decided_by("sum_1"), "a tensor of one bool"),
    ("branches_torch", decided_by("x"), "a tensor of one bool"),
    ("loops_torch", loop_tests_the_tensor, "a tensor of one bool"),
    ("branches_torch", branch_writes(), "got from outside"),
    ("branches_torch", branch_writes(("detach.default",)), "got from outside"),
    ("branches_torch", branch_writes(
        ("reshape.default", ("shape", {"as_ints": [-1, 4]}))),
     "got from outside"),
]


@pytest.mark.parametrize("name, damage, message", REFUSED, ids=range(
    len(REFUSED)))
def test_what_one_reader_refuses_all_refuse(name, damage, message, files,
                                            tmp_path):
    archive = Archive(files[name])
    damage(archive)
    archive.write(tmp_path / "bad.pt2")
    for command in ("show", "check", "run"):
        done = tool(command, tmp_path / "bad.pt2")
        assert done.returncode == 3, (command, done.stdout, done.stderr)
        assert message in done.stderr
    with pytest.raises(ValueError) as refusal:
        proviso.load(tmp_path / "bad.pt2")
    assert str(refusal.value).isprintable()


def test_a_branch_may_write_to_its_own_tensors(files, tmp_path):
    archive = Archive(files["branches_torch"])
    branch_writes(("clone.default",))(archive)
    archive.write(tmp_path / "good.pt2")
    assert tool("run", tmp_path / "good.pt2").returncode == 0


@pytest.mark.filterwarnings("ignore:In CPU autocast")
@pytest.mark.parametrize("dtype", [None, 5, 6, 7, 8, 13])
def test_autocast_casts_as_torchs(dtype, files, tmp_path):
    """torch is off for a dtype that it does not cast to."""
    archive = Archive(files["modes_torch"])
    autocast(1, {"as_none": True} if dtype is None else
             {"as_scalar_type": dtype})(archive)
    archive.write(tmp_path / "p.pt2")
    x = torch.linspace(0.1, 1.7, 12).reshape(3, 4)
    torch.save([x], tmp_path / "in.pt")
    done = tool("run", tmp_path / "p.pt2", tmp_path / "in.pt",
                tmp_path / "out.pt")
    assert done.returncode == 0, done.stderr
    theirs = torch.export.load(tmp_path / "p.pt2").module()(x)
    ours = torch.load(tmp_path / "out.pt", weights_only=False)[0]
    loaded = proviso.load(tmp_path / "p.pt2").module()(x)
    for result in (ours, loaded):
        torch.testing.assert_close(result, theirs, rtol=0, atol=0)


def test_examples_have_the_keywords_of_the_program(files, tmp_path):
    archive = Archive(files["linear_torch"])
    call = archive.model["graph_module"]["module_call_graph"][0]["signature"]
    leaf = {"type": None, "context": None, "children_spec": []}
    call["in_spec"] = json.dumps([1, {
        "type": "builtins.tuple", "context": "null", "children_spec": [
            {"type": "builtins.tuple", "context": "null", "children_spec": []},
            {"type": "builtins.dict", "context": '["x"]',
             "children_spec": [leaf]}]}])
    archive.write(tmp_path / "p.pt2")
    with pytest.raises(ValueError, match=r"keywords \[\], .* takes \['x'\]"):
        proviso.load(tmp_path / "p.pt2")


# --- what a terminal shows

ORDERS = "\x1b]0;title\x07\x1b[2J\u202e"


def with_message(archive, holds):
    node = nodes(archive, "_assert_scalar")[0]
    node["inputs"][0]["arg"] = {"as_bool": holds}
    node["inputs"][1]["arg"] = {"as_string": ORDERS}


def with_traces(archive):
    for node in archive.graph["nodes"]:
        node["metadata"]["stack_trace"] = (
            f'  File "{ORDERS}.py", line 3, in {ORDERS}\n    {ORDERS}()')


@pytest.mark.parametrize("damage", [
    lambda a: with_message(a, True), lambda a: with_message(a, False),
    with_traces, lambda a: a.model.update(torch_version=ORDERS),
    value_called(ORDERS), guarded(f"{ORDERS} > 1"),
    lambda a: a.model.update({ORDERS: 3}),
    lambda a: a.graph["nodes"][0].update(target=ORDERS),
    lambda a: nodes(a, "_assert_scalar")[0].update(name=ORDERS)])
def test_a_file_orders_nothing_of_the_terminal(damage, files, tmp_path):
    archive = Archive(files["item_torch"])
    damage(archive)
    archive.write(tmp_path / "p.pt2")
    shown = ""
    for command in ("show", "check", "run"):
        done = tool(command, tmp_path / "p.pt2")
        shown += done.stdout + done.stderr
    try:
        program = proviso.load(tmp_path / "p.pt2")
        shown += str(program)
        program.module()(torch.tensor(2), torch.ones(4))
    except Exception as error:
        shown += str(error)
    assert not set(ORDERS) - set("]0;title[2J") & set(shown)
    assert shown.replace("\n", "").replace("\t", "").isprintable()


def test_the_places_of_guards_are_printable(tmp_path):
    class Even(torch.nn.Module):
        def forward(self, x):
            return x + 1 if x.shape[0] % 2 else x

    proviso.export(Even(), (torch.ones(3),), dynamic_shapes=(
        {0: torch.export.Dim.AUTO},)).save(tmp_path / "even.pt2")
    archive = Archive(tmp_path / "even.pt2")
    name = next(n for n in archive.records if n.endswith("proviso_guards.json"))
    places = json.loads(archive.records[name])
    places["guards"][0]["places"] = [
        {"file": ORDERS, "line": 3, "code": ORDERS}]
    archive.records[name] = json.dumps(places).encode()
    archive.write(tmp_path / "bad.pt2")
    program = proviso.load(tmp_path / "bad.pt2")
    shown = proviso.explain_guard(program, program.guards[0])
    shown += str(program.guards[0])
    assert shown.replace("\n", "").isprintable(), shown
