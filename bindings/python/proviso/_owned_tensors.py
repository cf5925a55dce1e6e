"""The tensors that a module owns, by name, for the time of a trace."""

import torch

from proviso import _modules


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

    def record_buffer_assignments(self):
        """`self.count = self.count + 1` on a buffer writes into the buffer."""
        for prefix, child, buffers in self._buffers_before:
            for name, old in buffers.items():
                new = child._buffers.get(name)
                if new is old:
                    continue
                child._buffers[name] = old
                if not isinstance(new, torch.Tensor) or old is None:
                    raise ValueError(
                        f"export: the program sets the buffer "
                        f"'{prefix + '.' if prefix else ''}{name}' to "
                        f"{type(new).__name__}; buffers stay tensors")
                old.copy_(new)
