"""After an export, ended well or not, everything that the program reaches and
every mode of torch is as before (conftest.py checks it of each export; these
programs are made to break it)."""

import array
import collections
import contextvars
import decimal
import functools
import importlib
import io
import itertools
import logging
import os
import queue
import random
import sys
import threading
import warnings
import weakref

import pytest
import torch

import proviso
from proviso import Dim, _kinds_of_state, _libraries
import state_snapshot

CACHE = {}
COUNT = 1000


class Holder:
    __slots__ = ("kept", "number")

    def __init__(self):
        self.kept = None


class Noted(dict):
    """With attributes beside its items."""


class Module(torch.nn.Module):
    """Does `act(self, x)`, with state of every kind around it."""

    shared = {}  # of the class

    def __init__(self, act):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.bn = torch.nn.BatchNorm1d(3)
        self.register_buffer("buf", torch.zeros(3))
        self.act = act
        self.cache, self.items, self.seen = {}, [], set()
        self.queue = collections.deque(maxlen=3)
        self.ordered = collections.OrderedDict(a=1, b=2, c=3)
        self.ordered.move_to_end("a")  # not the order in which they came
        self.noted = Noted(a=1)
        self.nested = {"a": [{"b": ()}]}
        self.holder = Holder()
        self.rng = random.Random(3)
        self.generator = torch.Generator()
        self.count = 100_000
        self.lazy = None

    def forward(self, x):
        result = self.act(self, x)
        return self.linear(x) if result is None else result


@functools.lru_cache
def ones_like_cached(n):
    return torch.ones(n)


def _make_closure():
    kept, box = None, []

    def act(m, x):
        nonlocal kept
        kept = x + 1
        box.append(kept)
        return x * kept

    return act


def _default(m, x, memo=[]):
    memo.append(x)
    return x + len(memo)


def _global(m, x):
    global COUNT
    COUNT += 1
    CACHE["x"] = x * 2
    return CACHE["x"]


def _levit(m, x):
    """attention_bias_cache of transformers' LeViT."""
    key = str(x.device)
    if key not in m.cache:
        m.cache[key] = m.linear.weight[:, [0, 1, 2]]
    return x @ m.cache[key]


def _lazy(m, x):
    if m.lazy is None:
        m.lazy = torch.arange(3.0)
    return x + m.lazy


def _lru(m, x):
    return x + ones_like_cached(3)


def _containers(m, x):
    m.items.append(x)
    m.seen.add(x)
    m.queue.extend([x, x, x, x])
    m.ordered.move_to_end("b")
    m.ordered["d"] = x
    m.noted.last = x
    m.nested["a"][0]["b"] = (x,)
    m.holder.kept = x
    m.holder.number = 3
    m.shared["x"] = x
    type(m).extra = x.shape[0]
    return x + 1


def _numbers(m, x):
    m.count += 1
    m.rng.random()
    random.random()
    m.generator.manual_seed(7)
    return x + 1


def _hooks(m, x):
    m.linear.register_forward_hook(lambda *_: None)
    m.linear.register_forward_pre_hook(lambda *_: None)
    m.register_full_backward_hook(lambda *_: None)
    m.linear.weight.register_hook(lambda g: g)
    torch.nn.modules.module.register_module_forward_hook(lambda *_: None)
    return m.linear(x)


def _structure(m, x):
    m.eval()
    m.extra = torch.nn.Linear(2, 2)
    m.linear.weight.requires_grad_(False)
    m.buf.note = x
    m.linear.bias.grad = None
    del m.bn
    m.register_buffer("late", torch.ones(1))
    m.register_parameter("more", None)
    m.act = None
    return m.linear(x)


def _grad_mode(m, x):
    torch._C._set_grad_enabled(False)


def _inference(m, x):
    torch.inference_mode().__enter__()


def _autocast(m, x):
    torch.autocast("cpu", dtype=torch.bfloat16).__enter__()
    torch.set_autocast_dtype("cuda", torch.float64)
    torch.set_autocast_enabled("cuda", True)
    torch.set_autocast_cache_enabled(False)


def _defaults(m, x):
    torch._C._set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    torch.set_printoptions(precision=2)
    torch.set_float32_matmul_precision("medium")


def _determinism(m, x):
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False
    # Another test may have frozen them.
    with getattr(torch.backends, "__allow_nonbracketed_mutation")():
        torch.backends.cudnn.benchmark = True
        torch.backends.mkldnn.enabled = False
    torch.backends.cuda.enable_math_sdp(False)


def _threads(m, x):
    torch.set_num_threads(torch.get_num_threads() + 1)


def _anomaly(m, x):
    torch.autograd.set_detect_anomaly(True)


def _seeds(m, x):
    torch.default_generator.manual_seed(99)
    random.seed(99)
    numpy = pytest.importorskip("numpy")
    numpy.random.seed(99)


def _tensor_hooks(m, x):
    torch.autograd.graph.saved_tensors_hooks(
        lambda t: t, lambda t: t).__enter__()


def _modes(m, x):
    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            return function(*args, **(kwargs or {}))

    Mode().__enter__()


ACTS = {name.strip("_"): act for name, act in list(globals().items())
        if name.startswith("_") and not name.startswith("__")
        and name not in ("_make_closure", "_default")}
ACTS = {name: act for name, act in ACTS.items() if callable(act)}
ACTS["closure"] = _make_closure()
ACTS["default"] = _default

X = torch.randn(4, 3)
ROWS = {"x": {0: Dim.AUTO}}


def _snapshot(module):
    return (state_snapshot.objects(module), state_snapshot.tensors(module),
            state_snapshot.modes())


def _expect_as_before(module, before):
    assert list(module.ordered.items()) == [("b", 2), ("c", 3), ("a", 1)]
    assert state_snapshot.modes() == before[2]
    assert state_snapshot.tensors(module) == before[1]
    assert not state_snapshot.changes(before[0])


@pytest.mark.parametrize("fails", [False, True], ids=["ends", "raises"])
@pytest.mark.parametrize("name", ACTS)
def test_an_export_leaves_all_as_it_was(name, fails):
    def act(m, x):
        result = ACTS[name](m, x)
        if fails:
            raise RuntimeError("as asked")
        return result

    module = Module(act if fails else ACTS[name])
    before = _snapshot(module)
    globals_before = (dict(CACHE), COUNT, dict(Module.shared), set(vars(Module)),
                      ones_like_cached.cache_info().currsize)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if fails:
            with pytest.raises(RuntimeError, match="as asked"):
                proviso.export(module, (X,), dynamic_shapes=ROWS)
        else:
            proviso.export(module, (X,), dynamic_shapes=ROWS)
    _expect_as_before(module, before)
    assert globals_before == (
        dict(CACHE), COUNT, dict(Module.shared), set(vars(Module)),
        ones_like_cached.cache_info().currsize)
    if not fails:  # nothing dead is left for the next export, nor for eager
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ep = proviso.export(module, (X,), dynamic_shapes=ROWS)
        assert ep.module()(X).shape == X.shape


@pytest.mark.parametrize("act", [_levit, _lazy, _lru],
                         ids=["dict", "attribute", "lru_cache"])
def test_a_lazy_cache_is_filled_by_the_program_each_time(act):
    module = Module(act)
    with pytest.warns(UserWarning, match="was assigned during export") if (
            act is not _lru) else warnings.catch_warnings():
        ep = proviso.export(module, (X,), dynamic_shapes=ROWS)
    for rows in (2, 5):
        x = torch.randn(rows, 3)
        torch.testing.assert_close(ep.module()(x), Module.forward(module, x))
    if act is _lru:
        ones_like_cached.cache_clear()


# --- .data

def _no_change(m, x):
    m.linear.weight.data = m.linear.weight.data
    m.linear.float()
    return m.linear(x)


def test_data_that_is_what_it_was_is_no_change():
    module = Module(_no_change)
    ep = proviso.export(module, (X,), dynamic_shapes=ROWS)
    torch.testing.assert_close(ep.module()(X), module(X))


@pytest.mark.parametrize("act", [
    lambda m, x: setattr(m.buf, "data", x.sum(0)),
    lambda m, x: setattr(m.buf, "data", m.buf + 1),
    lambda m, x: setattr(m.linear.weight, "data", x[:3]),
    lambda m, x: setattr(m.linear(x), "data", x),
    lambda m, x: setattr(x, "data", x + 1),
    lambda m, x: m.linear.half(),
], ids=["buffer", "of itself", "parameter", "traced", "input", "half"])
def test_data_that_changes_is_refused_and_what_was_there_stays(act):
    module = Module(act)
    with pytest.raises(NotImplementedError, match="copy_"):
        proviso.export(module, (X,), dynamic_shapes=ROWS)
    assert torch.equal(module.buf, torch.zeros(3))
    assert module.linear.weight.dtype is torch.float32


# --- what is undefined

def _cancel(u0, u1):
    return (u0 * u1) // u0 == u1


UNDEFINED = {
    "quotient": (_cancel, (0, 3), (2, 3)),
    "remainder": (lambda a, b: (a * b) % b == 0, (3, 0), (3, 2)),
    "ratio": (lambda a, b: (a - a) / b < 1, (3, 0), (3, 2)),
    "unused": (lambda a, b: [a // b, True][1], (3, 0), (3, 2)),
    "shift": (lambda a, b: (a << b) - (a << b) == 0, (3, -1), (3, 2)),
    "right shift": (lambda a, b: (a >> b) - (a >> b) == 0, (3, -1), (3, 2)),
    "power": (lambda a, b: (a * 0) * (b ** -1.0) == 0, (3, 0), (3, 2)),
    "root": (lambda a, b: torch.sym_sqrt(b) * 0 == 0, (3, -4), (3, 4)),
    "logarithm": (lambda a, b: torch.sym_not(
        torch._sym_log2(b) != torch._sym_log2(b)), (3, 0), (3, 2)),
    "arc": (lambda a, b: torch._sym_asin(b) * 0 == 0, (3, 2), (3, 1)),
}


@pytest.mark.parametrize("name", UNDEFINED)
def test_an_undefined_operation_is_an_error_where_eager_raises(name):
    question, bad, good = UNDEFINED[name]

    def program(n):
        a, b = n.tolist()
        answer = question(a, b)
        if torch.compiler.is_exporting():
            torch._check(answer)
        return n + 1

    ep = proviso.export(program, (torch.tensor(good),))
    run = ep.module()
    assert torch.equal(run(torch.tensor(good)), torch.tensor(good) + 1)
    with pytest.raises(RuntimeError):
        run(torch.tensor(bad))


def test_dividing_a_size_by_zero_raises_as_eager_does():
    def program(x):
        return x + x.shape[1] // (x.shape[0] - 4)

    with pytest.raises(ZeroDivisionError):
        proviso.export(program, (X,), dynamic_shapes={"x": {0: Dim.AUTO}})
    ep = proviso.export(program, (torch.ones(6, 3),),
                        dynamic_shapes={"x": {0: Dim.AUTO}})
    with pytest.raises(RuntimeError):
        ep.module()(X)
    assert torch.equal(ep.module()(torch.ones(5, 3)), torch.ones(5, 3) + 3)


# --- what the exported program does not see

def _counts(m, x):
    m.count += 1
    return x * m.count


def _draws(m, x):
    return x * random.random()


@pytest.mark.parametrize("act, words", [
    (_counts, "self.count was changed during export from 100000 to 100001"),
    (_draws, "random")])
def test_a_number_that_each_call_changes_is_warned_of(act, words):
    module = Module(act)
    state = random.getstate()
    with pytest.warns(UserWarning, match=words):
        proviso.export(module, (X,), dynamic_shapes=ROWS)
    assert module.count == 100_000 and random.getstate() == state


# --- packages: whose code is the user's

PACKAGE = {
    "cache.py": """
CACHE = {}
def pos(x):
    key = str(x.device)
    if key not in CACHE:
        CACHE[key] = x[:1]*2
    return CACHE[key]
""",
    "model.py": """
import torch
from .cache import pos
class Net(torch.nn.Module):
    seen = None
    def forward(self, x):
        type(self).seen = x
        self.last = x
        return x + pos(x) + (1 if type(x.shape[0]) is int else 0)
"""}


@pytest.mark.parametrize("package, folder", [
    ("code", "."), ("profile", "."), ("some_package", "site-packages"),
    ("some_package", ".")])
def test_a_package_is_put_back_wherever_it_is(package, folder, tmp_path,
                                              monkeypatch):
    place = tmp_path / folder / package
    place.mkdir(parents=True)
    (place / "__init__.py").touch()
    for name, text in PACKAGE.items():
        (place / name).write_text(text)
    names = [package, package + ".cache", package + ".model"]
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(tmp_path / folder)
    _libraries._is_namesake.cache_clear()
    _libraries.is_installed.cache_clear()
    try:
        model = importlib.import_module(package + ".model")
        module = model.Net()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ep = proviso.export(module, (X,), dynamic_shapes=ROWS)
        assert not sys.modules[package + ".cache"].CACHE
        assert model.Net.seen is None and not hasattr(module, "last")
        assert torch.equal(ep.module()(X), module(X))
    finally:
        for name in names:
            sys.modules.pop(name, None)
        _libraries._is_namesake.cache_clear()
        _libraries.is_installed.cache_clear()


# --- objects of every other kind: (kept, act(kept, x), read(kept))

class _Counted(type):
    made = 0

    def __setattr__(cls, name, value):
        type.__setattr__(_Counted, "made", _Counted.made + 1)
        type.__setattr__(cls, name, value)


class _OfMeta(metaclass=_Counted):
    number = 0


class _LocalKind(threading.local):
    pass


class _Target:
    pass


def _set_entry(name, value):
    globals()["ENTRY"] = value


def _local():
    local = threading.local()
    local.number = 1
    return local


_LOCAL, _VARIABLE = _local(), contextvars.ContextVar("kept", default=1)
_TARGET, _LOGGER = _Target(), logging.getLogger("a program's logger")
_BOX = contextvars.ContextVar("box", default=[])


def _of_library(kept, x):
    torch.nn.functional.relu = kept
    torch.nn.functional.of_the_program = x
    torch.Tensor.of_the_program = x
    setattr(torch.nn, "of_the_program_too", x)
    del functools.WRAPPER_UPDATES


def _of_import(kept, x):
    import torch.nn.functional as f
    from torch import nn
    f.gelu = kept
    nn.Linear.of_the_program = x


def _of_numpy(kept, x):
    numpy = sys.modules["numpy"]
    numpy.seterr(all="ignore")
    numpy.set_printoptions(precision=2)


def _flags(kept, x):
    torch.set_flush_denormal(True)
    torch.set_warn_always(not torch.is_warn_always_enabled())
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    sys.setrecursionlimit(sys.getrecursionlimit() + 7)
    decimal.getcontext().prec = 5
    os.environ["OF_THE_PROGRAM"] = "1"
    os.environ.pop("BEFORE_THE_PROGRAM")
    sys.path.append("/of/the/program")
    warnings.simplefilter("error")
    _LOGGER.setLevel(10)
    _LOGGER.addHandler(logging.NullHandler())
    logging.getLogger("of.the.program").setLevel(10)
    logging.getLogger("torch").addFilter(logging.Filter("program"))
    logging.disable(10)
    sys.modules["of_the_program"] = type(sys)("of_the_program")
    sys.modules["colorsys"] = sys.modules.pop("calendar")


def _read_flags(kept):
    return (float(torch.tensor(1e-40) * 1) == 0, torch.is_warn_always_enabled(),
            torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction,
            sys.getrecursionlimit(), decimal.getcontext().prec,
            dict(os.environ), list(sys.path), list(warnings.filters),
            _LOGGER.level, list(_LOGGER.handlers),
            logging.getLogger("of.the.program").level,
            list(logging.getLogger("torch").filters),
            logging.root.manager.disable, "of_the_program" in sys.modules,
            sys.modules.get("colorsys"), sys.modules.get("calendar"))


def _read_numpy(kept):
    numpy = pytest.importorskip("numpy")
    return numpy.geterr(), numpy.get_printoptions()


def _read_library(kept):
    return (torch.nn.functional.relu, torch.nn.functional.gelu,
            functools.WRAPPER_UPDATES, hasattr(torch.Tensor, "of_the_program"),
            [hasattr(m, n) for m in (torch.nn, torch.nn.functional,
                                     torch.nn.Linear)
             for n in ("of_the_program", "of_the_program_too")])


def _queue():
    kept = queue.SimpleQueue()
    kept.put(1)
    kept.put(2)
    return kept


def _read_queue(kept):
    items = [kept.get() for _ in range(kept.qsize())]
    for item in items:
        kept.put(item)
    return items


def _buffer(kind, text):
    kept = kind()
    kept.write(text * 3)
    kept.seek(2)
    return kept


OBJECTS = {
    "bytearray": (lambda: bytearray(b"abc"),
                  lambda kept, x: (kept.extend(b"d"), kept.pop(0)), bytes),
    "array": (lambda: array.array("i", [1, 2]),
              lambda kept, x: (kept.append(3), kept.pop(0)), list),
    "text": (lambda: _buffer(io.StringIO, "ab"),
             lambda kept, x: kept.write("more than there was"),
             lambda kept: (kept.getvalue(), kept.tell())),
    "bytes": (lambda: _buffer(io.BytesIO, b"ab"),
              lambda kept, x: kept.truncate(0),
              lambda kept: (kept.getvalue(), kept.tell())),
    "weak set": (weakref.WeakSet, lambda kept, x: kept.add(_TARGET), len),
    "weak reference": (lambda: weakref.ref(_TARGET),
                       lambda kept, x: setattr(kept(), "v", x),
                       lambda kept: dict(vars(_TARGET))),
    "queue": (_queue, lambda kept, x: (kept.get(), kept.put(x)), _read_queue),
    "bound method": (lambda: [].append, lambda kept, x: kept(x),
                     lambda kept: list(kept.__self__)),
    "bound wrapper": (lambda: {}.__setitem__, lambda kept, x: kept("x", x),
                      lambda kept: dict(kept.__self__)),
    "lock": (threading.Lock, lambda kept, x: kept.acquire(),
             lambda kept: kept.locked()),
    "event": (threading.Event, lambda kept, x: kept.set(),
              lambda kept: kept.is_set()),
    "semaphore": (lambda: threading.Semaphore(3),
                  lambda kept, x: kept.acquire(), lambda kept: kept._value),
    "thread's": (_local, lambda kept, x: setattr(kept, "number", x),
                 lambda kept: dict(vars(kept))),
    "thread's of a class": (_LocalKind, lambda kept, x: setattr(kept, "v", x),
                            lambda kept: dict(vars(kept))),
    "thread's global": (int, lambda kept, x: setattr(_LOCAL, "number", x),
                        lambda kept: dict(vars(_LOCAL))),
    "context": (int, lambda kept, x: (_VARIABLE.set(x), _BOX.get().append(x)),
                lambda kept: (_VARIABLE.get(), list(_BOX.get()))),
    "context's": (lambda: contextvars.ContextVar("own", default=1),
                  lambda kept, x: kept.set(x), lambda kept: kept.get()),
    "metaclass": (int, lambda kept, x: setattr(_OfMeta, "number", x),
                  lambda kept: (_OfMeta.number, _Counted.made)),
    "global by name": (int, lambda kept, x: _set_entry("ENTRY", x),
                       lambda kept: "ENTRY" in globals()),
    "library": (lambda: torch.sin, _of_library, _read_library),
    "import": (lambda: torch.sin, _of_import, _read_library),
    "numpy": (int, _of_numpy, _read_numpy),
    "flags": (int, _flags, _read_flags),
}


@pytest.mark.parametrize("fails", [False, True], ids=["ends", "raises"])
@pytest.mark.parametrize("name", OBJECTS)
def test_what_a_module_keeps_is_as_before(name, fails, monkeypatch):
    monkeypatch.setenv("BEFORE_THE_PROGRAM", "1")
    make, act, read = OBJECTS[name]

    def acting(m, x):
        act(m.kept, x)
        if fails:
            raise RuntimeError("as asked")

    module = Module(acting)
    module.kept = make()
    before = read(module.kept)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            before = read(module.kept)
            try:
                proviso.export(module, (X,), dynamic_shapes=ROWS)
            except RuntimeError as error:
                assert fails and "as asked" in str(error)
            else:
                assert not fails
            now = read(module.kept)
        assert not _has_traced(now)
        assert now == before
    finally:
        act_undone(name)


def _has_traced(value):
    return any(map(_kinds_of_state.is_traced, torch.utils._pytree.tree_leaves(value)))


def act_undone(name):
    """Whatever an export left is not the next test's."""
    if name == "flags":
        torch.set_flush_denormal(False)
        decimal.getcontext().prec = 28


# --- iterators

def _running():
    yield from range(10)


ITERATORS = {
    "count": lambda: itertools.count(1),
    "cycle": lambda: itertools.cycle([1, 2, 3]),
    "list": lambda: iter([1, 2, 3, 4]),
    "range": lambda: iter(range(1, 9)),
    "dict": lambda: iter({1: 2, 3: 4, 5: 6}),
    "set": lambda: iter({1, 2, 3}),
    "reversed": lambda: reversed([1, 2, 3]),
    "enumerate": lambda: map(sum, enumerate([1, 2, 3])),
    "zip": lambda: map(sum, zip([1, 2, 3], itertools.count())),
    "chain": lambda: itertools.chain([1, 2], iter([3, 4])),
    "islice": lambda: itertools.islice(itertools.count(), 1, None, 2),
    "product": lambda: map(sum, itertools.product([1, 2], [3, 4])),
    "accumulate": lambda: itertools.accumulate([1, 2, 3]),
    "filter": lambda: filter(None, [0, 1, 2, 3]),
    "repeat": lambda: itertools.repeat(2, 5),
    "takewhile": lambda: itertools.takewhile(lambda n: n < 9, [1, 2, 3]),
    "zip_longest": lambda: map(sum, itertools.zip_longest([1, 2], [3, 4])),
}


@pytest.mark.parametrize("taken", [0, 1])
@pytest.mark.parametrize("name", ITERATORS)
def test_an_iterator_is_where_it_was_and_is_warned_of(name, taken):
    def started():
        iterator = ITERATORS[name]()
        for _ in range(taken):
            next(iterator)
        return iterator

    module = Module(lambda m, x: x * next(m.nested["a"][0]) * next(m.kept))
    module.kept, module.nested = started(), {"a": [started()]}
    with pytest.warns(UserWarning, match="self.kept was advanced during"
                      " export, and is where it was again"):
        proviso.export(module, (X,), dynamic_shapes=ROWS)
    for iterator in (module.kept, module.nested["a"][0]):
        assert list(itertools.islice(iterator, 9)) == list(
            itertools.islice(started(), 9))


@pytest.mark.parametrize("make, words", [
    (lambda: _running(), "cannot be put back")])
def test_a_generator_is_warned_of(make, words):
    module = Module(lambda m, x: x * next(m.kept))
    module.kept = make()
    with pytest.warns(UserWarning, match="self.kept.*" + words):
        proviso.export(module, (X,), dynamic_shapes=ROWS)


def test_an_iterator_that_stays_is_not_warned_of():
    module = Module(lambda m, x: x + 1)
    module.kept = itertools.count(), iter([1, 2]), _running()
    kept = module.kept
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        proviso.export(module, (X,), dynamic_shapes=ROWS)
    assert module.kept is kept
