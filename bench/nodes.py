"""How tracing grows with the number of operators of the program.

    ./dev python bench/nodes.py [COUNT...]

Prints the time of proviso.export for straight programs of so many operators,
in all and for each operator: with constant sizes, with symbolic ones, and with
symbolic ones that every third operator rearranges.
"""

import gc
import sys
import time

import torch

import proviso

AUTO = proviso.Dim.AUTO


class Pointwise(torch.nn.Module):
    def __init__(self, count):
        super().__init__()
        self.rounds = count // 4

    def forward(self, x, y):
        for _ in range(self.rounds):
            x = torch.relu(x)
            x = x + y
            x = x * 0.5
            x = torch.tanh(x)
        return x


class Rearranged(Pointwise):
    def forward(self, x, y):
        for _ in range(self.rounds):
            h = x.view(x.shape[0], x.shape[1], 4, 2)
            h = h.transpose(1, 2)
            h = h.reshape(x.shape[0], -1, 8)
            x = h + y
        return x


PROGRAMS = {
    "constant": (Pointwise, {}),
    "symbolic": (Pointwise, {0: AUTO, 1: AUTO}),
    "rearranged": (Rearranged, {0: AUTO, 1: AUTO}),
}


def least_time(kind, dims, count, repeats=5):
    found = []
    for _ in range(repeats):
        inputs = torch.randn(3, 5, 8), torch.randn(3, 5, 8)
        model = kind(count)
        gc.collect()
        start = time.perf_counter()
        program = proviso.export(model, inputs, dynamic_shapes=(dims, dims))
        found.append(time.perf_counter() - start)
        assert len(program.operators) >= count, len(program.operators)
    return min(found)


def main():
    counts = list(map(int, sys.argv[1:])) or [2500, 5000, 10000, 20000]
    for name, (kind, dims) in PROGRAMS.items():
        for count in counts:
            seconds = least_time(kind, dims, count)
            print(f"{name:11} {count:6} operators {seconds * 1e3:8.1f} ms "
                  f"{seconds / count * 1e6:6.2f} us each")


if __name__ == "__main__":
    main()
