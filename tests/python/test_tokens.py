"""Files in which torch passes tokens on, so that calls without results stay in
order (torch.ops.higher_order.with_effects): torch's decomposition of
torch.linalg.inv.  They are read as the calls alone, and what is no token is
none."""

import pytest
import torch

import model_files
import proviso
from test_pt2_reading import Archive, tool

NAMES = ("token", "with_effects", "_linalg_check_errors")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokens")
    paths = model_files.write(folder, by=("torch",))
    return next(path for path in paths if path.stem == "inverse_torch")


def test_the_calls_are_read(file, tmp_path):
    program = proviso.load(file)
    assert all(name not in str(program) for name in NAMES[:2])
    assert program.operators.count(
        "aten._linalg_check_errors.default") == 2
    for count in (4, 1, 0, 7):
        x = torch.randn(count, 3, 3) + 5 * torch.eye(3)
        again, size = program.module()(x)
        assert torch.allclose(again, x, atol=1e-3) and size == count + 1
    with pytest.raises(RuntimeError, match="singular"):
        program.module()(torch.zeros(2, 3, 3))
    program.save(tmp_path / "again.pt2")
    torch.export.load(tmp_path / "again.pt2")
    shown = tool("show", file)
    assert shown.returncode == 0 and "token" not in shown.stdout
    assert tool("check", file).returncode == 0


def nodes(archive):
    return [node for node in archive.graph["nodes"]
            if node["target"].endswith("with_effects")]


def signature(archive):
    return archive.model["graph_module"]["signature"]


def a_tensor_for_a_token(archive):
    nodes(archive)[0]["inputs"][0]["arg"] = {"as_tensor": {"name": "x"}}


def a_token_for_a_tensor(archive):
    nodes(archive)[0]["inputs"][2]["arg"] = {"as_tensor": {"name": "token"}}


def a_token_made_twice(archive):
    first, second = nodes(archive)
    second["outputs"][0] = first["outputs"][0]


def a_token_called_as_a_tensor(archive):
    nodes(archive)[0]["outputs"][0] = {"as_tensor": {"name": "x"}}


def no_token(archive):
    nodes(archive)[0]["outputs"] = []


def a_token_that_is_none(archive):
    archive.graph["tensor_values"]["token"]["dtype"] = 99


def no_such_operator(archive):
    nodes(archive)[0]["inputs"][1]["arg"] = {"as_operator": "os.system"}


def an_operator_that_reads_files(archive):
    nodes(archive)[0]["inputs"][1]["arg"] = {
        "as_operator": "torch.ops.aten.from_file.default"}


def an_argument_less(archive):
    del nodes(archive)[0]["inputs"][3]


def another_type_of_argument(archive):
    nodes(archive)[0]["inputs"][3]["arg"] = {"as_int": 3}


def a_result_more(archive):
    nodes(archive)[0]["outputs"].append({"as_none": True})


def an_input_that_is_a_token(archive):
    signature(archive)["input_specs"][1] = {"token": {"arg": {"name": "x"}}}


def a_token_that_is_an_input(archive):
    signature(archive)["input_specs"][0] = {
        "user_input": {"arg": {"as_tensor": {"name": "token"}}}}


def a_result_that_is_a_token(archive):
    specs = signature(archive)["output_specs"]
    name = archive.graph["outputs"][1]["as_tensor"]["name"]
    specs[1] = {"token": {"arg": {"name": name}}}


def a_token_less(archive):
    """A tensor for it, in the graph and the signature."""
    value = archive.graph["outputs"][1]
    archive.graph["outputs"][0] = value
    signature(archive)["output_specs"][0] = {
        "token": {"arg": value["as_tensor"]}}


WRONG = {
    a_tensor_for_a_token: "takes a token and an operator",
    a_token_for_a_tensor: "'token' is used before it is defined",
    a_token_made_twice: "is defined twice",
    a_token_called_as_a_tensor: "'x' is defined twice",
    no_token: "takes a token and an operator",
    a_token_that_is_none: "unknown dtype code 99",
    no_such_operator: "it calls 'os.system', no operator",
    an_operator_that_reads_files: "from_file",
    an_argument_less: "the argument 'api_name' is missing",
    another_type_of_argument: "argument 'api_name' must be str",
    a_result_more: "outputs",
    an_input_that_is_a_token: "0 inputs that are the caller's",
    a_token_that_is_an_input: "2 inputs that are the caller's",
    a_result_that_is_a_token: "the signature has 1 results",
    a_token_less: "a token, which it is not",
}


@pytest.mark.parametrize("damage", WRONG, ids=lambda d: d.__name__)
def test_what_is_no_token_is_refused(damage, file, tmp_path):
    archive = Archive(file)
    damage(archive)
    path = tmp_path / "wrong.pt2"
    archive.write(path)
    for command in ("check", "show"):
        done = tool(command, path)
        assert done.returncode == 3, done.stdout + done.stderr
        assert WRONG[damage] in done.stderr, done.stderr
    with pytest.raises(ValueError, match="wrong.pt2"):
        proviso.load(path)
