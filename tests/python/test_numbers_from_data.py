"""Numbers that data decides: what Python's functions make of them, and that
the same reading of the same data is one number."""

import math

import pytest
import torch
import proviso
from proviso import Dim
from data_programs import mask

ROWS = ({0: Dim.DYNAMIC}, {0: Dim.DYNAMIC})


def example(held=8, of=40):
    torch.manual_seed(held)
    return torch.randn(of, 6), mask(of, held)


def check(program, *more, args=None, shapes=ROWS):
    """Traced on the first example, it equals eager at all."""
    first = args or example()
    ep = proviso.export(program, first, dynamic_shapes=shapes)
    for inputs in (first, *more):
        expected = program(*[t.clone() for t in inputs])
        assert torch.allclose(ep.module()(*[t.clone() for t in inputs]),
                              expected)
    return ep


# --- the same data

@pytest.mark.parametrize("program", [
    lambda x, m: x[m] * x.flip(1)[m],
    lambda x, m: x[m] * x[m.nonzero().squeeze(1)],
    lambda x, m: x[m][:, 0] * torch.masked_select(x[:, 0], m),
    lambda x, m: x[m] * x[torch.where(m)],
    lambda x, m: x[m] * x[torch.argwhere(m)[:, 0]],
    lambda x, m: x.t()[:, m] + x[m].t(),
    lambda x, m: torch.where(m)[0] + m.nonzero()[:, 0],
], ids=["two tensors", "nonzero", "masked_select", "where", "argwhere",
        "another dimension", "where and nonzero"])
def test_a_mask_has_one_count(program):
    ep = check(program, example(3), example(0), example(40))
    assert not [a for a in ep.runtime_asserts if "Eq" in a.condition]


def test_an_item_is_one_number():
    def program(x, n):
        torch._check(n.item() >= 2)
        torch._check(n.item() <= x.shape[0])
        if n.item() > 1:
            return x[: n.item()] + x[: n.item()].sum()
        return x

    check(program, args=(torch.randn(8, 6), torch.tensor(5)),
          shapes=({0: Dim.DYNAMIC}, None))


def test_unique_has_one_count():
    check(lambda x, i: i.unique() + torch.unique(i, return_counts=True)[1],
          args=(torch.randn(4, 6), torch.tensor([3, 5, 3, 9])))


@pytest.mark.parametrize("write", [
    lambda m: m.logical_not_(),
    lambda m: m[:5].fill_(True),
    lambda m: m.view(8, 5)[0].zero_(),
    lambda m: m.copy_(m.flip(0) | m),
], ids=["in place", "a slice", "a view", "a copy"])
def test_what_is_written_to_is_counted_again(write):
    def program(x, m):
        m = m.clone()
        before = x[m].sum(0)
        write(m)
        return torch.cat([before.unsqueeze(0), x[m]])

    check(program, example(3), shapes=None)


def test_a_count_after_a_write_is_not_that_before():
    def program(x, m):
        m = m.clone()
        a = x[m]
        m.logical_not_()
        return a + x[m]

    with pytest.raises(Exception):
        ep = proviso.export(program, example(20))
        ep.module()(*example(8))


def test_a_buffer_that_is_written_to_is_read_again():
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("n", torch.tensor(2))

        def forward(self, x):
            before = self.n.item()
            self.n += 1
            return x * before + self.n.item()

    x = torch.ones(3)
    ep = proviso.export(Counter(), (x,))
    assert torch.equal(ep.module()(x), Counter()(x))


# --- known numbers in tensors

def test_a_quotient_of_sizes_in_a_tensor_is_known():
    def program(x):
        rows = torch.div(x.shape[0], 4, rounding_mode="trunc")
        return x.view(rows, 4, 6)

    x = torch.randn(8, 6)
    ep = proviso.export(program, (x,), dynamic_shapes=({0: Dim.DYNAMIC},))
    more = torch.randn(20, 6)
    assert torch.equal(ep.module()(more), program(more))
    with pytest.raises(RuntimeError):
        ep.module()(torch.randn(9, 6))


def test_a_negative_quotient_is_not_taken_for_another():
    def program(x, n):
        k = n.item()
        q = torch.div(k, 4, rounding_mode="trunc")
        return x * q.item()

    check(program, (torch.ones(3), torch.tensor(-7)),
          args=(torch.ones(3), torch.tensor(9)), shapes=None)


# --- Python's functions

@pytest.mark.parametrize("program", [
    lambda x, m: x * sum(divmod(x[m].shape[0], 3)),
    lambda x, m: x * divmod(100, x[m].shape[0] + 1)[0],
    lambda x, m: x[: abs(x[m].shape[0] - 40)],
    lambda x, m: x * round(x[m].shape[0] / 3) + pow(x[m].shape[0], 2),
    lambda x, m: x * math.ceil(x[m].shape[0] / 3),
    lambda x, m: x * math.floor(x[m].shape[0] / 3),
    lambda x, m: x * math.prod(x[m].shape),
    lambda x, m: x[: min(x[m].shape[0], 5)],
    lambda x, m: x.new_zeros(max(x[m].shape[0], x[~m].shape[0])),
    lambda x, m: x * len(x[m]) + len(x),
    lambda x, m: x * float(x[m].shape[0]) + int(x[m].shape[0] / 2),
    lambda x, m: x * sum([x[m].shape[0], x[~m].shape[0]]),
], ids=["divmod", "divmod by", "abs", "round and pow", "ceil", "floor", "prod",
        "min", "max", "len", "float and int", "sum"])
def test_functions_of_a_count(program):
    check(program, example(3), example(30))


def test_len_of_an_input_fixes_no_size():
    ep = proviso.export(lambda x: x * len(x), (torch.ones(3, 2),),
                        dynamic_shapes=({0: Dim.DYNAMIC},))
    assert torch.equal(ep.module()(torch.ones(5, 2)), 5 * torch.ones(5, 2))
    assert proviso.requirements(lambda x: x * len(x),
                                (torch.ones(3, 2),)).conditions == []


def test_arange_by_halves():
    for step in (0.5, 0.25, 2.0, 0.75, 1.5):
        check(lambda x, m: torch.arange(0, x[m].shape[0], step).sum() + x,
              example(3), example(40))
    check(lambda x, m: torch.arange(0.5, x[m].shape[0]).sum() + x,
          example(3), example(40))


def test_pad_sequence():
    for batch_first in (True, False):
        check(lambda x, m: torch.nn.utils.rnn.pad_sequence(
            [x[m], x[~m]], batch_first=batch_first, padding_value=2.0),
            example(3), example(39))


def test_tensor_split_is_for_every_size():
    def program(x, m):
        a, b, c = torch.tensor_split(x[m], 3)
        return torch.cat([c, b, a])

    check(program, example(0), example(1), example(2), example(13))


# --- numbers that become known

def counts(x, n):
    torch._check(n.item() == 2)
    for i in range(n.item()):
        x = x + i
    return x


def scales(x, n):
    k = n.item()
    torch._check(k == 2)
    return x * n.item()


def lies_between(x, n):
    torch._check(n.item() < 3)
    torch._check(n.item() > 1)
    return x * n.item()


def branches_on_one(x, n):
    is_two = n == 2
    torch._check(is_two.item())
    if is_two:
        return x + 1
    return x


def knows_a_constant(x, n):
    return x * torch.tensor(3).item() + n


@pytest.mark.parametrize("program", [counts, scales, lies_between,
                                     branches_on_one, knows_a_constant])
def test_a_number_that_is_known_by_now_has_no_node(program, round_trip,
                                                   tmp_path):
    ep = proviso.export(program, (torch.ones(3), torch.tensor(2)),
                        dynamic_shapes=({0: Dim.AUTO}, None))
    round_trip(ep, program, [(torch.ones(4), torch.tensor(2))])
    ep.save(tmp_path / "a.pt2")
    loaded = proviso.load(tmp_path / "a.pt2")
    x, n = torch.ones(5), torch.tensor(2)
    assert torch.equal(loaded.module()(x, n), program(x, n))
    assert len(list(ep.graph.nodes)) > 2


def test_a_bin_count_is_no_less_than_a_size():
    """minlength stays symbolic; the rest follows from it."""
    def program(i, x):
        n = torch.bincount(i, minlength=x.shape[0])
        return n[: x.shape[0]] + x

    i = torch.tensor([0, 1, 1])
    check(program, (i, torch.ones(9)), (i, torch.ones(2)),
          (i, torch.ones(0)), args=(i, torch.ones(5)))
    with pytest.raises(RuntimeError, match="minlength should be >= 0"):
        proviso.export(lambda i: torch.bincount(i, minlength=-1), (i,))


@pytest.mark.parametrize("of", [
    lambda k: (k > 3) + 1, lambda k: 2 - (k > 3), lambda k: (k > 3) * k,
    lambda k: sum([k > 3, k > 5, True]), lambda k: (k > 3) + (k > 5),
])
def test_conditions_of_data_count(of):
    def program(x, t):
        return x * of(t.item())

    ep = proviso.export(program, (torch.ones(3), torch.tensor(4)))
    for value in (2, 4, 7):
        inputs = torch.ones(3), torch.tensor(value)
        assert torch.equal(ep.module()(*inputs), program(*inputs))
