"""Every .pt2 of ours is read by every reader (see readers.py): a slice of the
programs; `readers.py` runs all of them."""

import pytest

import readers
import reader_programs

OWN = {case.name.split("/")[1]: case for case in reader_programs.own()}


@pytest.mark.parametrize("name", [
    "dataclass_in_and_out", "every_kind", "map_of_sizes",
    "no_grad_of_a_size", "powers", "root_by_power", "rounded_product",
    "scan_of_sizes", "unbacked_slice_added", "while_of_sizes",
])
def test_every_reader_gives_what_eager_gives(name, tmp_path):
    if not readers.COMMAND.exists():
        pytest.skip(f"{readers.COMMAND} is not built (./dev build makes it)")
    assert readers.examine(OWN[name], tmp_path) == []


@pytest.mark.parametrize("case", list(reader_programs.equalities(every=601)),
                         ids=lambda case: case.name)
def test_sizes_that_turn_out_equal_or_fixed(case, tmp_path):
    assert readers.examine(case, tmp_path, command=False) == []


def test_a_reader_that_differs_is_told(tmp_path):
    case = OWN["size_alone"]
    found = readers.Examination(case, tmp_path, command=False)
    found.points = [((3, 5), case.inputs(3, 5), (4, case.inputs(3, 5)))]
    found._compare("torch", lambda x: x.shape[0], *found.points[0], True)
    found._compare("torch", lambda x: x.shape[7], *found.points[0], True)
    assert "differs from eager at (3, 5)" in found.complaints[0]
    assert "refuses (3, 5): IndexError" in found.complaints[1]
