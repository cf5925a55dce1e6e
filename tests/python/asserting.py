"""Programs with plain asserts, out of reach of pytest, which rewrites those of
test files."""


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
