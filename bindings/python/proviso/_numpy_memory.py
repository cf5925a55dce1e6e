"""Memory that tensors of a program share with arrays of numpy.

    a = self.c.numpy()             a[0] = 1 writes into self.c
    t = torch.from_numpy(self.a)   t.add_(1) writes into self.a

Neither write leaves an operator that the other one sees: they are found when
the trace ends, which they end in an error.
"""

import contextlib
import sys

from proviso import _proviso
from proviso._not_traced import NotTraced

_under_way = []  # of the traces of this process, innermost last


class _Shared:
    """What a trace has seen of it."""

    def __init__(self):
        self.arrays = []  # (array of a tensor's memory, a copy of it)
        self.tensors = []  # (tensor, the array that it is of, a copy of that)

    def put_back(self):
        """Whether a tensor was written to through an array."""
        changed = [(array, before) for array, before in self.arrays
                   if not _is_same(array, before)]
        for array, before in changed:
            array[...] = before
        return bool(changed)

    def has_stale(self):
        """Whether a tensor and the array that it is of are no longer one."""
        return any(_proviso.is_written(tensor) or not _is_same(array, before)
                   for tensor, array, before in self.tensors)


def _is_same(array, before):
    return array.shape == before.shape and array.tobytes() == before.tobytes()


@contextlib.contextmanager
def watched():
    shared = _Shared()
    _under_way.append(shared)
    try:
        yield
    finally:
        _under_way.pop()
        is_written = shared.put_back()
    if is_written:
        raise NotTraced(
            "the program writes into a tensor through t.numpy(), which leaves "
            "no operator in the program; write t.copy_(..) or t[i] = ..")
    if shared.has_stale():
        raise NotTraced(
            "torch.from_numpy(a) has the memory of `a`, and the program writes "
            "to one of them, which leaves no operator that writes to the "
            "other; take torch.from_numpy(a).clone() after the last write to "
            "`a`")


def array_of(tensor, numpy, *args, **options):
    """tensor.numpy()"""
    array = numpy(tensor, *args, **options)
    if _under_way and _proviso.is_tracing():
        _under_way[-1].arrays.append((array, array.copy()))
    return array


def tensor_of(array, make):
    """make(array), in memory of its own: what a program does to the array is
    undone when its trace ends."""
    if (not _under_way or not _proviso.is_tracing()
            or any(stride < 0 for stride in array.strides)):
        return make(array)
    tensor = make(_copy(array))
    _under_way[-1].tensors.append((tensor, array, array.copy()))
    return tensor


def _copy(array):
    """With the same strides."""
    span = array.itemsize + sum(
        (size - 1) * stride for size, stride in zip(array.shape, array.strides))
    if array.size == 0 or array.dtype.hasobject:
        return array.copy()
    numpy = sys.modules["numpy"]
    copy = numpy.ndarray(array.shape, array.dtype, bytearray(span),
                         strides=array.strides)
    copy[...] = array
    return copy
