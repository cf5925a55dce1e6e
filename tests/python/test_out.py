"""Operators that write their results to out=."""

import op_samples
import pytest
import torch
from eager_at_sizes import MATRIX, compare_at
from torch.utils import _pytree as pytree

import proviso


def quotient_then_sum(x):
    y = torch.empty(4)
    torch.div(x.sum(0)[:4], 2.0, out=y)
    torch.add(x[0, :4], y, out=y)
    return [y, torch.exp(y, out=torch.empty(4, dtype=torch.float64))]


def normalized(x):
    y = torch.empty(x.shape[1])
    return [torch.nn.functional.normalize(x.sum(0), dim=0, out=y), y]


def compared(x):
    y = torch.empty_like(x, dtype=torch.bool)
    return [torch.gt(x, 0, out=y), torch.where(y, x, 0),
            torch.pow(x, 2, out=x.clone())]


def joined(x):
    y = torch.empty(2 * x.shape[0], x.shape[1], dtype=torch.float64)
    return [torch.cat([x, x + 1], out=y), y * 2,
            torch.stack([x, x], 1, out=torch.empty(x.shape[0], 2, x.shape[1]))]


def reduced(x):
    rows = torch.empty(x.shape[0])
    order = torch.empty_like(x), torch.empty_like(x, dtype=torch.int64)
    return [torch.sum(x, 1, out=rows), torch.cumsum(x, 0, out=x.clone()),
            *torch.sort(x, 1, out=order), order[0] + rows[:, None]]


def multiplied(x):
    y = torch.empty(x.shape[0], x.shape[0])
    torch.mm(x, x.T, out=y)
    return [torch.matmul(y, x, out=torch.empty_like(x)),
            torch.index_select(y, 0, torch.tensor([1, 0]),
                               out=torch.empty(2, x.shape[0]))]


@pytest.mark.parametrize("program", [quotient_then_sum, normalized, compared,
                                     joined, reduced, multiplied])
def test_operators_write_to_out(program):
    def inputs(n, m):
        torch.manual_seed(n)
        return (torch.rand(n, m),)

    ep = compare_at(program, inputs, (MATRIX,), (3, 5), (7, 4), (2, 9))
    assert "aten.copy_.default" in ep.operators


@pytest.mark.parametrize("program, error", [
    (lambda x: torch.add(x, 1, out=torch.empty(0)), "would resize out="),
    (lambda x: torch.cat([x, x], out=torch.empty(0)), "would resize out="),
    (lambda x: torch.sum(x, 1, out=torch.empty(3, dtype=torch.float64)),
     "would compute in Double, the dtype of out="),
    (lambda x: torch.bernoulli(x, out=torch.empty(3, 4)), "no shape rule"),
    # Composed of sspaddmm.out.
    (lambda x: torch.sspaddmm(x, torch.ones(3, 3), x), "no shape rule"),
    (lambda x: torch.add(x, 1, out=torch.empty(3, 4, dtype=torch.int64)),
     "can't be cast to the desired output type Long"),
    (lambda x: torch.add(x, torch.ones(4, requires_grad=True),
                         out=torch.empty(3, 4)),
     "don't support automatic differentiation"),
])
def test_what_out_does_not_take(program, error):
    with pytest.raises(RuntimeError, match=error):
        proviso.export(program, (torch.ones(3, 4),))


# --- torch's operators on one of its samples

# They resize a tensor of their own that is empty, or return a list.
NOT_TAKEN = {
    "linalg.cholesky", "linalg.det", "linalg.inv", "linalg.ldl_factor",
    "linalg.lu_factor", "linalg.slogdet", "linalg.solve", "linalg.solve_ex",
    "msort", "nanquantile", "nn.functional.logsigmoid", "quantile",
    "_native_batch_norm_legit", "sparse.sampled_addmm", "split_with_sizes_copy",
    "unbind_copy", "bernoulli", "multinomial", "normal",
}


def outs_like(result):
    outs = pytree.tree_map(torch.zeros_like, result)
    return outs if isinstance(outs, torch.Tensor) else tuple(outs)


def sample_of(op):
    """(leaves, call(*leaves), what it returns) of a sample that takes out=."""
    for sample in op.sample_inputs("cpu", torch.float32):
        leaves, spec = pytree.tree_flatten(
            (sample.input, sample.args, sample.kwargs))
        if any(isinstance(leaf, torch.dtype) for leaf in leaves) or not any(
                isinstance(leaf, torch.Tensor) for leaf in leaves):
            continue

        def call(*leaves, spec=spec, **kwargs):
            first, args, named = pytree.tree_unflatten(leaves, spec)
            return op(first, *args, **named, **kwargs)

        result = call(*leaves)
        try:
            call(*leaves, out=outs_like(result))
        except (RuntimeError, TypeError):  # not of what this sample asks
            continue
        return leaves, call, result
    return None


def test_operators_of_torch_write_to_out():
    compared, refused = 0, set()
    for op in op_samples.op_db():
        if not op.supports_out or torch.float32 not in op.dtypes:
            continue
        sample = sample_of(op)
        if sample is None:
            continue
        leaves, call, result = sample

        def program(*leaves, call=call, result=result):
            return call(*leaves, out=outs_like(result))

        try:
            ep = proviso.export(program, tuple(leaves))
        except Exception as error:
            refused.add(op.name)
            assert op.name in NOT_TAKEN, (op.name, error)
            continue
        torch.testing.assert_close(
            pytree.tree_leaves(ep.module()(*leaves)),
            pytree.tree_leaves(program(*leaves)), equal_nan=True, msg=op.name)
        compared += 1
    assert compared > 200 and len(refused) > 10, (compared, refused)
