"""The tensors that a module owns, by name, for the time of a trace."""

import contextlib

import torch
from torch.utils import _pytree as pytree

from proviso import _modules, _proviso

_under_way = []  # of the traces of this process, innermost last


@contextlib.contextmanager
def traced(owned):
    """owned: the tensors of the program that is traced inside; or None."""
    _under_way.append(owned)
    try:
        yield
    finally:
        _under_way.pop()


def may_change(t):
    """Whether the program that is traced finds other numbers in `t` than it
    holds now: in a parameter, in a buffer, in what the program has written to,
    and in a traced tensor, which holds none."""
    if _proviso.is_fake(t):
        return True
    if not _proviso.is_tracing():
        return False
    owned = _under_way[-1] if _under_way else None
    state = owned.state() if isinstance(owned, OwnedTensors) else ()
    return _proviso.is_written(t) or any(
        _proviso.share_memory(t, own) for own in state)


class OwnedTensors:
    """The tensors that a module owns, by name."""

    def __init__(self, module):
        self.parameters = []
        self.buffers = []  # (name, tensor, persistent)
        self.constants = []  # tensors that are plain attributes
        self._buffers_before = []  # (prefix, child, its buffers)
        # A tensor of a shared module has a name by each of the module's.
        for prefix, child in _modules.named_modules(module):
            if child._buffers:
                self._buffers_before.append(
                    (prefix, child, dict(child._buffers)))
            dot = prefix + "." if prefix else ""
            for name, tensor in child._parameters.items():
                if tensor is not None:
                    self.parameters.append((dot + name, tensor))
            transient = child._non_persistent_buffers_set
            for name, tensor in child._buffers.items():
                if tensor is not None:
                    self.buffers.append(
                        (dot + name, tensor, name not in transient))
            for name, value in child.__dict__.items():
                if type(value) is torch.Tensor:
                    self.constants.append((dot + name, value))

    def register(self, session):
        for name, tensor in self.parameters:
            session.add_parameter(name, tensor)
        for name, tensor, persistent in self.buffers:
            session.add_buffer(name, tensor, persistent)
        for name, tensor in self.constants:
            session.name_constant(name, tensor)

    def state(self):
        """What other numbers may be loaded into."""
        return [row[1] for row in (*self.parameters, *self.buffers)]

    def record_buffer_assignments(self, results):
        """`self.count = self.count + 1` on a buffer writes into the buffer, at
        the end: what shares its memory (the buffer as it was, a view of it) is
        copied first.  Returns the results, as they are then."""
        assigned = list(self._assigned_buffers())
        olds = [old for _, old, _ in assigned]
        self._check_not_shared(assigned)

        def apart(value):
            if isinstance(value, torch.Tensor) and any(
                    _proviso.share_memory(value, old) for old in olds):
                return value.clone()
            return value

        if assigned:
            results = pytree.tree_map(apart, results)
        for old, new in [(old, apart(new)) for _, old, new in assigned]:
            old.copy_(new)
        return results

    def _assigned_buffers(self):
        """(name, the buffer, what it is set to); the module has the buffer
        again."""
        for prefix, child, buffers in self._buffers_before:
            for name, old in buffers.items():
                new = child._buffers.get(name)
                if new is old:
                    continue
                child._buffers[name] = old
                full = f"{prefix}.{name}" if prefix else name
                _check_alike(full, old, new)
                yield full, old, new

    def _check_not_shared(self, assigned):
        """In eager the other one keeps its numbers; and where the buffer takes
        the memory of another, the next call's writes to it reach both."""
        named = self.parameters + [b[:2] for b in self.buffers] + self.constants
        for name, old, new in assigned:
            others = [(other, tensor) for other, tensor in named
                      if self._place(name) != self._place(other)]
            for other, tensor in others:
                is_both = _proviso.share_memory(new, tensor) and (
                    _proviso.is_written(old) or _proviso.is_written(tensor))
                if is_both or _proviso.share_memory(old, tensor):
                    raise ValueError(
                        f"export: the program sets the buffer '{name}', which "
                        f"shares its memory with '{other}'; give each memory of "
                        "its own (.clone())")

    def _place(self, name):
        """The module, of the several names that it may have, and its name."""
        prefix, _, last = name.rpartition(".")
        children = (id(c) for p, c, _ in self._buffers_before if p == prefix)
        return next(children, prefix), last


def _check_alike(name, old, new):
    """A program's buffers keep their sizes and dtypes, from call to call."""
    if not isinstance(new, torch.Tensor) or old is None:
        raise ValueError(
            f"export: the program sets the buffer '{name}' to "
            f"{type(new).__name__}; buffers stay tensors")
    for what, before, after in (
            ("dtype", old.dtype, new.dtype),
            ("sizes", tuple(old.shape), tuple(new.shape))):
        if before != after:
            raise ValueError(
                f"export: the program sets the buffer '{name}' of {what} "
                f"{before} to a tensor of {what} {after}, and the next call "
                "would find it so; keep it, or take the tensor as an input and "
                "return it")
