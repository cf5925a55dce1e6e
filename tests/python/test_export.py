"""proviso.export: what is traced, printed, promised and run."""

import copy
from collections import namedtuple
from dataclasses import dataclass

import pytest
import torch
from torch import nn
from torch.utils import _pytree as pytree

import proviso
from proviso import Dim

AUTO = Dim.AUTO


def same(found, expected):
    torch.testing.assert_close(found, expected)


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(),
                                 nn.Linear(32, 4))

    def forward(self, x):
        return self.net(x)


def test_a_module_runs_at_other_sizes():
    model = MLP()
    ep = proviso.export(model, (torch.ones(4, 16),),
                        dynamic_shapes={"x": {0: Dim("batch")}})
    for batch in (2, 3, 9):
        x = torch.randn(batch, 16)
        same(ep.module()(x), model(x))
    assert ep.operators == ["aten.linear.default", "aten.relu.default",
                            "aten.linear.default"]
    assert ep.graph_signature.parameters == (
        "net.0.weight", "net.0.bias", "net.2.weight", "net.2.bias")
    assert ep.graph_signature.user_inputs == ("x",)
    assert set(ep.state_dict) == set(model.state_dict())
    assert ep.trace_time_us > 0


def test_the_print_has_shapes_ranges_and_source_lines():
    ep = proviso.export(MLP(), (torch.ones(4, 16),),
                        dynamic_shapes={"x": {0: AUTO}})
    text = str(ep)
    assert 'x: "f32[s0, 16]"' in text
    assert "torch.ops.aten.linear.default(x, " in text
    assert "return self.net(x)" in text
    assert "test_export.py" in text
    assert "s0: VR[0, int_oo]" in text.splitlines()[-1] or "s0: VR[0" in text
    assert repr(ep.range_constraints) == "{s0: VR[0, int_oo]}"
    assert "ExportGraphSignature(" in repr(ep.graph_signature)


def test_sizes_zero_and_one_are_refused_only_where_they_matter():
    def program(x, y):
        return (x + y).transpose(0, 1).reshape(-1, 4) * 2

    ep = proviso.export(program, (torch.ones(3, 5, 4), torch.ones(3, 5, 4)),
                        dynamic_shapes=({0: AUTO, 1: AUTO},) * 2)
    assert repr(ep.range_constraints).startswith(
        "{s0: VR[0, int_oo], s1: VR[0, int_oo]")
    for shape in ((1, 5, 4), (3, 1, 4), (1, 1, 4), (0, 5, 4)):
        x, y = torch.randn(shape), torch.randn(shape)
        same(ep.module()(x, y), program(x, y))
    squeezed = proviso.export(lambda x: x.squeeze(0), (torch.ones(3, 5),),
                              dynamic_shapes=((AUTO, AUTO),))
    assert [g.condition for g in squeezed.guards] == ["Ne(s0, 1)"]
    assert repr(squeezed.range_constraints) == (
        "{s0: VR[0, int_oo], s1: VR[0, int_oo]}")


def test_dims_without_a_spec_are_static():
    ep = proviso.export(lambda x: x + 1, (torch.ones(4, 3),))
    assert ep.range_constraints == {}
    with pytest.raises(Exception, match=r"size\(\)\[0\]"):
        ep.module()(torch.ones(5, 3))


@pytest.mark.parametrize("spec", [
    {"x": {0: AUTO}, "y": {0: AUTO}},
    {"x": (AUTO, None), "y": [AUTO, 3]},
    ({0: Dim.DYNAMIC}, (Dim.DYNAMIC, Dim.STATIC)),
    [{0: torch.export.Dim.AUTO}, {0: torch.export.Dim.DYNAMIC}],
    {"x": {0: Dim("n")}, "y": {0: Dim("n")}},
    {"x": {0: torch.export.Dim("n", min=1)},
     "y": {0: torch.export.Dim("n", min=1)}},
    ({0: AUTO(min=2, max=64)}, {0: Dim.DYNAMIC(max=64)}),
])
def test_the_forms_of_a_spec_mean_the_same(spec):
    ep = proviso.export(lambda x, y: x + y,
                        (torch.ones(4, 3), torch.ones(4, 3)),
                        dynamic_shapes=spec)
    x, y = torch.randn(7, 3), torch.randn(7, 3)
    same(ep.module()(x, y), x + y)


def test_a_guard_names_the_line_that_needs_it():
    def both(x, y):
        return x + y

    ep = proviso.export(both, (torch.ones(4), torch.ones(4)),
                        dynamic_shapes=((AUTO,), (AUTO,)))
    guard, = ep.guards
    assert guard.condition == "Eq(s0, s1)"
    assert guard.origins[0].code == "return x + y"
    assert guard.origins[0].file.endswith("test_export.py")
    assert "Eq(s0, s1)   test_export.py:" in str(guard)
    assert ep.guards_code == ["L['x'].size()[0] == L['y'].size()[0]"]


def test_a_range_refined_by_the_program_is_checked():
    def long(x):
        if x.shape[0] > 5:
            return x + 1
        return x - 1

    ep = proviso.export(long, (torch.ones(8),), dynamic_shapes=((AUTO,),))
    assert repr(ep.range_constraints) == "{s0: VR[6, int_oo]}"
    same(ep.module()(torch.ones(6)), torch.ones(6) + 1)
    with pytest.raises(Exception, match=r"x.size\(\)\[0\]"):
        ep.module()(torch.ones(5))


def test_a_named_dim_that_the_program_narrows_is_a_violation():
    def long(x):
        return x + 1 if x.shape[0] > 5 else x - 1

    with pytest.raises(proviso.ConstraintViolationError,
                       match=r"Constraints violated \(n\)"):
        proviso.export(long, (torch.ones(8),), dynamic_shapes=((Dim("n"),),))


def test_dynamic_that_the_program_fixes_is_a_violation():
    def four(x):
        return x + torch.ones(4)

    with pytest.raises(proviso.ConstraintViolationError, match="dynamic"):
        proviso.export(four, (torch.ones(4),),
                       dynamic_shapes=((Dim.DYNAMIC,),))


@pytest.mark.parametrize("kind", [Dim, torch.export.Dim])
def test_a_derived_dim_is_a_guard(kind):
    def program(x, y):
        return x.sum() + y[:-1].view(2, -1), y + 1

    half = kind("half", min=2, max=9)
    ep = proviso.export(program, (torch.ones(4), torch.ones(9)),
                        dynamic_shapes=({0: half}, {0: 2 * half + 1}))
    guard, = ep.guards
    assert guard.condition == "Eq(2*s0 + 1, s1)"
    assert "L['y'].size()[0] = 2*half + 1" in str(guard)
    assert 'y: "f32[2*s0 + 1]"' in str(ep)
    assert repr(ep.range_constraints) == "{s0: VR[2, 9], 2*s0 + 1: VR[5, 19]}"
    args = torch.randn(6), torch.randn(13)
    for found, expected in zip(ep.module()(*args), program(*args)):
        same(found, expected)
    with pytest.raises(Exception, match=r"2\*x.size\(\)\[0\] \+ 1 == y.size"):
        ep.module()(torch.ones(6), torch.ones(14))


def test_a_derived_dim_needs_no_input_with_its_root():
    root = Dim("root")
    ep = proviso.export(lambda x, y: x.sum() + y,
                        (torch.ones(8), torch.ones(13)),
                        dynamic_shapes=({0: 2 * root}, {0: 3 * root + 1}))
    x, y = torch.randn(10), torch.randn(16)
    same(ep.module()(x, y), x.sum() + y)
    with pytest.raises(Exception, match=r"x.size\(\)\[0\] % 2 == 0"):
        ep.module()(torch.ones(9), y)
    with pytest.raises(Exception, match=r"z?y.size\(\)\[0\]"):
        ep.module()(x, torch.ones(13))


# --- callables and arguments

def test_functions_and_bound_methods_export():
    model = MLP()
    x = torch.randn(3, 16)
    ep = proviso.export(model.forward, (torch.ones(4, 16),),
                        dynamic_shapes=({0: AUTO},))
    assert ep.graph_signature.parameters[0] == "net.0.weight"
    same(ep.module()(x), model(x))

    weight = torch.randn(16, 2)
    ep = proviso.export(lambda x: x @ weight, (torch.ones(4, 16),),
                        dynamic_shapes=({0: AUTO},))
    assert len(ep.constants) == 1
    same(ep.module()(x), x @ weight)


Pair = namedtuple("Pair", ["left", "right"])


@dataclass
class Batch:
    values: torch.Tensor
    scale: float


torch.export.register_dataclass(Batch, serialized_type_name="tests.Batch")


def test_inputs_and_outputs_are_pytrees():
    def program(pair, table, batch):
        total = pair.left + pair.right + table["a"][0] + batch.values
        return {"total": total * batch.scale, "pair": Pair(pair.left, 3)}

    def inputs(n):
        t = torch.randn(n)
        return (Pair(t, t + 1), {"a": [t]}, Batch(t, 0.5))

    leaf = (AUTO,)
    ep = proviso.export(
        program, inputs(4),
        dynamic_shapes=(Pair(leaf, leaf), {"a": [leaf]}, (leaf, None)))
    for n in (2, 5):
        args = inputs(n)
        found, expected = ep.module()(*args), program(*args)
        same(found["total"], expected["total"])
        assert isinstance(found["pair"], Pair)
        same(found["pair"].left, expected["pair"].left)
        assert found["pair"].right == 3
    assert ep.graph_signature.user_inputs[:3] == (
        "pair_left", "pair_right", "table_a_0")


def test_keyword_arguments_come_in_any_order():
    def program(x, *, y, z=None):
        return x - y if z is None else x - y * z

    x, y, z = torch.ones(3), torch.full((3,), 2.0), torch.full((3,), 3.0)
    ep = proviso.export(program, (x,), {"z": z, "y": y},
                        dynamic_shapes={"x": (AUTO,), "y": (AUTO,),
                                        "z": (AUTO,)})
    same(ep.module()(x, y=y, z=z), program(x, y=y, z=z))
    same(ep.module()(x, z=z, y=y), program(x, y=y, z=z))


def test_variadic_arguments_have_specs_by_position():
    def total(*tensors, **more):
        return sum(tensors) + more["last"]

    x = torch.ones(4)
    ep = proviso.export(total, (x, x), {"last": x},
                        dynamic_shapes={"tensors": ((AUTO,), (AUTO,)),
                                        "more": {"last": (AUTO,)}})
    y = torch.randn(6)
    same(ep.module()(y, y, last=y), 3 * y)
    assert ep.graph_signature.user_inputs == ("tensors_0", "tensors_1", "last")


def test_constants_are_checked_when_run():
    def program(x, times, flag, label, nothing):
        return x * times if flag else x

    ep = proviso.export(program, (torch.ones(2), 3, True, "a", None))
    same(ep.module()(torch.ones(2), 3, True, "a", None), torch.ones(2) * 3)
    with pytest.raises(Exception, match="times"):
        ep.module()(torch.ones(2), 4, True, "a", None)


def test_an_int_input_may_vary():
    def program(x, n):
        return x + n, torch.ones(n)

    ep = proviso.export(program, (torch.ones(2), 5),
                        dynamic_shapes=(None, Dim.DYNAMIC))
    for n in (3, 8):
        found, expected = ep.module()(torch.ones(2), n), program(
            torch.ones(2), n)
        same(found[0], expected[0])
        same(found[1], expected[1])


def test_shapes_collection_is_taken():
    x, y = torch.ones(4, 3), torch.ones(5)
    shapes = proviso.ShapesCollection()
    shapes[x] = (torch.export.Dim("a"), 3)
    shapes[y] = {0: torch.export.Dim.AUTO}
    ep = proviso.export(lambda x, y: (x + 1, y + 1), (x, y),
                        dynamic_shapes=shapes)
    assert list(ep.range_constraints) == ["s0", "s1"]


# --- symbolic numbers in Python

def arithmetic(x):
    n, m = x.shape
    return (x.new_zeros(n * 2 + m, m // 2), x.reshape(n * m)[: n - 1],
            x.new_ones(max(n, m), min(n, 3)), x * n, x + n / 2, n % 3, n ** 2,
            -n, abs(n - m), round(n / 2), torch.sym_max(n, m),
            torch.sym_ite(n > m, n, m), torch.sym_sum([n, m, 1]), m << 1)


def test_arithmetic_on_sizes_is_kept():
    # No size of the three lies on the other side of the guards.
    ep = proviso.export(arithmetic, (torch.ones(8, 5),),
                        dynamic_shapes=((AUTO, AUTO),))
    for shape in ((9, 4), (12, 6), (10, 7)):
        x = torch.randn(shape)
        for found, expected in zip(ep.module()(x), arithmetic(x)):
            if isinstance(expected, torch.Tensor):
                same(found, expected)
            else:
                assert found == expected


def test_an_index_by_a_size_or_by_data_stays_symbolic():
    def program(x, i):
        last = x.shape[0] - 1
        return x[last], x[:, last - 1, None], x[..., last], x[i], x[i:, :2]

    ep = proviso.export(program, (torch.randn(4, 5), torch.tensor(1)),
                        dynamic_shapes=((AUTO, AUTO), None))
    for shape, i in (((4, 6), 3), ((6, 8), 0), ((9, 9), -2)):
        args = torch.randn(shape), torch.tensor(i)
        for found, expected in zip(ep.module()(*args), program(*args)):
            same(found, expected)


def test_a_tensor_of_sizes_stays_symbolic():
    def program(x):
        n, m = x.shape
        return torch.tensor([n, m * 2, 7]), torch.tensor(n), torch.tensor(
            [[n, 1.5], [0, m]])

    ep = proviso.export(program, (torch.ones(4, 3),),
                        dynamic_shapes=((AUTO, AUTO),))
    x = torch.ones(6, 5)
    for found, expected in zip(ep.module()(x), program(x)):
        same(found, expected)


def test_data_becomes_a_symbol():
    def program(x, y):
        n = x.item()
        torch._check(n >= 0)
        torch._check(n <= 60)
        return y[:, :n] * n, torch.zeros(n)

    x, y = torch.tensor(4), torch.randn(3, 70)
    ep = proviso.export(program, (x, y))
    assert repr(ep.range_constraints) == "{u0: VR[0, 60]}"
    for n in (0, 1, 60):
        args = (torch.tensor(n), y)
        for found, expected in zip(ep.module()(*args), program(*args)):
            same(found, expected)
    conditions = [a.condition for a in ep.runtime_asserts]
    assert conditions and all("u0" in c for c in conditions)
    with pytest.raises(Exception, match="u0 <= 60|60"):
        ep.module()(torch.tensor(61), y)


def test_check_decides_a_branch():
    def program(x, y):
        a = x.item()
        torch._check(a // 2 >= 5)
        if a // 2 >= 5:
            return y + 2
        return y * 5

    y = torch.randn(4)
    ep = proviso.export(program, (torch.tensor(20), y))
    same(ep.module()(torch.tensor(10), y), y + 2)
    assert repr(ep.range_constraints) == "{u0: VR[10, int_oo]}"


def test_tolist_gives_symbols():
    def program(x, y):
        a, b = x.tolist()
        torch._check(a >= 0)
        torch._check(b >= 0)
        return y[: a].sum() + b

    y = torch.arange(9.0)
    ep = proviso.export(program, (torch.tensor([2, 3]), y))
    for pair in ([1, 2], [5, 0]):
        same(ep.module()(torch.tensor(pair), y),
             program(torch.tensor(pair), y))


def test_guard_or_false_and_statically_known_true_ask_without_guards():
    from torch.fx.experimental.symbolic_shapes import (
        guard_or_false, guard_or_true, statically_known_true)

    def program(x, y):
        n = x.item()
        if guard_or_false(n == 0):
            return y
        assert guard_or_true(n != 0)
        assert not statically_known_true(y.shape[0] > 3)
        assert statically_known_true(y.shape[0] >= 0)
        return y + n

    ep = proviso.export(program, (torch.tensor(2), torch.ones(4)),
                        dynamic_shapes=(None, (AUTO,)))
    assert ep.guards == []


# --- state

class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("table", torch.arange(3.0), persistent=False)

    def forward(self, x):
        self.count.add_(1)
        return x + self.count + self.table


class Reassigning(Counter):
    def forward(self, x):
        self.count = self.count + 1
        return x + self.count + self.table


@pytest.mark.parametrize("kind", [Counter, Reassigning])
def test_buffers_are_read_and_written(kind):
    model = kind()
    ep = proviso.export(model, (torch.ones(2, 3),),
                        dynamic_shapes=({0: AUTO},))
    assert model.count == 0  # tracing executes nothing
    assert isinstance(model.count, torch.Tensor)
    assert ep.graph_signature.buffers == ("count", "table")
    assert list(ep.state_dict) == ["count"] and "table" in ep.constants
    run = ep.module()
    same(run(torch.zeros(2, 3)), torch.arange(3.0).expand(2, 3) + 1)


class Assigning(nn.Module):
    """`step` assigns its buffers."""

    def __init__(self, step):
        super().__init__()
        self.step = step
        self.register_buffer("a", torch.zeros(3))
        self.register_buffer("b", torch.ones(3))

    def forward(self, x):
        return self.step(self, x)


def _previous(self, x):
    self.b = self.a
    self.a = x.mean(0)
    return x + self.b


def _previous_in_the_other_order(self, x):
    self.a = self.b.detach()
    self.b = x.mean(0)
    return x + self.a


def _swapped(self, x):
    self.a, self.b = self.b, self.a + 2
    return x + self.a


def _flipped(self, x):
    self.b = self.b.flip(0) + x.sum()
    self.a = self.b[:1].expand(3)
    return x * self.a


def _old_returned(self, x):
    old = self.a
    self.a = self.a + x.mean(0)
    return [old, old.view(1, 3), {"part": old[1:]}]


def _set_twice(self, x):
    self.a = self.a + 1
    before = self.a
    self.a = self.a * 2 + x.sum()
    return before, self.a


def _input_kept(self, x):
    self.a = x[0]
    return self.a + self.b


@pytest.mark.parametrize("step", [
    _previous, _previous_in_the_other_order, _swapped, _flipped,
    _old_returned, _set_twice, _input_kept])
def test_assigned_buffers_hold_what_eagers_hold(step, tmp_path):
    model, x = Assigning(step), torch.ones(4, 3)
    ep = proviso.export(model, (x,), dynamic_shapes=({0: AUTO},))
    ep.save(tmp_path / "p.pt2")
    for run in (ep.module(), proviso.load(tmp_path / "p.pt2").module(),
                torch.export.load(tmp_path / "p.pt2").module()):
        eager = Assigning(step)
        for rows in (4, 2, 5):
            x = torch.arange(rows * 3.0).reshape(rows, 3)
            expected = copy.deepcopy(eager(x))
            for a, b in zip(pytree.tree_leaves(run(x)),
                            pytree.tree_leaves(expected)):
                same(a, b)
            for a, b in zip(run.buffers(), eager.buffers()):
                same(a, b)


@pytest.mark.parametrize("step, said", [
    (lambda self, x: setattr(self, "a", self.a.sum()),
     r"sizes \(3,\) to a tensor of sizes \(\)"),
    (lambda self, x: setattr(self, "a", torch.cat([self.a, x[:, 0]])),
     r"sizes \(3,\) to a tensor of sizes \(s0 [+] 3,\)"),
    (lambda self, x: setattr(self, "a", self.a.double()),
     "dtype torch.float32 to a tensor of dtype torch.float64"),
    (lambda self, x: setattr(self, "a", None), "to NoneType"),
])
def test_buffers_that_change_their_kind_are_refused(step, said):
    with pytest.raises(ValueError, match=f"buffer 'a'.*{said}"):
        proviso.export(Assigning(step), (torch.ones(4, 3),),
                       dynamic_shapes=({0: AUTO},))


def test_an_assigned_buffer_shares_no_memory():
    model = Assigning(lambda self, x: setattr(self, "a", self.a + 1))
    model.b = model.a[:]
    with pytest.raises(ValueError, match="'a', which shares its memory with"):
        proviso.export(model, (torch.ones(4, 3),))


def test_training_mode_is_traced_as_it_is():
    model = nn.BatchNorm1d(3)
    ep = proviso.export(model, (torch.randn(4, 3),),
                        dynamic_shapes=({0: AUTO},))
    assert "aten.batch_norm.default" in ep.operators
    assert model.num_batches_tracked == 0
    dropped = proviso.export(nn.Dropout(), (torch.ones(3),))
    assert dropped.operators == ["aten.dropout.default"]


def test_tied_weights_and_plain_attributes_keep_their_names():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(10, 4)
            self.out = nn.Linear(4, 10, bias=False)
            self.out.weight = self.embed.weight
            self.scale = torch.full((10,), 2.0)

        def forward(self, x):
            return self.out(self.embed(x)) * self.scale

    model, x = Tied(), torch.randint(0, 10, (3, 5))
    ep = proviso.export(model, (x,), dynamic_shapes=({0: AUTO, 1: AUTO},))
    assert ep.graph_signature.parameters == ("embed.weight", "out.weight")
    assert ep.graph_signature.lifted_tensor_constants == ("scale",)
    assert list(ep.state_dict) == list(model.state_dict())
    expected = torch.export.export(model, (x,))
    assert repr(ep.graph_signature) == repr(expected.graph_signature)
    x = torch.randint(0, 10, (7, 2))
    same(ep.module()(x), model(x))


def test_flags_are_set_while_tracing_only():
    seen = []

    def program(x):
        seen.append(torch.compiler.is_exporting())
        return x + 1

    proviso.export(program, (torch.ones(1),))
    assert seen == [True] and not torch.compiler.is_exporting()


def test_other_threads_compute_as_before():
    import threading

    results = []

    def program(x):
        thread = threading.Thread(
            target=lambda: results.append(torch.tensor([1, 2]).tolist()))
        thread.start()
        thread.join()
        return x + 1

    proviso.export(program, (torch.ones(1),))
    assert results == [[1, 2]]


def test_vmap_grad_and_autocast_are_traced_through():
    class Program(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                low = self.linear(x)
            dots = torch.vmap(torch.dot)(x, x)
            slope = torch.func.grad(lambda t: (t * t).sum())(x)
            return low, dots, slope

    model = Program()
    ep = proviso.export(model, (torch.ones(3, 4),),
                        dynamic_shapes=({0: AUTO},))
    x = torch.randn(6, 4)
    for found, expected in zip(ep.module()(x), model(x)):
        assert found.dtype == expected.dtype
        same(found, expected)


def test_exports_nest():
    example = torch.ones(2)

    def inner(x):
        return x * 2

    def outer(x):
        ep = proviso.export(inner, (example,))
        assert ep.operators == ["aten.mul.Tensor"]
        return x + 1

    ep = proviso.export(outer, (torch.ones(1),))
    assert ep.operators == ["aten.add.Tensor"]


# --- custom operators

@torch.library.custom_op("proviso_tests::pick", mutates_args=())
def pick(x: torch.Tensor, threshold: float = 0.0) -> torch.Tensor:
    return x[x > threshold]


@pick.register_fake
def _(x, threshold=0.0):
    size = torch.library.get_ctx().new_dynamic_size()
    return x.new_empty(size)


@torch.library.custom_op("proviso_tests::nofake", mutates_args=())
def nofake(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


def test_a_custom_operator_is_kept_whole():
    def program(x):
        return pick(x, 0.5) * 2

    ep = proviso.export(program, (torch.randn(9),), dynamic_shapes=((AUTO,),))
    assert ep.operators[0] == "proviso_tests.pick.default"
    for n in (3, 12):
        x = torch.randn(n)
        same(ep.module()(x), program(x))


def test_a_custom_operator_without_a_fake_is_named():
    with pytest.raises(RuntimeError, match="no fake impl.*proviso_tests::nof"):
        proviso.export(lambda x: nofake(x), (torch.ones(2),))


# --- models

class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x):
        y = self.norm(self.conv(x))
        y += x
        return nn.functional.relu(y, inplace=True)


class SmallResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 7, stride=2, padding=3)
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.blocks = nn.Sequential(Block(8), Block(8))
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        x = self.blocks(self.pool(self.stem(x)))
        x = nn.functional.adaptive_avg_pool2d(x, (1, 1))
        return self.head(torch.flatten(x, 1))


def test_a_cnn_takes_any_batch_height_and_width():
    model = SmallResNet().eval()
    ep = proviso.export(model, (torch.randn(2, 3, 64, 64),),
                        dynamic_shapes={"x": {0: AUTO, 2: AUTO, 3: AUTO}})
    for shape in ((1, 3, 40, 56), (3, 3, 96, 33), (5, 3, 64, 128)):
        x = torch.randn(shape)
        same(ep.module()(x), model(x))


@pytest.mark.parametrize("train", [True, False])
def test_a_transformer_layer_takes_any_batch_and_length(train):
    model = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0,
                                       batch_first=True)
    model.train(train)
    ep = proviso.export(model, (torch.randn(4, 12, 32),),
                        dynamic_shapes={"src": {0: AUTO, 1: AUTO}})
    for shape in ((2, 5, 32), (3, 20, 32), (7, 12, 32)):
        x = torch.randn(shape)
        same(ep.module()(x), model(x))


def test_large_results_of_constants_are_not_computed():
    def program(x):
        long = torch.tensor([1, 2, 3]).repeat(1 << 40)  # 24 terabytes
        return x + long[:2]

    ep = proviso.export(program, (torch.ones(2),))
    assert "aten.repeat.default" in ep.operators


def draws(kind, generator):
    return {
        "rand": lambda x: torch.rand(x.shape[0], generator=generator),
        "randn": lambda x: torch.randn(x.shape, generator=generator),
        "randint": lambda x: torch.randint(9, x.shape, generator=generator),
        "randperm": lambda x: torch.randperm(x.shape[0], generator=generator),
        "normal": lambda x: torch.normal(x, 1.0, generator=generator),
        "normal_": lambda x: x.clone().normal_(generator=generator),
        "uniform_": lambda x: x.clone().uniform_(generator=generator),
        "bernoulli": lambda x: torch.bernoulli(x, generator=generator),
        "multinomial": lambda x: torch.multinomial(x, 2, generator=generator),
    }[kind]


@pytest.mark.parametrize("kind", [
    "rand", "randn", "randint", "randperm", "normal", "normal_", "uniform_",
    "bernoulli", "multinomial"])
def test_a_generator_of_its_own_is_refused(kind):
    x = torch.full((4,), 0.5)
    name = kind.rstrip("_")
    with pytest.raises(NotImplementedError,
                       match=rf"aten::{name}.*torch.manual_seed"):
        proviso.export(draws(kind, torch.Generator()), (x,),
                       dynamic_shapes=({0: AUTO},))
    if kind == "normal":  # of a tensor and a number: torch has no meta function
        return
    program = draws(kind, torch.default_generator)
    ep = proviso.export(program, (x,), dynamic_shapes=({0: AUTO},))
    y = torch.full((6,), 0.25)
    torch.manual_seed(3)
    expected = program(y)
    torch.manual_seed(3)
    same(ep.module()(y), expected)


def test_a_generator_made_in_the_program_is_refused():
    def program(x):
        return torch.rand(x.shape[0],
                          generator=torch.Generator().manual_seed(4))

    with pytest.raises(NotImplementedError, match="aten::rand.generator"):
        proviso.export(program, (torch.ones(3),))
