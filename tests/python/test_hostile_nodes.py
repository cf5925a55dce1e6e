"""Files whose nodes do not fit their operators, whose arguments kernels would
trust, or whose operators do more than compute."""

import json
import re

import pytest

import proviso
from hostile_files import X, body_of, calls, dtype, ends_well, nodes, with_node
from test_pt2_reading import Archive, refused, tool


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
