"""Values that no kernel expects: calls of PyTorch's operators, from torch's own
samples, as programs of one call whose integers, truth values and floats are
then wild (see tests/fuzz/models/wild_values.cc).

    python tests/python/wild_values.py FOLDER           # writes the programs
    python tests/python/wild_values.py FOLDER put take  # of operators so called
    LD_PRELOAD=build/bin/libcanaries.so build/bin/wild_values 200 1 FOLDER/*.pt2

What `proviso run` must not do, whatever stands in a file and in its inputs, is
to let a kernel use one as a place in memory.
"""

import collections
import operator
import pathlib
import sys
import warnings

import torch
from torch._export.verifier import TrainingIRVerifier
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import graph_signature as signature
from torch.export.exported_program import (
    ExportedProgram, ModuleCallEntry, ModuleCallSignature)
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

import op_samples

MOST = 1 << 16  # elements of an input: what is larger is slow, and no other


def _is_plain(t):
    return (t.layout is torch.strided and not t.is_nested
            and not t.is_quantized and t.device.type == "cpu"
            and type(t) in (torch.Tensor, torch.nn.Parameter))


def _form(value):
    if isinstance(value, torch.Tensor):
        return value.dtype, min(value.dim(), 3), value.numel() == 0
    if isinstance(value, (bool, str, type(None), torch.dtype)):
        return value
    if isinstance(value, int):
        return max(-2, min(value, 2))
    return type(value)


def _has_integers(call):
    return any(not t.is_floating_point() and not t.is_complex()
               for t in op_samples.tensors_in(call[1:]))


class Calls(TorchDispatchMode):
    """The calls of aten's operators, one of each form (of dtypes, numbers of
    dimensions, arguments that are none or a name)."""

    def __init__(self):
        super().__init__()
        self.calls = {}

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        tensors = op_samples.tensors_in((args, kwargs))
        if not tensors or op.namespace != "aten" or not all(
                _is_plain(t) and t.numel() <= MOST for t in tensors):
            return op(*args, **kwargs)
        leaves, spec = pytree.tree_flatten((args, kwargs))
        form = op, spec, tuple(map(_form, leaves))
        if form in self.calls:
            return op(*args, **kwargs)
        kept = pytree.tree_map_only(
            torch.Tensor, lambda t: t.detach().clone(), (args, kwargs))
        result = op(*args, **kwargs)
        if op_samples.tensors_in(result):
            self.calls[form] = op, *kept
        return result


def _gradients(result, inputs):
    outputs = [t for t in op_samples.tensors_in(result) if t.requires_grad]
    inputs = [t for t in op_samples.tensors_in(inputs) if t.requires_grad]
    if outputs and inputs:
        torch.autograd.grad(outputs, inputs, [torch.ones_like(t)
                                              for t in outputs],
                            allow_unused=True)


DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64,
          torch.uint8, torch.int32)
# Calls of an operator, spread over their forms: of those with integers, which
# are what a kernel takes for a place, and of the others.
WITH_INTEGERS, OTHERS = 32, 8


def sampled(names=(), samples=24, dtypes=DTYPES):
    """(operator, arguments, keywords) of the samples and of their gradients."""
    calls = Calls()
    for info in op_samples.op_db():
        if names and info.name.split(".")[-1] not in names:
            continue
        for dtype in dtypes:
            if dtype not in info.supported_dtypes("cpu"):
                continue
            torch.manual_seed(0)
            gradients = (info.supports_autograd
                         and (dtype.is_floating_point or dtype.is_complex))
            try:
                cases = op_samples.spread(info.sample_inputs(
                    "cpu", dtype, requires_grad=gradients), samples)
            except Exception:
                continue
            for case in cases:
                inputs = case.input, case.args, case.kwargs
                try:
                    with calls:
                        _gradients(info.op(case.input, *case.args,
                                           **case.kwargs), inputs)
                except Exception:
                    continue  # no call of the CPU's, or none without a gradient
    by_operator = collections.defaultdict(list)
    for call in calls.calls.values():
        by_operator[call[0], _has_integers(call)].append(call)
    return [call for (_, has_integers), kept in by_operator.items()
            for call in op_samples.spread(
                kept, WITH_INTEGERS if has_integers else OTHERS)]


def own():
    """Calls that torch's samples do not make: composed ones, which a dispatch
    mode does not see, and parts of others."""
    aten = torch.ops.aten
    torch.manual_seed(0)
    integers = torch.tensor
    rows, packed = torch.rand(6, 4), integers([3, 2, 1])
    images, labels = torch.rand(2, 3, 4, 4), torch.ones(2, 4, 4).long()
    weights = [torch.rand(20, 4), torch.rand(20, 5),
               torch.rand(20), torch.rand(20)]
    hidden = torch.rand(1, 3, 5)
    channels = torch.rand(4), torch.zeros(4, dtype=torch.int32)

    def gates(count):
        return [w[:5 * count] for w in weights]

    places = integers([[0, 2], [1, 1]])
    lu, pivots = torch.linalg.lu_factor(torch.rand(3, 3))
    calls = [
        (aten.embedding_backward, torch.rand(3, 2), integers([0, 4, 4]), 5, -1,
         True, False),
        (aten.embedding_backward, torch.rand(3, 2), integers([0, 4, 4]), 5, -1,
         False, False),
        (aten.embedding_dense_backward, torch.rand(3, 2),
         integers([0, 4, 4], dtype=torch.int32), 5, 1, True),
        *((kind, rows, integers([0, 5, 3, 1]), integers([0, 2]), scale, mode,
           False, None, last)
          for kind in (aten.embedding_bag, aten._embedding_bag,
                       aten._embedding_bag_forward_only)
          for mode in (0, 1, 2) for scale in (False, mode == 0)
          for last in (False, True)),
        (aten.embedding_bag.padding_idx, rows, integers([0, 5, 3, 1]),
         integers([0, 2]), False, 0, False, torch.rand(4), False, 3),
        (aten.nll_loss, rows, integers([0, 1, 2, 3, 3, 3]), torch.rand(4)),
        (aten.nll_loss_nd, images, labels),
        (aten.nll_loss2d, images, labels, torch.rand(3), 0),
        (aten.cross_entropy_loss, rows, integers([0, 1, 2, 3, 3, 3])),
        (aten.cross_entropy_loss, images, labels, torch.rand(3), 1, -100, .1),
        (aten.multilabel_margin_loss, rows, torch.zeros(6, 4).long()),
        (aten.one_hot, places), (aten.one_hot, places, 3),
        (aten.take_along_dim, rows, integers([[0, 5, 3, 1]]), 0),
        (aten.take_along_dim, rows, places),
        (aten.tensor_split.tensor_indices_or_sections, rows, integers([1, 3])),
        (aten.tensor_split.tensor_indices_or_sections, rows, integers(3)),
        (aten.repeat_interleave.self_Tensor, rows, integers([1, 2, 3, 0, 1, 2]),
         0),
        (aten.repeat_interleave.Tensor, integers([1, 2, 3])),
        (aten.narrow.Tensor, rows, 0, integers(2), 3),
        (aten.lstm.data, rows, packed, [hidden, hidden], weights, True, 1, 0.,
         False, False),
        (aten.gru.data, rows, packed, hidden, gates(3), True, 1, 0., False,
         False),
        (aten.rnn_tanh.data, rows, packed, hidden, gates(1), True, 1, 0., False,
         False),
        (aten._pack_padded_sequence, torch.rand(3, 3, 4), packed, False),
        (aten._pack_padded_sequence, torch.rand(3, 3, 4), packed, True),
        (aten._pad_packed_sequence, rows, packed, False, 0., 3),
        (aten._pad_packed_sequence, rows, packed, True, 0., 5),
        (aten.lu_solve, torch.rand(3, 2), lu, pivots),
        (aten.fake_quantize_per_channel_affine, rows, *channels, 1, 0, 255),
        (aten.fake_quantize_per_tensor_affine.tensor_qparams, rows,
         torch.rand(()), integers(3, dtype=torch.int32), 0, 255),
        (aten._sobol_engine_draw, torch.zeros(2).long(), 3,
         torch.zeros(2, 30).long(), 2, 1, torch.float32),
        (aten._rowwise_prune, rows, torch.ones(6).bool(), torch.int64),
        (aten.histogramdd.TensorList_bins, torch.rand(5, 2),
         [torch.arange(3.), torch.arange(4.)]),
        (aten.masked_select, rows, rows > .5),
        (aten.combinations, integers([1, 2, 3])),
        (aten._unsafe_index.Tensor, rows, [integers([0, 5])]),
        (aten._unsafe_index_put, rows, [None, integers([0, 3])],
         torch.rand(6, 2)),
        (aten._unsafe_masked_index, rows, rows > .5, [places[:1].T], 0.),
        (aten.max_unpool2d, torch.rand(1, 2, 2, 2),
         torch.zeros(1, 2, 2, 2).long(), [4, 4]),
        (aten.max_unpool3d, torch.rand(1, 2, 2, 2, 2),
         torch.zeros(1, 2, 2, 2, 2).long(), [4, 4, 4], [2, 2, 2], [0, 0, 0]),
        (aten.unique_consecutive, places), (aten._unique2, places),
        (aten.bincount, integers([1, 2, 3]), torch.rand(3), 5),
        (aten.multinomial, rows, 2), (aten.bernoulli, rows),
        (aten.binomial, torch.ones(4), torch.rand(4)), (aten.poisson, rows),
        (aten._sample_dirichlet, rows), (aten._standard_gamma, rows),
        (aten._transformer_encoder_layer_fwd, *_layer()),
    ]
    for op, *args in calls:
        if isinstance(op, torch._ops.OpOverloadPacket):
            op = getattr(op, op.overloads()[0])
        yield op, tuple(args), {}


def _layer():
    def random(*sizes):
        return torch.rand(*sizes)

    return (random(2, 3, 4), 4, 2, random(12, 4), random(12), random(4, 4),
            random(4), False, False, 1e-5, random(4), random(4), random(4),
            random(4), random(8, 4), random(8), random(4, 8), random(4))


def program(op, args, kwargs):
    """An ExportedProgram of the one call, whose tensors are its inputs; and
    these."""
    mode = FakeTensorMode(static_shapes=True, allow_non_fake_inputs=True)
    graph = torch.fx.Graph()
    inputs = []

    def placeholder(tensor):
        node = graph.placeholder(f"t{len(inputs)}")
        node.meta["val"] = mode.from_tensor(tensor)
        inputs.append(tensor)
        return node

    copies = pytree.tree_map_only(torch.Tensor, torch.clone, (args, kwargs))
    result = op(*copies[0], **copies[1])
    nodes = pytree.tree_map_only(torch.Tensor, placeholder, (args, kwargs))
    call = graph.call_function(op, *nodes)
    fake = pytree.tree_map_only(torch.Tensor, mode.from_tensor, result)
    call.meta["val"] = fake
    outputs = [call]
    if not isinstance(fake, torch.Tensor):
        outputs = []
        for i, value in enumerate(fake):
            if not isinstance(value, torch.Tensor):
                continue
            outputs.append(graph.call_function(
                operator.getitem, (call, i)))
            outputs[-1].meta["val"] = value
    graph.output(tuple(outputs))
    names = [node.name for node in graph.nodes if node.op == "placeholder"]
    entry = ModuleCallEntry("", ModuleCallSignature(
        inputs=[], outputs=[],
        in_spec=pytree.tree_structure((tuple(inputs), {})),
        out_spec=pytree.tree_structure(tuple(outputs))))
    return ExportedProgram(
        torch.nn.Module(), graph,
        signature.ExportGraphSignature(
            [signature.InputSpec(signature.InputKind.USER_INPUT,
                                 signature.TensorArgument(name), None)
             for name in names],
            [signature.OutputSpec(signature.OutputKind.USER_OUTPUT,
                                  signature.TensorArgument(node.name), None)
             for node in outputs]),
        state_dict={}, range_constraints={}, module_call_graph=[entry],
        verifiers=[TrainingIRVerifier]), inputs


def write(folder, calls):
    """The paths of the programs; their inputs are beside them, `.pt`."""
    folder = pathlib.Path(folder)
    folder.mkdir(exist_ok=True, parents=True)
    paths = []
    for i, call in enumerate(calls):
        name = str(call[0]).removeprefix("aten.")
        path = folder / f"{name}.{i}.pt2"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made, inputs = program(*call)
                torch.export.save(made, path)
        except Exception as error:
            print(f"{path.name}: {type(error).__name__}: {error}"[:300],
                  file=sys.stderr)
            continue
        torch.save(inputs, path.with_suffix(".pt"))
        paths.append(path)
    return paths


if __name__ == "__main__":
    made = sampled(sys.argv[2:])
    for path in write(sys.argv[1], made if sys.argv[2:] else made + [*own()]):
        print(path)
