"""torch.export's tutorial, row by row: basics and what does not trace, custom
operators and decompositions, one unbacked size through many operators."""

import shutil

import pytest
import torch
from torch._higher_order_ops import map

import proviso
from proviso import Dim

X = torch.randn(8, 100)


def equal(program, eager, *inputs):
    run = program.module()
    for args in inputs:
        with torch.no_grad():
            torch.testing.assert_close(run(*args), eager(*args))


# --- basics

def test_my_module():
    class MyModule(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = torch.nn.Linear(100, 10)

        def forward(self, x, y):
            return torch.nn.functional.relu(self.lin(x + y), inplace=True)

    module = MyModule()
    ep = proviso.export(module, (X, X))
    assert "torch.ops.aten.relu_.default" in str(ep)
    equal(ep, module, (X, X))
    with pytest.raises(RuntimeError, match=r"Guard failed: x.size\(\)\[0\]"):
        ep.module()(torch.randn(9, 100), torch.randn(9, 100))


def test_a_branch_on_data_names_its_line():
    def bad(x):
        x = x + 1
        if x.sum() > 0:
            return torch.sin(x)
        return torch.cos(x)

    with pytest.raises(proviso.DataDependentError) as caught:
        proviso.export(bad, (X,))
    assert "Could not guard on data-dependent expression" in str(caught.value)
    assert "if x.sum() > 0:" in str(caught.value)


def test_a_write_through_data_is_a_write():
    def f(x):
        x.data[0, 0] = 3
        return x * 1

    ep = proviso.export(f, (X.clone(),))
    ours, theirs = X.clone(), X.clone()
    assert torch.equal(ep.module()(ours), f(theirs))
    assert torch.equal(ours, theirs)


def test_the_identity_of_a_tensor_is_refused():
    def bad(x):
        return x + id(x)

    with pytest.raises(TypeError, match=r"id\(\) of a traced tensor"):
        proviso.export(bad, (X,))
    assert id(X) == id(X)


def test_cond_instead_of_the_branch():
    def fixed(x):
        x = x + 1
        return torch.cond(x.sum() <= 0, torch.sin, torch.cos, (x,))

    def eager(x):
        x = x + 1
        return torch.sin(x) if x.sum() <= 0 else torch.cos(x)

    equal(proviso.export(fixed, (X,)), eager, (X.abs(),), (-X.abs() - 2,))


def test_map_module():
    def f(xs, y):
        return map(lambda x, y: x + y, xs, y)

    equal(proviso.export(f, (torch.randn(3, 4), torch.randn(4))),
          lambda xs, y: xs + y, (torch.randn(3, 4), torch.randn(4)))


def test_arguments_of_a_strange_type_are_refused():
    class Strange:
        pass

    with pytest.raises((TypeError, ValueError), match="Strange"):
        proviso.export(lambda x, y: x, (X, Strange()))


# --- custom operators and decompositions

@torch.library.custom_op("proviso_tutorial::scale", mutates_args=())
def scale(x: torch.Tensor, factor: float) -> torch.Tensor:
    return x * factor


@scale.register_fake
def _(x, factor):
    return torch.empty_like(x)


@torch.library.custom_op("proviso_tutorial::nofake", mutates_args=())
def nofake(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@torch.library.custom_op("proviso_tutorial::positive", mutates_args=())
def positive(x: torch.Tensor) -> torch.Tensor:
    return x[x > 0].clone()


@positive.register_fake
def _(x):
    size = torch.library.get_ctx().new_dynamic_size()
    return x.new_empty(size)


@pytest.mark.parametrize("dims", [None, {0: Dim.AUTO}])
def test_a_custom_operator_is_kept(dims):
    def f(x):
        return scale(x, 2.0) + 1

    ep = proviso.export(f, (X,), dynamic_shapes=(dims,))
    assert "proviso_tutorial.scale.default" in ep.operators
    equal(ep, lambda x: x * 2 + 1, (X,))


def test_a_custom_operator_without_a_fake_is_refused():
    with pytest.raises(RuntimeError, match="register_fake"):
        proviso.export(lambda x: nofake(x), (X,))


def test_a_custom_operator_with_a_size_of_its_own():
    ep = proviso.export(lambda x: positive(x) * 2, (torch.randn(9),))
    assert "f32[u0]" in str(ep)
    equal(ep, lambda x: x[x > 0] * 2, (torch.ones(9),), (-torch.ones(9),))


class ConvBatchNorm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 3, 1)
        self.bn = torch.nn.BatchNorm2d(3)

    def forward(self, x):
        return self.bn(self.conv(x))


IMAGE = torch.randn(2, 1, 3, 3)


def test_the_training_form_and_the_functional_one():
    ep = proviso.export_for_training(ConvBatchNorm(), (IMAGE,))
    assert {"aten.conv2d.default", "aten.add_.Tensor",
            "aten.batch_norm.default"} <= set(ep.operators)
    functional = ep.run_decompositions({})
    functional.verify("functional")
    assert "aten.conv2d.default" in functional.operators
    assert len(functional.graph_signature.buffers_to_mutate) == 3
    core = ep.run_decompositions()
    core.verify("functional")
    assert "aten.convolution.default" in core.operators
    assert "aten.conv2d.default" not in core.operators


def test_a_custom_table():
    table = proviso.default_decompositions()
    table[torch.ops.aten.conv2d.default] = (
        lambda x, w, b=None, stride=(1, 1), padding=(0, 0), dilation=(1, 1),
        groups=1: 2 * torch.ops.aten.convolution(
            x, w, b, stride, padding, dilation, False, [0, 0], groups))
    module = ConvBatchNorm().eval()
    core = proviso.export(module, (IMAGE,)).run_decompositions(table)
    assert "aten.mul.Tensor" in core.operators
    with torch.no_grad():
        torch.testing.assert_close(core.module()(IMAGE),
                                   module.bn(2 * module.conv(IMAGE)))


def test_guards_and_checks_survive_decomposition():
    def f(x, y, n):
        a = n.item()
        torch._check(a >= 1)
        torch._check(a <= 3)
        return x + y, torch.ones(a)

    auto = {0: Dim.AUTO}
    ep = proviso.export(f, (torch.ones(4), torch.ones(4), torch.tensor(2)),
                        dynamic_shapes=(auto, auto, None))
    run = ep.run_decompositions().module()
    equal_inputs = (torch.ones(6), torch.ones(6), torch.tensor(3))
    torch.testing.assert_close(run(*equal_inputs), f(*equal_inputs))
    with pytest.raises(RuntimeError, match="Guard failed"):
        run(torch.ones(6), torch.ones(5), torch.tensor(3))
    with pytest.raises(RuntimeError, match="Runtime assertion failed"):
        run(torch.ones(6), torch.ones(6), torch.tensor(4))


def test_inductor_packages_the_program(tmp_path):
    if shutil.which("g++") is None:
        pytest.skip("AOTInductor wants a C++ compiler")
    ep = proviso.export(lambda x: torch.relu(x * 2 + 1), (torch.randn(4, 3),),
                        dynamic_shapes=({0: Dim("b", min=1)},))
    path = torch._inductor.aoti_compile_and_package(
        ep.to_torch(), package_path=str(tmp_path / "model.pt2"))
    run = torch._inductor.aoti_load_package(path)
    x = torch.randn(7, 3)
    torch.testing.assert_close(run(x), ep.module()(x))


def test_unflatten_gives_a_module():
    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Linear(3, 2)

        def forward(self, x):
            return self.inner(x).relu()

    outer = Outer()
    flat = proviso.unflatten(proviso.export(outer, (torch.randn(4, 3),)))
    x = torch.randn(4, 3)
    torch.testing.assert_close(flat(x), outer(x))
    assert "inner.weight" in dict(flat.named_parameters())


# --- one unbacked size through an operator

def _check(a):
    torch._check(a >= 2)
    torch._check(a <= 12)


Y = torch.arange(12.0)
ONE_SIZE = {
    "zeros": lambda a: torch.zeros(a),
    "ones times": lambda a: torch.ones(a, 3) * 2,
    "full": lambda a: torch.full((a, 2), 7.0),
    "arange": lambda a: torch.arange(a),
    "narrow": lambda a: Y[:a],
    "tail": lambda a: Y[a:],
    "select": lambda a: Y[a - 1],
    "repeat": lambda a: Y.unsqueeze(0).repeat(a, 1) + a,
    "expand": lambda a: Y.unsqueeze(0).expand(a, 12),
    "cat": lambda a: torch.cat([torch.zeros(a), Y]),
    "stack": lambda a: torch.stack([torch.zeros(a), torch.ones(a)]),
    "reshape": lambda a: torch.zeros(a, 6).reshape(-1, 3),
    "matmul": lambda a: torch.ones(a, 4) @ torch.ones(4, 3),
    "linear": lambda a: torch.nn.functional.linear(torch.ones(a, 4),
                                                   torch.ones(2, 4)),
    "softmax": lambda a: torch.ones(a, 4).softmax(-1),
    "sum": lambda a: torch.ones(a, 4).sum(0),
    "mean": lambda a: torch.ones(a, 4).mean(),
    "cumsum": lambda a: torch.ones(a).cumsum(0),
    "layer_norm": lambda a: torch.nn.functional.layer_norm(torch.ones(a, 4),
                                                           (4,)),
    "embedding": lambda a: torch.nn.functional.embedding(
        torch.zeros(a, dtype=torch.int64), torch.ones(5, 3)),
    "pad": lambda a: torch.nn.functional.pad(torch.ones(a), (1, 2)),
    "transpose": lambda a: torch.ones(a, 3).t().contiguous(),
    "roll": lambda a: torch.arange(a).roll(1),
    "flip": lambda a: torch.arange(a).flip(0),
    "where": lambda a: torch.where(torch.ones(a) > 0, 1.0, 2.0),
    "float arithmetic": lambda a: Y * (a / 2),
    "int arithmetic": lambda a: Y + (a // 2) * 3 % 5,
    "max and min": lambda a: Y[:torch.sym_max(a, 4)][:torch.sym_min(a, 3)],
    "tensor of it": lambda a: torch.tensor([a, a + 1]),
    "conv1d": lambda a: torch.nn.functional.conv1d(
        torch.ones(1, 1, a + 3), torch.ones(1, 1, 3)),
    "view by it": lambda a: torch.zeros(a * 4).view(a, 4),
    "zeros of two sizes": lambda a: (torch.zeros(a), torch.zeros(a + 1)),
}


@pytest.mark.parametrize("name", ONE_SIZE)
def test_an_unbacked_size(name):
    function = ONE_SIZE[name]

    def f(n):
        a = n.item()
        _check(a)
        return function(a)

    ep = proviso.export(f, (torch.tensor(5),))
    equal(ep, f, *[(torch.tensor(n),) for n in (2, 3, 7, 12)])
    with pytest.raises(RuntimeError, match="Runtime assertion failed"):
        ep.module()(torch.tensor(13))


def test_a_size_that_must_be_known_says_so():
    def f(n):
        return [torch.ones(i) for i in range(n.item())]

    with pytest.raises(proviso.DataDependentError, match="range\\(n.item"):
        proviso.export(f, (torch.tensor(3),))
