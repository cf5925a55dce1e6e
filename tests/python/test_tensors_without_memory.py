"""Tensors whose storage does not hold their elements, and tensors that are no
plain memory: wherever a program meets one, an error names it; nothing reads it.
"""

import pytest
import torch

import proviso
from proviso import Dim


def resized(*sizes, bytes_left=0):
    tensor = torch.ones(*sizes)
    tensor.untyped_storage().resize_(bytes_left)
    return tensor


def end_is_gone():
    rows = torch.ones(8, 4)
    last = rows[4:, 0]
    rows.untyped_storage().resize_(16 * 7)
    return last


def repeated():
    tensor = torch.ones(1).expand(4)
    tensor.untyped_storage().resize_(0)
    return tensor


RESIZED = [lambda: resized(4), lambda: resized(4, bytes_left=12), end_is_gone,
           lambda: resized(()), repeated]


class Adds(torch.nn.Module):
    def __init__(self, tensor, place):
        super().__init__()
        if place == "parameter":
            self.w = torch.nn.Parameter(tensor, requires_grad=False)
        elif place == "attribute":
            self.w = tensor
        else:
            self.register_buffer("w", tensor, persistent=place == "buffer")

    def forward(self, x):
        return x + self.w


class AddsFromList(torch.nn.Module):
    def __init__(self, tensor, place):
        super().__init__()
        self.held = [tensor]

    def forward(self, x):
        return x + self.held[0]


PLACES = {"parameter": Adds, "buffer": Adds, "state": Adds, "attribute": Adds,
          "constant": AddsFromList}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("make", RESIZED)
def test_an_export_reads_no_memory_that_is_gone(make, place):
    model = PLACES[place](make(), place)
    name = "'w'" if place in ("parameter", "buffer", "state", "attribute") else (
        "'lifted_tensor_0'")
    with pytest.raises(ValueError, match=f"{name} of sizes .* has a storage of "
                                         ".* does not hold its elements"):
        proviso.export(model, (torch.ones(4),), dynamic_shapes=({0: Dim.AUTO},))


@pytest.mark.parametrize("make", RESIZED)
def test_an_example_without_memory(make):
    with pytest.raises(ValueError, match="example input x of sizes"):
        proviso.export(Adds(torch.ones(4), "buffer"), (make(),))


def exported():
    """With a weight and with an input that can be taken away."""
    model = Adds(torch.ones(4), "parameter")
    return model, proviso.export(model, (torch.ones(4),))


def test_memory_that_goes_after_the_export(tmp_path):
    model, ep = exported()
    run = ep.module()
    model.w.untyped_storage().resize_(0)
    for use in (lambda: run(torch.ones(4)), lambda: ep.module()(torch.ones(4)),
                lambda: ep.save(tmp_path / "p.pt2"),
                lambda: ep.run_decompositions()):
        with pytest.raises(ValueError, match="'w' of sizes .* has a storage of"):
            use()
    assert not (tmp_path / "p.pt2").exists()
    assert "aten.add.Tensor" in str(ep)  # which reads no weight
    model.w.untyped_storage().resize_(16)
    model.w.data.fill_(2.0)
    assert run(torch.ones(4)).tolist() == [3.0] * 4


def test_an_input_without_memory():
    _, ep = exported()
    with pytest.raises(ValueError, match="input x of sizes"):
        ep.module()(resized(4))


def test_tensors_without_elements_need_none():
    model = Adds(resized(0, 4), "buffer")
    ep = proviso.export(model, (torch.ones(4),))
    assert ep.module()(torch.ones(4)).shape == (0, 4)


# --- no plain memory

class Wrapper(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape,
                                                   dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return function(*[a.inner if isinstance(a, Wrapper) else a
                          for a in args], **(kwargs or {}))


OTHERS = {
    "layout Sparse;": lambda: torch.eye(4).to_sparse(),
    "layout SparseCsr": lambda: torch.eye(4).to_sparse_csr(),
    "layout Mkldnn": lambda: torch.ones(4).to_mkldnn(),
    "a quantized tensor": lambda: torch.quantize_per_tensor(
        torch.ones(4), 0.1, 0, torch.qint8),
    "a nested tensor": lambda: torch.nested.nested_tensor(
        [torch.ones(4), torch.ones(3)]),
    "a zero tensor": lambda: torch._efficientzerotensor((4,)),
    "a subclass with operators": lambda: Wrapper(torch.ones(4)),
}


@pytest.mark.parametrize("place", ["buffer", "attribute", "constant"])
@pytest.mark.parametrize("kind", OTHERS)
def test_tensors_that_are_no_plain_memory(kind, place):
    model = PLACES[place](OTHERS[kind](), place)
    with pytest.raises(ValueError, match=f"Proviso: .*{kind}"):
        proviso.export(model, (torch.ones(4),))


def test_a_meta_weight_is_traced_and_neither_run_nor_saved(tmp_path):
    ep = proviso.export(Adds(torch.ones(4, device="meta"), "buffer"),
                        (torch.ones(4, device="meta"),))
    with pytest.raises(RuntimeError, match="'w' is on the meta device"):
        ep.save(tmp_path / "p.pt2")
    assert ep.module()(torch.ones(4, device="meta")).is_meta
