"""A slice of small_sizes.py: no guard that nothing needs, at sizes 0 and 1 too."""

import os
import warnings

import op_programs
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
