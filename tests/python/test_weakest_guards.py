"""A guard refuses no size for which every traced size stays right."""

import pytest
import torch

import proviso
from proviso import Dim


@pytest.mark.parametrize("program, example, taken", [
    (lambda x: x[:7], 5, range(0, 8)),       # Min(7, n) is n
    (lambda x: x[:7], 9, range(7, 13)),      # Min(7, n) is 7
    (lambda x: x[5:], 3, range(0, 6)),
    (lambda x: x[5:], 9, range(5, 13)),
    (lambda x: x[:-4], 3, range(0, 5)),
    (lambda x: x[-4:], 3, range(0, 5)),
    (lambda x: x[-4:], 9, range(4, 13)),
    (lambda x: x[2:5], 4, range(2, 6)),
    (lambda x: x.split(4)[0], 3, range(0, 5)),
    (lambda x: x.split(4)[0], 7, range(5, 9)),
    (lambda x: x.chunk(3)[0], 7, [3, *range(5, 13)]),  # 3 pieces
    (lambda x: x[:, :1].reshape(-1, 1), 6, range(0, 13)),
    (lambda x: x[:, :1].reshape(-1), 6, range(0, 13)),
    (lambda x: x if x.shape[0] == 1 else x + 1, 6,
     [n for n in range(13) if n != 1]),
    (lambda x: x if x.shape[0] > 1 else x + 1, 6, range(2, 13)),
    (lambda x: x if x.shape[0] * 3 > 2 else x + 1, 6, range(1, 13)),
    (lambda x: x if x.shape[0] % 2 <= x.shape[0] else x + 1, 6, range(0, 13)),
    (lambda x: x + torch.ones(x.shape[0], 1), 6, range(0, 13)),
])
def test_of_one_size(program, example, taken):
    ep = proviso.export(program, (torch.randn(example, 2),),
                        dynamic_shapes=({0: Dim.AUTO},))
    accepted = []
    for n in range(13):
        x = torch.randn(n, 2)
        try:
            found = ep.module()(x)
        except RuntimeError as error:
            assert "Guard failed" in str(error)
            continue
        assert torch.equal(found, program(x)), n
        accepted.append(n)
    assert accepted == list(taken), [g.condition for g in ep.guards]


def test_of_two_sizes():
    def program(x, y):
        n, m = x.shape[0], y.shape[0]
        return x + 1 if n * m >= m else x

    ep = proviso.export(program, (torch.ones(2), torch.ones(6)),
                        dynamic_shapes=({0: Dim.AUTO},) * 2)
    for n, m in ((0, 0), (1, 1), (5, 0), (0, 1)):
        args = torch.ones(n), torch.ones(m)
        if n * m >= m:
            assert torch.equal(ep.module()(*args), program(*args))
        else:
            with pytest.raises(RuntimeError, match="Guard failed"):
                ep.module()(*args)
    guard, = ep.guards
    assert guard.condition == "s1 <= s0*s1"
    assert guard.origins[0].code == "return x + 1 if n * m >= m else x"
