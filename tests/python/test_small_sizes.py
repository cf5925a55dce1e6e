"""A slice of small_sizes.py: no guard that nothing needs, at sizes 0 and 1 too."""

import itertools
import os
import warnings

import torch

import op_programs
import proviso
import small_programs
import small_sizes

WHOLE = bool(os.environ.get("PROVISO_TEST_SMALL_SIZES"))


def test_small_sizes_are_taken_where_the_operators_equal_eager():
    count = small_sizes.Count()
    values = small_sizes.VALUES if WHOLE else (0, 1, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, case in enumerate(small_programs.CASES.values()):
            examples = small_sizes.examples_of(case)
            if not WHOLE:
                examples = [examples[i % len(examples)]]
            small_sizes.examine(case, count, values=values, examples=examples)
    assert count.wrong == []
    # torch pads to, or cuts from, 4 numbers: a branch of its own code.
    assert {row[0] for row in count.refused} <= {"fft"}
    assert count.path_accepted >= 0.999 * count.path, (
        str(count), count.refused)
    assert count.path > 2000


# Of torch's operators; `small_sizes.py --ops` goes over all of them.
OPS = ("_chunk_cat", "_unsafe_masked_index",
       "_unsafe_masked_index_put_accumulate", "cat", "chunk", "combinations",
       "diff", "expand_as", "fft.fft2", "fft.irfft", "gather", "geqrf", "histogram",
       "index_select", "linalg.cond", "linalg.lstsq", "linalg.qr",
       "linalg.solve", "linalg.svd", "matmul", "narrow",
       "nn.functional.channel_shuffle", "nn.functional.conv1d",
       "nn.functional.instance_norm", "nn.functional.pad", "polygamma", "roll",
       "rot90", "split", "stft", "sum_to_size", "trace", "trapezoid",
       "triangular_solve", "unflatten")


def test_small_sizes_are_taken_by_torchs_own_operators():
    count = small_sizes.Count()
    seen = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in op_programs.programs(() if WHOLE else OPS, most=2):
            seen.add(case.name.split(" ")[0])
            small_sizes.examine(case, count, values=(0, 1, 4))
    assert all(any(name.startswith(op) for name in seen) for op in OPS)
    assert count.wrong == []
    assert count.path_accepted >= 0.999 * count.path, (
        str(count), count.refused)


def test_what_a_decomposition_changes_at_sizes_0_and_1_is_refused():
    """torch writes max(1, n) as n, and decides at the example whether a
    reshape is a view."""
    count = small_sizes.Count()
    for name in ("max with a constant", "in place after a reshape",
                 "in place after contiguous", "pixel_unshuffle"):
        small_sizes.examine(small_programs.CASES[name], count,
                            decomposed=True)
    assert count.wrong == []
    assert count.accepted >= 50


IN_PLACE = sorted(name for name in dir(torch.Tensor)
                  if name.endswith("_") and not name.startswith("_"))
FORMS = {"none": lambda x: (), "a tensor": lambda x: (x.clone(),),
         "a number": lambda x: (1,)}


def in_place(name, form, dtype):
    def program(x):
        y = x.clone()
        getattr(y, name)(*FORMS[form](x))
        return y

    def inputs(n):
        return (torch.arange(n * 2).reshape(n, 2) + 1).to(dtype)

    return program, inputs


def runs(program, inputs):
    try:
        program(inputs(3))
        return True
    except (RuntimeError, TypeError, ValueError, NotImplementedError):
        return False


# These draw, swap memory, ask for a layout, or drop a dimension of size 1.
NOT_ALIKE = {"apply_", "bernoulli_", "cauchy_", "exponential_", "geometric_",
             "log_normal_", "map_", "map2_", "normal_", "random_",
             "requires_grad_", "resize_", "resize_as_", "retain_grad", "rrelu_", "set_",
             "share_memory_", "squeeze_", "uniform_", "detach_", "rename_"}


def test_operators_in_place_take_sizes_0_and_1():
    tried, refused = set(), []
    for name in IN_PLACE:
        if name in NOT_ALIKE:
            continue
        for form, dtype in itertools.product(
                FORMS, (torch.float32, torch.int64)):
            program, inputs = in_place(name, form, dtype)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if not runs(program, inputs):
                    continue
                tried.add(name)
                module = proviso.export(
                    program, (inputs(3),),
                    dynamic_shapes=({0: proviso.Dim.AUTO},)).module()
            for n in (0, 1, 5):
                try:
                    found = module(inputs(n))
                except RuntimeError as error:
                    refused.append((name, form, n, str(error)[:60]))
                    continue
                assert torch.equal(found.nan_to_num(),
                                   program(inputs(n)).nan_to_num()), (name, n)
            break
    assert refused == []
    assert len(tried) > 100
