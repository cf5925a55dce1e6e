"""Branches of Python on which the program does not depend leave no guard."""

import logging
import warnings

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
