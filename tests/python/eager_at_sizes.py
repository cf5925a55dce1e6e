"""A program exported at some sizes, beside eager at others."""

import op_samples
import torch

import proviso

ROWS = {0: proviso.Dim.AUTO}
MATRIX = {0: proviso.Dim.AUTO, 1: proviso.Dim.AUTO}


def compare_at(program, inputs, spec, *points):
    """Exported at the first of the points, equal to eager at each."""
    ep = proviso.export(program, inputs(*points[0]), dynamic_shapes=spec)
    for sizes in points:
        expected = program(*inputs(*sizes))
        for found, real in zip(ep.module()(*inputs(*sizes)), expected):
            torch.testing.assert_close(found, real, equal_nan=True)
            assert op_samples._strides(found) == op_samples._strides(real)
    return ep
