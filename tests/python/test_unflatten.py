"""unflatten(): the program as a tree of modules like the one exported."""

import io

import pytest
import torch

import proviso
from proviso import Dim

nn = torch.nn


class Block(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.norm = nn.BatchNorm1d(width)
        self.act = nn.ReLU()

    def forward(self, x, *, scale=None):
        y = self.act(self.norm(self.linear(x)))
        return y if scale is None else y * scale


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = Block()
        self.layer2 = Block()
        self.stack = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
        self.unused = nn.Linear(2, 2)
        self.register_buffer("offset", torch.ones(4), persistent=False)

    def forward(self, x):
        y = self.layer1(x, scale=x.mean())
        return self.stack(self.layer2(y) + self.offset)


class Repeated(nn.Module):
    """One module called twice, and under two names."""

    def __init__(self):
        super().__init__()
        self.block = Block()
        self.again = self.block

    def forward(self, x):
        return self.again(self.block(self.block(x)))


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5, 4)
        self.head = nn.Linear(4, 5, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, x):
        return self.head(self.embed(x.abs().sum(1).long() % 5))


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.other = nn.Linear(4, 4)

    def forward(self, x):
        with torch.no_grad():
            scale = self.other(x).sum()
        y = self.block(x)
        return torch.cond(scale > 0, lambda y: y + 1, lambda y: y * 2, (y,))


class Counting(nn.Module):
    """A submodule that changes its buffer, and sizes read in submodules."""

    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(()))

        def forward(self, x):
            self.count.add_(x.shape[0])
            return x.reshape(x.shape[0] * 2, -1)

    def __init__(self):
        super().__init__()
        self.counter = self.Counter()
        self.linear = nn.Linear(2, 3)

    def forward(self, x):
        return self.linear(self.counter(x)), self.counter.count * 1


def exported(kind, **options):
    torch.manual_seed(0)
    model = kind().eval()
    ep = proviso.export(model, (torch.randn(3, 4),),
                        dynamic_shapes=({0: Dim.AUTO},), **options)
    return model, ep


def names(module):
    return {name for name, _ in module.named_modules(remove_duplicate=False)}


def shapes(tensors):
    return {name: tuple(tensor.shape) for name, tensor in tensors}


@pytest.mark.parametrize(
    "kind", [Model, Repeated, Tied, Branches, Counting])
def test_the_tree_gives_what_eager_gives(kind):
    model, ep = exported(kind)
    tree = proviso.unflatten(ep)
    assert isinstance(tree, nn.Module)
    # The bodies of branches and blocks are modules too.
    assert names(tree) >= names(model)
    assert shapes(tree.named_parameters()) == shapes(model.named_parameters())
    assert shapes(tree.named_buffers()) == shapes(model.named_buffers())
    for rows in (3, 5):
        x = torch.randn(rows, 4)
        torch.testing.assert_close(tree(x), model(x))


def test_a_submodule_is_called_by_itself():
    model, ep = exported(Model)
    tree = proviso.unflatten(ep)
    x = torch.randn(5, 4)
    torch.testing.assert_close(tree.stack(x), model.stack(x))
    torch.testing.assert_close(tree.layer2.linear(x), model.layer2.linear(x))


def test_a_submodule_is_replaced():
    model, ep = exported(Model)
    tree = proviso.unflatten(ep)
    tree.stack = nn.Identity()
    tree.layer2.act = nn.Sigmoid()
    model.stack, model.layer2.act = nn.Identity(), nn.Sigmoid()
    x = torch.randn(5, 4)
    torch.testing.assert_close(tree(x), model(x))


def test_a_kept_signature_takes_the_modules_own_arguments():
    model, ep = exported(Model, preserve_module_call_signature=("layer1",))
    entry, = [e for e in ep.module_call_graph if e.fqn == "layer1"]
    assert [a.name for a in entry.signature.inputs] == ["x", "mean"]
    assert entry.signature.in_spec.child(1).context == ["scale"]
    tree = proviso.unflatten(ep)
    x, scale = torch.randn(5, 4), torch.tensor(3.0)
    torch.testing.assert_close(tree.layer1(x, scale=scale),
                               model.layer1(x, scale=scale))

    class Other(nn.Module):
        def forward(self, x, *, scale):
            return x - scale

    tree.layer1 = model.layer1 = Other()
    torch.testing.assert_close(tree(x), model(x))


def test_each_call_of_a_kept_signature_is_told():
    _, ep = exported(Repeated, preserve_module_call_signature=("block",))
    calls = {e.fqn: e.signature for e in ep.module_call_graph}
    assert [name for name, s in calls.items() if s] == [
        "", "block", "block@1", "block@2"]
    assert calls["block@1"].inputs == calls["block"].outputs
    tree = proviso.unflatten(ep)
    tree.block = nn.Tanh()
    x = torch.randn(5, 4)
    torch.testing.assert_close(tree(x), x.tanh().tanh().tanh())


def test_shared_tensors_stay_shared():
    _, ep = exported(Tied)
    tree = proviso.unflatten(ep)
    assert tree.head.weight is tree.embed.weight
    _, ep = exported(Repeated)
    tree = proviso.unflatten(ep)
    assert tree.again.linear.weight is tree.block.linear.weight


def test_a_size_is_an_argument_of_a_kept_signature():
    class Sized(nn.Module):
        def forward(self, x, rows, flag, name=None):
            return x.reshape(rows, -1) if flag else x

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.sized = Sized()

        def forward(self, x):
            return self.sized(x, x.shape[0] * 2, True, name="n")

    _, ep = exported(Outer, preserve_module_call_signature=("sized",))
    tree = proviso.unflatten(ep)

    class Other(nn.Module):
        def forward(self, x, rows, flag, name):
            assert (flag, name) == (True, "n")
            return x.new_zeros(rows)

    tree.sized = Other()
    assert tree(torch.randn(5, 4)).shape == (10,)


def test_modules_and_signatures_survive_a_file_and_decomposition():
    model, ep = exported(Model, preserve_module_call_signature=("layer1",))
    file = io.BytesIO()
    proviso.save(ep, file)
    file.seek(0)
    x = torch.randn(5, 4)
    for again in (proviso.load(file), ep.run_decompositions()):
        assert ([(e.fqn, e.signature is not None)
                 for e in again.module_call_graph]
                == [(e.fqn, e.signature is not None)
                    for e in ep.module_call_graph])
        tree = proviso.unflatten(again)
        assert names(tree) == names(model)
        torch.testing.assert_close(tree(x), model(x))
        scale = torch.tensor(2.0)
        torch.testing.assert_close(tree.layer1(x, scale=scale),
                                   model.layer1(x, scale=scale))


@pytest.mark.parametrize("kind", [Model, Repeated])
def test_modules_of_operators_are_those_of_torch_export(kind):
    model, ep = exported(kind)
    theirs = torch.export.export(
        model, (torch.randn(3, 4),),
        dynamic_shapes=({0: torch.export.Dim.AUTO},))

    def stacks(program):
        return [(str(node.target), node.meta["nn_module_stack"])
                for node in program.graph.nodes
                if isinstance(node.target, torch._ops.OpOverload)]

    if kind is Model:
        assert stacks(ep.to_torch()) == stacks(theirs)
    assert ([e.fqn for e in ep.module_call_graph]
            == [e.fqn for e in theirs.module_call_graph])


@pytest.mark.parametrize("names, text", [
    (("layer3",), "no submodule 'layer3'; its submodules are: layer1, "),
    (("",), "no submodule ''"),
])
def test_unknown_names_are_told(names, text):
    with pytest.raises(ValueError, match=text):
        exported(Model, preserve_module_call_signature=names)


def test_a_kept_signature_inside_a_block_is_refused():
    with pytest.raises(NotImplementedError,
                       match="'other' is called inside a no_grad or autocast"):
        exported(Branches, preserve_module_call_signature=("other",))


def test_what_is_no_program_is_refused():
    with pytest.raises(TypeError, match="expected an ExportedProgram, got"):
        proviso.unflatten(nn.Linear(2, 2))
