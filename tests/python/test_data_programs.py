"""Programs whose sizes come from data (data_programs.py): exported with the
suggested checks pasted in by a script, they equal eager where the checks hold
and refuse elsewhere; no check is one too many."""

import pathlib
import warnings

import pytest
import torch
import proviso
from data_programs import PROGRAMS
from pasting import Pasting, load

warnings.filterwarnings("ignore")


def outcome(function, args):
    try:
        return function(*[a.clone() for a in args])
    except Exception as error:
        return error


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and torch.allclose(
        a, b, equal_nan=True)


def is_needed(run, left_out, args, shapes, folder):
    """Whether the program asks when one of the checks is not there."""
    lines = run.path.read_text().split("\n")
    at = next(i for i, line in enumerate(lines)
              if line.strip() == left_out.code)
    path = pathlib.Path(folder) / "without.py"
    path.write_text("\n".join(lines[:at] + lines[at + 1:]))
    try:
        proviso.export(load(path).forward, args, dynamic_shapes=shapes)
    except proviso.DataDependentError:
        return True
    return False


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    made = {}

    def of(program):
        if program.name not in made:
            run = Pasting(tmp_path_factory.mktemp("program"), program.source)
            ep = run.export(program.args(0), dynamic_shapes=program.shapes)
            made[program.name] = run, ep
        return made[program.name]

    return of


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_pasted_checks_end_the_error(program, exported, tmp_path):
    run, ep = exported(program)
    print([s.code for s in run.pasted])
    if program.checks is not None:
        assert len(run.pasted) <= program.checks
    checked, module = run.callable(), ep.module()
    for k in range(program.variants):
        args = program.args(k)
        expected = outcome(checked, args)
        if isinstance(expected, Exception):
            with pytest.raises(Exception):
                module(*args)
            continue
        got = outcome(module, args)
        if k == 0:
            assert not isinstance(got, Exception), got
        if not isinstance(got, Exception):
            assert same(got, expected)
    for s in run.pasted:
        assert is_needed(run, s, program.args(0), program.shapes, tmp_path)
        # The program's words, in a form that a traced program can run.
        for text in (s.code, s.condition, s.excludes):
            assert " or " not in text and " and " not in text
            assert "min(" not in text.replace("torch.sym_min(", "")
            assert "max(" not in text.replace("torch.sym_max(", "")


def test_most_need_one_round(exported):
    rounds = {program.name: len(exported(program)[0].pasted)
              for program in PROGRAMS}
    more = {name: n for name, n in rounds.items() if n > 1}
    assert len(more) <= len(PROGRAMS) // 8, more
