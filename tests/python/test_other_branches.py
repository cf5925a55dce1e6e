"""Programs that branch on whether a size is 0 or 1: where the other way makes
the same calls, the program is traced once and takes both."""

import functools
import itertools
import os
import random
import warnings

import pytest
import torch
from torch import nn

import proviso
from proviso import Dim

SEED = int(os.environ.get("PROVISO_SEED", "1"))
COUNT = int(os.environ.get("PROVISO_BRANCHES", "60"))


def exported(forward, *inputs, dims=None):
    class Program(nn.Module):
        pass

    Program.forward = forward
    shapes = dims or tuple({d: Dim.AUTO for d in range(x.dim())}
                           for x in inputs)
    return proviso.export(Program(), inputs, dynamic_shapes=shapes)


def takes(ep, *sizes):
    """Of those sizes, at which the program runs and equals eager."""
    found = []
    for given in itertools.product(sizes, repeat=2):
        try:
            ep.module().check(torch.ones(given))
        except RuntimeError:
            continue
        found.append(given)
    return found


def test_what_changes_nothing_at_one():
    def forward(self, x):
        places = torch.arange(x.shape[1])[None]
        if x.shape[0] != places.shape[0]:
            places = places.expand(x.shape[0], -1)
        return x + places

    ep = exported(forward, torch.ones(3, 4))
    for n, m in itertools.product((0, 1, 2, 5), repeat=2):
        x = torch.ones(n, m)
        assert torch.equal(ep.module()(x), forward(None, x)), (n, m)


def test_two_sizes_and_both():
    def forward(self, x):
        rows, columns = torch.ones(1, 1), torch.ones(1, 1)
        if x.shape[0] > 1:
            rows = rows.expand(x.shape[0], 1)
        if x.shape[1] != 1:
            columns = columns.expand(-1, x.shape[1])
        return x + rows * columns

    ep = exported(forward, torch.ones(3, 4))
    for n, m in itertools.product((1, 2, 5), repeat=2):
        x = torch.ones(n, m)
        assert torch.equal(ep.module()(x), forward(None, x)), (n, m)


def test_a_causal_mask_of_one_position():
    def forward(self, x):
        return nn.functional.scaled_dot_product_attention(
            x, x, x, is_causal=x.shape[2] > 1)

    x = torch.ones(2, 2, 5, 8)
    ep = exported(forward, x, dims=({0: Dim.AUTO, 2: Dim.AUTO},))
    for n, m in itertools.product((1, 2, 5), repeat=2):
        x = torch.randn(n, 2, m, 8)
        torch.testing.assert_close(ep.module()(x), forward(None, x))


def test_what_adds_nothing_to_a_tensor():
    def mask(self, x, past):
        rows, before = x.shape[0], past.shape[0]
        if before > 0:
            x = torch.cat([x.new_zeros(rows, before), x], dim=-1)
        return x.masked_fill(x > 0.5, 0.)

    def padded(self, x, past):
        if past.shape[0] != 0:
            x = nn.functional.pad(x, (0, past.shape[0]))
        return x * 2

    def kept(self, x, past):
        if past.shape[0]:
            x = torch.cat([past, x])
        return x.sum(0)

    for forward in mask, padded, kept:
        ep = exported(forward, torch.rand(4, 5), torch.rand(3, 5),
                      dims=({0: Dim.AUTO, 1: 5}, {0: Dim.AUTO, 1: 5}))
        for n, m in itertools.product((0, 1, 2, 5), repeat=2):
            x, past = torch.rand(n, 5), torch.rand(m, 5)
            assert torch.equal(ep.module()(x, past),
                               forward(None, x, past)), (forward, n, m)


def test_a_copy_on_both_ways_is_one():
    def forward(self, x):
        if x.shape[0] != 1:
            x = x.clone()
        return (x * 2).clone()

    ep = exported(forward, torch.ones(3, 4))
    x = torch.ones(1, 4)
    assert torch.equal(ep.module()(x), forward(None, x))


def test_a_copy_that_lies_otherwise_is_a_call():
    def forward(self, x):
        y = x.t()
        if y.shape[0] != 1:
            y = torch.cat([y[:0], y])
        return y * 2

    ep = exported(forward, torch.ones(4, 3))
    for n, m in itertools.product((1, 2, 5), repeat=2):
        try:
            got = ep.module()(torch.ones(n, m))
        except RuntimeError:
            continue
        assert got.stride() == forward(None, torch.ones(n, m)).stride()


def doubled(self, x):
    return x * (2 if x.shape[0] == 1 else 3)


def another_call(self, x):
    return x.cos() if x.shape[0] == 1 else x.sin()


def one_call_more(self, x):
    return x + 1 if x.shape[0] == 1 else x.relu() + 1


def another_number_of_results(self, x):
    return (x + 1,) if x.shape[0] == 1 else (x + 1, x + 1)


def another_result(self, x):
    a, b = x + 1, x + 2
    return a if x.shape[0] == 1 else b


def another_nesting(self, x):
    return [x + 1] if x.shape[0] == 1 else (x + 1,)


def other_operands(self, x):
    a, b = x + 1, x + 2
    return a - b if x.shape[0] == 1 else b - a


def another_tensor(self, x):
    return x + (torch.tensor([1.]) if x.shape[0] == 1 else torch.tensor([2.]))


def its_own_memory(self, x):
    y = x if x.shape[0] == 1 else x.clone()
    y.add_(1)
    return y


def a_copy(self, x):
    return x if x.shape[0] == 1 else x.clone()


def no_copy(self, x):
    return x.clone().t() if x.shape[0] == 1 else x.t()


def a_row_more(self, x):
    return (x if x.shape[0] == 1 else torch.cat([x[:1] * 2, x[1:]])) + 1


def another_size(self, x):
    return x.new_ones(5 if x.shape[0] == 1 else 2 * x.shape[0] + 1)


def another_mode(self, x):
    with torch.set_grad_enabled(x.shape[0] == 1):
        return x * 2


def another_start_of_a_loop(self, x):
    start = 0 if x.shape[0] == 1 else 1
    return torch.while_loop(lambda i, y: y.sum() < 0,
                            lambda i, y: (i + 1, y + 1),
                            (start, x))


def an_error(self, x):
    if x.shape[0] == 1:
        raise ValueError("one row is too few")
    return x + 1


def a_question_about_the_other_size(self, x):
    if x.shape[0] == 1 and x.shape[1] > 3:
        return x + 1
    return x + 1 if x.shape[0] != 1 else x + 2


@pytest.mark.parametrize("forward", [
    doubled, another_call, one_call_more, another_number_of_results,
    another_result, another_nesting, other_operands, another_tensor,
    its_own_memory, a_copy, no_copy, a_row_more, another_size, another_mode, another_start_of_a_loop,
    an_error],
    ids=lambda f: f.__name__)
def test_where_the_other_way_differs_one_is_refused(forward):
    ep = exported(forward, torch.ones(3, 4))
    assert takes(ep, 1, 2, 3) == list(itertools.product((2, 3), (1, 2, 3)))


def test_what_only_the_other_way_asks_is_not_promised():
    ep = exported(a_question_about_the_other_size, torch.ones(3, 5))
    assert (1, 2) not in takes(ep, 1, 2)


def test_sizes_that_the_caller_leaves_out_stay_out():
    def forward(self, x):
        return x.expand(x.shape[0], -1) if x.shape[0] != 1 else x

    ep = exported(forward, torch.ones(3, 4),
                  dims=({0: Dim("n", min=2), 1: 4},))
    (bounds,) = ep.range_constraints.values()
    assert bounds.lower == 2


def test_a_size_that_another_depends_on_stays():
    n = Dim("n", min=1)

    def forward(self, x, y):
        return (x.expand(x.shape[0], -1) if x.shape[0] != 1 else x), y

    ep = exported(forward, torch.ones(3, 4), torch.ones(6),
                  dims=({0: n}, {0: 2 * n}))
    for size in (2, 5):
        ep.module()(torch.ones(size, 4), torch.ones(2 * size))


def test_the_module_stays_as_it_is():
    class Program(nn.Module):
        def __init__(self):
            super().__init__()
            self.seen = []
            self.register_buffer("calls", torch.zeros(1))

        def forward(self, x):
            self.seen.append(x.shape[0] if x.shape[0] != 1 else "one")
            self.calls += 1
            return x.expand(x.shape[0], -1) if x.shape[0] != 1 else x

    program = Program()
    ep = proviso.export(program, (torch.ones(3, 4),),
                        dynamic_shapes=({0: Dim.AUTO},))
    assert program.seen == [] and program.calls.item() == 0
    assert torch.equal(ep.module()(torch.ones(1, 4)), torch.ones(1, 4))


@functools.lru_cache
def ones(count):
    return torch.ones(count)


def test_no_trace_leaves_tensors_in_a_cache():
    def forward(self, x):
        return (x.expand(x.shape[0], -1) if x.shape[0] != 1 else x) * ones(4)

    with pytest.raises(RuntimeError):
        ones(-1)  # a miss, which leaves nothing; each trace has one
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # as where it has to be searched for
        ep = exported(forward, torch.ones(3, 4), dims=({0: Dim.AUTO},))
    assert torch.equal(ep.module()(torch.ones(1, 4)), torch.ones(1, 4))
    assert torch.equal(ones(4), torch.ones(4))


def test_loaded_and_torch_take_the_same(tmp_path):
    def forward(self, x):
        y = torch.ones(1, 1)
        if x.shape[0] != 1:
            y = y.expand(x.shape[0], 1)
        return x.reshape(-1, 2, 2) + y[:, :, None]

    ep = exported(forward, torch.ones(3, 4), dims=({0: Dim.AUTO},))
    ep.save(tmp_path / "p.pt2")
    x = torch.ones(1, 4)
    for module in (ep.module(), proviso.load(tmp_path / "p.pt2").module(),
                   torch.export.load(tmp_path / "p.pt2").module()):
        assert torch.equal(module(x), forward(None, x))


# --- random programs, each way a choice of steps

QUESTIONS = ["n == 1", "n > 1", "m != 1", "n != 0", "n * m > 1", "n + m > 2",
             "n < 2 or m < 2", "n == m"]
STEPS = ["x", "x", "x.expand(n, m)", "x.expand(-1, m)", "x.reshape(n, m)",
         "x.view(-1, m)", "x * 2", "x[:1]", "x[:, :1].expand(n, m)", "x.clone()",
         "x.squeeze(0).reshape(n, m)", "x + torch.ones(n, 1)", "x.sum(0)[None]",
         "torch.cat([x, x.new_ones(n - 1, m)])", "x.repeat(1, m)",
         "torch.nn.functional.pad(x, (0, m - 1))", "torch.cat([x[:n - 1], x])",
         "torch.cat([x[:, :0], x], 1)", "torch.zeros(n, m - 1)", "x.add_(1)",
         "x * n", "x.contiguous()", "x[:n]", "x.t().t()", "x - x.mean(1, True)"]


def random_program(rng):
    lines = ["def forward(self, x):", "    n, m = x.shape"]
    for _ in range(rng.randint(1, 2)):
        question = rng.choice(QUESTIONS)
        one = rng.choice(STEPS)
        other = one if rng.random() < 0.4 else rng.choice(STEPS)
        lines += [f"    if {question}:", f"        x = {one}", "    else:",
                  f"        x = {other}", "    n, m = x.shape"]
    lines.append("    return x + 1")
    return "\n".join(lines)


def test_random_programs_are_never_silently_different():
    taken = 0
    for k in range(COUNT):
        text = random_program(random.Random(SEED * 1_000_003 + k))
        space = {"torch": torch}
        exec(text, space)
        forward = space["forward"]
        try:
            ep = exported(forward, torch.ones(3, 4))
        except (RuntimeError, ValueError):
            continue
        module = ep.module()
        for n, m in itertools.product((0, 1, 2, 3, 5), repeat=2):
            x = torch.arange(float(n * m)).reshape(n, m)
            given = x.clone()
            try:
                got = module(given)
            except RuntimeError:
                continue
            want = forward(None, x)
            torch.testing.assert_close(given, x, msg=text)
            assert got.shape == want.shape, (text, n, m)
            torch.testing.assert_close(got, want, equal_nan=True, msg=text)
            taken += min(n, m) < 2
    assert taken > COUNT
