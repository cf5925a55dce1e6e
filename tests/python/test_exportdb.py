"""The programs of PyTorch's ExportDB: each exports, runs like eager on its
example and on its other inputs, and prints as torch prints it."""

import json
import os
import pathlib
import re
import subprocess

import pytest

from proviso import db

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = pathlib.Path(
    os.environ.get("PROVISO_COMMAND", ROOT / "build" / "bin" / "proviso"))
NAMES = [case.name for case in db.all_cases()]


def test_there_are_36_cases_with_the_documents_tags():
    assert len(NAMES) == 36
    tagged = {c.name for c in db.with_tag("torch.dynamic-shape")}
    assert len(tagged) == 13
    assert {"cond_predicate", "dynamic_shape_round", "scalar_output"} <= tagged
    for case in db.all_cases():
        assert case.description and "forward" in case.source


@pytest.mark.parametrize("name", NAMES)
def test_case_equals_eager(name):
    result = db.run(db.get(name))
    assert result.ok, result.error or result.detail
    text = result.report()
    assert "Graph signature:" in text and "Range constraints:" in text


@pytest.mark.parametrize("name", NAMES)
def test_saved_case_loads_in_torch(name, round_trip):
    case = db.get(name)
    result = db.run(case)
    module = case.make()
    if name in ("fn_with_kwargs", "user_input_mutation", "class_method"):
        pytest.skip("compared in test_pt2.py")
    inputs = [case.args(), *case.extra()]
    # torch's loader refuses what it guesses to be >= 2.
    inputs = [args for args in inputs if not _has_small_size(case, args)]
    round_trip(result.program, module, inputs)


def _has_small_size(case, args):
    return case.dynamic_shapes() is not None and any(
        0 in t.shape or 1 in t.shape for t in args if hasattr(t, "shape"))


def test_a_wrong_program_is_not_equal():
    class Broken:
        def __call__(self, *args):
            return args[0] + 1

    case = db.get("static_if")
    result = db.Result(case)
    from proviso.db._run import _agree

    assert not _agree(result, case.make(), Broken(),
                      (case.args()[0] * 2,), {}) or result.detail == ""
    assert not _agree(result, lambda x: x, Broken(), case.args(), {})
    assert "is not" in result.detail


def test_cond_prints_both_branches():
    program = db.run(db.get("cond_operands")).program
    text = re.sub(r" *# File.*\n", "", str(program))
    assert ("cond = torch.ops.higher_order.cond(ge, true_graph_0, "
            "false_graph_0, (x, y));") in text
    assert 'class true_graph_0(torch.nn.Module):' in text
    assert 'add: "f32[s0, 2]" = torch.ops.aten.add.Tensor(x, y)' in text
    assert 'sub: "f32[s0, 2]" = torch.ops.aten.sub.Tensor(x, y)' in text
    assert str(program.range_constraints) == "{s0: VR[0, int_oo]}"


def test_lines_name_the_case():
    text = str(db.run(db.get("class_method")).program)
    assert "modules.py:" in text and "x = self.linear(x)" in text


@pytest.fixture(scope="module")
def run():
    if not COMMAND.exists():
        pytest.skip(f"{COMMAND} is not built (./dev build makes it)")

    def call(*words, **options):
        return subprocess.run([str(COMMAND), "db", *words],
                              capture_output=True, text=True, timeout=300,
                              **options)

    return call


def test_the_command_works_from_any_folder(run, tmp_path):
    done = run("run", "scalar_output", "static_if", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert 'Sym(s0 + 1)' in done.stdout
    answer = json.loads(done.stdout.splitlines()[-1])
    assert (answer["python_ok"], answer["python_total"]) == (2, 2)
    assert {"cpp_ok", "cpp_total"} <= set(answer)


def test_the_command_lists_by_tag(run, tmp_path):
    done = run("list", "--tag", "torch.dynamic-shape", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 13


@pytest.mark.parametrize("words, text", [
    (("run", "no_such"), "no case 'no_such'"),
    (("list", "--tag", "nope"), "no case has the tag 'nope'"),
    (("walk",), "db list, or db run"),
    ((), "db list, or db run"),
])
def test_the_command_says_what_is_wrong(run, words, text):
    done = run(*words)
    assert done.returncode == 3
    assert text in done.stderr


def test_without_python_the_command_says_so(run):
    environment = dict(os.environ, PROVISO_PYTHON="/nowhere/python")
    done = run("list", env=environment)
    assert done.returncode == 3
    assert "PROVISO_PYTHON is '/nowhere/python', which is no program" in (
        done.stderr)
