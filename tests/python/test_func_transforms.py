"""torch.func's transforms of functions of traced sizes: what is exported gives
eager's result at every size that it takes, and what is not is an error."""

import pytest
import torch
import torch.nn.functional as F
from torch.func import (
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
    vmap,
)

import proviso
from proviso import Dim

EXPORTED = {
    "hessian": lambda x: hessian(lambda v: (v**3).sum())(x[:, 0]),
    "hessian of a size": lambda x: hessian(
        lambda v: (v**2).sum() * x.shape[0])(x[:, 0]),
    "jacrev": lambda x: jacrev(lambda v: v.sin())(x[:, 0]),
    "jacrev of rows": lambda x: jacrev(lambda v: v.sin())(x),
    "jacrev of a view": lambda x: jacrev(
        lambda v: v.view(-1, 2).sum(1))(x.reshape(-1)),
    "jacfwd": lambda x: jacfwd(lambda v: v.sin())(x[:, 0]),
    "jacfwd of a product": lambda x: jacfwd(lambda v: v @ torch.ones(2, 3))(x),
    "jacfwd of jacrev": lambda x: jacfwd(
        jacrev(lambda v: v.pow(3).sum()))(x[:, 0]),
    "grad": lambda x: grad(lambda v: (v * x.shape[0]).pow(2).sum())(x),
    "grad and value": lambda x: grad_and_value(lambda v: v.pow(2).sum())(x),
    "vjp": lambda x: vjp(torch.sin, x)[1](x)[0],
    "jvp": lambda x: jvp(torch.sin, (x,), (x,))[1],
    "vmap": lambda x: vmap(lambda r: r * r.sum())(x),
    "vmap of a size": lambda x: vmap(lambda r: r * x.shape[0])(x),
    "vmap of columns": lambda x: vmap(
        lambda r: r.cumsum(0), in_dims=1, out_dims=1)(x),
    "vmap of one": lambda x: vmap(
        lambda r, y: r * y.sum(), in_dims=(0, None))(x, x),
    "vmap of vmap": lambda x: vmap(vmap(lambda a: a * 2))(x),
    "vmap of pairs": lambda x: vmap(
        lambda a: vmap(lambda b: (a - b).norm())(x))(x),
    "vmap of grad": lambda x: vmap(grad(lambda r: (r**2).sum()))(x),
    "vmap of jacrev": lambda x: vmap(jacrev(lambda r: r.sin()))(x),
    "vmap of hessian": lambda x: vmap(hessian(lambda r: r.pow(3).sum()))(x),
    "vmap of a dict": lambda x: vmap(
        lambda d: {"a": d["x"] * 2})({"x": x})["a"],
    "vmap in chunks": lambda x: vmap(lambda r: r * 2, chunk_size=2)(x),
    "vmap of an index": lambda x: vmap(lambda r, i: r[i])(
        x, torch.zeros(x.shape[0], dtype=torch.long)),
    "vmap of new": lambda x: vmap(
        lambda r: r.new_zeros(x.shape[0]) + r[0])(x),
    "vmap of softmax": lambda x: vmap(lambda r: F.softmax(r, 0))(x),
    "vmap of sort": lambda x: vmap(lambda r: r.sort()[0])(x),
    "vmap of einsum": lambda x: vmap(
        lambda r: torch.einsum("i,j->ij", r, r))(x),
    "vmap of pad": lambda x: vmap(lambda r: F.pad(r, (1, 1)))(x),
    "vmap of loss": lambda x: vmap(F.mse_loss)(x, x * 2),
    "of each sample": lambda x: vmap(
        grad(lambda w, r: F.linear(r, w).pow(2).sum()),
        in_dims=(None, 0))(torch.ones(3, 2), x),
}
# torch's own rules for these look at sizes as numbers; the last ones are no
# functions of vmap's.
REFUSED = {
    "gather": lambda x: vmap(
        lambda r: r.gather(0, torch.tensor([0, 1])))(x),
    "conv": lambda x: vmap(
        lambda r: F.conv1d(r[None, None], torch.ones(1, 1, 2))[0, 0])(x),
    "layer_norm": lambda x: vmap(lambda r: F.layer_norm(r, (2,)))(x),
    "cat": lambda x: vmap(lambda r: torch.cat([r, r]))(x),
    "linearize": lambda x: linearize(torch.sin, x)[1](x),
    "item": lambda x: vmap(lambda r: r * r.sum().item())(x),
    "branch": lambda x: vmap(lambda r: r if r.sum() > 0 else -r)(x),
    "nonzero": lambda x: vmap(lambda r: r.nonzero())(x),
    "interpolate": lambda x: grad(lambda v: F.interpolate(
        v[None], scale_factor=2.0).sum())(x),
}


@pytest.mark.parametrize("name", EXPORTED)
def test_a_transform_is_eagers_at_every_size(name):
    program = EXPORTED[name]
    run = proviso.export(program, (torch.randn(5, 2),),
                         dynamic_shapes=[{0: Dim.AUTO}]).module()
    taken = 0
    for rows in range(10):
        x = torch.randn(rows, 2)
        try:
            found = run(x)
        except RuntimeError:
            assert rows < 2 or name == "vmap in chunks" and rows != 5
            continue
        taken += 1
        torch.testing.assert_close(found, program(x))
    assert taken >= (1 if name == "vmap in chunks" else 8)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_transformed_is_an_error(name):
    with pytest.raises(
            (RuntimeError, NotImplementedError),
            match="make the dimension static|no shape rule|vmap: |Dim.STATIC"):
        proviso.export(REFUSED[name], (torch.randn(5, 2),),
                       dynamic_shapes=[{0: Dim.AUTO}])


@pytest.mark.parametrize("mapped", [-1, 2, 1 << 40])
def test_a_tangent_has_the_dimensions_that_are_mapped_over(mapped):
    with pytest.raises(RuntimeError, match="self_num_batch_dims"):
        proviso.export(
            lambda x: torch.ops.aten._new_zeros_with_same_feature_meta(
                x, x, self_num_batch_dims=mapped), (torch.randn(5),))
