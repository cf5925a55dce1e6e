"""no_grad, enable_grad, set_grad_enabled and autocast blocks of a program: it
stops gradients and casts where eager does, in a file too."""

import copy
import io

import pytest
import torch

import proviso
from proviso import Dim

BFLOAT = torch.bfloat16


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(4, 4)
        self.b = torch.nn.Linear(4, 4)
        self.register_buffer("mean", torch.zeros(4))


class NoGrad(Model):
    """The average reads what may be trained, and is not trained itself."""

    def forward(self, x):
        y = self.a(x)
        with torch.no_grad():
            self.mean.mul_(0.9).add_(y.mean(0) * 0.1)
            scale = self.b(y).abs().amax()
        return self.b(y) / scale + self.mean


class Inside(Model):
    """Gradients on again in a block that has them off."""

    def forward(self, x):
        with torch.no_grad():
            y = self.a(x)
            with torch.enable_grad():
                z = self.b(y)
        return z * y


class Switched(Model):
    def forward(self, x):
        torch.set_grad_enabled(False)
        y = self.a(x)
        torch.set_grad_enabled(True)
        return self.b(x) * y


class Decorated(Model):
    @torch.no_grad()
    def scale(self, x):
        return self.a(x).sum()

    def forward(self, x):
        return self.b(x) * self.scale(x)


class Sizes(Model):
    """A number read from data, and a size that depends on it."""

    def forward(self, x):
        with torch.no_grad():
            n = (x > 0).sum().item()
            torch._check(n > 0)
            found = self.a(x).flatten().nonzero()
        return self.b(x) * n, found * 2


class InBranch(Model):
    def forward(self, x):
        def yes(x):
            with torch.no_grad():
                y = self.a(x)
            return self.b(x) * y

        return torch.cond(x.sum() > 0, yes, self.b, (x,))


class Cast(Model):
    def forward(self, x):
        with torch.autocast("cpu", dtype=BFLOAT):
            y = self.a(x)
            z = torch.matmul(y, y.t())
        return self.b(x), y, z


class CastOff(Model):
    """What runs in full precision whatever is around the program."""

    def forward(self, x):
        with torch.autocast("cpu", enabled=False):
            y = self.a(x)
        return self.b(x), y


class Nested(Model):
    def forward(self, x):
        with torch.autocast("cpu", dtype=BFLOAT):
            y = self.a(x)
            with torch.no_grad():
                z = self.b(y)
                with torch.autocast("cpu", enabled=False):
                    w = self.a(z.float())
        return y.float() + z.float() * w


MODELS = (NoGrad, Inside, Switched, Decorated, Sizes, InBranch, Cast, CastOff,
          Nested)
each_model = pytest.mark.parametrize("kind", MODELS)


def exported(kind):
    torch.manual_seed(0)
    model = kind()
    return model, proviso.export(model, (torch.rand(3, 4),),
                                 dynamic_shapes=({0: Dim.AUTO},))


def outcome(run, parameters, x):
    """What a call gives, and the gradients that training on it would."""
    parameters = list(parameters)
    results = run(x)
    results = results if isinstance(results, tuple) else (results,)
    loss = sum(r.float().sum() for r in results)
    return (*results, *torch.autograd.grad(loss, parameters,
                                           allow_unused=True))


def assert_same(found, expected):
    assert len(found) == len(expected)
    for f, e in zip(found, expected):
        if f is None:  # torch.cond gives zeros where there is no gradient
            assert e is None or not e.any()
        else:
            torch.testing.assert_close(f, e)


def assert_trains_like(model, run, parameters):
    """At two sizes; eager runs on a copy, for it may change its buffers."""
    for rows in (3, 5):
        x = torch.rand(rows, 4)
        eager = copy.deepcopy(model)
        before = {n: b.clone() for n, b in model.named_buffers()}
        assert_same(outcome(run, parameters, x),
                    outcome(eager, eager.parameters(), x))
        for name, buffer in model.named_buffers():
            with torch.no_grad():
                buffer.copy_(before[name])


@each_model
def test_a_program_trains_like_eager(kind):
    model, ep = exported(kind)
    run = ep.module()
    assert list(run.parameters())[0] is model.a.weight
    assert_trains_like(model, run, list(model.parameters()))


@each_model
def test_so_does_torchs_form(kind):
    model, ep = exported(kind)
    for rows in (3, 5):
        x = torch.rand(rows, 4)
        theirs, eager = ep.to_torch().module(), copy.deepcopy(model)
        tensors = dict(theirs.named_parameters())
        parameters = [tensors[name] for name, _ in eager.named_parameters()]
        assert_same(outcome(theirs, parameters, x),
                    outcome(eager, eager.parameters(), x))


@each_model
def test_so_does_what_a_file_gives(kind):
    model, ep = exported(kind)
    file = io.BytesIO()
    proviso.save(ep, file)
    file.seek(0)
    again = proviso.load(file)
    assert again.operators == ep.operators
    x = torch.rand(5, 4)
    tensors = dict(again.named_parameters())
    assert_same(
        outcome(again.module(),
                [tensors[n] for n, _ in model.named_parameters()], x),
        outcome(model, model.parameters(), x))


@each_model
def test_decomposed_results_equal_eager(kind):
    model, ep = exported(kind)
    core = ep.run_decompositions()
    core.verify("core")
    x = torch.rand(5, 4)
    eager = copy.deepcopy(model)
    with torch.no_grad():
        torch.testing.assert_close(core.module()(x), eager(x))


def kinds_of_blocks(module):
    """[(operator, its settings, the operators inside)] of torch's graph."""
    result = []
    for node in module.graph.nodes:
        name = getattr(node.target, "__name__", "")
        if not name.startswith("wrap_with_"):
            continue
        place = next(i for i, a in enumerate(node.args)
                     if isinstance(a, torch.fx.Node))
        body = getattr(module, node.args[place].target)
        result.append((name, node.args[:place], [
            str(n.target) for n in body.graph.nodes
            if n.op == "call_function" and "getitem" not in str(n.target)
            and "higher_order" not in str(n.target)
            and "_assert_tensor_metadata" not in str(n.target)
            and "wrap_with" not in str(n.target)]))
        result += kinds_of_blocks(body)
    return result


@pytest.mark.parametrize("kind", [NoGrad, Decorated, Cast, CastOff])
def test_blocks_are_those_of_torch_export(kind):
    model, ep = exported(kind)
    theirs = torch.export.export(model, (torch.rand(3, 4),),
                                 dynamic_shapes=({0: torch.export.Dim.AUTO},))

    def without_cache(blocks):
        # torch.export turns the cache of casts off: it counts memory, not
        # results.
        return [(name, settings[:3], inside)
                for name, settings, inside in blocks]

    assert (without_cache(kinds_of_blocks(ep.graph_module))
            == without_cache(kinds_of_blocks(theirs.graph_module)))


def test_a_block_prints_as_a_sub_graph():
    _, ep = exported(NoGrad)
    text = str(ep)
    assert ("wrap_with_set_grad_enabled = torch.ops.higher_order."
            "wrap_with_set_grad_enabled(False, submod_0, ") in text
    assert "class submod_0(torch.nn.Module):" in text


def test_what_is_around_the_trace_makes_no_block():
    with torch.no_grad(), torch.autocast("cpu", dtype=BFLOAT):
        _, ep = exported(Model.__subclasses__()[0])
    assert "wrap_with" not in str(ep)


def test_an_autocast_block_holds_against_autocast_around():
    model, ep = exported(CastOff)
    x = torch.rand(5, 4)
    with torch.autocast("cpu", dtype=BFLOAT):
        found, expected = ep.module()(x), model(x)
    assert [t.dtype for t in found] == [BFLOAT, torch.float32]
    assert_same(found, expected)


def test_gradients_reach_inputs_and_stop_without_grad():
    model, ep = exported(Decorated)
    x = torch.rand(3, 4, requires_grad=True)
    grad, = torch.autograd.grad(ep.module()(x).sum(), x)
    expected, = torch.autograd.grad(model(x).sum(), x)
    torch.testing.assert_close(grad, expected)
    with torch.no_grad():
        assert not ep.module()(x).requires_grad


def test_an_optimizer_trains_a_program_with_tied_weights():
    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(4, 4)
            self.b = torch.nn.Linear(4, 4)
            self.b.weight = self.a.weight
            self.again = self.a

        def forward(self, x):
            return self.again(self.b(self.a(x).relu()))

    model = Tied()
    eager, x = copy.deepcopy(model), torch.randn(3, 4)
    ep = proviso.export(model, (x,), dynamic_shapes=({0: Dim.AUTO},))
    run = ep.module()
    assert len(list(run.parameters())) == len(list(eager.parameters())) == 3
    for trained in (run, eager):
        optimizer = torch.optim.SGD(trained.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            trained(x).square().sum().backward()
            optimizer.step()
    assert_same(list(model.parameters()), list(eager.parameters()))


# --- what leaves no operator

def _seeded(x):
    torch.manual_seed(5)
    return x + torch.rand(2)


def _of_doubles(x):
    torch.set_default_dtype(torch.float64)
    try:
        return x + torch.zeros(2)
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("program, name", [
    (_seeded, "manual_seed"), (_of_doubles, "set_default_dtype")])
def test_a_mode_that_leaves_no_operator_is_an_error(program, name):
    with pytest.raises(NotImplementedError, match=name):
        proviso.export(program, (torch.ones(2),))
    assert torch.get_default_dtype() == torch.float32


def test_a_default_dtype_that_is_set_already_is_no_change():
    def program(x):
        torch.set_default_dtype(torch.float32)
        return x + torch.zeros(2)

    x = torch.randn(2)
    assert torch.equal(proviso.export(program, (x,)).module()(x), x)


class Counted(torch.nn.Module):
    """Nobody reads what the block computes: it writes."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(3))

    def forward(self, x):
        with torch.no_grad():
            self.calls.add_(1)
        return x * 2


def test_a_block_that_only_writes_is_saved():
    x = torch.randn(5)
    program = proviso.export(Counted(), (x,), dynamic_shapes=({0: Dim.AUTO},))
    file = io.BytesIO()
    proviso.save(program, file)
    for load in (proviso.load, torch.export.load):
        file.seek(0)
        module = load(file).module()
        for size in (5, 7):
            module(torch.randn(size))
        calls = dict(module.named_buffers())["calls"]
        assert torch.equal(calls, torch.full((3,), 2.0)), load


def _named(x):
    with torch.profiler.record_function("twice"):
        y = x * 2
    with torch.autograd.profiler.record_function("sum", "of rows"):
        return y + x.shape[0]


@torch.profiler.record_function("whole")
def _decorated(x):
    handle = torch.ops.profiler._record_function_enter_new("inner", None)
    y = x + 1
    torch.ops.profiler._record_function_exit(handle)
    return y


@pytest.mark.parametrize("program", [_named, _decorated])
def test_ranges_of_a_profile_are_no_part_of_a_program(program):
    ep = proviso.export(program, (torch.randn(5, 2),),
                        dynamic_shapes=[{0: Dim.AUTO}])
    assert not any("profiler" in str(node.target) for node in ep.graph.nodes)
    with torch.profiler.profile() as profile:
        proviso.export(program, (torch.randn(5, 2),))
    assert {"twice", "whole"} & {event.key for event in profile.key_averages()}
    for rows in range(10):
        x = torch.randn(rows, 2)
        assert torch.equal(ep.module()(x), program(x))
