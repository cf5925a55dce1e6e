"""x[..] and x[..] = v of a traced tensor, where torch's own would read a number
or ask for a size: x[n], x[:, u:], cache[:batch, :, positions] = keys.
"""

import torch

from proviso import _proviso
from proviso._tensors import is_fake

_tensor = torch.tensor


def _is_index_tensor(value):
    """A 0-dim integer tensor: as an index it is the number that it holds."""
    return (is_fake(value) and value.dim() == 0
            and not value.is_floating_point() and value.dtype != torch.bool)


def _index_number(value):
    return value.item() if _is_index_tensor(value) else value


def _is_symbolic_index(item):
    if isinstance(item, slice):
        return isinstance(item.step, torch.SymInt) or any(
            _is_index_tensor(bound)
            for bound in (item.start, item.stop, item.step))
    return isinstance(item, torch.SymInt) or _is_index_tensor(item)


def _has_end_of_data(item):
    return isinstance(item, slice) and any(
        isinstance(end, torch.SymInt) and end.node.hint is None
        for end in (item.start, item.stop))


def _is_basic_index(item):
    return (item is None or item is Ellipsis or isinstance(item, slice)
            or type(item) is int or _is_symbolic_index(item))


def _with_plain_truths(index):
    """x[n > 3] is a mask without dimensions, of which either side is another
    program."""
    if isinstance(index, torch.SymBool):
        return bool(index)
    if type(index) in (tuple, list):
        return type(index)(map(_with_plain_truths, index))
    return index


_setitem = torch.Tensor.__setitem__


def _symbolic_setitem(self, index, value):
    """x[i] = v asks which sizes of v are 1, to leave them out in front: where
    v has no more dimensions than it may have, no answer changes what is
    written."""
    index = _with_plain_truths(index)
    items = index if type(index) is tuple else (index,)
    # A buffer is not a fake, and what is written there may be.
    if any(map(is_fake, (self, value, *items))):
        items = tuple(map(_as_index_tensor, items))
        by_dim = _without_ellipsis(items, self.dim())
        slices = [item if type(item) is slice else slice(None)
                  for item in by_dim]
        indices = [None if type(item) is slice else item for item in by_dim]
        is_part = any(item != slice(None) for item in slices)
        # A mask may be of several dimensions: slices behind it are of other
        # ones than they stand at.
        if (isinstance(value, torch.Tensor)
                and not any(item is None for item in items)
                and not (is_part and any(map(_is_mask, indices)))
                and value.dim() <= _dims_written(self, indices)):
            # As torch does: the slices first.
            target = _symbolic_getitem(self, tuple(slices)) if is_part else self
            return torch.ops.aten.index_put_(target, indices, value)
        if all(map(_is_basic_index, items)) and (
                _fits(value, self, items) or any(
                    _is_symbolic_index(item) or _has_end_of_data(item)
                    for item in items)):
            target = _symbolic_getitem(self, index)
            if isinstance(value, torch.Tensor) and value.dim() <= target.dim():
                # Torch's views what it writes, with strides of its own.
                return target.copy_(value)
            return _setitem(target, Ellipsis, value)
    _setitem(self, index, value)


def _as_index_tensor(item):
    """[0, 2] as torch takes it."""
    is_list = type(item) is list and item and all(
        type(i) is int for i in item)
    return _tensor(item) if is_list else item


def _fits(value, t, items):
    """Whether value has dimensions, and no more than t[items], whose indices are
    basic."""
    if not isinstance(value, torch.Tensor) or value.dim() == 0:
        return False
    kept = sum(item is None for item in items) - sum(
        item is not None and item is not Ellipsis
        and not isinstance(item, slice) for item in items)
    return value.dim() <= t.dim() + kept


def _without_ellipsis(items, dims):
    at = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(at) != 1:
        return items
    whole = (slice(None),) * (dims - len(items) + 1)
    return (*items[:at[0]], *whole, *items[at[0] + 1:])


def _is_mask(index):
    return isinstance(index, torch.Tensor) and index.dtype == torch.bool


def _dims_written(t, indices):
    """Those of t[indices], where these are all there are: tensors, and None for
    whole dimensions; else -1."""
    tensors = [index for index in indices if index is not None]
    if not tensors or not all(
            isinstance(index, torch.Tensor) and index.dim() > 0
            and index.dtype in _INDEX_TYPES for index in tensors):
        return -1
    taken = [index.dim() if _is_mask(index) else 1 for index in tensors]
    if sum(taken) + len(indices) - len(tensors) > t.dim():
        return -1
    return t.dim() - sum(taken) + max(
        1 if _is_mask(index) else index.dim() for index in tensors)


_INDEX_TYPES = (torch.int64, torch.int32, torch.bool)


_getitem = torch.Tensor.__getitem__


def _symbolic_getitem(self, index):
    """x[s] reads the number s, which would fix it; select() does not."""
    index = _with_plain_truths(index)
    items = index if type(index) is tuple else (index,)
    if not (_proviso.is_tracing() and any(map(_is_symbolic_index, items))
            and all(map(_is_basic_index, items))):
        return _getitem(self, index)
    dims = self.dim() - sum(i is not None and i is not Ellipsis for i in items)
    result, dim = self, 0
    for item in items:
        if item is Ellipsis:
            dim += dims
        elif item is None:
            result, dim = result.unsqueeze(dim), dim + 1
        elif item == slice(None):
            dim += 1
        elif isinstance(item, slice):
            bounds = slice(*map(_index_number,
                                (item.start, item.stop, item.step)))
            if isinstance(bounds.step, torch.SymInt):
                # Torch makes no view where the step is 1, and asks.
                result = torch.ops.aten.slice(
                    result, dim, bounds.start, bounds.stop, bounds.step)
            else:
                result = _getitem(result, (slice(None),) * dim + (bounds,))
            dim += 1
        else:
            result = result.select(dim, _index_number(item))
    return result


PATCHES = [
    (torch.Tensor, "__getitem__", _symbolic_getitem),
    (torch.Tensor, "__setitem__", _symbolic_setitem),
]
