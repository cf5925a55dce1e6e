"""Programs whose every line makes sizes of all that the lines before made: what
is shared is walked once, and a line takes as long as the last."""

import time

import pytest
import torch
from torch.export import Dim

import proviso

LINES = {
    "slices by a part": "x = x[:x.shape[0] * 40 // 41 + 1]",
    "slices, joined": "x = torch.cat([x[1:], x[:x.shape[0] // 2]])",
    "joined, then a slice": "x = torch.cat([x, x[:2]])[x.shape[0] // 3:]",
    "extrema": "n = torch.sym_max(n * 2 % 91, n + 3)",
    "remainders": "n = (n * 3 + 1) % (n + 5)",
    "checks": "torch._check((n * n + 1) % 7 + n >= 0); n = n * n % 13 + n",
    "choices": "n = torch.sym_ite(n % 3 == 0, n // 3, n + 1)",
    "products of floats": "f = (f + 1) * (f + 2) / 3",
    "roots": "f = torch.sym_sqrt(f * f + 1) + f",
    "from data": "k = k * k // 3 + k % 7 + 1; torch._check(k >= 0)",
}


def export(line, count):
    text = "\n    ".join([
        "def forward(self, x, n, z):", "f = n / 3", "k = z.sum().item()",
        "torch._check(k >= 0)", *[line] * count, "return x * n, n, f, k"])
    space = {"torch": torch}
    exec(text, space)
    model = type("Model", (torch.nn.Module,), {"forward": space["forward"]})
    start = time.process_time()
    program = proviso.export(
        model(), (torch.ones(50), 1000, torch.ones(4, dtype=torch.int64)),
        dynamic_shapes=({0: Dim.AUTO}, Dim.AUTO, None))
    lines = str(program).splitlines()
    assert max(map(len, lines)) < 10_000
    program.events, program.shapelog()
    return time.process_time() - start


@pytest.mark.parametrize("name", LINES)
def test_a_line_takes_no_longer_than_the_last(name):
    export(LINES[name], 1)
    few, many = (export(LINES[name], count) for count in (16, 48))
    assert many < max(6 * few, 3)
