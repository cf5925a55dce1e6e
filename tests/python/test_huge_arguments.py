"""An argument of an operator may be as large as 2^63 - 1: no size wraps around
to a small one.  PyTorch refuses all of these or ends its process."""

import math

import pytest
import torch
import torch.nn.functional as F

import proviso
from proviso import Dim

HUGE = 2 ** 63 - 1
LEAST = -2 ** 63

CALLS = {
    "narrow": lambda x: x.narrow(1, HUGE, 10),
    "split_with_sizes": lambda x: x.split_with_sizes([HUGE, HUGE, 10], 1),
    "tile": lambda x: x.tile(1, HUGE),
    "repeat": lambda x: x.repeat(1, HUGE),
    "repeat_interleave": lambda x: x.repeat_interleave(HUGE, 1),
    "pad": lambda x: F.pad(x, (HUGE, HUGE)),
    "pad_to_nothing": lambda x: F.pad(x, (HUGE, HUGE, 2, 0)),
    "diag_embed": lambda x: x.diag_embed(HUGE),
    "diag_embed_least": lambda x: x.diag_embed(LEAST),
    "diagonal_least": lambda x: x.diagonal(LEAST),
    "unfold": lambda x: x.unfold(1, HUGE, HUGE),
    "pixel_shuffle": lambda x: F.pixel_shuffle(x[None, None], 2 ** 33),
    "pixel_unshuffle": lambda x: F.pixel_unshuffle(x[None, None], 2 ** 33),
    "upsample": lambda x: F.interpolate(x[None, None], scale_factor=1e300),
    "upsample_inf": lambda x: F.interpolate(x[None, None],
                                            scale_factor=math.inf),
    "conv_padding": lambda x: F.conv1d(x[None], torch.ones(1, 3, 1),
                                       padding=HUGE),
    "conv_groups": lambda x: F.conv1d(x[None], torch.ones(1, 3, 1),
                                      groups=HUGE),
    "conv_dilation": lambda x: F.conv1d(x[None], torch.ones(1, 3, 2),
                                        dilation=HUGE),
    "conv_transpose": lambda x: F.conv_transpose1d(
        x[None], torch.ones(3, 1, 2), stride=HUGE, dilation=HUGE),
    "pool": lambda x: F.avg_pool1d(x[None], HUGE, HUGE),
    "im2col": lambda x: F.unfold(x[None, None], 2 ** 32, 1, 2 ** 40, 1),
    "fold": lambda x: F.fold(x[None], (HUGE, HUGE), (2 ** 32, 2 ** 32)),
    "tensor_split": lambda x: x.tensor_split(HUGE, 1),
    "chunk_of_nothing": lambda x: x[:, :0].chunk(HUGE, 1),
    "unbind": lambda x: x[0, 0].expand(2 ** 40).unbind(0),
    "combinations": lambda x: torch.combinations(x[0], HUGE),
    "arange": lambda x: torch.arange(LEAST, HUGE, device=x.device),
    "cat": lambda x: torch.cat([x[0, 0].expand(2 ** 62)] * 2),
    "stft": lambda x: torch.stft(x, HUGE, return_complex=True),
    "istft": lambda x: torch.istft(torch.complex(x, x), HUGE),
}


TAKEN = {
    "slice_step": lambda x: x[:, ::HUGE] + 1,
    "unfold_step": lambda x: x.unfold(1, 2, HUGE) + 1,
}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", TAKEN)
def test_what_eager_takes_is_taken(name, dynamic):
    class Model(torch.nn.Module):
        def forward(self, x):
            return TAKEN[name](x)

    x = torch.arange(24.).reshape(3, 8)
    shapes = ({0: Dim.AUTO, 1: Dim.AUTO},) if dynamic else None
    program = proviso.export(Model(), (x,), dynamic_shapes=shapes)
    assert torch.equal(program.module()(x), Model()(x))


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dynamic", [False, True])
def test_no_size_wraps_around(name, dynamic):
    class Model(torch.nn.Module):
        def forward(self, x):
            return CALLS[name](x)

    x = torch.arange(24.).reshape(3, 8)
    shapes = ({0: Dim.AUTO, 1: Dim.AUTO},) if dynamic else None
    with pytest.raises(Exception) as error:
        program = proviso.export(Model(), (x,), dynamic_shapes=shapes)
        program.module()(x)
    text = str(error.value)
    assert text and "INTERNAL ASSERT" not in text, text
