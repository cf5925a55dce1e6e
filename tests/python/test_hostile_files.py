"""Files that were made to break in: nodes that do not fit their operators,
operators that do more than compute, texts and pickles that run code."""

import copy
import io
import json
import os
import pickle
import random
import re
import sys
import time
import types
import zipfile

import pytest
import torch

import model_files
import proviso
import wrong_fields
from test_pt2_reading import Archive, refused, tool


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    paths = model_files.write(tmp_path_factory.mktemp("files"))
    return {path.stem: path for path in paths}


def nodes(archive, target):
    found = [n for n in archive.graph["nodes"] if target in n["target"]]
    assert found, target
    return found


# --- nodes: (program, what is done to it, what the error says)

def one_operand(archive):
    del nodes(archive, "_operator.mul")[0]["inputs"][1]


def two_hundred_outputs(archive):
    node = nodes(archive, "_operator.mul")[0]
    node["outputs"] *= 200


def tensor_operand(archive):
    nodes(archive, "_operator.mul")[0]["inputs"][0]["arg"] = {
        "as_tensor": {"name": "x"}}


def many_sums(archive):
    node = nodes(archive, "_operator.mul")[0]
    name = node["outputs"][0]["as_sym_int"]["as_name"]
    table = archive.graph["sym_int_values"]
    for i in range(200):
        table[f"more_{i}"] = table[name]
        node["outputs"].append({"as_sym_int": {"as_name": f"more_{i}"}})


def no_branches(archive):
    del nodes(archive, "higher_order.cond")[0]["inputs"][1:3]


def thousand_outputs(archive):
    node = nodes(archive, "higher_order.cond")[0]
    values = archive.graph["tensor_values"]
    entry = next(iter(values.values()))
    names = [f"more_{i}" for i in range(1000)]
    values.update(dict.fromkeys(names, entry))
    node["outputs"] = [{"as_tensor": {"name": name}} for name in names]


def body_of(node):
    return next(i["arg"]["as_graph"]["graph"] for i in node["inputs"]
                if "as_graph" in i["arg"])


def branch_gives_less(archive):
    body_of(nodes(archive, "higher_order.cond")[0])["outputs"].pop()


def loop_gives_less(archive):
    node = nodes(archive, "higher_order.while_loop")[0]
    node["inputs"][1]["arg"]["as_graph"]["graph"]["outputs"].pop()


def loop_tests_nothing(archive):
    body_of(nodes(archive, "higher_order.while_loop")[0])["outputs"] = []


def no_rows(archive):
    node = nodes(archive, "higher_order.map_impl")[0]
    node["inputs"][1]["arg"] = {"as_tensors": []}


def scan_gives_less(archive):
    body_of(nodes(archive, "higher_order.scan")[0])["outputs"] = []


def block_gives_less(archive):
    body_of(nodes(archive, "wrap_with_set_grad_enabled")[0])["outputs"] = []


def block_gives_none(archive):
    body_of(nodes(archive, "wrap_with_set_grad_enabled")[0])["outputs"] = [
        {"as_none": True}]


def block_gives_a_list(archive):
    nodes(archive, "wrap_with_autocast")[0].update(
        is_hop_single_tensor_return=True)


def block_takes_less(archive):
    nodes(archive, "wrap_with_autocast")[0]["inputs"].pop()


def dtype(code):
    def damage(archive):
        for given in nodes(archive, "aten.to.dtype")[0]["inputs"]:
            if given["name"] == "dtype":
                given["arg"] = code
    damage.__name__ = f"dtype_{code}"
    return damage


def fewer_returns(archive):
    nodes(archive, "aten.split")[0]["outputs"] = []


def list_for_tensor(archive):
    node = nodes(archive, "aten.linear")[0]
    node["outputs"] = [{"as_tensors": [node["outputs"][0]["as_tensor"]]}]


def number_for_tensor(archive):
    node = nodes(archive, "aten.linear")[0]
    name = node["outputs"][0]["as_tensor"]["name"]
    archive.graph["sym_int_values"][name] = {"as_int": 3}
    node["outputs"] = [{"as_sym_int": {"as_name": name}}]


def defined_twice(archive):
    node = nodes(archive, "aten.split")[0]
    names = node["outputs"][0]["as_tensors"]
    names[1] = names[0]


def negative_size(archive):
    for value in archive.graph["tensor_values"].values():
        value["sizes"] = [{"as_int": -4} for _ in value["sizes"]]


def boolean_size(archive):
    for value in archive.graph["tensor_values"].values():
        value["sizes"] = [{"as_bool": True} for _ in value["sizes"]]


def swapped_signature(archive):
    specs = archive.model["graph_module"]["signature"]["input_specs"]
    specs[0], specs[1] = specs[1], specs[0]


def swapped_outputs(archive):
    specs = archive.model["graph_module"]["signature"]["output_specs"]
    specs[0], specs[1] = specs[1], specs[0]


def calls(target, **arguments):
    """One node more: of this operator, on x and these integers."""
    def damage(archive):
        given = [("self", {"as_tensor": {"name": "x"}})]
        given += [(name, {"as_ints": v} if isinstance(v, list)
                   else {"as_int": v}) for name, v in arguments.items()]
        with_node(archive, target, *given)
    damage.__name__ = target
    return damage


def key_twice(archive):
    text = json.dumps(archive.model)
    archive.model = None
    archive.records[archive.model_name] = (
        '{"guards_code": [], ' + text[1:]).encode()


def of_kind(kind, at=1):
    """The argument is given by its place (1), by its name (2), or as torch
    guesses, which is another call: slice(x, 0, end, start=0)."""
    def damage(archive):
        nodes(archive, "aten.to.dtype")[0]["inputs"][at]["kind"] = kind
    damage.__name__ = f"of_kind_{kind}"
    return damage


def operand_by_name(archive):
    node = nodes(archive, "higher_order.cond")[0]
    node["inputs"][0].update(name="pred", kind=2)


def asserts_a_number(archive):
    with_node(archive, "aten._assert_scalar.default",
              ("self", {"as_int": 2}), ("assert_msg", {"as_string": "is 2"}),
              count=0)


NODES = [
    ("linear_torch", of_kind(3), "argument 'dtype' is of kind 3"),
    ("linear_torch", of_kind(0), "argument 'dtype' is of kind 0"),
    ("linear_torch", of_kind(2, at=0), "or 'dtype' twice"),
    ("branches_torch", operand_by_name, "'pred' must be given by its place"),
    ("linear_torch", asserts_a_number, "what it asserts is the constant 2"),
    ("sizes_torch", one_operand, "it has 1 inputs where the operator takes 2"),
    ("sizes_torch", two_hundred_outputs, "defined twice"),
    ("sizes_torch", many_sums, "it has 201 outputs"),
    ("sizes_torch", tensor_operand, "argument 0 must be a number"),
    ("branches_torch", no_branches, "it has 2 inputs where the operator"),
    ("branches_torch", thousand_outputs, "its outputs are 1000 values"),
    ("branches_torch", branch_gives_less, "where the operator needs a tensor"),
    ("loops_torch", loop_gives_less, "where the operator needs a tensor, a t"),
    ("loops_torch", loop_tests_nothing, "has 0 outputs"),
    ("rows_torch", no_rows, "must be a list of one tensor or more"),
    ("rows_torch", scan_gives_less, "gives none where the operator needs a t"),
    ("modes_torch", block_gives_less, "its body gives 0 values"),
    ("modes_torch", block_gives_none, "used before it is defined"),
    ("modes_torch", block_takes_less, "takes"),
    ("modes_torch", block_gives_a_list, "and its graph gives a list"),
    ("linear_torch", dtype({"as_scalar_type": 1000}), "unknown dtype code 1000"),
    ("linear_torch", dtype({"as_scalar_type": -1}), "unknown dtype code -1"),
    ("linear_torch", dtype({"as_int": 1000}), "must be ScalarType"),
    ("linear_torch", fewer_returns, "it has 0 outputs where the operator ret"),
    ("linear_torch", list_for_tensor, "output 0 must be Tensor"),
    ("linear_torch", number_for_tensor, "output 0 must be Tensor"),
    ("linear_torch", defined_twice, "is defined twice"),
    ("linear_torch", negative_size, "give a size >= 0"),
    ("linear_torch", boolean_size, "'as_bool' is not known of a SymInt"),
    ("linear_torch", swapped_signature, "and the signature says that 'p_lin"),
    ("linear_torch", swapped_outputs, "output 0 is"),
    ("linear_torch", calls("aten.im2col.default", kernel_size=[],
                           dilation=[2, 2], padding=[1, 1], stride=[1, 1]),
     "argument 'kernel_size' takes 2 values, found 0"),
    ("linear_torch", key_twice, "the key 'guards_code' is there twice"),
]


@pytest.mark.parametrize("name, damage, message", NODES,
                         ids=lambda v: getattr(v, "__name__", None))
def test_nodes_that_do_not_fit(name, damage, message, files, tmp_path):
    archive = Archive(files[name])
    damage(archive)
    archive.write(tmp_path / "bad.pt2")
    refused(tmp_path / "bad.pt2", message)


@pytest.mark.parametrize("target, arguments", [
    ("aten.pixel_shuffle.default", {"upscale_factor": 0}),
    ("aten.pixel_shuffle.default", {"upscale_factor": 2 ** 32}),
    ("aten.im2col.default", {"kernel_size": [2, 2], "dilation": [1, 1],
                             "padding": [1, 1], "stride": [0, 0]}),
    ("aten.unfold.default", {"dimension": 0, "size": 2, "step": 0}),
    ("aten.narrow.default", {"dim": 99, "start": 0, "length": 2 ** 62}),
])
def test_arguments_that_divide_by_zero(target, arguments, files, tmp_path):
    """The shape functions say no; no kernel is asked."""
    archive = Archive(files["linear_torch"])
    calls(target, **arguments)(archive)
    archive.write(tmp_path / "bad.pt2")
    done = tool("run", tmp_path / "bad.pt2")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "ended the process" not in done.stderr, done.stderr
    assert target.rpartition(".")[0] in done.stderr, done.stderr
    checked = tool("check", tmp_path / "bad.pt2")
    assert "not traced to its end: node 11" in checked.stdout, checked.stdout


def ends_well(command, path):
    """What it says; by no crash."""
    done = tool(command, path)
    assert "ended the process" not in done.stderr, done.stderr
    assert "std::" not in done.stderr and done.returncode >= 0, done.stderr
    return done.stdout + done.stderr


# Kernels and shape functions trusted these; `after` data, nothing had looked.
@pytest.mark.parametrize("target, arguments, message", [
    ("aten.empty_permuted.default",
     [("size", {"as_ints": [8, 1, 4]}), ("physical_layout", {"as_ints": [3, 4]})],
     "is no order of 3 dimensions"),
    ("aten.avg_pool1d.default",
     [("self", "x"), ("kernel_size", {"as_ints": [3, 1, 64, 4]})],
     "a list of 1 values, but got kernel_size=[3, 1, 64, 4]"),
    ("aten.max_pool1d.default",
     [("self", "x"), ("kernel_size", {"as_ints": [2]}),
      ("stride", {"as_ints": [1]}), ("padding", {"as_ints": []})],
     "a list of 1 values, but got padding=[]"),
    ("aten.avg_pool1d.default",
     [("self", "x"), ("kernel_size", {"as_ints": [2 ** 62]})],
     "does not fit into 32 bits"),
    ("aten.upsample_nearest1d.vec",
     [("input", "cube"), ("output_size", {"as_none": True}),
      ("scale_factors", {"as_floats": []})],
     "scale_factors equals to 1, but got size 0"),
    ("aten.movedim.intlist",
     [("self", "x"), ("source", {"as_ints": [0, 1]}),
      ("destination", {"as_ints": [0, 0]})],
     "repeated dim"),
    ("aten._fft_r2c.default",
     [("self", "x"), ("dim", {"as_ints": [28, 4]}),
      ("normalization", {"as_int": 0}), ("onesided", {"as_bool": True})],
     "dim 28 is not within"),
    ("aten._fft_r2c.default",
     [("self", "x"), ("dim", {"as_ints": [1, 1]}),
      ("normalization", {"as_int": 0}), ("onesided", {"as_bool": True})],
     "dim 1 is named twice"),
    ("aten._native_batch_norm_legit.no_stats",
     [("input", "x"), ("weight", {"as_none": True}),
      ("bias", {"as_none": True}), ("training", {"as_bool": False}),
      ("momentum", {"as_float": 0.5}), ("eps", {"as_float": 0.5})],
     "must be defined in evaluation mode"),
    ("aten.triu_indices.default",
     [("row", {"as_int": 2 ** 62}), ("col", {"as_int": 2 ** 62})],
     "indices are more than a tensor can have"),
    ("aten.view.default",
     [("self", "x"), ("size", {"as_ints": [4, 2 ** 62]})],
     "does not fit into 64 bits"),
    ("aten.smooth_l1_loss.default",
     [("self", "x"), ("target", "x"), ("reduction", {"as_int": 7})],
     "7 is not a valid value for reduction"),
    ("aten._weight_norm_interface.default",
     [("v", "cube"), ("g", "x"), ("dim", {"as_int": 1})],
     "is the first or the last, not 1 of 3"),
    ("aten._weight_norm_interface.default",
     [("v", "x"), ("g", "x"), ("dim", {"as_int": 0})],
     "for the norms of dimension 0"),
], ids=lambda v: v if isinstance(v, str) and v.startswith("aten") else None)
def test_arguments_that_kernels_trust(target, arguments, message, files,
                                      tmp_path):
    archive = Archive(files["linear_torch"])
    with_call(archive, target, arguments)
    archive.write(tmp_path / "bad.pt2")
    said = [ends_well(command, tmp_path / "bad.pt2")
            for command in ("run", "check")]
    assert all(message in text for text in said), said
    with pytest.raises(Exception, match=re.escape(message)):
        proviso.load(tmp_path / "bad.pt2")  # looks at every call, too


def test_what_hangs_on_data_is_looked_at_before_a_kernel_is(files, tmp_path):
    archive = Archive(files["branches_torch"])
    with_call(archive, "aten._fft_r2c.default",
              [("self", "x"), ("dim", {"as_ints": [28, 4]}),
               ("normalization", {"as_int": 0}),
               ("onesided", {"as_bool": True})])
    archive.write(tmp_path / "bad.pt2")
    assert "dim 28 is not within" in ends_well("run", tmp_path / "bad.pt2")


@pytest.mark.parametrize("degree", [
    ("n_scalar", {"as_int": 2 ** 40}), ("default", {"as_tensor": {"name": "n"}})
], ids=lambda degree: degree[0])
@pytest.mark.parametrize("operator", ["laguerre_polynomial_l",
                                      "legendre_polynomial_p"])
def test_a_kernel_takes_no_endless_steps(operator, degree, files, tmp_path):
    archive = Archive(files["linear_torch"])
    with_node(archive, "aten.full_like.default", ("self", X),
              ("fill_value", {"as_int": 2 ** 40}), result="n")
    with_node(archive, f"aten.special_{operator}.{degree[0]}", ("x", X),
              ("n", degree[1]))
    archive.write(tmp_path / "bad.pt2")
    assert "a number of steps; at most" in ends_well(
        "run", tmp_path / "bad.pt2")


@pytest.mark.parametrize("operator, least", [
    ("aten.special_zeta.default", ()),
    ("aten.polygamma.default", (("n", {"as_int": 2}),))],
    ids=["zeta", "polygamma"])
def test_a_kernel_does_not_count_up_from_minus_infinity(operator, least, files,
                                                        tmp_path):
    archive = Archive(files["linear_torch"])
    with_node(archive, "aten.full_like.default", ("self", X),
              ("fill_value", {"as_float": -2.0 ** 51}), result="q")
    q = {"as_tensor": {"name": "q"}}
    with_node(archive, operator, *least, ("self", q if least else X),
              *(() if least else [("other", q)]))
    archive.write(tmp_path / "bad.pt2")
    assert "a number of steps; at most" in ends_well(
        "run", tmp_path / "bad.pt2")


def test_many_rows_of_a_triangle_are_counted_at_once(files, tmp_path):
    archive = Archive(files["linear_torch"])
    with_node(archive, "aten.triu_indices.default",
              ("row", {"as_int": 2 ** 63 - 1}), ("col", {"as_int": 2}))
    archive.write(tmp_path / "bad.pt2")
    ends_well("check", tmp_path / "bad.pt2")


def with_call(archive, target, arguments):
    with_node(archive, "aten.unsqueeze.default",
              ("self", X), ("dim", {"as_int": 0}))
    given = [(name, {"as_tensor": {"name": {"cube": "made"}.get(v, v)}}
              if isinstance(v, str) else v) for name, v in arguments]
    with_node(archive, target, *given, result="last",
              count={"aten._native_batch_norm_legit.no_stats": 3,
                     "aten._weight_norm_interface.default": 2,
                     "aten.mkldnn_rnn_layer.default": 4}.get(target, 1))


@pytest.mark.parametrize("mode, message", [
    (3, "mode is 3; 2, an LSTM, is taken"),
    (2, "weight0 has sizes [3, 4] where the others need [16, 4]"),
])
def test_an_lstm_layer_is_looked_at_before_it_runs(mode, message, files,
                                                   tmp_path):
    archive = Archive(files["linear_torch"])
    with_call(archive, "aten.mkldnn_rnn_layer.default", [
        ("input", "cube"), *[(f"weight{i}", "x") for i in range(4)],
        ("hx_", "cube"), ("cx_", "cube"), ("reverse", {"as_bool": False}),
        ("batch_sizes", {"as_ints": []}), ("mode", {"as_int": mode}),
        ("hidden_size", {"as_int": 4}), ("num_layers", {"as_int": 1}),
        ("has_biases", {"as_bool": True}),
        ("bidirectional", {"as_bool": False}),
        ("batch_first", {"as_bool": False}), ("train", {"as_bool": False})])
    archive.write(tmp_path / "bad.pt2")
    assert message in ends_well("run", tmp_path / "bad.pt2")


def test_a_gradient_that_nobody_asked_for_is_no_argument(files, tmp_path):
    archive = Archive(files["linear_torch"])
    with_node(archive, "aten.native_layer_norm_backward.default",
              ("grad_out", X), ("input", X),
              ("normalized_shape", {"as_ints": [4]}), ("mean", X), ("rstd", X),
              ("weight", {"as_none": True}), ("bias", {"as_none": True}),
              ("output_mask", {"as_bools": [True, False, False]}), count=3)
    with_node(archive, "aten.relu.default",
              ("self", {"as_tensor": {"name": "made_1"}}), result="last")
    archive.write(tmp_path / "bad.pt2")
    for command in "check", "run":
        assert "argument 'self' must be a tensor" in ends_well(
            command, tmp_path / "bad.pt2")


@pytest.mark.parametrize("layout", range(1, 7))
def test_a_kernel_of_another_layout_is_not_called(layout, files, tmp_path):
    archive = Archive(files["linear_torch"])
    with_node(archive, "aten.zeros.default", ("size", {"as_ints": [3, 3]}),
              ("layout", {"as_layout": layout}))
    archive.graph["nodes"][-1]["inputs"][1]["kind"] = 2  # by its name
    archive.write(tmp_path / "bad.pt2")
    for command in "show", "run":
        assert "only strided tensors can be read" in ends_well(
            command, tmp_path / "bad.pt2")


@pytest.mark.parametrize("operator", [
    "aten._thnn_differentiable_gru_cell_backward.default",
    "aten._batch_norm_impl_index_backward.default"])
def test_parts_of_gradients_are_no_computation(operator, files, tmp_path):
    """They are composed of operators, and trust their arguments all the same."""
    archive = Archive(files["linear_torch"])
    with_node(archive, operator, ("self", X))
    archive.write(tmp_path / "p.pt2")
    refused(tmp_path / "p.pt2", "allow it by its name")


def test_a_loop_without_end_is_stopped(files, tmp_path):
    archive = Archive(files["loops_torch"])
    body = nodes(archive, "higher_order.while_loop")[0]["inputs"][1]["arg"]
    step = body["as_graph"]["graph"]["nodes"][0]
    step["inputs"][1]["arg"] = {"as_int": 0}
    archive.write(tmp_path / "p.pt2")
    done = tool("run", "--loop-steps=1000", tmp_path / "p.pt2")
    assert done.returncode == 3
    assert "it has not ended after 1000 steps" in done.stderr
    assert "--loop-steps=N" in done.stderr
    good = tool("run", "--loop-steps=3", files["loops_torch"])
    assert good.returncode == 0, good.stderr
    few = tool("run", "--loop-steps=2", files["loops_torch"])
    assert "after 2 steps" in few.stderr
    wrong = tool("run", "--loop-steps=-1", files["loops_torch"])
    assert wrong.returncode == 3 and "expected a number" in wrong.stderr


def test_a_long_text_of_a_file_is_cut(files, tmp_path):
    archive = Archive(files["item_torch"])
    node = nodes(archive, "_assert_scalar")[0]
    node["inputs"][0]["arg"] = {"as_bool": False}
    node["inputs"][1]["arg"] = {"as_string": "long " * 2000}
    archive.write(tmp_path / "p.pt2")
    done = tool("run", tmp_path / "p.pt2")
    assert done.returncode == 3 and "long long" in done.stderr
    assert len(done.stderr) < 4000 and "characters more" in done.stderr


def test_a_stride_that_no_tensor_has(files, tmp_path):
    archive = Archive(files["attention_proviso"])
    value = archive.graph["tensor_values"]["ids"]
    value["strides"][0]["as_expr"]["expr_str"] = "PowByNatural(2, 70)"
    archive.write(tmp_path / "p.pt2")
    done = tool("run", tmp_path / "p.pt2")
    assert done.returncode == 3 and "optional" not in done.stderr, done.stderr
    assert "stride must be a 64-bit integer" in done.stderr, done.stderr


# --- operators that do more than compute

def with_node(archive, target, *arguments, result="made", count=1):
    graph = archive.graph
    entry = next(iter(graph["tensor_values"].values()))
    names = [result, *(f"{result}_{i}" for i in range(1, count))][:count]
    graph["tensor_values"].update(dict.fromkeys(names, entry))
    graph["nodes"].append({
        "target": f"torch.ops.{target}",
        "inputs": [{"name": name, "arg": value, "kind": 1}
                   for name, value in arguments],
        "outputs": [{"as_tensor": {"name": name}} for name in names],
        "metadata": {}})


X = {"as_tensor": {"name": "x"}}
REACHING = {
    "aten.from_file": ("aten.from_file.default",
                       ("filename", {"as_string": "SECRET"}),
                       ("shared", {"as_bool": True}), ("size", {"as_int": 1})),
    "aten.set_": ("aten.set_.source_Tensor", ("self", X), ("source", X)),
    "aten._sparse_coo_tensor_unsafe": (
        "aten._sparse_coo_tensor_unsafe.default", ("indices", X),
        ("values", X), ("size", {"as_ints": [4, 4]})),
    "aten.mkldnn_linear": (
        "aten.mkldnn_linear.default", ("self", X), ("weight", X)),
    "aten.choose_qparams_optimized": (
        "aten.choose_qparams_optimized.default", ("input", X),
        ("numel", {"as_int": 4}), ("n_bins", {"as_int": 2 ** 63 - 1}),
        ("ratio", {"as_float": 0.5}), ("bit_width", {"as_int": 8})),
}


@pytest.mark.parametrize("operator", REACHING)
def test_operators_are_computation_unless_asked_for(operator, files, tmp_path):
    archive = Archive(files["linear_torch"])
    target, *arguments = REACHING[operator]
    secret = tmp_path / "secret"
    for _, value in arguments:
        if value.get("as_string") == "SECRET":
            value["as_string"] = str(secret)
    with_node(archive, target, *arguments,
              count=2 if "qparams" in target else 1)
    archive.write(tmp_path / "p.pt2")
    for command in ("show", "check", "run"):
        done = tool(command, tmp_path / "p.pt2")
        assert done.returncode == 3 and "allow it by its name" in done.stderr
    assert operator in tool("show", "--allow", operator,
                            tmp_path / "p.pt2").stdout
    assert not secret.exists()
    with pytest.raises(ValueError, match="allow it by its name"):
        proviso.load(tmp_path / "p.pt2")


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


# --- texts that SymPy would take hours for

S77 = "Symbol('s77', positive=True, integer=True)"
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


# torch writes these into Python between quotes.
RUNS = """' or open("made", "w") or '"""


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
