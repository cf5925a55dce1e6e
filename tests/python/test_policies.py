"""Policies about sizes 0 and 1, equal sizes and open questions."""

import pytest
import torch
from torch.fx.experimental.symbolic_shapes import (guard_or_false,
                                                   guard_or_true)

import proviso
from proviso import Dim

AUTO = ({0: Dim.AUTO},)


def refused(ep, *args):
    try:
        ep.module().check(*args)
        return False
    except RuntimeError as error:
        assert "Guard failed" in str(error)
        return True


def test_an_example_of_size_one_may_stay_a_size():
    def program(x):
        return x + 1 if x.shape[0] == 1 else x - 1

    for example in (1, 4):
        ep = proviso.export(program, (torch.ones(example),),
                            dynamic_shapes=AUTO, specialize_zero_one=False)
        for n in range(6):
            x = torch.ones(n)
            assert refused(ep, x) == ((n == 1) != (example == 1)), (example, n)
            if not refused(ep, x):
                assert torch.equal(ep.module()(x), program(x))
    ep = proviso.export(lambda x: x * 2, (torch.ones(1),),
                        dynamic_shapes=AUTO, specialize_zero_one=False)
    assert ep.guards == []
    assert torch.equal(ep.module()(torch.ones(5)), torch.ones(5) * 2)


def test_equal_examples_may_be_one_symbol():
    def program(x, y):
        return x + 1, y + 1

    args, shapes = (torch.ones(4), torch.ones(4)), (*AUTO, *AUTO)
    assert not refused(proviso.export(program, args, dynamic_shapes=shapes),
                       torch.ones(4), torch.ones(5))
    ep = proviso.export(program, args, dynamic_shapes=shapes, duck_shape=True)
    assert refused(ep, torch.ones(4), torch.ones(5))
    assert not refused(ep, torch.ones(7), torch.ones(7))


@pytest.mark.parametrize("oblivious, taken", [(False, 1), (True, 2)])
def test_open_questions_about_sizes(oblivious, taken):
    def program(x):
        if guard_or_false(x.shape[0] == 4):
            return x + 1
        return x + 2 if guard_or_true(x.shape[0] < 100) else x + 3

    ep = proviso.export(program, (torch.ones(4),), dynamic_shapes=AUTO,
                        backed_size_oblivious=oblivious)
    assert torch.equal(ep.module()(torch.ones(4)), torch.ones(4) + taken)
    assert refused(ep, torch.ones(200)) == (not oblivious)
    assert bool(ep.guards) == (not oblivious)
