"""A tensor without dimensions: an operator over dimension 0 takes it or not,
and the export says what eager says."""

import pytest
import torch
import torch.nn.functional as F
from torch.utils import _pytree as pytree

import proviso

PLACE = torch.tensor(0)
ONE = torch.tensor([1])

CALLS = {
    "aminmax": lambda x: x.aminmax(dim=0),
    "argmax": lambda x: x.argmax(0),
    "argsort": lambda x: x.argsort(0),
    "cat": lambda x: torch.cat([x, x], 0),
    "cdist": lambda x: torch.cdist(x, x),
    "chunk": lambda x: x.chunk(1, 0),
    "cosine_similarity": lambda x: F.cosine_similarity(x, x, 0),
    "count_nonzero": lambda x: x.count_nonzero(0),
    "cross": lambda x: torch.linalg.cross(x, x, dim=0),
    "cummax": lambda x: x.cummax(0),
    "cumsum": lambda x: x.cumsum(0),
    "diag_embed": lambda x: x.diag_embed(),
    "diagonal": lambda x: x.diagonal(0, 0, 0),
    "diff": lambda x: x.diff(dim=0),
    "dist": lambda x: x.dist(x),
    "expand": lambda x: x.expand(1),
    "fft": lambda x: torch.fft.fft(x, dim=0),
    "fftn": lambda x: torch.fft.fftn(x, dim=[0]),
    "flatten": lambda x: x.flatten(),
    "flip": lambda x: x.flip(0),
    "fliplr": lambda x: x.fliplr(),
    "gather": lambda x: x.gather(0, PLACE),
    "glu": lambda x: F.glu(x, 0),
    "hsplit": lambda x: x.hsplit(1),
    "index_add": lambda x: x.index_add(0, PLACE, x),
    "index_copy": lambda x: x.index_copy(0, PLACE, x),
    "index_fill": lambda x: x.index_fill(0, PLACE, 1.),
    "index_select": lambda x: x.index_select(0, PLACE),
    "kthvalue": lambda x: x.kthvalue(1, 0),
    "layer_norm": lambda x: F.layer_norm(x, []),
    "logcumsumexp": lambda x: x.logcumsumexp(0),
    "logsumexp": lambda x: x.logsumexp(0),
    "median": lambda x: x.median(0),
    "mode": lambda x: x.mode(0),
    "movedim": lambda x: x.movedim(0, 0),
    "nanmedian": lambda x: x.nanmedian(0),
    "narrow": lambda x: x.narrow(0, 0, 1),
    "normalize": lambda x: F.normalize(x, dim=0),
    "pad": lambda x: F.pad(x, (1, 1)),
    "quantile": lambda x: x.quantile(0.5, 0),
    "renorm": lambda x: x.renorm(2, 0, 1.),
    "repeat_interleave": lambda x: x.repeat_interleave(3, 0),
    "repeat_by_counts": lambda x: x.repeat_interleave(ONE, 0),
    "roll": lambda x: x.roll(1, 0),
    "rot90": lambda x: x.rot90(1, [0, 0]),
    "scatter": lambda x: x.scatter(0, PLACE, x),
    "segment_reduce": lambda x: torch.segment_reduce(x, "sum", lengths=ONE),
    "select": lambda x: x.select(0, 0),
    "select_scatter": lambda x: x.select_scatter(x, 0, 0),
    "size": lambda x: x.size(0),
    "slice_scatter": lambda x: x.slice_scatter(x, 0),
    "softmax": lambda x: x.softmax(0),
    "sort": lambda x: x.sort(0),
    "split": lambda x: x.split(1, 0),
    "squeeze": lambda x: x.squeeze(0),
    "stack": lambda x: torch.stack([x], 0),
    "stft": lambda x: torch.stft(x, 1, return_complex=True),
    "take_along_dim": lambda x: torch.take_along_dim(x, PLACE, 0),
    "tensor_split": lambda x: torch.tensor_split(x, ONE, 0),
    "tensordot": lambda x: torch.tensordot(x, x, dims=[[0], [0]]),
    "tile": lambda x: x.tile(2),
    "topk": lambda x: x.topk(1, 0),
    "transpose": lambda x: x.transpose(0, 0),
    "trapezoid": lambda x: torch.trapezoid(x, dim=0),
    "unbind": lambda x: x.unbind(0),
    "unflatten": lambda x: x.unflatten(0, [1]),
    "unfold": lambda x: x.unfold(0, 1, 1),
    "unique": lambda x: torch.unique(x, dim=0),
    "unique_consecutive": lambda x: torch.unique_consecutive(x, dim=0),
    "vector_norm": lambda x: torch.linalg.vector_norm(x, 2, [0]),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_in_eager(name):
    class Model(torch.nn.Module):
        def forward(self, x):
            return CALLS[name](x)

    x = torch.tensor(3.)
    try:
        expected = Model()(x)
    except (RuntimeError, IndexError):
        with pytest.raises((RuntimeError, IndexError)) as error:
            proviso.export(Model(), (x,))
        assert "INTERNAL ASSERT" not in str(error.value)
        return
    found = proviso.export(Model(), (x,)).module()(x)
    for ours, theirs in zip(pytree.tree_leaves(found),
                            pytree.tree_leaves(expected), strict=True):
        torch.testing.assert_close(ours, theirs)
