"""Branches of Python on which the program does not depend leave no guard."""

import logging
import warnings

import asserting
import pytest
import torch

import proviso
from proviso import Dim

LOG = logging.getLogger(__name__)
AUTO = {0: Dim.AUTO, 1: Dim.AUTO}


def guards_of(program, *tensors):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ep = proviso.export(program, tensors,
                            dynamic_shapes=(AUTO,) * len(tensors))
    return [str(g.condition) for g in ep.guards]


X = torch.randn(6, 5)


class Quiet:
    quiet = False
    limit = 512

    @property
    def costly(self):
        return False


OPTIONS = Quiet()


def warns(x):
    if x.shape[0] > 3:
        warnings.warn(f"{x.shape[0]} is long", stacklevel=2)
    return x * 2


def logs(x):
    n = x.size(0)
    if n != 3 and x.shape[1] == 5:
        LOG.debug("long: %s of %d", x.shape, OPTIONS.limit)
    return x * 2


def says_either(x):
    if not x.shape[0] > 3:
        LOG.debug("short")
    else:
        LOG.debug("{} is long".format(x.size()))
    return x * 2


def in_a_loop(x):
    for i in range(3):
        if x.shape[0] > i + 3:
            LOG.debug("long")
    return x + i


def nested(x):
    if x.shape[0] > 4 or x.shape[1] > 9:
        if not OPTIONS.quiet:
            LOG.debug("%d", x.shape[0])
        elif x.shape[1] == 2:
            LOG.debug("narrow")
    return x.clone()


def of_shapes(x):
    if x.size() != (3, 4):
        warnings.warn("other sizes")
    return x * 2


def nothing(x):
    if x.shape[0] == x.shape[1]:
        pass
    return x * 2


@pytest.mark.parametrize("program", [
    warns, logs, says_either, in_a_loop, nested, of_shapes, nothing])
def test_a_branch_that_only_speaks_leaves_no_guard(program):
    assert guards_of(program, X) == []


def computes(x):
    if x.shape[0] > 3:
        x = x + 1
    return x


def computes_for_the_message(x):
    if x.shape[0] > 3:
        warnings.warn(str(x.add_(1)))
    return x


def refuses(x):
    if x.shape[0] <= 3:
        if OPTIONS.quiet:
            warnings.warn("short")
        else:
            raise ValueError("short")
    return x * 2


def reads_what_may_do_anything(x):
    if x.shape[0] > 3:
        warnings.warn(f"long, {OPTIONS.costly}")
    return x * 2


def calls(x, f=lambda: None):
    if x.shape[0] > 3:
        f()
    return x * 2


def returns(x):
    if x.shape[0] > 3:
        warnings.warn("long")
        return x + 1
    return x * 2


def keeps_the_answer(x):
    is_long = x.shape[0] > 3
    if is_long:
        warnings.warn("long")
    return x + 1 if is_long else x


@pytest.mark.parametrize("program", [
    computes, computes_for_the_message, refuses, reads_what_may_do_anything,
    calls, returns, keeps_the_answer])
def test_any_other_branch_is_guarded(program):
    assert guards_of(program, X) == ["s0 >= 4"]


def test_what_is_said_is_said_of_the_example():
    with pytest.warns(UserWarning, match="s0 is long"):
        proviso.export(warns, (X,), dynamic_shapes=(AUTO,))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        proviso.export(warns, (X[:2],), dynamic_shapes=(AUTO,))


def test_a_warning_about_data_is_no_question():
    def program(x):
        if x.sum().item() > 3:
            LOG.debug("large")
        return x * 2

    ep = proviso.export(program, (X,), dynamic_shapes=(AUTO,))
    assert ep.guards == [] and ep.runtime_asserts == []


@pytest.mark.parametrize("shape, guards", [
    (lambda x: (x.shape[0], 7, 8), []),  # never of three sizes
    (lambda x: (7, x.shape[1] - 1), []),
    (lambda x: (6, 4), ["(Ne(s0, 6)) | (Ne(s1, 4))"]),
    (lambda x: (*x.shape[:1], 7), ["Ne(s1, 7)"]),
    (lambda x: (6, 5), ["Eq(s0, 6)", "Eq(s1, 5)"]),
])
def test_shapes_are_compared_as_one(shape, guards):
    def program(x):
        other = shape(x)
        same = x.shape == other
        return x + 1 if same else x * 2

    assert sorted(guards_of(program, X)) == guards


def test_instance_norm_warns_of_other_channels():
    norm = torch.nn.InstanceNorm1d(3)
    ep = proviso.export(norm, (torch.randn(3, 4, 5),), dynamic_shapes=(
        {0: Dim.AUTO, 1: Dim.AUTO, 2: Dim.AUTO},))
    assert not any("3" in str(g.condition) for g in ep.guards)
    run, x = ep.module(), torch.randn(2, 3, 7)
    assert torch.equal(run(x), norm(x))


# --- errors that hang on data

def demands_of(program):
    ep = proviso.export(program, (torch.zeros(3, 4),), dynamic_shapes=(AUTO,))
    return ep, [a.condition for a in ep.runtime_asserts]


def raises(x):
    if x.sum() > 3:
        raise ValueError("large")
    return x


def raises_under_a_mode(x):
    with torch.no_grad():
        if not x.sum() <= 3:
            raise ValueError(f"large, of sizes {x.shape}")
    return x


class Raising(torch.nn.Module):
    def forward(self, x):
        return raises(x)


@pytest.mark.parametrize("program, asserted", [
    (raises, ["Ne(u0, 1)"]),
    (raises_under_a_mode, ["Eq(u0, 1)"]),
    (asserting.with_words, ["zuf0 <= 3.0", "zuf0 > -100.0"]),
    (torch.nn.Sequential(Raising()), ["Ne(u0, 1)"]),
])
def test_an_error_is_checked_at_run_time(program, asserted):
    ep, found = demands_of(program)
    assert found == asserted
    run, x = ep.module(), torch.zeros(2, 5)
    assert torch.equal(run(x), x)
    with pytest.raises(RuntimeError, match="Runtime assertion failed"):
        run(x + 1)


def catches(x):
    try:
        if x.sum() > 3:
            raise ValueError("large")
    except ValueError:
        return x + 1
    return x


def calls_and_catches(x):
    try:
        raises(x)
    except ValueError:
        return x + 1
    return x


def computes_before_it_raises(x):
    if x.sum() > 3:
        y = x.mean()
        raise ValueError(f"large: {y}")
    return x


def raises_either_way(x):
    if x.sum() > 3:
        x = x + 1
    else:
        OPTIONS.set()
    return x


@pytest.mark.parametrize("program", [
    catches, calls_and_catches, computes_before_it_raises, raises_either_way])
def test_another_branch_on_data_is_a_question(program):
    with pytest.raises(proviso.DataDependentError):
        demands_of(program)


def test_a_loss_that_looks_at_its_variances():
    loss = torch.nn.functional.gaussian_nll_loss
    args = torch.randn(3, 4), torch.randn(3, 4), torch.rand(3, 4)
    ep = proviso.export(lambda *args: loss(*args), args)
    assert torch.equal(ep.module()(*args), loss(*args))
    with pytest.raises(RuntimeError, match="Runtime assertion failed"):
        ep.module()(*args[:2], -args[2])
