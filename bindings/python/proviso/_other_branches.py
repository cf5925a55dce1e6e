"""Sizes 0 and 1 for which a program branches the other way, to the same calls.

    if batch != positions.shape[0]:               # traced with batch == 3
        positions = positions.expand(batch, -1)

The branch holds as sizes are assumed to be 2 or more, and the program's ranges
leave batch == 1 out.  A further trace with that size says what the program does
there: where each call is the same, with the same arguments and results, the
first program takes it too (tracer_adapter/rerun/same_calls.h).  The trace with
batch == 1 may have branched on other sizes; it is looked at in the same way.
"""

import dataclasses

import torch

from proviso import _dims, _leaks

# Of one program; then the ranges stay as they are.
_MOST_TRACES = 8


def widen(program, out_spec, inputs, trace):
    """trace(inputs): (program, out_spec), as they were found for `inputs`."""
    _Traces(out_spec, inputs, trace).widen(program)


class _Traces:
    """Of the program with some sizes fixed."""

    def __init__(self, out_spec, inputs, trace):
        self._out_spec = out_spec
        self._inputs = inputs
        self._trace = trace
        self._made = {}  # by the sizes

    def widen(self, program, fixed=frozenset()):
        """Lets `program`, where the sizes {(source, size)} are fixed, take the
        sizes that make no difference."""
        tried = set()
        while True:
            left = [one for one in program.sizes_to_try()
                    if one[:2] not in tried]
            if not left:
                return
            symbol, size, sources = left[0]
            tried.add((symbol, size))
            other = self._at(fixed | {(source, size) for source in sources})
            if other is not None:
                program.admit(symbol, size, other)

    def _at(self, fixed):
        """The program, widened; None where there is none."""
        if fixed not in self._made:
            if len(self._made) == _MOST_TRACES:
                return None
            self._made[fixed] = None
            other = self._traced(fixed)
            if other is not None:
                self.widen(other, fixed)
                self._made[fixed] = other
        return self._made[fixed]

    def _traced(self, fixed):
        sizes = dict(fixed)
        with torch._C.DisableTorchFunction():  # the caller's modes see nothing
            leaves = [_fixed(leaf, sizes) for leaf in self._inputs.leaves]
        if sizes or any(leaf is None for leaf in leaves):
            return None
        inputs = dataclasses.replace(self._inputs, leaves=leaves)
        try:
            with _leaks.trial():
                program, out_spec = self._trace(inputs)
        except Exception:  # the program does not take that size, or we do not
            return None
        return program if out_spec == self._out_spec else None


def _fixed(leaf, sizes):
    """The input with the sizes {source: size} that are its own, which are taken
    out of `sizes`; None where an example cannot be cut."""
    if not isinstance(leaf.value, torch.Tensor):
        return leaf
    value, spec = leaf.value, list(leaf.spec)
    for dim in range(value.dim()):
        size = sizes.pop(f"{leaf.source}.size()[{dim}]", None)
        if size is None:
            continue
        if value.shape[dim] < size or type(value) is not torch.Tensor:
            return None
        value, spec[dim] = value.narrow(dim, 0, size), _dims.STATIC
    if value is leaf.value:
        return leaf
    value = value.detach().clone().requires_grad_(leaf.value.requires_grad)
    return dataclasses.replace(leaf, value=value, spec=spec)
