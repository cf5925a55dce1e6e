"""PROVISO_MODELS names the models to try: "bert llama+cache", or "all"."""

import math
import os
import pathlib
import sys
import warnings

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
_HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(_HERE), str(_HERE.parent / "python")]
warnings.filterwarnings("ignore")

import pytest  # noqa: E402

DEFAULT = "bert resnet bloom+cache"
_times = {}  # title -> (ours, torch.export's), seconds


def pytest_generate_tests(metafunc):
    if "case" in metafunc.fixturenames:
        from zoo import ZOO

        chosen = os.environ.get("PROVISO_MODELS", DEFAULT)
        names = list(ZOO) if chosen == "all" else chosen.split()
        metafunc.parametrize("case", [ZOO[name] for name in names],
                             ids=names, scope="module")


@pytest.fixture(scope="session")
def reader():
    """torch.export.load in another process."""
    from pt2_reader import Reader

    path = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = f"{_HERE}:{path}"
    reader = Reader(["zoo"])  # its import makes a cache a pytree
    os.environ["PYTHONPATH"] = path
    yield reader
    reader.close()


@pytest.fixture(scope="session")
def times():
    return _times


def pytest_terminal_summary(terminalreporter):
    if not _times:
        return
    write = terminalreporter.write_line
    write("")
    for title, (ours, theirs) in _times.items():
        write(f"{title:16} proviso {ours * 1e3:8.1f} ms   torch.export "
              f"{theirs * 1e3:9.0f} ms   {theirs / ours:6.0f}x")
    logs = [math.log(theirs / ours) for ours, theirs in _times.values()]
    write(f"geometric mean {math.exp(sum(logs) / len(logs)):.0f}x of "
          f"{len(logs)} models")
