"""The signature of a .pt2: its inputs in any order, each the kind of state that
the file holds under its name."""

import io

import pytest
import torch
from torch import nn
from torch.export import Dim


import proviso
from test_pt2_reading import Archive, built, tool  # noqa: F401


class Mixed(nn.Module):
    """A parameter, buffers of both kinds and a constant, of equal sizes."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.weight = nn.Parameter(torch.randn(4))
        self.register_buffer("shift", torch.randn(4))
        self.register_buffer("scratch", torch.randn(4), persistent=False)
        self.table = torch.randn(4)

    def forward(self, x, y):
        return (x * self.weight + self.shift - y) / self.scratch + self.table


def written(by, path):
    shapes = {"x": {0: Dim.AUTO}, "y": {0: Dim.AUTO}}
    examples = (torch.randn(3, 4), torch.randn(3, 4))
    if by == "proviso":
        proviso.export(Mixed(), examples, dynamic_shapes=shapes).save(path)
    else:
        torch.export.save(torch.export.export(
            Mixed(), examples, dynamic_shapes=shapes, strict=False), path)
    return Archive(path)


BY = pytest.mark.parametrize("by", ["proviso", "torch"])


def specs(archive):
    return archive.model["graph_module"]["signature"]["input_specs"]


def the(archive, kind, **fields):
    """The first spec of a kind that has these fields."""
    for spec in specs(archive):
        if kind in spec and all(spec[kind].get(k) == v
                                for k, v in fields.items()):
            return spec
    raise AssertionError(kind)


# --- any order

ORDERS = {
    "users first": lambda n: [*range(n - 2, n), *range(n - 2)],
    "a user in the middle": lambda n: [0, n - 2, *range(1, n - 2), n - 1],
    "reversed": lambda n: [*range(n - 3, -1, -1), n - 2, n - 1],
}


@BY
@pytest.mark.parametrize("order", ORDERS)
def test_inputs_are_bound_by_the_signature(order, by, tmp_path):
    archive = written(by, tmp_path / "good.pt2")
    places = ORDERS[order](len(specs(archive)))
    for owner, key in ((archive.graph, "inputs"), (
            archive.model["graph_module"]["signature"], "input_specs")):
        owner[key] = [owner[key][i] for i in places]
    path = tmp_path / "other.pt2"
    archive.write(path)
    given = [torch.randn(5, 4), torch.randn(5, 4)]
    expected = Mixed()(*given)
    torch.save(given, tmp_path / "in.pt")
    done = tool("run", path, tmp_path / "in.pt", tmp_path / "out.pt")
    assert done.returncode == 0, done.stderr
    found = torch.load(tmp_path / "out.pt", weights_only=False)
    torch.testing.assert_close(found[0], expected)
    for program in (torch.export.load(path), proviso.load(path)):
        torch.testing.assert_close(program.module()(*given), expected)
    checked = tool("check", path)
    assert checked.returncode == 0, checked.stdout + checked.stderr


# --- the right kind

def a_buffer_is_called_a_parameter(archive):
    spec = the(archive, "buffer", buffer_name="shift")
    body = spec.pop("buffer")
    spec["parameter"] = {"arg": body["arg"], "parameter_name": "shift"}


def a_parameter_and_a_buffer_are_swapped(archive):
    the(archive, "parameter")["parameter"]["parameter_name"] = "shift"
    the(archive, "buffer", buffer_name="shift")["buffer"]["buffer_name"] = (
        "weight")


def a_buffer_is_said_not_to_persist(archive):
    the(archive, "buffer", buffer_name="shift")["buffer"]["persistent"] = False


def a_parameter_is_called_a_constant(archive):
    spec = the(archive, "parameter")
    body = spec.pop("parameter")
    spec["tensor_constant"] = {"arg": body["arg"],
                               "tensor_constant_name": "weight"}


def a_name_is_unknown(archive):
    the(archive, "parameter")["parameter"]["parameter_name"] = "height"


def specs_are_in_another_order(archive):
    specs(archive).reverse()


def a_spec_is_missing(archive):
    specs(archive).pop(0)


def an_output_is_another_value(archive):
    output = archive.model["graph_module"]["signature"]["output_specs"][0]
    output["user_output"]["arg"]["as_tensor"]["name"] = "x"


DAMAGES = {
    a_buffer_is_called_a_parameter: "calls 'shift' a parameter",
    a_parameter_and_a_buffer_are_swapped: "calls 'shift' a parameter",
    a_buffer_is_said_not_to_persist: "calls 'shift' a buffer that is not",
    a_parameter_is_called_a_constant: "calls 'weight' a constant",
    a_name_is_unknown: "no tensor 'height'",
    specs_are_in_another_order: "in the graph, and the signature says that",
    a_spec_is_missing: "the signature has",
    an_output_is_another_value: "signature says that 'x' is there (user_output)",
}


@BY
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda d: d.__name__)
def test_a_signature_that_is_not_the_files_is_refused(damage, by, tmp_path):
    archive = written(by, tmp_path / "good.pt2")
    damage(archive)
    archive.write(tmp_path / "bad.pt2")
    for command in ("check", "run", "show"):
        done = tool(command, tmp_path / "bad.pt2")
        assert done.returncode == 3, done.stdout + done.stderr
        assert DAMAGES[damage] in done.stderr, done.stderr
        assert str(tmp_path / "bad.pt2") in done.stderr
    with pytest.raises(Exception):
        proviso.load(tmp_path / "bad.pt2")


def test_a_constant_cannot_stand_for_a_value(tmp_path):
    archive = written("proviso", tmp_path / "good.pt2")
    for spec in specs(archive):
        if "user_input" in spec:
            spec.clear()
            spec["constant_input"] = {"name": "x", "value": {"as_int": 3}}
            break
    archive.write(tmp_path / "bad.pt2")
    done = tool("run", tmp_path / "bad.pt2")
    assert done.returncode == 3 and "is 'x' in the graph" in done.stderr


def test_a_tensor_of_other_sizes_is_refused(tmp_path):
    archive = written("proviso", tmp_path / "good.pt2")
    name = the(archive, "parameter")["parameter"]["arg"]["name"]
    archive.graph["tensor_values"][name]["sizes"] = [{"as_int": 2}]
    archive.graph["tensor_values"][name]["strides"] = [{"as_int": 1}]
    archive.write(tmp_path / "bad.pt2")
    done = tool("check", tmp_path / "bad.pt2")
    assert done.returncode == 3, done.stdout
    assert "'weight' is f32[4], the graph says f32[2]" in done.stderr


def test_the_same_state_after_a_round_trip():
    ep = proviso.export(Mixed(), (torch.randn(3, 4), torch.randn(3, 4)))
    buffer = io.BytesIO()
    ep.save(buffer)
    buffer.seek(0)
    again = proviso.load(buffer)
    for what in ("parameters", "buffers", "non_persistent_buffers"):
        assert getattr(again.graph_signature, what) == getattr(
            ep.graph_signature, what)
