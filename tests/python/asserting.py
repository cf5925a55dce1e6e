"""Programs with plain asserts, out of reach of pytest, which rewrites those of
test files."""

import torch


def on_data(x, y):
    a = x.item()
    assert a > 3
    assert a < 50 and a != 40, "too much"
    return y[:a]


def or_on_data(x, y):
    a = x.item()
    assert a > 3 or a < 2
    return y


def or_known(x, y):
    a = x.item()
    assert a > 3 or y.shape[0] == 60
    return y


def with_words(x):
    n = x.sum().item()
    if n > 3:
        raise RuntimeError
    assert n > -100, "small"
    return x


def formatted_and_dropped(x):
    message = f"{x.shape[0]} rows, {x.shape[1]!r} columns"
    message += " of " + str(x.shape[0] * 2)
    assert x.dim() == 2, message
    torch._check(x.shape[0] > 1, lambda: f"{x.shape[0]} are few")
    return x + 1
