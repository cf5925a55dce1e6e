"""Programs of operators at sizes other than the example's: what a kernel would
choose by it, windows, derivatives, what draws, lists of tensors, in place."""

import pytest
import torch
from eager_at_sizes import MATRIX, ROWS, compare_at

import proviso


# --- what a kernel would choose by the example

def bag(**options):
    places, bags = torch.tensor([1, 2, 1, 0]), torch.tensor([0, 2])
    return lambda w: torch.nn.functional.embedding_bag(places, w, bags,
                                                       **options)


@pytest.mark.parametrize("program, kept", [
    (torch.linalg.eigvalsh, "linalg_eigvalsh"),
    (torch.linalg.eigvals, "linalg_eigvals"),
    (torch.linalg.svdvals, "linalg_svdvals"),
    (lambda x: torch.linalg.matrix_norm(x, 2), "linalg_matrix_norm"),
    (lambda x: torch.linalg.cond(x), "linalg_cond"),
    (bag(), "embedding_bag"),
    (bag(mode="sum"), "embedding_bag"),
    (bag(mode="max"), "embedding_bag"),
])
@pytest.mark.parametrize("requires_grad", [False, True])
def test_gradients_do_not_depend_on_the_example(program, kept, requires_grad):
    """Their kernels compute less where nothing requires a gradient."""
    shape = (5, 3) if kept == "embedding_bag" else (4, 3, 3)
    x = torch.rand(shape) + torch.eye(*shape[-2:])
    ep = proviso.export(lambda x: program(x),
                        (x.clone().requires_grad_(requires_grad),),
                        dynamic_shapes=(ROWS,))
    assert any(f"aten.{kept}." in op for op in ep.operators)
    gradients = []
    for run in (program, ep.module()):
        y = x[:3].clone().requires_grad_()
        run(y).abs().sum().backward()
        gradients.append(y.grad)
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("size", [lambda x: [x.shape[0], 3, x.shape[1], 5],
                                  lambda x: [x.shape[0], 3, 2, x.shape[1], 4]])
@pytest.mark.parametrize("align", [False, True])
def test_a_grid_of_any_sizes(size, align):
    def program(x):
        wanted = size(x)
        rank = len(wanted) - 2
        theta = x[:, : rank * (rank + 1)].reshape(-1, rank, rank + 1)
        return [torch.nn.functional.affine_grid(theta, wanted, align)]

    def inputs(n, m):
        torch.manual_seed(n)
        return (torch.rand(n, m),)

    compare_at(program, inputs, (MATRIX,), (3, 12), (1, 12), (4, 12))


def test_a_grid_needs_its_transformations():
    with pytest.raises(RuntimeError, match="affine_grid_generator: expected"):
        proviso.export(
            lambda x: torch.affine_grid_generator(x, [2, 1, 4, 4], False),
            (torch.rand(2, 3, 3),))


# --- windows of a signal

@pytest.mark.parametrize("given", [
    {}, {"onesided": False}, {"center": False, "window": None},
    {"length": 30}, {"normalized": True}])
def test_a_signal_of_its_windows(given):
    window = torch.hann_window(16, dtype=torch.float64)
    given = {"window": window, **given}

    def program(x):
        parts = torch.stft(x, 16, 4, window=window, return_complex=True,
                           onesided=given.get("onesided", True))
        return [torch.istft(parts, 16, 4, **given)]

    def inputs(n, m):
        torch.manual_seed(n)
        return (torch.rand(n, m, dtype=torch.float64),)

    ep = compare_at(program, inputs, (MATRIX,), (2, 80), (1, 47), (5, 64))
    assert "aten.istft.default" in ep.operators
    with pytest.raises(RuntimeError):
        ep.module()(*inputs(0, 80))


# --- derivatives

def test_a_product_with_a_jacobian():
    def program(x, v):
        return torch.func.jvp(lambda x: torch.sin(x) * x, (x,), (v,))

    def inputs(n, m):
        torch.manual_seed(n)
        return torch.rand(n, m), torch.rand(n, m) + 1

    compare_at(program, inputs, (MATRIX, MATRIX), (3, 5), (7, 4), (1, 2))


@pytest.mark.parametrize("function", [
    torch.sin, lambda x: (x * x).cumsum(1), lambda x: x.sum(1) * 2,
    lambda x: torch.softmax(x, 1) @ x.T, lambda x: x.exp().reshape(-1),
])
def test_a_product_of_a_jacobian_with_a_cotangent(function):
    def program(x):
        value, pull = torch.func.vjp(function, x)
        return [value, pull(torch.cos(value))[0],
                torch.func.vjp(lambda y: pull(y)[0], value)[1](x)[0]]

    def inputs(n, m):
        torch.manual_seed(n)
        return (torch.rand(n, m),)

    compare_at(program, inputs, (MATRIX,), (3, 5), (7, 4), (2, 2))


def test_a_cotangent_of_a_function_of_a_module():
    layer = torch.nn.Linear(4, 3)

    def program(x):
        return list(torch.func.vjp(layer, x)[1](torch.ones(x.shape[0], 3)))

    ep = proviso.export(program, (torch.ones(2, 4),), dynamic_shapes=(ROWS,))
    x = torch.rand(5, 4)
    torch.testing.assert_close(ep.module()(x), program(x))


# --- what draws, and powers

@pytest.mark.parametrize("draw", [
    lambda x: torch.normal(x, 1.0), lambda x: torch.normal(2.0, x),
    lambda x: torch.normal(x, x), lambda x: torch.normal(x, x[0].double()),
    lambda x: torch.normal(x[:, :1], x.half()),
    lambda x: torch.normal(x.T, 0.5)])
def test_a_normal_of_tensors_draws_as_eager(draw):
    def program(x):
        torch.manual_seed(7)
        return [draw(x)]

    def seeded(x):
        return [draw(x)]

    ep = proviso.export(seeded, (torch.rand(3, 5),), dynamic_shapes=(MATRIX,))
    for sizes in ((3, 5), (1, 4), (6, 1)):
        x = torch.rand(*sizes)
        expected = program(x)
        torch.manual_seed(7)
        found = ep.module()(x)
        torch.testing.assert_close(found, expected)
        assert found[0].stride() == expected[0].stride()


@pytest.mark.parametrize("program", [
    lambda x: torch.normal(x, -1.0), lambda x: torch.vander(x)])
def test_what_normal_and_vander_do_not_take(program):
    with pytest.raises(RuntimeError, match="std >= 0.0|one-dimensional"):
        proviso.export(program, (torch.ones(3, 4),))


def test_powers_and_windows():
    def program(x):
        row = x[0]
        return [torch.vander(row), torch.vander(row, 3, increasing=True),
                torch.vander(row.int(), 0), torch.kaiser_window(4),
                torch.kaiser_window(5, False), torch.kaiser_window(5, True, 9.0)]

    def inputs(n, m):
        torch.manual_seed(n)
        return (torch.rand(n, m) * 9,)

    compare_at(program, inputs, (MATRIX,), (3, 5), (7, 4), (1, 1))


def test_a_tensor_of_sizes_like_another():
    def program(x):
        n = x.shape[0]
        return [x.new_tensor([n, 2]), x.new_tensor(n), x.new_tensor([1.5, 2]),
                x.int().new_tensor([[n, 1], [2, n * 2]]),
                x.new_tensor([n], dtype=torch.int64),
                x.new_tensor(x[0]), torch.ones(2).new_tensor([n, n])]

    def inputs(n, m):
        torch.manual_seed(n)
        return (torch.rand(n, m),)

    compare_at(program, inputs, (MATRIX,), (3, 5), (7, 4), (1, 1))


def test_new_makes_a_tensor_of_the_same_type():
    def program(x):
        n = x.shape[0]
        return [x.new([n, 2]), x.new([1, 2]), x.new(n, 2).zero_(), x.new(),
                x.new(x.shape).fill_(3), x.long().new([n]), x.new(x[0])]

    def inputs(n, m):
        torch.manual_seed(n)
        return (torch.rand(n, m),)

    compare_at(program, inputs, (MATRIX,), (3, 5), (7, 4), (1, 1))


def test_shifts_in_place():
    def program(x):
        y = (x * 9).long()
        y <<= 2
        z = y.clone()
        z >>= 1
        return y, z, y.bitwise_left_shift_(1)

    def inputs(n, m):
        torch.manual_seed(n)
        return (torch.rand(n, m),)

    compare_at(program, inputs, (MATRIX,), (3, 5), (7, 4), (1, 1))


def test_derivatives_of_what_is_multiplied_by_a_number():
    def program(x):
        def f(t):
            return t.sin() * 3

        return [torch.func.jvp(f, (x,), (torch.ones_like(x),))[1],
                torch.func.jvp(f, (x,), (x,))[0]]

    def inputs(n):
        torch.manual_seed(n)
        return (torch.rand(n),)

    compare_at(program, inputs, ({0: proviso.Dim.AUTO},), (5,), (7,), (3,))


# --- lists of tensors: torch._foreach_add is torch.add one by one

# The other lists and numbers of a call, by operator.
_LISTS = {
    "lerp": [("L", 0.5), ("L", "M"), ("L", [0.1, 0.2, 0.3])],
    "addcmul": [("L", "M"), ("L", "M", 2.0), ("L", "M", [1.0, 2.0, 3.0])],
    "addcdiv": [("L", "M"), ("L", "M", [1.0, 2.0, 3.0])],
    "norm": [(), (1,)], "copy": [("L",)],
    **dict.fromkeys(
        ("add", "sub", "mul", "div", "clamp_max", "clamp_min", "maximum",
         "minimum", "pow"), [(2.0,), ("L",), ([1.0, 2.0, 3.0],)]),
}
# One looks at how many elements there are, the others have no rule.
_NO_LISTS = {"max", "mm", "powsum"}


def _foreach_calls():
    for name in sorted(name for name in dir(torch)
                       if name.startswith("_foreach_")):
        base = name.removeprefix("_foreach_").rstrip("_")
        if base not in _NO_LISTS:
            for args in _LISTS.get(base, [()]):
                yield name, args


@pytest.mark.parametrize("name, args", _foreach_calls())
def test_operators_of_lists_are_those_of_tensors(name, args):
    def program(x, y):
        tensors = [x.clone(), y.clone(), x * 2]
        lists = {"L": [t + 0.5 for t in tensors],
                 "M": [t + 1.5 for t in tensors]}
        result = getattr(torch, name)(
            tensors, *(lists.get(a, a) if isinstance(a, str) else a
                       for a in args))
        return tensors if name.endswith("_") else list(result)

    x, y = torch.rand(5, 2) + 0.1, torch.rand(3) + 0.1
    ep = proviso.export(program, (x, y),
                        dynamic_shapes=[{0: proviso.Dim.AUTO}, None])
    assert not any("_foreach" in str(node.target) for node in ep.graph.nodes)
    for rows in range(10):
        x = torch.rand(rows, 2) + 0.1
        torch.testing.assert_close(ep.module()(x, y), program(x, y),
                                   equal_nan=True)


def test_lists_that_are_written_to_are_the_programs_tensors():
    def program(x):
        y = x * 2
        torch._foreach_add_([y], x.shape[0])
        torch._foreach_mul_([y[:1]], 3)
        return y

    run = proviso.export(program, (torch.randn(5, 2),),
                         dynamic_shapes=[{0: proviso.Dim.AUTO}]).module()
    for rows in range(1, 10):
        x = torch.randn(rows, 2)
        torch.testing.assert_close(run(x), program(x))


def test_a_tensor_that_takes_anothers_memory_is_refused():
    with pytest.raises(NotImplementedError, match=r"t\.copy_\(other\)"):
        proviso.export(lambda x: x.clone().set_(x), (torch.randn(5, 2),))


IN_PLACE = {
    "deg2rad_": (), "logit_": (), "mvlgamma_": (2,), "rad2deg_": (),
    "sinc_": (), "sgn_": (), "conj_physical_": (), "xlogy_": (2.0,),
    "put_": (torch.tensor([0, 1]), torch.tensor([0.5, 0.25]), True),
    "as_strided_": ((1, 2), (1, 1)),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_operators_in_place(name):
    def program(x):
        y = x.clone()
        return getattr(y, name)(*IN_PLACE[name]), y[:1]

    run = proviso.export(program, (torch.rand(5, 2) + 1,),
                         dynamic_shapes=[{0: proviso.Dim.AUTO}]).module()
    for rows in range(1, 10):
        x = torch.rand(rows, 2) + 1
        torch.testing.assert_close(run(x), program(x), equal_nan=True)


def test_addr_in_place():
    def program(x):
        return x.clone().addr_(x[:, 0], torch.ones(2), alpha=2)

    run = proviso.export(program, (torch.rand(5, 2),),
                         dynamic_shapes=[{0: proviso.Dim.AUTO}]).module()
    for rows in range(10):
        x = torch.rand(rows, 2)
        torch.testing.assert_close(run(x), program(x))
    with pytest.raises(RuntimeError, match="addr_: self must be of the result"):
        proviso.export(lambda x: x.addr_(torch.ones(3), torch.ones(2)),
                       (torch.rand(1, 2),))
