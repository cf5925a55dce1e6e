"""Input sizes without example: Dim.UNBACKED, or PyTorch's mark_unbacked on the
example."""

import pytest
import torch
from torch._dynamo.decorators import mark_unbacked

import proviso
from proviso import Dim

UNBACKED = ({0: Dim.UNBACKED},)


def double(x):
    return x * 2 + x.shape[0]


def marked(*shape, **how):
    x = torch.ones(*shape)
    mark_unbacked(x, 0, **how)
    return x


@pytest.mark.parametrize("example", [0, 1, 4])
def test_no_size_is_special(example):
    ep = proviso.export(double, (torch.ones(example, 2),),
                        dynamic_shapes=UNBACKED)
    assert ep.guards == [] and str(ep.range_constraints) == (
        "{u0: VR[0, int_oo]}")
    for n in (0, 1, 2, 7):
        x = torch.ones(n, 2)
        assert torch.equal(ep.module()(x), double(x))


def test_a_mark_on_the_example_is_the_same():
    ep = proviso.export(double, (marked(4, 2),))
    assert str(ep.range_constraints) == "{u0: VR[0, int_oo]}"
    ep = proviso.export(double, (marked(4, 2),),
                        dynamic_shapes=({0: Dim.AUTO},))
    assert str(ep.range_constraints) == "{u0: VR[0, int_oo]}"
    with pytest.raises(ValueError, match=r"L\['x'\].size\(\)\[0\] is marked"):
        proviso.export(double, (marked(4, 2),), dynamic_shapes=({0: Dim("n")},))


@pytest.mark.parametrize("branch", [
    lambda x: x + 1 if x.shape[0] == 1 else x,
    lambda x: x + 1 if x.shape[0] > 3 else x,
])
def test_a_branch_on_the_size_is_an_error_that_says_why(branch):
    with pytest.raises(proviso.DataDependentError) as raised:
        proviso.export(branch, (torch.ones(4),), dynamic_shapes=UNBACKED)
    text = str(raised.value)
    assert text.startswith("Could not guard on data-dependent expression ")
    assert "u0 is x.size()[0], which is marked as unbacked" in text
    with pytest.raises(proviso.DataDependentError, match="specialized integer"):
        proviso.export(lambda x: x + len(range(x.shape[0])), (torch.ones(4),),
                       dynamic_shapes=UNBACKED)


@pytest.mark.parametrize("how", ["spec", "mark"])
def test_a_range_is_known_and_checked(how):
    def branch(x):
        return x + 1 if x.shape[0] >= 3 else x

    x = torch.ones(4) if how == "spec" else marked(4, min=3, max=9)
    spec = ({0: Dim.UNBACKED(min=3, max=9)},) if how == "spec" else None
    ep = proviso.export(branch, (x,), dynamic_shapes=spec)
    assert str(ep.range_constraints) == "{u0: VR[3, 9]}"
    for n in (3, 9):
        assert torch.equal(ep.module()(torch.ones(n)), branch(torch.ones(n)))
    for n in (2, 10):
        with pytest.raises(RuntimeError, match=r"Guard failed: x.size\(\)\[0\]"):
            ep.module()(torch.ones(n))
    with pytest.raises(proviso.ConstraintViolationError, match="not in range"):
        proviso.export(branch, (torch.ones(2),),
                       dynamic_shapes=({0: Dim.UNBACKED(min=3, max=9)},))


def test_a_check_decides_and_is_enforced():
    def branch(x):
        torch._check(x.shape[0] <= 5)
        return x + 1 if x.shape[0] < 6 else x

    ep = proviso.export(branch, (torch.ones(4),), dynamic_shapes=UNBACKED)
    assert str(ep.range_constraints) == "{u0: VR[0, 5]}"
    assert torch.equal(ep.module()(torch.ones(5)), torch.ones(5) + 1)
    with pytest.raises(RuntimeError, match="u0 <= 5|<= 5"):
        ep.module()(torch.ones(6))


def test_sizes_that_must_be_equal():
    def add(x, y):
        return x + y

    args = torch.ones(4), torch.ones(4)
    ep = proviso.export(add, args, dynamic_shapes=(
        {0: Dim.UNBACKED}, {0: Dim.UNBACKED}))
    assert torch.equal(ep.module()(torch.ones(1), torch.ones(1)),
                       torch.full((1,), 2.0))
    with pytest.raises(RuntimeError):
        ep.module()(torch.ones(3), torch.ones(4))
    ep = proviso.export(add, (marked(4, shape_id="n"), marked(4, shape_id="n")))
    assert str(ep.range_constraints) == "{u0: VR[0, int_oo]}"
    with pytest.raises(RuntimeError,
                       match=r"Guard failed: x.size\(\)\[0\] == y.size\(\)\[0\]"):
        ep.module()(torch.ones(3), torch.ones(4))


def test_a_strict_mark_must_not_become_a_constant():
    def four(x):
        torch._check(x.shape[0] == 4)
        return x * 2

    ep = proviso.export(four, (marked(4),))
    with pytest.raises(RuntimeError):
        ep.module()(torch.ones(5))
    with pytest.raises(proviso.ConstraintViolationError, match="strict"):
        proviso.export(four, (marked(4, strict=True),))


def test_other_inputs_take_no_such_spec():
    with pytest.raises(ValueError, match="UNBACKED, which is for sizes"):
        proviso.export(lambda x, n: x + n, (torch.ones(2), 3),
                       dynamic_shapes=(None, Dim.UNBACKED))


def test_a_saved_program_reads_the_same(tmp_path):
    ep = proviso.export(double, (torch.ones(4, 2),), dynamic_shapes=UNBACKED)
    ep.save(tmp_path / "unbacked.pt2")
    theirs = torch.export.load(tmp_path / "unbacked.pt2").module()
    for n in (2, 7):
        x = torch.ones(n, 2)
        assert torch.equal(theirs(x), double(x))
